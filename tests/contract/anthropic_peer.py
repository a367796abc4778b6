"""Run by an interpreter that has `anthropic` 2.8.0 and nothing of ours: `anthropic_peer.py SCENARIO URL KEY`.

Each scenario is written once and run by the sync and by the async client. A failed assertion ends it.
"""

import asyncio
import hashlib
import inspect
import sys
import threading
from datetime import UTC, datetime, timedelta

import anthropic


async def done(value):
    return await value if inspect.isawaitable(value) else value


async def every(listing):
    """All pages."""
    if hasattr(listing, "__aiter__"):
        return [one async for one in listing]
    return list(listing)


async def refused(status, kind, call, *given, **named):
    try:
        await done(call(*given, **named))
    except anthropic.APIStatusError as error:
        assert (error.status_code, error.type) == (status, kind), (error.status_code, error.type, error.body)
        assert error.request_id and error.request_id.startswith("req_")
        return error
    raise AssertionError(f"not refused with {status}")


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


async def stores(client):
    api = client.beta.memory_stores
    made = await done(api.create(name="Préférences", description="of Ann", metadata={"team": "shop", "tier": "1"}))
    assert made.id.startswith("memstore_") and made.type == "memory_store" and made.archived_at is None
    assert made.created_at.tzinfo is not None and made.metadata == {"team": "shop", "tier": "1"}
    assert await done(api.retrieve(made.id)) == made
    patched = await done(api.update(made.id, name="New", description="", metadata={"tier": None, "new": "x"}))
    assert (patched.name, patched.description, patched.metadata) == ("New", "", {"team": "shop", "new": "x"})
    assert patched.updated_at >= made.updated_at
    other = await done(api.create(name="Other"))
    assert other.description == "" and other.metadata == {}
    found = await every(api.list())
    assert [one.id for one in found] == [other.id, made.id]
    early, late = datetime.now(UTC) - timedelta(days=1), datetime.now(UTC) + timedelta(days=1)
    assert len(await every(api.list(created_at_gte=early, created_at_lte=late))) == 2
    assert await every(api.list(created_at_gte=late)) == []
    archived = await done(api.archive(made.id))
    assert archived.archived_at is not None and await done(api.archive(made.id)) == archived
    assert [one.id for one in await every(api.list())] == [other.id]
    assert len(await every(api.list(include_archived=True))) == 2
    await refused(400, "invalid_request_error", api.update, made.id, name="No")
    await refused(400, "invalid_request_error", api.memories.create, made.id, path="/a", content="")
    gone = await done(api.delete(made.id))
    assert (gone.id, gone.type) == (made.id, "memory_store_deleted")
    await refused(404, "not_found_error", api.retrieve, made.id)
    await refused(404, "not_found_error", api.delete, made.id)


async def memories(client):
    api = client.beta.memory_stores
    store = (await done(api.create(name="Notes"))).id
    text = "Zeile eins\r\nand ☃ \u0000 \ufeff end"
    made = await done(api.memories.create(store, path="/notes/a.md", content=text))
    assert made.id.startswith("mem_") and made.content is None and made.memory_store_id == store
    assert made.content_sha256 == sha(text) and made.content_size_bytes == len(text.encode())
    full = await done(api.memories.retrieve(made.id, memory_store_id=store))
    assert (
        full.content == text
        and (await done(api.memories.retrieve(made.id, memory_store_id=store, view="basic"))).content is None
    )
    taken = await refused(
        409, "memory_path_conflict_error", api.memories.create, store, path="/notes/a.md", content="x"
    )
    assert taken.body["error"]["conflicting_memory_id"] == made.id
    assert taken.body["error"]["conflicting_path"] == "/notes/a.md"
    await refused(409, "memory_path_conflict_error", api.memories.create, store, path="/notes", content="x")
    await refused(409, "memory_path_conflict_error", api.memories.create, store, path="/notes/a.md/b", content="x")
    stale = {"type": "content_sha256", "content_sha256": "0" * 64}
    update = api.memories.update
    await refused(
        409, "memory_precondition_failed_error", update, made.id, memory_store_id=store, content="n", precondition=stale
    )
    right = {"type": "content_sha256", "content_sha256": sha(text)}
    new = await done(update(made.id, memory_store_id=store, content="new", precondition=right, view="full"))
    assert (new.content, new.id) == ("new", made.id) and new.memory_version_id != made.memory_version_id
    again = await done(update(made.id, memory_store_id=store, content="new", precondition=right))
    assert again.memory_version_id == new.memory_version_id, "what is there already is no new version"
    moved = await done(update(made.id, memory_store_id=store, path="/b.md"))
    assert (moved.path, moved.id, moved.content_sha256) == ("/b.md", made.id, sha("new"))
    empty = await done(api.memories.create(store, path="/empty", content=""))
    assert empty.content_size_bytes == 0 and empty.content_sha256 == sha("")
    await refused(409, "memory_path_conflict_error", update, empty.id, memory_store_id=store, path="/b.md")
    both = await done(update(empty.id, memory_store_id=store, path="/both", content="both"))
    assert (both.path, both.content_sha256) == ("/both", sha("both"))
    delete = api.memories.delete
    await refused(
        409,
        "memory_precondition_failed_error",
        delete,
        made.id,
        memory_store_id=store,
        expected_content_sha256="0" * 64,
    )
    gone = await done(delete(made.id, memory_store_id=store, expected_content_sha256=sha("new")))
    assert (gone.id, gone.type) == (made.id, "memory_deleted")
    await refused(404, "not_found_error", api.memories.retrieve, made.id, memory_store_id=store)
    await versions(client, store, made, text)


