"""`deepen`: from what was noticed and what is known to one Decision per matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from reverie.deep.clauses import clauses
from reverie.deep.composing import composed
from reverie.deep.corrections import corrected
from reverie.deep.dating import in_words, order_of
from reverie.deep.decision import Decision, Verb
from reverie.deep.keeping_out import (
    FROM_A_MODEL,
    bears_authority,
    brings_danger,
    passing,
    private_kinds,
    reworded,
    too_private,
    too_thin,
    unsafe,
)
from reverie.deep.material import Known, Noted
from reverie.deep.matters import Matter, matters
from reverie.deep.noting import PLANTED
from reverie.deep.procedures import Lines, drafted
from reverie.deep.routines import TIMES
from reverie.deep.ruling import is_a_manner_of_speaking
from reverie.deep.standing import CHANGES, SURE, Breath, Spoken, Standing, breath_of, likeness, spoken_in, standing
from reverie.deep.subjects import about, distinctive, nearness, same_matter
from reverie.deep.unstated import unstated
from reverie.deep.vocabulary import pattern, plain
from reverie.deep.wording import LONGEST, canonical, scoped
from reverie.dreams.curators.lessons import is_routine
from reverie.kernel.origin import Origin
from reverie.language.relation import RelationKind, relate
from reverie.light.candidate import Kind
from reverie.light.marks import Mark
from reverie.skills.library import Found

PLAINLY = 0.7  # how directly a statement must be put to take another's place
_OWN = (Origin.OWNER, Origin.OPERATOR)
SAME = 0.8
NOT_PLAIN = "it was not said plainly enough to take the place of what stands there"
UNTOLD = "which of the two is newer cannot be told"
IN_OTHER_WORDS, NEAR = 4, 0.5  # stems in common and nearness in meaning of two wordings that say the same
NOT_OBEYED = "Kept out: a page asked to be remembered, and no person did."


@dataclass(frozen=True, slots=True)
class Mind:
    """What Deep looks at: what is known, the skills, where new things would go, and when it is."""

    known: tuple[Known, ...]
    documents: Mapping[str, str]  # "person" and "world" -> the document of the shelf
    now: datetime
    skills: tuple[Found, ...] = ()
    owner: str = ""
    worded: Callable[[Matter], Lines] = lambda _: Lines()  # a lesson, by someone who has better words for it


@dataclass(frozen=True, slots=True)
class Deepened:
    matters: tuple[Matter, ...]
    decisions: tuple[Decision, ...] = field(default=())

    @property
    def themes(self) -> tuple[Matter, ...]:
        return tuple(one for one in self.matters if one.is_theme)


def deepen(noted: Sequence[Noted], mind: Mind) -> Deepened:
    noted = [*noted, *unstated(noted, mind.known)]
    found = matters(noted)
    spoken = spoken_in(noted)
    everyone = _by_speaker(found)
    decided = {id(matter): _decided(matter, mind, everyone, spoken) for matter in found}
    together = _about_one_entry(_in_one_breath(list(decided.values())))  # in other words, they spoke of one thing
    everyone = _by_speaker(together)
    decisions = [decided.get(id(matter)) or _decided(matter, mind, everyone, spoken) for matter in together]
    kept = [one for one in decisions if one.changes_known or not (one.matter.only_beside or _takes_nothing_back(one))]
    return Deepened(tuple(one.matter for one in kept), tuple(map(_credited, kept)))


_BySpeaker = Mapping[str | None, Sequence[Matter]]


def _by_speaker(found: Iterable[Matter]) -> _BySpeaker:
    """Nobody disagrees with themselves: where one person speaks, there is nothing to look for."""
    made: dict[str | None, list[Matter]] = {}
    for matter in found:
        made.setdefault(matter.speaker, []).append(matter)
    return made


def _credited(decision: Decision) -> Decision:
    """Who noticed it is told, where it was not the built-in reader."""
    noticed = all(FROM_A_MODEL in note.marks for note in decision.matter.said)
    return replace(decision, reason=f"{decision.reason} A model noticed it.") if noticed else decision


def _takes_nothing_back(decision: Decision) -> bool:
    """ "Yes, ignore it" takes something back only where there is something."""
    return decision.matter.taken_back and not decision.matter.overtaken


def _in_one_breath(decisions: Sequence[Decision]) -> list[tuple[Matter, Known | None]]:
    """Each matter with the entry it would change. One that only ends something takes along what the same words put
    in its place: "The flour no longer comes on Tuesdays. Perrault delivers on Thursdays.\""""
    found = [(one.matter, one.target if one.changes_known and not one.matter.taken_back else None) for one in decisions]
    for ends in (one for one in decisions if one.verb is Verb.REMOVE and one.target and not one.matter.taken_back):
        for place, (matter, target) in enumerate(found):
            if target is None and ends.target and _goes_with(matter, ends.matter, ends.target):
                found[place] = matter, ends.target
    for one in (one for one in decisions if one.changes_known and one.standing and one.standing.named):
        for place, (matter, target) in enumerate(found):
            if target is None and _only_ends(matter, one):
                found[place] = matter, one.target
    return found


