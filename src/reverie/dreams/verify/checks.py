"""The checks every item has to pass: a table of small functions, each with what it asks and what it found.

They are few and simple on purpose. Where one cannot be sure, the item asks a person; it does not grow into a reader of
its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from reverie.core.origin import Origin
from reverie.dreams.brief import BriefEntry
from reverie.dreams.items import Op
from reverie.dreams.light.dates import dates_in
from reverie.dreams.verify import words
from reverie.dreams.verify.case import CHANGES, NEARLY_WHOLE, OVERTAKES, Case, is_asserted
from reverie.dreams.verify.policy_floor import crossed
from reverie.dreams.verify.quotations import Quoted
from reverie.dreams.verify.reasons import Finding, Reason, Severity, finding
from reverie.memory.audience import belongs
from reverie.safety.personal_numbers import cards, ibans, national_ids
from reverie.safety.scan import scan
from reverie.safety.sensitive import asked_to_remember, sensitive
from reverie.text.relation import RelationKind, relate
from reverie.transcripts.session import Session

LONGEST = 400  # characters of an entry: one statement
CONFLICT, CONFLICT_BESIDE = (
    0.6,
    0.8,
)  # how surely a text contradicts an entry: one it adds to, one beside what it changes
CONFLICT_OF_NOBODYS = 0.4  # in a memory that is nobody's, where less is enough to be careful
SAME = 0.8
_PLACEHOLDER = re.compile(
    r"<(?:mail|iban|card|id|account|phone|address|mark)-\d+(?:\.\d+)?>|\[redacted[:\]]|\[erased\]|\[…\]"
)
_STRUCTURE = re.compile(r"^\s*(?:#{1,6}\s|```|---|§)|[\r\n]|\n§\n")
_DANGLING = re.compile(
    r"(?:[,;:(–—-]|\b(?:and|or|but|the|a|an|of|to|und|oder|der|die|das|y|o|el|la|et|ou|le|e|i))\s*\.?$", re.I
)
_DECIDABLE = frozenset({"authority", "script", "suspicious"})  # a person may decide these where the owner said them
_DOUBTS = {
    "one_off": "are a request for once",
    "question": "are a question",
    "command": "are a request for once",
    "quoted": "are quoted",
    "temporary": "speak of a while",
    "emotion": "tell a mood",
    "chitchat": "are small talk",
    "hypothetical": "only suppose it",
    "progress": "tell what was done",
    "other_person": "are about someone else",
    "undecided": "are not sure of it",
    "joke": "may be a joke",
    "past": "speak of the past",
    "none": "do not say that it holds",
}

_STAND_IN = re.compile(r"<[^<>\n]{1,40}>|\{[^{}\n]{1,40}\}|\$\{?\w+\}?|…|\.\.\.")

Check = Callable[[Case], Iterator[Finding]]


def quotation(case: Case) -> Iterator[Finding]:
    if not (case.support or case.tidies):
        yield finding(Reason.NO_QUOTATION)


def place(case: Case) -> Iterator[Finding]:
    """What it names is there, and may be changed."""
    item, brief = case.item, case.brief
    if item.op.changes_skill:
        return
    if item.op is not Op.REMOVE and item.document not in brief.document:
        yield finding(Reason.UNKNOWN_PLACE, f"The document {item.document!r}")
    unknown = [name for name in item.replaces if name not in brief.entry or not brief.entry[name].changeable]
    if unknown:
        yield finding(Reason.UNKNOWN_PLACE, f"An entry {unknown[0]!r} that can be changed")
    if item.op in (Op.REPLACE, Op.MERGE, Op.REMOVE) and not item.replaces:
        yield finding(Reason.UNKNOWN_PLACE, "The entry it would change")
    if item.op is Op.MERGE and len(set(item.replaces)) < 2:
        yield finding(Reason.UNKNOWN_PLACE, "A second entry to merge")
    documents = list(dict.fromkeys(one.document for one in case.replaced))
    if len(documents) > 1:
        yield finding(Reason.SEVERAL_DOCUMENTS, " and ".join(documents))


def project(case: Case) -> Iterator[Finding]:
    """A matter of one project stands where that project's sessions read it, and nowhere else."""
    document = case.brief.document.get(case.item.document)
    if not case.changes_memory or document is None or not case.item.project:
        return
    if belongs(document, case.item.project) == "elsewhere":
        yield finding(Reason.OTHER_PROJECT, case.item.project, document.name)


