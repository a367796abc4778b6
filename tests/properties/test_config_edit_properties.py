"""Whatever stands in an agent's settings: ours goes in beside it and comes out again, and no other byte changes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from reverie.core.errors import BadInput
from reverie.system.installation import Installation, JsonElement, JsonMember, TomlKey, TomlTable

SERVER = {"command": "/opt/python", "args": ["-m", "reverie", "mcp"], "env": {"REVERIE_OWNER": "ann"}}
HOOK = {"hooks": [{"type": "command", "command": "python -m reverie sessions queue --agent claude"}]}
MARK = "-m reverie sessions queue"
KEYS = st.sampled_from(["mcpServers", "hooks", "SessionEnd", "reverie", "a", "ü", ""])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
INDENTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])
LINES = st.lists(
    st.sampled_from(
        [
            *("# a comment", "", "model = 'x'  # why", "[tui]", "b = [1,\n  2]", "[mcp_servers.other]", "command='y'"),
            *('[projects."/x"]', 'trust_level = "trusted"', "t = '''\n[mcp_servers.x]\n'''", "[mcp_servers.reverie]"),
        ]
    ),
    max_size=8,
)


def edits(path: Path) -> list[Any]:
    return [
        JsonMember(path, "server", ("mcpServers", "reverie"), SERVER),
        JsonElement(path, "hook", ("hooks", "SessionEnd"), HOOK, MARK),
    ]


def without_ours(told: dict[str, Any]) -> dict[str, Any]:
    """What a file says beside what is ours, without what is empty: whether that is there says nothing to the agent."""
    servers = {name: one for name, one in (told.get("mcpServers") or {}).items() if name != "reverie"}
    hooks = dict(told.get("hooks") or {})
    hooks["SessionEnd"] = [one for one in hooks.get("SessionEnd") or [] if MARK not in json.dumps(one)]
    left = told | {"mcpServers": servers, "hooks": {name: one for name, one in hooks.items() if one}}
    return {name: one for name, one in left.items() if one}


@given(st.dictionaries(KEYS, VALUES, max_size=4), INDENTS, st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_json_has_ours_in_it_and_is_byte_for_byte_as_before_without(
    told: dict[str, Any], indent: int | str | None, ends: bool, newline: str
) -> None:
    text = json.dumps(told, indent=indent, ensure_ascii=False).replace("\n", newline) + newline * ends
    assume("reverie" not in json.dumps(told.get("mcpServers") or {}))
    try:
        put = text
        for edit in edits(Path("x")):
            put = edit.put_in(put)
    except BadInput:
        assert not all(isinstance(told.get(key, {}), dict) for key in ("mcpServers", "hooks")) or not isinstance(
            told.get("hooks", {}).get("SessionEnd", []), list
        )
        return
    said = json.loads(put)
    assert said["mcpServers"]["reverie"] == SERVER and HOOK in said["hooks"]["SessionEnd"]
    assert all(edit.is_in(put) for edit in edits(Path("x")))
    assert without_ours(said) == without_ours(told)
    for edit in reversed(edits(Path("x"))):
        put = edit.take_out(put, text)
    assert json.loads(put) == told
    assert put == text or not all(told.get(key, "there") for key in ("mcpServers", "hooks"))


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_toml_keeps_every_other_byte_or_nothing_is_changed(lines: list[str], newline: str, ends: bool) -> None:
    text = newline.join(lines).replace("\n", newline).replace("\r\r", "\r") + newline * ends
    try:
        before = tomllib.loads(text)
    except ValueError:
        assume(False)
    table = TomlTable(Path("x"), "server", ("mcp_servers", "reverie"), SERVER)
    key = TomlKey(Path("x"), "queue", "notify", ["python", "sessions", "queue"], ["sessions", "queue"])
    try:
        put = key.put_in(table.put_in(text))
    except BadInput:
        return  # refused, with nothing changed
    said = tomllib.loads(put)
    assert said.pop("notify") == list(key.words) and said["mcp_servers"].pop("reverie") == SERVER
    before.get("mcp_servers", {}).pop("reverie", None)
    assert {name: one for name, one in said.items() if one} == {name: one for name, one in before.items() if one}
    out = table.take_out(key.take_out(put, text), text)
    assert out == text or "[mcp_servers.reverie]" in text or not text.endswith("\n")


def test_a_file_that_nobody_else_wrote_to_is_what_it_was_whatever_it_was(tmp_path: Path) -> None:
    for number, before in enumerate([b"{ }", b'{"a":1,\n\n "hooks" : { } }', b"{}\n\n", b' {"mcpServers":{}}', None]):
        path, kept = tmp_path / f"{number}/settings.json", Installation(tmp_path / f"kept{number}")
        if before is not None:
            path.parent.mkdir()
            path.write_bytes(before)
        assert kept.install(edits(path)) and not kept.install(edits(path)), "twice is once"
        assert json.loads(path.read_bytes())["mcpServers"]["reverie"] == SERVER
        kept.uninstall(edits(path))
        assert (path.read_bytes() if path.exists() else None) == before
        assert path.parent.exists() == (before is not None)
        assert not kept.folder.exists()
