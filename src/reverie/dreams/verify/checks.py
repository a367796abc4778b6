"""The checks every item has to pass: a table of small functions, each with what it asks and what it found.

They are few and simple on purpose. Where one cannot be sure, the item asks a person; it does not grow into a reader of
its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from reverie.core.scope import Origin
from reverie.dreams import words
from reverie.dreams.brief.brief import BriefEntry
from reverie.dreams.items import Op
from reverie.dreams.light.language import dates_in
from reverie.dreams.light.spans import Span, is_to_last
from reverie.dreams.verify.case import OVERTAKES, STANDING, Case, Quoted
from reverie.dreams.verify.reasons import Objection, Reason, Severity, finding
from reverie.dreams.verify.trained import crossed, foreign
from reverie.memory.target import belongs
from reverie.safety.identifiers import cards, ibans, national_ids
from reverie.safety.scan import scan
from reverie.safety.secrets.values import said_of_passwords
from reverie.safety.sensitive import asked_to_remember, sensitive
from reverie.text.relation import RelationKind, chances_of, conflict_on_one_matter, mutual_conflict, relate
from reverie.text.values import NAME, find_values, spelled
from reverie.text.words import normal
from reverie.transcripts.session import Session, Turn
from reverie.transcripts.typed import is_unlike

LONGEST = 400  # characters of an entry: one statement
CONFLICT = 0.45  # how surely it contradicts what stays, or what was said
CONFLICT_OF_NOBODYS = 0.26  # in a memory that is nobody's, where less is enough to be careful
SAME = 0.8
UNRELATED, PLAINLY_RELATED = 0.75, 0.05  # the chance that what was said is about something else than the entry
ENDS, PLAINLY_AGAINST = 0.2, 0.75  # how surely what was said conflicts with what it ends, or takes the place of
HARDLY_BEGUN = 3  # words of a turn, before which it has said nothing yet
SOMEBODY_ELSES = 0.25  # from where the tagger takes a sentence for somebody else's
FOREIGN = 0.5  # from where words are taken for somebody else's; of what people say all day 2 in 100 reach it
SURELY_FOREIGN = 0.7  # where they are said to last
_PLACEHOLDER = re.compile(
    r"<(?:mail|iban|card|id|account|phone|address|mark)-\d+(?:\.\d+)?>|\[redacted(?::[^\]\s]*\]?|\])|\[erased\]|\[…\]"
)
_STAND_IN = re.compile(r"<[^<>\n]{1,40}>|\{[^{}\n]{1,40}\}|\$\{?\w+\}?|…|\.\.\.")
_STRUCTURE = re.compile(r"^\s*(?:#{1,6}\s|```|---|§)|[\r\n]")
_UNFINISHED = re.compile(r"[?？,;:(–—-]\s*\.?$")
_PAIRS = ('"', "“”„", "«»", "「」")  # “…”, „…“ and „…” are all written
_DECIDABLE = frozenset({"authority", "script", "suspicious"})  # a person may decide these where the owner said them

Check = Callable[[Case], Iterator[Objection]]


def quotation(case: Case) -> Iterator[Objection]:
    if not (case.support or case.tidies):
        yield finding(Reason.NO_QUOTATION)


def place(case: Case) -> Iterator[Objection]:
    """What it names is there, and may be changed."""
    item, brief = case.item, case.brief
    if item.op.changes_skill:
        return
    if item.op is not Op.REMOVE and item.document not in brief.document:
        yield finding(Reason.UNKNOWN_PLACE, f"The document {item.document!r}")
    for name in item.replaces:
        if name not in brief.entry or not brief.entry[name].changeable:
            yield finding(Reason.UNKNOWN_PLACE, f"An entry {name!r} that can be changed")
    if len(set(item.replaces)) < {Op.ADD: 0, Op.MERGE: 2}.get(item.op, 1):
        yield finding(Reason.UNKNOWN_PLACE, "The entry it would change")
    documents = list(dict.fromkeys(one.document for one in case.replaced))
    if len(documents) > 1:
        yield finding(Reason.SEVERAL_DOCUMENTS, " and ".join(documents))


def project(case: Case) -> Iterator[Objection]:
    """A matter of one project stands where that project's sessions read it, and nowhere else."""
    document = case.brief.document.get(case.item.document)
    if case.changes_memory and document and case.item.project and belongs(document, case.item.project) == "elsewhere":
        yield finding(Reason.OTHER_PROJECT, case.item.project, document.name)


