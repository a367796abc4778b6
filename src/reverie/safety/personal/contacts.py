"""Where people can be reached: mail addresses, telephone numbers, street addresses."""

import re
from collections.abc import Iterator
from functools import cache

from reverie.safety.personal.numbers import names_something_else
from reverie.safety.secrets.spans import SecretSpan

_LETTER = r"A-Za-z0-9À-ÖØ-öø-ɏ"
# `logo@2x.png` and `checkout@main.yml` are files.
_FILE_ENDS = (
    r"(?:png|jpe?g|gif|svg|webp|ico|css|js|mjs|ts|tsx|jsx|json|ya?ml|toml|md|py|rb|go|rs|sh|txt|lock|zip|tgz|whl)"
)
_PHONE_WORDS = (
    r"\b(?:tele)?phone|\btel\b\.?|\bmobile|\bcell\b|\bfax|whats ?app|\bsignal\b"
    r"|\b(?:call|ring|text|reach) (?:me|us|him|her|them)"
    r"|\btelefon\w*|\bhandy\w*|\bmobil\w*|\bruf\w* mich|t[ée]l[ée]phone|\bportable|t[ée]l[ée]fono|\bm[óo]vil|\bcelular"
    r"|\bcellulare|\btelefone|\btelemóvel|\btelefoon\w*|\bmobieltje|电话|手机号?|電話(?:番号)?|携帯(?:番号)?"
)
_PHONE_TIES = (
    r"(?:\s{0,3}(?:[:=#：]|is|ist|lautet|est(?: le)?|es(?: el)?|é|è|at|on|under|unter|an|au|al|no\.?|nr\.?|n°|home|work"
    r"|number|nummer|num[ée]ro|n[uú]mero|numero|号码|号|是|は)){0,4}[\s(]{0,3}"
)


@cache
def _mail() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    local = re.compile(rf"[{_LETTER}](?:[{_LETTER}._%+-]|(?<=[{_LETTER}])'(?=[{_LETTER}])){{0,63}}\Z")
    domain = re.compile(
        rf"@(?:[{_LETTER}](?:[{_LETTER}-]{{0,62}}[{_LETTER}])?\.){{1,8}}(?!{_FILE_ENDS}(?!\w))[A-Za-z]{{2,24}}"
    )
    spelt = re.compile(
        r"\b[\w.+-]{1,64}(?: ?\[at\] ?| ?\(at\) ?)[\w-]{1,63}(?:(?: ?\[dot\] ?| ?\(dot\) ?|\.)[\w-]{2,63}){1,4}",
        re.I | re.A,
    )
    return local, domain, spelt


@cache
def _phones() -> tuple[re.Pattern[str], ...]:
    gap = r"(?: ?\(0\) ?|[ .\-/]|\) ?| ?\()"
    nanp = r"[2-9][0-8][0-9]"
    shapes = (
        rf"(?:\+|00(?=[1-9][0-9]{{0,2}}[ .-]))[1-9][0-9]{{0,2}}(?:{gap}?[0-9]){{7,12}}",
        rf"(?:1[ .-])?(?:\({nanp}\) ?|{nanp}[ .-])[2-9][0-9]{{2}}[ .-][0-9]{{4}}",
        r"0[1-9](?:([ .-])[0-9]{2})(?:\1[0-9]{2}){3}",  # France
        r"07[0-9]{3} [0-9]{6}|0(?:20 [0-9]{4}|1[0-9]{2} [0-9]{3}|1[0-9]{3} [0-9]{2,3}) ?[0-9]{3,4}",  # United Kingdom
        r"06[ -][0-9]{8}",  # Netherlands
        r"0[789]0-[0-9]{4}-[0-9]{4}|0[36]-[0-9]{4}-[0-9]{4}",  # Japan
    )
    return tuple(re.compile(rf"(?<![\w.+#/:=-])(?<![0-9] )(?:{shape})(?!\w|[.:/-][0-9])", re.ASCII) for shape in shapes)


@cache
def _called_phone() -> re.Pattern[str]:
    number = r"(?P<value>\(?[0-9]{2,5}\)?(?:[ ./-]{0,2}[0-9]){4,11})(?!\w|[.:/-][0-9])"
    return re.compile(rf"(?:{_PHONE_WORDS})(?:['’]s)?{_PHONE_TIES}{number}", re.IGNORECASE)


@cache
def _no_phone() -> re.Pattern[str]:
    date = r"(?:19|20)[0-9]{2}[ ./-][01]?[0-9][ ./-][0-3]?[0-9]|[0-3]?[0-9][./-][0-3]?[0-9][./-](?:19|20)[0-9]{2}"
    return re.compile(
        rf"(?:{date})(?![0-9])|[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{2,3}}$|1[67][0-9]{{8}}$|(?:19|20)[0-9]{{6}}$"
    )


def _each(text: str, needle: str) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1)


def _mail_at(text: str, at: int) -> SecretSpan | None:
    local, domain, _ = _mail()
    after = domain.match(text, at)
    before = local.search(text[max(0, at - 64) : at]) if after else None
    if after is None or before is None:
        return None
    start = at - len(before[0])
    # `git@github.com:` is how everybody clones, and `ssh://shop@db.internal` is a machine.
    if before[0] == "git" or text[max(0, start - 3) : start] == "://":
        return None
    return SecretSpan(start, after.end(), "mail")


def mail_addresses(text: str) -> Iterator[SecretSpan]:
    """Mail addresses, also spelt `ann (at) example (dot) org`."""
    yield from filter(None, (_mail_at(text, at) for at in _each(text, "@")))
    if "(at)" in text.lower() or "[at]" in text.lower():
        yield from (SecretSpan(*found.span(), "mail") for found in _mail()[2].finditer(text))


