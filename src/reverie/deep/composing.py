"""The new wording of an entry that was overtaken: what changed is exchanged, what is still true stays.

First by exchanging a value for one of the same shape, then by laying the new statement over the old one word by
word; where neither fits, the new statement itself is worded, with the subject of the old entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from reverie.audit.wordwise import FRAME
from reverie.deep.clauses import clauses
from reverie.deep.material import Known, Noted
from reverie.deep.matters import Matter
from reverie.deep.names import invents_a_name, whole_name
from reverie.deep.shapes import SHAPES, keyed, other_value, with_ports_apart
from reverie.deep.standing import Standing
from reverie.deep.subjects import about
from reverie.deep.vocabulary import pattern, plain, small_words
from reverie.deep.wording import DAY, LONGEST, as_it_is_now, closed, without_now
from reverie.language.tokens import STEMMED, tokens_of

_TOKEN = re.compile(r"\w[\w.:/@'’+-]*\w|`[^`]+`|\w|[^\w\s]")
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_STOPS = frozenset(",;:.!?()[]–—")
_MOST_OLD, _MOST_NEW = 7, 8
_VALUE = re.compile(r"(?a:\w*[\d_/@]\w[\w.:/@-]*|\w+\d\w*)|(?<=[\w,:] )[A-ZÀ-Þ][\w'’-]+")
_NAME = re.compile(r"^(?P<name>[A-ZÀ-Þ][\w'’-]+) (?P<verb>[a-zà-ÿ]+)")
_RUN = re.compile(r"(?<=[\w,:] )[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)*(?: \d{1,4}[a-z]?\b(?![:.]\d))?")
_HOUSE = re.compile(r" \d{1,4}[a-z]?\b(?![:.]\d)(?P<where>, [^,;.]{2,30}(?=\.?$))?")
_AMOUNT = re.compile(  # a number that is no part of a date
    r"(?<![\w.,:/-])\d+(?:[.,]\d+)?(?![\w:/-])(?!\.\d)"
    r"(?!\.? [A-Za-zä]{3,9}(?:ber|ary|uar|il|ch|st|ne|ly|ai|io|re|ro|to|zo|o)\b)"
)
_LABELLED = re.compile(r"^(?P<label>[^:.;]{3,50}): (?P<value>[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+)*)\.?$")
_NAMED = re.compile(r"(?:(?<=[\w,:] )|(?<=[lLdD]['’])|^)[A-ZÀ-ÞŁŚŻŞİ][\w-]+(?: [A-ZÀ-Þ][\w-]+)*")
_VERB = re.compile(
    r"\b(?:costs?|comes?|goes|go|takes?|has|have|gets?|starts?|ends?|opens?|closes?|meets?|works?|sits?|stands?|leaves?"
    r"|kostet|kosten|kommt|geht|hat|haben|beginnt|öffnet|schließt|trifft|coûte|ouvre|ferme|commence|cuesta|abre|cierra"
    r"|empieza|costa|apre|chiude|inizia|custa|fecha|começa|kost|opent|sluit|begint)\b",
    re.IGNORECASE,
)
_KEPT_FORM = 0.6
_OWN_WORDS = 4.0  # the statement itself puts the one against the other
_ARTICLE = re.compile(
    r"^(?:the|an?|our|my|der|die|das|den|dem|el|la|los|las|le|les|il|lo|gli|os?|as?|de|het|een) ", re.IGNORECASE
)
_MODIFIERS = re.compile(r"(?<= )[A-ZÀ-Þ][\w-]+ $")
_FUSED = re.compile(r"\b(?:n|d)[oa]s? $")
_BEHIND = re.compile(r"^\s*\([^)]*\)|^(?P<words>(?: [a-zà-ÿ]+){1,2})\s*\([^)]*`[^)]*\)")


def composed(matter: Matter, standing: Standing) -> str:
    """The entry as it should read after this matter."""
    tried = [text for note in reversed(_last_words(matter, standing)) for text in _tries(note, standing)]
    fresh = _fresh(matter, standing)
    sources = [standing.known.text, *(text for note in matter.said for text in (note.text, note.words))]
    fit = [(text, kept) for text, kept in tried if text and len(text) <= LONGEST and not invents_a_name(text, sources)]
    fit = [one for one in fit if _is_whole(one[0], standing.known.text)] or fit
    gone = _values_gone(matter, standing)
    fit = [one for one in fit if not any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", one[0]) for value in gone)]
    best = max(fit, key=lambda one: one[1] + _worth(one[0], fresh, matter, standing), default=("", 0.0))
    return best[0]


def _last_words(matter: Matter, standing: Standing) -> list[Noted]:
    """Without what was put there in an earlier session and has been given up since."""
    brings = {id(note): _brings(note, matter, standing) for note in matter.said}
    last = next((note for note in reversed(matter.said) if brings[id(note)]), matter.last)
    new = brings[id(last)]
    if pattern("retracts").search(plain(matter.last.words)):
        return [one for one in matter.said if one.session_id == matter.last.session_id]
    return [one for one in matter.said
            if one.session_id == last.session_id or not brings[id(one)] or brings[id(one)] & new]  # fmt: skip


def _values_gone(matter: Matter, standing: Standing) -> set[str]:
    """Values of the entry that have another one in what was said: none of them is left beside it."""
    pieces = [piece for note in matter.said for piece in clauses(note.words).affirmed]
    found = {pair[0] for piece in pieces if (pair := other_value(standing.known.text, piece))}
    return {value for value in found if not any(value in piece for piece in pieces)}


def _is_whole(text: str, old: str) -> bool:
    """What was a sentence is one still: "Staging is on db1" does not become "Staging to db2"."""
    return any(verb.search(text) is not None for verb in (FRAME, _VERB)) or not (FRAME.search(old) or _VERB.search(old))


def _fresh(matter: Matter, standing: Standing) -> frozenset[str]:
    """The values and names the matter brings that the entry has not."""
    return frozenset[str]().union(*(_brings(note, matter, standing) for note in _last_words(matter, standing)))


def _brings(note: Noted, matter: Matter, standing: Standing) -> frozenset[str]:
    pieces = (DAY.sub("", piece) for piece in clauses(note.text).affirmed)
    found = (one for piece in pieces for one in _VALUE.findall(piece))
    stems = frozenset[str]().union(*(about(one, matter.language) for one in found))
    return stems - about(standing.known.text, matter.language) - standing.named


def _worth(text: str, fresh: frozenset[str], matter: Matter, standing: Standing) -> float:
    """What it brings of the new, what it keeps of the old, nothing of what is over, in few words."""
    words, old = about(text, matter.language), about(standing.known.text, matter.language)
    new = words - old
    brings = 4 * len(words & fresh) / len(fresh) if fresh else min(len(new), 1)
    keeps = len(words & (old - standing.named)) / max(1, len(old - standing.named))
    rest = len(new - fresh)
    said = frozenset[str]().union(*(clauses(note.words).names_affirmed(matter.language) for note in matter.said))
    dropped = sum(any(sign.isdigit() for sign in stem) for stem in (old & said) - words)  # said to hold, and left out
    return brings + 1.5 * keeps - 2.0 * len(words & standing.named) - 2.0 * dropped - 0.25 * rest - len(text) / 200


def _tries(note: Noted, standing: Standing) -> Iterator[tuple[str, float]]:
    """Wordings, each with what speaks for it beforehand: the form of the entry is worth keeping."""
    old, language = standing.known.text, note.candidate.language
    worded = len(clauses(note.text).over) >= len(clauses(note.words).over)  # the wording kept every denial
    says = (note.text, note.words) if worded else (note.words,)
    for said in () if _hangs_together(old) else says:
        parts = clauses(said)
        whole = DAY.sub("", ", ".join(parts.affirmed))
        for piece in dict.fromkeys((*(DAY.sub("", one) for one in parts.affirmed), whole)):
            yield by_shape(old, piece), _KEPT_FORM
            yield _relabelled(old, piece, language), _KEPT_FORM
            if not _CJK.search(old):
                yield _overlaid(old, piece, whole, standing.named, language), _KEPT_FORM
                yield _slotted(old, piece, whole, language), _KEPT_FORM
        for was, now in parts.moved:
            yield _exchanged(old, without_now(was), _as_said(without_now(now), note.words), whole), _OWN_WORDS
        if standing.named:
            beside = [one for one in parts.affirmed if about(one, language) & about(old, language)] or parts.affirmed
            said_of_it = DAY.sub("", ", ".join(beside)) if len(parts.affirmed) > 1 else whole
            yield _swapped(old, said_of_it, standing.named, language), _KEPT_FORM
    dated = DAY.search(note.text) and not DAY.search(note.words)  # a weekday was taken for one day of the past
    yield (
        _restated(standing.known, as_it_is_now(note.words if dated or not worded else note.text, language), language),
        0.0,
    )


def _hangs_together(old: str) -> bool:
    """ "…goes out on Monday night because they come on Tuesday": who exchanges one of the days makes nonsense of it."""
    reason = pattern("reasons").search(plain(old))
    if reason is None:
        return False
    before, behind = old[: reason.start()], old[reason.end() :]
    return any(shape.search(before) and shape.search(behind) for shape in SHAPES.values())


# ---- values of one shape ---------------------------------------------------------------------------------------------


def by_shape(old: str, new: str) -> str:
    """The old text with each value exchanged that has one fellow of its shape in the new one."""
    if "port" in keyed(old):
        new = with_ports_apart(new)
    text, changed = _by_key(old, new)
    taken: list[tuple[int, int]] = []
    for shape in SHAPES.values():
        mine = list(shape.finditer(text))
        theirs = [found for found in shape.finditer(new) if not any(s <= found.start() < e for s, e in taken)]
        taken += [found.span() for found in theirs]
        if len(mine) != 1 or len(theirs) != 1 or _singular(mine[0][0]) == _singular(theirs[0][0]):
            continue
        text = text[: mine[0].start()] + _in_number(mine[0][0], theirs[0][0]) + text[mine[0].end() :]
        changed = True
    text, changed = (text, True) if changed else _in_money(old, new)
    return closed(text) if changed else ""


def _in_money(old: str, new: str) -> tuple[str, bool]:
    """ "A day pass costs 14 €" and "the day pass is up to 15.50": a number without its currency."""
    mine = list(SHAPES["money"].finditer(old))
    theirs = [one[0] for one in _AMOUNT.finditer(new)]
    if len(mine) != 1 or len(theirs) != 1 or theirs[0] in mine[0][0] or not about(old) & about(new):
        return old, False
    amount = _AMOUNT.sub(theirs[0], mine[0][0], count=1)
    return old[: mine[0].start()] + amount + old[mine[0].end() :], amount != mine[0][0]


def _singular(value: str) -> str:
    """ "Tuesday" is no other value than "Tuesdays"."""
    return value.casefold().removesuffix("s")


def _in_number(was: str, now: str) -> str:
    """ "every Wednesday" becomes "every Monday", whether "Mondays" were said or not."""
    if not re.search(r"days?$", was) or not re.search(r"days?$", now):
        return now
    return now.removesuffix("s") + ("s" if was.endswith("s") else "")


def _by_key(old: str, new: str) -> tuple[str, bool]:
    """The old text with each number exchanged that the new one gives anew behind the same word."""
    before, mine, theirs = old, keyed(old), keyed(new)
    fellows = [(mine[key][0], theirs[key][0]) for key in mine if len(mine[key]) == len(theirs.get(key, ())) == 1]
    for (start, end), place in sorted(fellows, reverse=True):
        old = old[:start] + new[slice(*place)] + old[end:]
    return old, old != before


def _relabelled(old: str, new: str, language: str) -> str:
    """ "Head setter: Rafe." with the one name there is in "Ksenia is head setter"."""
    label = _LABELLED.match(old)
    if not label or not about(label["label"], language) & about(new, language):
        return ""
    names = {one[0] for one in _NAMED.finditer(new)} - set(label["value"].split())
    return closed(f"{label['label']}: {names.pop()}") if len(names) == 1 else ""


# ---- word by word ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    key: str
    start: int
    end: int
    small: bool

    @property
    def stops(self) -> bool:
        return self.text in _STOPS


def _tokens(text: str, language: str) -> list[_Token]:
    found = list(_TOKEN.finditer(text))
    keys = tokens_of([one[0].lower() for one in found], language if language in STEMMED else "en")
    small = small_words(language)
    return [
        _Token(one[0], key or one[0], *one.span(), one[0] in _STOPS or (one[0].lower() in small and not _is_name(one)))
        for one, key in zip(found, keys, strict=True)
    ]


def _is_name(found: re.Match[str]) -> bool:
    """ "Van" and "De" in "is Van Dijk", which are small words elsewhere."""
    return found.start() > 0 and len(found[0]) > 1 and found[0].istitle()


def _overlaid(old: str, new: str, whole: str, named: frozenset[str], language: str) -> str:
    """The old text with the one stretch exchanged that the new one words otherwise behind the same words."""
    mine, theirs = _tokens(old, language), _tokens(new, language)
    matcher = SequenceMatcher(None, [one.key for one in mine], [one.key for one in theirs], autojunk=False)
    codes = matcher.get_opcodes()
    for before, change in pairwise(codes):
        if before[0] != "equal" or change[0] != "replace" or not _anchors(mine[before[1] : before[2]]):
            continue
        inflected = mine[change[1] - 1].text.lower() != theirs[change[3] - 1].text.lower()  # "pan", and now "pani"
        came = _without_now(_cut(theirs[change[3] - inflected : change[4]], _MOST_NEW))
        gone = _trimmed(_cut(mine[change[1] - inflected : change[2]], _MOST_OLD), came)
        if not _carries(gone) or not _carries(came) or gone[0].small != came[0].small:
            continue
        if named and not any(about(one.text, language) & named for one in gone):
            continue
        return closed(old[: gone[0].start] + new[came[0].start : came[-1].end] + _behind(old[gone[-1].end :], whole))
    return ""


def _behind(rest: str, whole: str) -> str:
    """What stands in brackets behind a value explains it, and goes with it, unless its own value is given anew:
    "is built with Sphinx (`make html`)\"."""
    bracket = _BEHIND.match(rest)
    if not bracket:
        return rest
    fellows = [new[0] for shape in SHAPES.values() if shape.search(bracket[0]) and (new := shape.search(whole))]
    return (bracket["words"] or "") + (f" ({', '.join(fellows)})" if fellows else "") + rest[bracket.end() :]


