"""What only a person at a terminal sees: a pager, progress, completion, the review in tmux."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from reverie.app import Home, open_home
from reverie.changes.proposal import Suggestion
from reverie.cli import reverie
from reverie.cli.dream import progress_line
from reverie.core.scope import Origin
from reverie.memory.operation import Add
from reverie.testing.model_server import serving
from reverie.transcripts.session import Evidence
from tests.terminal import in_terminal


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A Hermes home for which three proposals wait."""
    memories = tmp_path / "hermes" / "memories"
    memories.mkdir(parents=True)
    (memories / "MEMORY.md").write_text("Standup is at nine.")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    monkeypatch.setenv("REVERIE_OWNER", "ann")
    with open_home(tmp_path / "home") as home:  # by the clock of the commands that look at it, too
        for text in ("Money is Decimal.", "Tea is at four.", "Tabs, not spaces."):
            home.review.propose(Suggestion("hermes", "MEMORY.md", (Add("MEMORY.md", text),)), land=False)
        yield home


def test_what_is_longer_than_the_screen_goes_through_a_pager(waiting: Home) -> None:
    where = ["--home", str(waiting.config.home)]
    environment = {"PAGER": f"{sys.executable} -c \"import sys; print(len(sys.stdin.readlines()), 'lines paged')\""}
    for number in range(30):
        add = Suggestion("hermes", "MEMORY.md", (Add("MEMORY.md", f"Rule {number} of many."),))
        waiting.review.propose(add, land=False)
    assert "67 lines paged" in in_terminal(["review", "list", *where], environment=environment)
    assert "paged" not in in_terminal(["history", *where], environment=environment), "it fits"


def test_a_night_is_told_in_lines_that_fit_and_through_the_pager(waiting: Home) -> None:
    words = "I always want the numbers of a report in a table with one row for every month of the year"
    for number in range(3):
        turns = [{"role": "user", "content": f"{words}, and {number} more rows for the whole."}]
        waiting.sessions.add({"id": f"s{number}", "user": "ann", "messages": turns})
    pager = f"{sys.executable} -c \"import sys; print(sys.stdin.read().replace('## ', '|| '))\""
    where = ["--home", str(waiting.config.home)]
    told = in_terminal(["dream", "hermes", *where], columns=50, rows=12, environment={"PAGER": pager})
    assert "|| Waiting for you" in told, told
    lines = told.partition("|| ")[2].splitlines()
    assert max(map(len, lines)) <= 50 and any(line.startswith("    ") for line in lines)


def test_memory_cannot_drive_the_terminal_it_is_shown_in(waiting: Home, tmp_path: Path) -> None:
    (tmp_path / "hermes" / "memories" / "MEMORY.md").write_text("Tea \x1b]0;mine\x07is at four.")
    where = ["--home", str(waiting.config.home)]
    assert "Tea \\u001b]0;mine\\u0007is at four." in in_terminal(["memory", "show", "hermes/MEMORY.md", *where])


def test_a_proposal_fits_the_screen_and_w_shows_all_of_it(waiting: Home) -> None:
    """The sentence stands at the top and the keys at the bottom, however much was said."""
    talk = [f"Line {number}: we drink tea at four, in every season and in all weathers." for number in range(30)]
    messages = [{"role": "user", "content": text} for text in (*talk[:2], "\n".join(talk), *talk[2:4])]
    waiting.sessions.add({"id": "s1", "user": "ann", "messages": messages})
    said = tuple(Evidence("s1", 3, line, Origin.OWNER) for line in talk[10:13])
    add = Add("MEMORY.md", "Coffee is at ten.")
    waiting.review.propose(Suggestion("hermes", "MEMORY.md", (add,), evidence=said), land=False)
    rest = [one.id for one in waiting.review.waiting() if one.suggestion.evidence == ()]
    for name in rest:
        waiting.review.reject(name)
    screen = in_terminal(["review", "--home", str(waiting.config.home)], [("> ", "w"), ("> ", "q")], rows=24)
    short, whole = screen.split("Coffee is at ten.", 1)[1].split("[a]pprove")[:2]
    assert "more lines: w shows all" in short and short.count("\n") <= 21
    assert "more lines" not in whole and all(f"“{line}”" in whole for line in talk[10:13])
    small = in_terminal(["review", "--home", str(waiting.config.home)], [("> ", "q")], columns=40, rows=20)
    screen = small.partition("[a]pprove")[0]
    assert screen.count("\n") <= 17 and "{+Coffee is at ten.+}" in screen and "▸" in screen and "Reaches" not in screen


def test_of_a_long_skill_a_small_screen_shows_what_changes(waiting: Home) -> None:
    skill = waiting.config.home / "skills" / "release" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    rules = "".join(f"- Rule {number} is a rule like all the others.\n" for number in range(40))
    skill.write_text(f"---\nname: release\ndescription: Use when releasing.\nversion: 1.0.0\n---\n# Rules\n\n{rules}")
    for one in waiting.review.waiting():
        waiting.review.reject(one)
    waiting.refining.refine_skill("release", section="Rules", add=["Push the tag before the branch."], because="seen")
    screen = in_terminal(["review", "--home", str(waiting.config.home)], [("> ", "q")], rows=16).partition("[a]pprove")[
        0
    ]
    assert "{+- Push the tag before the branch." in screen and "Rule 39 is" not in screen and screen.count("\n") <= 14


