"""What names a person, their money or where they can be reached.

Numbers are bank accounts, payment cards and national ids: a checksum or a word beside it has to vouch for a number;
digits alone are a timestamp, an order or a row id. Contacts are mail addresses, telephone numbers, street addresses.
"""

import re
from collections.abc import Iterator
from functools import cache

from reverie.core.ids import lazy_pattern
from reverie.safety.secrets.values import SecretSpan, occurrences

# Length of an IBAN per country, from the SWIFT registry. The checksum alone lets one in 97 words through.
_IBAN_LENGTHS = {
    code: length
    for length, codes in {
        15: "NO",
        16: "BE",
        18: "DK FI FO GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for code in codes.split()
}
_CARD_ISSUER = r"3[47]|30[0-5]|36|38|4|5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|6(?:011|4[4-9]|5)|35(?:2[89]|[3-8])"
_ID_WORDS = (
    r"ssn|social security(?: (?:number|no\.?|#))?"
    r"|national insurance(?: (?:number|no\.?))?|passport(?: (?:number|no\.?))?"
    r"|driver'?s licen[cs]e(?: (?:number|no\.?))?|tax(?:payer)? id|itin|nhs (?:number|no\.?)|national id(?: number)?"
    r"|steuer-?id(?:nummer)?|steuernummer|sozialversicherungsnummer|personalausweis(?:nummer)?|reisepass(?:nummer)?"
    r"|ausweisnummer|ahv-?nummer|num[ée]ro de s[ée]cu(?:rit[ée] sociale)?|passeport(?: num[ée]ro)?|dni|nie|nif"
    r"|pasaporte|n[uú]mero de la seguridad social|curp|cpf|codice fiscale|passaporto|carta d'identit[àa]"
    r"|bsn|burgerservicenummer|paspoort(?:nummer)?|身份证号?码?|护照号?码?|マイナンバー|パスポート番号"
)
_ACCOUNT_WORDS = (
    r"(?<!aws )(?<!azure )(?<!gcp )account (?:number|no\.?|nr\.?|#)"
    r"|acct\.? ?(?:number|no\.?|#)|bank account|routing number"
    r"|sort code|konto(?:nummer|-?nr\.?)|bankleitzahl|blz|num[ée]ro de compte|n[uú]mero de (?:la )?(?:cuenta|conta)"
    r"|numero di conto|rekeningnummer|银行账?卡?号|账号|口座番号"
)
# Words that may stand between what a number is called and the number.
_TIES = r"(?:\s{0,3}(?:[:=#：]|is|are|was|ist|lautet|est|es|é|è|no\.?|nr\.?|n°|number|nummer|是|は)){0,3}\s{0,3}"


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    flags = re.IGNORECASE
    return {
        "iban": re.compile(r"(?<![^\W_])[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,29}", flags | re.ASCII),
        "card": re.compile(
            rf"(?<![\w.])(?<![\d][-/+])(?={_CARD_ISSUER})(?:[0-9]{{4}}(?:([ -])[0-9]{{4}}){{3}}(?:\1[0-9]{{3}})?"
            r"|[0-9]{4}[ -][0-9]{6}[ -][0-9]{5}|[0-9]{15,16})(?![\w]|[.-][0-9])"
        ),
        "id": re.compile(
            rf"(?:{_ID_WORDS}){_TIES}(?P<value>[A-Z0-9](?:[ ./-]?[A-Z0-9]){{5,19}})(?![^\W_])", flags | re.A
        ),
        "account": re.compile(rf"(?:{_ACCOUNT_WORDS}){_TIES}(?P<value>[0-9](?:[ -]?[0-9]){{5,16}})(?![\w.])", flags),
    }


_SHAPED_IDS = tuple(
    lazy_pattern(rf"(?<![\w.#/-]){shape}(?![\w/-])", re.ASCII)
    for shape in (
        r"(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}",  # United States
        r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] [0-9]{2} [0-9]{2} [0-9]{2} [A-D]",  # United Kingdom
        r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]",  # Italy
        r"(?P<cpf>[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2})",  # Brazil
        r"(?P<resident>[1-8][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9]{4}[0-9Xx])",  # China
        r"(?P<nir>[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]) ?[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{2})",  # France
    )
)


