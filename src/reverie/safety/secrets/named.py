"""Secrets that a name gives away: assignments, settings, flags, and sentences such as "the password is …".

How credentials are named comes first, with the shapes in which a value follows its name. The name decides how much the
value has to prove. After `password` a short word with a digit is enough; after `token` or `api_key`, which code uses
all day for other things, the value must look random.
"""

import re
from collections.abc import Iterator
from functools import cache

from reverie.core.ids import lazy_pattern
from reverie.safety.secrets.values import (
    SecretSpan,
    is_code,
    is_mixed,
    is_placeholder,
    is_random,
    is_uuid,
    reads_as_message,
)

PASSWORDS = (
    r"pass(?:w(?:or)?d|wort|phrase|code|[_-]?key)?|passe|pwd|kennwort|pw|contrase(?:ñ|n)a|clave|пароль|密码|密碼|口令"
    r"|パスワード|비밀번호"
)
_SUFFIX = r"(?:[_-]?\d{1,2}|[_-](?:prod|production|dev|test|staging|live|local|value|plain|raw|admin|root|main|base))?"
_CLOSE = r"""(?:\\*["'`\]]){0,3}"""
_SIGN = r"(?:[:][ \t]*[A-Za-z_][\w.\[\], |]{0,40}?[ \t]*=(?!=)|:=|=>|={1,3}|\?=|:|：|->|→|>)"
_VALUE = r"""(?:[rbuf]{1,2}(?=["']))?(?:\\"(?P<q0>(?:(?!\\")[^\r\n]){1,256})\\"|"(?P<q1>(?:[^"\\\r\n]|\\.){1,256})"
    |'(?P<q2>(?:[^'\\\r\n]|\\.){1,256})'|`(?P<q3>[^`\r\n]{1,256})`|\\?["'`]?(?P<bare>[^\s"'`<>\\]{1,256}))"""
_IS = (
    r"[ ]?(?:(?:is|was|will[ ]be|ist|war|lautet|es|era|est|était|é)(?![^\W\d_])[ ]?:?|['’]s(?=[ ])|[=:：是为為は])[ ]?"
    r"(?:(?:now|still|just|set[ ]to|jetzt|ahora|maintenant)[ ])?"
)
_OF = r"(?:[ ](?:for|of|to|on|at|für|zu|zum|vom|von|para|de|del|pour|du|da|do)[ ][^\n.:;=,!?]{1,48}?)?"

# (anchor in lowered text, names that may begin there, kind)
_FAMILIES: tuple[tuple[str, str, str], ...] = (
    ("pass", PASSWORDS, "password"),
    ("pwd", PASSWORDS, "password"),
    ("pw", PASSWORDS, "password"),
    ("secret", r"secret(?:[_-]?(?:access)?[_-]?key)?", "secret"),
    ("token", r"token", "token"),
    ("key", r"key", "api-key"),
)
_LATIN = ("contrase", "clave", "kennwort")
_OTHER_SCRIPTS = tuple(map(lazy_pattern, ("Пароль", "пароль", "密码", "密碼", "口令", "パスワード", "비밀번호")))

# `key` alone names dictionary keys and lock files; with one of these before it, a credential.
_KEY_QUALIFIERS = (
    *("api", "secret", "access", "private", "encryption", "encrypt", "signing", "signature", "master", "auth"),
    *("account", "shared", "webhook", "hmac", "jwt", "service", "subscription", "admin", "client", "app"),
    *("application", "license", "session", "storage", "deploy", "ingest", "write", "restricted", "live", "server"),
)
_NOT_A_CREDENTIAL = (
    *("max", "min", "num", "page", "next", "prev", "previous", "stop", "eos", "bos", "pad", "unk", "mask"),
    *("special", "cancel", "cancellation", "continuation", "sync", "design", "cursor", "total", "input", "output"),
    *("prompt", "cache", "public", "primary", "foreign", "sort", "idempotency"),
)
_VENDORS = (
    (r"aws.{0,12}secret|secret_?access", "aws-secret-key"),
    (r"aws.{0,12}session", "aws-session-token"),
    (r"heroku", "heroku-key"),
    (r"twilio", "twilio-token"),
    (r"mailgun", "mailgun-key"),
    (r"azure.{0,16}storage|account_?key", "azure-storage-key"),
)


