"""`home.dream`: a night over one target or all of them, and what is shown of it afterwards. One night on a target at a
time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, Unpack

from reverie.changes.land import Outcome, undone_by
from reverie.changes.ledger import Change, ChangeQuery, HistoryReader
from reverie.core.errors import BadInput, ReverieError, StillLocked, SwitchedOff
from reverie.dreams.brief.brief import Brief
from reverie.dreams.brief.select_sessions import gathered, is_named, missing_choice
from reverie.dreams.diary import NIGHTS_SHOWN, exported_files
from reverie.dreams.dream import Dream, Fate, Mode, Night, Skipped, Status
from reverie.dreams.records import SessionChoice, SessionFilter, Stopped, Used
from reverie.dreams.run.runner import DreamRunner, Estimate, estimated, previewed
from reverie.dreams.run.steps import Doing, run_inline
from reverie.llm.settings import ModelInfo
from reverie.transcripts.library import as_if_refreshed

NIGHTS_LOOKED_AT = 20
MOST_ESTIMATED = 1_000  # sessions whose words are held in memory


@dataclass(frozen=True, slots=True)
class Due:
    """The reasons for a night: that none was since then, or that so many sessions are new; either, where both are
    given."""

    at: datetime | None = None
    sessions: int = 0


class DreamViews(Protocol):
    """Where the views of a target's nights are written, and the lock of a night."""

    def alone(self) -> AbstractContextManager[None]: ...

    def write(self, files: Mapping[str, bytes]) -> None: ...


