"""Whatever a provider does wrong, a question is asked again within bounds or dropped with a reason (F12-F16, F24).

A real client against the scripted server; every misbehaviour on both wires, whole and streamed.
"""

from __future__ import annotations

import json
import random
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from reverie.llm.asker import Answer, Asker, Denied, Dropped, Outcome, RetryPolicy, Timing
from reverie.llm.budget import ANSWERED
from reverie.llm.clients.models import PydanticAIModel
from reverie.llm.clients.requests import load_libraries
from reverie.llm.question import Failed, Replied
from reverie.llm.settings import Endpoint, choice
from reverie.testing.model_plays import MISBEHAVIOURS, Drips, Play, Says, Sends
from reverie.testing.model_server import Script, Server, serving
from reverie.testing.model_wires import ReceivedRequest, Wording, encoded
from tests.model_ledger import MemoryLedger, question

KEY = "sk-live-" + "canary" * 4
GOOD = Says('{"items": []}')
QUESTION = question("I prefer tabs over spaces.")
QUICK = RetryPolicy(timeout=30.0, first_wait=0.01, answer_tokens=500)
WIRES = [(provider, streamed) for provider in ("openai", "anthropic") for streamed in (False, True)]
wires = pytest.mark.parametrize(("provider", "streamed"), WIRES)

# What ends in one reason or another; the rest is in the tests below.
WHY = {
    "429": "asked too often",
    "429 retry-after seconds": "asked too often",
    "429 retry-after huge": "asked too often",
    "429 retry-after negative": "asked too often",
    "429 retry-after date": "asked too often",
    "429 retry-after nonsense": "asked too often",
    "500": "not able to answer",
    "503": "not able to answer",
    "529": "not able to answer",
    "404": "does not know the model",
    "slow drip": "no complete answer in time",
    "cut": "connection failed|cannot be understood",
    "error in the stream": "not able to answer",
    "reset": "connection failed",
    "reset in the middle": "connection failed|cannot be understood",
    "hang": "no complete answer in time",
    "empty body": "cannot be understood",
    "page of html": "cannot be understood",
    "not a reply": "cannot be understood",
    "null reply": "cannot be understood",
    "no choices": "cannot be understood",
    "empty text": "it is empty",
    "prose": "no complete JSON",
    "truncated json": "did not fit",
    "json that breaks off": "no complete JSON",
    "wrong schema": 'no list "items"',
    "not a number": 'no list "items"',
    "duplicate keys": "a key stands in it twice",
    "bottomless nesting": "nested too deeply",
    "refusal": "declined",
    "tool calls": "called a tool",
    "ten megabytes": "longer than|no complete answer in time",
    "endless": "longer than|no complete answer in time",
    "gzip bomb": "compressed",
    "redirect": "send us elsewhere",
    "negative usage": "cannot be understood",
}
DENIED = ("401", "403")
TAKEN = ("lying usage", "extra field", "fake citation", "invented quote", "injected text")  # judged item by item


@pytest.fixture(autouse=True, scope="module")
def loaded() -> None:
    """The library, before anything is timed."""
    for provider, _ in WIRES:
        chosen = choice(f"{provider}:x", Endpoint("http://127.0.0.1:9"))
        assert chosen is not None
        load_libraries(chosen)


def asker(server: Server, provider: str, streamed: bool, policy: RetryPolicy = QUICK) -> Asker:
    address = server.url if provider == "anthropic" else server.openai_url
    chosen = choice(f"{provider}:{'claude-haiku-4-5' if provider == 'anthropic' else 'gpt-4o'}", Endpoint(address))
    assert chosen is not None
    model = PydanticAIModel(chosen, KEY, streamed=streamed)
    return Asker(model, MemoryLedger(), policy, Timing(sleep=lambda seconds: time.sleep(min(seconds, 0.05))))


def asked(
    script: Script, provider: str, streamed: bool, policy: RetryPolicy = QUICK
) -> tuple[Outcome[Any], Asker, Server]:
    with serving(script) as server:
        one = asker(server, provider, streamed, policy)
        return one.ask(QUESTION), one, server


def test_every_misbehaviour_is_expected_somewhere() -> None:
    assert set(MISBEHAVIOURS) == {*WHY, *DENIED, *TAKEN}


