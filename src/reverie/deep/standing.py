"""How a matter stands to one thing that is known: the Relation, what speaks for it, and what it would replace."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reverie.deep.clauses import Clauses, clauses
from reverie.deep.material import AGAIN, Known, Noted
from reverie.deep.matters import Matter
from reverie.deep.shapes import ZONE, other_value, values
from reverie.deep.subjects import about, first, nearness, shared
from reverie.deep.vocabulary import pattern, patterns, plain
from reverie.deep.wording import DAY
from reverie.language.relation import Relation, RelationKind, relate
from reverie.light.marks import Mark

CHANGES = frozenset({Mark.CHANGED, Mark.ENDED, Mark.CORRECTS, Mark.DENIES})
_TELLS = frozenset({Mark.STATE, Mark.EXACT, Mark.IDENTITY, Mark.PREFER, Mark.STANDING, Mark.DECIDED, Mark.WISH})
_ALIKE = (RelationKind.SAME, RelationKind.REFINES)
_IDENTIFIER = re.compile(r"(?=\w*\d)(?=\w*[^\W\d_])\w+")  # "db1", "ce2"
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
SURE = 0.75
_NEAR, _CLOSE = 0.5, 0.7
_DENIED = 0.5
_OF_IT = 2
_BEGINS_CLAUSE = re.compile(
    r"(?:^\W*|[,.;:!?—–、，。]\s*|\b(?:and|but|while|that|because|asking|since|as|if|und|aber|et|mais|que|y|pero|e|ma|mas|che|en|maar|dat|a|i|że|och|att"
    r"|ve|ale) )(?:now )?$"
)


@dataclass(frozen=True, slots=True)
class Standing:
    """`confidence` is in the relation. `named` is what the statement itself says is over and the known one says."""

    known: Known
    kind: RelationKind
    confidence: float
    why: str
    overlap: float
    named: frozenset[str] = frozenset()
    nothing_new: bool = False
    exact: bool = False  # one value of a shape stands against another

    @property
    def conflicts(self) -> bool:
        return self.kind in (RelationKind.SUPERSEDES, RelationKind.CONTRADICTS)


Breath = tuple[str, int]  # a session and a turn: what is said in one is said together


def breath_of(note: Noted) -> Breath:
    return note.session_id, note.candidate.first_turn


@dataclass(frozen=True, slots=True)
class Spoken:
    """What one breath says is over and what holds, in whichever of its sentences."""

    over: frozenset[str] = frozenset()
    holds: frozenset[str] = frozenset()

    def and_also(self, other: Spoken) -> Spoken:
        return Spoken(self.over | other.over, self.holds | other.holds)


def spoken_in(noted: Sequence[Noted]) -> dict[Breath, Spoken]:
    found: dict[Breath, Spoken] = {}
    breaths = {breath_of(note) for note in noted if AGAIN not in note.marks}
    for note in (one for one in noted if breath_of(one) in breaths):
        parts, language = clauses(note.words), note.candidate.language
        told = Spoken(parts.names_over(language), parts.names_affirmed(language))
        found[breath_of(note)] = found.get(breath_of(note), Spoken()).and_also(told)
    return found


def standing(matter: Matter, known: Known, stands_in: Mapping[str, int], spoken: Mapping[Breath, Spoken]) -> Standing:
    """The strongest relation any statement of the matter has to what is known.

    `stands_in` counts where stems stand; `spoken` is what is said in the same breath.
    """
    together = Spoken()
    for note in (*matter.overtaken, *matter.said):
        together = together.and_also(spoken.get(breath_of(note), Spoken()))
    return max((_one(note, known, stands_in, together) for note in matter.said), key=_strength)


def _strength(found: Standing) -> tuple[bool, bool, float, float]:
    """A conflict before anything else, and one that says what holds instead before one that only says what is over."""
    related = found.confidence * (found.kind is not RelationKind.UNRELATED)
    return found.conflicts, found.conflicts and not found.nothing_new, related, found.overlap


@dataclass(frozen=True, slots=True)
class _Pair:
    """A statement beside what is known: the stems of both, and what the statement says is over or holds."""

    note: Noted
    known: Known
    parts: Clauses
    mine: frozenset[str]
    theirs: frozenset[str]
    stands_in: Mapping[str, int]
    together: Spoken = Spoken()

    @property
    def gone(self) -> frozenset[str]:
        return self.together.over

    @property
    def language(self) -> str:
        return self.note.candidate.language

    @property
    def overlap(self) -> float:
        return shared(self.mine, self.theirs)

    @property
    def affirmed(self) -> frozenset[str]:
        return self.parts.names_affirmed(self.language)

    @property
    def named(self) -> frozenset[str]:
        """What the statement, or what is said with it, says is over and the known one says."""
        beside = self.gone - self.affirmed if self.parts.affirmed else frozenset()
        beside &= about(" ".join(values(self.known.text)), self.language) if beside else beside
        return (self.parts.names_over(self.language) | beside) & self.theirs

    @property
    def changes(self) -> bool:
        return bool(CHANGES & self.note.marks) or self.parts.denies or self.tells_a_turn or self.puts_another_there

    @property
    def tells_a_turn(self) -> bool:
        words = plain(self.note.words)
        return self.parts.tells_now or any(pattern(name).search(words) for name in ("turns", "stays", "now"))

    @property
    def puts_another_there(self) -> bool:
        """ "We dropped Acuity, everybody books through Bookwhen": a name of the entry is over, and the rest goes on."""
        over = self.parts.names_over(self.language)
        known = about(" ".join(values(self.known.text)), self.language)
        return bool(over & known and self.affirmed & self.theirs and self.affirmed - self.theirs)

    @property
    def tells(self) -> bool:
        """It says how things are, not merely that something happened."""
        return bool(_TELLS & self.note.marks)

    @property
    def close(self) -> bool:
        """They have more in common than a word that stands in many statements: it is one thing they speak of."""
        common = len(self.mine & self.theirs)
        near = common >= 2 or len(self.theirs) <= 3 or nearness(self.note.text, self.known.text) >= _NEAR
        return near or (self.tells_a_turn and self.fills_its_place)

    @property
    def fills_its_place(self) -> bool:
        """Of the same subject one name is told, and the entry has another: "Minutes are written in Etherpad"."""
        names = [set(values(text)) for text in (self.note.text, self.known.text)]
        subject = first(self.note.text, self.language) == first(self.known.text, self.language)
        return subject and len(names[0]) == len(names[1]) == 1 and names[0] != names[1]

    @property
    def beside_the_point(self) -> bool:
        """What it speaks of is named in the known statement only behind its first clause, which may hold on."""
        subject = first(self.note.words, self.language)
        main, *others = clauses(self.known.text).whole
        return bool(others) and subject in self.theirs and subject not in about(main, self.language)

    @property
    def is_anothers(self) -> bool:
        """It tells of somebody else's doing, and the known statement does not speak of them."""
        words = plain(self.note.words)
        found = (found for one in patterns("another") for found in one.finditer(words))
        doers = (one for one in found if _BEGINS_CLAUSE.search(words[: one.start()]))
        return any(not about(name, self.language) & self.theirs for one in doers for name in one.groups() if name)

    def pointing(self, stems: frozenset[str]) -> frozenset[str]:
        """Those that stand in few other statements, so that they tell which one is meant."""
        return frozenset(stem for stem in stems if self.stands_in.get(stem, 1) <= 2)


