"""Is this value a secret, or only the place where one would stand? How overlapping stretches become one span. And
passwords of plain words: "the wifi password is sunflower garden".

Position alone (`password = …`) cannot tell: documentation, type hints, format strings and prose stand in the same
places. What judges a value looks at one short value and never at the text around it.

A sentence says what the password is, and what it says reads like the name of something and not like a description
("too short", "on the fridge"). The grammar is one row for each language: how a password is called, and what stands for
"is". Whether the words behind it are a name is learned (`training/plain_words.py`). It is right often enough to show a
line to a person or to ask one; never to change what is stored.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from reverie.core.ids import lazy_pattern

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_CREDENTIAL = (
    r"(?:pass(?:word|wd|phrase|code|wort)?|pwd|pw|secret|token|(?:api|auth|access|private)?[-_ ]?key|credentials?)"
)

# A value may be long, but only its head is judged: the answer must cost the same for any length.
_JUDGED = 300


# Parts that give a template or a mask away wherever they stand, and words that documentation uses for "not this one".
_TEMPLATE_PARTS = ("${", "$(", "{{", "}}", "***", "••", "...", "…", "xxxx", "XXXX")
_DOC_WORDS = (
    *("example", "placeholder", "changeme", "change_me", "change-me", "changeit", "change-this", "dummy", "redacted"),
    *("replaceme", "replace-me", "replace_me", "replace_with", "replace-with", "insert-", "insert_", "your_", "your-"),
    *("yourpass", "yoursecret", "yourtoken", "yourkey", "yourapi"),
)


_template = lazy_pattern(
    r"""\$\w+$|<|[^<>]{0,60}>$|\{[^{}]*\}$|%(?:\(\w*\))?[sdrv]$|%\w+%$|\#\{|\[|(?:x+|X+|0+|\.+|-+|_+|\*+|\#+|\?+)$
        |(?:[xX]{3}[-_]?)+$|\^|@\w+$|env[.:]""",
    re.VERBOSE,
)
_stand_in = lazy_pattern(
    rf"""(?:my|the|some|an?|new|old|test|fake|enter|add|put|user|db|sample|mock|your)?[-_ ]*{_CREDENTIAL}\d?$
        |(?:string|str|text|none|null|nil|undefined|true|false|yes|no|on|off|empty|required|optional|hidden|value
        |unknown|missing|invalid|incorrect|wrong|expired|changed|hashed|encrypted|unset|todo|tbd|n/?a|default|test
        |int|integer|bool|boolean|bytes|any|object|varchar|number|input|env|prompt|masked|secured?|protected|bearer
        |basic|disabled|enabled|asdf|foo|bar|baz|foobar|qwerty)$""",
    re.VERBOSE | re.IGNORECASE,
)


# Words of the trade and of the calendar that mix letters with digits or signs.
_known_word = lazy_pattern(
    r"""(?:sha|md|aes|rsa|hs|rs|es|ps|utf|ascii|base|hmac|crc|p|x|s|ec|ipv|v|tls|ssl|http|oauth|gpt|ed)[-_]?\d[\w.-]*
        |(?:bcrypt|argon|scrypt|pbkdf|kerberos|ntlmv|samlv?|webauthn|fido|totp|k8s|b64|i18n|l10n|a11y|1password|2fa|mfa)\w*
        |\d+(?:st|nd|rd|th|x|h|m|s|ms|d|px|em|gb|mb|kb|k|am|pm|%)|\d+-[a-z-]+|[\d.,:/-]+[a-z]?
        |\d{4}-\d\d-\d\dT[\d:.+Z-]+|[\w.+-]+@[\w-]+\.[\w.-]+|[a-z][a-z0-9+.-]*://.*|(?:~|\.{1,2})?/[\w./@-]*|[\w.-]+(?:/[\w.-]+){2,}|[a-z]:\\.*
        |[\w./-]+\.(?:py|js|ts|tsx|jsx|json|ya?ml|toml|ini|cfg|conf|env|txt|md|html?|css|sh|go|rs|rb|java|php|pem|key|crt
        |log|csv|xml|sql|lock|db|com|org|net|io|dev)
        |(?:sha\d+|md5|hex|base64|bcrypt|arn|urn|secret|vault|ref|file|env|ssm|keychain|op)[:-].*""",
    re.VERBOSE | re.IGNORECASE,
)


_CODE_PARTS = ("()", "=>", "->", "][", "||", "lambda ")


# An expression that will produce the value when the program runs.
_code = lazy_pattern(
    r"""[A-Za-z_][\w.:>-]{0,80}+[(\[{]|[A-Za-z_]\w{0,60}+(?:\.|::|\?\.)[A-Za-z_]\w{0,60}+(?:$|[(\[.])
        |[&*!:@][A-Za-z_][\w.]{0,80}+$|\\""",
    re.VERBOSE,
)
_uuid = lazy_pattern(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def is_uuid(value: str) -> bool:
    return _uuid().fullmatch(value) is not None


def is_template(value: str) -> bool:
    """A variable, a format field or a mask, whatever words are in it."""
    head = value[:_JUDGED]
    return any(part in head for part in _TEMPLATE_PARTS) or _template().match(head) is not None


def is_placeholder(value: str) -> bool:
    """A template, a mask or a documentation word: stands for a secret and is none."""
    head = value[:_JUDGED].lower()
    return is_template(value) or any(word in head for word in _DOC_WORDS) or _stand_in().match(head) is not None


def is_masked(token: str) -> bool:
    """The one doubt a vendor's full shape leaves: somebody already crossed it out, or wrote `your`."""
    body = re.split(r"[-_.:]", token)[-1]
    crossed_out = len(set(body)) == 1 and body[0] in "xX0*"
    return crossed_out or re.search(r"[xX]{6}|(?i:your[-_]|[-_]here$)", token) is not None


def is_code(value: str) -> bool:
    head = value[:_JUDGED]
    return any(part in head for part in _CODE_PARTS) or _code().match(head) is not None


def is_random(value: str) -> bool:
    """Letters and digits change places too often for words, names, versions or dates."""
    packed = re.sub(r"[^A-Za-z0-9]", "", value[:_JUDGED])
    if re.fullmatch(r"(?=\d*[a-f])[0-9a-f]{32,}", packed):
        return True
    digits = sum(map(str.isdigit, packed))
    if len(packed) < 14 or len(packed) - digits < 3:
        return False
    classes = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in packed]
    changes = sum(a != b for a, b in pairwise(classes)) / len(packed)
    return changes >= 0.2 if digits >= 2 else changes >= 0.4 and len(packed) >= 20


def is_mixed(value: str) -> bool:
    """Tell `hunter2` and `b!ue-Sky` from the words of a sentence."""
    core = value.strip("*_!?.@")
    letters = re.search(r"[^\W\d_]", core) is not None
    marks = re.search(r"[\d!@#$%^&*~]", core) is not None
    # No word of the trade is longer than this, and the pattern for them is the dearest here.
    return len(core) >= 5 and letters and marks and (len(core) > 80 or _known_word().fullmatch(core) is None)


_sentence = lazy_pattern(
    r"[.,:?;()/]|\b(?:the|your|you|is|are|was|to|must|please|enter|for|of|invalid|an?|and|or|not|in|with|from)\b",
    re.IGNORECASE,
)


def reads_as_message(value: str) -> bool:
    """Text with spaces that is no passphrase: that would be a few bare words, and a message is a sentence."""
    if " " not in value:
        return False
    bare = _sentence().search(value[:_JUDGED]) is None and not value[:1].isupper()
    return not (bare and 3 <= value.count(" ") + 1 <= 8)


# Kinds that only say where the value stood. A vendor's own shape says more, so it wins when both match.
GENERIC = frozenset(
    {
        *("api-key", "basic-auth", "bearer-token", "cookie", "password", "secret", "token"),
        *("url-password", "url-token"),
    }
)


def occurrences(text: str, needle: str) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + len(needle))


class SecretSpan(NamedTuple):
    start: int
    end: int
    kind: str


def merge_spans(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Disjoint spans in text order covering every given one."""
    result: list[SecretSpan] = []
    for span in sorted(spans):
        if result and span.start < result[-1].end:
            # The union, because the part only one of the two saw would otherwise stay readable.
            last = result[-1]
            kind = span.kind if last.kind in GENERIC and span.kind not in GENERIC else last.kind
            result[-1] = SecretSpan(last.start, max(last.end, span.end), kind)
        else:
            result.append(span)
    return result


def outside(spans: Iterable[SecretSpan], protected: list[tuple[int, int]]) -> Iterator[SecretSpan]:
    """The spans that touch none of the protected stretches; both come in text order."""
    index = 0
    for span in spans:
        while index < len(protected) and protected[index][1] <= span.start:
            index += 1
        if index == len(protected) or span.end <= protected[index][0]:
            yield span


SLOTS = 1 << 14
WORDS = 4  # of a value; behind more of them stands a sentence
_PIECES = (2, 3, 4)  # letters
_SHORT = 4  # letters of the first word between name and verb: "for", "vom", "till"; a longer one makes it another thing
_LANGUAGES = (
    (r"pass(?:word|phrase|code|key)|pwd|pw", "is"),
    (r"\w{0,30}(?:passwort|kennwort|passphrase)|zugangscode|pw", "ist|lautet|heißt"),
    (r"mot de passe", "est"),
    (r"contraseña", "es"),
    (r"senha|palavra-passe", "é"),
    (r"password|parola d['’]ordine", "è"),
    (r"\w{0,30}wachtwoord", "is"),
    (r"\w{0,30}(?:lösenord(?:et)?|adgangskoden?|passord(?:et)?)", "är|er"),
    (r"salasana", "on"),
    (r"hasło|heslo", "to|jest|je"),
    (r"parola", "este"),
    (r"jelszó|κωδικός|пароль", "είναι|–|—|-|:"),
)
IS = "|".join(verbs for _, verbs in _LANGUAGES[:-1])


_OF = rf"(?:\s(?!(?:{{verb}})\s)\S{{{{1,{_SHORT}}}}}(?:\s(?!(?:{{verb}})\s)[^\s.,;:!?]+){{{{0,5}}}})?"
_VALUE = rf"(?P<value>[^\W\d_][^\s.,;:!?]{{2,}}(?:[ ][^\s.,;:!?]+){{0,{WORDS - 1}}})"
_SENTENCES = tuple(
    lazy_pattern(rf"(?<![^\W_])(?:{name}){_OF.format(verb=verb)}\s(?:{verb})\s{_VALUE}(?=\s*(?:[.,;!\n)]|$))", re.I)
    for name, verb in _LANGUAGES
)


class SaidOfPassword(NamedTuple):
    """Words that stand behind "the password is", and whether they read like the password itself."""

    start: int
    end: int
    is_value: bool


def said_of_passwords(text: str) -> list[SaidOfPassword]:
    """What the sentences of a text say of passwords, in text order."""
    spans = {found.span("value") for pattern in _SENTENCES for found in pattern().finditer(text)}
    values = ((start, end, text[start:end]) for start, end in sorted(spans))
    return [SaidOfPassword(at, end, not is_placeholder(said) and name_score(said) > 0) for at, end, said in values]


def name_score(words: str) -> float:
    """How much more these words read like a name of something than like what is said of one."""
    weights, bias = _learned()
    slots = slots_of(words)
    return float(weights[slots].sum()) / sqrt(len(slots)) + bias


def slots_of(words: str) -> list[int]:
    """The slots of a few words: their number, the words, and pieces of them; those of the first word are its own."""
    parts = words.lower().split()[:WORDS]
    found = {f"#{len(parts)}"}
    for number, part in enumerate(parts):
        place, whole = "first" if number == 0 else "later", f" {part[:40]} "
        found.add(f"{place}={whole}")
        found.update(f"{place}{whole[at : at + size]}" for size in _PIECES for at in range(len(whole) - size + 1))
    return sorted({crc32(one.encode()) % SLOTS for one in found})


@cache
def _learned() -> tuple[NDArray[np.float32], float]:
    import numpy as np

    kept = json.loads(resources.files("reverie.safety").joinpath("weights/plain_words.json").read_text("utf-8"))
    weights = np.frombuffer(base64.b64decode(kept["weights"]), np.int8).astype(np.float32) * np.float32(kept["scale"])
    return weights, kept["bias"]
