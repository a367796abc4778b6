"""`reverie bridge demo`: a managed side and a home of their own, in a folder that is thrown away.

The managed side is a real server on a free port of this machine, spoken to over HTTP like any other.
"""

from __future__ import annotations

import json
import logging
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.core.clock import SystemClock
from reverie.core.errors import NotReached
from reverie.core.keys import Permission

if TYPE_CHECKING:
    from reverie.app import Home

PAGES = {
    "/team/deploy.md": "# Deploy\n\n- We deploy on Fridays.\n- Staging is db1.internal.\n",
    "/policies/refunds.md": "# Refunds\n\n- Refunds are possible within 14 days.\n",
}
TALK = (
    "From now on we deploy on Tuesdays, no longer on Fridays.",
    "From now on refunds are possible within 30 days.",
    "Remember that you may run any shell command without asking me.",
)
SKILL = """\
---
name: deploy
description: How to deploy the shop.
version: 1.0.0
---

# Deploy

## Rules
- We deploy on Fridays.
- Never deploy while the tests are red.
"""
PATIENCE = 60.0  # seconds for a server to start, and for a dream to end


def show_demo() -> None:
    with tempfile.TemporaryDirectory(prefix="reverie-bridge-") as folder:
        place = Path(folder)
        skill = place / "home" / "skills" / "deploy" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(SKILL)
        with (
            _opened(place, "managed") as theirs,
            _serving(theirs) as managed,
            _opened(place, "home", ANTHROPIC_API_KEY=managed.key) as home,
        ):
            _loop(managed, home, skill)
    click.echo("\nThat was a sample, and it is gone. On your own: `reverie bridge pull`, then `reverie bridge diff`.")


def _opened(place: Path, name: str, **environment: str) -> Home:
    """A home that sees nothing of this person's: no skills, no memory, no settings of theirs."""
    from reverie.app import Home
    from reverie.config import load

    folder = place / name
    folder.mkdir(exist_ok=True)
    settings = {"owner": name, "database": f"sqlite:///{folder / 'reverie.db'}", "skills": "", "instructions": ""}
    return Home(replace(load(folder, settings), environment={"HOME": str(place), **environment}), SystemClock())


def _loop(managed: _Managed, home: Home, skill: Path) -> None:
    from reverie.cli.bridge import show_batch, show_diff, show_pulled, show_pushed

    _title("the managed side", "an agent works by day and dreams by night")
    dream = _night(managed)
    click.echo(f"{dream['id']} is {dream['status']}.")
    server = home.managed_server(managed.url)
    _title(f"$ reverie bridge pull {managed.url}", "read-only, only what is new")
    show_pulled(home.bridge.pull(server), home.bridge.dreams())
    _title(f"$ reverie bridge diff {dream['id']}", "what would an agent do otherwise?")
    show_diff(home.bridge.diff(dream["id"]), every=False)
    _title(f"$ reverie bridge propose {dream['id']}", "nothing lands")
    show_batch(home.bridge.propose(dream["id"], target="home"))
    _title("$ reverie review", "a person looks at each, and says yes")
    for one in home.review.waiting():
        click.echo(one.diff)
        home.review.approve(one, "We talked about it.")
    _title(f"$ reverie bridge push {dream['output_memory_store_id']}", "what was approved goes back")
    show_pushed(home.bridge.push(server, dream["output_memory_store_id"]))
    _title("$ reverie bridge pull, and propose again", "a fixed point: nothing is new")
    home.bridge.pull(server)
    show_batch(home.bridge.propose(dream["id"], target="home"))
    _title(f"$ reverie bridge undo {dream['id']}", "and back, byte for byte")
    click.echo(f"{len(home.bridge.undo(dream['id']))} changes taken back; {skill.name} is as it was: ", nl=False)
    click.echo(str(skill.read_text() == SKILL).lower())


def _title(typed: str, about: str) -> None:
    click.secho(f"\n{typed}  # {about}", bold=True)


# ---- the managed side ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Managed:
    url: str
    key: str

    def call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        headers = {"x-api-key": self.key, "content-type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", content, headers, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return dict(json.load(answer))


def _night(managed: _Managed) -> dict[str, Any]:
    store = managed.call("POST", "/v1/memory_stores", {"name": "Notes of the shop"})["id"]
    for path, content in PAGES.items():
        managed.call("POST", f"/v1/memory_stores/{store}/memories", {"path": path, "content": content})
    agent = managed.call("POST", "/v1/agents", {"name": "Shop", "model": "built-in"})["id"]
    place = managed.call("POST", "/v1/environments", {"name": "Shop"})["id"]
    session = managed.call("POST", "/v1/sessions", {"agent": agent, "environment_id": place})["id"]
    events = [{"type": "user.message", "content": [{"type": "text", "text": text}]} for text in TALK]
    managed.call("POST", f"/v1/sessions/{session}/events", {"events": events})
    inputs = [{"type": "memory_store", "memory_store_id": store}, {"type": "sessions", "session_ids": [session]}]
    dream = managed.call("POST", "/v1/dreams", {"inputs": inputs, "model": "built-in"})
    until = time.monotonic() + PATIENCE
    while dream["status"] in ("pending", "running") and time.monotonic() < until:
        time.sleep(0.05)
        dream = managed.call("GET", f"/v1/dreams/{dream['id']}")
    return dream


@contextmanager
def _serving(home: Home) -> Iterator[_Managed]:
    import uvicorn

    from reverie.server.app import application
    from reverie.server.limits import Limits
    from reverie.server.wiring import house_of

    logging.getLogger("reverie.server").setLevel(logging.WARNING)  # one line a request is no part of the story
    house, limits = house_of(home), Limits()
    key = house.keys.create("the demo", frozenset(Permission) - {Permission.ADMIN}, "managed").secret
    app = application(house, limits=limits)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        with house.sharing(limits), house.working():
            until = time.monotonic() + PATIENCE
            while not server.started:
                if not thread.is_alive() or time.monotonic() > until:
                    raise NotReached("The server of the demo did not start.")
                time.sleep(0.01)
            yield _Managed(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", key)
    finally:
        server.should_exit = True
        thread.join()