def _one(note: Noted, known: Known, stands_in: Mapping[str, int], together: Spoken) -> Standing:
    language = note.candidate.language
    texts = about(note.text, language), about(known.text, language)
    pair = _Pair(note, known, clauses(note.words), *texts, stands_in, together)
    apart = not (pair.mine | pair.gone) & pair.theirs and not ZONE.search(known.text)
    if apart and nearness(note.text, known.text) < _NEAR:
        return Standing(known, RelationKind.UNRELATED, 1.0, "They have nothing in common.", 0.0)
    if pair.is_anothers:
        return Standing(known, RelationKind.UNRELATED, 1.0, "It tells of somebody else.", pair.overlap)
    read = _related(known.text, note.text, pair.parts)
    return _told_over(pair) or _told_a_change(pair, read) or _as_read(pair, read)


def _told_over(pair: _Pair) -> Standing | None:
    """The statement itself says that what stands there is over."""
    named = pair.named
    if not (pair.changes and named and _is_about_it(pair)):
        return None
    if pair.parts.affirmed and len(named) > 1:  # the thing goes on, and something about it is over
        named -= {first(pair.known.text, pair.language)}
    common, nothing_else = pair.affirmed & pair.theirs, not pair.parts.affirmed
    confidence = min(0.96, 0.76 + 0.06 * len(named) + 0.06 * len(common) + 0.06 * nothing_else)
    why = f"It says that {_listed(named)} is over, which is what stands there."
    new = not pair.affirmed - pair.theirs
    if new and pair.beside_the_point:
        confidence = _DENIED
    return Standing(pair.known, RelationKind.SUPERSEDES, confidence, why, pair.overlap, named, nothing_new=new)


