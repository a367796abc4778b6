"""What of the Hermes plugin can be seen without Hermes: how much it recalls, and who may ask Hermes' model."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import pytest

import reverie
from reverie.integrations.hermes.host import HEAD, HermesHome, fit_lines
from reverie.integrations.hermes.host_model import _Server, chat


@pytest.mark.parametrize("tokens", [25, 40, 80, 2_000])
def test_what_is_recalled_is_whole_lines_within_the_tokens_it_may_take(tokens: int) -> None:
    lines = [f"- 2026-05-0{day}: {'word ' * 9}" for day in range(1, 9)]
    text = fit_lines(tokens, HEAD, iter(lines))
    kept = text.splitlines()[1:] if text else []
    assert kept == lines[: len(kept)]
    assert len(text or "") <= tokens * 4
    room = tokens * 4 - len(HEAD)
    assert len(kept) == min(len(lines), room // (len(lines[0]) + 1))


def test_a_profile_is_a_target_of_the_home_above_it(tmp_path: Any) -> None:
    plain, work = HermesHome(tmp_path / ".hermes"), HermesHome(tmp_path / ".hermes" / "profiles" / "work")
    assert (plain.target, plain.root) == ("hermes", plain.path)
    assert (work.target, work.root) == ("hermes/work", plain.path)


@dataclass
class Model:
    """What `ctx.llm` looks like from outside."""

    asked: list[Any] = field(default_factory=list)

    def complete(self, messages: list[dict[str, str]], **_: object) -> Any:
        self.asked.append(messages)
        if "fail" in messages[-1]["content"]:
            raise RuntimeError("secret of the provider")
        return SimpleNamespace(text="[]", model="m", usage=SimpleNamespace(input_tokens=3, output_tokens=1))


def test_only_who_has_the_token_of_the_night_is_answered_by_hermes_model() -> None:
    model = Model()
    server = _Server(model, "the token")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        told = _post(server, "the token", "hello")
        assert (told["content"][0]["text"], told["usage"]["input_tokens"]) == ("[]", 3)
        for token, said, status in (("another", "hello", 401), ("", "hello", 401), ("the token", "fail", 503)):
            with pytest.raises(urllib.error.HTTPError) as refused:
                _post(server, token, said)
            assert refused.value.code == status
            assert "secret" not in refused.value.read().decode()
    finally:
        server.shutdown()
        server.server_close()
    assert len(model.asked) == 2


def _post(server: _Server, token: str, said: str) -> Any:
    body = json.dumps({"max_tokens": 5, "messages": [{"role": "user", "content": said}]}).encode()
    url = f"http://127.0.0.1:{server.server_address[1]}/v1/messages"
    with urllib.request.urlopen(urllib.request.Request(url, body, {"X-Api-Key": token})) as reply:
        return json.load(reply)


def test_the_shape_an_answer_is_to_have_reaches_hermes_model_in_words() -> None:
    schema = {"type": "object", "properties": {"items": {"type": "array"}}}
    system = [{"type": "text", "text": "Curate."}]
    asked = {"system": system, "output_config": {"format": {"schema": schema}}, "messages": []}
    (message,) = chat(asked)
    assert message["content"].startswith("Curate.")
    assert json.loads(message["content"].rpartition("\n")[2]) == schema


def test_the_folder_that_hermes_installs_says_the_version_of_reverie() -> None:
    manifest = (files("reverie.integrations.hermes") / "plugin.yaml").read_text()
    assert f"\nversion: {reverie.__version__}\n" in manifest
