"""What a night asks models for, and what it takes from them: a model widens what is noticed, and decides nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import ceil
from typing import TypeVar

from reverie.deep.decision import Decision, Verb
from reverie.deep.matters import Matter
from reverie.deep.procedures import Lines
from reverie.dreams.dream import Consulted
from reverie.dreams.records import Told
from reverie.dreams.rewording import why_not
from reverie.kernel.errors import ReverieError
from reverie.light.candidate import Candidate
from reverie.light.notice import notice
from reverie.light.suggestions import taken
from reverie.models.ahead import ask_ahead
from reverie.models.asking import Asker
from reverie.models.budget import CapExceeded
from reverie.models.choice import Role
from reverie.models.judging import MOST_JUDGED, STEPS, Opinions, Stated, opinions
from reverie.models.ledger import Call, totals
from reverie.models.lessons import Lesson, lesson_question, worded
from reverie.models.question import Question
from reverie.models.reading import questions, read
from reverie.models.using import SHARE
from reverie.models.wording import MOST_LINES, Line, Wordings, wordings
from reverie.rem.gates import Weighed
from reverie.sessions.session import Session


class SpentMore(ReverieError):
    """A provider reports more than a call could have taken. The night is given up before anything of it lands."""


@dataclass(frozen=True, slots=True)
class Counsel:
    """Who is asked in one night, by role. A role without anyone asks nobody."""

    askers: Mapping[Role, Asker] = field(default_factory=dict)
    share: float = SHARE
    prompts: Mapping[str, str] = field(default_factory=dict)
    _shown: Counter[tuple[Role, str]] = field(default_factory=Counter, repr=False)  # characters, by role and session
    _counted: set[tuple[Role, str]] = field(default_factory=set, repr=False)  # of which the length is on the list

    def read(self, session: Session, found: Sequence[Candidate]) -> tuple[list[Candidate], Told]:
        """What a model notices in a session besides what the built-in reader found."""
        asker = self.askers.get(Role.LIGHT)
        if asker is None:
            return [], Told()
        noticed = [evidence for candidate in found for evidence in candidate.evidence]
        reading = read(session, noticed, asker, share=self.share, prompts=self.prompts)
        if reading.stopped:
            raise spent_more(reading.stopped)
        more, dropped = taken(session, reading.suggested, found)
        enough = reading.enough.why if reading.enough else ""
        return more, Told(dict(Counter(reading.dropped) + dropped), enough)

    def read_ahead(self, sessions: Iterable[Session]) -> None:
        """Ask about several sessions at once, as far as the models of the settings may be; `read` finds the answers."""
        asker = self.askers.get(Role.LIGHT)
        if asker is not None:
            ask_ahead(asker, (one for session in sessions for one in self._questions(session)))

    def _questions(self, session: Session) -> list[Question]:
        noticed = [evidence for candidate in notice(session) for evidence in candidate.evidence]
        return questions(session, noticed, self.share, self.prompts)

    @property
    def reads_ahead(self) -> bool:
        asker = self.askers.get(Role.LIGHT)
        return asker is not None and asker.at_once > 1

    def of_decisions(self, decisions: Sequence[Decision], size: Size) -> tuple[list[Decision], Told]:
        """Decisions as Deep made them; where a model sees one otherwise, a person is asked and told so."""
        asker = self.askers.get(Role.DEEP)
        plain = [one for one in decisions if one.skill is None] if asker else []
        wanted = self._that_fit(Role.DEEP, plain, size)
        if asker is None or not wanted:
            return list(decisions), Told()
        stated = [
            Stated(
                one.matter.last.id,
                one.text,
                one.target.text if one.target else "",
                self._whole(Role.DEEP, one.matter, size),
            )
            for one in wanted
        ]
        found = _believed(opinions(Role.DEEP, stated, asker, self.prompts))
        return [_advised(one, found.of.get(one.matter.last.id, {})) for one in decisions], _told(found)

    def of_wordings(self, weighed: Sequence[Weighed], size: Size) -> tuple[list[Weighed], Told]:
        """What is about to be kept or proposed, in a model's words where they say the same. Scores stay as they are."""
        asker = self.askers.get(Role.DEEP)
        lines = [one for one in weighed if _has_a_line(one)][:MOST_LINES] if asker else []
        wanted = [one for one in lines if self._is_shown(Role.DEEP, one.decision, size)]
        if asker is None or not wanted:
            return list(weighed), Told()
        found = _believed(wordings([self._line(one.decision, size) for one in wanted], asker, self.prompts))
        new = {id(wanted[place]): text for place, text in found.of.items() if text != wanted[place].decision.text}
        refused = {key: why for one in wanted if (key := id(one)) in new and (why := why_not(one, new[key]))}
        put = [_put(one, new[id(one)]) if id(one) in new.keys() - refused.keys() else one for one in weighed]
        dropped = Counter(found.dropped) + Counter(refused.values())
        return put, Told(dict(dropped), found.enough.why if found.enough else "")

    def of_worth(self, decisions: Sequence[Decision], size: Size) -> tuple[dict[str, dict[str, float]], Told]:
        """What a model thinks of two dimensions of each decision, by the id of its last statement."""
        asker = self.askers.get(Role.REM)
        wanted = self._that_fit(Role.REM, decisions, size) if asker else []
        if asker is None or not wanted:
            return {}, Told()
        stated = [
            Stated(one.matter.last.id, one.text, of_characters=self._whole(Role.REM, one.matter, size))
            for one in wanted
        ]
        found = _believed(opinions(Role.REM, stated, asker, self.prompts))
        thought = {
            key: {"future_usefulness": said["useful"] / STEPS, "actionability": said["acts"] / STEPS}
            for key, said in found.of.items()
        }
        return thought, _told(found)

    def of_lessons(self, lessons: Sequence[Matter], size: Size) -> tuple[dict[Matter, Lines], Told]:
        """How a model would word each lesson that belongs in a skill."""
        asker = self.askers.get(Role.SKILLS)
        shown: dict[Matter, list[str]] = {}
        for one in lessons if asker else ():
            if quoted := _within(_quotations(one), self._room(Role.SKILLS, one, size)):
                shown[one] = quoted
                self._show(Role.SKILLS, one, size, sum(map(len, quoted)))
        if asker is None or not shown:
            return {}, Told()
        whole = {one: self._whole(Role.SKILLS, one, size) for one in shown}
        ask_ahead(asker, [lesson_question(shown[one], self.prompts, of_characters=whole[one]) for one in shown])
        found = {
            one: _believed(worded(quoted, asker, self.prompts, of_characters=whole[one]))
            for one, quoted in shown.items()
        }
        lines = {one: Lines(lesson.steps, lesson.gotchas) for one, lesson in found.items()}
        return lines, together(map(_told, found.values()))

    def _line(self, decision: Decision, size: Size) -> Line:
        room = self._room(Role.DEEP, decision.matter, size)
        said = _within((one.quote for one in decision.evidence if one.weight == "support"), room)[:_MOST_SAID]
        self._show(Role.DEEP, decision.matter, size, sum(map(len, said)))
        older = decision.target.text if decision.target else ""
        return Line(decision.text, tuple(said), older, self._whole(Role.DEEP, decision.matter, size))

    def _that_fit(self, role: Role, decisions: Iterable[Decision], size: Size) -> list[Decision]:
        """Those that are shown, as many as are asked about in one night."""
        return list(islice((one for one in decisions if self._is_shown(role, one, size)), MOST_JUDGED))

    def _whole(self, role: Role, matter: Matter, size: Size) -> int:
        """How long its sessions are, each counted once in a night and role."""
        fresh = {(role, session) for session in matter.sessions} - self._counted
        self._counted.update(fresh)
        return sum(size(session) for _, session in fresh)

    def _is_shown(self, role: Role, decision: Decision, size: Size) -> bool:
        """Whether its line fits into what may be shown of its sessions; then it is counted as shown."""
        fits = bool(decision.text) and len(decision.text) <= self._room(role, decision.matter, size)
        if fits and not decision.rejected:
            self._show(role, decision.matter, size, len(decision.text))
        return fits and not decision.rejected

    def _room(self, role: Role, matter: Matter, size: Size) -> float:
        return sum(self._left(role, session, size) for session in matter.sessions)

    def _left(self, role: Role, session: str, size: Size) -> float:
        return max(0.0, self.share * size(session) - self._shown[role, session])

    def _show(self, role: Role, matter: Matter, size: Size, characters: int) -> None:
        for session in sorted(matter.sessions):
            more = min(characters, ceil(self._left(role, session, size)))
            self._shown[role, session] += more
            characters -= more