def one_statement(case: Case) -> Iterator[Objection]:
    text = case.item.text
    if found := _PLACEHOLDER.search(" ".join([text, *case.item.steps, *case.item.gotchas])):
        yield finding(Reason.PLACEHOLDER, found[0])
    if case.item.op is Op.REMOVE:
        return
    if not any(sign.isalpha() for sign in text):
        yield finding(Reason.NOT_ONE_STATEMENT, "it says nothing")
    elif case.changes_memory and (len(text) > LONGEST or _STRUCTURE.search(text)):
        yield finding(Reason.NOT_ONE_STATEMENT, f"it is longer than {LONGEST} characters, or a piece of a document")


def origin(case: Case) -> Iterator[Objection]:
    if case.support and not case.may_speak:
        yield finding(Reason.ORIGIN, case.origin)


def people(case: Case) -> Iterator[Objection]:
    """In a memory that is nobody's, one person adds what conflicts with nothing; what stands changes by more. Whoever
    agrees has said all of it."""
    if not case.people_needed or not case.changes_memory or not case.support:
        return
    users = {one.session.head.user for one in case.asserted} - {"", None}
    agree = sum(not any(_of_their_words(case, user)) for user in users)
    if agree >= case.people_needed:
        return
    staying = (*case.staying, *case.surfaces)
    conflicts = any(relate(case.restored(one.text), case.text).conflict >= CONFLICT_OF_NOBODYS for one in staying)
    if case.item.op is not Op.ADD or conflicts or (case.tells_a_change and _same_subject(case.text, staying)):
        yield finding(Reason.FEW_PEOPLE, case.people_needed, agree)
    else:
        yield finding(Reason.NOBODYS)


def _of_their_words(case: Case, user: str | None) -> Iterator[Objection]:
    """What is found where only this person's words count."""
    theirs = replace(case, quotes=tuple(one for one in case.quotes if one.session.head.user == user))
    return chain.from_iterable(each(theirs) for each in (asserted, grounded, negation, spoken_of))


def own_words(case: Case) -> Iterator[Objection]:
    """Somebody typed them, and they read like their own; what the text says does not stand between quotation marks, and
    most of what it says beyond the entry it changes is not only in what was pasted."""
    text, spoken = case.text, [one for one in case.support if one.origin is not Origin.OPERATOR]
    spans = [(one, span) for one in spoken if not one.plays for span in one.spans]
    own = [span for one, span in spans if _is_own(case, one, span) and not (text and span.quotes(text))]
    beyond = words.stems(text) - words.stems(" ".join(case.old))
    pasted = beyond & words.stems(" ".join(one.evidence.quote for one in case.support))
    pasted -= words.stems(" ".join(one.typed if one in spoken else one.evidence.quote for one in case.support))
    if case.may_speak and spoken and (not own or len(pasted) * 2 > len(beyond)):
        yield finding(Reason.NOT_OWN_WORDS)


def _is_own(case: Case, one: Quoted, span: Span) -> bool:
    """Of something new the trained network tells, and how else the person types. Where it says that it is to last, the
    network has to be very sure: signs and circulars say so, too. Of what changes an entry, which news tell in anybody's
    voice, the tagger."""
    if case.item.op is Op.ADD:
        most = SURELY_FOREIGN if is_to_last(span.text) else FOREIGN
        return foreign(one.line) < most and not is_unlike(one.line, _other_lines(case, one.session.head.user))
    return span.reading.others < SOMEBODY_ELSES


