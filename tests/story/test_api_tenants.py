"""Nobody sees a byte of anyone else: every route there is, with the ids of others and with too small a key.

The routes come from OpenAPI. A new one fails here until it says in `NEEDS` what key it takes.
"""

from __future__ import annotations

import http.client
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from reverie.app import Home
from reverie.core.scope import Permission
from reverie.server.app import api_application
from reverie.server.caller import House
from tests.serving import Answer, Served, serving

STORE = "/v1/memory_stores/{memory_store_id}"
MEMORY, VERSION = f"{STORE}/memories/{{memory_id}}", f"{STORE}/memory_versions/{{memory_version_id}}"
AGENT, PLACE, SESSION = "/v1/agents/{agent_id}", "/v1/environments/{environment_id}", "/v1/sessions/{session_id}"
THREAD, RESOURCE = f"{SESSION}/threads/{{session_thread_id}}", f"{SESSION}/resources/{{resource_id}}"
IMPORT = "/v1/reverie/sessions/import"
DREAM = "/v1/dreams/{dream_id}"
NEEDS = {
    ("POST", "/v1/memory_stores"): "write",
    ("GET", "/v1/memory_stores"): "read",
    ("GET", STORE): "read",
    ("POST", STORE): "write",
    ("POST", f"{STORE}/archive"): "write",
    ("DELETE", STORE): "write",
    ("POST", f"{STORE}/memories"): "write",
    ("GET", f"{STORE}/memories"): "read",
    ("GET", MEMORY): "read",
    ("POST", MEMORY): "write",
    ("DELETE", MEMORY): "write",
    ("GET", f"{STORE}/memory_versions"): "read",
    ("GET", VERSION): "read",
    ("POST", f"{VERSION}/redact"): "write",
    ("POST", "/v1/agents"): "write",
    ("GET", "/v1/agents"): "read",
    ("GET", AGENT): "read",
    ("POST", AGENT): "write",
    ("POST", f"{AGENT}/archive"): "write",
    ("DELETE", AGENT): "write",
    ("GET", f"{AGENT}/versions"): "read",
    ("POST", "/v1/environments"): "write",
    ("GET", "/v1/environments"): "read",
    ("GET", PLACE): "read",
    ("POST", PLACE): "write",
    ("POST", f"{PLACE}/archive"): "write",
    ("DELETE", PLACE): "write",
    ("POST", "/v1/sessions"): "write",
    ("GET", "/v1/sessions"): "read",
    ("GET", SESSION): "read",
    ("POST", SESSION): "write",
    ("POST", f"{SESSION}/archive"): "write",
    ("DELETE", SESSION): "write",
    ("POST", f"{SESSION}/events"): "write",
    ("GET", f"{SESSION}/events"): "read",
    ("GET", f"{SESSION}/events/stream"): "read",
    ("GET", f"{SESSION}/threads"): "read",
    ("GET", THREAD): "read",
    ("POST", f"{THREAD}/archive"): "write",
    ("GET", f"{THREAD}/events"): "read",
    ("GET", f"{THREAD}/stream"): "read",
    ("GET", f"{SESSION}/resources"): "read",
    ("POST", f"{SESSION}/resources"): "write",
    ("GET", RESOURCE): "read",
    ("POST", RESOURCE): "write",
    ("DELETE", RESOURCE): "write",
    ("POST", IMPORT): "write",
    ("POST", "/v1/dreams"): "dream",
    ("GET", "/v1/dreams"): "read",
    ("GET", DREAM): "read",
    ("POST", f"{DREAM}/cancel"): "dream",
    ("POST", f"{DREAM}/archive"): "dream",
    ("GET", f"{DREAM}/diff"): "read",
    ("GET", f"{DREAM}/changes"): "read",
    ("GET", f"{DREAM}/withheld"): "read",
    ("GET", f"{DREAM}/diary"): "read",
    ("POST", f"{DREAM}/accept"): "review",
    ("POST", f"{DREAM}/discard"): "review",
    ("POST", f"{STORE}/changes/{{change_id}}/undo"): "write",
    ("GET", "/healthz"): None,
    ("GET", "/readyz"): None,
    ("GET", "/metrics"): None,
}
# They take everything away that the others look at: `test_erase_command` asks who may.
# They belong to whoever runs the server: tests/story has them by themselves.
EXPERIMENTS = {("POST", f"/v1/reverie/experiments/{{name}}/{what}") for what in ("assignments", "outcomes")}
ERASING = {("DELETE", "/v1/reverie/users/{user}"), ("DELETE", "/v1/reverie/workspaces/{workspace}")}
ENOUGH = {
    "read": {"read", "write", "admin"},
    "write": {"write", "admin"},
    "dream": {"dream", "admin"},
    "review": {"review", "admin"},
}
INPUTS = [
    {"type": "memory_store", "memory_store_id": "{memory_store_id}"},
    {"type": "sessions", "session_ids": ["{session_id}"]},
]
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/v1/dreams"): {"inputs": INPUTS, "model": "built-in"},
    ("POST", "/v1/memory_stores"): {"name": "x"},
    ("POST", STORE): {"name": "taken over"},
    ("POST", f"{STORE}/memories"): {"path": "/mine-now", "content": "taken over"},
    ("POST", MEMORY): {"content": "taken over"},
    ("POST", "/v1/agents"): {"name": "x", "model": "built-in"},
    ("POST", AGENT): {"name": "taken over"},
    ("POST", "/v1/environments"): {"name": "x"},
    ("POST", PLACE): {"name": "taken over"},
    ("POST", "/v1/sessions"): {"agent": "{agent_id}", "environment_id": "{environment_id}"},
    ("POST", SESSION): {"title": "taken over"},
    ("POST", f"{SESSION}/events"): {
        "events": [{"type": "user.message", "content": [{"type": "text", "text": "taken over"}]}]
    },
    ("POST", f"{SESSION}/resources"): {"type": "file", "file_id": "file_x"},
    ("POST", RESOURCE): {"authorization_token": "x"},
    ("POST", IMPORT): {"id": "s", "messages": [{"role": "user", "content": "x"}]},
}
BY_ID = [route for route in NEEDS if "{" in route[1]]
CANARY = "canary-of-the-other"


