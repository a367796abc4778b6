"""A process that collects garbage answers nobody: what a server has loaded is not looked through each time."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from reverie.app import open_home

SERVE = """
import gc, json, runpy, signal
signal.signal(signal.SIGUSR1, lambda *_: print(json.dumps([len(gc.get_objects()), gc.get_freeze_count()]), flush=True))
runpy.run_module("reverie", run_name="__main__", alter_sys=True)
"""


def test_a_server_that_collects_garbage_looks_at_little(tmp_path: Path) -> None:
    open_home(tmp_path / "home").close()
    words = ["serve", "--home", str(tmp_path / "home"), "--port", "0", "--dreams", "0"]
    server = subprocess.Popen([sys.executable, "-c", SERVE, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        assert "http://" in server.stdout.readline()
        server.send_signal(signal.SIGUSR1)
        for line in server.stdout:
            if line.startswith("["):
                looked_at, left_alone = json.loads(line)
                break
        assert looked_at * 20 < left_alone
    finally:
        server.terminate()
        server.communicate()
