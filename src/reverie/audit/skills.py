"""What is wrong with skills: broken, unsafe, secret, never used, twice there, cut short where they are listed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, groupby

from reverie.audit.hazards import harm, shown_words
from reverie.audit.inventory import Finding, FindingKind, KeptSkill, Severity, Spot
from reverie.audit.statements import PROPOSER
from reverie.changes.proposal import Suggestion
from reverie.safety.redact import redact
from reverie.safety.scan import scan_skill
from reverie.skills.skill import Retire
from reverie.skills.validation import problems_of

OLD_DAYS = 30  # Hermes itself calls a skill stale after this
SHOWN_BY_HERMES = 60  # characters of a description
SAME_NAME_LIKE, OTHER_NAME_LIKE = 0.6, 0.75  # share of words in common from which two skills are one
_FEWEST_WORDS = 25
_HARMFUL = "It would harm whoever follows it"


def in_skills(skills: Sequence[KeptSkill]) -> Iterator[Finding]:
    for kept in skills:
        # Errors only: what the reference validator dislikes and every agent takes is no reason to worry anyone.
        wrong = [one for one in problems_of(kept.skill) if one.severity == "error"]
        if wrong:
            yield _finding(FindingKind.BROKEN, "medium", kept, wrong[0].found, wrong[0].next_step)
        yield from _dangers(kept)
        use = kept.use
        if use and not use.count and not use.pinned and (use.days or 0) >= OLD_DAYS:
            why = f"No session has used it in {use.days:.0f} days, and its line is in every prompt."
            retire, subject = Retire(kept.skill.subject, kept.skill.content), kept.skill.subject
            wanted = Suggestion(kept.spot.target, subject, amendment=retire, reason=why, proposer=PROPOSER)
            archive = wanted if kept.amendable else None
            yield _finding(FindingKind.UNUSED, "low", kept, why, "Archive it.", suggestion=archive)
    for _, folder in groupby(skills, key=lambda kept: kept.spot.target):
        beside = list(folder)
        words = {kept.skill.subject: frozenset(kept.skill.body.casefold().split()) for kept in beside}
        told: set[str] = set()
        for one, other in combinations(beside, 2):
            first, second = words[one.skill.subject], words[other.skill.subject]
            if min(len(first), len(second)) < _FEWEST_WORDS or other.skill.subject in told:
                continue
            likeness = len(first & second) / len(first | second)
            if likeness >= (SAME_NAME_LIKE if one.skill.name == other.skill.name else OTHER_NAME_LIKE):
                told.add(other.skill.subject)
                why = f"It is {likeness:.0%} the same words as {one.skill.subject}."
                advice = "Merge them: keep what each has that the other has not."
                yield _finding(FindingKind.DUPLICATED, "low", other, why, advice, other=one.spot)
        yield from _cut(beside)


def _dangers(kept: KeptSkill) -> Iterator[Finding]:
    report = scan_skill(kept.files)
    if report.blocked:
        worst = next((one for one in report.findings if one.severity == "high"), next(iter(report.findings), None))
        text = kept.files.get(worst.file or "", b"").decode("utf-8", "replace") if worst else ""
        category, _ = harm(report, text)
        if category:
            where = f" in {worst.file.removeprefix(kept.skill.subject + '/')}" if worst and worst.file else ""
            words = shown_words(worst.shown) if worst else ""
            yield _finding(FindingKind.UNSAFE, "high", kept, f"{_HARMFUL} ({category}{where}).", words=words)
    for name, content in kept.files.items():
        found = redact(content.decode("utf-8", "replace")).found if len(content) < 1_000_000 else {}
        if found and name == kept.skill.document:
            kinds = ", ".join(kind.replace("-", " ") for kind in found)
            why = f"It holds a secret ({kinds})."
            yield _finding(FindingKind.SECRET, "high", kept, why, "Take it out and change it.")
            return


def _cut(beside: Sequence[KeptSkill]) -> Iterator[Finding]:
    """One note for a folder: a long description is allowed, only Hermes shows little of it."""
    hermes = [kept for kept in beside if kept.hermes]
    long = [kept for kept in hermes if len(kept.skill.description) > SHOWN_BY_HERMES]
    if not long:
        return
    shown = [f"{kept.skill.name}: {kept.skill.description[: SHOWN_BY_HERMES - 3]}..." for kept in long[:3]]
    few = f"{len(long)} of {len(hermes)} are cut short"
    why = f"Hermes lists only {SHOWN_BY_HERMES} characters of a description: {few}."
    spot, words = Spot(long[0].spot.home, long[0].spot.target, ""), shown_words("\n".join(shown))
    yield Finding(FindingKind.CUT, "note", spot, words, why, "Begin each description with when to use the skill.")


def _finding(
    kind: FindingKind,
    severity: Severity,
    kept: KeptSkill,
    why: str,
    advice: str = "A person has to look.",
    *,
    words: str = "",
    suggestion: Suggestion | None = None,
    other: Spot | None = None,
) -> Finding:
    shown = words or shown_words(kept.skill.description or kept.skill.name)
    return Finding(kind, severity, kept.spot, shown, why, advice, suggestion, other)
