"""The ways in which text that is not the person's comes to stand in their turn. Each takes what to wrap."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

LENGTHS = {"short": 0, "middle": 3, "long": 40}
LANGUAGES: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "languages.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Turn:
    """A user turn with foreign words in it: which, in what wrapper and language, and how long."""

    wrapper: str
    language: str
    length: str
    text: str
    foreign: str


Wrap = Callable[[Mapping[str, Any], Sequence[str]], Iterator[str]]


def _tag(name: str) -> Wrap:
    def wrapped(words: Mapping[str, Any], lines: Sequence[str]) -> Iterator[str]:
        inside, one_line = "\n".join(lines), " ".join(lines)
        yield f"<{name}>\n{inside}\n</{name}>"
        yield f"{words['lead'][0]}\n\n<{name}>\n{inside}\n</{name}>"
        yield f"{words['lead'][1]} <{name}>{one_line}</{name}> {words['tail']}"
        yield f'{words["lead"][0]}\n<{name} source="a.md">\n{inside}\n</{name}>\n\n{words["tail"]}'
        yield f"{words['lead'][0]}\n<{name}>\nx\n</{name}>\n{inside}\n</{name}>"  # closes itself, and goes on
        yield f"{words['lead'][0]}\n<{name}>\n{inside}"  # is never closed

    return wrapped


def _fence(words: Mapping[str, Any], lines: Sequence[str]) -> Iterator[str]:
    inside = "\n".join(lines)
    for fence in ("```", "~~~", "````"):
        yield f"{words['lead'][0]}\n{fence}\n{inside}\n{fence}"
        yield f"{words['lead'][0]}\n{fence}md\nx\n{fence}\n{inside}\n{fence}\n{words['tail']}"
        yield f"{fence}\nx\n{fence}\n\n{inside}"


def _quotation(words: Mapping[str, Any], lines: Sequence[str]) -> Iterator[str]:
    quoted = "\n".join(f"> {line}" for line in lines)
    yield quoted
    yield f"{words['lead'][0]}\n\n{quoted}\n\n{words['tail']}"
    for left, right in ('""', "“”", "„“", "«»", "「」"):
        yield f"{words['lead'][0]} {left}{' '.join([*lines, words['filler'][0], words['filler'][1]])}{right}"


def _mail(words: Mapping[str, Any], lines: Sequence[str]) -> Iterator[str]:
    body = f"{words['greeting']}\n\n" + "\n\n".join(lines) + f"\n\n{words['closing']}"
    yield body
    yield f"{words['lead'][0]}\n\n{body}"
    yield "\n".join(lines) + f"\n{words['closing']}"
    yield f"From: bob@firm.example\nTo: me@firm.example\nSubject: backups\n\n{body}"
    yield f"{words['lead'][1]}\n\n---------- Forwarded message ---------\nFrom: Bob <bob@firm.example>\n\n{body}"


def _chat(words: Mapping[str, Any], lines: Sequence[str]) -> Iterator[str]:
    text = " ".join(lines)
    yield f"Bob Miller  10:32 AM\n{text}"
    yield f"{words['lead'][0]}\nBob Miller  10:32\n{text}\nEve  10:40\nok"
    yield f"bob: {text}\neve: ok\nbob: good"
    yield f"[10:32] bob: {text}"
    yield f"[16.11.26, 10:32:11] Bob: {text}"
    yield f"10:32 bob: {text}"
    yield f"@bob: {text}"
    yield f"Bob Miller: {text}"
    yield f"{words['lead'][0]}\n<bob> {text}\n<eve> ok"
    yield f"bob: {text}"
    yield f"12/03/2026, 09:14 - Bob: {text}"
    yield f"bob — today at 9:12 AM {text}"
    yield f"09:14 < bob> {text}"


def _page(words: Mapping[str, Any], lines: Sequence[str]) -> Iterator[str]:
    text, paragraphs = "\n".join(lines), "\n\n".join(lines)
    yield f"# Backups\n\n{paragraphs}"
    yield f"{lines[0]}\n\n{paragraphs}\n\n- one\n- two"
    yield f"{words['lead'][0]}\n\n{paragraphs}"
    yield f"{words['lead'][0]}\n{text}"
    yield f"{paragraphs}\n\n{words['tail']}"
    yield f"backups fail #412\n\n**Describe the bug**\n{text}\n\n**Steps**\n1. run it\n2. wait"
    yield f"bob commented 3 days ago\n\n{text}"
    yield f"<p>{words['filler'][0]}</p><p>{text}</p>"
    yield f"| a | b |\n|---|---|\n| x | {' '.join(lines)} |"
    yield f"1. {text}\n2. {words['filler'][1]}"
    yield f"- {' '.join(lines)}"
    yield f"{words['filler'][0]}\n---\n{text}\n---"
    yield from (f"{head} {' '.join(lines)}" for head in ("§ 4", "4.2", "12.03.2026", "BERLIN (dpa) -", "Intranet:"))
    yield f"backups fail #412 · bob opened it 2 days ago · {' '.join(lines)}"


def _program(words: Mapping[str, Any], lines: Sequence[str]) -> Iterator[str]:
    text, one_line = "\n".join(lines), " ".join(lines)
    yield f"$ pakko --help\n{text}\n$"
    yield f"{words['lead'][0]}\n\nme@box:~/work$ make\n{text}\nDone in 3.2s"
    yield f"{text}\nDone in 3.2s"
    yield f"[INFO] {one_line}"
    yield f"WARNING: {one_line}"
    yield f"2026-03-01 10:00:02 INFO {one_line}"
    yield json.dumps({"role": "system", "content": one_line}, ensure_ascii=False)
    yield f"{words['lead'][0]}\nnote: >\n  {text}"
    yield f"    {one_line}"
    yield f"diff --git a/x b/x\n+++ b/x\n@@ -1 +1 @@\n+{one_line}"
    yield f"# {one_line}\ndef backup(): ...\n"
    yield f"<!-- {one_line} -->"
    yield from (f"{sign} {one_line}" for sign in ("//", "--", ";", "➜ ~ cat a.txt", "❯", "\u200b>", ".. note::"))
    yield f"feat(backup): {one_line}"
    yield f"NOTES {one_line} SEE ALSO pakko(1)"


def _reported(words: Mapping[str, Any], lines: Sequence[str]) -> Iterator[str]:
    text = " ".join(lines)
    yield from (one.format(rule=text) for one in words["says"])
    yield words["according"].format(rule=text)
    yield f"{words['over']} {text}"


WRAPPERS: Mapping[str, Wrap] = {
    **{name: _tag(name) for name in ("document", "file_content", "webpage", "article", "email")},
    "fence": _fence,
    "quotation": _quotation,
    "mail": _mail,
    "chat": _chat,
    "page": _page,
    "program": _program,
    "reported": _reported,
}


def turns() -> Iterator[Turn]:
    """The whole product. The rule stands first, in the middle or last in what is wrapped."""
    for (language, words), (length, much), (name, wrap) in product(
        LANGUAGES.items(), LENGTHS.items(), WRAPPERS.items()
    ):
        filler = [words["filler"][place % len(words["filler"])] for place in range(much)]
        for rule in words["rule"]:
            places = {0, much // 2, much} if name != "reported" else {0}
            for place in sorted(places):
                lines = [*filler[:place], rule, *filler[place:]]
                for text in wrap(words, lines if name != "reported" else [rule]):
                    yield Turn(name, language, length, text, rule)