def _other_lines(case: Case, user: str | None) -> Iterator[str]:
    """What else this person said in these sessions, the first line of each turn."""
    cited = {one.line for one in case.support}
    theirs = (session for session in case.material.sessions.values() if session.head.user == user)
    for turn in chain.from_iterable(session.turns for session in theirs):
        if turn.role == "user" and turn.noise is None and turn.origin.strength >= Origin.MEMBER.strength:
            line = turn.text.strip().split("\n", 1)[0]
            if line not in cited:
                yield line


def asserted(case: Case) -> Iterator[Objection]:
    """Somebody said that it is so; they did not ask, suppose, play or mean it for once."""
    doubted = [span for one in case.support if not one.plays for span in one.spans]
    if not case.may_speak or case.asserted or not doubted:
        return
    if any(span.asked and span.reading.keep >= STANDING for span in doubted):
        yield finding(Reason.PUT_AS_QUESTION)
        return
    why = "question" if doubted[0].asked else doubted[0].reading.why
    yield finding(Reason.NOT_ASSERTED, "a remark" if why == "none" else why.replace("_", " "))


def meant(case: Case) -> Iterator[Objection]:
    if case.asserted and all(words.says("laughter", one.sentence_and_next) for one in case.asserted):
        yield finding(Reason.NOT_ASSERTED, "said with a laugh")
    if back := next(_taken_back(case), ""):
        yield finding(Reason.TAKEN_BACK, back[:80])
    elif otherwise := next(chain(_contradicted(case), _old_again(case)), ""):
        yield finding(Reason.SAID_OTHERWISE, otherwise[:80])


def _taken_back(case: Case) -> Iterator[str]:
    """What takes it back in so many words, right behind it or in the person's next two turns."""
    for one in case.asserted:
        behind = one.turn.text.partition(one.evidence.quote)[2]
        heads = [" ".join(text.split())[:160] for text in (behind, *(turn.text for turn in _next_turns(one)))]
        yield from (head for head in heads if _takes_back(head, case, right_behind=head is heads[0]))


def _contradicted(case: Case) -> Iterator[str]:
    """What contradicts it in the person's next two turns."""
    about = words.stems(case.item.text)
    for one in case.asserted:
        spoken = (span.text for turn in _next_turns(one) for span in case.spans.of(one.session, turn.number))
        near = (said for said in spoken if said not in case.sentences and about & words.stems(said))
        yield from (said for said in near if mutual_conflict(case.item.text, said) >= CONFLICT)


def _next_turns(one: Quoted) -> list[Turn]:
    later = one.session.turns[one.evidence.turn :]
    return [turn for turn in later if turn.role == "user" and turn.noise is None][:2]


def _old_again(case: Case) -> Iterator[str]:
    """Where the person speaks of a value that would go in a later session; or says it, if it is a number or an address,
    further on in the same one, and not the one that would come."""
    gone = [] if case.item.op is Op.REMOVE else words.missing(words.values(" ".join(case.old)), [case.text])
    named = [value for value in gone if len(value) > 1]  # "B" alone names nothing
    last = max((at for one in case.support if (at := one.session.head.started_at)), default=None)
    for session in case.material.sessions.values() if named and last else ():
        if session.head.started_at and last and session.head.started_at > last:
            yield from (span.text for span in _spoken(case, session) if _names(span, named))
    exact = [value for value in named if words.shape_of(value) in ("number", "address")]
    new = words.missing(words.values(case.text), case.old)
    for one in case.asserted if exact else ():
        turns = one.session.turns[one.evidence.turn :]
        spans = chain.from_iterable(case.spans.of(one.session, turn.number) for turn in turns)
        yield from (span.text for span in spans if _names(span, exact) and not (span.asked or _names(span, new)))


def _names(span: Span, values: Iterable[str]) -> bool:
    return any(words.stands_in(value, span.own) for value in values)


