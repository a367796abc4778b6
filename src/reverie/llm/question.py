"""What a model is asked, about how many tokens that is, and what may come back.

The JSON in an answer is found behind thinking, prose and code fences; the value itself is strict. Two readers must not
read a value differently: an object with a key twice and a number that is none become null, wherever they stand, so that
one bad item of a list is one bad item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil
from typing import Any, Generic, Protocol, TypeVar

from reverie.core.ids import canonical, sha256

MARGIN = 1.35
_PIECES = re.compile(
    r"(?P<latin>[^\W\d_\u0370-\uffff\U00010000-\U0010ffff]+)"
    r"|(?P<dense>[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff])"
    r"|(?P<digits>\d{1,3})"
    r"|(?P<lines>\s*[\r\n]+)|(?P<blank>[ \t]{2,})|(?P<space>\s)"
    r"|(?P<other>[^\W\d_]+)"
    r"|(?P<marks>(?:[^\w\s]+|_+)[\r\n]*)"
)
T = TypeVar("T")
_FRAMING = 64  # tokens a provider adds around the messages
LONGEST = 1_000_000  # characters
_MOST_STARTS = 2_000  # braces and brackets that begin no value: each costs time
_THINKING = re.compile(r"\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_THOUGHT = re.compile(r".*?</think(?:ing)?>", re.DOTALL)  # some servers leave out where it begins
_START = re.compile(r"[{\[]")


def estimate_tokens(text: str) -> int:
    count = 0.0
    for piece in _PIECES.finditer(text):
        length = piece.end() - piece.start()
        match piece.lastgroup:
            case "latin":
                count += (1 if length <= 6 else length / 6) + (0 if piece.group().isascii() else 0.6)
            case "dense":
                count += 0.75
            case "other":
                count += length / 3
            case "marks":
                count += 0.9 if length <= 3 else length / 3
            case "space":
                pass  # a blank belongs to the word after it
            case _:
                count += 1
    return ceil(count)


class Role(StrEnum):
    """The purpose a model is asked for: to curate a night, or to take notes of one session that is too long for the
    night's Brief."""

    CURATE = "curate"
    NOTES = "notes"


@dataclass(frozen=True, slots=True)
class Wrong:
    """Why an answer cannot be used: one sentence, which the model is told before it is asked once more."""

    why: str


@dataclass(frozen=True, slots=True)
class CorrectedAnswer:
    """An answer that could not be used, and what the model was told about it."""

    answer: str
    correction: str


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """`system` is ours and the same every night, so that providers can cache it; what others wrote stands in `user`.

    `read` makes the value of the parsed JSON, or says what is wrong with it. It judges the answer as a whole; whether
    each item of a list is well-formed is for whoever uses the list. `shape` is a JSON schema that is sent along where
    the endpoint takes one; most prompts do better without. `earlier` is what was said before in
    the same conversation.
    """

    role: Role
    prompt: str
    prompt_sha256: str
    system: str
    user: str
    read: Callable[[object], T | Wrong] = field(compare=False)
    shape: Mapping[str, Any] | None = None
    sent_characters: int = 0
    of_characters: int = 0
    earlier: tuple[CorrectedAnswer, ...] = ()

    @property
    def sha256(self) -> str:
        """The same for the same question, whatever was answered to it."""
        return sha256(canonical([self.prompt_sha256, self.system, self.user, self.shape]))

    @property
    def tokens(self) -> int:
        """About how many tokens the model has to read."""
        said = (text for one in self.earlier for text in (one.answer, one.correction))
        shape = json.dumps(self.shape) if self.shape else ""
        return sum(map(estimate_tokens, (self.system, self.user, shape, *said))) + _FRAMING


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens a provider says it read and wrote. `cached` and `cache_written` are parts of `tokens_in`: what was
    read from the provider's cache, and what was put into it."""

    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    cache_written: int = 0

    @property
    def total(self) -> int:
        return self.tokens_in + self.tokens_out

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.cached + other.cached,
            self.cache_written + other.cache_written,
        )


@dataclass(frozen=True, slots=True)
class Replied:
    """The text of a reply, unread. `usage` is None where the provider did not say. `cut_short`: it reached the limit of
    its length."""

    text: str
    usage: Usage | None
    seconds: float
    cut_short: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """No reply. `why` is in our own words: a provider's message may hold anything.

    `again`: it may go better next time. `wait`: how long the provider asks us to stay away. `billed`: it may have cost
    something all the same. `denied`: the key was refused. `lasting`: every other question would fail in the same way.
    `too_big`: question and answer together do not fit; less room for the answer may help.
    """

    why: str
    seconds: float
    again: bool = False
    wait: float | None = None
    billed: bool = False
    usage: Usage | None = None
    denied: bool = False
    lasting: bool = False
    too_big: bool = False


Reply = Replied | Failed


class Model(Protocol):
    """The port: one question, one request, within so many seconds. It never raises for what a provider does."""

    @property
    def name(self) -> str: ...

    def ask(self, question: Question[Any], most_tokens: int, seconds: float) -> Reply: ...


class NotJson(ValueError):
    """Why there is no value to take, to be told to the model."""


def json_in_answer(text: str) -> Iterator[object]:
    """The objects and arrays in an answer, in their order; none inside another. `NotJson` where there is none."""
    if not text.strip():
        raise NotJson("it is empty")
    if len(text) > LONGEST:
        raise NotJson(f"it is longer than {LONGEST:,} characters")
    rest = _THINKING.sub("", text, count=1) if _THINKING.match(text) else text
    if rest is text and (thought := _THOUGHT.match(text)) and not text.lstrip().startswith(("{", "[")):
        rest = text[thought.end() :]
    found = False
    for value in _parsed(rest):
        found = True
        yield value
    if not found:
        raise NotJson("it holds no complete JSON object or array")


def _parsed(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder(
        object_pairs_hook=lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else None,
        parse_constant=lambda name: None,
    )
    place = starts = 0
    while (start := _START.search(text, place)) and starts < _MOST_STARTS:
        try:
            value, place = decoder.raw_decode(text, start.start())
        except json.JSONDecodeError as error:  # what stands before the mistake is part of something broken
            place, starts = max(error.pos, start.end()), starts + 1
        except RecursionError as error:
            raise NotJson("it is nested too deeply") from error
        except ValueError as error:
            raise NotJson("it holds a number that is too long") from error
        else:
            if value is None:
                raise NotJson("a key stands in it twice")
            written = json.dumps(value, ensure_ascii=False)
            try:
                written.encode()
            except UnicodeEncodeError:  # `?` for half a character (a lone surrogate), which no file can hold
                value = json.loads(written.encode("utf-8", "replace"))
            yield value
