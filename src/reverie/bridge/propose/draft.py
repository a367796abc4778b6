"""From a route to a suggestion for the queue: the managed memory's own sentence, where it belongs, with its grounds.

Whatever the policy says, it asks: what a managed memory says was written by an agent, or came in as a file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from reverie.bridge.compare.diff import Difference, DiffKind
from reverie.bridge.compare.snapshot import Provenance, Snapshot
from reverie.bridge.compare.statements import StoreStatement
from reverie.bridge.propose.backing import Backing, Doubt
from reverie.bridge.propose.new_skill import NewSkill
from reverie.bridge.propose.route import KeptOut, Route
from reverie.changes.inbox.items import MANAGED_MEMORY
from reverie.changes.proposal import Suggestion
from reverie.changes.queue import Proposed
from reverie.core.errors import BadInput
from reverie.core.origin import Origin
from reverie.memory.operation import Add, Operation, Remove, Replace, entry_hash
from reverie.skills.amendments.refine import refine
from reverie.skills.versions import Bump
from reverie.transcripts.session import Evidence, Head, Said, Session, Turn, quote

ASKS = "it comes from a managed memory"
PROPOSER = "bridge"
MOST_SESSIONS = 5  # that a reason names


@dataclass(frozen=True, slots=True)
class NoPlace:
    """A route that leads to nothing: the skill or the document cannot take it."""

    difference: Difference
    why: str


@dataclass(frozen=True, slots=True)
class Drafted:
    """The draft made of a difference; of several, where they are to be one new skill."""

    route: Route
    proposed: Proposed
    together: tuple[Route, ...] = ()


@dataclass(frozen=True, slots=True)
class Postponed:
    """Left for another time: so many proposals of one batch wait already."""

    route: Route


@dataclass(frozen=True, slots=True)
class DoubtedDraft:
    """Kept back because of who is behind it; `backing` names the people and the sessions."""

    route: Route
    doubt: Doubt
    backing: Backing


Result = Drafted | KeptOut | NoPlace | Postponed | DoubtedDraft


def suggestion(route: Route, old: Snapshot, new: Snapshot, target: str, batch: str) -> Suggestion | NoPlace:
    """`target` is the memory that facts without a rule of ours go to; `batch` names what is undone together."""
    try:
        before, after = (tuple(_cited(side, one) for one in said) for side, said in _sides(route, old, new))
        context = tuple(one.as_context() for one in before) if after else ()
        given = Suggestion(
            target,
            route.document,
            reason=_reason(route, old, new),
            evidence=(*(after or before), *context),
            proposer=PROPOSER,
            dream=batch,
        )
        return placed(given, route)
    except BadInput as error:
        return NoPlace(route.difference, str(error))


def skill_suggestion(new: NewSkill, snapshot: Snapshot, folder: str, batch: str) -> Suggestion | NoPlace:
    """One new skill of several statements."""
    first = new.routes[0]
    reason = f"{len(new.routes)} related things the managed memory learned belong to no skill there is."
    try:
        evidence = tuple(_cited(snapshot, one.difference.new[0]) for one in new.routes)
        made = new.amendment
    except BadInput as error:
        return NoPlace(first.difference, str(error))
    return Suggestion(
        folder, made.subject, amendment=made, reason=reason, evidence=evidence, proposer=PROPOSER, dream=batch
    )


def _sides(
    route: Route, old: Snapshot, new: Snapshot
) -> tuple[tuple[Snapshot, tuple[StoreStatement, ...]], tuple[Snapshot, tuple[StoreStatement, ...]]]:
    return (old, route.difference.old), (new, route.difference.new if route.text else ())


def placed(given: Suggestion, route: Route) -> Suggestion:
    rule = route.rule
    if route.skill is not None:
        old = rule.text if rule else ""
        changes = (
            {"add": [route.text]} if not old else {"replace": {old: route.text}} if route.text else {"remove": [old]}
        )
        bump: Bump = "major" if old else "minor"
        patch = refine(route.skill.skill, section=route.section, bump=bump, **changes)
        return _with(given, route.skill.folder.key, patch.subject, amendment=patch)
    operation: Operation
    if rule is None:
        operation = Add(route.document, route.text)
        return _with(given, given.target, route.document, operations=(operation,))
    sha = entry_hash(rule.text)
    operation = Replace(rule.subject, sha, route.text) if route.text else Remove(rule.subject, sha)
    return _with(given, rule.target, rule.subject, operations=(operation,))


def _with(given: Suggestion, target: str, subject: str, **what: object) -> Suggestion:
    return replace(given, target=target, subject=subject, **what)  # type: ignore[arg-type]


def _cited(snapshot: Snapshot, said: StoreStatement) -> Evidence:
    """A quotation of the memory as it stands. The version is no part of its name: the same words are the same evidence
    as long as they stand in that memory."""
    origin = snapshot.origin_of(said.path, said.quote)
    by_agent = bool(origin.dream) or origin.author.startswith("sesn_")
    name = f"{MANAGED_MEMORY}{origin.store or snapshot.name}{said.path}"
    turn = Turn(1, Said("assistant", snapshot.texts[said.path]), Origin.AGENT if by_agent else Origin.TOOL)
    return quote(Session(Head(name, harness="memory-store"), (turn,)), 1, said.quote)


def _reason(route: Route, old: Snapshot, new: Snapshot) -> str:
    difference = route.difference
    here, side = (difference.new or difference.old)[0], new if difference.new else old
    instead = f"“{here.text}” instead of “{difference.before}”, says the managed memory"
    told = {
        DiffKind.ADDED: f"“{here.text}”, the managed memory learned",
        DiffKind.CHANGED: instead,
        DiffKind.DOUBTFUL: instead,
        DiffKind.REWORDED: instead,
        DiffKind.REMOVED: f"“{here.text}” was dropped by the managed memory; dropping it here needs its own verdict",
    }[difference.kind]
    origin = side.origin_of(here.path, here.quote)
    grounds = "; ".join([f"{origin.store or side.name}{here.path}", *_grounds(origin)])
    return f"{told} ({grounds}). It is put here because {_lower(route.why)}"


def _grounds(origin: Provenance) -> list[str]:
    told = [f"version {origin.version} of {origin.at}"] if origin.version else []
    told += [f"written by the dream {origin.dream}"] if origin.dream else []
    told += [f"written by {origin.author}"] if origin.author and not origin.dream else []
    more = len(origin.sessions) - MOST_SESSIONS
    named = ", ".join(origin.sessions[:MOST_SESSIONS]) + (f" and {more} more" if more > 0 else "")
    return [*told, *([f"from the sessions {named}"] if named else [])]


def _lower(why: str) -> str:
    ended = why if why.endswith(".") else f"{why}."
    return ended[:1].lower() + ended[1:]
