"""How likely it is that one statement says no more and no less than another: only its words are different.

A weighted sum of named numbers (`rewording.json`, fitted by benchmarks/training/fit_rewording.py). A changed value
leaves the rest of a sentence alone; a rewording touches the sentence everywhere and leaves values, names and denials
alone. So each number weighs otherwise between sentences that are nearly equal than between those that have hardly a
word in common. Nothing is asked of a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from importlib.resources import files
from math import exp, log

from reverie.bridge.compare.numerals import in_digits
from reverie.dreams.light.language_detection import detect_language as spoken_in
from reverie.text.embedding import embed, word_vectors
from reverie.text.relating.clause import Clause
from reverie.text.relating.opposition import compare
from reverie.text.relating.small_words import NEGATORS
from reverie.text.relating.statement import ParsedStatement, read
from reverie.text.relating.words import carries_meaning, language_of, raw_words, stem
from reverie.text.relation import RelationKind, relate

FOR = frozenset({"likeness", "same", "values_kept"})  # all else can only speak against it
_NAME = re.compile(r"(?<!^)(?<![.!?:]\s)\b[^\W\d_a-z]\w+")
_NO_MORE, _NO_LESS = re.compile(r"\bnot? more than\b"), re.compile(r"\bno(?:t less| less| fewer) than\b")
_PART = re.compile(r"[^\W_]+")
_CODE = re.compile(r"\d|_|^-{1,2}\w|^[~.]?/\w|\w[./:\\@]\w|\w\(\)|[{}<>=$#]")
NAME = "name"  # the dimension of what is no amount: a path, a host, an option
OPEN = 0.5  # neither a rewording for sure, nor a change for sure
TRANSLATED = 0.6  # of two languages, with no value that differs
ADDED = 3  # words behind which something was said that was not said before
SURE_CONFLICT = 0.75
LONGEST = 600  # characters of a statement that are compared


@lru_cache(maxsize=16_384)
def only_reworded(old: str, new: str) -> float:
    """0..1."""
    mine, theirs = _told(old), _told(new)
    plain, plain_too = (sorted(word for word in words if word not in NEGATORS) for words in (mine, theirs))
    if plain == plain_too and is_negative(_read(old)) != is_negative(_read(new)):
        return 0.0
    if mine == theirs:
        return 1.0
    if _exact(old, new):
        return 0.0
    if not set(mine) & set(theirs) and _translated(old, new):
        return TRANSLATED
    features, weights = rewording_features(old, new), _weights()
    odds = weights["bias"] + sum(weights[name] * value for name, value in by_likeness(features).items())
    chance = 1 / (1 + exp(-max(-30.0, min(30.0, odds))))
    # what denies, or says more, than the other side is never folded away
    return min(chance, OPEN) if features["more"] >= ADDED or features["denied"] else chance


def _translated(old: str, new: str) -> bool:
    """Whether they are surely in two languages: their words say nothing then."""
    spoken = {spoken_in(one, "") for one in (old, new)}
    return len(spoken) == 2 and "" not in spoken


@lru_cache(maxsize=16_384)
def _read(text: str) -> str:
    """As it is compared: numbers in digits, and "no more than" as the bound it is, not as a denial."""
    return _NO_MORE.sub("at most", _NO_LESS.sub("at least", in_digits(text)))


def _told(text: str) -> list[str]:
    """The words of a sentence in order, without articles and punctuation, each word by its stem."""
    plain = _read(text)
    language = language_of(plain)
    words = (one.strip(".,;:!?()[]*_") for one in plain.split())
    return [
        stem(word, language) if word.isalpha() else word
        for word in words
        if word and (not word.isalpha() or carries_meaning(word) or word in NEGATORS)
    ]


def _exact(old: str, new: str) -> bool:
    """Whether a value became another one, or a number, a path, an option or a name of code stands on one side only. An
    amount, a date or a time can be written in many ways: those are compared as values."""
    before, after = _sides(old, new)
    changes = compare(before.whole, after.whole).changes
    if any(one.old.value.dimension != NAME for one in changes):
        return True
    mine, theirs = (_code(one) for one in (before, after))
    return not _same_code(mine - theirs, theirs - mine, before.text, after.text)


def _sides(old: str, new: str) -> tuple[ParsedStatement, ParsedStatement]:
    old, new = _read(old)[:LONGEST], _read(new)[:LONGEST]
    language = language_of(f"{old} {new}")
    return read(old, language), read(new, language)


def _code(statement: ParsedStatement) -> frozenset[str]:
    counted = {
        one for placed in statement.whole.values if placed.value.dimension != NAME for one in placed.value.shown.split()
    }
    words = {word.strip(",;:!?()[]{}*'…–—").rstrip(".") for word in statement.text.split()}
    return frozenset(word for word in words if _CODE.search(word) and word not in counted)


def _same_code(mine: frozenset[str], theirs: frozenset[str], old: str, new: str) -> bool:
    """The same name in another spelling (`resnet50`, "ResNet-50"), or its parts among the words of the other side."""
    if len(mine) == len(theirs):
        return sorted("".join(_PART.findall(one)) for one in mine) == sorted(
            "".join(_PART.findall(one)) for one in theirs
        )
    parts = [
        ({part for one in words for part in _PART.findall(one)}, set(_PART.findall(text)))
        for words, text in ((mine, new), (theirs, old))
    ]
    return all(some <= every for some, every in parts)


def by_likeness(features: Mapping[str, float]) -> dict[str, float]:
    """Each number twice: as it counts between sentences that are nearly equal, and between those that are not."""
    ratio = features["ratio"]
    sides = (("near", ratio), ("far", 1 - ratio))
    doubled = {f"{side} {name}": share * value for side, share in sides for name, value in features.items()}
    return {"ratio": ratio} | doubled


@cache
def _weights() -> dict[str, float]:
    stored = json.loads(files("reverie.bridge.compare").joinpath("rewording.json").read_text("utf-8"))
    return {str(name): float(weight) for name, weight in stored["weights"].items()}


def rewording_features(old: str, new: str) -> dict[str, float]:
    before, after = _sides(old, new)
    compared = compare(before.whole, after.whole)
    there, back = relate(_read(old), _read(new)), relate(_read(new), _read(old))
    vectors = embed([before.text, after.text])
    gone, come = _lost(before.whole, after.whole), _lost(after.whole, before.whole)
    return {
        "likeness": float(vectors[0] @ vectors[1]),
        "conflict": there.conflict,
        "same": float(sum(one.kind is RelationKind.SAME for one in (there, back))),
        "opposed": float(min(len(compared.opposed), 2)),
        "flipped": float(compared.flipped),
        "values_kept": float(min(compared.equal, 2)),
        "old_sum": min(sum(gone), 4.0),
        "old_most": max(gone, default=0.0),
        "new_sum": min(sum(come), 4.0),
        "new_most": max(come, default=0.0),
        "old_values": _values_lost(before.whole, after.whole),
        "new_values": _values_lost(after.whole, before.whole),
        **_shape(before, after),
        **_names(old, new, before, after),
    }


def _lost(mine: Clause, other: Clause) -> list[float]:
    """The share of each word of one side that is in no word of the other, by the nearest one there."""
    weights = list(mine.words.values())
    if not mine.words or not other.words:
        return weights
    vectors = word_vectors([*mine.surface.values(), *other.surface.values()])
    nearest = (vectors[: len(weights)] @ vectors[len(weights) :].T).max(axis=1)
    return [weight * (1 - min(1.0, max(0.0, float(near)))) for weight, near in zip(weights, nearest, strict=True)]


def _values_lost(mine: Clause, other: Clause) -> float:
    values, theirs = (
        {(one.value.dimension, str(one.value.amount)) for one in clause.values if one.value.dimension != NAME}
        for clause in (mine, other)
    )
    return float(min(len(values - theirs), 2))


def _shape(before: ParsedStatement, after: ParsedStatement) -> dict[str, float]:
    """The way the words moved: one exchanged and the rest as it was, two that changed places, or all of them."""
    old, new = (one.text.replace(",", " ").replace(";", " ").rstrip(".!").split() for one in (before, after))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    edits = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    kind, start, end, start_too, end_too = edits[0] if edits else ("equal", 0, 0, 0, 0)
    exchanged = len(edits) == 1 and kind == "replace" and max(end - start, end_too - start_too) <= 2
    exchanged = exchanged and any(map(carries_meaning, (*old[start:end], *new[start_too:end_too])))
    plain_old, plain_new = raw_words(before.text), raw_words(after.text)
    moved = [one != other for one, other in zip(plain_old, plain_new, strict=False)].count(True)
    return {
        "ratio": matcher.ratio(),
        "more": _only_more(old, new, edits),
        "exchanged": float(exchanged),
        "swapped": float(sorted(plain_old) == sorted(plain_new) and moved == 2),
        "denied": float(is_negative(before.text) != is_negative(after.text)),
        "length": abs(log((1 + len(new)) / (1 + len(old)))),
    }


def is_negative(text: str) -> bool:
    """By an odd number of words. "ne" is half of one, and counts where the other half means more than "not"."""
    words = raw_words(text)
    count = sum(word in NEGATORS for word in words)
    return count % 2 == 1 or (not count and "ne" in words)


def _only_more(old: Sequence[str], new: Sequence[str], edits: Sequence[tuple[str, int, int, int, int]]) -> float:
    """The number of words put in, where nothing was taken out; or the other way round."""
    if {code[0] for code in edits} not in ({"insert"}, {"delete"}):
        return 0.0
    return min(4.0, float(abs(len(old) - len(new))))


def _names(old: str, new: str, before: ParsedStatement, after: ParsedStatement) -> dict[str, float]:
    """Names, told by their capitals, that stand on one side only."""
    words, words_too = set(raw_words(before.text)), set(raw_words(after.text))
    mine, theirs = ({one.casefold() for one in _NAME.findall(text)} for text in (old, new))
    return {
        "old_names": float(min(len(mine - words_too), 2)),
        "new_names": float(min(len(theirs - words), 2)),
    }
