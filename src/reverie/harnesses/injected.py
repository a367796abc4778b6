"""What harnesses write inside the text of a message: words put into a person's message (pages, files, quoted messages,
descriptions, notes of their own), and in an answer thoughts, calls, and how a call ended.

A Form says how such a block begins and ends. `told_apart` splits a message into what the person wrote and what was put
there; the second becomes a turn of its own with Origin `tool`. The forms of each harness, from its own source, stand in
`injected.toml`, with the version that writes them; `docs/foreign-text.md` lists them for people.

A block may hold anything, also something that looks like its own end. So a block ends at the *last* place that could
be its end, and one without an end takes all that follows: rather words of the person are not counted as theirs than
words of a stranger are.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from reverie.core.scope import Origin
from reverie.transcripts.json_streams import parsed_beginning, string_or_none
from reverie.transcripts.messages import arguments_text
from reverie.transcripts.session import Said, ToolCall

_VISIBLE = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Form:
    """The way a harness writes one kind of foreign block.

    It stands before the person's words, or with `anywhere` at any place. Without `closes` it takes the rest of the
    message. `within`: the harness cuts it to so many characters, so that its end is not looked for beyond. `first`: it
    holds nothing foreign that could look like its end (a file's name, an id), and ends at the first. Not `kept`: it
    only tells what was open or who wrote, and is left out of the transcript. `paired`: what is never closed is no such
    block, but somebody speaking of one.
    """

    name: str
    opens: re.Pattern[str]
    closes: re.Pattern[str] | None = None
    anywhere: bool = False
    within: int | None = None
    first: bool = False
    kept: bool = True
    paired: bool = False

    def end(self, text: str, opened: re.Match[str]) -> int:
        if self.closes is None:
            return len(text)
        limit = len(text) if self.within is None else min(len(text), opened.end() + self.within)
        ends = (found.end() for found in self.closes.finditer(text, opened.end(), limit))
        return next(ends, len(text)) if self.first else max(ends, default=len(text))


def tag_block(name: str) -> Form:
    """A block between `<name …>` and `</name>`, wherever it stands."""
    opens = re.compile(rf"<{name}(?:\s[^<>]{{0,400}})?>")
    return Form(name, opens, re.compile(rf"</{name}>\s*"), anywhere=True, paired=True)


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of a message. `form` is None where the person wrote it."""

    text: str
    form: Form | None = None


def told_apart(text: str, forms: Iterable[Form]) -> list[MessagePart]:
    """The message as the person's parts and the harness's, in order. Whitespace between them is nobody's."""
    leading, anywhere = list[Form](), list[Form]()
    for form in forms:
        (anywhere if form.anywhere else leading).append(form)
    pieces, place = list[MessagePart](), 0
    while place < len(text):
        start = found.start() if (found := _VISIBLE.search(text, place)) else len(text)
        opened = next(((form, found) for form in leading if (found := form.opens.match(text, start))), None)
        if opened is None:
            break
        place = opened[0].end(text, opened[1])
        pieces.append(MessagePart(text[start:place].strip(), opened[0]))
    return [*pieces, *_among(text, place, anywhere)]


def _among(text: str, place: int, forms: list[Form]) -> Iterator[MessagePart]:
    """Each form is looked for once up to where it stands next, so that a message of many blocks is read in one pass."""
    forms = [one for one in forms if not (one.paired and one.closes and not one.closes.search(text, place))]
    ahead = [(form, found) for form in forms if (found := form.opens.search(text, place))]
    while place < len(text):
        ahead = [
            (form, again)
            for form, found in ahead
            if (again := found if found.start() >= place else form.opens.search(text, place))
        ]
        form, found = min(ahead, key=lambda one: one[1].start(), default=(None, None))
        start = found.start() if found else len(text)
        if own := text[place:start].strip():
            yield MessagePart(own)
        if form is None or found is None:
            return
        place = form.end(text, found)
        yield MessagePart(text[start:place].strip(), form)


def said_apart(message: Said, forms: Iterable[Form]) -> list[Said]:
    """The message, or its parts: the person's as they were, the others as a tool's. One that is not the person's at
    all, or holds nothing foreign, stays as it is."""
    if message.role != "user" or message.origin is Origin.TOOL:
        return [message]
    pieces = told_apart(message.text, forms)
    return in_pieces(message, pieces) if any(piece.form for piece in pieces) else [message]


def in_pieces(message: Said, pieces: Iterable[MessagePart]) -> list[Said]:
    return [
        replace(message, text=piece.text)
        if piece.form is None
        else Said("tool", piece.text, name=piece.form.name, at=message.at, noise=message.noise, origin=Origin.TOOL)
        for piece in pieces
        if piece.text and (piece.form is None or piece.form.kept)
    ]


def _forms(harness: str) -> tuple[Form, ...]:
    made = list[Form]()
    for form in _TABLE[harness].get("forms", ()):
        patterns: dict[str, Any] = {key: re.compile(form[key]) for key in ("opens", "closes") if key in form}
        made.append(Form(**form | patterns))
    return (*made, *map(tag_block, _TABLE[harness].get("tags", "").split()))


_TABLE: Mapping[str, Any] = tomllib.loads((files("reverie.harnesses") / "injected.toml").read_text("utf-8"))
HERMES, CLAUDE_CODE, CODEX = _forms("hermes"), _forms("claude_code"), _forms("codex")
GEMINI_CLI, OPENCLAW = _forms("gemini_cli"), _forms("openclaw")


def written_openings(harness: str) -> tuple[str, ...]:
    """The openings of messages that the harness wrote in a person's place."""
    return tuple(_TABLE[harness]["begins"].strip("\n").splitlines())


_THOUGHT_TAGS = ("think", "thinking", "REASONING_SCRATCHPAD")
_CALL_OPENS, _CALL_CLOSES = "<tool_call>", "</tool_call>"
_PARSED_CHARS = 4_000_000  # a result longer than this is output, not a statement about how the call ended
_BAD_STATUS = {"error", "failed", "failure", "timeout"}


def spoken(text: str) -> str:
    """The text without its thoughts. An opening tag that is never closed is a cut-off thought."""
    for tag in _THOUGHT_TAGS:
        if f"<{tag}>" in text:
            text = re.sub(rf"<{tag}>.*?(?:</{tag}>|\Z)", "", text, flags=re.DOTALL).strip()
    return text


def calls_out_of(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Take `<tool_call>{…}</tool_call>` out of a text. One that is not JSON stays in the words."""
    if _CALL_OPENS not in text:
        return text, ()
    words, calls = [], []
    for place, piece in enumerate(text.split(_CALL_OPENS)):
        inside, closed, behind = piece.partition(_CALL_CLOSES)
        call = json_object(inside) if place and closed else None
        if call is None or not isinstance(call.get("name"), str):
            words.append(_CALL_OPENS + piece if place else piece)
        else:
            calls.append(ToolCall(call["name"], arguments_text(call.get("arguments")), string_or_none(call.get("id"))))
            words.append(behind)
    return "".join(words).strip(), tuple(calls)


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object a text begins with, if it does; harnesses put remarks behind it."""
    text = text.lstrip() if len(text) <= _PARSED_CHARS else ""
    if not text.startswith("{"):
        return None
    try:
        value = parsed_beginning(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def how_call_failed(result: Mapping[str, Any] | None) -> bool | None:
    """Whether a call failed, where its result says so: `exit_code`, `success`, `error`, `status`; else None."""
    if result is None:
        return None
    code = result.get("exit_code", result.get("returncode"))
    succeeded, error = result.get("success"), result.get("error")
    if succeeded is False or error or (isinstance(code, int) and code != 0):
        return True
    if str(result.get("status")).lower() in _BAD_STATUS:
        return True
    return False if succeeded is True or code == 0 else None
