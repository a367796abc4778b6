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
        "demo": "Show the main job on sample sessions, in a home that is thrown away.",
        "audit": "Show what agents believe and obey: how much is junk, doubled, contradictory, stale or unsafe.",
        "init": "Make a home, or check the one there is.",
        "install": "Put Reverie into an agent: its tools, a hook, a skill. One command makes the whole loop run.",
        "uninstall": "Take Reverie out of an agent again, to the last byte.",
        "doctor": "Print what is set and where it came from, and check what Reverie needs.",
    },
    "Nights": {
        "dream": "One night: read what is new, land very little, propose the rest.",
        "sessions": "Bring in the transcripts agents leave behind; list, show, remove them.",
        "search": "Find the turns that answer a question.",
        "status": "The last nights, what waits, the last changes, how full memory is.",
        "explain": "Why the last night did what it did, or did nothing.",
        "compact": "Propose to take out duplicates and what is superseded; add nothing.",
        "cron": "Dream every night by the system's own means.",
        "worker": "Do the nights that are queued; several workers share them on Postgres.",
    },
    "What agents are told": {
        "review": "Decide what waits for a person: approve, reject, edit.",
        "memory": "What agents were told to remember: list it, change it, take it along.",
        "sync": "Render one memory to the surfaces of several agents, each within its own limits.",
        "skills": "What agents can do: list, refine, match, revert, archive skills.",
        "context": "Exactly the block a session starts with: memory and matched skills.",
        "rules": "Every rule the agents operate under, since when, on what evidence, approved by whom.",
        "history": "What happened to memory and skills, newest first.",
        "blame": "Which change brought each statement of a document.",
        "diff": "What changed between two points in time.",
        "undo": "Take a change back, byte for byte.",
    },
    "Upkeep": {
        "verify": "Check that database, files and git agree and that nothing was altered.",
        "recover": "Finish what a crash left, and say what was done.",
        "erase": "Erase a text, a session, a person, a project or a workspace from everywhere Reverie keeps it.",
        "backup": "Write the whole home into one file.",
        "restore": "Make a home from a backup.",
    },
    "Serving others": {
        "web": "Review in the browser, on this machine: the inbox, nights, memory, rules and search.",
        "mcp": "Serve an agent while it works: search, recall, skills, proposals.",
        "bridge": "Bring in what a managed memory learned, as reviewed changes to skills and memory.",
        "ab": "Which of two memory stores, or skill libraries, works better in use?",
        "serve": "Serve memory stores and sessions to the `anthropic` SDK and everything that speaks like it.",
        "keys": "Who may call the server: make, list and revoke API keys.",
    },
}
_STANDS_IN = {
    "begin": "demo init install uninstall doctor",
    "dream": "dream compact cron worker",
    "sessions": "sessions search",
    "status": "audit status explain",
    "review": "review",
    "memory": "memory",
    "skills": "skills",
    "history": "history blame diff undo rules context sync",
    "upkeep": "verify recover backup restore erase",
    "serve": "serve web mcp keys",
    "bridge": "bridge ab",
}
MODULES = {name: f"reverie.cli.{module}" for module, names in _STANDS_IN.items() for name in names.split()}


class LazyGroup(click.Group):
    """Knows its commands by name and one line; imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for section in SECTIONS.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in MODULES:
            return None
        command: click.Command = getattr(importlib.import_module(MODULES[cmd_name]), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(section.items()))


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
        from reverie.cli.shell import hints_name

        hints_name(called_as)


def main(arguments: list[str] | None = None) -> None:
    try:
        reverie.main(args=arguments, prog_name="reverie")
    except ReverieError as error:
        if "--json" in (sys.argv[1:] if arguments is None else arguments):
            import json

            kind = type(error).__name__
            told = {"kind": kind, "found": error.found, "expected": error.expected, "next": error.next_step}
            click.echo(json.dumps({"error": told}, ensure_ascii=False), err=True)
        else:
            click.echo(f"Error: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
