"""Documentation that cannot go stale."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import reverie
from reverie.dreams.verify.checks import CHECKS
from reverie.dreams.verify.reasons import Reason
from reverie.harnesses.installers import installers
from reverie.integrations.hermes.commands import COMMANDS
from reverie.integrations.mcp_server import TOOLS
from reverie.testing.bad_curators import BAD_CURATORS
from reverie.transcripts.readers import readers

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_generated_parts_are_what_the_code_says_now() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_reader_is_documented() -> None:
    formats = (ROOT / "docs" / "formats.md").read_text()
    assert [reader.name for reader in readers() if f"`{reader.name}`" not in formats] == []


def test_every_target_is_documented() -> None:
    page = (ROOT / "docs" / "memory.md").read_text()
    assert [point.name for point in entry_points(group="reverie.targets") if f"`{point.name}`" not in page] == []


def test_every_command_of_the_hermes_plugin_is_documented() -> None:
    page = (ROOT / "docs" / "hermes.md").read_text()
    assert [name for name in COMMANDS if f"| `{name}` |" not in page] == []


def test_every_installer_and_every_tool_of_an_agent_is_documented() -> None:
    page = (ROOT / "docs" / "agents.md").read_text()
    assert [name for name in installers() if f"install {name}" not in page and f"--agent {name}" not in page] == []
    assert [tool.name for tool in TOOLS if f"`{tool.name}`" not in page] == []


def test_every_check_and_every_reason_of_a_night_is_documented() -> None:
    page = (ROOT / "docs" / "dreams.md").read_text()
    assert [name for name in (*(one.name for one in CHECKS), *Reason) if f"| `{name}` |" not in page] == []


def test_every_bad_curator_is_documented() -> None:
    page = (ROOT / "docs" / "models.md").read_text()
    assert [name for name in BAD_CURATORS if f"| {name} |" not in page] == []


def test_every_public_name_is_documented() -> None:
    documented = "\n".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    found = set(re.findall(r"\breverie\.(\w+)", documented))
    assert [name for name in reverie.__all__ if name not in found] == []


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_is_reachable_from_the_readme() -> None:
    linked = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    }
    index = ROOT / "docs" / "index.md"  # the pages of the site, by name
    linked |= {(index.parent / f"{name}.md").resolve() for name in re.findall(r"^[\w/-]+$", index.read_text(), re.M)}
    orphans = [page.name for page in PAGES[1:] if page.resolve() not in linked and page.parent.name != "decisions"]
    assert orphans == []


def test_the_pictures_are_few_and_small() -> None:
    sizes = {path.name: path.stat().st_size for path in (ROOT / "docs").rglob("*.png")}
    assert len(sizes) <= 20 and max(sizes.values()) < 60_000, sizes
