"""How often the skill a task calls for is found, beside plain word overlap, and how often one is found for nothing.

    python benchmarks/skill_matching.py

The weights were chosen on the tasks with even numbers; the line to read is the one for the others.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.skill_matching_set import SKILLS, TASKS
from reverie.skills.amend import draft
from reverie.skills.library import DEFAULT, match
from reverie.skills.skill import Skill, read_skill

Task = tuple[str, frozenset[str]]
Ask = Callable[[str], list[str]]


def main() -> None:
    skills, tasks = library(), labelled()
    halves = {"chosen on": tasks[::2], "held out": tasks[1::2]}
    asks = {"word overlap (BM25)": _bm25(skills), "Reverie": _reverie(skills)}
    for part in ("trigger", "tags", "words", "meaning"):
        asks[f"  without {part}"] = _reverie(skills, **{part: 0.0})
    print(f"{len(skills)} skills, {len(tasks)} tasks, {sum(not gold for _, gold in tasks)} of them call for none")
    print(f"{'':<26}{'':<11}{'hit@1':>7}{'hit@3':>7}{'false matches':>16}")
    for name, ask in asks.items():
        for half, chosen in halves.items():
            print(f"{name:<26}{half:<11}{_line(chosen, ask)}")
    began = time.perf_counter()
    for text, _ in tasks:
        asks["Reverie"](text)
    print(f"{1000 * (time.perf_counter() - began) / len(tasks):.1f} ms a task")


def library() -> list[Skill]:
    made = []
    for line in SKILLS.strip().splitlines():
        name, description, tags, triggers = (part.strip() for part in line.split("|"))
        body = f"# {name}\n\n## Steps\n\n1. Do it as described.\n"
        files = draft(name, body, description=description, tags=tags.split(", "), triggers=triggers.split(", ")).files
        made.append(read_skill(name, files))
    return made


def labelled() -> list[Task]:
    rows = (line.rsplit(" | ", 1) for line in TASKS.strip().splitlines())
    return [(text, frozenset() if gold == "-" else frozenset(gold.split(", "))) for text, gold in rows]


def _line(tasks: Sequence[Task], ask: Ask) -> str:
    found = [(gold, ask(text)) for text, gold in tasks]
    wanted = [(gold, names) for gold, names in found if gold]
    first = sum(bool(gold & set(names[:1])) for gold, names in wanted) / len(wanted)
    three = sum(bool(gold & set(names[:3])) for gold, names in wanted) / len(wanted)
    nothing = [names for gold, names in found if not gold]
    return f"{100 * first:>6.1f}%{100 * three:>6.1f}%{sum(map(bool, nothing)):>10} of {len(nothing)}"


def _reverie(skills: Sequence[Skill], **changed: float) -> Ask:
    weights = replace(DEFAULT, **changed)
    return lambda text: [one.skill.name for one in match(skills, text, weights=weights)]


def _bm25(skills: Sequence[Skill]) -> Ask:
    """Every skill that shares a word of more than three letters, by BM25 over all its words."""

    def words(text: str) -> list[str]:
        return [word for word in re.findall(r"[a-z0-9]+", text.lower()) if len(word) > 3]

    pages = {skill.name: Counter(words(skill.content.decode())) for skill in skills}
    held = Counter(word for page in pages.values() for word in page)
    mean = sum(page.total() for page in pages.values()) / len(pages)

    def ask(text: str) -> list[str]:
        scores: Counter[str] = Counter()
        for name, page in pages.items():
            for word in set(words(text)) & set(page):
                rare = math.log(1 + (len(pages) - held[word] + 0.5) / (held[word] + 0.5))
                scores[name] += rare * page[word] * 2.2 / (page[word] + 1.2 * (0.25 + 0.75 * page.total() / mean))  # type: ignore[assignment]
        return [name for name, _ in scores.most_common(5)]

    return ask


if __name__ == "__main__":
    main()
