"""What statements do to each other, as findings: doubled, contradictory, superseded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from reverie.audit.checks.commands import rival_commands
from reverie.audit.checks.hazards import words_of
from reverie.audit.checks.pairs import Pair, pairs
from reverie.audit.checks.statements import removed
from reverie.audit.finding import Finding, FindingKind, Severity, Spot
from reverie.audit.inventory import AuditedStatement, KeptSkill
from reverie.audit.prompt_groups import apart, meet
from reverie.skills.edits import rules_of

LONGEST_RULE = 240
SKILL = "skill:"


def compare_statements(
    statements: Sequence[AuditedStatement], skills: Sequence[KeptSkill], shown: Mapping[str, str]
) -> Iterator[Finding]:
    """Findings between statements that meet in a prompt; what two homes both say is counted in one note."""
    rules = [rule for kept in skills for rule in _rules(kept)]
    shared: Counter[tuple[str, str]] = Counter()
    gone: set[AuditedStatement] = set()
    for pair in pairs([*statements, *rules]):
        one, other = _turned(pair)
        if _is_rule(one) or _is_rule(other):
            yield from _against_skill(pair, shown)
        elif pair.tie == "same" and not meet(one.circle, other.circle):
            shared[one.spot.home, other.spot.home] += one.spot.home != other.spot.home
        elif pair.tie == "same":
            if other not in gone and one not in gone:
                gone.add(one)
                yield _same(pair, one, other, shown)
        elif not apart(one.circle, other.circle):
            yield _conflict(pair, shown)
    yield from (_in_both(homes, count) for homes, count in shared.items() if count)
    for one, other, why in rival_commands(statements):
        words, against = _shown(one, shown), _shown(other, shown)
        advice = "Decide which one holds and remove the other."
        yield Finding(FindingKind.CONTRADICTORY, "medium", one.spot, words, why, advice, None, other.spot, against)


def _rules(kept: KeptSkill) -> Iterator[AuditedStatement]:
    """The rules of a skill, to be held against memory. They are never accused of repeating one another."""
    for rule in rules_of(kept.skill.body.splitlines(keepends=True)):
        if 8 <= len(rule.text) <= LONGEST_RULE and not rule.text.startswith(("#", "`")):
            yield AuditedStatement(kept.spot, rule.text, False, f"{SKILL}{kept.spot.home}")


def _is_rule(statement: AuditedStatement) -> bool:
    return statement.circle.startswith(SKILL)


def _turned(pair: Pair[AuditedStatement]) -> tuple[AuditedStatement, AuditedStatement]:
    """Of two that say the same, the one an operation can touch is to go, and of two entries the first of the pair."""
    if pair.tie == "same" and pair.second.is_entry and not pair.first.is_entry:
        return pair.second, pair.first
    return pair.first, pair.second


def _same(
    pair: Pair[AuditedStatement], one: AuditedStatement, other: AuditedStatement, shown: Mapping[str, str]
) -> Finding:
    words, against = _shown(one, shown), _shown(other, shown)
    advice = "Remove one of them."
    return Finding(
        FindingKind.DUPLICATED,
        "low",
        one.spot,
        words,
        pair.why,
        advice,
        removed(one, f"{pair.why} ({other.spot})"),
        other.spot,
        against,
    )


def _conflict(pair: Pair[AuditedStatement], shown: Mapping[str, str]) -> Finding:
    one, other = pair.first, pair.second
    together = meet(one.circle, other.circle)
    severity: Severity = "medium" if together else "note"
    words, against = _shown(one, shown), _shown(other, shown)
    if pair.tie == "supersedes":
        wanted = removed(one, f"{pair.why} ({other.spot})") if together else None
        return Finding(
            FindingKind.SUPERSEDED,
            severity,
            one.spot,
            words,
            pair.why,
            "Remove the older one.",
            wanted,
            other.spot,
            against,
        )
    why = pair.why if together else f"{pair.why} They are in two homes, so two agents believe different things."
    advice = "Decide which one holds and remove the other."
    return Finding(FindingKind.CONTRADICTORY, severity, one.spot, words, why, advice, None, other.spot, against)


def _against_skill(pair: Pair[AuditedStatement], shown: Mapping[str, str]) -> Iterator[Finding]:
    """Memory against a skill of the same home. Two skills, or a skill that repeats memory, are nobody's mistake."""
    one, other = pair.first, pair.second
    if pair.tie == "same" or _is_rule(one) == _is_rule(other) or one.spot.home != other.spot.home:
        return
    memory, rule = (other, one) if _is_rule(one) else (one, other)
    why = "A skill of the same home says the opposite or gives another value."
    advice = "Decide which one holds and mend the other."
    yield Finding(
        FindingKind.CONTRADICTORY,
        "low",
        memory.spot,
        _shown(memory, shown),
        why,
        advice,
        None,
        rule.spot,
        _shown(rule, shown),
    )


def _in_both(homes: tuple[str, str], count: int) -> Finding:
    one, other = homes
    said = "One statement stands" if count == 1 else f"{count} statements stand"
    why = (
        f"{said} in {one} and in {other}, word for word or nearly. Each agent needs to be told, but keep them in step."
    )
    return Finding(FindingKind.DUPLICATED, "note", Spot(one, one, ""), "", why, "Nothing, or keep one memory for both.")


def _shown(statement: AuditedStatement, shown: Mapping[str, str]) -> str:
    return shown.get(statement.text) or words_of(statement.text)
