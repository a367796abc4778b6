"""What a store, a path and a memory may be; how memories are listed."""

from __future__ import annotations

import pytest

from reverie.core.errors import BadInput
from reverie.memory.store import (
    above,
    checked_content,
    checked_depth,
    checked_description,
    checked_path,
    checked_prefix,
    checked_sha256,
    checked_store_name,
    end_of_prefix,
    merged_metadata,
    rolled_up,
)

GOOD = ["/a", "/a/b.md", "/Ünïcode/日本 語", "/" + "x" * 1_023, "/a" * 20, "/...", "/.hidden", "/a b", "/é"]
BAD = [
    "",
    "a",
    "/",
    "//",
    "/a/",
    "/a//b",
    "/.",
    "/..",
    "/a/../b",
    "/a/./b",
    "/a\n",
    "/a\x00",
    "/a\x7f",
    "/a\u200b",
    "/a\u2028",
    "/a\u2029",
    "/a\ufeff",
    "/e\u0301",
    "/" + "x" * 1_024,
    "/" + "é" * 512,
    "/a" * 21,
    "/\ud800",
]


@pytest.mark.parametrize("path", GOOD)
def test_a_path_that_can_be_mounted_is_taken_as_it_is(path: str) -> None:
    assert checked_path(path) == path


@pytest.mark.parametrize("path", BAD)
def test_a_path_that_could_mean_something_else_is_refused(path: str) -> None:
    with pytest.raises(BadInput, match="path"):
        checked_path(path)


def test_limits_are_counted_as_the_wire_counts_them() -> None:
    assert checked_store_name("é" * 255) and checked_description("é" * 1_024) == "é" * 1_024
    assert len(checked_content("é" * 51_200)) == 102_400
    for check, text in (
        (checked_store_name, "x" * 256),
        (checked_store_name, ""),
        (checked_store_name, "a\nb"),
        (checked_description, "x" * 1_025),
        (checked_content, "é" * 51_200 + "x"),
        (checked_content, "\udcff"),
    ):
        with pytest.raises(BadInput):
            check(text)


def test_content_is_not_normalized() -> None:
    assert checked_content("e\u0301\r\n\x00 ") == "e\u0301\r\n\x00 ".encode()


def test_metadata_is_patched_key_by_key() -> None:
    assert merged_metadata({"a": "1", "b": "2"}, {"b": None, "c": "3"}) == {"a": "1", "c": "3"}
    assert merged_metadata({}, {"gone": None}) == {}
    full = {str(number): "" for number in range(16)}
    assert len(merged_metadata(full, {"0": None, "new": "x"})) == 16
    for patch in ({"new": "x"}, {"": "x"}, {"k" * 65: "x"}, {"0": "x" * 513}):
        with pytest.raises(BadInput, match="metadata"):
            merged_metadata(full if "new" in patch else {}, patch)


def test_a_hash_is_lowercase_hex() -> None:
    assert checked_sha256("it", "0a" * 32)
    for wrong in ("0A" * 32, "0a" * 31, ""):
        with pytest.raises(BadInput):
            checked_sha256("it", wrong)


def test_the_folders_a_path_stands_in() -> None:
    assert above("/a") == []
    assert above("/a/b/c.md") == ["/a", "/a/b"]


def test_a_prefix_is_whole_segments() -> None:
    assert [checked_prefix(given) for given in (None, "", "/", "/notes/")] == ["/", "/", "/", "/notes/"]
    for wrong in ("notes/", "/notes", "/a/../", "//"):
        with pytest.raises(BadInput):
            checked_prefix(wrong)
    assert [checked_depth(given) for given in (None, 0, 1)] == [0, 0, 1]
    with pytest.raises(BadInput):
        checked_depth(2)


def test_what_is_deeper_is_rolled_up_into_its_folder() -> None:
    paths = sorted(["/a.md", "/d/1", "/d/2", "/d/e/3", "/d-archive/4", "/z"])
    assert rolled_up(paths, "/", 9) == ["/a.md", "/d-archive/", "/d/", "/z"]
    assert rolled_up([path for path in paths if path.startswith("/d/")], "/d/", 9) == ["/d/1", "/d/2", "/d/e/"]
    assert rolled_up(paths, "/", 2) == ["/a.md", "/d-archive/"]
    assert all("/d/" <= path < end_of_prefix("/d/") for path in paths if path.startswith("/d/"))
    assert not any("/d/" <= path < end_of_prefix("/d/") for path in paths if not path.startswith("/d/"))
