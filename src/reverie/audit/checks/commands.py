"""Commands that statements tell an agent to run: two for the same thing, and programs that are not there.

A command is code (`` `make test` ``) that a sentence tells to run. Two statements under one heading whose other words
are the same and whose commands are not send an agent two ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from reverie.audit.checks.paths import ELSEWHERE
from reverie.audit.checks.project import Project
from reverie.audit.filesystem import Machine
from reverie.audit.inventory import AuditedStatement
from reverie.text.tokens import terms
from reverie.text.wording.word_lists import listed

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
_LONGEST, _MOST_WORDS = 240, 8


def rival_commands(statements: Sequence[AuditedStatement]) -> Iterator[tuple[AuditedStatement, AuditedStatement, str]]:
    """Statements of one prompt, under one heading, that give two commands for the same thing; and why."""
    known: dict[tuple[str, tuple[str, str], str], list[tuple[AuditedStatement, frozenset[str], str]]] = {}
    for one in statements:
        command = _only_command(one.text)
        words = _words(one.text) if command else frozenset()
        if command and 0 < len(words) <= _MOST_WORDS:
            known.setdefault((one.circle, one.place, one.section), []).append((one, words, command))
    for group in known.values():
        for (one, words, command), (other, others, another) in combinations(group, 2):
            if _are_rivals(words, command, others, another):
                yield one, other, f"Two commands for the same thing: `{command}` and `{another}`."


def _are_rivals(words: frozenset[str], command: str, others: frozenset[str], another: str) -> bool:
    if command == another or command.startswith(another) or another.startswith(command):
        return False
    if words == others:
        return True
    few, many = sorted((words, others), key=len)
    same_program = command.split(maxsplit=1)[0] == another.split(maxsplit=1)[0]
    return few < many and 2 * len(few) >= len(many) and not same_program


def _only_command(text: str) -> str:
    """The command of a short statement that has just one, and tells to run it."""
    codes = list(_CODE.finditer(text)) if len(text) <= _LONGEST else []
    if len(codes) != 1 or _NOT_TOLD.search(_CODE.sub(" ", text)):
        return ""
    return codes[0][1].strip() if _is_told(text, codes[0]) else ""


def _words(text: str) -> frozenset[str]:
    return frozenset(term.forms[0] for term in terms(_CODE.sub(" ", text)) if term.weight == 1)


def _is_told(text: str, code: re.Match[str]) -> bool:
    if not _COMMAND.fullmatch(code[1].strip()):
        return False
    return bool(_TOLD.search(text[: code.start()]) or _NAMED.match(text[code.end() :]))


def missing_program(text: str, machine: Machine, project: Project | None) -> str:
    """The first program that a statement tells to run on this machine and that is not here, or nothing."""
    if ELSEWHERE.search(text) or len(text) > _LONGEST or _NOT_TOLD.search(_CODE.sub(" ", text)):
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
