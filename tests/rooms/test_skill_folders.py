"""A folder of skills on disk: what is found, what is written, and what never happens outside of it."""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from reverie.core.errors import BadInput, NotFound, NotPermitted
from reverie.skills.amend import amended, refine, retire
from reverie.skills.skill import Amended, Revert, read_skill
from reverie.system.skill_folders import SkillFolder
from tests.conftest import FIXTURES, NOON

SKILL = b"---\nname: release\ndescription: Use when releasing.\n---\n\n## Steps\n\n1. Tag it\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "skills"
    for path, content in {
        "devops/release/SKILL.md": SKILL,
        "devops/release/scripts/tag.sh": b"#!/bin/sh\ngit tag\n",
        "devops/release/references/notes.md": b"notes\n",
        "devops/release/.hidden/payload": b"\x00\xff",
        "devops/DESCRIPTION.md": b"about the category\n",
        "deploy.md": b"# Deploy\n",
        "README.md": b"about the folder\n",
        "lower/skill.md": SKILL,
        ".archive/old/SKILL.md": SKILL,
        ".hub/quarantine/bad/SKILL.md": SKILL,
        ".git/config": b"",
    }.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_bytes(content)
    return made


def land(folder: SkillFolder, subject: str, after: Amended) -> None:
    with folder.held(subject) as held:
        for document, content in after.files_after.items():
            assert held.write(document, content, held.read(document))


def test_skills_are_found_and_what_is_hidden_or_about_a_folder_is_not(root: Path) -> None:
    assert SkillFolder(root, "mine").subjects() == ["deploy.md", "devops/release", "lower"]


def test_a_folder_that_is_not_there_has_no_skills(tmp_path: Path) -> None:
    folder = SkillFolder(tmp_path / "nowhere", "mine")
    assert folder.subjects() == []
    assert folder.files("x") == {}
    assert folder.read("x/SKILL.md") is None


def test_the_skills_of_a_real_hermes_home_are_read() -> None:
    folder = SkillFolder(FIXTURES / "hermes_home" / "skills", "hermes")
    assert folder.subjects() == ["devops/release-checklist"]
    skill = read_skill("devops/release-checklist", folder.files("devops/release-checklist"))
    assert (skill.name, skill.version, skill.tags) == ("release-checklist", "1.0.0", ("release", "git"))
    assert skill.support == ("devops/release-checklist/references/ci.md",)


def test_every_file_of_a_skill_is_handed_out_hidden_ones_too(root: Path) -> None:
    folder = SkillFolder(root, "mine")
    assert sorted(folder.files("devops/release")) == [
        "devops/release/.hidden/payload",
        "devops/release/SKILL.md",
        "devops/release/references/notes.md",
        "devops/release/scripts/tag.sh",
    ]
    assert folder.files("deploy.md") == {"deploy.md": b"# Deploy\n"}
    assert list(folder.files(".archive/old")) == [".archive/old/SKILL.md"]


