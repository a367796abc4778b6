"""Who is behind what a managed memory learned: how many people said so, in how many ways, and who says otherwise.

In: a statement and the sessions its dream read. Out: a Backing, and the reason to keep the statement back if there is
one. A repetition adds nothing: one person is one voice, and so are several accounts that use the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import median
from typing import TYPE_CHECKING

from reverie.bridge.diff import Difference, TellingReason, stems
from reverie.bridge.source import HeardSession
from reverie.bridge.statements import SURE_CONFLICT
from reverie.dreams.light.spans import sentences
from reverie.text.embedding import embed
from reverie.text.relation import mutual_conflict
from reverie.text.words import NEGATORS, normal, raw_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

QUORUM = 3  # people who say so, before it can become a rule for all of them
SAME_MATTER = 0.55  # likeness from which a sentence may speak of a statement
SAME_WORDS = 0.9  # share of words in common from which two sentences are one wording
ONLY_THIS = 0.8  # share of what somebody says from which they say nothing else
INSTEAD = ("instead of", "rather than", "statt", "en lugar de", "au lieu de")
_FRAGMENT = r"[,;:()]|\b(?:but|and|or|so|instead of|rather than|pero|aber|mais|sondern|sino)\b"
_PARTS = re.compile(rf"({_FRAGMENT}|\b(?:{'|'.join(INSTEAD)})\b)", re.IGNORECASE)
OTHER_MATTERS = 0.5  # the same share for an ordinary person, where they repeat themselves
MANY_MATTERS = 0.25  # and where each of them said one thing once, as anybody may who says little


class Doubt(TellingReason):
    """Why a difference is quarantined."""

    NO_PERSON = "no_person", "no person said so in the sessions that were dreamt about"
    ONE_WORDING = "one_wording", "several accounts say it, all in the same words"
    NO_QUORUM = "no_quorum", f"fewer than {QUORUM} people said so, in a memory that more share"
    OUTVOTED = "outvoted", "more people say the opposite"
    OUTLIER = "outlier", "those who say so speak of nothing else, and it goes against what holds"


@dataclass(frozen=True, slots=True)
class SessionSentence:
    """A sentence of a session. `who` is `user`, `agent` or `tool`."""

    text: str
    who: str
    session: str
    person: str
    group: str


@dataclass(frozen=True, slots=True)
class Backing:
    """`voices` are the people who say so; all of them are one if they use the same words."""

    supports: tuple[SessionSentence, ...] = ()
    against: tuple[SessionSentence, ...] = ()
    mentions: tuple[SessionSentence, ...] = ()  # by an agent or a tool
    voices: int = 0
    only_this: float = 0.0
    usual: float = 0.0

    @property
    def people(self) -> list[str]:
        return sorted({one.person for one in self.supports})

    @property
    def opponents(self) -> list[str]:
        return sorted({one.person for one in self.against} - set(self.people))

    @property
    def groups(self) -> tuple[str, str] | None:
        """The groups the two sides belong to, where that tells them apart."""
        sides = [{one.group for one in side} for side in (self.supports, self.against)]
        if any(len(side) != 1 or "" in side for side in sides) or sides[0] == sides[1]:
            return None
        return next(iter(sides[0])), next(iter(sides[1]))

    @property
    def disputed(self) -> bool:
        """Several people on either side: neither is a mistake."""
        return len(self.people) >= 2 and len(self.opponents) >= 2

    def sessions(self) -> tuple[str, ...]:
        return tuple(sorted({one.session for one in (*self.supports, *self.mentions)}))

    def __str__(self) -> str:
        sessions = ", ".join(sorted({one.session for one in self.supports})[:5])
        told = f"Said by {_people(self.people)}{f' in {sessions}' if sessions else ''}."
        say = "says" if len(self.opponents) == 1 else "say"
        return f"{told} {_people(self.opponents)} {say} otherwise." if self.opponents else told


def _people(names: Sequence[str]) -> str:
    known = [name for name in names if name]
    if not known:
        return "people the server does not name" if names else "nobody"
    return f"{len(known)} {'person' if len(known) == 1 else 'people'} ({', '.join(known[:5])})"


@dataclass(frozen=True)
class Talk:
    sessions: Sequence[HeardSession]

    @cached_property
    def said(self) -> list[SessionSentence]:
        return [
            SessionSentence(part, who, one.id, one.person, one.group)
            for one in self.sessions
            for who, text in one.turns
            for part in (text[start:end] for start, end in sentences(text, text))
            if not part.rstrip("\"'”’»)] ").endswith(("?", "？"))
        ]

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        return embed([normal(one.text) for one in self.said])

    @cached_property
    def people(self) -> frozenset[str]:
        return frozenset(one.person for one in self.said if one.who == "user" and one.person)

    @property
    def shared(self) -> bool:
        """As many people speak in it as have to agree."""
        return len(self.people) >= QUORUM

    @cached_property
    def behind(self) -> Callable[[Difference], Backing]:
        """The people who say what came, and those who say otherwise."""
        return cache(self._behind)

    def _behind(self, difference: Difference) -> Backing:
        text = difference.after
        if not self.said or not text:
            return Backing()
        old = difference.before
        likeness = self._vectors @ embed([normal(one) for one in (text, old or text)]).T
        near = [(at, self.said[at]) for at in (likeness.max(axis=1) >= SAME_MATTER).nonzero()[0].tolist()]
        opposed = {
            at
            for at, one in near
            if (_nearer(one.text, old, text) if old else mutual_conflict(one.text, text) >= SURE_CONFLICT)
        }
        near = [(at, one) for at, one in near if at in opposed or likeness[at, 0] >= SAME_MATTER]
        supports = [at for at, one in near if at not in opposed and one.who == "user"]
        first, *others = [set(raw_words(self.said[at].text)) for at in supports] or [set[str]()]
        in_other_words = any(len(first & words) < SAME_WORDS * len(first | words) for words in others)
        people, every = {self.said[at].person for at in supports}, dict[str, list[int]]()
        for at, one in enumerate(self.said):
            if one.who == "user":
                every.setdefault(one.person, []).append(at)
        # the share of this in all that those say who are for it, and the share of the largest other matter
        mine = [len(set(supports) & set(every[person])) / len(every[person]) for person in people]
        rest = [1 / len(theirs) for person, theirs in every.items() if person not in people]
        return Backing(
            tuple(self.said[at] for at in supports),
            tuple(one for at, one in near if at in opposed and one.who == "user"),
            tuple(one for at, one in near if at not in opposed and one.who != "user"),
            len(people) if in_other_words else min(1, len(supports)),
            median(mine) if mine else 0.0,
            median(rest) if rest else 1.0,
        )

    def beside(self, difference: Difference) -> list[str]:
        """The other words of the sessions in which people, or else agents and tools, say what came."""
        backing = self.behind(difference)
        said = backing.supports or backing.mentions
        sessions = {one.session for one in said}
        return [one.text for one in self.said if one.session in sessions and one not in said]

    def speaks_of(self, text: str) -> bool:
        return bool(self.said) and bool((self._vectors @ embed([normal(text)])[0] >= SAME_MATTER).any())

    def pushes(self, difference: Difference) -> bool:
        """Whether somebody wants a wording to stand that may be a change, and says what is new in it: only a tool, one
        person again and again, or accounts that speak of nothing else."""
        backing, new = self.behind(difference), _words(difference.after) - _words(difference.before)
        people = [one for one in backing.supports if _words(one.text) & new]
        if not people:
            return any(_words(one.text) & new for one in backing.mentions) and not backing.supports
        match doubt(backing, self, contradicts=True):
            case Doubt.OUTLIER:
                return True
            case Doubt.ONE_WORDING:
                return len({one.person for one in people}) >= QUORUM and backing.only_this >= ONLY_THIS
            case Doubt.NO_QUORUM:
                return len({one.session for one in people}) >= QUORUM > len(backing.people)
        return False


def _nearer(said: str, old: str, new: str) -> bool:
    """It says what was said before rather than what is said now: by the words that tell the two apart, whatever else is
    in the sentence, the other way round where they are denied; by what it is about, where it has none of them."""
    was, now = _words(old), _words(new)
    stands, denied = _words(said), frozenset[str]()
    if not NEGATORS & (was | now):  # what it stands for, and what it denies: behind a "not", or "instead of"
        stands, behind = frozenset[str](), ""
        for part in _PARTS.split(said):
            if behind in INSTEAD or NEGATORS & set(raw_words(part)):
                denied |= stems(part)
            else:
                stands |= stems(part)
            behind = part.casefold()
    before = len(stands & (was - now)) + len(denied & (now - was))
    after = len(stands & (now - was)) + len(denied & (was - now))
    if before != after:
        return before > after
    if before:  # the part that speaks of the matter is meant; in it, "from this to that", what comes last
        parts = [part for part in _PARTS.split(said) if stems(part) & (was ^ now)]
        meant = max(reversed(parts), key=lambda part: len(stems(part) & was & now), default=said)
        telling = [words for word in meant.split() if (words := stems(word) & (was ^ now))]
        return bool(telling and telling[-1] & was)
    vectors = embed([normal(one) for one in (said, old, new)])
    return float(vectors[0] @ vectors[1]) > float(vectors[0] @ vectors[2])


def _words(text: str) -> frozenset[str]:
    return stems(text) | frozenset(word for word in raw_words(text) if word in NEGATORS)


def doubt(backing: Backing, talk: Talk, contradicts: bool) -> Doubt | None:
    """`contradicts`: it speaks against what held here, or there. Nothing is held against a memory of one person,
    or one whose sessions cannot be read."""
    if not talk.said:
        return None
    if not backing.supports:
        return Doubt.NO_PERSON if backing.mentions or talk.shared else None
    if not talk.shared:
        return None
    if len(backing.people) > 1 and backing.voices == 1:
        return Doubt.ONE_WORDING
    opposed = contradicts or bool(backing.opponents)
    usual = OTHER_MATTERS if len(backing.supports) > len(backing.people) else MANY_MATTERS
    if opposed and backing.only_this >= ONLY_THIS and backing.usual <= usual:
        return Doubt.OUTLIER
    if backing.disputed:
        return None
    if len(backing.opponents) > len(backing.people):
        return Doubt.OUTVOTED
    return Doubt.NO_QUORUM if backing.voices < QUORUM else None
