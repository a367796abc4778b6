"""The tables. A row that belongs to someone begins (workspace, user, …) in its primary key.

Migrations are what makes them (`migrations/versions`); a test compares the two.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Column, Double, Index, Integer, MetaData, Table, Text
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)


class Moment(TypeDecorator[datetime]):
    """Aware UTC as microseconds since 1970: exact, compact and ordered on both dialects."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> int | None:
        return None if value is None else microseconds(value)

    def process_result_value(self, value: int | None, dialect: Any) -> datetime | None:
        return None if value is None else _EPOCH + timedelta(microseconds=value)


metadata = MetaData()


def _keys() -> list[Column[Any]]:
    return [Column("workspace", Text, primary_key=True), Column("user", Text, primary_key=True)]


sessions = Table(
    "sessions",
    metadata,
    *_keys(),
    Column("id", Text, primary_key=True),
    Column("harness", Text, nullable=False),
    Column("agent", Text),
    Column("title", Text),
    Column("started_at", Moment),
    Column("ended_at", Moment),
    Column("parent", Text),
    Column("outcome", Double),
    Column("facts", Text),
    Column("source", Text),
    Column("revision", Integer, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("added_at", Moment, nullable=False),
    Column("removed_at", Moment),
    # The place of the latest write in the order of commits of this workspace; an index follows it.
    Column("changed", BigInteger, nullable=False),
    Index("sessions_in_order_of_change", "workspace", "changed"),
)

turns = Table(
    "turns",
    metadata,
    *_keys(),
    Column("session_id", Text, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("role", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("name", Text),
    Column("at", Moment),
    Column("noise", Text),
    Column("detail", Text),
    Column("text", Text, nullable=False),
    # The key is most of a row's overhead; without a rowid SQLite keeps it once instead of twice.
    sqlite_with_rowid=False,
)

sources = Table(
    "sources",
    metadata,
    *_keys(),
    Column("path", Text, primary_key=True),
    Column("reader", Text),
    Column("added_at", Moment, nullable=False),
)

files = Table(
    "files",
    metadata,
    *_keys(),
    Column("path", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("read_at", Moment, nullable=False),
)

counters = Table(
    "counters",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)
