"""Whole nights with a model as curator: what it is asked, how often, and what becomes of what it answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.app import Home, open_home
from reverie.dreams.dream import Fate
from reverie.llm.question import estimate_tokens
from reverie.testing.bad_curators import BAD_CURATORS, read_brief
from reverie.testing.model_plays import MISBEHAVIOURS, OpenConnection, Play, Says
from reverie.testing.model_recordings import conversation
from reverie.testing.model_server import Script, Server, serving
from reverie.testing.model_wires import ReceivedRequest
from tests.conftest import NOON, HomeMaker
from tests.story.test_cli import Cli

WISH = "Please always answer me in metric units from now on."
METRIC = "Answer in metric units."
GATEWAY = "The VPN gateway moved to gw2.example.net last month."
NOTHING = Says('{"items": []}')


@pytest.fixture
def served() -> Iterator[Callable[[Script | None], Server]]:
    opened = []

    def start(script: Script | None = None) -> Server:
        context = serving(script)
        opened.append(context)
        return context.__enter__()

    yield start
    for context in opened:
        context.__exit__(None, None, None)


def settings(server: Server, **more: str) -> dict[str, str]:
    return {"model": "openai:scripted", "model_url": server.openai_url, **more}


def say(home: Home, name: str, *words: str, day: int = 10) -> None:
    turns = [turn for one in words for turn in (("user", one), ("assistant", "All right."))]
    messages = [{"role": role, "content": text} for role, text in turns]
    home.sessions.add({"id": name, "user": "ann", "started_at": f"2026-05-{day:02}T09:00:00Z", "messages": messages})


def item(text: str, words: str, session: str = "s1", turn: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "op": "add",
        "document": "MEMORY.md",
        "replaces": [],
        "text": text,
        "skill": "",
        "project": "",
        "steps": [],
        "evidence": [{"session": session, "turn": turn, "words": words}],
        "kind": "communication_preference",
        "certainty": "sure",
        "because": "They said so.",
        "gotchas": [],
    } | more


def answers(*items: dict[str, Any]) -> Says:
    return Says(json.dumps({"items": list(items)}))


def finds(text: str, words: str, **more: Any) -> Callable[[ReceivedRequest], Says]:
    """Answers with an item if the Brief holds these words, wherever they stand."""

    def play(asked: ReceivedRequest) -> Says:
        places = [one for one in read_brief(asked).lines if words in one.text]
        return answers(*[item(text, words, one.session, one.turn, **more) for one in places[:1]])

    return play


def memory(home: Home) -> list[str]:
    return [one.text for one in home.memory.entries("home")]


def prompts(server: Server) -> list[str]:
    return [conversation(one).messages[0][1] for one in server.asked]


def is_notes(asked: ReceivedRequest) -> bool:
    """A request for notes of one session, and not for the night."""
    return conversation(asked).system != SYSTEM[0]


SYSTEM: list[str] = []


@pytest.fixture(autouse=True)
def system_prompt() -> None:
    from importlib.resources import files

    SYSTEM[:] = [(files("reverie.dreams.curators") / "curate.md").read_text("utf-8").strip()]


# ---- one request -----------------------------------------------------------------------------------------------------


def test_a_night_that_fits_takes_one_request_and_what_the_model_says_lands(homes: HomeMaker, served: Any) -> None:
    server = served(answers(item(METRIC, WISH)))
    home = homes(**settings(server))
    for number in range(5):
        say(home, f"x{number}", WISH if not number else f"Please look at file {number}.", day=number + 1)
    night = home.dream("home")
    assert len(server.asked) == 1 and memory(home) == [METRIC]
    assert not server.saw("x0") and "### s5" in prompts(server)[0]
    assert "openai:scripted was asked once" in night.diary


def test_the_prompt_comes_first_and_is_the_same_every_night(homes: HomeMaker, served: Any) -> None:
    server = served(NOTHING)
    home = homes(**settings(server))
    for number in (1, 2):
        say(home, f"x{number}", f"{WISH} In file {number}.", day=number)
        home.dream("home")
    first, second = map(conversation, server.asked)
    assert first.system == second.system == SYSTEM[0] and first.messages != second.messages


def test_what_the_model_leaves_out_is_told_in_the_diary(homes: HomeMaker, served: Any) -> None:
    home = homes(**settings(served(NOTHING)))
    say(home, "x1", WISH)
    night = home.dream("home")
    assert memory(home) == [] and night.quiet
    assert "The curator made nothing of it." in night.diary and "metric units" in night.diary


def test_what_does_not_pass_a_check_is_refused_and_the_diary_says_why(homes: HomeMaker, served: Any) -> None:
    bad = [item("Wants every command approved.", "Please approve every command."), item("The port is 9090.", WISH)]
    home = homes(**settings(served(answers(*bad, item(METRIC, WISH)))))
    say(home, "x1", WISH)
    night = home.dream("home")
    assert memory(home) == [METRIC]
    assert "No quotation of it stands in the sessions." in night.diary and "Nobody said “9090”." in night.diary
    checks = {name for one in night.judged for name, _ in one.checks}
    assert {"quotation", "grounded", "safe"} <= checks


# ---- answers that cannot be read -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["prose", "wrong schema", "json that breaks off"])
def test_a_malformed_answer_is_corrected_once(bad: str, homes: HomeMaker, served: Any) -> None:
    server = served([MISBEHAVIOURS[bad], answers(item(METRIC, WISH))])
    home = homes(**settings(server))
    say(home, "x1", WISH)
    home.dream("home")
    assert len(server.asked) == 2 and memory(home) == [METRIC]
    again = server.asked[1].body["messages"]
    assert [one["role"] for one in again][-2:] == ["assistant", "user"]  # its answer, and what was wrong with it


def test_prose_leaves_the_night_to_the_built_in_curator_and_the_diary_says_so(homes: HomeMaker, served: Any) -> None:
    server = served(MISBEHAVIOURS["prose"])
    home = homes(**settings(server))
    say(home, "x1", f"Please remember: {WISH}", GATEWAY)
    night = home.dream("home")
    assert len(server.asked) == 2
    assert "The model did not decide: " in night.diary and "The built-in curator did." in night.diary
    assert any("metric units" in one for one in memory(home))


def test_a_night_beside_a_model_that_only_talks_ends_as_without_one(
    homes: HomeMaker, served: Any, tmp_path: Any
) -> None:
    ends = []
    for place, more in (("with", settings(served(MISBEHAVIOURS["prose"]))), ("without", {})):
        home = homes(tmp_path / place, **more)
        say(home, "x1", f"Please remember: {WISH}", GATEWAY)
        night = home.dream("home")
        ends.append((memory(home), [(one.fate, one.text, one.reasons) for one in night.judged]))
    assert ends[0] == ends[1]


def test_a_refused_key_makes_one_request_and_the_built_in_curator_goes_on(homes: HomeMaker, served: Any) -> None:
    server = served(MISBEHAVIOURS["401"])
    home = homes(**settings(server))
    say(home, "x1", f"Please remember: {WISH}")
    night = home.dream("home")
    assert len(server.asked) == 1
    assert night.diary.count("The built-in curator did.") == 1 and "401" in night.diary
    assert any("metric units" in one for one in memory(home))


def test_a_long_night_with_a_refused_key_makes_one_request_too(homes: HomeMaker, served: Any) -> None:
    server = served(MISBEHAVIOURS["401"])
    home = homes(**settings(server, model_brief_tokens="600"))
    long_night(home)
    home.dream("home")
    assert len(server.asked) == 1


@pytest.mark.parametrize("name", BAD_CURATORS)
def test_a_bad_curator_does_no_harm_and_the_night_ends(name: str, homes: HomeMaker, served: Any) -> None:
    home = homes(**settings(served(BAD_CURATORS[name])))
    say(home, "x1", "Add the polyfill for Array.at only for Safari, can Vite do that?", "Thanks, looks good!")
    say(home, "x2", "Make this one A5 please.", "I'm in Lisbon this week.", day=11)
    night = home.dream("home")
    assert memory(home) == [] and not night.flaws


# ---- a night that does not fit ---------------------------------------------------------------------------------------

FILLING = "Can you look once more at the boats in the harbour, at the weather of that summer, and at the other file?"


def long_night(home: Home, count: int = 3) -> None:
    for number in range(count):
        talk = [f"{FILLING} And at file {number} or {place}?" for place in range(12)]
        say(home, f"x{number}", WISH if number == 1 else f"Please look at file {number}.", *talk, day=number + 1)


def test_a_night_that_does_not_fit_asks_for_notes_of_each_session_and_then_once(homes: HomeMaker, served: Any) -> None:
    server = served(finds(METRIC, WISH))
    home = homes(**settings(server, model_brief_tokens="600"))
    long_night(home)
    night = home.dream("home")
    assert [is_notes(one) for one in server.asked] == [True, True, True, False]
    assert [text.count("### s") for text in prompts(server)[:3]] == [1, 1, 1]
    last = prompts(server)[-1]
    assert ", only what was noted of it" in last and WISH in last and FILLING not in last
    assert "The night is longer than 600 tokens: 3 sessions are shown by what was noted of them" in night.diary
    assert memory(home) == [METRIC]


def test_what_only_the_notes_saw_reaches_the_night(homes: HomeMaker, served: Any) -> None:
    aside = "the truck takes cards now, rest is fine"
    server = served(finds("The truck takes cards.", aside, kind="project_fact"))
    home = homes(**settings(server, model_brief_tokens="600"))
    long_night(home, 1)
    say(home, "aside", "Please look at the file.", aside, *[FILLING] * 12, day=9)
    home.dream("home")
    assert aside in prompts(server)[-1] and FILLING not in prompts(server)[-1]


@dataclass(frozen=True)
class Together:
    """Another play, once so many are asked for at the same time."""

    then: Play
    others: threading.Barrier

    def perform(self, asked: ReceivedRequest, line: OpenConnection) -> None:
        self.others.wait(timeout=20)
        self.then.perform(asked, line)


def test_notes_of_several_sessions_are_asked_for_at_once_and_come_back_in_order(homes: HomeMaker, served: Any) -> None:
    others = threading.Barrier(3)

    def play(asked: ReceivedRequest) -> Play:
        said = finds(METRIC, WISH)(asked)
        first = "### s1," in conversation(asked).messages[0][1]  # it is asked for alone
        return Together(said, others) if is_notes(asked) and not first else said

    server = served(play)
    home = homes(**settings(server, model_brief_tokens="600", model_at_once="3"))
    long_night(home, 7)
    night = home.dream("home")
    assert [is_notes(one) for one in server.asked] == [True] * 7 + [False] and memory(home) == [METRIC]
    alone = homes(home.config.home.parent / "alone", **settings(served(finds(METRIC, WISH)), model_brief_tokens="600"))
    long_night(alone, 7)
    assert [one.reduced for one in alone.dream("home").dreams] == [one.reduced for one in night.dreams]


def test_notes_that_are_asked_for_at_once_stay_within_the_budget(homes: HomeMaker, served: Any) -> None:
    server = served([Says('{"items": []}', tokens_in=1_000, tokens_out=10)])
    caps = {"model_tokens_per_night": "6000", "model_answer_tokens": "1000"}
    home = homes(**settings(server, model_brief_tokens="600", model_at_once="4", **caps))
    long_night(home, 8)
    night = home.dream("home")
    assert 3 <= len(server.asked) < 8 and home.spending()["tokens"] == 1_010 * len(server.asked) <= 6_000
    assert "model_tokens_per_night is 6,000" in night.enough and len(night.changes) == 1  # the built-in curator decided


def test_a_note_that_fails_leaves_its_session_to_the_built_in_reader(homes: HomeMaker, served: Any) -> None:
    def play(asked: ReceivedRequest) -> Play | Says:
        return Says("No idea.") if is_notes(asked) else finds(METRIC, WISH)(asked)

    server = served(play)
    home = homes(**settings(server, model_brief_tokens="600"))
    long_night(home)
    night = home.dream("home")
    assert WISH in prompts(server)[-1] and memory(home) == [METRIC]
    assert "6 without a usable answer" in night.diary


def test_what_the_model_is_not_shown_waits_for_another_night(homes: HomeMaker, served: Any) -> None:
    server = served([NOTHING])
    home = homes(**settings(server, model_brief_tokens="500"))
    for number, where in enumerate(PLACES):
        wish = f"Please remember that we always deliver to {where} on the day after an order was paid in full."
        say(
            home,
            f"x{number}",
            wish,
            *[f"{FILLING} And at file {number} or {place}?" for place in range(9)],
            day=number + 1,
        )
    night = home.dream("home")
    assert estimate_tokens(prompts(server)[-1]) <= 500 and "are left out, those ranked last" in night.diary
    held = [one for one in night.judged if "not_shown" in one.reasons]
    assert held and all(one.fate is Fate.HELD_BACK for one in held)
    assert len(held) + sum("not_proposed" in one.reasons for one in night.judged) >= len(PLACES)
    assert {one.text for one in held} <= {one.text for one in home.dreams.records.staged(home.owned, "home")}


PLACES = ("Aarhus", "Bergen", "Cork", "Dijon", "Esbjerg", "Faro", "Genoa", "Huelva", "Izmir", "Jena", "Kiel", "Lund")


# ---- one budget for a whole run --------------------------------------------------------------------------------------

COSTLY = Says('{"items": []}', tokens_in=5_000, tokens_out=10)
# Room for two such requests and not for a third, whatever they are reserved at.
ONE_AT_A_TIME = {"dreaming.recent_sessions_limit": "1"}
TWO_REQUESTS = {"model_tokens_per_night": "12000", "model_answer_tokens": "1000"}


def test_a_nights_budget_is_for_all_rounds_over_a_target(homes: HomeMaker, served: Any) -> None:
    server = served([COSTLY])
    home = homes(**settings(server, **ONE_AT_A_TIME, **TWO_REQUESTS))
    for number in range(5):
        say(home, f"x{number}", f"Please look at file {number}.", day=number + 1)
    night = home.dream("home", everything=True)
    assert len(server.asked) == 2 and len(night.dreams) == 3
    assert night.left == 2 and "model_tokens_per_night is 12,000, 10,020 are used" in night.enough


def test_a_nights_budget_in_money_is_for_all_rounds_too(homes: HomeMaker, served: Any) -> None:
    server = served([COSTLY])
    money = {"model_price": "1/1", "model_dollars_per_night": "0.012", "model_answer_tokens": "1000"}
    home = homes(**settings(server, **ONE_AT_A_TIME, **money))
    for number in range(4):
        say(home, f"x{number}", f"Please look at file {number}.", day=number + 1)
    night = home.dream("home", everything=True)
    assert len(server.asked) == 2 and "model_dollars_per_night is $0.0120, $0.0100 is used" in night.enough


def test_a_nights_budget_is_for_all_targets_together(
    homes: HomeMaker, served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = served([COSTLY])
    four_targets(tmp_path, monkeypatch)
    home = homes(**settings(server, **TWO_REQUESTS))
    say(home, "x", "Please look at the file.")
    night = home.dream()
    assert len(night.targets) + len(night.skipped) == 4 and len(server.asked) == 2
    (skipped,) = night.skipped
    assert "its sessions wait for another night: model_tokens_per_night is 12,000" in skipped.why
    assert "not asked any more: model_tokens_per_night" in night.diary and "The built-in curator did." in night.diary
    say(home, "y", "Please look at the other file.", day=11)
    home.dream()
    assert len(server.asked) == 4, "the next night has a budget of its own"


def test_a_nights_budget_is_for_all_that_is_queued_together(
    homes: HomeMaker, served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = served([COSTLY])
    four_targets(tmp_path, monkeypatch)
    home = homes(**settings(server, **TWO_REQUESTS))
    say(home, "x", "Please look at the file.")
    queued = home.dream.later_everywhere()
    assert len(queued) == 4
    done = [home.dream.run(one.id) for one in queued]
    assert len(server.asked) == 2 and [bool(one.enough) for one in done] == [False, False, True, True]


def four_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The homes of four agents."""
    (tmp_path / "hermes" / "memories").mkdir(parents=True)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    (tmp_path / "codex").mkdir()
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    (tmp_path / "openclaw" / "workspace").mkdir(parents=True)
    (tmp_path / "openclaw" / "workspace" / "MEMORY.md").write_text("")
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "openclaw"))
    (tmp_path / "claude").mkdir()
    (tmp_path / "claude" / "CLAUDE.md").write_text("")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))


