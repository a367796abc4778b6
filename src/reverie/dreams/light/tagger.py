"""The trained tagger: texts in, what each of their words is out.

Every word gets a chance for each class: a kind worth keeping, or a reason not to keep it. `training/` holds the data,
the script that trained it and its figures. It is loaded at the first call, from inside the package. Where it cannot be
loaded, a short list of cues takes over, which reads English, and little of that; and `state()` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.text.network import Network, chances, network

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KINDS, WHYS, _DOUBTING = (
    tuple(names.split())
    for names in (
        "fact instruction preference update correction decision contradiction lesson procedure",
        "one_off question command quoted temporary emotion chitchat hypothetical progress other_person undecided joke"
        " past none",
        # The others say that it is not worth keeping, not that it is not so.
        "one_off question quoted temporary hypothetical other_person undecided joke",
    )
)
_CLASSES = (*KINDS, *WHYS)
_DOUBTFUL = [_CLASSES.index(one) for one in _DOUBTING]
# The words are not the person's own wish: they tell somebody else's, or suppose one.
_OTHERS = [_CLASSES.index(one) for one in ("quoted", "other_person", "hypothetical")]
_OWN = 0.55  # from where the tagger takes words for worth keeping, and so for the person's, whomever they speak of
_TELLING = 4  # words of a sentence that decide: one clause may be worth keeping, the rest not
_INSIDE = 0.5  # from where a word belongs to what is worth keeping
_WINDOW = 400  # characters read at once; in a longer stretch one wish among many words is overlooked
_CUES = {
    "instruction": r"\b(?:always|never|from now on|going forward|every time|whenever|make sure|remember that)\b",
    "preference": r"\bi (?:really |strongly )?(?:prefer|like|love|hate|dislike|avoid|can't stand|would rather)\b",
    "decision": r"\bwe(?:'ve| have)? (?:decided|agreed|settled)\b",
    "update": r"\b(?:no longer|moved to|switched to|changed to|is now|are now|from (?:monday|today|next) on)\b",
    "correction": r"\b(?:that's wrong|that is wrong|not like that|i told you)\b",
}
_CUED = 0.8  # how sure a cue is


@dataclass(frozen=True, slots=True)
class Reading:
    """The tags of a stretch of text. `keep`: how likely it is worth keeping, as `kind`; if not, `why`. `doubt`: how
    likely it does not hold at all, or not for long. `others`: how likely it is not the person's own wish, whatever
    words it is put in. `start` and `end`: where the words stand that are worth keeping."""

    keep: float
    kind: str
    why: str
    doubt: float
    start: int
    end: int
    others: float = 0.0


@dataclass(frozen=True, slots=True)
class Tagged:
    """The words of a turn: where each stands, and its chance for each class."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    chances: NDArray[np.float32]

    def between(self, start: int, end: int) -> Reading:
        import numpy as np

        inside = np.nonzero((self.starts >= start) & (self.starts < end))[0]
        if not len(inside):
            return Reading(0.0, KINDS[0], WHYS[-1], 0.0, start, end)
        chances = self.chances[inside]
        keep = chances[:, : len(KINDS)].sum(axis=1)
        telling = np.sort(keep)[-_TELLING:]
        kind = KINDS[int(chances[:, : len(KINDS)].sum(axis=0).argmax())]
        why = WHYS[int(chances[:, len(KINDS) :].sum(axis=0).argmax())]
        kept = inside[keep >= _INSIDE]
        first, last = (kept[0], kept[-1]) if len(kept) else (inside[0], inside[-1])
        doubt = chances[:, _DOUBTFUL].sum(axis=1).mean()
        others = chances[:, _OTHERS].sum(axis=1).mean() if telling.mean() < _OWN else 0.0
        surely, doubted, foreign = (round(float(one), 4) for one in (telling.mean(), doubt, others))
        return Reading(surely, kind, why, doubted, int(self.starts[first]), int(self.ends[last]), foreign)


def state() -> str:
    """Empty where the tagger reads; else why it does not."""
    return "" if not isinstance(loaded := _loaded(), str) else loaded


def tag_sentences(texts: Sequence[str]) -> list[Tagged]:
    """One for each text."""
    import numpy as np

    if isinstance(loaded := _loaded(), str):
        return [_by_cues(text) for text in texts]
    windows = [(number, start, piece) for number, text in enumerate(texts) for start, piece in _windows(text)]
    coded = loaded.tokens.encode_batch([piece for *_, piece in windows])
    parts: list[list[tuple[NDArray[np.int64], NDArray[np.float32]]]] = [[] for _ in texts]
    for (number, begin, _), code in zip(windows, coded, strict=True):
        places = np.array(code.offsets, dtype=np.int64)
        words = places[:, 1] > places[:, 0]
        parts[number].append((places[words] + begin, chances(loaded.run(code.ids, "classes")[0])[words]))
    joined = ([np.concatenate(sides) for sides in zip(*part, strict=True)] for part in parts)
    return [Tagged(places[:, 0], places[:, 1], chances) for places, chances in joined]


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """The text in pieces that end where a line or a sentence does, if there is such a place."""
    start = 0
    while len(text) - start > _WINDOW:
        piece = text[start : start + _WINDOW]
        end = next(
            (at + len(sign) for sign in ("\n", ". ", "。", " ") if (at := piece.rfind(sign)) > _WINDOW // 2), _WINDOW
        )
        yield start, piece[:end]
        start += end
    if start < len(text) or not text:
        yield start, text[start:]


def _by_cues(text: str) -> Tagged:
    """Each word has the kind of its sentence; a question has none."""
    import numpy as np

    found = list[tuple[int, int, str]]()
    for sentence in re.finditer(r"[^.!?\n]+[.!?]*", text):
        said = sentence[0].lower().replace("’", "'").rstrip()
        cued = next((name for name, cue in _CUES.items() if re.search(cue, said)), "none")
        name = "question" if said.endswith("?") else cued
        found += [(*word.span(), name) for word in re.compile(r"\S+").finditer(text, *sentence.span())]
    chances = np.zeros((len(found), len(_CLASSES)), dtype=np.float32)
    for row, (_, _, name) in enumerate(found):
        chance = _CUED if name in KINDS else 1.0
        chances[row, _CLASSES.index(name)] = chance
        chances[row, -1] += 1 - chance
    starts, ends = (np.array([one[side] for one in found], dtype=np.int64) for side in (0, 1))
    return Tagged(starts, ends, chances)


def _loaded() -> Network | str:
    return network("tagger.onnx")
