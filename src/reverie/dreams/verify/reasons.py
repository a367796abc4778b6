"""Why something did not land by itself: one table of reasons, with what follows from each and how people are told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, IntEnum, StrEnum, auto
from typing import Self


class Severity(IntEnum):
    """What follows from a finding. The gravest decides."""

    ASK = 1
    HELD = 2
    REFUSED = 3


class Mark(Flag):
    """DOUBT: of what the curator itself is not sure, it leaves too little to ask about. AGAINST: it counts against the
    score of what asks. MISTAKE: a curator that is sure should have seen it. WITHHELD: a person decides, or it may not
    be what was said or meant; where nobody is asked it is not done. What is only unsure is done there, and marked."""

    DOUBT = auto()
    AGAINST = auto()
    MISTAKE = auto()
    WITHHELD = auto()


ASK, HELD, REFUSED = Severity
DOUBT, AGAINST, MISTAKE, WITHHELD = Mark
PLAIN, UNFIT = Mark(0), AGAINST | MISTAKE


class Reason(StrEnum):
    severity: Severity
    marks: Mark
    sentence: str

    def __new__(cls, value: str, severity: Severity, marks: Mark, sentence: str) -> Self:
        reason = str.__new__(cls, value)
        reason._value_ = value
        reason.severity, reason.marks, reason.sentence = severity, marks, sentence
        return reason

    NO_QUOTATION = auto(), REFUSED, MISTAKE, "No quotation of it stands in the sessions."
    UNKNOWN_PLACE = auto(), REFUSED, MISTAKE, "{} is not there."
    SEVERAL_DOCUMENTS = auto(), REFUSED, MISTAKE, "One change is of one document, and its entries stand in {}."
    PLACEHOLDER = auto(), REFUSED, MISTAKE, "Its text holds {}, which stands for something that was hidden."
    NOT_ONE_STATEMENT = auto(), REFUSED, MISTAKE, "It is not one statement: {}."
    INVENTED_ADDRESS = auto(), REFUSED, MISTAKE, "Nobody said {}."
    OLDER = auto(), REFUSED, MISTAKE, "What was said ({}) is older than the entry it would change ({})."
    KNOWN = auto(), REFUSED, PLAIN, "It is known already: “{}”"
    SECRET = auto(), REFUSED, MISTAKE, "It holds a secret, and secrets are not kept in memory."
    SENSITIVE = auto(), REFUSED, MISTAKE, "It speaks of {}, and nobody asked to have it remembered."
    UNSAFE = auto(), REFUSED, MISTAKE, "The safety scan found: {}."
    OTHER_PROJECT = auto(), REFUSED, PLAIN, "It is a matter of the project {}, and {} is read everywhere."
    DOUBTFUL = auto(), REFUSED, PLAIN, "Too little speaks for it to ask about it."
    NOT_PROPOSED = auto(), REFUSED, PLAIN, "The curator made nothing of it."

    ORIGIN = auto(), ASK, UNFIT | WITHHELD, "It rests on words of the {}, not of the owner."
    AUTHORITY = auto(), ASK, WITHHELD, "It would change what the agent may do, whom it writes to or where things go."
    PASSWORD = auto(), ASK, WITHHELD, "It may give a password away."
    UNGROUNDED = auto(), ASK, DOUBT | MISTAKE | WITHHELD, "Nobody said {}."
    NEGATION = auto(), ASK, DOUBT | UNFIT | WITHHELD, "What was said and the text differ in a “not”."
    NOT_ASSERTED = auto(), ASK, DOUBT | UNFIT | WITHHELD, "The words it rests on do not say that it holds: {}."
    PUT_AS_QUESTION = auto(), ASK, UNFIT | WITHHELD, "It was put as a question."
    NOT_OWN_WORDS = auto(), ASK, DOUBT | UNFIT | WITHHELD, "The words it rests on may be pasted or quoted."
    TAKEN_BACK = auto(), ASK, DOUBT | UNFIT | WITHHELD, "It may have been taken back: “{}”"
    SAID_OTHERWISE = auto(), ASK, UNFIT | WITHHELD, "Something else may have been said later: “{}”"
    AGE_UNKNOWN = auto(), ASK, PLAIN, "Which of the two is newer cannot be told."
    DROPS_CONTENT = auto(), ASK, UNFIT, "The entry also says “{}”, which nobody spoke of."
    LEANS = auto(), ASK, DOUBT | UNFIT, "It may not be understood without the conversation ({})."
    UNNAMED = auto(), ASK, UNFIT, "Who or what is “{}”? It was said in the conversation."
    CONTRADICTS = auto(), ASK, MISTAKE, "It contradicts “{}” in {}."
    NEARLY_SAID = auto(), ASK, PLAIN, "It says nearly what “{}” in {} says, or the opposite."
    OVERTAKES = auto(), ASK, MISTAKE, "It tells of a change, and “{}” may be what changed."
    CRITICAL = auto(), ASK, WITHHELD, "The entry is marked critical."
    UNSURE = auto(), ASK, AGAINST, "Not sure enough to land by itself."
    SAID_ONCE = auto(), ASK, UNFIT, "It was said once, and not as something that holds in general."
    LOW_SCORE = auto(), ASK, PLAIN, "Its score of {} is below the {} that this needs."
    UNTRUSTED = auto(), ASK, WITHHELD, "Too much else of this curator's answer did not pass the checks."
    NO_ROOM = auto(), ASK, PLAIN, "{} is full: {} of {} characters would be used. To make room, {} would go."
    SKILL = auto(), ASK, WITHHELD, "Changes of skills wait for a person."
    FEW_PEOPLE = auto(), ASK, WITHHELD, "The memory is nobody's: it changes when {} people say so, and {} did."
    NOBODYS = auto(), ASK, PLAIN, "The memory is nobody's, and one person alone said it."

    LIMIT = auto(), HELD, PLAIN, "The limit of {} for one night is reached."
    MOST_PROPOSALS = auto(), HELD, PLAIN, "{} proposals are enough for one night."
    SEEN_ONCE = auto(), HELD, PLAIN, "It was seen in one session only."
    REPEATED = auto(), HELD, PLAIN, "Another change of the same entry, or to the same effect, comes first."
    NOT_SHOWN = auto(), HELD, PLAIN, "What the curator is shown of a night had no room for it."


@dataclass(frozen=True, slots=True)
class Objection:
    """A reason, with what it is about."""

    reason: Reason
    about: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        return self.reason.severity

    @property
    def sentence(self) -> str:
        return self.reason.sentence.format(*self.about)


def finding(reason: Reason, *about: object) -> Objection:
    return Objection(reason, tuple(map(str, about)))
