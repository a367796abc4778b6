"""Dead paths: files a statement sends an agent to that are not on this machine.

Only where it is this machine that is meant: below the person's own home folder, or below a folder that is here and that
not every machine has. Sentences about servers, containers, what is to be written or what was removed are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from reverie.audit.filesystem import Machine
from reverie.text.wording.word_lists import listed

_PATH = re.compile(r"(?<![\w/.:~$}>*=@-])(?:~|\$HOME|\$\{HOME\})?/[\w.@+~-][\w./@+~-]*")
_BACKTICKED = re.compile(r"[`\"]((?:~|\$HOME)?/[^`\"\n*<>{}$|;?]{2,200})[`\"]")
_UNSURE = re.compile(r"[*<>{}…]|\.\.\.|\byyyy|\bxxx", re.IGNORECASE)
ELSEWHERE = re.compile(
    r"\b(?:servers?|remote|ssh|scp|rsync|containers?|docker|podman|kubernetes|pods?|image|vm|vps|nas|ci|runner"
    r"|production|staging|prod"
    r"|cluster|host|sandbox|mac|macbook|windows|phone|other (?:machine|laptop|computer)|old laptop|workstation"
    r"|raspberry|s3|bucket|mount(?:ed|s)?|usb|drive"
    r"|server|auf dem|servidor|serveur|контейнер|сервер)\b|服务器|容器|サーバ",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"\b(?:writes?|written|wrote|saves?d?|stor(?:e|es|ed|age)|outputs?|exports?(?:ed)?|creates?d?|generates?d?|will"
    r"|would|e\.g\.|example|such as"
    r"|logs? (?:go|are|to)|temp(?:orary)?|cache|if (?:it|there|present)|optional|may|might|new|copy|copied|put|place"
    r"|download(?:ed|s)?|install(?:ed|s)? (?:to|in)"
    r"|backups?|moved?|deleted?|removed?|gone|no longer|formerly|previously|old|was|were|never|not|don't|doesn't"
    r"|renamed|archived|instead"
    r"|schreib\w*|speicher\w*|gelöscht|verschoben|früher|nicht|kein\w*)\b",
    re.IGNORECASE,
)
_EVERYWHERE = listed(
    """
    / /bin /boot /dev /etc /home /lib /lib64 /media /mnt /opt /private /proc /root /run /sbin /srv /sys /tmp
    /usr /usr/bin /usr/lib /usr/local /usr/local/bin /usr/local/etc /usr/local/lib /usr/share /var /var/cache
    /var/lib /var/log /var/run /var/tmp /var/www /Users /Library /System /Applications /Volumes /etc/systemd
    /etc/systemd/system /etc/nginx /var/spool /usr/sbin /usr/include
    """
)
_GOES_ON = frozenset("<{[【*$…?\\(")
_PASSING = re.compile(r"\.(?:lock|pid|sock|socket|tmp|log|bak|cache)\Z|/tmp/")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")


def dead_path(text: str, machine: Machine) -> str:
    """The first path in a text that is certainly meant here and is not here, or nothing."""
    if ELSEWHERE.search(text):
        return ""
    for sentence in _SENTENCE.split(text):
        if _MADE.search(_PATH.sub(" ", _BACKTICKED.sub(" ", sentence))):
            continue
        for path in _paths(sentence):
            if _is_dead(path, machine) and not _has_spaces(path, sentence, machine):
                return path
    return ""


def _paths(sentence: str) -> Iterator[str]:
    """Quoted ones whole; one with a space in it may be a command and is left out. Bare ones if nothing goes on."""
    quoted = [found[1] for found in _BACKTICKED.finditer(sentence) if not re.search(r"\s", found[1])]
    rest = _BACKTICKED.sub(" ", sentence)
    bare = [found.group() for found in _PATH.finditer(rest) if rest[found.end() : found.end() + 1] not in _GOES_ON]
    for path in (*quoted, *bare):
        if not _UNSURE.search(path) and not _PASSING.search(path):
            yield path.rstrip(".,:)")


def _has_spaces(path: str, sentence: str, machine: Machine) -> bool:
    """Someone wrote a path with a space in it and no quotes around."""
    found = re.search(rf"{re.escape(path)} (\S+)", sentence)
    longer = _absolute(f"{path} {found[1].rstrip('.,:;)。，')}", machine) if found else None
    return longer is not None and machine.exists(longer)


def _is_dead(written: str, machine: Machine) -> bool:
    path = _absolute(written, machine)
    if path is None or machine.exists(path):
        return False
    anchor = next((above for above in path.parents if machine.exists(above)), Path("/"))
    if machine.home in (anchor, *anchor.parents):
        return machine.exists(machine.home)
    return str(anchor) not in _EVERYWHERE


def _absolute(written: str, machine: Machine) -> Path | None:
    for lead in ("~/", "$HOME/", "${HOME}/"):
        if written.startswith(lead):
            return machine.home / written.removeprefix(lead)
    return Path(written) if written.startswith("/") and written.count("/") > 1 else None
