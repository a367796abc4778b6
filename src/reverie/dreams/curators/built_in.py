"""The built-in curator: works with no model and knows its limits.

Its text is the person's own sentence, cut to the clause, or the old entry with one value exchanged for one of the same
shape. It composes nothing. It is also the second opinion beside a model.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from reverie.core.scope import Origin
from reverie.dreams import words
from reverie.dreams.brief.brief import Brief, BriefEntry
from reverie.dreams.brief.gather import Material
from reverie.dreams.curators import Curated
from reverie.dreams.curators.confirm import confirmed
from reverie.dreams.curators.skills import citations, lesson_items, number_of_sessions, told_procedures
from reverie.dreams.items import Citation, CuratorAnswer, Item, Op
from reverie.dreams.light.candidate import Kind, Noted
from reverie.dreams.light.spans import STEPS, is_to_last, sentences
from reverie.dreams.verify.case import ASSERTED, CHANGES, STANDING, WANTED
from reverie.safety.sensitive import asked_to_remember, asking_to_remember
from reverie.text.embedding import embed
from reverie.text.relation import conflict_on_one_matter, mutual_conflict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONFLICT = 0.75  # from where a statement about the same may overtake an entry
AGAINST = 0.95  # from where two statements in much the same words are not two wordings of one
ALIKE = 1.0  # half of the words and half of the meaning, say
FARTHER = 0.05  # from where what was said conflicts more with what an entry would become than with what it is
EXACT = ("number", "address")  # shapes of values of which it is plain which takes whose place
FEWEST_STEPS = 3
WEAK, SURE = 0.5, 0.9  # how sure Light is of a sentence that only goes on with another: of any, of one of the same kind
PLAIN, OWN_WISH = 0.85, 0.75  # how surely a wish that was said once is to be kept, and is their own and no passing one
LITTLE, FAR = 3, 25  # words by themselves; characters between two sentences side by side
_SPEAKS = re.compile(
    r"\W*(?:(?P<name>[A-ZÀ-Þ][\w-]+)(?: [A-ZÀ-Þ][\w-]+)? (?:here|speaking|typing|hier|ici|aquí|qui|aqui|här|her|tady)"
    r"|(?:[Tt]his is|[Hh]ier (?:ist|is)|[Cc]'est|[Ss]oy|[Ss]ono|[Aa]quí) (?P<named>[A-ZÀ-Þ][\w-]+))\s*[.,:;!–—-]"
)
_LEAD = re.compile(
    r"^(?:\W*(?:(?:please|pls|bitte|por favor|per favore|alsjeblieft|btw|fyi)[\s,:;.!–—-]+"
    r"|(?:ok(?:ay)?|oh|ah|ach|hm+|um|uh|well|hey|hi|hello|right|yes|yeah|no|nope|nah|also|so|by the way|actually|ja"
    r"|nein|nee|übrigens|oye|oui|non|d'ailleurs|sì|sim|não|sí|ps|before i forget|one more thing|heads[- ]up)"
    r"\s*[,:;.!–—-]+\s*))+(?=\w)",
    re.IGNORECASE,
)
_THAT = re.compile(r"^[\s,:;：，、–—-]*(that|dass|daß|que|che|dat|att|at|że|že|ki)?\b[\s,:;：，、–—-]*", re.IGNORECASE)
_TURNS = ("dass", "daß", "dat")  # "dass ich Vegetarier bin" is no sentence without its "dass"
_IDEOGRAPHS = re.compile("[\u3400-\u9fff]")  # which day or place is meant is not told there: all have to be said again
_SIGNS = re.compile(r"[/._-]|\.md$")
_WORLD, _PERSON = ("MEMORY",), ("USER",)


@dataclass(frozen=True, slots=True)
class BuiltInCurator:
    """Reads everything itself, so that no night is too long for it."""

    name: str = "built-in"
    room: int | None = None

    def curate(self, material: Material) -> Curated:
        procedures = list(told_procedures(material))
        taken = {name for one in procedures for name in one.candidates}
        told = (one for one in material.noted if one.candidate.kind is not Kind.SKILL_CANDIDATE)
        said = [one for one in told if one.id not in taken]
        groups = _with_neighbours(_grouped(said, material.brief), material)
        statements = [item for old, group in groups if (item := _item(old, group, material))]
        return Curated(
            CuratorAnswer((*_once(statements), *procedures, *lesson_items(material), *_duplicates(material)))
        )

    def notes(self, materials: Sequence[Material]) -> list[Curated]:
        return [self.curate(one) for one in materials]


# ---- statements ------------------------------------------------------------------------------------------------------


_Group = tuple[BriefEntry | None, list[Noted]]  # what would take the place of one entry, or of none


def _grouped(noted: Sequence[Noted], brief: Brief) -> list[_Group]:
    """Put together what would take the place of one entry, and what says the same, oldest first; each person for
    themselves, where the memory has an owner."""
    groups: list[_Group] = []
    near = defaultdict[str, set[int]](set)  # the groups that a mark stands in: two that belong together share two
    for one in sorted(noted, key=lambda each: each.order):
        old = _overtaken(one, brief.entries)
        marks = {old.id, f"{old.id} again"} if old else {stem[:5] for stem in words.stems(one.words)}
        shared = Counter(place for mark in marks for place in near[mark])
        close = sorted(place for place, times in shared.items() if times > 1)
        place = next((place for place in close if _belongs(one, old, groups[place], brief)), len(groups))
        if place == len(groups):
            groups.append((old, []))
        groups[place][1].append(one)
        for mark in marks:
            near[mark].add(place)
    return groups


def _belongs(one: Noted, old: BriefEntry | None, group: _Group, brief: Brief) -> bool:
    last = group[1][-1]
    someone_else = bool(brief.owner) and one.speaker != last.speaker
    if someone_else or one.origin is not last.origin or old is not group[0]:
        return False
    return bool(words.shared(one.words, last.words)) if old else _says_the_same(last.words, one.words)


def _says_the_same(one: str, other: str) -> bool:
    if len(words.shared(one, other)) < 2 or words.missing(words.values(one), [other]):
        return False
    if words.negated(one) != words.negated(other):
        return False
    first, second = words.stems(one), words.stems(other)
    share = len(first & second) / max(1, min(len(first), len(second)))
    near = max(0.0, float(_vector(one) @ _vector(other)))  # in meaning
    return share + near >= ALIKE and mutual_conflict(one, other) < AGAINST


@lru_cache(maxsize=4096)
def _vector(text: str) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = embed([text])[0]
    return vector


def _with_neighbours(groups: Iterable[_Group], material: Material) -> list[_Group]:
    """Offer what only goes on with the sentence before it together with that one."""
    kept: list[_Group] = []
    for old, group in groups:
        before_old, before = kept[-1] if kept else (None, [])
        new = before and not (old or before_old) and len(group) == 1 and not _is_sure(before) and not _is_sure(group)
        if new and _goes_on(before[-1], group[0], material):
            before.append(group[0])
        else:
            kept.append((old, group))
    return kept


def _goes_on(one: Noted, other: Noted, material: Material) -> bool:
    """They stand side by side, and one of them says little by itself: Light is less sure of it, or it is short."""
    if _turn_of(one) != _turn_of(other):
        return False
    weaker = min(one, other, key=lambda each: (each.candidate.confidence, each.order))
    sure = weaker.candidate.confidence
    little = sure < WEAK or (one.marks == other.marks and (sure < SURE or len(words.stems(weaker.words)) <= LITTLE))
    counts = any(words.shape_of(value) in EXACT for value in words.values(weaker.words))
    return little and not counts and bool(_stretch((one, other), material))


def _turn_of(one: Noted) -> tuple[str, int]:
    return one.session_id, one.candidate.first_turn


def _turn_text(one: Noted, material: Material) -> str:
    short = material.short.get(one.session_id)
    return material.sessions[short].turn(one.candidate.first_turn).text if short else ""


def _stretch(said: Sequence[Noted], material: Material) -> str:
    """The words of one turn, from the first of these to the last, as they stand there; empty if they stand apart. From
    its beginning, if somebody else says there that they are speaking."""
    text = _turn_text(said[0], material)
    places = [(start, start + len(one.words)) for one in said if (start := text.find(one.words)) >= 0]
    if len(places) < len(said):
        return ""
    start, end = min(places)[0], max(end for _, end in places)
    apart = end - start > sum(len(one.words) + FAR for one in said)
    return "" if apart else text[0 if _guest(said[0], material) else start : end]


def _guest(one: Noted, material: Material) -> bool:
    """Whether the turn begins with somebody else's name, and that it is they who speak: "Callum here."."""
    found = _SPEAKS.match(_turn_text(one, material)) if one.origin is Origin.OWNER else None
    return found is not None and (found["name"] or found["named"]).lower() not in material.brief.owner.lower()


