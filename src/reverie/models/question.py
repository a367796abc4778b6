"""What a model is asked, and what may come back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from reverie.kernel.hashes import canonical, sha256
from reverie.models.choice import Role
from reverie.models.schema import Shape, json_schema

_FRAMING = 256  # tokens a provider may add around two messages and a schema


@dataclass(frozen=True, slots=True)
class Question:
    """`system` is ours, the same for every question of a prompt; what others wrote stands in `user`, between marks.

    `mark` is the word they are made of, another one each time.
    """

    role: Role
    prompt: str
    prompt_sha256: str
    system: str
    user: str
    shape: Shape
    sent_characters: int = 0
    of_characters: int = 0
    mark: str = ""

    @property
    def sha256(self) -> str:
        """The same for the same question, whatever its marks."""
        asked = self.user.replace(self.mark, "") if self.mark else self.user
        return sha256(canonical([self.prompt_sha256, self.system, asked, json_schema(self.shape)]))

    @property
    def worst_tokens(self) -> int:
        """No tokenizer makes more tokens than bytes. The schema may be sent twice: as text and as a schema."""
        texts = len(self.system.encode("utf-8", "replace")) + len(self.user.encode("utf-8", "replace"))
        return texts + len(canonical(json_schema(self.shape))) + _FRAMING


@dataclass(frozen=True, slots=True)
class Usage:
    """What a provider says it read and wrote. `cached` is part of `tokens_in`."""

    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0

    @property
    def total(self) -> int:
        return self.tokens_in + self.tokens_out

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out, self.cached + other.cached)


@dataclass(frozen=True, slots=True)
class Replied:
    """The text of a reply, unread. `usage` is None where the provider did not say."""

    text: str
    usage: Usage | None
    seconds: float
    cut_short: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """No reply. `again` says whether it may go better next time, `wait` how long the provider asks us to stay away.

    `billed` says that it may have cost something all the same. `why` is in our own words.
    """

    why: str
    seconds: float
    again: bool = False
    wait: float | None = None
    billed: bool = False
    usage: Usage | None = None


Reply = Replied | Failed


class Model(Protocol):
    """The port: one question, one request, within so many seconds. It never raises for what a provider does."""

    @property
    def name(self) -> str: ...

    def ask(self, question: Question, most_tokens: int, seconds: float) -> Reply: ...
