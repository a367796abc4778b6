"""What an agent is told elsewhere: a dream neither repeats it nor overrules it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.dreams.dream import Fate
from reverie.dreams.verify.reasons import Reason
from tests.conftest import HomeMaker
from tests.story.test_dream import ORDER, memories, session  # noqa: F401

KNOWN = "# Rules\n\n- Distances are always wanted in kilometres.\n- Run the linter.\n"
AGAINST = "# Rules\n\n- Always give distances in miles.\n"


@pytest.mark.parametrize("where", ["AGENTS.md", "SOUL.md", "CLAUDE.md", "a file by its name", "a skill"])
def test_what_is_said_elsewhere_is_not_said_again(
    memories: Path,  # noqa: F811
    homes: HomeMaker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
) -> None:
    _told(where, KNOWN, memories, tmp_path, monkeypatch)
    home = homes()
    home.sessions.add(session("s1", ORDER))
    night = home.dream(target="hermes")
    assert not night.changes and not night.proposals
    assert [one.reasons for one in night.of(Fate.NOT_KEPT)] == [(Reason.KNOWN,)]
    assert (memories / "USER.md").read_text() == "Ann builds boats."


def test_what_stands_against_an_instruction_is_for_a_person(
    memories: Path,  # noqa: F811
    homes: HomeMaker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _told("AGENTS.md", AGAINST, memories, tmp_path, monkeypatch)
    home = homes()
    home.sessions.add(session("s1", ORDER))
    night = home.dream(target="hermes")
    assert not night.changes
    (waiting,) = home.review.waiting()
    where = f"“Always give distances in miles.” in {tmp_path}/shop/AGENTS.md"
    assert f"It contradicts {where}." in night.diary or f"It says nearly what {where} says" in night.diary
    assert waiting.suggestion.subject == "USER.md"
    assert (tmp_path / "shop" / "AGENTS.md").read_text() == AGAINST


def test_a_heading_of_a_skill_says_nothing_that_could_be_contradicted(
    memories: Path,  # noqa: F811
    homes: HomeMaker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _told("a skill", "# Always give distances in miles\n\n- Run the linter.\n", memories, tmp_path, monkeypatch)
    home = homes()
    home.sessions.add(session("s1", ORDER))
    assert len(home.dream(target="hermes").changes) == 1


def _told(where: str, text: str, memories: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    project = tmp_path / "shop"
    project.mkdir()
    match where:
        case "SOUL.md":
            (memories.parent / where).write_text(text)
        case "a skill":
            folder = tmp_path / "more" / "units"
            folder.mkdir(parents=True)
            (folder / "SKILL.md").write_text(f"---\nname: units\ndescription: Use units.\n---\n{text}")
            monkeypatch.setenv("REVERIE_SKILLS", str(folder.parent))
        case "a file by its name":
            (project / "notes.md").write_text(text)
            monkeypatch.setenv("REVERIE_INSTRUCTIONS", str(project / "notes.md"))
        case _:
            (project / where).write_text(text)
            monkeypatch.setenv("REVERIE_INSTRUCTIONS", str(project))
