"""What a night leaves out of its Brief where it does not fit: whole entries, skills, turns and candidates, those ranked
last first. No sentence is ever cut. What was left out is told in the diary, and is not forgotten: an entry that is not
shown can still be contradicted, and a candidate that is not shown waits for another night."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reverie.dreams import words
from reverie.dreams.brief.brief import Brief, BriefCandidate, BriefEntry, BriefTurn
from reverie.dreams.brief.gather import NARROW, BriefMaterial, Material, material_of, skills_by_use
from reverie.dreams.light.candidate import Noted
from reverie.llm.question import estimate_tokens
from reverie.transcripts.session import Session

MOST_ENTRY_CHARACTERS = 40_000  # of the entries in one Brief

Notes = Mapping[str, Mapping[int, float]]  # by a session's own id: its turns that were noted, with their rank


@dataclass(frozen=True, slots=True)
class Reduced:
    """`material` is None where not even one note fits. `entries` and `noted` are what it does not show."""

    material: Material | None
    entries: tuple[BriefEntry, ...] = ()
    noted: frozenset[str] = frozenset()


def entries_that_matter(
    entries: Sequence[BriefEntry], sessions: Iterable[Session]
) -> tuple[tuple[BriefEntry, ...], tuple[BriefEntry, ...]]:
    """All entries where they are not too many; else those that share most words with what people said. And the rest."""
    if sum(len(one.text) for one in entries) <= MOST_ENTRY_CHARACTERS:
        return tuple(entries), ()
    said = _said(sessions)
    kept, room = set[str](), MOST_ENTRY_CHARACTERS
    for one in _by_words(entries, said):
        room -= len(one.text)
        if room < 0 or not words.stems(one.whole) & said:
            break
        kept.add(one.id)
    return tuple(one for one in entries if one.id in kept), tuple(one for one in entries if one.id not in kept)


def one_session(material: Material, short: str) -> Material:
    """One session of it alone."""
    brief = material.brief
    only = tuple(one for one in brief.sessions if one.id == short)
    return replace(material, brief=replace(brief, sessions=only, candidates=(), entries=(), skills=()))


def to_be_noted(material: Material) -> list[str]:
    """The sessions that notes are to be taken of: of earlier ones only what was noticed is shown anyway."""
    return [one.id for one in material.brief.sessions if not one.noted]


def can_fit(night: BriefMaterial, most_tokens: int) -> bool:
    """Whether there is room for anything beside what every Brief has to say."""
    return estimate_tokens(_without_memory(material_of(night, NARROW).brief).render()) < most_tokens


def noted_only(night: BriefMaterial, notes: Notes, most_tokens: int) -> Reduced:
    """The Brief with every session shown by the turns that were noted of it, as many as there is room for."""
    material = material_of(night, NARROW)
    brief, tonight = material.brief, to_be_noted(material)
    ranks = {
        (session.id, turn.number): notes.get(session.session_id, {}).get(turn.number)
        for session in brief.sessions
        for turn in session.turns
    }
    noted = [place for place, rank in ranks.items() if rank is not None]
    empty = len(set(tonight) - {session for session, _ in noted})
    told = f"The night is longer than {most_tokens:,} tokens: {len(tonight)} sessions are shown by what was noted of "
    told += f"them, {empty} of them hold nothing that was noted." if empty else "them."
    shown = _showing(brief, noted)
    if estimate_tokens(shown.render()) <= most_tokens:
        return Reduced(replace(material, brief=replace(shown, reduced=(*night.reduced, told))))
    days = {one.id: str(one.day or "") for one in brief.sessions}
    noted.sort(key=lambda place: place[1])
    noted.sort(key=lambda place: (ranks[place], days[place[0]], place[0]), reverse=True)  # of equals, the newest
    fixed = _with_less_memory(_showing(brief, ()), night, most_tokens // 2)
    kept = _fitting(fixed, brief, noted, most_tokens)
    if not kept:
        return Reduced(None)
    shown = replace(_showing(brief, kept), entries=fixed.entries, skills=fixed.skills)
    left = [one for one in brief.candidates if one not in shown.candidates]
    counts = {
        "notes": len(noted) - len(kept),
        "things that were noticed": len(left),
        "entries": len(brief.entries) - len(shown.entries),
        "skills": len(brief.skills) - len(shown.skills),
    }
    parts = ", ".join(f"{count:,} of the {what}" for what, count in counts.items() if count)
    told += f" That is too long as well: {parts} are left out, those ranked last."
    return Reduced(
        replace(material, brief=replace(shown, reduced=(*night.reduced, told))),
        tuple(one for one in night.entries if one.id not in shown.entry),
        _not_shown(night, {session.session_id: {turn.number for turn in session.turns} for session in shown.sessions}),
    )


def rank_notes(night: BriefMaterial, cited: Mapping[str, Iterable[int]]) -> Notes:
    """The notes of each session, by a model (`cited`) and by the built-in reader: first what both saw, then what
    the model did, then the rest by how sure the reader is."""
    ranks: dict[str, dict[int, float]] = {name: dict.fromkeys(turns, 1.0) for name, turns in cited.items()}
    best: dict[tuple[str, int], float] = {}
    for one in (*night.fresh, *night.earlier):
        for evidence in one.candidate.evidence:
            place = (one.session_id, evidence.turn)
            best[place] = max(best.get(place, 0.0), one.candidate.confidence)
    for (name, turn), confidence in best.items():
        of_session = ranks.setdefault(name, {})
        of_session[turn] = of_session.get(turn, 0.0) + confidence
    return ranks


# ---- the parts -------------------------------------------------------------------------------------------------------


def _showing(brief: Brief, places: Iterable[tuple[str, int]]) -> Brief:
    """With these turns alone, and the candidates that stand in them."""
    kept = set(places)
    sessions = (
        replace(one, turns=tuple(turn for turn in one.turns if (one.id, turn.number) in kept), noted=True)
        for one in brief.sessions
    )
    shown = tuple(one for one in brief.candidates if (one.citation.session, one.citation.turn) in kept)
    return replace(brief, sessions=tuple(one for one in sessions if one.turns), candidates=shown)


def _without_memory(brief: Brief) -> Brief:
    return replace(brief, entries=(), skills=(), sessions=(), candidates=())


def _with_less_memory(brief: Brief, night: BriefMaterial, most_tokens: int) -> Brief:
    """Without as many skills, then entries, as are too many, so that what was said has half of the room."""
    by_use = {found.path: place for place, found in enumerate(skills_by_use(night))}
    skills = sorted(brief.skills, key=lambda one: by_use.get(one.path, 0))
    entries = _by_words(brief.entries, _said(night.sessions))
    bare = _without_memory(brief)
    used, least = estimate_tokens(brief.render()), estimate_tokens(bare.render())
    while used > most_tokens and (skills or entries):
        gone = replace(bare, skills=(skills.pop(),)) if skills else replace(bare, entries=(entries.pop(),))
        used -= estimate_tokens(gone.render()) - least
    return replace(
        brief,
        skills=tuple(one for one in brief.skills if one in skills),
        entries=tuple(one for one in brief.entries if one in entries),
    )


def _fitting(fixed: Brief, brief: Brief, ranked: Sequence[tuple[str, int]], most_tokens: int) -> list[tuple[str, int]]:
    """As many turns as there is room for, best first; one that is too long leaves its room to those behind it."""
    room = most_tokens - estimate_tokens(fixed.render())
    costs = _Costs(brief)
    kept = list[tuple[str, int]]()
    for place in ranked:
        cost = costs.of(place, begins=all(place[0] != session for session, _ in kept))
        if cost <= room:
            kept.append(place)
            room -= cost
    while kept and estimate_tokens(_beside(fixed, brief, kept).render()) > most_tokens:
        kept.pop()
    return kept


def _beside(fixed: Brief, brief: Brief, kept: Iterable[tuple[str, int]]) -> Brief:
    return replace(_showing(brief, kept), entries=fixed.entries, skills=fixed.skills)


class _Costs:
    """The tokens a turn takes with the candidates that stand in it, and the heading of its session."""

    def __init__(self, brief: Brief) -> None:
        self._empty = _without_memory(brief)
        self._base = estimate_tokens(self._empty.render())
        self._sessions = {one.id: one for one in brief.sessions}
        self._turns = {(one.id, turn.number): turn for one in brief.sessions for turn in one.turns}
        self._candidates: dict[tuple[str, int], list[BriefCandidate]] = {}
        for one in brief.candidates:
            self._candidates.setdefault((one.citation.session, one.citation.turn), []).append(one)

    def of(self, place: tuple[str, int], *, begins: bool) -> int:
        with_turn = self._tokens(place[0], (self._turns[place],), tuple(self._candidates.get(place, ())))
        return with_turn - (self._base if begins else self._tokens(place[0]))

    def _tokens(
        self, session: str, turns: tuple[BriefTurn, ...] = (), candidates: tuple[BriefCandidate, ...] = ()
    ) -> int:
        shown = replace(self._sessions[session], turns=turns, noted=True)
        return estimate_tokens(replace(self._empty, sessions=(shown,), candidates=candidates).render())


def _said(sessions: Iterable[Session]) -> frozenset[str]:
    heard = (turn for one in sessions for turn in one.turns if turn.role == "user" and turn.noise is None)
    return frozenset[str]().union(*(words.stems(turn.text) for turn in heard))


def _by_words(entries: Iterable[BriefEntry], said: frozenset[str]) -> list[BriefEntry]:
    """Those that share most words with what was said first; of equals, those that stand first."""
    return sorted(entries, key=lambda one: -len(words.stems(one.whole) & said))


def _not_shown(night: BriefMaterial, shown: Mapping[str, set[int]]) -> frozenset[str]:
    """The candidates none of whose words are shown."""

    def is_shown(one: Noted) -> bool:
        return any(each.turn in shown.get(one.session_id, ()) for each in one.support)

    return frozenset(one.id for one in (*night.fresh, *night.earlier) if not is_shown(one))
