"""Two statements word by word: whether they are one statement twice, or one with a single thing changed.

`relate` says how two statements stand to each other; here is decided whether they are so close that they may be accused
of it. Real instructions are full of lines that share their words and mean different things.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from reverie.dreams.light.dates import dates_in
from reverie.text.wording.word_lists import listed
from reverie.text.wording.words import carries_meaning, language_of, stem

_TOKEN = re.compile(r"`[^`\n]+`|https?://\S+|[^\W_][\w'’./:@%+#-]*[\w%]|\w", re.UNICODE)
_DATE_LEAD = re.compile(
    r"\b(?:as of|since|from|on|decided(?: on)?|stand|seit|ab|desde|depuis|updated|noted)\s*[:(]?\s*\Z"
    r"|\(\s*(?:decided |since )?\Z",
    re.IGNORECASE,
)
_DENIES = listed(
    """
    not no never don't doesn't isn't aren't cannot can't won't without forbidden prohibited disallowed avoid
    nicht kein keine keinen nie niemals verboten nunca sin prohibido pas jamais sans ne interdit não sem
    proibido non mai senza niet geen nooit
    """
)
_ALLOWS = listed(
    """
    do does allowed ok okay always please erlaubt immer siempre toujours sempre altijd
    """
)
_LIGHT = listed(
    """
    use uses used using likes like wants want prefers prefer user users the a an der die das el la los las le
    les
    """
)
_NOTHING = listed(
    """
    the a an der die das el la los las le les o os as il lo gli de het our my your any
    """
)
FRAME = re.compile(
    r"\b(?:is|are|isn't|aren't|use[sd]?|using|prefers?|likes?|wants?|always|never|must|should|don't|do not|happens?"
    r"|runs?|lives?|listens?|follows?|needs?"
    r"|includes?|answer|write|keep|ask|squash|mock|push|deploy|commit|run|store[sd]?|built|allowed|forbidden|ist"
    r"|sind|immer|nie|antworte\w*|nutz\w*"
    r"|verwend\w*|läuft|es|son|está|usa\w*|siempre|nunca|incluyen?|prefier\w*|est|sont|toujours|jamais|utilis\w*|é"
    r"|são|sempre|è|sono)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\W*(?:in)?correct\b|\W*(?:wrong|right|good|bad|example|impact|before|after|see|e\.g|step \d)\b"
    r"|[^.\n]{0,60}https?://|\W*[❌✅]",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:when|if|whenever|unless|while|wenn|falls|cuando|quand|quando|als)\b", re.IGNORECASE)
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CODE = re.compile(r"[{}=<>]|=>|\(\)|;\s*$")
FEWEST = 3  # words that carry meaning, below which two lines prove nothing


@dataclass(frozen=True, slots=True)
class SplitSentence:
    """A sentence in pieces. `tokens` are its words in order without articles, `signs` the stems that carry it."""

    text: str
    tokens: tuple[str, ...]
    signs: frozenset[str]
    denies: bool

    @property
    def states(self) -> bool:
        """It says that something is so or should be: no label, no code, no condition."""
        bare = not self.is_label and not _CODE.search(self.text) and not _CONDITION.search(self.text)
        return bare and bool(FRAME.search(self.text)) and not self.text.rstrip().endswith("?")

    @property
    def is_label(self) -> bool:
        return bool(_LABEL.match(self.text)) or self.text.rstrip(" *_").endswith(":")


def undated(text: str) -> str:
    """The statement without the days it gives: those say when, not what."""
    spoken = dates_in(text.lower(), None)
    for one in reversed(spoken):
        before = _DATE_LEAD.sub("", text[: one.start]).rstrip(" (")
        text = f"{before} {text[one.end :].lstrip(' ):,')}"
    return " ".join(text.split()).strip(" ,;") if spoken else text


def split_sentence(text: str) -> SplitSentence:
    bare = undated(text)
    language = language_of(bare.casefold())
    tokens = tuple(one.replace("’", "'") for one in _TOKEN.findall(bare.casefold()) if one not in _NOTHING)
    signs = frozenset(_sign(one, language) for one in tokens if carries_meaning(one) and one not in _LIGHT | _DENIES)
    return SplitSentence(text, tokens, signs, bool(_DENIES & set(tokens)))


def _sign(token: str, language: str) -> str:
    return stem(token, language) if token.isalpha() else token.strip("`")


def is_han(text: str) -> bool:
    return bool(_HAN.search(text))


def same_text(one: SplitSentence, other: SplitSentence) -> bool:
    return one.tokens == other.tokens or _squeezed(one.text) == _squeezed(other.text)


def _squeezed(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!。*_")


def equal(one: SplitSentence, other: SplitSentence) -> bool:
    """The same words that carry meaning, whatever their order and the small words between them."""
    return one.denies == other.denies and one.signs == other.signs and len(one.signs) >= FEWEST


def much_alike(one: SplitSentence, other: SplitSentence) -> bool:
    """Enough in common, and every number, name and code the same, to be one statement twice."""
    exact, exact_too = ({sign for sign in read.signs if not sign.isalpha()} for read in (one, other))
    if (
        one.denies != other.denies
        or exact != exact_too
        or bool(_CONDITION.search(one.text)) != bool(_CONDITION.search(other.text))
    ):
        return False
    shared = len(one.signs & other.signs)
    return shared >= 2 and 2 * shared / (len(one.signs) + len(other.signs)) >= 0.6


def one_thing_apart(one: SplitSentence, other: SplitSentence) -> bool:
    """The same sentence but for one value, or but for one "not". What else could differ would make two subjects."""
    if not (one.states and other.states):
        return False
    if one.denies != other.denies:
        return _but_for_a_not(one, other)
    changes = [
        code
        for code in SequenceMatcher(None, one.tokens, other.tokens, autojunk=False).get_opcodes()
        if code[0] != "equal"
    ]
    if len(changes) != 1 or changes[0][0] != "replace":
        return False
    _, start, end, start_too, end_too = changes[0]
    width = max(end - start, end_too - start_too)
    left, right = one.tokens[start:end], other.tokens[start_too:end_too]
    return (
        start > 0 and width == 1 and len(one.tokens) >= 4 and not any(_is_address(token) for token in (*left, *right))
    )


def _but_for_a_not(one: SplitSentence, other: SplitSentence) -> bool:
    left, right = ([token for token in read.tokens if token not in _DENIES | _ALLOWS | _LIGHT] for read in (one, other))
    if left == right:
        return len(one.signs & other.signs) >= 2
    shorter, longer = sorted((left, right), key=len)
    added = [token for token in longer if token not in shorter]
    return len(added) == 1 and [token for token in longer if token not in added] == shorter and len(shorter) >= 2


def _is_address(token: str) -> bool:
    """A path, a link or a command: two of them can both be right."""
    return token.startswith(("`", "http")) or "/" in token
