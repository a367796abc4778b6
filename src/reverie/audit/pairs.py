"""Statements against each other: said twice, contradicted, overtaken. Sentence by sentence, near ones only.

`relate` says how two statements stand to each other; here is decided, word by word, whether they are so close that they
may be accused of it: one statement twice, or one with a single thing changed. Real instructions are full of lines that
share their words and mean different things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from typing import Literal

from reverie.audit.inventory import AuditedStatement, alternatives, word_set
from reverie.dreams.light.language import dates_in
from reverie.text.relation import RelationKind, conflict_on_one_matter, relate
from reverie.text.words import carries_meaning, language_of, stem

_TOKEN = re.compile(r"`[^`\n]+`|https?://\S+|[^\W_][\w'’./:@%+#-]*[\w%]|\w", re.UNICODE)
_DATE_LEAD = re.compile(
    r"\b(?:as of|since|from|on|decided(?: on)?|stand|seit|ab|desde|depuis|updated|noted)\s*[:(]?\s*\Z"
    r"|\(\s*(?:decided |since )?\Z",
    re.IGNORECASE,
)
_DENIES = word_set("denies")
_ALLOWS = word_set("allows")
_LIGHT = word_set("light")
_NOTHING = word_set("nothing")
FRAME = re.compile(rf"\b(?:{alternatives('frame')})\b", re.IGNORECASE)
_LABEL = re.compile(
    r"\W*(?:in)?correct\b|\W*(?:wrong|right|good|bad|example|impact|before|after|see|e\.g|step \d)\b"
    r"|[^.\n]{0,60}https?://|\W*[❌✅]",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:when|if|whenever|unless|while|wenn|falls|cuando|quand|quando|als)\b", re.IGNORECASE)
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CODE = re.compile(r"[{}=<>]|=>|\(\)|;\s*$")
FEWEST = 3  # words that carry meaning, below which two lines prove nothing


@dataclass(frozen=True, slots=True)
class SplitSentence:
    """A sentence in pieces. `tokens` are its words in order without articles, `signs` the stems that carry it."""

    text: str
    tokens: tuple[str, ...]
    signs: frozenset[str]
    denies: bool

    @property
    def states(self) -> bool:
        """It says that something is so or should be: no label, no code, no condition."""
        bare = not self.is_label and not _CODE.search(self.text) and not _CONDITION.search(self.text)
        return bare and bool(FRAME.search(self.text)) and not self.text.rstrip().endswith("?")

    @property
    def is_label(self) -> bool:
        return bool(_LABEL.match(self.text)) or self.text.rstrip(" *_").endswith(":")


def undated(text: str) -> str:
    """The statement without the days it gives: those say when, not what."""
    spoken = dates_in(text.lower(), None)
    for one in reversed(spoken):
        before = _DATE_LEAD.sub("", text[: one.start]).rstrip(" (")
        text = f"{before} {text[one.end :].lstrip(' ):,')}"
    return " ".join(text.split()).strip(" ,;") if spoken else text


def split_sentence(text: str) -> SplitSentence:
    bare = undated(text)
    language = language_of(bare.casefold())
    tokens = tuple(one.replace("’", "'") for one in _TOKEN.findall(bare.casefold()) if one not in _NOTHING)
    carrying = [one for one in tokens if carries_meaning(one) and one not in _LIGHT | _DENIES]
    signs = frozenset(stem(one, language) if one.isalpha() else one.strip("`") for one in carrying)
    return SplitSentence(text, tokens, signs, bool(_DENIES & set(tokens)))


def is_han(text: str) -> bool:
    return bool(_HAN.search(text))


def equal(one: SplitSentence, other: SplitSentence) -> bool:
    """The same words that carry meaning, whatever their order and the small words between them."""
    return one.denies == other.denies and one.signs == other.signs and len(one.signs) >= FEWEST


def much_alike(one: SplitSentence, other: SplitSentence) -> bool:
    """Enough in common, and every number, name and code the same, to be one statement twice."""
    exact, exact_too = ({sign for sign in read.signs if not sign.isalpha()} for read in (one, other))
    if (
        one.denies != other.denies
        or exact != exact_too
        or bool(_CONDITION.search(one.text)) != bool(_CONDITION.search(other.text))
    ):
        return False
    shared = len(one.signs & other.signs)
    return shared >= 2 and 2 * shared / (len(one.signs) + len(other.signs)) >= 0.6


def one_thing_apart(one: SplitSentence, other: SplitSentence) -> bool:
    """The same sentence but for one value, or but for one "not". What else could differ would make two subjects."""
    if not (one.states and other.states):
        return False
    if one.denies != other.denies:
        small = _DENIES | _ALLOWS | _LIGHT
        left, right = ([token for token in read.tokens if token not in small] for read in (one, other))
        if left == right:
            return len(one.signs & other.signs) >= 2
        shorter, longer = sorted((left, right), key=len)
        added = [token for token in longer if token not in shorter]
        return len(added) == 1 and [token for token in longer if token not in added] == shorter and len(shorter) >= 2
    codes = SequenceMatcher(None, one.tokens, other.tokens, autojunk=False).get_opcodes()
    changes = [code for code in codes if code[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace":
        return False
    _, start, end, start_too, end_too = changes[0]
    width = max(end - start, end_too - start_too)
    # A path, a link or a command: two of them can both be right.
    changed = (*one.tokens[start:end], *other.tokens[start_too:end_too])
    either = any(token.startswith(("`", "http")) or "/" in token for token in changed)
    return start > 0 and width == 1 and len(one.tokens) >= 4 and not either


NEAR = 0.35  # likeness of sentences from which they are worth comparing
MOST_SENTENCES = 4_000
SHORTEST, LONGEST = 8, 240  # characters of a sentence that can be compared word by word
LONG_ENOUGH = 40  # to be no accident below two headings
MOST_NEIGHBOURS = 16
SURE_SAME, SURE_APART, SURE_OVERTAKEN = 0.85, 0.5, 0.5
_SENTENCE = re.compile(r"(?<=[.!?;。！？；])(?<!\d\.)\s+|\n+")
_NESTED = re.compile(r"\n[ \t]*(?:[-*+]|\d+[.)])[ \t].*", re.DOTALL)
_CHANGED = re.compile(
    r"\b(?:switched|moved|migrated|changed|renamed) (?:\w+ ){0,3}?from (?P<from>[\w./-]+)|"
    r"\b(?:no longer|stopped) (?:use |uses |using |on |with )(?P<gone>[\w./-]+)|"
    r"\breplaced (?P<was>[\w./-]+) (?:with|by) ",
    re.IGNORECASE,
)

Tie = Literal["same", "contradicts", "supersedes"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, compared: `first` is the one to be looked at, and of "supersedes" the one that is over."""

    tie: Tie
    first: AuditedStatement
    second: AuditedStatement
    why: str


