"""`home.bridge`: copies of managed memory, and what they say differently."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Protocol

from reverie.bridge import source as remote
from reverie.bridge.amendments import Amending, Batch
from reverie.bridge.backing import Talk
from reverie.bridge.diff import StoreDiff, store_diff
from reverie.bridge.places import LearnedRoute, LearnedRoutes
from reverie.bridge.server import BridgeNight, BridgeNights, DreamNight, DreamServer, Pushed, StoreWriter, TooFew, push
from reverie.changes.land import Outcome
from reverie.changes.ledger import Change
from reverie.changes.proposal import Proposal
from reverie.changes.queue import Proposed
from reverie.core.clock import Clock, rfc3339
from reverie.core.errors import BadInput, NotFound, NotReached
from reverie.core.ids import sha256

STORE = "memstore_"
UNHEARD = "What was said in the sessions of {dream} is not here: who is behind these changes was not checked."
PULL_FIRST = "`reverie bridge pull` brings in what is new."


@dataclass(frozen=True, slots=True)
class Followed:
    """The result of one look at a managed memory. `missed` says why there was none."""

    ended: list[remote.RemoteDream]
    batches: list[Batch]
    missed: str = ""


class KeptCopies(remote.Copies, BridgeNights, Protocol):
    """All that is kept of one source."""


@dataclass(frozen=True, slots=True)
class Bridge:
    """`copies` are those of every source, `copies_of` those of one, which is made. `read` reads a folder or a file,
    `own` a memory store of this home's database, if it has one of that id. `documents` are those that are pushed, and
    with a target those of its memory."""

    copies: Callable[[], list[remote.Copies]]
    copies_of: Callable[[str], KeptCopies]
    read: Callable[[str], remote.Snapshot]
    own: Callable[[str], remote.Snapshot | None]
    redact: Callable[[str], str]
    clock: Clock
    amending: Amending
    documents: Callable[[str | None], Mapping[str, str]]
    routes: LearnedRoutes
    wait: Callable[[float], None] = time.sleep

    def pull(self, source: remote.StoreSource, stores: Collection[str] = ()) -> list[remote.Pulled]:
        return remote.pull(source, self.copies_of(source.address), self.redact, self.clock, stores)

    def dream(
        self, server: DreamServer, store: str, *, model: str, instructions: str = "", after: int = 1
    ) -> BridgeNight | TooFew:
        """A night over one store: every new session, in as many dreams as it takes, each over what the last wrote."""
        night = DreamNight(server, self.copies_of(server.address), self.clock, self.wait)
        return night(store, model, instructions, after)

    def diff(self, old: str, new: str | None = None, *, ask: bool = False) -> StoreDiff:
        """Between two copies; of one name alone, what that dream did. `ask`: the model settles what is doubtful."""
        if new is None:
            before, after = self.around(old)
        else:
            before, after = self.snapshot(old), self.snapshot(new)
        found = store_diff(before, after)
        return self.amending.settled(found) if ask else found

    def propose(
        self, old: str, new: str | None = None, *, target: str, quarantined: bool = False, batch: str = ""
    ) -> Batch:
        """Every difference in behaviour as a proposal that waits for a person; nothing lands. `target` is the memory
        that facts go to when no skill is about them. What is quarantined is proposed only if that is asked for.
        `batch` is what undoes all of it; of a dream, the dream."""
        diff, (heard, unheard) = self.diff(old, new), self._heard(old, new)
        named = batch or (old if new is None else "")
        made = self.amending.propose(diff, target, named, talk=Talk(heard), quarantined=quarantined)
        note = f"{made.note}\n{UNHEARD.format(dream=unheard)}".lstrip() if unheard else made.note
        return replace(made, note=note, compared=" ".join(filter(None, (old, new))))

    def _heard(self, old: str, new: str | None) -> tuple[list[remote.HeardSession], str]:
        """The words of the sessions of a dream, or of all that made one store of another; none of them, and the dream,
        where those of one were not pulled."""
        dreams = list[remote.RemoteDream]()
        if new is None:
            copies, dream = self.dream_of(old)
            dreams = [dream]
        else:
            store, first = new.partition("@")[0], old.partition("@")[0]
            found = self._copies_with(store)
            by_output = {one.output: one for one in found.dreams() if one.output} if found else {}
            while store != first and store in by_output:
                dreams.append(by_output.pop(store))
                store = dreams[-1].store
            if found is None or store != first:
                return [], ""
            copies = found
        heard = [copies.heard(one.sessions) for one in dreams]
        unheard = next((one.id for one, some in zip(dreams, heard, strict=True) if one.sessions and not some), "")
        return ([] if unheard else [one for some in heard for one in some]), unheard

    def propose_new(self, *, target: str) -> list[Batch]:
        """The same for every night of dreams that ended since the last time, by what it changed as a whole; of a source
        that is new, for its last night alone. Twice is once: a dream is marked when all of it is in the queue."""
        made = list[Batch]()
        for copies in self.copies():
            ended = [one.id for one in copies.dreams() if one.status == "completed" and one.output]
            made += [self._proposed(night, target) for night in remote.new_nights(copies)]
            copies.mark_proposed(ended)
        return made

    def _proposed(self, night: Sequence[remote.RemoteDream], target: str) -> Batch:
        first, last = night[0], night[-1]
        if first is last:
            return self.propose(last.id, target=target)
        old, new = f"{first.store}@{rfc3339(first.created_at)}", last.output
        new += f"@{rfc3339(last.ended_at)}" if last.ended_at else ""
        return self.propose(old, new, target=target, batch=last.id)

    def reroute(self, proposal: str, to: str, *, by: str, target: str) -> tuple[LearnedRoute, Proposed | None]:
        """Put what a proposal would change to another place; the next statement like it goes there by itself."""
        learned = self.learned(self.amending.review.get(proposal), to, by)
        made = self.amending.reroute(proposal, learned, target)
        self.routes.put(learned)
        return learned, made

    def learned(self, proposal: Proposal, to: str, by: str) -> LearnedRoute:
        said = next(iter(proposal.suggestion.evidence), None)
        text, place = (said.quote, said.session_id) if said else ("", "")
        name = f"route_{sha256(f'{text}|{to}'.encode())[:8]}"
        return LearnedRoute(name, " ".join(text.split()), to, by, self.clock.now(), place)

    def watch(
        self, source: remote.StoreSource, every: float, looks: int | None, target: str | None
    ) -> Iterator[Followed]:
        """Pull again and again; with a target, what each dream changed that ended meanwhile is proposed. A server that
        cannot be reached is asked again at the next look."""
        known = {one.id for one in self.dreams() if one.status == "completed"}
        for look in count(1):
            try:
                self.pull(source)
                ended = [one for one in self.dreams() if one.status == "completed" and one.id not in known]
                known |= {one.id for one in ended}
                yield Followed(ended, self.propose_new(target=target) if target and (ended or look == 1) else [])
            except NotReached as error:
                yield Followed([], [], str(error))
            if look == looks:
                return
            self.wait(every)

    def undo(self, batch: str, because: str = "") -> list[tuple[Change, Outcome]]:
        return self.amending.undo(batch, because)

    def push(self, writer: StoreWriter, store: str, memory: str | None = None) -> Pushed:
        """Every skill, and the entries of one target if it is named, as documents below `/reverie/` in a store."""
        with closing(writer):
            return push(writer, store, self.documents(memory))

    def snapshot(self, name: str) -> remote.Snapshot:
        """A folder, a file, or a store: as it was last pulled, or `@` a time or a version."""
        if not name.strip():
            raise BadInput("A name of what to compare is empty.", expected="a folder, a file or a memory store")
        store, _, when = name.partition("@")
        found = self._copies_with(store)
        if found is not None:
            if not when or when.startswith("memver_"):
                return remote.snapshot_at(found, store, name, version=when)
            try:
                until = datetime.fromisoformat(when)
            except ValueError:
                raise BadInput(
                    f"{when!r} is neither a time nor a version.", expected="2026-05-12, 2026-05-12T14:37Z or memver_…"
                ) from None
            return remote.snapshot_at(found, store, name, until=until if until.tzinfo else until.replace(tzinfo=UTC))
        if store.startswith(STORE):
            here = None if when else self.own(store)
            if here is None:
                raise NotFound(f"There is no copy of {store} here.", next_step=PULL_FIRST)
            return here
        read = self.read(name)
        return replace(read, texts={path: self.redact(text) for path, text in read.texts.items()})

    def _copies_with(self, store: str) -> remote.Copies | None:
        for copies in self.copies():
            if any(one.id == store for one in copies.stores()):
                return copies
        return None

    def around(self, name: str) -> tuple[remote.Snapshot, remote.Snapshot]:
        """The store a dream read, as it stood when it began; and the one it wrote, as it stood when it ended."""
        copies, dream = self.dream_of(name)
        if dream.status != "completed" or not dream.output:
            raise BadInput(
                f"The dream {name} is {dream.status}.", expected="one that is completed", next_step=PULL_FIRST
            )
        before = remote.snapshot_at(copies, dream.store, f"{dream.store} before {name}", until=dream.created_at)
        after = remote.snapshot_at(copies, dream.output, f"{dream.output} after {name}", until=dream.ended_at)
        return before, after

    def dreams(self) -> list[remote.RemoteDream]:
        return [one for copies in self.copies() for one in copies.dreams()]

    def dream_of(self, name: str) -> tuple[remote.Copies, remote.RemoteDream]:
        for copies in self.copies():
            for one in copies.dreams():
                if one.id == name:
                    return copies, one
        raise NotFound(
            f"There is no dream {name} here.", next_step=f"{PULL_FIRST} Two copies are compared by two names."
        )
