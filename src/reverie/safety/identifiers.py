"""What names a person, their money or where they can be reached.

Numbers are bank accounts, payment cards and national ids: a checksum or a word beside it has to vouch for a number;
digits alone are a timestamp, an order or a row id. Contacts are mail addresses, telephone numbers, street addresses.
How they look is data: `identifiers.toml`.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from reverie.safety.secrets.values import SecretSpan, occurrences

_FLAGS = {"i": re.IGNORECASE, "a": re.ASCII}


@cache
def _table() -> dict[str, Any]:
    import tomllib

    return tomllib.loads((files("reverie.safety") / "identifiers.toml").read_text("utf-8"))


def _compiled(shape: str, flags: str) -> re.Pattern[str]:
    """The expression with the words of the table in it, which may hold others."""
    words, filled = _table()["words"], ""
    while filled != shape:
        shape, filled = re.sub(r"<(\w+)>", lambda found: words.get(found[1], found[0]), shape), shape
    return re.compile("".join(shape.splitlines()), sum(_FLAGS[one] for one in flags))


@cache
def _expression(name: str) -> re.Pattern[str]:
    return _compiled(*_table()["expressions"][name])


@cache
def _expressions(name: str) -> tuple[re.Pattern[str], ...]:
    table = _table()["lists"][name]
    around, flags = table["around"]
    return tuple(_compiled(around.replace("<shape>", shape), flags) for shape in table["shapes"])


@cache
def _iban_lengths() -> dict[str, int]:
    """The checksum alone lets one IBAN in 97 words through."""
    return {code: int(length) for length, codes in _table()["ibans"].items() for code in codes.split()}


def names_something_else(text: str, start: int) -> bool:
    """Whether the words right before say that this is the number of an order, a ticket, a version."""
    return _expression("other_number").search(text, max(0, start - 24), start) is not None


def _digits(words: str) -> list[int]:
    return [int(char) for char in words if char in "0123456789"]


def ibans(text: str) -> Iterator[SecretSpan]:
    """International bank account numbers whose checksum holds."""
    for found in _expression("iban").finditer(text):
        # One ends at its country's length: what follows it may be letters as well.
        start = found.start()
        length = _iban_lengths().get(text[start : start + 2].upper(), 0)
        kept = [at for at in range(start, found.end()) if text[at].isalnum()][:length]
        if not length or len(kept) < length or (kept[-1] + 1 < len(text) and text[kept[-1] + 1].isalnum()):
            continue
        code = "".join(text[at] for at in kept)
        number = int("".join(str(int(char, 36)) for char in code[4:] + code[:4]))
        if number % 97 == 1:
            yield SecretSpan(start, kept[-1] + 1, "iban")


def cards(text: str) -> Iterator[SecretSpan]:
    """Payment cards: an issuer's first digits, a card's length, and the Luhn sum."""
    for found in _expression("card").finditer(text):
        digits = _digits(found[0])
        doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
        if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1:
            yield SecretSpan(*found.span(), "card")


def accounts(text: str) -> Iterator[SecretSpan]:
    """Bank accounts that a word names as such."""
    for found in _expression("account").finditer(text):
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
    for found in _expression("id").finditer(text):
        if len(_digits(found["value"])) >= 5:
            yield SecretSpan(*found.span("value"), "id")
    for shape in _expressions("shaped_ids"):
        for found in shape.finditer(text):
            check = _CHECKS.get(found.lastgroup or "")
            if (check is None or check(found[0])) and not names_something_else(text, found.start()):
                yield SecretSpan(*found.span(), "id")


def mail_addresses(text: str) -> Iterator[SecretSpan]:
    """Mail addresses, also spelt `ann (at) example (dot) org`."""
    for at in occurrences(text, "@"):
        after = _expression("mail_domain").match(text, at)
        before = _expression("mail_name").search(text[max(0, at - 64) : at]) if after else None
        if after and before:
            start = at - len(before[0])
            # `git@github.com:` is how everybody clones, and `ssh://shop@db.internal` is a machine.
            if before[0] != "git" and text[max(0, start - 3) : start] != "://":
                yield SecretSpan(start, after.end(), "mail")
    if "(at)" in text.lower() or "[at]" in text.lower():
        yield from (SecretSpan(*found.span(), "mail") for found in _expression("spelt_mail").finditer(text))


def phones(text: str) -> Iterator[SecretSpan]:
    """Telephone numbers with a country code or a national way of grouping, or called so by the words before."""
    for shape in _expressions("phones"):
        for found in shape.finditer(text):
            digits = re.sub(r"\D", "", found[0].replace("(0)", "")).removeprefix("00")
            of_america = re.fullmatch(r"1[2-9]\d\d[2-9]\d{6}", digits)
            fits = of_america if digits.startswith("1") else 9 <= len(digits) <= 14
            if (fits or not found[0].startswith(("+", "00"))) and not names_something_else(text, found.start()):
                yield SecretSpan(*found.span(), "phone")
    for found in _expression("called_phone").finditer(text):
        if not _expression("no_phone").match(found["value"]):
            yield SecretSpan(*found.span("value"), "phone")


def street_addresses(text: str) -> Iterator[SecretSpan]:
    """A street and a house number, with the town if it follows: English, German, French, Spanish, Italian, Dutch."""
    for shape in _expressions("streets"):
        yield from (SecretSpan(*found.span(), "address") for found in shape.finditer(text))
