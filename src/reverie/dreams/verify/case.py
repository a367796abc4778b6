"""What the checks look at: one item of a curator's answer, with its verified quotations and what it would change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from reverie.core.scope import Origin, weakest
from reverie.dreams import words
from reverie.dreams.brief.brief import Brief, BriefEntry
from reverie.dreams.brief.gather import Material
from reverie.dreams.items import Item, Op
from reverie.dreams.light.spans import Span, Spans
from reverie.dreams.verify.quotations import OWN, Quoted, located, verified
from reverie.safety.sensitive import asked_to_remember
from reverie.transcripts.session import Evidence

# How sure Light has to be of the very words: that they say something that is so, and that it is to be kept.
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
    people_needed: int = 0

    @property
    def brief(self) -> Brief:
        return self.material.brief

    def restored(self, text: str) -> str:
        return self.material.restored(text)

    @cached_property
    def text(self) -> str:
        """What it would say, without stand-ins."""
        return self.restored(self.item.text)

    @cached_property
    def old(self) -> list[str]:
        return [self.restored(one.text) for one in self.replaced]

    @cached_property
    def staying(self) -> list[BriefEntry]:
        return [one for one in self.brief.entries if one not in self.replaced]

    @cached_property
    def support(self) -> tuple[Quoted, ...]:
        return tuple(one for one in self.quotes if one.evidence.weight == "support")

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(one.evidence for one in self.quotes)

    @cached_property
    def sentences(self) -> str:
        """The whole sentences that were quoted."""
        return " ".join(one.sentence for one in self.support)

    @property
    def said(self) -> list[str]:
        """What its values may come from: the words that were quoted, with the rest of what the person said in that
        turn, and the entries it would change."""
        return [*(one.evidence.quote for one in self.support), *(one.turn_text for one in self.support), *self.old]

    @cached_property
    def tidies(self) -> bool:
        """It only tidies: entries that say the same become one, and nothing that was said has to speak for it."""
        gone = {self._bare(one) for one in self.replaced}
        if self.quotes or len(gone) != 1:
            return False
        if self.item.op is Op.MERGE:
            return len(self.replaced) > 1 and words.bare(self.text) == next(iter(gone))[0]
        return self.item.op is Op.REMOVE and gone <= {self._bare(one) for one in self.staying}

    def _bare(self, entry: BriefEntry) -> tuple[str, str]:
        return words.bare(self.restored(entry.whole)), entry.page

    @property
    def changes_memory(self) -> bool:
        return not self.item.op.changes_skill

    @property
    def says_something(self) -> bool:
        """It has a text of its own for a memory, which somebody has to have said."""
        return self.changes_memory and self.item.op is not Op.REMOVE and not self.tidies

    # ---- whose words they are ---------------------------------------------------------------------------------------

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

    # ---- how Light reads them ---------------------------------------------------------------------------------------

    @cached_property
    def asserted(self) -> tuple[Quoted, ...]:
        """The support that a person said as so: not asked, supposed, quoted, played or meant for once."""
        return tuple(
            one
            for one in self.support
            if one.origin is Origin.OPERATOR or (not one.plays and any(map(self._asserts, one.spans)))
        )

    def _asserts(self, span: Span) -> bool:
        """Light takes it for something that is so, or it is a rule. That it is worth keeping shows also in the entry it
        would change."""
        known = self.item.op is not Op.ADD and span.reading.doubt < DOUBTED
        return _is_rule(span) or (not span.asked and (span.reading.keep >= ASSERTED or known))

    @property
    def sessions(self) -> int:
        """In how many sessions it was said so."""
        return len({one.evidence.session_id for one in self.asserted})

    @cached_property
    def kinds(self) -> frozenset[str]:
        """What Light takes the quoted words for, where it takes them for something."""
        spans = [span for one in self.support for span in one.spans]
        read = {span.reading.kind for span in spans if span.reading.keep >= ASSERTED}
        return frozenset(read | {"instruction" for span in spans if _is_rule(span)})

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
        found = [span for one in self.asserted or self.support for span in one.spans]
        sure = max((max(one.reading.keep, ALWAYS * _is_rule(one)) for one in found), default=0.0)
        return 1.0 if self.asked_to_keep else sure

    @property
    def said_as_standing(self) -> bool:
        """Whether the owner said it as something that holds, by Light's reading of the very words. People say "always"
        of printers and neighbours: of something new that was only copied they have to want it, too."""
        told = [(one.evidence.quote, span) for one in self.asserted for span in one.spans]
        sure = [(said, span) for said, span in told if span.reading.keep >= STANDING]
        if self.item.op is Op.ADD:  # what Light is sure of is the whole of it, not a word or two
            sure = [(said, span) for said, span in sure if len(said) * 2 >= len(span.clause)]
        if self.item.op is Op.ADD and self.copied:
            wanted = [span for _, span in sure if span.reading.kind in WANTED and span.reading.doubt < DOUBTED]
            return self.asked_to_keep or any(map(_is_wanted, wanted))
        return self.asked_to_keep or bool(sure)

    @cached_property
    def copied(self) -> bool:
        """The text is what was said, word for word and nearly whole: nobody thought of a reader who was not there."""
        whole = [one for one in self.support if len(self.text) >= NEARLY_WHOLE * len(one.sentence)]
        said = [one.turn_text or one.evidence.quote for one in whole]
        packed = "".join(self.text.split())  # some scripts have no spaces, and those between sentences are ours
        return any(located(one, self.text) or packed in "".join(one.split()) for one in said)


def _is_wanted(span: Span) -> bool:
    """They ask for it, or say that it is for them every time."""
    return words.says("polite", span.text) or (_is_rule(span) and words.says("to_me", span.text))


def _is_rule(span: Span) -> bool:
    """It says in so many words that it is to be remembered, or holds every time."""
    return asked_to_remember(span.text) or (words.says("always", span.text) and not span.asked)


def case_of(
    item: Item, material: Material, spans: Spans, surfaces: tuple[BriefEntry, ...] = (), people_needed: int = 0
) -> Case:
    named = dict.fromkeys(item.replaces if item.op is not Op.ADD else ())
    replaced = tuple(material.brief.entry[name] for name in named if name in material.brief.entry)
    quotes = verified(item, material, spans, (*OWN, Origin.MEMBER) if people_needed else OWN)
    return Case(item, material, quotes, replaced, spans, surfaces, people_needed)
