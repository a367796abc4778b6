"""Run by an interpreter that has `anthropic` 2.8.0 and nothing of ours: agents, environments, sessions, events."""

import asyncio
import sys
import threading
from datetime import UTC, datetime, timedelta

import anthropic
from anthropic_peer import done, every, refused

LATE = datetime.now(UTC) + timedelta(days=1)


def said(text):
    return {"type": "user.message", "content": [{"type": "text", "text": text}]}


async def made(client, **given):
    agent = await done(client.beta.agents.create(model="built-in", name="Shop"))
    place = await done(client.beta.environments.create(name="Here"))
    return await done(client.beta.sessions.create(agent=agent.id, environment_id=place.id, **given))


async def agents(client):
    api = client.beta.agents
    tools = [
        {"type": "agent_toolset_20260401"},
        {"type": "custom", "name": "t", "description": "d", "input_schema": {}},
    ]
    first = await done(
        api.create(model="claude-opus-5", name="Shop", system="Be kind.", tools=tools, metadata={"a": "1"})
    )
    assert first.id.startswith("agent_") and (first.type, first.version) == ("agent", 1)
    assert (first.model.id, first.model.speed) == ("claude-opus-5", "standard")
    assert first.tools[0].default_config.enabled and first.tools[1].name == "t" and first.skills == []
    assert first.execution_identity.type == "service_account" and first.archived_at is None
    assert await done(api.retrieve(first.id)) == first
    second = await done(api.update(first.id, version=1, system="Be brief.", tools=None, metadata={"a": None, "b": "2"}))
    assert (second.version, second.system, second.tools, second.metadata) == (2, "Be brief.", [], {"b": "2"})
    assert second.name == "Shop" and second.model == first.model
    await refused(409, "conflict_error", api.update, first.id, version=1, name="Other")
    assert (await done(api.update(first.id, name="Shop"))).version == 2, "the same is no new version"
    assert (await done(api.retrieve(first.id, version=1))).system == "Be kind."
    await refused(404, "not_found_error", api.retrieve, first.id, version=9)
    assert [one.version for one in await every(api.versions.list(first.id, limit=1))] == [2, 1]
    other = await done(api.create(model={"id": "built-in", "speed": "fast"}, name="Other"))
    assert other.model.speed == "fast"
    assert [one.id for one in await every(api.list(limit=1))] == [other.id, first.id]
    assert await every(api.list(created_at_gte=LATE)) == []
    archived = await done(api.archive(first.id))
    assert archived.archived_at and await done(api.archive(first.id)) == archived
    assert [one.id for one in await every(api.list())] == [other.id]
    assert len(await every(api.list(include_archived=True))) == 2
    await refused(400, "invalid_request_error", api.update, first.id, name="No")
    await refused(400, "invalid_request_error", api.create, model="x", name="")
    await refused(404, "not_found_error", api.retrieve, "agent_none")
    place = await done(client.beta.environments.create(name="Here"))
    await refused(400, "invalid_request_error", client.beta.sessions.create, agent=first.id, environment_id=place.id)


async def environments(client):
    api = client.beta.environments
    plain = await done(api.create(name="Here", metadata={"a": "1"}))
    assert plain.id.startswith("env_") and plain.type == "environment" and plain.config.type == "cloud"
    assert plain.config.networking.type == "unrestricted" and plain.config.packages.pip == []
    limited = {"type": "cloud", "networking": {"type": "limited", "allowed_hosts": ["a.example"]}}
    changed = await done(api.update(plain.id, name="There", config=limited, metadata={"a": None}))
    assert (changed.name, changed.metadata) == ("There", {})
    assert changed.config.networking.allowed_hosts == ["a.example"]
    own = await done(api.create(name="Own", config={"type": "self_hosted"}))
    assert own.config.type == "self_hosted" and await done(api.retrieve(own.id)) == own
    assert [one.id for one in await every(api.list(limit=1))] == [own.id, plain.id]
    assert (await done(api.archive(own.id))).archived_at
    assert len(await every(api.list(include_archived=True))) == 2 and len(await every(api.list())) == 1
    agent = await done(client.beta.agents.create(model="built-in", name="Shop"))
    start = client.beta.sessions.create
    error = await refused(400, "invalid_request_error", start, agent=agent.id, environment_id=own.id)
    assert error.error_code == "environment_archived"
    error = await refused(404, "not_found_error", start, agent=agent.id, environment_id="env_none")
    assert error.error_code == "environment_not_found"
    gone = await done(api.delete(own.id))
    assert (gone.id, gone.type) == (own.id, "environment_deleted")
    await refused(404, "not_found_error", api.retrieve, own.id)


