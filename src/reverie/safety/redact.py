"""Take the secrets out of a text and leave behind what kind they were; and stand-ins for people's identifiers in what
leaves the machine, with the way back.

A model can reason about `<mail-1>` as well as about the address; it only has to be the same one each time. Restoring is
exact, so that a quotation in the model's answer can be held against the original text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from reverie.core.ids import lazy_pattern
from reverie.safety.identifiers import accounts, cards, ibans, mail_addresses, national_ids, phones, street_addresses
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


def redact(text: str) -> Redacted:
    """The text with each secret replaced by `[redacted:<kind>]`; everything else keeps its bytes."""
    found: Counter[str] = Counter()
    for _ in range(_MOST_PASSES):
        # Tokens are ASCII. One byte a character is searched fastest, and "?" keeps every other character's place.
        plain = text if text.isascii() else text.encode("ascii", "replace").decode("ascii")
        lowered = plain.lower()
        placed = (key_blocks(plain), secrets_in_addresses(text), headers(text, lowered), command_secrets(text))
        spans = merge_spans(chain(vendor_tokens(plain), *placed, named_values(text, lowered)))
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


# What already reads like a stand-in is given one itself, so that restoring cannot mistake it for ours.
_MARK = "mark"
# The surer a shape, the earlier: where two overlap, the surer one names the whole stretch.
_KINDS = ("mail", "iban", "card", "id", "account", "phone", "address")


_stand_in = lazy_pattern(rf"<(?:{'|'.join((*_KINDS, _MARK))})-[0-9]{{1,12}}(?:\.[0-9]{{1,12}})?>")


def _spans(text: str) -> list[SecretSpan]:
    """Disjoint stretches in text order. No stretch but a mark's holds an angle bracket: the way back rests on that."""
    marks = [SecretSpan(*found.span(), _MARK) for found in _stand_in().finditer(text)]
    finders = [mail_addresses] if "@" in text or "at" in text else []
    if any(map(str.isdecimal, text)):
        finders += [ibans, cards, national_ids, accounts, phones, street_addresses]
    found = (span for finder in finders for span in finder(text))
    suspects = sorted(span for span in found if not re.search("[<>]", text[span.start : span.end]))
    result: list[SecretSpan] = []
    for span in outside(suspects, [(mark.start, mark.end) for mark in marks]):
        if result and span.start < result[-1].end:
            last = result[-1]
            result[-1] = SecretSpan(last.start, max(last.end, span.end), min(last.kind, span.kind, key=_KINDS.index))
        else:
            result.append(span)
    return sorted([*result, *marks])


def _identity(kind: str, words: str) -> str:
    """The form of an identifier that is the same however it is written."""
    if kind == _MARK:
        return words
    if kind == "mail":
        return re.sub(r"\s*[\[(]at[\])]\s*", "@", re.sub(r"\s*[\[(]dot[\])]\s*", ".", words.casefold()))
    same = re.sub(r"[\W_]+", "", words.casefold())
    if kind != "phone":
        return same
    # A trunk prefix in brackets is not dialled from abroad; ten digits of North America are eleven with the country.
    digits = re.sub(r"\D+", "", re.sub(r"(?<=\d) ?\(0\) ?", "", words)).removeprefix("00")
    return f"1{digits}" if len(digits) == 10 and digits[0] in "23456789" else digits


class Pseudonyms:
    """One cover name per identifier, for as long as this object lives.

    `<mail-1>` is the first mail address met; `<mail-1.2>` is the same address in its second spelling. Every text handed
    to `replaced` comes back from `restored` to the character, also text that had such words in it before.
    """

    def __init__(self) -> None:
        self._spellings: dict[tuple[str, str], list[str]] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._given: dict[tuple[str, str], str] = {}
        self._originals: dict[str, str] = {}
        self._found: Counter[str] = Counter()

    @property
    def found(self) -> Mapping[str, int]:
        """The number of different identifiers of each kind met so far."""
        return {kind: count for kind, count in self._found.items() if kind != _MARK}

    def replaced(self, text: str) -> str:
        """The text with each identifier's stand-in. Everything else keeps its bytes."""
        pieces: list[str] = []
        end = 0
        for span in _spans(text):
            pieces += text[end : span.start], self._named(span.kind, text[span.start : span.end])
            end = span.end
        return "".join((*pieces, text[end:]))

    def restored(self, text: str) -> str:
        """The text with every stand-in that was given out turned back; one that never was stays as it is."""
        return _stand_in().sub(lambda found: self._originals.get(found[0], found[0]), text)

    def _named(self, kind: str, words: str) -> str:
        if known := self._given.get((kind, words)):
            return known
        key = (kind, _identity(kind, words))
        if key not in self._numbers:
            self._found[kind] += 1
            self._numbers[key] = self._found[kind]
        spellings = self._spellings.setdefault(key, [])
        spellings.append(words)
        number = f"{self._numbers[key]}.{len(spellings)}" if len(spellings) > 1 else str(self._numbers[key])
        name = f"<{kind}-{number}>"
        self._given[kind, words] = name
        self._originals[name] = words
        return name
