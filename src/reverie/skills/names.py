"""Names that are safe on every disk, and versions as people write them.

A skill is named by its subject: the path of its folder (`devops/release-checklist`) or of its file (`deploy.md`)
below the root. A document is any file of it, by its path below the same root. New names are held to a short list of
characters; old ones only to their folder.

A version (`1.10`, `v2`, `1.2.0-beta`) is text and is counted up part by part: wording is a patch, a new rule is minor,
a changed meaning is major.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import chain, count
from typing import Literal

from reverie.core.errors import BadInput

ARCHIVE = ".archive"
LONGEST_NAME, LONGEST_NEW = 64, 40
LONGEST_PART = 255  # bytes, on the file systems in use
LONGEST_PATH = 1024
_ALLOWED = re.compile(r"[^\W_][\w.+-]*")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_ODD = re.compile(r"[^a-z0-9]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
FIRST = "1.0.0"
_VERSION = re.compile(
    r"(?P<v>[vV]?)(?P<major>\d{1,9})(?:\.(?P<minor>\d{1,9})(?:\.(?P<patch>\d{1,9})(?P<label>-[0-9A-Za-z.-]+)?)?)?"
    r"(?:\+[0-9A-Za-z.-]+)?",
    re.ASCII,
)
_PLACE: dict[Bump, int] = {"major": 0, "minor": 1, "patch": 2}


def document_problem(path: str) -> str | None:
    """Why a path may not be read or written below a root, or None when it may."""
    if _CONTROL.search(path):
        return "it has a character no name may have (NUL, a control character, or bytes that are no UTF-8)"
    if not path or path.startswith("/") or "\\" in path or re.match(r"[A-Za-z]:", path):
        return "it is not a path below the folder"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "it has an empty part, '.' or '..' in it"
    if len(path.encode()) > LONGEST_PATH or any(len(part.encode()) > LONGEST_PART for part in parts):
        return "it is too long"
    return None


def checked_document(path: str) -> str:
    problem = document_problem(path)
    if problem:
        raise BadInput(
            f"{path!r} cannot be a file of a skill: {problem}.",
            expected="a path such as 'release/SKILL.md', below the skills folder",
            next_step="Name the file by its path below the skills folder.",
        )
    return path


def subject_problem(subject: str, beside: Iterable[str] = ()) -> str | None:
    """Why a new skill may not have this name, or None when it may. `beside` are the skills that are there."""
    problem = document_problem(subject)
    if problem:
        return problem
    if unicodedata.normalize("NFC", subject) != subject:
        return "its accents are written apart from their letters (Unicode NFD), which looks like another name"
    for part in subject.split("/"):
        if len(part) > LONGEST_NAME:
            return f"{part[:20]}… has {len(part)} characters"
        if not _ALLOWED.fullmatch(part) or part.endswith("."):
            return f"{part!r} has a character that is not allowed, or begins or ends with one"
        if _DEVICE.fullmatch(part):
            return f"{part!r} is the name of a device on Windows"
    twin = next((other for other in beside if _folded(other) == _folded(subject)), None)
    return None if twin is None else f"on many disks it is the same name as {twin!r}"


def checked_subject(subject: str, beside: Iterable[str] = ()) -> str:
    problem = subject_problem(subject, beside)
    if problem:
        raise BadInput(
            f"A skill cannot be called {subject!r}: {problem}.",
            expected="letters, digits, '.', '_', '+' and '-', at most 64 of them, in folders below the root",
            next_step="Choose another name.",
        )
    return subject


def _folded(subject: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", subject).casefold()).removesuffix(".md")


def new_name(words: str, taken: Iterable[str], otherwise: str) -> str:
    """A name for a new skill made of words, with a number behind it where there is one of that name."""
    name = _ODD.sub("-", words.casefold()).strip("-")[:LONGEST_NEW].strip("-") or otherwise
    known = {one.casefold() for one in taken}
    return next(one for one in chain([name], (f"{name}-{n}" for n in count(2))) if one not in known)


Bump = Literal["patch", "minor", "major"]


def is_version(text: str) -> bool:
    return _VERSION.fullmatch(text) is not None


def bumped(text: str, bump: Bump) -> str:
    """The next version, written as this one was. No version counts as 1.0.0, and what is no version stays as it is.

    `1.10` becomes 1.10.1, 1.11 or 2.0; `v2` becomes v2.0.1, v2.1 or v3. A label such as `-beta` stays: a refinement
    is no release. What stands behind a `+` names one build and goes.
    """
    known = _VERSION.fullmatch(text or FIRST)
    if known is None:
        return text
    written = [part for part in known.group("major", "minor", "patch") if part is not None]
    place = _PLACE[bump]
    counted = [int(part) for part in written] + [0] * (place + 1 - len(written))
    counted[place] += 1
    counted[place + 1 :] = [0] * len(counted[place + 1 :])
    return f"{known['v']}{'.'.join(map(str, counted))}{known['label'] or ''}"
