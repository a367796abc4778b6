"""The alphabet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.clock import FixedClock, moment, rfc3339
from reverie.core.errors import ReverieError
from reverie.core.ids import Ids, canonical
from reverie.core.scope import Origin, weakest

MAY = datetime(2026, 5, 12, 14, 37, tzinfo=UTC)


def test_origins_stand_in_the_order_of_the_design() -> None:
    assert sorted(Origin, key=lambda origin: -origin.strength) == [
        "operator",
        "owner",
        "member",
        "agent",
        "tool",
    ]


@given(st.lists(st.sampled_from(list(Origin)), min_size=1))
def test_nothing_built_on_several_origins_is_stronger_than_any_of_them(origins: list[Origin]) -> None:
    assert all(weakest(origins).strength <= origin.strength for origin in origins)
    assert weakest(origins * 3) == weakest(origins)


def test_something_built_on_nothing_is_an_error() -> None:
    with pytest.raises(ValueError):
        weakest([])


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-05-12T14:37:00Z", MAY),
        ("2026-05-12T16:37:00+02:00", MAY),
        ("2026-05-12T14:37:00", MAY),
        (MAY.timestamp(), MAY),
        (int(MAY.timestamp() * 1000), MAY),
        (int(MAY.timestamp() * 1_000_000), MAY),
        ("last tuesday", None),
        ("", None),
        (None, None),
        (True, None),
        (float("nan"), None),
        (-5, None),
    ],
)
def test_times_are_read_as_transcripts_write_them(written: object, read: datetime | None) -> None:
    assert moment(written) == read


@given(st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2200, 1, 1)), st.integers(-12, 12))
def test_a_time_written_and_read_again_is_the_same(naive: datetime, hours: int) -> None:
    at = naive.replace(tzinfo=timezone(timedelta(hours=hours)))
    assert moment(rfc3339(at)) == at
    assert rfc3339(at).endswith("Z")


def test_ids_of_one_millisecond_keep_their_order() -> None:
    ids = Ids(FixedClock(MAY))
    made = [ids.new("chg") for _ in range(1000)]
    assert made == sorted(made)
    assert len(set(made)) == 1000
    assert all(name.startswith("chg_") and len(name) == 30 for name in made)


def test_ids_sort_by_time() -> None:
    early = Ids(FixedClock(MAY)).new("chg")
    late = Ids(FixedClock(MAY + timedelta(milliseconds=1))).new("chg")
    assert early < late


def test_the_canonical_form_does_not_depend_on_the_order_of_keys() -> None:
    assert canonical({"b": 1, "a": "ü"}) == canonical({"a": "ü", "b": 1}) == '{"a":"ü","b":1}'.encode()


def test_an_error_says_what_was_found_what_was_expected_and_what_to_do() -> None:
    error = ReverieError("It is red.", expected="green", next_step="Paint it.")
    assert str(error) == "It is red. Expected green. Paint it."