# ---- looking before asking -------------------------------------------------------------------------------------------


def test_the_brief_can_be_looked_at_and_is_what_is_sent(homes: HomeMaker, served: Any) -> None:
    server = served(NOTHING)
    home = homes(**settings(server))
    say(home, "x1", WISH, GATEWAY)
    (brief,) = home.dream.briefs("home")
    assert server.asked == [] and "metric units" in brief.render()
    home.dream("home")
    assert prompts(server) == [brief.render().strip()]


def told(folder: Any) -> Cli:
    """A command line over a home with one session."""
    cli, messages = Cli(folder), [{"role": "user", "content": WISH}]
    chat = {"id": "chat", "user": "sam", "started_at": "2026-05-10T09:00:00Z", "messages": messages}
    (folder / "chat.json").write_text(json.dumps(chat))
    cli("sessions", "add", str(folder / "chat.json"))
    return cli


def test_the_command_shows_the_brief_and_uses_nothing_up(tmp_path: Any) -> None:
    cli = told(tmp_path)
    with serving(NOTHING) as server:
        model = {"REVERIE_MODEL": "openai:x", "REVERIE_MODEL_URL": server.openai_url}
        first = cli("dream", "--show-brief", **model)
        assert "# The night of" in first and f"    {WISH}" in first and "1 owner:" in first
        assert cli("dream", "--show-brief", **model) == first and not server.asked
        cli("dream", **model)
        assert len(server.asked) == 1


