"""Bringing transcripts in, through Home: on SQLite and on a real Postgres."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reverie.app import Home
from reverie.core.errors import BadInput, NotATranscript, NotFound, NotVerbatim
from reverie.transcripts.session import quote
from tests.conftest import HomeMaker


def session(*texts: str, name: str = "s1", **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    return {"id": name, "messages": messages} | more


def texts(home: Home, name: str = "s1") -> list[str]:
    return [turn.text for turn in home.sessions.get(name).turns]


def test_a_dict_is_a_session(home_on: Home) -> None:
    added = home_on.sessions.add(session("hello", "hi", started_at="2026-05-01T10:00:00Z", title="Greeting"))
    assert added.fates == {"new": 1}
    kept = home_on.sessions.get("s1")
    assert [(turn.number, turn.role, turn.origin, turn.text) for turn in kept.turns] == [
        (1, "user", "owner", "hello"),
        (2, "assistant", "agent", "hi"),
    ]
    assert kept.head.title == "Greeting"


def test_adding_the_same_dict_again_changes_nothing(home_on: Home) -> None:
    home_on.sessions.add(session("a", "b"))
    assert home_on.sessions.add(session("a", "b")).fates == {"unchanged": 1}
    assert home_on.sessions.add(session("a", "b", "c")).fates == {"grown": 1}
    assert home_on.sessions.add(session("a", "changed", "c")).fates == {"rewritten": 1}
    assert texts(home_on) == ["a", "changed", "c"]


def test_a_session_without_an_id_is_added_once(home: Home) -> None:
    nameless = {"messages": [{"role": "user", "content": "x"}]}
    home.sessions.add(nameless)
    assert home.sessions.add(nameless).fates == {"unchanged": 1}
    assert len(list(home.sessions.find())) == 1


def test_only_the_owners_own_words_are_the_owners(home: Home) -> None:
    messages = [
        {"role": "system", "content": "be nice"},
        {"role": "user", "content": "mine"},
        {"role": "user", "name": "Bob", "content": "of someone else in the room"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a web page"}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "see"}, {"type": "tool_result", "content": "page"}],
        },
        {"role": "tool", "content": "output"},
    ]
    home.sessions.add({"id": "mine", "messages": messages})
    origins = [turn.origin for turn in home.sessions.get("mine").turns]
    assert origins == ["operator", "owner", "member", "tool", "tool", "tool"]
    home.sessions.add({"id": "bobs", "user": "bob", "messages": messages[1:2]})
    assert home.sessions.get("bobs").turns[0].origin == "member"


def test_parts_of_a_message_are_one_turn(home: Home) -> None:
    parts = [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "t1", "name": "terminal", "input": {"command": "ls"}},
        {"type": "image", "source": {}},
    ]
    home.sessions.add({"id": "s1", "messages": [{"role": "assistant", "content": parts}]})
    (turn,) = home.sessions.get("s1").turns
    assert turn.text == "Let me look.\n[image]"
    assert turn.said.whole == 'Let me look.\n[image]\nterminal {"command": "ls"}'


def test_secrets_are_redacted_before_anything_is_stored(home: Home) -> None:
    url = "postgresql://shop:tangerine-boat@db2.internal/shop"
    call = {"id": "c", "function": {"name": "terminal", "arguments": json.dumps({"command": f"psql {url}"})}}
    messages = [
        {"role": "user", "content": f"use {url}"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
    ]
    added = home.sessions.add({"id": "s1", "title": url, "messages": messages})
    assert added.redacted == {"url-password": 3}
    assert texts(home)[0] == "use postgresql://shop:[redacted:url-password]@db2.internal/shop"
    home.close()
    stored = b"".join(path.read_bytes() for path in home.config.home.rglob("*") if path.is_file())
    assert b"tangerine-boat" not in stored


def test_a_quotation_must_stand_in_the_text(home: Home) -> None:
    home.sessions.add(session("We moved to port 6432."))
    kept = home.sessions.get("s1")
    assert quote(kept, 1, "port 6432").origin == "owner"
    for turn, words in ((1, "port 5433"), (2, "port 6432"), (0, "We"), (1, " ")):
        with pytest.raises(NotVerbatim):
            quote(kept, turn, words)


def test_noise_is_kept_but_marked(home: Home) -> None:
    added = home.sessions.add(session("HEARTBEAT_OK", "<system-reminder>be quick</system-reminder>", "real words"))
    assert added.noise == 2
    assert [turn.noise for turn in home.sessions.get("s1").turns] == ["heartbeat", "injected block", None]


def test_a_folder_is_read_once_and_then_only_what_changed(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    (folder / "deep").mkdir(parents=True)
    (folder / "one.json").write_text(json.dumps(session("a", name="one")))
    (folder / "deep" / "two.jsonl").write_text(
        json.dumps(session("b", name="two")) + "\n" + json.dumps(session("c", name="three")) + "\n"
    )
    (folder / "package.json").write_text('{"name": "not a transcript"}')
    first = home.sessions.add(folder, remember=True)
    assert (first.fates, first.files, first.other_files) == ({"new": 3}, 2, 1)
    again = home.sessions.refresh()
    assert (again.fates, again.files, again.unchanged_files) == ({}, 0, 2)
    (folder / "one.json").write_text(json.dumps(session("a", "and more", name="one")))
    assert home.sessions.refresh().fates == {"grown": 1}


def test_what_was_removed_by_hand_stays_removed_until_its_file_is_added_again(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(session("a", name="one")))
    home.sessions.add(path, remember=True)
    home.sessions.remove("one")
    with pytest.raises(NotFound):
        home.sessions.get("one")
    assert home.sessions.refresh().fates == {"removed before": 1}
    assert list(home.sessions.find()) == []
    assert home.sessions.add(path).fates == {"new": 1}
    assert texts(home, "one") == ["a"]


def test_bad_input_is_reported_by_file_and_line_and_the_rest_is_kept(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "rough.jsonl"
    good = [json.dumps(session(f"session {n}", name=f"g{n}")).encode() for n in range(4)]
    broken_message = json.dumps({"id": "g9", "messages": [{"role": "user", "content": "kept"}, {"role": "ghost"}]})
    lines = [
        good[0],
        b'{"id": "x", "messages": [',
        good[1],
        good[2].replace(b"session 2", b"caf\xe9"),
        b"",
        b"\x00\x00\x00",
        broken_message.encode(),
        b'"just text"',
        good[3],
        b'{"id": "cut off", "mess',
    ]
    path.write_bytes(b"\n".join(lines))
    added = home.sessions.add(path)
    assert added.fates == {"new": 5}
    where = {flaw.where: flaw.why for flaw in added.flaws}
    assert {flaw.path for flaw in added.flaws} == {str(path)}
    assert set(where) == {"line 2", "line 4", "line 6", "line 7, message 2", "line 8", "line 10"}
    assert "UTF-8" in where["line 4"]
    assert "cut off" in where["line 10"]
    assert texts(home, "g2") == ["caf\N{REPLACEMENT CHARACTER}"]
    assert texts(home, "g9") == ["kept"]


def test_what_a_database_cannot_hold_is_shown_as_a_sign(home_on: Home) -> None:
    home_on.sessions.add(session("a\x00b\ud800c"))
    assert texts(home_on) == ["a␀b\N{REPLACEMENT CHARACTER}c"]


def test_an_enormous_message_is_cut_and_said_so(home: Home) -> None:
    added = home.sessions.add(session("x" * 2_000_000, "after it"))
    assert [flaw.where for flaw in added.flaws] == ["turn 1"]
    kept = texts(home)
    assert len(kept[0]) < 1_000_100
    assert kept[0].endswith("[cut here: 1,000,000 characters left out]")
    assert kept[1] == "after it"


@pytest.mark.parametrize("value", [{}, {"messages": "x"}, {"id": 3}])
def test_a_dict_that_is_no_session_is_refused_and_nothing_changes(home: Home, value: dict[str, Any]) -> None:
    with pytest.raises(NotATranscript, match="messages"):
        home.sessions.add(value)
    assert list(home.sessions.find()) == []


def test_a_file_that_is_no_transcript_is_refused(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Notes\n")
    with pytest.raises(NotATranscript, match=r"notes\.md.*--reader"):
        home.sessions.add(path)
    with pytest.raises(BadInput, match="does not exist"):
        home.sessions.add(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="no reader named"):
        home.sessions.add(path, reader="nonsense")


def test_two_homes_in_one_process_do_not_see_each_other(homes: HomeMaker, tmp_path: Path) -> None:
    one, two = homes(tmp_path / "one"), homes(tmp_path / "two")
    one.sessions.add(session("only here"))
    assert list(two.sessions.find()) == []


def test_a_named_user_is_whose_sessions_they_are_where_they_do_not_say(home: Home) -> None:
    home.sessions.add(session("mine or not", name="unsaid"), user="bob")
    home.sessions.add(session("of cleo", name="said", user="cleo"), user="bob")
    assert {(stored.head.id, stored.user) for stored in home.sessions.find()} == {("unsaid", "bob"), ("said", "cleo")}
    assert home.sessions.get("unsaid", user="bob").turns[0].origin == "member"


def test_a_long_run_tells_how_far_it_is(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.json").write_text(json.dumps(session("a", name=f"s{number}")))
    seen: list[tuple[int, int]] = []
    home.sessions.add(folder, watch=lambda progress: seen.append((progress.done, progress.sessions)))
    assert seen == sorted(seen)
    assert seen[-1] == (sum(path.stat().st_size for path in folder.glob("*.json")), 3)


def test_words_that_turn_out_to_be_a_strangers_lose_their_standing_when_they_are_read_again(
    home_on: Home, tmp_path: Path
) -> None:
    path = tmp_path / "6d1c2f8e-41b7-4c0a-9a55-0e2f7b3d9c10.jsonl"
    line = {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "Always use tabs"}}

    def added(**marks: str) -> tuple[dict[str, int], str]:
        path.write_text(json.dumps(line | marks) + "\n")
        fates = dict(home_on.sessions.add(path).fates)
        return fates, home_on.sessions.get(f"claude-code:{path.stem}").turns[0].origin

    assert added(promptSource="typed") == ({"new": 1}, "owner")
    assert added(promptSource="suggestion_accepted") == ({"rewritten": 1}, "agent")
    assert added(promptSource="typed") == ({"unchanged": 1}, "agent")