def test_the_same_folder_has_the_same_key_under_every_name(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other").symlink_to(root)
    assert SkillFolder(tmp_path / "other", "a").key == SkillFolder(root, "b").key == f"skills:{root}"


def test_a_refinement_lands_in_the_file_and_its_mode_stays(root: Path) -> None:
    folder = SkillFolder(root, "mine")
    (root / "devops/release/SKILL.md").chmod(0o644)
    files = folder.files("devops/release")
    made = amended(files, refine(read_skill("devops/release", files), section="Steps", add=["Tell the team"]), NOON)
    assert isinstance(made, Amended)
    land(folder, "devops/release", made)
    after = (root / "devops/release/SKILL.md").read_text()
    assert after.endswith("1. Tag it\n2. Tell the team\n")
    assert (root / "devops/release/SKILL.md").stat().st_mode & 0o777 == 0o644
    assert not [path for path in root.rglob("*") if "reverie" in path.name], "nothing of ours is left there"


def test_a_retired_skill_is_in_the_archive_and_comes_back_byte_for_byte(root: Path) -> None:
    folder = SkillFolder(root, "mine")
    before = folder.files("devops/release")
    made = amended(before, retire(read_skill("devops/release", before)), NOON)
    assert isinstance(made, Amended)
    land(folder, "devops/release", made)
    assert folder.subjects() == ["deploy.md", "lower"]
    assert not (root / "devops/release").exists(), "no empty folder is left"
    assert (root / "devops/DESCRIPTION.md").exists()
    assert set(folder.files(".archive/release").values()) == set(before.values())
    assert os.access(root / ".archive/release/scripts/tag.sh", os.X_OK)
    back = Revert("devops/release", made.files_after, {path: before.get(path) for path in made.files_after})
    undone = amended(folder.files(".archive/release"), back, NOON)
    assert isinstance(undone, Amended)
    land(folder, "devops/release", undone)
    assert folder.files("devops/release") == before
    assert not (root / ".archive/release").exists()


@pytest.mark.parametrize(
    "path",
    ["../x", "/etc/passwd", "a/../../x", "a//b", "", ".", "a/\0", "a\\b", "C:x", "a/./b", "x" * 300, "a\udcff", "\n"],
)
def test_no_path_leads_out_of_the_folder(root: Path, path: str) -> None:
    folder = SkillFolder(root, "mine")
    for ask in (folder.read, folder.files):
        with pytest.raises(BadInput):
            ask(path)
    with folder.held("deploy.md") as held:
        with pytest.raises(BadInput):
            held.read(path)
        with pytest.raises(BadInput):
            held.write(path, b"x", None)


def test_links_are_not_followed_wherever_they_stand(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "SKILL.md").write_bytes(b"secret")
    (outside / "deep" / "SKILL.md").write_bytes(b"secret")
    (root / "linked").symlink_to(outside)
    (root / "flat.md").symlink_to(outside / "SKILL.md")
    (root / "devops/release/stolen").symlink_to(outside / "SKILL.md")
    (root / "devops/release/more").symlink_to(outside)
    folder = SkillFolder(root, "mine")
    assert folder.subjects() == ["deploy.md", "devops/release", "lower"]
    assert b"secret" not in folder.files("devops/release").values()
    for document in ("linked/SKILL.md", "linked/deep/SKILL.md", "flat.md", "devops/release/stolen"):
        with pytest.raises(NotPermitted):
            folder.read(document)
        with folder.held("x") as held:
            with pytest.raises(NotPermitted):
                held.write(document, b"overwritten", b"secret")
            with pytest.raises(NotPermitted):
                held.write(document, None, b"secret")
    assert (outside / "SKILL.md").read_bytes() == b"secret"
    assert (outside / "deep" / "SKILL.md").read_bytes() == b"secret"


def test_a_pipe_or_a_device_is_not_read(root: Path) -> None:
    os.mkfifo(root / "devops/release/pipe")
    assert "devops/release/pipe" not in SkillFolder(root, "mine").files("devops/release")
    with pytest.raises(NotPermitted):
        SkillFolder(root, "mine").read("devops/release/pipe")


def test_a_folder_swapped_for_a_link_meanwhile_leads_nowhere_else(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "release").mkdir(parents=True)
    (outside / "release/SKILL.md").write_bytes(b"theirs")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            with suppress(OSError):
                (root / "devops").rename(root / "aside")
                (root / "devops").symlink_to(outside)
            with suppress(OSError):
                (root / "devops").unlink()
            with suppress(OSError):
                (root / "aside").rename(root / "devops")
            shutil.rmtree(root / "aside", ignore_errors=True)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for turn in range(150):
            with SkillFolder(root, "mine").held("devops/release") as held:
                try:
                    before = held.read("devops/release/SKILL.md")
                    assert before != b"theirs"
                    held.write("devops/release/SKILL.md", SKILL + b"%d\n" % turn, before)
                except (NotPermitted, NotFound) as error:
                    assert "/proc" not in str(error)
    finally:
        done.set()
        swapper.join()
    assert (outside / "release/SKILL.md").read_bytes() == b"theirs"
    assert [one.name for one in outside.rglob("*") if one.is_file()] == ["SKILL.md"]


def test_what_git_keeps_is_not_for_writing(root: Path) -> None:
    with SkillFolder(root, "mine").held("deploy.md") as held:
        for document in (".git/config", ".git/hooks/pre-commit", "devops/release/.git/config"):
            with pytest.raises(NotPermitted):
                held.write(document, b"x", None)


def test_two_writers_wait_for_each_other(root: Path) -> None:
    folder = SkillFolder(root, "mine")
    order: list[str] = []

    def write() -> None:
        with folder.held("deploy.md") as held:
            order.append("second")
            before = held.read("deploy.md")
            held.write("deploy.md", (before or b"") + b"second\n", before)

    with folder.held("deploy.md") as held:
        other = threading.Thread(target=write)
        other.start()
        held.write("deploy.md", b"first\n", held.read("deploy.md"))
        order.append("first")
    other.join(10)
    assert order == ["first", "second"]
    assert (root / "deploy.md").read_bytes() == b"first\nsecond\n"


def test_a_folder_that_holds_something_else_stays_when_a_skill_goes(root: Path) -> None:
    with SkillFolder(root, "mine").held("lower") as held:
        for document in ("lower/skill.md", "devops/release/references/notes.md", "never/was/there.md"):
            assert held.write(document, None, held.read(document))
    assert not (root / "lower").exists()
    assert not (root / "devops/release/references").exists()
    assert (root / "devops/release/SKILL.md").exists()
    assert not (root / "never").exists()
