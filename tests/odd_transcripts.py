"""Transcripts that no harness writes: real ones with something odd in them, for the readers of anyone.

`mutated` knows JSON and JSON Lines, so most of what it makes is still read to the end. `odd_database` makes a Hermes
database with odd rows. The same random numbers make the same bytes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

_DEEP = "[" * 150 + "]" * 150
ODD = (
    *("1" * 400, "-" + "9" * 5000, "1e999", "-1e999", "NaN", "Infinity", "0", "-1", "1.5", "1e15", "1e22"),
    *("253402300800", "true", "false", "null", '""', '" "', '"\\ud800"', '"user\\udfff"', '"\\u0000"'),
    *('"a\\u0000b"', '"\\ud83d\\ude00"', '"\\uffff"', '"tool"', '"user"', '"assistant"', '"text"'),
    *('"2026-13-45T99:99:99Z"', '"0001-01-01T00:00:00+23:59"', '"9999-12-31T23:59:59-23:59"'),
    *('"<tool_call>{\\"name\\": 1}</tool_call>"', '"<think>"', "[]", "{}", "[null]", "[[]]", '{"": ""}'),
    *('{"type": "text"}', '{"type": "tool_result"}', '{"type": ["text"]}', '[{"type": "tool_use"}]'),
    '[{"type": "tool_result", "content": [{"type": "tool_result", "content": null}]}]',
    *('{"role": {"role": "user"}}', _DEEP, '{"a":' * 120 + "1" + "}" * 120, '"' + "x" * 100_000 + '"'),
    *('"' + "/" * 3_000 + '"', '"\\n\\r\\u2028"'),
)
DEEPEST = "[" * 200_000
_BYTES = (
    *(b"\xff", b"\x00", b"\xed\xa0\x80", b"\xc3", b"\n", b"\r", b'"', b"{", b"]", b"\\"),
    *(b"\xef\xbb\xbf", b"\xf4\x90"),
)
_MARK = "\ue000{}\ue001"


def mutated(raw: bytes, random: Random) -> bytes:
    """The same transcript with something odd in it: in its values, or in its bytes."""
    made = raw
    if random.random() < 0.75:
        text = raw.decode("utf-8", "replace")
        lines = [text] if _is_json(text) else text.splitlines()
        for _ in range(random.randint(1, 3)):
            place = random.randrange(len(lines))
            lines[place] = _odd_json(lines[place], random)
        made = ("\n".join(lines) + "\n" * random.randint(0, 1)).encode("utf-8", "surrogatepass")
    if made is raw or random.random() < 0.15:
        made = _with_odd_bytes(made, random)
    return made


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _odd_json(text: str, random: Random) -> str:
    if not _is_json(text):
        return text
    value, raws = json.loads(text), list[str]()
    for _ in range(random.randint(1, 3)):
        value = _changed(value, random, raws)
    told = json.dumps(value, ensure_ascii=random.random() < 0.5)
    for number, odd in enumerate(raws):
        mark = _MARK.format(number)
        told = told.replace(json.dumps(mark), odd).replace(json.dumps(mark, ensure_ascii=False), odd)
    return told


def _changed(value: Any, random: Random, raws: list[str]) -> Any:
    """With one node somewhere in it changed. An odd value is a mark until the JSON is written: some are not JSON."""
    inside = isinstance(value, dict | list) and value and random.random() < 0.85
    if inside and isinstance(value, dict):
        key = random.choice(list(value))
        match random.randrange(12):
            case 0:
                return {name: child for name, child in value.items() if name != key}
            case 1:
                return {f"{name}x" if name == key else name: child for name, child in value.items()}
            case 2:
                return {**value, _odd(random, raws): value[key]}
            case _:
                return {**value, key: _changed(value[key], random, raws)}
    if inside:
        place = random.randrange(len(value))
        match random.randrange(10):
            case 0:
                return value[:place] + value[place + 1 :]
            case 1:
                return value * random.choice((0, 2, 5))
            case 2:
                return [*value, _odd(random, raws)]
            case _:
                return [*value[:place], _changed(value[place], random, raws), *value[place + 1 :]]
    return [value] if random.random() < 0.1 else _odd(random, raws)


def _odd(random: Random, raws: list[str]) -> str:
    raws.append(random.choice(ODD))
    return _MARK.format(len(raws) - 1)


def _with_odd_bytes(raw: bytes, random: Random) -> bytes:
    place = random.randrange(len(raw) + 1)
    match random.randrange(6):
        case 0:
            return raw[:place]
        case 1:
            return raw[:place] + random.choice(_BYTES) * random.randint(1, 3) + raw[place:]
        case 2:
            return raw[:place] + raw[place + random.randint(1, 30) :]
        case 3:
            return raw[:place] + bytes(random.randrange(256) for _ in range(random.randint(1, 20))) + raw[place:]
        case 4:
            return raw.replace(b"\n", random.choice((b"", b"\r\n", b"\n\n", b"\x00\n")))
        case _:
            return raw + raw[place:]


_SESSION = (
    *("id", "source", "user_id", "chat_type", "model_config", "parent_session_id", "started_at", "ended_at", "cwd"),
    *("git_repo_root", "title"),
)
_MESSAGE = (
    *("session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp", "observed"),
    *("active", "compacted"),
)


def odd_database(path: Path, random: Random) -> None:
    """A Hermes database with odd rows, and sometimes with odd bytes."""
    tables = (
        f"create table sessions ({', '.join(_SESSION)});"
        f"create table messages (id integer primary key, {', '.join(_MESSAGE)});"
        "create index by_session on messages (session_id, timestamp);"
    )
    with _made(path, tables, random) as database:
        for number in range(random.randint(0, 3)):
            row = [f"s{number}", "cli", "kim", "dm", None, None, 1.7e9, None, "/w", None, "A title"]
            _insert(database, "sessions", row, random)
            for turn in range(random.randint(0, 4)):
                role = ("user", "assistant", "tool")[turn % 3]
                said = [f"s{number}", role, f"Turn {turn}", None, None, None, 1.7e9 + turn, 0, 1, 0]
                _insert(database, "messages", [None, *said], random)


@contextmanager
def _made(path: Path, tables: str, random: Random) -> Iterator[sqlite3.Connection]:
    """A new database, sometimes with odd bytes."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(f"pragma journal_mode=off; pragma synchronous=off; {tables}")
        yield database
        database.commit()
    if random.random() < 0.2:
        path.write_bytes(_with_odd_bytes(path.read_bytes(), random))


