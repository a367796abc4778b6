"""What was said last wins, however many dreams it took to read it all: in files and in memory stores."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.app import Home, open_home
from reverie.core.clock import rfc3339
from reverie.core.scope import Scope
from reverie.memory.operation import Replace
from reverie.testing.bad_curators import read_brief
from reverie.testing.model_plays import Says
from reverie.testing.model_server import Server
from reverie.testing.model_server import serving as scripted
from reverie.testing.model_wires import ReceivedRequest
from tests.conftest import NOON
from tests.serving import Served, serving
from tests.story.test_api_dreams import asked, content, of_ann

FIRST = NOON - timedelta(days=40)
_SAID = re.compile(r"From now on the (\w+) is on (\w+)\.")


def careful(asked: ReceivedRequest) -> Says:
    """A model that puts each value that was said in the place of the one that stands there."""
    seen, items = read_brief(asked), list[dict[str, Any]]()
    for line in seen.of("owner"):
        for found in _SAID.finditer(line.text):
            text = f"The {found[1]} is on {found[2]}."
            old = [(name, where) for name, (where, one) in seen.entries.items() if f"The {found[1]} is on" in one]
            evidence = [{"session": line.session, "turn": line.turn, "words": found[0]}]
            item = {"op": "replace" if old else "add", "text": text, "evidence": evidence, "certainty": "sure"}
            place = {"document": old[0][1] if old else "/notes.md", "replaces": [name for name, _ in old]}
            items.append(item | place | {"kind": "project_fact", "because": "They said so."})
    return Says(json.dumps({"items": items}))


@pytest.fixture(scope="module")
def model() -> Iterator[Server]:
    with scripted(careful) as server:
        yield server


def lived(root: Path, model: Server, stands: Sequence[str], said: Sequence[str], **settings: str) -> Home:
    """A home with these entries of long ago, and a session a day behind them."""
    folder = root / "home"
    with open_home(folder, now=FIRST, settings={"owner": "ann"}) as home:
        home.memory.target("home")
        (folder / "memory").mkdir(exist_ok=True)
        (folder / "memory" / "MEMORY.md").write_text("".join(f"- {one}\n" for one in stands))
        os.utime(folder / "memory" / "MEMORY.md", (FIRST.timestamp(), FIRST.timestamp()))
        assert [one.text for one in home.memory.entries("home")] == list(stands)
    wide = {f"dreaming.max_{what}_per_run": "10000" for what in ("changes", "adds", "new_chars")}
    asked = {"owner": "ann", "model": "openai:scripted", "model_url": model.openai_url}
    home = open_home(folder, now=NOON, settings=asked | wide | settings)
    for number, words in enumerate(said):
        say(home, f"x{number}", words, FIRST + timedelta(days=1 + number))
    return home


def say(home: Home, name: str, words: str, at: datetime) -> None:
    turns = [{"role": "user", "content": words}, {"role": "assistant", "content": "All right."}]
    home.sessions.add({"id": name, "user": "ann", "started_at": rfc3339(at), "messages": turns})


def texts(home: Home) -> list[str]:
    return sorted(one.text for one in home.memory.entries("home"))


def from_now_on(*places: str, what: str = "cache") -> list[str]:
    return [f"From now on the {what} is on {place}." for place in places]


def test_a_later_round_of_a_night_changes_what_an_earlier_one_landed(tmp_path: Path, model: Server) -> None:
    said = [*from_now_on("leeds"), *["Please look at the file."] * 14, *from_now_on("bergen")]
    with lived(tmp_path, model, ["The cache is on oslo."], said) as home:
        night = home.dream("home", everything=True)
        assert len(night.dreams) == 2 and night.counts["landed"] == 2, night.diary
        assert texts(home) == ["The cache is on bergen."]


def test_older_words_do_not_bring_back_what_newer_ones_replaced(tmp_path: Path, model: Server) -> None:
    with lived(tmp_path, model, ["The cache is on oslo."], from_now_on("leeds")) as home:
        home.dream("home")
        say(home, "late", *from_now_on("bergen"), FIRST + timedelta(hours=1))
        assert "is older than the entry" in home.dream("home", everything=True).diary
        assert texts(home) == ["The cache is on leeds."]


def test_what_a_person_writes_or_approves_is_as_old_as_that(tmp_path: Path, model: Server) -> None:
    with lived(tmp_path, model, ["The cache is on oslo."], from_now_on("leeds")) as home:
        home.dream("home", "propose")
        (waiting,) = home.review.waiting()
        home.review.approve(waiting)
        say(home, "later", *from_now_on("bergen"), FIRST + timedelta(days=9))
        assert "is older than the entry" in home.dream("home").diary and texts(home) == ["The cache is on leeds."]
        (entry,) = home.memory.entries("home")
        home.review.write("home", "MEMORY.md", [Replace("MEMORY.md", entry.sha256, "The cache is on cork.")])
        say(home, "later still", *from_now_on("genoa"), FIRST + timedelta(days=10))
        assert "is older than the entry" in home.dream("home").diary and texts(home) == ["The cache is on cork."]


@settings(max_examples=5)
@given(
    st.lists(st.tuples(st.sampled_from(("cache", "mirror")), st.sampled_from(("leeds", "bergen", "cork"))), max_size=6)
)
def test_rounds_end_as_one_night_over_all_of_it(model: Server, said: list[tuple[str, str]]) -> None:
    words = [f"From now on the {what} is on {place}." for what, place in said]
    stands = ["The cache is on oslo.", "The mirror is on oslo."]
    ended = []
    for limit in ("100", "2"):
        rounds = {"dreaming.recent_sessions_limit": limit}
        with tempfile.TemporaryDirectory() as root, lived(Path(root), model, stands, words, **rounds) as home:
            home.dream("home", everything=True)
            ended.append(texts(home))
    last = dict([("cache", "oslo"), ("mirror", "oslo"), *said])
    assert ended == [sorted(f"The {what} is on {place}." for what, place in last.items())] * 2


# ---- memory stores ---------------------------------------------------------------------------------------------------


PAGE = "/team/places.md"


@pytest.fixture
def served(tmp_path: Path, database: str, model: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """With a store of ann's that says long ago where the cache and the mirror are."""
    monkeypatch.setenv("THE_KEY", "sk-test-abcdefgh")
    given = {"owner": "ann", "database": database, "model": "openai:scripted", "model_url": model.openai_url}
    with open_home(tmp_path / "home", now=FIRST, settings=given) as home, serving(home, dreams=False) as server:
        STORE[:] = [of_ann(server).store()]
        of_ann(server).memory(STORE[0], PAGE, "The cache is on oslo.\n\nThe mirror is on oslo.\n")
    keyed = given | {"model_key_name": "THE_KEY"}
    with open_home(tmp_path / "home", now=NOON, settings=keyed) as home, serving(home, dreams=False) as server:
        yield of_ann(server)


