"""Whether a model's wording of a line says what ours says: the same words, less what only fills; nothing more.

Ours stays wherever that is in doubt. A line that lands by itself gains no word at all; one that a person looks at may
gain some that were said. So a wording in another language, of another value or of another opinion has no way in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reverie.deep.decision import Verb
from reverie.deep.keeping_out import private_kinds, unsafe
from reverie.deep.subjects import about
from reverie.deep.vocabulary import pattern, plain, small_words
from reverie.kernel.hashes import canonical
from reverie.language.relating.clause import Clause
from reverie.language.relating.cues import Cue
from reverie.language.relating.listing import listed
from reverie.language.relating.statement import read
from reverie.language.relation import RelationKind, relate
from reverie.language.tokens import STEMMED, tokens_of
from reverie.rem.gates import Weighed
from reverie.safety.scan import scan
from reverie.safety.sensitive import sensitive

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\s\u3040-\u30ff\u3400-\u9fff]+")
_EDGES = " .,;:!?…()[]{}\"'“”‘’«»„。，、；：！？–—"
_CODE = re.compile(r"`[^`]*`|\w*[\d_/\\@]\S*")
_FILLS = {  # words that can go or come without another sense; none of them limits, denies, compares or directs
    "en": listed("a an the that is are am be really just very actually basically simply kindly please well ok"),
    "de": listed("der die das den dem des ein eine einen einem einer ist sind wirklich einfach bitte halt"),
    "fr": listed("le la les un une est sont vraiment simplement"),
    "es": listed("el la los las un una es son está realmente simplemente"),
    "it": listed("il lo la gli un una è sono davvero"),
    "pt": listed("o os um uma é são realmente"),
    "nl": listed("de het een is zijn echt gewoon"),
}
_MEANT_ALIKE = frozenset({RelationKind.SAME, RelationKind.REFINES})


def why_not(one: Weighed, text: str) -> str:
    """Why ours stays; empty where the wording may take its place."""
    return next(_faults(one, text), "")


def _faults(one: Weighed, text: str) -> Iterator[str]:
    decision = one.decision
    own, old, language = decision.text, decision.target.text if decision.target else "", decision.matter.language
    if len(text) > max(len(own), len(old)):
        yield "a wording is longer than the line it was to better"
    mine, theirs = _words(own, language), _words(text, language)
    if not _is_within(mine, theirs):
        yield "a wording leaves out or rearranges what was to be kept"
    if _brought_in(one, mine, theirs):
        yield "a wording brings in a word of its own"
    if _sense(own) != _sense(text):
        yield "a wording has another value, limit or sense"
    if relate(own, text).kind not in _MEANT_ALIKE:
        yield "a wording says something else than the line it was to better"
    if old and about(text, language) <= about(old, language) and not about(own, language) <= about(old, language):
        yield "a wording says no more than what stands there"
    if _is_harmful(one, text):
        yield "a wording looks unsafe or private"


def _words(text: str, language: str) -> list[str]:
    """The words that say something, in their order, by their stems where the language is known."""
    found = [word.strip(_EDGES) for word in _WORD.findall(plain(text))]
    said = [word for word in found if word and word not in _FILLS.get(language, ())]
    return [_stem(word, language) if word.isalpha() else word for word in said]


def _stem(word: str, language: str) -> str:
    stems = tokens_of([word], language) if language in STEMMED else []
    return stems[0] if len(stems) == 1 and stems[0] else word


def _is_within(mine: list[str], theirs: list[str]) -> bool:
    left = iter(theirs)
    return all(word in left for word in mine)


def _brought_in(one: Weighed, mine: list[str], theirs: list[str]) -> bool:
    """Words beyond ours: none where nobody is asked; else some that carry a subject and were said in support."""
    decision, extra = one.decision, list(theirs)
    for word in mine:
        if word in extra:
            extra.remove(word)
    if not extra or one.may_land:
        return bool(extra)
    language = decision.matter.language
    said = {word for item in decision.evidence if item.weight == "support" for word in _words(item.quote, language)}
    over = set(_words(decision.target.text, language)) if decision.target and decision.verb is not Verb.MERGE else set()
    small = small_words(language)
    return any(word not in said or word in over or word in small or not word.isalpha() for word in extra)


def _sense(text: str) -> bytes:
    """How the built-in reader understands it: what it denies, limits, prefers, asks, ends, and every value."""
    clause = read(text).whole
    denied = [found[0] for found in pattern("negations").finditer(plain(text))]
    written = [found.rstrip(_EDGES) for found in _CODE.findall(text)]
    return canonical([denied, written, clause.polarity, clause.attitude, sorted(clause.sides.items()), *_stems(clause)])


def _stems(clause: Clause) -> list[list[str]]:
    values = [f"{placed.value.dimension} {placed.value.amount} {placed.value.was}" for placed in clause.values]
    return [sorted(clause.negated), sorted(clause.ended), sorted(clause.cues - {Cue.NOW}), values]


def _is_harmful(one: Weighed, text: str) -> bool:
    decision = one.decision
    before, after = scan(decision.text), scan(text)
    return (
        bool(unsafe(decision.matter, text))
        or (after.blocked, after.needs_person) > (before.blocked, before.needs_person)
        or not {item.kind for item in sensitive(text)} <= private_kinds(decision.matter)
    )
