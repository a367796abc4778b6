"""`reverie ab`: two memories compared in use."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reverie.app import Home, open_home
from reverie.cli import reverie
from reverie.core.errors import BadInput
from reverie.experiments import Conclusion
from reverie.storage.backup_files import files_to_back_up
from tests.conftest import NOON
from tests.serving import serving


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with open_home(tmp_path / "home", now=NOON, settings={"owner": "ann"}) as opened:
        yield opened


def ran(home: Home, better: float, units: int = 400, **given: Any) -> Conclusion:
    """An experiment in which b succeeds so much more often than a, which does in half of all sessions."""
    home.experiments.start("notes", "memstore_a", "memstore_b", **given)
    dice = random.Random(5)
    for number in range(units):
        arm = home.experiments.assign("notes", f"user{number}").arm
        won = dice.random() < 0.5 + better * (arm == "b")
        cost = dice.lognormvariate(0, 0.3) * (1.5 if arm == "b" else 1.0)
        home.experiments.record("notes", f"user{number}", {"success": float(won), "cost": cost})
    return home.experiments.standing("notes").verdict


def test_two_arms_that_are_one_and_a_loose_error_rate_are_refused(home: Home) -> None:
    with pytest.raises(BadInput, match="Both arms are memstore_a"):
        home.experiments.start("same", "memstore_a", "memstore_a")
    with pytest.raises(BadInput, match=r"alpha 0\.5, share 0\.5"):
        home.experiments.start("loose", "memstore_a", "memstore_b", alpha=0.5)


@pytest.mark.parametrize(
    ("better", "verdict"),
    [(0.3, Conclusion.B_IS_BETTER), (-0.3, Conclusion.A_IS_BETTER), (0.0, Conclusion.INCONCLUSIVE)],
)
def test_the_verdict_is_what_the_difference_is(home: Home, better: float, verdict: Conclusion) -> None:
    assert ran(home, better) is verdict
    page = home.experiments.report("notes")
    assert page.count("\n") < 60 and " o" in page and "95%" in page


def test_what_gets_better_at_a_price_that_was_ruled_out_is_not_promoted(home: Home) -> None:
    assert ran(home, 0.3, guardrails=["cost:lower:0.2"]) is Conclusion.HARM
    with pytest.raises(BadInput, match="B does harm"):
        home.experiments.promote("notes")


def test_a_unit_stays_where_it_is_until_the_experiment_is_decided(home: Home) -> None:
    home.experiments.start("notes", "memstore_a", "memstore_b")
    arms = {unit: home.experiments.assign("notes", unit).use for unit in map(str, range(200))}
    assert arms == {unit: home.experiments.assign("notes", unit).use for unit in arms}
    assert 60 < sum(use == "memstore_b" for use in arms.values()) < 140
    with pytest.raises(BadInput, match="Inconclusive"):
        home.experiments.promote("notes")
    home.experiments.promote("notes", despite=True)
    assert {home.experiments.assign("notes", unit).use for unit in arms} == {"memstore_b"}
    assert home.experiments.record("notes", "1", {"success": 1}) is False
    home.experiments.roll_back("notes")
    assert {home.experiments.assign("notes", unit).use for unit in arms} == {"memstore_a"}


def test_one_person_with_many_sessions_counts_once(home: Home) -> None:
    home.experiments.start("notes", "memstore_a", "memstore_b")
    for number in range(500):
        home.experiments.record("notes", f"user{number % 4}", {"success": 1})
    assert home.experiments.standing("notes").verdict is Conclusion.INCONCLUSIVE


def test_half_a_line_left_by_a_kill_does_not_spoil_the_rest(home: Home) -> None:
    home.experiments.start("notes", "memstore_a", "memstore_b")
    home.experiments.record("notes", "1", {"success": 1})
    with (home.config.home / "ab" / "notes" / "outcomes.jsonl").open("ab") as file:
        file.write(b'{"unit": "ha')
    home.experiments.record("notes", "2", {"success": 0})
    assert [one.values for one in home.experiments.records.outcomes("notes")] == [{"success": 1.0}, {"success": 0.0}]
    assert "ab/notes/outcomes.jsonl" in {found.path for found in files_to_back_up(home.config.home)}, (
        "a backup holds it"
    )
    assert b"user" not in (home.config.home / "ab" / "notes" / "outcomes.jsonl").read_bytes()


def test_a_server_assigns_and_counts(home: Home) -> None:
    home.experiments.start("notes", "memstore_a", "memstore_b", metric="corrections")
    with serving(home, dreams=False) as served:
        path = "/v1/reverie/experiments/notes"
        given = served.call("POST", f"{path}/assignments", {"unit": "bob"}).json
        assert given["use"] == home.experiments.assign("notes", "bob").use
        counted = served.call("POST", f"{path}/outcomes", {"unit": "bob", "values": {"corrections": 2}})
        assert counted.json["counted"] is True
        assert served.call("POST", f"{path}/outcomes", {"unit": "bob", "values": {"sadness": 2}}).status == 400
        other = served.new_key("write", workspace="elsewhere")
        assert served.call("POST", f"{path}/assignments", {"unit": "bob"}, key=other).status == 404
    assert len(home.experiments.records.outcomes("notes")) == 1


def test_the_list_names_the_stores_as_they_are_called(home: Home) -> None:
    home.experiments.start("notes", "memstore_a", "memstore_b")
    home.experiments.roll_back("notes")
    done = CliRunner().invoke(reverie, ["ab", "list", "--home", str(home.config.home)])
    assert done.stdout == "notes  rolled back  memstore_a against memstore_b\n", done.output


def test_the_command_takes_turns_and_corrections_from_a_session(home: Home, tmp_path: Path) -> None:
    said = ["Deploy it.", "No, that is wrong: we deploy from main, never from a branch."]
    messages = [{"role": "user", "content": text} for text in said]
    home.sessions.add({"id": "s1", "user": "ann", "messages": messages})
    where = ["--home", str(home.config.home), "--json"]

    def typed(*words: str) -> Any:
        done = CliRunner().invoke(reverie, ["ab", *words, *where], env={"REVERIE_OWNER": "ann"})
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    typed("start", "notes", "v1.2.0", "v1.3.0", "--metric", "turns", "--guardrail", "corrections")
    assert typed("record", "notes", "ann", "--session", next(home.sessions.find()).head.id)["counted"] is True
    assert home.experiments.records.outcomes("notes")[0].values == {"turns": 2.0, "corrections": 1.0}
    assert typed("report", "notes")["verdict"] == "inconclusive"
