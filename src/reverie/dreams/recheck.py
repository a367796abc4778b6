"""The checks of a night, run again on what a person made of one of its proposals: they inform, and forbid nothing."""

from __future__ import annotations

from contextlib import suppress

from reverie.changes.history import rules_in
from reverie.changes.proposal import Proposal
from reverie.core.errors import ReverieError
from reverie.dreams.brief.brief import Brief, BriefDocument, BriefEntry, BriefSession, BriefTurn
from reverie.dreams.brief.gather import Material
from reverie.dreams.brief.select_sessions import heard_session, session_of
from reverie.dreams.dream import Dream
from reverie.dreams.files import documents_of, entries_of, surfaces_of
from reverie.dreams.items import Citation, Item, Op
from reverie.dreams.light.spans import Spans
from reverie.dreams.ports import Rooms
from reverie.dreams.verify.case import case_of, said_in
from reverie.dreams.verify.checks import check
from reverie.memory.operation import Remove, Replace
from reverie.skills.edits import RemoveRule
from reverie.skills.skill import Amendment, Create, NewText, Patch
from reverie.transcripts.session import Session

_LEFT_TO_PEOPLE = frozenset({"project"})  # who puts it into a document says where it holds


def checked_again(rooms: Rooms, proposal: Proposal) -> tuple[tuple[str, str], ...]:
    """Each check by its name, with what it finds in the proposal as it is now. None of what no night proposed."""
    suggestion = proposal.suggestion
    dream = rooms.records.get(rooms.scope, suggestion.dream) if suggestion.dream else None
    if dream is None:
        return ()
    target = dream.target if suggestion.amendment else proposal.target_name
    documents, entries, surfaces = list[BriefDocument](), list[BriefEntry](), list[BriefEntry]()
    with suppress(ReverieError):  # of a target that is gone nothing can be said
        documents += documents_of(rooms, target)
        entries += entries_of(rooms, target)
        surfaces += surfaces_of(rooms, target, rooms.skills.seen_from(rooms.new_skills(target)) if rooms.skills else ())
    # The sessions the night read, and those of earlier nights that are quoted.
    read = [one for each in dream.sessions if (one := session_of(rooms.sessions, each))]
    there = {one.id for one in read}
    cited = {one.session_id: () for one in proposal.suggestion.evidence if one.session_id not in there}
    for name, (stored, _) in rooms.sessions.exchanges(cited).items() if cited else ():
        earlier = heard_session(rooms.sessions, name, stored.user) if stored else None
        read += [earlier] if earlier else []
    sessions = {f"s{number}": one for number, one in enumerate(read, 1)}
    shown = tuple(_shown(short, session, proposal) for short, session in sessions.items())
    brief = Brief(rooms.clock.now(), rooms.owner, tuple(documents), tuple(entries), sessions=shown)
    case = case_of(_item(proposal, dream, entries), Material(brief, sessions), Spans(), tuple(surfaces))
    return tuple((one.name, one.told) for one in check(case) if one.name not in _LEFT_TO_PEOPLE)


def _shown(short: str, session: Session, proposal: Proposal) -> BriefSession:
    """A session with the turns that are quoted. No model reads it: nothing is replaced or shortened."""
    cited = {one.turn for one in proposal.suggestion.evidence if one.session_id == session.id}
    turns = (BriefTurn(one.number, str(one.origin), said_in(one)) for one in session.turns if one.number in cited)
    head = session.head
    return BriefSession(short, session.id, None, head.project or "", head.user or "", tuple(turns))


def _item(proposal: Proposal, dream: Dream, entries: list[BriefEntry]) -> Item:
    """The proposal as a curator would have returned it."""
    suggestion = proposal.suggestion
    evidence = tuple(Citation(one.session_id, one.turn, one.quote) for one in suggestion.evidence)
    if suggestion.amendment is not None:
        op = Op.SKILL_NEW if isinstance(suggestion.amendment, Create) else Op.SKILL_AMEND
        return Item(op, "\n".join(_brought(suggestion.amendment)), evidence, skill=suggestion.subject)
    verb = next((one.verb for one in dream.judged if one.ref == proposal.id), "")
    written = [one for one in suggestion.operations if not isinstance(one, Remove)]
    changed = {one.old_sha256 for one in suggestion.operations if isinstance(one, Replace)}
    gone = {one.old_sha256 for one in suggestion.operations if isinstance(one, Remove)}
    op = Op.ADD if written and not changed else Op.REPLACE if written else Op.REMOVE
    if changed and gone and verb != Op.REPLACE:  # what makes room for something else is no part of what it says
        op = Op.MERGE
    named = changed | gone if op in (Op.MERGE, Op.REMOVE) else changed
    replaces = tuple(one.id for one in entries if one.document == suggestion.subject and one.sha256 in named)
    text = " ".join(one.text for one in written)
    return Item(op, text, evidence, suggestion.subject, replaces=replaces)


def _brought(amendment: Amendment) -> list[str]:
    """The rules that an amendment of a person's brings into a skill."""
    match amendment:
        case Patch(subject, base, NewText(text)):
            page = subject if subject.lower().endswith(".md") else f"{subject}/SKILL.md"
            before = set(rules_in(subject, page, base))
            return [one for one in rules_in(subject, page, text.encode()) if one not in before]
        case Patch(change=tuple(edits)):
            return [one.text for one in edits if not isinstance(one, RemoveRule)]
        case Create(subject, files):
            return [one for page, content in files.items() for one in rules_in(subject, page, content)]
        case _:
            return []
