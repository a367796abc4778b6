"""Kinds of things and their members: "musical instruments" is answered by "my drum set".

Neither stems nor vectors know that. `kinds.txt` is a small list of everyday English kinds, written by hand; a question
that names a kind is also asked about its members, as one more term of which the best member counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from reverie.text.tokens import ENGLISH, Term, tokens_of

MEMBER_WEIGHT = 0.6  # less than the kind itself; well below a half, long technical texts lose a little


def with_members(asked: Sequence[Term]) -> list[Term]:
    """The terms of a question, and for each kind it names one more for what belongs to it."""
    named = {form for term in asked for form in term.forms}
    found = list(asked)
    for term in asked:
        members = next((kinds()[form] for form in term.forms if form in kinds()), ())
        others = tuple(member for member in members if member not in named)
        if others and term.weight == 1:
            found.append(Term(term.word, others, MEMBER_WEIGHT))
    return found


@cache
def kinds() -> dict[str, tuple[str, ...]]:
    """Each name of a kind, and the members of it, all as the index knows them."""
    known: dict[str, tuple[str, ...]] = {}
    for line in (files("reverie.text") / "kinds.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            names, _, members = line.partition(":")
            forms = tuple(dict.fromkeys(tokens_of(members.split(), ENGLISH)))
            for name in tokens_of(names.split(), ENGLISH):
                known.setdefault(name, forms)
    return known