@pytest.mark.parametrize("tokens", ["24000", "600"])
def test_what_a_night_takes_is_foretold_within_a_fifth(tokens: str, homes: HomeMaker, served: Any) -> None:
    server = served(finds(METRIC, WISH))
    home = homes(**settings(server, model_brief_tokens=tokens, model_price="1/10"))
    long_night(home)
    (estimate,) = home.dream.estimate("home")
    assert server.asked == [] and estimate.foreseen
    foreseen = estimate.foreseen
    home.dream("home")
    talks = [conversation(one) for one in server.asked]
    sent = sum(estimate_tokens(one.system) + sum(estimate_tokens(text) for _, text in one.messages) for one in talks)
    assert foreseen.requests == len(server.asked) == (1 if tokens == "24000" else 4)
    assert foreseen.tokens_in == pytest.approx(sent, rel=0.2)
    written = sum(len(one.text) for one in [answers(item(METRIC, WISH))]) // 4
    assert foreseen.most_tokens_out >= written * foreseen.requests
    assert foreseen.dollars_in == pytest.approx(foreseen.tokens_in / 1_000_000)
    assert foreseen.most_dollars and foreseen.most_dollars > foreseen.dollars_in


def test_the_command_foretells_requests_tokens_and_price(tmp_path: Any) -> None:
    cli = told(tmp_path)
    model = {"REVERIE_MODEL": "openai:x", "REVERIE_MODEL_URL": "http://127.0.0.1:9/v1", "REVERIE_MODEL_PRICE": "1/10"}
    said = cli("dream", "--estimate", **model)
    assert "1 request" in said and "tokens" in said and "$" in said


