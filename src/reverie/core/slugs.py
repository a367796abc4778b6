"""Names of files made from other names."""

from __future__ import annotations

import re

from reverie.core.hashes import sha256

_ODD = re.compile(r"[^a-z0-9]+")


def slug(name: str) -> str:
    """A name for a file: readable, safe everywhere, and never the same for two names."""
    plain = _ODD.sub("-", name.casefold()).strip("-")[:40]
    return plain if plain == name else f"{plain}-{sha256(name)[:8]}".lstrip("-")
