"""Whose words are these? What a person pasted is blanked, and turns in which they play a part are found.

Code, logs, quotation lines and documents become spaces, every character in its place; the inside of quotation marks
becomes `¤`, so that "never write ¤¤" still reads as a rule while a quoted rule does not. Only what is offered rests on
this: what may land by itself has to look typed (`transcripts/typed.py`), which is far stricter. Linear: one pass over
the lines.

In role-play and fiction the person speaks as someone else: what a captain orders is not their wish. A game begins where
someone says so, or where the agent answers with stage directions ("*bows*") or a title ("Of course, madam."), and lasts
until someone ends it (`phrases.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources

from reverie.dreams.light.language import lowered
from reverie.transcripts.session import Session

QUOTED = "¤"
MAX_OWN_WORDS = 1500  # people rarely type more in one go; beyond it only the first and last paragraph are theirs
MAX_PARAGRAPH = 900
MAX_LEAD = 200
_EDGE = 6_000

_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_RULE = re.compile(r"\s*[-=_*]{3,}\s*$")
_HEADER = re.compile(r"\s{0,3}(?:From|To|Subject|Date|Cc|Von|An|Betreff|De|Para|Asunto|Objet|Da|Oggetto|Van|Aan):\s")
_A_MAIL = 2  # lines of a head, one after another
# Quotations, tables, headings and indented blocks; logs, what programs print, commands; code.
_FOREIGN_LINE = re.compile(
    r"\s{0,3}(?:>|\|.*\|\s*$|#{1,6}\s)|(?:    |\t)\s*[^\s*•-]"
    r"|\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|\w{3} +\d+ \d\d:\d\d:\d\d"
    r"|\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL|TRACE)\b[\]:]?"
    r"|Traceback \(|File \"|\s+at [\w.$<>]+\(|(?:\w+\.)*\w*(?:Error|Exception): |npm ERR!|E   "
    r"|(?:error|warning|fatal|note|hint)(?:\[[\w-]+\])?: |-->\s|[+-]{3} [ab/]|@@ |diff --git|\$ |>>> |PS [A-Z]:"
    r"|[●✓✗✕×] )"
    r"|.*[;{}]\s*$|</?\w+[^>]*>\s*$|\s*[\w.\[\]\"']+\s*=\s*\S+\s*$|\s*@\w+[\w.]*\("
)
_SPEAKER = re.compile(r"\s{0,3}([A-ZÀ-Þ][\w.'-]{1,20}(?: [A-ZÀ-Þ][\w.'-]{1,20})?): +(?:\S+ +){2}")
_FEW_LINES = 3
_QUOTATION = re.compile(
    r'"[^"\n]{1,400}"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|「[^」\n]{1,400}」|『[^』\n]{1,400}』'
    r"|‘[^’\n]{1,400}’(?!\w)|(?<!\w)'[^'\n]{1,400}'(?!\w)|`[^`\n]{1,200}`"
)


def edges(text: str) -> str:
    """Of a huge message, which is pasted, only the beginning and the end: there a person may have added a word."""
    return text if len(text) <= 2 * _EDGE else f"{text[:_EDGE]}\n\n{text[-_EDGE:]}"


def typed(text: str) -> str:
    """The text, as long as it was, with everything that is not the person's own blanked; what stands between quotation
    marks is left in."""
    return _only_edges("".join(_lines(text.splitlines(keepends=True))))


def _lines(lines: list[str]) -> Iterator[str]:
    fence, document, headers = "", False, 0
    voices = [found[1] for line in lines if (found := _SPEAKER.match(line))]
    talk = len(voices) > len(set(voices)) > 1  # two or more, line by line, one of them more than once
    handed = range(0)
    for number, line in enumerate(lines):
        if opening := _FENCE.match(line):
            fence = "" if fence == opening[1] else fence or opening[1]
        elif not fence and _RULE.match(line):
            document = not document
        headers = headers + 1 if _HEADER.match(line) else headers if headers >= _A_MAIL or not line.strip() else 0
        foreign = opening or fence or document or headers or number in handed or _FOREIGN_LINE.match(line)
        yield _blank(line) if foreign or _RULE.match(line) or (talk and _SPEAKER.match(line)) else line
        handed = handed or _handed_over(lines, number)


def _handed_over(lines: list[str], number: int) -> range:
    """Under "Give me the gist of this:" and an empty line stands what is handed over, if it is more than a few words;
    the last paragraph of several is the person's again. A list right under such a line is their own."""
    below = lines[number + 1 :]
    if not lines[number].rstrip().endswith(":") or not below or below[0].strip():
        return range(0)
    much = sum(map(len, below)) > MAX_LEAD or sum(bool(one.strip()) for one in below) >= _FEW_LINES
    ends = [place for place in range(number + 2, len(lines)) if not lines[place].strip()]
    return range(number + 1, ends[-1] if ends else len(lines)) if much else range(0)