def _swapped(old: str, whole: str, named: frozenset[str], language: str) -> str:
    """The old text with the name that is over exchanged for the one new name there is."""
    gone = [one for one in _tokens(old, language) if about(one.text, language) & named]
    names = [one[0] for one in _RUN.finditer(whole) if not about(one[0], language) & about(old, language)]
    letters = [name for name in names if len(name) == 1]
    if not gone or len(set(names)) != 1 or (letters and len(gone[0].text) > 1):  # "Catrine with a C, not Katrine"
        return ""
    start, end = whole_name(old, gone[0].start, gone[0].end)
    if any(not start <= one.start < end for one in gone):
        return ""
    before = _without_article(old[:start], names[0], whole) if language == "pt" else old[:start]
    house = _HOUSE.match(old, end)
    if bool(house) != bool(re.search(r"\d", names[0])):  # a house has a number, and the other one has none
        return ""
    return closed(before + names[0] + _behind(old[house.end() if house else end :], whole))


def _without_article(before: str, name: str, whole: str) -> str:
    """ "no Porto", but "em Braga": what the statement names without an article has none."""
    bare = re.search(rf"\b(?:em|para|de|a) {re.escape(name)}", whole, re.IGNORECASE)
    return _FUSED.sub(lambda found: "em " if found[0][0] == "n" else "de ", before) if bare else before