def _item(old: BriefEntry | None, group: Sequence[Noted], material: Material) -> Item | None:
    made, best, agree = _change_of(old, group, material) if old else _addition(group, material)
    evidence = tuple(dict.fromkeys((*citations(agree, material), *made.evidence)))
    if not made.text or not evidence or not (made.document or made.op.changes_skill):
        return None
    # The one project it was said in, if the words speak of the project at hand.
    found = {one.project for one in material.brief.sessions if one.session_id in {each.session_id for each in agree}}
    spoken = words.says("this_project", agree[-1].words)
    return replace(
        made,
        sure=made.sure and not any(_guest(one, material) for one in agree),
        evidence=evidence,
        project=found.pop() if len(found) == 1 and spoken else "",
        kind=str(best.candidate.kind),
        because=f"Said in {number_of_sessions(one.session for one in evidence)}.",
        candidates=tuple(one.id for one in group),
    )


def _once(items: Sequence[Item]) -> Iterator[Item]:
    """Items without those that only say again what a surer one rests on, too."""
    sure = [one for one in items if one.sure]
    taken = {id(one): [each for each in items if not each.sure and _rests_on(one, each)] for one in sure}
    gone = {id(each) for found in taken.values() for each in found}
    for one in items:
        if id(one) not in gone:
            also = [name for each in taken.get(id(one), ()) for name in each.candidates]
            yield replace(one, candidates=tuple(dict.fromkeys((*one.candidates, *also))))


