"""Secrets that the place they stand in gives away.

Key blocks, addresses with credentials, request headers; command lines such as `mysql -p…`, `curl -u user:password`, and
the lines of .pgpass.
"""

import re
from collections.abc import Iterator

from reverie.core.ids import lazy_pattern
from reverie.safety.secrets.values import SecretSpan, is_code, is_placeholder, is_random, is_template, occurrences

# Between two lines of a key may stand what quoting a file does to it: escapes, quotes, diff and reply marks, gutters
# (whose arrow arrives here as "?").
_GAP = r"""(?:\\+[nrt]|[\s"'`,>|#*+]|-(?!-)|(?<=\s)\d{1,5}[:\t?|]\s?)"""
_ARMOUR = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): ?[^\\\r\n]{1,120}"
_LINES = rf"(?:{_GAP}{{0,60}}+(?:[A-Za-z0-9+/]{{16,}}+={{0,2}}|{_ARMOUR}))++"
_TAIL = rf"(?:{_GAP}{{1,60}}+[A-Za-z0-9+/]{{1,76}}(?:={{1,2}}|(?={_GAP}{{0,60}}+(?:=[\w+/]{{4}}|-----?[ ]?END))))?"
_END = rf"(?:(?:{_GAP}{{1,60}}+=[\w+/]{{4}})?{_GAP}{{0,60}}+-----?[ ]?END[ A-Z0-9]{{1,50}}-{{4,5}})?"


_BEGIN = r"----(?:-BEGIN| BEGIN)(?: [A-Z0-9]{1,12}){0,4} PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_key_block = lazy_pattern(rf"(?:{_BEGIN}|Private-Lines: \d{{1,4}}){_LINES}{_TAIL}{_END}")
_KEY_GATES = lazy_pattern(r"----[- ]?BEGIN[ A-Z0-9]{1,50}PRIVATE"), lazy_pattern(r"Private-Lines: \d")


_address = lazy_pattern(
    r"""://(?P<user>[^\s/?\#:@"'<>`\\]{0,200})(?::(?P<password>[^\s/"'<>`\\]{1,256}))?@(?=[\w\[$.{<-])(?P<host>[\w.-]{0,80})"""
)


# Only the secret part is in the group: which service it was is worth remembering. Each begins with a literal the engine
# skips to; what stands before the literal is looked back at.
_SLACK = r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,120})"
_ADDRESSES = {
    "hook": (
        ("slack-webhook", lazy_pattern(_SLACK, re.ASCII)),
        ("discord-webhook", lazy_pattern(r"hooks/\d{15,22}/([\w-]{50,100})", re.ASCII)),
        ("teams-webhook", lazy_pattern(r"hook\.office\.com/webhookb2/([\w@/-]{60,220})", re.ASCII)),
    ),
    "sig=": (("azure-sas", lazy_pattern(r"sig=([A-Za-z0-9%/+]{40,100}(?:%3[Dd]|=){0,2})", re.ASCII)),),
    "Key=": (
        ("azure-storage-key", lazy_pattern(r"Key=(?<=AccountKey=)([A-Za-z0-9+/]{80,90}={0,2})", re.ASCII)),
        ("azure-shared-access-key", lazy_pattern(r"Key=(?<=AccessKey=)([A-Za-z0-9+/]{32,100}={0,2})", re.ASCII)),
    ),
    "DENTIFIED BY ": (("password", lazy_pattern(r"DENTIFIED BY ['\"]([^'\"\r\n]{1,128})['\"]", re.ASCII)),),
    "dentified by ": (("password", lazy_pattern(r"dentified by ['\"]([^'\"\r\n]{1,128})['\"]", re.ASCII)),),
}


_HEADERS = {
    "bearer": lazy_pattern(r"bearer[ :=]{1,3}\\?[\"']?(?P<bearer>[\w.~+/=-]{8,4096})", re.IGNORECASE | re.ASCII),
    "authorization": lazy_pattern(
        r"""authorization\\?["'`]?\]?[ ]{0,4}(?:[:=,]|=>)[ ]{0,4}\\?["'`]?(?:
            basic[ ]+(?P<basic>[A-Za-z0-9+/]{6,512}={0,2})
            |(?:token|bot|apikey|api-key|key|digest)[ :]+(?P<token>[\w.~+/=-]{12,2048})
            |(?P<raw>[\w.~+/=-]{16,2048})(?![\w .~+/=-]))""",
        re.IGNORECASE | re.ASCII | re.VERBOSE,
    ),
    "cookie": lazy_pattern(
        r"""cookies?\\?["'`]?[ ]{0,2}[:=][ ]{0,4}\\?["'`]?(?P<pairs>[\w.%-]{1,64}=[^\r\n"'`\\]{1,4096})""",
        re.IGNORECASE,
    ),
}


_pair = lazy_pattern(r"(?P<name>[\w.%-]{1,64})=(?P<value>[^;\s\"'`\\]{1,4000})")
_session_names = lazy_pattern(
    r"sess|(?:^|[._-])sid|token|auth|jwt|csrf|xsrf|remember|login|secret|credential", re.IGNORECASE
)


def key_blocks(text: str) -> Iterator[SecretSpan]:
    """Private keys, whole or broken off; a header with no key under it is only talk about keys."""
    for gate in _KEY_GATES:
        end = 0
        for at in gate().finditer(text):
            block = _key_block().match(text, at.start()) if at.start() >= end else None
            if block is not None:
                end = block.end()
                yield SecretSpan(block.start(), end, "private-key")


