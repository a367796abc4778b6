"""What an amendment makes of a skill's files: the words asked for, the version, and nothing else."""

from __future__ import annotations

import pytest

from reverie.core.errors import BadInput
from reverie.skills.amend import amended, draft, merge, refine, retire
from reverie.skills.edits import AddRule, RemoveRule, ReplaceRule, ReplaceSection
from reverie.skills.skill import Amended, Amendment, Clashed, Create, Diff, NewText, Patch, Revert, Skill, read_skill
from tests.conftest import NOON

HERMES = b"""---
name: release  # as in the folder
description: "Use when releasing."
version: '1.10'
metadata:
  hermes:
    tags: [release, git]
---

# Release

## Steps
1. Bump the version
2. Write the changelog

## Pitfalls
* CI fails when the
  changelog has no date.

## Verification
Install it.
"""
FLAT = (
    b"---\nskill_id: deploy\nversion: 1.0.0\nrefinements: 4\nlast_refined: 2025-01-01\n---\n## Steps\n\n- a\n- b\n- c\n"
)
FILES = {
    "ops/release/SKILL.md": HERMES,
    "ops/release/scripts/tag.sh": b"#!/bin/sh\n",
    "deploy.md": FLAT,
    "plain.md": b"# Plain\r\n\r\n## Steps\r\n\r\n1. One\r\n",
}


def skill(subject: str) -> Skill:
    return read_skill(subject, {path: content for path, content in FILES.items() if path.startswith(subject)})


def after(amendment: Amendment, files: dict[str, bytes] | None = None) -> dict[str, bytes | None]:
    made = amended(FILES if files is None else files, amendment, NOON)
    assert isinstance(made, Amended), made
    return dict(made.files_after)


def changed_lines(before: bytes, now: bytes | None) -> tuple[list[bytes], list[bytes]]:
    assert now is not None
    old, new = before.splitlines(), now.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_a_rule_added_changes_its_line_and_the_version_and_no_other_byte() -> None:
    made = after(refine(skill("ops/release"), section="Gotchas", add=["Never tag on Friday"]))
    assert list(made) == ["ops/release/SKILL.md"]
    assert changed_lines(HERMES, made["ops/release/SKILL.md"]) == (
        [b"version: '1.10'"],
        [
            b"version: '1.11'",
            b"  reverie:",
            b"    last_refined: 2026-05-12",
            b'    refinements: "1"',
            b"* Never tag on Friday",
        ],
    )


def test_steps_are_numbered_on_and_a_missing_section_is_made() -> None:
    content = after(Patch("ops/release", HERMES, (AddRule("Steps", "Tag"), AddRule("Links", "See the wiki")), "minor"))
    text = (content["ops/release/SKILL.md"] or b"").decode()
    assert "2. Write the changelog\n3. Tag\n\n## Pitfalls" in text
    assert text.endswith("Install it.\n\n## Links\n\n- See the wiki\n")


def test_a_rule_over_two_lines_is_found_by_its_words_and_keeps_its_marker() -> None:
    wrapped = "CI fails when the changelog has no date."
    replaced = after(refine(skill("ops/release"), section="Pitfalls", replace={wrapped: "CI wants a date."}))
    assert b"## Pitfalls\n* CI wants a date.\n\n## Verification" in (replaced["ops/release/SKILL.md"] or b"")
    removed = after(Patch("ops/release", HERMES, (RemoveRule("Pitfalls", wrapped),), "major"))
    assert b"## Pitfalls\n\n## Verification" in (removed["ops/release/SKILL.md"] or b"")


def test_a_whole_section_can_be_written_anew() -> None:
    made = after(Patch("ops/release", HERMES, (ReplaceSection("Verification", "Run it.\nTwice."),), "patch"))
    assert (made["ops/release/SKILL.md"] or b"").endswith(b"## Verification\nRun it.\nTwice.\n")


def test_a_plain_procedure_gets_frontmatter_when_first_refined_and_keeps_its_line_endings() -> None:
    made = after(refine(skill("plain.md"), section="Steps", add=["Two"]))["plain.md"] or b""
    assert made.startswith(
        b"---\r\nskill_id: plain\r\nversion: 1.1.0\r\nlast_refined: 2026-05-12\r\nrefinements: 1\r\n---\r\n"
    )
    assert made.endswith(b"1. One\r\n2. Two\r\n")
    assert made.count(b"\n") == made.count(b"\r\n")


