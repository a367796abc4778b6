"""A place where memory lives is called a target, in columns and in what is kept as JSON. It was called a shelf.

The ledger's rows stay as they were written: they are hashed.

Revision ID: 0014
"""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"

_TABLES = ("changes", "documents", "entries", "proposals", "dreams", "dreamt", "candidates", "leases")
_JSON = (
    ("dreams", "details", "shelf", "target"),
    ("planned", "details", "shelf", "target"),
    ("proposals", "details", "shelf_name", "target_name"),
    ("contexts", "asked", "shelves", "targets"),
)


def upgrade() -> None:
    for table in _TABLES:
        op.execute(f"alter table {table} rename column shelf to target")
    for table, column, old, new in _JSON:
        # A quotation mark within a JSON string has a backslash before it: this finds keys, and no one's words.
        op.execute(f"""update {table} set {column} = replace({column}, '"{old}":', '"{new}":')""")
