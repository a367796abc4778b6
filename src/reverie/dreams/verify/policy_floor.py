"""The policy floor: where the agent sends and fetches, and what it may do unasked, is for a person to decide.

Held against the resulting entry, whatever the words and the language they are in: an address that no entry names yet,
and words for sending, paying, fetching and allowing (`floor.toml`). A new host, port or version of a thing that the
replaced entry names already is no new place; neither is a colleague who takes over what another one had.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from reverie.dreams.verify import words
from reverie.safety.personal.numbers import cards, ibans

_CONCEPTS = ("sends", "pays", "fetches")
# This machine and the person's own network: nobody else is reached there.
_HERE = re.compile(
    r"(?:\w+://)?(?:[\w.+-]+@)?(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1\]?|10(?:\.\d+){3}|192\.168(?:\.\d+){2}"
    r"|172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2}|[\w.-]+\.(?:localhost|local|lan|internal|intranet|home|test))(?:[:/]|$)",
    re.IGNORECASE,
)
_BUCKET = re.compile(
    r"\b(?:s3|gs|az|ftp|sftp|ssh|git|rsync|smb|nfs)://\S+|\bgit@[\w.-]+:\S+"  # where files go
    r"|(?<!\w)\+\d[\d ()/-]{7,}\d",  # phones
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<=[\w,;:'’\"(] )[^\W\d_a-zß-öø-ÿа-я][^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{4}")
_MAIL = re.compile(r"@[\w-]+\.")


def crossed(text: str, old: Sequence[str] = ()) -> bool:
    """Whether an entry with this text, in the place of the old ones, would decide where things go or what may be
    done."""
    new = [one for one in _places(text) if not any(one in entry.lower() for entry in old)]
    decides = _decides(text)
    if not old:
        return bool(new) or decides
    if any(_MAIL.search(one) or _BUCKET.match(one) for one in new) or len(new) > len(_places("\n".join(old))):
        return True
    named = [one for one in words.names(text) if one.isalpha() and len(one) > 2]
    hands_over = any(_pattern(name).search(text) for name in _CONCEPTS)
    someone = bool(words.missing(named, old)) and (hands_over or not any(map(_decides, old)))
    return decides and (bool(new) or someone or (_permits(text) and not any(map(_permits, old))))


def _places(text: str) -> list[str]:
    """What something can be sent to or fetched from: links, hosts, mail addresses, numbers of accounts and phones."""
    found = [
        one.lower() for one in words.addresses(text) if not one.startswith(("/", "~", ".")) and not _HERE.match(one)
    ]
    found += [one.lower().rstrip(".,;:)") for one in _BUCKET.findall(text)]
    found += [text[one.start : one.end].lower() for find in (ibans, cards) for one in find(text)]
    return list(dict.fromkeys(found))


def _decides(text: str) -> bool:
    said, named = words.plain(text), _NAMED.search(text) is not None
    if _permits(text):
        return True
    if words.negated(said):
        return False  # what is not to be sent or paid stays where it is
    found = {name for name in _CONCEPTS if _pattern(name).search(said)}
    found |= {name for name in ("goes", "papers") if named and _pattern(name).search(said)}
    if found and found <= {"sends", "goes", "papers"} and _pattern("own").search(said):
        return False
    return bool(found)


def _permits(text: str) -> bool:
    said = words.plain(text)
    if _pattern("addressed").search(said) and not words.negated(said):
        return True
    return _pattern("permits").search(said) is not None and _pattern("forbids").search(said) is None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    table = tomllib.loads((files("reverie.dreams.verify") / "floor.toml").read_text("utf-8"))
    lines = [line for line in str(table[name]).strip().splitlines() if line]
    return re.compile(rf"(?<![^\W\u3040-\uffff])(?:{'|'.join(lines)})", re.IGNORECASE)
