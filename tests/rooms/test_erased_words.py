"""Finding words that are to go, however they were written down; and knowing them again by a hash."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from reverie.core.scope import Origin
from reverie.erasure.traces import ErasedBefore, Tombstones
from reverie.erasure.words import ERASED, Scrubber, phrase
from reverie.transcripts.session import Said, Turn
from tests.canaries import CANARY, FORMS, stands_in

CODE = Scrubber(("the door code is 4711",), partial=True)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_form_is_found_and_taken_out(form: str) -> None:
    scrub = Scrubber((CANARY,), partial=True)
    assert not stands_in(scrub.value(FORMS[form])) and not stands_in(scrub.content(FORMS[form].encode()))


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("The door code is 4711.", f"{ERASED}."),
        ("the DOOR\n  code, is: 4711!", f"{ERASED}!"),
        ("xthe door code is 47110 now", f"{ERASED} now"),
        ("the door code was 4711", "the door code was 4711"),
        ("the door code is 4711 and the door code is 4711", f"{ERASED} and {ERASED}"),
        ("", ""),
    ],
)
def test_only_the_words_go(said: str, left: str) -> None:
    assert CODE.clean(said) == left


def test_a_script_without_spaces_is_cut_into_its_characters() -> None:
    assert (
        Scrubber(("門のコード",), partial=True).clean("家の門のコードは四七一一です") == f"家の{ERASED}は四七一一です"
    )


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert Scrubber(("Gru\u0308\u00dfe aus Graz",)).has("viele GRÜSSE AUS GRAZ!")


@pytest.mark.parametrize("value", ['{"a": 1}', "[", "plain", '{"kind": "support"}', "x" * 50_000])
def test_what_does_not_have_it_stays_byte_for_byte(value: str) -> None:
    assert CODE.value(value) == value


def test_names_of_kinds_in_our_own_json_are_nobodys_words() -> None:
    told = {"weight": "support", "quote": "they support it", "origin": "owner"}
    cleaned = json.loads(Scrubber(("support",), frozenset(["owner"]), partial=True).value(json.dumps(told)))
    assert cleaned == told | {"quote": f"they {ERASED} it"}


def test_base64_stays_base64_of_the_rest() -> None:
    packed = base64.b64encode(b"- keep this one\n- the door code is 4711\n").decode()
    assert base64.b64decode(CODE.value(packed)) == f"- keep this one\n- {ERASED}\n".encode()


@pytest.mark.parametrize(
    ("form", "before", "after"),
    [
        ("hermes", "Likes tea.\n§\nThe door code is 4711.\n§\nLives in Graz.", "Likes tea.\n§\nLives in Graz."),
        ("list", "# Me\n\n- Likes tea.\n- The door code is 4711.\n", "# Me\n\n- Likes tea.\n"),
        (None, "---\nname: x\n---\n1. Ring.\n2. The door code is 4711.\n", "---\nname: x\n---\n1. Ring.\n"),
        ("whole", "The door code is 4711, she said.", f"{ERASED}, she said."),
    ],
)
def test_a_statement_of_a_document_goes_whole(form: str | None, before: str, after: str) -> None:
    name = "SKILL.md" if form is None else "note.txt"
    assert CODE.document(before.encode(), form, name) == after.encode()  # type: ignore[arg-type]


def turn(number: int, text: str) -> Turn:
    return Turn(number, Said("user", text), Origin.OWNER)


def test_a_hash_knows_a_text_and_a_session_again_and_nothing_else() -> None:
    stones = Tombstones(b"k" * 32)
    content = stones.of_content([turn(1, "a" * 150), turn(2, "b" * 150)])
    assert content is not None and stones.of_content([turn(1, "hello")]) is None
    known = {
        "text": {stones.of_text(phrase("door code 4711")).hash: 3},
        "content": {content.hash: 0},
        "session": {stones.of_session("ann", "s1").hash: 0},
    }
    stones = replace(stones, known=known)
    assert [one.text for one in stones.screened([turn(1, "My door-code: 4711, ok?")])] == [f"My {ERASED}, ok?"]
    assert [one.text for one in stones.screened([turn(1, "a door code")])] == ["a door code"]
    with pytest.raises(ErasedBefore):
        list(stones.screened([turn(1, "a" * 150), turn(2, "b" * 150), turn(3, "more")]))
    with pytest.raises(ErasedBefore):
        stones.refuse("ann", "s1")
    stones.refuse("bob", "s1")
    again = Tombstones.from_json(json.loads(json.dumps(stones.to_json("local"))))
    assert again == stones and "4711" not in json.dumps(stones.to_json("local"))


@pytest.mark.parametrize(
    "written",
    ["SchließfachQuarz882", "SCHLIESSFACH quarz 882", "S c h l i e ß f a c h Quarz 882", "schliessfach_quarz_882"],
)
@pytest.mark.parametrize("wanted", ["Schließfach Quarz 882", "Schliessfach Quarz 882"])
def test_a_sharp_s_and_a_double_one_are_the_same(wanted: str, written: str) -> None:
    assert Scrubber((wanted,), partial=True).clean(f"the {written}.") == f"the {ERASED}."
