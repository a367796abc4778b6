"""Secrets that a name gives away: assignments, settings, flags, and sentences such as "the password is …".

The name decides how much the value has to prove. After `password` a short word with a digit is enough; after `token` or
`api_key`, which code uses all day for other things, the value must look random.
"""

import re
from collections.abc import Iterator
from functools import cache

from reverie.safety.secrets import names
from reverie.safety.secrets.spans import SecretSpan
from reverie.safety.secrets.values import is_code, is_mixed, is_placeholder, is_random, is_uuid, reads_as_message

LONG = 20  # characters of a value that no sign or flag announces


def _value(found: re.Match[str]) -> tuple[str, int, bool]:
    """The value, where it starts, and whether quotes said where it ends."""
    for group in ("q0", "q1", "q2", "q3"):
        if found[group] is not None:
            return found[group], found.start(group), True
    return found["bare"], found.start("bare"), False


def _trimmed(bare: str, in_query: bool) -> str:
    """A bare value ends where the sentence, the list or the query around it goes on."""
    if in_query:
        bare = bare.split("&", 1)[0].split("#", 1)[0]
    bare = re.split(r"[,;](?=[\w\"'\[{]*[:=]|$)|\|$|[，。；、）]", bare, maxsplit=1)[0].rstrip(".,;:*_")
    for opening, closing in ("()", "[]", "{}"):
        while bare.endswith(closing) and bare.count(closing) > bare.count(opening):
            bare = bare[:-1].rstrip(".,;:")
    return bare


def _is_environment(found: re.Match[str]) -> bool:
    """`DB_PASSWORD=…` with no spaces and no lower case: a shell or an .env file, where words are values."""
    signed = found.groupdict().get("sign") == "="
    return signed and found["name"].isupper() and found.string[found.end("sign")] not in " \t"


def _is_literal(value: str, quoted: bool) -> bool:
    """Quotes make brackets part of the value, unless they quote a whole call as documentation does."""
    return quoted and not value.endswith(")")


def _passes_as_password(value: str, quoted: bool, environment: bool) -> bool:
    if "://" in value or (is_code(value) and not _is_literal(value, quoted)):
        return False
    if quoted:
        own_name = re.fullmatch(r"\D*(?:pass|secret|token|pwd)\D*|.*required.*", value, re.IGNORECASE)
        return len(value) >= 4 and not reads_as_message(value) and not own_name
    if environment:
        return len(value) >= 4
    return not _is_own_name(value) and (is_mixed(value) or re.fullmatch(r"\d{4,12}", value) is not None)


def _is_own_name(value: str) -> bool:
    """A variable called after what it holds: `db_password`, `user.secretKey`, `password2`. "hunter2secret" is none."""
    if not re.fullmatch(r"[\w.]*(?:pass|pwd|secret|token|key)\w*", value, re.IGNORECASE):
        return False
    return "_" in value or "." in value or not any(sign.isdigit() for sign in value.rstrip("0123456789"))


def _passes_as_token(value: str, quoted: bool, environment: bool, kind: str) -> bool:
    if " " in value or "://" in value or (is_code(value) and not _is_literal(value, quoted)):
        return False
    if is_uuid(value):
        return kind != "token"
    return is_random(value) or (kind == "secret" and (environment or len(value) >= 8) and is_mixed(value))


def _named_vendor(found: re.Match[str], start: int) -> str | None:
    line = found.string[max(0, found.start() - 32) : start].rsplit("\n", 1)[-1]
    return next((vendor for pattern, vendor in names.VENDORS if re.search(pattern, line, re.IGNORECASE)), None)


def _is_expression(found: re.Match[str], start: int, value: str) -> bool:
    """A bare value that goes on as a call or an index, or, where no sign came before it, is the next option."""
    goes_on = found.string[start + len(value) : start + len(value) + 1] in ("(", "[")
    return goes_on or value.startswith("(") or (value.startswith("-") and "sign" not in found.groupdict())


def _is_loose_tag(found: re.Match[str]) -> bool:
    """`>` is a sign after `<password` alone; elsewhere it compares."""
    before = found.string[max(0, found.start() - 1) : found.start()]
    return found.groupdict().get("sign") == ">" and before not in ("<", ".", "_", "-")


def _judged(found: re.Match[str], kind: str, given: bool = False) -> SecretSpan | None:
    """The value as a span if it holds; `given` says that in this place any word would be the secret."""
    text, (value, start, quoted) = found.string, _value(found)
    if not quoted:
        before = text[max(0, found.start() - 40) : found.start()].rstrip("_abcdefghijklmnopqrstuvwxyz")
        value = _trimmed(value, in_query=before.endswith(("?", "&")))
    if is_placeholder(value) or _is_loose_tag(found) or (not quoted and _is_expression(found, start, value)):
        return None
    given = given or _is_environment(found)
    if kind == "password":
        fits, named = _passes_as_password(value, quoted, given), kind
    else:
        fits, named = _passes_as_token(value, quoted, given, kind), _named_vendor(found, start) or kind
    return SecretSpan(start, start + len(value), named) if fits else None


def _before(text: str, at: int) -> SecretSpan | None:
    """`use … as the password`."""
    start = max(0, at - 100)
    found = names.as_the().search(text[start:at]) if text.find(" as ", start, at) >= 0 else None
    if found is None or is_placeholder(found["value"]) or is_code(found["value"]) or not is_mixed(found["value"]):
        return None
    return SecretSpan(start + found.start("value"), start + found.end("value"), "password")


def _follows(text: str, at: int, allowed: str, kind: str) -> SecretSpan | None:
    """`--password …`, `login bob password …`: the name, a space, the value."""
    found = names.flag(allowed).match(text, at)
    if found is None:
        return None
    introduction = names.introduced().search(text[max(0, at - 80) : at])
    if introduction is None:  # "and the secret wJalr…": in a sentence the value has to show by itself what it is
        long = len(_value(found)[0]) >= LONG and is_random(_value(found)[0])
        return _judged(found, kind) if long and kind != "password" else None
    return _judged(found, kind, given=introduction["netrc"] is not None)


def _at(text: str, at: int, allowed: str, kind: str) -> SecretSpan | None:
    if not names.is_named_so(text, at, kind):
        return None
    if found := names.assignment(allowed).match(text, at):
        return _judged(found, kind)
    if (found := names.sentence(allowed).match(text, at)) and (span := _judged(found, kind)):
        return span
    return _follows(text, at, allowed, kind) or (_before(text, at) if kind == "password" else None)


@cache
def _gates() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    families = (*names.FAMILIES, *((word, names.PASSWORDS, "password") for word in names.LATIN))
    return tuple((names.gate(anchor), allowed, kind) for anchor, allowed, kind in families)


def named_values(text: str, lowered: str) -> Iterator[SecretSpan]:
    """Values whose name says that they are secret."""
    for gate, allowed, kind in _gates():
        for found in gate.finditer(lowered):
            yield from filter(None, [_at(text, found.start(), allowed, kind)])
    if not text.isascii():
        for found in (found for word in names.other_scripts() for found in word.finditer(text)):
            yield from filter(None, [_at(text, found.start(), names.PASSWORDS, "password")])
