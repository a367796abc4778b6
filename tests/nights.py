"""Small nights for tests of the curator's core: sessions, entries and items in as few words as a test can read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from reverie.core.ids import sha256
from reverie.core.scope import Origin
from reverie.dreams.brief.brief import BriefDocument, BriefEntry
from reverie.dreams.brief.gather import BriefMaterial, Material, gather
from reverie.dreams.brief.select_sessions import noted
from reverie.dreams.items import Citation, Item, Op
from reverie.dreams.light.spans import Spans
from reverie.dreams.verify.case import Case, case_of
from reverie.transcripts.session import Head, Said, Session, ToolCall, Turn

NOW = datetime(2026, 6, 15, 3, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=200)
LAST_WEEK = NOW - timedelta(days=7)
DOCUMENTS = (BriefDocument("MEMORY.md"), BriefDocument("USER.md"))
_ORIGINS = {"user": Origin.OWNER, "assistant": Origin.AGENT, "tool": Origin.TOOL, "system": Origin.OPERATOR}

Spoken = str | Said | tuple[Origin, str]


def session(
    name: str, *turns: Spoken, at: datetime | None = LAST_WEEK, project: str | None = None, user: str = "ann"
) -> Session:
    """A text is a turn of the owner; with an Origin, of someone else; a `Said` is what it is."""
    return Session(
        Head(name, user, started_at=at, project=project), tuple(_turn(n, one) for n, one in enumerate(turns, 1))
    )


def _turn(number: int, one: Spoken) -> Turn:
    if isinstance(one, Said):
        return Turn(number, one, one.origin or _ORIGINS[one.role])
    origin, text = (Origin.OWNER, one) if isinstance(one, str) else one
    role = {Origin.AGENT: "assistant", Origin.TOOL: "tool", Origin.OPERATOR: "system"}.get(origin, "user")
    return Turn(number, Said(role, text), origin)  # type: ignore[arg-type]


def sessions(*words: str) -> list[Session]:
    """What the owner said in a session of its own each, one a day."""
    return [session(f"z{n}", one, at=LAST_WEEK + timedelta(days=n)) for n, one in enumerate(words)]


def ran(command: str, result: str, *, failed: bool = False) -> tuple[Said, Said]:
    """A call of the agent with what came of it."""
    name = sha256(f"{command} {result}".encode())[:8]
    call = ToolCall("terminal", f'{{"command": "{command}"}}', name)
    return Said("assistant", "", calls=(call,)), Said("tool", result, "terminal", answers=name, failed=failed)


def entry(
    text: str,
    document: str = "MEMORY.md",
    since: datetime | None = LONG_AGO,
    *,
    exact: bool = True,
    critical: bool = False,
    changeable: bool = True,
    name: str = "e1",
) -> BriefEntry:
    sha = sha256(f"{name} {text}".encode()) if changeable else ""
    return BriefEntry(name, document, text, since, exact, critical, sha)


def entries(*texts: str | BriefEntry) -> tuple[BriefEntry, ...]:
    """Entries named e1, e2, ..."""
    return tuple(entry(one, name=f"e{n}") if isinstance(one, str) else one for n, one in enumerate(texts, 1))


def night(
    said: Sequence[Session],
    known: Sequence[BriefEntry] = (),
    documents: Sequence[BriefDocument] | None = None,
    *,
    notice: bool = True,
    **more: Any,
) -> BriefMaterial:
    numbers = count(1)
    new_id: Callable[[], str] = lambda: f"cand_{next(numbers)}"  # noqa: E731
    fresh = [each for one in said for each in noted(one, one.head.user or "", new_id)] if notice else []
    return BriefMaterial(NOW, "ann", tuple(documents or DOCUMENTS), tuple(known), tuple(said), tuple(fresh), **more)


def material(said: Sequence[Session], known: Sequence[BriefEntry] = (), **more: Any) -> Material:
    return gather(night(said, known, **more), 10**9)


def case(
    item: Item, said: Sequence[Session], *known: BriefEntry, surfaces: Sequence[BriefEntry] = (), **more: Any
) -> Case:
    """An item as the checks and the score see it."""
    return case_of(item, material(said, known, **more), Spans(), tuple(surfaces))


def cites(words: str, session: str = "s1", turn: int = 1) -> Citation:
    return Citation(session, turn, words)


def add(text: str, *evidence: Citation, document: str = "MEMORY.md", sure: bool = True, **more: Any) -> Item:
    return Item(Op.ADD, text, evidence or (cites(text),), document, sure=sure, **more)


def replaces(text: str, *evidence: Citation, of: str = "e1", sure: bool = True, **more: Any) -> Item:
    return Item(Op.REPLACE, text, evidence or (cites(text),), "MEMORY.md", replaces=(of,), sure=sure, **more)


def removes(*evidence: Citation, of: str = "e1", sure: bool = True, **more: Any) -> Item:
    return Item(Op.REMOVE, "", evidence, "MEMORY.md", replaces=(of,), sure=sure, **more)


def merges(text: str, *evidence: Citation, of: Sequence[str] = ("e1", "e2"), sure: bool = True, **more: Any) -> Item:
    return Item(Op.MERGE, text, evidence, "MEMORY.md", replaces=tuple(of), sure=sure, **more)
