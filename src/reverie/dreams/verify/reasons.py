"""Why something did not land by itself: one enum, rendered to sentences in this one place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Severity(IntEnum):
    """What follows from a finding. The gravest decides."""

    ASK = 1
    HELD = 2
    REFUSED = 3


class Reason(StrEnum):
    # refused
    NO_QUOTATION = "no_quotation"
    UNKNOWN_PLACE = "unknown_place"
    SEVERAL_DOCUMENTS = "several_documents"
    PLACEHOLDER = "placeholder"
    NOT_ONE_STATEMENT = "not_one_statement"
    INVENTED_ADDRESS = "invented_address"
    OLDER = "older"
    KNOWN = "known"
    SECRET = "secret"
    SENSITIVE = "sensitive"
    UNSAFE = "unsafe"
    OTHER_PROJECT = "other_project"
    NOT_WANTED = "not_wanted"
    DOUBTFUL = "doubtful"
    # asks
    ORIGIN = "origin"
    AUTHORITY = "authority"
    UNGROUNDED = "ungrounded"
    NEGATION = "negation"
    NOT_ASSERTED = "not_asserted"
    NOT_OWN_WORDS = "not_own_words"
    TAKEN_BACK = "taken_back"
    AGE_UNKNOWN = "age_unknown"
    DROPS_CONTENT = "drops_content"
    LEANS = "leans"
    UNNAMED = "unnamed"
    CONTRADICTS = "contradicts"
    OVERTAKES = "overtakes"
    CRITICAL = "critical"
    UNSURE = "unsure"
    SAID_ONCE = "said_once"
    LOW_SCORE = "low_score"
    UNTRUSTED = "untrusted"
    NO_ROOM = "no_room"
    SKILL = "skill"
    FEW_PEOPLE = "few_people"
    NOBODYS = "nobodys"
    # held
    LIMIT = "limit"
    MOST_PROPOSALS = "most_proposals"
    SEEN_ONCE = "seen_once"
    REPEATED = "repeated"
    NOT_SHOWN = "not_shown"
    NOT_PROPOSED = "not_proposed"


_REFUSED = frozenset({*list(Reason)[: list(Reason).index(Reason.ORIGIN)], Reason.NOT_PROPOSED})
_HELD = frozenset({Reason.LIMIT, Reason.MOST_PROPOSALS, Reason.SEEN_ONCE, Reason.REPEATED, Reason.NOT_SHOWN})
# Of what the curator itself is not sure, these leave too little to ask about.
DOUBTS = frozenset(
    {
        Reason.LEANS,
        Reason.NOT_ASSERTED,
        Reason.TAKEN_BACK,
        Reason.NEGATION,
        Reason.UNGROUNDED,
        Reason.NOT_OWN_WORDS,
    }
)
# These count against the score of what asks: the less is sure, the less often a person says yes.
AGAINST = (DOUBTS - {Reason.UNGROUNDED}) | {
    Reason.UNNAMED,
    Reason.DROPS_CONTENT,
    Reason.SAID_ONCE,
    Reason.UNSURE,
    Reason.ORIGIN,
}
# What a curator that is sure of something should have seen.
MISTAKES = DOUBTS | {
    Reason.NO_QUOTATION,
    Reason.UNKNOWN_PLACE,
    Reason.SEVERAL_DOCUMENTS,
    Reason.PLACEHOLDER,
    Reason.NOT_ONE_STATEMENT,
    Reason.INVENTED_ADDRESS,
    Reason.OLDER,
    Reason.SECRET,
    Reason.SENSITIVE,
    Reason.UNSAFE,
    Reason.ORIGIN,
    Reason.DROPS_CONTENT,
    Reason.SAID_ONCE,
    Reason.CONTRADICTS,
    Reason.OVERTAKES,
    Reason.UNNAMED,
}
# A person decides these even where nobody can be asked: elsewhere being unsure is enough to be marked.
FOR_A_PERSON = frozenset(
    {
        Reason.ORIGIN,
        Reason.AUTHORITY,
        Reason.CRITICAL,
        Reason.NOT_OWN_WORDS,
        Reason.SKILL,
        Reason.FEW_PEOPLE,
    }
)
# More than being unsure: it may not be what was said or meant. Where nobody is asked it is withheld as well.
MAY_BE_UNTRUE = frozenset(
    {
        Reason.UNGROUNDED,
        Reason.NEGATION,
        Reason.NOT_ASSERTED,
        Reason.TAKEN_BACK,
        Reason.UNTRUSTED,
    }
)

_SENTENCES = {
    Reason.NO_QUOTATION: "No quotation of it stands in the sessions.",
    Reason.UNKNOWN_PLACE: "{} is not there.",
    Reason.SEVERAL_DOCUMENTS: "One change is of one document, and its entries stand in {}.",
    Reason.PLACEHOLDER: "Its text holds {}, which stands for something that was hidden.",
    Reason.NOT_ONE_STATEMENT: "It is not one statement: {}.",
    Reason.INVENTED_ADDRESS: "Nobody said {}.",
    Reason.OLDER: "What was said ({}) is older than the entry it would change ({}).",
    Reason.KNOWN: "It is known already: “{}”",
    Reason.SECRET: "It holds a secret, and secrets are not kept in memory.",
    Reason.SENSITIVE: "It speaks of {}, and nobody asked to have it remembered.",
    Reason.UNSAFE: "The safety scan found: {}.",
    Reason.OTHER_PROJECT: "It is a matter of the project {}, and {} is read everywhere.",
    Reason.NOT_WANTED: "The instructions of this dream do not want it: {}.",
    Reason.DOUBTFUL: "Too little speaks for it to ask about it.",
    Reason.ORIGIN: "It rests on words of the {}, not of the owner.",
    Reason.AUTHORITY: "It would change what the agent may do, whom it writes to or where it sends things.",
    Reason.UNGROUNDED: "Nobody said {}.",
    Reason.NEGATION: "What was said and the text differ in a “not”.",
    Reason.NOT_ASSERTED: "The words it rests on {}.",
    Reason.NOT_OWN_WORDS: "The words it rests on may be pasted or quoted.",
    Reason.TAKEN_BACK: "It may have been taken back: “{}”",
    Reason.AGE_UNKNOWN: "Which of the two is newer cannot be told.",
    Reason.DROPS_CONTENT: "The entry also says “{}”, which nobody spoke of.",
    Reason.LEANS: "It may not be understood without the conversation ({}).",
    Reason.UNNAMED: "Who or what is “{}”? It was said in the conversation.",
    Reason.CONTRADICTS: "It contradicts “{}” in {}.",
    Reason.OVERTAKES: "It tells of a change, and “{}” may be what changed.",
    Reason.CRITICAL: "The entry is marked critical.",
    Reason.UNSURE: "The curator is not sure of it.",
    Reason.SAID_ONCE: "It was said once, and not as something that holds in general.",
    Reason.LOW_SCORE: "Its score of {} is below the {} that this needs.",
    Reason.UNTRUSTED: "Too much else of this curator's answer did not pass the checks.",
    Reason.NO_ROOM: "{} has no room for it: {} of {} characters would be used. To make room, {} would go.",
    Reason.SKILL: "Changes of skills wait for a person.",
    Reason.FEW_PEOPLE: "The memory is nobody's: what stands there changes when {} people say so, and {} did.",
    Reason.NOBODYS: "The memory is nobody's, and one person alone said it.",
    Reason.LIMIT: "The limit of {} for one night is reached.",
    Reason.MOST_PROPOSALS: "{} proposals are enough for one night.",
    Reason.SEEN_ONCE: "It was seen in one session only.",
    Reason.REPEATED: "Another change of the same entry, or to the same effect, comes first.",
    Reason.NOT_SHOWN: "What the curator is shown of a night had no room for it.",
    Reason.NOT_PROPOSED: "The curator made nothing of it.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason, with what it is about."""

    reason: Reason
    about: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        if self.reason in _REFUSED:
            return Severity.REFUSED
        return Severity.HELD if self.reason in _HELD else Severity.ASK

    @property
    def sentence(self) -> str:
        return _SENTENCES[self.reason].format(*self.about)


def finding(reason: Reason, *about: object) -> Finding:
    return Finding(reason, tuple(map(str, about)))
