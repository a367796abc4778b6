"""What is wrong with a skill, in words a person can act on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "advice"]


@dataclass(frozen=True, slots=True)
class SkillProblem:
    """`error`: agents cannot use the skill as written, or would read it differently from one another.
    `warning`: the reference validator of agentskills.io refuses it, but Hermes and others take it.
    `advice`: allowed, and better otherwise.
    """

    severity: Severity
    kind: str
    found: str
    expected: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.found} Expected {self.expected}. {self.next_step}"


def conforms(problems: Iterable[SkillProblem]) -> bool:
    """Whether the reference validator would accept the skill."""
    return all(problem.severity == "advice" for problem in problems)


def usable(problems: Iterable[SkillProblem]) -> bool:
    """Whether an agent can follow the skill at all."""
    return all(problem.severity != "error" for problem in problems)
