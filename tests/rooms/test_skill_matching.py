"""Which skills a task calls for, in what order, and why."""

from __future__ import annotations

from reverie.skills.library import match
from reverie.skills.skill import Skill, read_skill


def flat(name: str, matter: str, body: str = "## Steps\n1. Do it\n") -> Skill:
    return read_skill(f"{name}.md", {f"{name}.md": f"---\nskill_id: {name}\n{matter}\n---\n{body}".encode()})


DEPLOY = flat("deploy", "description: Roll out the web app to the cluster.\ntags: [ops]\ntriggers: [push to staging]")
INVOICE = flat("invoice", "description: Read supplier invoices and book them.\ntags: [finance]")
MIGRATE = flat("migrate", "description: Change the schema of the Postgres database.\ntags: [ops, db]")
ALL = [DEPLOY, INVOICE, MIGRATE]


def names(task: str, **more: object) -> list[str]:
    return [one.skill.name for one in match(ALL, task, **more)]  # type: ignore[arg-type]


def test_a_task_finds_its_skill_and_the_sentence_says_why() -> None:
    first = match(ALL, "please push to staging what is on main")[0]
    assert first.skill is DEPLOY
    assert "push to staging" in first.why
    assert first.score == round(sum(value for _, value in first.parts), 4)
    assert [one.skill for one in match(ALL, "book the invoices from our supplier")] == [INVOICE]


def test_most_things_said_call_for_no_skill() -> None:
    assert [names(task) for task in ("thanks!", "what is the capital of Peru?", "", "...")] == [[], [], [], []]


def test_tags_that_are_asked_for_match_without_a_word_in_common() -> None:
    assert set(names("hello", tags=["ops"])) == {"deploy", "migrate"}
    assert names("hello", tags=["OPS", "db"])[0] == "migrate"


def test_a_plain_procedure_is_found_by_when_to_use() -> None:
    plain = read_skill(
        "restart.md", {"restart.md": b"# Restart\n\n## When to use\nThe queue worker hangs.\n\n## Steps\n1. x\n"}
    )
    assert [one.skill for one in match([plain, INVOICE], "the queue worker hangs again")] == [plain]


def test_disabled_and_archived_skills_never_match() -> None:
    off = flat("deploy", "description: Roll out the web app.\ndisabled: true\ntriggers: [push to staging]")
    old = read_skill(".archive/deploy/deploy.md", {".archive/deploy/deploy.md": DEPLOY.content})
    assert match([off, old], "push to staging", ["ops"]) == []


def test_priority_orders_and_never_makes_a_match() -> None:
    low = flat("deploy-a", "description: Roll out the web app.\npriority: 1")
    high = flat("deploy-b", "description: Roll out the web app.\npriority: high")
    assert [one.skill.name for one in match([low, high], "roll out the web app")] == ["deploy-b", "deploy-a"]
    assert match([flat("c", "description: x\npriority: 999")], "roll out the web app") == []


def test_the_order_does_not_depend_on_the_order_given() -> None:
    task = "roll out the database schema change to the cluster"
    assert [one.skill.name for one in match(ALL, task)] == [one.skill.name for one in match(ALL[::-1], task)]


def test_the_budget_holds_and_a_long_skill_is_passed_over() -> None:
    long = flat("deploy-long", "description: Roll out the web app to the cluster.", "word " * 4000)
    found = match([long, DEPLOY], "roll out the web app to the cluster", budget_tokens=200)
    assert [one.skill for one in found] == [DEPLOY]
    assert sum(one.tokens for one in found) <= 200
    assert match(ALL, "push to staging", budget_tokens=0) == []