def _credentials(found: re.Match[str]) -> SecretSpan | None:
    password = found["password"]
    if "sentry" in found["host"] and re.fullmatch(r"[0-9a-f]{32}", found["user"]):
        return SecretSpan(found.start("user"), found.end("password") if password else found.end("user"), "sentry-dsn")
    if password is None:
        lone = found["user"] if len(found["user"]) >= 20 else ""
        return SecretSpan(found.start("user"), found.end("user"), "url-token") if is_random(lone) else None
    # "http://host:8080), then mail me@…" is a port, a closing bracket and a mail address.
    if is_template(password) or re.match(r"\d{1,5}[),;\]]|(?i:your|change_?me|example)", password):
        return None
    return SecretSpan(found.start("password"), found.end("password"), "url-password")


def secrets_in_addresses(text: str) -> Iterator[SecretSpan]:
    """Passwords and tokens inside URLs and connection strings; the rest of the address stays."""
    if "://" in text:
        yield from filter(None, map(_credentials, _address().finditer(text)))
    for literal, patterns in _ADDRESSES.items():
        for at in occurrences(text, literal):
            for kind, pattern in patterns:
                if (found := pattern().match(text, at)) and not is_template(found[1]):
                    yield SecretSpan(found.start(1), found.end(1), kind)


_SCHEMES = (
    ("bearer", "bearer-token", True),
    ("basic", "basic-auth", False),
    ("token", "token", False),
    ("raw", "token", True),
)


def headers(text: str, lowered: str) -> Iterator[SecretSpan]:
    """Authorization and cookies, wherever a request was pasted."""
    for literal, pattern in _HEADERS.items():
        end = 0
        for at in occurrences(lowered, literal):
            if at >= end and (found := pattern().match(text, at)):
                end = found.end()
                if literal == "cookie":
                    for pair in _pair().finditer(text, found.start("pairs"), found.end("pairs")):
                        value = pair["value"]
                        telling = _session_names().search(pair["name"]) is not None and len(value) >= 8
                        if (telling or (len(value) >= 20 and is_random(value))) and not is_placeholder(value):
                            yield SecretSpan(pair.start("value"), pair.end("value"), "cookie")
                else:
                    for group, kind, strict in (one for one in _SCHEMES if found.groupdict().get(one[0]) is not None):
                        value = found[group]
                        telling = is_random(value) if strict else re.search(r"\d|=$|[A-Z]", value) is not None
                        if telling and not is_placeholder(value):
                            yield SecretSpan(found.start(group), found.end(group), kind)


# How far back the command may stand; a wrapped command line is rarely longer.
_REACH = 240

_WORD = r"""(?:"(?P<q1>[^"\r\n]{1,200})"|'(?P<q2>[^'\r\n]{1,200})'|(?P<bare>[^\s"'`|;&<>\\-][^\s"'`|;&<>\\]{0,200}))"""
_USER = r"""[ =]?(?P<quote>\\?["']?)(?P<user>[^\s:"'\\]{1,80}):(?P<secret>[^\s"'`\\]{1,200})(?P=quote)"""


_LOOSE_WORD = _WORD.replace("q1", "r1").replace("q2", "r2").replace("bare", "rest")
# One gate for all options, since each pass over the text costs as much as the next.
_argument = lazy_pattern(rf" -(?:p{_WORD}|(?:p|a|-pass)[ ]{_LOOSE_WORD}|(?:u|-user){_USER})")


_GLUED = ("mysql", "mariadb")
_SPACED = (
    *("sshpass", "redis-cli", "mongo", "docker login", "podman login", "helm registry login", "az login"),
    *("oc login", "argocd login"),
)
_USERS = ("curl", "wget", "http ", "https ", "xh ", "svn ")


def _commanded(before: str, commands: tuple[str, ...]) -> bool:
    """Whether one of the commands still holds at the end of the text: no new line and no next command since."""
    at = max(before.rfind(command) for command in commands)
    line = before[max(at, 0) :].replace("\\\n", " ").replace("\\\r\n", " ")
    return at >= 0 and not any(mark in line for mark in "\r\n|;")


_PGPASS_LINE = r":[^:\s\\]{1,64}:[^:\s\\]{1,64}:(?P<secret>[^\s:\\\"']{3,128})(?=\s|$|\\n)"
_PGPASS = lazy_pattern(rf":5432{_PGPASS_LINE}"), lazy_pattern(rf":\*{_PGPASS_LINE}")


def _first(found: re.Match[str], groups: tuple[str, ...]) -> tuple[str, int] | None:
    return next(((found[g], found.start(g)) for g in groups if found[g] is not None), None)


def command_secrets(text: str) -> Iterator[SecretSpan]:
    """Passwords given to well-known commands as arguments, and the lines of .pgpass."""
    arguments = list[tuple[str, int]]()
    for found in _argument().finditer(text):
        # The meaning of an option, by the command before it: `-p` is a password for mysql and a port for ssh.
        before = text[max(0, found.start() - _REACH) : found.start()]
        choices = ((("q1", "q2", "bare"), _GLUED), (("r1", "r2", "rest"), _SPACED), (("secret",), _USERS))
        hits = (_first(found, groups) for groups, commands in choices if _commanded(before, commands))
        arguments += filter(None, [next(filter(None, hits), None)])
    lines = (_first(at, ("secret",)) for mark in _PGPASS for at in mark().finditer(text))
    for value, start in filter(None, (*arguments, *lines)):
        if not is_placeholder(value) and not is_code(value) and not re.fullmatch(r"\d{1,5}", value):
            yield SecretSpan(start, start + len(value), "password")
