"""Which proposals land by themselves, which ask, which are refused; and what no policy file can change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reverie.changes.policy import DEFAULT, PolicyCase, parse_policy, read_policy
from reverie.core.errors import BadSetting
from reverie.core.scope import Origin
from reverie.safety.scan import Report

CLEAN = Report(False, False, ())
EVERYTHING_LANDS = """
[memory]
add = "land"
replace = "land"
remove = "land"
[skills]
create = "land"
patch = "land"
merge = "land"
retire = "land"
revert = "land"
"""


def case(action: str = "replace", origin: Origin | None = Origin.OWNER, **more: object) -> PolicyCase:
    surface = "memory" if action in ("add", "replace", "remove") else "skills"
    made = {"surface": surface, "target": "hermes", "actions": (action,), "origin": origin, "report": CLEAN}
    return PolicyCase(**{**made, **more})  # type: ignore[arg-type]


def answer(text: str, asked: PolicyCase) -> str:
    return parse_policy(text, "test").rules(asked).answer


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (case(), "land"),
        (case(origin=Origin.OPERATOR), "land"),
        (case(origin=Origin.MEMBER), "ask"),
        (case(origin=Origin.AGENT), "ask"),
        (case(origin=Origin.TOOL), "ask"),
        (case(origin=None), "ask"),
        (case("patch"), "ask"),
        (case("create"), "ask"),
    ],
)
def test_by_default_the_owners_words_change_memory_and_everything_else_asks(asked: PolicyCase, expected: str) -> None:
    assert answer(DEFAULT, asked) == expected


@pytest.mark.parametrize(
    "asked",
    [
        case(report=Report(True, True, ())),
        case(report=Report(False, True, ())),
        case(critical="it drops a critical rule"),
        case("patch", critical="it drops a critical rule"),
        case(shared=True, people=3),
        case(origin=Origin.TOOL),
        case(origin=Origin.MEMBER),
        case("patch", origin=Origin.AGENT),
    ],
)
def test_no_policy_can_let_the_dangerous_land_by_itself(asked: PolicyCase) -> None:
    assert answer(EVERYTHING_LANDS, asked) == "ask"


def test_shared_rules_of_fewer_than_three_people_are_not_even_asked_about() -> None:
    assert answer(EVERYTHING_LANDS, case(shared=True, people=2)) == "refuse"


def test_a_target_can_be_stricter_than_the_rest() -> None:
    text = DEFAULT + '\n[target.hermes]\nadd = "refuse"\nreplace = "ask"\n'
    assert answer(text, case("add")) == "refuse"
    assert answer(text, case("replace")) == "ask"
    assert answer(text, case("remove")) == "land"
    assert answer(text, case("add", target="home")) == "land"


def test_the_strictest_of_several_operations_decides() -> None:
    text = '[memory]\nremove = "ask"\n'
    assert answer(text, case(actions=("add", "remove"))) == "ask"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("memory = 3", "table"),
        ('[memory]\nadd = "yes"', "land or ask or refuse"),
        ('[memory]\nad = "ask"', "Did you mean 'add'"),
        ('[target.hermes]\nfoo = "ask"', "foo"),
        ("[review]\nper_day = 0", "whole number"),
        ("[review]\nper_day = true", "whole number"),
        ('[review]\napprovers = "ann"', "list of names"),
        ('[review]\nown_proposals = "sometimes"', "always, private or never"),
        ("[memory", "not TOML"),
        ("[revew]\nper_day = 1", "Did you mean 'review'"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused_with_what_was_expected(text: str, said: str) -> None:
    with pytest.raises(BadSetting, match=said):
        parse_policy(text, "test")


def test_who_may_approve() -> None:
    policy = parse_policy('[review]\napprovers = ["ann", "bo"]\n', "test")
    assert policy.may_approve("ann", "dream", shared=False) is None
    assert policy.may_approve("ann", "ann", shared=False) is None
    assert "someone else" in (policy.may_approve("ann", "ann", shared=True) or "")
    assert "not among" in (policy.may_approve("eve", "dream", shared=False) or "")
    never = parse_policy('[review]\nown_proposals = "never"\n', "test")
    assert "someone else" in (never.may_approve("ann", "ann", shared=False) or "")


def test_without_a_file_the_default_holds_and_a_file_is_named_by_its_hash(tmp_path: Path) -> None:
    assert read_policy(tmp_path / "policy.toml").name == "the default policy"
    (tmp_path / "policy.toml").write_text(DEFAULT)
    assert read_policy(tmp_path / "policy.toml").name.startswith("policy.toml ")


def test_a_target_that_wants_every_write_approved_asks_for_memory_whatever_the_policy_says() -> None:
    policy = replace(parse_policy(EVERYTHING_LANDS, "test"), gated={"hermes": "Hermes wants it approved"})
    assert [policy.rules(case(action)).answer for action in ("add", "remove", "patch")] == ["ask", "ask", "land"]
    assert policy.rules(case()).why == "Hermes wants it approved"
    assert policy.rules(case(target="hermes/work")).answer == "land"
