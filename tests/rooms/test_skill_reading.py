"""Skills of three shapes are read as they stand, and whatever a file holds, it is shown and not obeyed."""

from __future__ import annotations

import time

import pytest

from reverie.core.errors import NotFound
from reverie.skills.page import page_of, section_named, sections_of
from reverie.skills.skill import Skill, read_skill
from reverie.skills.validation import problems_of
from reverie.skills.yaml_nodes import conforms, usable

FLAT = b"""---
skill_id: deploy
version: 1.10
tags: [ops, "k8s"]  # two
triggers:
  - push to staging
  - roll out
priority: 8
last_refined: 2026-01-02
refinements: 3
---
# Deploy

## When to use
On Tuesdays.

## Steps
1. Build

## Gotchas
- Never on Friday
"""


def flat(matter: str, body: str = "# Deploy\n") -> Skill:
    return read_skill("deploy.md", {"deploy.md": f"---\n{matter}---\n{body}".encode()})


def test_a_flat_file_is_read_with_its_version_as_it_is_written() -> None:
    skill = read_skill("deploy.md", {"deploy.md": FLAT})
    assert (skill.shape, skill.name, skill.version) == ("flat", "deploy", "1.10")
    assert (skill.tags, skill.triggers) == (("ops", "k8s"), ("push to staging", "roll out"))
    assert (skill.priority, skill.refinements, skill.last_refined) == (8.0, 3, "2026-01-02")
    assert [section.heading for section in skill.sections] == ["Deploy", "When to use", "Steps", "Gotchas"]
    assert usable(problems_of(skill))


def test_a_plain_procedure_has_no_frontmatter_and_is_a_skill() -> None:
    skill = read_skill("ops/restart.md", {"ops/restart.md": b"# Restart\n\n## Steps\n\n1. Drain\n"})
    assert (skill.shape, skill.name, skill.version, skill.refinements) == ("plain", "restart", "", 0)
    assert problems_of(skill) == ()


def test_a_folder_keeps_every_file_beside_it_and_reads_what_hermes_writes() -> None:
    files = {
        "ops/deploy/SKILL.md": b"---\nname: deploy\nversion: 2.0\nmetadata:\n  hermes:\n    tags: [a, b]\n---\n",
        "ops/deploy/scripts/run.sh": b"#!/bin/sh\n",
        "ops/deploy/anything.bin": b"\x00\xff",
    }
    skill = read_skill("ops/deploy", files)
    assert (skill.shape, skill.tags, skill.version) == ("folder", ("a", "b"), "2.0")
    assert skill.support == ("ops/deploy/anything.bin", "ops/deploy/scripts/run.sh")
    assert skill.frontmatter["metadata"] == {"hermes": {"tags": ["a", "b"]}}


def test_a_skill_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(NotFound):
        read_skill("nothing", {})


@pytest.mark.parametrize(
    "line", ["disabled: true", "enabled: false", "state: archived", "disable-model-invocation: yes", "status: disabled"]
)
def test_a_skill_can_say_that_it_is_switched_off(line: str) -> None:
    assert not flat(f"{line}\n").enabled
    assert flat("enabled: true\n").enabled


@pytest.mark.parametrize(
    ("matter", "kind"),
    [
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "yaml.alias"),
        ("name: !!python/object/apply:os.system ['touch /tmp/owned']\n", "yaml.tag"),
        ("name: a\nname: b\n", "yaml.duplicate"),
        ("a: " + "[" * 4000 + "\n", "yaml.depth"),
        ("- " * 2000 + "x\n", "yaml.depth"),
        ("a: b\n" * 6000, "yaml.size"),
        ("x" * 40_000 + "\n", "yaml.size"),
        ("a: " + "{a: " * 3000 + "\n", "yaml.depth"),
        (('["]",' * 6000) + "\n", "yaml.depth"),
        ("? [a]\n: b\n", "yaml.key"),
        ("a: \0\n", "yaml.syntax"),
        ("a: 'x\n", "yaml.syntax"),
        ('a: "\\UFFFFFFFF"\n', "yaml.syntax"),
        ("- a\n", "yaml.mapping"),
        ("a: b\n...\nc: d\n", "yaml.documents"),
        ("<<: a\n", "yaml.merge"),
    ],
)
def test_hostile_frontmatter_is_a_problem_and_the_body_is_still_shown(matter: str, kind: str) -> None:
    flat("warm: up\n")
    began = time.process_time()
    skill = flat(matter)
    assert time.process_time() - began < 0.5
    assert kind in {problem.kind for problem in problems_of(skill)}
    assert skill.body == "# Deploy\n"
    assert not usable(problems_of(skill))


