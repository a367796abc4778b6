"""The built-in curator: works with no model and knows its limits.

Its text is the person's own sentence, cut to the clause, or the old entry with one value exchanged for one of the same
shape. It composes nothing. It is also the second opinion beside a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reverie.dreams.brief import Brief, BriefEntry, BriefSkill
from reverie.dreams.curators import Curated
from reverie.dreams.curators.lessons import as_run, commands_of, in_full, is_routine, same_lesson, steps_of
from reverie.dreams.gather import Material
from reverie.dreams.items import Answer, Citation, Item, Op
from reverie.dreams.verify import words
from reverie.dreams.verify.case import STANDING
from reverie.kernel.origin import Origin
from reverie.language.relation import RelationKind, relate
from reverie.light.candidate import Kind, Noted
from reverie.safety.sensitive import asked_to_remember, asking_to_remember

CONFLICT = 0.5  # from where a statement more likely than not overtakes an entry
SURE_CONFLICT = 0.7
FEWEST_RUNS = 3
_LEAD = re.compile(
    r"^(?:\W*(?:(?:please|pls|bitte|por favor|per favore|alsjeblieft|btw|fyi)[\s,:;.!–—-]+"
    r"|(?:ok(?:ay)?|oh|ah|ach|hm+|um|uh|well|hey|hi|hello|right|yes|yeah|no|nope|nah|also|so|by the way|actually|ja"
    r"|nein|nee|übrigens|oye|oui|non|d'ailleurs|sì|sim|não|sí|ps|before i forget|one more thing|heads[- ]up)"
    r"\s*[,:;.!–—-]+\s*))+(?=\w)",
    re.IGNORECASE,
)
_THAT = re.compile(r"^[\s,:;–—-]*(?:that|dass|daß|que|che|dat|att|at|że|že|ki)?\b[\s,:;–—-]*", re.IGNORECASE)
_VERB_LAST = ("de", "nl")  # "dass ich Vegetarier bin" is no sentence without its "dass"
_SIGNS = re.compile(r"[/._-]|\.md$")
_WORLD, _PERSON = ("MEMORY",), ("USER",)


@dataclass(frozen=True, slots=True)
class BuiltInCurator:
    """Reads everything itself, so that no night is too long for it."""

    name: str = "built-in"
    room: int | None = None

    def curate(self, material: Material) -> Curated:
        said = [one for one in material.noted if one.candidate.kind is not Kind.SKILL_CANDIDATE]
        alone = bool(material.brief.owner)
        statements = [item for group in _grouped(said, alone) if (item := _item(group, material))]
        return Curated(Answer((*statements, *_lessons(material), *_duplicates(material))))

    def notes(self, materials: Sequence[Material]) -> list[Curated]:
        return [self.curate(one) for one in materials]


# ---- statements ------------------------------------------------------------------------------------------------------


def _grouped(noted: Sequence[Noted], alone: bool) -> list[list[Noted]]:
    """What says the same stands together, oldest first; each person for themselves (`alone`), where the memory has an
    owner."""
    groups: list[list[Noted]] = []
    for one in sorted(noted, key=lambda each: each.order):
        home = next((group for group in groups if _says_the_same(group[-1], one, alone)), None)
        if home is None:
            groups.append([one])
        else:
            home.append(one)
    return groups


def _says_the_same(one: Noted, other: Noted, alone: bool) -> bool:
    if (alone and one.speaker != other.speaker) or one.origin is not other.origin:
        return False
    first, second = words.stems(one.words), words.stems(other.words)
    if len(first & second) < 2 or len(first & second) * 2 < min(len(first), len(second)):
        return False
    alike = relate(one.words, other.words).kind in (RelationKind.SAME, RelationKind.REFINES)
    return alike and not words.missing(words.values(one.words), [other.words])


def _item(group: Sequence[Noted], material: Material) -> Item | None:
    last = group[-1]
    sentence = own_sentence(last.words, last.candidate.language)
    document = _document(last, material.brief)
    evidence, ids = tuple(_citations(group, material)), tuple(one.id for one in group)
    if not sentence or document is None or not evidence:
        return None
    old, conflict = _overtaken(last, material.brief.entries)
    plain = _is_sure(group)
    kind, project = str(last.candidate.kind), _project(group, material)
    because = f"Said in {_sessions(group)}."
    if old is None:
        return Item(
            Op.ADD,
            sentence,
            evidence,
            document,
            project=project,
            kind=kind,
            sure=plain,
            because=because,
            candidates=ids,
        )
    exchanged, value = exchange(old.text, last.words)
    sure = (plain or conflict >= SURE_CONFLICT) and value in ("number", "address")
    return Item(
        Op.REPLACE, exchanged or sentence, evidence, old.document, replaces=(old.id,), project=project, kind=kind,
        sure=sure,
        because=because, candidates=ids,
    )  # fmt: skip


def _project(group: Sequence[Noted], material: Material) -> str:
    """The one project it was said in, if the words speak of the project at hand."""
    found = {one.project for one in material.brief.sessions if one.session_id in {each.session_id for each in group}}
    spoken = words.pattern("this_project").search(words.plain(group[-1].words))
    return found.pop() if len(found) == 1 and spoken else ""


def _sessions(group: Sequence[Noted]) -> str:
    number = len({one.session_id for one in group})
    return "one session" if number == 1 else f"{number} sessions"


def _is_sure(group: Sequence[Noted]) -> bool:
    """They asked for it to be remembered, or said it as something that holds on more than one day."""
    asked = any(asked_to_remember(one.words) for one in group)
    return asked or len({one.session_id for one in group if one.candidate.confidence >= STANDING}) > 1


def own_sentence(said: str, language: str = "en") -> str:
    """The sentence as it was said, without what stands before its point: an interjection, or "please remember that"."""
    text = _LEAD.sub("", " ".join(said.split())).strip()
    asked = asking_to_remember(text)
    if asked and len(text) > asked + 8:
        that = _THAT.match(text[asked:])
        turned = language in _VERB_LAST and that is not None and that[0].strip(" ,:;–—-") != ""
        text = text if turned else _THAT.sub("", text[asked:]).strip()
    return text[:1].upper() + text[1:] if text else ""


def _document(one: Noted, brief: Brief) -> str | None:
    """Where it would go: what is about the person beside the person, the rest with the rest. Among the pages of a
    memory store, to the one that speaks of the same; else to the one that is there for what is new."""
    wanted = _PERSON if one.candidate.about == "person" else _WORLD
    names = [each.name for each in brief.documents]
    if found := next((name for name in names if name.upper().startswith(wanted)), None):
        return found
    if brief.new_page is None:
        return next(iter(names), None)
    said, shared = words.stems(one.words), dict.fromkeys(names, 0)
    for entry in brief.entries:
        if entry.document in shared:
            shared[entry.document] = max(shared[entry.document], len(words.stems(entry.whole) & said))
    best = max(shared, key=lambda name: shared[name] + len(words.stems(_SIGNS.sub(" ", name)) & said), default="")
    return best if shared.get(best, 0) >= 2 else brief.new_page


def _overtaken(one: Noted, entries: Iterable[BriefEntry]) -> tuple[BriefEntry | None, float]:
    """The one entry it would take the place of."""
    named = [each for each in entries if each.changeable and (not each.under or _speaks_of(one.words, each.under))]
    related = [(relate(entry.whole, one.words).conflict, entry) for entry in named]
    best = max(related, key=lambda each: each[0], default=None)
    return (best[1], best[0]) if best and best[0] >= CONFLICT else (None, 0.0)


def _speaks_of(said: str, under: str) -> bool:
    """ "Host: db1" below "Staging" is meant only where staging is spoken of."""
    return bool(words.stems(under) & words.stems(said))


def exchange(old: str, said: str) -> tuple[str, str]:
    """The entry with one value exchanged for the one of the same shape that was said instead, and that shape; empty
    where it is not plain which."""
    spoken = words.values(said)
    gone = [value for value in words.values(old) if not words.stands_in(value, said)]
    named_over = [value for value in words.values(old) if words.stands_in(value, said)]
    new = [value for value in spoken if not words.stands_in(value, old)]
    shapes = {words.shape_of(value) for value in new}
    for shape in sorted(shapes):
        came = [value for value in new if words.shape_of(value) == shape]
        left = [value for value in gone if words.shape_of(value) == shape]
        if len(came) == len(left) == 1 and len(new) == 1 and old.count(left[0]) == 1:
            shared = words.stems(old) & words.stems(said)
            if len(shared) >= 2 or (shared and len(words.stems(old)) <= 4):
                return old.replace(left[0], came[0]), shape
    one_each = len(new) == len(named_over) == 1 and old.count(named_over[0]) == 1
    if one_each and words.shape_of(new[0]) == words.shape_of(named_over[0]) and words.stems(old) & words.stems(said):
        return old.replace(named_over[0], new[0]), words.shape_of(new[0])
    return "", ""


def _citations(group: Iterable[Noted], material: Material) -> Iterator[Citation]:
    ids = {session.id: short for short, session in material.sessions.items()}
    for one in group:
        for evidence in one.support:
            if one.session_id in ids:
                yield Citation(ids[one.session_id], evidence.turn, evidence.quote)


def _duplicates(material: Material) -> Iterator[Item]:
    """Entries that say the same word for word: one of each stays, the one that was there first."""
    first: dict[tuple[str, str], BriefEntry] = {}
    for entry in material.brief.entries:
        words_of_it = " ".join(entry.whole.lower().split()).strip(" .")
        bare = (words_of_it, entry.page)
        if bare in first and entry.changeable and not entry.critical:
            why = f"{first[bare].document} says the same."
            yield Item(Op.REMOVE, "", (), entry.document, replaces=(entry.id,), sure=True, because=why)
        first.setdefault(bare, entry)


# ---- lessons ---------------------------------------------------------------------------------------------------------


def _lessons(material: Material) -> Iterator[Item]:
    """What failed and was mended in the same way in two sessions; what was run three times."""
    groups: list[list[Noted]] = []
    for one in (one for one in material.noted if one.candidate.kind is Kind.SKILL_CANDIDATE):
        if one.origin is not Origin.AGENT:
            continue
        home = next((group for group in groups if same_lesson(group[-1], one)), None)
        groups.append([one]) if home is None else home.append(one)
    for group in groups:
        if item := _routine(group, material) if is_routine(group[-1]) else _lesson(group, material):
            yield item


def _lesson(group: Sequence[Noted], material: Material) -> Item | None:
    shortest = min(group, key=lambda one: len(in_full(one)))
    line, commands = in_full(shortest), commands_of(shortest)
    evidence, ids = tuple(_citations(group, material)), tuple(one.id for one in group)
    if not commands or not evidence:
        return None
    because = f"It failed and was mended in the same way in {_sessions(group)}."
    skill = next((one for one in material.brief.skills if _has_step(one, commands[0])), None)
    if skill:
        return Item(
            Op.SKILL_AMEND, line, evidence, skill=skill.id, kind="skill_candidate", because=because, candidates=ids
        )
    around = len(commands) > 2 or (len(commands) > 1 and "it works after" in line)
    steps = [f"Run `{each}`." for each in ((commands[1], commands[0], *commands[2:]) if around else commands[-1:])]
    return Item(
        Op.SKILL_NEW, f"When `{commands[0]}` fails.", evidence, skill=commands[-1], kind="skill_candidate",
        because=because, steps=tuple(steps), gotchas=(line,), candidates=ids,
    )  # fmt: skip


def _has_step(skill: BriefSkill, command: str) -> bool:
    return any(command in rule.text for rule in skill.rules)


def _routine(group: Sequence[Noted], material: Material) -> Item | None:
    if len({one.session_id for one in group}) < FEWEST_RUNS:
        return None
    steps = steps_of(group[-1])
    request = next((one.quote for one in group[-1].candidate.evidence if one.weight == "context"), "")
    if any(all(_has_step(skill, step) for step in steps) for skill in material.brief.skills):
        return None
    return Item(
        Op.SKILL_NEW, f"When asked: {request}" if request else f"When `{steps[0]}` is run.",
        tuple(_citations(group, material)), skill=" ".join(step.split()[0] for step in steps[:3]),
        kind="skill_candidate", because=f"The same steps were run in {len(group)} sessions.",
        steps=tuple(f"Run `{step}`." for step in as_run(group[-1])), candidates=tuple(one.id for one in group),
    )  # fmt: skip
