"""Bodies that can be understood in one way only: JSON in UTF-8, every name of an object once.

A proxy, a log or a filter in front of this server may be another reader. Where two readers could take one body for two
different things, it is refused.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.types import Message, Receive

from reverie.server.errors import Problem


async def one_reading(receive: Receive) -> Receive:
    """The same body, once it is there and was looked at."""
    messages: list[Message] = []
    while not messages or messages[-1].get("more_body", False):
        messages.append(await receive())
    check_body(b"".join(message.get("body", b"") for message in messages))
    waiting = iter(messages)

    async def again() -> Message:
        return next(waiting, None) or await receive()

    return again


def check_body(raw: bytes) -> None:
    """Raises where it is ambiguous. What is no JSON at all is told by whoever reads it."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise Problem(400, "The body is not UTF-8.") from error
    if "\0" in text:  # UTF-16 and UTF-32 of anything plain
        raise Problem(400, "The body is not UTF-8.")
    try:
        json.loads(text, object_pairs_hook=_once)
    except RecursionError as error:
        raise Problem(400, "The body is nested too deeply.") from error
    except ValueError:
        return


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(members)
    if len(made) < len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise Problem(400, f"The body has the name {twice[:100]!r} twice in one object.")
    return made