def _rests_on(one: Item, other: Item) -> bool:
    return all(
        any((mine.session, mine.turn) == (its.session, its.turn) and its.words in mine.words for mine in one.evidence)
        for its in other.evidence
    )


def _addition(group: Sequence[Noted], material: Material) -> tuple[Item, Noted, Sequence[Noted]]:
    """The surest of what says the same; of those the fullest, which is best understood alone."""
    best = max(group, key=lambda one: (round(one.candidate.confidence, 1), len(words.stems(one.words)), one.order))
    sure = _is_sure(group) or _wants_it_every_time(best)
    alone = own_sentence(best.words)
    again = () if sure or words.leans_on(alone) else _said_again(best, alone, None, material)
    beside = [one for one in group if one is best or (not (sure or again) and _turn_of(one) == _turn_of(best))]
    text = own_sentence(_stretch(beside, material) or best.words)
    if material.brief.new_page is None and (steps := _told_steps(best, text)):  # a memory store has no skills
        title = text.partition(":")[0]
        return Item(Op.SKILL_NEW, title, (), skill=title, steps=tuple(steps)), best, group
    document = _document(best, material.brief, guest=_guest(best, material))
    return Item(Op.ADD, text, again, document or "", sure=sure or bool(again)), best, group


def _said_again(one: Noted, text: str, old: BriefEntry | None, material: Material) -> tuple[Citation, ...]:
    """Where it was said again, if it was said plainly; of an entry, in words that name it."""
    named = old is None or _is_named(old, one.words)
    plain = one.candidate.confidence >= STANDING and one.candidate.explicitness * 2 >= one.candidate.confidence
    return tuple(confirmed(one, text, old.whole if old else "", material)) if named and plain else ()


