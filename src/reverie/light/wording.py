"""From what was said to a line of memory: short, standing on its own, in the third person or as an instruction.

English is rewritten; other languages have a few rewritings of their own (`wording` in their cues) and otherwise
keep the sentence as it was said. The verbatim words are in the evidence either way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from reverie.light.candidate import MAX_WORDING
from reverie.light.dates import Spoken
from reverie.light.tongues import tongue

_REQUEST_TAIL = re.compile(
    r"\s*(?:[,;—–]|\s-)\s*(?:so |and |but |then )?(?:(?:can|could|would|will|should) (?:you|i|we)\b|do you\b|was that\b"
    r"|how (?:can|do|should|would|to)\b|what(?:'s| is| are| do| should| would)\b|is (?:there|that|it|this)\b|got any\b"
    r"|any (?:tips|advice|ideas|suggestions)\b|i need (?:help|advice)\b|here's\b|i want to (?:make sure|know)\b"
    r"|i(?:'m| am| was) (?:just |kinda |also )?(?:wondering|not sure|curious|unsure|hoping)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
_ASKING = re.compile(r"^(?:how|what|can|could|should|do|does|is|are|why|when|where|which|would|will)\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"[,;—–]\s*(?:and |especially |considering |given (?:that )?|since |because |but |so )*", re.IGNORECASE
)
_LEAD_IN = re.compile(
    r"^(?:\s*+(?:please|pls|ok(?:ay)?|oh|and|also|btw|by the way|fyi|so|but|well|hey|hi|p\.?s\.?(?=[:,])"
    r"|heads[- ]up|careful|right|thanks|great|wrong(?=[,.:;!—-])|no(?:pe)?(?=[,.:;!—-])|actually|as a (?:general )?rule"
    r"|just so you know|before i forget|one (?:more |other |last |small )?thing(?=[:.—-])|while (?:we're at it"
    r"|i think of it)|i think|i guess"
    r"|you know"
    r"|for (?:the|your|future) (?:record|reference|information)"
    r"|(?:i )?(?:already |have )?told you(?: so| already| before| that)*|i (?:already |just )?said(?= that\b"
    r"|[,:;])(?: that)?"
    r"|i (?:forgot|meant|wanted|have) to (?:tell|mention|say)(?: you)?(?: that)?"
    r"|(?:like|as) i (?:said|told you|mentioned)(?: before| already)?(?=[,:;])"
    r"|(?:that's|that is|this is|it's|it is) (?:wrong|incorrect|outdated|not (?:right|true|correct))(?=[,:;!—–-])"
    r"|then(?=,? let's (?:decide|agree|settle))|let's (?:decide|agree|settle)(?: (?:it|this|now|then))*(?: that"
    r"| ?(?=[:—–]))"
    r"|next time,? (?:please|pls|just)|(?:decision|correction)(?=:)|not (?:today|now|this (?:week|time)"
    r"|\d{4}-\d\d-\d\d)(?=[,:;—–-])"
    r"|(?:(?:can|could|would|will|might|may) (?:i|you|we) (?:please |kindly |just |perhaps |possibly |ask you to "
    r"|be so kind as to |trouble you to )*)?"
    r"(?:remember|note|keep in mind|bear in mind|make a note|don't forget)(?: that|:))(?!\w)[\s,:;.!—-]*+)++",
    re.IGNORECASE,
)
_PURPOSE = re.compile(
    r"^i(?:'m| am) (?:\w+ )?(?:trying|looking|hoping|planning|thinking|struggling|worried|stressed|concerned)"
    r"\b[^,;]*[,;] (?:and |so |but )?",
    re.IGNORECASE,
)
_SAID_BEFORE = re.compile(
    r",? (?:like|as) I (?:said|told you|mentioned)(?: before| already)?(?=[,.;!?]|$)|, (?:do you "
    r"|you )?remember(?: that)?[.?!]*$",
    re.IGNORECASE,
)
# "…, I read them on my phone": why, not what. Nobody knows later who reads what.
_LEANING = re.compile(
    r"\s*[,;—–] (?:because |since |as )?(?:I|we) (?:\w+ ){1,3}?(?:them|it|those|these|that)\b[^,;]*$", re.IGNORECASE
)
_ORDER = re.compile(r"^(?:always|never|no|don't|do not|stop|from now on|keep|only|use|write|send)\b", re.IGNORECASE)
_TAIL = re.compile(r"[\s,]*+(?:\b(?:please|pls|plz|ok|okay|thanks|thx|btw))?[\s.!?,;:…]*$", re.IGNORECASE)
_POLITE = re.compile(
    r"^(?:(?:can|could|would|will) (?:you|we) (?:please |kindly )?|any chance you could )", re.IGNORECASE
)
_MAY_I = re.compile(r"^(?:can|could|may) (?=\w)", re.IGNORECASE)
_FIRST_PERSON = (
    (r"I'd (?=rather|prefer|like)", "would "),
    (r"I(?:'m| am)\b", "is"),
    (r"I(?:'ve| have)\b", "has"),
    (r"I'll\b", "will"),
    (r"I (?:don't|do not)\b", "doesn't"),
    (r"I (can't|cannot|can|will|won't|would|should|must)\b", r"\1"),
)
_SUBJECT = re.compile(
    r"^I ((?:really|strongly|always|never|only|usually|also|generally|mostly|exclusively|just|no longer|still|often"
    r"|rarely"
    r"|currently|now|even|already|simply|personally|definitely|normally|typically|actually|hardly"
    r"|seldom) )*+([a-z]+)\b(?!')",
    re.IGNORECASE,
)
_THEM = (
    (r"\bmy\b", "their"),
    (r"\bmine\b", "theirs"),
    (r"\bmyself\b", "themselves"),
    (r"\bme\b", "them"),
    (r"\bi'm\b", "they're"),
    (r"\bi've\b", "they've"),
    (r"\bi'd\b", "they'd"),
    (r"\bi am\b", "they are"),
    (r"\bi\b(?![./])", "they"),
)
_WITH_ME = re.compile(r" with me\b(?=[,.]|$)")
_OURS = re.compile(r"^(?:our|my)\s+(?:own\s+)?", re.IGNORECASE)
_PAST = re.compile(
    r"ed$|^(?:met|went|got|bought|began|made|took|had|won|spent|built|wrote|saw|paid|gave|sold|ran|left|came|held"
    r"|sent|said"
    r"|chose|found|put|set|cut|hit|was|were|did|could|would|should|will|can|must|might|may|told|forgot|thought|knew"
    r"|kept"
    r"|lost|broke|drove|ate|drank|slept|felt|heard|taught|understood|became|grew|brought|caught|stood|led|rode|wore"
    r"|threw)$"
)
_ENDS = (".", "…", "!", "?", "。", "！", "？")
_CJK_FROM = "\u3000"


def worded(said: str, lead_at: int, language: str, dates: Sequence[Spoken] = ()) -> str:
    """`lead_at` is where in `said` the mark stands that made it worth keeping."""
    text = _with_days(" ".join(said.split()) if "\n" in said else said, dates)
    text = _english(text, lead_at) if language == "en" else _other(text, language)
    return _closed(text)


def _with_days(said: str, dates: Sequence[Spoken]) -> str:
    for spoken in sorted((one for one in dates if one.relative), key=lambda one: -one.start):
        said = f"{said[: spoken.start]}{spoken.day.isoformat()}{said[spoken.end :]}"
    return said


def _english(said: str, lead_at: int) -> str:
    tail = _REQUEST_TAIL.search(said, lead_at)
    text = said[: tail.start()] if tail else said
    text = text.replace("’", "'")
    text = text[_beginning(text, lead_at) :]
    text = _LEAD_IN.sub("", _SAID_BEFORE.sub("", text)) or text
    wish = _MAY_I.match(text) if said.rstrip().endswith("?") else None
    text = _WITH_ME.sub("", _POLITE.sub("", text))
    leaning = _LEANING.search(text)
    if leaning and (leaning.start() > lead_at or _ORDER.match(text)):
        text = text[: leaning.start()]
    text = _TAIL.sub("", text)
    if wish and text.lower().startswith(wish[0].lower()):
        text = f"Wants {text[wish.end() :]}"
    return _third_person(_OURS.sub("", text))


def _beginning(text: str, lead_at: int) -> int:
    """Behind the purpose or the question that only leads up to what matters."""
    if (purpose := _PURPOSE.match(text)) and purpose.end() <= lead_at:
        return purpose.end()
    asides = _ASIDE.finditer(text, 0, lead_at) if _ASKING.match(text) else ()
    return max((aside.end() for aside in asides), default=0)


def _third_person(text: str) -> str:
    """What begins with "I prefer" begins with "Prefers"; what begins with another subject keeps it."""
    for pattern, plain in _FIRST_PERSON:
        if match := re.match(pattern, text):
            text = match.expand(plain) + text[match.end() :]
            break
    else:
        if found := _SUBJECT.match(text):
            adverbs = text[2 : found.start(2)]
            text = f"{adverbs}{_conjugated(found[2].lower())}{text[found.end() :]}"
    for pattern, plain in _THEM:
        text = re.sub(pattern, plain, text, flags=re.IGNORECASE)
    return text


def _conjugated(verb: str) -> str:
    if _PAST.search(verb) and verb not in ("need", "feed", "speed", "exceed"):
        return verb
    if verb in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if verb.endswith(("s", "sh", "ch", "x", "z")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else verb + "s"


def _other(said: str, language: str) -> str:
    for pattern, plain in _rewritings(language):
        said = pattern.sub(plain, said)
    return said


@cache
def _rewritings(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    voice = tongue(language)
    rules = voice.wording.items() if voice else ()
    return tuple((re.compile(pattern, re.IGNORECASE), plain) for pattern, plain in rules)


def _closed(text: str) -> str:
    text = " ".join(text.split()).strip(" ,;:-—¿¡")
    if len(text) > MAX_WORDING - 1:
        text = text[: MAX_WORDING - 1]
        cut = max(text.rfind(sign) for sign in (", ", "; ", " - ", "，", "。"))
        text = text[:cut] if cut > 60 else text.rsplit(" ", 1)[0] + "…"
    text = text[:1].upper() + text[1:]
    if not text or text.endswith(_ENDS):
        return text
    return text + ("。" if text[-1] > _CJK_FROM else ".")
