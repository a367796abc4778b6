"""The Policy: which Proposals land by themselves, which ask, which are refused; who may approve. And how a proposed
text stands to every rule there is, on every surface an agent reads.

The policy is a small readable file. What it cannot do is fixed here: nothing unsafe, nothing that bears authority,
nothing critical, nothing that rests on less than the owner's words, and nothing shared lands by itself, whatever the
file says.

Rules that are marked critical: what would change one, drop it or speak against it is never done without a person. An
entry of memory has a row in history anyway. A rule of a skill gets one when it is first marked; from then on the row
follows its words. It stays when the rule is taken away: should it come back, it is critical still.
"""

from __future__ import annotations

import difflib
import stat
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from reverie.changes.history import rules_in
from reverie.changes.ledger import Edit, Known, Moves
from reverie.changes.proposal import Related
from reverie.core.errors import BadSetting
from reverie.core.ids import sha256
from reverie.core.scope import Origin
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.operation import entry_hash, matched, places_of
from reverie.safety.scan import Report
from reverie.skills.skill import ARCHIVE, MAIN
from reverie.text.relation import RelationKind, relate

Answer = Literal["land", "ask", "refuse"]
PEOPLE_FOR_SHARED = 3
MOST_BYTES = 32_768
LONGEST_LINE = 500
LARGEST = 36_500  # a hundred years of days

DEFAULT = """\
# What happens to a proposed change: it can land by itself, ask a person, or be refused.
# Whatever stands here: unsafe or authority-bearing text, critical rules, shared memory, and anything that rests on
# less than the owner's own words always ask.

[memory]
add = "land"
replace = "land"
remove = "land"

[skills]
create = "ask"
patch = "ask"
merge = "ask"
retire = "ask"
revert = "ask"

# One target can be stricter or looser: [target.hermes] with the same keys.

[review]
approvers = ["*"]            # who may approve; "*" is everyone who can reach this home
own_proposals = "private"    # who proposed it may approve it: "always", "private" (not for shared memory), "never"
per_day = 40                 # a person is shown at most this many a day, the best first; a night adds at most ten
expires_after_days = 30      # unanswered means no
"""
NEAR = 0.3  # likeness from which two statements are worth comparing closely
MOST_COMPARED = 24
MOST_SHOWN = 5
LONGEST = 2_000  # characters of a statement that are compared: the memory this takes grows with them
_ORDER = {"contradicts": 0, "supersedes": 1, "refines": 2, "same": 3}
CONFIRM = "it touches a critical rule, which has to be confirmed"
LONGEST_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Ruling:
    answer: Answer
    why: str


@dataclass(frozen=True, slots=True)
class PolicyCase:
    """The facts a ruling depends on."""

    surface: Literal["memory", "skills"]
    target: str
    actions: tuple[str, ...]
    origin: Origin | None
    report: Report
    critical: str = ""  # what of it touches a critical rule, in words
    shared: bool = False
    people: int = 1


@dataclass(frozen=True, slots=True)
class Policy:
    name: str
    answers: Mapping[str, Mapping[str, Answer]]
    targets: Mapping[str, Mapping[str, Answer]] = field(default_factory=dict)
    approvers: tuple[str, ...] = ("*",)
    own_proposals: Literal["always", "private", "never"] = "private"
    per_day: int = 40
    expires_after_days: int = 30
    gated: Mapping[str, str] = field(default_factory=dict)  # targets whose own settings want every write approved

    def rules(self, case: PolicyCase) -> Ruling:
        own, usual = self.targets.get(case.target, {}), self.answers[case.surface]
        written = {own.get(action) or usual.get(action, "ask"): action for action in case.actions}
        if "refuse" in written:
            return Ruling("refuse", f"the policy refuses to {written['refuse']} on {case.surface} of {case.target}")
        # The rulings no policy can change.
        if case.report.blocked:
            return Ruling("ask", "the safety scan would keep it out")
        if case.report.needs_person:
            return Ruling(
                "ask", "it bears authority: it changes what the agent may do, whom it obeys or where things go"
            )
        if case.critical:
            return Ruling("ask", case.critical)
        if case.shared:
            short = case.people < PEOPLE_FOR_SHARED
            return Ruling("refuse" if short else "ask", f"shared rules need {PEOPLE_FOR_SHARED} people and a verdict")
        if case.surface == "memory" and (why := self.gated.get(case.target)):
            return Ruling("ask", why)
        if "ask" in written:
            return Ruling("ask", f"the policy leaves it to a person ({case.surface}: {written['ask']})")
        if case.origin is None or case.origin.strength < Origin.OWNER.strength:
            whose = f"the {case.origin}" if case.origin else "nobody known"
            return Ruling("ask", f"it rests on words of {whose}, not of the owner")
        return Ruling("land", f"the policy lets {case.surface} {', '.join(case.actions)} land on the owner's words")

    def may_approve(self, person: str, proposer: str, shared: bool) -> str | None:
        """Why this person may not approve this, or None if they may."""
        if "*" not in self.approvers and person not in self.approvers:
            return f"{person} is not among the approvers of the policy ({', '.join(self.approvers)})"
        forbidden = self.own_proposals == "never" or (self.own_proposals == "private" and shared)
        if forbidden and person == proposer:
            return f"{person} proposed it, and the policy wants someone else to approve"
        return None


