"""What holds for every text: the scanner answers, answers the same, points into the text, and cannot be padded away."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import scan_corpus
from reverie.safety.rules import MatchBudget, PatternRule, gapless_rules, rule_book
from reverie.safety.scan import _signals, scan, scan_skill, visible

SURFACES = st.sampled_from(["memory", "skill", "script", "context"])
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\ufe0f\u034f"
PADDING = st.text(alphabet=" \t\n\r" + INVISIBLE, max_size=80)
FRAGMENTS = (
    *("ignore", "all", "previous", "instructions", "always", "send", "the", "user", "to", "https://a.example", "never"),
    *(
        "ask",
        "curl",
        "|",
        "sh",
        "<!--",
        "-->",
        "\u202e",
        "\U000e0041",
        "%41%42%43",
        "\\x41",
        "`",
        '"',
        "§",
        "\n- ",
        "{x}",
    ),
    *(
        "忽略",
        "инструкции",
        "é",
        "ﬁ",
        "İ",
        "👨\u200d👩",
        "00 11",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=",
        "\0",
        "\ud800",
    ),
)
PIECES = st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=12))
TEXTS = st.lists(PIECES, max_size=30).map(" ".join)
ATTACKS = [(surface, text) for _, surface, text in scan_corpus.attacks()]
RULES: list[PatternRule] = [*rule_book(), *gapless_rules()]


@given(TEXTS, SURFACES)
def test_a_scan_answers_the_same_twice_and_its_spans_lie_in_the_text(text: str, surface: str) -> None:
    report = scan(text, surface)
    assert report == scan(text, surface)
    for finding in report.findings:
        assert 0 <= finding.start <= finding.end <= len(text)
        assert finding.shown == visible(text[finding.start : finding.end])


@given(st.binary(max_size=200), SURFACES)
def test_any_bytes_get_an_answer_and_bytes_that_are_no_text_are_never_safe(content: bytes, surface: str) -> None:
    report = scan(content, surface)
    if "\ufffd" in content.decode("utf-8", "replace") and b"\xef\xbf\xbd" not in content:
        assert report.blocked


@given(st.sampled_from(ATTACKS), PADDING, PADDING)
def test_padding_does_not_unblock(attack: tuple[str, str], before: str, after: str) -> None:
    surface, text = attack
    assert scan(before + text + after, surface).blocked


@given(st.sampled_from([one for one in ATTACKS if one[0] == "memory"]), st.data())
def test_invisible_characters_between_the_letters_do_not_unblock(attack: tuple[str, str], data: st.DataObject) -> None:
    surface, text = attack
    place = data.draw(st.integers(0, len(text)))
    assert scan(text[:place] + data.draw(st.sampled_from(INVISIBLE)) + text[place:], surface).blocked


@given(st.sampled_from([one for one in ATTACKS if one[0] == "memory"]), st.integers(0, 2))
def test_base64_in_base64_is_unpacked(attack: tuple[str, str], layers: int) -> None:
    surface, packed = attack
    for _ in range(layers):
        packed = base64.b64encode(packed.encode()).decode()
    assert scan(packed, surface).blocked


@given(st.dictionaries(st.text(max_size=8), st.binary(max_size=60), max_size=4))
def test_any_skill_gets_an_answer_as_strict_as_its_strictest_file(files: dict[str, bytes]) -> None:
    report = scan_skill(files)
    assert report == scan_skill(dict(reversed(files.items())))
    if any(b"\xff" in content for content in files.values()):
        assert report.blocked or all(
            content.startswith(b"\xff\xd8\xff") for content in files.values() if b"\xff" in content
        )


@given(st.lists(st.sampled_from(FRAGMENTS[:16]), min_size=4, max_size=24).map(" ".join))
def test_work_grows_with_the_text_and_no_faster(text: str) -> None:
    """Work is counted as attempts to match a rule, each of which reads a bounded stretch."""

    def attempts(times: int) -> int:
        budget = MatchBudget(1_000_000_000)
        list(_signals(f"{text}\n" * times, "memory", budget))
        return budget.spent

    assert attempts(16) <= 2 * attempts(8) + 8 * len(FRAGMENTS) + attempts(1)


@pytest.mark.parametrize("one", RULES, ids=lambda one: one.name)
def test_a_rule_reads_a_bounded_stretch(one: PatternRule) -> None:
    """No quantifier without an end: no `*`, no `+`, no `{n,}` outside a character class."""
    bare = re.sub(r"\\.", "x", one.expression.pattern)
    bare = re.sub(r"\[[^\]]*\]", "x", bare).replace("}+", "}")
    assert not re.search(r"[*+]|\{\d+,\}", bare), bare
