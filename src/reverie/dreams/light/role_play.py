"""Role-play and fiction: turns in which the person speaks as someone else. What a captain orders is not their wish.

A game begins where someone says so, or where the agent answers with stage directions ("*bows*") or a title ("Of
course, madam."), and lasts until someone ends it (`phrases.toml`).
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources

from reverie.dreams.light.language_detection import lowered
from reverie.transcripts.session import Session

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
        elif _opens().search(said):
            open_now = True
            named = _STOP_WORD.search(said)
            stop_word = named[1].strip() if named else stop_word
            playing[turn.number] = len(turn.text)
        elif _FICTION.search(said):
            playing[turn.number] = len(turn.text)
    return playing


@cache
def phrases(name: str) -> str:
    """All alternatives of one list, as part of an expression."""
    table = tomllib.loads(resources.files("reverie.dreams.light").joinpath("phrases.toml").read_text("utf-8"))
    return "|".join(line.strip() for line in str(table[name]).strip().splitlines())


@cache
def _opens() -> re.Pattern[str]:
    return re.compile(phrases("opens"))


@cache
def _closes() -> re.Pattern[str]:
    """At the beginning of what is said; or a sentence of its own within it. To the end of that sentence."""
    ends = rf"(?:(?:{phrases('before_closing')})\W+){{0,3}}(?:{phrases('closes')})"
    return re.compile(rf"^\W*{ends}(?:[^.!?\n]*(?:[.!?]+|\n|$))|(?<=[.!?] ){ends}[^.!?\n]{{0,20}}(?:[.!?]+|\n|$)")