def _exchanged(old: str, was: str, now: str, whole: str) -> str:
    """The old text with the very words exchanged that the statement itself puts against each other."""
    was, now = _as_it_stands(_ARTICLE.sub("", was.strip()), old), _ARTICLE.sub("", now.strip())
    place = plain(old).find(plain(was)) if was else -1
    if place < 0 or not now:
        return ""
    now = _behind_the_same_word(old[:place], now)
    if len(about(now) & about(old[:place] + old[place + len(was) :])) > 1:  # it says the rest of the entry again
        return ""
    start, rest = _with_modifiers(old, place), old[place + len(was) :]
    again = rest.split()[:1]
    if again and now.split()[-1:] == again:  # "from 180 to 210 euros", and euros stand there
        now = now.removesuffix(again[0]).rstrip()
    return closed(old[:start] + now + _behind(rest, whole))


def _behind_the_same_word(before: str, now: str) -> str:
    """ "The bin is collected on Thursdays" in the place of "Tuesdays", which stands behind an "on", is "Thursdays"."""
    words = before.split()
    lead = words[-1] if words else ""
    place = f" {now.lower()}".rfind(f" {lead.lower()} ") if lead else -1
    return now[place + len(lead) + 1 :] if place >= 0 else now


def _as_it_stands(was: str, old: str) -> str:
    """The last words of it that the old text has: it may call "FileRoom" what is "our document system FileRoom"."""
    words = was.split()
    tails = (" ".join(words[start:]) for start in range(len(words)))
    found = next((tail for tail in tails if re.search(rf"(?<!\w){re.escape(plain(tail))}(?!\w)", plain(old))), "")
    return found if about(found) else ""