def one_statement(case: Case) -> Iterator[Finding]:
    text = case.item.text
    if found := _PLACEHOLDER.search(" ".join([text, *case.item.steps, *case.item.gotchas])):
        yield finding(Reason.PLACEHOLDER, found[0])
    if case.item.op is Op.REMOVE:
        return
    if not any(sign.isalpha() for sign in text):
        yield finding(Reason.NOT_ONE_STATEMENT, "it says nothing")
    elif case.changes_memory and (len(text) > LONGEST or _STRUCTURE.search(text)):
        yield finding(Reason.NOT_ONE_STATEMENT, f"it is longer than {LONGEST} characters, or a piece of a document")


def origin(case: Case) -> Iterator[Finding]:
    if case.support and not case.may_speak:
        yield finding(Reason.ORIGIN, case.origin)


def people(case: Case) -> Iterator[Finding]:
    """In a memory that is nobody's, one person adds what conflicts with nothing; what stands changes by more."""
    if not case.people_needed or not case.changes_memory or not case.support:
        return
    agree = {user for one in case.asserted if (user := one.session.head.user) and _agrees(case, one)}
    if len(agree) >= case.people_needed:
        return
    if case.item.op is not Op.ADD or _conflicts(case):
        yield finding(Reason.FEW_PEOPLE, case.people_needed, len(agree))
    else:
        yield finding(Reason.NOBODYS)


def _agrees(case: Case, one: Quoted) -> bool:
    """Whether one person's own words say all that is new in it; of what goes, that it is over."""
    about = case.item.text or " ".join(case.old)
    shared = words.stems(about) & words.stems(one.sentence)
    if case.item.op is Op.REMOVE:
        told = any(span.reading.kind in CHANGES for span in one.spans)
        return bool(shared) and (told or words.negated(one.sentence))
    new = words.missing(words.values(case.restored(about)), case.old)
    said = not words.missing(new, [one.sentence]) and words.negated(about) == words.negated(one.sentence)
    return said and len(shared) * 2 >= len(words.stems(about))


def _conflicts(case: Case) -> bool:
    text, staying = case.restored(case.item.text), (*case.brief.entries, *case.surfaces)
    return any(relate(case.restored(entry.text), text).conflict >= CONFLICT_OF_NOBODYS for entry in staying) or bool(
        case.tells_a_change and _same_subject(text, staying)
    )


def own_words(case: Case) -> Iterator[Finding]:
    """Somebody typed them, as their own; what the text says does not stand between quotation marks."""
    spoken = [one for one in case.support if one.origin is not Origin.OPERATOR]
    text = case.restored(case.item.text)
    own = [span for one in spoken if not one.plays for span in one.spans if not (text and span.quotes(text))]
    if case.may_speak and spoken and (not own or _mostly_pasted(case, text)):
        yield finding(Reason.NOT_OWN_WORDS)


def _mostly_pasted(case: Case, text: str) -> bool:
    """Most of what the text says beyond the entry it changes was not typed by whoever is quoted, only pasted."""
    if case.item.op is Op.REMOVE or any(one.origin is Origin.OPERATOR for one in case.support):
        return False
    beyond = words.stems(text) - words.stems(" ".join(case.old))
    pasted = beyond & words.stems(" ".join(one.evidence.quote for one in case.support))
    pasted -= words.stems(" ".join(one.typed for one in case.support))
    return len(pasted) * 2 > len(beyond)


