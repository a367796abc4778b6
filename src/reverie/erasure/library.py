"""`home.erase`: what stands where, and then that none of it stands anywhere.

The plan is committed before anything is touched, together with the tombstones: from then on nothing of it can be
imported any more. Each step can be done twice. Killed at any moment, `resume` goes on with the step it was at. The row
of the plan holds the words for as long as they are needed; they go from it before the database is compacted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import get_args

from reverie.core.clock import Clock
from reverie.core.errors import BadInput, NotFound
from reverie.core.ids import Ids
from reverie.core.keys import checked_workspace
from reverie.core.scope import LOCAL, Scope
from reverie.erasure.records import DerivedFiles, Documents, ErasureRecords, FoundPlaces, UnfinishedErasure
from reverie.erasure.wanted import Erasure, ErasureKind, ErasurePlace, ErasureRequest, Left, Plan, Rules, Sought

STEPS = ("rules", "rows", "views", "git", "index", "check", "compact", "done")
ROUNDS = 3  # who writes all the time may write it again while it is erased: not a transcript, but a memory


@dataclass(frozen=True, slots=True)
class Erasing:
    """`remove_file` takes a harness's transcript away, where that was asked for."""

    scope: Scope
    records: ErasureRecords
    documents: Documents
    derived: DerivedFiles
    remove_file: Callable[[str], None]
    retention: Callable[[str], timedelta | None]
    ids: Ids
    clock: Clock

    # ---- asking for it -----------------------------------------------------------------------------------------------

    def text(self, text: str, *, workspace: str | None = None) -> Erasure:
        return self(self.plan(ErasureKind.TEXT, text, workspace=workspace))

    def session(self, session: str, *, user: str | None = None, workspace: str | None = None) -> Erasure:
        return self(self.plan(ErasureKind.SESSION, session, user=user, workspace=workspace))

    def person(self, user: str, *, workspace: str | None = None) -> Erasure:
        return self(self.plan(ErasureKind.PERSON, user, workspace=workspace))

    def project(self, project: str, *, workspace: str | None = None) -> Erasure:
        return self(self.plan(ErasureKind.PROJECT, project, workspace=workspace))

    def workspace(self, workspace: str) -> Erasure:
        return self(self.plan(ErasureKind.WORKSPACE, workspace, workspace=workspace))

    def plan(
        self,
        kind: ErasureKind | str,
        *values: str,
        user: str | None = None,
        workspace: str | None = None,
        rules: Rules = "remove",
    ) -> Plan:
        """Every place it stands in. Nothing is changed."""
        if rules not in get_args(Rules):
            raise BadInput(f"rules is {rules!r}.", expected=f"one of {', '.join(get_args(Rules))}")
        kind = ErasureKind(kind)
        within = workspace or (values[0] if kind is ErasureKind.WORKSPACE and values else self.scope.workspace)
        checked_workspace(within)
        return self.planned(replace(self.scope, workspace=within), ErasureRequest(kind, values, user, rules).checked())

    def planned(self, scope: Scope, wanted: ErasureRequest) -> Plan:
        found = self._found(scope, wanted)
        places = list(found.places)
        if scope.workspace == LOCAL:
            places += [*self.documents.holding(found.sought.of_documents), *self.derived.holding(scope, found.sought)]
        left = [Left(path, HARNESS) for path in found.sources]
        left += self.derived.backups(scope, found.sought, self.records.backups(scope))
        return Plan(found.sought, tuple(places), tuple(left), scope)

    def _found(self, scope: Scope, wanted: ErasureRequest) -> FoundPlaces:
        return self.records.look(scope, self.records.sought(scope, wanted))

    # ---- doing it ----------------------------------------------------------------------------------------------------

    def __call__(self, plan: Plan, *, transcripts: bool = False) -> Erasure:
        """Do it. `transcripts`: also delete the harness's own files, where they hold nothing else."""
        scope, wanted = plan.scope or self.scope, plan.sought.wanted
        with self.derived.alone():
            for one in self.records.open():
                self._run(one)
            try:
                found = self._found(scope, wanted)
            except NotFound:  # an erasure that was broken off was this one
                if not self.records.tombstones(scope):
                    raise
                found = FoundPlaces(plan.sought)
            erasure = Erasure(self.ids.new("era"), wanted.kind, STEPS[0], self.clock.now())
            self.records.begin(scope, erasure, found)
            done = self._run(UnfinishedErasure(erasure, scope, found.sought))
            left = [*done.left, *self._transcripts(found, transcripts)]
            known = self.records.backups(scope)
            left += self.derived.backups(scope, found.sought, known)
            self.derived.beside_backups(scope, self.records.tombstones(scope), known)
        return replace(done, left=tuple(dict.fromkeys(left)))

    def resume(self) -> list[Erasure]:
        """Finish what was broken off. Twice does nothing more."""
        if not self.records.open():
            return []
        with self.derived.alone():
            return [self._run(one) for one in self.records.open()]

    def expire(self) -> list[Erasure]:
        """Erase the sessions that are older than their workspace keeps them. What was learned from them stays."""
        done = []
        for workspace in self.records.workspaces():
            if (age := self.retention(workspace)) is None:
                continue
            scope = replace(self.scope, workspace=workspace)
            by_user: dict[str, list[str]] = {}
            for name in self.records.expired(scope, self.clock.now() - age):
                by_user.setdefault(name.user, []).append(name.id)
            for user, ids in by_user.items():
                wanted = ErasureRequest(ErasureKind.SESSION, tuple(ids), user, "keep", "age")
                done.append(self(Plan(self.records.sought(scope, wanted), scope=scope)))
        return done

    # ---- the steps ---------------------------------------------------------------------------------------------------

    def _run(self, work: UnfinishedErasure) -> Erasure:
        erasure, scope, sought = work.erasure, work.scope, work.sought
        left: list[Left] = []
        rounds = 0
        while erasure.step != "done":
            if sought is None:  # the words are gone already: only the database's files are left
                erasure = replace(erasure, step="compact")
            step = erasure.step
            done, kept = self._step(step, erasure, scope, sought)
            erasure, left = erasure.with_counts(done), [*left, *kept]
            following = STEPS[STEPS.index(step) + 1]
            if step == "check" and kept and rounds < ROUNDS - 1:
                following, rounds = STEPS[0], rounds + 1
                left = [one for one in left if one not in kept]
            ended = self.clock.now() if following == "done" else None
            erasure = replace(erasure, step=following, ended_at=ended)
            self.records.step(scope, erasure)
        return replace(erasure, left=tuple(dict.fromkeys(left)))

    def _step(
        self, step: str, erasure: Erasure, scope: Scope, sought: Sought | None
    ) -> tuple[Iterable[ErasurePlace], Iterable[Left]]:
        local = scope.workspace == LOCAL
        if step == "rules" and sought is not None and (sought.everything or sought.user is not None):
            self.derived.before_rows_go(scope)
        if step == "compact" or sought is None:
            return (), self.records.compact(scope)
        match step:
            case "rules" if local:
                done, left = self.documents.without(sought.of_documents)
                return [
                    *done,
                    ErasurePlace("rules to be asked about", "", self.documents.ask_about(sought.asked)),
                ], left
            case "rows":
                return self.records.rows(scope, erasure.id, sought), ()
            case "views" if local:
                return self.derived.views(scope, sought), ()
            case "git" if local:
                return (), self.derived.git(scope)
            case "index":
                self.derived.index(scope)
            case "check":
                return (), self._standing(scope, sought)
        return (), ()

    def _standing(self, scope: Scope, sought: Sought) -> list[Left]:
        found = self.records.residue(scope, sought)
        if scope.workspace == LOCAL:
            found += [*self.documents.holding(sought.of_documents), *self.derived.holding(scope, sought)]
        why = "it was written again meanwhile; erase it again"
        return [Left(place.where, f"{place.kind}: {why}", failed=True) for place in found]

    def _transcripts(self, found: FoundPlaces, remove: bool) -> list[Left]:
        left = []
        for path in found.sources:
            if remove and path in found.alone:
                self.remove_file(path)
            else:
                left.append(Left(path, SHARED if remove else HARNESS))
        return left

    # ---- after a restore ---------------------------------------------------------------------------------------------

    def again(self) -> list[Erasure]:
        """Erase again what a backup brought back."""
        done = []
        for workspace, stones in self.derived.restored():
            scope = replace(self.scope, workspace=workspace)
            for wanted in self.records.met_again(scope, stones):
                done.append(self(Plan(self.records.sought(scope, wanted), scope=scope)))
            self.records.take_over(scope, stones)
        self.derived.restored_done()
        return done


HARNESS = "a transcript of the harness: it is not Reverie's, and is not touched"
SHARED = "a transcript of the harness that holds other sessions as well: take it out there"
