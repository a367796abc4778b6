"""A night without a Home: sessions and entries in, decisions out, for either kind of target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

from reverie.core.errors import NotFound
from reverie.core.scope import Origin
from reverie.dreams.brief.gather import Material
from reverie.dreams.brief.select_sessions import heard_session, noted
from reverie.dreams.curators import Curated, Curator
from reverie.dreams.curators.built_in import BuiltInCurator
from reverie.dreams.decide import Limits
from reverie.dreams.dream import Dream, Judged, Read, Status
from reverie.dreams.files import target_of_files
from reverie.dreams.items import CuratorAnswer, Item
from reverie.dreams.ports import OWN_SKILLS, DreamTarget
from reverie.dreams.records import Thought
from reverie.dreams.run.think import think
from reverie.dreams.stores.pages import LIMITS, StorePage, target_of_store
from reverie.memory.library import DocumentUsage, Entry
from reverie.memory.operation import entry_hash
from reverie.memory.target import Place
from reverie.transcripts.library import Library
from reverie.transcripts.session import Head, Said, Session, Turn

WRITTEN = datetime(2026, 5, 1, tzinfo=UTC)
NIGHT = WRITTEN + timedelta(days=30)
WIDE = replace(LIMITS, max_proposals=1_000)
Said_ = str | tuple[str, str]


def session(number: int, talk: Sequence[Said_], user: str = "ann") -> Session:
    """One that its user owns; what is not said by them is a pair of role and text."""
    began = WRITTEN + timedelta(days=1 + number)
    origins = {"user": Origin.OWNER, "assistant": Origin.AGENT, "tool": Origin.TOOL}
    turns = []
    for place, said in enumerate(talk, 1):
        role, text = ("user", said) if isinstance(said, str) else said
        turns.append(Turn(place, Said(cast(Any, role), text, at=began + timedelta(minutes=place)), origins[role]))
    return Session(Head(f"s{number}", user=user or None, started_at=began), tuple(turns))


@dataclass(frozen=True)
class Sessions:
    """As much of a library as a night needs."""

    owner: str
    kept: Sequence[Session]

    def get(
        self, name: str, *, user: str | None = None, revision: int | None = None, most: int | None = None
    ) -> Session:
        found = next((one for one in self.kept if one.id == name and (one.head.user or "") == user), None)
        if found is None:
            raise NotFound(f"There is no session {name}.")
        return found


@dataclass(frozen=True)
class Scripted:
    """A curator that says what it is told to say."""

    say: Callable[[Material], Sequence[Item]]
    name: str = "scripted"
    room: int | None = None

    def curate(self, material: Material) -> Curated:
        return Curated(CuratorAnswer(tuple(self.say(material))))

    def notes(self, materials: Sequence[Material]) -> list[Curated]:
        return [self.curate(one) for one in materials]


def thought_over(target: DreamTarget, sessions: Sequence[Session], curator: Curator | None = None) -> Thought:
    library, ids = cast(Library, Sessions(target.owner, sessions)), count()
    read = tuple(Read(one.head.user or "", one.id, 1, len(one.turns)) for one in sessions)
    dream = Dream("drm_1", target.name, "land", Status.RUNNING, NIGHT, sessions=read)
    heard = [heard_session(library, one.session_id, one.user) for one in read]
    fresh = [
        note
        for one, found in zip(read, heard, strict=True)
        if found
        for note in noted(found, one.user, lambda: f"c{next(ids)}")
    ]
    rooms = SimpleNamespace(
        scope=None,
        sessions=library,
        ids=SimpleNamespace(new=lambda kind: f"{kind}_{next(ids)}"),
        records=SimpleNamespace(staged_since=lambda scope, target: {}),
    )
    return think(cast(Any, rooms), target, dream, fresh, curator=curator or BuiltInCurator())


@dataclass(frozen=True)
class OneFile:
    """The memory of a Home with one document."""

    texts: Sequence[str]
    name: str = "MEMORY.md"

    def usage(self, target: str) -> list[DocumentUsage]:
        return [DocumentUsage(self.name, sum(map(len, self.texts)), None)]

    def target(self, name: str) -> Any:
        return SimpleNamespace(places=lambda: [Place(self.name, "list")])

    def entries(self, target: str) -> list[Entry]:
        return [
            Entry(target, self.name, text, entry_hash(text), f"ent_{place}", None, WRITTEN, False, "chg_0")
            for place, text in enumerate(self.texts)
        ]


@dataclass(frozen=True)
class FileRooms:
    memory: OneFile
    owner: str = "ann"
    skills: None = None
    search: None = None
    gates: Any = field(default_factory=lambda: target_of_store("", "ann", []).gates)
    limits: Limits = WIDE
    scope: None = None
    records: Any = field(default_factory=lambda: SimpleNamespace(confirmed=lambda scope, target: {}))
    review: Any = field(default_factory=lambda: SimpleNamespace(waiting=lambda every: []))

    def surfaces(self, target: str) -> list[tuple[str, str]]:
        return []

    def new_skills(self, target: str) -> str:
        return OWN_SKILLS

    def recalled(self, texts: Iterable[str]) -> list[tuple[str, str]]:
        return []


def files(texts: Sequence[str], owner: str = "ann") -> DreamTarget:
    return target_of_files(cast(Any, FileRooms(OneFile(texts), owner)), "home")


def store(texts: Sequence[str], owner: str = "ann") -> DreamTarget:
    """One page, to which what is new goes as well, as in a file."""
    page = "".join(f"- {text}\n" for text in texts).encode()
    return target_of_store("store:x", owner, [StorePage("/notes.md", page, WRITTEN)] if texts else [])


def told(judged: Judged) -> tuple[str, str, str, tuple[str, ...]]:
    """A decision, without where it stands and what became of it."""
    return judged.verb, judged.text, judged.old, judged.reasons
