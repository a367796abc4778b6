"""What an Amendment makes of the files of a skill. Pure: files in, the files afterwards or a clash out.

A skill that moved on since is no obstacle where the changes stay apart: an edit of a section is made to the words as
they stand now, a diff or a new text is brought together with the newer one line by line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import assert_never

from reverie.core.errors import BadInput
from reverie.skills.amendments.amendment import (
    Amended,
    Amendment,
    Clashed,
    Create,
    Diff,
    Merge,
    NewText,
    Patch,
    Retire,
    Revert,
)
from reverie.skills.amendments.diffs import patched
from reverie.skills.amendments.edits import Edit, Unmade, edited
from reverie.skills.amendments.threeway import merge_lines
from reverie.skills.amendments.version_bump import stamped
from reverie.skills.names import ARCHIVE, document_problem, subject_problem
from reverie.skills.page import Page, lines_of, page_of, page_of_text, with_ending
from reverie.skills.skill import MAIN, bare_name, document_of, read_skill


def amended(
    files: Mapping[str, bytes], amendment: Amendment, now: datetime, beside: Iterable[str] = ()
) -> Amended | Clashed:
    """The files of the skills an amendment concerns, with it made. `beside` are the subjects already there."""
    try:
        made = _applied(files, amendment, now, beside)
    except BadInput as error:  # frontmatter in which a key cannot be set
        return Clashed(str(error))
    if isinstance(made, Clashed):
        return made
    unsafe = next((path for path in made if document_problem(path)), None)
    if unsafe is not None:
        return Clashed(f"{unsafe!r} cannot be a file of a skill: {document_problem(unsafe)}")
    return Amended({path: content for path, content in made.items() if files.get(path) != content})


_After = dict[str, bytes | None]


def _applied(
    files: Mapping[str, bytes], amendment: Amendment, now: datetime, beside: Iterable[str]
) -> _After | Clashed:
    match amendment:
        case Create():
            return _created(files, amendment, beside)
        case Patch():
            return _patched(files, amendment, now)
        case Merge():
            return _united(files, amendment, now)
        case Retire():
            return _retired(files, amendment.subject, amendment.base, now)
        case Revert():
            return _reverted(files, amendment)
        case _:
            assert_never(amendment)


def _created(files: Mapping[str, bytes], amendment: Create, beside: Iterable[str]) -> _After | Clashed:
    subject = amendment.subject
    problem = subject_problem(subject, beside)
    if problem:
        return Clashed(f"a skill cannot be called {subject!r}: {problem}")
    outside = [path for path in amendment.files if path != subject and not path.startswith(f"{subject}/")]
    if outside:
        return Clashed(f"{outside[0]!r} is no file of {subject!r}")
    taken = sorted({path.casefold() for path in files} & {path.casefold() for path in amendment.files})
    if taken:
        return Clashed(f"{taken[0]!r} is there already")
    document = subject if subject.endswith(".md") else f"{subject}/{MAIN[0]}"
    return dict(amendment.files) if document in amendment.files else Clashed(f"{document!r} is missing")


def _patched(files: Mapping[str, bytes], amendment: Patch, now: datetime) -> _After | Clashed:
    document = document_of(amendment.subject, files)
    if document is None:
        return Clashed(f"{amendment.subject!r} is gone")
    current = files[document]
    if isinstance(amendment.change, tuple):
        page = intended(page_of(current), amendment.change)
    else:
        page = _brought_together(amendment.base, intended(page_of(amendment.base), amendment.change), current)
    if isinstance(page, Clashed):
        return page
    return {document: stamped(page, amendment.subject, current, amendment.bump, now).to_bytes()}


def intended(base: Page, change: tuple[Edit, ...] | Diff | NewText) -> Page | Clashed:
    """The page with a patch made to it, before its version is counted up."""
    if isinstance(change, tuple):
        page = edited(base, change)
        return Clashed(page.why) if isinstance(page, Unmade) else page
    if isinstance(change, Diff):
        made = patched(base.text, change.text, base.ending)
        return Clashed(made.why) if isinstance(made, Unmade) else page_of_text(made)
    new = page_of_text(with_ending(change.text, base.ending))
    if new.opening:
        return Page(base.mark, new.opening, new.matter, new.closing, new.body)
    gap = base.body[: len(base.body) - len(base.body.lstrip("\r\n"))]
    body = new.body if new.body[:1] in ("\r", "\n") else gap + new.body
    return base.with_body(body)


def _brought_together(base: bytes, intended: Page | Clashed, current: bytes) -> Page | Clashed:
    if isinstance(intended, Clashed):
        return intended
    made = _merged(base, intended.to_bytes(), current)
    return made if isinstance(made, Clashed) else page_of(made)


def _merged(base: bytes, ours: bytes, theirs: bytes) -> bytes | Clashed:
    if theirs in (base, ours):
        return ours
    texts = (content.decode("utf-8", "surrogateescape") for content in (base, ours, theirs))
    made = merge_lines(*(lines_of(text) for text in texts))
    if isinstance(made, tuple):
        places = ", ".join(str(overlap.first) for overlap in made)
        return Clashed(f"the skill was changed since, in the same lines ({places})", made)
    return "".join(made).encode("utf-8", "surrogateescape")


def _united(files: Mapping[str, bytes], amendment: Merge, now: datetime) -> _After | Clashed:
    if amendment.subject == amendment.absorbed:
        return Clashed("a skill cannot absorb itself")
    written = _patched(files, Patch(amendment.subject, amendment.base, NewText(amendment.text), amendment.bump), now)
    gone = _retired(files, amendment.absorbed, amendment.absorbed_base, now)
    if isinstance(written, Clashed):
        return written
    if isinstance(gone, Clashed):
        return gone
    brought = _brought_over(files, amendment)
    return brought if isinstance(brought, Clashed) else {**gone, **brought, **written}


def _brought_over(files: Mapping[str, bytes], amendment: Merge) -> _After | Clashed:
    """Scripts and references come along, so that what the new text says of them stays true."""
    if amendment.subject.endswith(".md") or amendment.absorbed.endswith(".md"):
        return {}
    absorbed = read_skill(amendment.absorbed, _of(files, amendment.absorbed))
    brought: _After = {}
    for path in absorbed.support:
        target = amendment.subject + path[len(amendment.absorbed) :]
        if files.get(target, files[path]) != files[path]:
            return Clashed(f"both skills have a file {target!r}, and they differ")
        brought[target] = files[path]
    return brought


def _retired(files: Mapping[str, bytes], subject: str, base: bytes, now: datetime) -> _After | Clashed:
    document = document_of(subject, files)
    if document is None:
        return Clashed(f"{subject!r} is gone")
    if files[document] != base:
        return Clashed(f"{subject!r} was changed since it was decided to retire it")
    place = _archive_place(files, subject, now)
    moved: _After = {}
    for path, content in _of(files, subject).items():
        moved[path] = None
        moved[place + (path[len(subject) :] if path != subject else f"/{bare_name(subject)}.md")] = content
    return moved


def _archive_place(files: Mapping[str, bytes], subject: str, now: datetime) -> str:
    """`.archive/<name>`, with the time behind it where that is taken: the way Hermes does it."""
    place = f"{ARCHIVE}/{bare_name(subject)}"
    taken = any(path.startswith(f"{place}/") for path in files)
    return f"{place}-{now.astimezone(UTC):%Y%m%d%H%M%S}" if taken else place


def _reverted(files: Mapping[str, bytes], amendment: Revert) -> _After | Clashed:
    made: _After = {}
    for path in sorted(set(amendment.base) | set(amendment.to)):
        base, to, current = amendment.base.get(path), amendment.to.get(path), files.get(path)
        if current in (base, to):
            made[path] = to
        elif base is None or to is None or current is None:
            return Clashed(f"{path!r} was {'taken away' if current is None else 'changed'} since")
        else:
            content = _merged(base, to, current)
            if isinstance(content, Clashed):
                return content
            made[path] = content
    return made


def _of(files: Mapping[str, bytes], subject: str) -> dict[str, bytes]:
    return {path: content for path, content in files.items() if path == subject or path.startswith(f"{subject}/")}
