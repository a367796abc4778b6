"""From what was noticed to a plan: a Brief is made, a curator asked, its answer verified. Nothing is written yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from reverie.changes.proposal import Suggestion
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.dreams.brief.brief import BriefDocument, BriefEntry
from reverie.dreams.brief.gather import BriefMaterial, Material, gather
from reverie.dreams.brief.select_sessions import Mentions, heard_session, session_of
from reverie.dreams.brief.trim import (
    Reduced,
    can_fit,
    entries_that_matter,
    noted_only,
    one_session,
    rank_notes,
    to_be_noted,
)
from reverie.dreams.curators import Curated, Curator
from reverie.dreams.curators.built_in import BuiltInCurator
from reverie.dreams.decide import Decided, Rules, candidates_of, decide, uncovered
from reverie.dreams.dream import Dream, Fate, Judged
from reverie.dreams.light.candidate import Candidate, Kind, Noted
from reverie.dreams.ports import DreamTarget
from reverie.dreams.records import Dreams, ModelReport, Planned, Thought
from reverie.dreams.verify.reasons import Reason, Severity, finding
from reverie.llm.question import estimate_tokens
from reverie.llm.settings import BUILT_IN
from reverie.transcripts.library import Library
from reverie.transcripts.session import Session

MOST_DOCUMENTS = 60
EXPIRES_AFTER = timedelta(days=90)
MOST_STAGED = 400
MOST_EARLIER = 80  # candidates of earlier nights in one Brief
INSTEAD = "The model did not decide. The built-in curator did."
NO_ROOM = (
    "The model did not decide: a Brief that model_brief_tokens and model_context allow holds nothing of this night. "
    "The built-in curator did."
)


class NightSources(Protocol):
    """The sources of a night beside the target: the sessions, and what earlier nights staged."""

    @property
    def scope(self) -> Scope: ...
    @property
    def sessions(self) -> Library: ...
    @property
    def records(self) -> Dreams: ...
    @property
    def ids(self) -> Ids: ...


def think(
    rooms: NightSources,
    target: DreamTarget,
    dream: Dream,
    fresh: Sequence[Noted],
    carried: Sequence[Noted] = (),
    *,
    curator: Curator,
) -> Thought:
    """Decide what becomes of every item and candidate, in the order it is to be done."""
    night, beside = night_of(rooms, target, dream, fresh, carried)
    shown, told = _material(night, curator)
    whole = gather(night, None) if shown.material is None or shown.material.brief.reduced else shown.material
    second = BuiltInCurator().curate(whole).answer.items
    if isinstance(curator, BuiltInCurator):
        curated = Curated()
    else:
        curated = curator.curate(shown.material) if shown.material else Curated(failed=NO_ROOM)
    by_model = shown.material is not None and not isinstance(curator, BuiltInCurator) and not curated.failed
    material = shown.material if by_model and shown.material else whole  # the built-in curator reads everything
    items = curated.answer.items if by_model else second
    not_shown = shown if by_model else Reduced(None)
    elsewhere = (BriefEntry("", where, text) for where, text in target.recalled(one.text for one in items if one.text))
    rules = _rules(target, dream, (*beside, *not_shown.entries, *elsewhere))
    decided = decide(items, second if by_model else (), material, rules)
    known = _Plan(target, dream, material, {one.id: one for one in material.noted}, not_shown.noted, tuple(beside))
    planned = [known.planned(one) for one in decided]
    planned += [known.left_out(name) for name in uncovered(decided, material)]
    held = [name for one in planned if _is_held(one) for name in one.judged.candidates]
    extra, planned = _remembered(planned, decided, rooms.ids)
    every = {one.id: one for one in (*carried, *fresh, *extra)}
    held += [one.id for one in extra]
    since = rooms.records.staged_since(rooms.scope, dream.target)
    stays = staged((every[name] for name in dict.fromkeys(held) if name in every), since, dream.started_at)
    said = [INSTEAD if curated.stopped else curated.failed] if curated.failed else []
    dropped = dict.fromkeys((*curated.answer.unread, *said), 1)
    planned += [Planned(one, done=True) for one in target.withheld]
    if not target.asks:  # each dream is over the sessions it is given
        every, stays, extra = {}, frozenset(), ()
    enough = told or (curated.failed if curated.stopped else "")  # the run stops here: no other dream asks in vain
    return Thought(
        len(fresh),
        len(carried),
        sum(len({each.session.id for each in one.case.support}) > 1 < one.case.sessions for one in decided),
        tuple(planned),
        tuple(name for name in every if name in stays),
        tuple(name for name in every if name not in stays),
        ModelReport(dropped, enough),
        sum(any(each.reason is Reason.KNOWN for each in one.findings) for one in decided),
        extra,
        (shown.material or whole).brief.reduced,
        curator.name if by_model else BUILT_IN,
    )


def night_of(
    rooms: NightSources, target: DreamTarget, dream: Dream, fresh: Sequence[Noted], carried: Sequence[Noted]
) -> tuple[BriefMaterial, tuple[BriefEntry, ...]]:
    """Everything a Brief is made of; and the entries that are too many to be shown."""
    sessions = [one for read in dream.sessions if (one := session_of(rooms.sessions, read))]
    earlier = list(carried)[-MOST_EARLIER:]
    before = _earlier_sessions(rooms.sessions, earlier, {one.id for one in sessions})
    shown, beside = entries_that_matter(target.entries, sessions)
    return BriefMaterial(
        dream.started_at,
        target.owner,
        _shown_documents(target, shown),
        shown,
        tuple(sorted(sessions, key=_began)),
        tuple(fresh),
        tuple(one for one in earlier if one.session_id in {each.id for each in before}),
        tuple(before),
        target.skills,
        target.instructions,
        (f"{len(shown):,} of {len(target.entries):,} entries are shown: those that speak of what the sessions do.",)
        if beside
        else (),
    ), beside


def _shown_documents(target: DreamTarget, shown: Iterable[BriefEntry]) -> tuple[BriefDocument, ...]:
    """Those with an entry that is shown, where there are very many."""
    if len(target.documents) <= MOST_DOCUMENTS:
        return target.documents
    named = {one.document for one in shown}
    return tuple(one for one in target.documents if one.name in named or one.for_new)


def _began(session: Session) -> tuple[str, str]:
    return (session.head.started_at.isoformat() if session.head.started_at else "", session.id)


def _earlier_sessions(library: Library, earlier: Iterable[Noted], tonight: set[str]) -> list[Session]:
    found: dict[str, Session] = {}
    for one in earlier:
        if one.session_id not in tonight and one.session_id not in found:
            session = heard_session(library, one.session_id, one.speaker or library.owner)
            found |= {one.session_id: session} if session else {}
    return sorted(found.values(), key=_began)


def _material(night: BriefMaterial, curator: Curator) -> tuple[Reduced, str]:
    """The Brief, in as many words as the curator reads, and which cap was reached on the way. A night that is too long
    is reduced by notes per session."""
    room = curator.room
    material = gather(night, room)
    if room is None or estimate_tokens(material.brief.render()) <= room:
        return Reduced(material), ""
    if not can_fit(night, room):
        return Reduced(None), ""
    sessions = to_be_noted(material)
    taken = curator.notes([one_session(material, short) for short in sessions])
    cited = {
        material.sessions[short].id: [
            one.turn for item in notes.answer.items for one in item.evidence if one.session == short
        ]
        for short, notes in zip(sessions, taken, strict=True)
    }
    stopped = next((one.failed for one in taken if one.stopped), "")
    return noted_only(night, rank_notes(night, cited), room), stopped


def _rules(target: DreamTarget, dream: Dream, beside: Iterable[BriefEntry]) -> Rules:
    surfaces = (*target.surfaces, *(replace(one, id="", sha256="") for one in beside))
    return Rules(
        dream.started_at,
        target.gates,
        target.limits,
        surfaces,
        Mentions(target.search),
        includes_unsure=not target.asks,
        people_needed=target.people_needed,
        waiting=target.waiting,
    )


def _is_held(one: Planned) -> bool:
    """It is held, or asks and may be said again. What is to land needs no second look."""
    return one.judged.fate is Fate.HELD_BACK and (one.done or bool(one.asks))


def _remembered(
    planned: Sequence[Planned], decided: Sequence[Decided], ids: Ids
) -> tuple[tuple[Noted, ...], list[Planned]]:
    """Give a candidate of its own to what is held and Light did not notice, so that another night finds it."""
    extra, kept = list[Noted](), list(planned)
    for place, one in enumerate(decided):
        if _is_held(kept[place]) and not kept[place].judged.candidates and one.case.support:
            notes = as_noted(one, lambda: ids.new("cand"))
            extra += notes
            names = tuple(each.id for each in notes)
            kept[place] = replace(kept[place], judged=replace(kept[place].judged, candidates=names))
    return tuple(extra), kept


@dataclass(frozen=True, slots=True)
class _Plan:
    target: DreamTarget
    dream: Dream
    material: Material
    noted: Mapping[str, Noted]
    not_shown: frozenset[str] = frozenset()
    not_shown_entries: tuple[BriefEntry, ...] = ()

    def planned(self, one: Decided) -> Planned:
        """To be put to review; or what became of it already. Where nobody is asked, it is included or withheld."""
        if one.severity in (Severity.HELD, Severity.REFUSED):
            return Planned(self._judged(one), done=True)
        if self.target.asks or one.severity is None:
            asks = " ".join(each.sentence for each in one.findings)
            return Planned(self._judged(one), self._suggestion(one), asks)
        if not one.only_unsure:
            return Planned(replace(self._judged(one), fate=Fate.WITHHELD), done=True)
        return Planned(replace(self._judged(one), unsure=True), self._suggestion(one))

    def left_out(self, name: str) -> Planned:
        """A candidate of Light that the curator made nothing of. A lesson seen once waits for its second time, and what
        the curator was not shown for another night."""
        noted = self.noted[name]
        reason = Reason.SEEN_ONCE if noted.candidate.kind is Kind.SKILL_CANDIDATE else Reason.NOT_PROPOSED
        found = finding(Reason.NOT_SHOWN if name in self.not_shown else reason)
        fate = Fate.HELD_BACK if found.severity is Severity.HELD else Fate.NOT_KEPT
        return Planned(
            Judged(
                (name,),
                "none",
                fate,
                found.sentence,
                found.sentence,
                noted.text,
                "",
                "",
                1,
                noted.origin,
                noted.candidate.evidence,
                reasons=(str(found.reason),),
            ),
            done=True,
        )

    def _judged(self, one: Decided) -> Judged:
        item, case = one.item, one.case
        hidden = any(each.reason in _UNTOLD for each in one.findings)
        fates = {Severity.REFUSED: Fate.NOT_KEPT, Severity.HELD: Fate.HELD_BACK}
        fate = fates.get(one.severity, Fate.HELD_BACK) if one.severity is not None else Fate.HELD_BACK
        found = [each for each in one.findings if each.severity is one.severity]
        checks = tuple((each.name, each.told) for each in one.checks)
        return Judged(
            candidates_of(one, self.material),
            str(item.op),
            fate,
            item.because,
            " ".join(each.sentence for each in found),
            "" if hidden else self.material.restored(item.text),
            one.skill.subject if one.skill else item.document,
            "; ".join(case.old),
            len({each.evidence.session_id for each in case.support}),
            case.origin,
            () if hidden else case.evidence,
            one.score,
            reasons=tuple(str(each.reason) for each in one.findings),
            checks=checks,
            confirms=self._confirmed(one),
        )

    def _confirmed(self, one: Decided) -> str:
        """The entry that says the same, if it was said again since that stands there."""
        known = {text for each in one.findings if each.reason is Reason.KNOWN for text in each.about}
        said = [each.said_at for each in one.case.asserted if each.said_at] if known else []
        for entry in (*self.material.brief.entries, *self.not_shown_entries):
            if entry.text in known and entry.since and any(at > entry.since for at in said):
                return self.material.restored(entry.text)
        return ""

    def _suggestion(self, one: Decided) -> Suggestion:
        skill = one.skill
        return Suggestion(
            (skill.folder or self.target.new_skills) if skill else self.dream.target,
            skill.subject if skill else one.item.document,
            () if skill else one.operations,
            reason=one.item.because,
            evidence=one.case.evidence,
            score=one.score,
            dream=self.dream.id,
            amendment=skill.amendment if skill else None,
        )


_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_UNTOLD = frozenset({Reason.SECRET, Reason.SENSITIVE, Reason.UNSAFE})


# ---- what is kept for another night: what was held, for a while, and no more than so much of it ----------------------


def staged(held: Iterable[Noted], since: Mapping[str, datetime], now: datetime) -> frozenset[str]:
    """The ids of what stays staged, newest first. What is said again begins anew: it has a new id."""
    kept = [one for one in held if now - since.get(one.id, now) <= EXPIRES_AFTER]
    newest = sorted(kept, key=lambda one: one.said_at or _LONG_AGO, reverse=True)
    return frozenset(one.id for one in newest[:MOST_STAGED])


def as_noted(one: Decided, new_id: Callable[[], str]) -> tuple[Noted, ...]:
    """Candidates for what a curator saw and Light did not, so that it is not forgotten when it is held: one a
    session."""
    kind = Kind(one.item.kind) if one.item.kind in list(Kind) else Kind.PROJECT_FACT
    notes = list[Noted]()
    for session_id in dict.fromkeys(each.evidence.session_id for each in one.case.support):
        said = [each for each in one.case.support if each.evidence.session_id == session_id]
        marks = tuple(sorted({span.reading.kind for each in said for span in each.spans}))
        evidence = tuple(each.evidence for each in said)
        candidate = Candidate(kind, said[0].sentence, 0.6, 0.6, evidence, marks=marks)
        notes.append(Noted(new_id(), candidate, session_id, said[0].session.head.user, said[0].said_at))
    return tuple(notes)