def _told_steps(one: Noted, text: str) -> list[str]:
    """Several sentences that a colon announces are the steps of a procedure, as they were told."""
    announced = text.partition(":")[2]
    steps = [announced[start:end] for start, end in sentences(announced, announced)] if one.marks & STEPS else []
    return steps if len(steps) >= FEWEST_STEPS else []


def _change_of(old: BriefEntry, group: Sequence[Noted], material: Material) -> tuple[Item, Noted, Sequence[Noted]]:
    """The last word on an entry; what was said before speaks for it only where it says the same."""
    last = group[-1]
    told = set(_IDEOGRAPHS.findall(old.text)) <= set(last.words)
    revised, shape = _revised(old.text, [one.words for one in group]) if told else ("", "")
    agree = [one for one in group if one is last or _tells_the_same(one, last, old.text, revised)]
    days = [value.lower() for value in words.values(revised) if words.shape_of(value) == "day"]
    each_week = all(day.endswith("days") for day in days)  # "Thursdays"; "Thursday" may be the next one only
    for_good = each_week and bool(last.marks & CHANGES) and last.candidate.confidence >= STANDING
    hours = [value for value in words.values(old.text) if words.shape_of(value) in EXACT]  # may move with the day
    limited = any(
        words.shape_of(value) == "day" for value in words.missing(words.values(last.words), [old.text, revised])
    )
    exact = not limited and shape in EXACT  # "200 on Mondays" is not 200 every day
    exact |= shape == "day" and for_good and not words.missing(hours, [last.words])
    doubted = last.candidate.explicitness * 2 < last.candidate.confidence
    plain = exact and not doubted and _surely_conflict(old.whole, last.words)
    said = max(agree, key=lambda one: (bool(one.marks & CHANGES), one.candidate.explicitness, one.order))
    text = revised or own_sentence(said.words)
    others = [one for one in material.brief.entries if one is not old]
    alone = not any(_holds_it_too(one, old, text) or _is_rival(one, old, last.words) for one in others)
    back = _comes_back(old.text, text, [one.words for one in group])
    most = max(1, len(words.stems(old.whole)) - 1)  # one word in common may be a name that is spoken of otherwise
    spoken_of = bool(revised) or len(words.shared(old.whole, said.words)) >= min(2, most)
    sure = plain or (_is_sure(agree) and spoken_of)
    other = revised and (_of_another(old, said.words, text) or _is_farther(text, old.whole, last.words))
    may = alone and not back and not other
    again = _said_again(said, text, old, material) if may and spoken_of and not sure else ()
    sure = may and (sure or bool(again))
    return Item(Op.REPLACE, text, again, old.document, replaces=(old.id,), sure=sure), last, agree


def _revised(old: str, said: Sequence[str]) -> tuple[str, str]:
    """The entry with one value exchanged, by the last who named it whole, if nothing said since differs; and the
    value's shape."""
    for place in range(len(said) - 1, -1, -1):
        text, shape = exchange(old, said[place])
        if text and not any(_new_values(old, later, text) for later in said[place + 1 :]):
            return text, shape
    return "", ""


def _comes_back(old: str, text: str, said: Sequence[str]) -> bool:
    """The value that would go is named behind the one that would come, which was said before: "forget the 200, it stays
    at 180"."""
    *before, last = said
    gone, new = words.missing(words.values(old), [text]), words.missing(words.values(text), [old])
    again = [one for one in new if any(words.stands_in(one, each) for each in before)]
    return any(0 <= last.find(one) < last.rfind(other) for one in again for other in gone)