def asserted(case: Case) -> Iterator[Finding]:
    """Somebody said that it is so; they did not ask, suppose, play or mean it for once."""
    if not case.may_speak or case.asserted or not any(one.spans and not one.plays for one in case.support):
        return
    doubted = [span for one in case.support for span in one.spans]
    doubts = ["question" if one.asked else one.reading.why for one in doubted]
    yield finding(Reason.NOT_ASSERTED, _DOUBTS[doubts[0] if doubts else "question"])


def meant(case: Case) -> Iterator[Finding]:
    """Nobody took it back, or laughed about it."""
    if case.asserted and all(words.pattern("laughter").search(one.turn_text) for one in case.asserted):
        yield finding(Reason.NOT_ASSERTED, "may have been said in jest")
    for one in case.asserted:
        if taken := _taken_back(case, one.session, one.evidence.turn, one.evidence.quote):
            yield finding(Reason.TAKEN_BACK, taken)
            return


def _taken_back(case: Case, session: Session, number: int, quoted: str) -> str:
    """The words of the same person, right behind or in the next two turns, that take it back; or that contradict it."""
    later = [turn.number for turn in session.turns[number:] if turn.role == "user" and turn.noise is None][:2]
    behind = session.turn(number).text.partition(quoted)[2].strip()
    said = [behind, *(session.turn(one).text for one in later)]
    for text in said:
        head = " ".join(text.split())[:160]
        if head and words.pattern("taken_back").search(head):
            return head[:80]
    cited = " ".join(one.sentence for one in case.support)
    for one in later:
        for span in (each for each in case.spans.of(session, one) if each.text not in cited):
            about_it = words.stems(case.item.text) & words.stems(span.text)
            if about_it and relate(case.item.text, span.text).conflict >= CONFLICT:
                return span.text[:80]
    return ""


def grounded(case: Case) -> Iterator[Finding]:
    """Every number, address, command and name of the text stands in what was said, or in the entry it changes."""
    text = case.restored(case.item.text)
    if case.item.op.changes_skill:
        text = " ".join([text, *case.item.steps, *case.item.gotchas])
    anywhere = chain(case.said, _cited(case), (case.restored(one.text) for one in case.brief.entries))
    commands = words.commands(text)
    if case.item.op.changes_skill:  # as a template: every word of it was run or said, whatever stands in for the rest
        commands = [word for one in commands for word in _STAND_IN.sub(" ", one).split()]
    invented = words.missing([*words.addresses(_STAND_IN.sub(" ", text)), *commands], anywhere)
    if invented:
        yield finding(Reason.INVENTED_ADDRESS, f"“{invented[0]}”")
        return
    if case.item.op is Op.REMOVE or not case.changes_memory or case.tidies:
        return
    known = chain([case.brief.owner], (one.text for one in case.brief.entries), _days(case), _projects(case))
    unsaid = words.missing(words.values(text), chain(case.said, known, _in_the_same_session(case)))
    if unsaid:
        yield finding(Reason.UNGROUNDED, f"“{unsaid[0]}”")
    elif _mostly_new(text, case):
        yield finding(Reason.UNGROUNDED, "it in these words")


def _cited(case: Case) -> Iterator[str]:
    """The turns that were cited; of a skill all that was run in their sessions."""
    if not case.item.op.changes_skill:
        yield from (one.session.turn(one.evidence.turn).said.whole for one in case.quotes)
        return
    for session in {one.session.id: one.session for one in case.quotes}.values():
        yield from (turn.said.whole.replace('\\"', '"').replace("\\n", "\n") for turn in session.turns)


def _in_the_same_session(case: Case) -> Iterator[str]:
    """What whoever is quoted said besides in that session, as their own."""
    for session in {one.session.id: one.session for one in case.support}.values():
        for turn in (one for one in session.turns if one.role == "user" and one.noise is None):
            yield " ".join(span.text for span in case.spans.of(session, turn.number))


def _mostly_new(text: str, case: Case) -> bool:
    """What the text says beyond the entry it changes shares too few words with what was said."""
    beyond = words.stems(text) - words.stems(" ".join(case.old))
    said = words.shared(text, " ".join([*case.said, *_days(case)]))
    return bool(beyond) and len(beyond & said) * 3 < len(beyond)


