"""What an endpoint says about its models at `/models`: how many tokens one reads. Many say nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx2

from reverie.llm.choice import Choice
from reverie.llm.clients.transport import GuardedTransport
from reverie.llm.json_answer import NotJson, json_in_answer

_SECONDS = 10.0
_NAMES = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx", "n_ctx_train")


def listed_context(choice: Choice, key: str | None, places: Sequence[str]) -> int | None:
    """The size of the model's context in tokens, or None."""
    try:
        text = asyncio.run(_listing(choice, key, GuardedTransport(places)))
        found = next(json_in_answer(text), None)
    except (httpx2.HTTPError, TimeoutError, NotJson):
        return None
    return _context(found, choice.model)


async def _listing(choice: Choice, key: str | None, guard: GuardedTransport) -> str:
    place, headers = f"{choice.base_url}/models", {"Authorization": f"Bearer {key}"} if key else {}
    if choice.provider == "anthropic":
        place = f"{choice.base_url}/v1/models"
        headers = {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})
    async with asyncio.timeout(_SECONDS), httpx2.AsyncClient(transport=guard, trust_env=False) as client:
        return (await client.get(place, headers=headers)).text


def _context(listing: object, model: str) -> int | None:
    entries = listing.get("data") if isinstance(listing, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and (entry.get("id") == model or len(entries or ()) == 1):
            return _number(entry) or _number(entry.get("meta"))
    return None


def _number(entry: Any) -> int | None:
    numbers = [entry.get(name) for name in _NAMES] if isinstance(entry, dict) else []
    return next((number for number in numbers if isinstance(number, int) and number > 0), None)
