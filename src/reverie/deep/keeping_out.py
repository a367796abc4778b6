"""What is kept out whatever its worth: private matters nobody asked to keep, unsafe text, jests, passing states."""

from __future__ import annotations

import re
from functools import lru_cache

from reverie.deep.clauses import without_lead
from reverie.deep.material import Noted
from reverie.deep.matters import Matter
from reverie.deep.noting import NOT_MEANT
from reverie.deep.routines import run_steps
from reverie.deep.subjects import about
from reverie.deep.vocabulary import pattern, plain
from reverie.deep.wording import DAY
from reverie.dreams.curators.lessons import is_routine
from reverie.kernel.origin import Origin
from reverie.light.candidate import Kind
from reverie.light.marks import Mark
from reverie.safety.personal_numbers import cards, ibans, national_ids
from reverie.safety.scan import scan
from reverie.safety.sensitive import asked_to_remember, sensitive

FROM_A_MODEL = "was suggested by a model"  # a mark on what earlier versions staged
_ADDRESS = re.compile(r"\w+://[^\s`'\"|;]+|\b[\w-]+(?:\.[\w-]+)+/[^\s`'\"|;]*")
_VALUE = re.compile(r"\d|\w[.@/_]\w")
_REDACTED = re.compile(r"\[redacted:")
_PASSING = frozenset({Mark.PASSING, Mark.THIS_ONE})
_LASTING = frozenset({Mark.REMEMBER, Mark.STANDING, Mark.PREFER, Mark.DECIDED, Mark.CHANGED, Mark.ENDED, Mark.RULE})
_TOLD = frozenset({Mark.CHANGED, Mark.ENDED, Mark.CORRECTS, Mark.DECIDED, Mark.REMEMBER})
_TOLD_OF = _TOLD - {Mark.CORRECTS}  # "No, they take the 28 as well"
_MEANT = _TOLD | {Mark.PREFER, Mark.WISH, Mark.MANNER}
_OWN = (Origin.OWNER, Origin.OPERATOR)
_DECIDABLE = frozenset({"authority", "script"})
_NUMBERS = (ibans, cards, national_ids)
_NEVER_KEPT = frozenset({"credentials"})


def private_kinds(matter: Matter) -> frozenset[str]:
    """What people keep to themselves and these statements say."""
    texts = {text for note in matter.said for text in (note.text, note.words)}
    return frozenset[str]().union(*map(_private_in, texts))


@lru_cache(maxsize=8192)
def _private_in(text: str) -> frozenset[str]:
    numbered = any(True for find in _NUMBERS for _ in find(text))
    said = frozenset(one.kind for one in sensitive(text))
    return said | {"the number of an account or a document"} if numbered else said


def holds_a_secret(matter: Matter) -> bool:
    return any(_REDACTED.search(note.words) for note in matter.said)


def was_asked_to_keep(matter: Matter) -> bool:
    return any(asked_to_remember(note.words) for note in matter.said)


def too_private(matter: Matter) -> str:
    """Why it may not be kept, or nothing."""
    if holds_a_secret(matter):
        return "it holds a secret, and secrets are not kept in memory"
    kinds = private_kinds(matter)
    if kinds & _NEVER_KEPT:
        return "it speaks of credentials, which are not kept in memory"
    if kinds and not was_asked_to_keep(matter):
        return f"it speaks of {', '.join(sorted(kinds))}, and nobody asked to have it remembered"
    return ""


def bears_authority(matter: Matter) -> str:
    """What was said may give leave where the line made of it does not show it: "Fenella on copy, as always"."""
    said = dict.fromkeys(one.quote for note in matter.said for one in note.support)
    return "it would change what the agent may do or whom it writes to" if any(map(_gives_leave, said)) else ""


@lru_cache(maxsize=1024)
def _gives_leave(words: str) -> bool:
    return scan(words, surface="memory").needs_person


