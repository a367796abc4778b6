"""Scan a text that could become part of a prompt, over all of it, and fail closed.

    text -> views and decoded passages (views.py, hidden_text.py) -> rules (rules.py, detectors/) -> signals -> Report
    text -> windows -> what was learned from attacks (classifier.py) ---------------------------------^

A Report has findings, each with the exact characters it is about, and what follows from them.

One strong signal blocks; weak ones of different kinds block when they stand together. Of a skill every file is scanned,
whatever it is called, and whatever the skill says about which files count.

A scan raises the cost of an attack and sends doubtful text to a person. It is not the boundary: what a text may do is
decided by where it came from (Origin).
"""

from __future__ import annotations

import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from posixpath import splitext
from typing import Literal, NamedTuple, get_args

from reverie.core.errors import BadInput
from reverie.safety.classifier import suspicions
from reverie.safety.hidden_text import decoded_passages, hidden_stretches, invisible_runs
from reverie.safety.rules import MatchBudget, RuleMatch, TooMuchWork, gapless_rules, rule_book
from reverie.safety.views import View, whole_views

Severity = Literal["low", "medium", "high"]

# What a person reading a finding can do next, per category.
ADVICE = {
    "override": "Drop the sentence: it tells the agent to set aside what it was told before.",
    "impersonation": "Drop the markup or the claim: only the code that reads a transcript says who is speaking.",
    "jailbreak": "Drop the passage: it gives the agent a role without its rules.",
    "persistence": "Reject it unless the owner asked for this standing rule, and check what it makes the agent do.",
    "trigger": "Reject it unless the owner asked for it: it waits for a later moment to act.",
    "concealment": "Reject it: it asks for something to be kept from the person the agent works for.",
    "exfiltration": "Check where the data would go; remove the step unless that place is yours.",
    "credentials": "Check why a secret is read here; name the secret's purpose, never its place, in memory.",
    "authority": "A person has to decide: it changes what the agent may do, whom it obeys or where it sends things.",
    "hidden": "Make the hidden text visible or delete it; a reader and the agent must see the same words.",
    "invisible": "Delete the invisible characters shown as \\u{…}.",
    "obfuscation": "Write it in plain text, or delete it; the agent would read what a reviewer cannot.",
    "script": "Do not run it; remove the command or replace it by a reviewed, pinned one.",
    "suspicious": "A person has to decide: no rule names it, but it reads like orders that were planted.",
    "quarantine": "Keep it out until a person has looked: it could not be read in full as text.",
}


@dataclass(frozen=True, slots=True)
class SafetyFinding:
    """One reason to look: `shown` is text[start:end] with everything invisible written as \\u{…}."""

    category: str
    severity: Severity
    start: int
    end: int
    shown: str
    advice: str
    decoded_from: str | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """`blocked`: keep it out. `needs_person`: it bears authority or was blocked, so no policy may let it pass alone."""

    blocked: bool
    needs_person: bool
    findings: tuple[SafetyFinding, ...]


_LONGEST_SHOWN = 2_000
_INVISIBLE_CATEGORIES = frozenset({"Cf", "Cc", "Cs", "Co", "Cn", "Zl", "Zp"})
_INVISIBLE_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")


def visible(text: str) -> str:
    """The text as a reviewer must see it: nothing in it is invisible, and nothing rearranges it."""
    if text.isascii() and text.isprintable():
        return text

    def is_invisible(char: str) -> bool:
        if unicodedata.category(char) in _INVISIBLE_CATEGORIES or char in _INVISIBLE_LETTERS:
            return char not in "\n\t"
        return 0xFE00 <= ord(char) <= 0xFE0F or 0xE0100 <= ord(char) <= 0xE01EF

    return "".join(f"\\u{{{ord(char):x}}}" if is_invisible(char) else char for char in text)


def visible_span(text: str, start: int, end: int) -> str:
    """The span made visible; the middle of a very long one is counted instead of copied."""
    if end - start <= _LONGEST_SHOWN:
        return visible(text[start:end])
    half = _LONGEST_SHOWN // 2
    left_out = end - start - 2 * half
    return f"{visible(text[start : start + half])}…({left_out} characters)…{visible(text[end - half : end])}"


