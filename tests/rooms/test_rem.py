"""REM: thirteen dimensions, weights with the right signs, gates, and the limits of one night."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.deep.decision import Decision, Verb
from reverie.deep.judging import Mind, deepen
from reverie.deep.standing import Standing
from reverie.kernel.origin import Origin
from reverie.language.relation import RelationKind
from reverie.memory.operation import Add, Remove, Replace
from reverie.rem.dimensions import NAMES, NEGATIVE, POSITIVE, Weighing, dimensions
from reverie.rem.gates import Gates, Limits, Weighed, gated, within
from reverie.rem.scoring import scored, weights
from reverie.rem.suggesting import suggestion
from reverie.review.proposal import Score
from tests.rooms.test_deep import DOCUMENTS, NOW, heard, known

ENTRY = known("Releases are tagged on Wednesdays.")


def one(*sessions: str) -> Decision:
    return deepen(heard(*sessions), Mind((), DOCUMENTS, NOW, owner="ann")).decisions[0]


ORDER = one("Please remember that I always want distances in kilometres.")
SOFT = one("I prefer tables for numbers.")
STANDING = Standing(ENTRY, RelationKind.SUPERSEDES, 0.9, "why", 0.6)


def made(verb: Verb, text: str = "x", sure: float = 0.9) -> Decision:
    return replace(
        ORDER, verb=verb, text=text, target=ENTRY, document="MEMORY.md", standing=replace(STANDING, confidence=sure)
    )


def test_every_dimension_is_in_bounds_and_explains_itself() -> None:
    for decision in (ORDER, SOFT):
        found = dimensions(decision, Weighing(NOW, (ENTRY,), {"USER.md": 40}))
        assert [one.name for one in found] == list(NAMES) and len(NAMES) == 13
        assert all(0 <= one.value <= 1 and one.why.endswith(".") for one in found)


def test_weights_have_the_signs_of_their_dimensions() -> None:
    shipped = weights().dimensions
    assert all(shipped[name] > 0 for name in POSITIVE) and all(shipped[name] < 0 for name in NEGATIVE)


def test_a_score_is_the_sum_of_its_parts_and_grows_with_what_speaks_for_it() -> None:
    weighing = Weighing(NOW)
    once, twice = (
        scored(SOFT, weighing),
        scored(one("I prefer tables for numbers.", "I prefer tables when you show numbers."), weighing),
    )
    assert 0 <= once.total < 0.88 <= twice.total <= 1
    assert scored(ORDER, weighing).total >= 0.88
    assert scored(ORDER, replace(weighing, asked={ORDER.matter.last.id: 4})).total > scored(ORDER, weighing).total


@pytest.mark.parametrize(
    ("verb", "total", "sure", "passes"),
    [
        (Verb.PROMOTE, 0.88, 0.0, True),
        (Verb.PROMOTE, 0.87, 1.0, False),
        (Verb.SUPERSEDE, 0.80, 0.75, True),
        (Verb.SUPERSEDE, 0.99, 0.74, False),
        (Verb.SUPERSEDE, 0.79, 0.99, False),
        (Verb.REMOVE, 0.85, 0.85, True),
        (Verb.REMOVE, 0.99, 0.84, False),
        (Verb.MERGE, 0.90, 0.80, True),
        (Verb.MERGE, 0.90, 0.79, False),
    ],
)
def test_gates(verb: Verb, total: float, sure: float, passes: bool) -> None:
    weighed = gated(made(verb, sure=sure), Score(total), Gates())
    assert weighed.passes is passes and (passes or "gate" in weighed.held_back)


def test_a_merged_wording_must_be_shorter_or_clearer() -> None:
    longer = made(Verb.MERGE, "x" * 100)
    assert not gated(longer, Score(0.99), Gates()).passes
    clearer = replace(longer, standing=replace(STANDING, overlap=1.0))
    assert gated(clearer, Score(0.99), Gates()).passes


def test_when_there_is_too_much_contradictions_go_first_and_one_thing_is_added() -> None:
    def entry(name: str) -> Decision:
        return replace(made(Verb.REMOVE), target=known(name), text="")

    wanted = [Weighed(ORDER, Score(0.99)), Weighed(SOFT, Score(0.95)), Weighed(entry("a"), Score(0.9))]
    wanted += [Weighed(replace(entry("b"), verb=Verb.SUPERSEDE, text="b2"), Score(0.81))]
    done = within(wanted, Limits())
    assert [one.decision.verb for one in done if one.passes] == [Verb.SUPERSEDE, Verb.REMOVE, Verb.PROMOTE]
    assert [one.score.total for one in done if not one.passes] == [0.95]
    twice = [Weighed(made(Verb.SUPERSEDE, "one"), Score(0.9)), Weighed(made(Verb.SUPERSEDE, "two"), Score(0.85))]
    assert sum(one.passes for one in within(twice, Limits())) == 1
    long = [Weighed(replace(ORDER, text="x" * 251), Score(0.99))]
    assert not within(long, Limits())[0].passes


def test_a_suggestion_names_the_entry_by_its_hash_and_carries_honest_evidence() -> None:
    def operation(decision: Decision) -> object:
        return suggestion(Weighed(decision, Score(0.9)), "hermes", "skills", "drm_1").operations[0]

    assert operation(made(Verb.SUPERSEDE)) == Replace("MEMORY.md", ENTRY.sha256, "x")
    assert operation(made(Verb.REMOVE)) == Remove("MEMORY.md", ENTRY.sha256)
    assert operation(ORDER) == Add("USER.md", ORDER.text)
    made_of = suggestion(Weighed(ORDER, Score(0.9)), "hermes", "skills", "drm_1")
    assert made_of.origin is Origin.OWNER and made_of.evidence[0].quote.startswith("Please remember")
