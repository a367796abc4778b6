"""Reading a Session with a model: choose passages, cover them, ask, check what comes back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reverie.models.ahead import ask_ahead
from reverie.models.asking import Answer, Asker, Dropped, Outcome
from reverie.models.budget import CapExceeded, CapReached
from reverie.models.choice import Role
from reverie.models.covering import Cover
from reverie.models.passages import Passage, salient
from reverie.models.prompting import delimiter, prompt
from reverie.models.question import Question
from reverie.models.schema import json_schema
from reverie.models.suggested import KINDS, LONGEST, SHAPE, Suggested, checked
from reverie.models.using import SHARE
from reverie.sessions.session import Evidence, Session

MOST_CHARACTERS = 24_000  # of passages in one question


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model made of a Session. `dropped` counts what was thrown away, by reason; `stopped` ends the night.

    `enough` says that the cap left no room for all of it.
    """

    suggested: tuple[Suggested, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    share: float = 0.0
    prompt_sha256: str = ""
    enough: CapReached | None = None
    stopped: CapExceeded | None = None


def read(
    session: Session,
    noticed: Iterable[Evidence],
    asker: Asker,
    *,
    share: float = SHARE,
    prompts: Mapping[str, str] | None = None,
    random: Callable[[], str] | None = None,
) -> Reading:
    """Suggestions for a Session, given what the built-in reader noticed in it. Nothing to show is nothing asked."""
    cover = Cover(session)
    good: dict[tuple[str, str], Suggested] = {}
    dropped: Counter[str] = Counter()
    sent, question, outcome = 0, None, None
    asked = list(_asked(cover, noticed, share, prompts, random))
    ask_ahead(asker, [one for _, one in asked])
    for group, question in asked:
        outcome = asker.ask(question)
        match outcome:
            case Answer(value):
                found, bad = checked(value, cover, group)
                dropped += bad
                good |= {(one.kind, one.text): one for one in found}
            case Dropped(why):
                dropped[why] += 1
            case CapReached() | CapExceeded():
                break
        sent += question.sent_characters if not isinstance(outcome, Dropped) or outcome.tries else 0
    return _reading(good, dropped, sent / max(cover.session.characters, 1), question, outcome)


def questions(
    session: Session, noticed: Iterable[Evidence], share: float = SHARE, prompts: Mapping[str, str] | None = None
) -> list[Question]:
    """What would be asked about a Session."""
    return [question for _, question in _asked(Cover(session), noticed, share, prompts, None)]


def _asked(
    cover: Cover, noticed: Iterable[Evidence], share: float, prompts: Mapping[str, str] | None,
    random: Callable[[], str] | None,
) -> Iterator[tuple[list[Passage], Question]]:  # fmt: skip
    for place, group in enumerate(_groups(salient(cover, noticed, share))):
        yield group, notice_question(group, 0 if place else cover.session.characters, prompts, random)


def _reading(
    good: Mapping[tuple[str, str], Suggested],
    dropped: Counter[str],
    share: float,
    question: Question | None,
    outcome: Outcome | None,
) -> Reading:
    return Reading(
        tuple(good.values()),
        dict(dropped),
        share,
        question.prompt_sha256 if question else "",
        outcome if isinstance(outcome, CapReached) else None,
        outcome if isinstance(outcome, CapExceeded) else None,
    )


def notice_question(
    passages: Sequence[Passage],
    of_characters: int,
    prompts: Mapping[str, str] | None = None,
    random: Callable[[], str] | None = None,
) -> Question:
    """What Light asks about some passages. Only `user` holds words of others, between marks they do not contain."""
    template = prompt("notice", prompts)
    schema = json.dumps(json_schema(SHAPE), ensure_ascii=False)
    system = template.rendered(kinds=", ".join(KINDS), longest=str(LONGEST), schema=schema)
    texts = [passage.text for passage in passages]
    mark = delimiter(texts, random) if random else delimiter(texts)
    excerpts = "\n\n".join(f"[turn {one.turn}, {one.role}]\n{one.text}" for one in passages)
    user = f"The excerpts stand between two lines with the mark {mark}.\n\n{mark}\n{excerpts}\n{mark}\n"
    sent = sum(map(len, texts))
    return Question(Role.LIGHT, template.name, template.sha256, system, user, SHAPE, sent, of_characters, mark)


def _groups(passages: Sequence[Passage]) -> list[list[Passage]]:
    """As many passages as fit into one question, in their order."""
    groups: list[list[Passage]] = []
    room = 0
    for passage in passages:
        if not groups or len(passage.text) > room:
            groups.append([])
            room = MOST_CHARACTERS
        groups[-1].append(passage)
        room -= len(passage.text)
    return groups
