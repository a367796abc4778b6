"""`home.erase`: what stands where, and then that none of it stands anywhere; and the documents agents read, without it.

The plan is committed before anything is touched, together with the tombstones: from then on nothing of it can be
imported any more. Each step can be done twice. Killed at any moment, `resume` goes on with the step it was at. The row
of the plan holds the words for as long as they are needed; they go from it before the database is compacted.

Documents are landed like every other write, so that nothing else is lost. A landing records the bytes before it. They
are bytes that history had already, or has from now on for the moment until the rows are gone through: no copy of them
stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import get_args

from reverie.changes.drafts import Artifact, Rewrite, memory_artifact
from reverie.changes.land import Landed, Unchanged, in_words
from reverie.changes.ledger import Edit, Grounds, Via
from reverie.changes.outside_edits import has_displaced
from reverie.changes.proposal import Suggestion
from reverie.changes.queue import Review, Waiting
from reverie.core.clock import Clock
from reverie.core.errors import BadInput, NotFound, ReverieError
from reverie.core.ids import Ids
from reverie.core.scope import LOCAL, Scope, checked_workspace
from reverie.erasure.records import (
    DerivedFiles,
    Documents,
    Erasure,
    ErasureKind,
    ErasurePlace,
    ErasureRecords,
    ErasureRequest,
    FoundPlaces,
    Left,
    Plan,
    Rules,
    Sought,
    UnfinishedErasure,
    ids_by_user,
)
from reverie.erasure.words import Scrubber
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.operation import Remove, entry_hash
from reverie.memory.target import Target
from reverie.skills.library import Folder
from reverie.skills.skill import ARCHIVE

STEPS = ("rules", "rows", "views", "git", "index", "check", "compact", "done")
AT_ONCE = 5_000  # sessions of one erasure by age: their ids are bound to one statement
ROUNDS = 3  # who writes all the time may write it again while it is erased: not a transcript, but a memory
HARNESS = "a transcript of the harness: it is not Reverie's, and is not touched"
SHARED = "a transcript of the harness that holds other sessions as well: take it out there"
ATTEMPTS = 5  # an editor may save between our look and our write


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
            self._finish(self.records.open())
            try:
                found = self._found(scope, wanted)
            except NotFound:  # an erasure that was broken off was this one
                if not self.records.tombstones(scope):
                    raise
                found = FoundPlaces(plan.sought)
            [done] = self._finish([self._begin(scope, found)])
            left = [*done.left, *self._transcripts(found, transcripts), *self._backups(scope, found.sought)]
        return replace(done, left=tuple(dict.fromkeys(left)))

    def resume(self) -> list[Erasure]:
        """Finish what was broken off. Twice does nothing more."""
        if not self.records.open():
            return []
        with self.derived.alone():
            return self._finish(self.records.open())

    def expiring(self, *, workspace: str | None = None) -> list[Plan]:
        """Every place that `expire` would erase. Nothing is changed."""
        return [self.planned(scope, wanted) for scope, wanted in self._expired(workspace)]

    def expire(self, *, workspace: str | None = None) -> list[Erasure]:
        """Erase the sessions that are older than their workspace keeps them. What was learned from them stays."""
        with self.derived.alone():
            looked = [(scope, self._found(scope, wanted)) for scope, wanted in self._expired(workspace)]
            found = [(scope, places) for scope, places in looked if places.sought.sessions]
            done = self._finish([self._begin(scope, places) for scope, places in found])
            return [
                replace(one, left=(*one.left, *self._transcripts(places, False), *self._backups(scope, places.sought)))
                for one, (scope, places) in zip(done, found, strict=True)
            ]

    def _expired(self, only: str | None) -> Iterator[tuple[Scope, ErasureRequest]]:
        for workspace in self.records.workspaces() if only is None else [only]:
            if (age := self.retention(workspace)) is None:
                continue
            scope = replace(self.scope, workspace=workspace)
            for user, ids in ids_by_user(self.records.expired(scope, self.clock.now() - age)).items():
                for start in range(0, len(ids), AT_ONCE):
                    part = tuple(ids[start : start + AT_ONCE])
                    yield scope, ErasureRequest(ErasureKind.SESSION, part, user, "keep", "age")

    # ---- the steps ---------------------------------------------------------------------------------------------------

    def _begin(self, scope: Scope, found: FoundPlaces) -> UnfinishedErasure:
        erasure = Erasure(self.ids.new("era"), found.sought.wanted.kind, STEPS[0], self.clock.now())
        self.records.begin(scope, erasure, found)
        return UnfinishedErasure(erasure, scope, found.sought)

    def _finish(self, works: Sequence[UnfinishedErasure]) -> list[Erasure]:
        """Go through the steps of each. The database is compacted once for all of them."""
        ready = [(work.scope, self._run(work)) for work in works]
        left = tuple(self.records.compact()) if ready else ()
        done = [(scope, replace(one, step="done", ended_at=self.clock.now())) for scope, one in ready]
        for scope, one in done:
            self.records.step(scope, one)
        return [replace(one, left=tuple(dict.fromkeys((*one.left, *left)))) for _, one in done]

    def _run(self, work: UnfinishedErasure) -> Erasure:
        """The erasure when only the database is left to be compacted."""
        erasure, scope, sought = work.erasure, work.scope, work.sought
        left: list[Left] = []
        rounds = 0
        while sought is not None and erasure.step != "compact":
            step = erasure.step
            done, kept = self._step(step, erasure, scope, sought)
            erasure, left = erasure.with_counts(done), [*left, *kept]
            following = STEPS[STEPS.index(step) + 1]
            if step == "check" and kept and rounds < ROUNDS - 1:
                following, rounds = STEPS[0], rounds + 1
                left = [one for one in left if one not in kept]
            erasure = replace(erasure, step=following)
            self.records.step(scope, erasure)
        return replace(erasure, left=tuple(dict.fromkeys(left)))

    def _step(
        self, step: str, erasure: Erasure, scope: Scope, sought: Sought
    ) -> tuple[Iterable[ErasurePlace], Iterable[Left]]:
        local = scope.workspace == LOCAL
        if step == "rules" and (sought.everything or sought.user is not None):
            self.derived.before_rows_go(scope)
        match step:
            case "rules" if local:
                done, left = self.documents.without(sought.of_documents)
                asked = ErasurePlace("rules to be asked about", "", self.documents.ask_about(sought.asked))
                return [*done, asked], left
            case "rows":
                return self.records.rows(scope, erasure.id, sought), ()
            case "views" if local:
                return self.derived.views(scope, sought), ()
            case "git" if local:
                return (), self.derived.git(scope)
            case "index":
                self.derived.index(scope)
            case "check":
                found = self.records.residue(scope, sought)
                if local:
                    found += [*self.documents.holding(sought.of_documents), *self.derived.holding(scope, sought)]
                why = "it was written again meanwhile; erase it again"
                return (), [Left(place.where, f"{place.kind}: {why}", failed=True) for place in found]
        return (), ()

    def _backups(self, scope: Scope, sought: Sought) -> Iterable[Left]:
        """The backups that hold it. Beside each lies from now on what a restore leaves out."""
        known = self.records.backups(scope)
        self.derived.beside_backups(scope, self.records.tombstones(scope), known)
        return self.derived.backups(scope, sought, known)

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


@dataclass(frozen=True, slots=True)
class _Live:
    artifact: Artifact
    edits: tuple[Edit, ...]

    @property
    def where(self) -> str:
        return f"{self.artifact.holder.name}/{self.artifact.subject}"

    @property
    def statements(self) -> int:
        form = FORMATS[self.artifact.form or "list"]
        sides = ((edit.before, edit.after) for edit in self.edits)
        gone = sum(len(form.read(old or b"").entries) - len(form.read(new or b"").entries) for old, new in sides)
        return max(1, gone)


@dataclass(frozen=True, slots=True)
class LiveDocuments:
    """Implements `reverie.erasure.records.Documents`."""

    targets: Callable[[], Iterable[Target]]
    folders: Callable[[], Iterable[Folder]]
    review: Review

    def holding(self, scrub: Scrubber) -> Iterator[ErasurePlace]:
        for look in self._every():
            try:
                live = look(scrub)
            except ReverieError:
                continue  # who erases is told of it then
            if live is not None:
                yield ErasurePlace("rules and skills agents read", live.where, live.statements)

    def without(self, scrub: Scrubber) -> tuple[list[ErasurePlace], list[Left]]:
        done: list[ErasurePlace] = []
        left: list[Left] = []
        landed = (partial(self._landed, look, scrub) for look in self._every())
        cleanings: Iterator[Callable[[], list[ErasurePlace | Left]]] = chain(landed, self._displaced(scrub))
        for clean in cleanings:
            try:
                for outcome in clean():
                    if isinstance(outcome, Left):
                        left.append(outcome)
                    else:
                        done.append(outcome)
            except ReverieError as error:
                left.append(Left(error.found, "it could not be read or written: mend that and erase it again", True))
        if done:
            self.review.landing.project()
        return done, left

    def _landed(self, look: Callable[[Scrubber], _Live | None], scrub: Scrubber) -> list[ErasurePlace | Left]:
        grounds = Grounds(self.review.scope.actor, Via.DIRECT, "erased", approved_by=self.review.scope.actor)
        said = ""
        for _ in range(ATTEMPTS):
            live = look(scrub)
            if live is None:
                return []
            outcome = self.review.landing.write(Rewrite(live.artifact, live.edits), grounds, despite_findings=True)
            if isinstance(outcome, Landed):
                return [ErasurePlace("rules and skills agents read", live.where, live.statements)]
            said = live.where if isinstance(outcome, Unchanged) else f"{live.where}: {in_words(outcome)}"
        return [Left(said, "it is being written all the time: erase it again", failed=True)]

    def _every(self) -> Iterator[Callable[[Scrubber], _Live | None]]:
        for target in self.targets():
            for place in target.places():
                yield partial(_memory, target, memory_artifact(target, place))
        for folder in self.folders():
            archived = folder.files(ARCHIVE) if hasattr(folder, "root") else ()
            for subject in (*folder.subjects(), *sorted({"/".join(path.split("/")[:2]) for path in archived})):
                yield partial(self._skill, folder, subject)

    def _displaced(self, scrub: Scrubber) -> Iterator[Callable[[], list[ErasurePlace | Left]]]:
        """Files that documents displaced and somebody still has open: no agent reads them, but they hold the words."""
        for target in self.targets():
            for place in target.places():
                if has_displaced(target, place.document):
                    yield partial(_without_displaced, target, place.document, place.document, place.form, scrub)
        for folder in self.folders():
            for subject in (subject for subject in folder.subjects() if has_displaced(folder, subject)):
                for document in sorted(folder.files(subject)):
                    yield partial(_without_displaced, folder, subject, document, None, scrub)

    def _skill(self, folder: Folder, subject: str, scrub: Scrubber) -> _Live | None:
        files = folder.files(subject)
        edits = [Edit(path, content, scrub.document(content, None, path)) for path, content in sorted(files.items())]
        edits = [edit for edit in edits if edit.before != edit.after]
        return _Live(self.review.artifacts(folder.key, subject), tuple(edits)) if edits else None

    def ask_about(self, texts: Iterable[str]) -> int:
        """Rules that rest on nothing any more, and are not to go unasked."""
        wanted, waiting = {entry_hash(text) for text in texts}, 0
        for target in self.targets() if wanted else ():
            for place in target.places():
                for text in FORMATS[place.form].read(target.read(place.document) or b"").entries:
                    if entry_hash(text) in wanted:
                        remove = Remove(place.document, entry_hash(text))
                        why = "all it rested on was erased"
                        asked = Suggestion(target.key, place.document, (remove,), reason=why, proposer="erasure")
                        waiting += isinstance(self.review.propose(asked, land=False), Waiting)
        return waiting


def _memory(target: Target, artifact: Artifact, scrub: Scrubber) -> _Live | None:
    content = target.read(artifact.subject)
    if content is None:
        return None
    new = scrub.document(content, artifact.form, artifact.subject)
    return None if new == content else _Live(artifact, (Edit(artifact.subject, content, new),))


def _without_displaced(
    holder: Target | Folder, subject: str, document: str, form: FormatName | None, scrub: Scrubber
) -> list[ErasurePlace | Left]:
    with holder.held(subject) as held:
        count = held.clean_displaced(document, lambda content: scrub.document(content, form, document))
    return [ErasurePlace("files that an editor holds open", f"{holder.name}/{document}", count)] if count else []
