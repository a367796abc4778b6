"""From sessions, entries and skills to the Brief of one night.

People's turns are shown in full, the agent's shortened, tool calls with their command, outcome and telling lines.
Secrets and personal identifiers are replaced by stand-ins. A night that is too long is shown in fewer words of agents
and tools first; then sessions are shown by what was noted of them. No sentence of a person is ever cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from reverie.core.scope import Origin
from reverie.dreams.brief.brief import (
    Brief,
    BriefCandidate,
    BriefDocument,
    BriefEntry,
    BriefRule,
    BriefSession,
    BriefSkill,
    BriefTurn,
)
from reverie.dreams.items import Citation
from reverie.dreams.light.candidate import Noted
from reverie.dreams.light.tool_use import outcome
from reverie.llm.question import estimate_tokens
from reverie.safety.redact import Pseudonyms, redact
from reverie.skills.edits import rules_of
from reverie.skills.library import FoundSkill
from reverie.skills.page import sections_of
from reverie.transcripts.session import Session, Turn, heard

BRIEF_TOKENS = 24_000
LONGEST_TURN = 6_000  # of a longer one, which is pasted, the beginning and the end
_SKILL_CHARACTERS, _MOST_SKILLS = 12_000, 12
_ALL_SKILLS, _LONGEST_ABOUT = 40_000, 200  # characters of rules, and of what is told of a skill without them
_SENTENCE = re.compile(r".+?(?:[.!?。！？]+(?=\s|$)|\n|$)", re.DOTALL)
_WORD = re.compile(r"[\w.-]{4,}")
_GAP = "[…]"


@dataclass(frozen=True, slots=True)
class Width:
    """The characters shown of an agent's words, of a command and of a tool's result."""

    agent: int
    command: int
    result: int


WIDE, NARROW = Width(400, 400, 600), Width(120, 160, 160)


@dataclass(frozen=True)
class Material:
    """A Brief with what it was made from: sessions by their short id, skills by theirs, and the way back from
    stand-ins to the words they stand for."""

    brief: Brief
    sessions: Mapping[str, Session] = field(default_factory=dict)
    skills: Mapping[str, FoundSkill] = field(default_factory=dict)
    noted: tuple[Noted, ...] = ()
    restored: Callable[[str], str] = lambda text: text

    @cached_property
    def short(self) -> Mapping[str, str]:
        """The short ids of the sessions by their own."""
        return {session.id: short for short, session in self.sessions.items()}


@dataclass(frozen=True, slots=True)
class BriefMaterial:
    """The parts a Brief is made of. `earlier` was noticed on other nights and is not settled; its sessions are in
    `sessions` too, by id, and only the turns it stands in are shown. `every_skill`: those whose rules do not fit are
    named with what they are about. `reduced` tells what was left out before."""

    now: datetime
    owner: str
    documents: tuple[BriefDocument, ...]
    entries: tuple[BriefEntry, ...]
    sessions: tuple[Session, ...]
    fresh: tuple[Noted, ...] = ()
    earlier: tuple[Noted, ...] = ()
    earlier_sessions: tuple[Session, ...] = ()
    skills: tuple[FoundSkill, ...] = ()
    instructions: str = ""
    reduced: tuple[str, ...] = ()
    every_skill: bool = False


def gather(night: BriefMaterial, most_tokens: int | None = BRIEF_TOKENS) -> Material:
    """The Brief of a night, in as many words as fit; None: in all of them. What does not fit even then is left as it
    is: see `reduce`."""
    material = material_of(night, WIDE)
    if most_tokens is None or estimate_tokens(material.brief.render()) <= most_tokens:
        return material
    narrow = material_of(night, NARROW)
    told = ("What agents and tools said is shown in fewer words, so that the night fits.",)
    return replace(narrow, brief=replace(narrow.brief, reduced=(*night.reduced, *told)))


# ---- the parts -------------------------------------------------------------------------------------------------------


def material_of(night: BriefMaterial, width: Width) -> Material:
    """All of it, whatever its length."""
    names = Pseudonyms()

    def hidden(text: str) -> str:
        return names.replaced(redact(text).text)

    entries = tuple(replace(one, text=hidden(one.text)) for one in night.entries)
    in_full = _that_matter(night)
    paths = {one.path for one in in_full}
    named = [one for one in night.skills if night.every_skill and one.path not in paths]
    skills = {f"k{number}": one for number, one in enumerate([*in_full, *named], 1)}
    sessions, shown = {}, list[BriefSession]()
    for number, session in enumerate(night.sessions, 1):
        sessions[f"s{number}"] = session
        shown.append(_session(f"s{number}", session, hidden, width))
    for number, session in enumerate(night.earlier_sessions, len(shown) + 1):
        mine = [one for one in night.earlier if one.session_id == session.id]
        cited = {evidence.turn for one in mine for evidence in one.candidate.evidence}
        sessions[f"s{number}"] = session
        whole = _session(f"s{number}", session, hidden, width)
        shown.append(replace(whole, turns=tuple(t for t in whole.turns if t.number in cited), noted=True))
    ids = {session.id: short for short, session in sessions.items()}
    noted = tuple(sorted((*night.fresh, *night.earlier), key=lambda one: one.order))
    brief = Brief(
        night.now,
        night.owner,
        night.documents,
        entries,
        tuple(_skill(short, found, hidden, found.path in paths) for short, found in skills.items()),
        tuple(shown),
        tuple(_candidate(f"c{n}", one, ids, hidden) for n, one in enumerate(noted, 1) if one.session_id in ids),
        hidden(night.instructions),
        night.reduced,
    )
    return Material(brief, sessions, skills, noted, names.restored)


def _candidate(short: str, one: Noted, ids: Mapping[str, str], hidden: Callable[[str], str]) -> BriefCandidate:
    first = one.candidate.evidence[0]
    words = hidden(" ".join(first.quote.split())[:300])
    return BriefCandidate(short, str(one.candidate.kind), Citation(ids[one.session_id], first.turn, words))


def _session(short: str, session: Session, hidden: Callable[[str], str], width: Width) -> BriefSession:
    head = session.head
    day = head.started_at.date() if head.started_at else None
    turns = tuple(
        BriefTurn(turn.number, _speaker(turn), hidden(text))
        for turn in session.turns
        if turn.noise is None and (text := _shown(turn, width))
    )
    return BriefSession(short, session.id, day, head.project or "", head.user or "", turns)


def _speaker(turn: Turn) -> str:
    if turn.role == "user":
        name = f" {turn.said.name}" if turn.said.name and turn.origin is Origin.MEMBER else ""
        return f"{turn.origin}{name}"
    if turn.role == "tool":
        name = f" {turn.said.name}" if turn.said.name else ""
        worked = outcome(turn.said)
        return f"tool{name}" + {True: ", worked", False: ", failed", None: ""}[worked]
    return f"{turn.origin}, calling" if turn.said.calls else str(turn.origin)


def _shown(turn: Turn, width: Width) -> str:
    if turn.role == "user":
        text = heard(turn.text).strip()
        half = LONGEST_TURN // 2
        return text if len(text) <= LONGEST_TURN else f"{_begins(text, half)}\n{_GAP}\n{_ends(text, half)}"
    if turn.role == "assistant":
        calls = [_cut(str(call), width.command) for call in turn.said.calls]
        said = [_shortened(turn.text, width.agent)] if turn.text.strip() else []
        return "\n".join([*said, *calls])
    if turn.role == "tool":
        return _telling(turn.text, width.result)
    return _shortened(turn.text, width.agent)


def _shortened(text: str, most: int) -> str:
    """Whole sentences from the beginning, and the last one, which often asks something."""
    text = text.strip()
    if len(text) <= most:
        return text
    last = _SENTENCE.findall(text)[-1].strip()
    begin = _begins(text, most - min(len(last), most // 2))
    return f"{begin} {_GAP} {_ends(last, most // 2)}".strip()


def _begins(text: str, most: int) -> str:
    kept, length = list[str](), 0
    for sentence in _SENTENCE.findall(text):
        if length + len(sentence) > most:
            break
        kept.append(sentence)
        length += len(sentence)
    return "".join(kept).strip() or _cut(text, most)


def _ends(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    starts = [found.start() for found in _SENTENCE.finditer(text)]
    if whole := next((at for at in starts if len(text) - at <= most), 0):
        return text[whole:].strip()
    at = text.find(" ", len(text) - most)
    return f"{_GAP}{text[at:]}" if at >= 0 else _cut(text, most)


def _cut(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most].rsplit(' ', 1)[0]} {_GAP}"


def _telling(text: str, most: int) -> str:
    """The first line and the last ones: what was asked for, and how it ended."""
    text = text.strip()
    if len(text) <= most:
        return text
    lines = [line for line in text.splitlines() if line.strip()] or [text]
    first, rest, kept = _cut(lines[0], most // 3), lines[1:], list[str]()
    room = most - len(first)
    for line in reversed(rest):
        if room - len(line) < 0:
            break
        kept.insert(0, line)
        room -= len(line)
    return "\n".join([first, *([_GAP] if len(kept) < len(rest) else []), *kept])


def _skill(short: str, found: FoundSkill, hidden: Callable[[str], str], in_full: bool) -> BriefSkill:
    skill = found.skill
    about = hidden(skill.description or "")
    if not in_full:
        return BriefSkill(short, found.path, _cut(about, _LONGEST_ABOUT), ())
    rules = list[BriefRule]()
    for section in sections_of(skill.body):
        for rule in rules_of(skill.body[section.inside : section.own_end].splitlines(keepends=True)):
            rules.append(BriefRule(f"{short}.{len(rules) + 1}", section.heading, hidden(rule.text)))
    return BriefSkill(short, found.path, about, tuple(rules))


def _that_matter(night: BriefMaterial) -> list[FoundSkill]:
    """All skills where they are few and short; else those that share most words with what was said and run."""
    room, most = (_ALL_SKILLS, len(night.skills)) if night.every_skill else (_SKILL_CHARACTERS, _MOST_SKILLS)
    skills = list(night.skills)
    if sum(len(one.skill.body) for one in skills) <= room and len(skills) <= most:
        return skills
    said, kept = _words_said(night), list[FoundSkill]()
    for one in skills_by_use(night)[:most]:
        if _shared(one, said) and len(one.skill.body) <= room:
            room -= len(one.skill.body)
            kept.append(one)
    return kept


def skills_by_use(night: BriefMaterial) -> list[FoundSkill]:
    """Those that share most words with what was said and run first."""
    said = _words_said(night)
    return sorted(night.skills, key=lambda one: (-_shared(one, said), one.path))


def _words_said(night: BriefMaterial) -> set[str]:
    turns = (turn for session in night.sessions for turn in session.turns if turn.noise is None)
    return {word.lower() for turn in turns for word in _WORD.findall(turn.said.whole[:4_000])}


def _shared(found: FoundSkill, said: set[str]) -> float:
    head = {word.lower() for word in _WORD.findall(f"{found.skill.name} {found.skill.description}")}
    body = {word.lower() for word in _WORD.findall(found.skill.body)}
    return 3 * len(head & said) / max(1, len(head)) + len(body & said) / max(1, len(body))
