"""`reverie bridge demo`: a managed side and a home of their own, in a folder that is thrown away.

The managed side is a real server on a free port of this machine, spoken to over HTTP like any other.
"""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.core.clock import SystemClock
from reverie.core.errors import NotReached
from reverie.core.keys import Permission

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.client import Client, DreamAnswer

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
            _opened(place, "home", ANTHROPIC_API_KEY=managed.server.key) as home,
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


def _loop(managed: Client, home: Home, skill: Path) -> None:
    from reverie.cli.servers.bridge_output import show_batch, show_diff, show_pulled, show_pushed

    _title("the managed side", "an agent works by day and dreams by night")
    dream = _night(managed)
    click.echo(f"{dream.id} is {dream.status}.")
    server = home.managed_server(managed.server.address)
    _title(f"$ reverie bridge pull {server.address}", "read-only, only what is new")
    show_pulled(home.bridge.pull(server), home.bridge.dreams())
    _title(f"$ reverie bridge diff {dream.id}", "what would an agent do otherwise?")
    show_diff(home.bridge.diff(dream.id), every=False)
    _title(f"$ reverie bridge propose {dream.id}", "nothing lands")
    show_batch(home.bridge.propose(dream.id, target="home"))
    _title("$ reverie review", "a person looks at each, and says yes")
    for one in home.review.waiting():
        click.echo(one.diff)
        home.review.approve(one, "We talked about it.")
    _title(f"$ reverie bridge push {dream.output_memory_store_id}", "what was approved goes back")
    show_pushed(home.bridge.push(server, str(dream.output_memory_store_id)))
    _title("$ reverie bridge pull, and propose again", "a fixed point: nothing is new")
    home.bridge.pull(server)
    show_batch(home.bridge.propose(dream.id, target="home"))
    _title(f"$ reverie bridge undo {dream.id}", "and back, byte for byte")
    click.echo(f"{len(home.bridge.undo(dream.id))} changes taken back; {skill.name} is as it was: ", nl=False)
    click.echo(str(skill.read_text() == SKILL).lower())


def _title(typed: str, about: str) -> None:
    click.secho(f"\n{typed}  # {about}", bold=True)


# ---- the managed side ------------------------------------------------------------------------------------------------


def _night(managed: Client) -> DreamAnswer:
    store = managed.memory_stores.create(name="Notes of the shop").id
    for path, content in PAGES.items():
        managed.memory_stores.memories.create(store, path=path, content=content)
    agent = managed.agents.create(name="Shop", model="built-in").id
    session = managed.sessions.create(agent, store).id
    for text in TALK:
        managed.sessions.send_message(session, text)
    dream = managed.dreams.create(memory_store_id=store, session_ids=[session], model="built-in")
    return managed.dreams.wait(dream.id, PATIENCE, 0.05)


@contextmanager
def _serving(home: Home) -> Iterator[Client]:
    import uvicorn

    from reverie.client import Client
    from reverie.server.app import api_application
    from reverie.server.caller import CallLimits, House

    for name in ("reverie.server", "httpx2"):  # one line a request is no part of the story
        logging.getLogger(name).setLevel(logging.WARNING)
    house, limits = House(home), CallLimits()
    key = house.keys.create("the demo", frozenset(Permission) - {Permission.ADMIN}, "managed").secret
    app = api_application(house, limits=limits)
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
            with Client(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", key) as client:
                yield client
    finally:
        server.should_exit = True
        thread.join()