_other_number = lazy_pattern(
    r"(?:order|ticket|invoice|part|case|sku|serial|rfc|issue|commit|build|version|model|bestellung|rechnung|pedido)s?"
    r"(?:[ -]?(?:number|no\.?|nr\.?|id))?[\s:=#]{0,3}$",
    re.IGNORECASE,
)


def names_something_else(text: str, start: int) -> bool:
    """Whether the words right before say that this is the number of an order, a ticket, a version."""
    return _other_number().search(text, max(0, start - 24), start) is not None


def _digits(words: str) -> list[int]:
    return [int(char) for char in words if char in "0123456789"]


def ibans(text: str) -> Iterator[SecretSpan]:
    """International bank account numbers whose checksum holds."""
    for found in _patterns()["iban"].finditer(text):
        # One ends at its country's length: what follows it may be letters as well.
        start = found.start()
        length = _IBAN_LENGTHS.get(text[start : start + 2].upper(), 0)
        kept = [at for at in range(start, found.end()) if text[at].isalnum()][:length]
        if not length or len(kept) < length or (kept[-1] + 1 < len(text) and text[kept[-1] + 1].isalnum()):
            continue
        code = "".join(text[at] for at in kept)
        number = int("".join(str(int(char, 36)) for char in code[4:] + code[:4]))
        if number % 97 == 1:
            yield SecretSpan(start, kept[-1] + 1, "iban")


def cards(text: str) -> Iterator[SecretSpan]:
    """Payment cards: an issuer's first digits, a card's length, and the Luhn sum."""
    for found in _patterns()["card"].finditer(text):
        digits = _digits(found[0])
        doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
        if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1:
            yield SecretSpan(*found.span(), "card")


def accounts(text: str) -> Iterator[SecretSpan]:
    """Bank accounts that a word names as such."""
    for found in _patterns()["account"].finditer(text):
        yield SecretSpan(*found.span("value"), "account")


def _cpf(words: str) -> bool:
    digits = _digits(words)
    sums = (sum(d * (size - at) for at, d in enumerate(digits[: size - 1])) * 10 % 11 % 10 for size in (10, 11))
    return list(sums) == digits[9:] and len(set(digits)) > 1


def _resident(words: str) -> bool:
    weighed = sum(int(char) * (1 << (17 - at)) % 11 for at, char in enumerate(words[:17]))
    return "10X98765432"[weighed % 11] == words[17].upper()


def _nir(words: str) -> bool:
    number = "".join(map(str, _digits(words)))
    return 97 - int(number[:13]) % 97 == int(number[13:])


_CHECKS = {"cpf": _cpf, "resident": _resident, "nir": _nir}


def national_ids(text: str) -> Iterator[SecretSpan]:
    """Ids that a word names as such, and those whose shape or checksum is their own."""
    for found in _patterns()["id"].finditer(text):
        if len(_digits(found["value"])) >= 5:
            yield SecretSpan(*found.span("value"), "id")
    for shape in _SHAPED_IDS:
        for found in shape().finditer(text):
            check = _CHECKS.get(found.lastgroup or "")
            if (check is None or check(found[0])) and not names_something_else(text, found.start()):
                yield SecretSpan(*found.span(), "id")


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