def join_reports(reports: Iterable[Report]) -> Report:
    """One report over several texts: as strict as the strictest of them."""
    every = tuple(reports)
    return Report(
        any(report.blocked for report in every),
        any(report.needs_person for report in every),
        tuple(finding for report in every for finding in report.findings),
    )


# ---- the scan --------------------------------------------------------------------------------------------------------

# About a screenful: weak signals further apart have nothing to do with each other.
_NEAR = 1_500
# What signals must weigh together to block. A memory or a context file speaks to the agent directly; the files of a
# skill are longer and full of commands, so more has to come together there.
ENOUGH = {"memory": 0.8, "context": 0.7, "skill": 0.9, "script": 0.8}
_ROUNDING = 1e-6
# Below this a finding alone would be noise; it still counts towards its neighbours.
_WORTH_SHOWING = 0.3
_MOST_FINDINGS = 200


class Signal(NamedTuple):
    """A rule that matched, with its span in the original text and what had to be undone to see it."""

    rule: str
    category: str
    weight: float
    start: int
    end: int
    decoded_from: str | None


def _adds_up(signals: list[Signal], enough: float) -> bool:
    """Whether distinct rules within reach of each other weigh enough. More text can only raise a sum."""
    near: deque[Signal] = deque()
    counts: Counter[tuple[str, float]] = Counter()
    total = 0.0
    for signal in signals:
        while near and near[0].start < signal.start - _NEAR:
            gone = near.popleft()
            counts[gone.rule, gone.weight] -= 1
            total -= gone.weight * (counts[gone.rule, gone.weight] == 0)
        near.append(signal)
        counts[signal.rule, signal.weight] += 1
        total += signal.weight * (counts[signal.rule, signal.weight] == 1)
        if total >= enough - _ROUNDING:
            return True
    return False


def judged(text: str, signals: Iterable[Signal], surface: str) -> Report:
    """The verdict and the findings worth showing, strongest first among those beyond the limit, then in text order."""
    ordered = sorted(set(signals), key=lambda signal: (signal.start, signal.end, signal.rule, str(signal.decoded_from)))
    enough = ENOUGH[surface]
    ruled = [signal for signal in ordered if signal.category != "suspicious"]
    if _adds_up(ruled, enough):
        ordered = ruled  # a rule that says what is wrong is the better reason
    blocked = _adds_up(ordered, enough)
    bears_authority = any(signal.category == "authority" for signal in ordered)
    floor = 0.0 if blocked else _WORTH_SHOWING
    worth = [one for one in ordered if one.weight >= floor or one.category == "authority"]
    worth = sorted(worth, key=lambda signal: -signal.weight)[:_MOST_FINDINGS]
    worth.sort(key=lambda signal: (signal.start, signal.end))
    findings = dict[SafetyFinding, None]()
    for _, category, weight, first, last, source in worth:
        severity: Severity = "medium" if weight >= enough / 2 else "low"
        # The learned judge is never as sure as a rule, even where it is enough to ask.
        if weight >= enough - _ROUNDING and category != "suspicious":
            severity = "high"
        end = min(last, len(text))
        start = min(first, end)
        shown = visible_span(text, start, end)
        findings[SafetyFinding(category, severity, start, end, shown, ADVICE[category], source)] = None
    return Report(blocked, blocked or bears_authority, tuple(findings))


Surface = Literal["memory", "skill", "script", "context"]

LARGEST = 25 * 1024 * 1024
_DEEPEST = 3
# Headings are set apart by letter too, but not whole sentences.
_LONG_SPACING = 20
# Hidden or encoded text has to explain itself: what is merely unusual in the open blocks there.
_HIDDEN_FACTOR = 2.5
# A quoted attack in a title or an example still deserves a look, not a refusal.
_MENTION_FACTOR = 0.15
# From which scores on a window weighs half of what blocks, and all of it. Pages and skills are long and full of orders
# that are meant for their reader, so a score says less there.
_DOUBTFUL = {"memory": (0.0, 0.2), "context": (0.6, 1.0), "skill": (0.9, 1.2), "script": (0.5, 0.8)}
_MENTION_REACH = 160  # characters of the line on either side
# What opens a quotation, and what closes it.
_MARKS = {'"': '"', "`": "`", "“": "”", "„": "“", "«": "»", "‘": "’", "「": "」", "/": "/", "%": "%"}
_MENTIONED = frozenset({"override", "jailbreak", "impersonation", "concealment"})
# These readings come about by accident (a wrapped command line, a formula), so they add no suspicion of their own.
_HARMLESS_VIEWS = frozenset({None, "joined lines"})