def test_refinements_are_counted_where_they_stand() -> None:
    made = after(refine(skill("deploy.md"), section="Steps", add=["d"]))["deploy.md"] or b""
    assert changed_lines(FLAT, made)[1] == [b"version: 1.1.0", b"refinements: 5", b"last_refined: 2026-05-12", b"- d"]


def test_a_diff_is_applied_by_its_words_even_when_its_line_numbers_are_off() -> None:
    diff = "--- a/deploy.md\n+++ b/deploy.md\n@@ -90,2 +90,2 @@\n - b\n-- c\n+- C\n"
    assert b"- a\n- b\n- C\n" in (after(refine(skill("deploy.md"), diff=diff))["deploy.md"] or b"")
    for wrong in ("@@ -1,1 +1,1 @@\n-nothing\n+x\n", "no hunk at all"):
        with pytest.raises(BadInput):
            refine(skill("deploy.md"), diff=wrong)


def test_a_new_text_takes_the_place_of_the_body() -> None:
    made = (
        after(refine(skill("ops/release"), text="# Release\n\nAsk Ann.\n", bump="major"))["ops/release/SKILL.md"] or b""
    )
    assert made.endswith(b"---\n\n# Release\n\nAsk Ann.\n")
    assert b"version: '2.0'" in made
    assert b"name: release  # as in the folder" in made


def test_an_amendment_that_writes_a_version_itself_keeps_it() -> None:
    diff = "@@ -3,1 +3,1 @@\n-version: 1.0.0\n+version: 9.0.0\n"
    assert b"version: 9.0.0\n" in (after(refine(skill("deploy.md"), diff=diff))["deploy.md"] or b"")


def test_a_skill_that_moved_on_elsewhere_takes_the_change_too() -> None:
    moved = {**FILES, "deploy.md": FLAT.replace(b"- c\n", b"- C, said somebody else\n")}
    for patch in (
        Patch("deploy.md", FLAT, (ReplaceRule("Steps", "a", "A"),), "minor"),
        Patch("deploy.md", FLAT, Diff("@@ -8,2 +8,2 @@\n-- a\n+- A\n - b\n"), "minor"),
        Patch("deploy.md", FLAT, NewText("## Steps\n\n- A\n- b\n- c\n"), "minor"),
    ):
        assert b"- A\n- b\n- C, said somebody else\n" in (after(patch, moved)["deploy.md"] or b"")


def test_a_skill_that_moved_on_in_the_same_lines_is_a_clash_that_names_them() -> None:
    moved = {**FILES, "deploy.md": FLAT.replace(b"- a\n", b"- other\n")}
    clash = amended(moved, Patch("deploy.md", FLAT, Diff("@@ -9,1 +9,1 @@\n-- a\n+- A\n"), "minor"), NOON)
    assert isinstance(clash, Clashed)
    assert [(overlap.first, overlap.ours, overlap.theirs) for overlap in clash.lines] == [
        (9, ("- A\n",), ("- other\n",))
    ]
    gone = amended(moved, Patch("deploy.md", FLAT, (ReplaceRule("Steps", "a", "A"),), "minor"), NOON)
    assert isinstance(gone, Clashed)
    assert "does not say: a" in gone.why


def test_saying_again_what_a_skill_says_already_is_no_change() -> None:
    with pytest.raises(BadInput, match="says so already"):
        refine(skill("deploy.md"), section="Steps", add=["b"])


def test_it_must_be_clear_what_is_to_change() -> None:
    for wrong in ({}, {"section": "Steps"}, {"add": ["x"]}, {"section": "Steps", "add": ["x"], "text": "y"}):
        with pytest.raises(BadInput):
            refine(skill("deploy.md"), **wrong)  # type: ignore[arg-type]


