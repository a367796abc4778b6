"""Turns as tantivy documents, and questions as tantivy queries."""

from __future__ import annotations

from calendar import month_name
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from math import ceil, log

import tantivy
from tantivy import Document, FieldType, Occur, Query

from reverie.search.search import IndexedSession, IndexedTurn, RankedTurn, SearchFilter, Term, TurnKey
from reverie.text.tokens import begins_pairs, tokens

FORMAT = 1
CURSOR = "cursor"
OWN = 2  # a word counts double in the turn it stands in
EVERYWHERE = 20_000  # turns
CONTEXT = 30  # tokens of a neighbour: its gist, too little for a long answer to drown a short question


@cache
def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("words", tokenizer_name="words", index_option="freq")
    for name in ("user", "session", "role"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("harness", "meta"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("turn", "format", "followed"):
        builder.add_unsigned_field(name, stored=True)
    builder.add_integer_field("at", fast=True)
    return builder.build()


def prepared(index: tantivy.Index) -> tantivy.Index:
    """Tokens are ours, joined by spaces; tantivy has only to cut them apart again."""
    index.register_tokenizer("words", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    index.config_reader("manual")
    return index


def documents(entry: IndexedSession) -> Iterator[Document]:
    """A turn is found by its own words, its speaker, the turns beside it, and its session's title and day, as people
    write it: for "what did we decide in May 2026?"."""
    at = entry.started_at
    day = [] if at is None else tokens(f"{at.day} {month_name[at.month]} {at:%Y-%m-%d}")
    about = tokens(entry.title or "") + day
    before: list[str] = []
    now: tuple[IndexedTurn, list[str]] | None = None
    for turn in chain(entry.turns, (None,)):  # three turns are held at a time: a session may be larger than memory
        after = tokens(turn.name or "") + tokens(turn.text) if turn else []
        if now:
            own = now[1]
            yield _document(entry, now[0], " ".join(chain(*[own] * OWN, about, before[:CONTEXT], after[:CONTEXT])))
            before = own
        now = (turn, after) if turn else None


def _document(entry: IndexedSession, turn: IndexedTurn, words: str) -> Document:
    document = Document()
    document.add_text("words", words)
    document.add_text("user", entry.user)
    document.add_text("session", entry.session_id)
    document.add_text("role", turn.role)
    document.add_text("harness", entry.harness)
    document.add_unsigned("turn", turn.number)
    if (at := turn.at or entry.started_at) is not None:
        document.add_integer("at", int(at.timestamp()))
    return document


def followed(cursor: int) -> Document:
    document = Document()
    document.add_text("meta", CURSOR)
    document.add_unsigned("format", FORMAT)
    document.add_unsigned("followed", cursor)
    return document


def is_current(index: tantivy.Index) -> bool:
    """An index nothing was committed to yet is being made by someone, perhaps right now."""
    searcher = index.searcher()
    return searcher.num_docs == 0 or _meta(searcher).get_first("format") == FORMAT


def cursor(index: tantivy.Index) -> int:
    return int(_meta(index.searcher()).get_first("followed") or 0)


def _meta(searcher: tantivy.Searcher) -> Document:
    hits = searcher.search(_is("meta", CURSOR), limit=1, count=False).hits
    return searcher.doc(hits[0][1]) if hits else Document()


def session_query(user: str, session_id: str) -> Query:
    return _every(_is("user", user), _is("session", session_id))


def worth_asking(index: tantivy.Index, terms: Sequence[Term]) -> list[Term]:
    """Without the small words that stand nearly everywhere in a large index: they cost most and tell least."""
    searcher = index.searcher()
    return [term for term in terms if term.weight >= 1 or _often(searcher, term) <= EVERYWHERE]


def turns_query(terms: Sequence[Term], where: SearchFilter) -> Query:
    """Any term may match; every bound must, and adds nothing to the score."""
    asked = Query.boolean_query([(Occur.Should, _term_query(term)) for term in terms])
    bounds = [Query.const_score_query(bound, 0.0) for bound in _bounds(where)]
    return _every(asked, *bounds) if bounds else asked


def candidates(index: tantivy.Index, query: Query, size: int) -> list[RankedTurn]:
    searcher = index.searcher()
    found = list[RankedTurn]()
    for score, address in searcher.search(query, limit=size, count=False).hits:
        document = searcher.doc(address)
        user, session, role, turn = (document.get_first(name) for name in ("user", "session", "role", "turn"))
        found.append(RankedTurn(TurnKey(str(user), str(session), int(turn or 0)), str(role), score))
    return found


def rarities(index: tantivy.Index, terms: Sequence[Term]) -> list[float]:
    """The inverse document frequency as BM25 has it, of the form met most often."""
    searcher = index.searcher()
    often = (_often(searcher, term) for term in terms)
    return [log(1 + (searcher.num_docs - count + 0.5) / (count + 0.5)) for count in often]


def _often(searcher: tantivy.Searcher, term: Term) -> int:
    return max(searcher.doc_freq("words", form) for form in term.forms)


def _term_query(term: Term) -> Query:
    forms = [_form_query(form) for form in term.forms]
    query = forms[0] if len(forms) == 1 else Query.disjunction_max_query(forms)
    return query if term.weight == 1 else Query.boost_query(query, term.weight)


def _form_query(form: str) -> Query:
    if begins_pairs(form):
        return Query.regex_query(schema(), "words", f"{form}.")
    return Query.term_query(schema(), "words", form, index_option="freq")


def _bounds(where: SearchFilter) -> Iterator[Query]:
    for name, value in (("user", where.user), ("harness", where.harness), ("role", where.role)):
        if value is not None:
            yield _is(name, value)
    if where.since is not None:
        yield _at(ceil(where.since.timestamp()), None)
    if where.until is not None:
        yield _at(None, ceil(where.until.timestamp()) - 1)


def _at(first: int | None, last: int | None) -> Query:
    return Query.range_query(schema(), "at", FieldType.Integer, first, last)


def _is(field: str, value: str) -> Query:
    return Query.term_query(schema(), field, value, index_option="basic")


def _every(*queries: Query) -> Query:
    return Query.boolean_query([(Occur.Must, query) for query in queries])
