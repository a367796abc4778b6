"""The plugin of hermes-agent: `/dreaming`, `hermes dreaming`, and what Hermes tells of as it happens.

This folder is the whole plugin. Hermes finds it by the entry point `hermes_agent.plugins` where Reverie is installed
beside it, or in `<Hermes home>/plugins/reverie`, where `hermes plugins install` puts it: then `reverie` is called where
it is. So nothing here imports anything but the standard library, this folder and, where it is needed, Hermes. Reverie
itself runs in a process of its own.
"""

from __future__ import annotations

import argparse
from typing import Any

HELP = "Dreaming: few, reviewed, reversible changes to memory"


def register(ctx: Any) -> None:
    """Called by Hermes once, at every start of it: whatever is heavy is imported where it is used."""
    ctx.register_command("dreaming", _slash, description=HELP, args_hint="<run|review|status|compact>")
    ctx.register_cli_command("dreaming", HELP, _parser, _command, description=f"{HELP}, by Reverie.")
    ctx.register_hook("on_session_finalize", _session_finished)
    ctx.register_hook("pre_llm_call", _before_a_turn)
    ctx.register_hook("post_tool_call", _after_a_tool)


def _slash(words: str) -> Any:
    from .commands import slash

    return slash(words)


def _parser(parser: argparse.ArgumentParser) -> None:
    from .commands import add_arguments

    add_arguments(parser)


def _command(arguments: argparse.Namespace) -> None:
    from .commands import run_command

    run_command(arguments)


def _session_finished(session_id: str = "", **_: object) -> None:
    from .hooks import begin_night_if_due, queue, session_done

    if session_id:
        session_done(session_id)
        queue(session_id)
        begin_night_if_due()


def _before_a_turn(user_message: object = "", session_id: str = "", **_: object) -> str | None:
    from .hooks import offered

    return offered(str(user_message or ""), session_id)


def _after_a_tool(
    tool_name: str = "", args: object = None, session_id: str = "", status: str = "", **_: object
) -> None:
    from .hooks import tool_done

    tool_done(session_id, tool_name, args, status)
