"""The real OpenClaw with its gateway, as people run it: what they say goes to a process that stays."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from reverie.testing.model_server import Server
from tests.peers import NODE, OPENCLAW, npm_program
from tests.peers.agents import CodingAgent

TOKEN = "hooks-only-hooks-only-hooks-only"
_MODEL = {"id": "scripted", "name": "Scripted", "contextWindow": 128_000, "maxTokens": 4_096}


def made(folder: Path, server: Server, **more: Any) -> tuple[CodingAgent, str]:
    """OpenClaw with settings of its own, and the address of its gateway."""
    program = npm_program(OPENCLAW, "openclaw", NODE)
    agent = CodingAgent(program, folder, {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"})
    provider = {"baseUrl": server.openai_url, "apiKey": "sk-test", "api": "openai-completions", "models": [_MODEL]}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings: Mapping[str, Any] = {
        "gateway": {"mode": "local", "bind": "loopback", "port": port, "auth": {"mode": "token", "token": "t"}},
        "models": {"providers": {"scripted": provider}},
        "agents": {"defaults": {"model": {"primary": "scripted/scripted"}}},
        **more,
    }
    agent.write("home/.openclaw/openclaw.json", settings)
    return agent, f"http://127.0.0.1:{port}"


@contextmanager
def gateway(agent: CodingAgent) -> Iterator[None]:
    agent.work.mkdir(exist_ok=True)
    log, variables = agent.folder / "gateway.log", {"HOME": str(agent.home), **agent.variables}
    command = [agent.program, "gateway", "run"]
    with (
        log.open("w") as out,
        subprocess.Popen(command, stdout=out, stderr=out, cwd=agent.work, env=variables) as process,
    ):
        try:
            wait_until(lambda: "starting channels" in log.read_text() or process.poll() is not None)
            assert process.poll() is None, log.read_text()[-1500:]
            yield
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):  # it waits five minutes for work that is under way
                process.wait(20)
            process.kill()


def say(agent: CodingAgent, *said: str) -> None:
    for words in said:
        agent.run("agent", "--agent", "main", "--message", words)


def wait_until(happened: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)
