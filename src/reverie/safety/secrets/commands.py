"""Secrets that a command line gives away: `mysql -p…`, `curl -u user:password`, and the lines of .pgpass."""

import re
from collections.abc import Iterator
from functools import cache

from reverie.safety.secrets.spans import SecretSpan
from reverie.safety.secrets.values import is_code, is_placeholder

# How far back the command may stand; a wrapped command line is rarely longer.
_REACH = 240

_WORD = r"""(?:"(?P<q1>[^"\r\n]{1,200})"|'(?P<q2>[^'\r\n]{1,200})'|(?P<bare>[^\s"'`|;&<>\\-][^\s"'`|;&<>\\]{0,200}))"""
_USER = r"""[ =]?(?P<quote>\\?["']?)(?P<user>[^\s:"'\\]{1,80}):(?P<secret>[^\s"'`\\]{1,200})(?P=quote)"""


@cache
def _argument() -> re.Pattern[str]:
    """One gate for all options, since each pass over the text costs as much as the next."""
    loose = _WORD.replace("q1", "r1").replace("q2", "r2").replace("bare", "rest")
    return re.compile(rf" -(?:p{_WORD}|(?:p|a|-pass)[ ]{loose}|(?:u|-user){_USER})")


_GLUED = ("mysql", "mariadb")
_SPACED = (
    "sshpass",
    "redis-cli",
    "mongo",
    "docker login",
    "podman login",
    "helm registry login",
    "az login",
    "oc login",
    "argocd login",
)
_USERS = ("curl", "wget", "http ", "https ", "xh ", "svn ")


def _commanded(before: str, commands: tuple[str, ...]) -> bool:
    """Whether one of the commands still holds at the end of the text: no new line and no next command since."""
    at = max(before.rfind(command) for command in commands)
    line = before[max(at, 0) :].replace("\\\n", " ").replace("\\\r\n", " ")
    return at >= 0 and not any(mark in line for mark in "\r\n|;")


@cache
def _pgpass() -> tuple[re.Pattern[str], ...]:
    line = r":[^:\s\\]{1,64}:[^:\s\\]{1,64}:(?P<secret>[^\s:\\\"']{3,128})(?=\s|$|\\n)"
    return tuple(re.compile(port + line) for port in (":5432", r":\*"))


def _first(found: re.Match[str], groups: tuple[str, ...]) -> tuple[str, int] | None:
    return next(((found[g], found.start(g)) for g in groups if found[g] is not None), None)


def _secret(found: re.Match[str]) -> tuple[str, int] | None:
    """The meaning of an option, by the command before it: `-p` is a password for mysql and a port for ssh."""
    before = found.string[max(0, found.start() - _REACH) : found.start()]
    choices = ((("q1", "q2", "bare"), _GLUED), (("r1", "r2", "rest"), _SPACED), (("secret",), _USERS))
    hits = (_first(found, groups) for groups, commands in choices if _commanded(before, commands))
    return next(filter(None, hits), None)


def command_secrets(text: str) -> Iterator[SecretSpan]:
    """Passwords given to well-known commands as arguments, and the lines of .pgpass."""
    arguments = map(_secret, _argument().finditer(text))
    lines = (_first(at, ("secret",)) for mark in _pgpass() for at in mark.finditer(text))
    for value, start in filter(None, (*arguments, *lines)):
        if not is_placeholder(value) and not is_code(value) and not re.fullmatch(r"\d{1,5}", value):
            yield SecretSpan(start, start + len(value), "password")
