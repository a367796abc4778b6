"""`home.tenants.recording(scope)` and `definitions(scope, kind)`: sessions told as they happen, and what they need.

No agent answers here: a session stays idle and records what it is sent. What is said in it is a Session of the
library in the same moment, without secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reverie.core.clock import Clock, TimeSpan
from reverie.core.errors import BadInput, NotFound, required
from reverie.core.ids import Ids
from reverie.core.scope import Origin, Scope
from reverie.transcripts.readers import Intake, Redact
from reverie.transcripts.recorded import (
    Definition,
    DefinitionRecords,
    EnvironmentArchived,
    EnvironmentNotFound,
    Kind,
    Recorded,
    RecordedEvent,
    RecordedQuery,
    RecordedRecords,
    SpokenEvents,
    Status,
    VersionPassed,
    Walk,
    check_initial,
    check_sendable,
    checked_definition_name,
    checked_storable,
    patch_metadata,
    recorded_head,
    recorded_turns,
    redact_deeply,
)

_ID_PREFIX: Mapping[Kind, str] = {"agent": "agent", "environment": "env"}


@dataclass(frozen=True, slots=True)
class Definitions:
    scope: Scope
    kind: Kind
    records: DefinitionRecords
    ids: Ids
    clock: Clock

    def create(self, told: Mapping[str, Any]) -> Definition:
        checked_definition_name(told["name"])
        now, kept = self.clock.now(), checked_storable({**told, "metadata": patch_metadata({}, told.get("metadata"))})
        made = Definition(self.ids.new(_ID_PREFIX[self.kind]), self.scope.user or "", kept, now, now)
        self.records.add(self.scope.of(made.user), self.kind, made)
        return made

    def get(self, name: str, version: int | None = None) -> Definition:
        found = None if "\0" in name else self.records.one(self.scope, self.kind, checked_storable(name), version)
        return required(found, self._missing(name))

    def find(self, made: TimeSpan, walk: Walk, *, archived: bool = False) -> list[Definition]:
        return self.records.find(self.scope, self.kind, made, walk, archived=archived)

    def versions(self, name: str, walk: Walk) -> list[Definition]:
        return self.records.versions(self.get(name), self.scope, self.kind, walk)

    def update(self, name: str, patch: Mapping[str, Any], version: int | None = None) -> Definition:
        """Change all that is in the patch; of the metadata only the keys that are named."""

        def updated(old: Definition) -> Definition:
            if old.archived_at is not None:
                raise BadInput(f"The {self.kind} {name} is archived.", expected="one that can be changed")
            if version not in (None, old.version):
                raise VersionPassed(f"The {self.kind} is at version {old.version}, not {version}. Read it again.")
            metadata = patch_metadata(old.told["metadata"], patch.get("metadata"))
            told = checked_storable({**old.told, **patch, "metadata": metadata})
            checked_definition_name(told["name"])
            if told == old.told:
                return old
            return replace(old, told=told, version=old.version + 1, updated_at=self.clock.now())

        return self._changed(name, updated)

    def archive(self, name: str) -> Definition:
        """No new session is made from it. Twice is once; there is no way back."""
        now = self.clock.now()
        return self._changed(
            name, lambda old: old if old.archived_at else replace(old, archived_at=now, updated_at=now)
        )

    def delete(self, name: str) -> None:
        """Sessions made from it stay."""
        if not self.records.delete(self._own(name), self.kind, name):
            raise self._missing(name)

    def _changed(self, name: str, change: Callable[[Definition], Definition]) -> Definition:
        return required(self.records.change(self._own(name), self.kind, name, change), self._missing(name))

    def _own(self, name: str) -> Scope:
        return self.scope if self.scope.user is not None else self.scope.of(self.get(name).user)

    def _missing(self, name: str) -> NotFound:
        return NotFound(f"There is no {self.kind} {name[:80]!r}.")


Told = Mapping[str, Any]
AT_ONCE = 100  # events of a stream that are read together
IDLE = {"type": "session.status_idle", "stop_reason": {"type": "end_turn"}, "stop_details": None}


@dataclass(frozen=True, slots=True)
class SessionWish:
    """The session that is asked for. `overrides` are laid over the agent for this session only."""

    agent: str
    environment: str
    version: int | None = None
    overrides: Told | None = None
    title: str | None = None
    metadata: Mapping[str, str] | None = None
    resources: Sequence[Told] = ()
    vaults: Sequence[str] = ()
    budget: Told | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """`speaker` is the Origin of what is sent with the caller's key. `told` is called with a session that has news."""

    scope: Scope
    records: RecordedRecords
    agents: Definitions
    environments: Definitions
    redact: Redact
    ids: Ids
    clock: Clock
    speaker: Callable[[str], Origin]
    told: Callable[[str], None]

    def create(self, wish: SessionWish, events: Sequence[Told] = ()) -> Recorded:
        check_initial(events)
        agent, now = self._agent(wish), self.clock.now()
        try:
            environment = self.environments.get(wish.environment)
        except NotFound as error:
            raise EnvironmentNotFound(str(error)) from error
        if environment.archived_at is not None:
            raise EnvironmentArchived(f"The environment {environment.id} is archived.", expected="one that is not")
        resources, vaults = (tuple(map(checked_storable, each)) for each in (wish.resources, wish.vaults))
        told = (self._title(wish.title), patch_metadata({}, wish.metadata), resources, vaults)
        made = Recorded(
            self.ids.new("sesn"),
            self.scope.user or "",
            agent,
            wish.environment,
            now,
            now,
            *told,
            checked_storable(wish.budget),
        )
        self.records.add(self.scope.of(made.user), made, self._spoken(made, [*events, IDLE]) if events else None)
        return made

    def own(self, agent: Told, title: str) -> Recorded:
        """A session to work in ourselves, not kept yet. Nothing can be sent to it from outside that we would heed."""
        now = self.clock.now()
        return Recorded(self.ids.new("sesn"), self.scope.user or "", agent, "env_dreaming", now, now, title)

    def _agent(self, wish: SessionWish) -> Told:
        found = self.agents.get(wish.agent, wish.version)
        if found.archived_at is not None:
            raise BadInput(f"The agent {found.id} is archived.", expected="one that new sessions can be made from")
        told = {name: value for name, value in found.told.items() if name != "metadata"}
        return {**told, **checked_storable(wish.overrides or {}), "id": found.id, "version": found.version}

    def _title(self, title: str | None) -> str | None:
        return None if title is None else self.redact(str(checked_storable(title)))[0]

    def get(self, name: str) -> Recorded:
        return required(self.records.one(self.scope, name), NotFound(f"There is no session {name}."))

    def find(self, which: RecordedQuery, walk: Walk) -> list[Recorded]:
        return self.records.find(self.scope, which, walk)

    def update(self, name: str, patch: Told) -> Recorded:
        """`patch` may name a title (None takes it away), a metadata patch, parts of the agent, and a budget."""
        before = self.get(name)

        def updated(old: Recorded) -> Recorded:
            new = replace(
                _open(old),
                title=self._title(patch["title"]) if "title" in patch else old.title,
                metadata=patch_metadata(old.metadata, patch.get("metadata")),
                agent={**old.agent, **checked_storable(patch.get("agent") or {})},
                budget=checked_storable(patch["budget"]) if "budget" in patch else old.budget,
            )
            if new.budget is not None and old.budget is None:
                raise BadInput("budget: the session was made without one.", expected="one given when it is made")
            return old if new == old else replace(new, updated_at=self.clock.now())

        after = self._changed(name, updated)
        fields = ("title", "metadata", "agent", "budget")
        said = {one: getattr(after, one) for one in fields if getattr(after, one) != getattr(before, one)}
        if said:
            self._record(after, [{"type": "session.updated", **said}])
        return after

    def archive(self, name: str) -> Recorded:
        """Nothing can be sent to it from now on. Twice is once."""
        now = self.clock.now()
        return self._changed(
            name, lambda old: old if old.archived_at else replace(old, archived_at=now, updated_at=now)
        )

    def become(self, name: str, status: Status) -> Recorded:
        """For who runs an agent in it."""
        return self._changed(name, lambda old: replace(old, status=status, updated_at=self.clock.now()))

    def delete(self, name: str) -> None:
        self.records.delete(self.scope.of(self.get(name).user), name)
        self.told(name)

    def _changed(self, name: str, change: Callable[[Recorded], Recorded]) -> Recorded:
        changed = self.records.change(self.scope.of(self.get(name).user), name, change)
        return required(changed, NotFound(f"There is no session {name}."))

    # ---- events ------------------------------------------------------------------------------------------------------

    def send(self, name: str, events: Sequence[Told]) -> list[RecordedEvent]:
        """From outside: only what the wire lets a client send, which is checked where it comes in. Where nobody
        answers, the end of the turn is recorded behind it, for who waits for that."""
        check_sendable(events)
        session = _open(self.get(name))
        return self._record(session, [*events, *([IDLE] if session.status == "idle" else [])])[: len(events)]

    def emit(self, name: str, events: Sequence[Told]) -> list[RecordedEvent]:
        """From inside, by whatever works in the session."""
        return self._record(self.get(name), events)

    def _record(self, session: Recorded, events: Sequence[Told]) -> list[RecordedEvent]:
        kept = self.records.record(self.scope.of(session.user), session.id, self._spoken(session, events))
        if not kept:
            raise NotFound(f"There is no session {session.id}.")
        self.told(session.id)
        return kept

    def _spoken(self, session: Recorded, events: Sequence[Told]) -> SpokenEvents:
        made = [self._event(event) for event in events]
        head = None if session.is_ours else Intake(session.user, self.redact).placed(recorded_head(session))
        turns = recorded_turns(session, made, self.speaker(session.user), self.redact) if head else []
        return SpokenEvents(made, head, turns)

    def _event(self, event: Told) -> RecordedEvent:
        said = {name: one for name, one in event.items() if name != "type"}
        told = redact_deeply(checked_storable(said), self.redact)
        if event["type"] == "user.define_outcome":
            told = {**told, "outcome_id": self.ids.new("outc")}
        return RecordedEvent(self.ids.new("sevt"), str(event["type"]), self.clock.now(), told)

    def events(self, name: str, types: Sequence[str], at: TimeSpan, walk: Walk) -> list[RecordedEvent]:
        return self.records.events(self.scope.of(self.get(name).user), name, types, at, walk)

    def last(self, name: str) -> int:
        """The number of the last event, 0 before the first."""
        return required(self.records.last(self.scope, name), NotFound(f"There is no session {name}."))

    def behind(self, name: str, number: int) -> list[RecordedEvent] | None:
        """The events since that one; None when the session is gone."""
        found = self.records.one(self.scope, name)
        if found is None:
            return None
        return self.records.events(self.scope.of(found.user), name, (), TimeSpan(), Walk(AT_ONCE, number))


def _open(session: Recorded) -> Recorded:
    if session.archived_at is not None:
        raise BadInput(f"The session {session.id} is archived.", expected="one that is not")
    return session
