"""`home.inbox`: what waits for a person, told so that it can be decided by reading; and what became of a decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from reverie.changes.drafts import Drawn
from reverie.changes.headline import (
    LONGEST,
    WHOLE,
    Detail,
    Group,
    InboxChoices,
    InboxFilter,
    InboxItem,
    InboxList,
    Passage,
    Preview,
    VerdictResult,
    Voice,
    change_headline,
    headline,
    hunks,
)
from reverie.changes.land import Landed, Outcome, Unsafe, in_words, undone_by
from reverie.changes.ledger import Change
from reverie.changes.proposal import OpenProposals, Proposal, ProposalStatus, elsewhere, moved
from reverie.changes.queue import Review, Waiting, proposal_outcome
from reverie.core.errors import BadInput, ReverieError
from reverie.core.ids import canonical, sha256
from reverie.core.scope import Origin
from reverie.memory.library import Memory
from reverie.memory.operation import Remove
from reverie.skills.library import Skills
from reverie.skills.skill import Create, NewText, Patch
from reverie.transcripts.library import Library
from reverie.transcripts.session import Evidence

AROUND = 2  # turns before and after a quotation
LATELY = 8  # decisions that are shown, each with its undo
MOST_DECIDED = 100  # decisions among which those of a theme are looked for
A_PAGE = 20  # proposals that are shown at once
MOST_NIGHTS = 50  # that are offered to be chosen from


@dataclass(frozen=True, slots=True)
class Inbox:
    """`checks` are what verification asks of a proposal of a night, and what it found. `on_move` is told of each that
    was moved."""

    review: Review
    memory: Memory
    skills: Skills
    sessions: Library
    checks: Callable[[Proposal], tuple[tuple[str, str], ...]]
    on_move: Callable[[Proposal], None] = lambda _: None

    # ---- looking -----------------------------------------------------------------------------------------------------

    def waiting(self, wanted: InboxFilter = InboxFilter()) -> InboxList:
        """A page of what a person is asked today."""
        every, snoozed = wanted.every, wanted.snoozed
        asked = replace(self.review.open, snoozed=snoozed, dream=wanted.night, project=wanted.project)
        if wanted.where:
            named = self._places(replace(self.review.open, snoozed=snoozed)).items()
            asked = replace(asked, places=tuple(place for place, name in named if name == wanted.where))
        marks, off = (self.review.marks(replace(asked, snoozed=put_off)) for put_off in (False, True))
        total = len(off) if snoozed else len(marks)
        count = total if every or snoozed else min(total, self.review.room())
        pages = max(1, -(-count // A_PAGE))
        page = min(max(1, wanted.page), pages)
        first = (page - 1) * A_PAGE
        shown = self.review.page(min(A_PAGE, count - first), first, asked)
        found: dict[tuple[str, str, str, str], list[InboxItem]] = {}
        for item in self.items(shown):
            key = (item.proposal.suggestion.dream or "", item.where, item.project, item.page)
            found.setdefault(key, []).append(item)
        groups = [
            Group(dream or None, max(one.proposal.made_at for one in each), where, project, tuple(each))
            for (dream, where, project, _), each in found.items()
        ]
        groups.sort(key=lambda one: one.made_at, reverse=True)
        mark = self.mark(None if wanted.narrows else marks)
        return InboxList(tuple(groups), count, total - count, mark, page, pages, len(off))

    def _places(self, asked: OpenProposals) -> dict[tuple[str, str], str]:
        """Target and subject of what waits, with what people call it."""
        found = self.review.proposals.places(self.review.scope, asked)
        names = {one.suggestion.target: one.target_name for one in found.values()}
        called = {key: self._called(key, name) for key, name in names.items()}
        return {(key, subject): called[key].get(subject) or f"{names[key]}/{subject}" for key, subject in found}

    def choices(self, *, snoozed: bool = False) -> InboxChoices:
        """The values the list can be narrowed to."""
        proposals, scope, asked = self.review.proposals, self.review.scope, replace(self.review.open, snoozed=snoozed)
        nights = proposals.dreams(scope, asked)[:MOST_NIGHTS]
        places = sorted(set(self._places(asked).values()))
        return InboxChoices(tuple(nights), tuple(places), tuple(proposals.projects(scope, asked)))

    def mark(self, marks: Sequence[tuple[str, str]] | None = None) -> str:
        """Changes whenever what waits does."""
        every = self.review.marks() if marks is None else marks
        return sha256(canonical([list(one) for one in every]))[:16]

    def decided(self, limit: int = LATELY) -> list[InboxItem]:
        """The last decisions of people, newest first."""
        return self.items(self.review.decided(limit))

    def themes(self, *, decided: bool = False) -> dict[str, list[InboxItem]]:
        """The proposals that wait today, by theme; `decided`: those decided lately that can be taken back."""
        found = dict[str, list[InboxItem]]()
        every = self.items(self.review.decided(MOST_DECIDED) if decided else self.review.waiting(), whole=True)
        for one in (each for each in every if each.can_undo or not decided):
            found.setdefault(one.theme, []).append(one)
        return found

    def of_theme(self, name: str, *, decided: bool = False) -> list[InboxItem]:
        """All of one theme, by its name, by what it changes, or by the page it comes from."""
        themes = self.themes(decided=decided)
        if name in themes:
            return themes[name]
        found = {theme for theme, items in themes.items() if name in (items[0].where, items[0].page)}
        if len(found) != 1:
            several = f"{name} is the name of {len(found)} themes." if found else f"There is no theme {name}."
            names = "; ".join(sorted(found or themes)) or "none: nothing is there"
            raise BadInput(several, expected=f"one of these: {names}")
        return themes[found.pop()]

    def item(self, proposal: str) -> InboxItem:
        return self.items([self.review.get(proposal)])[0]

    def detail(self, proposal: str) -> Detail:
        item = self.item(proposal)
        preview, problem = None, ""
        if item.proposal.status is ProposalStatus.WAITING:
            preview, problem = self._preview(item.proposal)
        # Quotations of one session around which the same turns would be shown, in the order they were said in.
        sessions = dict[str, list[Evidence]]()
        for one in item.proposal.suggestion.evidence:
            sessions.setdefault(one.session_id, []).append(one)
        found = list[list[Evidence]]()
        for quotes in sessions.values():
            for place, one in enumerate(sorted(quotes, key=lambda quote: quote.turn)):
                if place and one.turn - found[-1][-1].turn <= 2 * AROUND + 1:
                    found[-1].append(one)
                else:
                    found.append([one])
        passages = list[Passage]()
        for near in found:
            numbers = range(max(1, near[0].turn - AROUND), near[-1].turn + AROUND + 1)
            stored, turns = self.sessions.turns(near[0].session_id, numbers)
            passages.append(Passage(tuple(near), stored, tuple(turns[at] for at in numbers if at in turns)))
        text = self._editable(item.proposal, preview)
        waits = item.proposal.status is ProposalStatus.WAITING
        places = elsewhere(self.memory, self.skills, item.proposal) if waits else ()
        told = tuple(hunks(item.proposal)), tuple(passages), self.checks(item.proposal)
        return Detail(item, *told, preview, problem, text, places)

    def sentences(
        self, changes: Sequence[Change], name_of: Callable[[str], str], *, whole: bool = False
    ) -> dict[str, str]:
        """A sentence about each Change, by its id. `name_of` says how people call the target with this key; `whole`
        leaves nothing of a long statement out."""
        names = {one.target: name_of(one.target) for one in changes}
        called = {key: self._called(key, name) for key, name in names.items()}
        found = {}
        for one in changes:
            where = called[one.target].get(one.subject) or f"{names[one.target]}/{one.subject.removeprefix('/')}"
            found[one.id] = change_headline(one, where, WHOLE if whole else LONGEST)
        return found

    def items(self, proposals: Sequence[Proposal], *, whole: bool = False) -> list[InboxItem]:
        """Proposals as lines of a list, in this order. `whole` leaves nothing of a long statement out."""
        names = {one.suggestion.target: one.target_name for one in proposals}
        called = {key: self._called(key, name) for key, name in names.items()}
        wanted: dict[str, set[int]] = {}
        for evidence in (each for one in proposals for each in one.suggestion.evidence):
            wanted.setdefault(evidence.session_id, set()).add(evidence.turn)
        read = self.sessions.exchanges(wanted) if wanted else {}
        found = []
        for one in proposals:
            subject = one.suggestion.subject
            where = called[one.suggestion.target].get(subject) or f"{one.target_name}/{subject}"
            voices = list[Voice]()
            for each in one.suggestion.evidence:
                stored, turns = read[each.session_id]
                turn = turns.get(each.turn)
                at = (turn.at if turn else None) or (stored.head.started_at if stored else None)
                typed = stored is not None and each.origin in (Origin.OWNER, Origin.MEMBER)
                named = (turn.said.name if turn else None) or (stored.user if stored and typed else None)
                voices.append(Voice(each, named or str(each.origin), at))
            reverted = self._reverted(one)
            can_undo = one.status is ProposalStatus.REJECTED or (one.status is ProposalStatus.LANDED and not reverted)
            can_undo = can_undo or one.snoozed_until is not None
            sentence = headline(one, where, WHOLE if whole else LONGEST)
            found.append(InboxItem(one, where, sentence, _told(one, reverted), can_undo, tuple(voices)))
        return found

    def _waiting(self, proposal: str) -> Proposal | VerdictResult:
        """The proposal, if it still waits; else what became of it."""
        stored = self.review.get(proposal)
        if stored.status is ProposalStatus.WAITING:
            return stored
        return VerdictResult(stored, False, _told(stored, self._reverted(stored)))

    def _reverted(self, proposal: Proposal) -> str:
        """The Change that took back what it became."""
        if not proposal.change:
            return ""
        undo = undone_by(self.review.records, self.review.scope, proposal.change)
        return undo.id if undo else ""

    def _called(self, key: str, name: str) -> dict[str, str]:
        """The documents of a target that belong to a project, by what people call them."""
        try:
            places = self.memory.target(key).places()
        except ReverieError:  # a folder of skills, or a target that is gone
            return {}
        nouns = {one.document: "memory" if one.document == "MEMORY.md" else one.document for one in places}
        return {one.document: f"{one.audience}'s {nouns[one.document]}" for one in places if one.audience}

    def _preview(self, proposal: Proposal) -> tuple[Preview | None, str]:
        try:
            artifact, drawn = self.review.drawn(proposal)
        except BadInput as error:
            return None, str(error)
        if isinstance(drawn, Drawn):
            return Preview(drawn.edits, artifact.budget), ""
        return None, proposal_outcome(drawn)

    @staticmethod
    def _editable(proposal: Proposal, preview: Preview | None) -> str:
        if proposal.suggestion.operations:
            written = [one for one in proposal.suggestion.operations if not isinstance(one, Remove)]
            return written[0].text if len(written) == 1 else ""
        if preview is None or not isinstance(proposal.suggestion.amendment, Patch | Create):
            return ""
        pages = (one for one in preview.edits if one.document.lower().endswith((".md", "skill.md")))
        document = next(pages, None)
        return document.after.decode("utf-8", "replace") if document and document.after else ""

    # ---- deciding ----------------------------------------------------------------------------------------------------

    def approve(self, proposal: str, seen: str, because: str = "", *, despite_findings: bool = False) -> VerdictResult:
        """Let it land, if it is still what was seen (`seen` is its hash then)."""
        before = self._waiting(proposal)
        if isinstance(before, VerdictResult):
            return before
        shown = replace(before, hash=seen)
        outcome: Outcome = self.review.approve(shown, because, despite_findings=despite_findings)
        after = self.review.get(proposal)
        if isinstance(outcome, Landed) or after.status is not ProposalStatus.WAITING:
            return VerdictResult(after, isinstance(outcome, Landed), _told(after))
        return VerdictResult(after, False, in_words(outcome), isinstance(outcome, Unsafe))

    def refuse(self, proposal: str, because: str = "") -> VerdictResult:
        before = self._waiting(proposal)
        if isinstance(before, VerdictResult):
            return before
        try:
            after = self.review.reject(before, because)
        except BadInput:  # someone else decided in this moment
            after = self.review.get(proposal)
        return VerdictResult(after, after.status is ProposalStatus.REJECTED, _told(after))

    def edit(self, proposal: str, seen: str, text: str, *, keep: bool = True) -> VerdictResult:
        """Put it into a person's own words; with `keep=False` only say what would come of them."""
        before = self._waiting(proposal)
        if isinstance(before, VerdictResult):
            return before
        shown, text = replace(before, hash=seen), text.replace("\r\n", "\n")
        amendment, worded = before.suggestion.amendment, before.suggestion.operations
        match amendment:
            case None:
                worded = tuple(one if isinstance(one, Remove) else replace(one, text=text.strip()) for one in worded)
            case Patch():
                amendment = replace(amendment, change=NewText(text))
            case Create(files=files):
                main = next((name for name in files if name.lower().endswith("skill.md")), next(iter(files)))
                amendment = replace(amendment, files={**files, main: text.encode()})
            case _:
                raise BadInput("This amendment has no text to edit.", expected="a new skill, or a change of one")
        changed = self.review.edited(shown, worded, amendment=amendment, keep=keep)
        if not isinstance(changed, Proposal):
            return VerdictResult(self.review.get(proposal), False, proposal_outcome(changed))
        said = "The text is changed, and was checked again." if keep else "It fits."
        return VerdictResult(changed, True, said, checks=self.checks(changed))

    def snooze(self, proposal: str, until: datetime) -> VerdictResult:
        """Put it off: it is asked again from that time on."""
        before = self._waiting(proposal)
        if isinstance(before, VerdictResult):
            return before
        after = self.review.snooze(proposal, until)
        return VerdictResult(after, after.status is ProposalStatus.WAITING, _told(after))

    def move(self, proposal: str, seen: str, where: str) -> VerdictResult:
        """Let it be about another document or skill, drawn and checked anew. It still has to be approved."""
        before = self._waiting(proposal)
        if isinstance(before, VerdictResult):
            return before
        changed = self.review.redrawn(replace(before, hash=seen), moved(self.memory, self.skills, before, where))
        if not isinstance(changed, Proposal):
            return VerdictResult(self.review.get(proposal), False, proposal_outcome(changed))
        self.on_move(changed)
        said = f"It is for {where} now, and was checked again."
        return VerdictResult(changed, True, said, checks=self.checks(changed))

    def undo(self, proposal: str) -> VerdictResult:
        """Take a decision back: what landed is taken out byte for byte; that, and what was refused or put off, waits
        again. What landed waits as a proposal of its own: the landed one is part of history."""
        stored = self.review.get(proposal)
        if stored.status is ProposalStatus.WAITING and stored.snoozed_until:
            return VerdictResult(self.review.snooze(proposal, None), True, "It waits again.")
        if stored.status is ProposalStatus.REJECTED:
            return VerdictResult(self.review.reopen(proposal), True, "The refusal is taken back: it waits again.")
        if stored.status is not ProposalStatus.LANDED or stored.change is None:
            return VerdictResult(stored, False, _told(stored, self._reverted(stored)))
        outcome = self.review.undo(stored.change)
        if not isinstance(outcome, Landed):
            return VerdictResult(stored, False, in_words(outcome))
        said = (
            f"Reverted in {outcome.change.id}: {stored.target_name}/{stored.suggestion.subject} is what it was before."
        )
        again = self.review.propose(stored.suggestion, land=False, asks=stored.asks_because)
        if isinstance(again, Waiting):
            return VerdictResult(stored, True, f"{said} It waits again.", again=again.proposal.id)
        return VerdictResult(stored, True, f"{said} {proposal_outcome(again)}")


