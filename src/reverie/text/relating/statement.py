"""A text read as clauses, each with its words, values and stance."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from reverie.text.relating.clause import Clause, PlacedValue
from reverie.text.relating.cues import Cue, cues_in
from reverie.text.relating.heads import TOKEN, head_of, takes_any_number, verb_in
from reverie.text.relating.limits import limits
from reverie.text.relating.number_words import spelled
from reverie.text.relating.opposites import ATTITUDE, SIDES
from reverie.text.relating.personal_attributes import ATTRIBUTE, ATTRIBUTE_PHRASES
from reverie.text.relating.small_words import NEGATORS, SPEAKER
from reverie.text.relating.stance import ended, negated, phrases_out, says_no, stance
from reverie.text.relating.values import Value, find_values, masked
from reverie.text.relating.verbs import ONE_AT_A_TIME, ROLES
from reverie.text.relating.words import carries_meaning, language_of, raw_words, stem, weight

MAX_READ = 100_000
MAX_CHARS = 4_000  # a memory is a line and a turn a few paragraphs; what comes later in a longer text is not compared
MAX_CLAUSES = 12
FEW = 4  # a clause with fewer words than this leans on the one before
SHORT = 200  # up to here a text is taken as one statement, not as a turn with many

_CODE = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_SPACE = re.compile(r"\s+")
_NON = re.compile(r"\bnon-(?=[a-z])")
_ENDS = re.compile(
    r"(?<=[.!?;。！？；])\s+|(?<=[。！？；，])|\s[-–—]+\s"
    r"|,\s+(?=(?:but|so|and (?:i|we|now|it)|which|because|can|could|how|what|where|when|why|who|any|are|is|do|does|did"
    r"|should|would|i|i'm|i've|we|we've|it|the|even)\b)"
    r"|,\s+(?=(?:[^\s,]+\s){1,3}(?:is|are|was|were|has|have|can|will|ist|sind|está|est)\b)"
    r"|\s+(?=(?:but|because) )|\s+(?=(?:so|and) (?:i|i'm|i've|we|can you|how)\b)"
)
_GIVEN = re.compile(
    r"\b(?:my|our|the|current|existing|increased|with) (?:[^\W\d]+ ){0,5}(?:of |is |to |at )?[$€£]?$|\bbeat (?:my )?$"
)


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    text: str
    whole: Clause
    clauses: tuple[Clause, ...]
    short: bool

    @property
    def readings(self) -> tuple[Clause, ...]:
        """The clauses and, when there are several, all of them as one."""
        return self.clauses if len(self.clauses) == 1 else (*self.clauses, self.whole)


@lru_cache(maxsize=8192)
def normal(text: str) -> str:
    """Case, width, spacing and typographic quotes do not matter. Long texts are cut."""
    text = _CODE.sub(" . ", unicodedata.normalize("NFKC", text[:MAX_READ]))
    text = text.replace("’", "'").replace("`", "").replace('"', "")
    text = unicodedata.normalize("NFC", text.casefold())
    return _NON.sub("non", _SPACE.sub(" ", text).strip())[:MAX_CHARS]


def read(text: str, language: str = "") -> ParsedStatement:
    """`language` is that of the pair; alone, a short text often does not show its own."""
    folded = spelled(normal(text))
    language = language or language_of(folded)
    pieces = [piece.strip() for piece in _ENDS.split(folded) if piece and piece.strip()][:MAX_CLAUSES]
    clauses = _linked([_clause(piece, language) for piece in pieces])
    clauses = clauses or (_clause("", language),)
    whole = clauses[0] if len(clauses) == 1 else _together(folded, clauses)
    return ParsedStatement(folded, whole, clauses, len(folded) <= SHORT)


def _linked(clauses: list[Clause]) -> tuple[Clause, ...]:
    """A value in a short aside ("we have a lot of eggs - 30 dozen!") belongs to what was said just before it."""
    linked = clauses[:1]
    for before, clause in pairwise(clauses):
        nearby = frozenset(list(before.words)[-FEW:]) if len(clause.words) < FEW else frozenset[str]()
        values = tuple(replace(placed, near=placed.near | nearby) for placed in clause.values)
        linked.append(replace(clause, values=values))
    return tuple(linked)


def _together(text: str, parts: tuple[Clause, ...]) -> Clause:
    """All clauses as one: the first says what it is about and how it is meant, all of them what it says."""
    cues = frozenset[Cue]().union(*(part.cues for part in parts))
    asked = all(Cue.QUESTION in part.cues for part in parts)
    return replace(
        parts[0],
        text=text,
        words={word: say for part in parts for word, say in part.words.items()},
        surface={word: form for part in parts for word, form in part.surface.items()},
        attributes=frozenset[str]().union(*(part.attributes for part in parts)),
        negated=frozenset[str]().union(*(part.negated for part in parts)),
        limits=tuple(limit for part in parts for limit in part.limits),
        ended=frozenset[str]().union(*(part.ended for part in parts)),
        values=tuple(placed for part in parts for placed in part.values),
        sides={axis: side for part in reversed(parts) for axis, side in part.sides.items()},
        attitude=next((part.attitude for part in parts if part.attitude), 0),
        cues=cues if asked else cues - {Cue.QUESTION},
        one_at_a_time=any(part.one_at_a_time for part in parts),
        any_number=any(part.any_number for part in parts),
        role=any(part.role for part in parts),
    )


def _clause(text: str, language: str) -> Clause:
    body = phrases_out(text)[0]
    values = list(find_values(body))
    plain = masked(body, values)
    tokens = raw_words(plain)
    words, surface = _meaning(tokens, values, language)
    attitude, polarity, sides = stance(text, tokens)
    head, predicate = head_of(plain, values, language)
    return Clause(
        text=text,
        words=words,
        surface=surface,
        head=head,
        predicate=predicate,
        attributes=_attributes(text, tokens),
        own=bool(tokens) and tokens[0] in SPEAKER,
        negated=negated(text, values, language) - (frozenset(head) if says_no(tokens) else frozenset()),
        limits=limits(body, plain, values, language),
        ended=ended(text, values, language),
        values=_placed(values, plain, language),
        sides=sides,
        attitude=attitude,
        polarity=polarity,
        cues=cues_in(text),
        one_at_a_time=any(token in ONE_AT_A_TIME for token in tokens) or ":" in text,
        any_number=attitude != 0 or takes_any_number(plain, predicate),
        role=any(token in ROLES for token in tokens) or "on call" in text,
    )


def _attributes(text: str, tokens: list[str]) -> frozenset[str]:
    said = {ATTRIBUTE[token] for token in tokens if token in ATTRIBUTE}
    return frozenset(said.union(name for phrase, name in ATTRIBUTE_PHRASES if phrase.search(text)))


def _meaning(tokens: list[str], values: list[Value], language: str) -> tuple[dict[str, float], dict[str, str]]:
    words: dict[str, float] = {}
    surface: dict[str, str] = {}
    for token in tokens:
        if token in NEGATORS or SIDES.get(token, ("",))[0] == ATTITUDE or not carries_meaning(token):
            continue
        root = stem(token, language)
        words[root] = max(words.get(root, 0.0), weight(token))
        surface.setdefault(root, token)
    for value in values:
        if value.dimension == "name":
            words.setdefault(str(value.amount), 1.0)
            surface.setdefault(str(value.amount), value.shown)
    return words, surface


def _placed(values: list[Value], plain: str, language: str) -> tuple[PlacedValue, ...]:
    if not values:
        return ()
    found = [(match.start(), match.group()) for match in TOKEN.finditer(plain)]
    carrying = [(start, stem(word, language)) for start, word in found if carries_meaning(word) and word != ":"]
    place = verb_in([word for _, word in found])
    verb = found[place][0] if place >= 0 else 0
    placed = []
    for value in values:
        before = [word for start, word in carrying if start < value.start][-5:]
        after = [word for start, word in carrying if start >= value.end][:4]
        counted = [word for start, word in carrying if value.end <= start <= value.end + 24][:2]
        given = bool(_GIVEN.search(plain[max(0, value.start - 60) : value.start]))
        placed.append(PlacedValue(value, frozenset(before + after), frozenset(counted), given, value.end <= verb))
    return tuple(placed)
