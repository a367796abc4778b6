"""`reverie serve`, `web` and `mcp`: what listens for programs, people and agents. `reverie keys`: who may call."""

from __future__ import annotations

import gc
import logging
import resource
import socket
import sys
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from reverie.cli import shell as ui
from reverie.core.errors import BadSetting
from reverie.core.ids import is_loopback
from reverie.core.scope import LOCAL, Permission

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from reverie.core.scope import ApiKey


IDLE_SECONDS = 75  # longer than proxies keep a connection, so that it is they who close it
LEAVE_SECONDS = 20
KEPT_FILES = 200  # of those a process may open, for its database when connections take the rest
SWITCH_SECONDS = 0.001  # a write lets other threads in some forty times; a thread that reads an import keeps it so long
_UNENCRYPTED = (
    "{} can be reached by others, without TLS: keys and memory can be read on the way. "
    "Give --tls-cert and --tls-key, or let a proxy with TLS be the only one that reaches it."
)
PAGES_LEAVE_SECONDS = 1  # pages that follow what happens have a connection open all the time
UNBOUND = "It is bound to nobody: dreams withhold what rests on its words alone. `--user NAME` binds a key to a person."


@click.command(name="serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen. Elsewhere than here needs keys.")
@click.option("--port", default=8787, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="A name this server is called by.")
@click.option("--root-path", default="", metavar="PREFIX", help="A path in front of /v1, as behind a proxy.")
@click.option("--rate", default=300, show_default=True, type=click.IntRange(1), help="Calls a second, for each key.")
@click.option("--at-once", default=32, show_default=True, type=click.IntRange(1), help="Calls at a time, for each key.")
@click.option("--streams", default=100, show_default=True, type=click.IntRange(1), help="Streams open, for each key.")
@click.option("--dreams", default=2, show_default=True, type=click.IntRange(0), help="Dreams at a time; 0 does none.")
@click.option("--web/--no-web", default=True, help="Serve the pages of `reverie web` at /web, for people with keys.")
@click.option("--tls-cert", metavar="FILE", help="Serve HTTPS: the certificate, and those above it, as PEM.")
@click.option("--tls-key", metavar="FILE", help="The certificate's private key, as PEM.")
@ui.common
def serve(
    *,
    host: str,
    port: int,
    names: tuple[str, ...],
    root_path: str,
    rate: int,
    at_once: int,
    streams: int,
    dreams: int,
    web: bool,
    tls_cert: str | None,
    tls_key: str | None,
    shell: ui.Shell,
) -> None:
    """Serve memory stores, sessions and dreams to the `anthropic` SDK and everything that speaks like it."""
    from reverie.server.app import api_application, prepare_routes
    from reverie.server.caller import CallLimits, House
    from reverie.server.extensions import clear_abandoned_imports
    from reverie.server.middleware import PatientProtocol
    from reverie.web.app import KeyDoor, mount_beside, web_application

    tls = _tls(tls_cert, tls_key)
    with shell.opened() as home:
        house = House(home)
        home.sessions.redact("Readers and rules are loaded now: at the first import everybody else would wait for it.")
        _check_reach(host, keys=house.keys.any(), encrypted=bool(tls))
        for warning in home.warnings():
            click.echo(f"Warning: {warning}.", err=True)
        home.erase.resume()
        clear_abandoned_imports()
        limits = CallLimits(rate, 2 * rate, at_once, streams)
        api = api_application(house, names=(*names, host), limits=limits, root_path=root_path)
        prepare_routes(api)
        app: ASGIApp = api
        if web:
            pages = web_application(home, KeyDoor(home, (*names, host)))
            prepare_routes(pages)
            app = mount_beside(api, pages, root_path)
        working = house.working(dreams) if dreams else nullcontext()
        with working, house.sharing(limits), house.expiring(), bound_socket(host, port) as listening:
            sys.setswitchinterval(SWITCH_SECONDS)
            gc.collect()
            gc.freeze()  # what is loaded stays; to look through all of it for garbage would hold up every call
            begin(listening, shell, "https" if tls else "http", f"{root_path}/web/" if web else "")
            _run(
                app,
                listening,
                lifespan="off",
                http=PatientProtocol,
                limit_concurrency=max(100, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - KEPT_FILES),
                timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=LEAVE_SECONDS,
                **tls,
            )


def _check_reach(host: str, *, keys: bool, encrypted: bool) -> None:
    """Others get in with keys only; a warning where nobody has one, or where keys can be read on the way."""
    others = not is_loopback(host)
    if others and not keys:
        raise BadSetting(
            f"There are no keys, and {host} can be reached by others.",
            expected="at least one key",
            next_step="Make one with `reverie keys create --name … --scope …`, or listen on 127.0.0.1.",
        )
    if not keys:
        click.echo("Nobody has a key yet. Make one with `reverie keys create --name … --user … --scope …`.", err=True)
    if others and not encrypted:
        click.echo(f"Warning: {_UNENCRYPTED.format(host)}", err=True)


def _tls(cert: str | None, key: str | None) -> dict[str, Any]:
    """The TLS settings of uvicorn. Files that do not fit together are said now, not at the first call."""
    if not cert and not key:
        return {}
    if not cert or not key:
        raise BadSetting("Only one of --tls-cert and --tls-key is given.", expected="both, or neither")
    import ssl

    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(cert, key)
    except OSError as error:  # ssl.SSLError is one
        raise BadSetting(
            f"{cert} and {key} cannot be used for TLS: {error.strerror or error}.",
            expected="a certificate and its private key, both PEM",
        ) from error
    return {"ssl_certfile": cert, "ssl_keyfile": key}


