"""The second wall on Postgres: row-level security. SQLite has none; there the first one, in every query, is alone.

A transaction says in which workspace it is (`begun`, once it has begun and until it ends) and sees and writes rows of
that workspace only, whatever it asks for. Who says nothing sees nothing. The policies bind the owner of the tables too.
A superuser, or a role made with BYPASSRLS, is bound by none: `bypassed` says so, and who runs a server is told.

An errand is a reason to look across workspaces, and may do that much: `keys` finds the key a caller sent, before it is
known whose it is; `nights` finds nights for who works on them or runs the machine; `upkeep` migrates, backs up and
restores.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from sqlalchemy import Connection, text

Errand = Literal["keys", "nights", "upkeep"]
SEEN_ON: dict[Errand, tuple[str, ...]] = {"keys": ("api_keys",), "nights": ("dreams", "nights", "leases")}
_WORKSPACE = "workspace = (select current_setting('reverie.workspace', true))"
_ON_ERRAND = "(select current_setting('reverie.errand', true)) = '{}'"
_WITH_A_WORKSPACE = """
    select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
      and a.attname = 'workspace' and not a.attisdropped order by c.relname"""
_POLICIES = "select policyname from pg_policies where schemaname = current_schema() and tablename = :table"
_BYPASSED = "select rolname from pg_roles where rolname = current_user and (rolsuper or rolbypassrls)"


def begun(connection: Connection) -> None:
    """Tell Postgres where a transaction is, for as long as it lasts. Called when it begins."""
    options: Any = connection.get_execution_options()
    for name in ("workspace", "errand"):
        if name in options:
            connection.exec_driver_sql(f"select set_config('reverie.{name}', %s, true)", (options[name],))


def raise_walls(connection: Connection) -> None:
    """Around every table that has a workspace. After each migration, so that no new table is left without."""
    if connection.dialect.name != "postgresql":
        return
    for table in connection.execute(text(_WITH_A_WORKSPACE)).scalars().all():
        standing = set(connection.execute(text(_POLICIES), {"table": table}).scalars())
        told = {"own_workspace": f"using ({_WORKSPACE})", "upkeep": f"using ({_ON_ERRAND.format('upkeep')})"}
        for errand in get_args(Errand):
            if table in SEEN_ON.get(errand, ()):
                told[errand] = f"for select using ({_ON_ERRAND.format(errand)})"
        for name, policy in told.items():
            if name not in standing:
                connection.execute(text(f'create policy {name} on "{table}" {policy}'))
        connection.execute(text(f'alter table "{table}" enable row level security, force row level security'))


def bypassed(connection: Connection) -> str | None:
    """The role this connection has, if no policy binds it."""
    if connection.dialect.name != "postgresql":
        return None
    found: str | None = connection.execute(text(_BYPASSED)).scalar()
    return found


def unbound(role: str) -> str:
    return (
        f"row-level security does not bind the role {role}, so that one wall alone is between workspaces: "
        "connect as a role that is no superuser and has no BYPASSRLS"
    )
