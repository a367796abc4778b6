"""How much speaks for keeping one sentence: its marks, their weights, and what stands around it."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from math import exp

from reverie.light.leaning import asks_to_remember
from reverie.light.marks import (
    AGAINST,
    IN_THE_CLAUSE,
    LEADING,
    MOST_SUPPORT,
    MOST_SUPPORT_IN_A_REQUEST,
    NOT_AGAINST_PLAIN_WORDS,
    PLAIN_WORDS,
    STRONG,
    SUPPORTING,
    THRESHOLD,
    Mark,
)
from reverie.light.phrases import phrase
from reverie.light.regions import QUOTED
from reverie.light.sentences import Sentence
from reverie.light.tongues import Tongue, plain

_EXACT = re.compile(rf"\d|{QUOTED}|\b[a-z]\w*[A-Z_/]\w|\w[./_-]\w+[./_-]\w|~/|\B/\w|(?<=[a-z,;:] )[A-Z][\w-]+")
_DATED = re.compile(
    r"\d{4}|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|\d [a-z]{3,9}\b"
    r"|yesterday|last (?:week|month|year)"
)
_UNDECIDED = re.compile(
    r"(?:n't|\b(?:not|never|nicht|nichts|no|pas|n'avons|n'a|n'ai|non|não|niet))\s+"
    r"(?:(?:yet|been|really|se|ha|hemos|he|have) ){0,2}$"
)
_DESCRIBED = re.compile(r"\b(?:who|which|that|der|die|das|que|qui|che|dat)\s+$")  # "a captain who never writes tests"
_AT_THE_AGENT = re.compile(r"\W*(?:you|du|vous|você)\b")  # "you've added it twice": what it did, not what holds
_NOT_ONLY = re.compile(
    r"\b(?:today|now) and (?:later|always|tomorrow|ever after|in (?:the )?future|from now on)\b"
    r"|\b(?:heute|jetzt) und (?:künftig|später|immer|in zukunft)\b"
    r"|\b(?:aujourd'hui|maintenant) et (?:plus tard|toujours|à l'avenir)\b"
    r"|\b(?:hoy|ahora) y (?:siempre|en adelante|en el futuro)\b|\b(?:oggi|adesso) e (?:sempre|in futuro)\b"
    r"|\bnot (?:just|only) (?:this (?:one|time|once)|today|for (?:this|now)\b)|\bnicht nur (?:diesmal|heute"
    r"|dieses mal|hier)"
    r"|\bpas (?:seulement|que) (?:cette fois|aujourd'hui)|\bno solo (?:esta vez|hoy)|\bnon solo (?:questa volta|oggi)"
    r"|\bnão só (?:desta vez|hoje)|\bniet alleen (?:deze keer|vandaag|nu)"
)
_WORD = re.compile(r"\w+")
_THEY = re.compile(
    r"(?:they|he|she|er|sie|il|elle|ils|elles|él|ella|ellos|lui|lei|loro|ele|ela|hij|zij|ze|han|hon|hun)\b"
)
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_GENERAL = frozenset({Mark.STANDING, Mark.REMEMBER})
_ASKED_FOR = _GENERAL | {Mark.WISH}
_WANTS = frozenset({Mark.PREFER, Mark.WISH, Mark.CORRECTS, Mark.RULE})
_NOT_TOLD = {Mark.QUESTION, Mark.ASKS, Mark.TASK, Mark.REACTION}
_CLAUSE_END = re.compile(
    r"[,;:—–]\s|\s-\s|\b(?:but|and|so|because|since|which|although|aber|pero|mais|mas|ma|maar)\b|[、，；]"
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What stands around a sentence."""

    opens: bool = False
    asked_before: bool = False
    asks: bool = False
    agrees: bool = False
    of_another: bool = False  # it goes on about someone the sentence before spoke of
    completes: bool = False  # it says what holds, after one that told of a change
    corrects: bool = False  # it says what holds, after one that said no to the agent
    general: bool = False  # the sentence beside it says that it holds in general
    once_more: bool = False  # it stands in a complaint about something that was done before