# ---- from night to night ---------------------------------------------------------------------------------------------

WISHES = {
    "Use the metric system in recipes.": "Please always use the metric system in recipes from now on.",
    "Write amounts in euros.": "Please always write amounts in euros from now on.",
    "Name branches after tickets.": "Please always name branches after tickets from now on.",
}


def all_of(found: Sequence[tuple[str, str]]) -> Callable[[ReceivedRequest], Says]:
    def play(asked: ReceivedRequest) -> Says:
        lines = read_brief(asked).lines
        places = [(text, words, one) for text, words in found for one in lines if words in one.text]
        return answers(*[item(text, words, one.session, one.turn) for text, words, one in places])

    return play


def test_what_is_held_by_a_limit_comes_back_the_next_night(tmp_path: Any, served: Any) -> None:
    server = served(all_of(list(WISHES.items())))
    landed = []
    for number in range(4):
        with opened(tmp_path, server, number) as home:
            if number == 0:
                for place, words in enumerate(WISHES.values()):
                    say(home, f"x{place}", words, day=place + 1)
            else:
                say(home, f"later{number}", "Please look at the other file.", day=11 + number)
            night = home.dream("home")
            landed.append(len(memory(home)))
            if number == 0:
                assert "Held for another night" in night.diary and "The limit of 1 addition" in night.diary
    assert landed == [1, 2, 3, 3]


