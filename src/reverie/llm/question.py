"""What a model is asked, and what may come back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from reverie.core.hashes import canonical, sha256
from reverie.llm.tokens import estimate_tokens

T = TypeVar("T")
_FRAMING = 64  # tokens a provider adds around the messages


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
