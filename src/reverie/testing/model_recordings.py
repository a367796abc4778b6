"""Answers kept in a folder, one file per request: written by whoever plays the model, replayed later by a test.

    with serving(Queue(folder, wait=300)) as server:       # writes <hash>.request.md, waits for <hash>.answer.txt
    with serving(Queue(folder, wait=0)) as server:         # the same, but a request without an answer gets 404 at once
    with serving(recordings := Recordings(folder)) as server:
        ...
    assert not recordings.missing, recordings.advice       # a request without a recording got 404

`<hash>` depends on the system text and the messages only: not on the wire, the model, the schema or cache marks. What
the built-in reader noticed is left out of it: an answer given from the sessions stays one when it notices more or less.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from reverie.core.ids import canonical, sha256
from reverie.testing.model_plays import OpenConnection, Refuses, Says
from reverie.testing.model_wires import ReceivedRequest

REQUEST, ANSWER = ".request.md", ".answer.txt"
_POLL = 0.1  # seconds between two looks at the folder
_NOTICED = re.compile(r"^## Noticed by the built-in reader.*\n(?:\n|c\d+ .*\n|    .*(?:\n|\Z))*", re.MULTILINE)
_GAP = re.compile(r"\n{2,}")


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages a model is shown, in the same form for both wires: the system text, then (role, text) for each
    message."""

    system: str
    messages: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        """The name of its files: 16 hex digits."""
        shown = [(role, _GAP.sub("\n\n", _NOTICED.sub("\n", text)).strip()) for role, text in self.messages]
        return sha256(canonical([self.system, shown]))[:16]

    def markdown(self, schema: Mapping[str, Any] | None = None) -> str:
        """Each of our headings carries the key: text inside a message cannot know it, so it cannot imitate one."""
        key, count = self.key, len(self.messages)
        sections = [(f"System prompt [{key}]", self.system)] if self.system else []
        for number, (role, text) in enumerate(self.messages, 1):
            sections.append((f"Message {number} of {count}: {role} [{key}]", text))
        if schema is not None:
            sections.append((f"JSON schema of the answer [{key}]", json.dumps(schema, ensure_ascii=False)))
        head = f"Write the answer, and nothing else, to `{key}{ANSWER}` in this folder.\n"
        return "\n".join([head, *(f"# {heading}\n\n{text}\n" for heading, text in sections)])


def conversation(asked: ReceivedRequest) -> Conversation:
    """Read a request of either wire. Neighbours of one role become one message: the wires split them differently."""
    system, messages = [_text(asked.body.get("system"))], list[tuple[str, str]]()
    for message in asked.body.get("messages") or []:
        role, text = str(message.get("role")), _text(message.get("content"))
        if role in ("system", "developer"):
            system.append(text)
        elif messages and messages[-1][0] == role:
            messages[-1] = role, f"{messages[-1][1]}\n\n{text}"
        else:
            messages.append((role, text))
    return Conversation("\n\n".join(filter(None, system)), tuple(messages))


class Recordings:
    """Replay: answer from the folder at once. A request without a recording is answered 404 and noted in `missing`."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.used: list[str] = []
        self.missing: list[str] = []

    def perform(self, asked: ReceivedRequest, line: OpenConnection) -> None:
        key = conversation(asked).key
        answer = _read_answer(self.folder, key)
        (self.used if answer else self.missing).append(key)
        (Says(answer) if answer else Refuses(404, message=_advice(self.folder, [key]))).perform(asked, line)

    @property
    def advice(self) -> str:
        """Say what is missing and how to record it; empty if nothing is missing."""
        return _advice(self.folder, sorted(set(self.missing))) if self.missing else ""

    @property
    def unused(self) -> list[str]:
        """Recordings that nobody has asked for so far. After a whole run these can be deleted."""
        recorded = (path.name.removesuffix(ANSWER) for path in self.folder.glob(f"*{ANSWER}"))
        return sorted(set(recorded) - set(self.used))


class Queue:
    """Write each request to the folder and answer it from the file that somebody puts there; 503 after `wait` seconds.
    With `wait=0` it is 404 at once, which nobody asks again.

    A request that has an answer already gets that one. An empty answer file counts as none. A file that is still
    growing is left alone until it has stayed the same between two looks (not with `wait=0`, which looks once).
    """

    def __init__(self, folder: str | Path, wait: float = 300.0) -> None:
        self.folder = Path(folder)
        self.wait = wait
        self.folder.mkdir(parents=True, exist_ok=True)

    def perform(self, asked: ReceivedRequest, line: OpenConnection) -> None:
        shown, until = conversation(asked), time.monotonic() + self.wait
        key = shown.key
        # Whoever watches the folder sees the whole file or none.
        path = self.folder / f"{key}{REQUEST}"
        part = path.with_name(f".{path.name}.{token_hex(4)}.part")
        part.write_text(shown.markdown(asked.schema), "utf-8", "backslashreplace", newline="")
        part.replace(path)
        answer = _read_answer(self.folder, key)
        while (left := until - time.monotonic()) > 0:
            if not line.wait(min(_POLL, left)):
                return
            before, answer = answer, _read_answer(self.folder, key)
            if answer and answer == before:
                break
        unanswered = f"{self.folder / key}{REQUEST} has no answer yet. Write it to {key}{ANSWER} and ask again."
        (Says(answer) if answer else Refuses(503 if self.wait else 404, message=unanswered)).perform(asked, line)

    @property
    def pending(self) -> list[Path]:
        """The request files that still need an answer."""
        requests = sorted(self.folder.glob(f"*{REQUEST}"))
        return [path for path in requests if not _read_answer(self.folder, path.name.removesuffix(REQUEST))]


def _text(content: object) -> str:
    """Text of a string or of blocks, without cache marks and outer blanks. A block that is no text stays as JSON."""
    if isinstance(content, list):
        return "\n\n".join(filter(None, map(_text, content)))
    if isinstance(content, dict):
        if content.get("type") == "text":
            return _text(content.get("text"))
        return canonical({name: value for name, value in content.items() if name != "cache_control"}).decode(
            "utf-8", "replace"
        )
    return content.strip() if isinstance(content, str) else ""


def _read_answer(folder: Path, key: str) -> str:
    path = folder / f"{key}{ANSWER}"
    return path.read_text("utf-8", "replace").removesuffix("\n") if path.is_file() else ""


def _advice(folder: Path, keys: list[str]) -> str:
    return (
        f"No recording in {folder} for {', '.join(keys)}: the prompt or the Brief has changed since the recording. "
        f"Run the same again against: python -m reverie.testing.model_server --queue {folder} --wait 0, "
        f"then answer each *{REQUEST} in its *{ANSWER}."
    )