FINNISH = {  # which the built-in reader does not read
    "Vastaukset ovat aina lyhyitä.": "Meillä vastaukset ovat aina lyhyitä.",
    "Kokoukset pidetään aina aamulla.": "Meillä kokoukset pidetään aina aamulla.",
}


def test_what_only_the_model_saw_comes_back_too(tmp_path: Any, served: Any) -> None:
    def play(asked: ReceivedRequest) -> Says:
        """Each statement with every place it was said in."""
        items = []
        for text, words in FINNISH.items():
            places = [one for one in read_brief(asked).lines if words in one.text]
            evidence = [{"session": one.session, "turn": one.turn, "words": words} for one in places]
            items += [item(text, words, evidence=evidence)] if evidence else []
        return answers(*items)

    server = served(play)
    landed = []
    for number in range(2):
        with opened(tmp_path, server, number, **{"dreaming.add": "0.3"}) as home:
            if number:
                say(home, "later", "Please look at the other file.", day=12)
            else:
                say(home, "x0", "Please look at file 3.", *FINNISH.values(), day=1)
                say(home, "x1", *reversed(FINNISH.values()), day=2)
            night = home.dream("home")
            landed.append(memory(home))
            assert len(night.of(Fate.HELD_BACK)) == 1 - number
    assert [len(one) for one in landed] == [1, 2] and set(landed[1]) == set(FINNISH)


