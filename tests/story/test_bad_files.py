"""One bad file, one slow file, one enormous file: each is put aside with its reason, and everything else goes on."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

from reverie.app import Home
from reverie.cli import reverie
from reverie.core.errors import NotATranscript, NotFound
from reverie.core.scope import Origin, Scope
from reverie.storage import schema
from reverie.storage.session_rows import AT_ONCE_TURNS
from reverie.transcripts import json_files, json_streams
from reverie.transcripts.files import FileLimits
from reverie.transcripts.session import Head, Said, Turn
from tests.conftest import HomeMaker

OWN = Scope("local", "ann", "test")
LONG = AT_ONCE_TURNS + 107


def session(name: str, **more: Any) -> str:
    return json.dumps({"id": name, "messages": [{"role": "user", "content": f"I am {name}."}], **more})


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


def test_every_odd_file_is_read_or_put_aside_and_the_night_goes_on(home: Home, logs: Path) -> None:
    (logs / "a-id.json").write_text(session("half").replace("half", "half \\ud83d"))
    (logs / "b-number.json").write_text(session("numbers", outcome=1).replace(": 1}", f": {'9' * 400}}}"))
    (logs / "c-time.json").write_text(session("time", started_at=0).replace("0}", "1e999}").replace("f", "f"))
    (logs / "d-deep.json").write_text(session("deep", cwd=0).replace(": 0}", ": " + "[" * 200_000))
    Path(os.fsdecode(os.fsencode(logs) + b"/e-\xff\xfe.json")).write_text(session("named by bytes"))
    (logs / "z-good.json").write_text(session("good"))
    added = home.sessions.add(logs)
    ids = {one.head.id for one in home.sessions.find()}
    assert ids == {"half \ufffd", "numbers", "time", "named by bytes", "good"}
    assert [flaw.path for flaw in added.flaws] == [str(logs / "d-deep.json")]
    assert home.dream().dreams[0].sessions
    assert home.dream().dreams  # the night after, with that id in its records


def test_a_folder_that_cannot_be_looked_into_is_named_and_the_rest_is_read(home: Home, logs: Path) -> None:
    """Its path is longer than the system takes. One that may not be read ends in the same place."""
    (logs / "good.json").write_text(session("good"))
    inside = os.open(logs, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=inside)
        outside, inside = inside, os.open("d" * 250, os.O_RDONLY, dir_fd=inside)
        os.close(outside)
    os.close(inside)
    added = home.sessions.add(logs)
    assert added.sessions == 1 and [one.why for one in added.flaws] == ["File name too long"]


def test_a_file_name_that_is_no_text_is_remembered_and_read_again(home: Home, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/logs-\xff"))
    folder.mkdir()
    first, second = (Path(os.fsdecode(os.fsencode(folder) + name)) for name in (b"/\xfe.jsonl", b"/\xfd.jsonl"))
    for file, word in ((first, "one"), (second, "two")):
        file.write_text(json.dumps({"messages": [{"role": "user", "content": word}]}) + "\n")
    assert home.sessions.add(folder).fates == {"new": 2}
    [source] = [one for one in home.sessions.sources() if not one.standard]
    assert source.path.endswith("/logs-%FF")
    assert home.sessions.refresh().unchanged_files == 2
    home.sessions.forget(folder)


def test_a_bad_file_is_shown_everywhere_until_it_changes(homes: HomeMaker, logs: Path, tmp_path: Path) -> None:
    home = homes()
    bad = logs / "bad.json"
    bad.write_text('{"messages": [{"role": "user", "content": "cut')
    (logs / "good.json").write_text(session("good"))
    assert home.sessions.add(logs).quarantined == 1
    [held] = home.sessions.quarantined()
    assert held.path == str(bad) and "not JSON" in held.why
    again = home.sessions.refresh()
    assert (again.files, again.quarantined) == (0, 1)  # unchanged: it is not even opened
    assert f"{bad}: " in home.dream().diary
    for command in ("status", "doctor"):
        result = CliRunner().invoke(reverie, [command, "--home", str(tmp_path / "home")])
        assert str(bad) in result.output and "not JSON" in result.output
    bad.write_text(session("mended"))
    assert home.sessions.refresh().fates == {"new": 1}
    assert home.sessions.quarantined() == []


def test_a_file_that_is_too_large_or_too_slow_is_put_aside(homes: HomeMaker, logs: Path) -> None:
    home = homes(transcript_megabytes="1")
    (logs / "large.jsonl").write_text((session("x" * 60) + "\n") * 12_000)
    assert "MB" in home.sessions.add(logs).flaws[0].why
    slow = replace(home.sessions, limits=FileLimits(seconds=0))
    (logs / "slow.json").write_text(session("slow"))
    added = slow.add(logs)
    assert any("longer than 0 seconds" in flaw.why for flaw in added.flaws)
    assert not list(home.sessions.find())


def test_a_reader_that_fails_takes_nobody_with_it(home: Home, logs: Path) -> None:
    class Broken:
        name, places = "broken", ()

        def recognises(self, path: Path, start: bytes) -> float:
            if path.name == "unknowable":
                raise RuntimeError("sniffing")
            return 1.0 if path.suffix == ".broken" else 0.0

        def read(self, path: Path) -> Iterator[Any]:
            yield from ()
            raise KeyError("sk-ant-REDACTED")

    (logs / "a.broken").write_text("x")
    (logs / "unknowable").write_text("x")
    (logs / "z.json").write_text(session("good"))
    library = replace(home.sessions, readers=(*home.sessions.readers, Broken()))
    added = library.add(logs)
    assert added.fates == {"new": 1} and added.quarantined == 2
    [why] = [flaw.why for flaw in added.flaws if flaw.path.endswith("a.broken")]
    assert "the broken reader failed at it: KeyError" in why and "AbCdEfGh" not in why


def test_a_session_nested_without_end_is_refused_by_name(home: Home) -> None:
    endless: dict[str, Any] = {"messages": []}
    endless["messages"].append(endless)
    with pytest.raises(NotATranscript, match="nested more than"):
        home.sessions.add(endless)


# ---- enormous ones ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["object", "list", "line", "cut off"])
def test_a_transcript_larger_than_a_piece_is_read_in_pieces(
    home: Home, logs: Path, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    monkeypatch.setattr(json_streams, "PIECE", 400)
    monkeypatch.setattr(json_files, "PIECE", 400)
    odd = 'ä😀"' * 30
    messages = [{"role": "user", "content": f"{number} {odd}"} for number in range(30)]
    messages[7]["content"] += "x" * 3_000
    text = json.dumps({"id": "big", "messages": messages, "title": "Behind"}, ensure_ascii=False)
    text = {"list": f"[{text}]", "line": f"{text}\n", "cut off": f"[{text}, {text[:900]}"}.get(shape, text)
    path = logs / ("big.jsonl" if shape == "line" else "big.json")
    path.write_text(text)
    added = home.sessions.add(path)
    stored = home.sessions.get("big")
    assert [turn.text.split()[0] for turn in stored.turns] == [str(number) for number in range(30)]
    assert stored.turn(3).text == messages[2]["content"] and "[cut here: " in stored.turn(8).text
    assert stored.head.title == "Behind"
    assert bool(added.flaws) is (shape == "cut off")


def turns(count: int, *, word: str = "Turn") -> Iterator[Turn]:
    for number in range(1, count + 1):
        yield Turn(number, Said("user", f"{word} {number}"), Origin.OWNER)


def write(home: Home, said: Iterator[Turn], name: str = "long") -> tuple[str, int]:
    head = Head(name, user="ann")
    return home.sessions.records.write(OWN, head, said, source=None, finish=lambda: head)


def left_behind(home: Home) -> int:
    with home.engine.connect() as connection:
        arriving = connection.execute(select(func.count()).select_from(schema.arrivals)).scalar_one()
        stored = connection.execute(select(func.count()).select_from(schema.turns)).scalar_one()
    return int(arriving) * 1_000_000 + int(stored)


def test_a_long_transcript_is_stored_grows_and_is_rewritten(home_on: Home) -> None:
    assert write(home_on, turns(LONG)) == ("new", LONG)
    assert write(home_on, turns(LONG)) == ("unchanged", 0)
    assert write(home_on, turns(2 * LONG)) == ("grown", LONG)
    assert write(home_on, turns(LONG)) == ("rewritten", 0)
    stored = home_on.sessions.get("long")
    assert (stored.revision, len(stored.turns)) == (2, LONG)
    assert len(home_on.sessions.get("long", revision=1).turns) == 2 * LONG
    assert write(home_on, turns(LONG, word="Other")) == ("rewritten", LONG)
    assert home_on.sessions.get("long").turn(LONG).text == f"Other {LONG}"


def test_others_write_while_a_long_transcript_is_stored_and_none_of_it_is_seen(home: Home) -> None:
    write(home, turns(3), "before")

    def interrupted() -> Iterator[Turn]:
        for turn in turns(LONG):
            if turn.number == LONG - 1:  # two steps are stored
                assert write(home, turns(4), "before") == ("grown", 1)
                with pytest.raises(NotFound):
                    home.sessions.get("long")
                home.sessions.refresh()  # does not take it for abandoned
            yield turn

    assert write(home, interrupted()) == ("new", LONG)
    assert len(home.sessions.get("long").turns) == LONG


@pytest.mark.parametrize("known", [0, 5, LONG])
def test_nothing_of_a_transcript_whose_reading_fails_stays(home: Home, known: int) -> None:
    def failing() -> Iterator[Turn]:
        yield from turns(2 * LONG, word="Turn" if known == LONG else "New")
        raise ValueError("the file ends in nonsense")

    if known:
        write(home, turns(known))
    before = left_behind_without(home)
    with pytest.raises(ValueError, match="nonsense"):
        write(home, failing())
    assert left_behind_without(home) == before == known
    assert write(home, turns(LONG)) == (("new" if not known else "grown" if known == 5 else "unchanged"), LONG - known)


def left_behind_without(home: Home) -> int:
    count = left_behind(home)
    assert count < 1_000_000  # nothing is on its way
    return count


def test_what_a_killed_write_left_is_taken_out(home: Home) -> None:
    class Killed(BaseException):
        """Nothing catches it, as nothing catches SIGKILL."""

    def killed() -> Iterator[Turn]:
        yield from turns(LONG)
        raise Killed

    for cure in (home.sessions.refresh, lambda: write(home, turns(2))):
        with pytest.raises(Killed):
            write(home, killed())
        assert left_behind(home) > 1_000_000
        cure()
        assert left_behind_without(home) <= 2


def test_a_session_removed_while_it_is_stored_stays_removed(home: Home) -> None:
    write(home, turns(3))

    def interrupted() -> Iterator[Turn]:
        for turn in turns(LONG):
            if turn.number == LONG - 1:
                home.sessions.remove("long", user="ann")
            yield turn

    with pytest.raises(Exception, match="changed by someone else"):
        write(home, interrupted())
    assert left_behind_without(home) == 0


# ---- databases of others ---------------------------------------------------------------------------------------------

ENDLESS = "with recursive n(x) as (select 1 union all select x + 1 from n) select x as id, 'cli' as source"
SESSIONS = "create table sessions (id text, source text); insert into sessions values ('s', 'cli');"
MESSAGES = "create table messages (session_id text, role text, content text);"


@pytest.mark.parametrize(
    "script",
    [
        f"create view sessions as {ENDLESS} from n; {MESSAGES}",
        SESSIONS
        + f"create view messages as {ENDLESS.replace('id', 'session_id')}, 'user' as role, 'x' as content from n;",
    ],
    ids=["endless sessions", "endless messages"],
)
def test_a_database_that_computes_is_not_waited_for(home: Home, logs: Path, script: str) -> None:
    with closing(sqlite3.connect(logs / "state.db")) as database:
        database.executescript(script)
    (logs / "z.json").write_text(session("good"))
    added = home.sessions.add(logs)
    assert added.fates == {"new": 1}
    assert any(flaw.path.endswith("state.db") for flaw in added.flaws)


def test_reading_a_database_ends_when_its_time_is_up(home: Home, logs: Path) -> None:
    with closing(sqlite3.connect(logs / "state.db")) as database:
        database.executescript(SESSIONS + MESSAGES)
        database.executemany("insert into messages values ('s', 'user', ?)", [("x",)] * 20_000)
        database.commit()
    added = replace(home.sessions, limits=FileLimits(seconds=0)).add(logs)
    assert added.quarantined == 1 and not list(home.sessions.find())


def test_of_a_file_full_of_nonsense_only_the_first_places_are_named(home: Home, logs: Path) -> None:
    (logs / "n.json").write_text('{"id": "n", "messages": [{"role": "user", "content": "hi"}' + ",[]" * 3_000 + "]}")
    added = home.sessions.add(logs)
    assert added.fates == {"new": 1} and len(added.flaws) < 1_100
    assert added.flaws[-1].why == "2,000 more that are not listed"