_mail_name = lazy_pattern(rf"[{_LETTER}](?:[{_LETTER}._%+-]|(?<=[{_LETTER}])'(?=[{_LETTER}])){{0,63}}\Z")
_mail_domain = lazy_pattern(
    rf"@(?:[{_LETTER}](?:[{_LETTER}-]{{0,62}}[{_LETTER}])?\.){{1,8}}(?!{_FILE_ENDS}(?!\w))[A-Za-z]{{2,24}}"
)
_spelt_mail = lazy_pattern(
    r"\b[\w.+-]{1,64}(?: ?\[at\] ?| ?\(at\) ?)[\w-]{1,63}(?:(?: ?\[dot\] ?| ?\(dot\) ?|\.)[\w-]{2,63}){1,4}",
    re.I | re.A,
)
_DIGIT_GAP = r"(?: ?\(0\) ?|[ .\-/]|\) ?| ?\()"
_AREA = r"[2-9][0-8][0-9]"  # of North America
_PHONES = tuple(
    lazy_pattern(rf"(?<![\w.+#/:=-])(?<![0-9] )(?:{shape})(?!\w|[.:/-][0-9])", re.ASCII)
    for shape in (
        rf"(?:\+|00(?=[1-9][0-9]{{0,2}}[ .-]))[1-9][0-9]{{0,2}}(?:{_DIGIT_GAP}?[0-9]){{7,12}}",
        rf"(?:1[ .-])?(?:\({_AREA}\) ?|{_AREA}[ .-])[2-9][0-9]{{2}}[ .-][0-9]{{4}}",
        r"0[1-9](?:([ .-])[0-9]{2})(?:\1[0-9]{2}){3}",  # France
        r"07[0-9]{3} [0-9]{6}|0(?:20 [0-9]{4}|1[0-9]{2} [0-9]{3}|1[0-9]{3} [0-9]{2,3}) ?[0-9]{3,4}",  # United Kingdom
        r"06[ -][0-9]{8}",  # Netherlands
        r"0[789]0-[0-9]{4}-[0-9]{4}|0[36]-[0-9]{4}-[0-9]{4}",  # Japan
    )
)


_called_phone = lazy_pattern(
    rf"(?:{_PHONE_WORDS})(?:['’]s)?{_PHONE_TIES}"
    r"(?P<value>\(?[0-9]{2,5}\)?(?:[ ./-]{0,2}[0-9]){4,11})(?!\w|[.:/-][0-9])",
    re.IGNORECASE,
)
_no_phone = lazy_pattern(
    r"(?:(?:19|20)[0-9]{2}[ ./-][01]?[0-9][ ./-][0-3]?[0-9]|[0-3]?[0-9][./-][0-3]?[0-9][./-](?:19|20)[0-9]{2})(?![0-9])"
    r"|[0-9]{1,3}(?:\.[0-9]{1,3}){2,3}$|1[67][0-9]{8}$|(?:19|20)[0-9]{6}$"
)


def mail_addresses(text: str) -> Iterator[SecretSpan]:
    """Mail addresses, also spelt `ann (at) example (dot) org`."""
    for at in occurrences(text, "@"):
        after = _mail_domain().match(text, at)
        before = _mail_name().search(text[max(0, at - 64) : at]) if after else None
        if after and before:
            start = at - len(before[0])
            # `git@github.com:` is how everybody clones, and `ssh://shop@db.internal` is a machine.
            if before[0] != "git" and text[max(0, start - 3) : start] != "://":
                yield SecretSpan(start, after.end(), "mail")
    if "(at)" in text.lower() or "[at]" in text.lower():
        yield from (SecretSpan(*found.span(), "mail") for found in _spelt_mail().finditer(text))


def phones(text: str) -> Iterator[SecretSpan]:
    """Telephone numbers with a country code or a national way of grouping, or called so by the words before."""
    for shape in _PHONES:
        for found in shape().finditer(text):
            digits = re.sub(r"\D", "", found[0].replace("(0)", "")).removeprefix("00")
            of_america = re.fullmatch(r"1[2-9]\d\d[2-9]\d{6}", digits)
            fits = of_america if digits.startswith("1") else 9 <= len(digits) <= 14
            if (fits or not found[0].startswith(("+", "00"))) and not names_something_else(text, found.start()):
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


