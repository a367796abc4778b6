"""A folder plays the model: requests are written out, answered by somebody, and replayed later."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from reverie.llm.clients.models import PydanticAIModel
from reverie.llm.question import Failed, Question, Replied, Role
from reverie.llm.settings import Endpoint, choice
from reverie.testing.model_recordings import Queue, Recordings, conversation
from reverie.testing.model_server import Server, serve_command, serving
from reverie.testing.model_wires import ReceivedRequest

SYSTEM, SKY = "Answer briefly.", "What colour is the sky?"
COLOUR = {"type": "object", "properties": {"colour": {"type": "string"}}}
MODELS = {"openai": "gpt-4o-mini", "anthropic": "claude-haiku-4-5", "ollama": "llama3.2"}


def ask_chat(url: str, user: str = SKY) -> str | None:
    chat = openai.OpenAI(base_url=url, api_key="none", max_retries=0).chat.completions
    reply = chat.create(
        model="scripted", messages=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": user}]
    )
    return reply.choices[0].message.content


def ask_messages(url: str, user: str = SKY) -> str:
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    cached: anthropic.types.TextBlockParam = {
        "type": "text",
        "text": SYSTEM,
        "cache_control": {"type": "ephemeral"},
    }
    reply = client.messages.create(
        model="scripted", max_tokens=100, system=[cached], messages=[{"role": "user", "content": user}]
    )
    (block,) = reply.content
    assert block.type == "text"
    return block.text


def curated(words: str) -> Question[object]:
    """A question as Reverie puts it."""
    return Question(Role.CURATE, "colour", "h", SYSTEM, words, read=lambda value: value, shape=COLOUR)


def through_reverie(server: Server, question: Question[object], provider: str = "openai") -> Replied | Failed:
    address = server.url if provider == "anthropic" else server.openai_url
    chosen = choice(f"{provider}:{MODELS[provider]}", Endpoint(address))
    assert chosen is not None
    return PydanticAIModel(chosen, "sk-test").ask(question, 100, 30)


def answer_file(request: Path) -> Path:
    return request.with_name(request.name.replace(".request.md", ".answer.txt"))


@contextmanager
def answering(folder: Path, text: str) -> Iterator[None]:
    """Somebody who waits for one request and writes the answer beside it."""

    def answer() -> None:
        until = time.monotonic() + 20
        while not (requests := list(folder.glob("*.request.md"))) and time.monotonic() < until:
            time.sleep(0.02)
        answer_file(requests[0]).write_text(text, "utf-8")

    thread = threading.Thread(target=answer)
    thread.start()
    yield
    thread.join(30)


def body(system: object = None, *messages: dict[str, Any]) -> ReceivedRequest:
    told = {"messages": list(messages)} | ({"system": system} if system is not None else {})
    return ReceivedRequest("POST", "/v1/messages", {}, b"", told)


def test_a_queue_answers_as_soon_as_the_answer_file_appears(tmp_path: Path) -> None:
    with serving(Queue(tmp_path, wait=20)) as server, answering(tmp_path, "Blue.\n"):
        assert ask_chat(server.openai_url) == "Blue."
    (request,) = tmp_path.glob("*.request.md")
    key = request.name.removesuffix(".request.md")
    shown = request.read_text("utf-8")
    assert f"# System prompt [{key}]\n\n{SYSTEM}\n" in shown
    assert f"# Message 1 of 1: user [{key}]\n\n{SKY}\n" in shown
    assert f"`{key}.answer.txt`" in shown
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{key}.answer.txt", f"{key}.request.md"]


class SlowWriter:
    """A connection on which every wait lets somebody write one more line of the answer."""

    def __init__(self, path: Path, lines: list[str]) -> None:
        self.path, self.lines, self.sent = path, lines, b""

    def wait(self, seconds: float) -> bool:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(self.lines.pop(0) if self.lines else "")
        return True

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        assert status == 200

    def write(self, piece: bytes) -> None:
        self.sent += piece

    def end(self) -> None: ...
    def reset(self) -> None: ...


def test_an_answer_that_is_still_being_written_is_not_taken(tmp_path: Path) -> None:
    asked = body(SYSTEM, {"role": "user", "content": SKY})
    writer = SlowWriter(tmp_path / f"{conversation(asked).key}.answer.txt", ["", "Blue, ", "mostly", "."])
    Queue(tmp_path, wait=60).perform(asked, writer)
    assert b"Blue, mostly." in writer.sent


def test_a_queue_that_waits_in_vain_answers_503(tmp_path: Path) -> None:
    with serving(Queue(tmp_path, wait=0.3)) as server, pytest.raises(openai.InternalServerError, match="no answer yet"):
        ask_chat(server.openai_url)


def test_without_waiting_requests_are_collected_answered_and_run_again(tmp_path: Path) -> None:
    with serving(queue := Queue(tmp_path / "new", wait=0)) as server:
        for colour in ("sky", "sea"):
            with pytest.raises(anthropic.NotFoundError):
                ask_messages(server.url, f"The {colour}?")
        assert len(queue.pending) == 2
        for request in queue.pending:
            colour = "sky" if "The sky?" in request.read_text("utf-8") else "sea"
            answer_file(request).write_text(f"{colour}: blue")
        assert [ask_messages(server.url, f"The {colour}?") for colour in ("sky", "sea")] == ["sky: blue", "sea: blue"]
        assert queue.pending == []


def test_a_replay_answers_what_was_recorded_and_reports_what_was_not(tmp_path: Path) -> None:
    with serving(Queue(tmp_path, wait=20)) as server, answering(tmp_path, "Blue."):
        ask_chat(server.openai_url)
    stale = tmp_path / "0123456789abcdef.answer.txt"
    stale.write_text("to an older prompt")
    with serving(recordings := Recordings(tmp_path)) as server:
        assert ask_chat(server.openai_url) == ask_messages(server.url) == "Blue."
        assert (recordings.missing, recordings.advice) == ([], "")
        with pytest.raises(openai.NotFoundError, match="No recording"):
            ask_chat(server.openai_url, "And at night?")
        (missing,) = recordings.missing
        assert missing in recordings.advice
        assert f"--queue {tmp_path} --wait 0" in recordings.advice
        assert recordings.unused == ["0123456789abcdef"]
    assert len(list(tmp_path.glob("*.request.md"))) == 1  # a replay writes nothing


def test_reveries_own_client_has_one_hash_on_every_wire(tmp_path: Path) -> None:
    with serving(queue := Queue(tmp_path, wait=0)) as server:
        for provider in MODELS:
            assert isinstance(through_reverie(server, curated(SKY), provider), Failed)
        (request,) = queue.pending
        assert "JSON schema of the answer" in request.read_text("utf-8")
        answer_file(request).write_text('{"colour": "blue"}')
        for provider in MODELS:
            reply = through_reverie(server, curated(SKY), provider)
            assert isinstance(reply, Replied)
            assert reply.text == '{"colour": "blue"}'
        assert isinstance(through_reverie(server, curated("Another line.")), Failed)


@pytest.mark.parametrize(
    "same",
    [
        body("S", {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}),
        body(None, {"role": "system", "content": "S"}, {"role": "user", "content": "one\n\ntwo"}),
        body(
            None,
            {"role": "developer", "content": [{"type": "text", "text": "S"}]},
            *({"role": "user", "content": text} for text in ("one", "two\n")),
        ),
        body(
            [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
            {
                "role": "user",
                "content": [{"type": "text", "text": "one\n\ntwo", "cache_control": {"type": "ephemeral"}}],
            },
        ),
    ],
)
def test_the_hash_is_that_of_the_words(same: ReceivedRequest) -> None:
    assert conversation(same).key == conversation(body("S", {"role": "user", "content": "one\n\ntwo"})).key


@pytest.mark.parametrize(
    "other",
    [
        body("T", {"role": "user", "content": "one"}),
        body("S", {"role": "assistant", "content": "one"}),
        body("S", {"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}),
        body(None, {"role": "user", "content": "S"}, {"role": "user", "content": "one"}),
    ],
)
def test_other_words_or_roles_have_another_hash(other: ReceivedRequest) -> None:
    assert conversation(other).key != conversation(body("S", {"role": "user", "content": "one"})).key


def test_the_command_line_queues_and_replays(tmp_path: Path) -> None:
    with command("--queue", str(tmp_path), "--wait", "20") as (url, _), answering(tmp_path, "Blue."):
        assert ask_messages(url) == "Blue."
    with command("--replay", str(tmp_path)) as (url, running):
        assert ask_messages(url) == "Blue."
        with pytest.raises(anthropic.NotFoundError):
            ask_messages(url, "And at night?")
        running.send_signal(signal.SIGINT)
        assert "No recording in" in running.communicate(timeout=20)[1]
        assert running.returncode == 1


@pytest.mark.parametrize("arguments", [["--wait", "3"], ["--replay", "/nowhere"], ["--queue", "a", "--replay", "b"]])
def test_the_command_line_refuses_what_makes_no_sense(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        serve_command(arguments)


@contextmanager
def command(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    code = [sys.executable, "-m", "reverie.testing.model_server", "--port", "0", *arguments]
    with subprocess.Popen(code, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            yield running.stdout.readline().split("Messages at ")[1].split(". ")[0], running
        finally:
            running.terminate()
