"""`reverie explain`: every number of a decision with the sentence behind it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from reverie.app import Home
from reverie.cli import reverie
from reverie.core.errors import NotFound
from reverie.core.scope import Permission
from reverie.dreams.dream import Dream
from tests.serving import serving
from tests.story.test_api_dreams import dreamt, recorded
from tests.story.test_dream import ORDER, SOFT, session

QUOTED = ORDER.removesuffix(".")
Explain = Callable[..., str]
NAMES = (
    "future_usefulness",
    "query_diversity",
    "actionability",
    "compression_value",
    "stability",
    "recurrence",
    "recency",
    "explicitness",
    "correction_signal",
    "character_cost",
    "duplication",
    "volatility",
    "sensitivity",
)
_PART = re.compile(r"^ +([01]\.\d\d) +(\w+): (.+) \(([+-]\d+\.\d\d)\)$", re.MULTILINE)


@pytest.fixture
def explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Explain:
    folder = tmp_path / "hermes" / "memories"
    folder.mkdir(parents=True)
    (folder / "USER.md").write_text("Ann builds boats.")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    monkeypatch.setenv("REVERIE_OWNER", "ann")
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words: str) -> str:
        found = CliRunner().invoke(reverie, ["explain", *words, "--home", str(tmp_path / "home")])
        assert found.exit_code == 0, found.output
        return found.output

    return run


def proposed(home: Home, words: str) -> Dream:
    home.sessions.add(session("s1", words))
    return home.dreams.dream("hermes", mode="propose")


def parts(text: str) -> dict[str, tuple[float, str, float]]:
    return {name: (float(value), why, float(adds)) for value, name, why, adds in _PART.findall(text)}


def test_a_candidate_is_explained_by_thirteen_values_their_sentences_and_what_they_add(
    explain: Explain, home: Home
) -> None:
    (judged,) = proposed(home, SOFT).judged
    told = explain(judged.candidates[0])
    assert SOFT in told and judged.why in told and "It was said once" in told
    found = parts(told)
    assert list(found) == [*NAMES, "open_questions"]
    assert all(0 <= value <= 1 and why.endswith(".") for value, why, _ in found.values())
    assert judged.score is not None
    assert {part.name: round(part.value, 2) for part in judged.score.parts} == {
        name: value for name, (value, _, _) in found.items()
    }
    assert found["recurrence"][:2] == (0.3, "It was said in 1 session.")
    assert found["open_questions"][1:] == ("2 things are not sure about it.", -3.75)


def test_a_proposal_is_explained_with_its_diff_its_words_and_its_values(explain: Explain, home: Home) -> None:
    (name,) = proposed(home, ORDER).proposals
    told = explain(name)
    assert "+I always want distances in kilometres." in told and f"“{QUOTED}”" in told
    assert list(parts(told)) == list(NAMES) and parts(told)["actionability"][0] == 1.0
    same = json.loads(explain(name, "--json"))
    assert [part["name"] for part in same["suggestion"]["score"]["parts"]] == list(NAMES)


def test_a_change_and_a_night_are_explained_by_their_names(explain: Explain, home: Home) -> None:
    home.sessions.add(session("s1", ORDER))
    night = home.dreams.dream("hermes")
    for name in (night.changes[0], night.id, "last"):
        assert QUOTED in explain(name) and len(parts(explain(name))) == len(NAMES)


# ---- a server's dreams, for who runs the machine ---------------------------------------------------------------------


@pytest.fixture
def others(home: Home) -> dict[str, str]:
    """Dreams of other people on this machine: of bea, of nobody, and of kim in another workspace."""
    made: dict[str, str] = {}
    everything = [str(one) for one in Permission if one is not Permission.ADMIN]
    with serving(home) as served:
        for name, workspace in (("bea", "local"), ("", "local"), ("kim", "harbour")):
            key = served.new_key(*everything, workspace=workspace, user=name)
            store = served.call("POST", "/v1/memory_stores", {"name": "Hers"}, key=key).json["id"]
            talk = recorded(served, "Remember that our mascot is called Miso.", key=key)
            made[name] = dreamt(served, store, talk, key=key)["id"]
    return made


def test_a_dream_over_someone_elses_memory_store_is_explained_by_its_id(
    explain: Explain, others: dict[str, str]
) -> None:
    told = explain(others["bea"])
    assert told.startswith(f"{others['bea']} of local/bea, store:") and "Miso" in told and "passed: quotation, " in told
    assert "local/(nobody), store:" in explain(others[""])
    found = json.loads(explain(others["kim"], "--json"))
    assert (found["workspace"], found["user"], found["dream"]["id"]) == ("harbour", "kim", others["kim"])


def test_status_finds_the_dreams_of_others_and_says_whose_they_are(
    explain: Explain, others: dict[str, str], tmp_path: Path
) -> None:
    def status(*words: str) -> str:
        return CliRunner().invoke(reverie, ["status", *words, "--home", str(tmp_path / "home")]).output

    told = status()
    assert "Over memory stores of others" in told
    for name, whose in (("bea", "local/bea"), ("", "local/(nobody)"), ("kim", "harbour/kim")):
        assert f"{others[name]}  {whose}, store:" in told
    (line,) = status(others["kim"]).splitlines()
    assert "harbour/kim" in line and "completed: 1 landed" in line
    assert {one["user"] for one in json.loads(status("--json"))["others"]} == {"bea", "", "kim"}


def test_status_shows_the_ids_it_understands(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVERIE_OWNER", home.config.owner)
    home.dream("home")
    (night,) = home.dreams.records.find(home.owned, limit=5)
    told = CliRunner().invoke(reverie, ["status", "--home", str(tmp_path / "home")]).output
    assert f"  {night.id}  home  completed: quiet" in told
    assert night.id in CliRunner().invoke(reverie, ["status", night.id, "--home", str(tmp_path / "home")]).output


def test_a_dream_there_is_not_is_said_to_be_missing(tmp_path: Path) -> None:
    for command in ("explain", "status"):
        found = CliRunner().invoke(reverie, [command, "drm_0", "--home", str(tmp_path / "home")])
        assert isinstance(found.exception, NotFound)
        assert str(found.exception) == "There is no dream drm_0. `reverie status` shows the last ones."


def test_a_night_of_ones_own_is_explained_by_its_id_too(explain: Explain, home: Home) -> None:
    dream = proposed(home, SOFT)
    told = explain(dream.id)
    assert f"{dream.id} of local/ann, hermes is completed." in told and SOFT in told
