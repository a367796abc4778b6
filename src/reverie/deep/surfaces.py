"""What is said elsewhere: of the thousands of lines in skills and instructions, those a night's candidates touch on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from reverie.deep.material import Known, Noted
from reverie.deep.subjects import about

MOST_NEAR = 8  # statements for one candidate that are looked at closely
_LONGEST = 2_000  # characters: longer is a text, not a statement


def touched_on(elsewhere: Iterable[Known], noted: Sequence[Noted]) -> list[Known]:
    """The statements that share most of their subject with a candidate, each once, in the order they stand."""
    every = list({known.text: known for known in elsewhere if len(known.text) <= _LONGEST}.values())
    wanted = set[int]()
    for language in sorted({note.candidate.language for note in noted}):
        places, sizes = _indexed(every, language)
        for note in noted:
            if note.candidate.language == language:
                wanted |= _nearest(about(note.text, language), places, sizes)
    return [every[at] for at in sorted(wanted)]


def _indexed(every: Sequence[Known], language: str) -> tuple[dict[str, list[int]], list[int]]:
    places, sizes = defaultdict[str, list[int]](list), list[int]()
    for at, known in enumerate(every):
        stems = about(known.text, language)
        sizes.append(len(stems))
        for stem in stems:
            places[stem].append(at)
    return places, sizes


def _nearest(subject: frozenset[str], places: dict[str, list[int]], sizes: Sequence[int]) -> set[int]:
    common = Counter(at for stem in subject for at in places.get(stem, ()))
    return set(sorted(common, key=lambda at: (-common[at] / (sizes[at] + len(subject)), at))[:MOST_NEAR])