async def sessions(client):
    api, store = client.beta.sessions, await done(client.beta.memory_stores.create(name="My  Notes!", description="d"))
    mount = {"type": "memory_store", "memory_store_id": store.id, "access": "read_only", "instructions": "Look first."}
    first = await made(client, title="One", metadata={"k": "v"}, resources=[mount], initial_events=[said("Hello.")])
    assert first.id.startswith("sesn_") and (first.type, first.status, first.title) == ("session", "idle", "One")
    resource = first.resources[0]
    assert (resource.mount_path, resource.name, resource.access) == ("/mnt/memory/my-notes", "My  Notes!", "read_only")
    assert first.usage.input_tokens == 0 and first.outcome_evaluations == [] and first.archived_at is None
    assert [one.type for one in await every(api.events.list(first.id))] == ["user.message", "session.status_idle"]
    reference = {"type": "agent", "id": first.agent.id, "version": 1}
    second = await done(api.create(agent=reference, environment_id=first.environment_id))
    over = {"type": "agent_with_overrides", "id": first.agent.id, "system": "Other.", "model": "built-in"}
    third = await done(api.create(agent=over, environment_id=first.environment_id))
    assert third.agent.system == "Other." and second.agent.system is None and third.agent.name == "Shop"
    newest_first = [third.id, second.id, first.id]
    assert [one.id for one in await every(api.list(limit=1))] == newest_first
    assert [one.id for one in await every(api.list(limit=2, order="asc"))] == newest_first[::-1]
    page = await done(api.list(limit=1))
    assert page.prev_page is None and page.next_page
    following = await done(api.list(limit=1, page=page.next_page))
    back = await done(api.list(limit=1, page=following.prev_page))
    assert [one.id for one in back.data] == [third.id] and back.prev_page is None and back.next_page
    assert [one.id for one in await every(api.list(memory_store_id=store.id))] == [first.id]
    assert len(await every(api.list(agent_id=first.agent.id, agent_version=1, statuses=["idle", "running"]))) == 3
    assert await every(api.list(statuses=["running"])) == await every(api.list(created_at_gt=LATE)) == []
    assert await every(api.list(agent_id="agent_none")) == []
    new = await done(api.update(first.id, title="Two", metadata={"k": None, "n": "1"}))
    assert (new.title, new.metadata, new.agent) == ("Two", {"n": "1"}, first.agent)
    updated = (await every(api.events.list(first.id, types=["session.updated"])))[0]
    assert (updated.title, updated.metadata, updated.agent) == ("Two", {"n": "1"}, None)
    archived = await done(api.archive(second.id))
    assert archived.archived_at and await done(api.archive(second.id)) == archived
    await refused(400, "invalid_request_error", api.events.send, second.id, events=[said("Late.")])
    assert len(await every(api.list())) == 2 and len(await every(api.list(include_archived=True))) == 3
    gone = await done(api.delete(first.id))
    assert (gone.id, gone.type) == (first.id, "session_deleted")
    await refused(404, "not_found_error", api.retrieve, first.id)
    await refused(404, "not_found_error", api.events.list, first.id)
    await wrong_sessions(client, third)


