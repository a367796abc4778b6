"""What a model costs and how much it reads, from the list that comes with pydantic-ai. Nothing is looked up online."""

from __future__ import annotations

from decimal import Decimal
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from reverie.core.strings import is_loopback
from reverie.llm.budget import FREE, Price
from reverie.llm.choice import Choice

_SAMPLE = 1_000
_PER_MILLION = Decimal(1_000_000) / _SAMPLE


def price_of(choice: Choice) -> Price | None:
    """None where it is not known. What runs on this machine is free."""
    if is_here(choice):
        return FREE
    if choice.given or find_spec("genai_prices") is None:
        return None
    from genai_prices import Usage

    read = _sample(choice, Usage(input_tokens=_SAMPLE))
    written = _sample(choice, Usage(output_tokens=_SAMPLE))
    cached = _sample(choice, Usage(input_tokens=_SAMPLE, cache_read_tokens=_SAMPLE))
    put = _sample(choice, Usage(input_tokens=_SAMPLE, cache_write_tokens=_SAMPLE))
    return None if read is None or written is None else Price(read, written, cached, put)


def context_window(choice: Choice) -> int | None:
    """The number of tokens the model reads, if the list knows it."""
    if choice.given or find_spec("genai_prices") is None:
        return None
    from genai_prices import Usage, calc_price

    try:
        return calc_price(Usage(), choice.model, provider_id=choice.provider).model.context_window
    except LookupError:
        return None


def _sample(choice: Choice, usage: Any) -> Decimal | None:
    from genai_prices import calc_price

    try:
        price: Decimal = calc_price(usage, choice.model, provider_id=choice.provider).total_price
    except LookupError:
        return None
    return price * _PER_MILLION


def is_here(choice: Choice) -> bool:
    """Whether it runs on this machine, or is Ollama, which people run themselves."""
    host = urlsplit(choice.base_url).hostname or ""
    return choice.provider == "ollama" or is_loopback(host)