def test_completion_offers_ids_and_what_they_mean(waiting: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVERIE_HOME", str(waiting.config.home))
    known = [one.id for one in waiting.review.waiting()]

    def offered(words: str) -> str:
        environment = {"_REVERIE_COMPLETE": "zsh_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        return CliRunner().invoke(reverie, [], prog_name="reverie", env=environment).output

    said = offered("reverie review approve ")
    assert all(name in said for name in known) and "Add to hermes/MEMORY.md: Tea is at four." in said
    assert offered(f"reverie review approve {known[0]}").count("prop_") == 1
    waiting.review.approve(known[0])
    (change,) = waiting.history.changes(ours=True)
    assert change.id in offered("reverie undo chg_")


def test_a_night_that_runs_tells_how_far_it_is(waiting: Home) -> None:
    for number in (1, 2):
        turns = [{"role": "user", "content": f"I prefer tables for numbers, {number}."}]
        waiting.sessions.add({"id": f"s{number}", "user": "ann", "messages": turns})
    told, since = list[str](), waiting.clock.now()

    def watched(name: str, step: object) -> int:
        told.append(progress_line(waiting, since))
        return step()  # type: ignore[operator, no-any-return]

    waiting.dreams.run(waiting.dreams.open("hermes", "propose", waiting.dreams.asked("hermes")).id, watched)
    assert told[0] == "hermes: gather, looking for new sessions"
    assert "hermes: light, 1 of 2 sessions read" in told and "hermes: deep, 2 of 2 sessions read" in told
    assert progress_line(waiting, since) == ""


def test_a_night_that_runs_tells_what_a_model_takes(waiting: Home) -> None:
    waiting.sessions.add({"id": "s1", "user": "ann", "messages": [{"role": "user", "content": "I prefer tables."}]})
    where, since, told = waiting.config.home, waiting.clock.now(), list[str]()
    with serving() as server:
        priced = {"model": "openai:played", "model_url": server.openai_url, "model_price": "1000/1000"}
        with open_home(where, now=since, settings=priced) as home:

            def watched(name: str, step: Callable[[], int]) -> int:
                done = step()
                told.append(progress_line(home, since))
                return done

            home.dreams.run(home.dreams.open("hermes", "propose", home.dreams.asked("hermes")).id, watched)
    assert any(re.search(r"deep, 1 of 1 sessions read · 2 requests, \$\d+\.\d{4}$", line) for line in told), told
    unpriced = {"model": "openai:played", "model_url": "https://models.example/v1"}
    with open_home(where, now=since, settings=unpriced) as home:
        home.dreams.open("hermes", "propose", home.dreams.asked("hermes"))
        assert progress_line(home, since).endswith("· 2 requests, price not known")


def test_progress_is_for_terminals_only(waiting: Home) -> None:
    where = ["--home", str(waiting.config.home)]
    done = subprocess.run(
        [sys.executable, "-m", "reverie", "dream", *where], capture_output=True, text=True, check=False, timeout=60
    )
    assert "\x1b" not in done.stdout + done.stderr and "\r" not in done.stderr


def test_an_audit_in_a_pipe_is_never_cut(waiting: Home, tmp_path: Path) -> None:
    long = "The staging database of the second shop is on port " + "very " * 25 + "5433."
    (tmp_path / "hermes" / "memories" / "MEMORY.md").write_text(f"{long}\n§\n{long}")
    said = CliRunner().invoke(reverie, ["audit", "--home", str(waiting.config.home)]).output
    assert f"“{long}”" in said and "…" not in said


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[list[str]]:
    if shutil.which("tmux") is None:
        pytest.skip("not run: there is no tmux (Debian: apt-get install tmux)")
    server = ["tmux", "-S", str(tmp_path / "tmux.sock"), "-f", "/dev/null"]
    yield server
    subprocess.run([*server, "kill-server"], check=False, capture_output=True)


def test_a_review_is_done_in_tmux_to_the_last_proposal(waiting: Home, tmux: list[str], tmp_path: Path) -> None:
    memory = tmp_path / "hermes" / "memories" / "MEMORY.md"
    command = f"{sys.executable} -m reverie review --home {waiting.config.home}; echo ended; cat"
    subprocess.run([*tmux, "new-session", "-d", "-s", "review", "-x", "100", "-y", "40", command], check=True)

    def until(words: str, end: str = ">") -> str:
        """The screen, as soon as it shows the words and waits for a key: what is typed ahead is thrown away."""
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline:
            capture = [*tmux, "capture-pane", "-p", "-t", "review"]
            screen = subprocess.run(capture, check=False, capture_output=True, text=True)
            if words in screen.stdout and screen.stdout.rstrip().endswith(end):
                return screen.stdout
            time.sleep(0.05)
        raise AssertionError(f"never shown: {words!r}\n{screen.stdout}")

    def press(*keys: str) -> None:
        subprocess.run([*tmux, "send-keys", "-t", "review", *keys], check=True)

    first = until("1 of 3, 3 left")
    assert "Add to hermes/MEMORY.md: Money is Decimal." in first and "[a]pprove" in first
    press("a")
    assert "MEMORY.md is changed" in until("2 of 3, 2 left") and "Money is Decimal." in memory.read_text()
    press("u")
    assert "It waits again." in until("1 of 3, 3 left") and "Money" not in memory.read_text()
    press("a")
    until("2 of 3, 2 left")
    press("R")
    until("Because", ":")
    press("nobody drinks tea", "Enter")
    assert "nobody drinks tea" in until("3 of 3, 1 left").replace("\n", " ")
    press("s")
    assert "2 verdicts given. 1 proposal still waits." in until("ended", "ended")
