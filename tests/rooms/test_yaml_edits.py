"""What is put into a YAML text can be taken out of it to the last byte, and nothing else of it changes."""

from __future__ import annotations

import pytest

from reverie.core.errors import BadInput
from reverie.system import toml_yaml_edits

LIST, MEMBER = ("plugins", "enabled"), ("mcp_servers", "reverie")
TEXTS = [
    "",
    "model: {default: x}   # mine\n",
    "# a\nplugins:\n  enabled:\n  - other  # why\n  # below\n  disabled: []\nmcp_servers:\n  b: {url: 'x'}\n\n# end\n",
    "plugins:\n    enabled:\n        - other\n        - third\n",
    "plugins: {enabled: [other, third], disabled: []}\nmcp_servers: {b: {url: x}}\n",
    "plugins: {enabled: []}\nmcp_servers: {}\n",
    "plugins:\nmcp_servers: ~\ntext: |\n  plugins:\n  - no\n",
    "plugins:\n  enabled:\nlast: 1",
    "plugins:\r\n  enabled:\r\n  - other\r\nx: 1\r\n",
    "mcp_servers:\n  b:\n    command: x\n    args: [a,\n           b]",
    "anchors: &a {x: 1}\nuse: *a\nplugins: {entries: {other: {llm: true}}}\n",
]


def says(value: object) -> object:
    """What a text says: a key without a value says nothing."""
    return {key: says(one) for key, one in value.items() if says(one)} if isinstance(value, dict) else value


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_put_in_comes_out_to_the_last_byte(text: str) -> None:
    put = toml_yaml_edits.append_yaml_element(text, LIST, "reverie")
    assert toml_yaml_edits.yaml_value(put, LIST)[-1] == "reverie"
    both = toml_yaml_edits.put_yaml_member(put, MEMBER, {"command": "/a b", "args": ["-m", "x"]})
    assert toml_yaml_edits.yaml_value(both, MEMBER)["args"] == ["-m", "x"]
    out = toml_yaml_edits.drop_element(toml_yaml_edits.drop_yaml_member(both, MEMBER, text), LIST, "reverie", text)
    assert says(toml_yaml_edits.yaml_value(out, ())) == says(toml_yaml_edits.yaml_value(text, ()))
    if "~" not in text and "enabled:\nlast" not in text:  # there, what was nothing is gone
        assert out.rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize("text", ["a: [", "- a list\n", "plugins: 5\n", "plugins: {enabled: yes}\n", "a: 1\na: 2\n"])
def test_what_it_cannot_read_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        toml_yaml_edits.append_yaml_element(text, LIST, "reverie")
