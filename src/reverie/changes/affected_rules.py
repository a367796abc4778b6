"""How a proposed text stands to every rule there is, on every surface an agent reads.

Rules that are marked critical: what would change one, drop it or speak against it is never done without a person.

An entry of memory has a row in history anyway. A rule of a skill gets one when it is first marked; from then on the row
follows its words. It stays when the rule is taken away: should it come back, it is critical still.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from reverie.changes.history.change import Edit
from reverie.changes.history.library import rules_in
from reverie.changes.history.records import Known, Moves
from reverie.changes.proposal import Related
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.operation import entry_hash, matched, places_of
from reverie.skills.names import ARCHIVE
from reverie.skills.skill import MAIN
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


CONFIRM = "it touches a critical rule, which has to be confirmed"
LONGEST_SHOWN = 120


def critical_rules_touched(
    known: Callable[[str], Known | None], form: FormatName | None, edits: Iterable[Edit]
) -> list[str]:
    """The critical rules that edits would change or drop, in their own words. Adding beside one is not that."""
    found = []
    for edit in edits:
        was = known(edit.document)
        marked = {one.sha256 for one in was.entries if one.critical} if was else set()
        before, after = (
            Counter(statements_of_document(form, edit.document, side)) for side in (edit.before, edit.after)
        )
        found += [text for text in before - after if entry_hash(text) in marked] if marked else []
    return found


def why_it_asks(dropped: Iterable[str], related: Iterable[Related], critical: frozenset[str]) -> str:
    """Why a person has to be asked, naming the rule; empty where nothing critical is concerned."""
    for text in dropped:
        return f"it changes or drops a rule marked critical: “{_short(text)}”"
    for one in related:
        if one.relation in ("contradicts", "supersedes") and entry_hash(one.text) in critical:
            return f"it speaks against a rule marked critical, in {one.surface}: “{_short(one.text)}”"
    return ""


def statements_of_document(form: FormatName | None, document: str, content: bytes | None) -> list[str]:
    """The entries of a document, or the rules of a skill. What is archived, or is no page, is told to no agent."""
    if form is not None:
        return list(FORMATS[form].read(content or b"").entries)
    if document.startswith(f"{ARCHIVE}/") or not document.endswith(".md"):
        return []
    folder, _, name = document.rpartition("/")
    return rules_in(folder if name in MAIN else document, document, content)


def rules_moved(edits: Iterable[Edit], known: Callable[[str], Known | None]) -> Mapping[str, Moves]:
    """The rules with a row that edits of a skill reword, or that another skill takes in."""
    edits = list(edits)
    places = {edit.document: known(edit.document) for edit in edits}
    marked = {one.sha256 for was in places.values() if was for one in was.entries if one.critical}
    if not marked:
        return {}
    return {edit.document: _moves(edit, places[edit.document], marked) for edit in edits}


def _moves(edit: Edit, was: Known | None, marked: set[str]) -> Moves:
    entries = was.entries if was else ()
    old, new = (statements_of_document(None, edit.document, side) for side in (edit.before, edit.after))
    rows = {at: entry.id for at, entry in places_of(entries, old).items()}
    edited = tuple((rows[a], entry_hash(new[b])) for a, b in matched(old, new).edited if a in rows)
    have = {one.sha256 for one in entries} | {sha for _, sha in edited}
    came = tuple(sha for sha in dict.fromkeys(map(entry_hash, new)) if sha in marked - have)
    return Moves(came, edited, critical=frozenset(came))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_SHOWN else f"{flat[: LONGEST_SHOWN - 1]}…"