def _only_ends(matter: Matter, change: Decision) -> bool:
    """It only says that something is over, and the same breath says what took its place."""
    spoken = {breath_of(note) for note in change.matter.said}
    named = change.standing.named if change.standing else frozenset()
    parts = [clauses(note.words) for note in matter.said]
    return (
        not matter.taken_back
        and matter.speaker == change.matter.speaker
        and all(breath_of(note) in spoken for note in matter.said)
        and all(not part.affirmed and part.names_over(matter.language) & named for part in parts)
    )


def _goes_with(matter: Matter, ending: Matter, target: Known) -> bool:
    language = ending.language
    spoken = {breath_of(note) for note in ending.said}
    return (
        matter.speaker == ending.speaker
        and matter.last.origin is ending.last.origin
        and not (matter.taken_back or matter.only_beside)
        and any(breath_of(note) in spoken for note in matter.said)
        and bool(about(matter.last.text, language) & about(target.text, language))
    )


def _about_one_entry(found: Sequence[tuple[Matter, Known | None]]) -> list[Matter]:
    """The matters, with those of one speaker that would change the same entry made one."""
    made: dict[tuple[object, ...], Matter] = {}
    for place, (matter, target) in enumerate(found):
        key = (matter.speaker, matter.last.origin, target.surface, target.text) if target else (place,)
        made[key] = made[key].and_also(matter) if key in made else matter
    return list(made.values())


def _decided(matter: Matter, mind: Mind, every: _BySpeaker, spoken: Mapping[Breath, Spoken]) -> Decision:
    if PLANTED in matter.last.marks:
        return Decision(Verb.UNSAFE, matter, NOT_OBEYED)
    if why := too_private(matter):
        return Decision(Verb.SENSITIVE, matter, f"Kept out: {why}.")
    if matter.taken_back and (wish := _wish_taken_back(matter, mind)):
        return wish
    if why := passing(matter):
        return Decision(Verb.EPHEMERAL, matter, f"Not kept: {why}.")
    if why := too_thin(matter):
        return Decision(Verb.LOW_CONFIDENCE, matter, f"Not kept yet: {why}.")
    if _is_procedure(matter):
        return _as_skill(matter, mind)
    if matter.last.origin in _OWN and (skill := corrected(matter, mind.skills, mind.now)):
        return Decision(
            Verb.BETTER_AS_SKILL, matter, "It puts a rule of this skill right.", canonical(matter), skill=skill
        )
    stands_in = distinctive(about(known.text, matter.language) for known in mind.known)
    standings = [standing(matter, known, stands_in, spoken) for known in mind.known]
    decision = _against_known(matter, standings) or _new(matter, mind, every)
    if decision.verb is Verb.SUPERSEDE and decision.target and decision.target.document is None:
        decision = replace(_new(matter, mind, every), asks=decision.asks)  # what stands there is not ours to change
    if not decision.rejected and (why := unsafe(matter, decision.text or matter.last.text)):
        return Decision(Verb.UNSAFE, matter, f"Kept out: {why}.")
    return replace(decision, asks=decision.asks or reworded(matter) or bears_authority(matter))


def _wish_taken_back(matter: Matter, mind: Mind) -> Decision | None:
    """What was kept of a wish goes with it."""
    said, language = matter.last.words, matter.language
    kept = [known for known in mind.known if known.document and order_of(matter.last.said_at, known) == "later"]
    best = max(kept, key=lambda known: same_matter(known.text, said, language), default=None)
    sure = same_matter(best.text, said, language) if best else 0.0
    if best is None or sure < 0.5:
        return None
    why = "It was taken back by the one who said it."
    found = Standing(best, RelationKind.CONTRADICTS, max(sure, SURE), why, sure, nothing_new=True)
    asks = "" if sure >= 0.85 else "it may be another wish that was taken back"
    return Decision(Verb.REMOVE, matter, why, "", best.document or "", best, found, asks)