@dataclass(frozen=True, slots=True)
class Weighed:
    sentence: Sentence
    marks: dict[Mark, tuple[int, int]]
    lead: Mark | None
    score: float

    @property
    def kept(self) -> bool:
        return self.lead is not None and self.score >= THRESHOLD

    @property
    def strong(self) -> bool:
        return self.lead is not None and LEADING[self.lead] >= STRONG

    @property
    def confidence(self) -> float:
        return round(1 / (1 + exp(THRESHOLD - 0.6 - self.score)), 3)


def weigh(sentence: Sentence, tongue: Tongue, setting: Setting) -> Weighed:
    words = plain(sentence.own)
    marks = {mark: found.span() for mark, found in tongue.marks(words).items()}
    _settle(marks, sentence, setting, words)
    lead = max((mark for mark in marks if mark in LEADING), key=lambda mark: LEADING[mark], default=None)
    if lead:
        _drop_from_other_clauses(marks, lead, words, tongue)
    return Weighed(sentence, marks, lead, _score(marks.keys(), lead))


def _score(marks: Set[Mark], lead: Mark | None) -> float:
    if lead is None:
        return -9.0
    most = MOST_SUPPORT_IN_A_REQUEST if Mark.ASKS in marks else MOST_SUPPORT
    support = sum(weight for mark, weight in SUPPORTING.items() if mark in marks and mark is not lead)
    return LEADING[lead] + min(support, most) + sum(AGAINST.get(mark, 0.0) for mark in marks)


def _has_body(words: str) -> bool:
    return len(_WORD.findall(words)) >= 5 or len(_CJK.findall(words)) >= 8


def _drop_from_other_clauses(marks: dict[Mark, tuple[int, int]], lead: Mark, words: str, tongue: Tongue) -> None:
    start, end = clause(words, marks[lead])
    if Mark.OTHERS in marks and _is_of_a_later_clause(marks, lead, words):
        del marks[Mark.OTHERS]
    excused = NOT_AGAINST_PLAIN_WORDS if lead in PLAIN_WORDS else frozenset()
    for mark in (IN_THE_CLAUSE | excused) & marks.keys():
        if mark in excused or not tongue.cues[mark].search(words, start, end):
            del marks[mark]


def _is_of_a_later_clause(marks: dict[Mark, tuple[int, int]], lead: Mark, words: str) -> bool:
    """ "Our flour comes from Kessler, and they want the order by noon": the first clause is about the flour."""
    at = marks[Mark.OTHERS][0]
    if (
        not _THEY.match(words, at)
        or not (found := _CLAUSE_END.search(words, 0, at))
        or not _has_body(words[: found.start()])
    ):
        return False
    begin = clause(words, marks[Mark.OTHERS])[0]
    return not any(marks[mark][0] >= begin for mark in marks if mark in LEADING and LEADING[mark] >= STRONG)


def clause(words: str, span: tuple[int, int]) -> tuple[int, int]:
    """From the last boundary before the span to the first one after it."""
    start = max((found.end() for found in _CLAUSE_END.finditer(words, 0, span[0] + 1)), default=0)
    after = _CLAUSE_END.search(words, span[1])
    return start, after.start() if after else len(words)


def _settle(marks: dict[Mark, tuple[int, int]], sentence: Sentence, setting: Setting, words: str) -> None:
    """Marks that depend on each other or on what stands around, not on words alone."""
    everywhere = (0, len(words))
    if _EXACT.search(sentence.own):
        marks[Mark.EXACT] = everywhere
    _settle_what_it_says(marks, words)
    _settle_requests(marks, sentence, setting, words)
    _settle_lasting(marks, setting, everywhere)
    if setting.completes and Mark.EXACT in marks:
        marks[Mark.CHANGED] = everywhere
    says_so = setting.corrects and not _NOT_TOLD & marks.keys() and not _AT_THE_AGENT.match(words)
    if says_so and (Mark.EXACT in marks or _has_body(words)):
        marks.setdefault(Mark.CORRECTS, everywhere)
    if setting.of_another:
        marks[Mark.OTHERS] = everywhere
    if not (setting.opens or setting.asks or setting.agrees or _NOT_TOLD & marks.keys()) and _has_body(words):
        marks[Mark.TOLD] = everywhere
    if setting.agrees and not _ASKED_FOR & marks.keys():  # after "thanks", a wish is a wish
        marks[Mark.AGREES] = everywhere
    if setting.opens:
        marks[Mark.OPENING] = everywhere
    if setting.asked_before and Mark.EXACT in marks and not {Mark.QUESTION, Mark.REACTION, Mark.TASK} & marks.keys():
        marks[Mark.ANSWERS] = everywhere


