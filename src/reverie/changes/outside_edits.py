"""What a crash left is finished and what others wrote is recorded, before anything is read (`RecordBeforeRead`) or
written.

A file a harness owns is written by others all day. Each time Reverie touches it, the difference to what it last saw
becomes a Change of the actor `outside`: scanned, reported, and queued for removal where it looks unsafe.

What someone wrote to a file that Reverie had replaced meanwhile is brought into the one that is there now. Three sides:
what the displaced file was known to say, what it says now, and what the document says now. Whatever the editor brought,
changed or took is done to the document where its entries still stand; what meets a change of the same entry is put to a
person. Pure: bytes in, bytes and operations out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath
from time import sleep

from reverie.changes.drafts import Artifact, Artifacts, memory_artifact, three_way
from reverie.changes.ledger import Change, Edit, Grounds, HistoryRecords, Known, Moves, Via
from reverie.changes.policy import rules_moved
from reverie.changes.proposal import Suggestion
from reverie.core.clock import Clock
from reverie.core.errors import DatabaseUnusable
from reverie.core.ids import Ids, sha256
from reverie.core.scope import Scope
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.library import Entry
from reverie.memory.operation import Add, Applied, Operation, Remove, Replace, applied, entry_hash, matched, places_of
from reverie.memory.target import Displaced, Held, Place, Target
from reverie.safety.scan import scan
from reverie.skills.library import Folder

OUTSIDE = "outside"
REVERIE = "reverie"
MOST_TRIED = 5
BROUGHT_IN = "saved by someone else to the file that Reverie was replacing, and brought into the new one"
OFFERED = "someone else saved this at the moment when Reverie changed the same place: is it still to be kept?"
_HELD: ContextVar[Mapping[tuple[str, str], Held]] = ContextVar("held")
SAVING_SECONDS = 0.05  # for which some editors take a file away while they save it


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The result of reconciling: Changes a crash left that are landed or dropped now, and what came from outside."""

    landed: tuple[Change, ...] = ()
    dropped: tuple[Change, ...] = ()
    outside: tuple[Change, ...] = ()

    def and_also(self, other: Reconciled) -> Reconciled:
        return Reconciled(self.landed + other.landed, self.dropped + other.dropped, self.outside + other.outside)


