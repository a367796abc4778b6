"""What two clauses say for and against a conflict, as named numbers.

`FOR` can only raise the odds of a conflict and `AGAINST` can only lower them; the weights are fitted under that
rule (benchmarks/training), so that no feature can come to mean its opposite.
"""

from __future__ import annotations

import re

from reverie.text.relating.clause import Clause
from reverie.text.relating.cues import Cue
from reverie.text.relating.limits import named
from reverie.text.relating.opposition import Compared, ValueChange
from reverie.text.relating.personal_attributes import SINGLE
from reverie.text.relating.reservations import for_all_or_some, kinds_of, reservations

FOR = (
    "about",
    "denied",
    "denied_never",
    "denied_words",
    "denied_alike",
    "opposite",
    "opposite_alike",
    "value",
    "value_gone",
    "value_more",
    "value_attribute",
    "value_shared",
    "value_context",
    "value_alike",
    "value_changed",
    "slot",
    "slot_same",
    "slot_alike",
    "slot_role",
    "slot_now",
    "slot_rival",
    "ended",
    "dropped",
    "change",
    "attribute",
    "attribute_changed",
    "only",
    "narrowed",
    "narrowed_within",
)
AGAINST = (
    "subject",
    "scope",
    "question",
    "hedged",
    "conditional",
    "past",
    "was",
    "additive",
    "agrees",
    "equal",
    "any_number",
    "value_date",
    "value_many",
    "value_other_count",
    "value_lone",
    "crowd",
    "denied_rest",
    "limited",
    "within",
)
NAMES = FOR + AGAINST

SOME = 0.6  # weight of at least one word that is not mere chatter
_FOR_ALL_OR_SOME = frozenset({Cue.EXCLUSIVE, Cue.UNIVERSAL})
_BOUND = re.compile(r"\b(?:after|from|until|before|till|by|nach|bis|ab|después|hasta|après|jusqu)\b")
_OVER = re.compile(
    r"\b(?:any ?more|no longer|nicht mehr|ya no|n'\w+ plus|ne \w+ plus|plus maintenant|non .{0,24}più|já não"
    r"|não .{0,24}mais"
    r"|niet (?:meer|langer))\b|不再|もう"
)
_NEVER = re.compile(r"\b(?:never|haven't|have not|hasn't|don't (?:have|use|know)|didn't)\b(?!.*\bagain\b)")
_LOOSE = frozenset({"name", "ordinal", "date", "month", "year"})  # words of their own, or merely when it was said


def features(c: Compared, about: float, crowd: float) -> dict[str, float]:
    """Only what is not zero. `about` is how near the whole texts are, `crowd` grows with the clauses compared."""
    found = {"about": max(about, 0.0), "crowd": crowd}
    if c.shared or c.synonyms or c.old.attributes & c.new.attributes or c.opposed:
        found |= _denial(c, crowd) if c.flipped and not _no_longer(c) else _replacement(c)
        found |= _ending(c)
    found |= reservations(c)
    return {name: value for name, value in found.items() if value}


def _no_longer(c: Compared) -> bool:
    """ "Not any more: on the 28th" denies nothing but the 25th: it tells another value."""
    return bool(c.changes and c.new.polarity < 0 and _OVER.search(c.new.text))


def _denial(c: Compared, crowd: float) -> dict[str, float]:
    denying, saying = (c.new, c.old) if c.new.polarity < 0 else (c.old, c.new)
    apart = bool(c.only_old and c.only_new)
    elsewhere = apart and min(c.rest_old, c.rest_new) > SOME
    if _from_two_sides(c) or (elsewhere and saying.cues & _FOR_ALL_OR_SOME):
        return {"agrees": 1.0}
    never, share = bool(_NEVER.search(denying.text)), c.denied_share
    return {
        "denied": 1.0,
        "denied_words": share,
        "denied_alike": c.dice,
        "denied_never": share * never,
        "denied_rest": float(apart and not (never and crowd)),
        "limited": float(_limited(c, denying, saying)),
    }


def _limited(c: Compared, denying: Clause, saying: Clause) -> bool:
    """ "Never on Fridays" and "never while the tests are red" deny nothing of a clause that speaks of neither."""
    match = c.synonyms.values() if denying is c.new else c.synonyms.keys()
    said = {*saying.words, *match, *(named(placed.value) for placed in saying.values)}
    return any(limit.isdisjoint(said) for limit in denying.limits)


def _from_two_sides(c: Compared) -> bool:
    """ "Never on Fridays" and "Monday to Thursday"; "closed after nine" and "open until nine"."""
    same_hour = c.equal and _BOUND.search(c.old.text) and _BOUND.search(c.new.text)
    return bool(c.changes or same_hour or c.old.negated & c.new.negated)


