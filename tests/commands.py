"""The real command in a process of its own that starts in milliseconds.

A process that has imported what commands import forks for each of them. `python -m tests.commands` is that process; its
standard input is a socket, on which it is given words, environment, folder and three files, and answers exit codes.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
READ_AT_START = ("PYTHON", "LC_", "LANG")  # what an interpreter looks at once, when it starts


def run_command(
    words: Sequence[str], *, environment: Mapping[str, str], folder: Path, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """`reverie WORDS`, as `subprocess.run` would run it."""
    request = json.dumps([list(words), dict(environment), str(folder)]).encode()
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        server = _server()
        socket.send_fds(server, [len(request).to_bytes(4)], [given.fileno(), out.fileno(), err.fileno()])
        server.sendall(request)
        code = int.from_bytes(_received(server, 4), signed=True)
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode())
    return subprocess.CompletedProcess(list(words), code, *said)


def starts_alike(environment: Mapping[str, str]) -> bool:
    """Whether an interpreter started with this environment would be like the one that forks."""
    known = {**os.environ, **environment}
    return all(known[name] == os.environ.get(name) for name in known if name.startswith(READ_AT_START))


@cache
def _server() -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen([sys.executable, "-m", "tests.commands"], cwd=ROOT, stdin=theirs)

    def stop() -> None:
        ours.close()
        process.wait()

    atexit.register(stop)
    return ours


def _received(connection: socket.socket, size: int) -> bytes:
    got = b""
    while len(got) < size:
        piece = connection.recv(size - len(got))
        if not piece:
            raise EOFError("the process that runs commands is gone")
        got += piece
    return got


# ---- the process that forks ------------------------------------------------------------------------------------------


def main() -> None:
    connection = socket.socket(fileno=os.dup(0))
    _import_what_commands_import()
    while True:
        size, files, _, _ = socket.recv_fds(connection, 4, 3)
        if not size:
            return
        words, environment, folder = json.loads(_received(connection, int.from_bytes(size)))
        child = os.fork()
        if child == 0:
            connection.close()
            _become(words, environment, folder, files)
        for file in files:
            os.close(file)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(status.to_bytes(4, signed=True))


def _import_what_commands_import() -> None:
    from reverie.cli import COMMANDS

    for name in COMMANDS:
        if name != "serve":  # brings threads along
            importlib.import_module(f"reverie.cli.{name}")
    for name in (
        "storage.database.engine",
        "storage.changes.history",
        "storage.changes.proposals",
        "storage.transcripts.sessions",
        "storage.transcripts.sources",
        "storage.index.words",
        "dreams.runner",
        "dreams.dreaming",
        "dreams.curators.built_in",
        "changes.queue",
        "changes.land",
        "changes.relations",
        "app",
        "memory.library",
        "skills.library",
        "transcripts.library",
    ):
        importlib.import_module(f"reverie.{name}")


def _become(words: list[str], environment: dict[str, str], folder: str, files: Sequence[int]) -> None:
    code = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        time.tzset()
        random.seed()
        sys.argv, sys.path[0] = ["reverie", *words], folder
        from reverie.cli import main as reverie

        reverie()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:  # noqa: BLE001 - what an interpreter does with what nobody caught
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
