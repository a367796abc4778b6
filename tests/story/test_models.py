"""The Asker of a night, as a Home makes it: what it sends, what it may cost, what is kept, what settings mean.

A real client against the scripted server, on a real database.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine

from reverie.app import Home, open_home
from reverie.cli import reverie
from reverie.core.clock import FixedClock, SystemClock
from reverie.core.errors import BadSetting
from reverie.core.scope import Scope
from reverie.dreams.dream import Dream, Status
from reverie.dreams.records import SessionChoice as Dreamt
from reverie.llm.asker import Answer, Asker, Denied, RetryPolicy, Timing
from reverie.llm.budget import Cap, CapReached, Reservation
from reverie.llm.clients import models as model_clients
from reverie.llm.question import Role
from reverie.storage.dreams.asker import SqlLedger
from reverie.storage.dreams.dreams import SqlDreams
from reverie.testing.model_plays import MISBEHAVIOURS, Says
from reverie.testing.model_server import Script, Server, serving
from tests.conftest import HomeMaker
from tests.model_ledger import question

KEY = "sk-live-" + "canary" * 4
GOOD = Says('{"items": []}', tokens_in=3_000, tokens_out=10)
QUICK = RetryPolicy(timeout=20.0, first_wait=0.01, answer_tokens=1_000)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script | None], Server]]:
    monkeypatch.setenv("THE_KEY", KEY)
    opened = []

    def start(script: Script | None = None) -> Server:
        context = serving(script)
        opened.append(context)
        return context.__enter__()

    yield start
    for context in opened:
        context.__exit__(None, None, None)


def settings(server: Server, **more: str) -> dict[str, str]:
    return {"model": "openai:scripted", "model_url": server.openai_url, "model_key_name": "THE_KEY", **more}


def night_of(home: Home, name: str = "drm_1", policy: RetryPolicy | None = QUICK) -> Asker:
    """The Asker of a night that was just begun."""
    home.askers = replace(home.askers, policy=policy, timing=Timing(sleep=lambda seconds: None))
    records = home.dreams.records
    dream = Dream(name, "home", "land", Status.PENDING, home.clock.now())
    if records.get(home.owned, name) is None:
        records.open(home.owned, dream, Dreamt())
    asker = home.askers.of_night(records.hold(home.owned, dream))
    assert asker is not None
    return asker


def calls(home: Home, name: str = "drm_1") -> list[tuple[str, str]]:
    return [(call.role, call.outcome) for call in home.dreams.records.calls(home.owned, name)]


def test_without_a_model_there_is_no_asker(homes: HomeMaker) -> None:
    home = homes()
    assert home.askers.info() is None
    dream = Dream("drm_1", "home", "land", Status.PENDING, home.clock.now())
    home.dreams.records.open(home.owned, dream, Dreamt())
    assert home.askers.of_night(home.dreams.records.hold(home.owned, dream)) is None


def test_an_answer_is_recorded_with_what_it_took_and_not_asked_for_again(homes: HomeMaker, scripted: Any) -> None:
    server = scripted([Says('{"items": [{"op": "add"}]}', tokens_in=900, tokens_out=7, cached=600)])
    home = homes(**settings(server, model_price="1/10/0.1"))
    outcome = night_of(home).ask(question())
    assert isinstance(outcome, Answer) and outcome.value == [{"op": "add"}]
    (call,) = home.dreams.records.calls(home.owned, "drm_1")
    assert (call.role, call.usage.tokens_in, call.usage.tokens_out, call.usage.cached) == ("curate", 900, 7, 600)
    assert call.cost == Decimal("0.00043")  # 300 read, 600 from the cache, 7 written
    home.close()
    again = night_of(homes(**settings(server))).ask(question())  # the process was started anew
    assert isinstance(again, Answer) and (again.value, again.requests) == ([{"op": "add"}], 0)
    assert len(server.asked) == 1


def test_usage_above_what_was_reserved_is_booked(homes: HomeMaker, scripted: Any) -> None:
    home = homes(**settings(scripted([MISBEHAVIOURS["lying usage"]])))
    asker = night_of(home)
    assert isinstance(asker.ask(question()), Answer)
    assert home.spending()["tokens"] == 15_000_000
    assert isinstance(asker.ask(question("Another.")), CapReached)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"model_tokens_per_night": "100"}, "model_tokens_per_night is 100"),
        ({"model_tokens_per_month": "100"}, "model_tokens_per_month is 100"),
        ({"model_dollars_per_night": "0.001", "model_price": "1/10"}, "model_dollars_per_night is $0.0010"),
        ({"model_dollars_per_month": "0.001", "model_price": "1/10"}, "model_dollars_per_month is $0.0010"),
    ],
)
def test_a_cap_that_leaves_no_room_sends_nothing(
    more: dict[str, str], said: str, homes: HomeMaker, scripted: Any
) -> None:
    server = scripted([GOOD])
    outcome = night_of(homes(**settings(server, **more))).ask(question())
    assert isinstance(outcome, CapReached) and said in outcome.why and server.asked == []


def test_the_cap_of_a_month_holds_from_one_night_and_one_process_to_the_next(homes: HomeMaker, scripted: Any) -> None:
    server = scripted([GOOD])
    more = {"model_tokens_per_month": "7000", "model_tokens_per_night": "5000"}
    outcomes = []
    for number in range(4):
        home = homes(**settings(server, **more))
        outcomes.append(night_of(home, f"drm_{number}").ask(question(f"Night {number}.")))
        home.close()
    assert [type(one) for one in outcomes] == [Answer, Answer, CapReached, CapReached]
    assert homes(**settings(server)).spending()["tokens"] == 6_020


def test_a_new_month_has_a_cap_of_its_own(homes: HomeMaker, scripted: Any) -> None:
    server = scripted([GOOD])
    home = homes(**settings(server, model_tokens_per_month="4000", timezone="Asia/Tokyo"))

    def at(moment: datetime, name: str) -> object:
        home.askers = replace(home.askers, clock=FixedClock(moment))
        return night_of(home, name).ask(question(name))

    assert isinstance(at(datetime(2026, 5, 31, 14, tzinfo=UTC), "drm_1"), Answer)
    assert isinstance(at(datetime(2026, 5, 31, 14, 30, tzinfo=UTC), "drm_2"), CapReached)
    assert isinstance(at(datetime(2026, 5, 31, 15, tzinfo=UTC), "drm_3"), Answer)  # it is June in Tokyo


def test_two_nights_at_once_do_not_share_the_last_of_the_month(engine: Engine) -> None:
    """Each sees what the other has reserved, whatever they reserve at the same moment."""
    records, one_call = SqlDreams(engine, SystemClock(), "here"), 3_000

    def ledger(number: int, month: Cap = Cap()) -> SqlLedger:
        scope = Scope("local", "ann", "ann")
        dream = Dream(f"drm_{number}", f"target{number}", "land", Status.PENDING, SystemClock().now())
        records.open(scope, dream, Dreamt())
        lease = records.hold(scope, dream)
        return SqlLedger(records.fenced, lease, SystemClock(), ZoneInfo("UTC"), night=Cap(), month=month, price=None)

    first = ledger(0).reserve(question(), "m", one_call)
    assert isinstance(first, Reservation)
    ledgers = [ledger(number, Cap(tokens=first.worst.tokens * 11 + 5)) for number in range(1, 5)]
    with ThreadPoolExecutor(4) as pool:
        made = [pool.submit(one.reserve, question(), "m", one_call) for one in ledgers * 5]
        found = [one.result() for one in made]
    assert sum(isinstance(one, Reservation) for one in found) == 10
    assert all(isinstance(one, Reservation | CapReached) for one in found)


class Killed(BaseException):
    """As sudden as a signal: nothing of ours catches it."""


def test_a_call_that_was_killed_under_way_counts_as_reserved(
    homes: HomeMaker, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*args: Any, **more: Any) -> None:
        raise Killed

    home = homes(**settings(scripted([GOOD])))
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(SqlLedger, "settle", killed)
        night_of(home).ask(question())
    assert calls(home) == [("curate", "under way")]
    assert home.spending()["tokens"] > 1_000  # type: ignore[operator]


def test_a_cap_on_money_does_not_hinder_what_is_free(homes: HomeMaker, scripted: Any) -> None:
    home = homes(**settings(scripted([GOOD]), model_dollars_per_night="0.00001"))
    assert isinstance(night_of(home).ask(question()), Answer)  # what runs here is free


def test_the_key_is_sent_to_the_provider_and_kept_nowhere(homes: HomeMaker, scripted: Any, tmp_path: Path) -> None:
    server = scripted([GOOD, MISBEHAVIOURS["401"]])
    home = homes(**settings(server))
    asker = night_of(home)
    asker.ask(question())
    denied = asker.ask(question("Another."))
    assert isinstance(denied, Denied) and "check the key in THE_KEY" in denied.why and KEY not in denied.why
    assert server.saw(KEY)
    home.close()
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_key_can_lie_in_a_file(homes: HomeMaker, scripted: Any, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    server = scripted([GOOD])
    home = homes(**{**settings(server), "model_key_name": "", "model_key_file": str(tmp_path / "key")})
    assert isinstance(night_of(home).ask(question()), Answer) and server.saw(KEY)


def test_settings_set_how_long_an_answer_may_be_and_take(homes: HomeMaker, scripted: Any) -> None:
    server = scripted([GOOD])
    home = homes(**settings(server, model_answer_tokens="2345", model_timeout="77"))
    asker = night_of(home, policy=None)
    asker.ask(question())
    assert asker.policy.timeout == 77
    assert 2345 in (server.asked[0].body.get("max_tokens"), server.asked[0].body.get("max_completion_tokens"))


def test_a_brief_fits_into_what_the_model_can_read(homes: HomeMaker, scripted: Any) -> None:
    info = homes(model="ollama:small").askers.info()
    assert info and info.brief_tokens(2_000) == 24_000
    small = homes(model="ollama:small", model_context="16000", model_answer_tokens="4000").askers.info()
    assert small and small.brief_tokens(2_000) == 10_000 and small.brief_tokens(20_000) == 0


def test_several_sessions_have_their_notes_taken_at_once(homes: HomeMaker, scripted: Any) -> None:
    server = scripted([GOOD])
    home = homes(**settings(server, model_at_once="4"))
    outcomes = night_of(home).ask_all([question(f"Session {number}.", role=Role.NOTES) for number in range(9)])
    assert [type(one) for one in outcomes] == [Answer] * 9 and len(server.asked) == 9
    assert calls(home) == [("notes", "answered")] * 9


# ---- settings --------------------------------------------------------------------------------------------------------


def run(*arguments: str) -> Result:
    return CliRunner().invoke(reverie, arguments)


def test_settings_of_earlier_versions_give_one_notice_and_keep_their_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVERIE_MODEL_SHARE", "0.5")
    lines = ['model_light = "openai:small"', "model_tokens_per_dream = 7000", "model_dollars_per_day = 0.5"]
    (tmp_path / "reverie.toml").write_text("\n".join(lines))
    with open_home(tmp_path) as home:
        (notice,) = home.config.notices
        assert home.config.models.night == Cap(7_000) and home.config.models.month == Cap(10_000_000)
        assert home.config.models.choice is None
    for words in (
        "model_light (set model instead)",
        "REVERIE_MODEL_SHARE (set REVERIE_MODEL_BRIEF_TOKENS instead)",
        "model_tokens_per_dream (used as model_tokens_per_night)",
        "model_dollars_per_day (set model_dollars_per_month instead)",
    ):
        assert words in notice
    shown = run("status", "--json", "--home", str(tmp_path))
    assert shown.stderr == f"Note: {notice}\n" and json.loads(shown.stdout)
    assert f"Note: {notice}\n" in run("doctor", "--home", str(tmp_path)).stdout
    assert json.loads(run("doctor", "--json", "--home", str(tmp_path)).stdout)["notices"] == [notice]


def test_settings_of_today_give_no_notice_and_win_over_old_names(tmp_path: Path) -> None:
    (tmp_path / "reverie.toml").write_text("model_tokens_per_night = 8000\nmodel_tokens_per_dream = 7000")
    with open_home(tmp_path) as home:
        assert home.config.models.night == Cap(8_000)
    (tmp_path / "reverie.toml").write_text("model_tokens_per_night = 8000")
    with open_home(tmp_path) as home:
        assert home.config.notices == ()
    assert run("status", "--home", str(tmp_path)).stderr == ""


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("model = 'gpt'", "openai:NAME"),
        ("model_timeout = 0", "a number from 1 to"),
        ("model_tokens_per_month = 'many'", "a number from 0"),
        ("model_price = '3'", "0.15/0.60"),
        ("model_answer_tokens = 20000\nmodel_context = 10000", "a context that holds more than the answer"),
        ("model_url = 'http://me:secret@x/v1'\nmodel = 'openai:x'", "only a scheme"),
        ("model_lite = 'x'", "Did you mean"),
        ("[dreaming]\nadd = 'high'", "a number from 0 to 1"),
        ("[dreaming]\nadds = 1", "Did you mean"),
        ("[dreaming]\nrecent_sessions_limit = 0", "a number from 1"),
        ("model = 3", "a text in quotes"),
        ("[dreaming]\nenabled = 'perhaps'", "true or false"),
        ("[dreaming]\nadd = true", "a number"),
    ],
)
def test_a_bad_setting_is_refused_with_what_was_expected(line: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "reverie.toml").write_text(line)
    with pytest.raises(BadSetting) as found:
        open_home(tmp_path)
    said = str(found.value)
    assert error in said and "secret" not in said and found.value.exit_code == 2


def test_the_command_line_tries_a_model_and_says_what_the_month_took(scripted: Any, tmp_path: Path) -> None:
    server = scripted([Says('{"word": "reverie", "number": 7}')])
    lines = [f'{name} = "{text}"' for name, text in settings(server).items()]
    (tmp_path / "reverie.toml").write_text("\n".join(lines))
    tmp_path.chmod(0o700)
    tried = run("doctor", "--model", "--home", str(tmp_path)).output
    assert "openai:scripted answers in" in tried and "32,768 tokens" in tried and KEY not in tried
    assert "Models this month: 0 of 10,000,000 tokens" in run("status", "--home", str(tmp_path)).output


def test_where_dreaming_is_switched_off_there_is_no_night(homes: HomeMaker) -> None:
    home = homes(**{"dreaming.enabled": "false"})
    with pytest.raises(BadSetting, match="switched off"):
        home.dream(target="home")


def test_a_missing_key_is_said_before_the_night_begins(homes: HomeMaker) -> None:
    home = homes(model="openai:gpt-4o", model_key_name="NOT_SET_HERE")
    with pytest.raises(BadSetting, match="NOT_SET_HERE is not set"):
        home.dream(target="home")
    assert home.dreams.records.find(home.owned) == []


def test_a_broken_installation_says_what_is_missing(homes: HomeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_clients, "_LIBRARIES", ("a_library_nobody_has",))
    home = homes(model="ollama:small")
    with pytest.raises(BadSetting, match="a_library_nobody_has is not installed"):
        home.dream(target="home")


def test_another_prompt_takes_the_place_of_ours(homes: HomeMaker, tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "curate.md").write_text("Our own words.")
    info = homes(model="ollama:small", model_prompts=str(folder)).askers.info()
    assert info and info.prompts == {"curate": "Our own words."}
    (folder / "deep.md").write_text("Of an earlier version.")
    with pytest.raises(BadSetting, match=r"curate\.md or notes\.md"):
        homes(model="ollama:small", model_prompts=str(folder)).dream(target="home")