def read_policy(path: Path) -> Policy:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadSetting(f"{path} is not a regular file.", expected="a small text", next_step="Move it away.")
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1).decode("utf-8")
    except FileNotFoundError:
        return parse_policy(DEFAULT, "the default policy")
    except (UnicodeDecodeError, OSError) as error:
        raise BadSetting(f"{path} cannot be read: {error}.", next_step="Mend it or move it away.") from error
    return parse_policy(text, f"{path.name} {sha256(text)[:12]}")


def parse_policy(text: str, name: str) -> Policy:
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise BadSetting("The policy is too long.", expected=f"at most {MOST_BYTES:,} bytes")
    if max(map(len, text.splitlines()), default=0) > LONGEST_LINE:  # reading dotted keys takes the square of their dots
        raise BadSetting("The policy has a line that is too long.", expected=f"at most {LONGEST_LINE} characters")
    try:
        told = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadSetting(f"The policy is not TOML: {error}.", next_step="Mend it or move it away.") from error
    if "target" not in told and "shelf" in told:  # what earlier versions called it
        told["target"] = told.pop("shelf")
    known = tomllib.loads(DEFAULT)
    _only_known(told, [*known, "target"], "")
    answers = {
        surface: {**known[surface], **_answers(told.get(surface, {}), surface, known[surface])}
        for surface in ("memory", "skills")
    }
    every = known["memory"] | known["skills"]
    chosen = _table(told.get("target", {}), "target")
    targets = {name: _answers(one, f"target.{name}", every) for name, one in chosen.items()}
    review: dict[str, Any] = known["review"] | _table(told.get("review", {}), "review")
    _only_known(review, list(known["review"]), "[review] ")
    people, own = review["approvers"], review["own_proposals"]
    if not isinstance(people, list) or not all(isinstance(one, str) for one in people):
        raise BadSetting(f"The policy says approvers = {people!r}.", expected='a list of names such as ["ann"]')
    if own not in ("always", "private", "never"):
        raise BadSetting(f"own_proposals is {own!r}.", expected="always, private or never")
    for key in ("per_day", "expires_after_days"):
        days = review[key]
        if not isinstance(days, int) or isinstance(days, bool) or not 1 <= days <= LARGEST:
            raise BadSetting(f"The policy says {key} = {days!r}.", expected=f"a whole number, 1 to {LARGEST:,}")
    return Policy(name, answers, targets, **review | {"approvers": tuple(people)})


def _table(told: Any, name: str) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise BadSetting(f"The policy sets {name} to {told!r}.", expected=f"a table [{name}]")
    return told


def _answers(said: Any, where: str, known: Mapping[str, Any]) -> dict[str, Answer]:
    told: dict[str, Answer] = _table(said, where)
    _only_known(told, list(known), f"[{where}] ")
    for key, answer in told.items():
        if answer not in get_args(Answer):
            raise BadSetting(
                f"The policy says {key} = {answer!r} in [{where}].", expected=" or ".join(get_args(Answer))
            )
    return told


def _only_known(told: Mapping[str, Any], known: list[str], where: str) -> None:
    for key in told:
        if key not in known:
            close = difflib.get_close_matches(key, known, 1)
            raise BadSetting(
                f"The policy sets {where}{key!r}.",
                expected=f"only {', '.join(known)}",
                next_step=f"Did you mean {close[0]!r}?" if close else "",
            )


