"""Run by an interpreter that has `anthropic` 2.8.0 and nothing of ours: what its wire protocol trips a server up with.

One scenario for each of the twelve, run by the sync and by the async client. What the SDK cannot be made to send, and
other clients do, is sent by hand.
"""

import asyncio
import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import get_args

import anthropic
from anthropic.types.beta.sessions import beta_managed_agents_session_event_type as event_types
from anthropic_dreams_peer import ended, filled, inputs
from anthropic_peer import done, every, refused
from anthropic_sessions_peer import made, said

URL, KEY = sys.argv[2], sys.argv[3]
NOW = datetime.now(UTC)
EARLY, LATE = NOW - timedelta(days=1), NOW + timedelta(days=1)
INVALID = "invalid_request_error"


def sent(method, path, body=None, **headers):
    """By hand: status, headers and the JSON or text that came back."""
    given = {"x-api-key": KEY, "content-type": "application/json"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    asked = urllib.request.Request(URL + path, body, {name: one for name, one in given.items() if one}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            status, told, text = answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        status, told, text = error.code, error.headers, error.read().decode()
    return status, told, json.loads(text) if told["content-type"] == "application/json" else text


def answered(status):
    """How many answers of this status the server has given, as it counts itself."""
    counts = re.findall(rf'reverie_http_requests_total{{.*status="{status}"}} (\d+)', sent("GET", "/metrics")[2])
    return sum(map(int, counts))


async def once(status, kind, call, *given, **named):
    """Refused, and not tried again by the SDK."""
    before = answered(status)
    error = await refused(status, kind, call, *given, **named)
    while answered(status) == before:  # it counts behind its answer
        time.sleep(0.01)
    assert answered(status) == before + 1, "the SDK repeated it"
    return error


async def heard(stream, last="session.status_idle"):
    events = []
    if hasattr(stream, "__aiter__"):
        async for event in stream:
            events.append(event)
            if event.type == last:
                break
    else:
        for event in stream:
            events.append(event)
            if event.type == last:
                break
    await done(stream.close())
    return events


# ---- the twelve ------------------------------------------------------------------------------------------------------


async def trap_1_a_key_comes_as_bearer_or_as_x_api_key(client):
    assert client.auth_headers == {"Authorization": f"Bearer {KEY}"}, "what this SDK sends"
    await every(client.beta.memory_stores.list())
    assert sent("GET", "/v1/memory_stores", x_api_key=KEY)[0] == 200
    assert sent("GET", "/v1/memory_stores", x_api_key="", authorization=f"Bearer {KEY}")[0] == 200
    assert sent("GET", "/v1/memory_stores", x_api_key="", authorization=f"Basic {KEY}")[0] == 401
    assert sent("GET", "/v1/memory_stores", x_api_key="")[0] == 401
    wrong = client.with_options(api_key="rvk_" + "0" * 64)
    await refused(401, "authentication_error", wrong.beta.memory_stores.list)


async def trap_2_lists_are_filtered_by_bracketed_arrays(client):
    session = (await made(client)).id
    events = [said("One."), {"type": "user.interrupt"}, said("Two.")]
    await done(client.beta.sessions.events.send(session, events=events))
    api = client.beta.sessions
    assert [one.type for one in await every(api.events.list(session, types=["user.interrupt"]))] == ["user.interrupt"]
    assert len(await every(api.events.list(session, types=["user.interrupt", "user.message"], limit=1))) == 3
    assert session in [one.id for one in await every(api.list(statuses=["idle", "running"]))]
    assert await every(api.list(statuses=["running"])) == []
    assert await every(client.beta.dreams.list(statuses=["pending", "running"])) == []
    await refused(400, INVALID, api.events.stream, session, event_deltas=["user.message"])
    at = f"/v1/sessions/{session}/events"
    for query in ("types[]=user.interrupt", "types%5B%5D=user.interrupt", "types=user.interrupt"):
        assert len(sent("GET", f"{at}?{query}")[2]["data"]) == 1, query
    assert len(sent("GET", f"{at}?types=user.interrupt&types=user.message")[2]["data"]) == 3


async def trap_3_dates_are_asked_for_in_brackets(client):
    session = (await made(client, initial_events=[said("Hello.")])).id
    store = (await done(client.beta.memory_stores.create(name="Dated"))).id
    api = client.beta
    for listing, bounds in (
        (api.sessions.list, ("gt", "gte", "lt", "lte")),
        (lambda **given: api.sessions.events.list(session, **given), ("gt", "gte", "lt", "lte")),
        (api.memory_stores.list, ("gte", "lte")),
        (api.agents.list, ("gte", "lte")),
        (api.dreams.list, ("gt", "lt")),
    ):
        there = len(await every(listing()))
        for bound in bounds:
            inside, outside = (EARLY, LATE) if bound.startswith("g") else (LATE, EARLY)
            for written in (lambda at: at, lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ")):
                assert len(await every(listing(**{f"created_at_{bound}": written(inside)}))) == there, bound
                assert await every(listing(**{f"created_at_{bound}": written(outside)})) == [], bound
    made_at = sent("GET", f"/v1/memory_stores/{store}")[2]["created_at"]
    for bound, found in (("gte", True), ("lte", True), ("gt", False), ("lt", False)):
        query = f"created_at[{bound}]={urllib.parse.quote(made_at)}"
        names = [one["id"] for one in sent("GET", f"/v1/memory_stores?limit=100&{query}")[2]["data"]]
        assert (store in names) is found, bound


async def trap_4_conflicts_are_not_tried_again(client):
    """The SDK repeats a 409 twice unless it is told not to."""
    api = client.beta.memory_stores
    store, session = await filled(client)
    memory = (await every(api.memories.list(store)))[0]
    taken = await once(409, "memory_path_conflict_error", api.memories.create, store, path=memory.path, content="")
    assert taken.response.headers["x-should-retry"] == "false"
    stale = {"type": "content_sha256", "content_sha256": "0" * 64}
    where = {"memory_store_id": store}
    failed = "memory_precondition_failed_error"
    await once(409, failed, api.memories.update, memory.id, **where, content="n", precondition=stale)
    await once(409, failed, api.memories.delete, memory.id, **where, expected_content_sha256="0" * 64)
    agent = await done(client.beta.agents.create(model="built-in", name="Shop"))
    await done(client.beta.agents.update(agent.id, version=1, name="New"))
    await once(409, "conflict_error", client.beta.agents.update, agent.id, version=1, name="Other")
    rewriting = {"model": "built-in", "output_behavior": {"type": "update_existing", "memory_store_id": store}}
    first = await done(client.beta.dreams.create(inputs=inputs(store, session), **rewriting))
    await once(409, "conflict_error", client.beta.dreams.create, inputs=inputs(store, session), **rewriting)
    await done(client.beta.dreams.cancel(first.id))


async def trap_5_frames_of_a_stream_have_names(client):
    """The loop people copy: send, then read until the turn has ended. It ends although nobody answers."""
    session = await made(client)
    stream = await done(client.beta.sessions.events.stream(session.id))
    await done(client.beta.sessions.events.send(session.id, events=[said("Hello?")]))
    assert [one.type for one in await heard(stream)] == ["user.message", "session.status_idle"]
    assert (await done(client.beta.sessions.retrieve(session.id))).status == "idle"
    asked = urllib.request.Request(f"{URL}/v1/sessions/{session.id}/events/stream", headers={"x-api-key": KEY})
    with urllib.request.urlopen(asked, timeout=60) as raw:
        await done(client.beta.sessions.events.send(session.id, events=[said("Line\none.")]))
        frame, frames = [], []
        while len(frames) < 2:
            line = raw.readline().decode().rstrip("\n")
            if line:
                frame.append(line)
            elif frame:
                frames += [] if frame[0].startswith(":") else [frame]
                frame = []
    for name, data in frames:
        assert name == f"event: {json.loads(data.removeprefix('data: '))['type']}"


async def trap_6_some_posts_have_a_type_and_no_body(client):
    api, store, session = client.beta, *(await filled(client))
    memory = (await every(api.memory_stores.memories.list(store)))[0]
    where = {"memory_store_id": store}
    await done(api.memory_stores.memories.update(memory.id, **where, content="new"))
    redacted = await done(api.memory_stores.memory_versions.redact(memory.memory_version_id, **where))
    assert redacted.redacted_at
    dream = await done(api.dreams.create(inputs=inputs(store, session), model="built-in"))
    assert (await done(api.dreams.cancel(dream.id))).status == "canceled"
    assert (await done(api.dreams.archive(dream.id))).archived_at
    recorded = await done(api.sessions.retrieve(session))
    for archive, name in (
        (api.memory_stores.archive, store),
        (api.sessions.archive, session),
        (api.environments.archive, recorded.environment_id),
        (api.agents.archive, recorded.agent.id),
    ):
        assert (await done(archive(name))).archived_at
    for delete, name, named in (
        (api.memory_stores.memories.delete, memory.id, where),
        (api.memory_stores.delete, store, {}),
        (api.sessions.delete, session, {}),
        (api.environments.delete, recorded.environment_id, {}),
    ):
        assert (await done(delete(name, **named))).id == name


async def trap_7_what_fails_has_made_nothing(client):
    """The database breaks at the last statement of each. The SDK tries three times; none of them may leave anything."""
    agent = await done(client.beta.agents.create(model="built-in", name="Shop"))
    place = await done(client.beta.environments.create(name="Here"))
    session = (await done(client.beta.sessions.create(agent=agent.id, environment_id=place.id))).id
    store = (await done(client.beta.memory_stores.create(name="Notes"))).id
    memories = client.beta.memory_stores.memories
    spoken = {"initial_events": [said("Hello.")]}
    for call, given, named in (
        (memories.create, (store,), {"path": "/a", "content": "one"}),
        (client.beta.sessions.create, (), {"agent": agent.id, "environment_id": place.id, **spoken}),
        (client.beta.dreams.create, (), {"inputs": inputs(store, session), "model": "built-in"}),
    ):
        before = answered(500)
        await refused(500, "api_error", call, *given, **named)
        while answered(500) < before + 3:
            time.sleep(0.01)
    assert await every(memories.list(store)) == []
    assert await every(client.beta.memory_stores.memory_versions.list(store)) == []
    assert await every(client.beta.dreams.list(include_archived=True)) == []
    mine = await every(client.beta.sessions.list(include_archived=True, agent_id=agent.id))
    assert [one.id for one in mine] == [session]
    assert await every(client.beta.sessions.list(include_archived=True, agent_id="agent_dreaming")) == []


async def trap_8_versions_accept_and_beta_are_not_looked_at(client):
    session = (await made(client)).id
    for version in ("2023-06-01", "2026-10-21", "anything", ""):
        assert sent("GET", "/v1/memory_stores", anthropic_version=version)[0] == 200
    for accept in ("application/json", "*/*", "text/html", ""):
        assert sent("GET", "/v1/memory_stores", accept=accept)[0] == 200
    assert sent("GET", "/v1/memory_stores?beta=true")[0] == 200
    assert sent("GET", "/v1/memory_stores", content_type="")[0] == 200
    older = client.with_options(default_headers={"anthropic-version": "2023-06-01"}, default_query={"beta": "true"})
    store = await done(older.beta.memory_stores.create(name="Older"))
    assert store.id in [one.id for one in await every(older.beta.memory_stores.list(extra_query={"ids[]": ["a"]}))]
    stream = await done(older.beta.sessions.events.stream(session, extra_headers={"accept": "application/json"}))
    assert stream.response.headers["content-type"].startswith("text/event-stream")
    await done(stream.close())


async def trap_9_any_beta_will_do(client):
    api = client.beta
    both = ["managed-agents-2026-04-01", "agent-memory-2026-07-22", "never-heard-of-2030-01-01"]
    store = (await done(api.memory_stores.create(name="Betas", betas=both))).id
    await done(api.memory_stores.memories.create(store, path="/a", content="one", betas=both[:1]))
    await every(api.dreams.list(betas=both))
    await every(api.sessions.list(betas=both[2:]))
    assert sent("GET", f"/v1/memory_stores/{store}/memories", anthropic_beta="")[0] == 200
    assert sent("GET", "/v1/dreams", anthropic_beta="managed-agents-2026-04-01")[0] == 200


async def trap_10_what_is_invalid_is_400_in_the_envelope(client):
    api = client.beta
    await refused(400, INVALID, api.memory_stores.create, name="")
    await refused(400, INVALID, api.memory_stores.create, name="x", metadata={"k": 1})
    await refused(400, INVALID, api.memory_stores.list, limit=0)
    await refused(400, INVALID, api.sessions.list, limit="many")
    await refused(400, INVALID, api.agents.list, page="no cursor")
    await refused(400, INVALID, api.dreams.create, inputs=[], model="built-in")
    error = await refused(400, INVALID, api.memory_stores.create, name=3)
    assert error.api_message.startswith("name: ") and error.body["type"] == "error"
    assert error.body["request_id"] == error.request_id and error.workspace_id == "local"
    await refused(404, "not_found_error", client.get, "/v1/nothing/here", cast_to=object)
    for method, path, body, status in (
        ("POST", "/v1/memory_stores", b"{not json", 400),
        ("POST", "/v1/memory_stores", b"[]", 400),
        ("POST", "/v1/memory_stores", b"", 400),
        ("GET", "/v1/memory_stores?limit=0", None, 400),
        ("PUT", "/v1/memory_stores", b"{}", 405),
        ("GET", "/elsewhere", None, 404),
    ):
        got, headers, told = sent(method, path, body)
        assert (got, told["type"]) == (status, "error") and told["error"]["type"] and told["error"]["message"]
        assert told["request_id"] == headers["request-id"]


async def trap_11_every_event_is_one_the_sdk_knows(client):
    """Of a type it does not know it makes the first it can think of, in silence."""
    known = set(get_args(event_types.BetaManagedAgentsSessionEventType))
    store, session = await filled(client)
    stream = await done(client.beta.sessions.events.stream(session))
    await done(client.beta.sessions.update(session, title="New"))
    dream = await done(client.beta.dreams.create(inputs=inputs(store, session), model="built-in"))
    await ended(client, dream)
    await done(client.beta.sessions.events.send(session, events=[said("Bye.")]))
    live = await heard(stream)
    kept = [*await every(client.beta.sessions.events.list(session))]
    kept += await every(client.beta.sessions.events.list(dream.session_id))
    for event in [*live, *kept]:
        assert event.type in known, event.type
        assert event.type in get_args(type(event).model_fields["type"].annotation), "decoded as something else"
    assert {"user.message", "session.updated", "agent.message", "session.status_running"} <= {one.type for one in kept}
    await refused(400, INVALID, client.beta.sessions.events.send, session, events=[{"type": "session.brand_new"}])


async def trap_12_times_have_a_zone_and_nothing_required_is_missing(client):
    store, session = await filled(client)
    api, where = client.beta, {"memory_store_id": store}
    dream = await done(api.dreams.create(inputs=inputs(store, session), model="built-in"))
    complete(dream)
    assert sent("GET", f"/v1/dreams/{dream.id}")[2]["usage"].keys() == {
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    }
    complete(await ended(client, dream))
    complete(await done(api.memory_stores.retrieve(store)))
    memories = await every(api.memory_stores.memories.list(store, view="full"))
    versions = await every(api.memory_stores.memory_versions.list(store))
    recorded = await done(api.sessions.retrieve(session))
    await done(api.memory_stores.memories.delete(memories[0].id, **where))
    for one in (
        *memories,
        *versions,
        *await every(api.memory_stores.memory_versions.list(store, operation="deleted")),
        *await every(api.memory_stores.memories.list(store, depth=1)),
        recorded,
        *await every(api.sessions.events.list(session)),
        *await every(api.sessions.events.list(dream.session_id)),
        await done(api.sessions.retrieve(dream.session_id)),
        *await every(api.sessions.threads.list(session)),
        await done(api.agents.retrieve(recorded.agent.id)),
        await done(api.environments.retrieve(recorded.environment_id)),
    ):
        complete(one)
    for path in (f"/v1/memory_stores/{store}", f"/v1/dreams/{dream.id}", f"/v1/sessions/{session}"):
        told = sent("GET", path)[2]
        times = [value for name, value in told.items() if name.endswith("_at") and value is not None]
        assert times and all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", at) for at in times), times
    raw = sent("GET", f"/v1/memory_stores/{store}/memories?limit=1")[2]
    assert raw.keys() == {"data", "next_page"} and "content" in raw["data"][0] and raw["data"][0]["content"] is None
    assert sent("GET", "/v1/sessions")[2].keys() == {"data", "next_page", "prev_page"}


def complete(value, where=""):
    """All that the SDK's own classes call required came over the wire, at every depth; every time says its zone."""
    if isinstance(value, list):
        for one in value:
            complete(one, where)
    elif hasattr(type(value), "model_fields"):
        where = f"{where}/{type(value).__name__}"
        needed = {name for name, field in type(value).model_fields.items() if field.is_required()}
        assert needed <= value.model_fields_set, (where, needed - value.model_fields_set)
        for name in value.model_fields_set:
            complete(getattr(value, name), f"{where}.{name}")
    elif isinstance(value, datetime):
        assert value.tzinfo is not None, where


def main():
    scenario = globals()[sys.argv[1]]
    for kind in (anthropic.Anthropic, anthropic.AsyncAnthropic):
        asyncio.run(scenario(kind(api_key=KEY, base_url=URL)))


if __name__ == "__main__":
    main()