@dataclass(frozen=True, slots=True)
class OutsideEdits:
    """`editors`: others may write there without a word, so each time it is held what they did is looked for first.
    Rows have none, and what is written to them is recorded in the same transaction."""

    scope: Scope
    records: HistoryRecords
    ids: Ids
    clock: Clock
    suggest: Callable[[Suggestion], object]
    editors: bool = True

    @contextmanager
    def held(self, artifact: Artifact) -> Iterator[Held]:
        """The artifact kept for ourselves, after what happened to it meanwhile was recorded.

        Who holds it already holds it still: a decision and its landing are one act.
        """
        already = _HELD.get({}).get((artifact.holder.key, artifact.subject))
        if already is not None:
            yield already
            return
        with self._locked(artifact) as held:
            if self.editors:
                self.reconcile(artifact, held)
            yield held

    def reconciled(self, artifact: Artifact) -> Reconciled:
        with self._locked(artifact) as held:
            return self.reconcile(artifact, held)

    @contextmanager
    def _locked(self, artifact: Artifact) -> Iterator[Held]:
        with artifact.holder.held(artifact.subject) as held:
            before = _HELD.set({**_HELD.get({}), (artifact.holder.key, artifact.subject): held})
            try:
                yield held
            finally:
                _HELD.reset(before)

    def reconcile(self, artifact: Artifact, held: Held) -> Reconciled:
        """Make what is recorded agree with what is there, while it is held. Doing it twice does nothing more."""
        reconciled = Reconciled()
        for change in self.records.unsettled(self.scope, artifact.holder.key, artifact.subject):
            reconciled = reconciled.and_also(self._resume(artifact, held, change))
        reconciled = reconciled.and_also(self._outside(artifact, held))
        for document in artifact.documents() if self.editors else ():
            for displaced in held.displaced(document):
                reconciled = reconciled.and_also(self._displaced(artifact, held, document, displaced))
        return reconciled

    # ---- what a crash left -------------------------------------------------------------------------------------------

    def _resume(self, artifact: Artifact, held: Held, change: Change) -> Reconciled:
        now = {edit.document: held.read(edit.document) for edit in change.edits}
        if all(now[edit.document] in (edit.before, edit.after) for edit in change.edits):
            left = [edit for edit in change.edits if now[edit.document] != edit.after]
            if all(held.write(edit.document, edit.after, edit.before) for edit in left):
                self._suggest_removals(artifact, change)
                with written(artifact.subject):
                    before = {edit.document: edit.before for edit in change.edits}
                    outside = self.came_from_outside(artifact, before)
                    return outside.and_also(Reconciled(landed=(self._settled(artifact, change),)))
        if change.operations and artifact.form is not None:
            return self._resume_operations(artifact, held, change)
        for edit in change.edits:
            if held.read(edit.document) == edit.after:
                held.write(edit.document, edit.before, edit.after)
        return self._dropped(change, "someone else changed it while it was being written")

    def _resume_operations(self, artifact: Artifact, held: Held, change: Change) -> Reconciled:
        """The document moved on. Done is done; what still applies is done again; the rest goes back to the queue."""
        assert artifact.form is not None
        now = held.read(artifact.subject)
        if took_effect(now or b"", artifact.form, change.operations):
            # The file shows it. If others wrote in between and that is recorded, it is recorded behind theirs.
            with written(artifact.subject):
                known = self.records.known(self.scope, artifact.holder.key, artifact.subject)
                content = known.content if known else None
                outcome = applied(content or b"", artifact.form, change.operations)
                if any(edit.before == content for edit in change.edits) or not isinstance(outcome, Applied):
                    return Reconciled(landed=(self._settled(artifact, change),))
                again = self._again(change, Edit(artifact.subject, content, outcome.after))
                return Reconciled(landed=(self._settled(artifact, again, change),))
        if not isinstance(applied(now or b"", artifact.form, change.operations, artifact.budget), Applied):
            return self._dropped(change, "someone else changed the same entry while it was being written")
        reconciled = self._dropped(change, "done again on what others wrote meanwhile")
        for _ in range(MOST_TRIED):
            reconciled = reconciled.and_also(self._outside(artifact, held))
            known = self.records.known(self.scope, artifact.holder.key, artifact.subject)
            now = known.content if known else None  # an editor without a lock may have saved since the first look
            outcome = applied(now or b"", artifact.form, change.operations, artifact.budget)
            if not isinstance(outcome, Applied):
                return reconciled
            again = self._again(change, Edit(artifact.subject, now, outcome.after))
            self.records.intend(self.scope, again)
            if held.write(artifact.subject, outcome.after, now):
                with written(artifact.subject):
                    return reconciled.and_also(Reconciled(landed=(self._settled(artifact, again),)))
            reconciled = reconciled.and_also(self._dropped(again, "someone else saved at that moment"))
        return reconciled

    def _again(self, change: Change, *edits: Edit) -> Change:
        return replace(change, id=self.ids.new("chg"), edits=edits, intended_at=self.clock.now())

    def _settled(self, artifact: Artifact, change: Change, instead_of: Change | None = None) -> Change:
        known = partial(self.records.known, self.scope, artifact.holder.key)
        return self.records.settle(self.scope, change, moves_of(artifact, change, known), instead_of)

    def _dropped(self, change: Change, note: str) -> Reconciled:
        self.records.drop(self.scope, change, note)
        return Reconciled(dropped=(replace(change, note=note),))

    # ---- what others wrote -------------------------------------------------------------------------------------------

    def _outside(self, artifact: Artifact, held: Held) -> Reconciled:
        return self.came_from_outside(artifact, {name: held.read(name) for name in artifact.documents()})

    def came_from_outside(self, artifact: Artifact, now: Mapping[str, bytes | None]) -> Reconciled:
        """Record what the documents say where that is not what was last seen."""
        known = {name: self.records.known(self.scope, artifact.holder.key, name) for name in now}
        before = {name: was.content if was else None for name, was in known.items()}
        edits = tuple(Edit(name, before[name], now[name]) for name in now if now[name] != before[name])
        if not edits:
            return Reconciled()
        first = all(known[edit.document] is None for edit in edits)
        reason = "as Reverie first found it" if first else "written by someone else"
        change = self._from_outside(artifact, edits, reason, Via.FOUND if first else Via.OUTSIDE)
        self._suggest_removals(artifact, change)  # before it is recorded: who is killed in between notices it again
        return Reconciled(outside=(self._settled(artifact, change),))

    def _from_outside(self, artifact: Artifact, edits: tuple[Edit, ...], reason: str, via: Via = Via.OUTSIDE) -> Change:
        where, grounds = (artifact.holder.key, artifact.subject), Grounds(OUTSIDE, via, reason)
        return Change(self.ids.new("chg"), *where, edits, grounds, self.clock.now(), form=artifact.form)

    def _suggest_removals(self, artifact: Artifact, change: Change) -> None:
        """Of entries that came from outside and look unsafe. How a file was first found is not put in question."""
        if change.grounds.via is not Via.OUTSIDE or artifact.form is None:
            return
        read = FORMATS[artifact.form].read
        for edit in change.edits:
            before = set(read(edit.before or b"").entries)
            for text in (text for text in read(edit.after or b"").entries if text not in before):
                report = scan(text, "memory")
                if report.blocked:
                    why = f"written from outside and looks unsafe: {report.findings[0].category}"
                    remove = Remove(artifact.subject, entry_hash(text))
                    key = artifact.holder.key
                    self.suggest(Suggestion(key, artifact.subject, (remove,), reason=why, proposer=REVERIE))

    # ---- what others wrote to a file that was replaced ---------------------------------------------------------------

    def _displaced(self, artifact: Artifact, held: Held, document: str, displaced: Displaced) -> Reconciled:
        """Bring it in; what meets another change of the same entry is offered; its bytes are kept in either case."""
        base = self.records.content(self.scope, displaced.base)
        if base is None:
            return Reconciled()  # another home's: that one knows what it displaced
        reconciled = Reconciled()
        for _ in range(MOST_TRIED):
            known = self.records.known(self.scope, artifact.holder.key, document)
            now = known.content if known else None  # what is recorded: if the file says more by now, it is not written
            merged = merge_displaced(artifact.form, Edit(document, base, displaced.content), now)
            if merged.content == now:
                break
            change = self._from_outside(artifact, (Edit(document, now, merged.content),), BROUGHT_IN)
            self.records.intend(self.scope, change)
            if held.write(document, merged.content, now):
                self._suggest_removals(artifact, change)
                with written(document):
                    reconciled = reconciled.and_also(Reconciled(outside=(self._settled(artifact, change),)))
                break
            reconciled = reconciled.and_also(self._dropped(change, "someone else saved at that moment"))
            reconciled = reconciled.and_also(self._outside(artifact, held))
        else:
            return reconciled  # it stays where it is, and is looked at again
        self._keep_displaced(artifact, Edit(document, base, displaced.content), merged)
        displaced.recorded()
        return reconciled

    def _keep_displaced(self, artifact: Artifact, late: Edit, merged: Merged) -> None:
        """Have a person decide on what is open, an entry or the whole file of a skill; keep the bytes."""
        key, subject = artifact.holder.key, artifact.subject
        for operation in merged.open:
            self.suggest(Suggestion(key, subject, (operation,), reason=OFFERED, proposer=REVERIE))
        if merged.clashes:
            edit = Edit(late.document, merged.content, late.after)
            self.suggest(Suggestion(key, subject, edits=(edit,), action="patch", reason=OFFERED, proposer=REVERIE))
        if self.records.content(self.scope, sha256(late.after or b"")) is None:
            change = self._from_outside(artifact, (late,), BROUGHT_IN)
            self.records.intend(self.scope, change)
            self.records.drop(self.scope, change, "the bytes as they were saved, kept beside what came of them")