_HOUSE_NUMBER = r"[0-9]{1,4}(?: ?[a-zA-Z](?!\w)|[-/][0-9]{1,4})?"
_ENGLISH_STREET = r"(?:Street|Avenue|Road|Lane|Boulevard|Crescent|Terrace|Parkway|Highway|St|Ave|Rd|Ln|Blvd)(?!\w)\.?"
_ENGLISH_WEAK = r"(?:Drive|Way|Close|Place|Court|Square|Gardens|Mews|Hill|Dr\.?|Ct\.?|Pl\.?|Sq\.?)(?!\w)"
_FLAT = r"(?:,? (?:Apt|Apartment|Suite|Unit|Flat|Ste|Floor)\.? ?#?[0-9A-Z]{1,5}|,? #[0-9]{1,5})"
_POSTCODE = r"(?:[A-Z]{2} [0-9]{5}(?:-[0-9]{4})?|[A-Z]{1,2}[0-9][0-9A-Z]? [0-9][A-Z]{2})"
_STATE = rf"(?:,? {_CAP}(?: {_CAP}){{0,2}})?,? {_POSTCODE}"
_STREET_NAMES = rf"(?:(?!Google|One|Hard|Flash|Usb|USB){_CAP} ){{1,3}}"
_SPANISH_STREET = r"(?:[Cc]alle|C/|[Aa]venida|Avda\.?|[Pp]laza|[Pp]aseo|[Cc]arretera|[Rr]onda|[Rr]ua)"
_ITALIAN_STREET = r"(?:Via|Viale|Piazza|Corso|Vicolo|Largo|Piazzale)"
_FRENCH_STREET = r"(?:rue|avenue|av\.|boulevard|bd|place|chemin|impasse|all[ée]e|quai|cours|route|square|passage)"
_STREETS = tuple(
    lazy_pattern(rf"(?<![\w./-])(?:{shape})(?!\w)")
    for shape in (
        r"(?:(?:Flat|Apt|Unit) [0-9A-Z]{1,4},? )?"
        rf"[0-9]{{1,5}}[A-Za-z]? (?:[NSEW]\.? )?{_STREET_NAMES}{_ENGLISH_STREET}{_FLAT}?(?:{_STATE})?",
        rf"[0-9]{{1,5}}[A-Za-z]? {_STREET_NAMES}{_ENGLISH_WEAK}{_FLAT}?{_STATE}",
        rf"(?:{_GERMAN}) {_HOUSE_NUMBER}{_ZIP_CITY}?",
        rf"(?:{_GERMAN_WEAK}) {_HOUSE_NUMBER}{_ZIP_CITY}",
        rf"(?:{_DUTCH}) {_HOUSE_NUMBER}(?:,? [0-9]{{4}} ?[A-Z]{{2}}(?!\w))?(?: {_CAP})?",
        rf"(?:{_DUTCH_WEAK}) {_HOUSE_NUMBER},? [0-9]{{4}} ?[A-Z]{{2}}(?: {_CAP})?",
        rf"[0-9]{{1,4}}(?: ?(?:bis|ter|quater))?,? (?i:{_FRENCH_STREET}) {_OF}{_CAP}"
        rf"(?:[ -]{_OF}{_CAP}){{0,3}}{_ZIP_CITY}?",
        rf"(?:{_SPANISH_STREET}|{_ITALIAN_STREET}) {_OF}(?![A-Z]{{2}}){_CAP}(?: {_OF}{_CAP}){{0,3}},? "
        rf"(?:n[º°.]? ?)?{_HOUSE_NUMBER}{_ZIP_CITY}?",
    )
)


def street_addresses(text: str) -> Iterator[SecretSpan]:
    """A street and a house number, with the town if it follows: English, German, French, Spanish, Italian, Dutch."""
    for shape in _STREETS:
        yield from (SecretSpan(*found.span(), "address") for found in shape().finditer(text))
