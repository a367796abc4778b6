"""`reverie mcp`."""

from __future__ import annotations

from contextlib import suppress

import click

from reverie.cli.options import Shell, common


@click.command(name="mcp")
@click.option("--target", metavar="NAME", help="The memory of the agent that calls: where `remember` proposes.")
@click.option("--agent", default="agent", show_default=True, metavar="NAME", help="Who proposes, in the review queue.")
@click.option(
    "--http", "port", type=click.IntRange(0, 65535), metavar="PORT", help="HTTP instead of stdio; needs a key."
)
@click.option("--night", is_flag=True, help="When the agent ends, begin a night in the background, if one is due.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen, with --http.")
@common
def command(*, target: str | None, agent: str, port: int | None, night: bool, host: str, shell: Shell) -> None:
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
    import uvicorn

    from reverie.cli.servers.serve import begin, bound_socket

    with bound_socket(host, port) as listening:
        begin(listening, shell, "http")
        config = uvicorn.Config(http_app(server), log_config=None, access_log=False, server_header=False, ws="none")
        with suppress(KeyboardInterrupt):  # the way to end it
            uvicorn.Server(config).run(sockets=[listening])
