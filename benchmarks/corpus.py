"""Synthetic transcripts for benchmarks: the same for the same seed, on the standard library alone.

Words follow Zipf's law over a vocabulary of made-up but pronounceable words; names, numbers, paths and commands are
mixed in. About 560 characters a message on average, short user messages and long assistant ones.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

VOCABULARY = 40_000
TURNS = 20
COMMON = (
    "the of and to in a is that for it was on are as with be this have from or by we not but what all were when can "
    "there use an each which do how if will up other about out many then them these so some would make like into has "
    "look two more write go see number no way could people my than first been call who its now find long down day did"
).split()
ONSETS, RHYMES = "b c d f g l m n p r s t v st tr pl ch", "a e i o u ai er on in al"
SYLLABLES = [onset + rhyme for onset in ONSETS.split() for rhyme in RHYMES.split()]


class Corpus:
    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        made = {"".join(self._random.choices(SYLLABLES, k=self._random.choice((2, 2, 3, 3, 4)))) for _ in range(60_000)}
        self._words = COMMON + sorted(made)[:VOCABULARY]
        self._random.shuffle(self._words[len(COMMON) :])
        self._weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(self._words))))

    def sessions(self, messages: int, users: int = 50) -> Iterator[dict[str, Any]]:
        for number in range(messages // TURNS):
            yield {
                "id": f"session-{number:07}",
                "user": f"user{number % users:02}",
                "started_at": f"2026-{1 + number % 12:02}-{1 + number % 28:02}T09:00:00Z",
                "title": self._sentence(5),
                "messages": [self._message(turn) for turn in range(TURNS)],
            }

    def short_sessions(self, count: int) -> Iterator[dict[str, Any]]:
        """A sentence in each turn."""
        for number in range(count):
            said = [self._sentence(self._random.randint(8, 20)) for _ in range(TURNS)]
            messages = [{"role": ("user", "assistant")[turn % 2], "content": text} for turn, text in enumerate(said)]
            yield {"id": f"s{number:07}", "user": f"user{number % 50:02}", "messages": messages}

    def _message(self, turn: int) -> dict[str, str]:
        role = ("user", "assistant")[turn % 2]
        sentences = self._random.randint(1, 4) if role == "user" else self._random.randint(4, 18)
        return {
            "role": role,
            "content": " ".join(self._sentence(self._random.randint(5, 16)) for _ in range(sentences)),
        }

    def _sentence(self, length: int) -> str:
        words = self._random.choices(self._words, cum_weights=self._weights, k=length)
        if self._random.random() < 0.15:
            words[0] = f"/srv/{words[0]}/{words[-1]}_{self._random.randint(1, 99)}.py"
        if self._random.random() < 0.2:
            words[-1] = str(self._random.randint(1, 9999))
        return " ".join(words).capitalize() + "."

    def questions(self, count: int) -> list[str]:
        """A few content words in a question's clothes."""
        return [
            f"when did we {' '.join(self._random.choices(self._words, cum_weights=self._weights, k=4))} for "
            f"{self._random.choice(self._words[60:5000])}?"
            for _ in range(count)
        ]
