"""Whose words are these? Blanks out what a person pasted, keeping every character in its place.

Code, logs, quotation lines and documents become spaces; the inside of quotation marks becomes `¤`, so that
"never write ¤¤" still reads as a rule while a quoted rule does not. Linear: one pass over the lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reverie.dreams.light.phrases import phrase

QUOTED = "¤"
MAX_OWN_WORDS = 1500  # people rarely type more in one go; beyond it only the first and last paragraph are theirs
MAX_PARAGRAPH = 900
MAX_LEAD = 200
_EDGE = 6_000

_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_RULE = re.compile(r"\s*[-=_*]{3,}\s*$")
_QUOTE_LINE = re.compile(r"\s{0,3}(?:>|\|.*\|\s*$|#{1,6}\s|(?:From|To|Subject|Date|Cc|Von|Betreff|De|Asunto|Objet):\s)")
_HEADER = re.compile(r"\s{0,3}(?:From|To|Subject|Date|Cc|Von|An|Betreff|De|Para|Asunto|Objet|Da|Oggetto|Van|Aan):\s")
_A_MAIL = 2  # lines of a head, one after another
_LOG_LINE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|\w{3} +\d+ \d\d:\d\d:\d\d"
    r"|\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL|TRACE)\b[\]:]?"
    r"|Traceback \(|File \"|\s+at [\w.$<>]+\(|(?:\w+\.)*\w*(?:Error|Exception): |npm ERR!|E   "
    r"|[+-]{3} [ab/]|@@ |diff --git|\$ |>>> |PS [A-Z]:"
    r"|(?:error|warning|fatal)(?:\[[\w-]+\])?: .*[:\d]$|error\[\w+\]: |-->\s|(?:PASS|FAIL|FAILED) \S+$|[●✓✗✕×] )"
)
# Below such a line these are the same program's; by themselves people begin so, too.
_LOG_GOES_ON = re.compile(r"\s*(?:(?:error|warning|note|help|hint|info|fatal|debug)(?:\[[\w-]+\])?: |\d+ ?\|)")
_SPEAKER = re.compile(r"\s{0,3}(?P<who>[A-ZÀ-Þ][\w.'-]{1,20}(?: [A-ZÀ-Þ][\w.'-]{1,20})?): +(?:\S+ +){2}")
_CODE_LINE = re.compile(
    r"\s*(?:(?:import|from|def|class|const|let|var|function|return|public|private|export|async|elif|except|#include"
    r"|package|using|SELECT|INSERT|UPDATE|CREATE)\b.*[\w(){};:=,'\"]\s*$(?<![.!?])"
    r"|.*[;{}]\s*$|</?\w+[^>]*>\s*$|[\w.\[\]\"']+\s*=\s*\S+\s*$|@\w+[\w.]*\()"
)
# A paragraph that hands something over to be worked on, and ends in a colon: what follows is what it hands over.
_HANDS_OVER = re.compile(r":\s*$")
_FEW_LINES = 3
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MARKS = (
    r'"[^"\n]{1,400}"',
    r"“[^”\n]{1,400}”",
    r"„[^“”\n]{1,400}[“”]",
    r"«[^»\n]{1,400}»",
    r"「[^」\n]{1,400}」",
    r"『[^』\n]{1,400}』",
    r"‘[^’\n]{1,400}’(?!\w)",
    r"(?<!\w)'[^'\n]{1,400}'(?!\w)",
    r"`[^`\n]{1,200}`",
)
_QUOTATION = re.compile("|".join(_MARKS))


def edges(text: str) -> str:
    """Of a huge message, which is pasted, only the beginning and the end: there a person may have added a word."""
    return text if len(text) <= 2 * _EDGE else f"{text[:_EDGE]}\n\n{text[-_EDGE:]}"


def typed(text: str) -> str:
    """The text, as long as it was, with everything that is not the person's own blanked; what stands between quotation
    marks is left in."""
    if "<!--" in text:
        text = _HTML_COMMENT.sub(lambda found: _blank(found[0]), text)
    return _only_edges("".join(_lines(text)))


def _lines(text: str) -> Iterator[str]:
    fence, document, headers, log = "", False, 0, False
    lines = text.splitlines(keepends=True)
    voices, handed_over = _voices(lines), _handed_over(lines)
    for number, line in enumerate(lines):
        if opening := _FENCE.match(line):
            fence = "" if fence == opening[1] else fence or opening[1]
            yield _blank(line)
        elif fence or headers >= _A_MAIL:  # what follows the head of a mail is its writer's
            yield _blank(line)
        elif _RULE.match(line):
            document = not document
            yield _blank(line)
        else:
            headers = headers + 1 if _HEADER.match(line) else headers * (not line.strip())
            log = bool(_LOG_LINE.match(line)) or (log and bool(_LOG_GOES_ON.match(line)))
            spoken = _SPEAKER.match(line)
            theirs = log or bool(spoken and spoken["who"] in voices)
            theirs |= number in handed_over
            yield _blank(line) if document or theirs or _is_foreign(line) else line


def _handed_over(lines: list[str]) -> range:
    """The lines of a document under "Give me the gist of this:". A list right under such a line is the person's own,
    and so is everything if they ask for it to be remembered."""
    for number, line in enumerate(lines[:-1]):
        if _HANDS_OVER.search(line) and not lines[number + 1].strip():
            below = [one for one in lines[number + 1 :] if one.strip()]
            told = phrase("hands_over").search(" ".join(lines[: number + 1]).lower())
            if told and (len(below) >= _FEW_LINES or sum(map(len, below)) > MAX_LEAD):
                return range(number + 1, len(lines))
    return range(0)


def _voices(lines: list[str]) -> frozenset[str]:
    """Who speaks in a conversation that was pasted: two or more, line by line, one of them more than once."""
    said = [found["who"] for line in lines if (found := _SPEAKER.match(line))]
    return frozenset(said) if 2 <= len(set(said)) < len(said) else frozenset()


def _is_foreign(line: str) -> bool:
    indented = line.startswith(("    ", "\t")) and not line.lstrip().startswith(("-", "*", "•"))
    return indented or any(shape.match(line) for shape in (_QUOTE_LINE, _CODE_LINE))


def _only_edges(text: str) -> str:
    if len(text) - text.count(" ") <= MAX_OWN_WORDS:
        return text
    paragraphs = [found.span() for found in re.finditer(r"\S(?:.|\n(?!\s*\n))*", text)]
    kept = {paragraphs[0], paragraphs[-1]}
    pieces, place = [], 0
    for start, end in sorted(kept):
        stop = min(end, start + MAX_PARAGRAPH)
        pieces += [_blank(text[place:start]), text[start:stop]]
        place = stop
    return "".join([*pieces, _blank(text[place:])])


def veiled(text: str) -> str:
    """The text with `¤` for what stands between quotation marks."""
    return "".join(_QUOTATION.sub(_veiled, line) for line in text.splitlines(keepends=True))


def _veiled(found: re.Match[str]) -> str:
    return found[0][0] + QUOTED * (len(found[0]) - 2) + found[0][-1]


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
