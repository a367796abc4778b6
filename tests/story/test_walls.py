"""Row-level security on Postgres: a query that forgets whose rows it wants gets none of anyone else's.

The role of these tests is an ordinary one that owns its tables. No policy binds a superuser, whom `doctor` warns.
"""

from __future__ import annotations

from typing import get_args

import pytest
from sqlalchemy import Connection, Engine, delete, func, insert, inspect, select, text, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ProgrammingError

from reverie.app import checkup
from reverie.core.scope import Permission, Scope
from reverie.storage import schema
from reverie.storage.database import SEEN_ON, Errand, raise_walls, reading, reading_across, writing, writing_across
from reverie.storage.database import engine as make_engine
from reverie.storage.migrations import migrate
from reverie.storage.upkeep import reflected_table
from tests.conftest import HomeMaker

pytestmark = pytest.mark.parametrize("database", ["postgres"], indirect=True)
ANN = Scope("of-ann", None, "ann")
WORKSPACES = ("of-ann", "of-bob")
OWNED = sorted(table.name for table in schema.metadata.sorted_tables if "workspace" in table.columns)
ANYTHING = {str: "x", int: 1, bool: False, bytes: b"x", float: 0.5}


@pytest.fixture
def shared(engine: Engine) -> Engine:
    """A row in every table for each of two workspaces."""
    with writing_across(engine, "upkeep") as connection:
        for table in (reflected_table(connection, name) for name in OWNED):
            row = {column.name: ANYTHING[column.type.python_type] for column in table.columns}
            connection.execute(insert(table), [row | {"workspace": one} for one in WORKSPACES])
    return engine


def seen(connection: Connection, table: str) -> list[str]:
    """A query that is broken on purpose: it does not say whose rows it wants."""
    return sorted(connection.execute(text(f'select workspace from "{table}"')).scalars())


def test_a_query_without_a_workspace_sees_its_own_rows_alone(shared: Engine) -> None:
    for name in OWNED:
        with reading(shared, ANN) as connection:
            assert seen(connection, name) == ["of-ann"], name


def test_who_says_nothing_sees_nothing(shared: Engine) -> None:
    """Not even on a connection that has just been someone's."""
    for name in OWNED:
        with reading(shared, ANN) as connection:
            assert seen(connection, name)
        with shared.connect() as connection:
            assert seen(connection, name) == [], name


def test_nothing_of_another_workspace_can_be_written(shared: Engine) -> None:
    for name in OWNED:
        with writing(shared, ANN) as connection:
            table = reflected_table(connection, name)
            other = table.c.workspace == "of-bob"
            if name != "ledger":  # to which rows are only ever added
                assert connection.execute(delete(table).where(other)).rowcount == 0, name
                assert connection.execute(update(table).where(other).values(workspace="of-ann")).rowcount == 0, name
        row = {column.name: ANYTHING[column.type.python_type] for column in table.columns}
        with pytest.raises(ProgrammingError, match="row-level security"), writing(shared, ANN) as connection:
            connection.execute(insert(table), row | {"workspace": "of-carol"})
    with reading_across(shared, "upkeep") as connection:
        assert all(seen(connection, name) == ["of-ann", "of-bob"] for name in OWNED)


def test_an_errand_sees_what_it_is_for_and_writes_nothing_unless_it_is_upkeep(shared: Engine) -> None:
    for errand in get_args(Errand):
        for name in OWNED:
            wanted = list(WORKSPACES) if errand == "upkeep" or name in SEEN_ON[errand] else []
            with reading_across(shared, errand) as connection:
                assert seen(connection, name) == wanted, (errand, name)
            if errand != "upkeep" and name != "ledger":
                with writing_across(shared, errand) as connection:
                    assert connection.execute(delete(reflected_table(connection, name))).rowcount == 0, (errand, name)


def test_every_table_with_a_workspace_stands_behind_the_wall(engine: Engine) -> None:
    asked = """
        select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace'
        where c.relkind = 'r' and c.relrowsecurity and c.relforcerowsecurity and exists
        (select from pg_policies p where p.tablename = c.relname and policyname = 'own_workspace' and cmd = 'ALL')"""
    with engine.connect() as connection:
        assert sorted(connection.execute(text(asked)).scalars()) == OWNED


def test_a_table_made_later_gets_its_wall_with_the_next_migration(engine: Engine) -> None:
    with writing_across(engine, "upkeep") as connection:
        connection.execute(text("create table later (workspace text primary key)"))
        raise_walls(connection)
        raise_walls(connection)
        connection.execute(text("insert into later values ('of-ann'), ('of-bob')"))
    with reading(engine, ANN) as connection:
        assert seen(connection, "later") == ["of-ann"]


def test_a_database_of_before_gets_its_walls(empty_database: str) -> None:
    made = make_engine(empty_database)
    migrate(made, "0006")
    with writing_across(made, "upkeep") as connection:
        for name in set(OWNED) & set(inspect(connection).get_table_names()):
            connection.execute(text(f'alter table "{name}" disable row level security, no force row level security'))
            for policy in connection.execute(text(f"select policyname from pg_policies where tablename = '{name}'")):
                connection.execute(text(f'drop policy {policy[0]} on "{name}"'))
    migrate(made)
    with writing_across(made, "upkeep") as connection:
        connection.execute(text("insert into counters values ('of-bob', 'x', 1)"))
    with reading(made, ANN) as connection:
        assert seen(connection, "counters") == []
    made.dispose()


def test_a_key_is_found_before_it_is_known_whose_it_is_and_nothing_else(homes: HomeMaker, database: str) -> None:
    home = homes(database=database)
    issued = home.tenants.keys("of-bob").create("b", {Permission.READ})
    found = home.keys.admitted(issued.secret)
    assert found is not None and found.workspace == "of-bob"
    assert home.keys.all() == []


def test_a_role_that_no_policy_binds_is_named(homes: HomeMaker, database: str, postgres_server: str) -> None:
    home = homes(database=database)
    assert home.warnings() == []
    assert "row-level security" not in " ".join(one.said for one in checkup(home.config))
    above = make_url(postgres_server).set(database=make_url(database).database).render_as_string(hide_password=False)
    unbound = homes(database=above)
    assert "row-level security does not bind the role postgres" in " ".join(unbound.warnings())
    (said,) = [one.said for one in checkup(unbound.config) if one.name == "database"]
    assert "row-level security does not bind the role postgres" in said


def test_the_database_says_how_much_the_walls_hold(shared: Engine) -> None:
    """The same count with and without them, so that this file tests what it thinks it does."""
    counted = select(func.count()).select_from(schema.memories)
    with reading(shared, ANN) as connection:
        assert connection.execute(counted).scalar() == 1
    with writing_across(shared, "upkeep") as connection:
        connection.execute(text("alter table memories disable row level security"))
    with reading(shared, ANN) as connection:
        assert connection.execute(counted).scalar() == 2
