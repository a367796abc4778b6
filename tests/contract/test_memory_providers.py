"""Mem0's library and Hindsight's client in environments of their own, as broader memories."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import pytest

from reverie.app import open_home
from reverie.core.errors import NotReached
from reverie.harnesses.providers import ProcessProvider
from reverie.testing.model_server import Server, serving
from reverie.text.embedding import embed
from tests.peers import HINDSIGHT, HINDSIGHT_SERVER, MEM0, POSTGRES, python_with
from tests.peers.openclaw import wait_until
from tests.sizes import LEVEL

pytestmark = pytest.mark.peer


def test_what_is_demoted_to_mem0_is_found_there_and_not_learnt_again(tmp_path: Path) -> None:
    """Only who embeds is scripted: the endpoint answers with the built-in embedder."""
    dimensions = embed(["x"]).shape[1]
    with serving() as server:
        endpoint = {"model": "scripted", "api_key": "sk-test", "openai_base_url": server.openai_url}
        vectors = {"path": str(tmp_path / "vectors"), "on_disk": True, "embedding_model_dims": dimensions}
        config = {
            "vector_store": {"provider": "qdrant", "config": vectors},
            "embedder": {"provider": "openai", "config": endpoint | {"embedding_dims": dimensions}},
            "llm": {"provider": "openai", "config": endpoint},
            "history_db_path": str(tmp_path / "history.db"),
        }
        settings = tmp_path / "mem0.json"
        settings.write_text(json.dumps({"python": str(python_with(MEM0)), "config": config}))
        with open_home(tmp_path / "home", settings={"providers": f"mem0={settings}", "owner": "ann"}) as home:
            kept = home.providers.add("Use pnpm, never npm.")
            home.providers.add("The old printer was a Brother HL-2030.")
            first = home.providers.search("Always use pnpm and never npm", 1)
            assert [(one.provider, one.id, one.text) for one in first] == [("mem0", kept.id, "Use pnpm, never npm.")]
            home.sessions.add({"id": "s1", "messages": [{"role": "user", "content": "Remember: use pnpm, never npm."}]})
            assert "already" in home.dream("home").diary.lower()
            assert list(home.memory.entries("home")) == []
        assert not any(asked.path.endswith("/chat/completions") for asked in server.asked), "a model was asked"


def test_a_mem0_that_does_not_start_is_said_so(tmp_path: Path) -> None:
    settings = {"config": {"vector_store": {"provider": "nonsense"}}, "user_id": "ann"}
    provider = ProcessProvider("Mem0", str(python_with(MEM0)), settings)
    with pytest.raises(NotReached, match="Mem0: "):
        provider.search("anything", 1)


class Bank(BaseHTTPRequestHandler):
    """The two endpoints of Hindsight's server that are used, as its own client knows them; it rewrites nothing."""

    kept: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path.startswith("/v1/default/banks/ann/memories") and self.headers["Authorization"] == "Bearer key"
        if self.path.endswith("/recall"):
            told: dict[str, object] = {"results": [{"id": str(at), "text": text} for at, text in enumerate(self.kept)]}
        else:
            self.kept.extend(item["content"] for item in body["items"])
            told = {"success": True, "bank_id": "ann", "items_count": len(body["items"]), "async": False}
        content = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def postgres(python: Path, folder: Path) -> Iterator[str]:
    """The one that Hindsight brings; it does not run as root."""
    program = folder / "pg0"
    folder.mkdir()
    source = "import pg0, pathlib; print(pathlib.Path(pg0.__file__).with_name('bin') / 'pg0')"
    shutil.copy(subprocess.check_output([python, "-c", source], text=True).strip(), program)
    nobody = {"user": 65_534, "group": 65_534} if os.getuid() == 0 else {}
    if nobody:
        os.chown(folder, 65_534, 65_534)

    def run(*words: str) -> None:
        variables = {"HOME": str(folder), "PATH": os.environ["PATH"]}
        done = subprocess.run(
            [program, *words], env=variables, cwd=folder, capture_output=True, text=True, check=False, **nobody
        )
        assert done.returncode == 0, done.stdout + done.stderr

    port = free_port()
    run("start", "--port", str(port), "--username", "ann", "--password", "secret", "--database", "bank")
    try:
        yield f"postgresql://ann:secret@127.0.0.1:{port}/bank"
    finally:
        run("stop")


@pytest.mark.skipif(not LEVEL, reason="not run: Hindsight's server takes 1.4 GB")
def test_a_real_server_of_hindsight_keeps_and_finds_what_is_not_learnt_again() -> None:
    """Without a model it keeps what it is given as it is. Only who embeds is scripted."""
    python = python_with(HINDSIGHT_SERVER, [HINDSIGHT, POSTGRES])
    with TemporaryDirectory(prefix="hindsight-", dir="/tmp") as made, serving() as server:
        folder = Path(made)
        folder.chmod(0o755)
        with postgres(python, folder / "postgres") as database, hindsight(python, folder, database, server) as url:
            settings = folder / "hindsight.json"
            settings.write_text(json.dumps({"python": str(python), "base_url": url}))
            with open_home(folder / "home", settings={"providers": f"hindsight={settings}", "owner": "ann"}) as home:
                home.providers.add("Use pnpm, never npm.")
                home.providers.add("The old printer was a Brother HL-2030.")
                found = home.providers.search("Always use pnpm and never npm", 1)
                assert [(one.provider, one.text) for one in found] == [("hindsight", "Use pnpm, never npm.")]
                said = {"role": "user", "content": "Remember: use pnpm, never npm."}
                home.sessions.add({"id": "s1", "messages": [said]})
                assert "already" in home.dream("home").diary.lower()
                assert list(home.memory.entries("home")) == [] and home.providers.failed == {}


@contextmanager
def hindsight(python: Path, folder: Path, database: str, server: Server) -> Iterator[str]:
    port, log = free_port(), folder / "hindsight.log"
    said = {
        "DATABASE_URL": database,
        "LLM_PROVIDER": "none",
        "RERANKER_PROVIDER": "rrf",
        "EMBEDDINGS_PROVIDER": "openai",
        "EMBEDDINGS_OPENAI_API_KEY": "sk-test",
        "EMBEDDINGS_OPENAI_BASE_URL": server.openai_url,
        "EMBEDDINGS_OPENAI_MODEL": "scripted",
    }
    variables = {f"HINDSIGHT_API_{name}": text for name, text in said.items()}
    command = [python.with_name("hindsight-api"), "--host", "127.0.0.1", "--port", str(port)]
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], **variables}
    with (
        log.open("w") as out,
        subprocess.Popen(command, stdout=out, stderr=out, cwd=folder, env=environment) as process,
    ):
        try:
            wait_until(lambda: "Application startup complete" in log.read_text() or process.poll() is not None)
            assert process.poll() is None, log.read_text()[-1500:]
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def test_hindsights_own_client_keeps_and_finds(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Bank) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        told = {"python": str(python_with(HINDSIGHT)), "base_url": f"http://127.0.0.1:{server.server_address[1]}"}
        settings = tmp_path / "hindsight.json"
        settings.write_text(json.dumps(told | {"api_key": "key"}))
        with open_home(tmp_path / "home", settings={"providers": f"hindsight={settings}", "owner": "ann"}) as home:
            home.providers.add("Use pnpm, never npm.")
            [found] = home.providers.search("pnpm or npm")
            assert (found.provider, found.text, home.providers.failed) == ("hindsight", "Use pnpm, never npm.", {})
        server.shutdown()
        thread.join()
