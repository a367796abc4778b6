"""What the checks look at: one item of a curator's answer, with its verified quotations and what it would change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from reverie.core.origin import Origin, weakest
from reverie.dreams.brief import Brief, BriefEntry
from reverie.dreams.gather import Material
from reverie.dreams.items import Item, Op
from reverie.dreams.light.spans import Spans
from reverie.dreams.verify import words
from reverie.dreams.verify.quotations import OWN, Quoted, located, verified
from reverie.safety.sensitive import asked_to_remember
from reverie.transcripts.session import Evidence

# How sure Light has to be of the very words: that they say something that is so, and that it is to be kept. People say
# "always" of printers and neighbours, so for something new whose words were only copied they have to want it, too.
ASSERTED = 0.15
DOUBTED = 0.5
STANDING = 0.8
CHANGES = frozenset({"update", "correction", "contradiction"})
OVERTAKES = frozenset({"update", "contradiction"})  # a correction may be of what the agent did
WANTED = frozenset({"instruction", "preference", "decision", "correction"})
ALWAYS = 0.9  # how sure "always" makes it
NEARLY_WHOLE = 0.8  # of a sentence


@dataclass(frozen=True)
class Case:
    """`surfaces` is what agents read besides the target: it can be contradicted, not changed. `people_needed`: the
    memory is nobody's, and so many people have to agree before what stands there changes; 0: it has an owner."""

    item: Item
    material: Material
    quotes: tuple[Quoted, ...]
    replaced: tuple[BriefEntry, ...]
    spans: Spans
    surfaces: tuple[BriefEntry, ...] = ()
    restored: Callable[[str], str] = lambda text: text
    people_needed: int = 0

    @property
    def brief(self) -> Brief:
        return self.material.brief

    @cached_property
    def support(self) -> tuple[Quoted, ...]:
        return tuple(one for one in self.quotes if one.evidence.weight == "support")

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(one.evidence for one in self.quotes)

    @cached_property
    def tidies(self) -> bool:
        """It only tidies: entries that say the same become one, and nothing that was said has to speak for it."""
        entries = [(words.bare(self.restored(one.whole)), one.page) for one in self.replaced]
        if self.quotes or not entries or len(set(entries)) != 1:
            return False
        if self.item.op is Op.MERGE:
            return len(entries) > 1 and words.bare(self.restored(self.item.text)) == entries[0][0]
        others = {
            (words.bare(self.restored(one.whole)), one.page) for one in self.brief.entries if one not in self.replaced
        }
        return self.item.op is Op.REMOVE and entries[0] in others

    @property
    def origin(self) -> Origin:
        if self.tidies:
            return Origin.OWNER
        return weakest(one.origin for one in self.support) if self.support else Origin.TOOL

    @property
    def own(self) -> bool:
        return self.origin in OWN

    @property
    def may_speak(self) -> bool:
        """Whether the words may decide anything: the owner's; of a memory that is nobody's, any person's."""
        return self.own or (self.people_needed > 0 and self.origin is Origin.MEMBER)

    @cached_property
    def asserted(self) -> tuple[Quoted, ...]:
        """The support that a person said as so: not asked, supposed, quoted, played or meant for once."""
        known = self.item.op is not Op.ADD  # that it is worth keeping shows in the entry it would change
        return tuple(one for one in self.support if one.origin is Origin.OPERATOR or is_asserted(one, known))

    @property
    def sessions(self) -> int:
        """In how many sessions it was said so."""
        return len({one.evidence.session_id for one in self.asserted})

    @cached_property
    def kinds(self) -> frozenset[str]:
        """What Light takes the quoted words for, where it takes them for something. What always holds, or is
        to be remembered, is a rule."""
        spans = [span for one in self.support for span in one.spans]
        read = {span.reading.kind for span in spans if span.reading.keep >= ASSERTED}
        rules = [one for one in spans if asked_to_remember(one.text) or (words.says_always(one.text) and not one.asked)]
        return frozenset(read | {"instruction" for _ in rules})

    @property
    def tells_a_change(self) -> bool:
        return bool(self.kinds & CHANGES)

    @cached_property
    def asked_to_keep(self) -> bool:
        """The person asked for it to be remembered."""
        return any(asked_to_remember(span.text) for one in self.asserted for span in one.spans)

    @property
    def surest(self) -> float:
        """How surely the words say something to be kept."""
        if self.asked_to_keep:
            return 1.0
        found = [span for one in self.asserted or self.support for span in one.spans]
        return max((max(one.reading.keep, ALWAYS * words.says_always(one.text)) for one in found), default=0.0)

    @property
    def said_as_standing(self) -> bool:
        """Whether the owner said it as something that holds, by Light's reading of the very words."""
        if self.asked_to_keep:
            return True
        sure = [span for one in self.asserted for span in one.spans if span.reading.keep >= STANDING]
        if self.item.op is not Op.ADD or not self.copied:
            return bool(sure)
        return any(one.reading.kind in WANTED and words.pattern("polite").search(one.text) for one in sure)

    @cached_property
    def copied(self) -> bool:
        """The text is what was said, word for word and nearly whole: nobody thought of a reader who was not there."""
        text = self.restored(self.item.text)
        whole = [one for one in self.support if len(text) >= NEARLY_WHOLE * len(one.sentence)]
        return any(located(one.turn_text or one.evidence.quote, text) is not None for one in whole)

    @property
    def said(self) -> list[str]:
        """What its values may come from: the sentences that were quoted, with the rest of what the person said in that
        turn, and the entries it would change."""
        return [*(one.evidence.quote for one in self.support), *(one.turn_text for one in self.support), *self.old]

    @property
    def old(self) -> list[str]:
        return [self.restored(one.text) for one in self.replaced]

    @property
    def changes_memory(self) -> bool:
        return not self.item.op.changes_skill


def is_asserted(quoted: Quoted, known: bool = False) -> bool:
    """Some sentence that holds the words says that it is so: Light does not take it for a question, a task for once, a
    guess, a passing state or somebody else's; or it says in so many words that it always holds. `known`: it need not be
    worth keeping by itself."""
    return not quoted.plays and any(
        asked_to_remember(span.text)
        or (
            not span.asked
            and (
                span.reading.keep >= ASSERTED
                or words.says_always(span.text)
                or (known and span.reading.doubt < DOUBTED)
            )
        )
        for span in quoted.spans
    )


def case_of(
    item: Item, material: Material, spans: Spans, surfaces: tuple[BriefEntry, ...] = (), people_needed: int = 0
) -> Case:
    brief = material.brief
    replaced = tuple(brief.entry[name] for name in dict.fromkeys(item.replaces) if name in brief.entry)
    quotes = verified(item, material, spans, (*OWN, Origin.MEMBER) if people_needed else OWN)
    return Case(
        item,
        material,
        quotes,
        replaced if item.op is not Op.ADD else (),
        spans,
        surfaces,
        material.restored,
        people_needed,
    )
