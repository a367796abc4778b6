"""What speaks against a conflict: another subject, another scope, a question, a plan, the past, an addition."""

from __future__ import annotations

import re

from reverie.text.relating.clause import Clause
from reverie.text.relating.cues import Cue
from reverie.text.relating.opposites import KIND_OF, PEOPLE
from reverie.text.relating.opposition import Compared
from reverie.text.relating.personal_attributes import SINGLE

SOMEONE_ELSE = 1.5  # surer than any two words that stand before a verb
_NONE = re.compile(r"\b(?:has|have|is|are|there's|with|got) no\b|\bwithout\b")


def reservations(c: Compared) -> dict[str, float]:
    old, new = c.old, c.new
    over = bool(new.ended & old.words.keys())
    # "hoping to beat my best of 25:50" hopes for the beating; the 25:50 is taken as given.
    said = 0.25 if c.changes and c.changes[0].new.given else 1.0
    return {
        "question": float(Cue.QUESTION in new.cues),
        "hedged": said * (Cue.HEDGED in new.cues and not new.ended),
        "conditional": said * (Cue.CONDITIONAL in new.cues),
        "past": float(_newly(c, Cue.PAST) and not new.ended),
        "was": float(_newly(c, Cue.WAS) and not new.ended and Cue.CHANGE not in new.cues),
        "additive": float(Cue.ADDITIVE in new.cues and not c.changes and not c.flipped),
        "subject": _other_subject(c) * (0.4 if over else 1.0),
        "scope": float(_other_scope(c)),
        "equal": float(bool(c.equal) and not (c.changes or c.flipped or over or c.more)),
        "within": float(_within(c) and not over),
    }


def _newly(c: Compared, cue: Cue) -> bool:
    return cue in c.new.cues and cue not in c.old.cues


def _within(c: Compared) -> bool:
    """Everything the old clause says is in the new one."""
    kept = not c.old.values or bool(c.equal and not c.more)
    same_side = not (c.flipped or c.changes or c.opposed or c.only_old)
    return same_side and kept and not c.old.attitude and Cue.EXCLUSIVE not in c.new.cues


def _other_subject(c: Compared) -> float:
    """How surely the two clauses are about different things, by what stands before their verbs."""
    old, new = c.old, c.new
    numbered = any(change.old.in_head and change.new.in_head for change in c.changes)  # "room 12", "room 14"
    if _someone_else(old, new) or _someone_else(new, old):
        return SOMEONE_ELSE
    if numbered:
        return 1.0
    mine = [word for word in old.head if word in c.apart_old or (word not in old.words and word not in new.head)]
    theirs = [word for word in new.head if word in c.apart_new or (word not in new.words and word not in old.head)]
    if not mine or not theirs or _subject_is_open(c):
        return 0.0
    if old.head[-1] == new.head[-1] or old.head[0] == new.head[0]:
        return 1.0  # "front door", "back door": the same word told apart by what stands beside it
    return len(mine) / len(old.head) * len(theirs) / len(new.head)


def _subject_is_open(c: Compared) -> bool:
    """Where another name before the verb is no other subject: who has a duty, who lives where, all or only some."""
    old, new = c.old, c.new
    if (old.role and new.role) or SINGLE & old.attributes & new.attributes:
        return True
    return for_all_or_some(old, new) or _denies_there_is_any(c)


def _someone_else(one: Clause, other: Clause) -> bool:
    """One is about the speaker, the other about a relative or colleague the first does not name."""
    people = [word for word in other.head if other.surface.get(word) in PEOPLE]
    return one.own and not one.head and bool(people) and not any(word in one.words for word in people)


def for_all_or_some(old: Clause, new: Clause) -> bool:
    narrowed = Cue.UNIVERSAL in old.cues and Cue.EXCLUSIVE in new.cues
    return narrowed or (Cue.EXCLUSIVE in old.cues and Cue.UNIVERSAL in new.cues)


def _denies_there_is_any(c: Compared) -> bool:
    """ "The shop has no website" is at odds with any website of that shop, whoever uses it."""
    denying = c.old if c.old.polarity < 0 else c.new
    return c.flipped and bool(_NONE.search(denying.text)) and c.denied_share > 0.99


def _other_scope(c: Compared) -> bool:
    """Both name one of a kind (summer and winter, admins and guests), and at least one as what the clause is about."""
    mine, theirs = kinds_of(c.apart_old, c.old), kinds_of(c.apart_new, c.new)
    return any(mine[kind] in c.old.head or theirs[kind] in c.new.head for kind in mine.keys() & theirs.keys())


def kinds_of(words: frozenset[str], clause: Clause) -> dict[int, str]:
    return {KIND_OF[clause.surface[word]]: word for word in sorted(words) if clause.surface[word] in KIND_OF}
