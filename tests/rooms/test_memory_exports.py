"""Exports of other managed memories, in the shapes their public documentation gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reverie.app import open_home
from reverie.core.errors import BadInput
from reverie.harnesses.exported_stores import read_folder

RULE = "Deploys go out on Tuesdays."
AGENTCORE = {
    "memoryRecordSummaries": [
        {
            "memoryRecordId": "mem-0f2c",
            "content": {"text": RULE},
            "memoryStrategyId": "semantic-1",
            "namespaces": ["/strategies/semantic/actors/ann"],
            "createdAt": 1762000000.0,
            "score": 0.7,
        }
    ],
    "nextToken": None,
}
VERTEX = {
    "memories": [
        {
            "name": "projects/p/locations/l/reasoningEngines/r/memories/42",
            "scope": {"user_id": "ann"},
            "fact": RULE,
            "createTime": "2026-05-12T10:00:00Z",
        }
    ]
}
AZURE = {
    "search_id": "s1",
    "memories": [
        {
            "memory_item": {
                "memory_id": "m1",
                "scope": "ann",
                "kind": "user_profile",
                "content": RULE,
                "updated_at": 1762000000,
            }
        }
    ],
}


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (AGENTCORE, "/strategies/semantic/actors/ann/mem-0f2c"),
        (VERTEX, "/ann/projects/p/locations/l/reasoningEngines/r/memories/42"),
        (AZURE, "/ann/user_profile/m1"),
    ],
)
def test_an_export_of_another_service_is_read_memory_by_memory(
    document: dict[str, Any], path: str, tmp_path: Path
) -> None:
    (tmp_path / "export.json").write_text(json.dumps(document))
    assert read_folder(tmp_path).texts == {path: RULE}
    with open_home(tmp_path / "home") as home:
        (pulled,) = home.bridge.pull(home.managed(str(tmp_path / "export.json")))
        assert pulled.versions == 1


@pytest.mark.parametrize(
    ("shape", "more"),
    [
        (AGENTCORE, {"nextToken": "AAQA"}),
        (VERTEX, {"nextPageToken": "CAE"}),
        (AZURE, {"has_more": True}),
        ({"data": [{"path": "/a.md", "content": RULE}]}, {"has_more": True, "next_page": "page_2"}),
        (
            {"count": 2, "previous": None, "results": [{"id": "m1", "memory": RULE}]},
            {"next": "https://x.example/?page=2"},
        ),
        ({"value": [{"id": "m1", "says": RULE}]}, {"@odata.nextLink": "https://x.example/?skip=1"}),
    ],
)
def test_one_page_of_several_is_refused_until_the_last_lies_beside_it(
    shape: dict[str, Any], more: dict[str, Any], tmp_path: Path
) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    if "value" in shape:
        (folder / "reverie-mapping.toml").write_text('list = "value"\ntext = "says"\npath = "id"\n')
    (folder / "1.json").write_text(json.dumps(shape | more))
    (folder / "notes.json").write_text('{"next": "a memory of its own that says what comes next"}')
    for where in (folder, folder / "1.json"):
        with pytest.raises(BadInput, match=f"1.json is one page of several: its `{next(iter(more))}`"):
            read_folder(where)
    (folder / "2.json").write_text(json.dumps({name: value for name, value in shape.items() if name not in more}))
    assert RULE in read_folder(folder).texts.values()


def test_a_mapping_file_says_where_the_memories_are(tmp_path: Path) -> None:
    rows = {"page": {"notes": [{"says": {"words": RULE}, "topic": "releases"}, {"says": {}}]}}
    (tmp_path / "export.json").write_text(json.dumps(rows))
    (tmp_path / "reverie-mapping.toml").write_text('list = "page.notes"\ntext = "says.words"\npath = "topic"\n')
    assert read_folder(tmp_path).texts == {"/releases": RULE}
    (tmp_path / "reverie-mapping.toml").write_text('list = "page.notes"\n')
    with pytest.raises(BadInput, match="text"):
        read_folder(tmp_path)


STRANGER = """
from hashlib import sha256
from reverie.bridge.source import RemoteStore, RemoteVersion

class Notes:
    def __init__(self, where, environment, clock):
        self.address, self.clock, self.said = f"notes:{where}", clock, f"- {where} deploys on Tuesdays.\\n"

    def stores(self):
        yield RemoteStore("shop", "Shop")

    def memories(self, store):
        now, digest = self.clock.now(), sha256(self.said.encode()).hexdigest()
        yield RemoteVersion("v1", "m1", "created", now, "/a.md", digest)

    def text(self, store, version):
        return self.said

    def versions(self, store):
        return iter(())

    def dreams(self):
        return iter(())

    def heard(self, sessions):
        return iter(())

    def close(self):
        pass
"""


def test_a_strangers_source_is_pulled_like_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    (site / "notes-1.0.dist-info").mkdir(parents=True)
    (site / "strangers_notes.py").write_text(STRANGER)
    (site / "notes-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: notes\nVersion: 1.0\n")
    (site / "notes-1.0.dist-info" / "entry_points.txt").write_text("[reverie.sources]\nnotes = strangers_notes:Notes\n")
    monkeypatch.syspath_prepend(str(site))
    (tmp_path / "old.md").write_text("- Leeds deploys on Fridays.\n")
    with open_home(tmp_path / "home") as home:
        (pulled,) = home.bridge.pull(home.managed("notes:Leeds"))
        (one,) = home.bridge.diff(str(tmp_path / "old.md"), "shop").behaviour
    assert pulled.versions == 1 and one.after == "Leeds deploys on Tuesdays."


@pytest.mark.parametrize("name", ["export.json", "export.jsonl"])
def test_an_export_that_was_cut_off_is_refused_because_the_rest_would_look_removed(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(json.dumps({"path": "/a.md", "content": RULE}) + '\n{"path": "/b.md", "cont')
    with pytest.raises(BadInput, match=r"is no JSON"):
        read_folder(tmp_path)


def test_records_that_stand_at_one_path_are_all_kept(tmp_path: Path) -> None:
    for page, texts in (("1.json", ["Staging is db1.", "Deploys go out on Tuesdays."]), ("2.json", ["Tag releases."])):
        (tmp_path / page).write_text(json.dumps({"items": [{"name": "team", "text": text} for text in texts]}))
    (read,) = read_folder(tmp_path).texts.values()
    assert read == "Staging is db1.\n\nDeploys go out on Tuesdays.\n\nTag releases."
