"""`home.search`: a question in, the turns that answer it out, each with the exchange around it.

A question that names a time ("what did we decide last week?") looks at that time and nothing else.

And `home.index`: keeps what is derived for search in step with the records. Index and vectors each remember how far
they have followed the order of changes, so they can be deleted, killed or left behind at any time and catch up from
there. One process at a time writes the index; whoever does not get its lock within a moment searches what is there. Two
that fill vectors at once do the same work twice, to the same end.
"""

from __future__ import annotations

import re
from calendar import month_name
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import islice
from time import monotonic, sleep
from typing import Protocol

from reverie.core.errors import BadInput
from reverie.core.scope import Scope
from reverie.search.search import IndexedSession, IndexedTurn, Ranked, Search, SearchFilter
from reverie.text.tokens import terms, tokens
from reverie.transcripts.records import Records, Stored
from reverie.transcripts.session import Turn, heard

MAX_LIMIT = 1000
FILLER_WORDS = 4  # a turn of so few words that shares none with the question comes behind those that share some
CLOSE = 2  # turns apart: the turn between them is shown with both
SPARE = 10  # hits looked at beyond the limit, to take the place of fillers


@dataclass(frozen=True, slots=True)
class Hit:
    """One turn that answers. `why` names the parts its score is made of."""

    user: str
    session_id: str
    turn: int
    text: str
    role: str
    name: str | None
    at: datetime | None
    title: str | None
    harness: str
    score: float
    why: tuple[tuple[str, float], ...]
    before: tuple[Turn, ...] = ()
    after: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """Hits close together in one session, the best first, for people to read at once."""

    hits: tuple[Hit, ...]

    @property
    def best(self) -> Hit:
        return self.hits[0]

    @property
    def turns(self) -> list[Hit | Turn]:
        """In the order they were said in: those that answer as hits, those around them as they are."""
        beside = {turn.number: turn for hit in self.hits for turn in (*hit.before, *hit.after)}
        every: dict[int, Hit | Turn] = beside | {hit.turn: hit for hit in self.hits}
        return [every[number] for number in sorted(every)]


def exchanges(hits: Iterable[Hit]) -> list[Exchange]:
    """Hits as people read them: those around which the same turns would be shown are one exchange."""
    found = list[list[Hit]]()
    for hit in hits:
        for group in found:
            in_session = (group[0].user, group[0].session_id) == (hit.user, hit.session_id)
            if in_session and any(abs(one.turn - hit.turn) <= CLOSE for one in group):
                group.append(hit)
                break
        else:
            found.append([hit])
    return [Exchange(tuple(each)) for each in found]


@dataclass(frozen=True, slots=True)
class Finder:
    """`follow` brings the index up to the records before each question. `now` is this moment where people are: with
    it a question that names a time ("last week") is about that time alone. Where nothing was said then, it is about the
    rest of the question at any time."""

    scope: Scope
    search: Search
    records: Records
    follow: Callable[[], None]
    now: Callable[[], datetime] | None = None
    only: str | None = None  # whose words may be found; None: everyone's

    def __call__(
        self,
        query: str,
        *,
        user: str | None = None,
        limit: int = 10,
        harness: str | None = None,
        role: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        around: int = 1,
    ) -> list[Hit]:
        if not query.strip():
            raise BadInput("The question is empty.", expected="words to look for")
        if not 1 <= limit <= MAX_LIMIT:
            raise BadInput(f"The limit is {limit}.", expected=f"a number from 1 to {MAX_LIMIT}")
        self.follow()
        whose = user if self.only is None else self.only
        where = SearchFilter(user=whose, harness=harness, role=role, since=since, until=until)
        then = self.period(query) if since is until is None else None
        if then:
            days = (then.first, then.last + timedelta(1))
            first, behind = (datetime.combine(day, time(), self._zone) for day in days)
            if found := self._found(query, replace(where, since=first, until=behind), limit, around):
                return found
        rest = query.replace(then.words, " ") if then else query
        return self._found(rest if rest.strip(" ?!.,") else query, where, limit, around)

    def period(self, query: str) -> Period | None:
        """The time a question is about, if it names one."""
        return period(query, self.now().date()) if self.now else None

    def about_time(self, query: str, hits: Sequence[Hit]) -> str:
        """The sentence above the results about the time a question names; "" where it names none."""
        then = self.period(query)
        if then is None or not hits:
            return ""
        days = f"from {then.first} to {then.last} (“{then.words}”)"
        within = all(hit.at and then.first <= hit.at.astimezone(self._zone).date() <= then.last for hit in hits)
        return f"Said {days}:" if within else f"Nothing was said {days}. At any time:"

    @property
    def _zone(self) -> tzinfo | None:
        return self.now().tzinfo if self.now else None

    def _found(self, query: str, where: SearchFilter, limit: int, around: int) -> list[Hit]:
        ranked = self.search(query, where, min(limit + SPARE, MAX_LIMIT))
        wanted: dict[tuple[str, str], set[int]] = defaultdict(set)
        for row in ranked:
            near = range(row.key.turn - around, row.key.turn + around + 1)
            wanted[row.key.user, row.key.session_id].update(near)
        read = {
            (user, session): self.records.exchange(self.scope.of(user), session, numbers)
            for (user, session), numbers in wanted.items()
        }
        hits = [_hit(row, *read[row.key.user, row.key.session_id], around) for row in ranked]
        asked = {form for term in terms(query) if term.weight == 1 for form in term.forms}

        def is_filler(hit: Hit) -> bool:
            """ "hm ok, not now": a few words and none that was asked for. It stands near an answer and is none."""
            few = len(hit.text.split()) <= FILLER_WORDS and not any(map(str.isdigit, hit.text))
            return few and asked.isdisjoint(tokens(hit.text))

        return sorted((hit for hit in hits if hit is not None), key=is_filler)[:limit]


