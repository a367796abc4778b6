"""`reverie serve` where others can reach it: encrypted if it is given a certificate, and with a warning if not."""

from __future__ import annotations

import http.client
import re
import shutil
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from reverie.app import open_home
from reverie.cli.serve import serve
from reverie.core.scope import Permission


@contextmanager
def served(home: Path, *words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    serve = [sys.executable, "-m", "reverie", "serve", "--home", str(home), "--port", "0", "--dreams", "0", *words]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline(), server
    finally:
        server.terminate()
        server.communicate()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with open_home(tmp_path / "home") as home:
        home.keys.create("a test", frozenset({Permission.READ}))
    return tmp_path / "home"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_with_a_certificate_it_speaks_https(place: Path, tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
        "/CN=127.0.0.1",
        "-days",
        "2",
        "-keyout",
        key,
        "-out",
        cert,
    ]
    subprocess.run(make, check=True, capture_output=True)
    with served(place, "--tls-cert", str(cert), "--tls-key", str(key)) as (said, _):
        found = re.search(r"https://127\.0\.0\.1:(\d+)", said)
        assert found, said
        trusted = ssl.create_default_context()
        trusted.check_hostname, trusted.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", int(found[1]), timeout=30, context=trusted)
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        connection.close()


def test_without_one_it_warns_where_others_can_reach_it(place: Path) -> None:
    with served(place, "--host", "0.0.0.0") as (said, server):
        assert "http://0.0.0.0:" in said and server.stderr is not None
        assert "without TLS" in server.stderr.readline()


def test_files_that_do_not_fit_are_said_at_once(place: Path, tmp_path: Path) -> None:
    (tmp_path / "cert.pem").write_text("no certificate")
    for words in (["--tls-cert", "cert.pem"], ["--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", "missing.pem"]):
        result = CliRunner().invoke(serve, ["--home", str(place), *words])
        assert result.exit_code != 0 and "tls" in str(result.exception).lower()


def test_it_says_where_people_review_and_they_find_a_login_there(place: Path) -> None:
    with served(place, "--root-path", "/memory") as (_, server):
        assert server.stdout is not None
        address = server.stdout.readline().split()[6]
        assert address.endswith("/memory/web/")
        with urllib.request.urlopen(address) as answer:
            assert "key" in answer.read().decode() and answer.status == 200
