"""A real client asks a real server over loopback: what leaves the machine, what comes back, what a trial says."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal

import anthropic
import openai
import pytest

from reverie.core.errors import BadSetting
from reverie.llm.budget import FREE
from reverie.llm.clients.models import PydanticAIModel, client, context_window, price_of, try_out
from reverie.llm.question import CorrectedAnswer, Failed, Question, Replied, Role, Usage
from reverie.llm.settings import Choice, Endpoint, choice
from reverie.testing.model_plays import Refuses, Says
from reverie.testing.model_server import CONTEXT, Server, serving
from reverie.testing.model_wires import ReceivedRequest

KEY = "sk-live-" + "canary" * 4
SHAPE = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
QUESTION = Question(Role.CURATE, "colour", "h", 'Answer in JSON: {"colour": "red"}', "Sky?", read=lambda value: value)
SHAPED = replace(QUESTION, shape=SHAPE)
BLUE = Says('{"colour": "blue"}', cached=4)
MODELS = {"openai": "gpt-4o-mini", "anthropic": "claude-haiku-4-5", "ollama": "llama3.2"}


def at(server: Server, provider: str = "openai", model: str | None = None) -> Choice:
    address = server.url if provider == "anthropic" else server.openai_url
    chosen = choice(f"{provider}:{model or MODELS[provider]}", Endpoint(address))
    assert chosen is not None
    return chosen


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", MODELS)
def test_each_wire_answers(provider: str, streamed: bool) -> None:
    with serving([BLUE]) as server:
        reply = PydanticAIModel(at(server, provider), KEY, streamed=streamed).ask(QUESTION, 100, 30)
    assert isinstance(reply, Replied)
    assert reply.text == '{"colour": "blue"}'
    assert reply.usage is not None
    assert reply.usage.cached == 4


@pytest.mark.parametrize("provider", MODELS)
def test_the_request_has_a_limit_and_no_tools_and_a_schema_only_where_there_is_one(provider: str) -> None:
    with serving([BLUE]) as server:
        model = PydanticAIModel(at(server, provider), KEY)
        model.ask(SHAPED, 123, 30)
        model.ask(QUESTION, 123, 30)
    shaped, plain = server.asked
    assert shaped.schema is not None and shaped.schema["properties"]["colour"]["type"] == "string"
    assert plain.schema is None
    for asked in server.asked:
        assert "temperature" not in asked.body  # models that reason refuse it
        assert 123 in (asked.body.get("max_tokens"), asked.body.get("max_completion_tokens"))
        assert "tools" not in asked.body
        assert asked.headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("provider", MODELS)
def test_the_system_prompt_comes_first_and_a_conversation_goes_on(provider: str) -> None:
    with serving([BLUE]) as server:
        PydanticAIModel(at(server, provider), KEY).ask(
            replace(QUESTION, earlier=(CorrectedAnswer("Blue.", "That is no JSON."),)), 123, 30
        )
    (asked,) = server.asked
    said = asked.body.get("system", []) + asked.body["messages"]
    texts = [one["text"] if "text" in one else _text(one["content"]) for one in said]
    assert texts == [QUESTION.system, "Sky?", "Blue.", "That is no JSON."]


def _text(content: object) -> str:
    return content if isinstance(content, str) else content[0]["text"]  # type: ignore[index,no-any-return]


def test_anthropic_is_told_to_cache_the_system_prompt_and_gets_the_key_as_it_wants_it() -> None:
    with serving([BLUE]) as server:
        PydanticAIModel(at(server, "anthropic"), KEY).ask(QUESTION, 123, 30)
    (asked,) = server.asked
    assert asked.body["system"][0]["cache_control"]["type"] == "ephemeral"
    headers = {name.lower(): value for name, value in asked.headers.items()}
    assert headers["x-api-key"] == KEY and "authorization" not in headers


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_others_get_the_key_as_a_bearer_token(provider: str) -> None:
    with serving([BLUE]) as server:
        PydanticAIModel(at(server, provider), KEY).ask(QUESTION, 123, 30)
    headers = {name.lower(): value for name, value in server.asked[0].headers.items()}
    assert headers["authorization"] == f"Bearer {KEY}" and "x-api-key" not in headers


def test_an_endpoint_that_takes_no_schema_is_asked_by_the_prompt_alone_from_then_on() -> None:
    def old(asked: ReceivedRequest) -> Says | Refuses:
        return Refuses(400, message="response_format is not supported") if "response_format" in asked.body else BLUE

    with serving(old) as server:
        model = PydanticAIModel(at(server), KEY)
        assert [isinstance(model.ask(SHAPED, 100, 30), Replied) for _ in range(2)] == [True, True]
    assert [asked.schema is not None for asked in server.asked] == [True, False, False]


def test_an_endpoint_that_wants_the_other_name_of_the_limit_gets_it_from_then_on() -> None:
    def strict(asked: ReceivedRequest) -> Says | Refuses:
        return Refuses(400, message="Use max_completion_tokens instead.") if "max_tokens" in asked.body else BLUE

    with serving(strict) as server:
        model = PydanticAIModel(at(server), KEY)
        assert [isinstance(model.ask(QUESTION, 100, 30), Replied) for _ in range(2)] == [True, True]
    assert ["max_completion_tokens" in asked.body for asked in server.asked] == [False, True, True]


def test_it_can_be_asked_where_a_loop_is_running_already() -> None:
    async def notebook(model: PydanticAIModel) -> object:
        return model.ask(QUESTION, 100, 30)

    with serving([BLUE, Refuses(500)]) as server:
        model = PydanticAIModel(at(server), KEY)
        assert isinstance(asyncio.run(notebook(model)), Replied)
        assert isinstance(asyncio.run(notebook(model)), Failed)


def test_the_name_is_resolved_once_and_kept_as_host() -> None:
    looked: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        looked.append(host)
        return ["127.0.0.1"]

    with serving([BLUE]) as server:
        chosen = choice("openai:m", Endpoint(server.openai_url.replace("127.0.0.1", "model.example")))
        assert chosen is not None
        assert isinstance(PydanticAIModel(chosen, KEY, resolve=resolve).ask(QUESTION, 100, 30), Replied)
    assert looked == ["model.example"]
    assert server.asked[0].headers["Host"].startswith("model.example:")


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (False, "127.0.0.1"),
        (False, "10.0.0.7"),
        (False, "192.168.1.1"),
        (False, "::1"),
        (False, "::ffff:10.0.0.1"),
        (False, "fd00::1"),
        (False, "64:ff9b::a00:1"),
        (False, "0.0.0.0"),
        (True, "169.254.169.254"),
        (True, "::ffff:169.254.169.254"),
        (True, "fe80::1"),
        (True, "fd00:ec2::254"),
        (True, "224.0.0.1"),
    ],
)
def test_a_name_that_leads_where_no_model_should_be_is_not_called(given: bool, address: str) -> None:
    chosen = Choice("openai", "m", "https://api.openai.com/v1", None, given)
    reply = PydanticAIModel(chosen, KEY, resolve=lambda host, port: [address]).ask(QUESTION, 100, 5)
    assert isinstance(reply, Failed)
    assert reply.why == "the endpoint's address is one that may not be called"


def test_what_may_be_called_is_called_when_another_address_of_the_name_does_not_answer() -> None:
    with serving([BLUE]) as server:
        model = PydanticAIModel(at(server), KEY, resolve=lambda host, port: ["127.0.0.2", "127.0.0.1"])
        assert isinstance(model.ask(QUESTION, 100, 30), Replied)


def test_a_name_that_cannot_be_resolved_may_be_later() -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    chosen = choice("openai:m", Endpoint("http://nowhere.example/v1"))
    assert chosen is not None
    reply = PydanticAIModel(chosen, KEY, resolve=resolve).ask(QUESTION, 100, 5)
    assert isinstance(reply, Failed)
    assert reply.again


def test_a_trial_says_what_an_endpoint_can_do() -> None:
    with serving([Says('<think>A word.</think>```json\n{"word": "reverie", "number": 7}\n```')]) as server:
        tried = try_out(at(server, model="scripted"), {}, 500, 30)
    assert (tried.ok, tried.context) == (True, CONTEXT)
    assert "openai:scripted answers in" in tried.said


@pytest.mark.parametrize(
    ("play", "said"),
    [
        (Says("Hello!"), "not in JSON"),
        (Says('{"word": 1}'), "not what it was asked for"),
        (Refuses(401, message=f"Incorrect API key provided: {KEY}"), "check the key in OPENAI_API_KEY"),
        (Refuses(404), "does not know the model"),
    ],
)
def test_a_trial_that_fails_says_why_in_our_words(play: Says | Refuses, said: str) -> None:
    with serving([play]) as server:
        tried = try_out(at(server), {"OPENAI_API_KEY": KEY}, 500, 30)
    assert not tried.ok
    assert said in tried.said
    assert KEY not in tried.said


def test_nobody_listening_is_an_answer_of_a_trial_too() -> None:
    with serving() as server:
        chosen = at(server)
    assert "the connection failed" in try_out(chosen, {}, 500, 30).said


def test_a_client_without_its_key_is_a_setting_to_fix() -> None:
    chosen = choice("anthropic:claude-haiku-4-5")
    assert chosen is not None
    with pytest.raises(BadSetting, match="ANTHROPIC_API_KEY"):
        client(chosen, {})


def test_prices_are_known_for_what_is_sold_and_nothing_for_what_runs_here() -> None:
    sold, local, other = (
        choice("openai:gpt-4o"),
        choice("ollama:x"),
        choice("openai:gpt-4o", Endpoint("https://gateway.example")),
    )
    assert sold and local and other
    price = price_of(sold)
    assert price is not None
    assert price.of(Usage(1_000_000, 1_000_000)) == Decimal("12.5")
    assert context_window(sold) == 128_000
    assert price_of(local) == FREE
    assert price_of(other) is None


def test_the_server_speaks_to_the_real_openai_client() -> None:
    with serving([Says("Good morning, this is a longer sentence than one event of a stream holds.")]) as server:
        real = openai.OpenAI(base_url=server.openai_url, api_key="k")
        asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        whole = real.chat.completions.create(**asked).choices[0].message.content  # type: ignore[call-overload]
        events = real.chat.completions.create(**asked, stream=True)  # type: ignore[call-overload]
        pieces = [event.choices[0].delta.content or "" for event in events if event.choices]
        assert [model.id for model in real.models.list()] == ["scripted"]
        real.close()
    assert whole == "".join(pieces) == "Good morning, this is a longer sentence than one event of a stream holds."


def test_the_server_speaks_to_the_real_anthropic_client() -> None:
    with serving([Says("Good morning, this is a longer sentence than one event of a stream holds.")]) as server:
        real = anthropic.Anthropic(base_url=server.url, api_key="k")
        asked = {"model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]}
        whole = real.messages.create(**asked).content[0].text  # type: ignore[call-overload]
        with real.messages.stream(**asked) as stream:  # type: ignore[arg-type]
            streamed = stream.get_final_text()
        real.close()
    assert whole == streamed == "Good morning, this is a longer sentence than one event of a stream holds."


def test_the_server_runs_by_itself() -> None:
    code = [sys.executable, "-m", "reverie.testing.model_server", "--port", "0", "--misbehave", "500"]
    running = subprocess.Popen(code, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        assert "Chat Completions at http://127.0.0.1:" in running.stdout.readline()
    finally:
        running.terminate()
        running.communicate()


def test_a_model_costs_nothing_until_it_is_asked() -> None:
    code = (
        "import sys, reverie.llm.clients.models, reverie.llm.clients.models, reverie.llm.clients.models, "
        "reverie.llm.asker; "
        "print(sorted({'pydantic_ai', 'pydantic', 'openai', 'anthropic', 'httpx2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
