"""Settings with comments, commas before brackets and bare keys are edited without losing any of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.errors import BadInput
from reverie.system import json_edits

COMMENTS = ("// mine", "// why", "/* and */", "// foot", "// the first", "// of mine")
KEYS, SERVER = ("mcp", "servers", "reverie"), {"command": "/a b", "args": ["-m", "x"]}
TEXTS = [
    "{ // mine\n}\n",
    "// head\n{\n  agents: {defaults: {model: 'a/b'}}, // why\n  /* and */\n}\n// foot\n",
    "{\n  mcp: {\n    servers: {\n      // the first\n      other: {command: 'x'}, // of mine\n    },\n  },\n}\n",
    "{mcp: {servers: {other: {command: 'it\\'s', args: ['a', \"b//c\",],}}}}",
    '{\n  // mine\n  "theme": "x"\n}\n',
    '{\n  "theme": "x" // why\n}\n',
    '{\n\t"mcp": {\n\t\t"servers": {\n\t\t\t// the first\n\t\t\t"other": {"command": "x"} // of mine\n\t\t}\n\t}\n}\n',
    '{"mcp": {"servers": {}}, n: 0x1F, half: .5, many: [1, 2,], text: "a\\\nb", }\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_every_comment_stays_and_what_was_put_in_comes_out(text: str) -> None:
    put = json_edits.put_json_member(text, KEYS, SERVER, json5=True)
    assert json_edits.json_value(put, KEYS, json5=True) == SERVER
    assert [put.count(one) for one in COMMENTS] == [text.count(one) for one in COMMENTS]
    assert json_edits.put_json_member(put, KEYS, SERVER, json5=True) == put
    out = json_edits.drop_json_member(put, KEYS, text, json5=True)
    assert json_edits.parse_json5(out) == json_edits.parse_json5(text)
    assert [out.count(one) for one in COMMENTS] == [text.count(one) for one in COMMENTS]
    assert out == text or ",\n" in text or ", //" in text, "only a comma before a bracket may be gone"


@pytest.mark.parametrize("text", ["{", "{a 1}", "{a: }", "{'a: 1}", "{a: 1} b", "/* {", "[" * 300, "{a: nope}"])
def test_what_is_no_json5_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        json_edits.put_json_member(text, KEYS, SERVER, json5=True)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.booleans())
def test_all_json_is_read_as_json_reads_it(value: object, ascii_only: bool) -> None:
    assert json_edits.parse_json5(json.dumps(value, ensure_ascii=ascii_only)) == value
