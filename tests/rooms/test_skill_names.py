"""Names of new skills are safe on every disk."""

from __future__ import annotations

import pytest

from reverie.core.errors import BadInput
from reverie.skills.skill import checked_document, checked_subject, subject_problem


@pytest.mark.parametrize("name", ["deploy", "devops/release-checklist", "deploy.md", "v2.1", "déploy", "配置", "a_b"])
def test_ordinary_names_are_taken(name: str) -> None:
    assert checked_subject(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            ".",
            "..",
            "../x",
            "a/../b",
            "/etc/passwd",
            "~/x",
            "a//b",
            "a/",
            "a\\b",
            "C:\\x",
            "a\0b",
            "a\nb",
            "%2e%2e/x",
        ),
        *("con", "NUL.md", "aux", "com1", "lpt9.md", "x" * 65, "-x", "_x", ".hidden", "x.", "a b", "a\u202eb", "a*b"),
        *("de\u0301ploy", "\udcff"),
    ],
)
def test_a_name_that_is_not_safe_everywhere_is_refused(name: str) -> None:
    with pytest.raises(BadInput):
        checked_subject(name)


@pytest.mark.parametrize("twin", ["Deploy", "DEPLOY.md", "deploy", "ｄeploy"])
def test_a_name_that_differs_only_in_case_is_refused(twin: str) -> None:
    assert subject_problem(twin, ["deploy"]) is not None
    assert subject_problem("deployment", ["deploy"]) is None


def test_files_that_are_there_may_have_the_names_they_have() -> None:
    for path in ("a/assets/Photo (1).png", "a/.skillignore", "a/b%20c.md", ".archive/x/SKILL.md"):
        assert checked_document(path) == path
