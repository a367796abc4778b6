"""Writes the generated parts of the documentation, between their marks.

python docs/generate.py          rewrite them
python docs/generate.py --check  fail if any is stale
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click
import messages
from click.testing import CliRunner

if TYPE_CHECKING:
    from reverie.config import Setting

ROOT = Path(__file__).parents[1]
WIDTH = 88
COMMON = ("home", "database", "as_json", "version")
FIRST = ("owner", "timezone", "model", "model_url", "dreaming.enabled", "dreaming.schedule", "sources", "skills")


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
    """Without the options that every command has: the page says them once."""
    context = click.Context(command, info_name=name, terminal_width=WIDTH, help_option_names=[])
    common = [one for one in command.params if isinstance(one, click.Option) and one.name in COMMON and not one.hidden]
    for one in common:
        one.hidden = True
    try:
        return command.get_help(context).strip()
    finally:
        for one in common:
            one.hidden = False


def settings() -> str:
    from reverie.config import SETTINGS

    rest = [one for one in SETTINGS if one.name not in FIRST]
    groups = {
        "The ones people set": [one for name in FIRST for one in SETTINGS if one.name == name],
        "What is read and kept": [one for one in rest if not one.name.startswith(("model", "dreaming."))],
        "Nights": [one for one in rest if one.name.startswith("dreaming.")],
        "Models": [one for one in rest if one.name.startswith("model")],
    }
    return "\n\n".join("\n".join([f"## {title}", "", *_rows(group)]) for title, group in groups.items())


def _rows(group: Iterable[Setting]) -> Iterator[str]:
    yield "| setting | default | what it is |"
    yield "|---|---|---|"
    yield from (f"| `{one.name}` | {one.default_text} | {one.about} |" for one in group)


def readers() -> str:
    from reverie.transcripts.readers import readers as installed

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
    from reverie.changes.policy import DEFAULT

    return f"```toml\n{DEFAULT}```"


def night() -> str:
    """The diary of the sample's night, two matters of each section."""
    return _shown("reverie dream --limit 40", _shortened(_in_the_sample()["dream --limit 40"], most=2))


def brief() -> str:
    said = _in_the_sample()["dream --show-brief --session shop-0311"]
    return _shown("reverie dream --show-brief --session shop-0311", _shortened(said, most=4))


def explained() -> str:
    """What `explain` tells of the first matter of the night."""
    told = _in_the_sample()["explain last"]
    first = next(part for part in told.split("\n\n") if part.startswith("cand_"))
    return _shown("reverie explain last", f"[…]\n{first}\n[…]")


def checks() -> str:
    from reverie.dreams.verify.checks import CHECKS
    from reverie.dreams.verify.reasons import Reason, Severity

    rows = ["| check | question | refused as | asks as |", "|---|---|---|---|"]
    for one in CHECKS:
        named = dict.fromkeys(Reason[name] for name in re.findall(r"Reason\.([A-Z_]+)", inspect.getsource(one.check)))
        refused = ", ".join(f"`{each}`" for each in named if each.severity is Severity.REFUSED)
        asks = ", ".join(f"`{each}`" for each in named if each.severity is Severity.ASK)
        rows.append(f"| `{one.name}` | {one.question} | {refused or '–'} | {asks or '–'} |")
    return "\n".join(rows)


def reasons() -> str:
    from reverie.dreams.verify.reasons import Reason, Severity

    follows = {Severity.REFUSED: "refused", Severity.ASK: "asks", Severity.HELD: "held"}
    rows = ["| reason | what follows | as the diary says it |", "|---|---|---|"]
    for one in sorted(Reason, key=lambda each: -each.severity):
        sentence = one.sentence.replace("{}.", "…").replace("{}", "…")
        rows.append(f"| `{one}` | {follows[one.severity]} | {sentence} |")
    return "\n".join(rows)


@cache
def _in_the_sample() -> dict[str, str]:
    """What commands say in the home that `reverie demo` makes, one after another."""
    from reverie.cli import begin as shop
    from reverie.cli import reverie

    lines = ["dream --show-brief --session shop-0311", "dream --limit 40", "explain last"]
    with click.Context(reverie, info_name="reverie"), shop._sample(as_json=False) as sample:
        shop._said(sample, "sessions add ~/shop.jsonl")
        return {line: shop._said(sample, line) for line in lines}


def _shown(typed: str, said: str) -> str:
    from reverie.cli.shell import fitted

    return f"```console\n$ {typed}\n" + "\n".join(fitted(said, WIDTH)).rstrip() + "\n```"


def _shortened(text: str, most: int) -> str:
    """The first matters of each section, each a line that is not indented with the lines below it; then `[…]`."""
    kept, number = list[str](), 0
    for line in text.splitlines():
        number = 0 if line.startswith("## ") else number + bool(line[:1].strip())
        if number <= most or not line:
            kept.append(line)
        elif kept[-1] != "[…]":
            kept.append("[…]")
    return "\n".join(kept)


PARTS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "settings": settings,
    "readers": readers,
    "demo": demo,
    "policy": policy,
    "night": night,
    "brief": brief,
    "explained": explained,
    "checks": checks,
    "reasons": reasons,
    "errors": messages.errors,
    "problems": messages.problems,
}
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