def test_a_draft_is_a_folder_or_a_flat_file() -> None:
    folder = draft("ops/new", "# New\n", description="Use when: new", tags=["a"])
    assert after(folder, {}) == {
        "ops/new/SKILL.md": b'---\nname: new\ndescription: "Use when: new"\nmetadata:\n  version: 1.0.0\n  reverie:\n'
        b"    tags:\n      - a\n---\n\n# New\n"
    }
    flat = after(draft("new.md", "# New\n", triggers=["now"]), {})
    assert flat == {"new.md": b"---\nskill_id: new\nversion: 1.0.0\ntriggers:\n  - now\n---\n\n# New\n"}


@pytest.mark.parametrize(
    "create",
    [
        Create("../x", {"../x/SKILL.md": b""}),
        Create("a", {"b/SKILL.md": b""}),
        Create("a", {"a/notes.md": b""}),
        Create("a", {"a/SKILL.md": b"", "a/../../x": b""}),
        Create("Deploy.md", {"Deploy.md": b""}),
        Create("ops/release", {"ops/release/SKILL.md": b""}),
    ],
)
def test_a_new_skill_with_a_bad_or_taken_name_is_refused(create: Create) -> None:
    assert isinstance(amended(FILES, create, NOON, beside=["deploy.md", "ops/release"]), Clashed)


def test_a_retired_skill_moves_to_the_archive_with_all_its_files() -> None:
    made = after(retire(skill("ops/release")))
    assert made == {
        "ops/release/SKILL.md": None,
        "ops/release/scripts/tag.sh": None,
        ".archive/release/SKILL.md": HERMES,
        ".archive/release/scripts/tag.sh": b"#!/bin/sh\n",
    }
    assert after(retire(skill("deploy.md"))) == {"deploy.md": None, ".archive/deploy/deploy.md": FLAT}


def test_an_archive_that_is_taken_is_not_overwritten() -> None:
    made = after(retire(skill("deploy.md")), {**FILES, ".archive/deploy/deploy.md": b"older"})
    assert list(made) == ["deploy.md", ".archive/deploy-20260512120000/deploy.md"]


def test_a_skill_changed_since_is_not_retired() -> None:
    assert isinstance(amended({**FILES, "deploy.md": b"newer"}, retire(skill("deploy.md")), NOON), Clashed)


def test_two_skills_become_one_and_the_other_is_archived() -> None:
    files = {**FILES, "ops/tag/SKILL.md": HERMES, "ops/tag/references/why.md": b"why\n"}
    absorbed = read_skill("ops/tag", {path: files[path] for path in files if path.startswith("ops/tag")})
    union = merge(skill("ops/release"), absorbed, "# Release\n\nBoth.\n")
    made = after(union, files)
    assert (made["ops/release/SKILL.md"] or b"").endswith(b"# Release\n\nBoth.\n")
    assert made["ops/release/references/why.md"] == b"why\n"
    assert made[".archive/tag/SKILL.md"] == HERMES
    assert made["ops/tag/SKILL.md"] is None
    clash = amended({**files, "ops/release/references/why.md": b"other\n"}, union, NOON)
    assert isinstance(clash, Clashed)
    assert "references/why.md" in clash.why


def test_a_revert_gives_back_older_bytes_and_keeps_what_came_later_elsewhere() -> None:
    newer = after(refine(skill("deploy.md"), section="Steps", replace={"a": "A"}))["deploy.md"]
    assert newer is not None
    back = Revert("deploy.md", {"deploy.md": newer}, {"deploy.md": FLAT})
    assert after(back, {"deploy.md": newer}) == {"deploy.md": FLAT}
    later = newer.replace(b"- c\n", b"- c\n- d\n")
    assert after(back, {"deploy.md": later})["deploy.md"] == FLAT.replace(b"- c\n", b"- c\n- d\n")
    assert isinstance(amended({"deploy.md": newer.replace(b"- A\n", b"- Z\n")}, back, NOON), Clashed)
    assert isinstance(amended({}, back, NOON), Clashed)


def test_frontmatter_that_cannot_be_read_is_not_touched() -> None:
    broken = {"x.md": b"---\na: 'open\n---\n## Steps\n- a\n"}
    clash = amended(broken, Patch("x.md", broken["x.md"], (AddRule("Steps", "b"),), "minor"), NOON)
    assert isinstance(clash, Clashed)
    assert "cannot be read" in clash.why