def test_a_huge_number_is_text() -> None:
    skill = flat(f"version: {'9' * 30_000}\npriority: {'9' * 100}\nrefinements: {'9' * 100}\n")
    assert (len(skill.version), skill.priority, skill.refinements) == (30_000, None, 0)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"---\nskill_id: x\n---\ncaf\xe9\n", "bytes.utf8"),
        (b"\xef\xbb\xbf---\nskill_id: x\n---\nbody\n", "bytes.mark"),
        (b"---\nskill_id: x\n---\n\x00\n", "bytes.nul"),
    ],
)
def test_odd_bytes_are_kept_and_reported(content: bytes, kind: str) -> None:
    assert page_of(content).to_bytes() == content
    skill = read_skill("x.md", {"x.md": content})
    assert skill.name == "x"
    assert kind in {problem.kind for problem in problems_of(skill)}


def test_every_problem_is_told_at_once_with_what_to_do() -> None:
    content = b"---\nname: Bad_Name\nversion: 1\ncompatibility:\n  - a\n---\n"
    problems = problems_of(read_skill("x", {"x/SKILL.md": content}))
    kinds = [problem.kind for problem in problems]
    assert {"name.characters", "name.folder", "description.missing", "keys.unknown", "compatibility.missing"} <= set(
        kinds
    )
    assert all(problem.found and problem.expected and problem.next_step for problem in problems)
    assert [problem.severity for problem in problems] == sorted(
        (problem.severity for problem in problems), key=["error", "warning", "advice"].index
    )


def test_what_hermes_takes_and_the_specification_refuses_is_a_warning() -> None:
    content = b"---\nname: my_skill.v2\ndescription: d\nversion: 1.0.0\ntags: [a]\n---\nbody\n"
    problems = problems_of(read_skill("my_skill.v2", {"my_skill.v2/SKILL.md": content}))
    assert {problem.severity for problem in problems} == {"warning"}
    assert usable(problems)
    assert not conforms(problems)


def test_sections_end_where_the_next_of_their_level_begins() -> None:
    body = "# A\n\n## B\ntext\n\n### C\nmore\n\n## D\n```\n# no heading\n```\nE\n=\n> F\n---\n"
    found = {section.heading: body[section.start : section.end] for section in sections_of(body)}
    assert list(found) == ["A", "B", "C", "D", "E"]
    assert found["B"] == "## B\ntext\n\n### C\nmore\n\n"
    section = section_named(body, "b:")
    assert section is not None
    assert body[section.inside : section.own_end] == "text\n\n"


def test_a_heading_that_means_the_same_is_found() -> None:
    assert section_named("## Pitfalls\n- a\n", "Gotchas") is not None
    assert section_named("## Pitfalls\n\n## Gotchas\n", "gotchas").heading == "Gotchas"  # type: ignore[union-attr]
    assert section_named("## Other\n", "Gotchas") is None


@pytest.mark.parametrize(
    "text", ["> " * 60 + "a\n" * 5000, "- " * 5000, "[a]: b\n" * 5000, "#" * 20_000, "* a\n" * 5000]
)
def test_a_hostile_body_is_taken_apart_in_time(text: str) -> None:
    sections_of("# warm up\n")
    began = time.process_time()
    sections_of(text)
    assert time.process_time() - began < 2