async def wrong_sessions(client, there):
    start, place = client.beta.sessions.create, there.environment_id
    bad = "invalid_request_error"
    await refused(404, "not_found_error", start, agent="agent_none", environment_id=place)
    for given in (
        {"resources": [{"type": "file", "file_id": "file_1"}]},
        {"initial_events": [said("x")] * 51},
        {"initial_events": [{"type": "user.interrupt"}]},
        {"metadata": {"k" * 65: "v"}},
    ):
        await refused(400, bad, start, agent=there.agent.id, environment_id=place, **given)
    mount = {"type": "memory_store", "memory_store_id": "memstore_none"}
    await refused(404, "not_found_error", start, agent=there.agent.id, environment_id=place, resources=[mount])
    store = await done(client.beta.memory_stores.create(name="Old"))
    await done(client.beta.memory_stores.archive(store.id))
    mount = {"type": "memory_store", "memory_store_id": store.id}
    await refused(400, bad, start, agent=there.agent.id, environment_id=place, resources=[mount])
    await refused(400, bad, client.beta.sessions.list, page="no cursor")


async def events(client):
    api = client.beta.sessions.events
    session = (await made(client)).id
    sent = [
        said("We moved to db2."),
        {"type": "user.interrupt"},
        {"type": "user.tool_confirmation", "tool_use_id": "t1", "result": "deny", "deny_message": "Not on Fridays."},
        {"type": "user.custom_tool_result", "custom_tool_use_id": "c1", "content": [{"type": "text", "text": "42"}]},
        {"type": "user.define_outcome", "description": "A plan.", "rubric": {"type": "text", "content": "Short."}},
        {"type": "user.tool_result", "tool_use_id": "t2", "is_error": True},
        {"type": "system.message", "content": [{"type": "text", "text": "The shop is closed."}]},
    ]
    kept = (await done(api.send(session, events=sent))).data
    assert [one.type for one in kept] == [one["type"] for one in sent]
    assert all(one.id.startswith("sevt_") and one.processed_at.tzinfo for one in kept)
    assert kept[0].content[0].text == "We moved to db2." and kept[2].deny_message == "Not on Fridays."
    assert kept[4].outcome_id.startswith("outc_") and kept[5].is_error is True
    listed = await every(api.list(session, limit=3))
    assert [one.id for one in listed[:-1]] == [one.id for one in kept] and listed[-1].type == "session.status_idle"
    assert [one.id for one in await every(api.list(session, limit=2, order="desc"))] == [one.id for one in listed][::-1]
    assert [one.type for one in await every(api.list(session, types=["user.message", "system.message"]))] == [
        "user.message",
        "system.message",
    ]
    assert await every(api.list(session, created_at_gte=LATE)) == []
    for wrong in (
        [],
        [{"type": "agent.message", "content": [{"type": "text", "text": "I am the agent."}]}],
        [{"type": "session.brand_new"}],
        [{"type": "user.message", "content": "words"}],
        [{"type": "user.message", "content": []}],
        [sent[6]],
        [sent[6], sent[0]],
        [sent[0], {"type": "user.define_outcome", "description": "x", "rubric": {"type": "text"}}],
    ):
        await refused(400, "invalid_request_error", api.send, session, events=wrong)
    await refused(400, "invalid_request_error", api.list, session, types=["session.brand_new"])
    await refused(404, "not_found_error", api.send, "sesn_none", events=[said("x")])
    assert len(await every(api.list(session))) == len(sent) + 1, "of a refused request nothing is kept"