def _is_international(words: str) -> bool:
    digits = re.sub(r"\D", "", words.replace("(0)", "")).removeprefix("00")
    if digits.startswith("1"):
        return re.fullmatch(r"1[2-9]\d\d[2-9]\d{6}", digits) is not None
    return 9 <= len(digits) <= 14


def phones(text: str) -> Iterator[SecretSpan]:
    """Telephone numbers with a country code or a national way of grouping, or called so by the words before."""
    for shape in _phones():
        for found in shape.finditer(text):
            foreign = found[0].startswith(("+", "00"))
            if (not foreign or _is_international(found[0])) and not names_something_else(text, found.start()):
                yield SecretSpan(*found.span(), "phone")
    for found in _called_phone().finditer(text):
        if not _no_phone().match(found["value"]):
            yield SecretSpan(*found.span("value"), "phone")


_CAP = r"[A-ZÀ-ÖØ-Þ][\w'’.-]{1,30}"
_ZIP_CITY = rf"(?:,? (?:[A-Z]{{1,2}}-)?[0-9]{{4,5}}(?: [A-Z]{{2}})? {_CAP}(?:[ -]{_CAP}){{0,2}})"
_OF = r"(?:(?:de|du|des|del|de la|de las|de los|de l'|d'|la|le|les|di|della|dei|delle|dello|da|do|dos|das|l')[ ]?){0,2}"
_GERMAN = rf"{_CAP}(?:stra(?:ß|ss)e|str\.|allee|chaussee)|{_CAP}[ -](?:Stra(?:ß|ss)e|Str\.|Allee)"
_GERMAN_WEAK = (
    rf"(?:Am|Im|An der|Auf dem|Unter den|Zum|Zur) {_CAP}|{_CAP}(?:weg|platz|ring|damm|ufer|gasse|hof|steig|markt)"
)
_DUTCH = rf"{_CAP}(?:straat|laan|gracht|singel|kade|plein)"
_DUTCH_WEAK = rf"{_CAP}(?:weg|dijk|hof|steeg|pad|park)"


@cache
def _streets() -> tuple[re.Pattern[str], ...]:
    number = r"[0-9]{1,4}(?: ?[a-zA-Z](?!\w)|[-/][0-9]{1,4})?"
    strong = r"(?:Street|Avenue|Road|Lane|Boulevard|Crescent|Terrace|Parkway|Highway|St|Ave|Rd|Ln|Blvd)(?!\w)\.?"
    weak = r"(?:Drive|Way|Close|Place|Court|Square|Gardens|Mews|Hill|Dr\.?|Ct\.?|Pl\.?|Sq\.?)(?!\w)"
    flat = r"(?:,? (?:Apt|Apartment|Suite|Unit|Flat|Ste|Floor)\.? ?#?[0-9A-Z]{1,5}|,? #[0-9]{1,5})"
    postcode = r"(?:[A-Z]{2} [0-9]{5}(?:-[0-9]{4})?|[A-Z]{1,2}[0-9][0-9A-Z]? [0-9][A-Z]{2})"
    state = rf"(?:,? {_CAP}(?: {_CAP}){{0,2}})?,? {postcode}"
    names = rf"(?:(?!Google|One|Hard|Flash|Usb|USB){_CAP} ){{1,3}}"
    romance = r"(?:[Cc]alle|C/|[Aa]venida|Avda\.?|[Pp]laza|[Pp]aseo|[Cc]arretera|[Rr]onda|[Rr]ua)"
    italian = r"(?:Via|Viale|Piazza|Corso|Vicolo|Largo|Piazzale)"
    french = r"(?:rue|avenue|av\.|boulevard|bd|place|chemin|impasse|all[ée]e|quai|cours|route|square|passage)"
    shapes = (
        r"(?:(?:Flat|Apt|Unit) [0-9A-Z]{1,4},? )?"
        rf"[0-9]{{1,5}}[A-Za-z]? (?:[NSEW]\.? )?{names}{strong}{flat}?(?:{state})?",
        rf"[0-9]{{1,5}}[A-Za-z]? {names}{weak}{flat}?{state}",
        rf"(?:{_GERMAN}) {number}{_ZIP_CITY}?",
        rf"(?:{_GERMAN_WEAK}) {number}{_ZIP_CITY}",
        rf"(?:{_DUTCH}) {number}(?:,? [0-9]{{4}} ?[A-Z]{{2}}(?!\w))?(?: {_CAP})?",
        rf"(?:{_DUTCH_WEAK}) {number},? [0-9]{{4}} ?[A-Z]{{2}}(?: {_CAP})?",
        rf"[0-9]{{1,4}}(?: ?(?:bis|ter|quater))?,? (?i:{french}) {_OF}{_CAP}(?:[ -]{_OF}{_CAP}){{0,3}}{_ZIP_CITY}?",
        rf"(?:{romance}|{italian}) {_OF}(?![A-Z]{{2}}){_CAP}(?: {_OF}{_CAP}){{0,3}},? "
        rf"(?:n[º°.]? ?)?{number}{_ZIP_CITY}?",
    )
    return tuple(re.compile(rf"(?<![\w./-])(?:{shape})(?!\w)") for shape in shapes)


def street_addresses(text: str) -> Iterator[SecretSpan]:
    """A street and a house number, with the town if it follows: English, German, French, Spanish, Italian, Dutch."""
    for shape in _streets():
        yield from (SecretSpan(*found.span(), "address") for found in shape.finditer(text))