def _takes_back(later: str, case: Case, *, right_behind: bool) -> bool:
    """A later turn may take back what it has just said itself, if that was something else."""
    found = words.pattern("taken_back").search(words.plain(later))
    before = words.stems(later[: found.start()]) if found else frozenset[str]()
    hardly_begun = right_behind or len(before) < HARDLY_BEGUN
    return found is not None and (hardly_begun or bool(before & words.stems(case.item.text)))


def _spoken(case: Case, session: Session) -> Iterator[Span]:
    """What people say in a session, as their own."""
    return chain.from_iterable(case.spans.of(session, turn.number) for turn in session.turns)


def grounded(case: Case) -> Iterator[Objection]:
    """Every number, address, command and name of the text stands in what was said, or in the entry it changes."""
    text, commands = case.text, words.commands(case.text)
    turns = [one.session.turn(one.evidence.turn) for one in case.quotes]
    if case.item.op.changes_skill:  # a template: every word of it was run or said, whatever stands in for the rest
        text = " ".join([text, *case.item.steps, *case.item.gotchas])
        commands = [word for one in words.commands(text) for word in _STAND_IN.sub(" ", one).split()]
        turns = [
            turn for session in {one.session.id: one.session for one in case.quotes}.values() for turn in session.turns
        ]
    cited = (turn.said.whole.replace('\\"', '"').replace("\\n", "\n") for turn in turns)
    called = [*words.addresses(_STAND_IN.sub(" ", text)), *commands]
    if invented := words.missing(called, chain(case.said, cited, _known(case))):
        yield finding(Reason.INVENTED_ADDRESS, f"“{invented[0]}”")
    elif case.says_something:
        beyond = words.stems(text) - words.stems(" ".join(case.old))
        besides = (span.text for one in case.support for span in _spoken(case, one.session))
        unsaid = words.missing(words.values(text), chain(case.said, _known(case), besides))
        if unsaid := [one for one in unsaid if not _said_otherwise(one, case)]:
            yield finding(Reason.UNGROUNDED, f"“{unsaid[0]}”")
        elif len(beyond & words.shared(text, " ".join([*case.said, *_days(case)]))) * 3 < len(beyond):
            yield finding(Reason.UNGROUNDED, "it in these words")


def _said_otherwise(value: str, case: Case) -> bool:
    """It was said in another notation: "half past three" for "15:30"."""
    wanted = [one for one in find_values(spelled(normal(value))) if one.dimension != NAME]
    said = [*find_values(spelled(normal(" ".join(case.said))))] if wanted else []
    return bool(wanted) and all(
        any(one.dimension == each.dimension and not one.differs(each) for each in said) for one in wanted
    )


def _known(case: Case) -> Iterator[str]:
    """What nobody has to say again: who the owner is, the projects, the days that were meant, what stands there."""
    yield from (case.brief.owner, *(one.project for one in case.brief.sessions))
    yield from _days(case)
    yield from (case.restored(one.text) for one in case.brief.entries)


def _days(case: Case) -> Iterator[str]:
    """The days that were meant by "since Friday", as they are written."""
    for one in case.support:
        said_on = one.said_at.date() if one.said_at else None
        for day in (each.day for each in dates_in(words.plain(one.turn_text), said_on)):
            yield f"{day} {day.day}.{day.month}.{day.year} {day.day} {day:%B} {day.year}"


def negation(case: Case) -> Iterator[Objection]:
    """A “not” of the text was said, or stood there; and what was said with a “not” is kept with it."""
    if not case.says_something or not case.support:
        return
    about, denies = words.stems(case.item.text), words.negated(case.item.text)
    there = any(words.ceases(one.sentence) for one in case.support) or any(map(words.negated, case.old))
    nearest = [
        max(words.clauses(one.evidence.quote), key=lambda clause: len(words.stems(clause) & about))
        for one in case.support
    ]
    if (denies and not there) or (
        (case.item.op is Op.ADD or case.people_needed) and not denies and all(map(words.negated, nearest))
    ):
        yield finding(Reason.NEGATION)