def _is_about_it(pair: _Pair) -> bool:
    """What is said to be over is what the known statement is about, not a word they happen to share."""
    pointing = pair.pointing(pair.named)
    itself = not pair.parts.affirmed and first(pair.known.text, pair.language) in pair.named
    short = len(pair.theirs) <= 3 and bool(pair.parts.affirmed)
    enough = len(pointing) >= min(2, len(pair.theirs)) or any(map(_IDENTIFIER.fullmatch, pointing))
    goes_on = len((pair.together.holds & pair.theirs) - pair.named) >= _OF_IT  # "On Tuesdays at that hour I am free"
    return bool(pointing) and any((pair.affirmed & pair.theirs, itself, pair.parts.moved, short, enough, goes_on))


def _told_a_change(pair: _Pair, read: Relation) -> Standing | None:
    """It tells a change of the same thing: another number, another zone, another word in the same place."""
    known, pointing = pair.known, pair.pointing(pair.mine & pair.theirs)
    number = _other_number(known.text, pair.parts.affirmed)
    values = other_value(known.text, DAY.sub("", " ".join(pair.parts.affirmed)))
    exact = f"The same thing had “{values[0]}” and now has “{values[1]}”." if values else ""
    if number and pair.changes and len(pointing) >= 2 and pair.tells:
        sure = max(read.conflict, min(0.92, 0.7 + 0.07 * len(pointing)))
        return Standing(known, RelationKind.SUPERSEDES, sure, exact or number, pair.overlap)
    if why := _other_zone(known.text, pair.note.words):
        return Standing(known, RelationKind.SUPERSEDES, 0.85, why, pair.overlap)
    if exact and pair.changes and pointing:
        return Standing(known, RelationKind.SUPERSEDES, max(read.conflict, 0.8), exact, pair.overlap, exact=True)
    fresh = pair.affirmed - pair.theirs
    if pair.theirs <= pair.affirmed:  # all that stands there is said again
        return None
    alike = read.kind in _ALIKE or nearness(pair.note.text, known.text) >= _CLOSE
    if pair.changes and alike and pointing and fresh and pair.close:
        why = f"It tells a change of the same thing, to {_listed(fresh)}."
        return Standing(known, RelationKind.SUPERSEDES, 0.78, why, pair.overlap)
    return None


def _as_read(pair: _Pair, read: Relation) -> Standing:
    conflict = read.kind in (RelationKind.SUPERSEDES, RelationKind.CONTRADICTS)
    if conflict and not (pair.pointing(pair.mine & pair.theirs) and pair.tells and pair.close):
        return Standing(pair.known, RelationKind.UNRELATED, 1 - read.conflict / 2, read.why, pair.overlap)
    return Standing(pair.known, read.kind, read.confidence, read.why, pair.overlap)


def _related(old: str, new: str, parts: Clauses) -> Relation:
    """Read whole and clause by clause: a long sentence hides the clause that matters."""
    found = [relate(old, new)]
    if len(parts.affirmed) + len(parts.over) > 1:
        pieces = [relate(old, piece) for piece in parts.affirmed if len(about(piece)) > 1]
        denied = found[0].kind is RelationKind.CONTRADICTS and not parts.over
        # A "never" in one clause denies nothing that another one speaks of: "…, Priya is alone on weekends".
        found = pieces if denied and pieces and all(one.conflict < _DENIED for one in pieces) else found + pieces
    return max(found, key=lambda one: (one.conflict >= 0.5, one.conflict if one.conflict >= 0.5 else one.confidence))


def _other_number(old: str, new: tuple[str, ...]) -> str:
    before, after = set(_NUMBER.findall(old)), set(_NUMBER.findall(" ".join(new)))
    if not (before - after and after - before):
        return ""
    return f"The same thing had {_listed(before - after)} and now has {_listed(after - before)}."


def _other_zone(old: str, new: str) -> str:
    """A person is in one time zone: two names of one are a conflict, whatever stands around them."""
    before, after = set(ZONE.findall(old)), set(ZONE.findall(new))
    if len(before) != 1 or len(after) != 1 or before == after:
        return ""
    return f"The time zone was {_listed(before)} and is {_listed(after)} now."


def _listed(words: frozenset[str] | set[str]) -> str:
    return ", ".join(f"“{word}”" for word in sorted(words)) or "it"


def likeness(one: str, other: str, language: str) -> float:
    """How much two wordings overlap, by words and by meaning."""
    first, second = about(one, language), about(other, language)
    either = len(first | second)
    words = len(first & second) / either if either else 0.0
    return max(words, min(nearness(one, other), 0.35 + words))
