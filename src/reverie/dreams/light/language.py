"""Which language a text is in, by its script and its function words; and the dates it speaks of, resolved against the
day it was said. A date that cannot be resolved is left out.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib import resources

from reverie.text.tokens import FUNCTION_WORDS

LANGUAGES = ("en", "de", "es", "fr", "pt", "it", "nl", "zh", "ja", "sv", "no", "da", "pl", "cs", "tr")
UNKNOWN = "und"
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\uac00-\ud7af]")  # Greek to Khmer, Hangul: no function words of theirs here
_LETTERS = {"pl": "ąęłśźżćń", "cs": "řěůďť", "tr": "ğış", "no": "øæ"}  # that only these languages write
_SAMPLE = 2_000


def detect_language(text: str, otherwise: str = "en") -> str:
    """By script, then by function words. Too few words to tell: `otherwise`, what the session speaks."""
    sample = text[:_SAMPLE]
    if _KANA.search(sample):
        return "ja"
    if _HAN.search(sample):
        return "zh"
    if len(_OTHER_SCRIPT.findall(sample)) * 2 > len(_WORD.findall(sample)):
        return UNKNOWN
    words = _WORD.findall(lowered(sample))
    hits = Counter(code for word in words for code in _spoken_in().get(word.replace("'", ""), ()))
    hits.update(code for word in words for code, letters in _LETTERS.items() if not set(letters).isdisjoint(word))
    unread = hits.pop("unread", 0)
    if not hits:
        return otherwise
    most = max(hits.values())
    if unread >= max(2, most):
        return UNKNOWN
    best = [code for code in LANGUAGES if hits[code] == most]
    return otherwise if otherwise in best else best[0]


def speaks_of_self(text: str, language: str) -> bool:
    """Whether it says “I” or “my” in that language."""
    said = lowered(text)
    own = _table()["first_person"].get(language, "").split()
    if language in ("zh", "ja"):
        return any(word in said for word in own)
    return any(word in own or f"{word.split(chr(39))[0]}'" in own for word in _WORD.findall(said))


def lowered(text: str) -> str:
    """Lower case with straight apostrophes."""
    return text.replace("İ", "i").lower().replace("’", "'").replace("ʼ", "'")


@cache
def small_words_of(code: str) -> frozenset[str]:
    """The function words of a language; nothing for one without."""
    return FUNCTION_WORDS.get(code, frozenset()) | frozenset(_table()["words"].get(code, "").split())


@cache
def _spoken_in() -> dict[str, tuple[str, ...]]:
    spoken: dict[str, tuple[str, ...]] = {}
    for code in (*LANGUAGES, "unread"):
        for word in small_words_of(code):
            spoken[word] = (*spoken.get(word, ()), code)
    return spoken


@cache
def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads(resources.files("reverie.dreams.light").joinpath("languages.toml").read_text("utf-8"))


MONTHS = (
    "jan(?:uary|uar|vier|eiro|uari)?|enero?|gennaio",
    "feb(?:ruary|ruar|braio|ruari)?|febrero|février|fevereiro",
    "mar(?:ch|zo|s|ço|t)?|märz|maart|maa",
    "apr(?:il|ile)?|abril|abr|avril",
    "may|mai|mayo|maio|maggio|mei",
    "june?|juni|junio|juin|junho|giugno",
    "july?|juli|julio|juillet|julho|luglio",
    "aug(?:ust|ustus)?|agosto|août|ago",
    "sep(?:t|tember|tiembre|tembre)?|setembro|settembre",
    "oct(?:ober|ubre|obre)?|okt(?:ober)?|outubro|ottobre",
    "nov(?:ember|iembre|embre|embro)?",
    "dec(?:ember)?|dez(?:ember|embro)?|diciembre|décembre|dicembre",
)
WEEKDAYS = (
    "monday|montag|lunes|lundi|segunda-feira|lunedì|maandag",
    "tuesday|dienstag|martes|mardi|terça-feira|martedì|dinsdag",
    "wednesday|mittwoch|miércoles|mercredi|quarta-feira|mercoledì|woensdag",
    "thursday|donnerstag|jueves|jeudi|quinta-feira|giovedì|donderdag",
    "friday|freitag|viernes|vendredi|sexta-feira|venerdì|vrijdag",
    "saturday|samstag|sábado|samedi|sabato|zaterdag",
    "sunday|sonntag|domingo|dimanche|domenica|zondag",
)
_NEAR = {
    0: "today|heute|hoy|aujourd'hui|hoje|oggi|vandaag|今天|今日",
    -1: "yesterday|gestern|ayer|hier|ontem|ieri|gisteren|昨天|昨日",
    1: "tomorrow|mañana|demain|amanhã|domani|明天|明日",
}
_MONTH = "|".join(f"(?P<m{place}>{names})" for place, names in enumerate(MONTHS, 1))
_YEAR = r"(?:,? (?:de |del )?(?P<year>20\d\d))?"
_WRITTEN = re.compile(
    rf"\b(?P<iso>20\d\d-\d\d-\d\d)\b|(?P<cy>20\d\d)?年?(?P<cm>\d{{1,2}})月(?P<cd>\d{{1,2}})[日号]"
    rf"|\b(?P<before>\d{{1,2}})(?:st|nd|rd|th|\.|er|º)? (?:of |de )?(?:{_MONTH})\b\.?{_YEAR}"
)
_MONTH_FIRST = re.compile(rf"\b(?:{_MONTH})\.? (?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d|:){_YEAR}")
_LAST_DAY = re.compile(
    r"\b(?:(?P<surely>since|last|seit|letzten|seit letztem|desde el|depuis|da|sinds|afgelopen)|on|am|el|le|na|op) (?:"
    + "|".join(f"(?P<w{place}>{names})" for place, names in enumerate(WEEKDAYS))
    + r")\b(?!s)(?P<gone> (?:pasado|dernier|passad[oa]|scors[oa]|ago))?"
)
# Without one of these, "on Thursday" is any Thursday or the next one: "le marché a lieu le jeudi".
_TOLD_AS_PAST = re.compile(
    r"\b(?:was|were|had|did|(?!need|feed)\w{2,}ed|went|came|left|got|made|took|told|said|sent|met|bought|sold|began"
    r"|saw|gave|put"
    r"|war|waren|wurden?|hatten?|(?:um|ab|an|aus|ein|ver|vor)?ge\w{3,}(?:t|en)|(?:ver|be|ent|er)\w{3,}t worden|kam|ging"
    r"|(?:ha|han|hemos|he|has) (?:\w+ )?\w+[aio]do|\w{2,}(?:ó|aron|ieron|amos|imos)|fue|fueron|fui"
    r"|(?:a|ont|avons|ai|est|sont|sommes) (?:\w+ )?(?!lieu\b)\w{2,}(?:é|ée|és|ées|i|is|u|us|it)|était"
    r"|(?:ha|hanno|abbiamo|ho|è|sono|siamo) (?:\w+ )?\w+(?:[aiu]t[oaie]|sso|tto|so)"
    r"|\w{2,}(?:ou|eram|aram|iram|iu)|foi|foram|werd|werden|gisteren)\b"
)
# "is collected on Friday", "wird am Freitag abgeholt": it is done every Friday
_IS_DONE = re.compile(r"\b(?:(?:is|are|gets?) (?:\w+ )?\w{2,}ed|(?:wird|werden) .*ge\w{3,}(?:t|en))\b")
_NEARBY = re.compile("|".join(rf"(?P<d{shift + 1}>\b(?:{words})\b|(?:{words}))" for shift, words in _NEAR.items()))


_STOPS = (", ", "; ", ": ", ". ", " – ", " — ", " - ")


@dataclass(frozen=True, slots=True)
class SpokenDate:
    """A date and where it stands."""

    start: int
    end: int
    day: date


def dates_in(words: str, said_on: date | None) -> list[SpokenDate]:
    """In the order they stand. `words` are in lower case."""
    return sorted([*_written(words, said_on), *_relative(words, said_on)], key=lambda spoken: spoken.start)


def _written(words: str, said_on: date | None) -> Iterator[SpokenDate]:
    for pattern in (_WRITTEN, _MONTH_FIRST):
        for found in pattern.finditer(words):
            if day := _day(found, said_on):
                yield SpokenDate(*found.span(), day)


def _day(found: re.Match[str], said_on: date | None) -> date | None:
    parts = {name: value for name, value in found.groupdict().items() if value}
    if iso := parts.get("iso"):
        return _date(*(int(part) for part in iso.split("-")))
    month = int(parts["cm"]) if "cm" in parts else next(int(name[1:]) for name in parts if name[0] == "m")
    day = int(parts.get("cd") or parts.get("before") or parts["after"])
    year = parts.get("cy") or parts.get("year")
    if year or said_on is None:
        return _date(int(year), month, day) if year else None
    near = [_date(said_on.year + shift, month, day) for shift in (-1, 0, 1)]
    return min((one for one in near if one), key=lambda one: abs(one - said_on), default=None)


def _relative(words: str, said_on: date | None) -> Iterator[SpokenDate]:
    if said_on is None:
        return
    for found in _LAST_DAY.finditer(words):
        clause = _clause(words, *found.span())
        told_as_past = _TOLD_AS_PAST.search(clause) and not _IS_DONE.search(clause)
        if not (found["surely"] or found["gone"] or told_as_past):
            continue
        day = next(name for name, value in found.groupdict().items() if value and name[0] == "w")
        back = (said_on.weekday() - int(day[1:])) % 7 or 7
        yield SpokenDate(found.start(day), found.end(), said_on - timedelta(back))
    for found in _NEARBY.finditer(words):
        yield SpokenDate(*found.span(), said_on + timedelta(int((found.lastgroup or "d1")[1:]) - 1))


def _clause(words: str, start: int, end: int) -> str:
    """The words around a place, as far as the next comma: "we meet on Thursday, the church has got too cold\"."""
    begin = max(words.rfind(sign, 0, start) for sign in _STOPS)
    stop = min((at for sign in _STOPS if (at := words.find(sign, end)) >= 0), default=len(words))
    return words[begin + 1 : stop]


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