# ---- how a text stands to every rule there is ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statement:
    """A rule that stands somewhere: `hermes/MEMORY.md`, `skills/deploy`, `AGENTS.md`."""

    surface: str
    text: str
    kind: str = "memory"


def related_statements(statements: Callable[[], Iterable[Statement]], texts: Iterable[str]) -> tuple[Related, ...]:
    """The statements that the texts repeat, refine, supersede or contradict; conflicts first."""
    from reverie.text.embedding import embed

    wanted = [text[:LONGEST] for text in texts]
    known = [Statement(one.surface, one.text[:LONGEST]) for one in statements()] if wanted else []
    vectors = embed([one.text for one in known]) if known else None
    found = list[Related]()
    for text in wanted if vectors is not None else ():
        likeness = vectors @ embed([text])[0]
        for at in sorted(range(len(known)), key=lambda at: -float(likeness[at]))[:MOST_COMPARED]:
            if likeness[at] < NEAR:
                break
            surface, stands = known[at].surface, known[at].text
            relation = relate(stands, text)
            if relation.kind is not RelationKind.UNRELATED and stands != text:
                confidence = round(relation.confidence, 2)
                found.append(Related(surface, stands, relation.kind.value, confidence, relation.why))
    found.sort(key=lambda one: (_ORDER[one.relation], -one.confidence, one.surface, one.text))
    return tuple(found[:MOST_SHOWN])


def critical_rules_touched(
    known: Callable[[str], Known | None], form: FormatName | None, edits: Iterable[Edit]
) -> list[str]:
    """The critical rules that edits would change or drop, in their own words. Adding beside one is not that."""
    found = []
    for edit in edits:
        was = known(edit.document)
        marked = {one.sha256 for one in was.entries if one.critical} if was else set()
        sides = (edit.before, edit.after)
        before, after = (Counter(statements_of_document(form, edit.document, side)) for side in sides)
        found += [text for text in before - after if entry_hash(text) in marked] if marked else []
    return found


def why_it_asks(dropped: Iterable[str], related: Iterable[Related], critical: frozenset[str]) -> str:
    """Why a person has to be asked, naming the rule; empty where nothing critical is concerned."""
    for text in dropped:
        return f"it changes or drops a rule marked critical: “{_short(text)}”"
    for one in related:
        if one.relation in ("contradicts", "supersedes") and entry_hash(one.text) in critical:
            return f"it speaks against a rule marked critical, in {one.surface}: “{_short(one.text)}”"
    return ""


def statements_of_document(form: FormatName | None, document: str, content: bytes | None) -> list[str]:
    """The entries of a document, or the rules of a skill. What is archived, or is no page, is told to no agent."""
    if form is not None:
        return list(FORMATS[form].read(content or b"").entries)
    if document.startswith(f"{ARCHIVE}/") or not document.endswith(".md"):
        return []
    folder, _, name = document.rpartition("/")
    return rules_in(folder if name in MAIN else document, document, content)


def rules_moved(edits: Iterable[Edit], known: Callable[[str], Known | None]) -> Mapping[str, Moves]:
    """The rules with a row that edits of a skill reword, or that another skill takes in."""
    edits = list(edits)
    places = {edit.document: known(edit.document) for edit in edits}
    marked = {one.sha256 for was in places.values() if was for one in was.entries if one.critical}
    if not marked:
        return {}
    moves = dict[str, Moves]()
    for edit in edits:
        was = places[edit.document]
        entries = was.entries if was else ()
        old, new = (statements_of_document(None, edit.document, side) for side in (edit.before, edit.after))
        rows = {at: entry.id for at, entry in places_of(entries, old).items()}
        edited = tuple((rows[a], entry_hash(new[b])) for a, b in matched(old, new).edited if a in rows)
        have = {one.sha256 for one in entries} | {sha for _, sha in edited}
        came = tuple(sha for sha in dict.fromkeys(map(entry_hash, new)) if sha in marked - have)
        moves[edit.document] = Moves(came, edited, critical=frozenset(came))
    return moves


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_SHOWN else f"{flat[: LONGEST_SHOWN - 1]}…"
