"""About how many tokens a text is, without a tokenizer: each provider has its own, and most are not public.

Tokenizers split text into words, groups of up to three digits, runs of punctuation and of line ends, and split long
words again. Counting those pieces is within 20 % of what o200k_base (GPT-4o and later) counts for English, German,
French, Chinese, Japanese, Korean, Python, Markdown, JSON and logs (measured; `tests/rooms/test_models_tokens.py` holds
samples with their counts). Languages it was not measured on may be a third too low, lists of paths a third too high.
Other tokenizers make up to a third more tokens: `MARGIN` is for what must not be too low.
"""

from __future__ import annotations

import re
from math import ceil

MARGIN = 1.35
_PIECES = re.compile(
    r"(?P<latin>[^\W\d_\u0370-\uffff\U00010000-\U0010ffff]+)"
    r"|(?P<dense>[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff])"
    r"|(?P<digits>\d{1,3})"
    r"|(?P<lines>\s*[\r\n]+)|(?P<blank>[ \t]{2,})|(?P<space>\s)"
    r"|(?P<other>[^\W\d_]+)"
    r"|(?P<marks>(?:[^\w\s]+|_+)[\r\n]*)"
)


def estimate_tokens(text: str) -> int:
    count = 0.0
    for piece in _PIECES.finditer(text):
        length = piece.end() - piece.start()
        match piece.lastgroup:
            case "latin":
                count += (1 if length <= 6 else length / 6) + (0 if piece.group().isascii() else 0.6)
            case "dense":
                count += 0.75
            case "other":
                count += length / 3
            case "marks":
                count += 0.9 if length <= 3 else length / 3
            case "space":
                pass  # a blank belongs to the word after it
            case _:
                count += 1
    return ceil(count)
