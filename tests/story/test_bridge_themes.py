"""What a managed memory learned, decided by theme: read together, approved as one, and taken back as one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from reverie.app import Home, open_home
from reverie.cli import reverie
from reverie.core.errors import BadInput
from reverie.web.app import Entrance, web_application
from tests.terminal import in_terminal

SKILL = """\
---
name: release
description: How to cut and deploy a release.
version: 1.2.0
---

# Release

## Rules
- Deploy on Tuesdays, after the standup.
- Tag every release with the ticket number.
- Ask Priya before touching the billing schema.
"""
CHANGED = (("Tuesdays", "Thursdays"), ("Priya", "Jonas"))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    skill = tmp_path / "home" / "skills" / "release" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL)
    rules = "".join(line for line in SKILL.splitlines(keepends=True) if line.startswith("- "))
    for name, edits in (("old", ()), ("new", CHANGED)):
        text = rules
        for before, after in edits:
            text = text.replace(before, after)
        (tmp_path / name).mkdir()
        (tmp_path / name / "deploys.md").write_text(f"# Deploys\n\n{text}")
        extra = "- Gloves come from Lyon.\n" if edits else ""
        (tmp_path / name / "lab.md").write_text(f"# Lab\n\n- Nothing.\n{extra}")
    with open_home(tmp_path / "home") as opened:
        opened.bridge.propose(str(tmp_path / "old"), str(tmp_path / "new"), target="home")
        yield opened


def skill_of(home: Home) -> str:
    return (home.config.home / "skills" / "release" / "SKILL.md").read_text()


def command(home: Home, *words: str, code: int = 0) -> str:
    done = CliRunner().invoke(reverie, ["review", *words, "--home", str(home.config.home)])
    assert done.exit_code == code, done.output
    return done.output


def test_a_theme_is_listed_approved_and_taken_back_as_one(home: Home) -> None:
    themes = {one["theme"]: len(one["proposals"]) for one in json.loads(command(home, "themes", "--json"))}
    assert sorted(themes.values()) == [1, 2] and any(name.endswith(" · deploys") for name in themes), themes
    listed = command(home, "themes")
    assert "Thursdays" in listed and "Jonas" in listed and "Lyon" in listed
    assert command(home, "approve", "--theme", "deploys").count("Landed as") == 2
    assert all(after in skill_of(home) for _, after in CHANGED)
    assert len(home.review.waiting()) == 1
    assert command(home, "undo", "--theme", "deploys").count("Reverted in") == 2
    assert skill_of(home) == SKILL and len(home.review.waiting()) == 3


@pytest.mark.parametrize(
    ("words", "told"), [(["--theme", "nonsense"], "no theme nonsense.* · deploys"), ([], "Nothing is named.*--theme")]
)
def test_a_theme_that_is_not_there_is_refused_with_those_that_are(home: Home, words: list[str], told: str) -> None:
    done = CliRunner().invoke(reverie, ["review", "approve", *words, "--home", str(home.config.home)])
    assert isinstance(done.exception, BadInput) and done.exception.exit_code == 2
    assert re.search(told, str(done.exception), re.DOTALL) and skill_of(home) == SKILL


def test_a_key_approves_the_theme_that_was_read_and_another_takes_all_of_it_back(home: Home) -> None:
    theme = [("> ", "t"), ("Approve all of these?", "y\n")]
    shown = in_terminal(
        ["review", "--home", str(home.config.home)], [*theme, ("> ", "u"), *theme, ("> ", "q")], rows=60
    )
    assert shown.count("Reverted in") >= 2 and "2 proposals of" in shown and "2 verdicts given" in shown, shown
    assert all(after in skill_of(home) for _, after in CHANGED) and len(home.review.waiting()) == 1


def test_in_the_browser_a_group_is_one_button_and_one_undo(home: Home) -> None:
    entrance = Entrance(home)
    client = TestClient(web_application(home, entrance), base_url="http://127.0.0.1:8300")
    client.get(f"/?token={entrance.token}")
    page = client.get("/").text
    assert "Managed memory, deploys" in page and "/nights/" not in page.partition("<main")[2]
    (form,) = re.findall(r"<form[^>]*>(?:(?!</form>).)*Approve all 2 of this group", page, re.DOTALL)
    picked = dict(re.findall(r'name="(pick-[^"]+)" value="([^"]*)"', form))
    page = client.post("/chosen/approve", data={"csrf": entrance.csrf} | picked).text
    assert all(after in skill_of(home) for _, after in CHANGED) and "Undo all of these" in page
    client.post("/chosen/undo", data={"csrf": entrance.csrf} | dict.fromkeys(picked, ""))
    assert skill_of(home) == SKILL
