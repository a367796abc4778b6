"""Makes docs/stories.md anew: runs the contract tests of the agents named and writes down what was typed and shown.

python docs/stories.py claude codex hermes        # also openclaw, gemini, opencode
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "stories.md"
TESTS = {
    "claude": ("Claude Code 2.1.197", "test_claude_code_installed.py"),
    "codex": ("Codex 0.166.0", "test_codex_installed.py"),
    "hermes": ("Hermes 0.19.0", "test_hermes_installed.py"),
    "openclaw": ("OpenClaw 2026.9.6", "test_openclaw_installed.py -k in_openclaw"),
    "gemini": ("Gemini CLI 0.61.0", "test_gemini_and_opencode_installed.py -k gemini_cli"),
    "opencode": ("opencode 1.18.33", "test_gemini_and_opencode_installed.py -k in_opencode"),
}
HEAD = """\
# Three minutes with each agent

What was typed and shown when the real programs ran against a scripted model, written down by the contract tests
(`python docs/stories.py claude codex hermes` runs them and makes this page anew). The person corrects the agent, a
night learns from it, the next session has it, the agent uses the tools, and everything comes out again. The night
is put off until the corrections are made; left alone, it begins when the first session ends.
"""


def recorded(agent: str) -> str:
    """What was typed and shown; ends here if the test fails."""
    with tempfile.TemporaryDirectory() as folder:
        words = f"{sys.executable} -m pytest -n 0 -q tests/contract/{TESTS[agent][1]}".split()
        environment = {**os.environ, "REVERIE_RECORD": folder, "REVERIE_SOAK": "short"}
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{agent}: {done.stdout[-3000:]}")
        told = Path(folder, f"{agent}.txt").read_text("utf-8")
        return told.replace("$ show-request\n", "# what it then sends to its model:\n")


def main(agents: list[str]) -> None:
    old = PAGE.read_text("utf-8") if PAGE.exists() else ""
    known = dict(re.findall(r"^## (.+?)\n\n```text\n(.*?)```$", old, re.DOTALL | re.MULTILINE))
    known |= {TESTS[agent][0]: recorded(agent) for agent in agents}
    sections = [f"## {title}\n\n```text\n{known[title]}```\n" for title, _ in TESTS.values() if title in known]
    PAGE.write_text("\n".join([HEAD, *sections]), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or ["claude", "codex", "hermes"])