@wires
@pytest.mark.parametrize("name", WHY)
def test_a_misbehaving_provider_costs_a_question_and_no_more(name: str, provider: str, streamed: bool) -> None:
    slow = name in ("slow drip", "hang", "endless", "ten megabytes")
    policy = RetryPolicy(timeout=1.5, first_wait=0.01, answer_tokens=500) if slow else QUICK
    started = time.monotonic()
    outcome, one, server = asked([MISBEHAVIOURS[name]], provider, streamed, policy)
    assert isinstance(outcome, Dropped)
    assert re.search(WHY[name], outcome.why), outcome.why
    assert 1 <= outcome.requests <= 3
    assert len(server.asked) <= 3
    assert time.monotonic() - started < policy.timeout + 10
    assert isinstance(one.ledger, MemoryLedger)
    assert outcome.why.startswith(one.ledger.calls[-1].outcome)
    assert one.ledger.held.tokens == 0
    assert KEY not in outcome.why
    assert "scripted server" not in outcome.why


@wires
@pytest.mark.parametrize("name", DENIED)
def test_a_refused_key_stops_at_once_with_one_message_that_names_the_variable(
    name: str, provider: str, streamed: bool
) -> None:
    with serving([MISBEHAVIOURS[name], GOOD]) as server:
        one = asker(server, provider, streamed)
        outcomes = [one.ask(QUESTION), *one.ask_all([question("Another."), question("A third.")])]
    assert len(server.asked) == 1 and len(set(map(str, outcomes))) == 1
    (denied,) = set(outcomes)
    assert isinstance(denied, Denied)
    assert f"{provider.upper()}_API_KEY" in denied.why and f"status {name}" in denied.why and KEY not in denied.why


@wires
@pytest.mark.parametrize("name", TAKEN)
def test_what_is_wrong_in_items_or_usage_is_an_answer(name: str, provider: str, streamed: bool) -> None:
    outcome, one, server = asked([MISBEHAVIOURS[name]], provider, streamed)
    assert isinstance(outcome, Answer) and len(server.asked) == 1
    assert isinstance(one.ledger, MemoryLedger) and one.ledger.spent.tokens == outcome.usage.total > 0


@wires
def test_the_second_request_carries_the_answer_and_what_was_wrong(provider: str, streamed: bool) -> None:
    outcome, _, server = asked([MISBEHAVIOURS["prose"], GOOD], provider, streamed)
    assert isinstance(outcome, Answer)
    first, second = (request.body["messages"] for request in server.asked)
    assert second[: len(first)] == first and [one["role"] for one in second[len(first) :]] == ["assistant", "user"]
    assert "likes tabs" in json.dumps(second[-2]) and "it holds no complete JSON" in json.dumps(second[-1])


@wires
def test_an_answer_that_was_cut_short_is_asked_for_again_with_twice_the_room(provider: str, streamed: bool) -> None:
    outcome, _, server = asked([MISBEHAVIOURS["truncated json"], GOOD], provider, streamed)
    assert isinstance(outcome, Answer)
    rooms = [one.body.get("max_tokens") or one.body.get("max_completion_tokens") for one in server.asked]
    assert rooms == [500, 1_000] and server.asked[0].body["messages"] == server.asked[1].body["messages"]


ONCE = (
    "429",
    "429 retry-after seconds",
    "429 retry-after negative",
    "429 retry-after nonsense",
    "500",
    "503",
    "529",
    "error in the stream",
    "cut",
    "reset",
    "reset in the middle",
    "empty body",
    "page of html",
    "not a reply",
    "no choices",
    "empty text",
    "prose",
    "json that breaks off",
    "wrong schema",
    "not a number",
    "duplicate keys",
)


@wires
@pytest.mark.parametrize("name", ONCE)
def test_what_happens_once_is_asked_again_and_answered(name: str, provider: str, streamed: bool) -> None:
    outcome, one, server = asked([MISBEHAVIOURS[name], GOOD], provider, streamed)
    assert isinstance(outcome, Answer), outcome
    assert outcome.requests == len(server.asked) == 2
    assert isinstance(one.ledger, MemoryLedger)
    assert [call.outcome == ANSWERED for call in one.ledger.calls] == [False, True]


@wires
@pytest.mark.parametrize("name", ["429 retry-after huge", "429 retry-after date"])
def test_who_says_much_later_is_not_asked_again_tonight(name: str, provider: str, streamed: bool) -> None:
    with serving([MISBEHAVIOURS[name], GOOD]) as server:
        one = asker(server, provider, streamed)
        outcomes = [one.ask(QUESTION) for _ in range(5)]
    assert all(isinstance(outcome, Dropped) for outcome in outcomes)
    assert len(server.asked) == 1


