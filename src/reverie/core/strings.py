"""Small things every room does with strings: a plural, a name for a file, a lazy pattern, a machine's name."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from functools import cache, partial

from reverie.core.hashes import sha256

_ODD = re.compile(r"[^a-z0-9]+")


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
