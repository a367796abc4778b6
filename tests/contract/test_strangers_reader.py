"""A reader of someone else's package, registered by its entry point and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

READER = """
from reverie.transcripts.readers import Opened
from reverie.transcripts.session import Head, Said

class DiaryReader:
    name = "diary"
    places = ("~/.diary",)

    def recognises(self, path, start):
        return 1.0 if start.startswith(b"DIARY") else 0.0

    def read(self, path):
        yield Opened(Head(f"diary:{path.stem}", harness="diary"))
        for line in path.read_text().splitlines()[1:]:
            yield Said("user", line)
"""


def test_a_strangers_reader_is_used_like_ours(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "diary-1.0.dist-info").mkdir(parents=True)
    (site / "diary.py").write_text(READER)
    (site / "diary-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: diary\nVersion: 1.0\n")
    (site / "diary-1.0.dist-info" / "entry_points.txt").write_text("[reverie.readers]\ndiary = diary:DiaryReader\n")
    (tmp_path / "may.diary").write_text("DIARY\nWe planted tomatoes.\n")
    environment = {**os.environ, "PYTHONPATH": str(site), "REVERIE_HOME": str(tmp_path / "home")}

    def reverie(*words: str) -> str:
        command = [sys.executable, "-m", "reverie", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout

    assert "1 session (1 new), 1 turn added" in reverie("sessions", "add", str(tmp_path / "may.diary"))
    assert "diary:may turn 1" in reverie("search", "tomatoes")
