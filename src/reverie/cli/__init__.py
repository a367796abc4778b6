"""The command line: parse, one call on Home, render. Commands load when they are named.

Exit codes: 0 done; 1 something failed; 2 the input can be mended by who gave it; 3 the database cannot be used.
"""

from __future__ import annotations

import importlib
import os
import sys

import click

from reverie import __version__
from reverie.core.errors import ReverieError

SECTIONS = {
    "To begin": {
        "start.demo": "Show the main job on sample sessions, in a home that is thrown away.",
        "start.audit": "Show what agents believe and obey: how much is junk, doubled, contradictory, stale or unsafe.",
        "start.init": "Make a home, or check the one there is.",
        "start.install": "Put Reverie into an agent: its tools, a hook, a skill. One command makes the whole loop run.",
        "start.uninstall": "Take Reverie out of an agent again, to the last byte.",
        "start.doctor": "Print what is set and where it came from, and check what Reverie needs.",
    },
    "Nights": {
        "nights.dream": "One night: read what is new, land very little, propose the rest.",
        "nights.sessions": "Bring in the transcripts agents leave behind; list, show, remove them.",
        "nights.search": "Find the turns that answer a question.",
        "nights.status": "The last nights, what waits, the last changes, how full memory is.",
        "nights.explain": "Why the last night did what it did, or did nothing.",
        "nights.compact": "Propose to take out duplicates and what is superseded; add nothing.",
        "nights.cron": "Dream every night by the system's own means.",
        "nights.worker": "Do the nights that are queued; several workers share them on Postgres.",
    },
    "What agents are told": {
        "changes.review": "Decide what waits for a person: approve, reject, edit.",
        "changes.memory": "What agents were told to remember: list it, change it, take it along.",
        "changes.sync": "Render one memory to the surfaces of several agents, each within its own limits.",
        "changes.skills": "What agents can do: list, refine, match, revert, archive skills.",
        "changes.context": "Exactly the block a session starts with: memory and matched skills.",
        "changes.rules": "Every rule the agents operate under, since when, on what evidence, approved by whom.",
        "changes.history": "What happened to memory and skills, newest first.",
        "changes.blame": "Which change brought each statement of a document.",
        "changes.diff": "What changed between two points in time.",
        "changes.undo": "Take a change back, byte for byte.",
    },
    "Upkeep": {
        "upkeep.verify": "Check that database, files and git agree and that nothing was altered.",
        "upkeep.recover": "Finish what a crash left, and say what was done.",
        "upkeep.erase": "Erase a text, a session, a person, a project or a workspace from everywhere Reverie keeps it.",
        "upkeep.backup": "Write the whole home into one file.",
        "upkeep.restore": "Make a home from a backup.",
    },
    "Serving others": {
        "servers.web": "Review in the browser, on this machine: the inbox, nights, memory, rules and search.",
        "servers.mcp": "Serve an agent while it works: search, recall, skills, proposals.",
        "servers.bridge": "Bring in what a managed memory learned, as reviewed changes to skills and memory.",
        "servers.ab": "Which of two memory stores, or skill libraries, works better in use?",
        "servers.serve": "Serve memory stores and sessions to the `anthropic` SDK and everything that speaks like it.",
        "servers.keys": "Who may call the server: make, list and revoke API keys.",
    },
}
MODULES = {name.partition(".")[2]: f"reverie.cli.{name}" for section in SECTIONS.values() for name in section}


class LazyGroup(click.Group):
    """Knows its commands by name and one line; imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in MODULES:
            return None
        module = importlib.import_module(MODULES[cmd_name])
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.partition(".")[2], line) for name, line in section.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="reverie")
@click.option("--called-as", envvar="REVERIE_CALLED_AS", hidden=True)
def reverie(called_as: str | None) -> None:
    """Change control for what AI agents learn.

    Reverie reads the transcripts agents leave behind and turns them into few, reviewed changes to memory and skills,
    each with its evidence and an undo. It works on the files you already have, with no key and no service. Start with
    `reverie demo`, then `reverie audit` and `reverie dream --propose`; `reverie review` and `reverie web` show what
    waits for you.
    """
    if called_as:
        from reverie.cli.host_commands import hints_name

        hints_name(called_as)


def main(arguments: list[str] | None = None) -> None:
    try:
        reverie.main(args=arguments, prog_name="reverie")
    except ReverieError as error:
        sys.exit(_said(error, sys.argv[1:] if arguments is None else arguments))
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _said(error: ReverieError, arguments: list[str]) -> int:
    if "--json" in arguments:
        import json

        kind = type(error).__name__
        told = {"kind": kind, "found": error.found, "expected": error.expected, "next": error.next_step}
        click.echo(json.dumps({"error": told}, ensure_ascii=False), err=True)
    else:
        click.echo(f"Error: {error}", err=True)
    return error.exit_code
