"""What landed, as plain git shows it: one commit for each Change, in a folder where people can use git by hand."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete

from reverie.app import Home
from reverie.changes.land import Landed
from reverie.changes.ledger import Anchored, Change, ChangeQuery, Edit, Grounds, Via
from reverie.changes.projection import commit_message, read_back
from reverie.changes.proposal import Suggestion
from reverie.core.ids import sha256
from reverie.core.scope import Origin
from reverie.memory.operation import Add, Replace, entry_hash
from reverie.storage import schema
from reverie.storage.database import writing_across
from reverie.system.git_projection import GitProjection
from reverie.system.git_repository import showable
from reverie.system.skill_folders import SkillFolder
from reverie.transcripts.session import Evidence
from tests.conftest import NOON, HomeMaker

MEMORY = "Staging DB is db1.internal:5432\n§\nCI runs on GitHub Actions"
OLD, NEW = "Staging DB is db1.internal:5432", "Staging DB is db2.internal:6432"
ANN = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")


class Skills(SkillFolder):
    def __init__(self, root: Path, name: str = "skills") -> None:
        super().__init__(root, name)
        self.place = root.resolve()


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *ANN, *words], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape")


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "hermes" / "memories" / "MEMORY.md"
    path.parent.mkdir(parents=True)
    path.write_text(MEMORY)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    return path


@pytest.fixture
def skills(tmp_path: Path) -> Skills:
    (tmp_path / "skills").mkdir()
    return Skills(tmp_path / "skills")


def of_memory(home: Home) -> GitProjection:
    return GitProjection(home.config.home, home.history_records, home.owned, home.targets.values)


def of_skills(home: Home, *folders: Skills) -> GitProjection:
    return GitProjection(home.config.home, home.history_records, home.owned, lambda: folders)


def beside(home: Home) -> Path:
    (found,) = (path for path in (home.config.home / "history").iterdir() if path.is_dir() and path.name != "aside")
    return found


def land(home: Home, folder: Skills, files: dict[str, bytes | None], **grounds: object) -> Change:
    """As landing does: the files are written, then the Change is settled."""
    edits = []
    for name, content in files.items():
        path = folder.root / name
        edits.append(Edit(name, path.read_bytes() if path.exists() else None, content))
        if content is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return recorded(home, folder, tuple(edits), **grounds)


def recorded(home: Home, folder: Skills, edits: tuple[Edit, ...], **grounds: object) -> Change:
    told = Grounds(**({"actor": "ann", "reason": "a test"} | grounds))  # type: ignore[arg-type]
    subject = edits[0].document.partition("/")[0]
    change = Change(home.ids.new("chg"), folder.key, subject, edits, told, NOON)
    return home.history_records.settle(home.owned, change, {})


def notice(home: Home, folder: Skills, name: str) -> Change:
    """An edit from outside, recorded when Reverie next looks."""
    known = home.history_records.known(home.owned, folder.key, name)
    edit = Edit(name, known.content if known else None, (folder.root / name).read_bytes())
    return recorded(home, folder, (edit,), actor="outside", via=Via.OUTSIDE, reason="written by someone else")


def subjects(folder: Path, branch: str = "main") -> list[str]:
    return git(folder, "log", "--reverse", "--format=%s", branch).splitlines()


def trailers(folder: Path, commit: str = "main") -> dict[str, str]:
    text = git(folder, "log", "-1", "--format=%B", commit)
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=text, capture_output=True, text=True, check=True
    )
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


# ---- memory ----------------------------------------------------------------------------------------------------------


def test_a_landed_proposal_is_a_commit_that_says_who_what_and_why(memory: Path, home_on: Home) -> None:
    said = (Evidence("plain:s1", 3, "it moved to db2", Origin.OWNER), Evidence("plain:s1", 9, "yes", Origin.OWNER))
    operation = Replace("MEMORY.md", entry_hash(OLD), NEW)
    wanted = Suggestion("hermes", "MEMORY.md", (operation,), reason="the owner said that it moved", evidence=said)
    outcome = home_on.review.propose(wanted)
    assert isinstance(outcome, Landed)
    projection = of_memory(home_on)
    assert projection.catch_up() is None
    folder = beside(home_on)
    assert subjects(folder) == [
        "Begin with MEMORY.md: as Reverie first found it",
        "Replace an entry of MEMORY.md: the owner said that it moved",
    ]
    assert git(folder, "show", "main:MEMORY.md") == memory.read_text() == (folder / "MEMORY.md").read_text()
    assert git(folder, "log", "-1", "--format=%an|%cn|%aI") == "dream|Reverie|2026-05-12T12:00:00+00:00\n".replace(
        "dream", outcome.change.grounds.actor
    )
    told = trailers(folder)
    assert told["Reverie-Change"] == outcome.change.id
    assert (told["Origin"], told["Approved-By"]) == ("owner", "policy")
    assert told["Proposal"] == outcome.change.grounds.proposal
    assert git(folder, "log", "-1", "--format=%B").count("Evidence: plain:s1#") == 2
    row = list(home_on.history_records.rows(home_on.owned))[int(told["Ledger"].split()[0]) - 1]
    assert told["Ledger"] == f"{row.number} {row.hash}"
    assert git(folder, "status", "--porcelain") == ""
    assert projection.verify() == []


def test_what_git_does_not_show_yet_is_no_fault_and_what_it_lost_is_one(memory: Path, home: Home) -> None:
    """Hermes writes all day, and reading records it; git follows with the next change of ours."""

    def said() -> tuple[bool, str]:
        (found,) = [check for check in home.verify() if check.name.startswith("git")]
        return found.ok, found.said

    list(home.memory.entries("hermes"))
    ok, words = said()
    assert ok and "not shown yet: 1 of hermes" in words
    home.review.write("hermes", "MEMORY.md", [Add("MEMORY.md", "Money is Decimal")])
    assert said() == (True, "yes")
    for number in range(2):
        memory.write_text(f"{memory.read_text()}\n§\nHermes wrote number {number}")
        list(home.memory.entries("hermes"))
    ok, words = said()
    assert ok and "not shown yet: 2 of hermes" in words
    home.review.recover()
    assert said() == (True, "yes")
    folder = beside(home)
    git(folder, "checkout", "-q", "--orphan", "other", "main~2")
    git(folder, "commit", "-q", "--allow-empty", "-m", "squashed")
    tree, message = git(folder, "rev-parse", "main^{tree}").strip(), git(folder, "log", "-1", "--format=%B", "main")
    newest = git(folder, "commit-tree", tree, "-p", "other", "-m", message).strip()  # the one between is lost
    git(folder, "branch", "-f", "main", newest)
    assert not said()[0]


def test_an_undo_names_what_it_takes_back_and_catching_up_twice_does_nothing_more(memory: Path, home: Home) -> None:
    landed = home.review.write("hermes", "MEMORY.md", [Add("MEMORY.md", "Money is Decimal")], "we said so")
    assert isinstance(landed, Landed)
    home.review.undo(landed.change.id)
    projection = of_memory(home)
    assert projection.catch_up() is None and projection.catch_up() is None and of_memory(home).catch_up() is None
    assert subjects(beside(home))[1:] == [
        "Add an entry to MEMORY.md: we said so",
        f"Undo a change of MEMORY.md: takes back {landed.change.id}",
    ]
    assert trailers(beside(home))["Undoes"] == landed.change.id
    assert git(beside(home), "show", "main:MEMORY.md") == MEMORY


def test_memory_has_its_git_history_beside_the_home_and_never_in_an_agents_folder(memory: Path, home: Home) -> None:
    for number in range(2):
        home.review.write("hermes", "MEMORY.md", [Add("MEMORY.md", f"Rule {number}")])
        assert of_memory(home).catch_up() is None
    assert len(subjects(beside(home))) == 3
    assert list(memory.parents[1].rglob(".git")) == []


def test_a_change_waits_without_git_and_is_shown_when_git_is_back(
    memory: Path, home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    landed = home.review.write("hermes", "MEMORY.md", [Add("MEMORY.md", "Money is Decimal")])
    assert isinstance(landed, Landed)
    projection = of_memory(home)
    with monkeypatch.context() as without_git:
        without_git.setenv("PATH", "/nowhere")
        behind = projection.catch_up()
    assert behind is not None
    (late,) = behind.late
    assert (late.name, late.waits) == ("hermes", landed.change.id) and "git was not found" in late.why
    assert capsys.readouterr() == ("", "")
    assert projection.catch_up() is None
    assert projection.verify() == []


def test_nothing_that_is_set_for_git_on_this_machine_takes_part(
    memory: Path, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.write_bytes(MEMORY.replace("\n§\n", "\r\n§\r\n").encode())
    person, elsewhere = tmp_path / "nobody", tmp_path / "elsewhere"
    (person / "hooks").mkdir(parents=True)
    for name in ("pre-commit", "reference-transaction", "post-checkout"):
        (person / "hooks" / name).write_text(f"#!/bin/sh\ntouch {person / 'ran'}\nexit 1\n")
        (person / "hooks" / name).chmod(0o755)
    (person / ".gitconfig").write_text(
        f"[core]\nautocrlf = true\nhooksPath = {person / 'hooks'}\n[commit]\ngpgSign = true\n[user]\nname = Nobody\n"
    )
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(elsewhere))
    home.review.write("hermes", "MEMORY.md", [Add("MEMORY.md", "Money is Decimal")])
    projection = of_memory(home)
    assert projection.catch_up() is None
    assert projection.verify() == []
    assert (beside(home) / "MEMORY.md").read_bytes() == memory.read_bytes()
    assert not (person / "ran").exists() and not elsewhere.exists()


def test_a_ledger_that_was_put_back_does_not_fit_the_commits_any_more(
    memory: Path, homes: HomeMaker, tmp_path: Path
) -> None:
    home = homes()
    home.review.write("hermes", "MEMORY.md", [Add("MEMORY.md", "Money is Decimal")])
    assert of_memory(home).catch_up() is None
    home.close()
    shutil.copytree(home.config.home, tmp_path / "saved")
    home = homes()
    home.review.write("hermes", "MEMORY.md", [Add("MEMORY.md", "Tabs, not spaces")])
    assert of_memory(home).catch_up() is None
    home.close()
    for file in (tmp_path / "saved").glob("reverie.db*"):
        shutil.copy(file, home.config.home)
    home = homes()
    list(home.memory.entries("hermes"))
    home.review.write("hermes", "MEMORY.md", [Add("MEMORY.md", "Something else")])
    projection = of_memory(home)
    behind = projection.catch_up()
    assert behind is not None and "another one now" in str(behind)
    assert any("which is not among the changes" in said for said in projection.verify())
    assert projection.rebuild("hermes").commits == 4
    assert projection.verify() == [] and projection.catch_up() is None


# ---- skills ----------------------------------------------------------------------------------------------------------


def test_a_skills_folder_in_no_repository_has_its_history_inside(home: Home, skills: Skills) -> None:
    projection = of_skills(home, skills)
    land(home, skills, {"deploy/SKILL.md": b"one\n", "deploy/scripts/run.sh": b"#!/bin/sh\n"}, via=Via.FOUND)
    (skills.root / "deploy/scripts/run.sh").chmod(0o755)
    assert projection.catch_up() is None
    before = (skills.root / "deploy/SKILL.md").stat().st_ctime_ns
    land(home, skills, {"deploy/scripts/run.sh": None, "tidy.md": b"x"}, reason="no script is needed")
    assert projection.catch_up() is None
    assert (skills.root / "deploy/SKILL.md").stat().st_ctime_ns == before
    assert git(skills.root, "status", "--porcelain") == ""
    assert subjects(skills.root) == ["Begin with deploy: a test", "Amend deploy: no script is needed"]
    assert git(skills.root, "log", "--follow", "--format=%s", "tidy.md").strip() == "Amend deploy: no script is needed"
    assert git(skills.root, "ls-files") == "deploy/SKILL.md\ntidy.md\n"
    assert git(skills.root, "ls-tree", "main~1", "deploy/scripts/run.sh").startswith("100755")
    assert projection.verify() == []


def test_a_script_that_can_be_run_stays_so_when_it_is_checked_out_by_hand(home: Home, skills: Skills) -> None:
    land(home, skills, {"run.sh": b"#!/bin/sh\n"})
    (skills.root / "run.sh").chmod(0o755)
    of_skills(home, skills).catch_up()
    land(home, skills, {"run.sh": b"#!/bin/sh\ntrue\n"})
    of_skills(home, skills).catch_up()
    git(skills.root, "checkout", "-q", "main~1", "--", "run.sh")
    assert os.access(skills.root / "run.sh", os.X_OK)


def test_a_repository_of_someone_else_is_left_alone(home: Home, skills: Skills, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "theirs")
    theirs = git(tmp_path, "rev-parse", "HEAD")
    land(home, skills, {"deploy/SKILL.md": b"one\n"})
    projection = of_skills(home, skills)
    assert projection.catch_up() is None
    assert not (skills.root / ".git").exists()
    assert git(tmp_path, "rev-parse", "HEAD") == theirs
    assert (beside(home) / "deploy" / "SKILL.md").read_bytes() == b"one\n"
    land(home, skills, {"deploy/SKILL.md": None})
    assert projection.catch_up() is None
    assert not (beside(home) / "deploy").exists()
    assert git(beside(home), "status", "--porcelain") == ""
    assert projection.verify() == []
    (said,) = projection.elsewhere()
    assert str(beside(home)) in said and f"the repository {tmp_path}," in said


def test_the_history_another_home_keeps_in_a_folder_is_not_ours(
    homes: HomeMaker, skills: Skills, tmp_path: Path
) -> None:
    first, second = homes(tmp_path / "one"), homes(tmp_path / "two")
    land(first, skills, {"deploy.md": b"one\n"})
    assert of_skills(first, skills).catch_up() is None
    land(second, skills, {"deploy.md": b"two\n"})
    assert of_skills(second, skills).catch_up() is None
    assert subjects(skills.root) == ["Add deploy.md: a test"]
    assert subjects(beside(second)) == ["Amend deploy.md: a test"]


def test_bytes_are_exact_whatever_a_document_asks_git_to_do_with_them(home: Home, skills: Skills) -> None:
    odd = b"a\r\nb\n\x00\xff$Id$\rdone\nM 100644 inline x\n"
    asks = b"* text eol=crlf ident working-tree-encoding=UTF-16\n"
    land(home, skills, {".gitattributes": asks, 'ödd "name"\\ é.md': odd, "a/.git/config": b"[core]\n"})
    projection = of_skills(home, skills)
    assert projection.catch_up() is None
    assert projection.verify() == []
    shutil.rmtree(skills.root / "a")
    assert git(skills.root, "status", "--porcelain") == ""
    (skills.root / 'ödd "name"\\ é.md').unlink()
    git(skills.root, "checkout", "-q", "--", ".")
    assert (skills.root / 'ödd "name"\\ é.md').read_bytes() == odd
    assert "config" not in git(skills.root, "ls-files")


@pytest.mark.parametrize("name", [".git/x", "a/.GIT", "git~1/x", ".git. /x", ".g\u200cit/x", "a//b", "../x", ".git:a"])
def test_what_git_keeps_for_itself_is_no_path_in_a_commit(name: str) -> None:
    assert not showable(name)
    assert showable(".gitignore") and showable("git/x") and showable("a/b.git")


def test_commits_and_reverts_by_hand_stay_and_ours_come_on_top(home: Home, skills: Skills) -> None:
    projection = of_skills(home, skills)
    for text in (b"one\n", b"two\n"):
        land(home, skills, {"deploy.md": text})
        assert projection.catch_up() is None
    git(skills.root, "revert", "--no-edit", "HEAD")
    by_hand = git(skills.root, "rev-parse", "HEAD").strip()
    assert (skills.root / "deploy.md").read_bytes() == b"one\n"
    notice(home, skills, "deploy.md")
    assert projection.catch_up() is None
    git(skills.root, "checkout", "-q", "main~2", "--", "deploy.md")
    notice(home, skills, "deploy.md")
    (skills.root / "mine.txt").write_text("mine")
    git(skills.root, "add", "mine.txt")
    assert projection.catch_up() is None
    assert git(skills.root, "status", "--porcelain") == "A  mine.txt\n"
    git(skills.root, "merge-base", "--is-ancestor", by_hand, "main")
    assert git(skills.root, "show", "main:deploy.md") == "two\n"
    assert len(subjects(skills.root)) == 5
    assert projection.verify() == []


def test_copies_of_our_commits_made_by_hand_are_not_taken_for_the_last_one(home: Home, skills: Skills) -> None:
    projection = of_skills(home, skills)
    for text in (b"one\n", b"two\n", b"three\n"):
        land(home, skills, {"deploy.md": text})
        assert projection.catch_up() is None
    git(skills.root, "cherry-pick", "--allow-empty", "--keep-redundant-commits", "-Xtheirs", "main~1")
    git(skills.root, "commit", "-q", "--amend", "--allow-empty", "--no-edit")
    land(home, skills, {"other.md": b"four\n"})
    assert projection.catch_up() is None
    assert len(subjects(skills.root)) == 5
    assert [said for said in projection.verify() if "commit" in said.replace("newest commit", "")] == []


def test_commits_thrown_away_by_hand_come_again(home: Home, skills: Skills) -> None:
    for text in (b"one\n", b"two\n", b"three\n"):
        land(home, skills, {"deploy.md": text})
    assert of_skills(home, skills).catch_up() is None
    git(skills.root, "reset", "-q", "--soft", "main~2")
    assert of_skills(home, skills).catch_up() is None
    assert len(subjects(skills.root)) == 3 and git(skills.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("words", [("-b", "mine"), ("--detach",)])
def test_what_someone_has_checked_out_is_not_moved(home: Home, skills: Skills, words: tuple[str, ...]) -> None:
    land(home, skills, {"deploy.md": b"one\n"})
    assert of_skills(home, skills).catch_up() is None
    git(skills.root, "checkout", "-q", *words)
    head, index = git(skills.root, "rev-parse", "HEAD"), (skills.root / ".git" / "index").read_bytes()
    land(home, skills, {"deploy.md": b"two\n"})
    assert of_skills(home, skills).catch_up() is None
    assert git(skills.root, "rev-parse", "HEAD") == head
    assert (skills.root / ".git" / "index").read_bytes() == index
    assert git(skills.root, "show", "main:deploy.md") == "two\n"
    assert of_skills(home, skills).verify() == []


def test_we_wait_while_another_git_is_at_work_there(home: Home, skills: Skills) -> None:
    land(home, skills, {"deploy.md": b"one\n"})
    assert of_skills(home, skills).catch_up() is None
    lock = skills.root / ".git" / "index.lock"
    lock.touch()
    land(home, skills, {"deploy.md": b"two\n"})
    behind = of_skills(home, skills).catch_up()
    assert behind is not None and "index.lock" in str(behind) and lock.exists()
    assert len(subjects(skills.root)) == 1
    os.utime(lock, (1, 1))  # long ago: its git is gone
    assert of_skills(home, skills).catch_up() is None
    assert not lock.exists() and len(subjects(skills.root)) == 2


# ---- damage, making anew, erasing ------------------------------------------------------------------------------------


def damage(folder: Path) -> None:
    for path in (folder / ".git" / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(path.read_bytes()[:-7])


def test_a_damaged_repository_delays_and_is_kept_when_it_is_made_anew(home: Home, skills: Skills) -> None:
    land(home, skills, {"deploy.md": b"one\n"})
    assert of_skills(home, skills).catch_up() is None
    damage(skills.root)
    land(home, skills, {"deploy.md": b"two\n"})
    projection = of_skills(home, skills)
    behind = projection.catch_up()
    assert behind is not None and "git" in behind.late[0].why
    assert any("damaged" in said for said in projection.verify())
    rebuilt = projection.rebuild()
    (kept,) = rebuilt.kept
    assert (rebuilt.names, rebuilt.commits) == (("skills",), 2)
    assert (kept / "HEAD").exists() and kept.is_relative_to(home.config.home / "history" / "aside")
    assert projection.verify() == [] and projection.catch_up() is None
    assert git(skills.root, "status", "--porcelain") == ""
    assert projection.rebuild().kept == ()


def test_commits_made_by_hand_are_kept_aside_when_it_is_made_anew(home: Home, skills: Skills) -> None:
    land(home, skills, {"deploy.md": b"one\n"})
    projection = of_skills(home, skills)
    projection.catch_up()
    git(skills.root, "commit", "-q", "--allow-empty", "-m", "mine")
    (kept,) = projection.rebuild().kept
    assert "mine" in git(kept, f"--git-dir={kept}", "log", "--format=%s", "main")
    assert subjects(skills.root) == ["Add deploy.md: a test"]


def test_what_was_erased_is_in_no_file_of_the_history_afterwards(
    home: Home, skills: Skills, tmp_path: Path, memory: Path
) -> None:
    secret = b"the canary is CANARY-7731\n"
    land(home, skills, {"deploy.md": b"one\n", "secret.md": secret})
    projection = of_skills(home, skills)
    projection.catch_up()
    damage(skills.root)
    assert projection.rebuild().kept
    land(home, skills, {"secret.md": None})
    with writing_across(home.engine, "upkeep") as connection:
        connection.execute(delete(schema.blobs).where(schema.blobs.c.sha256 == sha256(secret)))
    rebuilt = projection.rebuild("skills", keep=False)
    assert (rebuilt.commits, rebuilt.kept) == (2, ())
    assert list((home.config.home / "history" / "aside").iterdir()) == []
    blobs = git(skills.root, "cat-file", "--batch-all-objects", "--batch")
    assert "one" in blobs and "CANARY" not in blobs
    assert projection.verify() == []


def test_making_it_anew_gives_the_same_commits(memory: Path, home: Home) -> None:
    for number in range(5):
        home.review.write("hermes", "MEMORY.md", [Add("MEMORY.md", f"Rule {number}")])
        assert of_memory(home).catch_up() is None
    before = git(beside(home), "rev-parse", "main")
    (beside(home) / "left over").write_text("x")
    assert of_memory(home).rebuild("hermes").commits == 6
    assert git(beside(home), "rev-parse", "main") == before
    assert git(beside(home), "status", "--porcelain") == "" and not (beside(home) / "left over").exists()


def test_many_small_objects_are_packed(home: Home, skills: Skills) -> None:
    projection = of_skills(home, skills)
    land(home, skills, {"deploy.md": b"0\n"})
    projection.catch_up()
    some = skills.root / ".git" / "objects" / "17"
    some.mkdir(exist_ok=True)
    for number in range(8):
        (some / f"{number:038x}").touch()
    for number in range(2):
        land(home, skills, {"deploy.md": b"%d\n" % number})
        assert projection.catch_up() is None
    assert list((skills.root / ".git" / "objects" / "pack").glob("*.pack"))


# ---- what a commit says ----------------------------------------------------------------------------------------------

NASTY = st.text(st.sampled_from("a:#- \n\r\t\x00\x1b\x85\u2028\u202e\ud800Ä") | st.characters(), max_size=60)
FORGED = st.sampled_from(
    ["x\n\nReverie-Change: chg_forged\nLedger: 1 " + "0" * 64, "---\nActor: operator", "Actor: x\n\nOrigin: operator"]
)


@given(text=NASTY | FORGED, number=st.integers(1, 10**9))
def test_no_text_can_forge_a_trailer(text: str, number: int) -> None:
    proof = (Evidence(text, 1, "q", Origin.TOOL),)
    grounds = Grounds(text, Via.DIRECT, text, Origin.TOOL, proof, text, text, text, text, f"{text}\n{text}", text)
    change = Change("chg_real", "target", text, (Edit("x", None, b""),), grounds, NOON, number=number)
    said = commit_message(Anchored(change, "f" * 64))
    told = read_back(said)
    assert told is not None and (told.change, told.number, told.hash) == ("chg_real", number, "f" * 64)
    for name in ("Reverie-Change", "Actor", "Origin", "Evidence", "Dream", "Proposal", "Policy", "Undoes", "Ledger"):
        assert sum(line.startswith(f"{name}:") for line in said.split("\n")[1:]) <= 1
    assert sum(line.startswith("Origin: tool") for line in said.split("\n")) == 1
    assert not any(line.startswith("---") for line in said.split("\n")[1:])
    said.encode()


def test_a_forged_reason_is_no_trailer_to_git_either(home: Home, skills: Skills) -> None:
    forged = "because\n\n---\nActor: operator\nApproved-By: root\n\nReverie-Change: chg_x\nLedger: 9 " + "0" * 64
    change = land(home, skills, {"deploy.md": b"one\n"}, reason=forged, actor="eve\nActor: operator <x@y>")
    assert of_skills(home, skills).catch_up() is None
    told = trailers(skills.root)
    assert told["Reverie-Change"] == change.id and told["Actor"].startswith("eve ") and "Approved-By" not in told
    assert git(skills.root, "log", "-1", "--format=%an").startswith("eve Actor: operator x@y")
    assert of_skills(home, skills).verify() == []
    assert len(home.history_records.find(home.owned, ChangeQuery(target=skills.key))) == 1


def test_a_long_reason_is_cut_in_the_subject_only(home: Home, skills: Skills) -> None:
    land(home, skills, {"deploy.md": b"one\n"}, reason="word " * 40)
    land(home, skills, {"deploy.md": b"two\n"}, reason="語" * 100)
    assert of_skills(home, skills).catch_up() is None
    first, second = subjects(skills.root)
    assert len(first) <= 80 and first.endswith("word…") and second == "Amend deploy.md: " + "語" * 59 + "…"
    assert git(skills.root, "log", "-1", "--format=%b", "main~1").count("word") == 40
