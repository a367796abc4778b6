"""Where the trail of a skills folder is: in a repository of the user's only if asked; and what `verify` says of git
after others wrote, and after a restore."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.app import Home, open_home, restore_home
from reverie.changes.land import Landed
from reverie.changes.queue import Waiting
from reverie.config import load
from reverie.memory.operation import Add

SKILL = """\
---
name: deploy
description: Use when deploying the shop.
version: 1.0.0
---
## Steps

1. Run the tests.
2. Tell the team.

## Notes

The shop is in Graz.

## Gotchas

- Warm the cache.
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Skills inside a repository of someone's own."""
    place = tmp_path / "dotfiles" / "skills"
    (place / "deploy").mkdir(parents=True)
    (place / "deploy" / "SKILL.md").write_text(SKILL)
    git(place.parent, "init", "-q", "-b", "work")
    commit_all(place.parent, "mine")
    monkeypatch.setenv("REVERIE_SKILLS", str(place))
    monkeypatch.setenv("REVERIE_OWNER", "ann")
    return place


@pytest.fixture
def configured(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setenv("REVERIE_COMMIT_IN", str(folder))
    with open_home(tmp_path / "home") as home:
        yield home


def git(where: Path, *words: str) -> str:
    settings = ["-c", "user.name=bob", "-c", "user.email=bob@example.com"]
    return subprocess.run(["git", *settings, *words], cwd=where, check=True, capture_output=True, text=True).stdout


def commit_all(where: Path, message: str) -> None:
    git(where, "add", "-A")
    git(where, "commit", "-qm", message)


def refine(home: Home, rule: str) -> Landed:
    proposed = home.refining.refine_skill("deploy", section="Gotchas", add=[rule], because="it failed twice")
    assert isinstance(proposed, Waiting)
    outcome = home.review.approve(proposed.proposal)
    assert isinstance(outcome, Landed)
    home.projecting.finish()
    return outcome


def said_of_git(home: Home) -> str:
    assert all(check.ok for check in home.verify()), home.verify()
    return next(check.said for check in home.verify() if check.name == "git history")


def test_nothing_is_committed_in_a_repository_of_the_users_and_verify_says_where_it_is(
    folder: Path, tmp_path: Path
) -> None:
    with open_home(tmp_path / "home") as home:
        refine(home, "Tag first.")
        assert git(folder, "log", "--format=%s") == "mine\n"
        said = said_of_git(home)
    beside = Path(said.rpartition(" ")[2])
    assert f"lies in the repository {folder.parent}, where Reverie commits nothing" in said
    assert "Amend deploy" in git(beside, "log", "--format=%s")


def test_where_it_is_asked_for_each_change_is_one_commit_there_too(configured: Home, folder: Path) -> None:
    first, second = refine(configured, "Tag first."), refine(configured, "Look at the graphs.")
    configured.projection.catch_up()
    assert git(folder, "log", "--format=%cn %an %s").splitlines() == [
        "Reverie ann Amend deploy: it failed twice",
        "Reverie ann Amend deploy: it failed twice",
        "bob bob mine",
    ]
    told = git(folder, "log", "--format=%(trailers:key=Reverie-Change,valueonly)", "-2").split()
    assert told == [second.change.id, first.change.id]
    assert git(folder, "status", "--porcelain", "-uno") == ""
    assert "also commits what it changes" in said_of_git(configured)
    assert isinstance(configured.review.undo(), Landed)
    configured.projecting.finish()
    assert "graphs" not in git(folder, "show", "HEAD:skills/deploy/SKILL.md")


def test_what_the_user_has_not_committed_is_not_committed_with_it(configured: Home, folder: Path) -> None:
    file = folder / "deploy" / "SKILL.md"
    file.write_text(SKILL.replace("Graz", "Linz"))
    (folder.parent / "other").write_text("staged\n")
    git(folder.parent, "add", "other")
    refine(configured, "Tag first.")
    committed = git(folder, "show", "HEAD:skills/deploy/SKILL.md")
    assert "Tag first." in committed and "Graz" in committed
    assert git(folder.parent, "status", "--porcelain", "-uno").splitlines() == ["A  other", " M skills/deploy/SKILL.md"]
    assert "Linz" in file.read_text() and "Tag first." in file.read_text()


def test_a_change_to_what_the_user_is_at_work_on_is_left_for_them_to_commit(configured: Home, folder: Path) -> None:
    file = folder / "deploy" / "SKILL.md"
    file.write_text(SKILL.replace("- Warm the cache.", "- Warm the cache twice."))
    refine(configured, "Tag first.")
    assert git(folder, "log", "--format=%s") == "mine\n"
    assert "Tag first." in file.read_text() and said_of_git(configured)
    commit_all(folder.parent, "all of it")
    refine(configured, "Look at the graphs.")
    assert git(folder, "log", "--format=%s").splitlines() == ["Amend deploy: it failed twice", "all of it", "mine"]
    assert git(folder, "show", "HEAD:skills/deploy/SKILL.md") == file.read_text()


def test_during_a_merge_of_the_users_nothing_is_committed_and_afterwards_it_is(configured: Home, folder: Path) -> None:
    (folder.parent / ".git" / "MERGE_HEAD").write_text(git(folder, "rev-parse", "HEAD"))
    refine(configured, "Tag first.")
    assert git(folder, "log", "--format=%s") == "mine\n"
    (folder.parent / ".git" / "MERGE_HEAD").unlink()
    assert configured.projection.catch_up() is None
    assert "Tag first." in git(folder, "show", "HEAD:skills/deploy/SKILL.md")


def test_what_the_user_does_not_track_is_not_brought_into_the_repository(configured: Home, folder: Path) -> None:
    git(folder.parent, "rm", "-q", "--cached", "skills/deploy/SKILL.md")
    git(folder.parent, "commit", "-qm", "not here")
    refine(configured, "Tag first.")
    assert git(folder, "ls-tree", "-r", "--name-only", "HEAD") == ""


# ---- what verify says of git -----------------------------------------------------------------------------------------


def test_verify_is_right_after_hermes_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "hermes" / "memories" / "MEMORY.md"
    file.parent.mkdir(parents=True)
    file.write_text("Money is Decimal")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    with open_home(tmp_path / "home") as home:
        assert isinstance(home.review.write("hermes", "MEMORY.md", [Add("MEMORY.md", "Use tabs")]), Landed)
        file.write_text(f"{file.read_text()}\n§\nHermes wrote this")
        for look in (lambda: None, lambda: list(home.memory.entries("hermes")), home.review.recover):
            look()
            assert all(check.ok for check in home.verify()), home.verify()


def test_verify_is_right_after_an_older_backup_was_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The skills folder is outside the home: its git history went on past the backup."""
    place = tmp_path / "skills" / "deploy"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(SKILL)
    monkeypatch.setenv("REVERIE_SKILLS", str(place.parent))
    with open_home(tmp_path / "home") as home:
        refine(home, "Tag first.")
        home.backup(tmp_path / "backup.tar.gz")
        refine(home, "Look at the graphs.")
    (tmp_path / "home").rename(tmp_path / "lost")
    restore_home(load(tmp_path / "home"), tmp_path / "backup.tar.gz")
    with open_home(tmp_path / "home") as home:
        (git_check,) = (check for check in home.verify() if check.name == "git says the same")
        assert git_check.ok and "went on past it" in git_check.said
        list(home.skills.every())
        assert all(check.ok for check in home.verify()), home.verify()
        home.review.recover()
        (git_check,) = (check for check in home.verify() if check.name == "git says the same")
        assert git_check.said == "yes"
    assert (place / "SKILL.md").read_text().endswith("- Look at the graphs.\n")
    (aside,) = (tmp_path / "home" / "history" / "aside").iterdir()
    assert "graphs" in git(tmp_path, f"--git-dir={aside}", "show", "main:deploy/SKILL.md")
