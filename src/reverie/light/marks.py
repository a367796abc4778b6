"""The marks a sentence can bear, what each weighs, and which kind it speaks for.

Weights are log-odds that something is worth keeping. They were set by hand, watching labelled conversations, and
are the same in every language; `benchmarks/notice.py` prints what they achieve. A language only says which words
bear which mark.
"""

from __future__ import annotations

from enum import StrEnum


class Mark(StrEnum):
    # what speaks for keeping
    REMEMBER = "asks to remember"
    PREFER = "states a taste"
    STANDING = "holds in general"
    WISH = "asks for a manner"
    DECIDED = "tells a decision"
    CHANGED = "tells a change"
    CORRECTS = "corrects"
    LEARNED = "tells a lesson"
    DENIES = "denies an experience"
    ENDED = "tells an end"
    HABIT = "tells a habit"
    DONE = "tells a dated event"
    RULE = "states a rule"
    SCOPE = "says where it holds"
    UNIVERSAL = "speaks of all or none"
    STATE = "states how things are"
    IDENTITY = "says who they are"
    GOAL = "names a goal or limit"
    OWN = "speaks of their own"
    EXACT = "is specific"
    BECAUSE = "gives a reason"
    ANSWERS = "answers a question"
    TOLD = "is told for its own sake"
    CADENCE = "comes back on a schedule"
    ONCE_MORE = "was said before, as they say"
    # what only says which kind it is
    MANNER = "concerns how to answer"
    MINE = "speaks of the speaker"
    # what speaks against
    QUESTION = "is a question"
    ASKS = "serves a request"
    TASK = "is a task"
    PASSING = "is passing"
    OTHERS = "is about someone else"
    SUPPOSED = "is supposed"
    HEDGED = "is hedged"
    DOUBTED = "is doubted"
    VIEW = "is a view or a mood"
    AGREES = "goes along with a proposal"
    INTENT = "is an intention"
    TROUBLE = "reports trouble"
    THIS_ONE = "is about one thing at hand"
    REACTION = "is a reaction"
    OPENING = "opens the session"


# A sentence weighs what its strongest leading mark weighs, plus a little for each supporting one, less all that
# speaks against it. Were they simply added up, a long sentence would be worth keeping for its length.
LEADING: dict[Mark, float] = {
    Mark.REMEMBER: 3.0, Mark.PREFER: 2.6, Mark.DENIES: 2.6, Mark.DECIDED: 2.4, Mark.CHANGED: 2.3, Mark.ENDED: 2.3,
    Mark.LEARNED: 2.2, Mark.WISH: 2.2, Mark.STANDING: 2.2, Mark.CORRECTS: 2.0, Mark.IDENTITY: 1.6, Mark.SCOPE: 1.6,
    Mark.CADENCE: 1.5, Mark.RULE: 1.4, Mark.DONE: 1.3, Mark.ANSWERS: 1.3, Mark.HABIT: 1.2, Mark.TOLD: 1.1,
    Mark.STATE: 1.0, Mark.UNIVERSAL: 0.8,
}  # fmt: skip
SUPPORTING: dict[Mark, float] = {
    Mark.OWN: 0.4, Mark.TOLD: 0.4, Mark.EXACT: 0.3, Mark.UNIVERSAL: 0.3, Mark.BECAUSE: 0.3, Mark.GOAL: 0.3,
    Mark.RULE: 0.3, Mark.STANDING: 0.3, Mark.CHANGED: 0.3, Mark.STATE: 0.2, Mark.HABIT: 0.2,
}  # fmt: skip
AGAINST: dict[Mark, float] = {
    Mark.QUESTION: -3.0, Mark.OTHERS: -3.0, Mark.SUPPOSED: -3.0, Mark.REACTION: -2.5, Mark.PASSING: -2.0,
    Mark.TASK: -1.5, Mark.AGREES: -1.2, Mark.ASKS: -1.0, Mark.INTENT: -1.0, Mark.HEDGED: -1.0, Mark.THIS_ONE: -1.0,
    Mark.VIEW: -0.8, Mark.TROUBLE: -0.8, Mark.DOUBTED: -0.7, Mark.OPENING: -0.6,
}  # fmt: skip
# These count only where they stand in the same clause as the leading mark: "I'm trying to cook more, and I hate leeks".
IN_THE_CLAUSE = frozenset({Mark.INTENT, Mark.HEDGED, Mark.TROUBLE, Mark.VIEW})
# And these never against what was plainly said to be so: a worry does not undo a change.
NOT_AGAINST_PLAIN_WORDS = frozenset({Mark.INTENT, Mark.VIEW, Mark.DOUBTED})
PLAIN_WORDS = frozenset({Mark.PREFER, Mark.DENIES, Mark.CHANGED, Mark.ENDED})
MOST_SUPPORT = 1.0
MOST_SUPPORT_IN_A_REQUEST = 0.5
STRONG = 2.0  # a leading mark that needs no help to be believed
THRESHOLD = 1.4