@contextmanager
def written(subject: str) -> Iterator[None]:
    """A database that fails behind the file must not be said to have changed nothing."""
    try:
        yield
    except DatabaseUnusable as error:
        raise DatabaseUnusable(
            f"{subject} is written, but that could not be recorded. {error.found}",
            next_step="Nothing is lost: when the database can be used again, `reverie recover` finishes it.",
        ) from error


def took_effect(content: bytes, form: FormatName, operations: tuple[Operation, ...]) -> bool:
    """Whether a document shows what the operations were to do."""
    there = {entry_hash(text) for text in FORMATS[form].read(content).entries}
    brought = {entry_hash(one.text) for one in operations if not isinstance(one, Remove)}
    return brought <= there and there.isdisjoint(one.old_sha256 for one in operations if not isinstance(one, Add))


def moves_of(artifact: Artifact, change: Change, known: Callable[[str], Known | None]) -> dict[str, Moves]:
    """The moves of a Change among the ids of entries. Of a skill only the rules have one that were marked."""
    if artifact.form is None:
        return dict(rules_moved(change.edits, known))
    return {edit.document: moves(artifact.form, known(edit.document), edit, change.operations) for edit in change.edits}


def moves(form: FormatName, known: Known | None, edit: Edit, operations: Iterable[Operation] = ()) -> Moves:
    read = FORMATS[form].read
    old, new = read(edit.before or b"").entries, read(edit.after or b"").entries
    replaced = {one.old_sha256: entry_hash(one.text) for one in operations if isinstance(one, Replace)}
    matching = matched(old, new, replaced)
    ids = {at: entry.id for at, entry in places_of(known.entries if known else (), old).items()}
    return Moves(
        tuple(entry_hash(new[b]) for b in matching.new)
        + tuple(entry_hash(new[b]) for a, b in (*matching.kept, *matching.edited) if a not in ids),
        tuple((ids[a], entry_hash(new[b])) for a, b in matching.edited if a in ids),
        tuple(ids[a] for a in matching.gone if a in ids),
    )