@pytest.fixture
def served(home_on: Home) -> Iterator[Served]:
    with serving(home_on, dreams=False) as server:
        yield server


def test_every_route_is_in_the_matrix(home: Home) -> None:
    told = api_application(House(home)).openapi()
    there = {(method.upper(), path) for path, methods in told["paths"].items() for method in methods}
    assert there == set(NEEDS) | ERASING | EXPERIMENTS


def test_every_key_that_is_too_small_is_refused_and_every_other_is_not(served: Served) -> None:
    wide = served.new_key("admin")
    untouched = possessions(served, wide)
    for scopes in [*({str(one)} for one in Permission), {"read", "dream", "review"}]:
        key, standing = served.new_key(*scopes), {}
        for (method, path), needed in NEEDS.items():
            if needed is None:
                continue
            enough = bool(ENOUGH[needed] & scopes)
            ids = (standing or possessions(served, wide)) if enough and method != "GET" else untouched
            if ids is not untouched:
                standing = {} if method == "DELETE" or path.endswith(("/archive", "/cancel")) else ids
            answer = asked(served, method, path, ids, key)
            assert (answer.status == 403) is not enough, (method, path, scopes, answer.text)
            if not enough:
                assert answer.error == "permission_error"


@pytest.mark.parametrize(
    "other",
    [
        {"workspace": "other"},
        {"workspace": "other", "user": "bob"},
        {"workspace": "local", "user": "bob"},
        {"workspace": "other", "user": "ann"},
    ],
    ids=["a workspace", "a user elsewhere", "a user beside", "a namesake"],
)
def test_what_belongs_to_someone_else_is_not_there(served: Served, other: dict[str, str]) -> None:
    mine = served.new_key("admin", workspace="local", user="ann")
    theirs = served.new_key("admin", **other)
    ids, own = possessions(served, mine), possessions(served, theirs)
    before = everything(served, mine)
    for method, path in BY_ID:
        for mixed in mixtures(path, ids, own):
            answer = asked(served, method, path, mixed, theirs)
            assert answer.status == 404, (method, path, mixed, answer.text)
            assert answer.error == "not_found_error" and CANARY not in answer.text
            nothing = {name: re.sub(r"_.*", "_none", value) for name, value in mixed.items()}
            same = asked(served, method, path, nothing, theirs)
            assert same.status == 404, "what is not there and what is not theirs look the same"
    for listing in ("/v1/memory_stores", f"/v1/memory_stores?include_archived=true&page={cursor(served, mine)}"):
        assert ids["memory_store_id"] not in served.call("GET", listing, key=theirs).text
    for name in ("agent", "environment", "session", "dream"):
        found = served.call("GET", f"/v1/{name}s?include_archived=true&limit=100", key=theirs).text
        assert own[f"{name}_id"] in found and ids[f"{name}_id"] not in found
    for name in ("agent_id", "environment_id"):
        assert asked(served, "POST", "/v1/sessions", own | {name: ids[name]}, theirs).status == 404
    for name in ("memory_store_id", "session_id"):
        assert asked(served, "POST", "/v1/dreams", own | {name: ids[name]}, theirs).status == 404
    assert everything(served, mine) == before