def _told(proposal: Proposal, reverted: str = "") -> str:
    """Where a proposal stands, in one sentence."""
    verdict = proposal.verdict
    by = f" by {verdict.by}, {verdict.at:%Y-%m-%d %H:%M} UTC" if verdict else ""
    because = f" Reason given: {verdict.because}" if verdict and verdict.because else ""
    where = f"{proposal.target_name}/{proposal.suggestion.subject}"
    match proposal.status:
        case ProposalStatus.LANDED if reverted:
            return f"Approved{by} ({proposal.change}), and taken back since: {where} was reverted in {reverted}."
        case ProposalStatus.LANDED:
            return f"Approved{by}. {where} is changed ({proposal.change}).{because}"
        case ProposalStatus.REJECTED:
            return f"Refused{by}. The same is not proposed again on the same evidence.{because}"
        case ProposalStatus.CONFLICTED:
            return f"Not done: {proposal.note}. Nothing was changed."
        case ProposalStatus.EXPIRED:
            return "It expired: nobody had answered. Nothing was changed."
        case ProposalStatus.APPROVED:
            return f"Approved{by}, and not written yet. `reverie recover` finishes it."
        case ProposalStatus.WAITING if proposal.snoozed_until:
            return f"Put off: it is asked again from {proposal.snoozed_until:%Y-%m-%d %H:%M} UTC on."
        case ProposalStatus.WAITING:
            return "It waits for a person."