@dataclass(frozen=True, slots=True)
class _Sentence:
    statement: AuditedStatement
    read: SplitSentence
    alone: bool  # it is all its statement says


def pairs(statements: Sequence[AuditedStatement]) -> list[Pair]:
    """Every pair that is surely tied. One pair of statements is told once, with the worst that is between them."""
    import numpy as np

    from reverie.text.embedding import embed

    sentences = [one for statement in statements for one in _sentences(statement)][:MOST_SENTENCES]
    found: dict[tuple[int, int], Pair] = {}
    vectors = embed([undated(one.read.text) for one in sentences]) if len(sentences) > 1 else np.zeros((0, 0))
    for at, one in enumerate(sentences[: len(vectors)]):
        likeness = vectors[at + 1 :] @ vectors[at]
        near = np.flatnonzero(likeness >= NEAR)
        for shift in sorted(near[np.argsort(-likeness[near])][:MOST_NEIGHBOURS].tolist()):
            other = sentences[at + 1 + shift]
            pair = _tied(one, other) if other.statement is not one.statement else None
            key = (id(one.statement), id(other.statement))
            if pair and (key not in found or _WORSE[pair.tie] < _WORSE[found[key].tie]):
                found[key] = pair
    return list(found.values())


_WORSE: dict[Tie, int] = {"contradicts": 0, "supersedes": 1, "same": 2}


