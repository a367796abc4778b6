"""What two checks learned from examples, of any language, and the policy floor that rests on it.

A network tells whether an entry decides where things go or what may be done unasked, and whether words are somebody
else's. `training/checks.py` holds how, its README the data and the figures. Where it cannot be loaded, nobody can tell,
and everything is asked about.

The policy floor: where the agent sends and fetches, and what it may do unasked, is for a person to decide. Held against
the resulting entry, whatever the words and the language they are in: an address that no entry names yet, what the
network takes for a decision of that kind, and a plain verb of sending beside a name. A new host, port or version of a
thing that the replaced entry names already is no new place; neither is somebody who takes over what another one had,
unless things are sent to them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from math import exp

from reverie.dreams import words
from reverie.safety.identifiers import cards, ibans
from reverie.text.network import chances, network

POLICIES = ("none", "recipient", "payment", "source", "permission")


def policy(text: str) -> tuple[str, float]:
    """The likeliest thing that an entry with this text would decide, and how likely it decides anything."""
    none, *decides = read(text)[0]
    return POLICIES[1 + decides.index(max(decides))], 1 - none


def foreign(text: str) -> float:
    """How likely a person who sends this only brings along what somebody else wrote or said."""
    return read(text)[1]


@lru_cache(maxsize=4_096)
def read(text: str) -> tuple[list[float], float]:
    """The chance of each policy, and that the words are somebody else's."""
    loaded = network("checks.onnx")
    if isinstance(loaded, str):
        return [0.0, 0.0, 0.0, 0.0, 1.0], 1.0
    decided, others = loaded.run(loaded.tokens.encode(text).ids, "policy", "foreign")
    return chances(decided).tolist(), 1 / (1 + exp(-max(-30.0, min(30.0, float(others)))))


SHORT = 3  # letters of an article
DECIDES, PLAINLY = 0.65, 0.985  # from where an entry, or a clause of it, is taken to decide something
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
_MAIL = re.compile(r"@[\w-]+\.")


def crossed(text: str, old: Sequence[str] = ()) -> bool:
    """Whether an entry with this text, in the place of the old ones, would decide where things go or what may be
    done."""
    new = [one for one in _places(text) if not any(one in entry.lower() for entry in old)]
    if not old:
        return bool(new) or _decides(text) or _sends(text)
    if any(_MAIL.search(one) or _BUCKET.match(one) for one in new) or len(new) > len(_places("\n".join(old))):
        return True
    named = [one for one in words.names(text) if one.isalpha() and len(one) > 2]
    if words.missing(named, old) and _sends(text):
        return True
    before = " ".join(old)
    added = [one for one in words.clauses(text) if len(words.shared(one, before)) * 2 < len(words.stems(one))]
    return bool(new and _decides(text)) or any(_decides(one) or _decides(f"{_subject(text)} {one}") for one in added)


def _subject(text: str) -> str:
    """What a clause behind an "and" speaks of, as a rule: the first word, and the next where that one is short."""
    first, *more = text.split(maxsplit=2)
    return " ".join((first, *more[: len(first) <= SHORT]))


def _decides(text: str) -> bool:
    """Whether a text does, or one of its clauses plainly: beside other words a leave that is given is overlooked."""
    clauses = [one for one in words.clauses(text) if words.stems(one)]
    return policy(text)[1] >= DECIDES or any(policy(one)[1] >= PLAINLY for one in clauses)


def _sends(text: str) -> bool:
    """A plain verb of sending beside a name, and not to the person themselves."""
    to_somebody = bool(words.names(text)) or not text.isascii()  # many scripts have no capitals to tell a name by
    return to_somebody and words.says("sending", text) and not (words.negated(text) or words.says("to_me", text))


def _places(text: str) -> list[str]:
    """What something can be sent to or fetched from: links, hosts, mail addresses, numbers of accounts and phones."""
    found = [
        one.lower() for one in words.addresses(text) if not one.startswith(("/", "~", ".")) and not _HERE.match(one)
    ]
    found += [one.lower().rstrip(".,;:)") for one in _BUCKET.findall(text)]
    found += [text[one.start : one.end].lower() for find in (ibans, cards) for one in find(text)]
    return list(dict.fromkeys(found))
