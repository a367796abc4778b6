"""The documents agents read now, without what is to go: landed like every other write, so that nothing else is lost.

A landing records the bytes before it. They are bytes that history had already, or has from now on for the moment until
the rows are gone through: no copy of them stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from reverie.changes.artifact import Artifact, memory_artifact
from reverie.changes.drafts import Rewrite
from reverie.changes.history.change import Edit, Grounds, Via
from reverie.changes.land import Landed, Unchanged, in_words
from reverie.changes.proposal import Suggestion
from reverie.changes.queue import Review, Waiting
from reverie.changes.record_before_read import has_displaced
from reverie.core.errors import ReverieError
from reverie.erasure.wanted import ErasurePlace, Left
from reverie.erasure.words import Scrubber
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.operation import Remove, entry_hash
from reverie.memory.target import Target
from reverie.skills.library import Folder
from reverie.skills.names import ARCHIVE

ATTEMPTS = 5  # an editor may save between our look and our write


@dataclass(frozen=True, slots=True)
class _Live:
    artifact: Artifact
    edits: tuple[Edit, ...]

    @property
    def where(self) -> str:
        return f"{self.artifact.holder.name}/{self.artifact.subject}"

    @property
    def statements(self) -> int:
        form = self.artifact.form or "list"
        before, after = (
            sum(len(FORMATS[form].read(content or b"").entries) for content in contents)
            for contents in ([edit.before for edit in self.edits], [edit.after for edit in self.edits])
        )
        return max(1, before - after)


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
        for look in self._every():
            try:
                outcome = self._landed(look, scrub)
            except ReverieError as error:
                left.append(Left(error.found, "it could not be read or written: mend that and erase it again", True))
                continue
            if isinstance(outcome, ErasurePlace):
                done.append(outcome)
            elif outcome is not None:
                left.append(outcome)
        for clean in self._displaced(scrub):
            try:
                done += clean()
            except ReverieError as error:
                left.append(Left(error.found, "it could not be read or written: mend that and erase it again", True))
        if done:
            self.review.landing.project()
        return done, left

    def _landed(self, look: Callable[[Scrubber], _Live | None], scrub: Scrubber) -> ErasurePlace | Left | None:
        grounds = Grounds(self.review.scope.actor, Via.DIRECT, "erased", approved_by=self.review.scope.actor)
        said = ""
        for _ in range(ATTEMPTS):
            live = look(scrub)
            if live is None:
                return None
            outcome = self.review.landing.write(Rewrite(live.artifact, live.edits), grounds, despite_findings=True)
            if isinstance(outcome, Landed):
                return ErasurePlace("rules and skills agents read", live.where, live.statements)
            said = live.where if isinstance(outcome, Unchanged) else f"{live.where}: {in_words(outcome)}"
        return Left(said, "it is being written all the time: erase it again", failed=True)

    def _every(self) -> Iterator[Callable[[Scrubber], _Live | None]]:
        for target in self.targets():
            for place in target.places():
                artifact = memory_artifact(target, place)
                yield partial(_memory, target, artifact)
        for folder in self.folders():
            archived = set(folder.files(ARCHIVE)) if hasattr(folder, "root") else set[str]()
            subjects = [*folder.subjects(), *sorted({"/".join(path.split("/")[:2]) for path in archived})]
            for subject in subjects:
                yield partial(self._skill, folder, subject)

    def _displaced(self, scrub: Scrubber) -> Iterator[Callable[[], list[ErasurePlace]]]:
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
                found = FORMATS[place.form].read(target.read(place.document) or b"").entries
                for text in found:
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
) -> list[ErasurePlace]:
    with holder.held(subject) as held:
        count = held.clean_displaced(document, lambda content: scrub.document(content, form, document))
    return [ErasurePlace("files that an editor holds open", f"{holder.name}/{document}", count)] if count else []