NOBODY = Counsel()
_MOST_SAID = 3
_LINES = frozenset({Verb.PROMOTE, Verb.SUPERSEDE, Verb.MERGE})
Size = Callable[[str], int]  # of the transcript of a session, in characters


def _has_a_line(one: Weighed) -> bool:
    return one.passes and one.decision.verb in _LINES


def _put(one: Weighed, text: str) -> Weighed:
    decision = one.decision
    return replace(one, decision=replace(decision, text=text, reason=f"{decision.reason} A model worded it."))


def _quotations(matter: Matter) -> list[str]:
    quoted = [one.quote for note in matter.said for one in note.candidate.evidence]
    return list(dict.fromkeys([*(note.text for note in matter.said), *quoted]))


def _within(texts: Iterable[str], room: float) -> list[str]:
    """As many as fit, in their order."""
    chosen = []
    for text in texts:
        if len(text) <= room:
            room -= len(text)
            chosen.append(text)
    return chosen


_OpinionT = TypeVar("_OpinionT", Opinions, Lesson, Wordings)


def _believed(found: _OpinionT) -> _OpinionT:
    if found.stopped:
        raise spent_more(found.stopped)
    return found


def _told(found: Opinions | Lesson) -> Told:
    return Told(dict(found.dropped), found.enough.why if found.enough else "")