def _as_said(text: str, words: str) -> str:
    """Without the capital it only got for beginning a line."""
    small = text[:1].lower() + text[1:]
    return small if text not in words and small in words else text


def _with_modifiers(old: str, place: int) -> int:
    """Where the name or adjective begins that stands right before: it belongs to what is exchanged."""
    before = _MODIFIERS.search(old[:place])
    words = before[0].split() if before else []
    if not words or any(word.lower() in small_words() for word in words) or before is None or before.start() == 0:
        return place
    return before.start()


def _slotted(old: str, new: str, whole: str, language: str) -> str:
    """The old text with the one run of words exchanged that the new one, in whatever order, has another run for."""
    mine, theirs = _tokens(old, language), [one for one in _tokens(new, language) if not _is_now(one)]
    gone = _run(mine, {one.key for one in theirs})
    came = _run(theirs, {one.key for one in mine})
    kept = [one for one in mine if not one.small and one not in gone]
    if not gone or not came or not kept:
        return ""
    return closed(old[: gone[0].start] + new[came[0].start : came[-1].end] + _behind(old[gone[-1].end :], whole))


def _run(tokens: Sequence[_Token], known: set[str]) -> list[_Token]:
    """The words the other text has not, if they stand together."""
    places = [place for place, one in enumerate(tokens) if not one.small and one.key not in known]
    if not places or len(places) > 4:
        return []
    between = tokens[places[0] : places[-1] + 1]
    return [] if any(one.stops or (not one.small and one.key in known) for one in between) else list(between)


