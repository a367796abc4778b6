"""Skills: whatever a file holds, reading loses nothing, and a change touches what it names and no other byte."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reverie.core.errors import BadInput
from reverie.skills.amend import amended
from reverie.skills.edits import AddRule, RemoveRule, Unmade, edited, merge_lines, patched
from reverie.skills.page import Page, lines_of, page_of, sections_of, with_value
from reverie.skills.skill import (
    Amended,
    Clashed,
    NewText,
    Patch,
    bumped,
    document_problem,
    frontmatter_of,
    read_skill,
    subject_problem,
)
from reverie.skills.validation import problems_of
from reverie.skills.yaml_nodes import Node, Table, Value, value_of
from tests.conftest import NOON


def frontmatter_value(page: Page, path: tuple[str, ...]) -> Value | None:
    node: Node | None = page.tree.root
    for key in path:
        node = node.get(key) if isinstance(node, Table) else None
    return None if node is None else value_of(node)


SHARDS = [
    *(
        "---\n",
        "---\r\n",
        "---",
        "name: a\n",
        "version: 1.10\n",
        "version: '2.0' # c\n",
        "tags: [a, b]\n",
        "metadata:\n",
    ),
    *(
        "  hermes:\n",
        "    tags:\n",
        "      - x\n",
        "  - y\n",
        "# comment\n",
        "d: |\n  block\n\n",
        "e: >-\n  folded\n",
        "\n",
    ),
    *(
        "f: {a: b}\n",
        "g:\n",
        "h: &a 1\n",
        "i: *a\n",
        "\t",
        "\r",
        "- item\n",
        "## Steps\n",
        "1. one\n",
        "```\n",
        "\ufeff",
    ),
    *("j: 'it''s'\n", 'k: "q\\"q"\n', "  l: m\n", "é", "\0", "'", '"', "? x\n", ": y\n", "!!str z\n", "\x85", "\u2028"),
]
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(SHARDS), max_size=16).map("".join))
FRAMED = TEXTS.map(lambda text: f"---\n{text}\n---\n# Body\n\n## Steps\n\n- a\n")
CONTENT = st.one_of(
    FRAMED.map(lambda text: text.encode("utf-8", "surrogatepass")),
    TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.binary(max_size=80),
)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20)
VALUES = st.one_of(st.text(st.characters(codec="utf-8"), max_size=30), st.lists(WORDS, min_size=1, max_size=4))
PLAIN = st.from_regex(r"[a-z][a-z0-9 .]{0,12}[a-z0-9]", fullmatch=True)
SCALAR = st.one_of(PLAIN, PLAIN.map(lambda text: f"'{text}'"), PLAIN.map(json.dumps), st.just("1.10"), st.just(""))
COMMENT = st.sampled_from(["", "  # note", " # 'x': [y]"])
KEYS = st.lists(
    st.sampled_from(["name", "description", "version", "tags", "license", "x-1", "Ünïcode"]), unique=True, min_size=1
)


@st.composite
def matters(draw: st.DrawFn) -> str:
    """Frontmatter as people write it: comments, quotes, lists of both kinds, blocks, nesting, blank lines."""
    lines: list[str] = []
    for key in draw(KEYS):
        kind = draw(st.sampled_from(["scalar", "flow", "block", "literal", "nested"]))
        comment = draw(COMMENT)
        if kind == "scalar":
            lines.append(f"{key}: {draw(SCALAR)}{comment}")
        elif kind == "flow":
            lines.append(f"{key}: [{', '.join(draw(st.lists(PLAIN, max_size=3)))}]{comment}")
        elif kind == "block":
            lines += [f"{key}:{comment}", *(f"  - {one}" for one in draw(st.lists(PLAIN, min_size=1, max_size=3)))]
        elif kind == "literal":
            lines += [f"{key}: |", *(f"  {one}" for one in draw(st.lists(PLAIN, min_size=1, max_size=3)))]
        else:
            lines += [f"{key}:{comment}", f"  inner: {draw(SCALAR)}", "  deeper:", f"    leaf: {draw(PLAIN)}"]
        lines += draw(st.sampled_from([[], [""], ["# between"]]))
    return "".join(f"{line}\n" for line in lines)


PATHS = st.sampled_from(
    [
        ("version",),
        ("tags",),
        ("name",),
        ("new",),
        ("metadata", "reverie", "refinements"),
        ("metadata", "version"),
        ("description",),
        ("license", "inner"),
        ("x-1", "deeper", "leaf"),
        ("x-1", "added"),
        ("Ünïcode",),
    ]
)


@given(CONTENT)
def test_cutting_and_joining_gives_the_same_bytes(content: bytes) -> None:
    page = page_of(content)
    assert page.to_bytes() == content
    assert "".join(lines_of(page.text)) == page.text


@given(CONTENT)
def test_any_bytes_can_be_read_as_a_skill_and_validated(content: bytes) -> None:
    for subject, path in (("x", "x/SKILL.md"), ("x.md", "x.md")):
        skill = read_skill(subject, {path: content})
        problems_of(skill)
        body = skill.body
        assert all(0 <= one.start <= one.inside <= one.own_end <= one.end <= len(body) for one in skill.sections)


@given(matters(), PATHS, VALUES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]))
def test_setting_a_key_is_read_back_and_every_other_line_stays(
    matter: str, path: tuple[str, ...], value: str | list[str], ending: str, mark: str
) -> None:
    text = f"{mark}---\n{matter}---\nbody {{}}\n".replace("\n", ending)
    page = page_of(text.encode())
    try:
        made = with_value(page, path, value)
    except BadInput:
        assert len(path) > 1, "a key on top can always be set"
        return
    assert frontmatter_value(made, path) == value
    assert (made.mark, made.opening, made.closing, made.body) == (page.mark, page.opening, page.closing, page.body)
    head = _shared(page.matter, made.matter)
    tail = _shared(page.matter[head:][::-1], made.matter[head:][::-1])
    first, last = _span(page, path)
    if frontmatter_value(page, path) is None:
        first, last = 0, head  # a new key: nothing is taken away
    assert head >= first
    assert len(page.matter) - tail <= max(head, last), "only the value's own span, or nothing where the key is new"
    before, after = _values(page), _values(made)
    assert {key: value for key, value in after.items() if key != path[0]} == {
        key: value for key, value in before.items() if key != path[0]
    }


def _shared(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _span(page: Page, path: tuple[str, ...]) -> tuple[int, int]:
    """Where the value of a key stands, its comment included."""
    table, end, start = page.tree.root, 0, 0
    for key in path:
        pair = next((pair for pair in table.pairs if pair[0].text == key), None) if isinstance(table, Table) else None
        if pair is None:
            return 0, 0
        start, end = pair[0].end, pair[1].end
        table = pair[1] if isinstance(pair[1], Table) else None
    return start, end


def _values(page: Page) -> dict[str, object]:
    return dict(frontmatter_of(page))


@given(CONTENT, PATHS, VALUES)
def test_a_key_is_set_in_any_bytes_or_refused_and_the_body_stays(
    content: bytes, path: tuple[str, ...], value: str | list[str]
) -> None:
    page = page_of(content)
    try:
        made = with_value(page, path, value)
    except BadInput:
        return
    assert frontmatter_value(page_of(made.to_bytes()), path) == value
    assert made.to_bytes().endswith(page.body.encode("utf-8", "surrogateescape"))


@given(matters(), st.sampled_from(["Steps", "Gotchas", "When to use", "Other"]), WORDS)
def test_a_rule_added_can_be_taken_away_again(matter: str, section: str, rule: str) -> None:
    page = page_of(f"---\n{matter}---\n\n# T\n\n## Steps\n\n1. one\n2. two\n\n## Other\ntext\n".encode())
    added = edited(page, [AddRule(section, rule)])
    assume(not isinstance(added, Unmade))
    assert not isinstance(added, Unmade)
    assert added.matter == page.matter
    assert all(line in lines_of(added.body) for line in lines_of(page.body))
    removed = edited(added, [RemoveRule(section, rule)])
    if not isinstance(removed, Unmade):
        assert [line for line in lines_of(removed.body) if line.strip()] in (
            [line for line in lines_of(page.body) if line.strip()],
            [*(line for line in lines_of(page.body) if line.strip()), f"## {section}\n"],
        )


@given(CONTENT, WORDS)
def test_an_amendment_of_any_bytes_changes_the_document_or_nothing(content: bytes, rule: str) -> None:
    files = {"x/SKILL.md": content, "x/other": b"1"}
    made = amended(files, Patch("x", content, (AddRule("Gotchas", rule),), "minor"), NOON)
    if isinstance(made, Amended):
        assert set(made.files_after) == {"x/SKILL.md"}
        after = read_skill("x", {"x/SKILL.md": made.files_after["x/SKILL.md"] or b""})
        before = read_skill("x", files)
        assert after.refinements == before.refinements + 1
        assert after.last_refined == "2026-05-12"
        assert after.version == bumped(before.version, "minor")
    else:
        assert made.why


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e\n"]), max_size=8)


@given(LINES, LINES, LINES)
def test_a_merge_is_the_same_from_both_sides_and_silent_sides_change_nothing(
    base: list[str], ours: list[str], theirs: list[str]
) -> None:
    assert merge_lines(base, ours, base) == ours
    assert merge_lines(base, base, ours) == ours
    assert merge_lines(base, ours, ours) == ours
    one, other = merge_lines(base, ours, theirs), merge_lines(base, theirs, ours)
    assert isinstance(one, tuple) == isinstance(other, tuple)
    if isinstance(one, list):
        assert one == other


@settings(max_examples=60)
@given(st.data())
def test_where_git_and_we_both_merge_we_merge_alike(data: st.DataObject) -> None:
    base = [f"line {number}\n" for number in range(12)]
    ours, theirs = (_changed(base, data, who) for who in ("ours", "theirs"))
    made = merge_lines(base, ours, theirs)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("ours", "base", "theirs")]
        for path, lines in zip(paths, (ours, base, theirs), strict=True):
            path.write_text("".join(lines))
        done = subprocess.run(
            ["git", "merge-file", "-p", *map(str, paths)], capture_output=True, text=True, check=False
        )
    if isinstance(made, list):
        assert done.returncode == 0, "we never merge what git would not"
        assert "".join(made) == done.stdout


def _changed(base: list[str], data: st.DataObject, who: str) -> list[str]:
    made = list(base)
    for at in sorted(data.draw(st.sets(st.integers(0, 11), max_size=3)), reverse=True):
        made[at : at + 1] = data.draw(st.sampled_from([[], [f"{who} {at}\n"], [base[at], f"{who} new\n"]]))
    return made


@given(CONTENT, TEXTS)
def test_a_diff_of_any_kind_is_applied_or_refused(content: bytes, diff: str) -> None:
    page = page_of(content)
    for one in (diff, f"@@ -1,1 +1,1 @@\n{diff}"):
        made = patched(page.text, one, page.ending)
        assert isinstance(made, str | Unmade)


@given(CONTENT, TEXTS)
def test_a_new_text_lands_whole(content: bytes, text: str) -> None:
    made = amended({"x.md": content}, Patch("x.md", content, NewText(text), "patch"), NOON)
    assert isinstance(made, Amended | Clashed)


@given(st.text(max_size=80))
def test_a_name_that_is_taken_is_a_path_below_the_root(name: str) -> None:
    if subject_problem(name) is None:
        assert document_problem(name) is None
        assert (Path("/root") / name).resolve().is_relative_to("/root")


@given(TEXTS)
def test_sections_never_overlap(body: str) -> None:
    found = sections_of(body)
    assert [one.start for one in found] == sorted({one.start for one in found})
