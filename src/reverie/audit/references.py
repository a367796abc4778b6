"""What statements send an agent to that is not there: paths, files and targets of a project, programs.

A path is dead only where it is this machine that is meant: below the person's own home folder, or below a folder that
is here and that not every machine has. Sentences about servers, containers, what is to be written or what was removed
are left alone. Instructions of a project may name files, make targets and scripts of package.json that it no longer
has.

A command is code (`` `make test` ``) that a sentence tells to run. Two statements under one heading whose other words
are the same and whose commands are not send an agent two ways.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path, PurePosixPath

from reverie.audit.inventory import MOST_FILES, SKIPPED, AuditedStatement, Machine, alternatives, word_set
from reverie.text.tokens import terms
from reverie.text.words import listed

_PATH = re.compile(r"(?<![\w/.:~$}>*=@-])(?:~|\$HOME|\$\{HOME\})?/[\w.@+~-][\w./@+~-]*")
_BACKTICKED = re.compile(r"[`\"]((?:~|\$HOME)?/[^`\"\n*<>{}$|;?]{2,200})[`\"]")
_UNSURE = re.compile(r"[*<>{}…]|\.\.\.|\byyyy|\bxxx", re.IGNORECASE)
ELSEWHERE = re.compile(rf"\b(?:{alternatives('elsewhere')})\b|服务器|容器|サーバ", re.IGNORECASE)
_PATH_MADE = re.compile(rf"\b(?:{alternatives('path_made')})\b", re.IGNORECASE)
_EVERYWHERE = word_set("everywhere")
_GOES_ON = frozenset("<{[【*$…?\\(")
_PASSING = re.compile(r"\.(?:lock|pid|sock|socket|tmp|log|bak|cache)\Z|/tmp/")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")


def dead_path(text: str, machine: Machine) -> str:
    """The first path in a text that is certainly meant here and is not here, or nothing."""
    if ELSEWHERE.search(text):
        return ""
    for sentence in _SENTENCE.split(text):
        if _PATH_MADE.search(_PATH.sub(" ", _BACKTICKED.sub(" ", sentence))):
            continue
        # Quoted ones whole; one with a space in it may be a command and is left out. Bare ones if nothing goes on.
        quoted = [found[1] for found in _BACKTICKED.finditer(sentence) if not re.search(r"\s", found[1])]
        rest = _BACKTICKED.sub(" ", sentence)
        bare = [found.group() for found in _PATH.finditer(rest) if rest[found.end() : found.end() + 1] not in _GOES_ON]
        sure = (path for path in (*quoted, *bare) if not _UNSURE.search(path) and not _PASSING.search(path))
        for path in (path.rstrip(".,:)") for path in sure):
            if _is_dead_path(path, machine):
                # Someone may have written a path with a space in it and no quotes around.
                found = re.search(rf"{re.escape(path)} (\S+)", sentence)
                longer = _absolute(f"{path} {found[1].rstrip('.,:;)。，')}", machine) if found else None
                if longer is None or not machine.exists(longer):
                    return path
    return ""


def _is_dead_path(written: str, machine: Machine) -> bool:
    path = _absolute(written, machine)
    if path is None or machine.exists(path):
        return False
    anchor = next((above for above in path.parents if machine.exists(above)), Path("/"))
    if machine.home in (anchor, *anchor.parents):
        return machine.exists(machine.home)
    return str(anchor) not in _EVERYWHERE


def _absolute(written: str, machine: Machine) -> Path | None:
    for lead in ("~/", "$HOME/", "${HOME}/"):
        if written.startswith(lead):
            return machine.home / written.removeprefix(lead)
    return Path(written) if written.startswith("/") and written.count("/") > 1 else None


_QUOTED_CODE = re.compile(r"`([^`\n]{2,160})`")
_FILE = re.compile(
    r"(?:\./)?(?:[\w.@-]+/)+[\w.@-]+\.(?:py|[cm]?[jt]sx?|md|json|ya?ml|toml|sh|bash|rs|go|java|kt|rb|php|sql|s?css"
    r"|html|vue|svelte"
    r"|c|h|cc|cpp|hpp|cs|swift|txt|cfg|ini|ipynb|tf|proto|graphql|xml|gradle)|\./[\w.@-]+(?:/[\w.@-]+)*"
)
_MAKE = re.compile(r"^(?:\$ )?make ((?:[\w.-]+)(?: [\w.-]+)*)\s*(?:#.*)?$")
_NPM = re.compile(r"^(?:\$ )?(?:npm run|pnpm run|yarn run|bun run) ([\w:.-]+)")
_FILE_MADE = re.compile(rf"\b(?:{alternatives('file_made')})\b", re.IGNORECASE)
_STANDS_FOR = re.compile(r"YYYY|XX|NNN|foo|bar\b|example|your|my[-_]|/name\.|[-_/]x\.", re.IGNORECASE)
_OUTPUT = word_set("output")
_LISTS = frozenset({"package.json", "pyproject.toml", "setup.cfg", "Cargo.toml", "go.mod", "Gemfile", "composer.json"})
_PACKAGE_WORD = re.compile(r"[a-z][a-z0-9]*(?:[_+-][a-z0-9]+)*")
_TARGET = re.compile(r"^([\w./ -]+?)\s*::?(?!=)", re.MULTILINE)
_MADE_UP = re.compile(r"^-?s?include\b|^[^\t#\n]*[%$][^\n=]*:|^\t?\$\(eval", re.MULTILINE)


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
    # None for a Makefile that takes in others or makes its targets up: what is not seen may still be there.
    makefile, targets = machine.read(folder / "Makefile"), None
    if makefile is not None and not _MADE_UP.search(makefile):
        targets = frozenset(name for found in _TARGET.finditer(makefile) for name in found[1].split())
    # Of every package.json there is: a workspace may run those of its members.
    scripts: frozenset[str] | None = frozenset()
    packages = [path for path in paths if PurePosixPath(path).name == "package.json"]
    try:
        told = [json.loads(machine.read(folder / path) or "{}") for path in packages]
        scripts = frozenset(name for one in told for name in one.get("scripts") or {}) if packages else None
    except (ValueError, AttributeError, TypeError):
        scripts = None
    listed = (machine.read(folder / path) or "" for path in paths if PurePosixPath(path).name in _LISTS)
    words = frozenset(word for text in listed for word in _PACKAGE_WORD.findall(text.lower()))
    return Project(folder, paths, targets, scripts, words)


def missing_from_project(text: str, project: Project) -> str:
    """Say which names of a passage the project does not have; empty if it has them all."""
    for line in text.splitlines():
        if _FILE_MADE.search(_QUOTED_CODE.sub(" ", line)):
            continue
        codes = [found[1].strip() for found in _QUOTED_CODE.finditer(line)]
        if text.lstrip().startswith(("```", "~~~")):
            codes.append(line.strip())
        if why := next(filter(None, (_missing(code, project) for code in codes)), ""):
            return why
    return ""


def _missing(code: str, project: Project) -> str:
    if (make := _MAKE.match(code)) and project.targets is not None:
        gone = [name for name in make[1].split() if name not in project.targets and name not in (project.paths or ())]
        return f"The Makefile has no target “{gone[0]}”." if gone else ""
    if (npm := _NPM.match(code)) and project.scripts is not None:
        return "" if npm[1] in project.scripts else f"No package.json has a script “{npm[1]}”."
    if not _FILE.fullmatch(code) or _STANDS_FOR.search(code) or project.paths is None:
        return ""
    path = code.removeprefix("./").rstrip("/")
    parts = path.split("/")
    is_domain = "." in parts[0].lstrip(".") and len(parts) > 1
    if is_domain or not (_OUTPUT | SKIPPED).isdisjoint(parts) or ".." in parts or path[0] == "@":
        return ""
    # As it stands, or below some folder: instructions often leave out where a package begins.
    there = path in project.paths or any(known.endswith(f"/{path}") for known in project.paths)
    return "" if there else f"The project has no “{code}”."


_CODE = re.compile(r"(?<!`)`([^`\n]{2,120})`(?!`)")
_COMMAND = re.compile(r"(?:\$ )?(?P<program>[a-z][a-z0-9]*(?:[_+-][a-z0-9]+)*)(?P<rest>(?: [^\n]*)?)")
_TOLD = re.compile(
    r"\b(?:runs?|running|use|using|with|via|by|calls?|executes?|types?|invokes?|launch|start|command|tool)\s+(?:the\s+)?\Z"
    r"|[:：]\s*\Z",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\A\s+(?:command|tool|cli|script|program)\b", re.IGNORECASE)
_NOT_TOLD = re.compile(
    r"\b(?:not|never|no|don't|avoid|instead of|removed?|gone|replaced?|if|unless|install)\b", re.IGNORECASE
)
_SHELL = listed("alias bg cd echo eval exec exit export fg source set test time true type ulimit umask unset wait")
_ENVIRONMENTS = (".venv/bin", "venv/bin", "node_modules/.bin", "vendor/bin")
_LONGEST_TOLD, _MOST_WORDS = 240, 8


def rival_commands(statements: Sequence[AuditedStatement]) -> Iterator[tuple[AuditedStatement, AuditedStatement, str]]:
    """Statements of one prompt, under one heading, that give two commands for the same thing; and why."""
    known: dict[tuple[str, tuple[str, str], str], list[tuple[AuditedStatement, frozenset[str], str]]] = {}
    for one in statements:
        # The command of a short statement that has just one, and tells to run it.
        codes = list(_CODE.finditer(one.text)) if len(one.text) <= _LONGEST_TOLD else []
        alone = len(codes) == 1 and not _NOT_TOLD.search(_CODE.sub(" ", one.text)) and _is_told(one.text, codes[0])
        command = codes[0][1].strip() if alone else ""
        content = terms(_CODE.sub(" ", one.text)) if command else ()
        words = frozenset(term.forms[0] for term in content if term.weight == 1)
        if command and 0 < len(words) <= _MOST_WORDS:
            known.setdefault((one.circle, one.place, one.section), []).append((one, words, command))
    for group in known.values():
        for (one, words, command), (other, others, another) in combinations(group, 2):
            if command == another or command.startswith(another) or another.startswith(command):
                continue
            few, many = sorted((words, others), key=len)
            same_program = command.split(maxsplit=1)[0] == another.split(maxsplit=1)[0]
            if words == others or (few < many and 2 * len(few) >= len(many) and not same_program):
                yield one, other, f"Two commands for the same thing: `{command}` and `{another}`."


def _is_told(text: str, code: re.Match[str]) -> bool:
    if not _COMMAND.fullmatch(code[1].strip()):
        return False
    return bool(_TOLD.search(text[: code.start()]) or _NAMED.match(text[code.end() :]))


def missing_program(text: str, machine: Machine, project: Project | None) -> str:
    """The first program that a statement tells to run on this machine and that is not here, or nothing."""
    if ELSEWHERE.search(text) or len(text) > _LONGEST_TOLD or _NOT_TOLD.search(_CODE.sub(" ", text)):
        return ""
    for code in _CODE.finditer(text):
        named = _COMMAND.fullmatch(code[1].strip())
        if named is None or not _is_told(text, code):
            continue
        program = named["program"]
        known = program in _SHELL or machine.has_program(program) or _is_of(program, project, machine)
        if not known and (named["rest"].strip() or _NAMED.match(text[code.end() :])):
            return program
    return ""


def _is_of(program: str, project: Project | None, machine: Machine) -> bool:
    """Whether a project brings the program: a script, a target, a dependency, a file of that name."""
    if project is None:
        return False
    if project.paths is None or program in project.dependencies:
        return True
    if any(machine.exists(project.folder / below / program) for below in _ENVIRONMENTS):
        return True
    known = (project.targets or frozenset()) | (project.scripts or frozenset())
    return program in known or any(path.rpartition("/")[2].partition(".")[0] == program for path in project.paths)