@cache
def _gate_of(anchor: str) -> re.Pattern[str]:
    """The anchor where something like a sign follows; without that it is only a word (`pass`, `key`, `tokens`)."""
    signed = r"[\w-]{0,24}(?:\\*[\"'`\]]){0,3}[ \t]{0,8}(?:[:=>?-]|is |[\w./=+-]{12})"
    soon = r"[_\d\"'`\]\\ \t-]{0,8}[:=>]"
    after = {"pass": rf"w(?:or)?[dt]|phrase|code|[_-]?key|e[ ]|{soon}", "pwd": rf"{soon}| ", "pw": soon}
    return re.compile(f"{anchor}(?={after.get(anchor, '' if anchor in _LATIN else signed)})", re.ASCII)


# What follows a name.
_ASSIGNMENT = rf"{_SUFFIX}{_CLOSE}[ \t]{{0,8}}(?P<sign>{_SIGN})[ \t]{{0,8}}{_VALUE}"
_FLAG = rf"{_SUFFIX}(?:[ ]+|=){_VALUE}"
_SENTENCE = rf"{_OF}{_IS}[ ]{{0,2}}[*_]{{0,3}}{_VALUE}"


@cache
def _shape(allowed: str, behind: str) -> re.Pattern[str]:
    return re.compile(f"(?P<name>{allowed}){behind}", re.IGNORECASE | re.VERBOSE)


def _is_named_so(text: str, at: int, kind: str) -> bool:
    """Whether what stands before the anchor lets it be a credential's name."""
    before = text[max(0, at - 24) : at]
    if kind == "password":
        # `pass` alone also ends "compass" and begins "passed"; the longer names stand for themselves.
        begins = not before[-1:].isalpha() or (before[-1:].islower() and text[at].isupper())
        return begins or text[at + 4 : at + 5].lower() not in ("e", *"_\"'`] \t:=>\\-")
    qualifier = before.lower().rstrip(" _.-")
    if kind == "api-key" and not (qualifier.endswith(_KEY_QUALIFIERS) or (before[-1:] + text[at : at + 3]) == "_KEY"):
        return False
    return not qualifier.endswith(_NOT_A_CREDENTIAL)


# Lets a bare value follow a bare name: a flag's dashes, a Dockerfile's ENV, .netrc, "with password …".
_introduced = lazy_pattern(
    r"--[\w-]{0,24}$|\bENV[ ]+\w{0,40}$|\b(?P<netrc>login)[ \t]+\S{1,60}\s+$|\bwith[ ](?:the[ ])?$"
    r"|\b(?:user(?:name)?|account)[ :]+\S{1,60}[ ,]+(?:and[ ]|with[ ])?$",
    re.IGNORECASE,
)


_as_the = lazy_pattern(
    r"(?<![^\s\"'`])(?P<value>[^\s\"'`]{5,64})[\"'`]?[ ]as[ ](?:(?:the|my|your|its|our|a)[ ])?(?:\w{1,16}[ ])?$",
    re.IGNORECASE,
)


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
    # A variable called after what it holds: `db_password`, `user.secretKey`, `password2`. "hunter2secret" is none.
    called = re.fullmatch(r"[\w.]*(?:pass|pwd|secret|token|key)\w*", value, re.IGNORECASE)
    if called and ("_" in value or "." in value or not any(map(str.isdigit, value.rstrip("0123456789")))):
        return False
    return is_mixed(value) or re.fullmatch(r"\d{4,12}", value) is not None