def _days(case: Case) -> Iterator[str]:
    """Days that were meant by "since Friday", in the ways they are written."""
    for one in case.support:
        said_on = one.said_at.date() if one.said_at else None
        found = dates_in(words.plain(one.turn_text or one.evidence.quote), said_on)
        for day in [*(spoken.day for spoken in found), *([said_on] if said_on else [])]:
            written = f"{day.isoformat()} {day.day} {day.month} {day.year} {day:%B} {day:%A}"
            yield f"{written} {day.day}.{day.month}.{day.year}"


def _projects(case: Case) -> Iterator[str]:
    yield from (one.project for one in case.brief.sessions if one.project)


def negation(case: Case) -> Iterator[Finding]:
    if case.item.op is Op.REMOVE or not case.changes_memory or not case.support:
        return
    said = any(words.contrasts(one.sentence) for one in case.support)
    there = any(map(words.negated, case.old))
    if (words.negated(case.item.text) and not (said or there)) or (
        case.item.op is Op.ADD and not words.negated(case.item.text) and _all_negated(case)
    ):
        yield finding(Reason.NEGATION)


def _all_negated(case: Case) -> bool:
    """In every quotation, the clause that is nearest to the text denies something."""
    text = words.stems(case.item.text)

    def shared(clause: str) -> int:
        return len(words.stems(clause) & text)

    return all(words.negated(max(words.clauses(one.evidence.quote), key=shared)) for one in case.support)


def newer(case: Case) -> Iterator[Finding]:
    """What is said replaces only what is older."""
    said = max((one.said_at for one in case.asserted or case.support if one.said_at), default=None)
    if case.tidies:
        return
    for entry in case.replaced:
        if said is None or entry.since is None:
            yield finding(Reason.AGE_UNKNOWN)
        elif said <= entry.since:
            yield finding(Reason.OLDER, _day(said), _day(entry.since)) if entry.exact else finding(Reason.AGE_UNKNOWN)


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"


def carried_over(case: Case) -> Iterator[Finding]:
    """What the entry says besides, and nobody spoke of, is still said."""
    if case.item.op not in (Op.REPLACE, Op.MERGE):
        return
    text = case.restored(case.item.text)
    said = " ".join([*(one.sentence for one in case.support), *(one.turn_text for one in case.support)])
    new = words.missing(words.values(text), case.old)
    free = [words.shape_of(one) for one in new]
    free += ["word"] * len((words.stems(text) - words.stems(" ".join(case.old))) & words.stems(said))
    for old in case.old:
        for value in words.missing(words.values(old), [text, said]):
            taken = _taken_place(words.shape_of(value), free)
            if taken is None and not _part_of_what_changed(value, old, text):
                yield finding(Reason.DROPS_CONTENT, value)
                return
            if taken:
                free.remove(taken)
        for clause in words.clauses(old):
            if words.stems(clause) and not words.shared(clause, f"{text} {said}"):
                yield finding(Reason.DROPS_CONTENT, clause.strip(" ."))
                return


def _part_of_what_changed(value: str, old: str, text: str) -> bool:
    """It stands right beside another value that is gone: "Trados Studio" is one name, "3.34 LTR" one version."""
    gone = [one for one in words.values(old) if words.plain(one) not in words.plain(text)]
    beside = [rf"{re.escape(one)}\s{re.escape(value)}|{re.escape(value)}\s{re.escape(one)}" for one in gone]
    return any(re.search(one, old) for one in beside)


def _taken_place(shape: str, free: list[str]) -> str | None:
    """What stands in the place of a value: one of its shape; for a number or a day also a word, such as "noon"."""
    if shape in free:
        return shape
    return "word" if shape in ("number", "day") and "word" in free else None


