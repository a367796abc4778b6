"""A provider whose client lives in an environment of its own and runs as a process there: what it requires does not
meet what Reverie requires. The process reads its settings in the first line, then answers one request on each."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from select import select
from typing import Any

from reverie.core.errors import BadSetting, NotReached
from reverie.memory.targets import HomePlaces

SECONDS = 120.0


def started_as(title: str, script: str, address: str, where: HomePlaces, owner: str) -> ProcessProvider:
    """By a JSON file with `python`, the interpreter that has the client, and whatever the script wants to know."""
    path = where.place(address or f"~/.reverie/{title.lower()}.json")
    try:
        told = json.loads(path.read_text("utf-8"))
        return ProcessProvider(title, script, str(told["python"]), {"user_id": owner, **told})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadSetting(
            f"{path} cannot be read: {error!r}.", expected='a file such as {"python": "/venv/bin/python", …}'
        ) from error


class ProcessProvider:
    def __init__(self, title: str, script: str, python: str, settings: Mapping[str, Any]) -> None:
        self._title = title
        self._command = ["env", "MEM0_TELEMETRY=False", python, "-P", str(Path(__file__).with_name(script))]
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
