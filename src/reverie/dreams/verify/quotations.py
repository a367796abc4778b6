"""Quotations, held against the turns a curator was shown. What is found is quoted as it stands in the session."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache

from reverie.core.errors import NotVerbatim
from reverie.core.scope import Origin
from reverie.dreams.brief.brief import BriefSession
from reverie.dreams.brief.gather import Material
from reverie.dreams.items import Citation, Item
from reverie.dreams.light.spans import Span, Spans
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
