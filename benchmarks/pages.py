"""What the pages of `reverie web` cost on a small home and on a big one, in one run.

    python benchmarks/pages.py [--small 100,5,20] [--big 10000,500,2000] [--rounds 40] [--folder FOLDER]

The numbers are sessions, proposals that wait, and changes of memory. Both homes are asked in turn, in this process;
milliseconds are of this process's CPU: the median and the 95th percentile of each page, and how many times the big
home's is the small one's.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

os.environ["REVERIE_SOURCES"] = "added"  # nobody's own transcripts

from starlette.testclient import TestClient

from reverie.app import Home, open_home
from reverie.changes.ledger import Change, Edit, Grounds, Moves, Via
from reverie.changes.proposal import Suggestion
from reverie.changes.queue import Waiting
from reverie.core.scope import Origin
from reverie.memory.operation import Add, entry_hash
from reverie.transcripts.session import Evidence
from reverie.web.app import Entrance, web_application

NOW = datetime(2026, 5, 12, 12, 0, tzinfo=UTC)
TOPICS = ("staging port", "release notes", "invoice layout", "boat varnish", "standup hour", "test database")


@contextmanager
def browsed(folder: Path, sessions: int, proposals: int, changes: int) -> Iterator[tuple[TestClient, list[str]]]:
    """A home with so much in it, a browser that was let in, and the addresses to ask for."""
    hermes = folder / "hermes" / "memories"
    made = hermes.exists()
    hermes.mkdir(parents=True, exist_ok=True)
    os.environ["HERMES_HOME"] = str(folder / "hermes")
    with open_home(folder / "home", now=NOW, settings={"owner": "ann"}) as home:
        if not made:
            (hermes / "MEMORY.md").write_text("Standup is at nine.")
            home.memory.touch_all()
            _sessions(home, folder / "sessions.jsonl", sessions)
            _changes(home, hermes / "MEMORY.md", changes)
            _proposals(home, proposals, sessions)
            home.index.catch_up()
        waiting = home.review.waiting(every=True)[0]
        entrance = Entrance(home)
        client = TestClient(web_application(home, entrance), base_url="http://127.0.0.1:8300")
        client.get(f"/?token={entrance.token}")
        change = home.history.changes(limit=1)[0].id
        plain = [
            "/",
            "/?every=true",
            "/?every=true&project=shop-1",
            "/?every=true&night=drm_1",
            "/nights",
            "/memory",
            "/rules",
            "/search?q=staging+port",
            "/sessions",
        ]
        plain += ["/status", "/costs"]
        document = "/memory/document?path=hermes/MEMORY.md"
        yield client, [*plain, f"/proposals/{waiting.id}", document, f"/changes/{change}", "/session?id=s5"]


def _sessions(home: Home, file: Path, number: int) -> None:
    with file.open("w", encoding="utf-8") as out:
        for at in range(number):
            said = f"For project {at % 40} the {TOPICS[at % len(TOPICS)]} is {4000 + at} from now on."
            started = NOW - timedelta(minutes=10 * (number - at))
            head = {"id": f"s{at}", "user": "ann", "title": f"About {at}", "started_at": started.isoformat()}
            turns = [{"role": "user", "content": said}, {"role": "assistant", "content": f"Noted: {said}"}]
            out.write(json.dumps(head | {"messages": turns}) + "\n")
    home.sessions.add(file)


def _changes(home: Home, file: Path, number: int) -> None:
    """Changes as if Hermes had written them, each replacing what the one before had added."""
    scope, history, target = home.owned, home.review.records, home.memory.target("hermes").key
    before = file.read_bytes()
    for at in range(number):
        text = f"The {TOPICS[at % len(TOPICS)]} is {at}."
        after = f"Standup is at nine.\n§\n{text}".encode()
        known = history.known(scope, target, "MEMORY.md")
        gone = tuple(one.id for one in known.entries[1:]) if known else ()
        grounds = Grounds("outside", Via.OUTSIDE)
        edits = (Edit("MEMORY.md", before, after),)
        change = Change(home.ids.new("chg"), target, "MEMORY.md", edits, grounds, NOW, form="hermes")
        history.settle(scope, change, {"MEMORY.md": Moves((entry_hash(text),), (), gone)})
        before = after
    file.write_bytes(before)


def _proposals(home: Home, number: int, sessions: int) -> None:
    evidence = (Evidence("s5", 1, "the test database is 4005", Origin.OWNER),)
    add = Suggestion("hermes", "MEMORY.md", (Add("MEMORY.md", "The test database is 4005."),), evidence=evidence)
    proposed = home.review.propose(add, land=False)
    assert isinstance(proposed, Waiting), proposed
    first = proposed.proposal
    for at in range(1, number):
        session = f"s{at % sessions}"
        quote = f"the {TOPICS[at % sessions % len(TOPICS)]} is {4000 + at % sessions}"
        said = (Evidence(session, 1, quote, Origin.OWNER),)
        operations = (Add("MEMORY.md", f"{quote.capitalize()} in project {at}."),)
        wanted = replace(first.suggestion, operations=operations, evidence=said, dream=f"drm_{1 + at // 10}")
        made = replace(first, id=home.ids.new("prop"), suggestion=wanted, project=f"shop-{at % 40}")
        home.review.proposals.put(home.owned, made)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", default="100,5,20")
    parser.add_argument("--big", default="10000,500,2000")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--folder", help="Keep the homes here, and use those that are here already.")
    asked = parser.parse_args()
    sizes = [tuple(map(int, text.split(","))) for text in (asked.small, asked.big)]
    with ExitStack() as stack:
        folder = Path(asked.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        homes = [stack.enter_context(browsed(folder / str(at), *size)) for at, size in enumerate(sizes)]
        names = homes[0][1]
        taken: list[list[list[float]]] = [[[] for _ in names] for _ in homes]
        for round_number in range(asked.rounds + 2):
            for at in range(len(names)):
                for which, (client, addresses) in enumerate(homes):
                    began = time.process_time()
                    answer = client.get(addresses[at])
                    spent = (time.process_time() - began) * 1000
                    assert answer.status_code == 200, f"{addresses[at]}: {answer.status_code} {answer.text[:500]}"
                    if round_number >= 2:
                        taken[which][at].append(spent)
    print(f"{'page':46} {'small: median':>14} {'p95':>7} {'big: median':>13} {'p95':>7} {'times (p95)':>12}")
    worst = 0.0
    for at, name in enumerate(names):
        (small, small95), (big, big95) = (_of(taken[which][at]) for which in (0, 1))
        worst = max(worst, big95 / small95)
        print(f"{name[:46]:46} {small:14.1f} {small95:7.1f} {big:13.1f} {big95:7.1f} {big95 / small95:12.2f}")
    print(f"The worst page costs {worst:.2f} times as much on the big home.")
    return 0 if worst <= 2 else 1


def _of(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    return ordered[len(ordered) // 2], ordered[math.ceil(len(ordered) * 0.95) - 1]


if __name__ == "__main__":
    sys.exit(main())
