"""The built-in curator: works with no model and knows its limits.

Its text is the person's own sentence, cut to the clause, or the old entry with one value exchanged for one of the same
shape. It composes nothing. It is also the second opinion beside a model.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reverie.core.origin import Origin
from reverie.dreams.brief import Brief, BriefEntry, BriefSkill
from reverie.dreams.curators import Curated
from reverie.dreams.curators.lessons import as_run, commands_of, in_full, is_routine, same_lesson, steps_of
from reverie.dreams.gather import Material
from reverie.dreams.items import Answer, Citation, Item, Op
from reverie.dreams.light.candidate import Kind, Noted
from reverie.dreams.verify import words
from reverie.dreams.verify.case import ASSERTED, CHANGES, STANDING
from reverie.safety.sensitive import asked_to_remember, asking_to_remember
from reverie.text.relation import RelationKind, relate

CONFLICT = 0.5  # from where a statement more likely than not overtakes an entry
SURE_CONFLICT = 0.7
ALIKE = 1.0  # half of the words and half of the meaning, say
EXACT = ("number", "address")  # shapes of values of which it is plain which takes whose place
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
        statements = [item for old, group in _grouped(said, material.brief) if (item := _item(old, group, material))]
        return Curated(Answer((*statements, *_lessons(material), *_duplicates(material))))

    def notes(self, materials: Sequence[Material]) -> list[Curated]:
        return [self.curate(one) for one in materials]


# ---- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Said:
    """A candidate with what it is grouped by: the entry it would change, its words, whose they are."""

    noted: Noted
    old: BriefEntry | None
    words: str
    who: tuple[str | None, Origin]

    @property
    def marks(self) -> Counter[str]:
        """What two that belong together share: the entry they would change, or how their words begin."""
        return Counter([self.old.id] * 2 if self.old else (stem[:5] for stem in words.stems(self.words)))


def _grouped(noted: Sequence[Noted], brief: Brief) -> list[tuple[BriefEntry | None, list[Noted]]]:
    """What would take the place of one entry stands together, and what says the same, oldest first; each person for
    themselves, where the memory has an owner."""
    groups: list[list[_Said]] = []
    near = defaultdict[str, dict[int, int]](dict)  # by mark, how often the last of each group has it
    for one in sorted(noted, key=lambda each: each.order):
        who = (one.speaker if brief.owner else None, one.origin)
        new = _Said(one, _overtaken(one, brief.entries), one.words, who)
        marks = new.marks
        places = Counter[int]()
        for mark in marks:
            places.update(near[mark])
        close = sorted(place for place, times in places.items() if times > 1)
        place = next((place for place in close if _belongs(new, groups[place][-1])), len(groups))
        if place == len(groups):
            groups.append([])
        for mark in groups[place][-1].marks if groups[place] else ():
            del near[mark][place]
        groups[place].append(new)
        for mark, times in marks.items():
            near[mark][place] = times
    return [(group[0].old, [one.noted for one in group]) for group in groups]


def _belongs(one: _Said, other: _Said) -> bool:
    if one.who != other.who or one.old is not other.old:
        return False
    if one.old is not None:
        return bool(words.shared(one.words, other.words))
    return _says_the_same(other.words, one.words)


def _says_the_same(one: str, other: str) -> bool:
    if len(words.shared(one, other)) < 2 or words.missing(words.values(one), [other]):
        return False
    against = (RelationKind.SUPERSEDES, RelationKind.CONTRADICTS)
    return words.likeness(one, other) >= ALIKE and relate(one, other).kind not in against


def _item(old: BriefEntry | None, group: Sequence[Noted], material: Material) -> Item | None:
    made, best, agree = _change_of(old, group, material) if old else _addition(group, material)
    evidence = tuple(_citations(agree, material))
    if not made.text or not made.document or not evidence:
        return None
    return replace(
        made,
        evidence=evidence,
        project=_project(agree, material),
        kind=str(best.candidate.kind),
        because=f"Said in {_sessions(agree)}.",
        candidates=tuple(one.id for one in group),
    )


def _addition(group: Sequence[Noted], material: Material) -> tuple[Item, Noted, Sequence[Noted]]:
    """The surest of what says the same."""
    best = max(group, key=lambda one: (round(one.candidate.confidence, 1), one.order))
    text = own_sentence(best.words, best.candidate.language)
    return Item(Op.ADD, text, (), _document(best, material.brief) or "", sure=_is_sure(group)), best, group


def _change_of(old: BriefEntry, group: Sequence[Noted], material: Material) -> tuple[Item, Noted, Sequence[Noted]]:
    """The last word on an entry; what was said before speaks for it only where it says the same."""
    last = group[-1]
    revised, shape = _revised(old.text, [one.words for one in group])
    agree = [one for one in group if one is last or _tells_the_same(one, last, old.text, revised)]
    plain = shape in EXACT and relate(old.whole, last.words).conflict >= SURE_CONFLICT
    text = revised or own_sentence(last.words, last.candidate.language)
    alone = not any(_holds_it_too(one, old, text) for one in material.brief.entries)
    sure = alone and (plain or _is_sure(agree))
    return Item(Op.REPLACE, text, (), old.document, replaces=(old.id,), sure=sure), last, agree


def _revised(old: str, said: Sequence[str]) -> tuple[str, str]:
    """The entry with one value exchanged, by the last who named it whole, if nothing said since differs; and the
    value's shape."""
    for place in range(len(said) - 1, -1, -1):
        text, shape = exchange(old, said[place])
        if text and not any(_new_values(old, later, text) for later in said[place + 1 :]):
            return text, shape
    return "", ""