def _is_farther(text: str, old: str, said: str) -> bool:
    """What was said conflicts more with what the entry would become than with what it is: "forget Wednesdays, it stays
    on Mondays"."""
    return conflict_on_one_matter(text, said) >= conflict_on_one_matter(old, said) + FARTHER


def _holds_it_too(one: BriefEntry, old: BriefEntry, text: str) -> bool:
    """Another entry on the same matter has the value that would go: changing one of them is half a change."""
    gone = words.missing(words.values(old.text), [text])
    about_it = len(words.shared(one.text, old.text)) > 1
    return about_it and any(words.stands_in(value, one.text) for value in gone)


def _of_another(old: BriefEntry, said: str, text: str) -> bool:
    """A clause without the new or the old value speaks of what the entry is about, too, and in words of its own: "my
    lessons are 50 minutes, trial lessons are unchanged" is not about the trial lessons."""
    new, gone = words.missing(words.values(text), [old.text]), words.missing(words.values(old.text), [text])
    subject = old.whole.partition(gone[0])[0] if gone else old.whole
    with_it, beside = set[str](), set[str]()
    for clause in words.clauses(said):
        there = any(words.stands_in(one, clause) for one in (*new, *gone))
        (with_it if there else beside).update(words.shared(subject, clause))
    return bool(with_it) and not beside <= with_it


def _is_rival(one: BriefEntry, old: BriefEntry, said: str) -> bool:
    """Another entry that could as well be the one that is meant: it conflicts, too, and shares as many words."""
    shared = len(words.shared(one.whole, said))
    return shared >= len(words.shared(old.whole, said)) and _conflicts(one, said)


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


def _is_sure(group: Sequence[Noted]) -> bool:
    """They asked for it to be remembered, or said it again on another day, at least once as something that holds."""
    if any(asked_to_remember(one.words) for one in group):
        return True
    said = [one for one in group if one.candidate.confidence >= ASSERTED]
    standing = any(one.candidate.confidence >= STANDING for one in said)
    return standing and len({one.session_id for one in said}) > 1


def _wants_it_every_time(one: Noted) -> bool:
    """They say in so many words that it holds every time, and that it is for them: "always give me …"."""
    plain = one.candidate.confidence >= PLAIN and one.candidate.explicitness >= OWN_WISH * one.candidate.confidence
    every_time = words.says("always", one.words) or is_to_last(one.words)
    alone = not words.says("pronouns", one.words)
    return plain and alone and every_time and bool(one.marks & WANTED) and words.says("to_me", one.words)


def own_sentence(said: str) -> str:
    """The sentence as it was said, without what stands before its point: an interjection, or "please remember that"."""
    text = _LEAD.sub("", " ".join(said.split()).lstrip(" ,;:、，；：")).strip()
    asked = asking_to_remember(text)
    if asked and len(text) > asked + 8:
        that = _THAT.match(text[asked:])
        turned = that is not None and that[1] in _TURNS
        text = text if turned else _THAT.sub("", text[asked:]).strip()
    return text[:1].upper() + text[1:] if text else ""


def _document(one: Noted, brief: Brief, *, guest: bool) -> str | None:
    """Where it would go: what is about the person beside the person, the rest with the rest. Among the pages of a
    memory store, to the one that speaks of the same; else to the one that is there for what is new."""
    wanted = _PERSON if one.candidate.about == "person" and not guest else _WORLD
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
    said = words.stems(one.words)
    # "Host: db1" below "Staging" is meant only where staging is spoken of.
    named = [each for each in entries if each.changeable and (not each.under or words.stems(each.under) & said)]
    if not named:
        return None
    names = dict.fromkeys((entry.id for entry in named), 0)  # values of the entry that are spoken of
    if one.marks & CHANGES and words.ceases(one.words):
        names = {
            each.id: sum(words.stands_in(value, one.words) for value in words.values(each.whole)) for each in named
        }
    overtaken = [entry for entry in named if names[entry.id] or _is_against(entry, one.words)]
    return max(
        overtaken,
        key=lambda entry: (
            names[entry.id],
            len(words.shared(entry.whole, one.words)),
            conflict_on_one_matter(entry.whole, one.words),
        ),
        default=None,
    )


