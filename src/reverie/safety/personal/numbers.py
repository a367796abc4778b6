"""Numbers that name a person or their money: bank accounts, payment cards, national ids.

A checksum or a word beside it has to vouch for a number; digits alone are a timestamp, an order or a row id.
"""

import re
from collections.abc import Iterator
from functools import cache

from reverie.safety.secrets.spans import SecretSpan

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


@cache
def _shaped_ids() -> tuple[re.Pattern[str], ...]:
    shapes = (
        r"(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}",  # United States
        r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] [0-9]{2} [0-9]{2} [0-9]{2} [A-D]",  # United Kingdom
        r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]",  # Italy
        r"(?P<cpf>[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2})",  # Brazil
        r"(?P<resident>[1-8][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9]{4}[0-9Xx])",  # China
        r"(?P<nir>[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]) ?[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{2})",  # France
    )
    return tuple(re.compile(rf"(?<![\w.#/-]){shape}(?![\w/-])", re.ASCII) for shape in shapes)


@cache
def _other_number() -> re.Pattern[str]:
    words = r"order|ticket|invoice|part|case|sku|serial|rfc|issue|commit|build|version|model|bestellung|rechnung|pedido"
    return re.compile(rf"(?:{words})s?(?:[ -]?(?:number|no\.?|nr\.?|id))?[\s:=#]{{0,3}}$", re.IGNORECASE)


def names_something_else(text: str, start: int) -> bool:
    """Whether the words right before say that this is the number of an order, a ticket, a version."""
    return _other_number().search(text, max(0, start - 24), start) is not None


def _digits(words: str) -> list[int]:
    return [int(char) for char in words if char in "0123456789"]


def _luhn(digits: list[int]) -> bool:
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


def _iban_end(text: str, start: int, end: int) -> int | None:
    """Where an IBAN of its country's length ends, if its checksum holds: what follows it may be letters as well."""
    length = _IBAN_LENGTHS.get(text[start : start + 2].upper(), 0)
    kept = [at for at in range(start, end) if text[at].isalnum()][:length]
    if not length or len(kept) < length or (kept[-1] + 1 < len(text) and text[kept[-1] + 1].isalnum()):
        return None
    code = "".join(text[at] for at in kept)
    number = int("".join(str(int(char, 36)) for char in code[4:] + code[:4]))
    return kept[-1] + 1 if number % 97 == 1 else None


def ibans(text: str) -> Iterator[SecretSpan]:
    """International bank account numbers whose checksum holds."""
    for found in _patterns()["iban"].finditer(text):
        if end := _iban_end(text, *found.span()):
            yield SecretSpan(found.start(), end, "iban")


def cards(text: str) -> Iterator[SecretSpan]:
    """Payment cards: an issuer's first digits, a card's length, and the Luhn sum."""
    for found in _patterns()["card"].finditer(text):
        if _luhn(_digits(found[0])):
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
    for shape in _shaped_ids():
        for found in shape.finditer(text):
            check = _CHECKS.get(found.lastgroup or "")
            if (check is None or check(found[0])) and not names_something_else(text, found.start()):
                yield SecretSpan(*found.span(), "id")