def removal(case: Case) -> Iterator[Finding]:
    """An entry goes only if it was spoken of, as over; or if another that stays says all of it."""
    if case.item.op is not Op.REMOVE or case.tidies:
        return
    said = " ".join(one.sentence for one in case.support)
    over = case.tells_a_change or words.ceases(said)
    for old in case.old:
        spoken_of = words.shared(old, said)
        if not spoken_of or not (_still_said(old, case) or (over and _is_nearest(old, said, case))):
            yield finding(Reason.UNGROUNDED, f"that “{old[:80]}” is over")


def _still_said(old: str, case: Case) -> bool:
    """Nothing is lost without it: an entry that stays has its values and nearly all of its words."""
    staying = [case.restored(one.text) for one in case.brief.entries if one not in case.replaced]
    least = NEARLY_WHOLE * len(words.stems(old))
    return any(len(words.shared(old, one)) >= least and not words.missing(words.values(old), [one]) for one in staying)


def _is_nearest(old: str, said: str, case: Case) -> bool:
    """Of all entries, this is the one that was spoken of, by the person or by the agent they react to."""
    said = " ".join([said, *(one.answers for one in case.support)])
    others = [case.restored(one.text) for one in case.brief.entries if one not in case.replaced]
    return all(words.likeness(old, said) > words.likeness(other, said) for other in others)


def stands_alone(case: Case) -> Iterator[Finding]:
    text = case.item.text.strip()
    if case.item.op is Op.REMOVE or not case.changes_memory or not text:
        return
    spoken = re.findall(r"[\w']+", words.plain(text))
    before = {words.plain(old).split()[0] for old in case.old if old.split()}
    if spoken and spoken[0] in (words.words("leaning") | words.words("pronouns")) - before:
        yield finding(Reason.LEANS, f"it begins with “{spoken[0]}”")
    elif (named := set(spoken) & words.words("pronouns")) and case.copied:
        yield finding(Reason.UNNAMED, min(named))
    elif text.endswith(("?", "？")) or _DANGLING.search(text) or len(words.stems(text)) < 2 or _is_torn(text):
        yield finding(Reason.LEANS, "it is not a whole statement")
    elif relative := set(spoken) & words.words("relative_day"):
        yield finding(Reason.LEANS, f"“{min(relative)}” means another day tomorrow")


def _is_torn(text: str) -> bool:
    """A quotation begins in it and does not end. “…”, „…“ and „…” are all written."""
    return any(sum(map(text.count, pair)) % 2 for pair in ('"', "“”„", "«»", "「」"))


def new_here(case: Case) -> Iterator[Finding]:
    """It is not said already, and contradicts nothing that stays."""
    if case.item.op is Op.REMOVE or not case.changes_memory or case.tidies:
        return
    text = case.restored(case.item.text)
    if case.item.op is Op.REPLACE and words.bare(text) in map(words.bare, case.old):
        yield finding(Reason.KNOWN, case.item.text)
        return
    staying = [one for one in (*case.brief.entries, *case.surfaces) if one not in case.replaced]
    for entry in staying:
        if _says_the_same(entry, text, case):
            yield finding(Reason.KNOWN, entry.text)
            return
    limit = CONFLICT if case.item.op is Op.ADD else CONFLICT_BESIDE
    for entry in staying:
        if relate(case.restored(entry.text), text).conflict >= limit:
            yield finding(Reason.CONTRADICTS, entry.text, entry.document)
            return
    overtaken = _same_subject(text, staying) if case.item.op is Op.ADD and case.kinds & OVERTAKES else None
    if overtaken:
        yield finding(Reason.OVERTAKES, overtaken.text)


