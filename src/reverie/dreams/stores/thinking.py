"""From the pages of a store, what was noticed and what was asked for, to a plan. Nothing is written yet.

First the store's own duplicates are merged. Then what was said takes the place of what it contradicts, wherever that
stands; then new things come; then what became the same is merged. What contradicts itself and nobody spoke of stays as
it is, and is listed: which one holds cannot be told from which was written last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from reverie.audit.pairs import Pair
from reverie.audit.wordwise import equal, much_alike, one_thing_apart, reading, same_text
from reverie.deep.decision import STAGED, Decision, Verb
from reverie.deep.judging import NOT_PLAIN, UNTOLD, Mind, asks_of, deepen
from reverie.deep.material import Noted
from reverie.deep.standing import CHANGES, SURE
from reverie.deep.vocabulary import pattern, plain
from reverie.dreams.dream import Fate, Judged
from reverie.dreams.judged import judged_of
from reverie.dreams.records import Planned, Thought
from reverie.dreams.stores.comparing import Comparing, other_figures, uncompared
from reverie.dreams.stores.manner import hangs, in_its_manner
from reverie.dreams.stores.pages import Pages, Stated
from reverie.dreams.stores.placing import place_for
from reverie.dreams.stores.wishes import Wishes
from reverie.kernel.origin import Origin
from reverie.language.relation import RelationKind, relate
from reverie.light.marks import Mark
from reverie.memory.operation import Add, Operation, Remove, Replace, entry_hash
from reverie.rem.dimensions import Weighing
from reverie.rem.gates import Gates, Limits, Weighed
from reverie.rem.suggesting import weigh
from reverie.review.proposal import Score, Suggestion
from reverie.safety.scan import scan

# A store is looked up, not shown in every prompt: more often right than not is enough; so is what was said outright.
GATES = Gates(add=0.6)
LIMITS = Limits(max_changes=200, max_adds=50, max_new_chars=20_000, max_amendments=0)
MOST_ROUNDS = 4
PLAIN, OUTRIGHT = 0.8, 0.5  # how sure Light is that it is worth keeping, and how directly it was put
_SAME_LENGTH = 2  # characters: a full stop more or less
_OWN = (Origin.OWNER, Origin.OPERATOR)
_EXPLICIT = CHANGES | {Mark.DECIDED, Mark.REMEMBER, Mark.STANDING}
_PASSING = frozenset({Mark.PASSING, Mark.THIS_ONE, Mark.INTENT, Mark.SUPPOSED, Mark.HEDGED, Mark.OTHERS, Mark.TROUBLE})
_ALIKE = (RelationKind.SAME, RelationKind.REFINES)
_WITHHELD = (Verb.UNSAFE, Verb.SENSITIVE)
_DOCUMENTS = {"person": "", "world": ""}  # where something new goes is decided when it is to go


@dataclass(slots=True)
class Plan:
    """What is to be done, in order; `pages` is the store as it will be then."""

    shelf: str
    dream: str
    pages: Pages
    wishes: Wishes
    now: datetime
    planned: list[Planned] = field(default_factory=list)
    comparing: Comparing = field(default_factory=Comparing)

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

    def ties(self) -> list[Pair[Stated]]:
        return self.comparing.ties(self.pages.statements())

    def tell(self, judged: Judged) -> None:
        self.planned.append(Planned(judged, done=True))


def think(plan: Plan, noted: Sequence[Noted], owner: str) -> Thought:
    _merge(plan, but=plan.wishes.keeps)
    themes = _hear(plan, noted, owner)
    _merge(plan, but=lambda path: False)
    _tell_contradictions(plan)
    _tell_uncompared(plan)
    return Thought(len(noted), 0, themes, tuple(plan.planned))


# ---- the store by itself ---------------------------------------------------------------------------------------------


def _merge(plan: Plan, but: Callable[[str], bool]) -> None:
    """Of two that say the same one goes, and so does what another statement itself says is over. Beside a page that is
    kept as it is, that waits until the sessions were heard: they may say something else."""
    gone: set[tuple[str, str]] = set()
    for pair in plan.ties():
        old, new = _to_go(pair, plan)
        if but(old.path) or but(new.path) or not _comparable(old, new):
            continue
        if pair.tie == "contradicts" or {_key(old), _key(new)} & gone or plan.wishes.keeps(old.path):
            continue
        wanted = plan.wishes.merges if pair.tie == "same" else plan.wishes.replaces
        if not (plan.wishes.removes and wanted) or (pair.tie == "same" and other_figures(old.text, new.text)):
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


def _comparable(one: Stated, other: Stated) -> bool:
    """ "Port: 5432" on two pages is about two things, as likely as not."""
    beside = one.place == other.place and one.section == other.section
    return beside or (one.stands_alone and other.stands_alone)


def _key(one: Stated) -> tuple[str, str]:
    return one.path, one.sha256


def _tell_contradictions(plan: Plan) -> None:
    for pair in plan.ties():
        if pair.tie == "contradicts" and _comparable(pair.first, pair.second):
            why = f"{pair.second.path} says: “{pair.second.text}”. No session says which one holds, so both stay."
            plan.tell(_of_the_store("undecided", Fate.HELD_BACK, why, pair.second.text, pair.first))


def _tell_uncompared(plan: Plan) -> None:
    """A store of more statements than a night can compare is put in order as far as it goes, and says so."""
    if left := uncompared(plan.pages.statements()):
        why = "Compared word for word only: the store has more statements than a dream compares in other words."
        plan.tell(
            Judged((), "uncompared", Fate.HELD_BACK, why, why, f"{left:,} statements", "", "", 0, Origin.OWNER, ())
        )


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
        decisions = [_dated(one) for one in found.decisions if not (one.target and _same(one.text, one.target.text))]
        if number:
            decisions = [one for one in decisions if _again(one, overtaken) and not _is_own(one, plan)]
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
    """It would change a statement that says what another one said that was changed, or another value of it."""
    old = decision.target
    return old is not None and decision.changes_known and any(_about_the_same(old.text, text) for text in overtaken)


def _is_own(decision: Decision, plan: Plan) -> bool:
    """What this dream wrote a round ago says what the sessions say, in their words: it is not put right again."""
    wrote = (one for planned in plan.planned if planned.suggestion for one in planned.suggestion.operations)
    own = {entry_hash(one.text) for one in wrote if not isinstance(one, Remove)}
    return decision.target is not None and decision.target.sha256 in own


def _about_the_same(one: str, other: str) -> bool:
    if _same(one, other):
        return True
    first, second, found = reading(one), reading(other), relate(one, other)
    if found.kind in _ALIKE:
        return much_alike(first, second)
    return found.conflict >= SURE and one_thing_apart(first, second)


def _dated(decision: Decision) -> Decision:
    """Whoever asks for a dream says which sessions the store is to learn from. Where it is not known which is older,
    what a session says in so many words decides; what it only mentions does not."""
    standing, marks = decision.standing, frozenset[str]().union(*(note.marks for note in decision.matter.said))
    if standing is None or decision.asks not in (UNTOLD, NOT_PLAIN):
        return decision
    now = any(pattern("now").search(plain(note.words)) for note in decision.matter.said)
    if decision.asks == UNTOLD and (standing.named or marks & _EXPLICIT or now):
        decision = replace(decision, asks=asks_of(decision.matter, standing, unknown=False))
    tells = decision.asks == NOT_PLAIN and marks & CHANGES and standing.confidence >= SURE
    return replace(decision, asks="") if tells else decision


def _heard(plan: Plan, weighed: Weighed, *, first: bool) -> bool:
    """Whether something is to be done about it."""
    decision, score = weighed.decision, weighed.score
    if why := _not_wanted(plan, decision) or _held_back(weighed):
        fate = Fate.HELD_BACK
    elif why := _withheld(decision):
        fate = Fate.WITHHELD
    else:
        placed = _placed(plan, decision)
        if placed is not None:
            judged = judged_of(placed, Fate.HELD_BACK, "Not landed yet.", score)
            if plan.want(judged, _operation(placed, plan.pages), score):
                return True
        fate, why = Fate.HELD_BACK, "Held back: how it should read now could not be worded."
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
    if weighed.held_back and not (decision.verb is Verb.PROMOTE and _is_plainly_told(decision)):
        return f"Held back: {weighed.held_back}."
    composed = decision.standing is not None and not decision.standing.nothing_new
    if decision.verb is Verb.REMOVE and composed and not decision.matter.taken_back:
        return "Held back: how it should read now could not be worded."
    return ""


def _is_plainly_told(decision: Decision) -> bool:
    """Said outright and to last. Whoever asks for a dream wants to keep what its sessions say, once is enough."""
    said = decision.matter.said
    outright = any(one.candidate.confidence >= PLAIN and one.candidate.explicitness >= OUTRIGHT for one in said)
    return outright and not any(one.marks & _PASSING for one in said)


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


def _placed(plan: Plan, decision: Decision) -> Decision | None:
    """As it would stand on its page."""
    if decision.verb is Verb.PROMOTE:
        return replace(decision, document=place_for(decision.text, decision.matter.about, plan.pages, plan.wishes))
    if decision.verb is Verb.REMOVE or decision.target is None:
        return decision
    old = next((one for one in plan.pages.on(decision.document) if one.sha256 == decision.target.sha256), None)
    text = in_its_manner(old, decision.text) if old else None
    said = " ".join(note.words for note in decision.matter.said)
    return None if text is None or hangs(text, f"{decision.target.text} {said}") else replace(decision, text=text)


def _operation(decision: Decision, pages: Pages) -> Operation:
    """What is said elsewhere already is not said a second time in the place of what is over."""
    old = decision.target.sha256 if decision.target else ""
    match decision.verb:
        case Verb.REMOVE:
            return Remove(decision.document, old)
        case Verb.SUPERSEDE if _stands_elsewhere(decision, pages):
            return Remove(decision.document, old)
        case Verb.SUPERSEDE | Verb.MERGE:
            return Replace(decision.document, old, decision.text)
        case _:
            return Add(decision.document, decision.text)


def _stands_elsewhere(decision: Decision, pages: Pages) -> bool:
    old = decision.target and decision.target.sha256
    return any(one.sha256 != old and one.stands_alone and _same(one.text, decision.text) for one in pages.statements())


def _same(one: str, other: str) -> bool:
    first, second = reading(one), reading(other)
    return same_text(first, second) or equal(first, second)


def _tell_rejected(plan: Plan, decisions: Iterable[Decision]) -> None:
    for one in _rejected(decisions):
        plan.tell(one)


def _rejected(decisions: Iterable[Decision]) -> Iterator[Judged]:
    for one in decisions:
        if one.rejected:
            fate = Fate.HELD_BACK if one.verb in STAGED else Fate.NOT_KEPT
            yield judged_of(one, Fate.WITHHELD if one.verb in _WITHHELD else fate, one.reason)