STORE: list[str] = []


def dreamt_over(served: Served, store: str, words: str, day: int) -> str:
    """The output of a dream over one session of that day."""
    home, name = served.house.home, f"x{day}"
    say(home, name, words, FIRST + timedelta(days=day))
    (found,) = (one.head.id for one in home.sessions.find() if one.head.id.endswith(name))
    made = served.call("POST", "/v1/dreams", asked(store, found, model="any")).json["id"]
    home.tenants.store_nights(Scope("local", "ann", "dream"), lambda name: None).run(made)
    done = served.call("GET", f"/v1/dreams/{made}").json
    assert done["status"] == "completed", done
    return str(done["output_memory_store_id"])


def says(served: Served, store: str) -> str:
    return " ".join(content(served, store)[PAGE].split())


def test_a_later_dream_changes_what_an_earlier_one_wrote_to_the_same_page(served: Served) -> None:
    first = dreamt_over(served, STORE[0], *from_now_on("leeds"), day=10)
    second = dreamt_over(served, first, *from_now_on("bergen"), day=20)
    third = dreamt_over(served, second, *from_now_on("cork"), day=15)
    assert says(served, second) == says(served, third) == "The cache is on bergen. The mirror is on oslo."
    (page,) = served.call("GET", f"/v1/memory_stores/{third}/memories").json["data"]
    for path in ("/elsewhere.md", PAGE):  # a new name makes nothing newer
        assert served.call("POST", f"/v1/memory_stores/{third}/memories/{page['id']}", {"path": path}).status == 200
    fourth = dreamt_over(served, third, *from_now_on("faro", what="mirror"), day=5)
    assert says(served, fourth) == "The cache is on bergen. The mirror is on faro."


def test_an_accepted_output_is_as_old_as_the_words_it_rests_on(served: Served) -> None:
    first = dreamt_over(served, STORE[0], *from_now_on("leeds"), day=10)
    (dream,) = served.call("GET", "/v1/dreams").json["data"]
    assert served.call("POST", f"/v1/dreams/{dream['id']}/accept").status == 200
    assert says(served, STORE[0]) == says(served, first)
    second = dreamt_over(served, STORE[0], *from_now_on("bergen"), day=20)
    assert says(served, second) == "The cache is on bergen. The mirror is on oslo."


def test_what_a_program_writes_is_as_old_as_the_write(served: Served) -> None:
    first = dreamt_over(served, STORE[0], *from_now_on("leeds"), day=10)
    (page,) = served.call("GET", f"/v1/memory_stores/{first}/memories").json["data"]
    written = {"content": "The cache is on genoa.\n"}
    assert served.call("POST", f"/v1/memory_stores/{first}/memories/{page['id']}", written).status == 200
    assert says(served, dreamt_over(served, first, *from_now_on("bergen"), day=20)) == "The cache is on genoa."