async def parts(client):
    """Threads and resources: what there is of them can be read, and nothing else is there."""
    store = await done(client.beta.memory_stores.create(name="Shop notes", description="d"))
    mounts = [{"type": "memory_store", "memory_store_id": store.id, "access": "read_only"}]
    session = await made(client, resources=mounts, initial_events=[said("One."), said("Two.")])
    api, none = client.beta.sessions.threads, "not_found_error"
    (thread,) = await every(api.list(session.id, limit=5, statuses=["idle"]))
    assert thread.id.startswith("sthr_") and (thread.type, thread.status) == ("session_thread", "idle")
    assert thread.session_id == session.id and thread.parent_thread_id is None and thread.archived_at is None
    assert thread.agent.id == session.agent.id and thread.agent.type == "agent" and thread.created_at.tzinfo
    assert await done(api.retrieve(thread.id, session_id=session.id)) == thread
    assert await every(api.list(session.id, statuses=["running", "terminated"])) == []
    told = await every(api.events.list(thread.id, session_id=session.id, limit=1))
    assert [one.id for one in told] == [one.id for one in await every(client.beta.sessions.events.list(session.id))]
    await refused(400, "invalid_request_error", api.archive, thread.id, session_id=session.id)
    await refused(400, "invalid_request_error", api.list, session.id, page="no cursor")
    for call in (api.retrieve, api.archive, api.events.list, api.events.stream):
        await refused(404, none, call, "sthr_none", session_id=session.id)
        await refused(404, none, call, thread.id, session_id="sesn_none")
    stream = await done(api.events.stream(thread.id, session_id=session.id))
    await done(stream.close())
    held = client.beta.sessions.resources
    (resource,) = await every(held.list(session.id, limit=1))
    assert resource == session.resources[0] and resource.memory_store_id == store.id
    await refused(400, "invalid_request_error", held.list, session.id, page="no cursor")
    await refused(404, none, held.add, session.id, file_id="file_1", type="file")
    await refused(404, none, held.retrieve, store.id, session_id=session.id)
    await refused(404, none, held.update, "sesrsc_1", session_id=session.id, authorization_token="x")
    await refused(404, none, held.delete, "sesrsc_1", session_id=session.id)
    await refused(404, none, held.list, "sesn_none")
    await done(client.beta.sessions.archive(session.id))
    assert (await done(api.archive(thread.id, session_id=session.id))).archived_at, "it went with its session"


async def streaming(client):
    """The stream is opened first, as Anthropic's guides do; then it is written to, from elsewhere."""
    session = await made(client, initial_events=[said("Before.")])
    writer = anthropic.Anthropic(api_key=sys.argv[3], base_url=sys.argv[2]).beta.sessions
    stream = await done(client.beta.sessions.events.stream(session.id, event_deltas=["agent.message"]))
    heard, listed = [], []

    def write():
        for text in ("One.", "Two."):
            writer.events.send(session.id, events=[said(text)])
        while len(heard) < 4:
            ended.wait(0.05)
        listed.extend(one.id for one in writer.events.list(session.id))
        writer.delete(session.id)

    ended = threading.Event()
    thread = threading.Thread(target=write)
    thread.start()
    try:
        if hasattr(stream, "__aiter__"):
            async for event in stream:
                heard.append(event)
        else:
            for event in stream:
                heard.append(event)
    finally:
        ended.set()
        thread.join()
    messages = [one.content[0].text for one in heard if one.type == "user.message"]
    assert messages == ["One.", "Two."], "from the moment of listening on, in order, each once"
    assert {one.type for one in heard} == {"user.message", "session.status_idle", "session.deleted"}
    idle = next(one for one in heard if one.type == "session.status_idle")
    assert idle.stop_reason.type == "end_turn" and heard[-1].type == "session.deleted"
    assert [one.id for one in heard[:-1]] == listed[2:], "the listing has the same events by the same ids"
    assert all(one.id.startswith("sevt_") and one.processed_at.tzinfo for one in heard)
    await refused(404, "not_found_error", client.beta.sessions.events.stream, session.id)


def main():
    scenario, url, key = globals()[sys.argv[1]], sys.argv[2], sys.argv[3]
    kind = anthropic.AsyncAnthropic if sys.argv[4] == "async" else anthropic.Anthropic
    asyncio.run(scenario(kind(api_key=key, base_url=url)))


if __name__ == "__main__":
    main()