def _judged(found: re.Match[str], kind: str, given: bool = False) -> SecretSpan | None:
    """The value as a span if it holds; `given` says that in this place any word would be the secret."""
    text, (value, start, quoted) = found.string, _value(found)
    if not quoted:
        before = text[max(0, found.start() - 40) : found.start()].rstrip("_abcdefghijklmnopqrstuvwxyz")
        value = _trimmed(value, in_query=before.endswith(("?", "&")))
        # It goes on as a call or an index, or, where no sign came before it, it is the next option.
        if text[start + len(value) : start + len(value) + 1] in ("(", "[") or value.startswith("("):
            return None
        if value.startswith("-") and "sign" not in found.groupdict():
            return None
    sign = found.groupdict().get("sign")
    # `>` is a sign after `<password` alone; elsewhere it compares.
    compares = sign == ">" and text[max(0, found.start() - 1) : found.start()] not in ("<", ".", "_", "-")
    if compares or is_placeholder(value):
        return None
    # `DB_PASSWORD=…` with no spaces and no lower case: a shell or an .env file, where words are values.
    given = given or (sign == "=" and found["name"].isupper() and text[found.end("sign")] not in " \t")
    if kind == "password":
        fits, named = _passes_as_password(value, quoted, given), kind
    else:
        line = text[max(0, found.start() - 32) : start].rsplit("\n", 1)[-1]
        named = next((vendor for pattern, vendor in _VENDORS if re.search(pattern, line, re.IGNORECASE)), kind)
        fits = not (" " in value or "://" in value or (is_code(value) and not _is_literal(value, quoted)))
        fits = fits and (
            kind != "token"
            if is_uuid(value)
            else is_random(value) or (kind == "secret" and (given or len(value) >= 8) and is_mixed(value))
        )
    return SecretSpan(start, start + len(value), named) if fits else None


def _before(text: str, at: int) -> SecretSpan | None:
    """`use … as the password`."""
    start = max(0, at - 100)
    found = _as_the().search(text[start:at]) if text.find(" as ", start, at) >= 0 else None
    if found is None or is_placeholder(found["value"]) or is_code(found["value"]) or not is_mixed(found["value"]):
        return None
    return SecretSpan(start + found.start("value"), start + found.end("value"), "password")


def _follows(text: str, at: int, allowed: str, kind: str) -> SecretSpan | None:
    """`--password …`, `login bob password …`: the name, a space, the value."""
    found = _shape(allowed, _FLAG).match(text, at)
    if found is None:
        return None
    introduction = _introduced().search(text[max(0, at - 80) : at])
    if introduction is None:  # "and the secret wJalr…": in a sentence the value has to show by itself what it is
        value = _value(found)[0]
        long = len(value) >= LONG and is_random(value) and kind != "password"
        apart = (
            not found["name"].isascii() and value.isascii() and is_mixed(value)
        )  # "密码 Qing-You#88", as it is typed
        return _judged(found, kind) if long or apart else None
    return _judged(found, kind, given=introduction["netrc"] is not None)


def _at(text: str, at: int, allowed: str, kind: str) -> SecretSpan | None:
    if not _is_named_so(text, at, kind):
        return None
    if found := _shape(allowed, _ASSIGNMENT).match(text, at):
        return _judged(found, kind)
    if (found := _shape(allowed, _SENTENCE).match(text, at)) and (span := _judged(found, kind)):
        return span
    return _follows(text, at, allowed, kind) or (_before(text, at) if kind == "password" else None)


def named_values(text: str, lowered: str) -> Iterator[SecretSpan]:
    """Values whose name says that they are secret."""
    for anchor, allowed, kind in (*_FAMILIES, *((word, PASSWORDS, "password") for word in _LATIN)):
        for found in _gate_of(anchor).finditer(lowered):
            yield from filter(None, [_at(text, found.start(), allowed, kind)])
    if not text.isascii():
        for found in (found for word in _OTHER_SCRIPTS for found in word().finditer(text)):
            yield from filter(None, [_at(text, found.start(), PASSWORDS, "password")])
