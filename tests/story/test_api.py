"""The server as anyone with a socket meets it: errors, hosts, sizes, limits, counts, logs."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from reverie.app import Home
from reverie.core.scope import Permission
from reverie.server.caller import CallLimits, House, Sharing
from reverie.server.wire import Problem
from tests.conftest import HomeMaker
from tests.serving import Served, serving

STORES = "/v1/memory_stores"


@pytest.fixture
def served(home: Home) -> Iterator[Served]:
    with serving(home, names=["memory.example"]) as server:
        yield server


def test_every_error_is_in_the_envelope_and_has_the_id_of_its_request(served: Served) -> None:
    for answer, status, kind in (
        (served.call("GET", "/nothing"), 404, "not_found_error"),
        (served.call("PUT", STORES, {}), 405, "invalid_request_error"),
        (served.call("POST", STORES, b"{not json"), 400, "invalid_request_error"),
        (served.call("POST", STORES, b""), 400, "invalid_request_error"),
        (served.call("POST", STORES, {"name": 3}), 400, "invalid_request_error"),
        (served.call("POST", STORES, {"name": "\ud800"}), 400, "invalid_request_error"),
        (served.call("GET", f"{STORES}?limit=101"), 400, "invalid_request_error"),
        (served.call("GET", f"{STORES}?created_at[gte]=yesterday"), 400, "invalid_request_error"),
        (served.call("GET", f"{STORES}/memstore_%00"), 400, "invalid_request_error"),
        (served.call("GET", f"{STORES}?created_at[gte]=0001-01-01T00:00:00%2B14:00"), 400, "invalid_request_error"),
        (served.call("GET", STORES, key="rvk_no"), 401, "authentication_error"),
        (served.call("GET", STORES, key=""), 401, "authentication_error"),
        (served.call("GET", STORES, headers={"host": "evil.example"}), 403, "permission_error"),
    ):
        told = answer.json
        assert (answer.status, told["type"], told["error"]["type"]) == (status, "error", kind), answer.text
        assert told["error"]["message"] and told["request_id"] == answer.headers["request-id"]


def test_names_that_are_not_ours_and_pages_of_others_are_refused(served: Served) -> None:
    port = served.port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", "memory.example", "MEMORY.example:80"):
        assert served.call("GET", STORES, headers={"host": host}).status == 200, host
    for host in (f"evil.example:{port}", "localhost.evil.example", "", "127.0.0.1.evil.example", "a b"):
        assert served.call("GET", "/healthz", headers={"host": host or "?"}).status == 403, host
    assert served.call("GET", STORES, headers={"origin": "http://evil.example"}).status == 403
    assert served.call("GET", STORES, headers={"origin": "null"}).status == 403
    own = {"origin": f"http://127.0.0.1:{port}", "host": f"127.0.0.1:{port}"}
    assert served.call("GET", STORES, headers=own).status == 200


def test_a_body_that_is_too_large_is_refused_and_said_so(served: Served) -> None:
    answer = served.call("POST", STORES, b" " * (1024 * 1024 + 1))
    assert (answer.status, answer.error) == (413, "invalid_request_error")


def test_a_body_without_a_length_is_cut_off_too(served: Served) -> None:
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    head = f"POST {STORES} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {served.key}\r\ncontent-type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as raw:
        raw.sendall(head.encode() + b"transfer-encoding: chunked\r\n\r\n" + chunk * 17)
        assert b" 413 " in raw.recv(65536).split(b"\r\n")[0]


def test_the_largest_memory_fits_however_it_is_escaped(served: Served) -> None:
    store = served.store()
    made = served.memory(store, "/a", "\x01" * 102_400)
    assert made["content_size_bytes"] == 102_400


def test_a_key_that_calls_too_often_is_told_when_to_come_back(home: Home) -> None:
    with serving(home, CallLimits(per_second=0.5, burst=3)) as served:
        answers = [served.call("GET", STORES) for _ in range(4)]
        assert [answer.status for answer in answers] == [200, 200, 200, 429]
        assert answers[-1].error == "rate_limit_error"
        assert answers[-1].headers["retry-after"] == "2"
        assert 1 < int(answers[-1].headers["retry-after-ms"]) <= 2000
        assert served.call("GET", STORES, key=served.new_key("read")).status == 200, "each key for itself"


def test_two_servers_on_one_database_admit_what_one_would(homes: HomeMaker, database: str) -> None:
    """Each as a process of its own would be. What both admit in the same moment is paid back by both."""
    houses = [House(homes(database=database)) for _ in range(2)]
    key, now = houses[0].keys.create("a key", {Permission.READ}).key, [0.0]
    both = [CallLimits(per_second=10, burst=20, now=lambda: now[0]) for _ in houses]
    shared = [
        Sharing(limits, lambda _, calls, house=house: house.keys.called(calls))
        for limits, house in zip(both, houses, strict=True)
    ]
    admitted = 0
    for tick in range(4 * 60):
        now[0] = tick / 4
        for limits, sharing in zip(both, shared, strict=True):
            for _ in range(8):  # 64 calls a second are tried
                try:
                    with limits.admitted(key.id):
                        admitted += 1
                except Problem as refused:
                    assert refused.status == 429 and int(refused.headers["retry-after"]) <= 5
            sharing.share()
    assert 10 * 60 <= admitted <= 10 * 60 + 2 * 20 + 16, "one bucket, filled once, and what was admitted unseen"
    now[0] += 3600
    with both[0].admitted(key.id), both[1].admitted(key.id):
        shared[0].share(), shared[1].share()
    with both[0].admitted(key.id), both[1].admitted(key.id):
        pass  # what was long ago is forgotten


def test_a_key_has_so_many_calls_at_once_and_no_more() -> None:
    limits = CallLimits(at_once=1)
    with limits.admitted("a"), limits.admitted("b"), pytest.raises(Exception, match="running"), limits.admitted("a"):
        pass
    with limits.admitted("a"):
        pass


def test_who_runs_it_can_ask_how_it_is_without_a_key(home: Home) -> None:
    with serving(home) as served:
        store = served.store()
        assert served.call("GET", "/healthz", key="").json == {"status": "ok"}
        assert served.call("GET", "/readyz", key="").json == {"status": "ok"}
        told = served.call("GET", "/metrics", key="").text
    assert 'reverie_http_requests_total{method="POST",route="/v1/memory_stores",status="200"} 1' in told
    assert 'reverie_http_request_seconds_count{method="POST",route="/v1/memory_stores"} 1' in told
    assert store not in told and "local" not in told


def test_what_is_logged_says_who_and_how_long_and_nothing_of_what(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "reverie.server")
    store = served.store(name="canary-name", metadata={"canary-key": "canary-value"})
    made = served.memory(store, "/canary-path", "canary-content")
    served.call("GET", f"{STORES}/{store}/memories?path_prefix=/canary-prefix/")
    served.call("POST", f"{STORES}/{store}/memories", {"path": "/canary-path", "content": "canary"})
    until(lambda: len(caplog.records) >= 4)  # a line is written behind the answer
    lines = [json.loads(record.message) for record in caplog.records if record.name == "reverie.server"]
    assert [line["status"] for line in lines] == [200, 200, 200, 409]
    assert lines[1]["route"] == "/v1/memory_stores/{memory_store_id}/memories"
    assert {"request_id", "method", "route", "status", "ms", "workspace", "key"} == set(lines[1])
    assert "canary" not in caplog.text and served.key not in caplog.text and made["id"] not in caplog.text


def test_what_breaks_inside_is_named_and_not_shown(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "reverie.server")
    from sqlalchemy import text

    store = served.store()
    with served.house.home.engine.begin() as connection:
        connection.execute(text("update memory_stores set details = 'canary not json'"))
    answer = served.call("GET", f"{STORES}/{store}")
    assert (answer.status, answer.error) == (500, "api_error")
    until(lambda: len(caplog.records) >= 2)
    assert "canary" not in answer.text and "canary" not in caplog.text
    assert "JSONDecodeError" in caplog.text and answer.headers["request-id"] in caplog.text


def until(there: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not there():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_openapi_describes_every_route_and_its_errors(served: Served) -> None:
    told = served.call("GET", "/openapi.json", key="").json
    operations = [one for path in told["paths"].values() for one in path.values()]
    assert operations
    for one in operations:
        assert "422" not in one["responses"] and one["operationId"] and one["tags"]
    for path, methods in told["paths"].items():
        for one in methods.values():
            if path.startswith("/v1/"):
                assert {"bearer", "x-api-key"} == {name for way in one["security"] for name in way}
                if path.endswith("/stream"):
                    assert list(one["responses"]["200"]["content"]) == ["text/event-stream"]
                else:
                    assert "$ref" in one["responses"]["200"]["content"]["application/json"]["schema"]
                assert one["responses"]["404"]["content"]["application/json"]["schema"]["$ref"].endswith("/Error")
