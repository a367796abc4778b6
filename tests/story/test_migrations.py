"""The schema: one way forward, all or nothing, never backwards. On SQLite and on a real Postgres."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from sqlalchemy import Engine, inspect, text

from reverie.core.errors import BadSetting, DatabaseUnusable, SchemaTooNew
from reverie.storage import migrations, schema
from reverie.storage.database import engine as make_engine
from reverie.storage.database import reading_across, writing_across
from reverie.storage.migrations import SCHEMA, described

NEXT = f"{int(migrations.CURRENT) + 1:04}"

SLOW_MIGRATION = f'''
revision = "{NEXT}"
down_revision = "{migrations.CURRENT}"

def upgrade():
    import time, sys
    import sqlalchemy as sa
    from alembic import op
    op.create_table("half_done", sa.Column("a", sa.Text))
    op.add_column("sessions", sa.Column("half_done", sa.Text))
    print("half-way", flush=True)
    time.sleep(60)
'''

OLD_SESSION = """insert into sessions (workspace, "user", id, harness, project, revision, turns, added_at, changed)
    values ('local', 'ann', 's1', 'hermes', 'ledgerly', 1, 1, 1, 1)"""
OLD_PROPOSAL = """insert into proposals (workspace, "user", id, kind, shelf, subject, status, proposer, hash, details,
    made_at, expires_at)
    values ('local', '', 'prp_1', 'memory', :shelf, 'MEMORY.md', 'waiting', 'dream', 'x', :details, 1, 2)"""


def test_the_migrations_make_the_tables_the_code_knows(engine: Engine) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []


def test_a_new_sqlite_database_is_what_the_migrations_make_one_by_one(tmp_path: Path) -> None:
    """Where this fails: `python -c 'from reverie.storage import migrations; migrations.write_schema()'`."""
    stepwise, new = (make_engine(f"sqlite:///{tmp_path / name}") for name in ("stepwise.db", "new.db"))
    for number in range(1, int(migrations.CURRENT) + 1):
        migrations.migrate(stepwise, f"{number:04}")
    migrations.migrate(new)
    made = [described(one, migrations.CURRENT) for one in (stepwise, new)]
    assert made[0] == made[1] == SCHEMA.read_text("utf-8")
    for one in (stepwise, new):
        one.dispose()


def test_every_row_that_belongs_to_someone_begins_with_workspace_and_user() -> None:
    for table in schema.metadata.sorted_tables:
        key = [column.name for column in table.primary_key.columns]
        assert key[:2] == ["workspace", "user"] or table.name in (
            "counters",
            "ledger",
            "tombstones",
            "tombstone_keys",
            "backups",
        ), table.name


def test_what_was_called_a_shelf_is_called_a_target_and_nobodys_words_are_touched(empty_database: str) -> None:
    engine = make_engine(empty_database)
    migrations.migrate(engine, "0013")
    said = 'They wrote {"shelf": 1, "shelf_name": 2} on the board'
    given = {"shelf_name": "hermes", "reason": said}
    with writing_across(engine, "upkeep") as connection:
        values = {"details": json.dumps(given), "shelf": "hermes:/h"}
        connection.execute(text(OLD_PROPOSAL), values)
    migrations.migrate(engine)
    with reading_across(engine, "upkeep") as connection:
        row = connection.execute(text("select target, details from proposals")).one()
    assert row.target == "hermes:/h"
    assert json.loads(row.details) == {"target_name": "hermes", "reason": said}
    engine.dispose()


def test_what_waited_before_knows_the_project_it_was_said_in(empty_database: str) -> None:
    engine = make_engine(empty_database)
    migrations.migrate(engine, "0013")
    with writing_across(engine, "upkeep") as connection:
        connection.execute(text(OLD_SESSION))
        details = json.dumps({"evidence": [{"session_id": "s1"}, {"session_id": "s1"}]})
        connection.execute(text(OLD_PROPOSAL), {"details": details, "shelf": "hermes:/h"})
    migrations.migrate(engine)
    with reading_across(engine, "upkeep") as connection:
        assert connection.execute(text("select project from proposals")).scalars().all() == ["ledgerly"]
    engine.dispose()


def test_an_older_reverie_refuses_a_newer_schema_and_changes_nothing(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    with pytest.raises(SchemaTooNew, match=r"schema 9999.*Upgrade.*Nothing was changed"):
        migrations.migrate(engine)
    with engine.connect() as connection:
        assert migrations.schema_version(connection) == "9999"


def test_someone_elses_database_is_refused(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = 'ae1027a6acf'"))
    with pytest.raises(DatabaseUnusable, match="not one of Reverie's"):
        migrations.migrate(engine)


def test_a_migration_killed_half_way_leaves_the_old_schema_intact(
    engine: Engine, database: str, tmp_path: Path
) -> None:
    """SIGKILL lands behind the first two statements of a migration and before its commit."""
    scripts = _with_a_slow_migration(tmp_path)
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(f"""
            from pathlib import Path
            from reverie.storage.database import engine
            from reverie.storage.migrations import migrate
            migrate(engine({database!r}), {NEXT!r}, Path({str(scripts)!r}))
        """),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "half-way\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with engine.connect() as connection:
        assert migrations.schema_version(connection) == migrations.CURRENT
        assert not inspect(connection).has_table("half_done")
        assert "half_done" not in {column["name"] for column in inspect(connection).get_columns("sessions")}
    migrations.migrate(engine)


def _with_a_slow_migration(folder: Path) -> Path:
    ours = Path(migrations.__file__).parent
    scripts = folder / "scripts"
    (scripts / "versions").mkdir(parents=True)
    for step in (ours / "versions").glob("*.py"):
        (scripts / "versions" / step.name).write_text(step.read_text())
    (scripts / "versions" / f"{NEXT}_slow.py").write_text(SLOW_MIGRATION)
    return scripts


@pytest.mark.parametrize("url", ["mysql://x/y", "nonsense", "", "redis://localhost"])
def test_a_database_url_that_cannot_be_used_is_explained(url: str) -> None:
    with pytest.raises(BadSetting, match="sqlite:///"):
        make_engine(url)


def test_a_file_that_is_no_database_is_explained_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "reverie.db"
    path.write_text("these are my notes, not a database\n" * 100)
    with pytest.raises(DatabaseUnusable, match="not a database"):
        migrations.migrate(make_engine(f"sqlite:///{path}"))
    assert path.read_text().startswith("these are my notes")