def _is_now(token: _Token) -> bool:
    return bool(pattern("now").fullmatch(plain(token.text)))


def _anchors(tokens: Sequence[_Token]) -> bool:
    words = [one for one in tokens if not one.stops]
    return any(not one.small for one in words) or len(words) >= 2


def _carries(tokens: Sequence[_Token]) -> bool:
    return any(not one.small for one in tokens)


def _cut(tokens: Sequence[_Token], most: int) -> list[_Token]:
    """Up to where the clause ends."""
    kept: list[_Token] = []
    for one in tokens[:most]:
        if one.stops:
            break
        kept.append(one)
    return kept


def _trimmed(gone: list[_Token], came: Sequence[_Token]) -> list[_Token]:
    """Without small words at the end for which nothing came: they belong to what follows."""
    while len(gone) > 1 and came and gone[-1].small and not came[-1].small:
        gone = gone[:-1]
    return gone


def _without_now(tokens: list[_Token]) -> list[_Token]:
    words = " ".join(one.text for one in tokens)
    found = pattern("now").search(plain(words))
    if not found or found.start() == 0:
        return tokens
    return tokens[: len(words[: found.start()].split())]


# ---- worded anew -----------------------------------------------------------------------------------------------------


def _restated(known: Known, text: str, language: str) -> str:
    """The new statement with the name the old entry begins with, if it has none of its own."""
    name = _NAME.match(known.text)
    if not name or name["name"] in text or not text[:1].isupper():
        return text
    first = _TOKEN.match(text)
    verb = first is not None and tokens_of([first[0].lower()], language if language in STEMMED else "en")
    same = verb == tokens_of([name["verb"]], language if language in STEMMED else "en")
    return closed(f"{name['name']} {text[:1].lower()}{text[1:]}") if same else text