def odd_opencode(path: Path, random: Random) -> None:
    """An opencode database with odd values in its JSON, and sometimes with odd bytes."""
    parts = (
        {"type": "text", "text": "Turn", "synthetic": False},
        {"type": "tool", "tool": "ls", "callID": "c", "state": {"status": "completed", "input": {}, "output": "a"}},
        {"type": "subtask", "prompt": "Look"},
    )
    tables = (
        "create table session (id, parent_id, directory, title, version, permission, time_created, time_updated);"
        "create table message (id, session_id, time_created, data); create table part (id, message_id, data);"
    )
    with _made(path, tables, random) as database:
        for number in range(random.randint(0, 3)):
            _insert(database, "session", [f"s{number}", None, "/w", "A title", "1", "[]", 1.7e12, 1.7e12], random)
            for turn in range(random.randint(0, 3)):
                said = {"role": ("user", "assistant")[turn % 2], "time": {"created": 1.7e12}}
                row = [f"m{number}{turn}", f"s{number}", turn, _odd_object(said, random)]
                database.execute("insert into message values (?, ?, ?, ?)", row)
                for place, part in enumerate(random.choices(parts, k=2)):
                    row = [f"p{place}", f"m{number}{turn}", _odd_object(part, random)]
                    database.execute("insert into part values (?, ?, ?)", row)


def odd_openclaw(path: Path, random: Random) -> None:
    """An OpenClaw database with odd entries and rows, and sometimes with odd bytes."""
    said = {"type": "message", "message": {"role": "user", "content": "Turn", "__openclaw": {"senderIsOwner": True}}}
    tables = (
        "create table session_nodes (session_key, current_session_id, label, spawned_by, created_via);"
        "create table session_windows (session_id, session_key, chat_type, spawned_by, display_name);"
        "create table transcript_events (session_id, seq, event_json);"
    )
    with _made(path, tables, random) as database:
        for number in range(random.randint(0, 3)):
            _insert(database, "session_nodes", [f"k{number}", f"s{number}", "A title", "k0", "operator"], random)
            _insert(database, "session_windows", [f"s{number}", f"k{number}", "direct", None, None], random)
            for place in range(random.randint(0, 4)):
                row = [f"s{number}", place, _odd_object(said, random)]
                database.execute("insert into transcript_events values (?, ?, ?)", row)


def _odd_object(value: dict[str, Any], random: Random) -> bytes:
    return mutated(json.dumps(value).encode(), random) if random.random() < 0.5 else json.dumps(value).encode()


def _insert(database: sqlite3.Connection, table: str, row: list[Any], random: Random) -> None:
    cells = (
        *("null", "0", "-1", "1e999", "9223372036854775807", "x'ff00'", "cast(x'fffe' as text)", "''", "'user'"),
        *("cast(x'eda080' as text)", "cast(x'006a736f6e3a5b7b5d' as text)", "cast(x'006a736f6e3a5b5d' as text)"),
    )

    def odd_cell() -> str:
        told = "'" + random.choice(ODD[:45]).replace("'", "''").replace(",", ";").replace("?", "") + "'"
        return random.choice((*cells, told))

    places = ", ".join("?" if random.random() < 0.8 else odd_cell() for _ in row)
    if table == "messages":
        places = "?" + places[places.index(",") :]
    given = [value for value, place in zip(row, places.split(", "), strict=True) if place == "?"]
    database.execute(f"insert into {table} values ({places})", given)
