"""What an outsider who means harm can send: it is refused, it costs little, and it gets nothing out of the server."""

from __future__ import annotations

import base64
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from reverie.app import Home
from reverie.server import middleware as guard
from reverie.server import middleware as patience
from tests.serving import Served, serving

STORES = "/v1/memory_stores"


@pytest.fixture
def served(home_on: Home) -> Iterator[Served]:
    with serving(home_on) as server:
        yield server


def raw(served: Served, *sent: bytes, pause: float = 0.0, more: tuple[bytes, ...] = ()) -> bytes:
    """All that comes back until the server closes. `pause` is waited after each piece."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        try:
            for piece in (*sent, *more):
                connection.sendall(piece)
                time.sleep(pause)
            return b"".join(iter(lambda: connection.recv(65536), b""))
        except ConnectionError:
            return b"closed"


def head(served: Served, first: str, *headers: str) -> bytes:
    lines = (first + " HTTP/1.1", "host: 127.0.0.1", f"x-api-key: {served.key}", *headers)
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1")


def test_a_path_that_leads_nowhere_is_not_there(served: Served) -> None:
    for path in (
        f"{STORES}/../",
        f"{STORES}/../../etc/passwd",
        f"{STORES}/%2e%2e%2f",
        f"{STORES}/",
        f"/{STORES}",
        "/docs",
        "/v1//memory_stores",
        "/V1/memory_stores",
        f"{STORES}/%ff",
        f"{STORES}/%ed%a0%80",
        f"{STORES}/%F0%9F%92%A9",
        f"{STORES}/{'a' * 60_000}",
        f"{STORES}/'%22;--",
        f"{STORES}/memstore_x/memories/%2e%2e",
        "*",
        "http://elsewhere.test/healthz",
    ):
        answer = raw(served, head(served, f"GET {path}", "connection: close"))
        assert answer.startswith(b"HTTP/1.1 404") and b'"not_found_error"' in answer, path[:100]


def test_a_query_that_makes_no_sense_is_refused(served: Served) -> None:
    store = served.store()
    for query in (
        "limit=99999999999999999999",
        "limit=-1",
        "limit=1e3",
        "depth=9999999999999999999999",
        "view=all",
        "page=%ff",
        "path_prefix=%ff/",
        "path_prefix=/%00/",
        "page=" + "W1tb" * 5_000,
        "page=" + base64.urlsafe_b64encode(json.dumps(["memories", "\ud800"]).encode()).decode(),
        "page=" + base64.urlsafe_b64encode(b'["memories", 1e999]').decode(),
    ):
        answer = served.call("GET", f"{STORES}/{store}/memories?{query}")
        assert answer.status == 400 and answer.error == "invalid_request_error", query[:100]


def test_json_can_be_nested_deeper_than_anyone_reads(served: Served) -> None:
    def nested(depth: int) -> bytes:
        return b"[" * depth + b"]" * depth

    agent = b'{"name": "a", "model": "b", "tools": [{"type": "custom", "x": %s}]}'
    event = b'{"events": [{"type": "user.message", "content": [{"type": "image", "x": %s}]}]}'
    made = served.call("POST", "/v1/agents", agent % nested(90))
    assert made.status == 200
    place = served.call("POST", "/v1/environments", {"name": "E"}).json["id"]
    session = served.call("POST", "/v1/sessions", {"agent": made.json["id"], "environment_id": place}).json["id"]
    assert served.call("POST", f"/v1/sessions/{session}/events", event % nested(90)).status == 200
    for depth in (150, 900, 50_000):
        for path, body in (("/v1/agents", agent), (f"/v1/sessions/{session}/events", event), (STORES, b'{"name": %s}')):
            answer = served.call("POST", path, body % nested(depth))
            assert answer.status == 400, (path, depth, answer.text)


def test_one_request_holds_so_many_events_and_no_more(served: Served) -> None:
    agent = served.call("POST", "/v1/agents", {"name": "a", "model": "b"}).json["id"]
    place = served.call("POST", "/v1/environments", {"name": "E"}).json["id"]
    session = served.call("POST", "/v1/sessions", {"agent": agent, "environment_id": place}).json["id"]
    for count, status in ((1_000, 200), (1_001, 400)):
        sent = {"events": [{"type": "user.interrupt"}] * count}
        assert served.call("POST", f"/v1/sessions/{session}/events", sent).status == status


def test_who_says_two_things_at_once_is_not_believed(served: Served) -> None:
    """A proxy in front may read the one, we the other."""
    once = ("host: 127.0.0.1", f"x-api-key: {served.key}", "reverie-user: bob", "anthropic-workspace-id: local")
    for header in (*once, "authorization: Bearer x"):
        answer = raw(served, head(served, f"GET {STORES}", header, header, "connection: close"))
        assert answer.startswith(b"HTTP/1.1 400"), header


def test_a_request_cannot_hide_in_the_body_of_another(served: Served) -> None:
    first = head(served, f"POST {STORES}", "content-length: 5", "transfer-encoding: chunked")
    answer = raw(served, first + b"0\r\n\r\n" + head(served, "GET /healthz"))
    assert answer.startswith(b"HTTP/1.1 400") and answer.count(b"HTTP/1.1") == 1


def test_a_host_or_an_origin_that_is_none_is_refused(served: Served) -> None:
    for host in ("evil@127.0.0.1", "localhost.evil.test", "2130706433", "[::1", "127.0.0.1/x", "localhost:x", "a b"):
        answer = raw(served, f"GET /healthz HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n".encode())
        assert answer.startswith((b"HTTP/1.1 403", b"HTTP/1.1 400")), host
    for origin in ("null", "http://[::1", "http://127.0.0.1.evil.test", "127.0.0.1", "\u00e9"):
        assert served.call("GET", STORES, headers={"origin": origin}).status == 403, origin


def test_two_users_are_never_one_because_of_how_they_are_written(served: Served) -> None:
    for name in ("%ff", "%fe", "%ed%a0%80", "a%00b", "\u00ff", "%0a", "x" * 300):
        assert served.call("GET", STORES, headers={"reverie-user": name}).status == 400, name


def test_made_up_methods_are_counted_as_one(served: Served) -> None:
    for number in range(5):
        assert served.call(f"FOO{number}", "/healthz").status == 405
    assert "FOO" not in served.call("GET", "/metrics").text


def test_a_body_that_does_not_come_is_not_waited_for(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.3)
    for length in ("content-length: 50", "transfer-encoding: chunked"):
        answer = raw(served, head(served, f"POST {STORES}", "content-type: application/json", length), b"5\r\n{")
        assert answer.startswith(b"HTTP/1.1 408") and b'"timeout_error"' in answer, "and the connection is closed"
    too_much = f"content-length: {2 * guard.LARGEST_BODY}"
    assert raw(served, head(served, f"POST {STORES}", too_much), b"{").startswith(b"HTTP/1.1 413")
    upload = raw(served, head(served, f"POST {guard.IMPORTING}", "content-length: 50"), b"{")
    assert upload.startswith(b"HTTP/1.1 408")


def test_a_body_that_comes_a_byte_at_a_time_wins_no_time(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.5)
    first = head(served, f"POST {STORES}", "content-type: application/json", "content-length: 500")
    answer = raw(served, first, more=tuple(b" " for _ in range(20)), pause=0.1)
    assert answer == b"closed" or answer.startswith(b"HTTP/1.1 408")


def test_a_head_that_does_not_come_is_not_waited_for(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "HEAD_SECONDS", 1)
    assert raw(served) == b"", "who says nothing"
    assert raw(served, b"GET /healthz HTTP/1.1\r\nhost:") == b"", "who stops in the middle"
    answered = raw(served, head(served, "GET /healthz"), b"GET /hea", pause=0.2)
    assert answered.startswith(b"HTTP/1.1 200") and answered.count(b"HTTP/1.1") == 1, "the second time, too"


def test_who_was_heard_may_listen_as_long_as_it_takes(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = served.call("POST", "/v1/agents", {"name": "a", "model": "b"}).json["id"]
    place = served.call("POST", "/v1/environments", {"name": "E"}).json["id"]
    session = served.call("POST", "/v1/sessions", {"agent": agent, "environment_id": place}).json["id"]
    monkeypatch.setattr(guard, "BODY_SECONDS", 1)
    monkeypatch.setattr(patience, "HEAD_SECONDS", 1)
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        connection.sendall(head(served, f"GET /v1/sessions/{session}/events/stream"))
        time.sleep(2)
        monkeypatch.undo()
        assert served.call("DELETE", f"/v1/sessions/{session}").status == 200
        got = b""
        while b"session.deleted" not in got:
            got += connection.recv(65536)


def test_two_credentials_in_one_request_are_refused(served: Served) -> None:
    both = {"authorization": f"Bearer {served.key}"}
    answer = served.call("GET", STORES, headers=both)
    assert answer.status == 400 and "Two credentials" in answer.text
    assert served.call("GET", STORES, key="", headers=both).status == 200


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "a", "name": "b"}',
        b'{"name": "a", "metadata": {"x": "1", "\\u0078": "2"}}',
        json.dumps({"name": "a"}).encode("utf-16"),
        json.dumps({"name": "a"}).encode("utf-16-le"),
        json.dumps({"name": "a"}).encode("utf-32-be"),
        b'{"name": "\xff"}',
        b'{"name": "\xed\xa0\x80"}',
    ],
)
def test_a_body_that_can_be_read_in_two_ways_is_refused(served: Served, body: bytes) -> None:
    answer = served.call("POST", STORES, body)
    assert answer.status == 400 and answer.error == "invalid_request_error"
    assert served.call("GET", STORES).json["data"] == []


def test_lines_of_a_head_end_in_one_way(served: Served) -> None:
    whole = head(served, "GET /healthz", "connection: close")
    assert raw(served, whole).startswith(b"HTTP/1.1 200")
    for bare in (whole.replace(b"\r\n", b"\n"), whole.replace(b"\r\nhost", b"\nhost"), whole[:-2] + b"\n"):
        assert raw(served, bare).startswith(b"HTTP/1.1 400")
    split = whole.replace(b"connection: close", b"x: y") + b"GET /healthz HTTP/1.1\nhost: 127.0.0.1\n\n"
    assert raw(served, split).count(b"HTTP/1.1 400") == 1


def test_metrics_need_a_key_from_elsewhere(home: Home) -> None:
    with serving(home) as served:
        assert served.call("GET", "/metrics", key="").status == 200
        for sign in ({"x-forwarded-for": "203.0.113.9"}, {"forwarded": "for=203.0.113.9"}):
            assert served.call("GET", "/metrics", key="", headers=sign).status == 401
            assert served.call("GET", "/metrics", headers=sign).status == 200
        assert served.call("GET", "/healthz", key="", headers={"x-forwarded-for": "203.0.113.9"}).status == 200


@pytest.mark.parametrize("given", [{"names": ["memory.example"]}, {"root_path": "/memory"}, {"names": ["0.0.0.0"]}])
def test_metrics_need_a_key_from_everywhere_where_others_reach_the_server(home: Home, given: dict[str, Any]) -> None:
    with serving(home, **given) as served:  # a proxy here may ask for 127.0.0.1 and say nothing of itself
        assert served.call("GET", "/metrics", key="").status == 401
        assert served.call("GET", "/metrics").status == 200


def test_a_database_that_is_sent_is_not_opened(served: Served) -> None:
    for query in ("", "?reader=hermes", "?filename=state.db&reader=hermes"):
        answer = served.call("POST", f"{guard.IMPORTING}{query}", b"SQLite format 3\0" + b"\0" * 4096)
        assert answer.status == 400 and "SQLite" in answer.text
