"""How a proposed text stands to every rule there is, on every surface an agent reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reverie.changes.proposal import Related
from reverie.text.relation import RelationKind, relate

NEAR = 0.3  # likeness from which two statements are worth comparing closely
MOST_COMPARED = 24
MOST_SHOWN = 5
LONGEST = 2_000  # characters of a statement that are compared: the memory this takes grows with them


@dataclass(frozen=True, slots=True)
class Statement:
    """A rule that stands somewhere: `hermes/MEMORY.md`, `skills/deploy`, `AGENTS.md`."""

    surface: str
    text: str
    kind: str = "memory"


@dataclass(frozen=True, slots=True)
class Relations:
    statements: Callable[[], Iterable[Statement]]

    def to(self, texts: Iterable[str]) -> tuple[Related, ...]:
        """The statements that the texts repeat, refine, supersede or contradict; conflicts first."""
        wanted = [text[:LONGEST] for text in texts]
        known = [Statement(one.surface, one.text[:LONGEST]) for one in self.statements()] if wanted else []
        found = [related for text in wanted for related in _near(known, text)]
        found.sort(key=lambda one: (_ORDER[one.relation], -one.confidence, one.surface, one.text))
        return tuple(found[:MOST_SHOWN])


_ORDER = {"contradicts": 0, "supersedes": 1, "refines": 2, "same": 3}


def _near(known: list[Statement], text: str) -> Iterable[Related]:
    from reverie.text.embedding import embed

    if not known:
        return
    likeness = embed([one.text for one in known]) @ embed([text])[0]
    for at in sorted(range(len(known)), key=lambda at: -float(likeness[at]))[:MOST_COMPARED]:
        if likeness[at] < NEAR:
            return
        relation = relate(known[at].text, text)
        if relation.kind is not RelationKind.UNRELATED and known[at].text != text:
            yield Related(
                known[at].surface, known[at].text, relation.kind.value, round(relation.confidence, 2), relation.why
            )