def newer(case: Case) -> Iterator[Objection]:
    """What is said replaces only what is older."""
    said = max((one.said_at for one in case.asserted or case.support if one.said_at), default=None)
    for entry in case.replaced if not case.tidies else ():
        if said is None or entry.since is None or (said <= entry.since and not entry.exact):
            yield finding(Reason.AGE_UNKNOWN)
        elif said <= entry.since:
            yield finding(Reason.OLDER, f"{said:%Y-%m-%d}", f"{entry.since:%Y-%m-%d}")


def carried_over(case: Case) -> Iterator[Objection]:
    """What the entry says besides, and nobody spoke of, is still said. A value goes where one of its shape comes ("x64"
    is a number here); a number or a day also where a word does, such as "noon"."""
    if case.item.op not in (Op.REPLACE, Op.MERGE):
        return
    said = " ".join([case.sentences, *(one.turn_text for one in case.support)])
    free = [_shape(one) for one in words.missing(words.values(case.text), case.old)]
    free += ["word"] * len((words.stems(case.text) - words.stems(" ".join(case.old))) & words.stems(said))
    lost = list[str]()
    for old in case.old:
        for value in words.missing(words.values(old), [case.text, said]):
            shape = _shape(value)
            wanted = (shape, "word") if shape in ("number", "day") else (shape,)
            if taken := next((one for one in wanted if one in free), None):
                free.remove(taken)
            elif not _part_of_what_changed(value, old, case.text):
                lost.append(value)
        clauses = [one for one in words.clauses(old) if words.stems(one)]
        lost += [one.strip(" .") for one in clauses if not words.shared(one, f"{case.text} {said}")]
    if lost:
        yield finding(Reason.DROPS_CONTENT, lost[0])


def _shape(value: str) -> str:
    shape = words.shape_of(value)
    return "number" if shape == "name" and any(sign.isdigit() for sign in value) else shape


def _part_of_what_changed(value: str, old: str, text: str) -> bool:
    """It stands right beside another value that is gone: "Trados Studio" is one name, "3.34 LTR" one version."""
    gone = [one for one in words.values(old) if words.plain(one) not in words.plain(text)]
    return any(f"{one} {value}" in old or f"{value} {one}" in old for one in gone)


def spoken_of(case: Case) -> Iterator[Objection]:
    """What goes was spoken of, and nothing that stays more so; what goes without another in its place, as over."""
    removes = case.item.op is Op.REMOVE
    if not (removes or case.item.op is Op.REPLACE) or case.tidies or not case.support:
        return
    staying = [one for one in case.staying if removes or one.document == case.item.document]
    over = not removes or case.tells_a_change or words.ceases(case.sentences)
    for entry in case.replaced:
        said = len(words.shared(entry.text, case.sentences))
        nearer = next((one for one in staying if len(words.shared(one.text, case.sentences)) > said), None)
        if not over or (removes and nearer):
            yield finding(Reason.UNGROUNDED, f"that “{entry.text[:80]}” is over")
        elif nearer:
            yield finding(Reason.OVERTAKES, nearer.text)
        elif not _concerns(case, entry):
            yield finding(Reason.UNGROUNDED, f"anything of “{entry.text[:80]}”")


def _concerns(case: Case, entry: BriefEntry) -> bool:
    """Whether what was said is about the entry: by what it means, or by half of its words; and by its words in that
    turn or in what it answers, unless the meaning is plain. What ends it also conflicts with it."""
    old, removes = case.restored(entry.whole), case.item.op is Op.REMOVE
    said = dict.fromkeys((case.sentences, *(span.text for one in case.support for span in one.spans)))
    apart = min(chances_of(old, one).get(RelationKind.UNRELATED, 1.0) for one in said)
    conflict = max(conflict_on_one_matter(old, one) for one in said)
    named = len(words.shared(old, case.sentences))
    repeated = not removes and named > 2 and named * 2 >= len(words.stems(old))
    if (apart >= UNRELATED and not repeated) or (removes and conflict < ENDS):
        return False
    around = " ".join(f"{one.sentence} {one.turn_text} {one.answers}" for one in case.support)
    plain = apart < PLAINLY_RELATED or conflict >= PLAINLY_AGAINST
    return plain or len(words.shared(old, around)) >= words.enough_to_name(old)


