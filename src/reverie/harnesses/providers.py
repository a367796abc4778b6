"""Broader memories beside the files agents read, behind the port of `reverie.memory.targets`.

`local`, or `local=/path/to/memory.db`: a file of our own. Words and meaning say what is near.

Mem0 and Hindsight by their own clients. A client lives in an environment of its own and runs as a process there
(`provider_process.py`): what it requires does not meet what Reverie requires.

Mem0, by its open-source library: `mem0=/path/to/mem0.json`, which says

    {"python": "/path/to/venv/bin/python", "config": {…}}

`config` is what `mem0.Memory.from_config` takes: where vectors are kept and who embeds. Its telemetry is switched off.
Texts are kept as they are (`infer=False`): no model rewrites them. (Seen in mem0ai 2.2.1.)

Hindsight, by a server that runs already: `hindsight=/path/to/hindsight.json`, which says

    {"python": "/path/to/venv/bin/python", "base_url": "http://127.0.0.1:8888", "bank_id": "ann", "api_key": "…"}

Its server rewrites what it is given into facts. `bank_id` is the owner's name if not said. (Seen in hindsight-client
1.1.0.)
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from select import select
from typing import Any

from reverie.core.errors import BadSetting, NotReached
from reverie.core.ids import sha256
from reverie.memory.targets import HomePlaces

SECONDS = 120.0


def _started_as(title: str, address: str, where: HomePlaces, owner: str) -> ProcessProvider:
    """By a JSON file with `python`, the interpreter that has the client, and whatever the script wants to know."""
    path = where.place(address or f"~/.reverie/{title.lower()}.json")
    try:
        told = json.loads(path.read_text("utf-8"))
        return ProcessProvider(title, str(told["python"]), {"user_id": owner, **told})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadSetting(
            f"{path} cannot be read: {error!r}.", expected='a file such as {"python": "/venv/bin/python", …}'
        ) from error


class ProcessProvider:
    def __init__(self, title: str, python: str, settings: Mapping[str, Any]) -> None:
        self._title = title
        script = str(Path(__file__).with_name("provider_process.py"))
        self._command = ["env", "MEM0_TELEMETRY=False", python, "-P", script, title.lower()]
        self._settings = settings
        self._process: subprocess.Popen[str] | None = None

    def search(self, question: str, limit: int) -> list[tuple[str, str]]:
        return [(str(key), str(text)) for key, text in self._ask({"search": question, "limit": limit})]

    def add(self, text: str) -> str:
        return str(self._ask({"add": text}))

    def _ask(self, request: Mapping[str, Any]) -> Any:
        try:
            process = self._started()
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(f"{json.dumps(request)}\n")
            process.stdin.flush()
            ready = select([process.stdout], [], [], SECONDS)[0]
            answer = json.loads(process.stdout.readline() if ready else "")
        except (OSError, ValueError) as error:
            self.close()
            raise NotReached(f"{self._title} did not answer.", next_step="Run its client by hand.") from error
        if "error" in answer:
            raise NotReached(f"{self._title}: {answer['error']}.")
        return answer["answer"]

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            assert self._process.stdin is not None
            self._process.stdin.write(f"{json.dumps(self._settings)}\n")
        return self._process

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def __del__(self) -> None:
        self.close()


mem0_provider, hindsight_provider = partial(_started_as, "Mem0"), partial(_started_as, "Hindsight")

LOCAL_FILE = "broad-memory.db"
NEAR = 0.35


def local_provider(address: str, where: HomePlaces, owner: str) -> LocalProvider:
    return LocalProvider(where.place(address) if address else where.home / LOCAL_FILE)


class LocalProvider:
    def __init__(self, path: Path) -> None:
        self._path = path

    def search(self, question: str, limit: int) -> list[tuple[str, str]]:
        from reverie.text.embedding import embed
        from reverie.text.tokens import tokens

        if not self._path.exists():
            return []
        with self._opened() as database:
            rows = database.execute("SELECT id, text FROM memories ORDER BY rowid").fetchall()
        if not rows:
            return []
        wanted = set(tokens(question))
        vectors = embed([question, *(text for _, text in rows)])
        likeness = vectors[1:] @ vectors[0]
        shared = [len(wanted & set(tokens(text))) / max(1, len(wanted)) for _, text in rows]
        scored = sorted(((float(likeness[at]) + shared[at], -at) for at in range(len(rows))), reverse=True)
        return [rows[-at] for score, at in scored if score >= NEAR][:limit]

    def add(self, text: str) -> str:
        """Twice is once."""
        key = sha256(text.encode())[:16]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._opened() as database:
            database.execute("INSERT OR IGNORE INTO memories (id, text) VALUES (?, ?)", (key, text))
        return key

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path)) as database, database:
                database.execute("CREATE TABLE IF NOT EXISTS memories (id TEXT PRIMARY KEY, text TEXT NOT NULL)")
                yield database
        except sqlite3.Error as error:
            raise NotReached(f"{self._path} cannot be used: {error}.", next_step="Mend it or move it away.") from error
