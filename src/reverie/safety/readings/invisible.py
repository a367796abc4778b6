"""Characters that are read but not seen, and the writing systems and emoji that need them."""

from collections.abc import Iterator

from reverie.core.strings import lazy_pattern
from reverie.safety.rules import RuleMatch

_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u180e"
_FILLERS = "\u115f\u1160\u3164\uffa0"
_CANDIDATE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]++"
)
# A run this long between two letters carries data; joiners and markers come one or two at a time.
_LONG_RUN = 6
# One or two strays come from copying out of a web page; more inside Latin words is done on purpose.
_MANY_INSIDE_WORDS = 3


_runs = lazy_pattern(_CANDIDATE)
_right_to_left = lazy_pattern("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def _joins_letters(char: str) -> bool:
    """Arabic, Syriac, N'Ko, Indic scripts, Tibetan, Myanmar, Khmer, Mongolian: there, joiners are spelling."""
    code = ord(char)
    return 0x0600 <= code <= 0x0FFF or 0x1000 <= code <= 0x109F or 0x1780 <= code <= 0x18AF or 0xFB50 <= code <= 0xFEFC


def _is_pictograph(char: str) -> bool:
    code = ord(char)
    return (
        0x1F000 <= code <= 0x1FAFF or 0x2190 <= code <= 0x2BFF or 0x3030 <= code <= 0x3299 or char in "#*©®‼⁉™ℹ\ufe0f"
    )


def _is_ideograph(char: str) -> bool:
    code = ord(char)
    return 0x2E80 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x323AF


def _is_flag(text: str, start: int, run: str) -> bool:
    """England, Scotland, Wales: a black flag, up to six tag letters, the closing tag."""
    return text[start - 1 : start] == "\U0001f3f4" and run[-1] == "\U000e007f" and len(run) <= 8


def _is_selector(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _is_spelling(before: str, run: str, after: str) -> bool:
    """A run that emoji, ideographs or a joining script need at this place."""
    if not before:
        return run == "\ufeff"
    if run == "\u200d" and before != "" and _is_pictograph(before):
        return after == "" or _is_pictograph(after) or after in "♀♂"
    if run in ("\ufe0f", "\ufe0e", "\ufe0f\u200d"):
        return _is_pictograph(before) or before.isdigit()
    if len(run) == 1 and _is_selector(run):
        return _is_ideograph(before) or _joins_letters(before)
    if run in ("\u200c", "\u200d", "\u200c\u200c"):
        return _joins_letters(before)
    if run in ("\u115f", "\u1160"):
        return "\u1100" <= after <= "\u11ff"
    return False


def _kind(text: str, start: int, end: int) -> tuple[str, float] | None:
    run, before, after = text[start:end], text[start - 1 : start], text[end : end + 1]
    if _is_spelling(before, run, after) or ("\U000e0000" <= run[0] <= "\U000e007f" and _is_flag(text, start, run)):
        return None
    if any("\U000e0000" <= char <= "\U000e007f" for char in run):
        return "tag characters", 1.0
    if sum(map(_is_selector, run)) >= 2:
        return "variation selectors", 1.0
    if any(char in "\u202d\u202e" for char in run):
        return "direction override", 1.0
    if any(char in _FILLERS for char in run):
        return "Hangul filler", 1.0
    if len(run) >= _LONG_RUN:
        return "zero-width run", 1.0
    if any(char in "\u200e\u200f\u061c\u202a\u202b\u202c\u2066\u2067\u2068\u2069" for char in run):
        near = _right_to_left().search(text, max(0, start - 200), end + 200)
        return None if near else ("direction mark", 0.3)
    return "zero-width", 0.3


def _inside_word(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return before.isalpha() and after.isalpha() and before < "\u0530" and after < "\u0530"


def invisible_runs(text: str) -> Iterator[RuleMatch]:
    """Each run of invisible characters that its neighbours do not explain."""
    if text.isascii():
        return
    inside = 0
    for found in _runs().finditer(text):
        start, end = found.span()
        kind = _kind(text, start, end)
        if kind is None:
            continue
        name, weight = kind
        inside += name in ("zero-width", "direction mark") and _inside_word(text, start, end)
        if inside >= _MANY_INSIDE_WORDS:
            weight, inside = 1.0, 0
        yield RuleMatch(name, "invisible", weight, start, end)
