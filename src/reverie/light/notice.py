"""The built-in reader: what in a Session may be worth keeping. Pure, deterministic, linear in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import takewhile

from reverie.kernel.origin import Origin
from reverie.light.candidate import Candidate
from reverie.light.dates import dates_in
from reverie.light.echoes import Echoes, subjects
from reverie.light.games import in_play
from reverie.light.kinds import about, explicitness, kind_of
from reverie.light.leaning import generalises, leans, named
from reverie.light.lessons import lessons
from reverie.light.marks import Mark
from reverie.light.phrases import phrase
from reverie.light.recurring import recurring
from reverie.light.regions import edges, own_words
from reverie.light.sentences import Sentence, sentences
from reverie.light.subjectless import goes_on_about
from reverie.light.tongues import Tongue, clearly, language_of, plain, tongue
from reverie.light.weighing import Setting, Weighed, clause, weigh
from reverie.light.wording import worded
from reverie.sessions.noise import heard
from reverie.sessions.session import Evidence, Session, Turn, quote

MOST_PER_TURN = 4
REPLACED = 0.4  # how much of a change an earlier turn must speak of to count as what it changes
SAID_AGAIN = 0.28
_SOON = 6
_COMPLAINT = 2  # sentences
_FEW = 3  # words
_LATELY = 600  # characters of an answer that a person reacts to
_LONG_AGO = 100  # turns; further back nothing is looked for, so that a long session stays linear
_PEOPLE = (Origin.OWNER, Origin.MEMBER)  # a tool's words in a person's message have Origin tool and are left out
_LEANS = re.compile(r"\b(?:those|these|it|it's|that|that's|them|they)\b")
_DENIAL = re.compile(r"\b(?:no|not|never|wrong|kein\w*|nicht|nie|falsch|pas|jamais|non|não|niet|geen)\b|n't\b")
_REPLACING = frozenset({Mark.CHANGED, Mark.DENIES, Mark.ENDED})
_TELLING = _REPLACING | {Mark.CORRECTS}
_UNTOLD = frozenset({Mark.QUESTION, Mark.SUPPOSED, Mark.HEDGED, Mark.OTHERS})
_LASTING = frozenset({Mark.STANDING, Mark.PREFER, Mark.REMEMBER, Mark.WISH})


def notice(session: Session) -> list[Candidate]:
    """Candidates in the order of the turns they rest on."""
    people = spoken(session)
    echoes = Echoes({heard_turn.number: heard_turn.own for heard_turn in people})
    found = [candidate for place in range(len(people)) for candidate in _told(session, people, place, echoes)]
    found += recurring(session, _requests(people), people[0].language if people else "und")
    found += lessons(session)
    return sorted(found, key=lambda candidate: candidate.first_turn)


@dataclass(frozen=True, slots=True)
class Heard:
    """A person's turn: their own words in it, sentence by sentence."""

    number: int
    own: str
    language: str
    sentences: list[Sentence]
    said_on: date | None


def spoken(session: Session) -> list[Heard]:
    turns = [turn for turn in session.turns if turn.role == "user" and turn.noise is None and turn.origin in _PEOPLE]
    playing = in_play(session)
    main = language_of(" ".join(turn.text[:200] for turn in turns[:20]))
    return [_heard(session, turn, main) for turn in turns if turn.number not in playing]


def _heard(session: Session, turn: Turn, main: str) -> Heard:
    text = edges(heard(turn.text))
    own = own_words(text)
    verbatim = [sentence for sentence in sentences(text, own) if sentence.text in turn.text]
    said = [replace(sentence, place=place) for place, sentence in enumerate(_with_fragments(verbatim, turn.text))]
    at = turn.at or session.head.started_at
    return Heard(turn.number, own, language_of(own, main), said, at.date() if at else None)


