"""A dream over a store that asks the model of the settings: who decided, what it took, what steered it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from reverie.app import open_home
from reverie.core.errors import BadSetting
from reverie.core.scope import Scope
from reverie.storage import schema
from reverie.testing.model_plays import Refuses, Says
from reverie.testing.model_server import Server
from reverie.testing.model_server import serving as scripted
from tests.conftest import HomeMaker
from tests.serving import Served, serving
from tests.story.test_api_dreams import asked as wished
from tests.story.test_api_dreams import content, dreamt, of_ann, recorded

REMEMBER = "Pidäthän mielessä, että haluan laskut aina euroissa."
WORDED = "Laskut aina euroissa."
ITEM = {
    "op": "add",
    "document": "/notes.md",
    "text": WORDED,
    "kind": "project_decision",
    "certainty": "sure",
    "evidence": [{"session": "s1", "turn": 2, "words": REMEMBER}],
    "because": "She asked for it.",
}


def settings(model: Server) -> dict[str, str]:
    return {"model": "openai:scripted", "model_url": model.openai_url, "model_key_name": "THE_KEY"}


@pytest.fixture
def model() -> Iterator[Server]:
    with scripted(Says(json.dumps({"items": [ITEM]}))) as server:
        yield server


@pytest.fixture
def served(homes: HomeMaker, model: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("THE_KEY", "sk-test-abcdefgh")
    with serving(homes(**settings(model))) as server:
        yield of_ann(server)


def asked(served: Served, **more: Any) -> dict[str, Any]:
    talk = recorded(served, "Moi! Katsotaan tämän viikon asioita.", REMEMBER, "Kiitos, siinä kaikki tältä erää.")
    return dreamt(served, served.store(), talk, **more)


def test_the_model_decides_is_given_the_instructions_and_is_counted(served: Served, model: Server) -> None:
    done = asked(served, model="claude-opus-5", instructions="Keep what is about invoices.")
    assert done["status"] == "completed" and done["reverie_reader"] == "openai:scripted"
    assert done["usage"]["input_tokens"] > 0 and done["usage"]["output_tokens"] > 0
    assert done["reverie_instructions"]["used"] is True and model.saw("Keep what is about invoices.")
    assert content(served, done["output_memory_store_id"]) == {"/notes.md": f"{WORDED}\n"}
    [change] = served.call("GET", f"/v1/dreams/{done['id']}/changes").json["data"]
    assert change["after"] == WORDED and change["evidence"][0]["quote"] == REMEMBER.rstrip(".")
    assert "openai:scripted" in served.call("GET", f"/v1/dreams/{done['id']}/diary").json["diary"]


def test_built_in_asks_nobody_and_says_that_instructions_were_not_used(served: Served, model: Server) -> None:
    done = asked(served, model="built-in", instructions="Keep what is about invoices.")
    assert done["reverie_reader"] == "built-in" and done["usage"]["input_tokens"] == 0 and not model.asked
    assert done["reverie_instructions"]["used"] is False and done["instructions"] == "Keep what is about invoices."


def test_where_the_model_does_not_answer_the_built_in_curator_decides(
    homes: HomeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", "sk-test-abcdefgh")
    with scripted(Refuses(401, "")) as model, serving(homes(**settings(model))) as server:
        served = of_ann(server)
        store = served.store()
        talk = recorded(served, "Remember that our mascot is called Miso.")
        done = dreamt(served, store, talk, model="claude-opus-5", instructions="Be brief.")
        assert done["status"] == "completed" and done["reverie_reader"] == "built-in"
        assert done["reverie_instructions"]["used"] is False
        assert "Miso" in content(served, done["output_memory_store_id"])["/notes.md"]
        assert "The model did not decide" in served.call("GET", f"/v1/dreams/{done['id']}/diary").json["diary"]


def test_a_model_setting_that_cannot_work_is_said_as_plainly_as_to_a_night_over_files(
    homes: HomeMaker, model: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = homes(model="openai:gpt-x")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(BadSetting) as refused:
        home.dream("home")
    with serving(home) as server:
        served = of_ann(server)
        store = served.store()
        done = dreamt(
            served, store, recorded(served, "Remember that our mascot is called Miso."), model="claude-opus-5"
        )
        assert done["status"] == "failed"
        assert done["error"] == {"type": "model_unavailable", "message": str(refused.value)}
        assert "OPENAI_API_KEY is not set" in done["error"]["message"]
        assert done["outputs"] == [] and len(served.call("GET", "/v1/memory_stores").json["data"]) == 1
        events = served.call("GET", f"/v1/sessions/{done['session_id']}/events?limit=50").json["data"]
        (error,) = [one["error"] for one in events if one["type"] == "session.error"]
        assert error["type"] == "model_request_failed_error" and error["message"] == done["error"]["message"]
        asked = recorded(served, "Remember that our mascot is called Miso.")
        assert dreamt(served, store, asked, model="built-in")["status"] == "completed"


@pytest.mark.parametrize("how", ["failed", "canceled"])
def test_what_a_model_took_is_told_and_on_the_ledger_of_a_dream_that_came_to_nothing(
    homes: HomeMaker, model: Server, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The model has answered; before anything lands its store is archived, or somebody cancels it."""
    monkeypatch.setenv("THE_KEY", "sk-test-abcdefgh")
    with serving(home := homes(**settings(model)), dreams=False) as server:
        served = of_ann(server)
        store, talk = served.store(), recorded(served, "Moi!", REMEMBER, "Kiitos, siinä kaikki tältä erää.")
        dream = served.call("POST", "/v1/dreams", wished(store, talk, model="claude-opus-5")).json["id"]

        def do(name: str, step: Callable[[], int]) -> int:
            if name == "land":
                at = f"/v1/memory_stores/{store}/archive" if how == "failed" else f"/v1/dreams/{dream}/cancel"
                served.call("POST", at)
            return step()

        home.tenants.store_nights(Scope("local", "ann", "dream"), lambda name: None).run(dream, do)
        done = served.call("GET", f"/v1/dreams/{dream}").json
        assert done["status"] == how and done["usage"]["input_tokens"] > 0 and done["usage"]["output_tokens"] > 0
        [phase] = home.tenants.dream_anywhere(dream).dream.consulted
        assert phase.calls == 1 and phase.tokens_in == done["usage"]["input_tokens"]
        with home.engine.connect() as connection:
            [body] = connection.execute(select(schema.ledger.c.body).filter_by(kind="dream")).scalars()
        assert json.loads(body)["models"][0]["tokens_out"] == done["usage"]["output_tokens"]


def test_where_dreaming_is_switched_off_what_is_queued_waits_and_who_asks_is_told(
    homes: HomeMaker, tmp_path: Path
) -> None:
    database = f"sqlite:///{tmp_path / 'shared.db'}"
    with serving(homes(database=database), dreams=False) as server:
        served = of_ann(server)
        store, talk = served.store(), recorded(served, "Remember that our mascot is called Miso.")
        queued = served.call("POST", "/v1/dreams", wished(store, talk)).json["id"]
    off = {"database": database, "dreaming.enabled": "false"}
    with open_home(tmp_path / "home", settings=off) as home, serving(home) as server:
        served = of_ann(server)
        refused = served.call("POST", "/v1/dreams", wished(store, talk))
        assert (refused.status, refused.error) == (400, "invalid_request_error")
        assert "Dreaming is switched off" in refused.json["error"]["message"]
        assert served.call("GET", f"/v1/dreams/{queued}").json["status"] == "pending"
        assert home.queue.waiting() == [] and not home.queue.unfinished() and "switched off" in home.warnings()[0]
    with open_home(tmp_path / "home", settings={"database": database}) as home:
        assert [one.dream for one in home.queue.waiting()] == [queued]
