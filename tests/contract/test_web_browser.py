"""The pages in a real browser, on a real home after a real night."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from reverie.app import Home
from reverie.changes.proposal import ProposalStatus, Suggestion
from reverie.changes.queue import Waiting
from reverie.core.scope import Origin, Permission
from reverie.memory.operation import Add, Replace, entry_hash
from reverie.transcripts.session import Evidence
from tests.browsing import browse, morning_after, pages_of, team_pages_of
from tests.peers import AXE, npm_folder

ATTACKS = (
    "<script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    "<svg onload=window.pwned=1><style>*{display:none}</style></svg>",
    "</pre></li></main><script>window.pwned=1</script>",
    "</textarea><script>window.pwned=1</script>",
    "</title><script>window.pwned=1</script>",
    '" autofocus onfocus="window.pwned=1" x="',
    "' onmouseover='window.pwned=1",
    "<a href=javascript:window.pwned=1>click</a>",
    "[click](javascript:window.pwned=1) ![x](http://evil.example/pwned.png) <http://evil.example/pwned>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "<form action=http://evil.example/pwned><button>Approve</button></form>",
    "<base href=http://evil.example/pwned/>",
    "<meta http-equiv=refresh content='0;url=http://evil.example/pwned'>",
    "<div hx-get='http://evil.example/pwned' hx-trigger=load data-hx-on:load='window.pwned=1'>",
    "{{ self.__init__.__globals__ }} {% raw %} ${7*7} #{7*7} pwned",
    "&lt;script&gt;window.pwned=1&lt;/script&gt; &#60;img src=x onerror=window.pwned=1&#62;",
    "# pwned\n\n<div id=pwned>\n\n```\n</code></pre><script>window.pwned=1</script>",
    "\u202epwned\u2066 \u200bin\u00advisible \U000e0041 \x1b[31mpwned\x07",
)


PIECES = (
    *ATTACKS,
    *"<>\"'&`/=\\#\n",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<x ",
    " onclick=window.pwned=1 ",
    "{{",
    "{%",
    "&#x3c;",
)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
HOSTILE = st.lists(st.sampled_from(PIECES) | WORDS, min_size=1, max_size=8).map("".join).filter(str.strip)

Morning = Callable[[], Home]


@pytest.fixture(scope="module")
def morning() -> Iterator[Morning]:
    with morning_after() as opened:
        yield opened


@pytest.mark.browser
@pytest.mark.parametrize("scenario", ["by_keyboard", "without_javascript", "on_a_phone"])
def test_a_night_is_reviewed_to_empty(morning: Morning, scenario: str) -> None:
    with morning() as home, pages_of(home) as url:
        waiting = len(home.review.waiting())
        browse(scenario, url)
        assert home.review.waiting() == [] and len(decided(home)) >= waiting >= 6


@pytest.mark.browser
def test_of_two_tabs_the_second_sees_what_the_first_did(morning: Morning) -> None:
    with morning() as home, pages_of(home) as url:
        browse("in_two_tabs", url)
        assert decided(home) == [ProposalStatus.LANDED]


@pytest.mark.browser
def test_hermes_writes_the_entry_while_a_person_edits_it_and_neither_is_lost(morning: Morning) -> None:
    with morning() as home, pages_of(home) as url:
        (entry, *_) = home.memory.entries("hermes")
        wanted = Replace(entry.document, entry_hash(entry.text), "Something else altogether")
        made = home.review.propose(Suggestion("hermes", entry.document, (wanted,)), land=False)
        assert isinstance(made, Waiting)
        file = home.file_of(home.memory.target("hermes").key, entry.document)
        browse(
            "hermes_meanwhile", url, f"/proposals/{made.proposal.id}", str(file), entry.text, "Hermes was here first"
        )


@pytest.mark.browser
def test_two_people_of_a_team_decide_and_see_what_the_other_did(morning: Morning) -> None:
    with morning() as home, team_pages_of(home) as url:
        keys = [home.keys.create(name, {Permission.REVIEW}).secret for name in ("ann", "ben")]
        browse("two_people", url, *keys)
        past = home.review.past([ProposalStatus.LANDED])
        assert sorted(one.verdict.by for one in past if one.verdict and not one.verdict.policy) == ["ann", "ben"]


@pytest.mark.browser
def test_nothing_a_transcript_says_runs_and_a_screen_reader_finds_nothing_in_its_way(morning: Morning) -> None:
    with morning() as home:
        addresses = [attacked(home, number, attack) for number, attack in enumerate(ATTACKS)]
        with pages_of(home) as url:
            axe = npm_folder(AXE) / "node_modules" / "axe-core" / "axe.min.js"
            browse(
                "hostile",
                url,
                str(axe),
                *addresses,
                "/session?id=attack-3",
                "/search?q=pwned",
                "/search?q=%3Cscript%3E",
            )


@pytest.mark.browser
@settings(max_examples=2, database=None, phases=[Phase.generate])
@given(texts=st.lists(HOSTILE, min_size=15, max_size=15, unique=True))
def test_whatever_a_transcript_says_is_text(morning: Morning, texts: list[str]) -> None:
    with morning() as home:
        addresses = [attacked(home, number, text) for number, text in enumerate(texts)]
        with pages_of(home) as url:
            browse("made_up", url, *addresses, *(f"/search?{urlencode({'q': text[:200]})}" for text in texts[:5]))


def decided(home: Home) -> list[ProposalStatus]:
    """What became of what Sam decided about."""
    past = home.review.past([ProposalStatus.LANDED, ProposalStatus.REJECTED])
    return [one.status for one in past if one.verdict and one.verdict.by == "sam"]


def attacked(home: Home, number: int, attack: str) -> str:
    """The page of a proposal whose session, title, names, reason and text all are the attack."""
    name = f"attack-{number}"
    said = {"role": "user", "content": attack, "name": attack}
    head = {"id": name, "user": "sam", "title": attack, "started_at": "2026-03-30T09:00:00Z"}
    home.sessions.add(head | {"messages": [said, {"role": "assistant", "content": attack}, said]})
    evidence = (Evidence(name, 3, attack, Origin.TOOL),)
    text = " ".join(attack.split())
    suggestion = Suggestion("hermes", "USER.md", (Add("USER.md", text),), reason=attack, evidence=evidence)
    made = home.review.propose(suggestion, land=False, asks=attack)
    return f"/proposals/{made.proposal.id}" if isinstance(made, Waiting) else f"/session?id={name}"