def _replacement(c: Compared) -> dict[str, float]:
    old, new, both = c.old, c.new, c.old.attitude * c.new.attitude
    found = _opposite(c) if c.opposed and both >= 0 else {}
    if old.negated & new.negated and not c.changes:
        found["agrees"] = 1.0
    if c.changes:
        found |= _value(c, c.changes[0])
    elif min(c.rest_old, c.rest_new) > SOME and (not both or "choice" in old.attributes & new.attributes):
        found |= _slot(c)
    if both > 0:
        found |= _preference(c)
    found["value_gone"] = c.dice * bool(old.values and not new.values and not c.only_old and not c.only_new)
    found["value_more"] = c.dice * (c.more and not c.only_old)
    found["change"] = c.dice * (Cue.CHANGE in new.cues)
    found["only"] = c.dice * for_all_or_some(old, new)
    return found | _attribute(c)


def _opposite(c: Compared) -> dict[str, float]:
    bare = 1 - (c.rest_old + c.rest_new) / 2  # "married", "single": nothing else is said
    return {"opposite": 1.0, "opposite_alike": max(c.dice, bare), "agrees": float(bool(c.changes))}


def _attribute(c: Compared) -> dict[str, float]:
    shared = c.old.attributes & c.new.attributes
    if not shared or not (c.only_new or c.changes):
        return {}
    return {"attribute": 1.0, "attribute_changed": float(Cue.CHANGE in c.new.cues and bool(SINGLE & shared))}


def _value(c: Compared, change: ValueChange) -> dict[str, float]:
    both = change.old.near & change.new.near
    shared = sum(max(c.old.words.get(word, 0.0), c.new.words.get(word, 0.0)) for word in both)
    dimension, counted, other = change.old.value.dimension, change.old.after, change.new.after
    return {
        "value": 1.0,
        "value_context": change.context,
        "value_alike": c.dice,
        "value_shared": min(1.0, shared / 4),
        "value_changed": float(_today(c.new)),
        "value_attribute": float(bool(SINGLE & c.old.attributes & c.new.attributes)),
        "value_date": float(dimension in ("date", "year")),
        "value_many": float(len({each.old.value.dimension for each in c.changes}) > 1),
        "value_other_count": float(
            dimension in ("count", "ordinal") and bool(counted and other) and not counted & other
        ),
    }


def _today(clause: Clause) -> bool:
    return Cue.CHANGE in clause.cues or Cue.NOW in clause.cues


def _slot(c: Compared) -> dict[str, float]:
    """One thing in the place of another: best with the same predicate and little else different."""
    old, new = c.old, c.new
    if len(c.only_old) > 4 or len(c.only_new) > 5:
        return {}
    same = old.predicate == new.predicate or new.predicate in old.words or old.predicate in new.words
    joins = new.any_number and not new.one_at_a_time and "choice" not in new.attributes
    measured = any(placed.value.dimension not in _LOOSE for placed in (*old.values, *new.values))
    return {
        "slot": 1.0,
        "slot_alike": c.dice,
        "slot_same": c.dice * bool(same or old.attributes & new.attributes),
        "slot_role": float(old.role and new.role),
        "slot_now": float(_today(new)),
        "slot_rival": float(bool(kinds_of(c.only_old, old).keys() & kinds_of(c.only_new, new).keys())),
        "any_number": float(joins),
        "value_lone": float(measured and not c.equal and not new.cues & {Cue.CHANGE, Cue.EXCLUSIVE}),
    }


def _preference(c: Compared) -> dict[str, float]:
    if not c.shared or Cue.ADDITIVE in c.new.cues or not c.only_new:  # what says less than before takes nothing away
        return {}
    return {"narrowed": c.dice, "narrowed_within": float(not c.only_old)}


def _ending(c: Compared) -> dict[str, float]:
    """What the new clause declares over or names as the thing not to take, and the old one says."""
    total = max(sum(c.old.words.values()), 1e-9)
    over = (c.new.ended & c.old.words.keys()) - c.old.ended
    moot = bool(c.old.head) and over >= set(c.old.head)  # what the old clause is about is itself over
    dropped = (c.new.negated & c.old.words.keys()) - c.old.negated if c.new.polarity > 0 else frozenset[str]()
    return {
        "ended": 1.0 if moot else sum(c.old.words[word] for word in sorted(over)) / total,
        "dropped": sum(c.old.words[word] for word in sorted(dropped)) / total,
    }