def unsafe(matter: Matter, text: str, surface: str = "memory") -> str:
    """Why the text must not even be proposed. The owner's own words that bear authority are for a person to decide."""
    report = scan(text, surface)
    origin = matter.last.origin
    if report.blocked and not (origin in _OWN and {one.category for one in report.findings} <= _DECIDABLE):
        return f"it looks unsafe ({report.findings[0].category})" if report.findings else "it could not be scanned"
    if report.needs_person and origin not in (*_OWN, Origin.MEMBER):
        return "it would change what the agent may do or where things go, and no person said it"
    return ""


def reworded(matter: Matter) -> str:
    """Why a person has to look at a wording that is not ours: a model said it in words that nobody used."""
    return "a model put it in words of its own" if any(map(_in_other_words, matter.said)) else ""


def _in_other_words(note: Noted) -> bool:
    if FROM_A_MODEL not in note.marks:
        return False
    language, denies = note.candidate.language, pattern("negations")
    same_sense = bool(denies.search(plain(note.text))) == bool(denies.search(plain(note.words)))
    return not (same_sense and about(note.text, language) <= about(note.words, language))


def brings_danger(matter: Matter, text: str) -> str:
    """Why a lesson of the agent's own must not be proposed: what it ran may have been a stranger's advice."""
    lesson = matter.last.text
    failed, _, worked = lesson.rpartition("; ")
    if is_routine(matter.last):
        asked = (one.quote for note in matter.said for one in note.candidate.evidence if one.weight == "context")
        failed, worked = " ".join(asked), "\n".join(run_steps(matter))
        text = worked  # what it was asked for in is the person's own
    if set(_ADDRESS.findall(worked)) - set(_ADDRESS.findall(failed)):
        return "it brings in an address that no person gave"
    findings = scan(text, "skill").findings
    return f"it looks unsafe ({findings[0].category})" if findings else ""


def passing(matter: Matter) -> str:
    """Why it means nothing tomorrow, or nothing."""
    if matter.taken_back:
        return "it was taken back by the one who said it"
    if all(_in_jest(note) for note in matter.said):
        return "it was said in jest, or unsaid at once"
    if all(
        pattern("someone").search(plain(without_lead(note.words))) and not note.marks & _TOLD_OF for note in matter.said
    ):
        return "it is about someone it does not name"
    if all(pattern("conduct").search(plain(note.words)) for note in matter.said):
        return "it tells what the agent did, not what holds"
    if all(pattern("describes").search(plain(note.words)) and not note.marks & _MEANT for note in matter.said):
        return "it tells how somebody or something is, and rules nothing"
    marks = frozenset[str]().union(*(note.marks for note in matter.said))
    if marks & _PASSING and not marks & {Mark.REMEMBER, Mark.STANDING}:
        return "it holds for one task or one day"
    if all(_tells_no_value(note) for note in matter.said):
        return "it tells that something changed, not what holds now"
    if not marks & _LASTING and Mark.DONE in marks:
        return "it tells of something that happened once"
    return ""


def _tells_no_value(note: Noted) -> bool:
    """ "We moved the database last night": where to is said elsewhere, or nowhere."""
    words = plain(DAY.sub("", note.text))
    says_more = any(pattern(name).search(words) for name in ("towards", "over")) or _VALUE.search(words)
    return bool(pattern("turned").search(words)) and not says_more


def _in_jest(note: Noted) -> bool:
    return NOT_MEANT in note.marks or bool(pattern("jest").search(plain(note.words)))


def too_thin(matter: Matter) -> str:
    """Why there is too little in it to stand on its own, or nothing."""
    if matter.last.candidate.kind is Kind.SKILL_CANDIDATE:
        return ""
    if max(len(about(note.text, matter.language)) for note in matter.said) < 1:
        return "it says nothing on its own"
    if all(pattern("refuses").search(plain(note.words)) for note in matter.said):
        return "it refuses something, and does not say what"
    if all(pattern("elsewhere").search(plain(note.words)) for note in matter.said):
        return "it asks to remember something else, not what it says itself"
    return ""
