"""Is a statement about one person? Then it belongs in no skill, which others follow, too.

Nobody has a list of names, and a name alone says little: "Press enquiries go to Yusuf" is a rule for everyone. The
trained tagger knows words that tell what somebody else wants; whom the sessions or this home know is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from reverie.bridge.diff import stems
from reverie.bridge.statements import StoreStatement
from reverie.dreams.light.language import detect_language, lowered, small_words_of, speaks_of_self
from reverie.dreams.light.tagger import tag_sentences
from reverie.text.values import find_values, spelled
from reverie.text.words import normal

WISH, PERHAPS_WISH = 0.9, 0.5  # from where the tagger takes words for what somebody else wants
LIKE_A_NAME = 0.95  # from where it takes a word for somebody's name, put into words that tell a wish
LIKE_ONE_IN_A_WISH = 0.7  # and where the words it stands in may tell one
BETWEEN = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_USER = ("the user", "user ", "user's ", "der nutzer", "die nutzerin", "el usuario", "la usuaria", "l'utilisat")
_SOMEBODY = (*_USER, "he ", "she ", "his ", "her ")
_PERSON = frozenset({"user", "users", "owner", "profil", "prefer"})  # stems of names that pages about one person have


def about_the_user(said: StoreStatement) -> bool:
    """By its words, or by the page it stands on: "preferences", "about the user", but not "user service"."""
    path = PurePosixPath(said.path)
    for name in (said.heading, path.stem, *path.parent.parts):
        words = name_words(name) | (_PERSON & set(BETWEEN.sub(" ", name.casefold()).split()))
        if words and words <= _PERSON:
            return True
    return speaks_of_the_user(said.text)


def speaks_of_the_user(text: str) -> bool:
    return normal(text).startswith(_SOMEBODY) or speaks_of_self(text, detect_language(text))


def about_one_person(text: str) -> bool:
    """It speaks of the user, or tells what somebody else wants."""
    return speaks_of_the_user(text) or _of_somebody_else([text])[0] >= WISH


def perhaps_about(text: str, people: Collection[str], known: Collection[str]) -> str:
    """Whom it may be about: the one of these people that it names, else the word with a capital, unknown here, that
    looks most like a name."""
    words = plain_words(text)
    for account in sorted(people):  # "Bob" of `bob.miller@shop.example`; nobody of `user7`
        first = account.partition("@")[0]
        name = "" if any(sign.isdigit() for sign in first) else BETWEEN.split(first)[0].capitalize()
        if name in words or (name and not name.isascii() and name in text):
            return name
    language = detect_language(text)  # in German every noun has a capital: there, the first word only
    words = [one for one in words[: 1 if language == "de" else None] if one.istitle() and len(one) > 1]
    found = find_values(spelled(normal(text)))
    values = {word for one in found for word in one.shown.split()}  # days and months have a capital, too
    no_names = {*known, *values, *small_words_of(language)}
    unknown = [one for one in words if lowered(one) not in no_names]
    wish, *chances = _of_somebody_else([text, *(f"{one} prefers short emails." for one in unknown)])
    least = LIKE_ONE_IN_A_WISH if wish >= PERHAPS_WISH else LIKE_A_NAME
    chance, likeliest = max(zip(chances, unknown, strict=True), default=(0.0, ""))
    return likeliest if chance >= least else ""


def plain_words(text: str) -> list[str]:
    return _WORD.findall(text)


def _of_somebody_else(texts: Sequence[str]) -> list[float]:
    readings = [found.between(0, len(text)) for text, found in zip(texts, tag_sentences(texts), strict=True)]
    return [one.others if one.why == "other_person" else 0.0 for one in readings]


def name_words(name: str) -> frozenset[str]:
    return stems(BETWEEN.sub(" ", name))