def _with_fragments(said: list[Sentence], text: str) -> list[Sentence]:
    """What says that it holds in general, together with the few words before it that say what does:
    "Answer first. First line. Every time, not only on Mondays.\""""
    made: list[Sentence] = []
    for sentence in said:
        short = 0
        if len(sentence.own.split()) > _FEW and generalises(plain(sentence.own)):
            short = sum(1 for _ in takewhile(_is_fragment, made[-1 : -1 - _COMPLAINT : -1]))
        whole = _from_to(text, [*made[len(made) - short :], sentence]) if short else ""
        if whole:
            own = " ".join(one.own for one in (*made[len(made) - short :], sentence))
            made[len(made) - short :] = [Sentence(whole, own, 0)]
        else:
            made.append(sentence)
    return made


def _is_fragment(sentence: Sentence) -> bool:
    return len(sentence.own.split()) <= 2 * _FEW and not sentence.asked


def _from_to(text: str, said: list[Sentence]) -> str:
    """The words of the turn from the first of these sentences to the last; nothing where others stand between."""
    start = text.find(said[0].text)
    end = text.find(said[-1].text, start) + len(said[-1].text)
    return text[start:end] if end - start <= sum(len(one.text) + 2 for one in said) else ""


def _told(session: Session, spoken: list[Heard], place: int, echoes: Echoes) -> Iterator[Candidate]:
    turn = spoken[place]
    voice = tongue(turn.language)
    if voice is None:
        return
    before = spoken[place - 1] if place else None
    kept = [weighed for weighed in weighed_sentences(session, turn, voice, before) if weighed.kept]
    if any(weighed.strong for weighed in kept):  # a remark that only leans on it is its reason, not a thing of its own
        kept = [weighed for weighed in kept if weighed.strong or not _LEANS.search(plain(weighed.sentence.own))]
    strongest = sorted(kept, key=lambda weighed: -weighed.score)[:MOST_PER_TURN]
    for weighed in sorted(strongest, key=lambda weighed: weighed.sentence.place):
        yield _candidate(session, turn, weighed, _elsewhere(session, spoken, place, weighed, echoes))


def weighed_sentences(session: Session, turn: Heard, voice: Tongue, before: Heard | None) -> Iterator[Weighed]:
    asks = any(sentence.asked and not voice.bears(Mark.WISH, plain(sentence.own)) for sentence in turn.sentences)
    agrees = _agrees(turn, voice)
    puts_right = _puts_right(session, turn, voice)
    asked = _asked_before(session, turn)
    opens, told = before is None, False
    about_another = before is not None and _ends_about_another(before)
    general = [(sentence.place > 0 or asked) and generalises(plain(sentence.own)) for sentence in turn.sentences]
    before_general = False
    complains = before is not None and any(phrase("once_more").match(plain(one.own)) for one in turn.sentences[:1])
    for sentence, only_general, of_all in zip(turn.sentences, general, [*general[1:], False], strict=False):
        if only_general:
            before_general = sentence.place == 0  # "altogether. red is the juniors' crest"
            continue
        told = told and leans(plain(sentence.own))
        own_voice = tongue(clearly(sentence.own, turn.language)) or voice
        goes_on = about_another and goes_on_about(plain(sentence.own), own_voice)
        corrects = puts_right and sentence.place == 1
        setting = Setting(
            opens, asked and sentence.place == 0, asks, agrees, goes_on, told, corrects, of_all or before_general,
            complains and sentence.place < _COMPLAINT,
        )  # fmt: skip
        before_general = False
        weighed = weigh(sentence, own_voice, setting)
        about_another = Mark.OTHERS in weighed.marks
        told = bool(_TELLING & weighed.marks.keys()) and not _UNTOLD & weighed.marks.keys()
        yield weighed


def _ends_about_another(turn: Heard) -> bool:
    voice = tongue(turn.language)
    return voice is not None and any(voice.bears(Mark.OTHERS, plain(last.own)) for last in turn.sentences[-1:])


