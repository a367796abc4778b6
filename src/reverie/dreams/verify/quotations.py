"""Quotations, held against the turns a curator was shown. What is found is quoted as it stands in the session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from reverie.core.errors import NotVerbatim
from reverie.core.origin import Origin
from reverie.dreams.brief import BriefSession
from reverie.dreams.gather import Material
from reverie.dreams.items import Citation, Item
from reverie.dreams.light.spans import Span, Spans
from reverie.transcripts.noise import heard
from reverie.transcripts.session import Evidence, Session, Turn, quote
from reverie.transcripts.typed import is_typed, typed_text

OWN = (Origin.OWNER, Origin.OPERATOR)
_ALIKE = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-", "\u00a0": " "})


@dataclass(frozen=True, slots=True)
class Quoted:
    """A verified quotation with what stands around it. `spans` are the sentences of the person that hold it; none
    where they are not the person's own. `turn_text` is all of their own sentences in that turn, `typed` what in it
    they plainly typed."""

    evidence: Evidence
    session: Session
    spans: tuple[Span, ...]
    plays: bool
    turn_text: str
    typed: str = ""

    @property
    def origin(self) -> Origin:
        return self.evidence.origin

    @property
    def said_at(self) -> datetime | None:
        return self.session.turn(self.evidence.turn).at or self.session.head.started_at

    @property
    def answers(self) -> str:
        """What the agent said right before it, which the person reacts to."""
        before = self.session.turns[self.evidence.turn - 2] if self.evidence.turn > 1 else None
        return before.text if before is not None and before.role == "assistant" else ""

    @property
    def sentence(self) -> str:
        """The whole sentences it stands in; the words themselves where that is not known."""
        return " ".join(span.text for span in self.spans) or self.evidence.quote


def verified(item: Item, material: Material, spans: Spans, own: tuple[Origin, ...] = OWN) -> tuple[Quoted, ...]:
    """Every citation of an item that is verbatim, once. Where there are words of who may decide (`own`), only those
    support it: what agents and tools said beside them is context."""
    found: dict[tuple[str, int, str], Quoted] = {}
    for citation in item.evidence:
        for one in _quoted(citation, material, spans):
            found.setdefault((one.evidence.session_id, one.evidence.turn, one.evidence.quote), one)
    quoted = tuple(found.values())
    if any(one.origin in own for one in quoted):
        return tuple(one if one.origin in own else _as_context(one) for one in quoted)
    return quoted


def _as_context(one: Quoted) -> Quoted:
    return replace(one, evidence=one.evidence.as_context())


def _quoted(citation: Citation, material: Material, spans: Spans) -> Iterator[Quoted]:
    shown = material.brief.session.get(citation.session)
    session = material.sessions.get(shown.id) if shown else None
    number = _turn_of(citation, shown, material) if shown else None
    if session is None or number is None:
        return
    words = located(_said(session.turn(number)), material.restored(citation.words))
    if words is None:
        return
    try:
        evidence = quote(session, number, words)
    except NotVerbatim:
        return
    turn = session.turn(number)
    spoken = typed_text(turn.text) if turn.role == "user" else ""
    pasted = turn.role == "user" and not is_typed(turn.text, words)
    own = () if pasted else tuple(spans.at(session, number, words))
    everything = " ".join(span.text for span in spans.of(session, number))
    yield Quoted(evidence, session, own, spans.plays_a_part(session, number), everything, spoken)


def _turn_of(citation: Citation, shown: BriefSession, material: Material) -> int | None:
    """The turn that was named, if it holds the words, as it is shown or as it is; else the one turn that does. What
    the built-in curator cites has no stand-ins and is not shortened."""
    there = next((turn for turn in shown.turns if turn.number == citation.turn), None)
    if there and located(there.text, citation.words) is not None:
        return citation.turn
    holding = [turn.number for turn in shown.turns if located(turn.text, citation.words) is not None]
    if holding:
        return holding[0] if len(holding) == 1 else None
    if there is None:
        return None
    named = material.sessions[shown.id].turn(citation.turn)
    return citation.turn if named.role != "tool" and located(_said(named), citation.words) is not None else None


def _said(turn: Turn) -> str:
    """A turn in its own words, without what a harness put into a person's."""
    return heard(turn.text) if turn.role == "user" else turn.said.whole


def located(text: str, words: str) -> str | None:
    """The words as they stand in the text, whatever the spaces, quotation marks and case; None where they do not."""
    wanted = "".join(map(_low, " ".join(words.translate(_ALIKE).split()))).strip(" .")
    if not any(sign.isalnum() for sign in wanted):
        return None
    if (as_said := words.strip(" .")) in text:
        return as_said
    folded, places = _folded(text)
    start = folded.find(wanted)
    if start < 0:
        return None
    return text[places[start] : places[start + len(wanted) - 1] + 1]


@lru_cache(maxsize=1_024)
def _folded(text: str) -> tuple[str, list[int]]:
    """The text with one space between words, in lower case; and where each of its signs stands."""
    folded, places = list[str](), list[int]()
    for place, sign in enumerate(text):
        plain = sign.translate(_ALIKE)
        if plain.isspace():
            if folded and folded[-1] == " ":
                continue
            plain = " "
        folded.append(_low(plain))
        places.append(place)
    return "".join(folded), places


def _low(sign: str) -> str:
    """In lower case, unless that takes more than one sign, as of "İ"."""
    low = sign.lower()
    return low if len(low) == 1 else sign
