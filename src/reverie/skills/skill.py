"""A Skill as it stands in its files: three shapes, read without loss; with names that are safe on every disk, and
versions as people write them.

`folder` is `name/SKILL.md` with whatever lies beside it; `flat` is one Markdown file with frontmatter; `plain` is a
Markdown procedure without any. What cannot be read is a Problem, and the rest is still shown.

A skill is named by its subject: the path of its folder (`devops/release-checklist`) or of its file (`deploy.md`)
below the root. A document is any file of it, by its path below the same root. New names are held to a short list of
characters; old ones only to their folder.

A version (`1.10`, `v2`, `1.2.0-beta`) is text and is counted up part by part: wording is a patch, a new rule is minor,
a changed meaning is major.

An Amendment is an intended change to one skill, pinned to the bytes it was written against; as JSON it waits in the
database until someone has looked. Nothing is ever deleted: a retired skill moves to `.archive/<name>/`, as Hermes does.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import chain, count
from posixpath import basename
from typing import Any, Literal

from reverie.core.errors import BadInput, NotFound
from reverie.skills.edits import AddRule, Edit, Overlap, RemoveRule, ReplaceRule, ReplaceSection
from reverie.skills.page import Page, Section, page_of, sections_of
from reverie.skills.yaml_nodes import SkillProblem, Value, value_of

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


Shape = Literal["folder", "flat", "plain"]
MAIN = ("SKILL.md", "skill.md")
_TRUE, _FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})
_PRIORITIES = {"critical": 10.0, "highest": 10.0, "high": 8.0, "medium": 5.0, "normal": 5.0, "low": 2.0, "lowest": 1.0}


@dataclass(frozen=True, slots=True)
class Skill:
    """`version` is the text in the file, never a number. `priority` is None where the file gives none; a higher one
    comes first. `support` names the files beside the document, by their paths below the root."""

    subject: str
    shape: Shape
    document: str
    content: bytes
    name: str
    description: str
    version: str
    tags: tuple[str, ...]
    triggers: tuple[str, ...]
    priority: float | None
    refinements: int
    last_refined: str
    enabled: bool
    frontmatter: Mapping[str, Value]
    body: str
    support: tuple[str, ...]
    problems: tuple[SkillProblem, ...]

    @property
    def sections(self) -> tuple[Section, ...]:
        return sections_of(self.body)

    @property
    def archived(self) -> bool:
        return self.subject.startswith(f"{ARCHIVE}/")


def read_skill(subject: str, files: Mapping[str, bytes]) -> Skill:
    """The skill in these files, which are named by their paths below the root the subject is named below."""
    document = document_of(subject, files)
    if document is None:
        raise NotFound(
            f"There is no skill {subject!r}.",
            expected="a Markdown file, or a folder with SKILL.md in it",
            next_step="`reverie skills` lists them.",
        )
    content = files[document]
    page = page_of(content)
    matter = frontmatter_of(page)
    first = setting_text(matter, "priority")
    switches = ("disabled", "disable-model-invocation", "archived")
    off = any(setting_text(matter, key).casefold() in _TRUE for key in switches)
    state = (setting_text(matter, "state") or setting_text(matter, "status")).casefold()
    return Skill(
        subject=subject,
        shape="folder" if not subject.endswith(".md") else "flat" if page.opening else "plain",
        document=document,
        content=content,
        name=setting_text(matter, "name") or setting_text(matter, "skill_id") or bare_name(subject),
        description=setting_text(matter, "description"),
        version=setting_text(matter, "version"),
        tags=_listed(setting_value(matter, "tags")),
        triggers=_listed(setting_value(matter, "triggers")),
        priority=float(first) if re.fullmatch(r"-?\d{1,9}(?:\.\d{1,9})?", first) else _PRIORITIES.get(first.casefold()),
        refinements=count_of(setting_text(matter, "refinements")),
        last_refined=setting_text(matter, "last_refined"),
        enabled=not off
        and setting_text(matter, "enabled").casefold() not in _FALSE
        and state not in ("disabled", "archived"),
        frontmatter=matter,
        body=page.body,
        support=tuple(sorted(set(files) - {document})) if not subject.endswith(".md") else (),
        problems=page.tree.problems,
    )


def document_of(subject: str, files: Mapping[str, bytes]) -> str | None:
    names = (subject,) if subject.endswith(".md") else tuple(f"{subject}/{name}" for name in MAIN)
    return next((name for name in names if name in files), None)


def bare_name(subject: str) -> str:
    """The last part of a subject, without the ending of a flat file."""
    return basename(subject).removesuffix(".md")


def frontmatter_of(page: Page) -> dict[str, Value]:
    root = page.tree.root
    matter = value_of(root) if root else {}
    return matter if isinstance(matter, dict) else {}


def place_of(matter: Mapping[str, Value], key: str) -> tuple[str, ...] | None:
    """Where a key stands. Of several the first counts: Hermes writes `metadata.hermes.tags`."""
    paths = ((key,), ("metadata", "reverie", key), ("metadata", key), ("metadata", "hermes", key))
    return next((path for path in paths if _at(matter, path) is not None), None)


def setting_value(matter: Mapping[str, Value], key: str) -> Value | None:
    path = place_of(matter, key)
    return _at(matter, path) if path else None


def _at(matter: Mapping[str, Value], path: tuple[str, ...]) -> Value | None:
    here: Value | Mapping[str, Value] | None = matter
    for key in path:
        here = here.get(key) if isinstance(here, Mapping) else None
    return here  # type: ignore[return-value]  # a mapping below the top is a dict


def setting_text(matter: Mapping[str, Value], key: str) -> str:
    value = setting_value(matter, key)
    return value.strip() if isinstance(value, str) else ""


def _listed(value: Value | None) -> tuple[str, ...]:
    """A list, or a line of parts with commas between them."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    texts = (part.strip() for part in parts if isinstance(part, str))
    return tuple(dict.fromkeys(text for text in texts if text))