def _only_edges(text: str) -> str:
    if len(text) - text.count(" ") <= MAX_OWN_WORDS:
        return text
    paragraphs = [found.span() for found in re.finditer(r"\S(?:.|\n(?!\s*\n))*", text)]
    if not paragraphs:
        return text  # thousands of lines, and none of them the person's
    pieces, place = [], 0
    for start, end in sorted({paragraphs[0], paragraphs[-1]}):
        stop = min(end, start + MAX_PARAGRAPH)
        pieces += [_blank(text[place:start]), text[start:stop]]
        place = stop
    return "".join([*pieces, _blank(text[place:])])


def veiled(text: str) -> str:
    """The text with `¤` for what stands between quotation marks."""
    return _QUOTATION.sub(lambda found: found[0][0] + QUOTED * (len(found[0]) - 2) + found[0][-1], text)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


_READ = 2_000
_STAGE_DIRECTION = re.compile(r"\s*\*(?![*\s])[a-zà-ÿ][^*\n]{1,160}\*(?!\*)")
# Nobody's agent speaks to them so: it plays a part.
_TITLED = re.compile(
    r"(?:^|[,!.] )(?:(?:your|eure?|votre|vuestra|su|vostra|vossa|sua|uwe|ers|wasza) )?(?:madam|m'lady|milady|my (?:lord"
    r"|lady|liege)|m'lord|sire|majesty|grace|highness|excellency|lordship|baroness|baron|captain|majestät|hoheit"
    r"|durchlaucht|exzellenz|gnädige frau|majesté|altesse|excellence|majestad|alteza|excelencia|maestà|altezza"
    r"|eccellenza|majestade|excelência|serenissimo|serenità|(?:mon )?(?:colonel|général)|inspector|detective|commander"
    r"|majesteit|hoogheid|höghet|wysokość)[.,!?]",
    re.IGNORECASE,
)
# One piece of fiction to be written: what its people always do is not what the person wants.
_FICTION = re.compile(
    r"\b(?:write|tell|make up|compose|invent|draft|give)\b[^.?!\n]{0,70}?"
    r"\b(?:story|stories|poem|haiku|limerick|dialogue|scene|sketch|joke|song|fable|fairy tale|monologue)\b"
    r"|\bin the (?:voice|style) of an? |\byou(?:'re| are) an? [\w ]{2,30},? who\b"
    r"|\bdu bist eine? [\w ]{2,30}, d(?:er|ie)\b"
    r"|\b(?:schreib|erzähl|erfind)\w*\b[^.?!\n]{0,70}?\b(?:geschichte|gedicht|märchen|dialog|szene|witz)\b"
)
_STOP_WORD = re.compile(
    r"(?:until|till|unless|(?:we |it )?(?:stops?|ends?|over|finish|finishes) when|bis|hasta que|jusqu'à ce que) "
    r"(?:i|ich|yo|je) (?:say|type|write|sage|diga|dise) ['\"“‘«]?([\w ]{2,20}?)['\"”’»]?(?:[.,!]|$)"
)


def in_play(session: Session) -> dict[int, int]:
    """A person's turns that belong to a game, the opening one included; and where in each they speak as themselves
    again: at its end, but for what stands behind the words that end the game."""
    playing: dict[int, int] = {}
    stop_word, open_now, before = "", False, 0
    for turn in session.turns:
        if turn.noise is not None or turn.role not in ("user", "assistant"):
            continue
        if turn.role == "assistant":
            if before and not open_now and (_STAGE_DIRECTION.match(turn.text) or _TITLED.search(turn.text[:_READ])):
                open_now = True
                playing[before] = len(session.turn(before).text)
            continue
        said, before = lowered(turn.text[:_READ]), turn.number
        if open_now:
            ends = _closes().search(said)
            stopped = ends is not None or (stop_word and said.lstrip().startswith(stop_word))
            playing[turn.number] = ends.end() if ends else len(turn.text)
            if stopped:
                open_now, before = False, 0
        elif expression("opens").search(said):
            open_now = True
            named = _STOP_WORD.search(said)
            stop_word = named[1].strip() if named else stop_word
            playing[turn.number] = len(turn.text)
        elif _FICTION.search(said):
            playing[turn.number] = len(turn.text)
    return playing


def _phrases(name: str) -> str:
    """All alternatives of one list, as part of an expression."""
    table = tomllib.loads(resources.files("reverie.dreams.light").joinpath("phrases.toml").read_text("utf-8"))
    return "|".join(line.strip() for line in str(table[name]).strip().splitlines())


@cache
def expression(name: str) -> re.Pattern[str]:
    return re.compile(_phrases(name))


@cache
def _closes() -> re.Pattern[str]:
    """At the beginning of what is said; or a sentence of its own within it. To the end of that sentence."""
    ends = rf"(?:(?:{_phrases('before_closing')})\W+){{0,3}}(?:{_phrases('closes')})"
    return re.compile(rf"^\W*{ends}(?:[^.!?\n]*(?:[.!?]+|\n|$))|(?<=[.!?] ){ends}[^.!?\n]{{0,20}}(?:[.!?]+|\n|$)")
