"""Hints name the commands of the program that called: inside Hermes, `hermes dreaming review` instead of `reverie
review`."""

from __future__ import annotations

import re
import sys
from typing import Any, TextIO, cast

# As Hermes has them: what it does not take, such as `reverie dream PATH`, stays as it is.
_HINT = re.compile(r"`reverie (?:(dream(?: --propose)?)|(?:review|status|compact|explain|undo)(?: [^`\s-][^`\s]*)*)`")


def hints_name(program: str) -> None:
    """From now on, in all that is printed."""
    sys.stdout = cast(TextIO, _Renaming(sys.stdout, program))
    sys.stderr = cast(TextIO, _Renaming(sys.stderr, program))


def renamed(text: str) -> str:
    """For what is not printed by itself, but goes through a pager."""
    return sys.stdout.renamed(text) if isinstance(sys.stdout, _Renaming) else text


class _Renaming:
    def __init__(self, stream: TextIO, program: str) -> None:
        self._stream, self._program = stream, program

    def renamed(self, text: str) -> str:
        def hint(found: re.Match[str]) -> str:
            words = found[0].removeprefix("`reverie ")
            return f"`{self._program} {words.replace('dream', 'run', 1) if found[1] else words}"

        return _HINT.sub(hint, text)

    def write(self, text: str) -> int:
        return self._stream.write(self.renamed(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