def count_of(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0


# ---- an intended change ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff of the whole document."""

    text: str


@dataclass(frozen=True, slots=True)
class NewText:
    """The words of the whole body; of the whole document when they begin with frontmatter."""

    text: str


@dataclass(frozen=True, slots=True)
class Create:
    """A new skill. `files` are named by their paths below the root, the document among them."""

    subject: str
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Patch:
    """`base` is the document as it was when the patch was written."""

    subject: str
    base: bytes
    change: tuple[Edit, ...] | Diff | NewText
    bump: Bump


@dataclass(frozen=True, slots=True)
class Merge:
    """`absorbed` becomes part of `subject`, whose body becomes `text`, and is retired."""

    subject: str
    base: bytes
    absorbed: str
    absorbed_base: bytes
    text: str
    bump: Bump = "minor"


@dataclass(frozen=True, slots=True)
class Retire:
    subject: str
    base: bytes


@dataclass(frozen=True, slots=True)
class Revert:
    """Back to older bytes. `base` and `to` name the same files; None is a file that is not there."""

    subject: str
    base: Mapping[str, bytes | None]
    to: Mapping[str, bytes | None]


Amendment = Create | Patch | Merge | Retire | Revert


@dataclass(frozen=True, slots=True)
class Amended:
    """The files that change, whole; None is one that goes. A file that is in here and was not among the files given
    is expected not to exist."""

    files_after: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Clashed:
    """The amendment does not fit what is there now. Nothing was changed."""

    why: str
    lines: tuple[Overlap, ...] = field(default=())


_KINDS = {kind.__name__: kind for kind in (Create, Patch, Merge, Retire, Revert)}
_PARTS = {kind.__name__: kind for kind in (Diff, NewText, AddRule, ReplaceRule, RemoveRule, ReplaceSection)}


def action_of(amendment: Amendment) -> str:
    """`create`, `patch`, `merge`, `retire` or `revert`: what a policy speaks of."""
    return type(amendment).__name__.lower()


def amendment_as_json(amendment: Amendment) -> dict[str, Any]:
    told: dict[str, Any] = _told(amendment)
    return told


def amendment_from_json(told: Mapping[str, Any]) -> Amendment:
    read = _read(told)
    assert isinstance(read, Create | Patch | Merge | Retire | Revert)
    return read


def _told(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {"files": {name: _told(content) for name, content in value.items()}}
    if isinstance(value, tuple):
        return [_told(one) for one in value]
    if type(value).__name__ in _KINDS | _PARTS:
        return {"kind": type(value).__name__} | {one.name: _told(getattr(value, one.name)) for one in fields(value)}
    return value


def _read(told: Any) -> Any:
    if isinstance(told, list):
        return tuple(_read(one) for one in told)
    if not isinstance(told, Mapping):
        return told
    if "bytes" in told:
        return base64.b64decode(told["bytes"])
    if "files" in told and "kind" not in told:
        return {name: _read(content) for name, content in told["files"].items()}
    kind = (_KINDS | _PARTS)[told["kind"]]
    return kind(**{name: _read(value) for name, value in told.items() if name != "kind"})