@dataclass(frozen=True, slots=True)
class Dreaming:
    """`present` names the targets that agents on this machine read, or the home's own where there is none. `unread`
    says that nobody reads a target, if that is so; `model` is the one a night would ask."""

    runner: DreamRunner
    changes: HistoryReader
    shown: Callable[[str], DreamViews]
    present: Callable[[], Sequence[str]]
    unread: Callable[[str], str] = lambda target: ""
    model: Callable[[], ModelInfo | None] = lambda: None

    # ---- now ---------------------------------------------------------------------------------------------------------

    def __call__(
        self,
        target: str | None = None,
        mode: Mode = "land",
        sessions: Sequence[str] | None = None,
        **how: Unpack[SessionFilter],
    ) -> Night:
        """One night: over a target, or over every target that has new sessions. Nothing new is a quiet night.

        A target's sessions are read oldest first, a few in one dream, until all are read or the model's budget is
        spent. Its first night reads the newest few only; `since` and `everything` reach further back, `limit` is for
        one dream of at most so many.
        """
        if target is None:
            return self._everywhere(mode, sessions, **how)
        self.runner.ready(self.known(target))
        asked = self._asked(target, sessions, **how)
        with self.shown(target).alone():
            return self._told(self._dreamt(target, mode, asked))

    def _everywhere(self, mode: Mode, sessions: Sequence[str] | None, **how: Unpack[SessionFilter]) -> Night:
        """A target that is switched off or cannot be dreamt over does not hold up the others."""
        runner = self.runner
        runner.ready("")
        brought: tuple[str, ...] | None = runner.sessions.refresh().unread
        self._check(runner.asked("", sessions, **how))
        stored = list(runner.sessions.find(user=how.get("user")))
        dreams, skipped, unchanged, errors = list[Dream](), list[Skipped](), list[str](), list[ReverieError]()
        run = runner.ids.new("run")  # what models may take in a night is for all targets together
        for target in self.present():
            try:
                runner.ready(target)
                asked = replace(runner.asked(target, sessions, **how), run=run)
                begun = runner.records.unfinished(runner.scope, target)
                if not begun and not gathered(runner, target, asked, stored).sessions:
                    unchanged.append(target)
                    continue
                if enough := next((dream.enough for dream in dreams if dream.enough), ""):
                    skipped.append(Skipped(target, f"its sessions wait for another night: {enough}."))
                    continue
                with self.shown(target).alone():
                    dreams += self._dreamt(target, mode, asked, brought)
                brought = ()
            except SwitchedOff as error:
                skipped.append(Skipped(target, str(error)))
            except ReverieError as error:
                errors.append(error)
                skipped.append(Skipped(target, str(error), failed=True))
        if errors and not dreams:
            raise errors[0]
        if not dreams and unchanged:
            quiet = unchanged.pop(0)
            with self.shown(quiet).alone():
                dreams += self._dreamt(quiet, mode, runner.asked(quiet, sessions, **how), brought)
        return replace(self._told(dreams), skipped=tuple(skipped), unchanged=tuple(unchanged))

    def _dreamt(
        self, target: str, mode: Mode, asked: SessionChoice, brought: tuple[str, ...] | None = None
    ) -> list[Dream]:
        """One dream after another until nothing is left, behind those that were broken off."""
        self._finish(target, land=mode == "land")
        dreams = list[Dream]()
        following: SessionChoice | None = asked
        while following:
            dream = self.runner.run(self.runner.open(target, mode, following).id, brought=brought)
            dreams.append(dream)
            following, brought = _following(following, dream), ()
        self.show(target)
        return dreams

    def _told(self, dreams: Sequence[Dream]) -> Night:
        night = Night(tuple(dreams))
        notes = [note for target in night.targets if (note := self.unread(target))]
        for dream in dreams:
            if dream.left_out:
                notes.append(
                    f"The first night on {dream.target} reads the newest sessions: {dream.left_out:,} older ones were "
                    f"left out. `reverie dream {dream.target} --all` reads them, `--since DATE` some of them."
                )
        return replace(night, notes=tuple(notes))

    def if_due(self, due: Due, target: str | None = None, mode: Mode = "land") -> Night | None:
        """A night, if one is due. None if not, or while one is under way: who looks every hour looks again."""
        try:
            if target is None:
                night = self._everywhere(mode, None) if self.is_due(None, due) else None
                return night if night and night.dreams else None
            self.runner.ready(self.known(target))
            with self.shown(target).alone():
                if not self.is_due(target, due):
                    return None
                return self._told(self._dreamt(target, mode, self.runner.asked(target)))
        except (StillLocked, SwitchedOff):
            return None

    # ---- later -------------------------------------------------------------------------------------------------------

    def later(
        self,
        target: str,
        mode: Mode = "land",
        sessions: Sequence[str] | None = None,
        **how: Unpack[SessionFilter],
    ) -> Dream:
        """A night over one target for a worker to do. If one dream leaves sessions over, the worker goes on."""
        self.known(target)  # a target there is not is refused now, not in the worker
        asked = self._asked(target, sessions, **how)
        return self.runner.open(target, mode, replace(asked, queued=True))

    def later_everywhere(
        self, mode: Mode = "land", sessions: Sequence[str] | None = None, **how: Unpack[SessionFilter]
    ) -> list[Dream]:
        """The same over every target that has something to read, as one run."""
        run = self.runner.ids.new("run")
        asked = {target: self._asked(target, sessions, **how) for target in self.waiting(sessions, **how)}
        return [self.runner.open(target, mode, replace(one, queued=True, run=run)) for target, one in asked.items()]

    def get(self, dream: str) -> Dream:
        return self.runner.get(dream)

    def run(self, dream: str, do: Doing = run_inline) -> Dream:
        """Do what is left of one dream. What a queued one leaves over is queued."""
        found = self.runner.get(dream)
        asked: SessionChoice | None = None
        with suppress(Stopped):  # what is over has nothing that could follow
            asked = self.runner.records.asked(self.runner.scope, dream)
        with self.shown(found.target).alone():
            done = self.runner.run(dream, do)
            following = _following(asked, done) if asked and asked.queued else None
            if following:
                self.runner.open(done.target, done.mode, following)
            self.show(found.target)
        return done

    def recover(self) -> list[Dream]:
        """Finish the nights that were broken off, on every target. Twice does nothing more."""
        finished, gone = list[Dream](), list[BadInput]()
        for dream in self.runner.records.unfinished(self.runner.scope):
            try:
                finished.append(self.run(dream.id))
            except BadInput as error:  # its target is not there now: the others do not wait for it
                gone.append(error)
        if gone:
            raise gone[0]
        return finished

    def cancel(self, dream: str) -> Dream:
        """End a night that has not begun to land. Memory is as it was; its sessions wait for another night."""
        canceled = self.runner.cancel(dream)
        with suppress(BadInput):  # a night can be canceled whose target is gone
            self.show(canceled.target)
        return canceled

    def standing(self, dream: str) -> list[Change]:
        """The Changes of a dream that still stand, the newest first: those it landed, and those people approved."""
        review, found = self.runner.review, self.runner.get(dream)
        changes = [
            one for one in self.changes.find(review.scope, ChangeQuery(dream=found.id)) if not one.grounds.undoes
        ]
        return [one for one in changes if undone_by(review.records, review.scope, one.id) is None]

    def undo(self, dream: str, because: str = "") -> list[Outcome]:
        """Take back all that came of a dream and still stands. Twice is once; what could not be taken back says why."""
        why = because or f"takes back the night {dream}"
        return [self.runner.review.undo(one.id, why) for one in self.standing(dream)]

    def _finish(self, target: str, *, land: bool) -> None:
        """Finish what was broken off, before a new one begins. Where nothing is to land now, its rest is only
        proposed."""
        for dream in self.runner.records.unfinished(self.runner.scope, target):
            self.runner.run(dream.id, land=land)

    # ---- what there is to do -----------------------------------------------------------------------------------------

    def known(self, target: str) -> str:
        """The name of a target, or a refusal that says which there are."""
        try:
            return self.runner.memory.target(target).name
        except BadInput as error:
            if missing_choice(self.runner.sessions, SessionChoice((target,))):
                raise
            raise BadInput(
                error.found, expected=error.expected, next_step=f"It is a session: `reverie dream --session {target}`."
            ) from error

    def _asked(self, target: str, sessions: Sequence[str] | None, **how: Unpack[SessionFilter]) -> SessionChoice:
        """Raises where who or what is named is not there, even after what is new was brought in."""
        asked = self.runner.asked(target, sessions, **how)
        if missing_choice(self.runner.sessions, asked):
            self.runner.sessions.refresh(harness=self.runner.harness(target))
            self._check(asked)
        return asked

    def _check(self, asked: SessionChoice) -> None:
        if missing := missing_choice(self.runner.sessions, asked):
            raise missing

    def is_due(self, target: str | None, due: Due) -> bool:
        """Whether no night has ended since it was due, or enough sessions are new. One that failed is not tried every
        hour: it waits for the next time. Without a target: whether that is so of all there are together."""
        targets = self.present() if target is None else [self.known(target)]
        nights = self.runner.records.find(self.runner.scope, target, NIGHTS_LOOKED_AT)
        ended = {
            one.status
            for one in nights
            if due.at and one.started_at >= due.at and (target is not None or one.target in targets)
        } & {Status.COMPLETED, Status.FAILED}
        if due.at and not ended:
            return True
        return due.sessions > 0 and Status.FAILED not in ended and self.new_sessions(target) >= due.sessions

    def new_sessions(self, target: str | None = None) -> int:
        """The number of sessions a night over this target would read; without one, the most that any has."""
        runner = self.runner
        runner.sessions.refresh(harness=runner.harness(target) if target else "")
        stored = list(runner.sessions.find())
        chosen = [
            gathered(runner, one, runner.asked(one), stored) for one in (self.present() if target is None else [target])
        ]
        return max((len(one.sessions) + one.left for one in chosen), default=0)

    def waiting(self, sessions: Sequence[str] | None = None, **how: Unpack[SessionFilter]) -> list[str]:
        """The targets that have something to read, with what would be brought in first."""
        self.runner.sessions.refresh()
        self._check(self.runner.asked("", sessions, **how))
        stored = list(self.runner.sessions.find(user=how.get("user")))
        asked = {target: self.runner.asked(target, sessions, **how) for target in self.present()}
        return [target for target, one in asked.items() if gathered(self.runner, target, one, stored).sessions]

    def estimate(
        self, target: str | None = None, sessions: Sequence[str] | None = None, **how: Unpack[SessionFilter]
    ) -> list[Estimate]:
        """Estimate what a night would read of each target, with what it would bring in first, and what models would
        cost. Writes nothing, asks nobody."""
        runner = self.runner
        targets = self.present() if target is None else [self.known(target)]
        named = runner.asked(target or "", sessions, **how)
        then = as_if_refreshed(
            runner.sessions,
            MOST_ESTIMATED,
            lambda head: is_named(head.id, named),
            harness=runner.harness(target) if target else "",
        )
        if missing := missing_choice(then.library, named):
            raise missing
        stored = list(then.library.find(user=named.user))
        estimates = list[Estimate]()
        for one in targets:
            asked = runner.asked(one, sessions, **how)
            first = gathered(runner, one, asked, stored)
            whole = replace(asked, limit=len(first.sessions) + (0 if asked.once else first.left))
            chosen = gathered(runner, one, whole, stored) if whole.limit > len(first.sessions) else first
            if chosen.sessions or target is not None:
                estimates.append(estimated(runner, then, one, chosen, self.model()))
        return estimates

    def briefs(
        self, target: str | None = None, sessions: Sequence[str] | None = None, **how: Unpack[SessionFilter]
    ) -> list[Brief]:
        """The Briefs a curator would be shown tonight, target by target. New sessions are brought in; nobody is
        asked."""
        targets = self.waiting(sessions, **how) if target is None else [self.known(target)]
        shown = list[Brief]()
        for one in targets:
            chosen = gathered(self.runner, one, self._asked(one, sessions, **how))
            shown += [each.brief for each in previewed(self.runner, one, chosen.sessions, self.model())]
        return shown

    def show(self, target: str) -> None:
        """Write the views anew from what is recorded; git, too, where the night only saw what others wrote."""
        records, scope = self.runner.records, self.runner.scope
        dreams = records.find(scope, target, NIGHTS_SHOWN)
        landed = {ref: self.changes.get(scope, ref) for dream in dreams for ref in dream.changes}
        known = {ref: change for ref, change in landed.items() if change is not None}
        self.shown(target).write(exported_files(dreams, records.staged(scope, target), known))
        self.runner.review.landing.project()


def _following(asked: SessionChoice, dream: Dream) -> SessionChoice | None:
    """The choice for the next dream of the same run: there is one until nothing is left or models have had enough.
    What was only proposed is not used up, and would be read again."""
    if asked.once or dream.status is not Status.COMPLETED or not dream.left or dream.enough:
        return None
    landed = [one for one in dream.of(Fate.LANDED) if one.document]
    used = Used(
        asked.used.changes + len(landed),
        asked.used.adds + sum(not one.old for one in landed),
        asked.used.new_chars + sum(max(0, len(one.text) - len(one.old)) for one in landed),
        asked.used.proposals + len(dream.proposals),
    )
    earlier = (*asked.earlier, dream.id) if dream.mode == "propose" else ()
    return replace(asked, earlier=earlier, used=used, run=asked.run or dream.id)