def _advised(decision: Decision, opinion: Mapping[str, str]) -> Decision:
    """A doubt of a model is for a person; what it is sure of changes nothing."""
    asks = decision.asks
    if opinion.get("lasting") == "passing":
        asks = "; ".join(filter(None, (asks, "a model thinks that it only holds for a while")))
    if decision.target and opinion.get("relation") in ("unrelated", "same"):
        asks = "; ".join(filter(None, (asks, f"a model reads the two as {opinion['relation']}")))
    return replace(decision, asks=asks)


def spent_more(exceeded: CapExceeded) -> SpentMore:
    return SpentMore(
        f"The model's provider cannot be believed: {exceeded.why}.",
        next_step="Nothing was changed. Look at the provider's own account; `reverie status` shows what was counted.",
    )


def consulted(calls: Iterable[Call]) -> tuple[Consulted, ...]:
    """Per phase."""
    every = list(calls)
    return tuple(
        Consulted(
            str(role), tuple(sorted({one.model for one in every if one.role == role})), total.calls, total.failed,
            total.usage.tokens_in, total.usage.tokens_out, total.usage.cached,
            None if total.cost is None else float(total.cost), round(total.seconds, 3), round(total.share, 4),
            {one.prompt: one.prompt_sha256 for one in every if one.role == role}, total.sent, total.whole,
        )
        for role, total in totals(every).items()
    )  # fmt: skip


def together(told: Iterable[Told]) -> Told:
    """What there is to tell of the whole night."""
    every = list(told)
    dropped = sum((Counter(one.dropped) for one in every), Counter[str]())
    return Told(dict(dropped.most_common()), next((one.enough for one in every if one.enough), ""))
