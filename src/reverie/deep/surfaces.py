"""What is said elsewhere: of the thousands of lines in skills and instructions, those a night's candidates touch on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from reverie.deep.material import Known, Noted
from reverie.deep.subjects import about

_ENOUGH = 2  # stems in common; one is by chance
_LONGEST = 2_000  # characters: longer is a text, not a statement


def touched_on(elsewhere: Iterable[Known], noted: Sequence[Noted]) -> Iterator[Known]:
    """Each statement that has the subject of a candidate, once: thousands of others need no closer look."""
    by_language = defaultdict[str, list[frozenset[str]]](list)
    for note in noted:
        by_language[note.candidate.language].append(about(note.text, note.candidate.language))
    seen = set[str]()
    for known in elsewhere:
        if len(known.text) > _LONGEST or known.text in seen:
            continue
        seen.add(known.text)
        if any(_touches(about(known.text, language), subjects) for language, subjects in by_language.items()):
            yield known


def _touches(stems: frozenset[str], subjects: Iterable[frozenset[str]]) -> bool:
    return any(len(stems & subject) >= min(_ENOUGH, len(stems) or _ENOUGH) for subject in subjects)