@wires
def test_a_redirect_is_not_followed_not_even_to_ourselves(provider: str, streamed: bool) -> None:
    def elsewhere(request: ReceivedRequest) -> Play:
        return Sends(b"", 308, {"Location": "/v1/chat/completions/again"})

    outcome, _, server = asked(elsewhere, provider, streamed)
    assert isinstance(outcome, Dropped)
    assert len(server.requests) == 1


@wires
def test_a_slow_but_honest_provider_is_waited_for(provider: str, streamed: bool) -> None:
    outcome, _, _ = asked([Drips(GOOD, 0.0005)], provider, streamed, RetryPolicy(timeout=30, answer_tokens=500))
    assert isinstance(outcome, Answer)


@wires
def test_no_reply_of_any_shape_raises(provider: str, streamed: bool) -> None:
    """A proper reply with one part of it replaced by something else, sixty times over."""
    dice = random.Random(7)

    def damaged(request: ReceivedRequest) -> Play:
        kind, pieces = encoded(request, Wording('{"items": []}'))
        if request.streamed:
            place = dice.randrange(len(pieces))
            pieces[place] = _damaged_event(pieces[place], dice)
            return Sends(b"".join(pieces), headers={"Content-Type": kind})
        return Sends(json.dumps(_damaged(json.loads(pieces[0]), dice)).encode())

    with serving(damaged) as server:
        model = asker(server, provider, streamed).model
        replies = [model.ask(QUESTION, 500, 5) for _ in range(60)]
    assert {type(reply) for reply in replies} == {Replied, Failed}
    assert all(reply.seconds < 5 for reply in replies)


def _damaged_event(piece: bytes, dice: random.Random) -> bytes:
    head, found, body = piece.partition(b"data: ")
    if not found or body.startswith(b"[DONE]"):
        return dice.choice([b"", b"data: {\n\n", b"data: null\n\n", b"\xff\xfe\n\n"])
    return head + found + json.dumps(_damaged(json.loads(body), dice)).encode() + b"\n\n"


def _damaged(value: Any, dice: random.Random) -> Any:
    if isinstance(value, dict | list) and value and dice.random() < 0.8:
        place = dice.choice(list(value)) if isinstance(value, dict) else dice.randrange(len(value))
        value[place] = _damaged(value[place], dice)
        return value
    return dice.choice([None, -1, 1e308, "", "x", [], {}, [None], {"x": None}, True, "\ud800", 10**400])


def test_many_questions_can_be_under_way_at_once() -> None:
    with serving([GOOD]) as server:
        one = asker(server, "openai", streamed=False, policy=RetryPolicy(timeout=60))
        with ThreadPoolExecutor(8) as threads:
            outcomes = list(threads.map(one.ask, [question(f"Session {number}.") for number in range(40)]))
    assert [type(outcome) for outcome in outcomes] == [Answer] * 40
    assert isinstance(one.ledger, MemoryLedger)
    assert (len(one.ledger.calls), one.ledger.held.tokens) == (40, 0)


def test_an_endless_reply_is_given_up_at_the_cap() -> None:
    with serving([MISBEHAVIOURS["endless"]]) as server:
        chosen = choice("openai:m", Endpoint(server.openai_url))
        assert chosen is not None
        reply = PydanticAIModel(chosen, KEY, most_bytes=100_000).ask(QUESTION, 100, 20)
    assert isinstance(reply, Failed)
    assert reply.why == "the reply is longer than 100,000 bytes"


def test_a_port_nobody_listens_on_is_a_failed_connection() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        chosen = choice("openai:m", Endpoint(f"http://127.0.0.1:{taken.getsockname()[1]}/v1"))
        assert chosen is not None
        reply = PydanticAIModel(chosen, KEY).ask(QUESTION, 100, 5)
    assert isinstance(reply, Failed)
    assert (reply.why, reply.again, reply.billed) == ("the connection failed", True, False)


@wires
def test_a_night_goes_on_through_all_of_it(provider: str, streamed: bool) -> None:
    """Fifty questions to a provider that answers every other one: as many answers as there are good replies."""
    bad = [name for name in ONCE if not name.startswith("429")]
    script = [play for name in bad for play in (MISBEHAVIOURS[name], GOOD)]
    with serving([*script, GOOD]) as server:
        one = asker(server, provider, streamed)
        outcomes = [one.ask(question(f"Session {number}.")) for number in range(len(bad))]
    assert [type(outcome) for outcome in outcomes] == [Answer] * len(bad)
    assert isinstance(one.ledger, MemoryLedger)
    assert len(one.ledger.calls) == len(server.asked)
