"""A dream over a store that asks the model of the settings: what it may add, what is told, who is asked for nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reverie.testing.model_server import serving as scripted
from tests.conftest import HomeMaker
from tests.serving import Served, serving
from tests.story.test_api_dreams import content, dreamt, recorded
from tests.story.test_models import KEY, suggesting, with_model

REMEMBER = "Pidäthän mielessä, että laskut kirjoitetaan aina euroissa."
WORDED = "Laskut kirjoitetaan aina euroissa."


@pytest.fixture
def served(homes: HomeMaker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("THE_KEY", KEY)
    with (
        scripted(suggesting(REMEMBER, WORDED, "project_decision")) as model,
        serving(with_model(homes, model, model_share="1")) as server,
    ):
        yield server


def test_usage_and_reader_are_told_and_the_words_are_the_persons(served: Served) -> None:
    store = served.store()
    talk = recorded(served, "Moi! Katsotaan tämän viikon asioita.", REMEMBER, "Kiitos, siinä kaikki tältä erää.")
    done = dreamt(served, store, talk, model="claude-opus-5")
    assert done["status"] == "completed" and done["reverie_reader"] == "openai:scripted"
    assert done["usage"]["input_tokens"] > 0 and done["usage"]["output_tokens"] > 0
    told = served.call("GET", f"/v1/dreams/{done['id']}/withheld").json
    matters = told["data"] + told["left_out"] + served.call("GET", f"/v1/dreams/{done['id']}/changes").json["data"]
    assert any(WORDED in str(one) and REMEMBER in str(one) for one in matters)


def test_built_in_asks_nobody(served: Served) -> None:
    store = served.store()
    done = dreamt(served, store, recorded(served, REMEMBER), model="built-in")
    assert done["reverie_reader"] == "built-in" and done["usage"]["input_tokens"] == 0
    assert content(served, done["output_memory_store_id"]) == {}