def _surely_conflict(old: str, said: str) -> bool:
    """And the words speak of what the entry begins with, not of another one of its kind: "the stationery shop", where
    the entry says "the shop"."""
    begins = [word for word in old.split() if words.stems(word)][:2]
    known, before = words.stems(old), ""
    for word in said.split():
        if words.stems(word) & known:
            break
        before = word
    modified = bool(words.stems(before)) and before[-1:].isalnum()
    same = bool(words.shared(" ".join(begins), said)) and not modified
    return same and conflict_on_one_matter(old, said) >= CONFLICT


def _is_named(entry: BriefEntry, said: str) -> bool:
    return len(words.shared(entry.whole, said)) >= words.enough_to_name(entry.whole)


def _is_against(entry: BriefEntry, said: str) -> bool:
    """They conflict, and what was said names the entry, or a value for the one it has."""
    return _conflicts(entry, said) and (_is_named(entry, said) or bool(exchange(entry.text, said)[0]))


def _conflicts(entry: BriefEntry, said: str) -> bool:
    return bool(words.shared(entry.whole, said)) and conflict_on_one_matter(entry.whole, said) >= CONFLICT


def exchange(old: str, said: str) -> tuple[str, str]:
    """The entry with one value exchanged for the one of the same shape that was said instead, and that shape; empty
    where it is not plain which: "moved from 9:30 to 9:45" is not about room 4, and of two names nobody can tell."""
    there = words.values(old)
    dated = "day" in map(words.shape_of, there)  # else a day only says since when
    new = [one for one in words.values(said) if not words.stands_in(one, old) and (len(one) > 1 or one.isdigit())]
    new = [one for one in new if dated or words.shape_of(one) != "day"]
    if len(new) != 1:
        return "", ""
    shape = words.shape_of(new[0])
    same = [value for value in there if words.shape_of(value) == shape]
    same = [value for value in same if (":" in value) == (":" in new[0])]  # "at 5:30" does not become "at 1998"
    same = [value for value in same if _form(value) == _form(new[0])] or same
    if len(same) > 1 and shape in EXACT:  # the one that is not said to stay
        same = [value for value in same if not words.stands_in(value, said)] if not words.ceases(said) else same
    shared = words.shared(old, said)
    if len(same) != 1 or old.count(same[0]) != 1 or not (len(shared) > 1 or (shared and len(words.stems(old)) <= 4)):
        return "", ""
    counts = words.counted(same[0], old)  # "a 20 % deposit on every wedding quote" is not "quotes hold for 20 days"
    if counts and not words.stands_in(counts, said) and len(shared) * 2 <= len(words.stems(old)):
        return "", ""
    gone = words.missing(words.behind(same[0], old), [said])
    if gone and words.missing(words.behind(new[0], said), [old]):  # "a 200 mm Dobsonian" is not "an 80 mm refractor"
        return "", ""
    return old.replace(same[0], new[0]), shape


def _form(value: str) -> str:
    return re.sub(r"\d+", "0", value)


def _duplicates(material: Material) -> Iterator[Item]:
    """Entries that say the same word for word: one of each stays, the one that was there first."""
    first: dict[tuple[str, str], BriefEntry] = {}
    for entry in material.brief.entries:
        bare = (words.bare(entry.whole), entry.page)
        if bare in first and entry.changeable and not entry.critical:
            why = f"{first[bare].document} says the same."
            yield Item(Op.REMOVE, "", (), entry.document, replaces=(entry.id,), sure=True, because=why)
        first.setdefault(bare, entry)
