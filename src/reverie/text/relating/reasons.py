"""Why, in a sentence a person can read."""

from __future__ import annotations

from reverie.text.relating.judge import DecidingClauses
from reverie.text.relating.opposition import Compared

_FOR = {
    "value": "The same thing had the value “{old_value}” and now has “{new_value}” ({shared}).",
    "denied": "One says what the other denies ({shared}).",
    "opposite": "They take opposite sides on the same matter ({opposed}; {shared}).",
    "slot": "“{only_new}” stands where “{only_old}” stood ({shared}).",
    "ended": "The new statement says that “{ended}” is over.",
    "dropped": "The new statement names “{dropped}” as what not to take.",
    "change": "The new statement tells of a change ({shared}).",
    "attribute": "Both give the {attribute}, and give it differently.",
    "only": "One holds for all, the other only for some ({shared}).",
    "narrowed": "The new statement says the same preference more narrowly ({shared}).",
}
_AGAINST = {
    "subject": "They are about different things: “{old_head}” and “{new_head}”.",
    "scope": "They hold in different places or for different people: “{only_old}” and “{only_new}”.",
    "question": "The new statement is a question.",
    "hedged": "The new statement only considers or plans it.",
    "conditional": "The new statement holds only under a condition.",
    "limited": "What one denies, it denies only for a time, a place or a condition that the other does not name.",
    "past": "The new statement tells of the past.",
    "additive": "The new statement adds to the old one.",
    "agrees": "They say the same from two sides.",
    "equal": "Both give the same value.",
    "any_number": "Both can be true together ({shared}).",
}


def reason(kind: str, found: DecidingClauses) -> str:
    shown = _shown(found.compared)
    if kind in ("supersedes", "contradicts") or ("narrowed" in found.parts and found.conflict >= 0.5):
        return _told(_FOR, found, shown, 1) or "They cannot both hold ({shared}).".format(**shown)
    if kind == "same":
        return "Both say the same ({shared}).".format(**shown)
    if kind == "refines":
        return "The new statement says more about the same thing ({shared}).".format(**shown)
    return _told(_AGAINST, found, shown, -1) or "Nothing in the new statement takes the place of the old one."


def _told(sentences: dict[str, str], found: DecidingClauses, shown: dict[str, str], sign: int) -> str:
    """The sentence of the feature that pulls hardest; features of one family count together."""
    pulls: dict[str, float] = {}
    for name, part in found.parts.items():
        family = name if name in sentences else name.split("_")[0]
        if family in sentences:
            pulls[family] = pulls.get(family, 0.0) + sign * part
    best = max(pulls, key=lambda family: pulls[family], default="")
    if not best or pulls[best] <= 0:
        return ""
    return sentences[best].format(**shown)


def _shown(c: Compared) -> dict[str, str]:
    old, new = c.old.surface, c.new.surface
    change = c.changes[0] if c.changes else None
    return {
        "old_value": change.old.value.shown if change else "",
        "new_value": change.new.value.shown if change else "",
        "shared": ", ".join(sorted(old[word] for word in c.shared)) or "in other words",
        "opposed": ", ".join(c.opposed),
        "only_old": ", ".join(sorted(old[word] for word in c.apart_old)) or "…",
        "only_new": ", ".join(sorted(new[word] for word in c.apart_new)) or "…",
        "ended": ", ".join(sorted(old[word] for word in c.new.ended & c.old.words.keys())),
        "dropped": ", ".join(sorted(old[word] for word in c.new.negated & c.old.words.keys())),
        "attribute": ", ".join(sorted(c.old.attributes & c.new.attributes)),
        "old_head": " ".join(old.get(word, word) for word in c.old.head) or "…",
        "new_head": " ".join(new.get(word, word) for word in c.new.head) or "…",
    }
