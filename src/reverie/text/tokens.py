"""Words as the index knows them: `tokens` for what was said, `terms` for what is asked.

Latin words are stemmed in the language their text is in, Cyrillic ones as Russian; identifiers, paths and dates stand
whole and in parts; scripts that write no spaces become pairs of characters. Marks on letters are dropped last, so
that a question typed without accents still finds its answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock

from reverie.text.function_words import FUNCTION_WORDS, SPOKEN_IN

ENGLISH = "en"
LATIN = tuple(code for code in FUNCTION_WORDS if code != "ru")
STEMMED = (*LATIN, "sv", "no", "da", "pl", "cs", "tr")  # single words of these can be stemmed, too
FUNCTION_WEIGHT = 0.2  # a small word may break a tie; between 0 and 0.3 makes no difference to what is found
END = "~"  # after the last character of a run without spaces, so that every character begins some pair
MOST_TERMS = 64  # of a page pasted as a question
_SAMPLE = 80
_LONGEST = 64
_MOST_PIECES = 4
_REMEMBERED = 60_000

_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_JOINED = r"(?:[.'/\\:@-]|,(?=\d{3}(?!\d)))"
_CHUNK = re.compile(rf"[\w{_MARKS}{_SPACELESS}]+(?:{_JOINED}[\w{_MARKS}{_SPACELESS}]+)*")
_ASCII_CHUNK = re.compile(rf"\w+(?:{_JOINED}\w+)*", re.ASCII)
_PIECE = re.compile(rf"[{_SPACELESS}]+|\d+|[A-Z]+(?![a-z])|[A-Z]?(?:(?![\d_A-Z{_SPACELESS}])[\w{_MARKS}])+|[A-Z]")
_APART = re.compile(r"[_.'/\\:@,-]+")
_SPACELESS_RUN = re.compile(rf"[{_SPACELESS}]")
_NUMERIC = re.compile(r"[\d.:/-]+")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_FOLDS = re.compile("[^\x00-\x7f\u0590-\u0fff]")

Stem = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Term:
    """One thing asked for. Any of its `forms` answers it; `word` is how it was written."""

    word: str
    forms: tuple[str, ...]
    weight: float


def tokens(text: str) -> list[str]:
    chunks = _chunks(text)
    known = _memory(_language(chunks))
    found: list[str] = []
    for chunk in chunks:
        found += known[chunk]
    return found


def tokens_of(words: Sequence[str], language: str) -> list[str]:
    """Single words as the index knows them, in a language that is known."""
    return [_token(word, language) for word in words]


def terms(question: str) -> list[Term]:
    """The terms to look for, subjects before small words.

    English is tried beside the language of the question, because code and tools speak it; a question that shows no
    language is looked for as every language would write it.
    """
    chunks = _chunks(question)
    language = _language(chunks)
    languages = tuple(dict.fromkeys((language, ENGLISH))) if _spoken(chunks) else LATIN
    small = FUNCTION_WORDS[language] | FUNCTION_WORDS["ru"]
    found: dict[tuple[str, ...], Term] = {}
    for piece in (piece for chunk in chunks for piece in _pieces(chunk)):
        weight = FUNCTION_WEIGHT if piece.casefold() in small else 1.0
        for forms in _forms(piece, languages):
            found.setdefault(forms, Term(piece, forms, weight))
    asked = sorted(found.values(), key=lambda term: -term.weight)[:MOST_TERMS]
    if all(term.weight < 1 for term in asked):
        return [Term(term.word, term.forms, 1.0) for term in asked]
    return asked


def begins_pairs(form: str) -> bool:
    """One character of a script without spaces, looked for alone: any pair that begins with it answers."""
    return len(form) == 1 and _SPACELESS_RUN.match(form) is not None


def _forms(piece: str, languages: Sequence[str]) -> Iterator[tuple[str, ...]]:
    if _SPACELESS_RUN.match(piece):
        pairs = _pairs(piece)
        yield from ((pair,) for pair in (pairs[:-1] or (piece,)))
    else:
        forms = tuple(dict.fromkeys(_token(piece, language) for language in languages))
        if all(forms):
            yield forms


def _chunks(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_CHUNK.findall(text)
    return _CHUNK.findall(unicodedata.normalize("NFKC", text).replace("’", "'"))


def _spoken(chunks: Sequence[str]) -> Counter[str]:
    return Counter(code for chunk in chunks[:_SAMPLE] for code in SPOKEN_IN.get(chunk.casefold(), ()))


def _language(chunks: Sequence[str]) -> str:
    spoken = _spoken(chunks)
    best = max(LATIN, key=lambda code: spoken[code])
    return best if spoken[best] > spoken[ENGLISH] else ENGLISH


class _Memory(dict[str, tuple[str, ...]]):
    """The tokens of each chunk in one language. Text repeats itself, so almost every lookup is a hit."""

    def __init__(self, language: str) -> None:
        self._language = language

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        made = tuple(token for piece in _pieces(chunk) for token in _tokens(piece, self._language))
        self[chunk] = made
        return made


@cache
def _memory(language: str) -> _Memory:
    return _Memory(language)


def _pieces(chunk: str) -> list[str]:
    """The words of a chunk; an identifier, a path or a date also as it stands."""
    if _is_word(chunk):
        return [chunk] if len(chunk) <= _LONGEST else []
    chunk = _unquoted(chunk).replace(",", "")
    if ordinal := _ORDINAL.fullmatch(chunk):
        return [ordinal[1]]
    parts = [piece for part in _APART.split(chunk) for piece in _parts(part)]
    if len(parts) == 1:
        return parts
    shortest = 3 if _NUMERIC.fullmatch(chunk) else 2  # the year of a date, not its day: "10 days" is no date
    told = [part for part in parts if len(part) >= shortest or _SPACELESS_RUN.match(part)]
    hyphenated = "-" in chunk and chunk.replace("-", "").isalpha()
    if hyphenated or len(chunk) > _LONGEST or _SPACELESS_RUN.search(chunk):
        return told or parts
    return [chunk, *told]


def _is_word(chunk: str) -> bool:
    usual = chunk.islower() or chunk.istitle() or chunk.isupper()
    return usual and chunk.isalpha() and not _SPACELESS_RUN.search(chunk)


def _unquoted(chunk: str) -> str:
    """Possessives and contractions: owner's -> owner, don't -> dont, l'index -> index."""
    if "'" not in chunk:
        return chunk
    first, *rest = chunk.split("'")
    if rest[-1].lower() == "s":
        rest = rest[:-1]
    if rest and len(first) <= 2 and len(rest[-1]) > 2:
        return "".join(rest)
    return "".join((first, *rest))