def _sentences(statement: AuditedStatement) -> Iterator[_Sentence]:
    """The sentences of a statement that stand on their own: not code, not what hangs below a line, not half a line."""
    if statement.text.lstrip().startswith(("```", "~~~", "|", "<", ">")):
        return
    text = _NESTED.sub("", statement.text)
    if statement.section or not statement.is_entry:
        text = " ".join(text.split())  # Markdown wraps its lines
    parts = [part.strip(" *_-") for part in _SENTENCE.split(text) if part.strip(" *_-")]
    alone = len(parts) == 1 and text.strip() == statement.text.strip()
    for part in parts:
        if SHORTEST <= len(part) <= LONGEST or (len(part) >= 4 and is_han(part)):
            yield _Sentence(statement, split_sentence(part), alone)


def _tied(one: _Sentence, other: _Sentence) -> Pair | None:
    if one.alone and other.alone and (tie := _said_twice(one, other)):
        return tie
    if is_han(one.read.text) or is_han(other.read.text) or not _same_ground(one.statement, other.statement):
        return None
    return _overtaken(one, other) or _overtaken(other, one) or _apart(one, other)


def _same_ground(one: AuditedStatement, other: AuditedStatement) -> bool:
    """A heading says what its lines are about: within a document only lines below the same one can be compared."""
    return one.place != other.place or one.section == other.section


def _said_twice(one: _Sentence, other: _Sentence) -> Pair | None:
    texts = {" ".join(each.read.text.casefold().split()).strip(" .!。*_") for each in (one, other)}
    same = one.read.tokens == other.read.tokens or len(texts) == 1
    if same or (not is_han(one.read.text) and equal(one.read, other.read)):
        # Word for word. Labels recur, and a short line below another heading is about something else.
        a_line = (one.statement.is_entry or other.statement.is_entry) and _same_ground(one.statement, other.statement)
        if one.read.is_label or not (a_line or len(one.read.text) >= LONG_ENOUGH):
            return None
        return Pair("same", other.statement, one.statement, "The same is said elsewhere, word for word or nearly.")
    if is_han(one.read.text) or not (one.read.states and other.read.states and much_alike(one.read, other.read)):
        return None
    either_way = relate(one.read.text, other.read.text), relate(other.read.text, one.read.text)
    if all(each.kind is RelationKind.SAME and each.confidence >= SURE_SAME for each in either_way):
        shorter, longer = sorted((one.statement, other.statement), key=lambda statement: len(statement.text))
        return Pair("same", shorter, longer, "Another entry says the same in other words.")
    return None


def _apart(one: _Sentence, other: _Sentence) -> Pair | None:
    if not one_thing_apart(one.read, other.read):
        return None
    texts = undated(one.read.text), undated(other.read.text)
    if min(conflict_on_one_matter(*texts), conflict_on_one_matter(*reversed(texts))) < SURE_APART:
        return None
    before, after = _day(one.read.text), _day(other.read.text)
    if before and after and before != after:
        old, new = (one, other) if before < after else (other, one)
        why = f"It was overtaken on {max(before, after):%Y-%m-%d} by what another entry says."
        return Pair("supersedes", old.statement, new.statement, why)
    why = "Another statement says the opposite or gives another value."
    return Pair("contradicts", one.statement, other.statement, why)


def _overtaken(old: _Sentence, new: _Sentence) -> Pair | None:
    """The newer one says in so many words that what the older one names is over."""
    changed = _CHANGED.search(new.read.text)
    if changed is None or _CHANGED.search(old.read.text) or old.read.denies or not old.read.states:
        return None
    gone = (changed["from"] or changed["gone"] or changed["was"]).casefold().strip(".,")
    if len(gone) < 3 or not re.search(rf"(?<!\w){re.escape(gone)}(?!\w)", old.read.text.casefold()):
        return None
    if conflict_on_one_matter(undated(old.read.text), undated(new.read.text)) >= SURE_OVERTAKEN:
        return Pair("supersedes", old.statement, new.statement, f"Another entry says that “{gone}” is over.")
    return None


def _day(text: str) -> date | None:
    return max((one.day for one in dates_in(text.lower(), None)), default=None)