def _holds_it_too(one: BriefEntry, old: BriefEntry, text: str) -> bool:
    """Another entry on the same matter has the value that would go: changing one of them is half a change."""
    gone = words.missing(words.values(old.text), [text])
    about_it = one is not old and len(words.shared(one.text, old.text)) > 1
    return about_it and any(words.stands_in(value, one.text) for value in gone)


def _tells_the_same(one: Noted, last: Noted, old: str, revised: str) -> bool:
    """It names the value that the entry now has; or, where the sentence itself takes the entry's place, all that is new
    in the last one's."""
    if revised:
        return not _new_values(old, one.words, revised)
    new = words.missing(words.values(last.words), [old])
    return bool(new) and not words.missing(new, [one.words])


def _new_values(old: str, said: str, text: str) -> list[str]:
    """The numbers and addresses that were said, and that neither the entry nor the new text has."""
    values = [value for value in words.values(said) if words.shape_of(value) in EXACT]
    return [value for value in words.missing(values, [old]) if words.plain(value) not in words.plain(text)]


def _project(group: Sequence[Noted], material: Material) -> str:
    """The one project it was said in, if the words speak of the project at hand."""
    found = {one.project for one in material.brief.sessions if one.session_id in {each.session_id for each in group}}
    spoken = words.pattern("this_project").search(words.plain(group[-1].words))
    return found.pop() if len(found) == 1 and spoken else ""


def _sessions(group: Sequence[Noted]) -> str:
    number = len({one.session_id for one in group})
    return "one session" if number == 1 else f"{number} sessions"


def _is_sure(group: Sequence[Noted]) -> bool:
    """They asked for it to be remembered, or said it again on another day, at least once as something that holds."""
    if any(asked_to_remember(one.words) for one in group):
        return True
    said = [one for one in group if one.candidate.confidence >= ASSERTED]
    standing = any(one.candidate.confidence >= STANDING for one in said)
    return standing and len({one.session_id for one in said}) > 1


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


def _overtaken(one: Noted, entries: Iterable[BriefEntry]) -> BriefEntry | None:
    """The one entry it would take the place of: it contradicts it, or tells of a change and names what it says."""
    named = [each for each in entries if each.changeable and (not each.under or _speaks_of(one.words, each.under))]
    if not named:
        return None
    changes = bool(one.marks & CHANGES) and words.contrasts(one.words)
    names = {entry.id: _names(one.words, entry.whole) if changes else 0 for entry in named}
    conflict = {entry.id: relate(entry.whole, one.words).conflict for entry in named}
    best = max(named, key=lambda entry: (names[entry.id], conflict[entry.id]))
    return best if names[best.id] or conflict[best.id] >= CONFLICT else None


def _names(said: str, entry: str) -> int:
    """How many values of the entry are spoken of."""
    return sum(words.stands_in(value, said) for value in words.values(entry))


def _speaks_of(said: str, under: str) -> bool:
    """ "Host: db1" below "Staging" is meant only where staging is spoken of."""
    return bool(words.stems(under) & words.stems(said))


def exchange(old: str, said: str) -> tuple[str, str]:
    """The entry with one value exchanged for the one of the same shape that was said instead, and that shape; empty
    where it is not plain which: "moved from 9:30 to 9:45" is not about room 4, and of two names nobody can tell."""
    there = words.values(old)
    dated = "day" in map(words.shape_of, there)  # else a day only says since when
    new = [one for one in words.values(said) if not words.stands_in(one, old)]
    new = [one for one in new if dated or words.shape_of(one) != "day"]
    if len(new) != 1:
        return "", ""
    shape = words.shape_of(new[0])
    same = [value for value in there if words.shape_of(value) == shape]
    same = [value for value in same if _form(value) == _form(new[0])] or same
    if len(same) > 1 and shape in EXACT:  # the one that is not said to stay
        same = [value for value in same if not words.stands_in(value, said)] if not words.contrasts(said) else same
    shared = words.shared(old, said)
    if len(same) != 1 or old.count(same[0]) != 1 or not (len(shared) > 1 or (shared and len(words.stems(old)) <= 4)):
        return "", ""
    return old.replace(same[0], new[0]), shape


def _form(value: str) -> str:
    return re.sub(r"\d+", "0", value)


def _citations(group: Iterable[Noted], material: Material) -> Iterator[Citation]:
    for one in group:
        for evidence in one.support if one.session_id in material.short else ():
            yield Citation(material.short[one.session_id], evidence.turn, evidence.quote)


def _duplicates(material: Material) -> Iterator[Item]:
    """Entries that say the same word for word: one of each stays, the one that was there first."""
    first: dict[tuple[str, str], BriefEntry] = {}
    for entry in material.brief.entries:
        bare = (words.bare(entry.whole), entry.page)
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
        Op.SKILL_NEW,
        f"When `{commands[0]}` fails.",
        evidence,
        skill=commands[-1],
        kind="skill_candidate",
        because=because,
        steps=tuple(steps),
        gotchas=(line,),
        candidates=ids,
    )


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
        Op.SKILL_NEW,
        f"When asked: {request}" if request else f"When `{steps[0]}` is run.",
        tuple(_citations(group, material)),
        skill=" ".join(step.split()[0] for step in steps[:3]),
        kind="skill_candidate",
        because=f"The same steps were run in {len(group)} sessions.",
        steps=tuple(f"Run `{step}`." for step in as_run(group[-1])),
        candidates=tuple(one.id for one in group),
    )