def _puts_right(session: Session, turn: Heard, voice: Tongue) -> bool:
    """The first words say no to what the agent has just said, so that the next ones say what holds:
    "There is no main here. The default branch is trunk.\""""
    before = session.turn(turn.number - 1) if turn.number > 1 else None
    if before is None or before.role != "assistant" or not turn.sentences:
        return False
    words = plain(turn.sentences[0].own)
    if voice.bears(Mark.CORRECTS, words):
        return True
    return bool(_DENIAL.search(words) and subjects(turn.sentences[0].own) & subjects(before.text[-_LATELY:]))


def _asked_before(session: Session, turn: Heard) -> bool:
    before = session.turn(turn.number - 1) if turn.number > 1 else None
    asked = before is not None and before.role == "assistant" and before.text.rstrip().endswith(("?", "？"))
    return asked and len(turn.sentences) <= 2


def _candidate(session: Session, turn: Heard, weighed: Weighed, elsewhere: list[Evidence]) -> Candidate:
    lead = weighed.lead or Mark.STATE
    marks = weighed.marks.keys()
    kind = kind_of(lead, marks)
    dates = dates_in(plain(weighed.sentence.own), turn.said_on)
    language = clearly(weighed.sentence.own, turn.language)
    text = worded(weighed.sentence.text, weighed.marks[lead][0], language, dates)
    if language == "en" and weighed.sentence.place:
        text = named(text, turn.sentences[weighed.sentence.place - 1].text)
    return Candidate(
        kind=kind,
        text=text,
        confidence=weighed.confidence,
        explicitness=explicitness(marks),
        evidence=(quote(session, turn.number, weighed.sentence.text), *elsewhere),
        about=about(kind, marks),
        language=language,
        dates=tuple(dict.fromkeys(spoken.day for spoken in dates)),
        marks=tuple(weighed.marks),
    )


def _elsewhere(session: Session, spoken: list[Heard], place: int, weighed: Weighed, echoes: Echoes) -> list[Evidence]:
    """As context: the turn that a change replaces, or those soon after that say a lasting wish again or go by it."""
    own, lead = weighed.sentence.own, weighed.lead
    if lead in _REPLACING:
        earlier = [turn.number for turn in spoken[max(0, place - _LONG_AGO) : place]]
        valued = echoes.valued(own, earlier)
        own = own[slice(*clause(plain(own), weighed.marks[lead]))]
        numbers = {number for number in (valued, echoes.nearest(own, earlier, REPLACED)) if number}
    elif lead in _LASTING:
        soon = [turn for turn in spoken[place + 1 :] if turn.number <= spoken[place].number + _SOON]
        telling = (turn.number for turn in soon if not all(sentence.asked for sentence in turn.sentences))
        numbers = echoes.alike(own, telling, SAID_AGAIN)
        numbers |= {turn.number for turn in takewhile(_goes_along, soon[:2])}
    else:
        return []
    return [_closest(session, turn, own) for turn in spoken if turn.number in numbers and turn.sentences]


def _goes_along(turn: Heard) -> bool:
    """Not a bare thank-you: it says how the person goes on."""
    voice = tongue(turn.language)
    return voice is not None and _agrees(turn, voice) and len(turn.own.split()) > 4


def _agrees(turn: Heard, voice: Tongue) -> bool:
    return any(voice.bears(Mark.AGREES, plain(first.own)) for first in turn.sentences[:1])


def _closest(session: Session, turn: Heard, text: str) -> Evidence:
    words = subjects(text)
    closest = max(turn.sentences, key=lambda sentence: len(words & subjects(sentence.own)))
    return quote(session, turn.number, closest.text, "context")


def _requests(spoken: list[Heard]) -> dict[int, str]:
    """The last task each turn sets, if it sets one."""
    asked: dict[int, str] = {}
    for turn in spoken:
        voice = tongue(turn.language)
        for sentence in turn.sentences if voice else ():
            if voice and not sentence.asked and voice.bears(Mark.TASK, plain(sentence.own)):
                asked[turn.number] = sentence.text
    return asked
