"""What the checks look at: one item of a curator's answer, with its verified quotations and what it would change.

Quotations are held against the turns a curator was shown. What is found is quoted as it stands in the session.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache

from reverie.core.errors import NotVerbatim
from reverie.core.scope import Origin, weakest
from reverie.dreams import words
from reverie.dreams.brief.brief import Brief, BriefEntry, BriefSession
from reverie.dreams.brief.gather import Material
from reverie.dreams.items import Citation, Item, Op
from reverie.dreams.light.spans import Span, Spans
from reverie.safety.sensitive import asked_to_remember
from reverie.transcripts.session import Evidence, Session, Turn, heard, quote
from reverie.transcripts.typed import is_typed, typed_text

OWN = (Origin.OWNER, Origin.OPERATOR)
_NEXT = 40  # characters
_ALIKE = ("'’‘", '"“”„', "-–—")  # written one for another


@dataclass(frozen=True)
class Quoted:
    """A verified quotation with what stands around it, which is read when somebody asks for it."""

    evidence: Evidence
    session: Session
    reading: Spans

    @property
    def turn(self) -> Turn:
        return self.session.turn(self.evidence.turn)

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The sentences of the person that hold it; none where they are not the person's own."""
        if self.turn.role != "user" or not is_typed(self.turn.text, self.evidence.quote):
            return ()
        return tuple(self.reading.at(self.session, self.evidence.turn, self.evidence.quote))

    @property
    def plays(self) -> bool:
        return self.reading.plays_a_part(self.session, self.evidence.turn)

    @cached_property
    def turn_text(self) -> str:
        """All of the person's own sentences in that turn."""
        return " ".join(span.text for span in self.reading.of(self.session, self.evidence.turn))

    @property
    def typed(self) -> str:
        """What they plainly typed in it."""
        return typed_text(self.turn.text) if self.turn.role == "user" else ""

    @property
    def origin(self) -> Origin:
        return self.evidence.origin

    @property
    def said_at(self) -> datetime | None:
        return self.turn.at or self.session.head.started_at

    @property
    def answers(self) -> str:
        """What the agent said right before it, which the person reacts to."""
        before = self.session.turns[self.evidence.turn - 2] if self.evidence.turn > 1 else None
        return before.text if before is not None and before.role == "assistant" else ""

    @property
    def line(self) -> str:
        """The line of the turn that may have been typed, whole."""
        return said_in(self.turn).strip().split("\n", 1)[0]

    @property
    def sentence(self) -> str:
        """The whole sentences it stands in; the words themselves where that is not known."""
        return " ".join(span.text for span in self.spans) or self.evidence.quote

    @property
    def sentence_and_next(self) -> str:
        """With what stands right behind it."""
        behind = self.turn_text.partition(self.spans[-1].text if self.spans else self.evidence.quote)[2]
        return f"{self.sentence} {behind[:_NEXT]}"


def verified(item: Item, material: Material, spans: Spans, own: tuple[Origin, ...] = OWN) -> tuple[Quoted, ...]:
    """Every citation of an item that is verbatim, once. Where there are words of who may decide (`own`), only those
    support it: what agents and tools said beside them is context."""
    quoted = [one for citation in item.evidence if (one := _quoted(citation, material, spans))]
    once = {(one.evidence.session_id, one.evidence.turn, one.evidence.quote): one for one in quoted}
    decides = any(one.origin in own for one in quoted)
    return tuple(
        replace(one, evidence=one.evidence.as_context()) if decides and one.origin not in own else one
        for one in once.values()
    )


def _quoted(citation: Citation, material: Material, spans: Spans) -> Quoted | None:
    shown = material.brief.session.get(citation.session)
    session = material.sessions.get(shown.id) if shown else None
    number = _turn_of(citation, shown, material) if shown else None
    if session is None or number is None:
        return None
    words = located(said_in(session.turn(number)), material.restored(citation.words))
    try:
        return Quoted(quote(session, number, words or ""), session, spans)
    except NotVerbatim:
        return None


def _turn_of(citation: Citation, shown: BriefSession, material: Material) -> int | None:
    """The turn that was named, if it holds the words, as it is shown or as it is; else the one turn that does. What
    the built-in curator cites has no stand-ins and is not shortened."""
    there = next((turn for turn in shown.turns if turn.number == citation.turn), None)
    if there and located(there.text, citation.words):
        return citation.turn
    holding = [turn.number for turn in shown.turns if located(turn.text, citation.words)]
    if holding or there is None:
        return holding[0] if len(holding) == 1 else None
    named = material.sessions[shown.id].turn(citation.turn)
    return citation.turn if named.role != "tool" and located(said_in(named), citation.words) else None


def said_in(turn: Turn) -> str:
    """A turn in its own words, without what a harness put into a person's."""
    return heard(turn.text) if turn.role == "user" else turn.said.whole


def located(text: str, words: str) -> str | None:
    """The words as they stand in the text, whatever the spaces, quotation marks and case; None where they do not, or
    where a number would be cut in two."""
    wanted = " ".join(words.split()).strip(" .")
    if not any(sign.isalnum() for sign in wanted) or len(wanted) > len(text):
        return None
    numbers = wanted[0].isdigit() or wanted[-1].isdigit()
    if not numbers and (as_said := words.strip(" .")) in text:
        return as_said
    found = _pattern(wanted).search(text)
    return found[0] if found else None


@lru_cache(maxsize=1_024)
def _pattern(words: str) -> re.Pattern[str]:
    for signs in _ALIKE:
        words = re.sub(f"[{signs}]", signs[0], words)
    either = {each[0]: f"[{each}]" for each in _ALIKE} | {" ": r"\s+"}
    before = r"(?<!\d)(?<!\d[.,:])" if words[0].isdigit() else ""
    behind = r"(?![.,:]?\d)" if words[-1].isdigit() else ""
    return re.compile(before + "".join(either.get(one, re.escape(one)) for one in words) + behind, re.IGNORECASE)


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