# ---- what belongs in a skill -----------------------------------------------------------------------------------------


def _is_procedure(matter: Matter) -> bool:
    if matter.last.candidate.kind is Kind.SKILL_CANDIDATE:
        return True
    return any(pattern("steps").search(plain(note.words)) for note in matter.said)


def _as_skill(matter: Matter, mind: Mind) -> Decision:
    lesson, routine = matter.last.origin is Origin.AGENT, is_routine(matter.last)
    times = len(matter.sessions)
    if not (times >= TIMES if routine else matter.is_theme or _is_standing(matter)):
        often = "once" if times == 1 else "twice"
        return Decision(Verb.LOW_CONFIDENCE, matter, f"Not kept yet: what was done {often} may not be the rule.")
    skill = drafted(matter, mind.skills, mind.now, mind.worded(matter))
    if skill is None:
        return Decision(Verb.REDUNDANT, matter, "Not kept: a skill says so already.")
    if why := unsafe(matter, skill.text, "skill") or (brings_danger(matter, skill.text) if lesson else ""):
        return Decision(Verb.UNSAFE, matter, f"Kept out: {why}.")
    what = "failed and was mended in the same way" if lesson else "was told as a procedure"
    what = "was done in the same steps" if routine else what
    reason = f"It {what} in {times} {'sessions' if times > 1 else 'session'}: it belongs in a skill."
    return Decision(Verb.BETTER_AS_SKILL, matter, reason, matter.last.text, skill=skill)


def _is_standing(matter: Matter) -> bool:
    return any(note.marks & {Mark.STANDING, Mark.REMEMBER} for note in matter.said)


# ---- what touches something known ------------------------------------------------------------------------------------


def _against_known(matter: Matter, standings: Sequence[Standing]) -> Decision | None:
    conflicts = [one for one in standings if one.conflicts]
    if conflicts:
        best = max(conflicts, key=lambda one: (one.confidence, one.overlap))
        return _conflicting(matter, best)
    merged = next((one for found in standings if (one := _merged(matter, found))), None)
    alike = [one for one in standings if _says_it_already(matter, one)]
    if alike and not merged:
        best = max(alike, key=lambda one: one.overlap)
        return Decision(Verb.REDUNDANT, matter, f"Not kept: {best.known.surface} says so already.", target=best.known)
    return merged


def _merged(matter: Matter, found: Standing) -> Decision | None:
    """One line in the place of an entry it says all of, and more: for what was said in several sessions."""
    known, text = found.known, canonical(matter)
    if not matter.is_theme or known.document is None or order_of(matter.last.said_at, known) != "later":
        return None
    if found.kind is RelationKind.UNRELATED:
        return None
    mine, theirs = about(text, matter.language), about(known.text, matter.language)
    covers = len(mine & theirs) / max(1, len(theirs))
    if len(theirs) < 2 or covers < SAME or len(text) > LONGEST or not _always_more(matter, theirs):
        return None
    merged = Standing(known, RelationKind.REFINES, covers, f"It says what {known.surface} says, and more.", covers)
    return Decision(Verb.MERGE, matter, merged.why, text, known.document, known, merged)


def _always_more(matter: Matter, theirs: frozenset[str]) -> bool:
    """Something that does not stand there was said every time."""
    said = [about(note.text, matter.language) - theirs for note in matter.said]
    return bool(frozenset.intersection(*said))


def _says_it_already(matter: Matter, found: Standing) -> bool:
    text = canonical(matter)
    mine, theirs = about(text, matter.language), about(found.known.text, matter.language)
    if not any(clauses(note.words).affirmed for note in matter.said):  # it says that something is over
        return False
    if mine - theirs and any(note.marks & CHANGES for note in matter.said):
        return False
    if found.kind is RelationKind.SAME and found.overlap >= 0.5:
        return True
    covered = len(mine & theirs) / max(1, len(mine))
    if covered >= SAME or likeness(text, found.known.text, matter.language) >= SAME:
        return True
    values = any(sign.isdigit() for stem in mine - theirs for sign in stem)
    return len(mine & theirs) >= IN_OTHER_WORDS and not values and nearness(text, found.known.text) >= NEAR