def _same_subject(text: str, entries: Iterable[BriefEntry]) -> BriefEntry | None:
    """The entry that a change may be about: it shares two words with it, or half of them."""
    said = words.stems(text)
    for entry in entries:
        there = words.stems(entry.text)
        if len(said & there) >= min(2, max(1, len(there) // 2)):
            return entry
    return None


def _says_the_same(entry: BriefEntry, text: str, case: Case) -> bool:
    old = case.restored(entry.text)
    if words.bare(old) == words.bare(text):
        return True
    found = relate(old, text)
    denies = case.tells_a_change and words.negated(old) != words.negated(text)
    if found.kind is not RelationKind.SAME or found.confidence < SAME or denies:
        return False
    return not words.missing(words.values(text), [old])


def critical(case: Case) -> Iterator[Finding]:
    if any(one.critical for one in case.replaced):
        yield finding(Reason.CRITICAL)


def safe(case: Case) -> Iterator[Finding]:
    """No secret, nothing private that nobody asked to keep, nothing the scanner blocks; authority is for a person."""
    item = case.item
    text = case.restored("\n".join([item.text, *item.steps, *item.gotchas]))
    spoken = [one.evidence.quote for one in case.support]
    as_said = text.strip(" .")[1:]  # what differs from the text in its first letter only says nothing else
    unlike = [one for one in spoken if one.strip(" .")[1:] != as_said or item.op.changes_skill]
    if any("[redacted" in one for one in spoken):
        yield finding(Reason.SECRET)
    private = {one.kind for said in (text, *unlike) for one in sensitive(said)}
    private |= {"the number of an account or a document" for find in (ibans, cards, national_ids) for _ in find(text)}
    if "credentials" in private:
        yield finding(Reason.SECRET)
    elif private and not (
        case.own and any(asked_to_remember(one.turn_text or one.evidence.quote) for one in case.support)
    ):
        yield finding(Reason.SENSITIVE, ", ".join(sorted(private)))
    if item.op is Op.REMOVE:
        return
    report = scan(text, "memory" if case.changes_memory else "skill")
    blocking = {one.category for one in report.findings}
    if report.blocked and not (case.own and blocking <= _DECIDABLE):
        yield finding(Reason.UNSAFE, ", ".join(sorted(blocking)))
    elif report.blocked or report.needs_person or any(scan(one, "memory").needs_person for one in unlike):
        yield finding(Reason.AUTHORITY) if case.own else finding(Reason.UNSAFE, "it would give authority")
    elif case.changes_memory and not case.tidies and crossed(text, case.old):
        yield finding(Reason.AUTHORITY)


@dataclass(frozen=True, slots=True)
class Asked:
    """A check with the question it asks, as the diary and `explain` show it."""

    name: str
    question: str
    check: Check


CHECKS = (
    Asked("quotation", "Does every quotation stand in its turn?", quotation),
    Asked("place", "Are the document and the entries there?", place),
    Asked("project", "Is it read where it holds?", project),
    Asked("one_statement", "Is it one statement?", one_statement),
    Asked("origin", "Are they words of the owner?", origin),
    Asked("people", "Do as many people say so as it needs?", people),
    Asked("own_words", "Did the person say it themselves?", own_words),
    Asked("asserted", "Did they say that it is so?", asserted),
    Asked("meant", "Did they mean it, and not take it back?", meant),
    Asked("grounded", "Was every value of it said?", grounded),
    Asked("negation", "Is a “not” where it was said?", negation),
    Asked("newer", "Is it newer than what it changes?", newer),
    Asked("carried_over", "Is what the entry says besides kept?", carried_over),
    Asked("removal", "Was what goes spoken of as over?", removal),
    Asked("stands_alone", "Can it be understood alone?", stands_alone),
    Asked("new_here", "Is it new, and contradicts nothing that stays?", new_here),
    Asked("critical", "Is nothing critical touched?", critical),
    Asked("safe", "Is it safe, and nobody's secret?", safe),
)


@dataclass(frozen=True, slots=True)
class Checked:
    """What one check found in an item; nothing: it passed."""

    name: str
    findings: tuple[Finding, ...] = ()


def check(case: Case) -> tuple[Checked, ...]:
    """Every check, in order. Without a quotation there is nothing to look at further."""
    done = list[Checked]()
    for one in CHECKS:
        found = tuple(one.check(case))
        done.append(Checked(one.name, found))
        if one.name in ("quotation", "place") and any(each.severity is Severity.REFUSED for each in found):
            break
    return tuple(done)


__all__ = ["CHECKS", "Asked", "Check", "Checked", "check", "is_asserted"]
