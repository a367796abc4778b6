"""SIGKILL around every git that a projection starts, and at any moment; the next one finishes. No commit twice."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from reverie.app import Home
from tests.commands import Process
from tests.conftest import HomeMaker
from tests.sizes import sized
from tests.story.test_git_projection import Skills, beside, git, land, of_skills, subjects

# Stands before the real git in PATH: counts, and at the number asked for kills its parent before or after the work,
# or both, as when a whole process group goes: then with what git holds while it writes still lying there.
WRAPPER = """#!/bin/sh
folder={folder}
echo x >> $folder/count
at=$(wc -l < $folder/count)
[ $at -eq {at} ] && [ {when} = before ] && kill -9 $PPID && exit 1
if [ $at -eq {at} ] && [ {when} = within ]; then
  for lock in index.lock refs/heads/main.lock objects/pack/tmp_pack_x; do touch {repository}/$lock 2>/dev/null; done
  kill -9 $PPID; exit 1
fi
{git} "$@"
code=$?
[ $at -eq {at} ] && [ {when} = after ] && kill -9 $PPID
exit $code
"""
RUN = """
import resource, sys
from pathlib import Path
from reverie.system.git_projection import GitProjection
from reverie.system.skill_folders import SkillFolder
from reverie.app import open_home

home = open_home(sys.argv[1], settings={"owner": "ann"})
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]), -1))
folder = SkillFolder(Path(sys.argv[2]), "skills")
projection = GitProjection(home.config.home, home.history_records, home.owned, lambda: [folder])
behind = projection.catch_up() if sys.argv[3] == "catch_up" else projection.rebuild() and None
sys.exit(str(behind) if behind else 0)
"""


def start(home: Path, skills: Path, what: str = "catch_up", path: str = "", most: int = -1) -> Process:
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]}
    return Process(["-c", RUN, str(home), str(skills), what, str(most)], environment=environment)


def wrapped(folder: Path, repository: Path, at: int, when: str) -> str:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    real = shutil.which("git")
    text = WRAPPER.format(folder=folder, at=at, when=when, git=real, repository=repository)
    (folder / "git").write_text(text)
    (folder / "git").chmod(0o755)
    return str(folder)


def whole(home: Home, skills: Skills, repository: Path, commits: int) -> None:
    projection = of_skills(home, skills)
    assert projection.catch_up() is None
    assert len(subjects(repository)) == commits
    assert git(repository, "status", "--porcelain") == ""
    assert projection.verify() == []
    left = [path.name for path in repository.iterdir() if path.name.startswith(".git.")]
    assert left == [] and not list(repository.glob(".git/objects/pack/tmp_*"))


@pytest.mark.parametrize("when", ["before", "within", "after"])
@pytest.mark.parametrize("inside", [True, False], ids=["inside", "beside"])
def test_a_projection_killed_around_any_of_its_gits_is_finished_by_the_next(
    homes: HomeMaker, tmp_path: Path, inside: bool, when: str
) -> None:
    """Windows: the repository made, commits on `main` but not in the index, the index written but not told of."""
    (tmp_path / "skills").mkdir()
    home, skills = homes(), Skills(tmp_path / "skills")
    if not inside:
        git(tmp_path, "init", "-q")
    killed = commits = 0
    for at in range(1, 6):
        commits += 2
        land(home, skills, {"deploy.md": b"%d\n" % commits, f"{at}.md": b"new"})
        land(home, skills, {"deploy.md": b"%d more\n" % commits, f"{at}.md": None})
        repository = skills.root if inside else next((home.config.home / "history").glob("*/"), tmp_path / "none")
        process = start(home.config.home, skills.root, path=wrapped(tmp_path / "bin", repository / ".git", at, when))
        killed += process.wait(60) == -signal.SIGKILL
        process.communicate()
        whole(home, skills, skills.root if inside else beside(home), commits)
    assert killed >= 3


@pytest.mark.parametrize("when", ["before", "within", "after"])
def test_making_it_anew_killed_half_way_leaves_a_history_that_the_next_run_completes(
    homes: HomeMaker, tmp_path: Path, when: str
) -> None:
    (tmp_path / "skills").mkdir()
    home, skills = homes(), Skills(tmp_path / "skills")
    for number in range(3):
        land(home, skills, {"deploy.md": b"%d\n" % number})
    of_skills(home, skills).catch_up()
    for at in range(1, 7):
        path = wrapped(tmp_path / "bin", skills.root / ".git.reverie-new", at, when)
        start(home.config.home, skills.root, "rebuild", path).communicate()
        whole(home, skills, skills.root, 3)


def test_projections_killed_at_any_moment_and_several_at_once_make_every_commit_once(
    homes: HomeMaker, tmp_path: Path
) -> None:
    (tmp_path / "skills").mkdir()
    home, skills = homes(), Skills(tmp_path / "skills")
    commits = 0
    for attempt in range(0, 10, sized(4, 1)):
        for _ in range(30):
            commits += 1
            land(home, skills, {"deploy.md": b"%d\n" % commits})
        running = [start(home.config.home, skills.root) for _ in range(2)]
        time.sleep(0.1 + 0.06 * attempt)
        for process in running:
            process.send_signal(signal.SIGKILL)
            process.communicate()
    whole(home, skills, skills.root, commits)
    last = [start(home.config.home, skills.root) for _ in range(3)]
    assert [process.wait(60) for process in last] == [0, 0, 0]
    for process in last:
        process.communicate()
    whole(home, skills, skills.root, commits)


@pytest.mark.parametrize("first", [True, False], ids=["the first time", "later"])
def test_a_full_disk_delays_the_projection_and_nothing_else(homes: HomeMaker, tmp_path: Path, first: bool) -> None:
    """A limit on the size of files stands for it: git is ended in the middle of a write."""
    (tmp_path / "skills").mkdir()
    home, skills = homes(), Skills(tmp_path / "skills")
    if not first:
        land(home, skills, {"deploy.md": b"small"})
        assert of_skills(home, skills).catch_up() is None
    land(home, skills, {"deploy.md": os.urandom(200_000)})
    process = start(home.config.home, skills.root, most=50_000)
    _, said = process.communicate()
    assert process.returncode == 1 and "is behind" in said and "git fast-import" in said
    assert (skills.root / ".git").exists() is not first
    whole(home, skills, skills.root, 1 if first else 2)
