"""What instructions of a project name that the project no longer has: files, make targets, scripts of package.json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reverie.audit.filesystem import MOST_FILES, SKIPPED, Machine
from reverie.text.wording.word_lists import listed

_CODE = re.compile(r"`([^`\n]{2,160})`")
_FILE = re.compile(
    r"(?:\./)?(?:[\w.@-]+/)+[\w.@-]+\.(?:py|[cm]?[jt]sx?|md|json|ya?ml|toml|sh|bash|rs|go|java|kt|rb|php|sql|s?css"
    r"|html|vue|svelte"
    r"|c|h|cc|cpp|hpp|cs|swift|txt|cfg|ini|ipynb|tf|proto|graphql|xml|gradle)|\./[\w.@-]+(?:/[\w.@-]+)*"
)
_MAKE = re.compile(r"^(?:\$ )?make ((?:[\w.-]+)(?: [\w.-]+)*)\s*(?:#.*)?$")
_NPM = re.compile(r"^(?:\$ )?(?:npm run|pnpm run|yarn run|bun run) ([\w:.-]+)")
_MADE = re.compile(
    r"\b(?:track|update|append|record|save|log|creates?d?|generates?d?|output|outputs|writes?|will|new|e\.g\."
    r"|example|such as|like|never|not|no|don't"
    r"|avoid|deleted?|removed?|instead"
    r"|moved|if|optional|gitignored?|ignored|build|built|dist|temp)\b",
    re.IGNORECASE,
)
_STANDS_FOR = re.compile(r"YYYY|XX|NNN|foo|bar\b|example|your|my[-_]|/name\.|[-_/]x\.", re.IGNORECASE)
_OUTPUT = listed(
    """
    dist build out target node_modules .venv venv coverage tmp .next .cache bin obj logs
    """
)
_LISTS = frozenset({"package.json", "pyproject.toml", "setup.cfg", "Cargo.toml", "go.mod", "Gemfile", "composer.json"})
_WORD = re.compile(r"[a-z][a-z0-9]*(?:[_+-][a-z0-9]+)*")
_TARGET = re.compile(r"^([\w./ -]+?)\s*::?(?!=)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Project:
    """The files, targets and scripts of a project; None where they are not known."""

    folder: Path
    paths: frozenset[str] | None
    targets: frozenset[str] | None
    scripts: frozenset[str] | None
    dependencies: frozenset[str] = frozenset()


def read_project(folder: Path, machine: Machine) -> Project:
    paths = frozenset(machine.below(folder))
    if len(paths) >= MOST_FILES:  # there are more than were looked at
        return Project(folder, None, None, None)
    targets, scripts = _targets(machine.read(folder / "Makefile")), _scripts(paths, folder, machine)
    listed = (machine.read(folder / path) or "" for path in paths if PurePosixPath(path).name in _LISTS)
    words = frozenset(word for text in listed for word in _WORD.findall(text.lower()))
    return Project(folder, paths, targets, scripts, words)


def _targets(makefile: str | None) -> frozenset[str] | None:
    """None for a Makefile that takes in others or makes its targets up: what is not seen may still be there."""
    if makefile is None or re.search(r"^-?s?include\b|^[^\t#\n]*[%$][^\n=]*:|^\t?\$\(eval", makefile, re.MULTILINE):
        return None
    return frozenset(name for found in _TARGET.finditer(makefile) for name in found[1].split())


def _scripts(paths: frozenset[str], folder: Path, machine: Machine) -> frozenset[str] | None:
    """Of every package.json there is: a workspace may run those of its members."""
    found: set[str] = set()
    packages = [path for path in paths if PurePosixPath(path).name == "package.json"]
    for path in packages:
        try:
            told = json.loads(machine.read(folder / path) or "{}")
            found |= set(told.get("scripts") or {})
        except (ValueError, AttributeError, TypeError):
            return None
    return frozenset(found) if packages else None


def missing_from_project(text: str, project: Project) -> str:
    """Say which names of a passage the project does not have; empty if it has them all."""
    for line in text.splitlines():
        if _MADE.search(_CODE.sub(" ", line)):
            continue
        for code in _codes(line, text):
            if why := _missing(code, project):
                return why
    return ""


def _codes(line: str, text: str) -> Iterator[str]:
    yield from (found[1].strip() for found in _CODE.finditer(line))
    if text.lstrip().startswith(("```", "~~~")):
        yield line.strip()


def _missing(code: str, project: Project) -> str:
    if (make := _MAKE.match(code)) and project.targets is not None:
        gone = [name for name in make[1].split() if name not in project.targets and name not in (project.paths or ())]
        return f"The Makefile has no target “{gone[0]}”." if gone else ""
    if (npm := _NPM.match(code)) and project.scripts is not None:
        return "" if npm[1] in project.scripts else f"No package.json has a script “{npm[1]}”."
    if _FILE.fullmatch(code) and not _STANDS_FOR.search(code) and not _there(code, project):
        return f"The project has no “{code}”."
    return ""


def _there(code: str, project: Project) -> bool:
    """As it stands, or below some folder: instructions often leave out where a package begins."""
    path = code.removeprefix("./").rstrip("/")
    parts = path.split("/")
    is_domain = "." in parts[0].lstrip(".") and len(parts) > 1
    if (
        project.paths is None
        or is_domain
        or not (_OUTPUT | SKIPPED).isdisjoint(parts)
        or ".." in parts
        or path[0] == "@"
    ):
        return True
    return path in project.paths or any(known.endswith(f"/{path}") for known in project.paths)
