"""Nights with a model of its own for each role: each is asked at its own address, with its own key and price."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from reverie.dreams.dream import Dream
from reverie.home import Home
from reverie.models.asking import Timing
from reverie.models.choice import Role
from reverie.testing.model_server import Server, serving
from reverie.testing.model_wires import Asked
from tests.conftest import HomeMaker
from tests.story.test_models import PLAIN, QUICK, RELEASE, SHAPES, by_phase, session

KEYS = {"THE_SCANNERS": "sk-scans", "THE_DECIDERS": "sk-decides"}


@pytest.fixture(autouse=True)
def memories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "hermes" / "memories"
    folder.mkdir(parents=True)
    (folder / "USER.md").write_text("Ann builds boats.")
    (folder / "MEMORY.md").write_text("Standup is at nine.")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-usual")
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)


@pytest.fixture
def two() -> Iterator[list[Server]]:
    """One that scans and one that decides."""
    with ExitStack() as stack:
        yield [stack.enter_context(serving(by_phase())) for _ in range(2)]


def night_of(homes: HomeMaker, **settings: str) -> tuple[Home, Dream]:
    home = homes(**settings)
    home.advising = replace(home.advising, patience=QUICK, timing=Timing(sleep=lambda seconds: None))
    home.sessions.add(session("s1", PLAIN, RELEASE))
    home.sessions.add(session("s2", RELEASE, day=11))
    return home, home.dream(target="hermes")


def phases(server: Server) -> set[str]:
    return {_phase(one) for one in server.asked}


def _phase(asked: Asked) -> str:
    wanted = asked.raw.decode().replace("\\", "")
    return next((name for name, (field, _) in SHAPES.items() if field in wanted), "light")


def keys(server: Server) -> set[str]:
    sent = [{name.lower(): value for name, value in one.headers.items()} for one in server.asked]
    return {(one.get("x-api-key") or one.get("authorization", "")).removeprefix("Bearer ") for one in sent}


def test_a_cheap_one_scans_and_a_strong_one_decides_in_one_night(homes: HomeMaker, two: list[Server]) -> None:
    cheap, strong = two
    _, night = night_of(
        homes, model="openai:small", model_url=cheap.openai_url, model_key_name="THE_SCANNERS",
        model_deep="anthropic:strong", model_deep_url=strong.url, model_deep_key_name="THE_DECIDERS",
        model_rem="built-in",
    )  # fmt: skip
    assert phases(cheap) == {"light", "skills"} and phases(strong) == {"deep", "wording"}
    assert {one.model for one in cheap.asked} == {"small"} and {one.model for one in strong.asked} == {"strong"}
    assert {one.phase: one.models for one in night.consulted} == {
        "light": ("openai:small",), "deep": ("anthropic:strong",), "skills": ("openai:small",),
    }  # fmt: skip
    assert keys(cheap) == {"sk-scans"} and keys(strong) == {"sk-decides"}


def test_two_endpoints_of_one_provider_each_have_their_own_key_and_price(homes: HomeMaker, two: list[Server]) -> None:
    scans, decides = two
    home, night = night_of(
        homes, model="openai:same", model_url=decides.openai_url, model_key_name="THE_DECIDERS", model_price="10/10",
        model_light_url=scans.openai_url, model_light_price="1/1",
    )  # fmt: skip
    assert phases(scans) == {"light"} and "light" not in phases(decides)
    assert keys(decides) == {"sk-decides"} and not any(scans.saw(key) for key in (*KEYS.values(), "sk-usual"))
    cost = {one.phase: (one.dollars or 0) * 1_000_000 / (one.tokens_in + one.tokens_out) for one in night.consulted}
    assert {phase: round(dollars) for phase, dollars in cost.items()} == {
        "light": 1,
        "deep": 10,
        "rem": 10,
        "skills": 10,
    }
    foreseen = {one.phase: one.dollars for one in home.dream.estimate("hermes", sessions=["s1"]).foreseen}
    assert foreseen["light"] and foreseen["deep"]


def test_a_key_in_a_file_goes_to_its_own_provider_only(homes: HomeMaker, two: list[Server], tmp_path: Path) -> None:
    first, second = two
    (tmp_path / "key").write_text("sk-of-the-first")
    home = homes(
        model="openai:small", model_url=first.openai_url, model_key_file=str(tmp_path / "key"),
        model_deep="anthropic:strong", model_rem="ollama:tiny",
        model_skills="openai:other", model_skills_url=second.openai_url,
    )  # fmt: skip
    chosen = {role: home.config.models.choices.of(role) for role in Role}
    environment = {"ANTHROPIC_API_KEY": "sk-of-anthropic", "OPENAI_API_KEY": "sk-usual"}
    assert {str(role): one and one.key(environment) for role, one in chosen.items()} == {
        "light": "sk-of-the-first", "deep": "sk-of-anthropic", "rem": None, "skills": None,
    }  # fmt: skip


def test_the_account_says_of_each_role_how_much_of_the_text_it_saw(homes: HomeMaker, two: list[Server]) -> None:
    home, night = night_of(homes, model="openai:small", model_url=two[0].openai_url)
    sizes = [home.sessions.get(name).characters for name in ("s1", "s2")]
    said = {one.phase: one for one in night.consulted}
    assert list(said) == ["light", "deep", "rem", "skills"]
    assert all(0 < one.sent <= 0.2 * one.whole and one.share == round(one.sent / one.whole, 4) for one in said.values())
    assert said["light"].whole == said["skills"].whole == sum(sizes), "each session is counted once"
    assert said["rem"].whole in (*sizes, sum(sizes))
    for phase in ("deep", "rem", "skills"):
        assert f"{phase} asked" in night.diary and f"it saw {said[phase].share:.0%} of the text" in night.diary


def test_the_line_of_an_entry_is_no_part_of_the_transcript(homes: HomeMaker, two: list[Server]) -> None:
    home = homes(model="built-in", model_deep="openai:small", model_deep_url=two[0].openai_url)
    home.sessions.add(session("s1", "Standup is at ten now, not at nine any more."))
    night = home.dream(target="hermes")
    (asked,) = night.consulted
    (judged,) = night.judged
    assert "older: Standup is at nine." in two[0].asked[0].raw.decode()
    assert asked.sent == len(judged.text) + (len(judged.text) + len(judged.evidence[0].quote)) * (asked.calls == 2)
