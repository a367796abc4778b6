"""Secrets are taken out of what is kept."""

from __future__ import annotations

from collections.abc import Mapping


def without_secrets(text: str) -> tuple[str, Mapping[str, int]]:
    from reverie.safety.redact import redact

    redacted = redact(text)
    return redacted.text, redacted.found