def stands_alone(case: Case) -> Iterator[Objection]:
    """It leans on nothing that was said before it, ends as a statement does, and means the same tomorrow."""
    text = words.plain(case.item.text).strip()
    if not case.says_something or not text:
        return
    before = tuple(words.plain(old).split()[0] for old in case.old if old.split())
    leans = words.leans_on(text)
    torn = any(sum(map(text.count, pair)) % 2 for pair in _PAIRS)  # a quotation begins in it and does not end
    if leans and not text.startswith(before):
        yield finding(Reason.LEANS, f"it begins with “{leans}”")
    elif (named := words.pattern("pronouns").search(text)) and case.copied:
        yield finding(Reason.UNNAMED, named[0])
    elif _UNFINISHED.search(text) or torn or len(words.stems(text)) < 2:
        yield finding(Reason.LEANS, "it is not a whole statement")
    elif relative := words.pattern("relative_day").search(text):
        yield finding(Reason.LEANS, f"“{relative[0]}” means another day tomorrow")


def new_here(case: Case) -> Iterator[Objection]:
    """It is not said already, and contradicts nothing that stays."""
    if not case.says_something:
        return
    text, staying = case.text, [*case.staying, *(one for one in case.surfaces if one not in case.replaced)]
    if case.item.op is Op.REPLACE and words.bare(text) in map(words.bare, case.old):
        yield finding(Reason.KNOWN, case.item.text)
        return
    if known := next((one for one in staying if _says_the_same(case.restored(one.text), case)), None):
        yield finding(Reason.KNOWN, known.text)
        return
    if denied := next((one for one in staying if _denies(case.restored(one.text), case)), None):
        yield finding(Reason.CONTRADICTS, denied.text, denied.document)
    elif near := next((one for one in staying if _nearly_says_it(case.restored(one.text), case)), None):
        yield finding(Reason.NEARLY_SAID, near.text, near.document)
    elif case.item.op is Op.ADD and case.kinds & OVERTAKES and (changed := _same_subject(text, staying)):
        yield finding(Reason.OVERTAKES, changed.text)


