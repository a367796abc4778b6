"""From what was noticed to a plan: a Brief is made, a curator asked, its answer verified. Nothing is written yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from reverie.dreams.asking import once_read
from reverie.dreams.brief import BriefDocument, BriefEntry
from reverie.dreams.choosing import session_of
from reverie.dreams.curators import Curated, Curator
from reverie.dreams.curators.built_in import BuiltInCurator
from reverie.dreams.decide import Decided, Rules, candidates_of, decide, uncovered
from reverie.dreams.dream import Dream, Fate, Judged
from reverie.dreams.gather import BRIEF_TOKENS, Material, Night, gather, noted_only, one_session
from reverie.dreams.records import Planned, Thought, Told
from reverie.dreams.rooms import Rooms
from reverie.dreams.staging import as_noted, staged
from reverie.dreams.verify import words
from reverie.dreams.verify.reasons import Reason, Severity, finding
from reverie.language.finding import Finder
from reverie.light.candidate import Kind, Noted
from reverie.models.tokens import estimate_tokens
from reverie.review.proposal import Suggestion
from reverie.sessions.session import Session
from reverie.skills.edits import rules_of
from reverie.skills.library import Found

OWN_SKILLS = "skills"
MOST_EARLIER = 40  # candidates of earlier nights in one Brief
_MOST_LOOKED_FOR = 40
_ENOUGH_SHARED = 2


def think(rooms: Rooms, dream: Dream, fresh: Sequence[Noted], carried: Sequence[Noted], curator: Curator) -> Thought:
    """What is to become of every item and candidate, in the order it is to be done."""
    night = night_of(rooms, dream, fresh, carried)
    material, told = _material(night, curator)
    second = BuiltInCurator().curate(material).answer.items
    curated = curator.curate(material) if not isinstance(curator, BuiltInCurator) else Curated()
    by_model = not isinstance(curator, BuiltInCurator) and not curated.failed
    items = curated.answer.items if by_model else second
    decided = decide(items, second if by_model else (), material, _rules(rooms, dream, night))
    known = _Plan(rooms, dream, material, by_model)
    planned = [known.planned(one) for one in decided]
    planned += [known.left_out(name) for name in uncovered(decided, material)]
    held = [name for one in planned if one.judged.fate is Fate.HELD_BACK for name in one.judged.candidates]
    extra, planned = _remembered(planned, decided, rooms)
    every = {one.id: one for one in (*carried, *fresh, *extra)}
    held += [one.id for one in extra]
    since = rooms.records.staged_since(rooms.scope, dream.shelf)
    stays = staged((every[name] for name in dict.fromkeys(held) if name in every), since, dream.started_at)
    dropped = dict.fromkeys((*curated.answer.unread, *([curated.failed] if curated.failed else ())), 1)
    return Thought(
        len(fresh), len(carried), sum(one.case.sessions > 1 for one in decided), tuple(planned),
        tuple(name for name in every if name in stays), tuple(name for name in every if name not in stays),
        Told(dropped, told), _duplicates(decided), extra, material.brief.reduced,
    )  # fmt: skip


def night_of(rooms: Rooms, dream: Dream, fresh: Sequence[Noted], carried: Sequence[Noted]) -> Night:
    """Everything a Brief is made of."""
    sessions = [one for read in dream.sessions if (one := session_of(rooms.sessions, read))]
    earlier = list(carried)[-MOST_EARLIER:]
    before = _earlier_sessions(rooms, earlier, {one.id for one in sessions})
    return Night(
        dream.started_at, rooms.owner, tuple(_documents(rooms, dream.shelf)), tuple(_entries(rooms, dream.shelf)),
        tuple(sorted(sessions, key=_began)), tuple(fresh),
        tuple(one for one in earlier if one.session_id in {each.id for each in before}), tuple(before),
        tuple(rooms.skills.every()) if rooms.skills else (), rooms.instructions(dream.id),
    )  # fmt: skip


def _began(session: Session) -> tuple[str, str]:
    return (session.head.started_at.isoformat() if session.head.started_at else "", session.id)


def _earlier_sessions(rooms: Rooms, earlier: Iterable[Noted], tonight: set[str]) -> list[Session]:
    from reverie.kernel.errors import NotFound

    found: dict[str, Session] = {}
    for one in earlier:
        if one.session_id in tonight or one.session_id in found:
            continue
        try:
            found[one.session_id] = rooms.sessions.get(one.session_id, user=one.speaker or rooms.owner)
        except NotFound:
            continue
    return sorted(found.values(), key=_began)


def _documents(rooms: Rooms, shelf: str) -> Iterator[BriefDocument]:
    used = {one.document: one for one in rooms.memory.usage(shelf)}
    for place in rooms.memory.shelf(shelf).places():
        yield BriefDocument(
            place.document, place.purpose, place.audience, used[place.document].characters, place.budget,
            place.elsewhere,
        )  # fmt: skip


def _entries(rooms: Rooms, shelf: str) -> Iterator[BriefEntry]:
    for number, one in enumerate(rooms.memory.entries(shelf), 1):
        yield BriefEntry(
            f"e{number}", one.document, one.text, one.since or one.seen, one.since is not None, one.critical, one.sha256
        )


def _surfaces(rooms: Rooms, shelf: str, skills: Iterable[Found]) -> Iterator[BriefEntry]:
    """What agents read besides, that a night does not change."""
    for number, (where, text) in enumerate(rooms.surfaces(shelf), 1):
        yield BriefEntry(f"x{number}", where, text)
    for found in skills:
        for rule in rules_of(found.skill.body.splitlines(keepends=True)):
            yield BriefEntry("", found.path, rule.text)


def _material(night: Night, curator: Curator) -> tuple[Material, str]:
    """The Brief, in as many words as the curator reads. A night that is too long is reduced by notes per session."""
    room = curator.room
    material = gather(night, room or BRIEF_TOKENS) if room else gather(night, 10**9)
    if room is None or estimate_tokens(material.brief.render()) <= room:
        return material, ""
    notes, why = dict[str, list[int]](), ""
    for short, session in material.sessions.items():
        part = one_session(material, short)
        found = Curated() if why else curator.note(part)
        why = why or (found.failed if found.stopped else "")
        cited = [one.turn for item in found.answer.items for one in item.evidence if one.session == short]
        by_light = [one.turn for each in night.fresh if each.session_id == session.id for one in each.support]
        notes[session.id] = sorted({*cited, *by_light})
    return noted_only(night, notes, room), why


def _rules(rooms: Rooms, dream: Dream, night: Night) -> Rules:
    surfaces = tuple(_surfaces(rooms, dream.shelf, night.skills))
    return Rules(dream.started_at, rooms.gates, rooms.limits, surfaces, _Asked(rooms.search))


@dataclass(slots=True)
class _Asked:
    """In how many other sessions a person touched on a text. The dearest part of a night, so only for a few."""

    search: Finder | None
    looked: int = 0

    def __call__(self, text: str, sessions: frozenset[str]) -> int:
        if self.search is None or not text or self.looked >= _MOST_LOOKED_FOR:
            return 0
        if not self.looked:
            self.search = once_read(self.search)
        self.looked += 1
        wanted = words.stems(text)
        hits = self.search(text, role="user", limit=20, around=0)
        near = {hit.session_id for hit in hits if len(words.stems(hit.text) & wanted) >= _ENOUGH_SHARED}
        return len(near - sessions)


def _duplicates(decided: Iterable[Decided]) -> int:
    return sum(any(each.reason is Reason.KNOWN for each in one.findings) for one in decided)


def _remembered(
    planned: Sequence[Planned], decided: Sequence[Decided], rooms: Rooms
) -> tuple[tuple[Noted, ...], list[Planned]]:
    """What is held and Light did not notice gets a candidate of its own, so that another night finds it."""
    extra, kept = list[Noted](), list(planned)
    for place, one in enumerate(decided):
        if kept[place].judged.fate is Fate.HELD_BACK and not kept[place].judged.candidates and one.case.support:
            notes = as_noted(one, lambda: rooms.ids.new("cand"))
            extra += notes
            names = tuple(each.id for each in notes)
            kept[place] = replace(kept[place], judged=replace(kept[place].judged, candidates=names))
    return tuple(extra), kept


@dataclass(frozen=True, slots=True)
class _Plan:
    rooms: Rooms
    dream: Dream
    material: Material
    by_model: bool

    def planned(self, one: Decided) -> Planned:
        if one.severity in (Severity.HELD, Severity.REFUSED):
            return Planned(self._judged(one), done=True)
        asks = " ".join(each.sentence for each in one.findings)
        return Planned(self._judged(one), self._suggestion(one), asks)

    def left_out(self, name: str) -> Planned:
        """A candidate of Light that the curator made nothing of. A lesson seen once waits for its second time."""
        noted = next(one for one in self.material.noted if one.id == name)
        lesson = noted.candidate.kind is Kind.SKILL_CANDIDATE
        found = finding(Reason.SEEN_ONCE if lesson else Reason.NOT_PROPOSED)
        fate = Fate.HELD_BACK if lesson else Fate.NOT_KEPT
        return Planned(
            Judged(
                (name,), "none", fate, found.sentence, found.sentence, noted.text, "", "", 1, noted.origin,
                noted.candidate.evidence, reasons=(str(found.reason),),
            ),
            done=True,
        )  # fmt: skip

    def _judged(self, one: Decided) -> Judged:
        item, case = one.item, one.case
        hidden = any(each.reason in _UNTOLD for each in one.findings)
        fates = {Severity.REFUSED: Fate.NOT_KEPT, Severity.HELD: Fate.HELD_BACK}
        fate = fates.get(one.severity, Fate.HELD_BACK) if one.severity is not None else Fate.HELD_BACK
        found = [each for each in one.findings if each.severity is one.severity]
        checks = tuple((each.name, "; ".join(f.sentence for f in each.findings) or "passed") for each in one.checks)
        return Judged(
            candidates_of(one, self.material), str(item.op), fate, item.because,
            " ".join(each.sentence for each in found), "" if hidden else self.material.restored(item.text),
            one.skill.subject if one.skill else item.document, "; ".join(case.old),
            len({each.evidence.session_id for each in case.support}), case.origin, () if hidden else case.evidence,
            one.score, reasons=tuple(str(each.reason) for each in one.findings), checks=checks,
        )  # fmt: skip

    def _suggestion(self, one: Decided) -> Suggestion:
        skill = one.skill
        return Suggestion(
            (skill.folder or self._new_skills()) if skill else self.dream.shelf,
            skill.subject if skill else one.item.document,
            () if skill else one.operations,
            reason=one.item.because,
            evidence=one.case.evidence,
            score=one.score,
            dream=self.dream.id,
            amendment=skill.amendment if skill else None,
        )

    def _new_skills(self) -> str:
        """The folder a new skill goes to: the one beside the target, or the home's own."""
        folders: Mapping[str, object] = self.rooms.skills.folders if self.rooms.skills else {}
        beside = f"{self.dream.shelf}-skills"
        return beside if beside in folders else OWN_SKILLS


_UNTOLD = frozenset({Reason.SECRET, Reason.SENSITIVE, Reason.UNSAFE})
