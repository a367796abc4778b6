"""Take the secrets out of a text and leave behind what kind they were."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reverie.core.ids import lazy_pattern
from reverie.safety.secrets.named import named_values
from reverie.safety.secrets.placed import command_secrets, headers, key_blocks, secrets_in_addresses
from reverie.safety.secrets.tokens import vendor_tokens
from reverie.safety.secrets.values import SecretSpan, merge_spans, outside

# Taking one secret out can bring another to light: the word before it now ends. Two passes are usual; the limit keeps
# a text made for the purpose from costing more than a fixed multiple of its length.
_MOST_PASSES = 8


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and how many of each kind were in it."""

    text: str
    found: Mapping[str, int]


_placeholder = lazy_pattern(r"\[redacted:[a-z0-9-]{1,32}\]")


def _suspects(text: str) -> Iterator[SecretSpan]:
    # Tokens are ASCII. One byte a character is searched fastest, and "?" keeps every other character's place.
    plain = text if text.isascii() else text.encode("ascii", "replace").decode("ascii")
    lowered = plain.lower()
    yield from vendor_tokens(plain)
    yield from key_blocks(plain)
    yield from secrets_in_addresses(text)
    yield from headers(text, lowered)
    yield from named_values(text, lowered)
    yield from command_secrets(text)


def redact(text: str) -> Redacted:
    """The text with each secret replaced by `[redacted:<kind>]`; everything else keeps its bytes."""
    found: Counter[str] = Counter()
    for _ in range(_MOST_PASSES):
        spans = merge_spans(_suspects(text))
        if "[redacted:" in text:
            spans = list(outside(spans, [found.span() for found in _placeholder().finditer(text)]))
        if not spans:
            break
        found.update(span.kind for span in spans)
        pieces: list[str] = []
        end = 0
        for span in spans:
            pieces += text[end : span.start], f"[redacted:{span.kind}]"
            end = span.end
        text = "".join((*pieces, text[end:]))
    return Redacted(text, dict(found))
