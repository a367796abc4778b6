"""`reverie demo`."""

from __future__ import annotations

import tempfile
from importlib.resources import as_file, files

import click

from reverie.cli.options import Shell
from reverie.cli.render import added_lines, console, print_json
from reverie.cli.search import show_hit

QUESTIONS = (
    "where is the staging database now?",
    "why did the first deploy fail?",
    "which day must we not deploy?",
)


@click.command(name="demo")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")
def command(as_json: bool) -> None:
    """Show the main job on sample sessions, in a home that is thrown away. No key, no service."""
    with (
        tempfile.TemporaryDirectory(prefix="reverie-demo-") as folder,
        Shell(folder, None, as_json).opened() as house,
        as_file(files("reverie") / "samples") as samples,
    ):
        added = house.sessions.add(samples, user="sam")
        house.index.catch_up()
        answers = {question: house.search(question, limit=1) for question in QUESTIONS}
    if as_json:
        print_json({"added": added, "answers": answers})
        return
    click.echo("$ reverie sessions add samples/")
    for line in added_lines(added):
        click.echo(line)
    out = console()
    for question, hits in answers.items():
        click.echo(f'\n$ reverie search "{question}" --limit 1')
        for hit in hits:
            show_hit(out, 1, hit, question)
    click.echo("That was a throw-away home. For your own: `reverie sessions add --all`, then `reverie search`.")
