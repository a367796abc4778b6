"""From what was noticed to a plan: Deep judges, REM weighs. Nothing is written and nobody is asked yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from reverie.deep.decision import STAGED, Decision, Verb
from reverie.deep.judging import NOT_OBEYED, Deepened, Mind, deepen
from reverie.deep.material import AGAIN, Known, Noted
from reverie.deep.subjects import about
from reverie.deep.surfaces import touched_on
from reverie.dreams.asking import once_read
from reverie.dreams.dream import Dream, Fate
from reverie.dreams.fading import Staying, staying, waits_its_turn
from reverie.dreams.judged import judged_of
from reverie.dreams.putting import planned_of
from reverie.dreams.records import Planned, Thought
from reverie.dreams.rooms import Rooms
from reverie.language.finding import Finder
from reverie.rem.dimensions import Weighing
from reverie.rem.gates import Gates, Weighed, gated
from reverie.rem.scoring import scored
from reverie.rem.suggesting import weigh
from reverie.skills.edits import rules_of
from reverie.skills.library import Found

OWN_SKILLS = "skills"
_ENOUGH_SHARED = 2
_MOST_LOOKED_FOR = 40  # matters of one night, the best: it does a few at most
_MANY = 20  # sessions: all that the search would give


def think(rooms: Rooms, dream: Dream, fresh: Sequence[Noted], carried: Sequence[Noted]) -> Thought:
    """What is to become of every matter, in the order it is to be done."""
    skills = tuple(rooms.skills.every()) if rooms.skills else ()
    every = [*carried, *fresh]
    elsewhere = chain(rooms.surfaces(dream.shelf), _rules(skills))
    known = (*_entries(rooms, dream.shelf), *touched_on(elsewhere, every))
    mind = Mind(known, _documents(rooms, dream.shelf), dream.started_at, skills, rooms.owner)
    deepened = deepen(every, mind)
    weighing = _weighing(rooms, dream, Weighing(dream.started_at, known), deepened)
    weighed = weigh(deepened.decisions, weighing, rooms.gates, rooms.limits)
    stays = _staying(rooms, dream, deepened, weighed)
    planned = [planned_of(one, dream, _new_skills(rooms, dream.shelf)) for one in weighed]
    planned += [_rejected(one) for one in deepened.decisions if one.rejected and not one.untold]
    order = [
        *(one.decision for one in weighed),
        *(one for one in deepened.decisions if one.rejected and not one.untold),
    ]
    planned = [_or_let_go(one, stays.let_go.get(id(made), "")) for one, made in zip(planned, order, strict=True)]
    staged = stays.notes
    return Thought(
        sum(map(_counts, fresh)), sum(map(_counts, carried)), len(deepened.themes), tuple(planned),
        tuple(one.id for one in every if one.id in staged), tuple(one.id for one in every if one.id not in staged),
        duplicates=_duplicates(deepened, fresh),
    )  # fmt: skip


def _counts(note: Noted) -> bool:
    """Whether it was noticed for itself."""
    return AGAIN not in note.marks


def _duplicates(deepened: Deepened, fresh: Sequence[Noted]) -> int:
    """How much of what was noticed says what something else said, tonight or before, or what is known already. What a
    page asked for is counted by itself."""
    tonight = {note.id for note in fresh if _counts(note)}
    found = 0
    for one in (one for one in deepened.decisions if one.reason != NOT_OBEYED):
        counting = [note.id for note in one.matter.every if _counts(note)]
        mine = [name for name in counting if name in tonight]
        says_something_new = one.verb is not Verb.REDUNDANT and len(mine) == len(counting)
        found += max(0, len(mine) - says_something_new)
    return found


def _entries(rooms: Rooms, shelf: str) -> list[Known]:
    return [
        Known(one.document, one.text, one.document, one.sha256, one.since, one.seen, one.critical)
        for one in rooms.memory.entries(shelf)
    ]


def _rules(skills: Iterable[Found]) -> Iterator[Known]:
    for found in skills:
        for rule in rules_of(found.skill.body.splitlines(keepends=True)):
            yield Known(found.path, rule.text)


def _documents(rooms: Rooms, shelf: str) -> Mapping[str, str]:
    """Where what is about the person goes, and where the rest: a shelf with one document takes both."""
    names = [place.document for place in rooms.memory.shelf(shelf).places()]
    person = next((name for name in names if name.upper().startswith("USER")), names[0])
    world = next((name for name in names if name.upper().startswith("MEMORY")), names[0])
    return {"person": person, "world": world}


def _new_skills(rooms: Rooms, shelf: str) -> str:
    """The folder a new skill goes to: the one beside the shelf, or the home's own."""
    folders = rooms.skills.folders if rooms.skills else {}
    return f"{shelf}-skills" if f"{shelf}-skills" in folders else OWN_SKILLS


def _weighing(rooms: Rooms, dream: Dream, against: Weighing, deepened: Deepened) -> Weighing:
    room = {
        one.document: (one.budget if one.budget is not None else 1_000_000) - one.characters
        for one in rooms.memory.usage(dream.shelf)
    }
    weighing = replace(against, room=room, most_new_characters=rooms.limits.max_new_chars)
    hopeful = [one for one in deepened.decisions if not one.rejected and _could_pass(one, weighing, rooms.gates)]
    hopeful = sorted(hopeful, key=lambda one: scored(one, weighing).total, reverse=True)[:_MOST_LOOKED_FOR]
    search = once_read(rooms.search) if rooms.search and hopeful else None
    return replace(weighing, asked={one.matter.last.id: _asked(search, one) for one in hopeful})


def _could_pass(decision: Decision, weighing: Weighing, gates: Gates) -> bool:
    """Whether it would pass if many had asked about it. To look for those is the dearest part of a night."""
    many = replace(weighing, asked={decision.matter.last.id: _MANY})
    return gated(decision, scored(decision, many), gates).passes


def _asked(search: Finder | None, decision: Decision) -> int:
    """In how many other sessions a person touched on it."""
    if search is None or not decision.text:
        return 0
    language = decision.matter.language
    wanted = about(decision.text, language)
    hits = search(decision.text, role="user", limit=20, around=0)
    near = {hit.session_id for hit in hits if len(about(hit.text, language) & wanted) >= _ENOUGH_SHARED}
    return len(near - decision.matter.sessions)


def _or_let_go(one: Planned, why: str) -> Planned:
    return replace(one, judged=replace(one.judged, fate=Fate.NOT_KEPT, why=why)) if why else one


def _rejected(decision: Decision) -> Planned:
    fate = Fate.HELD_BACK if decision.verb in STAGED else Fate.NOT_KEPT
    return Planned(judged_of(decision, fate, decision.reason), done=True)


def _staying(rooms: Rooms, dream: Dream, deepened: Deepened, weighed: Sequence[Weighed]) -> Staying:
    """Which candidates stay staged: too much for one night, or not sure enough."""
    turns = [one.decision for one in weighed if waits_its_turn(one)]
    unsure = [one for one in deepened.decisions if one.verb in STAGED]
    unsure += [one.decision for one in weighed if not (one.passes or waits_its_turn(one))]
    return staying(turns, unsure, rooms.records.staged_since(rooms.scope, dream.shelf), dream.started_at)
