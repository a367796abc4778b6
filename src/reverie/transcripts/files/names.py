"""The names of files as they can be kept and shown. On Unix a name is bytes, and not every one of them is text."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes

from reverie.core.hashes import sha256

LONGEST = 1_000  # of what a transcript says about itself
_AS_ADDRESS = "file://"


def kept_name(path: Path) -> str:
    """The path as text; one that is no text as its address, `file:///logs/%FF.jsonl`. Every path has its own."""
    name = str(path)
    try:
        name.encode()
    except UnicodeEncodeError:
        return path.absolute().as_uri()
    return name


def path_of(name: str) -> Path:
    """The path of a kept name."""
    if name.startswith(_AS_ADDRESS):
        return Path(os.fsdecode(unquote_to_bytes(name.removeprefix(_AS_ADDRESS))))
    return Path(name)


def kept_id(text: str) -> str:
    """A name that a database can hold and a person can read, and no other name's. Ids are made of file names, too."""
    text = text.replace("\0", "␀").encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 30]}~{sha256(text)[:24]}"
