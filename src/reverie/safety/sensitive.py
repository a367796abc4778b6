"""What people keep to themselves: does a text say something sensitive about a person?

A statement about somebody, not a text about a subject: "I was diagnosed with diabetes" is, "write a test for the
diabetes model" is not. So a word alone never counts; someone has to have it, be it, or be called theirs.

How people speak of it is data, one file per language (`attributes/*.toml`). `words` are named fragments of regular
expressions; `{name}` puts one into a pattern of the same file, a space is any white space, and `~2` is up to two words
that do not begin another thought. `kinds` maps a kind of attribute to patterns, one per line. `not` names what makes a
sentence be about a subject instead of a person. `remember` is how one asks for something to be kept, `recall` how one
only speaks of remembering. `near` is a looser net, where a language has one: words that need only stand in one sentence
with `someone`, and with nothing of `subject`.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from reverie.core.ids import lazy_pattern
from reverie.safety.identifiers import street_addresses
from reverie.safety.secrets.values import SecretSpan, merge_spans

KINDS = ("health", "religion", "sexuality", "politics", "location", "credentials", "finances", "relations")
LANGUAGES = ("en", "de", "es", "fr", "pt", "it", "nl", "zh", "ja")
# The longest sentence looked at as one; a text without full stops is cut here, so that work stays linear.
_LONGEST = 800


@dataclass(frozen=True, slots=True)
class Sensitive:
    """Words of a text that say something private about a person."""

    kind: str
    start: int
    end: int
    words: str


Expression = Callable[[], re.Pattern[str]]  # compiled when it is first asked for: all of them take most of a second


@dataclass(frozen=True, slots=True)
class _Language:
    """One language's patterns. `about` is what would make a sentence concern a subject, `home` who lives somewhere.

    `near` needs no grammar: those words count beside `someone` unless a word of `subject` is there as well.
    """

    gate: Expression
    kinds: tuple[tuple[str, Expression], ...]
    about: Expression
    after: Expression
    before: Expression
    home: Expression
    remember: Expression
    recall: Expression
    near: tuple[tuple[str, Expression], ...]
    someone: Expression
    subject: Expression


_NEVER = r"(?!)"


def _one_line(fragment: str) -> str:
    return "".join(line.strip() for line in fragment.splitlines())


@cache
def _language(name: str) -> _Language:
    table = tomllib.loads((files("reverie.safety") / "attributes" / f"{name}.toml").read_text("utf-8"))
    words = table["words"]
    small = _one_line(words.get("small", ""))
    near = table.get("near", {"someone": "", "subject": "", "kinds": {}})
    parts = {**table["not"], **{key: table[key] for key in ("gate", "home", "remember", "recall")}}
    parts |= {key: near[key] for key in ("someone", "subject")}

    def expression(text: str) -> Expression:
        """One expression of alternatives, one a line."""

        @cache
        def compiled() -> re.Pattern[str]:
            lines = text
            for _ in range(5):
                lines = re.sub(r"\{([a-z_]+)\}", lambda found: f"(?:{_one_line(words[found[1]])})", lines)
            gap = rf"(?:(?!(?:{small or _NEVER})\b)[\w'-]{{1,30}}\s+){{0,%s}}?"
            lines = re.sub(r"~(\d) ", lambda found: gap % found[1], lines)
            spaced = lines.replace(" ?", r"\s*").splitlines()
            alternatives = [line.strip().replace(" ", r"\s+") for line in spaced if line.strip()]
            return re.compile("|".join(alternatives) or _NEVER, re.IGNORECASE)

        return compiled

    return _Language(
        kinds=tuple((kind, expression(lines)) for kind, lines in table["kinds"].items()),
        near=tuple((kind, expression(lines)) for kind, lines in near["kinds"].items()),
        **{key: expression(lines) for key, lines in parts.items()},
    )


_ends = lazy_pattern(r"[.!?;…]+(?=\s)|[。！？；]|\n+")
_code = lazy_pattern(r"```.*?(?:```|\Z)|`[^`\n]{1,200}`", re.DOTALL)


def _plain(text: str) -> str:
    """The text as people type it, each character in its place: straight apostrophes, and no code."""
    straight = text.replace("’", "'").replace("‘", "'")
    if "`" not in straight:
        return straight
    return _code().sub(lambda found: re.sub(r"[^\n]", "`", found[0]), straight)


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for stop in _ends().finditer(text):
        for at in range(start, stop.end(), _LONGEST):
            yield at, text[at : min(stop.end(), at + _LONGEST)]
        start = stop.end()
    for at in range(start, len(text), _LONGEST):
        yield at, text[at : at + _LONGEST]


def _said(language: _Language, sentence: str) -> Iterator[SecretSpan]:
    if not language.gate().search(sentence) or language.about().search(sentence):
        return
    patterns = language.kinds
    if language.near and language.someone().search(sentence) and not language.subject().search(sentence):
        patterns += language.near
    for kind, found in ((kind, found) for kind, pattern in patterns for found in pattern().finditer(sentence)):
        if not (language.after().match(sentence, found.end()) or language.before().search(sentence[: found.start()])):
            yield SecretSpan(*found.span(), kind)
    if language.home().search(sentence):
        yield from (SecretSpan(span.start, span.end, "location") for span in street_addresses(sentence))


@lru_cache(maxsize=1_024)
def sensitive(text: str) -> tuple[Sensitive, ...]:
    """Passages of the text about someone's health, faith, love, vote, home, secrets, money or family, in text order."""
    plain = _plain(text)
    spans = [
        SecretSpan(at + span.start, at + span.end, span.kind)
        for at, sentence in _sentences(plain)
        for name in LANGUAGES
        for span in _said(_language(name), sentence)
    ]
    # One finding where several languages or a pattern and an address say the same.
    joined = (one for kind in KINDS for one in merge_spans(span for span in spans if span.kind == kind))
    found = (Sensitive(span.kind, span.start, span.end, text[span.start : span.end]) for span in joined)
    return tuple(sorted(found, key=lambda one: (one.start, one.end, one.kind)))


@lru_cache(maxsize=4_096)
def asked_to_remember(text: str) -> bool:
    """Whether the person asked, in so many words, for what they say to be kept."""
    plain = _plain(text)
    return any(
        language.remember().search(sentence) and not language.recall().search(sentence)
        for _, sentence in _sentences(plain)
        for language in map(_language, LANGUAGES)
    )


def asking_to_remember(text: str) -> int:
    """The number of characters at the beginning that only ask for the rest to be kept: "Please remember that …"."""
    plain = _plain(text)
    found = (_language(name).remember().match(plain) for name in LANGUAGES)
    return max((one.end() for one in found if one), default=0)