def opened(folder: Any, server: Server, days: int, **more: str) -> Home:
    said = {"owner": "ann", **settings(server), **more}
    return open_home(folder / "home", now=NOON + timedelta(days=days), settings=said)


def test_a_proposal_that_waits_is_not_made_again(tmp_path: Any, served: Any) -> None:
    server = served(finds("The VPN gateway is gw2.example.net.", GATEWAY, certainty="ask"))
    for number in range(3):
        with opened(tmp_path, server, number) as home:
            say(home, f"x{number}", GATEWAY if number < 2 else "Please look at the other file.", day=9 + number)
            night = home.dream("home")
            (waiting,) = home.review.waiting()
            assert ("## Still waiting for your decision: 1\n" in night.diary) == (number > 0)
            assert "## Not done" not in night.diary and night.quiet == (number > 0)
        if number:
            assert f"- “The VPN gateway is gw2.example.net.”: Since 12 May 2026, as {waiting.id}." in night.diary


def test_an_answer_is_kept_with_the_night_and_its_cost(homes: HomeMaker, served: Any) -> None:
    def play(asked: ReceivedRequest) -> Play:
        return Says(answers(item(METRIC, WISH)).text, tokens_in=1_000, tokens_out=50)

    home = homes(**settings(served(play), model_price="1/10"))
    say(home, "x1", WISH)
    night = home.dream("home")
    (asked,) = night.consulted
    assert (asked.calls, asked.tokens_in, asked.tokens_out) == (1, 1_000, 50)
    assert asked.dollars == pytest.approx(0.0015) and "$0.0015" in night.diary