def _conflicting(matter: Matter, found: Standing) -> Decision:
    known, last = found.known, matter.last
    order = order_of(last.said_at, known)
    when = in_words(order, last.said_at, known)
    if order == "earlier":
        return Decision(Verb.REDUNDANT, matter, f"Not kept: {known.surface} is newer ({when}).", target=known)
    over = (found.nothing_new or _only_tells_an_end(matter)) and not _says_what_holds(matter, found)
    text = "" if over else composed(matter, found)
    unworded = "" if over or text else "how it should read now could not be worded"
    if text and found.named and not about(text, matter.language) & about(known.text, matter.language):
        text, found = "", replace(found, nothing_new=True)  # the thing itself is over, and the rest is about another
    verb = Verb.SUPERSEDE if text else Verb.REMOVE
    asks = asks_of(matter, found, unknown=order == "unknown") or unworded
    reason = f"{found.why} It was {when}."
    return Decision(verb, matter, reason, text, known.document or "", known, found, asks)


def _only_tells_an_end(matter: Matter) -> bool:
    """ "Not Kiel again, I don't live there any more": nothing in it says what is there instead."""
    return not any(clauses(note.words).affirmed for note in matter.said)


def _says_what_holds(matter: Matter, found: Standing) -> bool:
    """Some other sentence of the matter tells something new of the thing."""
    pieces = [clauses(note.text) for note in matter.said]
    old = about(found.known.text, matter.language)
    told = [piece.names_affirmed(matter.language) for piece in pieces if piece.affirmed and not piece.over]
    return any(stems & old and stems - old for stems in told)


def asks_of(matter: Matter, found: Standing, *, unknown: bool) -> str:
    """Why a person has to decide, or nothing."""
    if found.known.document is None:
        return f"it contradicts {found.known.surface}, which a dream may not change"
    if unknown:
        return UNTOLD
    if not found.named and not _is_plain(matter):
        return NOT_PLAIN
    if matter.only_beside and not (matter.is_theme or found.named or found.exact):
        return "it was only mentioned in passing"
    return "" if found.confidence >= SURE else "it may be about something else"


def _is_plain(matter: Matter) -> bool:
    """Put directly, said to be so now, or said in more than one session."""
    if matter.is_theme or any(pattern("now").search(plain(note.words)) for note in matter.said):
        return True
    return max(note.candidate.explicitness for note in matter.said) >= PLAINLY


# ---- what is new -----------------------------------------------------------------------------------------------------


def _new(matter: Matter, mind: Mind, every: _BySpeaker) -> Decision:
    text = canonical(matter)
    if matter.about == "world" and all(_only_ends_something(note) for note in matter.said):
        return Decision(
            Verb.LOW_CONFIDENCE, matter, "Not kept yet: it says what is over, and nothing known speaks of it."
        )
    if is_a_manner_of_speaking(matter):
        return Decision(Verb.LOW_CONFIDENCE, matter, "Not kept yet: it may be a manner of speaking.")
    if len(text) > LONGEST or text.endswith("…"):
        return Decision(Verb.VERBOSE, matter, f"Not kept: it would take {len(text)} characters.", text)
    document = mind.documents[matter.about]
    others = [
        speaker
        for speaker, theirs in every.items()
        if speaker and speaker != matter.speaker and any(_disagree(matter, one) for one in theirs)
    ]
    if matter.speaker and matter.last.origin is Origin.MEMBER and (others or matter.about == "person"):
        text = scoped(text, matter.speaker)
    times, private = len(matter.sessions), bool(private_kinds(matter))
    said = f"Said in {times} sessions." if times > 1 else "Said once."
    if others:
        said += f" {' and '.join(sorted(set(others)))} said otherwise: each rule holds for the one who made it."
    return Decision(Verb.PROMOTE, matter, said, text, document, private=private)


def _only_ends_something(note: Noted) -> bool:
    parts = clauses(note.words)
    return bool(parts.over) and not parts.affirmed and not note.marks & {Mark.REMEMBER, Mark.STANDING, Mark.RULE}


def _disagree(one: Matter, other: Matter) -> bool:
    """Two people want different things of one thing."""
    alike = same_matter(one.last.text, other.last.text, one.language) >= 0.4
    return alike and relate(one.last.text, other.last.text).kind not in (RelationKind.SAME, RelationKind.REFINES)
