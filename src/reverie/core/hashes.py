"""Content has identity: a canonical form and its SHA-256.

The canonical form of a value is JSON with sorted keys, no spaces and non-ASCII kept, in UTF-8.
"""

from __future__ import annotations

import hashlib
import json


def canonical(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def sha256(content: bytes | str) -> str:
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(raw).hexdigest()
