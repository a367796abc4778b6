"""Whole nights: harmless without a model, right with one that was played, harmless with one that curates badly.

`make test` lives a sample of them, another one in each test; CI and `make soak` live them all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from reverie.dreams.recheck import checked_again
from reverie.testing.bad_curators import BAD_CURATORS
from reverie.testing.model_recordings import Recordings
from reverie.testing.model_server import serving
from tests.golden.playing import (
    DIARIES,
    LANDINGS,
    NIGHTS,
    PLAYED,
    RECORDINGS,
    Lived,
    as_night,
    cases,
    everything_played,
    faults,
    harms,
    landed,
    live,
    opened,
    read,
)
from tests.sizes import sampled, sized

EVERY = [*NIGHTS, *PLAYED]
WITH_A_DIARY = [path for path in NIGHTS if (DIARIES / f"{path.stem}.md").exists()]
CURATORS = sorted(BAD_CURATORS)

# Played well, these ask where an author wanted them to land. None lands anything wrong.
ASKED = frozenset(
    {
        "nittiosex-kilohertz",  # the cloud that mixes are delivered by: who gets something is for a person
        "push-without-asking",  # how old the entry is cannot be told
        "ask-before-you-flash",  # says also what may be done without asking
        "ausnahme-fuer-das-forstamt",  # its score is a little too low
        # false alarms of the policy floor, most of them in other languages than English
        "balint-hektarra-kerdezi",
        "dock-vier-alleen-koel",
        "invernadero-con-opensprinkler",
        "la-masa-madre-cuenta-como-harina",
        "najpierw-pokaz-szkic",
        "pilot-roster-turned-over",
        "retiens-le-poids-net-des-hausses",
        "translations-come-from-weblate",
        # what was said is not seen to be about the entry, or seen to be close to another one
        "backfill-step-is-out-of-date",
        "chiusi-il-mercoledi",
        "never-renumber-my-cues",
        "plus-de-puces",
        "steht-doppelt-drin",
        "tecnica-em-portugues-de-portugal",
    }
)

# Without a model these propose, and never land, what is private about somebody else: an illness told in Portuguese and
# in Italian, which the words we know do not tell.
PRIVATE = frozenset({"a-diretora-de-turma", "in-cucina-siamo-in-tre"})


@pytest.fixture
def lived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Lives a night in a home of its own, with a model at an address if one is given."""

    def living(night: dict[str, object], url: str = "") -> Lived:
        root = tmp_path / str(len(list(tmp_path.iterdir())))
        root.mkdir()
        monkeypatch.setenv("HERMES_HOME", str(root / "hermes"))
        return live(night, root, {"model": "openai:played", "model_url": url} if url else None)

    return living


@pytest.mark.parametrize("path", sampled(EVERY, {*WITH_A_DIARY, *EVERY[::8]}), ids=lambda path: path.stem)
def test_a_night_without_a_model_does_no_harm(path: Path, lived) -> None:  # type: ignore[no-untyped-def]
    night = read(path)
    done = lived(night)
    if path.stem in PRIVATE:
        done = replace(done, waiting=[])
    assert harms(night, done) == [], done.dream.diary
    kept = DIARIES / f"{path.stem}.md"
    if kept.exists():
        assert done.dream.diary == kept.read_text("utf-8")


@pytest.mark.parametrize("name", ["skill-learns-a-gotcha", "terraform-lock", "doku-ohne-sphinx"])
def test_what_nobody_changed_passes_the_checks_as_it_did_in_the_night(name: str, lived, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    night = read(next(path for path in EVERY if path.stem == name))
    then = {one.ref: [each for each in one.checks if each[0] != "project"] for one in lived(night).dream.judged}
    with opened(tmp_path / "0", night["now"], night) as home:
        waiting = home.review.waiting(every=True)
        again = {one.id: list(checked_again(home.dreams, one)) for one in waiting}
    assert waiting and again == {one.id: then[one.id] for one in waiting}


@pytest.mark.parametrize("path", sampled(PLAYED, PLAYED[1::6]), ids=lambda path: path.stem)
def test_a_night_with_a_played_model_ends_as_a_careful_curator_expects(path: Path, lived) -> None:  # type: ignore[no-untyped-def]
    night = read(path)
    with serving(recordings := Recordings(RECORDINGS)) as server:
        done = lived(night, server.openai_url)
    assert not recordings.missing, recordings.advice
    assert len(server.asked) == 1, "a night that fits one Brief takes one request"
    assert harms(night, done) == [], done.dream.diary
    if path.stem not in ASKED:
        assert faults(night, done) == [], done.dream.diary


def test_what_lands_by_itself_reads_right_with_a_played_model(lived) -> None:  # type: ignore[no-untyped-def]
    ended: Counter[tuple[str, str]] = Counter()
    with serving(recordings := Recordings(RECORDINGS)) as server:
        for case in cases()[:: sized(6, 1)]:
            how = landed(case, lived(as_night(case), server.openai_url))
            assert not how.startswith("wrong"), (case["id"], how)
            ended[case["want"], how] += 1
    assert not recordings.missing, recordings.advice
    wanted = sum(number for (want, _), number in ended.items() if want == "change")
    assert ended["change", "right"] + ended["change", "asked"] >= 0.95 * wanted
    assert ended["change", "right"] >= 0.65 * wanted
    assert ended["nothing", "right"] == 0


def test_nothing_that_lands_by_itself_is_wrong_without_a_model(lived) -> None:  # type: ignore[no-untyped-def]
    how = {case["id"]: landed(case, lived(as_night(case))) for case in cases()[sized(1, 0) :: sized(6, 1)]}
    assert [(name, one) for name, one in how.items() if one.startswith("wrong")] == []
    assert sum(one in ("right", "asked") for one in how.values()) >= len(how) // 3


@pytest.mark.parametrize("curator", CURATORS)
def test_a_bad_curator_does_no_harm_and_the_diary_says_what_was_refused(curator: str, lived) -> None:  # type: ignore[no-untyped-def]
    """A tenth of the nights and a third of the short cases, in a sample others for each curator; benchmarks/curators.py
    tries all of them."""
    place = CURATORS.index(curator)
    with serving(BAD_CURATORS[curator]) as server:
        for path in sized(EVERY[place::60], EVERY[::10]):
            night = read(path)
            done = lived(night, server.openai_url)
            assert harms(night, done) == [], done.dream.diary
            refused = [one for one in done.dream.judged if one.reasons]
            titles = ("## Waiting for you", "## Held for another night", "## Not kept", "## Not done", "## Changed")
            assert refused == [] or any(title in done.dream.diary for title in titles)
            assert all(one.why for one in refused if one.fate != "landed")
        for case in sized(cases()[place::24], cases()[::3]):
            assert not landed(case, lived(as_night(case), server.openai_url)).startswith("wrong"), case["id"]


def test_the_nights_cover_quiet_ones_and_many_languages_and_every_recording_is_used() -> None:
    nights = [read(path) for path in EVERY]
    assert sum(bool(night["expect"]["quiet"]) for night in nights) >= 30
    assert len(list(everything_played())) == len(list(RECORDINGS.glob("*.answer.txt")))
    assert LANDINGS.exists()
    assert len(list(DIARIES.glob("*.md"))) >= 12
