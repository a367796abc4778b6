"""Canonical wording: short, declarative, standing on its own, in the language it was said in."""

from __future__ import annotations

import re

from reverie.deep.clauses import clauses, without_lead
from reverie.deep.matters import Matter
from reverie.deep.shapes import SHAPES
from reverie.deep.subjects import about
from reverie.deep.vocabulary import pattern, plain, third_persons, without

LONGEST = 200
_SPEAKER = re.compile(r"^(?:je (?=\w)|j'|ik (?=\w)|ich (?=\w)|yo |eu |io )(?!ne |n')", re.IGNORECASE)
_SEAL = re.compile(
    r",? (?:and )?(?:that's|that is|it's|this is) (?:settled|final|decided|fixed|it|official|a rule)\b", re.IGNORECASE
)
_SINCE = r"since|as of|ab dem|ab|seit dem|seit|desde el|desde|depuis le|depuis|dal|a partir d[eou]|sinds|vanaf"
_MONTH = (
    r"(?:jan|feb|fév|mar|mär|apr|abr|avr|ma[iy]|jun|jui|jul|aug|ago|aoû|sep|oct|okt|out|ott|nov|de[cz]|dic|déc|ene"
    r"|gen|mag"
    r"|giu|lug|set)"
)
DAY = re.compile(  # a date of the calendar, or the day of a month something holds since
    rf"(?:,? (?:on|from|am|da|{_SINCE}) )?\b20\d\d-\d\d-\d\d\b"
    rf"|(?:,? |^)(?:{_SINCE})(?: (?:the|le|el|den|dem|o|il|het))? \d{{1,2}}(?:er|st|nd|rd|th|º|\.)?(?: (?:of"
    rf"|de))? {_MONTH}"
    r"[a-zà-ÿ]*\b(?: 20\d\d)?,?"
    rf"|(?:,? |^)(?:{_SINCE}) (?:last |letztem |letzten )?(?:{SHAPES['weekday'].pattern})(?: (?:passé|pasado|scorso))?",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(r"^(?P<rest>.+) (?P<verb>\w+)\W*$")
_SUBJECT = re.compile(
    r"(?P<who>(?:the|our|my) [\w-]+(?: [\w-]+)?) (?:has|have|is|was|no longer)\b.* and [a-z]+s\b", re.I
)
_BARE_VERB = re.compile(r"[a-z]{2,}s\b(?! (?:is|are|was|has|have)\b)")
_TRAILING = re.compile(r"[\s,;:–—-]+$")
_FULL = (".", "!", "?", "…", "。", "！", "？")


def canonical(matter: Matter) -> str:
    """The statement of the matter that says most of it, put as a line of memory."""
    best = max(matter.said, key=lambda note: (not _leans(note.words), _says_of(matter, note.text), note.order))
    return tidy(best.text, matter.language)


def _leans(words: str) -> bool:
    """It means somebody it does not name, or tells what the agent did: other words say it better, if there are any."""
    said = plain(words)
    return any(pattern(name).search(said) for name in ("someone", "conduct"))


def _says_of(matter: Matter, text: str) -> float:
    """How much of what was said this wording covers, less what it costs in length."""
    mine = about(text, matter.language)
    others = [about(one.text, matter.language) for one in matter.said]
    covered = sum(len(mine & other) / max(1, len(other)) for other in others) / len(others)
    return round(covered - len(tidy(text, matter.language)) / 250, 3)


def tidy(text: str, language: str = "en") -> str:
    """Without lead-ins, pleas, first persons that need no name, and days that mean nothing to a later reader."""
    rest = without("hence", without_lead(text).rstrip(" .!"))
    rest = without("standing", _SEAL.sub("", without("pleas", rest)))
    return closed(in_third_person(rest, language)) or closed(text)


def in_third_person(text: str, language: str) -> str:
    """As the entries of a shelf speak of a person. What begins with a verb nobody listed stays as it was said."""
    rest = _SPEAKER.sub("", text)
    word = re.match(r"\w+", rest)
    changed = third_persons(language).get(word[0].lower()) if word else None
    if word and changed:
        return changed + rest[word.end() :]
    last = _SUBORDINATE.match(rest) if rest != text and language in ("de", "nl") else None
    verb = third_persons(language).get(last["verb"].lower()) if last else None
    return f"{verb} {last['rest']}" if last and verb else rest


def as_it_is_now(text: str, language: str = "en") -> str:
    """What a telling of a change leaves true: without what is over, without "now", without the day it happened."""
    kept = clauses(text).affirmed
    joined = ", ".join(without_now(piece) for piece in kept if about(piece))
    subject = _SUBJECT.match(text) if language == "en" and _BARE_VERB.match(joined) else None
    joined = f"{subject['who']} {joined}" if subject else joined
    return closed(in_third_person(DAY.sub("", joined), language)) if joined else tidy(text, language)


def without_now(piece: str) -> str:
    spans = [found.span() for found in pattern("now").finditer(plain(piece))]
    for start, end in reversed(spans):
        piece = f"{piece[:start]} {piece[end:]}" if piece[start:end].isascii() else piece[:start] + piece[end:]
    return " ".join(piece.split())


def closed(text: str) -> str:
    """One sentence: a capital at the beginning, a full stop at the end."""
    text = _TRAILING.sub("", " ".join(text.split())).strip(" ,;:–—-、，")
    text = re.sub(r"\s+([,.;:!?])", r"\1", text)
    text = text[:1].upper() + text[1:]
    if not text or text.endswith(_FULL):
        return text
    return text + ("。" if text[-1] > "\u3000" else ".")


def scoped(text: str, speaker: str) -> str:
    """A rule of one person among several."""
    name = speaker.capitalize() if speaker.isalpha() and speaker.islower() else speaker
    return f"For {name}: {text[:1].lower() + text[1:] if text[1:2].islower() else text}"