def _parts(part: str) -> list[str]:
    """camelCase and v2 in parts; what falls into many small parts is a hash or an id and stays whole."""
    if not part:
        return []
    found = _PIECE.findall(part)
    if len(found) <= _MOST_PIECES or _SPACELESS_RUN.search(part):
        return [piece for piece in found if len(piece) <= _LONGEST or _SPACELESS_RUN.match(piece)]
    return [part] if len(part) <= _LONGEST else []


def _pairs(run: str) -> tuple[str, ...]:
    return (*(run[at : at + 2] for at in range(len(run) - 1)), run[-1] + END)


def _tokens(piece: str, language: str) -> tuple[str, ...]:
    if _SPACELESS_RUN.match(piece):
        return _pairs(piece)
    token = _token(piece, language)
    return (token,) if token else ()


def _token(piece: str, language: str) -> str:
    """Empty for a mark that stands on no letter."""
    word = piece.casefold()
    if word.isalpha():
        word = _stem("ru" if _CYRILLIC.match(word) else language)(word)
    return word if word.isascii() else _folded(word)


def _folded(word: str) -> str:
    if not _FOLDS.search(word):
        return word
    return "".join(mark for mark in unicodedata.normalize("NFD", word) if not unicodedata.combining(mark))


@cache
def _stem(language: str) -> Stem:
    import Stemmer

    names = {"en": "english", "de": "german", "es": "spanish", "fr": "french"}
    names |= {"it": "italian", "nl": "dutch", "pt": "portuguese", "ru": "russian"}
    names |= {"sv": "swedish", "no": "norwegian", "da": "danish", "pl": "polish", "cs": "czech", "tr": "turkish"}
    stemmer = Stemmer.Stemmer(names[language], 0)  # without a memory of its own: `_Memory` asks about a chunk once
    one_at_a_time = Lock()

    def stem(word: str) -> str:
        with one_at_a_time:
            return str(stemmer.stemWord(word))

    return stem
