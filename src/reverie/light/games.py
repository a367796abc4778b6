"""Role-play and fiction: turns in which the person speaks as someone else. What a captain orders is not their wish."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reverie.light.tongues import plain

_OPENS = re.compile(
    r"\b(?:let's (?:play(?!\w)|role-?play)|(?:stay|be|remain) in character|(?:want to|wanna|can we) role-?play"
    r"|role-?play (?:as|a scene|with me)|play the (?:part|role) of"
    r"|you(?:'re| are) (?:now )?my (?:first mate|squire|butler|sidekick|servant|nemesis|apprentice)"
    r"|(?:i'm|i am) (?:the )?[\w ]{2,40}(?:,| and) you(?:'re| are) "
    r"|you(?:'re| are|'ll be| will be) (?:the|my) (?:dungeon|game) master"
    r"|lass uns (?:spielen|ein rollenspiel)|ein rollenspiel|bleib in (?:der|deiner) rolle|vamos a jugar"
    r"|un juego de rol|jouons|un jeu de rôle|vamos (?:jogar|brincar)|giochiamo|un gioco di ruolo"
    r"|laten we spelen|een rollenspel)|角色扮演|你来?扮演|ロールプレイ|なりきって"
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
    r"(?:until|till|unless|bis|hasta que|jusqu'à ce que) (?:i|ich|yo|je) (?:say|type|write|sage|diga|dise) "
    r"['\"“‘«]?([\w ]{2,20}?)['\"”’»]?(?:[.,!]|$)"
)
_CLOSES = re.compile(
    r"^\W*(?:curtain|cut!|the end\b|end scene|end of (?:the )?(?:game|scene|role-?play)|out of character|ooc\b|\(ooc"
    r"|stop (?:the )?(?:game|role-?play|playing)|back to (?:reality|real life|work)|game over"
    r"|ende (?:des )?spiel|fin del juego|fin du jeu)"
)


def in_play(turns: Iterable[tuple[int, str]]) -> frozenset[int]:
    """The numbers of turns that belong to a game, the opening and closing ones included."""
    playing: set[int] = set()
    stop_word, open_now = "", False
    for number, text in turns:
        words = plain(text[:2_000])
        if not open_now and _OPENS.search(words):
            open_now = True
            named = _STOP_WORD.search(words)
            stop_word = named[1].strip() if named else stop_word
            playing.add(number)
        elif not open_now and _FICTION.search(words):
            playing.add(number)
        elif open_now:
            playing.add(number)
            open_now = not (_CLOSES.match(words) or (stop_word and words.lstrip().startswith(stop_word)))
    return frozenset(playing)