def _hit(row: Ranked, stored: Stored | None, turns: dict[int, Turn], around: int) -> Hit | None:
    """None when the session was removed since the index saw it."""
    turn = turns.get(row.key.turn)
    if stored is None or turn is None:
        return None
    number = row.key.turn
    return Hit(
        user=row.key.user,
        session_id=row.key.session_id,
        turn=number,
        text=heard(turn.said.whole),
        role=turn.role,
        name=turn.said.name,
        at=turn.at or stored.head.started_at,
        title=stored.head.title,
        harness=stored.head.harness,
        score=row.score,
        why=row.why,
        before=_quiet(turns, range(number - around, number)),
        after=_quiet(turns, range(number + 1, number + around + 1)),
    )


def _quiet(turns: dict[int, Turn], numbers: range) -> tuple[Turn, ...]:
    return tuple(turns[number] for number in numbers if number in turns and not turns[number].noise)


_MONTHS = {name.lower(): number for number, name in enumerate(month_name) if name}
_ASKED = re.compile(
    r"\b(?:(?P<near>today|yesterday)"
    r"|(?P<which>last|this) (?P<unit>week|month|year)"
    r"|(?P<number>\d{1,3}|a|one|two|three) (?P<units>day|week|month|year)s? ago"
    rf"|in (?P<month>{'|'.join(_MONTHS)})(?: (?P<year>20\d\d))?"
    r"|on (?P<day>20\d\d-\d\d-\d\d))\b",
    re.IGNORECASE,
)
_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3}


@dataclass(frozen=True, slots=True)
class Period:
    """From the beginning of `first` to the end of `last`; `words` are those of the question."""

    words: str
    first: date
    last: date


def period(question: str, today: date) -> Period | None:
    """Of several times that are named the first counts. None: any time."""
    found = _ASKED.search(question)
    days = _days({name: text.lower() for name, text in found.groupdict().items() if text}, today) if found else None
    return Period(found[0], *days) if found and days else None


def _days(said: dict[str, str], today: date) -> tuple[date, date] | None:
    if near := said.get("near"):
        day = today - timedelta(near == "yesterday")
        return day, day
    if unit := said.get("unit"):
        return _unit(unit, today, 1 if said["which"] == "last" else 0)
    if units := said.get("units"):
        number = _NUMBERS.get(said["number"]) or int(said["number"])
        if units != "day":
            return _unit(units, today, number)
        return today - timedelta(number), today - timedelta(number)
    if iso := said.get("day"):
        try:
            return date.fromisoformat(iso), date.fromisoformat(iso)
        except ValueError:
            return None
    month = _MONTHS[said["month"]]
    year = int(said.get("year") or (today.year if month <= today.month else today.year - 1))
    return date(year, month, 1), _end(year, month)


