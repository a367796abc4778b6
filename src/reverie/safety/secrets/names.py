"""How credentials are named, and the shapes in which a value follows its name: assignment, flag, sentence."""

import re
from functools import cache

from reverie.core.strings import lazy_pattern

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
FAMILIES: tuple[tuple[str, str, str], ...] = (
    ("pass", PASSWORDS, "password"),
    ("pwd", PASSWORDS, "password"),
    ("pw", PASSWORDS, "password"),
    ("secret", r"secret(?:[_-]?(?:access)?[_-]?key)?", "secret"),
    ("token", r"token", "token"),
    ("key", r"key", "api-key"),
)
LATIN = ("contrase", "clave", "kennwort")
_OTHER_SCRIPTS = ("Пароль", "пароль", "密码", "密碼", "口令", "パスワード", "비밀번호")

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
VENDORS = (
    (r"aws.{0,12}secret|secret_?access", "aws-secret-key"),
    (r"aws.{0,12}session", "aws-session-token"),
    (r"heroku", "heroku-key"),
    (r"twilio", "twilio-token"),
    (r"mailgun", "mailgun-key"),
    (r"azure.{0,16}storage|account_?key", "azure-storage-key"),
)


def _compiled(body: str) -> re.Pattern[str]:
    return re.compile(body, re.IGNORECASE | re.VERBOSE)


@cache
def gate(anchor: str) -> re.Pattern[str]:
    """The anchor where something like a sign follows; without that it is only a word (`pass`, `key`, `tokens`)."""
    signed = r"[\w-]{0,24}(?:\\*[\"'`\]]){0,3}[ \t]{0,8}(?:[:=>?-]|is |[\w./=+-]{12})"
    soon = r"[_\d\"'`\]\\ \t-]{0,8}[:=>]"
    after = {"pass": rf"w(?:or)?[dt]|phrase|code|[_-]?key|e[ ]|{soon}", "pwd": rf"{soon}| ", "pw": soon}
    return re.compile(f"{anchor}(?={after.get(anchor, '' if anchor in LATIN else signed)})", re.ASCII)


@cache
def other_scripts() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(word) for word in _OTHER_SCRIPTS)


@cache
def assignment(allowed: str) -> re.Pattern[str]:
    return _compiled(rf"(?P<name>{allowed}){_SUFFIX}{_CLOSE}[ \t]{{0,8}}(?P<sign>{_SIGN})[ \t]{{0,8}}{_VALUE}")


@cache
def flag(allowed: str) -> re.Pattern[str]:
    return _compiled(rf"(?P<name>{allowed}){_SUFFIX}(?:[ ]+|=){_VALUE}")


@cache
def sentence(allowed: str) -> re.Pattern[str]:
    return _compiled(rf"(?P<name>{allowed}){_OF}{_IS}[ ]{{0,2}}[*_]{{0,3}}{_VALUE}")


def is_named_so(text: str, at: int, kind: str) -> bool:
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
introduced = lazy_pattern(
    r"--[\w-]{0,24}$|\bENV[ ]+\w{0,40}$|\b(?P<netrc>login)[ \t]+\S{1,60}\s+$|\bwith[ ](?:the[ ])?$"
    r"|\b(?:user(?:name)?|account)[ :]+\S{1,60}[ ,]+(?:and[ ]|with[ ])?$",
    re.IGNORECASE,
)


@cache
def as_the() -> re.Pattern[str]:
    value = r"(?<![^\s\"'`])(?P<value>[^\s\"'`]{5,64})[\"'`]?"
    return re.compile(value + r"[ ]as[ ](?:(?:the|my|your|its|our|a)[ ])?(?:\w{1,16}[ ])?$", re.IGNORECASE)
