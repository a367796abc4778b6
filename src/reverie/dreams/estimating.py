"""What a night would read and what models would cost, before there is one. Nothing is written and nobody is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reverie.dreams.choosing import Chosen
from reverie.kernel.errors import NotFound
from reverie.light.candidate import Candidate, Kind
from reverie.light.notice import notice
from reverie.models.asking import Patience
from reverie.models.budget import Price
from reverie.models.choice import Role
from reverie.models.judging import Stated, opinion_questions
from reverie.models.lessons import lesson_question
from reverie.models.question import Question, Usage
from reverie.models.reading import questions
from reverie.models.wording import Line, wording_question
from reverie.rem.gates import Limits
from reverie.sessions.as_if_refreshed import Refreshed
from reverie.sessions.library import Library
from reverie.sessions.session import Session

_CHARACTERS_A_TOKEN = 4
_USUAL_ANSWER = 200  # tokens


@dataclass(frozen=True, slots=True)
class Asking:
    """Which models a night would ask, by role, and what is to be known for an estimate."""

    models: Mapping[Role, str]
    prices: Mapping[Role, Price | None]
    share: float
    prompts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What one phase would ask. `tokens` and `dollars` are likely, `most_…` the worst a cap reckons with, for one try
    each; dollars are None where the price is not known."""

    phase: str
    model: str
    questions: int
    characters: int
    tokens: int
    most_tokens: int
    dollars: float | None
    most_dollars: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """`fresh` of the sessions are not stored, or not as they are now: a night would bring them in first. `left` ones
    would wait for another night; `noticed` is what the built-in reader finds by itself."""

    shelf: str
    sessions: int
    fresh: int
    left: int
    characters: int
    noticed: int
    foreseen: tuple[Foreseen, ...]


def estimated(then: Refreshed, shelf: str, chosen: Chosen, asking: Asking) -> Estimate:
    read = list(_read(then.library, chosen))
    found = [candidate for _, noticed in read for candidate in noticed]
    asked = {
        Role.LIGHT: [one for session, noticed in read for one in _shown(session, noticed, asking)],
        Role.DEEP: [*opinion_questions(Role.DEEP, _stated(found), asking.prompts), *_wording(found, asking)],
        Role.REM: opinion_questions(Role.REM, _stated(found), asking.prompts),
        Role.SKILLS: [_lesson(one, asking) for one in found if one.kind is Kind.SKILL_CANDIDATE],
    }
    foreseen = [_foreseen(role, asking, asked[role]) for role in Role if role in asking.models]
    characters = sum(session.characters for session, _ in read)
    fresh = sum((one.user, one.head.id) in then.fresh for one in chosen.sessions)
    return Estimate(shelf, len(read), fresh, chosen.left, characters, len(found), tuple(foreseen))


def _read(library: Library, chosen: Chosen) -> Iterator[tuple[Session, list[Candidate]]]:
    for one in chosen.sessions:
        try:
            session = library.get(one.head.id, user=one.user, revision=one.revision)
        except NotFound:
            continue
        yield session, notice(session)


def _shown(session: Session, noticed: Iterable[Candidate], asking: Asking) -> list[Question]:
    evidence = [item for candidate in noticed for item in candidate.evidence]
    return questions(session, evidence, asking.share, asking.prompts)


def _stated(found: Sequence[Candidate]) -> list[Stated]:
    return [Stated(str(number), one.text) for number, one in enumerate(found)]


def _wording(found: Sequence[Candidate], asking: Asking) -> list[Question]:
    """As many lines as a night changes."""
    lines = [Line(one.text, tuple(item.quote for item in one.evidence)) for one in found[: Limits().max_changes]]
    return [wording_question(lines, asking.prompts)] if lines else []


def _lesson(one: Candidate, asking: Asking) -> Question:
    return lesson_question([one.text, *(item.quote for item in one.evidence)], asking.prompts)


def _foreseen(role: Role, asking: Asking, asked: Sequence[Question]) -> Foreseen:
    model = asking.models[role]
    price, written = asking.prices.get(role), Patience().most_tokens
    likely = Usage(sum(len(one.system) + len(one.user) for one in asked) // _CHARACTERS_A_TOKEN,
                   _USUAL_ANSWER * len(asked))  # fmt: skip
    worst = Usage(sum(one.worst_tokens for one in asked), written * len(asked))
    costs = [None if price is None else float(price.of(usage)) for usage in (likely, worst)]
    shown = sum(one.sent_characters for one in asked)
    return Foreseen(str(role), model, len(asked), shown, likely.total, worst.total, *costs)
