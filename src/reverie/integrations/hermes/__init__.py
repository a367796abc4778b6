"""The plugin of hermes-agent: `/dreaming`, `hermes dreaming`, and what Hermes tells of as it happens.

This folder is the whole plugin. Hermes finds it by the entry point `hermes_agent.plugins` where Reverie is installed
beside it, or in `<Hermes home>/plugins/reverie`, where `hermes plugins install` puts it: then `reverie` is called where
it is. So nothing here imports anything but the standard library, this folder and, where it is needed, Hermes. Reverie
itself runs in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

HELP = "Dreaming: few, reviewed, reversible changes to memory"


def register(ctx: Any) -> None:
    """Called by Hermes once, at every start of it: whatever is heavy is imported where it is used."""
    slash, run = _later("commands", "slash"), _later("commands", "run_command")
    ctx.register_command("dreaming", slash, description=HELP, args_hint="<run|review|status|compact>")
    ctx.register_cli_command(
        "dreaming", HELP, _later("commands", "add_arguments"), run, description=f"{HELP}, by Reverie."
    )
    ctx.register_hook("on_session_finalize", _later("host", "session_finished"))
    ctx.register_hook("pre_llm_call", _later("host", "before_a_turn"))
    ctx.register_hook("post_tool_call", _later("host", "after_a_tool"))


def _later(module: str, name: str) -> Callable[..., Any]:
    """A function of this folder, which is imported when it is called."""

    def call(*given: Any, **named: Any) -> Any:
        return getattr(import_module(f".{module}", __name__), name)(*given, **named)

    return call
