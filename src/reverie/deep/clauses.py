"""A statement in clauses: what it affirms, and what it says is over or not so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from reverie.deep.subjects import REMEMBERED, about
from reverie.deep.vocabulary import lead_in, pattern, patterns, plain

_NAMES = re.compile(r"(?<=\w )[A-ZÀ-ÞŁŚŻŞİ][\w'’-]+")
_CUT = re.compile(
    r"(?<=\S)\s*(?:[;:—–](?=\s)|,(?=\s)|\.(?=\s)|!(?=\s)|\s-\s|[、，；。：])\s*"
    r"|\s+(?=(?:but|aber|sondern|pero|mais|mas|maar|sino|because|weil|porque|parce que|perché|omdat) )"
    r"|\s+(?:and|und|y|et|e|en) (?=[^,;.]*\b(?:now|instead|jetzt|nun|stattdessen|ahora|maintenant|adesso|agora|nu)\b)"
)


@dataclass(frozen=True, slots=True)
class Clauses:
    """`affirmed` and `over` are texts in the order they stand."""

    affirmed: tuple[str, ...]
    over: tuple[str, ...]
    moved: tuple[tuple[str, str], ...] = ()  # what it says was and what is instead: "from Slack to Zulip"
    whole: tuple[str, ...] = ()  # all of them as they stand

    @property
    def denies(self) -> bool:
        """It names what is not so beside what is: "Søren, not Sven"."""
        return bool(self.affirmed) and any(pattern("not_so").search(plain(piece)) for piece in self.over)

    @property
    def tells_now(self) -> bool:
        """It says how things are now beside what is over."""
        return bool(self.over) and any(pattern("now").search(plain(piece)) for piece in self.affirmed)

    def names_over(self, language: str) -> frozenset[str]:
        """Stems the statement says are over, and does not use for what holds."""
        gone = frozenset[str]().union(*(about(text, language) for text in self.over))
        return gone - self.names_affirmed(language)

    def names_affirmed(self, language: str) -> frozenset[str]:
        return frozenset[str]().union(*(about(text, language) for text in self.affirmed))


@lru_cache(maxsize=REMEMBERED)
def clauses(text: str) -> Clauses:
    affirmed: list[str] = []
    over: list[str] = []
    pairs: list[tuple[str, str]] = []
    pieces = tuple(one.strip() for one in _CUT.split(without_lead(text)) if one and one.strip())
    for piece in pieces:
        moved = next((found for move in patterns("moves") if (found := move.search(plain(piece)))), None)
        if moved is not None:
            pairs.append((piece[slice(*moved.span("old"))], piece[slice(*moved.span("new"))]))
            over.append(pairs[-1][0])
            affirmed.append(_without(piece, moved))
        elif _is_over(piece):
            name = _who(piece, affirmed)
            over.append(f"{name}: {piece}" if name else piece)
            if name:
                affirmed[-1] = affirmed[-1].replace(name, "")
        else:
            affirmed.append(piece)
    return Clauses(tuple(affirmed), tuple(over), tuple(pairs), pieces or (text,))


def _without(piece: str, moved: re.Match[str]) -> str:
    """The piece without what it says was there before."""
    if moved.start("new") < moved.start("old"):
        return piece[: moved.end("new")] + piece[moved.end() :]
    if moved.start("old") == 0:
        return piece[moved.start("new") :]
    return piece[: moved.start()] + piece[moved.end("old") :]


def _who(piece: str, before: list[str]) -> str:
    """ "Take Rafe off the list, he left in July": who left is told by the clause before."""
    names = _NAMES.findall(before[-1]) if before and pattern("pronouns").match(plain(piece)) else []
    return names[-1] if names else ""


def _is_over(piece: str) -> bool:
    words = plain(piece)
    return bool(pattern("over").search(words) or pattern("not_so").search(words))


def without_lead(text: str) -> str:
    """Without greetings, corrections and orders to remember before the point; the whole where nothing else is left."""
    rest = text[found.end() :] if (found := lead_in().match(text)) else text
    return rest if about(rest) or not about(text) else text
