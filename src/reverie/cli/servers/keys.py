"""`reverie keys`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import day, print_json
from reverie.core.keys import Permission
from reverie.core.scope import LOCAL

if TYPE_CHECKING:
    from reverie.core.keys import ApiKey

UNBOUND = "It is bound to nobody: dreams withhold what rests on its words alone. `--user NAME` binds a key to a person."
_workspace = click.option("--workspace", default=LOCAL, show_default=True, help="Whose keys: the tenant.")


class Age(click.ParamType[timedelta]):
    """A length of time, such as `90d` or `12h`."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        if not (value[:-1].isdigit() and value[-1:] in ("h", "d", "w") and 0 < int(value[:-1]) < 100_000):
            self.fail(f"{value!r} is not a length of time. Write 90d, 12h or 2w.", param, ctx)
        return timedelta(**{{"h": "hours", "d": "days", "w": "weeks"}[value[-1]]: int(value[:-1])})


@click.group(name="keys")
def keys() -> None:
    """Make, list and revoke the API keys of the server."""


@keys.command()
@click.option("--name", required=True, help="What the key is for.")
@click.option(
    "--scope",
    "scopes",
    required=True,
    multiple=True,
    type=click.Choice([one.value for one in Permission]),
    help="What it may do; several times for several.",
)
@_workspace
@click.option("--user", default="", help="Bind it to one person: it sees and writes only that person's.")
@click.option("--expires", type=Age(), metavar="AGE", help="How long it is good for: 90d, 12h.  [default: for ever]")
@common
def create(
    *, name: str, scopes: tuple[str, ...], workspace: str, user: str, expires: timedelta | None, shell: Shell
) -> None:
    """Make a key. It is shown this once; only its hash is kept."""

    with shell.opened() as house:
        issued = house.tenants.keys(workspace).create(name, frozenset(map(Permission, scopes)), user, expires)
    if shell.json:
        print_json({"id": issued.key.id, "key": issued.secret})
        return
    click.echo(issued.secret)
    click.echo(f"{issued.key.id} in {workspace}. This is the only time the key is shown.", err=True)
    if not user and issued.key.permissions & {Permission.WRITE, Permission.ADMIN}:
        click.echo(UNBOUND, err=True)


@keys.command(name="list")
@_workspace
@common
def list_(*, workspace: str, shell: Shell) -> None:
    """Every key of a workspace. Keys themselves cannot be shown."""

    with shell.opened() as house:
        keys, now = house.tenants.keys(workspace).all(), house.clock.now()
    if shell.json:
        print_json([_row(key, now) for key in keys])
        return
    for key in keys:
        bound = f" for {key.user}" if key.user else ""
        scopes = " ".join(sorted(key.permissions))
        click.echo(f"{key.id}  {key.prefix}…  {_standing(key, now):8} {key.name} ({scopes}){bound}")
    if not keys:
        click.echo("No keys. Make one with `reverie keys create --name … --scope …`.")


@keys.command()
@click.argument("key")
@_workspace
@common
def revoke(*, key: str, workspace: str, shell: Shell) -> None:
    """Refuse a key from now on."""

    with shell.opened() as house:
        revoked = house.tenants.keys(workspace).revoke(key)
    if shell.json:
        print_json({"id": revoked.id, "revoked_at": revoked.revoked_at})
    else:
        click.echo(f"{revoked.id} ({revoked.name}) is revoked since {day(revoked.revoked_at)}.")


def _row(key: ApiKey, now: datetime) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "workspace": key.workspace,
        "user": key.user or None,
        "scopes": sorted(key.permissions),
        "status": _standing(key, now),
        "created_at": key.made_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
    }


def _standing(key: ApiKey, now: datetime) -> str:
    return "revoked" if key.revoked_at else "open" if key.is_open(now) else "expired"
