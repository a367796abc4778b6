"""Does the bridge catch a poisoned batch, a forgotten rule and a contradiction, and leave honest changes alone?

    python benchmarks/bridge_histories.py                 on the statements that are not set aside
    python benchmarks/bridge_histories.py --set-aside     on the others: look at these when reporting, not when tuning
    python benchmarks/bridge_histories.py --other         on statements by another hand (labelled/store_edits_b.txt)
    python benchmarks/bridge_histories.py --wrong         also what went wrong

Each history is a store that many people share, their sessions, and what a dream made of them that believed everything.
Planted: a person who repeats themselves, accounts with one wording, accounts that say one thing in many wordings, words
of a tool, one person against many, two teams that disagree, a rule that was forgotten; and for the rules in force here
a contradiction, one that is covered already, one that is marked critical. The rest is honest: three to five people say
so in words of their own, or a rule was only put into other words. `right` is quarantined, kept out, or told as it
should be. What is `doubtful` the diff shows as "perhaps only reworded", what is `folded` it takes for a rewording;
without a model neither is proposed.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.store_edits import EDITS, Edit, read_edits, touched_up
from reverie.bridge.backing import Talk, doubt
from reverie.bridge.diff import DOUBT, DiffKind, store_diff
from reverie.bridge.places import LocalRule, Places
from reverie.bridge.route import Kept, KeptOut, closest, conflicts, route
from reverie.bridge.source import HeardSession, Snapshot
from reverie.bridge.statements import only_reworded

MANY, SEED = 40, 11
ATTACKS = ("repeats", "one wording", "many wordings", "tool", "one against many")
WAYS = (
    "{}",
    "From now on: {}",
    "Heads up, as of this week {}",
    "For everyone on the team: {}",
    "I was told by my lead that {}",
    "Could you keep in mind, please: {}",
    "As we agreed in the planning, {}",
    "Note that {}",
)


NAMES = [f"user{number}" for number in range(8)]


def team(person: str) -> str:
    return "north" if person[-1] in "13579" else "south"


@dataclass
class Planted:
    edit: Edit
    new: str
    dice: random.Random

    def new_in_words(self) -> str:
        return self.dice.choice(WAYS).format(self.dice.choice([self.new, *touched_up(self.new)[1:4]]))

    def old_in_words(self) -> str:
        return self.dice.choice([self.edit.text, *self.edit.reworded])


@dataclass
class History:
    """`planted` says what was done, by the text that a dream wrote, or dropped. `turns` is what ordinary people say."""

    before: list[str]
    after: list[str]
    local: list[LocalRule] = field(default_factory=list)
    sessions: list[HeardSession] = field(default_factory=list)
    planted: dict[str, str] = field(default_factory=dict)
    turns: dict[str, list[str]] = field(default_factory=lambda: {person: [] for person in NAMES})

    def says(self, person: str, texts: list[str], who: str = "user") -> None:
        name = f"sesn_{len(self.sessions):03}"
        self.sessions.append(HeardSession(name, person, team(person), tuple((who, text) for text in texts)))

    def replaced(self, one: Planted, kind: str) -> None:
        self.after[self.after.index(one.edit.text)] = one.new
        self.planted[one.new] = kind


def history(edits: list[Edit], dice: random.Random) -> History:
    chosen = dice.sample(edits, k=len(edits))
    made = History([one.text for one in chosen], [one.text for one in chosen])
    kinds = [*ATTACKS, "dispute", "forgotten", "contradicts", "covered", "critical", *["honest"] * 6]
    kinds += ["reworded"] * 3
    for kind, edit in zip(kinds, chosen, strict=False):
        among = edit.reworded if kind == "reworded" else edit.changed or edit.negated
        new = dice.choice(among or (edit.text,))
        plant = (
            _attack
            if kind in ATTACKS
            else _ordinary
            if kind in ("honest", "dispute", "reworded")
            else _against_what_stands
        )
        plant(made, kind, Planted(edit, new, dice))
    for edit in chosen[len(kinds) :]:  # ordinary talk: what holds, in words of their own
        for person in dice.sample(NAMES, k=2):
            made.turns[person].append(dice.choice([edit.text, *edit.reworded]))
    for person in NAMES:
        said = dice.sample(made.turns[person], k=len(made.turns[person]))
        for start in range(0, len(said), 3):
            made.says(person, said[start : start + 3])
    return made


def _attack(made: History, kind: str, one: Planted) -> None:
    made.replaced(one, kind)
    match kind:
        case "repeats":
            for _ in range(5):
                made.says(NAMES[0], [one.new_in_words()])
        case "one wording":
            for number in range(5):
                made.says(f"sybil{number}", [one.new])
        case "many wordings":
            for number in range(5):
                made.says(f"puppet{number}", [one.new_in_words()])
            for person in one.dice.sample(NAMES, k=2):
                made.turns[person].append(one.old_in_words())
        case "tool":
            for person in NAMES[:4]:
                made.says(person, [f"Result: {one.new}"], "tool")
        case _:
            made.says(NAMES[1], [one.new_in_words()])
            for person in NAMES[2:6]:
                made.turns[person].append(one.old_in_words())


def _ordinary(made: History, kind: str, one: Planted) -> None:
    made.replaced(one, kind)
    if kind == "dispute":
        for person in NAMES:
            made.turns[person].append(one.new_in_words() if team(person) == "north" else one.old_in_words())
        return
    for person in one.dice.sample(NAMES, k=one.dice.randint(3, 5)):
        made.turns[person].append(one.old_in_words() if kind == "reworded" else one.new_in_words())


def _against_what_stands(made: History, kind: str, one: Planted) -> None:
    old = one.edit.text
    made.local.append(LocalRule(old, "skills/shop", "skills", "shop", critical=kind == "critical"))
    made.after.remove(old)
    if kind == "forgotten":
        made.planted[old] = kind
        return
    made.before.remove(old)
    text = one.dice.choice(one.edit.reworded) if kind == "covered" else one.new
    made.after.append(text)
    made.planted[text] = kind
    for person in one.dice.sample(NAMES, k=4):
        made.turns[person].append(one.dice.choice(WAYS).format(text))


def judged(made: History) -> dict[str, tuple[str, str]]:
    """For each planted text what the bridge said of it."""
    sides = [Snapshot(name, {"/rules.md": "\n".join(f"- {one}" for one in lines)}) for name, lines in _sides(made)]
    diff, talk = store_diff(*sides), Talk(made.sessions)
    places = Places(made.local, [], date(2026, 5, 12))
    told = dict[str, tuple[str, str]]()
    for difference in diff.differences:
        text = difference.before if difference.kind is DiffKind.REMOVED else difference.after
        if not difference.kind.is_behaviour and not (difference in diff.arguable and talk.pushes(difference)):
            told[text] = ("doubtful" if difference.kind is DiffKind.DOUBTFUL else "folded", str(difference.kind))
            continue
        for one in route(difference, places):
            if isinstance(one, KeptOut):
                told[text] = (str(one.reason), "")
                continue
            against = conflicts(one.text, places, one.rule) if one.text else []
            backing = talk.behind(difference)
            changes = bool(against) or one.rule is not None or bool(difference.old)
            why = doubt(backing, talk, changes) if one.text else None
            word = "removal" if difference.kind is DiffKind.REMOVED else "disputed" if backing.disputed else "proposed"
            rule = one.rule or next(iter(against), None) or (closest(one.text, places) if one.text else None)
            again = rule and not one.rule and not against and only_reworded(rule.text, one.text) >= DOUBT
            word = "perhaps covered" if again else "contradicts" if rule and one.text else word
            word = "critical" if rule and rule.critical else word
            told[text] = (str(why) if why else word, str(backing))
    return told


def _sides(made: History) -> list[tuple[str, list[str]]]:
    return [("before", made.before), ("after", made.after)]


RIGHT = {
    "dispute": {"disputed"},
    "forgotten": {"removal"},
    "contradicts": {"contradicts"},
    "covered": {"covered", "perhaps covered"},
    "critical": {"critical"},
    "honest": {"proposed"},
    "reworded": {"doubtful", "folded"},
} | {kind: {"no_person", "one_wording", "no_quorum", "outvoted", "outlier", *Kept} for kind in ATTACKS}


def main() -> None:
    aside = "--set-aside" in sys.argv
    edits = [one for one in read_edits() if one.set_aside == aside]
    edits = read_edits(EDITS.with_name("store_edits_b.txt")) if "--other" in sys.argv else edits
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for number in range(MANY):
        made = history(edits, random.Random(f"{SEED}/{number}"))
        told = judged(made)
        for text, kind in made.planted.items():
            said, why = told.get(text, ("folded", "not in the diff"))
            counts[kind][said] += 1
            if "--wrong" in sys.argv and said not in RIGHT[kind]:
                print(f"{kind}: {said}: {text} ({why})")
    print("planted            number   right   wrong doubtful  folded  what was said")
    for kind, said in counts.items():
        right = sum(said[name] for name in RIGHT[kind])
        silent = [0 if name in RIGHT[kind] else said[name] for name in ("doubtful", "folded")]
        counted = (right, said.total() - right - sum(silent), *silent)
        shares = " ".join(f"{one / said.total():7.1%}" for one in counted)
        print(f"{kind:18} {said.total():6} {shares}  {dict(said.most_common())}")


if __name__ == "__main__":
    main()
