"""`home.bridge.propose`: every difference in behaviour, routed, drafted, held against what stands here, and queued.

Nothing lands: each becomes a proposal that waits for a person, or is kept out with a reason. What a person approves is
undone one by one, or all that came from one dream at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reverie.bridge import draft
from reverie.bridge.backing import Doubt, Talk, doubt
from reverie.bridge.diff import DOUBT, Difference, DiffKind, StoreDiff
from reverie.bridge.places import MEMORY, NOTHING, SKILL, LearnedRoute, Places
from reverie.bridge.places import USER as USER_PLACE
from reverie.bridge.route import USER, Kept, KeptOut, Route, as_learned, closest, conflicts, route, spoken_beside
from reverie.bridge.statements import StoreStatement, only_reworded
from reverie.changes.land import Outcome, Repeated, undone_by
from reverie.changes.ledger import Change, ChangeQuery
from reverie.changes.proposal import Proposal, ProposalStatus
from reverie.changes.queue import Proposed, Review, Waiting
from reverie.core.errors import BadInput, BadSetting, NotFound
from reverie.core.ids import canonical, sha256
from reverie.dreams.curators import Curator

MOST_AT_ONCE = 40  # proposals of one batch that wait at a time: as many as a person is shown in a day
MOST_TOLD = 3  # rules that a proposal is said to contradict


@dataclass(frozen=True, slots=True)
class Batch:
    """The proposals made of one diff. `id` is the dream, where the diff is one's, or the last of a night; `note` says
    what should have been asked and was not: a model, or the people. `compared` is what to give to `propose` again."""

    id: str
    results: tuple[draft.Result, ...]
    note: str = ""
    compared: str = ""

    @property
    def undone_by(self) -> list[str]:
        """The batches that what waits was first proposed with."""
        waiting = (waits(one.proposed) for one in self.results if isinstance(one, draft.Drafted))
        return list(dict.fromkeys(one.suggestion.dream or self.id for one in waiting if one is not None))


@dataclass(frozen=True, slots=True)
class _Errand:
    diff: StoreDiff
    places: Places
    target: str
    batch: str
    talk: Talk
    quarantined: bool


@dataclass(frozen=True, slots=True)
class Amending:
    """`places` tells what stands here, for a memory that facts go to when no skill is about them. `curator` is who
    is asked about what is doubtful and how it should read; None: nobody."""

    review: Review
    places: Callable[[str], Places]
    curator: Callable[[], Curator | None] = lambda: None

    def propose(
        self,
        diff: StoreDiff,
        target: str,
        batch: str = "",
        *,
        most: int = MOST_AT_ONCE,
        talk: Talk = Talk(()),
        quarantined: bool = False,
    ) -> Batch:
        """Propose first what changes a rule that stands here, then what a skill is about, then the rest. What is beyond
        `most` is not proposed: the same call does that once some of it is decided. `talk` is what was said in the
        sessions behind it: by that some of it is quarantined, unless `quarantined` lets it through."""
        places = self.places(target).beside(diff.new)
        places = replace(places, people=talk.people | {self.review.owner})
        sides = [[side.name, sorted(side.texts.items())] for side in (diff.old, diff.new)]
        batch = batch or f"bridge:{sha256(canonical(sides))[:12]}"
        errand = _Errand(diff, places, target, batch, talk, quarantined)
        made = self._asked(self.curator(), diff, places)
        settled = bool(made.curator) and not made.failed
        pushed = [] if settled else [one for one in diff.arguable if talk.pushes(one)]
        asked = [*diff.behaviour, *(one for one in diff.arguable if made.changes(one)), *pushed]
        critical = [one for one in diff.differences if one not in asked and places.rewords_critical(one)]
        # one that is dropped because another line says as much is gone
        dropped = [replace(one, kind=DiffKind.REMOVED, new=()) for one in critical if one.kind is DiffKind.REPEATED]
        asked += [one for one in critical if one.kind is not DiffKind.REPEATED] + dropped
        routed = [
            made.applied(spoken_beside(one, talk.beside(one.difference), places), places)
            if isinstance(one, Route)
            else one
            for each in asked
            for one in route(each, places)
        ]
        kept, doubted = self._sifted(routed, errand)
        together = draft.with_new_skills(kept, [one.skill.subject for one in places.skills])
        results, waiting = list[draft.Result](doubted), 0
        for one in sorted(together, key=lambda one: one.rank):
            if waiting >= most and not isinstance(one, KeptOut):
                results += map(draft.Postponed, one.routes if isinstance(one, draft.NewSkill) else [one])
                continue
            results.append(self._proposed(one, errand))
            waiting += isinstance(results[-1], draft.Drafted) and waits(results[-1].proposed) is not None
        return Batch(errand.batch, tuple(results), made.failed)

    def settled(self, diff: StoreDiff) -> StoreDiff:
        curator = self.curator()
        if curator is None:
            raise BadSetting("No model is set.", expected="the setting model", next_step="See docs/models.md.")
        return self._asked(curator, diff, Places((), (), self.review.clock.now().date())).settled(diff)

    def _asked(self, curator: Curator | None, diff: StoreDiff, places: Places) -> draft.Curation:
        return draft.curated(
            curator, [*diff.behaviour, *diff.arguable], places, self.review.clock.now(), self.review.owner
        )

    def _sifted(
        self, routed: Sequence[Route | KeptOut], errand: _Errand
    ) -> tuple[list[Route | KeptOut], list[draft.DoubtedDraft]]:
        """The routes that may be proposed, and those quarantined because of who is behind them."""
        kept, doubted = list[Route | KeptOut](), list[draft.DoubtedDraft]()
        for one in routed:
            why = None if isinstance(one, KeptOut) or errand.quarantined else _doubt(one, errand)
            if isinstance(one, Route) and one.document == USER and not one.learned and errand.talk.shared:
                kept.append(KeptOut(one.difference, Kept.ONE_PERSON))
            elif isinstance(one, Route) and why is not None:
                doubted.append(draft.DoubtedDraft(one, why, errand.talk.behind(one.difference)))
            else:
                kept.append(one)
        return kept, doubted

    def _proposed(self, one: draft.Routed, errand: _Errand) -> draft.Result:
        if isinstance(one, KeptOut):
            return one
        routes = one.routes if isinstance(one, draft.NewSkill) else (one,)
        told = "".join(_stands(each, errand.places) + _backed(each, errand) for each in routes)
        for each in routes if isinstance(one, draft.NewSkill) or one.skill is not None else ():
            if each.text and (who := errand.places.perhaps_about(each.text)):
                told += f" “{each.text}” names {who}: what is about one person belongs in no skill that others follow."
        if isinstance(one, draft.NewSkill):
            wanted = draft.skill_suggestion(one, errand.diff.new, errand.places.folder, errand.batch)
        else:
            backing = errand.talk.behind(one.difference)
            if backing.disputed and backing.groups:  # each side keeps its own: nothing that stands is replaced
                one = replace(one, text=f"In {backing.groups[0]}: {one.text}", rule=None)
            wanted = draft.suggestion(one, errand.diff.old, errand.diff.new, errand.target, errand.batch)
        if isinstance(wanted, draft.NoPlace):
            return wanted
        made = self.review.propose(replace(wanted, reason=wanted.reason + told), land=False, asks=draft.ASKS)
        return draft.Drafted(routes[0], made, routes) if isinstance(one, draft.NewSkill) else draft.Drafted(one, made)

    def reroute(self, name: str, wanted: LearnedRoute, target: str) -> Proposed | None:
        """Put what a proposal would change to another place, and close it; None where nothing is wanted of it."""
        waits = self.review.get(name)
        if waits.suggestion.proposer != draft.PROPOSER or waits.status is not ProposalStatus.WAITING:
            raise BadInput(f"{name} is no waiting proposal of the bridge.", next_step="`reverie review` lists them.")
        places = self.places(target)
        known = [MEMORY, USER_PLACE, NOTHING, *(f"{SKILL}{one.skill.subject}" for one in places.skills)]
        if wanted.to not in known:
            raise BadInput(f"There is no place {wanted.to!r}.", expected=f"one of {', '.join(known)}")
        said = StoreStatement(wanted.text, wanted.text, "")
        found = as_learned(Difference(DiffKind.ADDED, (), (said,), 0.0), said, wanted, places)
        made = None
        if isinstance(found, Route):
            given = replace(waits.suggestion, target=target, subject=found.document, operations=(), amendment=None)
            reason = f"{given.reason} Re-routed: {wanted}."
            made = self.review.propose(draft.placed(replace(given, reason=reason), found), land=False, asks=draft.ASKS)
        self.review.reject(waits, f"re-routed to {wanted.to}")
        return made

    def landed(self, batch: str) -> list[Change]:
        scope, records = self.review.scope, self.review.records
        found = [one for one in records.find(scope, ChangeQuery(ours=True)) if one.grounds.dream == batch]
        return [one for one in found if one.grounds.actor == draft.PROPOSER and not undone_by(records, scope, one.id)]

    def undo(self, batch: str, because: str = "") -> list[tuple[Change, Outcome]]:
        """Take back all of it, newest first; what cannot be taken back is told, and the rest is."""
        changes = self.landed(batch)
        if not changes:
            raise NotFound(f"Nothing of {batch} stands here.", next_step="`reverie history` lists what landed.")
        return [(one, self.review.undo(one.id, because or f"takes back all of {batch}")) for one in changes]


def _doubt(one: Route, errand: _Errand) -> Doubt | None:
    if not one.text:
        return None
    against = one.rule is not None or bool(one.difference.old) or bool(conflicts(one.text, errand.places))
    return doubt(errand.talk.behind(one.difference), errand.talk, against)


def _stands(one: Route, places: Places) -> str:
    """Its relation to the rules in force."""
    against = conflicts(one.text, places, one.rule) if one.text else []
    told = "".join(f" Contradicts {rule}." for rule in against[:MOST_TOLD])
    near = closest(one.text, places, one.rule) if one.text and one.rule is None and not against else None
    rule = one.rule or next(iter(against), None)
    if near is not None:
        again = "Perhaps it says the same as" if only_reworded(near.text, one.text) >= DOUBT else "Perhaps it changes"
        told += f" {'Perhaps it weakens a rule marked critical:' if near.critical else again} {near}."
    if rule is not None and rule.critical:
        weakens = "Perhaps it weakens" if one.difference.reworded >= DOUBT else "Weakens"
        told += f" {weakens if one.text else 'Drops'} a rule marked critical: {rule}."
    return told


def _backed(one: Route, errand: _Errand) -> str:
    """The people behind it, as far as the sessions can be read."""
    talk = errand.talk
    if not talk.said:
        return ""
    if not one.text:
        spoken = any(talk.speaks_of(gone.text) for gone in one.difference.old)
        return "" if spoken else " No session speaks of it: it may only have been forgotten."
    backing, why = talk.behind(one.difference), _doubt(one, errand)
    told = " People disagree, and neither side is taken for the other." if backing.disputed else ""
    return f"{told} {backing}" + (f" It was quarantined: {why.sentence}." if why else "")


def waits(proposed: Proposed) -> Proposal | None:
    """A result that waits for a person, since now or since an earlier time."""
    found = proposed.proposal if isinstance(proposed, Waiting | Repeated) else None
    return found if found is not None and found.status is ProposalStatus.WAITING else None