@dataclass(frozen=True, slots=True)
class Merged:
    """`content` is the document with all of it that fits; `open` is what a person has to decide on."""

    content: bytes | None
    open: tuple[Operation, ...] = ()
    clashes: bool = False  # the files of a skill have no entries: the whole text is what has to be decided on


def merge_displaced(form: FormatName | None, late: Edit, now: bytes | None) -> Merged:
    if now in (late.before, late.after):
        return Merged(late.after)
    if form is None:
        both = None if now is None else three_way(late.before or b"", now, late.after or b"")
        return Merged(now, clashes=True) if both is None else Merged(both)
    read = FORMATS[form].read
    base, theirs = (read(content or b"").entries for content in (late.before, late.after))
    there = Counter(read(now or b"").entries)
    matching = matched(base, theirs)
    operations: list[Operation] = []
    unclear: list[Operation] = []
    for old, new in ((base[a], theirs[b]) for a, b in matching.edited):
        if there[old]:
            operations.append(Replace(late.document, entry_hash(old), new))
        elif not there[new]:
            unclear.append(Add(late.document, new))
    gone = [base[at] for at in matching.gone]
    operations += [Remove(late.document, entry_hash(text)) for text in gone if there[text]]
    brought = [theirs[at] for at in matching.new]
    operations += [Add(late.document, text) for text in brought if not there[text]]
    if not operations:
        return Merged(now, tuple(unclear))
    outcome = applied(now or b"", form, operations)
    if not isinstance(outcome, Applied):
        adds = [Add(late.document, one.text) for one in operations if not isinstance(one, Remove)]
        return Merged(now, (*unclear, *adds))
    # Line by line, where that comes to the same entries: so each stands where the editor put it, with the text that is
    # no entry around it.
    both = three_way(late.before or b"", now or b"", late.after or b"")
    same = both is not None and Counter(read(both).entries) == Counter(read(outcome.after).entries)
    return Merged(both if both is not None and same else outcome.after, tuple(unclear))


# ---- whoever reads has what is there recorded first ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecordBeforeRead:
    scope: Scope
    records: HistoryRecords
    outside: OutsideEdits
    artifacts: Artifacts

    def touch(self, target: Target) -> list[Entry]:
        places = list(target.places())
        listed = {place.document for place in places}
        for _, document in self.records.documents(self.scope, target.key):
            known = None if document in listed else self.records.known(self.scope, target.key, document)
            if known and known.content is not None and target.read(document) is None:
                places.append(Place(document, "list"))  # only Markdown folders have documents that come and go
        return [entry for place in places for entry in self._document(target, place)]

    def _document(self, target: Target, place: Place) -> list[Entry]:
        known = self.records.known(self.scope, target.key, place.document)
        content = target.read(place.document)
        if content is None and known and known.content is not None:
            sleep(SAVING_SECONDS)
            content = target.read(place.document)
        moved_on = content != (known.content if known else None) or has_displaced(target, place.document)
        if moved_on or self.records.unsettled(self.scope, target.key, place.document):
            with self.outside.held(memory_artifact(target, place)):
                known = self.records.known(self.scope, target.key, place.document)
        if known is None:
            return []
        texts, where = FORMATS[place.form].read(known.content or b"").entries, (target.name, place.document)
        return [
            Entry(*where, texts[at], one.sha256, one.id, one.since, one.seen, one.critical, one.change, one.said)
            for at, one in sorted(places_of(known.entries, texts).items())
        ]

    def touch_skill(self, folder: Folder, subject: str) -> None:
        artifact = self.artifacts(folder.key, subject)
        files = folder.files(subject)
        known = {name: self.records.known(self.scope, folder.key, name) for name in artifact.documents()}
        if not files and any(was.content is not None for was in known.values() if was):
            sleep(SAVING_SECONDS)
            files = folder.files(subject)
        moved_on = any(files.get(name) != (was.content if was else None) for name, was in known.items())
        if moved_on or has_displaced(folder, subject) or self.records.unsettled(self.scope, folder.key, subject):
            with self.outside.held(artifact):
                pass  # holding it records what was written there

    def skills_seen(self, folder: Folder) -> list[str]:
        """The skills of a folder that history knows, there or not, but the archived; none while the folder itself is
        not there."""
        if not folder.root.is_dir():
            return []
        known = self.records.documents(self.scope, folder.key)
        paths = [PurePosixPath(path) for _, path in known if not path.startswith(".")]
        folders = {path.parent for path in paths if path.name in ("SKILL.md", "skill.md") and path.parent.name}
        files = {path for path in paths if path.suffix == ".md" and folders.isdisjoint(path.parents)}
        return sorted(map(str, folders | files))


def has_displaced(holder: Target | Folder, subject: str) -> bool:
    """Whether someone may have written to a file after it was replaced. A target of rows has nothing of the kind."""
    look = getattr(holder, "has_displaced", None)
    return look is not None and bool(look(subject))
