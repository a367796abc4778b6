"""Which model a role asks, and what a setting may look like."""

from __future__ import annotations

import pytest

from reverie.kernel.errors import BadSetting
from reverie.models.choice import Choice, Endpoint, Role, choice, choices


def test_a_setting_names_a_provider_and_a_model() -> None:
    chosen = choice("openai:gpt-4o-mini")
    assert chosen == Choice("openai", "gpt-4o-mini", "https://api.openai.com/v1", "OPENAI_API_KEY")
    assert chosen.text == "openai:gpt-4o-mini"


def test_the_built_in_reader_is_no_model() -> None:
    assert choice("built-in") is None
    assert choices().every() == []


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
        "ftp://host/v1", "host:8080", "http://", "http://:80/", "file:///etc/passwd", "http://h:99999/", "http://[::1/v1",
        "http://ann:hunter2@host/v1", "http://host/v1?key=hunter2", "http://host/v1#hunter2",
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_called_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(BadSetting) as refused:
        choice("openai:x", Endpoint(address))
    assert "hunter2" not in str(refused.value)


def test_each_role_has_its_own_model_or_the_default() -> None:
    every = choices("ollama:small", {"deep": "anthropic:strong", "rem": "built-in"})
    assert every.every()
    assert [chosen and chosen.text for chosen in map(every.of, Role)] == [
        "ollama:small",
        "anthropic:strong",
        None,
        "ollama:small",
    ]


def test_the_address_belongs_to_the_defaults_provider_only() -> None:
    every = choices(
        "openai:small", {"deep": "openai:big", "rem": "anthropic:strong"}, Endpoint("http://127.0.0.1:9/v1")
    )
    assert [every.of(role).base_url for role in (Role.LIGHT, Role.DEEP, Role.REM)] == [  # type: ignore[union-attr]
        "http://127.0.0.1:9/v1",
        "http://127.0.0.1:9/v1",
        "https://api.anthropic.com",
    ]


def test_there_are_four_roles_and_no_other() -> None:
    with pytest.raises(BadSetting, match="light, deep, rem, skills"):
        choices("built-in", {"dream": "openai:x"})


def test_a_role_may_have_an_endpoint_of_its_own_without_a_model_of_its_own() -> None:
    every = choices("openai:same", shared=Endpoint(key_file="/key"), own={"light": Endpoint("http://127.0.0.1:9/v1")})
    light, deep = every.of(Role.LIGHT), every.of(Role.DEEP)
    assert light and deep and light.text == deep.text == "openai:same"
    assert (light.base_url, light.key_name, light.key_file) == ("http://127.0.0.1:9/v1", None, "")
    assert (deep.base_url, deep.key_file) == ("https://api.openai.com/v1", "/key")


def test_the_providers_own_address_has_the_usual_key_whoever_wrote_it() -> None:
    own = {"deep": Endpoint("https://api.openai.com/v1")}
    deep = choices("openai:small", {"deep": "openai:big"}, Endpoint("http://127.0.0.1:9/v1", "MINE"), own).of(Role.DEEP)
    assert deep and (deep.key_name, deep.given) == ("OPENAI_API_KEY", False)


def test_a_roles_own_key_takes_the_place_of_the_shared_one_at_the_same_address() -> None:
    shared, own = Endpoint("http://127.0.0.1:9/v1", key_file="/key"), {"rem": Endpoint(key_name="MINE")}
    rem = choices("openai:small", shared=shared, own=own).of(Role.REM)
    assert rem and (rem.base_url, rem.key_name, rem.key_file) == ("http://127.0.0.1:9/v1", "MINE", "")


def test_without_a_default_one_key_is_not_given_to_two_providers() -> None:
    roles = {"light": "openai:small", "deep": "anthropic:strong"}
    with pytest.raises(BadSetting, match="one key for the models of anthropic and openai"):
        choices("built-in", roles, Endpoint(key_file="/key"))
    assert choices("built-in", roles, Endpoint(key_file="/key"), {"deep": Endpoint(key_name="MINE")}).every()
    assert choices("built-in", roles, Endpoint("http://127.0.0.1:9/v1", "THE_GATEWAYS")).every()
