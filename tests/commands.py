"""A Python process that starts in milliseconds: the real command, or a program of a test.

A process that has imported everything and lived one small night forks for each of them. `python -m tests.commands` is
that process; its standard input is a socket, on which it is given words, environment, folder and four files: the
child's standard input, output and error, and a socket that is told its process id and, at its end, its status.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import random
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
READ_AT_START = ("PYTHON", "LC_", "LANG")  # what an interpreter looks at once, when it starts
WITHOUT_THREADS = {"OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}  # they would not survive a fork
NUMBER = 4  # bytes
SELDOM_IMPORTED = (
    "pytest",
    "tests.faults.scenarios",
    "uvicorn",
    "reverie.server.app",
    "reverie.storage.dreams.durable",
    "reverie.storage.search_index",
    "reverie.storage.search_index",
    "reverie.storage.dreams.leases",
    "reverie.storage.stores",
    "reverie.storage.dreams.asker",
    "reverie.search.finder",
    "reverie.dreams.dreaming",
    "reverie.llm.clients.requests",
    "pydantic_ai.models.openai",
    "pydantic_ai.providers.openai",
)


class Process:
    """What `subprocess.Popen([sys.executable, *words], stdout=PIPE, stderr=PIPE, text=True)` would be.

    The words are those of an interpreter: `-c CODE`, `-m MODULE`, and what follows. Who reads nothing of `stdout` has
    to call `communicate` or `wait` after less than 64 KB.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        stdin: str = "",
    ) -> None:
        request = json.dumps([list(words), dict(environment or os.environ), str(folder or Path.cwd())]).encode()
        self._status, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the process has been heard
        reading, writing = os.pipe()
        self.stdout: IO[str] = os.fdopen(reading, encoding="utf-8")
        self.returncode: int | None = None
        with tempfile.TemporaryFile() as given, theirs:
            given.write(stdin.encode())
            given.seek(0)
            files = [given.fileno(), writing, self._errors.fileno(), theirs.fileno()]
            socket.send_fds(_server(), [len(request).to_bytes(NUMBER)], files)
            _server().sendall(request)
        os.close(writing)
        self.pid = int.from_bytes(_received(self._status, NUMBER))

    def poll(self) -> int | None:
        return self.wait() if self.returncode is not None or select.select([self._status], [], [], 0)[0] else None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._status.settimeout(timeout)
            self.returncode = int.from_bytes(_received(self._status, NUMBER), signed=True)
            self._status.close()
        return self.returncode

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self) -> tuple[str, str]:
        """What it said, once it has ended. Asked a second time, nothing."""
        if self.stdout.closed:
            return "", ""
        with self.stdout, self._errors:
            said = self.stdout.read()
            self.wait()
            self._errors.seek(0)
            return said, self._errors.read().decode()


def run_python(
    words: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """`python WORDS`, as `subprocess.run` would run it."""
    process = Process(words, environment=environment, folder=folder, stdin=stdin)
    said = process.communicate()
    return subprocess.CompletedProcess(list(words), process.wait(), *said)


def run_command(
    words: Sequence[str], *, environment: Mapping[str, str], folder: Path, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """`reverie WORDS`, as `subprocess.run` would run it."""
    return run_python(["-m", "reverie", *words], environment=environment, folder=folder, stdin=stdin)


def starts_alike(environment: Mapping[str, str]) -> bool:
    """Whether an interpreter started with this environment would be like the one that forks."""
    known = {**os.environ, **environment}
    return all(known[name] == os.environ.get(name) for name in known if name.startswith(READ_AT_START))


@cache
def _server() -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "tests.commands"]
        process = subprocess.Popen(command, cwd=ROOT, stdin=theirs, env={**os.environ, **WITHOUT_THREADS})

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
            raise EOFError("the process that forks is gone")
        got += piece
    return got


# ---- the process that forks ------------------------------------------------------------------------------------------


def main() -> None:
    connection = socket.socket(fileno=os.dup(0))
    _get_ready()
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: dict[int, socket.socket] = {}
    while True:
        if woken in select.select([connection, woken], [], [])[0]:
            os.read(woken, 512)
            _bury(children)
            continue
        size, files, _, _ = socket.recv_fds(connection, NUMBER, 4)
        if not size:
            return
        words, environment, folder = json.loads(_received(connection, int.from_bytes(size)))
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for one in (connection, *children.values()):
                one.close()
            for file in (woken, waking, files.pop()):
                os.close(file)
            _become(words, environment, folder, files)
        children[child] = socket.socket(fileno=files.pop())
        children[child].sendall(child.to_bytes(NUMBER))
        for file in files:
            os.close(file)


def _bury(children: dict[int, socket.socket]) -> None:
    for child in list(children):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            with children.pop(child) as told:
                told.sendall(os.waitstatus_to_exitcode(status).to_bytes(NUMBER, signed=True))


def _get_ready() -> None:
    """Import what commands and servers import, and live a night without a search index, whose thread would stay: that
    fills what is read and compiled once."""
    from reverie.app import open_home
    from reverie.cli import MODULES
    from reverie.memory.operation import Add
    from reverie.text.embedding import embed
    from tests.compiled import share_compiled_statements
    from tests.dreaming import files, session, thought_over

    for module in (*MODULES.values(), *SELDOM_IMPORTED):
        importlib.import_module(module)
    share_compiled_statements()
    words = "Please always answer me in metric units from now on."
    thought_over(files([]), [session(1, [words])])
    embed([words])
    with tempfile.TemporaryDirectory() as folder, open_home(Path(folder) / "home", settings={"owner": "ann"}) as home:
        home.sessions.add({"id": "x", "messages": [{"role": "user", "content": words}]})
        list(home.memory.entries("home"))
        home.review.write("home", "MEMORY.md", [Add("MEMORY.md", words)])
        home.history.changes()
    threads = Path("/proc/self/task")
    assert not threads.exists() or len(list(threads.iterdir())) == 1, "a thread is left: no child would have it"
    gc.collect()
    gc.freeze()


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
        tempfile.tempdir = None
        random.seed()
        how, what, *rest = words
        sys.argv, sys.path[0] = [what if how == "-m" else how, *rest], folder
        if how == "-c":
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
        elif what == "reverie":
            from reverie.cli import main as reverie

            reverie()
        else:
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        if isinstance(ended.code, str):
            sys.stderr.write(ended.code)
    except BaseException:  # noqa: BLE001 - what an interpreter does with what nobody caught
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