async def versions(client, store, made, text):
    api = client.beta.memory_stores.memory_versions
    found = await every(api.list(store, memory_id=made.id, view="full"))
    assert [one.operation for one in found] == ["deleted", "modified", "modified", "created"]
    assert [one.path for one in found] == ["/b.md", "/b.md", "/notes/a.md", "/notes/a.md"]
    assert [one.content for one in found] == [None, "new", "new", text]
    assert found[0].content_sha256 is None and found[0].content_size_bytes is None
    key = found[0].created_by.api_key_id
    assert found[0].created_by.type == "api_actor" and key.startswith("apikey_")
    assert len(await every(api.list(store, api_key_id=key))) == 6
    assert await every(api.list(store, session_id="sesn_none")) == []
    assert len(await every(api.list(store, operation="deleted"))) == 1
    redacted = await done(api.redact(found[3].id, memory_store_id=store))
    assert redacted.path is None and redacted.content is None and redacted.content_sha256 is None
    assert redacted.redacted_at is not None and redacted.redacted_by.api_key_id == key
    assert redacted.created_by == found[3].created_by
    assert await done(api.redact(found[3].id, memory_store_id=store)) == redacted
    assert (await done(api.retrieve(found[3].id, memory_store_id=store))).content is None
    head = (await every(client.beta.memory_stores.memories.list(store)))[0]
    await refused(400, "invalid_request_error", api.redact, head.memory_version_id, memory_store_id=store)
    await refused(404, "not_found_error", api.retrieve, "memver_none", memory_store_id=store)


async def paging(client):
    api = client.beta.memory_stores
    store = (await done(api.create(name="Many"))).id
    paths = [f"/d{number % 25:02}/{number:03}.md" for number in range(250)]
    for path in paths:
        await done(api.memories.create(store, path=path, content=path))
    assert [one.path for one in await every(api.memories.list(store))] == sorted(paths)
    assert [one.path for one in await every(api.memories.list(store, limit=100))] == sorted(paths)
    full = await done(api.memories.list(store, limit=100, view="full"))
    assert len(full.data) == 20 and full.data[0].content == sorted(paths)[0]
    folders = await every(api.memories.list(store, depth=1, limit=7))
    assert [(one.type, one.path) for one in folders] == [("memory_prefix", f"/d{n:02}/") for n in range(25)]
    inside = await every(api.memories.list(store, path_prefix="/d07/", depth=1, limit=3))
    assert [one.path for one in inside] == sorted(path for path in paths if path.startswith("/d07/"))
    found = await every(api.memory_versions.list(store, limit=33))
    assert [one.path for one in found] == paths[::-1]
    names = [f"store {number}" for number in range(45)]
    for name in names:
        await done(api.create(name=name))
    assert [one.name for one in await every(api.list())] == [*names[::-1], "Many"]


async def rules(client):
    """What a memory may be called and hold, at the limits of the page."""
    api, invalid = client.beta.memory_stores, "invalid_request_error"
    store = (await done(api.create(name="Rules"))).id
    made = await done(api.memories.create(store, path="/a", content="one"))
    await refused(400, invalid, api.memories.list, store, depth=2)
    await refused(400, invalid, api.memories.list, store, view="all")
    await refused(400, invalid, api.memories.list, store, path_prefix="/notes")
    for path in ("a", "", "/", "/a//b", "/../x", "/a\u200bb", "/e\u0301", "/" + "x" * 1024, "/x" * 21):
        await refused(400, invalid, api.memories.create, store, path=path, content="")
    largest = "é" * 51_200
    await done(api.memories.create(store, path="/largest", content=largest))
    await refused(400, invalid, api.memories.create, store, path="/larger", content=largest + "x")
    no_hash = {"type": "content_sha256", "content_sha256": "no"}
    await refused(400, invalid, api.memories.update, made.id, memory_store_id=store, content="x", precondition=no_hash)
    await refused(404, "not_found_error", api.memories.create, "memstore_none", path="/a", content="")


async def racing(client):
    """Sixteen writers add one line each to one memory, again and again, and none is lost."""
    api = client.beta.memory_stores
    store = (await done(api.create(name="Race"))).id
    memory = (await done(api.memories.create(store, path="/log", content="begun"))).id
    conflicts, failed = [], []

    def add(writer, rounds):
        mine = anthropic.Anthropic(api_key=sys.argv[3], base_url=sys.argv[2])
        try:
            for number in range(rounds):
                while True:
                    now = mine.beta.memory_stores.memories.retrieve(memory, memory_store_id=store)
                    held = {"type": "content_sha256", "content_sha256": now.content_sha256}
                    try:
                        mine.beta.memory_stores.memories.update(
                            memory,
                            memory_store_id=store,
                            content=f"{now.content}\n{writer}.{number}",
                            precondition=held,
                        )
                        break
                    except anthropic.ConflictError as error:
                        conflicts.append(error.type)
        except Exception as error:  # noqa: BLE001 - said by the main thread
            failed.append(repr(error))

    threads = [threading.Thread(target=add, args=(writer, 3)) for writer in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed
    lines = (await done(api.memories.retrieve(memory, memory_store_id=store))).content.split("\n")
    assert sorted(lines[1:]) == sorted(f"{writer}.{number}" for writer in range(16) for number in range(3))
    assert len(await every(api.memory_versions.list(store, limit=100))) == 49
    assert set(conflicts) == {"memory_precondition_failed_error"}, "there was no race"


def main():
    scenario, url, key = globals()[sys.argv[1]], sys.argv[2], sys.argv[3]
    if sys.argv[4] == "async":
        asyncio.run(scenario(anthropic.AsyncAnthropic(api_key=key, base_url=url)))
    else:
        asyncio.run(scenario(anthropic.Anthropic(api_key=key, base_url=url)))


if __name__ == "__main__":
    main()
