"""Writes the generated parts of the documentation, between their marks.

python docs/generate.py          rewrite them
python docs/generate.py --check  fail if any is stale
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from click.testing import CliRunner

ROOT = Path(__file__).parents[1]
WIDTH = 88


def commands() -> str:
    """Every command's --help."""
    from reverie.cli import reverie

    return "\n\n".join(
        f"## `{name}`\n\n```text\n{_help(name, command)}\n```" for name, command in _walk("reverie", reverie)
    )


def _walk(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from _walk(f"{name} {child}", found)


def _help(name: str, command: click.Command) -> str:
    settings = {"help_option_names": ["-h", "--help"]}
    return command.get_help(click.Context(command, info_name=name, terminal_width=WIDTH, **settings)).strip()


def settings() -> str:
    from reverie.config import SETTINGS

    rows = ["| setting | flag or variable | default | what it is |", "|---|---|---|---|"]
    for one in SETTINGS:
        rows.append(f"| `{one.name}` | `{one.variable}` | {one.default_text} | {one.about} |")
    return "\n".join(rows)


def readers() -> str:
    from reverie.sessions.reading import readers as installed

    rows = ["| reader | `--all` looks in |", "|---|---|"]
    for reader in installed():
        places = ", ".join(f"`{place}`" for place in reader.places) or "named by you"
        rows.append(f"| `{reader.name}` | {places} |")
    return "\n".join(rows)


def demo() -> str:
    """What a person sees, as it is."""
    from reverie.cli import reverie

    os.environ["COLUMNS"] = str(WIDTH)
    ran = CliRunner().invoke(reverie, ["demo"], catch_exceptions=False)
    lines = [line.rstrip() for line in ran.output.strip().splitlines()]
    return "```text\n$ reverie demo\n" + "\n".join(lines) + "\n```"


def policy() -> str:
    from reverie.review.policy import DEFAULT

    return f"```toml\n{DEFAULT}```"


PARTS: dict[str, Callable[[], str]] = {
    "commands": commands, "settings": settings, "readers": readers, "demo": demo, "policy": policy,
}  # fmt: skip
MARK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> None:
    made = {name: make() for name, make in PARTS.items()}
    stale = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        old = path.read_text("utf-8")
        new = MARK.sub(lambda mark: f"{mark[1]}{made[mark[2]]}\n{mark[3]}", old)
        if new != old:
            stale.append(path.relative_to(ROOT))
            if "--check" not in sys.argv:
                path.write_text(new, "utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"Stale: {', '.join(map(str, stale))}. Run `make docs`.")
    sys.stdout.write(f"{'Checked' if '--check' in sys.argv else 'Wrote'}: {len(stale)} changed.\n")


if __name__ == "__main__":
    main()
