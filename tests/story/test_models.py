"""Nights that ask a model: what it may add, what it may not, and what is told of it afterwards.

A real client against the scripted server, on a real database.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reverie.home import Home
from reverie.models.asking import Patience, Timing
from reverie.testing.model_plays import Says
from reverie.testing.model_server import Script, Server, serving
from reverie.testing.model_wires import Asked
from tests.conftest import HomeMaker

KEY = "sk-live-" + "canary" * 4
QUICK = Patience(seconds=20.0, first_wait=0.01)
FINNISH = "Mielestäni lyhyet vastaukset ovat parempia kuin pitkät."
_EXCERPT = re.compile(r"\[turn (\d+), (\w+)\]\n(.*?)(?=\n\n\[turn|\n[0-9a-f]{16}\n)", re.DOTALL)


@pytest.fixture
def memories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "hermes" / "memories"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("Standup is at nine.")
    (folder / "USER.md").write_text("Ann builds boats.")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    monkeypatch.setenv("THE_KEY", KEY)
    return folder


def session(name: str, *said: str, day: int = 10) -> dict[str, Any]:
    turns = [("user", "Can you look at this?"), ("assistant", "Here it is.\n" + "A long log line. " * 60)]
    for words in said:
        turns += [("user", words), ("assistant", "Noted.")]
    messages = [{"role": role, "content": text} for role, text in turns]
    return {"id": name, "user": "ann", "started_at": f"2026-05-{day:02}T09:00:00Z", "messages": messages}


def excerpts(asked: Asked) -> list[tuple[int, str, str]]:
    """What a request shows of the transcript: turn, role, words."""
    user = next(message["content"] for message in asked.body["messages"] if message["role"] == "user")
    text = user if isinstance(user, str) else user[0]["text"]
    return [(int(turn), role, words) for turn, role, words in _EXCERPT.findall(text)]


def suggesting(find: str, text: str, kind: str = "user_preference") -> Callable[[Asked], Says]:
    """A model that suggests this wherever an excerpt has these words."""

    def play(asked: Asked) -> Says:
        found = [
            {"kind": kind, "text": text, "quotes": [{"turn": turn, "words": find}]}
            for turn, _, words in excerpts(asked)
            if find in words
        ]
        return Says(json.dumps({"suggestions": found}))

    return play


@pytest.fixture
def scripted() -> Iterator[Callable[[Script | None], Server]]:
    opened = []

    def start(script: Script | None = None) -> Server:
        context = serving(script)
        opened.append(context)
        return context.__enter__()

    yield start
    for context in opened:
        context.__exit__(None, None, None)


def settings(server: Server, **more: str) -> Mapping[str, str]:
    return {"model": "openai:scripted", "model_url": server.openai_url, "model_key_name": "THE_KEY", **more}


def with_model(homes: HomeMaker, server: Server, patience: Patience = QUICK, **more: str) -> Home:
    home = homes(**settings(server, **more))
    home.advising = replace(home.advising, patience=patience, timing=Timing(sleep=lambda seconds: None))
    return home


def test_a_model_notices_what_the_built_in_reader_has_no_words_for(
    memories: Path, homes: HomeMaker, scripted: Any
) -> None:
    server = scripted(suggesting(FINNISH, "Lyhyet vastaukset ovat parempia kuin pitkät."))
    home = with_model(homes, server)
    home.sessions.add(session("s1", FINNISH))
    night = home.dream(shelf="hermes")
    (judged,) = night.judged
    assert judged.text == "Lyhyet vastaukset ovat parempia kuin pitkät."
    assert (judged.evidence[0].quote, str(judged.origin)) == (FINNISH, "owner")
    (asked,) = night.consulted
    assert (asked.phase, asked.calls, asked.failed) == ("light", 1, 0)
    assert asked.tokens_in > 0 and asked.dollars == 0 and 0 < asked.share <= 0.2
    assert "light asked openai:scripted once" in night.diary