def test_a_key_of_the_workspace_sees_its_users_and_can_be_narrowed_to_one(served: Served) -> None:
    ann, wide = served.new_key("write", user="ann"), served.new_key("admin")
    store = served.store(ann)
    assert served.call("GET", f"/v1/memory_stores/{store}", key=wide).status == 200
    bobs = served.call("POST", "/v1/memory_stores", {"name": "x"}, key=wide, headers={"reverie-user": "bob"}).json["id"]
    assert served.call("GET", f"/v1/memory_stores/{store}", key=wide, headers={"reverie-user": "bob"}).status == 404
    assert served.call("GET", f"/v1/memory_stores/{bobs}", key=served.new_key("read", user="bob")).status == 200
    assert served.call("GET", f"/v1/memory_stores/{bobs}", key=ann).status == 404
    assert served.call("GET", "/v1/memory_stores", key=ann, headers={"reverie-user": "bob"}).status == 403
    assert served.call("GET", "/v1/memory_stores", key=wide, headers={"anthropic-workspace-id": "x"}).status == 403


def possessions(served: Served, key: str) -> dict[str, str]:
    store = served.store(key, name=CANARY)
    memory = served.memory(store, f"/{CANARY}", CANARY, key)
    served.call("POST", f"/v1/memory_stores/{store}/memories/{memory['id']}", {"content": "and more"}, key=key)
    version = memory["memory_version_id"]
    memories = {"memory_store_id": store, "memory_id": memory["id"], "memory_version_id": version}
    told = served.call("GET", f"/v1/memory_stores/{store}/memory_versions/{version}", key=key).json
    memories["change_id"] = told["reverie_change_id"]
    ids = memories | recorded(served, key)
    made = asked(served, "POST", "/v1/dreams", ids, key)
    assert made.status == 200, made.text
    return ids | {"dream_id": made.json["id"]}


def recorded(served: Served, key: str) -> dict[str, str]:
    agent = served.call("POST", "/v1/agents", {"name": "A", "model": "built-in", "system": CANARY}, key=key).json["id"]
    place = served.call("POST", "/v1/environments", {"name": "E"}, key=key).json["id"]
    wish = {"agent": agent, "environment_id": place, "title": CANARY}
    session = served.call("POST", "/v1/sessions", wish, key=key).json["id"]
    said = {"events": [{"type": "user.message", "content": [{"type": "text", "text": CANARY}]}]}
    assert served.call("POST", f"/v1/sessions/{session}/events", said, key=key).status == 200
    thread = served.call("GET", f"/v1/sessions/{session}/threads", key=key).json["data"][0]["id"]
    others = {"session_thread_id": thread, "resource_id": "sesrsc_of_none"}
    return {"agent_id": agent, "environment_id": place, "session_id": session} | others


def asked(served: Served, method: str, path: str, ids: dict[str, str], key: str) -> Answer:
    body = json.loads(re.sub(r"{(\w+_id)}", lambda found: ids[found[1]], json.dumps(BODIES.get((method, path)))))
    if not path.endswith("/stream"):
        return served.call(method, filled(path, ids), body, key=key)
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    try:
        connection.request(method, filled(path, ids), headers={"x-api-key": key})
        answered = connection.getresponse()
        text = "" if answered.status == 200 else answered.read().decode()  # it would never end
        return Answer(answered.status, {}, text)
    finally:
        connection.close()


def mixtures(path: str, ids: dict[str, str], own: dict[str, str]) -> Iterator[dict[str, str]]:
    """Someone else's ids, all of them or some among one's own."""
    names = re.findall(r"{(\w+)}", path)
    for chosen in itertools.product((True, False), repeat=len(names)):
        if any(chosen):
            yield {name: (ids if other else own)[name] for name, other in zip(names, chosen, strict=True)}


def filled(path: str, ids: dict[str, str]) -> str:
    return re.sub(r"{(\w+)}", lambda found: ids[found[1]], path)


def cursor(served: Served, key: str) -> str:
    served.store(key), served.store(key)
    return str(served.call("GET", "/v1/memory_stores?limit=1", key=key).json["next_page"])


def everything(served: Served, key: str) -> list[str]:
    stores = served.call("GET", "/v1/memory_stores?limit=100", key=key)
    ids = [store["id"] for store in stores.json["data"] if store["name"] == CANARY]
    sessions = [one["id"] for one in served.call("GET", "/v1/sessions?limit=100", key=key).json["data"]]
    paths = [f"/v1/memory_stores/{store}/{what}?view=full" for store in ids for what in ("memories", "memory_versions")]
    paths += [f"/v1/sessions/{session}/events" for session in sessions]
    paths += [
        f"/v1/{what}?include_archived=true&limit=100" for what in ("agents", "environments", "sessions", "dreams")
    ]
    return [served.call("GET", path, key=key).text for path in paths]