def _traced(view: View, hit: RuleMatch) -> Signal:
    """The hit with its span in the text the view was made from; a reversed view swaps the ends."""
    one, other = view.trace(hit.start), view.trace(max(hit.start, hit.end - 1))
    factor = 1.0 if view.name in _HARMLESS_VIEWS else _HIDDEN_FACTOR
    if view.name is None and hit.category in _MENTIONED and _is_mention(view.text, hit.start, hit.end):
        factor = _MENTION_FACTOR
    return Signal(hit.rule, hit.category, hit.weight * factor, min(one, other), max(one, other) + 1, view.name)


def _read(view: View, surface: str, budget: MatchBudget) -> Iterator[RuleMatch]:
    book = gapless_rules() if view.gapless else rule_book()
    return book.run(view.text, surface, budget)


def _shifted(view: View, start: int, place: int) -> int:
    return view.trace(start + place)


def _in_views(text: str, surface: str, budget: MatchBudget) -> Iterator[Signal]:
    """Findings of the rules in any reading of the text; a disguised one must show what the plain one does not."""
    plain: set[tuple[str, int]] = set()
    starts: set[int] = set()
    for view in whole_views(text):
        for hit in _read(view, surface, budget):
            signal = _traced(view, hit)
            if view.name is None:
                plain.add((signal.rule, signal.start))
                starts.add(signal.start)
            elif (signal.rule, signal.start) in plain or (view.gapless and signal.start in starts):
                continue
            yield signal
        if view.name is not None:
            continue
        # Stretches a renderer hides, read once more on their own with less patience.
        for start, end, kind in hidden_stretches(view.text):
            inside = View(view.text[start:end], partial(_shifted, view, start))
            if surface == "memory" and inside.text.count(" ") > 4:
                yield _traced(inside, RuleMatch(f"hidden.{kind}", "hidden", 0.6, 0, end - start))
            for hit in _read(inside, surface, budget):
                signal = _traced(inside, hit)
                yield signal._replace(rule=f"hidden.{hit.rule}", category="hidden", weight=hit.weight * _HIDDEN_FACTOR)
        # Windows that read like an attack. Each weighs half or all, so that doubts about neighbours do not add up.
        half, whole = _DOUBTFUL[surface]
        for score, start, end in suspicions(view.text):
            if score >= half:
                weight = ENOUGH[surface] * (1.0 if score >= whole else 0.5)
                yield _traced(view, RuleMatch("suspicious.words", "suspicious", weight, start, end))


def _signals(text: str, surface: str, budget: MatchBudget, depth: int = 0) -> Iterator[Signal]:
    for hit in invisible_runs(text):
        yield Signal(*hit, None)
    if depth == 0:
        yield from _in_views(text, surface, budget)
    else:
        for view in whole_views(text):
            yield from (_traced(view, hit) for hit in _read(view, surface, budget))
            break
    for passage in decoded_passages(text):
        if passage.encoding == "spaced-out letters" and depth == 0 and len(passage.text) > _LONG_SPACING:
            weight = 1.0 if surface == "memory" else 0.7
            yield Signal("obfuscation.spaced", "obfuscation", weight, passage.start, passage.end, passage.encoding)
        if depth >= _DEEPEST:
            yield Signal("obfuscation.nested", "obfuscation", 1.0, passage.start, passage.end, passage.encoding)
            continue
        for signal in _signals(passage.text, surface, budget, depth + 1):
            source = f"{passage.encoding}, {signal.decoded_from}" if signal.decoded_from else passage.encoding
            weight = signal.weight * (_HIDDEN_FACTOR if depth == 0 else 1)
            yield Signal(signal.rule, signal.category, weight, passage.start, passage.end, source)


