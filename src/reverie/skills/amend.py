"""Amendments made from what a caller has, and what they make of the files of a skill. Pure: files in, the files
afterwards or a clash out.

A skill that moved on since is no obstacle where the changes stay apart: an edit of a section is made to the words as
they stand now, a diff or a new text is brought together with the newer one line by line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from difflib import SequenceMatcher
from typing import assert_never

from reverie.core.errors import BadInput
from reverie.skills.edits import ITEM, AddRule, Edit, RemoveRule, ReplaceRule, Unmade, edited, merge_lines, patched
from reverie.skills.page import Page, lines_of, page_of, page_of_text, with_ending, with_value
from reverie.skills.skill import (
    ARCHIVE,
    FIRST,
    MAIN,
    Amended,
    Amendment,
    Bump,
    Clashed,
    Create,
    Diff,
    Merge,
    NewText,
    Patch,
    Retire,
    Revert,
    Skill,
    bare_name,
    bumped,
    checked_subject,
    count_of,
    document_of,
    document_problem,
    frontmatter_of,
    place_of,
    read_skill,
    setting_text,
    subject_problem,
)

_ON_TOP = ("skill_id", "version", "tags", "triggers", "priority", "last_refined", "refinements")
_ORDERS = re.compile(
    r"\b(?:must|shall|should|always|never|only|don'?t|do not|required?|avoid|ensure|make sure|before|after|unless|"
    r"instead|forbidden|mandatory|at least|at most)\b",
    re.IGNORECASE,
)
_FIXED = re.compile(r"`[^`]+`|\d+(?:[.,:]\d+)*|https?://\S+|\b(?:not?|never|always|only|n't)\b", re.IGNORECASE)
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")


def amended(
    files: Mapping[str, bytes], amendment: Amendment, now: datetime, beside: Iterable[str] = ()
) -> Amended | Clashed:
    """The files of the skills an amendment concerns, with it made. `beside` are the subjects already there."""
    try:
        made = _applied(files, amendment, now, beside)
    except BadInput as error:  # frontmatter in which a key cannot be set
        return Clashed(str(error))
    if isinstance(made, Clashed):
        return made
    unsafe = next((path for path in made if document_problem(path)), None)
    if unsafe is not None:
        return Clashed(f"{unsafe!r} cannot be a file of a skill: {document_problem(unsafe)}")
    return Amended({path: content for path, content in made.items() if files.get(path) != content})


_After = dict[str, bytes | None]


def _applied(
    files: Mapping[str, bytes], amendment: Amendment, now: datetime, beside: Iterable[str]
) -> _After | Clashed:
    match amendment:
        case Create():
            subject = amendment.subject
            problem = subject_problem(subject, beside)
            if problem:
                return Clashed(f"a skill cannot be called {subject!r}: {problem}")
            outside = [path for path in amendment.files if path != subject and not path.startswith(f"{subject}/")]
            if outside:
                return Clashed(f"{outside[0]!r} is no file of {subject!r}")
            taken = sorted({path.casefold() for path in files} & {path.casefold() for path in amendment.files})
            if taken:
                return Clashed(f"{taken[0]!r} is there already")
            document = subject if subject.endswith(".md") else f"{subject}/{MAIN[0]}"
            return dict(amendment.files) if document in amendment.files else Clashed(f"{document!r} is missing")
        case Patch():
            return _patched(files, amendment, now)
        case Merge():
            if amendment.subject == amendment.absorbed:
                return Clashed("a skill cannot absorb itself")
            rewrite = Patch(amendment.subject, amendment.base, NewText(amendment.text), amendment.bump)
            written = _patched(files, rewrite, now)
            gone = _retired(files, amendment.absorbed, amendment.absorbed_base, now)
            if isinstance(written, Clashed):
                return written
            if isinstance(gone, Clashed):
                return gone
            brought = _brought_over(files, amendment)
            return brought if isinstance(brought, Clashed) else {**gone, **brought, **written}
        case Retire():
            return _retired(files, amendment.subject, amendment.base, now)
        case Revert():
            return _reverted(files, amendment)
        case _:
            assert_never(amendment)


def _patched(files: Mapping[str, bytes], amendment: Patch, now: datetime) -> _After | Clashed:
    document = document_of(amendment.subject, files)
    if document is None:
        return Clashed(f"{amendment.subject!r} is gone")
    current = files[document]
    of_rules = isinstance(amendment.change, tuple)
    page = intended(page_of(current if of_rules else amendment.base), amendment.change)
    if isinstance(page, Clashed):
        return page
    if not of_rules:
        merged = _merged(amendment.base, page.to_bytes(), current)
        if isinstance(merged, Clashed):
            return merged
        page = page_of(merged)
    return {document: stamped(page, amendment.subject, current, amendment.bump, now).to_bytes()}


def intended(base: Page, change: tuple[Edit, ...] | Diff | NewText) -> Page | Clashed:
    """The page with a patch made to it, before its version is counted up."""
    if isinstance(change, tuple):
        page = edited(base, change)
        return Clashed(page.why) if isinstance(page, Unmade) else page
    if isinstance(change, Diff):
        made = patched(base.text, change.text, base.ending)
        return Clashed(made.why) if isinstance(made, Unmade) else page_of_text(made)
    new = page_of_text(with_ending(change.text, base.ending))
    if new.opening:
        return Page(base.mark, new.opening, new.matter, new.closing, new.body)
    gap = base.body[: len(base.body) - len(base.body.lstrip("\r\n"))]
    body = new.body if new.body[:1] in ("\r", "\n") else gap + new.body
    return base.with_body(body)


def _merged(base: bytes, ours: bytes, theirs: bytes) -> bytes | Clashed:
    if theirs in (base, ours):
        return ours
    texts = (content.decode("utf-8", "surrogateescape") for content in (base, ours, theirs))
    made = merge_lines(*(lines_of(text) for text in texts))
    if isinstance(made, tuple):
        places = ", ".join(str(overlap.first) for overlap in made)
        return Clashed(f"the skill was changed since, in the same lines ({places})", made)
    return "".join(made).encode("utf-8", "surrogateescape")


def _brought_over(files: Mapping[str, bytes], amendment: Merge) -> _After | Clashed:
    """Scripts and references come along, so that what the new text says of them stays true."""
    if amendment.subject.endswith(".md") or amendment.absorbed.endswith(".md"):
        return {}
    absorbed = read_skill(amendment.absorbed, _of(files, amendment.absorbed))
    brought: _After = {}
    for path in absorbed.support:
        target = amendment.subject + path[len(amendment.absorbed) :]
        if files.get(target, files[path]) != files[path]:
            return Clashed(f"both skills have a file {target!r}, and they differ")
        brought[target] = files[path]
    return brought


def _retired(files: Mapping[str, bytes], subject: str, base: bytes, now: datetime) -> _After | Clashed:
    document = document_of(subject, files)
    if document is None:
        return Clashed(f"{subject!r} is gone")
    if files[document] != base:
        return Clashed(f"{subject!r} was changed since it was decided to retire it")
    place = f"{ARCHIVE}/{bare_name(subject)}"
    if any(path.startswith(f"{place}/") for path in files):  # taken: the time goes behind it, as Hermes does it
        place = f"{place}-{now.astimezone(UTC):%Y%m%d%H%M%S}"
    moved: _After = {}
    for path, content in _of(files, subject).items():
        moved[path] = None
        moved[place + (path[len(subject) :] if path != subject else f"/{bare_name(subject)}.md")] = content
    return moved


def _reverted(files: Mapping[str, bytes], amendment: Revert) -> _After | Clashed:
    made: _After = {}
    for path in sorted(set(amendment.base) | set(amendment.to)):
        base, to, current = amendment.base.get(path), amendment.to.get(path), files.get(path)
        if current in (base, to):
            made[path] = to
        elif base is None or to is None or current is None:
            return Clashed(f"{path!r} was {'taken away' if current is None else 'changed'} since")
        else:
            content = _merged(base, to, current)
            if isinstance(content, Clashed):
                return content
            made[path] = content
    return made


def _of(files: Mapping[str, bytes], subject: str) -> dict[str, bytes]:
    return {path: content for path, content in files.items() if path == subject or path.startswith(f"{subject}/")}


def stamped(page: Page, subject: str, before: bytes, bump: Bump, now: datetime) -> Page:
    """The page with the next version, one more refinement and the day in its frontmatter. `before` is what the skill is
    now. A version the amendment itself wrote is kept.

    A key that is there is counted on where it stands. A new one stands where the shape's readers expect it: on top in a
    flat file; under `metadata` in a SKILL.md, because the Agent Skills validator refuses other keys on top. There
    values are text, as the specification wants them.
    """
    flat = subject.endswith(".md")
    if flat and not page.opening:
        page = with_value(page, ("skill_id",), bare_name(subject))
    old, new = (setting_text(frontmatter_of(one), "version") for one in (page_of(before), page))
    if old == new:
        page = _set(page, "version", bumped(old, bump), flat=flat)
    refinements = setting_text(frontmatter_of(page_of(before)), "refinements")
    page = _set(page, "last_refined", f"{now.astimezone(UTC):%Y-%m-%d}", flat=flat)
    count = count_of(refinements) + 1
    return _set(page, "refinements", count if flat else str(count), flat=flat)


def _set(page: Page, key: str, value: str | int, *, flat: bool) -> Page:
    path = place_of(frontmatter_of(page), key)
    return with_value(page, path or place_for(key, flat=flat), value)


def place_for(key: str, *, flat: bool) -> tuple[str, ...]:
    """Where a key goes that is nowhere yet."""
    if flat and key in _ON_TOP:
        return (key,)
    return ("metadata", key) if key == "version" else ("metadata", "reverie", key)


# ---- how much changed ------------------------------------------------------------------------------------------------


def guessed_bump(old: str, new: str) -> Bump:
    """The bump a body's change calls for. A guess, for a person to correct.

    A rule that is gone or says something else changes the meaning; a rule that is new adds to it; the rest is wording.
    What is a rule: an item of a list, a line of code, and a sentence that orders or forbids.
    """
    before, after = _rules(old), _rules(new)
    gone, come = list((before - after).elements()), list((after - before).elements())
    bumps: set[Bump] = {"patch"}
    for rule in gone:
        # The new rule that took the place of an old one: the likeliest, if it is like it at all.
        likeness = [(SequenceMatcher(None, rule.split(), other.split()).ratio(), other) for other in come]
        best = max(likeness, key=lambda pair: pair[0], default=(0.0, ""))
        heir = best[1] if best[0] >= 0.4 else None
        if heir is not None:
            come.remove(heir)
        bumps.add(_between(rule, heir))
    if come:
        bumps.add("minor")
    return "major" if "major" in bumps else "minor" if "minor" in bumps else "patch"


def _rules(body: str) -> Counter[str]:
    found: Counter[str] = Counter()
    fenced = False
    for line in lines_of(body):
        fenced = fenced != bool(_FENCE.match(line))
        words = " ".join(ITEM.sub("", line, count=1).split())
        if words and (fenced or ITEM.match(line) or _ORDERS.search(line)) and not _FENCE.match(line):
            found[words] += 1
    return found


def _between(old: str, new: str | None) -> Bump:
    if new is None or Counter(_FIXED.findall(old)) - Counter(_FIXED.findall(new)):
        return "major"
    if old.casefold().strip(".!") == new.casefold().strip(".!"):
        return "patch"
    from reverie.text.relation import RelationKind, relate

    match relate(old, new).kind:
        case RelationKind.SAME:
            return "patch"
        case RelationKind.REFINES:
            return "minor"
        case _:
            return "major"


def refine(
    skill: Skill,
    *,
    section: str = "",
    add: Sequence[str] = (),
    replace: Mapping[str, str] | None = None,
    remove: Sequence[str] = (),
    diff: str = "",
    text: str = "",
    bump: Bump | None = None,
) -> Patch:
    """A patch of this skill: rules of a section, a unified diff of the document, or a new text of the body.

    Without `bump` it is guessed from what changes. What does not fit the skill as it stands raises BadInput.
    """
    edits: tuple[Edit, ...] = (
        *(ReplaceRule(section, old, new) for old, new in (replace or {}).items()),
        *(RemoveRule(section, old) for old in remove),
        *(AddRule(section, rule) for rule in add),
    )
    if [bool(section and edits), bool(diff), bool(text)].count(True) != 1 or bool(edits) != bool(section):
        raise BadInput(
            "It is not clear what is to change.",
            expected="either a section with rules to add, replace or remove, or a diff, or a text",
            next_step="Give one of the three.",
        )
    change = edits or (Diff(diff) if diff else NewText(text))
    made = intended(page_of(skill.content), change)
    if isinstance(made, Clashed):
        raise BadInput(
            f"{skill.subject} was not refined: {made.why}.", next_step="Read the skill again and say what is to change."
        )
    return Patch(skill.subject, skill.content, change, bump or guessed_bump(skill.body, made.body))


def draft(
    subject: str,
    body: str,
    *,
    description: str = "",
    tags: Sequence[str] = (),
    triggers: Sequence[str] = (),
    beside: Sequence[str] = (),
) -> Create:
    """A new skill: a folder with SKILL.md, or a flat file when the subject ends in `.md`."""
    checked_subject(subject, beside)
    flat = subject.endswith(".md")
    page = Page("", "", "", "", body.lstrip("\r\n"))
    page = with_value(page, ("skill_id" if flat else "name",), bare_name(subject))
    if description:
        page = with_value(page, ("description",), description)
    page = with_value(page, place_for("version", flat=flat), FIRST)
    for key, values in (("tags", tags), ("triggers", triggers)):
        if values:
            page = with_value(page, place_for(key, flat=flat), values)
    return Create(subject, {subject if flat else f"{subject}/{MAIN[0]}": page.to_bytes()})


def merge(into: Skill, absorbed: Skill, text: str, bump: Bump = "minor") -> Merge:
    return Merge(into.subject, into.content, absorbed.subject, absorbed.content, text, bump)


def retire(skill: Skill) -> Retire:
    return Retire(skill.subject, skill.content)
