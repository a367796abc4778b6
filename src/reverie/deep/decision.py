"""A Decision: Deep's judgement on one matter, with its reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from reverie.deep.material import Known
from reverie.deep.matters import Matter
from reverie.deep.standing import Standing
from reverie.dreams.curators.lessons import is_routine
from reverie.kernel.origin import Origin, weakest
from reverie.sessions.session import Evidence
from reverie.skills.amendment import Create, Patch


class Verb(StrEnum):
    """What is to become of a matter."""

    PROMOTE = "promote"
    MERGE = "merge"
    SUPERSEDE = "supersede"
    REMOVE = "remove"
    BETTER_AS_SKILL = "better_as_skill"
    EPHEMERAL = "ephemeral"
    REDUNDANT = "redundant"
    LOW_CONFIDENCE = "low_confidence"
    SENSITIVE = "sensitive"
    VERBOSE = "verbose"
    UNSAFE = "unsafe"


REJECTED = frozenset({
    Verb.EPHEMERAL, Verb.REDUNDANT, Verb.LOW_CONFIDENCE, Verb.SENSITIVE, Verb.VERBOSE, Verb.UNSAFE,
})  # fmt: skip
STAGED = frozenset({Verb.LOW_CONFIDENCE})  # may come back with more behind it


@dataclass(frozen=True, slots=True)
class Drafted:
    """An amendment as it would be proposed. `folder` is the key of the folder its skill lies in, empty for a new one.
    `text` is how its document would read."""

    folder: str
    amendment: Create | Patch
    text: str

    @property
    def subject(self) -> str:
        return self.amendment.subject


@dataclass(frozen=True, slots=True)
class Decision:
    """`text` is the wording it would get in `document`; `target` the entry it replaces, merges with or removes.

    `asks` says why a person has to decide; empty where the policy may. `private`: it speaks of something people
    keep to themselves, and they asked for it to be kept.
    """

    verb: Verb
    matter: Matter
    reason: str
    text: str = ""
    document: str = ""
    target: Known | None = None
    standing: Standing | None = None
    asks: str = ""
    private: bool = False
    skill: Drafted | None = None

    @property
    def rejected(self) -> bool:
        return self.verb in REJECTED

    @property
    def untold(self) -> bool:
        """Steps run once are every day's work: they are staged, in case they come back, and not a word is said."""
        return self.verb in STAGED and is_routine(self.matter.last) and not self.matter.is_theme

    @property
    def changes_known(self) -> bool:
        return self.verb in (Verb.SUPERSEDE, Verb.REMOVE) and self.target is not None

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What speaks for it, each quotation once, oldest first; then what it stood in."""
        found = [one for note in self.matter.said for one in note.candidate.evidence]
        found += [replace(one, weight="context") for note in self.matter.again for one in note.candidate.evidence]
        ordered = sorted(dict.fromkeys(found), key=lambda one: one.weight != "support")
        return tuple(ordered)

    @property
    def origin(self) -> Origin:
        return weakest(one.origin for one in self.evidence if one.weight == "support")
