"""How long another tenant's write takes while one tenant imports a large transcript, beside its idle time.

    python benchmarks/busy_import.py [MEGABYTES] [CHARACTERS OF A MESSAGE]      default 40 and 750, on SQLite
    REVERIE_DATABASE=postgresql://user@host/name python benchmarks/busy_import.py

One server; two workspaces. The second writes a memory every few milliseconds: while nothing else goes on, while the
import runs, and after it. Prints medians, 95th percentiles and worst writes, and their ratios; ends with an error if
one of them is above three.
"""

from __future__ import annotations

import http.client
import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from reverie.app import open_home
from reverie.core.scope import Permission

WRITES = 150
WANTED = 3.0
WORDS = "We moved the staging database to the new host on Tuesday, and the nightly export ran twice. "


class Tenant:
    def __init__(self, port: int, key: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self.key = key
        self.count = 0

    def call(self, method: str, path: str, body: bytes) -> dict[str, object]:
        self.connection.request(method, path, body, {"x-api-key": self.key, "content-type": "application/json"})
        answer = self.connection.getresponse()
        told = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {told[:200]!r}")
        return dict(json.loads(told))

    def write(self, store: object) -> float:
        self.count += 1
        body = {"path": f"/notes/{self.count}.md", "content": f"Answer {self.count}: short, the command first."}
        began = time.perf_counter()
        self.call("POST", f"/v1/memory_stores/{store}/memories", json.dumps(body).encode())
        return time.perf_counter() - began


def transcript(megabytes: int, length: int) -> bytes:
    words = WORDS * -(-length // len(WORDS))
    count = megabytes * 1_000_000 // (len(words) + 60)
    messages = [{"role": ("user", "assistant")[n % 2], "content": f"{n}: {words}"} for n in range(count)]
    return json.dumps({"id": "big", "messages": messages}).encode()


def main() -> None:
    asked = [int(word) for word in sys.argv[1:]]
    body = transcript(*(asked + [40, 750][len(asked) :]))
    with tempfile.TemporaryDirectory() as folder:
        with open_home(Path(folder, "home")) as home:
            scopes = frozenset(Permission) - {Permission.ADMIN}
            keys = [home.tenants.keys(name).create("bench", scopes).secret for name in ("importing", "writing")]
        command = [
            sys.executable,
            "-m",
            "reverie",
            "serve",
            "--port",
            "0",
            "--home",
            f"{folder}/home",
            "--dreams",
            "0",
            "--rate",
            "100000",
        ]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert server.stdout is not None
            port = int(re.findall(r":(\d+)", server.stdout.readline())[-1])
            _compare(Tenant(port, keys[0]), Tenant(port, keys[1]), body)
        finally:
            server.terminate()
            server.wait()


def _compare(importer: Tenant, writer: Tenant, body: bytes) -> None:
    store = writer.call("POST", "/v1/memory_stores", b'{"name": "Notes"}')["id"]
    for _ in range(20):
        writer.write(store)
    idle = list(_written(writer, store, WRITES))
    told: dict[str, object] = {}
    thread = threading.Thread(
        target=lambda: told.update(importer.call("POST", "/v1/reverie/sessions/import?filename=big.json", body))
    )
    began = time.perf_counter()
    thread.start()
    time.sleep(0.5)
    busy = list(_written(writer, store, during=thread))
    took = time.perf_counter() - began
    idle += _written(writer, store, WRITES)  # others may have begun or ended something meanwhile
    print(f"import of {len(body) / 1e6:.0f} MB: {told['turns_added']:,} turns in {took:.1f} s, {len(busy)} writes")
    ratios = []
    for name, pick in (("median", statistics.median), ("p95", lambda t: sorted(t)[int(len(t) * 0.95)]), ("worst", max)):
        ratios.append(pick(busy) / pick(idle))
        print(f"{name:7} idle {pick(idle) * 1000:7.1f} ms  busy {pick(busy) * 1000:7.1f} ms  ×{ratios[-1]:.1f}")
    sys.exit(max(ratios) > WANTED)


def _written(writer: Tenant, store: object, count: int = 0, during: threading.Thread | None = None) -> Iterator[float]:
    while during.is_alive() if during else count > 0:
        yield writer.write(store)
        time.sleep(0.01)
        count -= 1


if __name__ == "__main__":
    main()
