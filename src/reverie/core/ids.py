"""Ids, hashes, and what else is done with names and strings everywhere.

`<prefix>_<ULID>` sorts by time; two of one millisecond keep their order within a process. People may type any beginning
that only one has, with or without the word in front of the underscore.

Content has identity: a canonical form and its SHA-256. The canonical form of a value is JSON with sorted keys, no
spaces and non-ASCII kept, in UTF-8.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache, partial
from itertools import repeat
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from reverie.core.clock import Clock, rfc3339
from reverie.core.errors import BadInput

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80
IdKind = Literal["proposal", "change", "dream", "session", "entry", "candidate"]
HEADS: dict[IdKind, str] = {"proposal": "prop_", "change": "chg_", "dream": "drm_", "entry": "ent_", "session": ""}
_MOST_SHOWN = 6
_ODD = re.compile(r"[^a-z0-9]+")
_Value = TypeVar("_Value")


def canonical(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def sha256(content: bytes | str) -> str:
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(raw).hexdigest()


def json_ready(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_ready(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, Mapping):
        return {str(key): json_ready(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_ready(inner) for inner in value]
    return value


def values_of(value: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def from_json(kind: type[_Value], value: Any) -> _Value:
    """The dataclass that JSON or a row tells of: what it does not name is as by default, what it names more is left.
    Parts that are dataclasses already stay as they are."""
    read: _Value = _read(kind, value)
    return read


def _read(kind: Any, value: Any) -> Any:
    if value is None or type(value) is kind or is_dataclass(value):
        return value
    if get_origin(kind) is tuple:
        parts = get_args(kind)
        return tuple(map(_read, repeat(parts[0]) if parts[-1] is ... else parts, value))
    if not isinstance(kind, type) or isinstance(value, kind):
        return value
    if is_dataclass(kind):
        return kind(**{name: _read(part, value[name]) for name, part in _parts(kind).items() if name in value})
    if kind is datetime:
        return datetime.fromisoformat(value)
    return kind(value) if issubclass(kind, Enum) else value


@cache
def _parts(kind: type) -> dict[str, Any]:
    """The kind of each field, of one that may be None without that."""
    hints = get_type_hints(kind).items()
    return {name: get_args(hint)[0] if isinstance(hint, UnionType) else hint for name, hint in hints}


class Ids:
    """Makes ids from a clock and a source of random bits, so that tests can fix both."""

    def __init__(self, clock: Clock, bits: Callable[[int], int] = secrets.randbits) -> None:
        self._clock = clock
        self._bits = bits
        self._last = 0
        self._lock = threading.Lock()

    def new(self, prefix: str) -> str:
        with self._lock:
            milliseconds = int(self._clock.now().timestamp() * 1000)
            fresh = milliseconds << _RANDOM_BITS | self._bits(_RANDOM_BITS)
            same_or_back = fresh >> _RANDOM_BITS <= self._last >> _RANDOM_BITS
            self._last = self._last + 1 if same_or_back and self._last else fresh
            return prefix + "_" + "".join(_ALPHABET[self._last >> shift & 31] for shift in range(125, -1, -5))


def beginnings(kind: IdKind, typed: str) -> list[str]:
    """The beginnings the id that is meant may have. Ours are in capitals behind their head."""
    head = HEADS.get(kind, "")
    if not head or not typed:
        return [typed] if typed else []
    rest = typed[len(head) :] if typed.lower().startswith(head) else typed
    return [typed, f"{head}{rest.upper()}"]


def full_id(kind: IdKind, typed: str, known: Iterable[str]) -> str:
    """The one id of those known that is meant; what was typed if there is none, so that it can be told as missing."""
    wanted = beginnings(kind, typed)
    found = sorted({one for one in known if any(one.startswith(start) for start in wanted)})
    exact = [one for one in wanted if one in found]
    if exact or len(found) <= 1:
        return (exact or found or [typed])[0]
    more = f" and {len(found) - _MOST_SHOWN:,} more" if len(found) > _MOST_SHOWN else ""
    noun = {"entry": "entries"}.get(kind, f"{kind}s")
    raise BadInput(
        f"{typed!r} is the beginning of {len(found):,} {noun}: {', '.join(found[:_MOST_SHOWN])}{more}.",
        expected="as much of one of them as no other has",
    )


def slug(name: str) -> str:
    """A name for a file: readable, safe everywhere, and never the same for two names."""
    plain = _ODD.sub("-", name.casefold()).strip("-")[:40]
    return plain if plain == name else f"{plain}-{sha256(name)[:8]}".lstrip("-")


def plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def lazy_pattern(pattern: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """Compiled when it is first needed: some take milliseconds, and most commands need none."""
    return cache(partial(re.compile, pattern, flags))


def is_loopback(host: str) -> bool:
    """Whether a name or address of a machine is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
