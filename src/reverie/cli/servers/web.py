"""`reverie web`."""

from __future__ import annotations

import sys
from contextlib import suppress
from threading import Thread

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json

LEAVE_SECONDS = 1  # pages that follow what happens have a connection open all the time


@click.command(name="web")
@click.option(
    "--port", default=0, type=click.IntRange(0, 65535), help="Where to listen; 0 takes a free one.  [default: 0]"
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@common
def command(*, port: int, no_browser: bool, shell: Shell) -> None:
    """Review in the browser: what waits, with its evidence; the nights, memory, rules, sessions and search.

    The pages are served on this machine only. The printed address lets in one browser, once.
    """
    import webbrowser

    import uvicorn

    from reverie.cli.servers.serve import bound_socket
    from reverie.server.slow_clients import PatientProtocol
    from reverie.web.app import web_application
    from reverie.web.doors import Entrance

    with shell.opened() as home:
        entrance = Entrance(home)
        config = uvicorn.Config(
            web_application(home, entrance),
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            http=PatientProtocol,
            ws="none",
            limit_concurrency=100,
            timeout_graceful_shutdown=LEAVE_SECONDS,
        )
        with bound_socket("127.0.0.1", port) as socket:
            url = f"http://127.0.0.1:{socket.getsockname()[1]}/?token={entrance.token}"
            if shell.json:
                print_json({"url": url})
            else:
                click.echo(f"Open {url}\nThe address works once. Stop with Ctrl-C.")
            sys.stdout.flush()
            if not no_browser:
                Thread(target=webbrowser.open, args=[url], daemon=True).start()
            with suppress(KeyboardInterrupt):  # the way to end it
                uvicorn.Server(config).run(sockets=[socket])
