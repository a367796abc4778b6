"""How often search finds what answers a question, beside plain BM25, and what each part of the ranking is worth.

    python benchmarks/recall.py FILE...

A file is {"sessions": [...], "questions": [{"query", "user", "gold": [[session id, turn or null], ...]}, ...]}.

The question sets we measure on may not be shipped, so their files are named by you. Recall is of turns where the gold
names turns, else of sessions, within the first ten.
"""

from __future__ import annotations

import json
import re
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
import reverie
from reverie.search import search as ranking
from reverie.text import tokens as kinds

Ask = Callable[[str, str], list[tuple[str, int]]]
FIRST, PAGE = 10, 20


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for path in map(Path, sys.argv[1:]):
        task = json.loads(path.read_text("utf-8"))
        print(f"{path.stem}, {len(task['questions'])} questions")
        for name, found in _measured(task).items():
            print(f"  {name:<32} {found:.1f}", flush=True)


def _measured(task: dict[str, Any]) -> dict[str, float]:
    found = {"BM25 (FTS5, porter)": _recall(task, _bm25(task))}
    with tempfile.TemporaryDirectory() as folder, reverie.open(folder) as home:
        for session in task["sessions"]:
            home.sessions.add(session)
        home.index.catch_up()

        def ask(query: str, user: str) -> list[tuple[str, int]]:
            return [(hit.session_id, hit.turn) for hit in home.search(query, user=user, limit=PAGE)]

        found["Reverie"] = _recall(task, ask)
        found["  without leaning to the best"] = _with(ranking, "LEAN_TO_BEST", 0.0, lambda: _recall(task, ask))
        found["  without members of kinds"] = _with(kinds, "kinds", dict, lambda: _recall(task, ask))
    return found


def _with(module: Any, name: str, value: object, measure: Callable[[], float]) -> float:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        return measure()
    finally:
        setattr(module, name, before)


def _recall(task: dict[str, Any], ask: Ask) -> float:
    shares = []
    for question in task["questions"]:
        hits = ask(question["query"], question["user"])
        turns = {(session, turn) for session, turn in question["gold"] if turn is not None}
        sessions = {session for session, _ in question["gold"]}
        ranked = list(dict.fromkeys(session for session, _ in hits))[:FIRST]
        shares.append(
            len(turns & set(hits[:FIRST])) / len(turns) if turns else len(sessions & set(ranked)) / len(sessions)
        )
    return 100 * statistics.mean(shares)


def _bm25(task: dict[str, Any]) -> Ask:
    table = sqlite3.connect(":memory:")
    table.execute(
        "create virtual table said using fts5(text, user unindexed, id unindexed, turn unindexed, tokenize='porter')"
    )
    for session in task["sessions"]:
        for turn, message in enumerate(session["messages"], 1):
            row = (f"{message.get('name', '')} {message['content']}", session.get("user"), session["id"], turn)
            table.execute("insert into said values (?, ?, ?, ?)", row)

    def ask(query: str, user: str) -> list[tuple[str, int]]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"[A-Za-z0-9]+", query.lower())))
        asked = "select id, turn from said where said match ? and user = ? order by bm25(said) limit ?"
        return list(table.execute(asked, (words, user, PAGE)))

    return ask


if __name__ == "__main__":
    main()
