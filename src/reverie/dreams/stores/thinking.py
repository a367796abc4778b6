"""From the pages of a store, what was noticed and what was asked for, to a plan. Nothing is written yet.

First the store's own duplicates are merged. Then what was said takes the place of what it contradicts, wherever that
stands; then new things come; then what became the same is merged. What contradicts itself and nobody spoke of stays as
it is, and is listed: which one holds cannot be told from which was written last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from reverie.deep.decision import STAGED, Decision, Verb
from reverie.deep.judging import UNTOLD, Mind, asks_of, deepen
from reverie.deep.material import Noted
from reverie.deep.pairs import Pair, pairs
from reverie.deep.standing import CHANGES
from reverie.deep.subjects import same_matter
from reverie.dreams.dream import Fate, Judged
from reverie.dreams.judged import judged_of
from reverie.dreams.records import Planned, Thought
from reverie.dreams.stores.pages import Pages, Stated
from reverie.dreams.stores.placing import place_for
from reverie.dreams.stores.wishes import Wishes
from reverie.kernel.origin import Origin
from reverie.light.marks import Mark
from reverie.memory.operation import Add, Operation, Remove, Replace
from reverie.rem.dimensions import Weighing
from reverie.rem.gates import Gates, Limits, Weighed
from reverie.rem.suggesting import weigh
from reverie.review.proposal import Score, Suggestion
from reverie.safety.scan import scan

GATES = Gates()
LIMITS = Limits(max_changes=200, max_adds=50, max_new_chars=20_000, max_amendments=0)
MOST_ROUNDS = 4
_SAME_STATEMENT = 0.6
_SAME_LENGTH = 2  # characters: a full stop more or less
_OWN = (Origin.OWNER, Origin.OPERATOR)
_EXPLICIT = CHANGES | {Mark.DECIDED, Mark.REMEMBER, Mark.STANDING}
_WITHHELD = (Verb.UNSAFE, Verb.SENSITIVE)
_DOCUMENTS = {"person": "/preferences.md", "world": "/notes.md"}


@dataclass(slots=True)
class Plan:
    """What is to be done, in order; `pages` is the store as it will be then."""

    shelf: str
    dream: str
    pages: Pages
    wishes: Wishes
    now: datetime
    planned: list[Planned] = field(default_factory=list)

    def want(self, judged: Judged, operation: Operation, score: Score | None = None) -> bool:
        """Whether it can be done on what stands there by then."""
        if not self.pages.do(operation, self.now):
            return False
        wanted = Suggestion(
            self.shelf, operation.document, (operation,), reason=judged.reason, evidence=judged.evidence,
            score=score, proposer="dream", dream=self.dream,
        )  # fmt: skip
        self.planned.append(Planned(judged, wanted))
        return True

    def tell(self, judged: Judged) -> None:
        self.planned.append(Planned(judged, done=True))


def think(plan: Plan, noted: Sequence[Noted], owner: str) -> Thought:
    _merge(plan)
    themes = _hear(plan, noted, owner)
    _merge(plan)
    _tell_contradictions(plan)
    return Thought(len(noted), 0, themes, tuple(plan.planned))


# ---- the store by itself ---------------------------------------------------------------------------------------------


def _merge(plan: Plan) -> None:
    """Of two that say the same one goes, and so does what another statement itself says is over."""
    gone: set[tuple[str, str]] = set()
    for pair in pairs(plan.pages.statements()):
        old, new = _to_go(pair, plan)
        if pair.tie == "contradicts" or {_key(old), _key(new)} & gone or plan.wishes.keeps(old.path):
            continue
        if not plan.wishes.removes or (pair.tie == "supersedes" and not plan.wishes.replaces):
            continue
        verb = "merge" if pair.tie == "same" else "remove"
        said = f"{new.path} says: “{new.text}”." if pair.tie == "same" else f"{pair.why} ({new.path}: “{new.text}”)"
        judged = _of_the_store(verb, Fate.HELD_BACK, said, new.text, old)
        if plan.want(judged, Remove(old.path, old.sha256)):
            gone.add(_key(old))


def _to_go(pair: Pair[Stated], plan: Plan) -> tuple[Stated, Stated]:
    """What is kept as it is cannot be the one that goes, if the other can. The same words stay where more is said."""
    one, other = pair.first, pair.second
    if pair.tie != "same":
        return one, other
    kept = plan.wishes.keeps(one.path), plan.wishes.keeps(other.path)
    if kept[0] is not kept[1]:
        return (other, one) if kept[0] else (one, other)
    if abs(len(one.text) - len(other.text)) > _SAME_LENGTH:
        return one, other
    first, second = sorted((one, other), key=lambda stated: (-len(plan.pages.on(stated.path)), stated.path))
    return second, first


def _key(one: Stated) -> tuple[str, str]:
    return one.path, one.sha256


def _tell_contradictions(plan: Plan) -> None:
    for pair in pairs(plan.pages.statements()):
        if pair.tie == "contradicts":
            why = f"{pair.second.path} says: “{pair.second.text}”. No session says which one holds, so both stay."
            plan.tell(_of_the_store("undecided", Fate.HELD_BACK, why, pair.second.text, pair.first))


def _of_the_store(verb: str, fate: Fate, why: str, text: str, old: Stated) -> Judged:
    return Judged((), verb, fate, why, why, text, old.path, old.text, 0, Origin.OWNER, ())


# ---- what the sessions say -------------------------------------------------------------------------------------------


def _hear(plan: Plan, noted: Sequence[Noted], owner: str) -> int:
    """How many themes there were. What stands in several places is put right in all of them, round after round."""
    themes = 0
    overtaken: list[str] = []
    for number in range(MOST_ROUNDS):
        known = tuple(one.known() for one in plan.pages.statements())
        found = deepen(noted, Mind(known, _DOCUMENTS, plan.now, (), owner))
        decisions = [_dated(one) for one in found.decisions if not (one.target and one.text == one.target.text)]
        if number:
            decisions = [one for one in decisions if _again(one, overtaken)]
        else:
            themes = len(found.themes)
            _tell_rejected(plan, decisions)
        weighing = Weighing(plan.now, known, most_new_characters=LIMITS.max_new_chars)
        done = [one for one in weigh(decisions, weighing, GATES, LIMITS) if _heard(plan, one, first=not number)]
        overtaken += [one.decision.target.text for one in done if one.decision.target]
        if not any(one.decision.changes_known for one in done):
            break
    return themes


def _again(decision: Decision, overtaken: Iterable[str]) -> bool:
    """It would change a statement that says what another one said that was changed."""
    old, language = decision.target, decision.matter.language
    return bool(old and decision.changes_known) and any(
        same_matter(old.text if old else "", text, language) >= _SAME_STATEMENT for text in overtaken
    )


def _dated(decision: Decision) -> Decision:
    """Whoever asks for a dream says which sessions the store is to learn from. Where it is not known which is older,
    what a session says in so many words decides; what it only mentions does not."""
    standing = decision.standing
    if decision.asks != UNTOLD or standing is None:
        return decision
    explicit = bool(standing.named) or any(note.marks & _EXPLICIT for note in decision.matter.said)
    return replace(decision, asks=asks_of(decision.matter, standing, unknown=False)) if explicit else decision


def _heard(plan: Plan, weighed: Weighed, *, first: bool) -> bool:
    """Whether something is to be done about it."""
    decision, score = weighed.decision, weighed.score
    if why := _not_wanted(plan, decision) or _held_back(weighed):
        fate = Fate.HELD_BACK
    elif why := _withheld(decision):
        fate = Fate.WITHHELD
    else:
        placed = _placed(plan, decision)
        judged = judged_of(placed, Fate.HELD_BACK, "Not landed yet.", score)
        return plan.want(judged, _operation(placed), score)
    if first:
        plan.tell(judged_of(decision, fate, why, score))
    return False


def _not_wanted(plan: Plan, decision: Decision) -> str:
    wishes, verb = plan.wishes, decision.verb
    if decision.target and wishes.keeps(decision.target.surface):
        return f"Left as it is: the instructions ask to keep {decision.target.surface}."
    if (verb is Verb.PROMOTE and not wishes.adds) or (verb is Verb.SUPERSEDE and not wishes.replaces):
        return "Left out: the instructions do not want it."
    if verb is Verb.REMOVE and not (wishes.removes and wishes.replaces):
        return "Left out: the instructions do not want anything removed."
    why = wishes.leaves_out(f"{decision.text} {decision.matter.last.text}")
    return f"Left out: {why}." if why else ""


def _held_back(weighed: Weighed) -> str:
    decision = weighed.decision
    if decision.verb is Verb.BETTER_AS_SKILL:
        return "It belongs in a skill, and a memory store holds none."
    if weighed.held_back:
        return f"Held back: {weighed.held_back}."
    composed = decision.standing is not None and not decision.standing.nothing_new
    if decision.verb is Verb.REMOVE and composed and not decision.matter.taken_back:
        return "Held back: how it should read now could not be worded."
    return ""


def _withheld(decision: Decision) -> str:
    """Why a person would have to be asked. Nobody is here to be asked."""
    if decision.origin not in _OWN:
        return f"Withheld: it rests on words of the {decision.origin}, not of whose memory this is."
    if decision.asks:
        return f"Withheld: {decision.asks}."
    report = scan(decision.text, "memory") if decision.text else None
    if report and report.blocked:
        return "Withheld: the safety scan would keep it out."
    if report and report.needs_person:
        return "Withheld: it bears authority, and nobody was asked."
    return ""


def _placed(plan: Plan, decision: Decision) -> Decision:
    if decision.verb is not Verb.PROMOTE:
        return decision
    return replace(decision, document=place_for(decision.text, decision.matter.about, plan.pages, plan.wishes))


def _operation(decision: Decision) -> Operation:
    old = decision.target.sha256 if decision.target else ""
    match decision.verb:
        case Verb.REMOVE:
            return Remove(decision.document, old)
        case Verb.SUPERSEDE | Verb.MERGE:
            return Replace(decision.document, old, decision.text)
        case _:
            return Add(decision.document, decision.text)


def _tell_rejected(plan: Plan, decisions: Iterable[Decision]) -> None:
    for one in _rejected(decisions):
        plan.tell(one)


def _rejected(decisions: Iterable[Decision]) -> Iterator[Judged]:
    for one in decisions:
        if one.rejected:
            fate = Fate.HELD_BACK if one.verb in STAGED else Fate.NOT_KEPT
            yield judged_of(one, Fate.WITHHELD if one.verb in _WITHHELD else fate, one.reason)
