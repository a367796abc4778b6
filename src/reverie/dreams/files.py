"""The files of a harness as the target of a night: each matter is put to review, and its person is asked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from reverie.dreams.choosing import as_read, gathered
from reverie.dreams.curators import Curator
from reverie.dreams.dream import Dream, Judged, Status
from reverie.dreams.putting import put, put_before
from reverie.dreams.records import Lease, Planned, Thought
from reverie.dreams.rooms import Rooms
from reverie.dreams.steps import given_up
from reverie.dreams.target import DreamTarget, target_of_files
from reverie.kernel.errors import BadInput


@dataclass(frozen=True, slots=True)
class FileTarget:
    """Implements `NightTarget`. `land`: whether what may land by itself does, if the night was to land at all.
    `brought`: what could not be read when the sources were, if that is done already."""

    rooms: Rooms
    land: bool = True
    brought: tuple[str, ...] | None = None
    at_once: bool = False

    def curator(self, lease: Lease) -> Curator:
        return self.rooms.curator(lease)

    def resume(self) -> None:
        """A shelf that is gone holds up nothing else."""
        with suppress(BadInput):
            self.rooms.review.recover()

    def check(self, dream: Dream) -> None:
        """Files that are gone are noticed when something is to land."""

    def tell(self, text: str) -> None:
        """Nobody looks on: the diary tells it."""

    def begin(self, lease: Lease, dream: Dream) -> Dream:
        """Bring in what is new, and choose from what nobody has dreamt about."""
        rooms, brought = self.rooms, self.brought
        asked = rooms.records.asked(rooms.scope, dream.id)
        if brought is None:
            brought = rooms.sessions.refresh(harness=rooms.harness(dream.shelf)).unread
        chosen = gathered(rooms, dream.shelf, asked)
        begun = replace(
            dream, status=Status.RUNNING, started_at=rooms.clock.now(), sessions=as_read(chosen.sessions),
            left=chosen.left, left_out=len(chosen.left_out), partial=asked.partial, flaws=brought,
        )  # fmt: skip
        rooms.records.chose(lease, begun, as_read(chosen.left_out) if dream.mode == "land" else ())
        return begun

    def described(self, dream: Dream) -> DreamTarget:
        return target_of_files(self.rooms, dream.shelf, self.rooms.instructions(dream.id))

    def put(self, lease: Lease, dream: Dream, planned: Sequence[Planned], places: Sequence[int]) -> dict[int, Judged]:
        rooms, became = self.rooms, dict[int, Judged]()
        review = rooms.fenced(lease) if rooms.fenced else rooms.review
        for place in places:
            before = None
            if lease.attempts > 1:
                others = [one.judged for one in planned if one.done]
                before = put_before(rooms.review.past(), planned[place], others)
            became[place] = before or put(review, planned[place], land=self.land and dream.mode == "land")
        return became

    def end(self, lease: Lease, dream: Dream, thought: Thought) -> None:
        self.rooms.records.end(lease, dream)

    def failed(self, dream: Dream, error: Exception) -> None:
        given_up(self.rooms, dream, str(error) or type(error).__name__)
