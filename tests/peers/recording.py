"""Writes down what is typed and shown while a contract test runs, if `REVERIE_RECORD` names a folder. `docs/stories.py`
makes the page of it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from reverie.transcripts.session import dashed

_WHERE = os.environ.get("REVERIE_RECORD", "")
_LONGEST = 40  # lines of one answer


def record(story: str, words: Sequence[str], shown: str, places: Sequence[tuple[Path, str]]) -> None:
    """One command and what it said, with the folders of the test in the words of a person's machine."""
    if not _WHERE:
        return
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).strip().splitlines()
    more = [f"… ({len(lines) - _LONGEST} more lines)"] if len(lines) > _LONGEST else []
    text = "\n".join([f"$ {shlex.join(words)}", *lines[:_LONGEST], *more])
    for folder, name in places:
        text = text.replace(str(folder), name).replace(dashed(str(folder)), f"-{name.strip('~/')}home-ann")
    with Path(_WHERE, f"{story}.txt").open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def record_request(story: str, request: str, words: str) -> None:
    """That these words stand in what the agent sent to its model, with what is around them."""
    at = request.find(words)
    around = request[max(0, at - 60) : at + len(words) + 60].replace("\\n", " ").replace("\\", "")
    around = re.sub(r"/(?:dev/shm|tmp)/\S*", "~", re.sub(r"\S*/home/", "~/", around))
    around = re.sub(r"(\[[^]]*\])\([^)]*\)", r"\1", around)  # links of theirs lead nowhere in our docs
    record(story, ["show-request"], f"… {' '.join(around.split())} …", [])
