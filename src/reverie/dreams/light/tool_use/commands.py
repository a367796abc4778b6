"""Shell commands beside each other: which program they call, and whether one is another try at the other."""

from __future__ import annotations

import re

LIKE = 0.4
_PARTS = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_LOOKING, _PREFIX, _INTERPRETERS = (
    frozenset(names.split())
    for names in (
        "ls cat head tail find grep rg which cd pwd stat file test echo wc tree less sed sleep true",
        "sudo uv poetry npx time env run bundle exec",
        "python python3 node bash sh ruby perl make just task Rscript",
    )
)
_VERSION = re.compile(r"(?<=[a-z])\d+(?:\.\d+)*$")
_SETTING = re.compile(r"^(?:-|\w+=)")
_MOST_ADDED = 4
_SCRIPT = re.compile(r"/[\w-]+\.\w{1,4}$")
_SUBCOMMAND = re.compile(r"[a-z][a-z-]{1,15}")


def doing(command: str) -> list[str]:
    """The commands a command line runs, one after another, without looking around and waiting."""
    return [part for part in _PARTS.split(command) if part and program_of(part) not in _LOOKING]


def program_of(command: str) -> str:
    words = [word for word in command.split() if "=" not in word and word not in _PREFIX]
    return words[0].rsplit("/", 1)[-1] if words else ""


def step(command: str) -> str:
    """A command without what it works on: its program, with a subcommand or the script it runs."""
    name = program_of(command)
    words = [word for word in command.split() if "=" not in word and word not in _PREFIX]
    after = next((word for word in words[1:] if not word.startswith("-")), "")
    if name in _INTERPRETERS and _SCRIPT.search(after):
        after = after.rsplit("/", 1)[-1]
    runs = name in _INTERPRETERS and after and "/" not in after
    return f"{name} {after}" if runs or _SUBCOMMAND.fullmatch(after) else name


def alike(old: str, new: str) -> float:
    """The share of two commands that is the same; 0 where the one is no other try at the other."""
    first, second = _words(old), _words(new)
    if not first or not second or first[0] != second[0]:
        return 0.0
    before, after = set(first), set(second)
    share = len(before & after) / len(before | after)
    added = after - before
    only_settings = before <= after and len(added) <= _MOST_ADDED and any(_SETTING.match(word) for word in added)
    return share if share >= LIKE else LIKE * only_settings


def _words(command: str) -> list[str]:
    """The program first. "docker-compose" is "docker compose", and "python3" is "python"."""
    name = program_of(command)
    if not name:
        return []
    words = command.split()
    at = next(place for place, word in enumerate(words) if word.rsplit("/", 1)[-1] == name)
    named = [_VERSION.sub("", piece) for piece in name.split("-") if piece] or [name]
    return [*named, *words[:at], *words[at + 1 :]]


_OPPOSITES = (
    "stop start,down up,disable enable,pause resume,lock unlock,stash pop,umount mount,off on,unload load,"
    "suspend resume,detach attach,drain uncordon,cordon uncordon"
)
_UNDOES = frozenset(pair for one in _OPPOSITES.split(",") for pair in (tuple(one.split()), tuple(one.split()[::-1])))


def undoes(done: str, later: str) -> bool:
    """The same thing is put back: "systemctl stop web", then "systemctl start web"."""
    before, after = (_words(" && ".join(doing(one))) for one in (done, later))
    if not before or not after or before[0] != after[0]:
        return False
    return (tuple(set(before) - set(after)), tuple(set(after) - set(before))) in {((a,), (b,)) for a, b in _UNDOES}
