"""The sessions of a life, day by day: the same for the same seed."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.lives.life import Everyday, Fact, Life, Value

FIRST_DAY = datetime(2026, 1, 12, tzinfo=UTC)
Message = dict[str, Any]
Told = dict[int, list[tuple[str, str]]]
_SPEAKER = re.compile(r"^([UACT]): ", re.MULTILINE)
_ROLES = {"U": "user", "A": "assistant"}


@dataclass(frozen=True, slots=True)
class Lived:
    """`said`: for each fact the first and the last day each of its values is said on."""

    life: Life
    days: tuple[tuple[Mapping[str, Any], ...], ...]
    said: dict[str, list[tuple[int, int]]]

    def settled(self, fact: Fact, day: int) -> Sequence[Value]:
        """The values that had been said completely by the end of a day, oldest first: the last one holds."""
        return fact.values[: sum(last <= day for _, last in self.said[fact.name])]

    def begun(self, fact: Fact, day: int) -> Sequence[Value]:
        """Those that had been said at all by then."""
        return fact.values[: sum(first <= day for first, _ in self.said[fact.name])]


def live(life: Life, seed: int, nights: int) -> Lived:
    chance = random.Random(f"{life.name}/{seed}")
    told, said = _planted(life, chance)
    days = tuple(tuple(_day(life, day, told[day], chance)) for day in range(1, nights + 1))
    return Lived(life, days, said)


def night_after(day: int) -> datetime:
    return FIRST_DAY + timedelta(days=day, hours=3)


def _planted(life: Life, chance: random.Random) -> tuple[Told, dict[str, list[tuple[int, int]]]]:
    """By day, who says what; and when the values of each fact are said."""
    told: Told = defaultdict(list)
    said: dict[str, list[tuple[int, int]]] = {}
    for fact in life.facts:
        later = chance.randint(0, 2)
        said[fact.name] = [(min(value.days) + later, max(value.days) + later) for value in fact.values]
        for value in fact.values:
            wordings = chance.sample(value.words, len(value.words))
            for number, day in enumerate(value.days):
                told[day + later].append((life.owner, wordings[number % len(wordings)]))
    for one in (*life.others, *life.private, *life.attacks):
        later = chance.randint(0, 2)
        for day in one.days:
            told[day + later].append((one.person or life.owner, chance.choice(one.scripts)))
    return told, said


def _day(life: Life, day: int, told: list[tuple[str, str]], chance: random.Random) -> Iterator[Mapping[str, Any]]:
    """What is to be said is spread over two to six sessions; other people have their own."""
    own = [words for person, words in told if person == life.owner]
    chance.shuffle(own)
    count = max(chance.randint(2, 6), -(-len(own) // 2))
    parts = [(life.owner, own[number::count]) for number in range(count)]
    parts += [(person, [words]) for person, words in told if person != life.owner]
    for number, (person, words) in enumerate(parts):
        at = FIRST_DAY + timedelta(days=day - 1, hours=7, minutes=number * 70 + chance.randint(0, 50))
        messages = _session(words, life.everyday, chance)
        name = f"{life.name}-{day:02}-{number}"
        yield {"id": name, "user": person, "started_at": f"{at:%Y-%m-%dT%H:%M:%SZ}", "messages": messages}


def _session(planted: list[str], everyday: Everyday, chance: random.Random) -> list[Message]:
    parts = [_spoken(words, everyday, chance) for words in planted]
    parts += [chance.choice(everyday.scripts).strip() for _ in range(chance.randint(0 if planted else 1, 2))]
    chance.shuffle(parts)
    if any(part.startswith("A: ") for part in parts):  # a correction needs something before it
        parts = [chance.choice(everyday.scripts).strip(), *parts]
    words = {name: chance.choice(choices) for name, choices in everyday.words.items()}
    words |= {"n": str(chance.randint(100, 999)), "d": str(chance.randint(3, 19))}
    return [message for number, part in enumerate(parts) for message in _messages(_filled(part, words), number)]


def _spoken(words: str, everyday: Everyday, chance: random.Random) -> str:
    """Bare words are said by the owner, sometimes with a lead-in, and answered."""
    script = words.strip()
    if "U: " in script:
        return script if script.startswith("U: ") else f"{script}\nA: {chance.choice(everyday.agree)}"
    return f"U: {chance.choice(everyday.before)}{script}\nA: {chance.choice(everyday.agree)}"


def _filled(script: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: words.get(found[1], found[0]), script)


def _messages(script: str, part: int) -> Iterator[Message]:
    """Lines of `U:` the user, `A:` the agent, `C:` a call of a tool with its arguments, `T:` what it gave."""
    pieces = _SPEAKER.split(script.strip())[1:]
    for number, (who, text) in enumerate(zip(pieces[::2], pieces[1::2], strict=True)):
        call = f"call_{part}_{number - (who == 'T')}"
        match who:
            case "C":
                name, _, arguments = text.strip().partition(" ")
                function = {"name": name, "arguments": json.dumps(json.loads(arguments))}
                calls = [{"id": call, "type": "function", "function": function}]
                yield {"role": "assistant", "content": "", "tool_calls": calls}
            case "T":
                yield {"role": "tool", "tool_call_id": call, "content": text.strip()}
            case _:
                yield {"role": _ROLES[who], "content": text.strip()}
