"""Versions are text, and count up part by part; how much a change weighs is guessed from its rules."""

from __future__ import annotations

import pytest

from reverie.skills.amend import guessed_bump
from reverie.skills.edits import Overlap, merge_lines
from reverie.skills.skill import Bump, bumped


@pytest.mark.parametrize(
    ("version", "patch", "minor", "major"),
    [
        ("1.2.3", "1.2.4", "1.3.0", "2.0.0"),
        ("1.10", "1.10.1", "1.11", "2.0"),
        ("1.9", "1.9.1", "1.10", "2.0"),
        ("v2", "v2.0.1", "v2.1", "v3"),
        ("1.2.0-beta", "1.2.1-beta", "1.3.0-beta", "2.0.0-beta"),
        ("1.2.3+build.7", "1.2.4", "1.3.0", "2.0.0"),
        ("", "1.0.1", "1.1.0", "2.0.0"),
        ("latest", "latest", "latest", "latest"),
        ("2024-06-01", "2024-06-01", "2024-06-01", "2024-06-01"),
    ],
)
def test_a_version_counts_up_as_it_is_written(version: str, patch: str, minor: str, major: str) -> None:
    assert [bumped(version, bump) for bump in ("patch", "minor", "major")] == [patch, minor, major]  # type: ignore[arg-type]


OLD = "# Deploy\n\nWords.\n\n## Steps\n1. Build the image\n2. Push to staging\n\n## Gotchas\n- Never deploy on Friday\n"


@pytest.mark.parametrize(
    ("new", "bump"),
    [
        (OLD.replace("Words.", "A few other words."), "patch"),
        (OLD.replace("Build the image", "Build the image."), "patch"),
        (OLD.replace("1. Build", "1)  Build"), "patch"),
        (OLD + "- Tell the team\n", "minor"),
        (OLD + "\nAlways ask the owner.\n", "minor"),
        (OLD.replace("- Never deploy on Friday\n", ""), "major"),
        (OLD.replace("Never deploy on Friday", "Deploy on Friday"), "major"),
        (OLD.replace("Push to staging", "Push to production"), "major"),
        (OLD.replace("1. Build the image\n2. Push to staging\n", ""), "major"),
        (OLD, "patch"),
    ],
)
def test_a_lost_or_changed_rule_is_major_a_new_one_minor_and_words_are_a_patch(new: str, bump: Bump) -> None:
    assert guessed_bump(OLD, new) == bump


def test_changes_that_stay_apart_are_both_made() -> None:
    base = list("abcdef")
    assert merge_lines(base, list("aBcdef"), list("abcdeF")) == list("aBcdeF")
    assert merge_lines(base, list("Xabcdef"), list("abcdefY")) == list("XabcdefY")
    assert merge_lines(base, list("bcdef"), list("abcde")) == list("bcde")
    assert merge_lines(base, list("aXcdef"), list("aXcdef")) == list("aXcdef")
    assert merge_lines([], ["a"], ["a"]) == ["a"]


def test_changes_that_touch_are_told_with_their_lines() -> None:
    assert merge_lines(list("abc"), list("aXc"), list("aYc")) == (Overlap(2, ("b",), ("X",), ("Y",)),)
    assert merge_lines(list("ab"), list("aXb"), list("aYb")) == (Overlap(2, (), ("X",), ("Y",)),)
    assert isinstance(merge_lines(list("abcd"), list("aXcd"), list("abYd")), tuple)
    both = merge_lines(list("abcdefg"), list("XbcdefX"), list("YbcdefY"))
    assert [overlap.first for overlap in both if isinstance(overlap, Overlap)] == [1, 7]
