"""Peak memory and time of adding one enormous transcript, for each shape a file can have.

    python benchmarks/big_files.py [MEGABYTES] [SHAPE ...]      default 500, every shape

Each shape is added by `reverie sessions add` in a process of its own, into a new home. The bound is 600 MB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

BOUND_MEGABYTES = 600
WORDS = "We moved the staging database to the new host on Tuesday, and the nightly export ran twice. "


def _message(number: int) -> str:
    role = "user" if number % 2 == 0 else "assistant"
    return json.dumps({"role": role, "content": f"{number}: {WORDS * 8}"})


def one_object(_: int) -> Iterator[str]:
    """One JSON object with a list of messages."""
    yield '{"id": "big", "messages": ['
    yield from _separated(_message)
    yield "]}"


def list_of_one(size: int) -> Iterator[str]:
    """A list with one session in it."""
    yield "["
    yield from one_object(size)
    yield "]"


def one_line(size: int) -> Iterator[str]:
    """JSON Lines with one line."""
    yield from one_object(size)
    yield "\n"


def claude_code(_: int) -> Iterator[str]:
    """Claude Code, a line for each message."""
    for number in _endless():
        role = "user" if number % 2 == 0 else "assistant"
        line = {
            "type": role,
            "sessionId": "big",
            "uuid": f"u{number}",
            "cwd": "/w",
            "message": {"role": role, "content": f"{number}: {WORDS * 8}"},
        }
        yield json.dumps(line) + "\n"


def chatgpt(_: int) -> Iterator[str]:
    """ChatGPT's export with one conversation."""
    yield '[{"conversation_id": "big", "mapping": {"root": {"parent": null, "children": [], "message": null}'
    for number in _endless():
        node = {
            "parent": f"n{number - 1}" if number else "root",
            "children": [],
            "message": {
                "author": {"role": "user"},
                "content": {"content_type": "text", "parts": [f"{number}: {WORDS * 8}"]},
            },
        }
        yield f', "n{number}": {json.dumps(node)}'
    yield f'}}, "current_node": "n{number}"}}]'


def one_string(_: int) -> Iterator[str]:
    """One message of that size, with a character that takes four bytes in memory."""
    yield '{"id": "big", "messages": [{"role": "user", "content": "😀'
    for _number in _endless():
        yield WORDS * 10
    yield '"}]}'


def huge_turns(size: int) -> Iterator[str]:
    """Claude Code, ten lines that are a tenth of the file each."""
    for number in range(10):
        role = "user" if number % 2 == 0 else "assistant"
        line = {"parentUuid": None, "isSidechain": False, "type": role, "sessionId": "big", "uuid": f"u{number}"}
        yield json.dumps(line)[:-1] + f', "message": {{"role": "{role}", "content": "'
        for _part in range(size // 10 // len(WORDS * 100)):
            yield WORDS * 100
        yield '"}}\n'


def empty_lists(_: int) -> Iterator[str]:
    """Nothing but brackets."""
    yield '{"id": "big", "messages": [{"role": "user", "content": "hi"}'
    for _number in _endless():
        yield ",[]" * 300
    yield "]}"


SHAPES: dict[str, tuple[Callable[[int], Iterator[str]], str]] = {
    "one_object": (one_object, "big.json"),
    "list_of_one": (list_of_one, "big.json"),
    "one_line": (one_line, "big.jsonl"),
    "claude_code": (claude_code, "big.jsonl"),
    "chatgpt": (chatgpt, "conversations.json"),
    "one_string": (one_string, "big.json"),
    "huge_turns": (huge_turns, "big.jsonl"),
    "empty_lists": (empty_lists, "big.json"),
}
_stop = False


def _endless() -> Iterator[int]:
    number = 0
    while not _stop:
        yield number
        number += 1


def _separated(make: Callable[[int], str]) -> Iterator[str]:
    for number in _endless():
        yield ("," if number else "") + make(number)


def generate(path: Path, make: Callable[[int], Iterator[str]], size: int) -> None:
    """What the shape begins, until the size is reached; then its end."""
    global _stop  # noqa: PLW0603
    _stop, written = False, 0
    with path.open("w", encoding="utf-8") as file:
        for piece in make(size):
            written += file.write(piece)
            _stop = written >= size


def main() -> None:
    words = sys.argv[1:]
    megabytes = int(words.pop(0)) if words and words[0].isdigit() else 500
    worst = 0.0
    for shape in words or SHAPES:
        make, name = SHAPES[shape]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            generate(path, make, megabytes * 1_000_000)
            reader = ["--reader", "plain"] if shape == "empty_lists" else []
            command = [sys.executable, "-m", "reverie", "sessions", "add", str(path), "--json", *reader]
            began = time.monotonic()
            process = subprocess.Popen([*command, "--home", f"{folder}/home"], stdout=subprocess.PIPE, text=True)
            said = process.stdout.read() if process.stdout else ""
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        peak = used.ru_maxrss / 1024
        worst = max(worst, peak)
        report = next(iter(json.loads(said).values()))
        seconds = time.monotonic() - began
        print(
            f"{shape:12} {megabytes} MB  peak {peak:4.0f} MB  {seconds:5.0f} s  {report['turns']:,} turns", flush=True
        )
    print(f"worst {worst:.0f} MB, bound {BOUND_MEGABYTES} MB")
    sys.exit(worst > BOUND_MEGABYTES)


if __name__ == "__main__":
    main()