def _denies(entry: str, case: Case) -> bool:
    """They speak of one thing (two words in common, or one of few) and contradict each other; and the entry that is
    replaced did not seem to."""
    common, most = len(words.shared(entry, case.text)), max(len(words.stems(entry)), len(words.stems(case.text)))
    if common < min(2, most // 2) or mutual_conflict(entry, case.text) < CONFLICT:
        return False
    return not any(mutual_conflict(entry, old) >= CONFLICT for old in case.old)


def _same_subject(text: str, entries: Iterable[BriefEntry]) -> BriefEntry | None:
    """The entry that a change may be about: it shares two words with it, or half of them."""
    said = words.stems(text)
    for entry in entries:
        if len(said & words.stems(entry.text)) >= words.enough_to_name(entry.text):
            return entry
    return None


def _says_the_same(old: str, case: Case) -> bool:
    if words.bare(old) == words.bare(case.text):
        return True
    new = len(words.stems(case.text) - words.stems(old))  # "in miles" is not "in kilometres", however alike the rest is
    if new * 3 > len(words.stems(case.text)) or words.missing(words.values(case.text), [old]):
        return False
    if case.tells_a_change and words.negated(old) != words.negated(case.text):
        return False
    return _same_either_way(old, case.text)


def _nearly_says_it(old: str, case: Case) -> bool:
    """The network takes them for the same; but there are other words, and it does not know miles from kilometres."""
    most = max(len(words.stems(old)), len(words.stems(case.text)))
    near = case.item.op is Op.ADD and len(words.shared(old, case.text)) * 3 >= max(1, most)
    return near and _same_either_way(old, case.text)


def _same_either_way(old: str, text: str) -> bool:
    either_way = (relate(*pair) for pair in ((old, text), (text, old)))
    return all(one.kind is RelationKind.SAME and one.confidence >= SAME for one in either_way)


def critical(case: Case) -> Iterator[Objection]:
    if any(one.critical for one in case.replaced):
        yield finding(Reason.CRITICAL)


def safe(case: Case) -> Iterator[Objection]:
    """No secret, nothing private that nobody asked to keep, nothing the scanner blocks; authority is for a person."""
    item = case.item
    text = case.restored("\n".join([item.text, *item.steps, *item.gotchas]))
    spoken = [one.evidence.quote for one in case.support]
    private = {one.kind for said in (text, *spoken) for one in sensitive(said)}
    private |= {"the number of an account or a document" for find in (ibans, cards, national_ids) for _ in find(text)}
    wanted = case.own and any(asked_to_remember(one.turn_text or one.evidence.quote) for one in case.support)
    if "credentials" in private or any("[redacted" in one for one in spoken):
        yield finding(Reason.SECRET)
    elif private and not wanted:
        yield finding(Reason.SENSITIVE, ", ".join(sorted(private)))
    elif any(one.is_value for one in said_of_passwords(text)):
        yield finding(Reason.PASSWORD)
    if item.op is Op.REMOVE:
        return
    report = scan(text, "memory" if case.changes_memory else "skill")
    blocking = {one.category for one in report.findings}
    if report.blocked and not (case.own and blocking <= _DECIDABLE):
        yield finding(Reason.UNSAFE, ", ".join(sorted(blocking)))
    elif report.blocked or report.needs_person or any(scan(one, "memory").needs_person for one in spoken):
        yield finding(Reason.AUTHORITY) if case.own else finding(Reason.UNSAFE, "it would give authority")
    elif case.says_something and crossed(text, case.old):
        yield finding(Reason.AUTHORITY)


@dataclass(frozen=True, slots=True)
class NamedCheck:
    """A check with the question it asks, as the diary and `explain` show it."""

    name: str
    question: str
    check: Check


CHECKS = (
    NamedCheck("quotation", "Does every quotation stand in its turn?", quotation),
    NamedCheck("place", "Are the document and the entries there?", place),
    NamedCheck("project", "Is it read where it holds?", project),
    NamedCheck("one_statement", "Is it one statement?", one_statement),
    NamedCheck("origin", "Are they words of the owner?", origin),
    NamedCheck("people", "Do as many people say so as it needs?", people),
    NamedCheck("own_words", "Did the person say it themselves?", own_words),
    NamedCheck("asserted", "Did they say that it is so?", asserted),
    NamedCheck("meant", "Did they mean it, and not take it back?", meant),
    NamedCheck("grounded", "Was every value of it said?", grounded),
    NamedCheck("negation", "Is a “not” where it was said?", negation),
    NamedCheck("newer", "Is it newer than what it changes?", newer),
    NamedCheck("carried_over", "Is what the entry says besides kept?", carried_over),
    NamedCheck("spoken_of", "Was what goes spoken of, and no other?", spoken_of),
    NamedCheck("stands_alone", "Can it be understood alone?", stands_alone),
    NamedCheck("new_here", "Is it new, and contradicts nothing that stays?", new_here),
    NamedCheck("critical", "Is nothing critical touched?", critical),
    NamedCheck("safe", "Is it safe, and nobody's secret?", safe),
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found in an item; nothing: it passed."""

    name: str
    findings: tuple[Objection, ...] = ()

    @property
    def told(self) -> str:
        return "; ".join(one.sentence for one in self.findings) or "passed"


def check(case: Case) -> tuple[CheckResult, ...]:
    """Every check, in order. Without a quotation or a place there is nothing to look at further."""
    done = list[CheckResult]()
    for one in CHECKS:
        found = tuple(one.check(case))
        done.append(CheckResult(one.name, found))
        if one.name in ("quotation", "place") and any(each.severity is Severity.REFUSED for each in found):
            break
    return tuple(done)
