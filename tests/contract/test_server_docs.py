"""The examples of docs/server.md, run as they stand: Python with the real SDK, bash with curl."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.app import Home, open_home
from reverie.core.clock import TimeSpan
from reverie.core.scope import Scope
from tests.peers import ANTHROPIC, python_with
from tests.serving import serving

PAGE = (Path(__file__).parents[2] / "docs" / "server.md").read_text()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """With the time of day: the page asks for yesterday."""
    with open_home(tmp_path / "home", settings={"owner": "ann"}) as opened:
        yield opened


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.peer
def test_the_python_of_the_page_runs(home: Home, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks("python")))
    command = tmp_path / "bin" / "reverie"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m reverie "$@"\n')
    command.chmod(0o755)
    with serving(home) as served:
        told = {
            "ANTHROPIC_BASE_URL": served.url,
            "REVERIE_HOME": str(home.config.home),
            "ANTHROPIC_API_KEY": served.new_key("write", "dream", "review", user="ann"),
            "PATH": f"{command.parent}:{os.environ['PATH']}",
        }
        done = subprocess.run(
            [str(python_with(ANTHROPIC)), str(script)],
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
            env=os.environ | told,
        )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "modified /team/style.md Prices without VAT." in done.stdout
    assert done.stdout.count("Moving the database") == 1 and "session.status_idle" in done.stdout
    assert "completed memstore_" in done.stdout and "tomorrow's store: memstore_" in done.stdout
    assert "Staging is db2.internal from today on." in [hit.text for hit in home.search("which host is staging?")]
    for number in range(24):
        stores = home.tenants.stores(Scope("local", f"user-{number}", "test"))
        new, old = stores.find(TimeSpan())
        pages = [[one.content for one in stores.memories(each.id, full=True)] for each in (old, new)]  # type: ignore[union-attr]
        assert pages == [[b"- Staging is old.internal.\n"], [f"- Staging is db{number}.internal.\n".encode()]], number


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="not run: needs curl and jq")
def test_the_bash_of_the_page_runs(home: Home, tmp_path: Path) -> None:
    commands = 'reverie() { "$PYTHON" -m reverie "$@"; }\n' + "\n".join(blocks("bash"))
    with serving(home) as served:
        told = {"ANTHROPIC_BASE_URL": served.url, "REVERIE_HOME": str(home.config.home), "PYTHON": sys.executable}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
            env=os.environ | told,
            cwd=tmp_path,
        )
    assert done.returncode == 0, (done.stdout, done.stderr[-3000:])
    assert "bobs-phone" in done.stdout and "We ship on Fridays." in done.stdout
    assert "+- We ship on Fridays." in done.stdout and "accepted" in done.stdout
    imported = json.loads(done.stdout[done.stdout.rindex('{\n  "new"') :])
    assert imported == json.loads(blocks("json")[0])
    assert {one.user for one in home.sessions.find() if one.head.id.startswith("shop")} == {"", "bob"}
