"""Which model is asked, and what a setting may look like."""

from __future__ import annotations

import pytest

from reverie.core.errors import BadSetting
from reverie.llm.settings import Choice, Endpoint, choice


def test_a_setting_names_a_provider_and_a_model() -> None:
    chosen = choice("openai:gpt-4o-mini")
    assert chosen == Choice("openai", "gpt-4o-mini", "https://api.openai.com/v1", "OPENAI_API_KEY")
    assert chosen.text == "openai:gpt-4o-mini"


def test_the_built_in_reader_is_no_model() -> None:
    assert choice("built-in") is None


def test_a_local_model_needs_no_key_and_may_be_on_this_machine() -> None:
    chosen = choice("ollama:llama3.2:3b")
    assert chosen is not None
    assert (chosen.model, chosen.key({}), chosen.given) == ("llama3.2:3b", None, True)


def test_an_endpoint_of_ones_own_may_do_without_a_key() -> None:
    chosen = choice("openai:qwen", Endpoint("http://127.0.0.1:8080/v1/", "MY_KEY"))
    assert chosen is not None
    assert chosen.base_url == "http://127.0.0.1:8080/v1"
    assert chosen.key({}) is None
    assert chosen.key({"MY_KEY": " secret "}) == "secret"


def test_a_missing_key_is_said_with_its_name() -> None:
    chosen = choice("anthropic:claude-x")
    assert chosen is not None
    with pytest.raises(BadSetting, match="ANTHROPIC_API_KEY"):
        chosen.key({"OPENAI_API_KEY": "x"})


@pytest.mark.parametrize(
    "text", ["", "gpt-4o", "openai:", "aws:x", "openai:a b", "OpenAI:x", "openai:x\n", ":", "built in"]
)
def test_what_cannot_be_a_model_is_refused(text: str) -> None:
    if text == "openai:x\n":
        assert choice(text) is not None  # a line's end is no part of it
        return
    with pytest.raises(BadSetting):
        choice(text)


@pytest.mark.parametrize(
    "address",
    [
        "ftp://host/v1",
        "host:8080",
        "http://",
        "http://:80/",
        "file:///etc/passwd",
        "http://h:99999/",
        "http://[::1/v1",
        "http://ann:hunter2@host/v1",
        "http://host/v1?key=hunter2",
        "http://host/v1#hunter2",
    ],
)
def test_an_address_that_cannot_be_called_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(BadSetting) as refused:
        choice("openai:x", Endpoint(address))
    assert "hunter2" not in str(refused.value)


def test_the_providers_own_address_has_the_usual_key_whoever_wrote_it() -> None:
    chosen = choice("openai:big", Endpoint("https://api.openai.com/v1"))
    assert chosen and (chosen.key_name, chosen.given) == ("OPENAI_API_KEY", False)


@pytest.mark.parametrize(
    ("endpoint", "sent", "said"),
    [
        (Endpoint(), True, "check the key in OPENAI_API_KEY"),
        (Endpoint(key_name="MINE"), True, "check the key in MINE"),
        (Endpoint(key_file="/run/key"), True, "/run/key (model_key_file)"),
        (Endpoint("http://127.0.0.1:9/v1", "MINE"), False, "no key was sent: set MINE"),
    ],
)
def test_a_refused_key_is_found_by_the_name_of_where_it_is(endpoint: Endpoint, sent: bool, said: str) -> None:
    chosen = choice("openai:x", endpoint)
    assert chosen and said in chosen.where_the_key_is(sent)