def begin(listening: socket.socket, shell: ui.Shell, scheme: str, pages: str = "") -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(message)s")
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    host, port = listening.getsockname()[:2]
    url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
    shell.tell({"url": url, "pages": pages and f"{url}{pages}"}, f"Listening on {url}. Stop with Ctrl-C.")
    if pages and not shell.json:
        click.echo(f"People with a key review at {url}{pages} (`reverie keys create --name … --scope review`).")
    sys.stdout.flush()


def bound_socket(host: str, port: int) -> socket.socket:
    try:
        # Named as TCP, or asyncio leaves Nagle's algorithm on: each answer would wait 40 ms for an acknowledgement.
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(512)
    except OSError as error:
        raise BadSetting(
            f"{host}:{port} cannot be listened on: {error.strerror}.", next_step="Take another."
        ) from error
    return listening


def _run(app: ASGIApp, listening: socket.socket, **more: Any) -> None:
    import uvicorn

    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, ws="none", **more)
    with suppress(KeyboardInterrupt):  # the way to end it
        uvicorn.Server(config).run(sockets=[listening])


@click.command(name="web")
@click.option(
    "--port", default=0, type=click.IntRange(0, 65535), help="Where to listen; 0 takes a free one.  [default: 0]"
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@ui.common
def web(*, port: int, no_browser: bool, shell: ui.Shell) -> None:
    """Review in the browser: what waits, with its evidence; the nights, memory, rules, sessions and search.

    The pages are served on this machine only. The printed address lets in one browser, once.
    """
    import webbrowser

    from reverie.server.middleware import PatientProtocol
    from reverie.web.app import Entrance, web_application

    with shell.opened() as home:
        entrance = Entrance(home)
        pages = web_application(home, entrance)
        with bound_socket("127.0.0.1", port) as socket:
            url = f"http://127.0.0.1:{socket.getsockname()[1]}/?token={entrance.token}"
            shell.tell({"url": url}, f"Open {url}\nThe address works once. Stop with Ctrl-C.")
            sys.stdout.flush()
            if not no_browser:
                Thread(target=webbrowser.open, args=[url], daemon=True).start()
            _run(
                pages,
                socket,
                lifespan="off",
                http=PatientProtocol,
                limit_concurrency=100,
                timeout_graceful_shutdown=PAGES_LEAVE_SECONDS,
            )


@click.command(name="mcp")
@click.option("--target", metavar="NAME", help="The memory of the agent that calls: where `remember` proposes.")
@click.option("--agent", default="agent", show_default=True, metavar="NAME", help="Who proposes, in the review queue.")
@click.option(
    "--http", "port", type=click.IntRange(0, 65535), metavar="PORT", help="HTTP instead of stdio; needs a key."
)
@click.option("--night", is_flag=True, help="When the agent ends, begin a night in the background, if one is due.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen, with --http.")
@ui.common
def mcp(*, target: str | None, agent: str, port: int | None, night: bool, host: str, shell: ui.Shell) -> None:
    """Serve an agent while it works: search, recall, skills, and proposals that wait for a person (MCP).

    An agent starts it by itself over stdio; `reverie install` tells it how. Over HTTP it is at /mcp, for who has a key
    (`reverie keys create`) with the scope `write`. Nothing it offers writes memory or a skill.
    """
    from reverie.integrations.mcp_server import McpServer, http_app, serve_stdio

    server = McpServer(shell.opened, target, agent)
    if port is None:
        serve_stdio(server)
        if night:
            with shell.opened() as house:
                house.begin_night_if_due()
        return
    with bound_socket(host, port) as listening:
        begin(listening, shell, "http")
        _run(http_app(server), listening)


_workspace = click.option("--workspace", default=LOCAL, show_default=True, help="Whose keys: the tenant.")


class Age(click.ParamType[timedelta]):
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
@ui.common
def create(
    *, name: str, scopes: tuple[str, ...], workspace: str, user: str, expires: timedelta | None, shell: ui.Shell
) -> None:
    """Make a key. It is shown this once; only its hash is kept."""
    with shell.opened() as house:
        issued = house.tenants.keys(workspace).create(name, frozenset(map(Permission, scopes)), user, expires)
    if shell.printed_json({"id": issued.key.id, "key": issued.secret}):
        return
    click.echo(issued.secret)
    click.echo(f"{issued.key.id} in {workspace}. This is the only time the key is shown.", err=True)
    if not user and issued.key.permissions & {Permission.WRITE, Permission.ADMIN}:
        click.echo(UNBOUND, err=True)


@keys.command(name="list")
@_workspace
@ui.common
def list_(*, workspace: str, shell: ui.Shell) -> None:
    """Every key of a workspace. Keys themselves cannot be shown."""
    with shell.opened() as house:
        keys, now = house.tenants.keys(workspace).all(), house.clock.now()
    rows = [
        {"id": key.id, "name": key.name, "prefix": key.prefix, "workspace": key.workspace, "user": key.user or None}
        | {"scopes": sorted(key.permissions), "status": _standing(key, now), "created_at": key.made_at}
        | {"expires_at": key.expires_at, "revoked_at": key.revoked_at}
        for key in keys
    ]
    if shell.printed_json(rows):
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
@ui.common
def revoke(*, key: str, workspace: str, shell: ui.Shell) -> None:
    """Refuse a key from now on."""
    with shell.opened() as house:
        revoked = house.tenants.keys(workspace).revoke(key)
    shell.tell(
        {"id": revoked.id, "revoked_at": revoked.revoked_at},
        f"{revoked.id} ({revoked.name}) is revoked since {ui.day(revoked.revoked_at)}.",
    )


def _standing(key: ApiKey, now: datetime) -> str:
    return "revoked" if key.revoked_at else "open" if key.is_open(now) else "expired"
