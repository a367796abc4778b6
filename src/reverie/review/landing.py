"""Landing: the one path by which Reverie writes memory and skills.

Under the harness's own lock: what a crash left is finished, what others wrote is recorded, the change is worked out
against the bytes that are there and scanned. Then, still under it: (1) commit the Change as intended, with the bytes
on both sides; (2) replace each file whole and durably; (3) commit it as landed, with its row in the ledger. After
that it is projected to git and views, which can be late but not wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from reverie.history.change import Change, Edit, Grounds
from reverie.history.records import Known, Records
from reverie.kernel.clock import Clock
from reverie.kernel.errors import ReverieError
from reverie.kernel.ids import Ids
from reverie.kernel.scope import Scope
from reverie.memory.operation import Conflicted, OverBudget, Unfit
from reverie.memory.shelf import Held
from reverie.review.drafts import Draft, Drawn
from reverie.review.noticing import Noticing, moves_of, written
from reverie.review.outcome import Landed, Outcome, Unchanged, Unsafe
from reverie.review.targets import Target

MOST_DRAWN = 5


@dataclass(frozen=True, slots=True)
class Landing:
    scope: Scope
    records: Records
    noticing: Noticing
    ids: Ids
    clock: Clock
    project: Callable[[], object]

    def land(self, draft: Draft, grounds: Grounds, *, despite_findings: bool = False) -> Outcome:
        """Do what the draft wants, or say why not. `despite_findings`: a person looked at them and decided."""
        outcome = self.write(draft, grounds, despite_findings=despite_findings)
        if isinstance(outcome, Landed):
            self.project()
        return outcome

    def write(self, draft: Draft, grounds: Grounds, *, despite_findings: bool = False) -> Outcome:
        """The same, to be projected later, when nothing is held any more."""
        target = draft.target
        target.scanned({target.subject: b"."})  # the first scan of a process reads its rules: not under someone's lock
        with self.noticing.held(target) as held:
            known: dict[str, Known | None] = {}
            drawn = self._drawn(draft, held, known)
            if not isinstance(drawn, Drawn):
                return drawn
            if not drawn.edits:
                return Unchanged("it is there already" if drawn.operations == () else "it changes nothing")
            report = target.scanned(dict(drawn.new_texts))
            if report.blocked and not despite_findings:
                return Unsafe(report)
            return Landed(self._write(target, held, drawn, grounds, known))

    def _drawn(
        self, draft: Draft, held: Held, known: dict[str, Known | None]
    ) -> Drawn | Conflicted | OverBudget | Unfit:
        """Drawn against bytes that are recorded: an editor has no lock and may save after the reconciling. What is
        recorded is left in `known`."""
        for _ in range(MOST_DRAWN):
            drawn = draft.drawn(held)
            if not isinstance(drawn, Drawn) or all(self._recorded(draft.target, edit, known) for edit in drawn.edits):
                return drawn
            self.noticing.reconcile(draft.target, held)
        return Conflicted(None, f"{draft.target.subject} is being written by someone else all the time")

    def _recorded(self, target: Target, edit: Edit, known: dict[str, Known | None]) -> bool:
        found = known[edit.document] = self.records.known(self.scope, target.holder.key, edit.document)
        return edit.before == (found.content if found else None)

    def _write(
        self, target: Target, held: Held, drawn: Drawn, grounds: Grounds, known: Mapping[str, Known | None]
    ) -> Change:
        change = Change(
            self.ids.new("chg"), target.holder.key, target.subject, drawn.edits, grounds, self.clock.now(),
            drawn.operations,
            target.form,
        )  # fmt: skip
        self.records.intend(self.scope, change)
        self._replace(held, change)
        with written(target.subject):
            return self.records.settle(self.scope, change, moves_of(target, change, known.__getitem__))

    def _replace(self, held: Held, change: Change) -> None:
        done: list[Edit] = []
        try:
            for edit in change.edits:
                done.append(edit)
                held.write(edit.document, edit.after)
        except (OSError, ReverieError) as error:
            # All or nothing: what was written goes back. If that fails too, `recover` finds the Change as intended.
            for edit in reversed(done):
                if held.read(edit.document) != edit.before:
                    held.write(edit.document, edit.before)
            self.records.drop(self.scope, change, str(error))
            raise