def _quarantined(reason: str, start: int, end: int) -> Signal:
    return Signal(f"quarantine.{reason}", "quarantine", 1.0, start, end, None)


def scan(text: str | bytes, surface: str = "memory") -> Report:
    """Report dangers in a text that may become memory, a skill, a script of a skill, or a context file."""
    if surface not in get_args(Surface):
        raise BadInput(f"No surface {surface!r}.", expected="one of " + ", ".join(get_args(Surface)))
    if len(text) > LARGEST:
        return judged("", [_quarantined("too-large", 0, 0)], surface)
    # What no text has is a signal: bytes that are not UTF-8, NUL, halves of surrogate pairs that cannot be written out.
    signals = list[Signal]()
    content = text if isinstance(text, str) else text.decode("utf-8", "replace")
    try:
        if isinstance(text, str):
            text.encode()
        else:
            text.decode()
    except UnicodeEncodeError as problem:
        signals.append(_quarantined("surrogate", problem.start, problem.end))
    except UnicodeDecodeError as problem:
        before = len(problem.object[: problem.start].decode())
        signals.append(_quarantined("not-utf-8", before, before + 1))
    if (place := content.find("\0")) >= 0:
        signals.append(_quarantined("binary", place, place + 1))
    try:
        signals += _signals(content, surface, MatchBudget(len(content)))
    except TooMuchWork:
        signals.append(_quarantined("too-much-work", 0, len(content)))
    return judged(content, signals, surface)


def _is_mention(folded: str, start: int, end: int) -> bool:
    """A mention: the span stands in quotation marks on its line, after words of the one who quotes."""
    line = folded.rfind("\n", 0, start) + 1
    before = folded[max(line, start - _MENTION_REACH) : start]
    after = folded[end : end + _MENTION_REACH].partition("\n")[0]
    for mark, close in _MARKS.items():
        place = before.rfind(mark)
        closed = before.count(mark) % 2 == 0 if mark == close else close in before[max(place, 0) :]
        # A value after its name (`"comment": "…"`) quotes nobody, and neither does a text that is all in quotation
        # marks.
        said = before[: max(place, 0)].rstrip()
        if place >= 0 and not closed and said != "" and not said.endswith('":') and close in after:
            return True
    return False


MOST_FILES = 2_000

_PROSE = frozenset({".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ".html", ".htm"})
_CODE = frozenset(
    {
        *(".py", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx"),
        *(
            *(".rb", ".pl", ".php", ".lua", ".go", ".rs", ".c", ".h", ".cpp", ".java", ".kt", ".swift", ".r"),
            *(".sql", ".awk"),
        ),
        *(".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".xml", ".csv", ".tsv", ".css", ".svg"),
    }
)
# Pictures and fonts are the only bytes that may be no text. Everything else that is no text is held back.
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"wOFF", b"wOF2", b"\x00\x01\x00\x00\x00")


def scan_skill(files: Mapping[str, bytes]) -> Report:
    """One report over all files of a skill by relative path; `Finding.file` says which. Symlinks are the caller's."""
    if len(files) > MOST_FILES:
        return judged("", [_quarantined("too-many-files", 0, 0)], "skill")
    if sum(map(len, files.values())) > LARGEST:
        return judged("", [_quarantined("too-large", 0, 0)], "skill")
    reports = [scan("\n".join(sorted(files)).encode("utf-8", "surrogatepass"), "skill")]
    for name in sorted(files):
        content = files[name]
        is_picture = content.startswith(_PICTURES) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP")
        # A picture is read as ASCII: text appended to it is found, its own bytes mean nothing.
        text: str | bytes = content.decode("ascii", "replace").replace("\0", "?") if is_picture else content
        # A name proves nothing: only endings known for one use get one reading, everything else gets both.
        ending = splitext(name)[1].lower()
        surfaces = ("skill",) if ending in _PROSE else ("script",) if ending in _CODE else ("script", "skill")
        for surface in surfaces:
            report = scan(text, surface)
            reports.append(replace(report, findings=tuple(replace(one, file=name) for one in report.findings)))
    return join_reports(reports)