def _settle_what_it_says(marks: dict[Mark, tuple[int, int]], words: str) -> None:
    """What words only mean beside others."""
    if useless := phrase("of_no_use").search(words):
        marks.setdefault(Mark.PREFER, useless.span())
        marks.setdefault(Mark.MINE, useless.span())
    if general := _NOT_ONLY.search(words):  # "on all of them, not just this one"
        marks[Mark.STANDING] = general.span()
        for mark in (Mark.THIS_ONE, Mark.PASSING):
            if mark in marks and general.start() <= marks[mark][0] < general.end():
                del marks[mark]
    follows = phrase("follows_on").match(words)
    if follows and Mark.DECIDED not in marks:  # "Then let's decide: …" is no step of the work at hand
        marks.setdefault(Mark.PASSING, follows.span())
    if before := phrase("said_before").search(words):
        marks[Mark.ONCE_MORE] = before.span()
    for mark in (Mark.THIS_ONE, Mark.PASSING) if Mark.REMEMBER in marks else ():
        if mark in marks and marks[mark][0] <= marks[Mark.REMEMBER][1] + 1:  # "remember this one for good"
            del marks[mark]
    if Mark.DONE in marks and not _DATED.search(words):
        del marks[Mark.DONE]
    if Mark.DECIDED in marks and _UNDECIDED.search(words, 0, marks[Mark.DECIDED][0]):
        del marks[Mark.DECIDED]
    for mark in (Mark.STANDING, Mark.HABIT):
        if mark in marks and _DESCRIBED.search(words, 0, marks[mark][0]):
            del marks[mark]


def _settle_lasting(marks: dict[Mark, tuple[int, int]], setting: Setting, everywhere: tuple[int, int]) -> None:
    """What comes back on a schedule, or is said to hold in general, does not pass."""
    if Mark.CADENCE in marks:  # "every Thursday afternoon"
        marks.pop(Mark.PASSING, None)
    if setting.once_more and _WANTS & marks.keys():
        marks[Mark.ONCE_MORE] = everywhere
    if setting.general or Mark.ONCE_MORE in marks:
        marks[Mark.STANDING] = everywhere
        marks.pop(Mark.TASK, None)


def _settle_requests(marks: dict[Mark, tuple[int, int]], sentence: Sentence, setting: Setting, words: str) -> None:
    """What is a question, a request or a task, and what only sounds like one."""
    everywhere = (0, len(words))
    if sentence.asked:
        marks[Mark.QUESTION] = everywhere
    if Mark.WISH in marks:  # a manner asked for politely is no question and no task
        marks.pop(Mark.QUESTION, None)
        marks.pop(Mark.ASKS, None)
    reminds = sentence.asked and Mark.REMEMBER in marks and marks[Mark.REMEMBER][1] == len(words.rstrip())
    if sentence.asked and (polite := asks_to_remember(words)):  # "might I ask you to remember that …?"
        marks[Mark.REMEMBER], reminds = polite.span(), True
        marks.pop(Mark.HEDGED, None)
    if reminds:  # "…, remember?"
        marks.pop(Mark.QUESTION, None)
    if Mark.QUESTION in marks and Mark.ASKS in marks:
        del marks[Mark.ASKS if marks[Mark.QUESTION][0] == 0 and not sentence.asked else Mark.QUESTION]
    if Mark.TASK in marks and {Mark.STANDING, Mark.SCOPE, Mark.WISH, Mark.REMEMBER} & marks.keys():
        del marks[Mark.TASK]
    if setting.asks:
        marks.setdefault(Mark.ASKS, everywhere)
    if _GENERAL & marks.keys() and (reminds or not (sentence.asked or Mark.QUESTION in marks)):
        marks.pop(Mark.ASKS, None)  # "always give me kilometres" asks for more than an answer
