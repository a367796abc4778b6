"""Which words of a user turn a person plainly typed: what looks typed. The rule is in `docs/what-looks-typed.md`.

A person types one line, in their own voice. A text with more lines, with the shape of a document, a log, a chat or a
mail, between quotation marks or tags, or told as somebody else's, may be pasted. Nobody can know; so whatever is not
plainly typed is not thrown away, it is asked about. By shape, without Light's cues; a few closed sets of words
(`typed.toml`) tell another speaker. Linear in the text.

`is_unlike` goes by how this person types: who never writes a capital or a full stop pastes what has both. It says
nothing of people who write either, nor of scripts that have no capitals.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain

Range = tuple[int, int]

_A_WORD = 3  # letters: "said no"
LONGEST = 1000  # characters of a line; nobody of 3,800 people's statements was in a longer one
_QUOTED_WORDS, _QUOTED_WEIGHT = 6, 50  # so much between quotation marks is somebody's sentence, less a name or a phrase
_SHORT_QUESTION = 5  # words of a question that hands over what stands behind it
# A person begins with a word; a quotation, a list, a heading, a prompt, a comment, a tag or data begin with a sign.
_BEGINS = re.compile(r"[\"'“„«»「『‘‹`”¿¡]{0,2}\s?[^\W_]|/[a-z]")
_UPPER = r"[^\W\d_a-zß-öø-ÿа-яёіїєґ]"  # also a sign of a language that has no small letters
# A letter: a greeting, and at the end a line that is only a farewell and who writes.
_NAME = r"[^\W\d_a-zß-öø-ÿа-я][^\s\d,.!?:;]*(?: [^\W\d_a-zß-öø-ÿа-я][^\s\d,.!?:;]*)?\s*\Z"
_SIGNED = re.compile(rf"[.!?] +[^\s,.!?:;]+(?: [^\s,.!?:;]+){{0,3}}, (?:[^\s,.!?:;]+ )?{_NAME}")
_GREETED = re.compile(r"[^\s,.!?:;]+(?: [^\s,.!?:;]+){0,3}[,!] ")
_SIGNED_BARE = re.compile(rf"[.!?] +[^\s,.!?:;]+(?: [^\s,.!?:;]+)? {_NAME}")
_LINE_END = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_DELIMITED = re.compile(r"\s*<(?P<tag>[A-Za-z][\w:.-]*)(?:\s[^<>\n]*)?>(?=.*</(?P=tag)>)", re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)(?:\s[^<>\n]*)?/?>")
_OPENING, _CLOSING = "\"“„«»「『‹`”‘'", ('"', "”", "“”", "»", "«", "」", "』", "›", "`", "”", "’", "'")
_MARKS = dict(zip(_OPENING, _CLOSING, strict=True))
# "*reads aloud* The …", "[from the wiki] The …": what is set off says who speaks from there on, or is a text itself.
_SET_OFF = re.compile(r"(?<![*\w])\*(?![*\s])([^*\n]{2,300})(?<!\s)\*(?![*\w])|(?<!\w)\[([^\[\]\n]{2,300})\](?![\w(])")
_SENTENCE = re.compile(rf":?\s*[\"'“„«»「『]?(?:{_UPPER})")
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_COLON = re.compile(r"(?<=.):| [-–—] ")
# A few words, a colon or a dash, and a whole sentence of its own: "dora: The …", "New policy: The …", "BERLIN - The …".
_ANNOUNCED = re.compile(
    rf"(?P<head>(?:[^\s.!?:：]+ ){{0,5}}[^\s.!?:：]+)(?: ?: | [-–—] |：\s?)(?P<text>{_UPPER}[^\n]*)"
)
_A_STATEMENT = 4  # words
_I = re.compile(r"\bI\b|\bi['’]|^\s*i\b|[,;] i\b")
_SENTENCE_END = re.compile(r"[.!?。！？…]+[\"'”’»)\]]*(?:\s+|(?<=[。！？])|\Z)")


@lru_cache(maxsize=64)  # several things are asked of one turn
def typed(text: str) -> tuple[Range, ...]:
    """The ranges of a user turn that its sender plainly typed, in order."""
    start = len(text) - len(text.lstrip())
    line_end = _LINE_END.search(text, start)
    end = line_end.start() if line_end else len(text.rstrip())
    if text[end:].strip() and not _DELIMITED.match(text, end):
        return ()
    indented = text.lstrip("\r\n").startswith(("    ", "\t"))
    if end - start > LONGEST or indented or not _BEGINS.match(text, start, end):
        return ()
    if _expression("shapes").match(text, start, end):
        return ()
    line = text[start:end]
    if _SIGNED.search(line) or (_GREETED.match(line) and _SIGNED_BARE.search(line)):  # a letter
        return ()
    told = (_tagged, _quoted, _set_off, _reported)
    ranges = list[Range]()
    for first, last in sorted(chain.from_iterable(each(text, start, end) for each in told)):
        if first > start:
            ranges.append((start, first))
        start = max(start, last)
    return (*ranges, (start, end)) if start < end else tuple(ranges)


def typed_text(text: str) -> str:
    return " ".join(text[start:end] for start, end in typed(text))


def is_typed(text: str, words: str) -> bool:
    """Whether most of these words, as they stand in the turn, were plainly typed."""
    ranges = typed(text)
    place = text.find(words)
    while place >= 0:
        inside = sum(
            _letters(text[max(start, place) : min(end, place + len(words))])
            for start, end in ranges
            if start < place + len(words) and end > place
        )
        if inside and inside * 2 >= _letters(words):
            return True
        place = text.find(words, place + 1)
    return False


def _letters(text: str) -> int:
    return sum(sign.isalnum() for sign in text)


def _tagged(text: str, start: int, end: int) -> Iterator[Range]:
    """From the first tag that is closed to the last closing one: a block can hold what looks like its own end."""
    tags = list(_TAG.finditer(text, start, end))
    closed = {tag[2] for tag in tags if tag[1]}
    opened = [tag for tag in tags if not tag[1] and tag[2] in closed]
    if opened:
        yield opened[0].start(), max(tag.end() for tag in tags if tag[1])


def _quoted(text: str, start: int, end: int) -> Iterator[Range]:
    """Sentences between quotation marks. A mark that is never closed opens nothing."""
    place = start
    while place < end:
        closing = _MARKS.get(text[place])
        if closing is None or (place > start and text[place - 1].isalnum()):
            place += 1
            continue
        # An apostrophe in a word closes nothing.
        ends = [at for at in range(place + 1, end) if text[at] in closing and not text[at + 1 : at + 2].isalnum()]
        inside = min(ends, default=-1)
        if inside < 0:
            place += 1
        elif _is_whole(text[place:inside]):
            # Up to the last mark of its kind: who quotes a text that holds quotation marks quotes all of it.
            yield place, max(ends) + 1
            return
        else:
            place = inside + 1


def _set_off(text: str, start: int, end: int) -> Iterator[Range]:
    """Sentences between stars or square brackets; and what is said after a few words between them."""
    for found in _SET_OFF.finditer(text, start, end):
        if _SENTENCE.match(text, found.end(), end):
            yield found.start(), end
            return
        if _is_whole(found[1] or found[2]):
            yield found.span()


def _is_whole(inside: str) -> bool:
    # Letters of languages that write few are counted as often as they count there.
    weight = _letters(inside) + 3 * len(_IDEOGRAPH.findall(inside))
    return len(inside.split()) >= _QUOTED_WORDS or weight > _QUOTED_WEIGHT


def _reported(text: str, start: int, end: int) -> Iterator[Range]:
    """From where somebody else is said to have said something to where the person speaks of themselves again; what
    is to be told to somebody; and all behind the colon, the dash or the short question that hands over a text."""
    if _expression("unspaced").search(text[start:end]):
        yield start, end
        return
    others = -1
    for begins, stops in _sentences(text, start, end):
        sentence = text[begins:stops]
        if others >= 0 and _is_of_themselves(sentence):
            yield others, begins
            others = -1
        told = _tells_of_others(sentence) or _is_announced(sentence) or _expression("according").match(sentence)
        if others < 0 and told:
            if sentence.rstrip().endswith(("?", "？")):
                yield begins, stops  # it is asked, and nobody goes on telling
            else:
                others = begins
        if dictated := _expression("dictates").match(sentence):
            yield begins + dictated.end(), stops
        colon = _COLON.search(sentence)
        if colon and any(_expression(one).match(sentence[: colon.start()]) for one in ("hands_over", "sources")):
            yield begins + colon.start(), end
            return
        asked = sentence.rstrip().endswith(("?", "？")) and len(sentence.split()) <= _SHORT_QUESTION
        if begins == start and asked and _words(sentence.rstrip(" ?？")) & _set("this"):
            yield stops, end  # "Is this true?", and then the text
            return
    if others >= 0:
        yield others, end


def _is_announced(sentence: str) -> bool:
    """Whether a few words hand over a whole sentence that the person does not say of themselves. "Remember: The …" is
    what they want kept."""
    found = _ANNOUNCED.match(sentence)
    if found is None or _expression("remember").search(found["head"]) or _is_of_themselves(found["text"]):
        return False
    whole = " " not in found["head"] or found["text"].rstrip().endswith((".", "!", "。", "！"))
    return whole and (len(found["text"].split()) >= _A_STATEMENT or _IDEOGRAPH.search(found["text"]) is not None)


def _is_of_themselves(sentence: str) -> bool:
    """Whether the person speaks of themselves in it. A small "i" inside is an article or an "and" elsewhere."""
    return bool(_words(sentence) & _set("myself")) or _I.search(sentence) is not None


def _tells_of_others(sentence: str) -> bool:
    """Whether it says that somebody said something, who is not the person, the agent, or nobody in particular."""
    told = _expression("says").match(sentence)
    if told is None and _expression("then_says").search(sentence):
        return True
    if told is None or len(sentence[told.end() - 1 :].strip(" .!?")) <= _A_WORD:
        return False
    who = told["who"].split()[-1].strip("'’").lower()
    if told["who"].split()[0].lower() in _set("conditions"):
        return False
    return not (_words(told["who"]) & _set("speakers") or who in _set("nobody"))


def _words(text: str) -> set[str]:
    return set(re.split(r"[\s'’,.]+", text.lower()))


def _sentences(text: str, start: int, end: int) -> Iterator[Range]:
    place = start
    for stop in _SENTENCE_END.finditer(text, start, end):
        yield place, stop.end()
        place = stop.end()
    if place < end:
        yield place, end


@cache
def _table() -> dict[str, str]:
    return tomllib.loads((files("reverie.transcripts") / "typed.toml").read_text("utf-8"))


@cache
def _set(name: str) -> frozenset[str]:
    return frozenset(_table()[name].split())


@cache
def _expression(name: str) -> re.Pattern[str]:
    alternatives = "|".join(line for line in _table()[name].strip().splitlines() if line)
    match name:
        case "says":  # who, in at most five words, that they say so, and what
            pattern = rf"(?P<who>(?:[^\s,;:.]+ ){{1,5}}?)(?:{alternatives})(?!\w)[\s:,]+\S"
        case "then_says":  # somebody was named before: "…, and she said that …"
            says = "|".join(line for line in _table()["says"].strip().splitlines() if line)
            pattern = rf"[,;–—] (?:[^\s,;:.]+ )?(?:{alternatives}) (?:{says})(?!\w)[\s:,]+(?:{_table()['that']})(?!\w)"
        case "according":
            pattern = rf"(?:[^\s,;:.]+,? )?(?:{alternatives})(?!\w)"
        case "hands_over":  # after "please", "can you" and the like, at most
            pattern = rf"(?:[^\s,;:.]+,? ){{0,2}}(?:{alternatives})(?![^\W\u3040-\uffff])"
        case "shapes":
            return re.compile(alternatives.replace("<upper>", _UPPER))
        case _:
            pattern = alternatives
    return re.compile(pattern, re.IGNORECASE)


ENOUGH_LINES = 4  # other lines from which a habit shows


def is_unlike(line: str, others: Iterable[str]) -> bool:
    """Whether a line is written like a page, among the others of somebody who writes like that in none of them."""
    if not (_first_letter(line).isupper() and _is_closed(line)):
        return False
    seen = 0
    for other in others:
        if not _first_letter(other).islower() or _is_closed(other):
            return False
        seen += 1
    return seen >= ENOUGH_LINES


def _first_letter(line: str) -> str:
    return next((sign for sign in line if sign.isalpha()), "")


def _is_closed(line: str) -> bool:
    return line.rstrip().endswith((".", "。"))