def _unit(unit: str, today: date, back: int) -> tuple[date, date] | None:
    """A week begins on Monday."""
    if unit == "week":
        monday = today - timedelta(today.weekday() + 7 * back)
        return monday, monday + timedelta(6)
    if unit == "year":
        return date(today.year - back, 1, 1), date(today.year - back, 12, 31)
    months = today.year * 12 + today.month - 1 - back
    return date(months // 12, months % 12 + 1, 1), _end(months // 12, months % 12 + 1)


def _end(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(1)


_SENTENCE = re.compile(r"[^\n.!?。！？]+[\n.!?。！？]*")
_LONGEST_READ = 50_000


def passage(text: str, question: str, width: int) -> str:
    """At most about `width` characters of `text`, around the sentences that share most with the question."""
    if len(text) <= width:
        return text
    wanted = {form: term.weight for term in terms(question) for form in term.forms}
    best, start = -1.0, 0
    spans = [found.span() for found in _SENTENCE.finditer(text[:_LONGEST_READ])]
    heard = [{token for token in tokens(text[one:end]) if token in wanted} for one, end in spans]
    for place, (one, _) in enumerate(spans):
        # Behind the last sentence that fits into a passage beginning at this one.
        within = place + 1
        while within < len(spans) and spans[within][1] - spans[place][0] <= width:
            within += 1
        shared = sum(wanted[token] for token in set().union(*heard[place:within]))
        if shared > best:
            best, start = shared, one
    end = min(len(text), start + width)
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"


# ---- keeping index and vectors in step with the records --------------------------------------------------------------


PATIENCE_SECONDS = 1.0
SLICE_SECONDS = 1.0  # vectors are filled in slices: a question waits for one at most
TURNS_PER_COMMIT = 50_000


class Derived(Protocol):
    """Something rebuilt from the records. `cursor` is 0 when it has to start again."""

    @property
    def cursor(self) -> int: ...

    def replace(self, entry: IndexedSession) -> None: ...

    def remove(self, user: str, session_id: str) -> None: ...

    def commit(self, cursor: int) -> None: ...

    @property
    def erasures(self) -> int: ...

    def start_again(self, erasures: int) -> bool:
        """Empty, as of so many erasures. False while another process writes it."""


class LockedDerived(Derived, Protocol):
    def try_writer(self) -> bool: ...

    def close(self) -> None: ...


Watch = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class IndexSync:
    scope: Scope
    records: Records
    index: LockedDerived
    vectors: Derived

    def before_a_search(self) -> None:
        """All the words, and a slice of the meaning: a question is never kept waiting for a long backlog."""
        self.renew()
        self.catch_up_words()
        self._follow(self.vectors, seconds=SLICE_SECONDS)

    def catch_up_words(self, watch: Watch | None = None) -> None:
        if self.behind(1):
            # Another process at it is usually done in a moment; else the work is its own.
            until = monotonic() + PATIENCE_SECONDS
            while not self.index.try_writer():
                if monotonic() > until:
                    return
                sleep(0.05)
            try:
                self._follow(self.index, watch=watch)
            finally:
                self.index.close()

    def catch_up(self, watch: Watch | None = None) -> None:
        """Everything. `watch` is told the number of sessions done."""
        self.renew()
        self.catch_up_words(watch)
        while self._follow(self.vectors, seconds=SLICE_SECONDS, watch=watch):
            pass

    def renew(self) -> None:
        """Begin again where something was erased since, on whichever machine: nothing says which words those were."""
        erased = self.records.erasures(self.scope)
        for derived in (self.index, self.vectors):
            until = monotonic() + PATIENCE_SECONDS
            while derived.erasures != erased and not derived.start_again(erased) and monotonic() < until:
                sleep(0.05)

    def behind(self, most: int = 1000) -> int:
        """The number of sessions the index has not seen yet, up to so many."""
        return len(list(islice(self.records.changed_since(self.scope, self.index.cursor), most)))

    def _follow(self, derived: Derived, seconds: float | None = None, watch: Watch | None = None) -> bool:
        """Go through what changed, for so long at most. True if there is more to do."""
        start, uncommitted, stored = monotonic(), 0, None
        for done, stored in enumerate(self.records.changed_since(self.scope, derived.cursor), 1):
            head, turns = stored.head, self.records.every_turn(self.scope, stored)
            if stored.removed:
                derived.remove(stored.user, head.id)
            else:
                said = (
                    IndexedTurn(turn.number, turn.role, turn.said.name, turn.at, heard(turn.said.whole))
                    for turn in turns
                    if not turn.noise
                )
                derived.replace(IndexedSession(stored.user, head.id, head.harness, head.title, head.started_at, said))
            uncommitted += stored.turns
            if watch:
                watch(done)
            if seconds is not None and monotonic() - start > seconds:
                derived.commit(stored.changed)
                return True
            if uncommitted >= TURNS_PER_COMMIT:
                derived.commit(stored.changed)
                uncommitted = 0
        if stored is not None:
            derived.commit(stored.changed)
        return False
