"""A night over more sessions than one dream reads, on a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reverie.app import Home, open_home
from reverie.bridge.draft import Drafted
from reverie.bridge.server import BridgeNight, TooFew
from reverie.bridge.source import RemoteDream
from reverie.cli import reverie
from reverie.client import Client
from reverie.core.errors import NotFound, NotReached
from reverie.harnesses.anthropic_server import AnthropicServer
from tests.serving import Served, serving

SAID = (
    "From now on we deploy on Tuesdays.",
    "From now on returns are taken back for 30 days.",
    "From now on the staging host is db9.internal.",
    "From now on invoices are sent on the first of the month.",
    "From now on we answer complaints within 4 hours.",
)


@pytest.fixture
def managed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr("reverie.bridge.server.MOST_SESSIONS", 2)
    monkeypatch.setattr("reverie.bridge.server.POLL_SECONDS", 0.05)
    with open_home(tmp_path / "managed", settings={"owner": "them"}) as home, serving(home) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with open_home(tmp_path / "home", settings={"owner": "ann"}) as opened:
        yield opened


def worked(managed: Served, texts: Sequence[str]) -> tuple[str, str]:
    """A person's key, and a store of theirs that sessions with these words have mounted."""
    key = managed.new_key("write", "dream", user="ann")
    with Client(managed.url, key) as client:
        store, agent = client.memory_stores.create(name="Notes").id, client.agents.create(name="S", model="built-in").id
        for text in texts:
            client.sessions.create(agent, store, text)
    return key, store


class Killed(AnthropicServer):
    """The process ends after the second dream was begun, before that was written down."""

    begun = 0

    def begin_dream(self, store: str, sessions: Sequence[str], model: str, instructions: str) -> RemoteDream:
        made = super().begin_dream(store, sessions, model, instructions)
        Killed.begun += 1
        if Killed.begun == 2:
            raise NotReached("killed")
        return made


def test_a_night_is_dreamt_in_batches_whose_outputs_chain_and_survives_a_kill(managed: Served, home: Home) -> None:
    key, store = worked(managed, SAID)
    with closing(Killed(managed.url, key)) as killed, pytest.raises(NotReached, match="killed"):
        home.bridge.dream(killed, store, model="built-in")
    with closing(AnthropicServer(managed.url, key)) as server:
        _finish(home, server, store)


def _finish(home: Home, server: AnthropicServer, store: str) -> None:
    night = home.bridge.dream(server, store, model="built-in")
    assert isinstance(night, BridgeNight) and night.done and [len(one.sessions) for one in night.links] == [2, 2, 1]
    dreams = {one.id: one for one in server.dreams()}
    assert [dreams[one.dream].store for one in night.links] == [store, *(one.output for one in night.links[:-1])]
    assert len(dreams) == 3, "the dream that was begun and not written down is used, not begun twice"
    home.bridge.pull(server)
    learned = "".join(home.bridge.snapshot(night.output).texts.values())
    assert "Tuesdays" in learned and "4 hours" in learned, learned
    origins = [home.bridge.snapshot(night.output).origin_of("/notes.md", words) for words in ("30 days", "4 hours")]
    assert [one.dream for one in origins] == [night.links[0].dream, night.links[2].dream], "each is by who learned it"
    (heard,) = home.bridge.copies()[0].heard(night.links[-1].sessions)
    assert (heard.person, heard.group, heard.turns) == ("ann", "S", (("user", SAID[-1]),))
    assert home.bridge.dream(server, store, model="built-in") == TooFew(0, 1)
    (batch,) = home.bridge.propose_new(target="home")
    assert batch.id == night.links[-1].dream and not batch.note, "what the whole night changed, once"
    assert {one.route.text for one in batch.results if isinstance(one, Drafted)} >= set(SAID)


def test_a_night_begins_once_enough_sessions_are_new(managed: Served, tmp_path: Path) -> None:
    key, store = worked(managed, SAID[:2])

    def typed(*words: str) -> Any:
        command = ["bridge", "dream", store, "--server", managed.url, "--home", str(tmp_path / "h"), "--json", *words]
        done = CliRunner().invoke(reverie, command, env={"ANTHROPIC_API_KEY": key})
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    assert typed("--after", "3")["night"] == {"new": 2, "wanted": 3}
    assert typed("--after", "2")["output"].startswith("memstore_")


def test_a_night_over_a_store_that_is_not_there_is_refused(managed: Served, home: Home) -> None:
    key, _ = worked(managed, SAID[:1])
    with closing(AnthropicServer(managed.url, key)) as server, pytest.raises(NotFound, match="memstore_nowhere"):
        home.bridge.dream(server, "memstore_nowhere", model="built-in")


def test_two_hundred_and_thirty_sessions_are_dreamt_in_three_dreams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the protocol's own limit of a hundred sessions a dream; what was said early and late is in the last store."""
    monkeypatch.setattr("reverie.bridge.server.POLL_SECONDS", 0.05)
    said = ["Thanks, that works.", "Can you look at the failing test?"] * 115
    said[3], said[150], said[229] = SAID[0], SAID[2], SAID[4]
    with (
        open_home(tmp_path / "managed", settings={"owner": "them"}) as theirs,
        serving(theirs) as managed,
        open_home(tmp_path / "home", settings={"owner": "ann"}) as home,
    ):
        key, store = worked(managed, said)
        with closing(AnthropicServer(managed.url, key)) as server:
            night = home.bridge.dream(server, store, model="built-in")
            assert isinstance(night, BridgeNight) and [len(one.sessions) for one in night.links] == [100, 100, 30]
            home.bridge.pull(server)
        (batch,) = home.bridge.propose_new(target="home")
        assert {one.route.text for one in batch.results if isinstance(one, Drafted)} == {SAID[0], SAID[2], SAID[4]}
