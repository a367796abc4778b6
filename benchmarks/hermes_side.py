"""The other side of `sessions.py`, run by the interpreter of an environment that has hermes-agent.

Writes each session with one call to SessionDB (its own bulk writer), then searches with its own full-text search.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from corpus import Corpus
from hermes_state import SessionDB


def main() -> None:
    messages = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        db = SessionDB(Path(folder) / "state.db")
        sessions, text, taken = Corpus().sessions(messages), 0, 0.0
        for session in sessions:
            text += sum(len(message["content"].encode()) for message in session["messages"])
            start = time.perf_counter()
            db.create_session(session["id"], "cli", user_id=session["user"])
            db.replace_messages(session["id"], session["messages"])
            taken += time.perf_counter() - start
        times = []
        for question in Corpus().questions(50):
            start = time.perf_counter()
            db.search_messages(question.rstrip("?"), limit=10)
            times.append(1000 * (time.perf_counter() - start))
        db.close()
        disk = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    print(json.dumps({"seconds": taken, "text": text, "disk": disk, "p95": sorted(times)[int(0.95 * len(times))]}))


if __name__ == "__main__":
    main()
