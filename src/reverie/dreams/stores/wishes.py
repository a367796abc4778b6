"""Instructions for a dream, as far as the built-in reader understands them. What it does not is listed, never dropped.

They can narrow what a dream does and say where things go. They cannot widen it: nothing here makes text of a tool, of
a stranger or of authority land.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from reverie.deep.subjects import about, nearness, shared

_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=\S)|\s*\n+\s*|;\s*")
_PATH = re.compile(
    r"(?<![\w:/])/?(?:[\w.*@~-]+/)+[\w.*@~-]*|(?<![\w:/])/[\w.*@~-]+(?:/[\w.*@~-]+)*/?|\b[\w-]+\.(?:md|txt|mdx)\b"
)
_QUOTED = re.compile(r"[`\"'“”‘’*]")
_NOT = r"(?:do not|don'?t|never|must not|should not|shouldn'?t|no)"
_TOUCH = r"(?:touch|change|modify|edit|alter|rewrite|update|delete|remove|reword|move|rename)"
_PRESERVE = re.compile(
    rf"\b(?:preserve|keep|leave|retain|maintain|protect|freeze|{_NOT} {_TOUCH})\b(?P<what>.*)", re.IGNORECASE
)
_UNCHANGED = re.compile(
    r"\b(?:unchanged|untouched|intact|as (?:it is|they are|is)|verbatim|exactly|alone|byte[- ]for[- ]byte|frozen"
    r"|read[- ]only)\b",
    re.IGNORECASE,
)
_TWICE = r"(?:dedup\w*|de-dup\w*|duplicat\w+|redundan\w+|repetitions?)"
_ONLY_MERGE = re.compile(
    rf"\b(?:only|just)\b[^.]*\b(?:merge|consolidate|{_TWICE})\b|\b(?:merge|{_TWICE})\b[^.]*\bonly\b", re.IGNORECASE
)
_NO_MERGE = re.compile(
    rf"\b(?:{_NOT}|without) (?:\w+ )?(?:merg\w+|combin\w+|consolidat\w+|{_TWICE})\b[^.]*[.!]?", re.IGNORECASE
)
# What a dream does anyway. Each part of a sentence must be one of these, to its last word.
_ALL = r"(?:all |any |the )?"
_LATEST = r"(?:the )?(?:latest|newest|newer|most recent)"
_NAMES = r"(?:memory|memories|entry|entries|facts?|notes?|statements?|values?|information|info|items?|ones?)"
_CLAUSES = (
    rf"(?:merge|combine|consolidate|collapse|remove|delete|drop|eliminate|clean up) {_ALL}{_TWICE}",
    r"(?:dedup\w*|de-dup\w*)(?: (?:the|all))?(?: store)?",
    rf"(?:remove|delete|drop|replace|update|correct|clean up) {_ALL}(?:stale|outdated|obsolete|superseded)",
    rf"(?:resolve|fix) {_ALL}(?:contradict\w+|conflict\w*)(?: {_NAMES})?(?: in favou?r of {_LATEST})?",
    rf"(?:prefer|use|keep) {_LATEST}",
    rf"(?:keep|make|write) (?:it|them|things|everything|{_ALL}(?:each |new )?{_NAMES}) (?:short|brief|concise|terse)",
    r"be (?:brief|concise|terse)",
)
_ANYWAY = re.compile(
    rf"(?:please )?(?:{'|'.join(_CLAUSES)})(?: {_NAMES})?(?: where possible| if there are any)?[.!]?", re.IGNORECASE
)
_AND = re.compile(r",\s*(?:and\s+)?|\s+and\s+(?:then\s+)?", re.IGNORECASE)
_NO_NEW = re.compile(
    rf"\b(?:{_NOT}|without) (?:\w+ ){{0,2}}?(?:add|create|adding|creating|introduce|invent)\w*\b|"
    r"\bno new (?:memor\w+|entr\w+|facts?|files?|documents?|paths?|notes?)\b",
    re.IGNORECASE,
)
_NO_REMOVAL = re.compile(
    rf"\b(?:{_NOT}|without) (?:ever )?(?:delet|remov|drop|discard)\w*"
    r"(?: (?:any|anything|existing|memor|entr|file|note|fact)\w*)*\W*$",
    re.IGNORECASE,
)
_FOCUS = re.compile(
    r"\b(?:focus(?:ing)?|concentrate)(?: only)? (?:on|upon)\b(?P<what>.*)"
    r"|^\W*only (?:consider|look at|use)\b(?P<only>.*)",
    re.IGNORECASE,
)
_IGNORE = re.compile(r"\b(?:ignore|skip|disregard|exclude|leave out|pay no attention to)\b(?P<what>.*)", re.IGNORECASE)
_WHERE = re.compile(
    r"\b(?:put|write|place|store|add|save|keep|file)\b[^.]*\bnew\b[^.]*\b(?:under|in|into|to|below|at)\b (?P<what>.*)",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^(?:\W|\b(?:the|all|any|every|everything|anything|about|in|under|below|of|files?|memor(?:y|ies)|folder|director(?:y|ies)"
    r"|documents?|notes?|pages?|contents?|at|inside|within|on|please)\b)+",
    re.IGNORECASE,
)
_SPEAKS_OF = 0.5


@dataclass(frozen=True, slots=True)
class Wishes:
    """`kept` are paths that stay as they are; `focus` and `ignored` are subjects; `under` is where new pages go."""

    kept: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    under: str | None = None
    adds: bool = True
    replaces: bool = True
    removes: bool = True
    merges: bool = True
    understood: tuple[str, ...] = ()
    not_understood: tuple[str, ...] = ()

    def keeps(self, path: str) -> bool:
        """Whether a path is to stay as it is."""
        return any(_is_under(path, one) for one in self.kept) or any(_is_called(path, one) for one in self.named)

    def leaves_out(self, text: str) -> str:
        """Why a matter is not what was asked for, or nothing."""
        if any(_speaks_of(text, one) for one in self.ignored):
            return "the instructions ask to ignore it"
        if self.focus and not any(_speaks_of(text, one) for one in self.focus):
            return f"the instructions ask to focus on {' and '.join(self.focus)}"
        return ""


def wishes(instructions: str | None) -> Wishes:
    found = Wishes()
    for sentence in _sentences(instructions or ""):
        more = _understood(sentence, found)
        if more is None:
            found = replace(found, not_understood=(*found.not_understood, sentence))
        else:
            found = replace(more, understood=(*found.understood, sentence))
    return found


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(text):
        bare = sentence.strip(" \t-*•")
        if bare.strip(".!"):
            yield bare


def _understood(sentence: str, so_far: Wishes) -> Wishes | None:
    if _NO_MERGE.fullmatch(sentence):
        return replace(so_far, merges=False)
    if _ONLY_MERGE.search(sentence):
        return replace(so_far, adds=False, replaces=False)
    if _NO_REMOVAL.search(sentence):
        return replace(so_far, removes=False)
    if (kept := _PRESERVE.search(sentence)) and (made := _keeping(sentence, kept["what"], so_far)):
        return made
    if where := _WHERE.search(sentence):
        paths = _paths(where["what"])
        return replace(so_far, under=paths[0]) if paths else None
    if _NO_NEW.search(sentence):
        return replace(so_far, adds=False)
    if found := _FOCUS.search(sentence):
        subjects = _subjects(found["what"] or found["only"] or "")
        return replace(so_far, focus=(*so_far.focus, *subjects)) if subjects else None
    if found := _IGNORE.search(sentence):
        paths = _paths(found["what"])
        if paths:
            return replace(so_far, kept=(*so_far.kept, *paths))
        subjects = _subjects(found["what"])
        return replace(so_far, ignored=(*so_far.ignored, *subjects)) if subjects else None
    return so_far if all(_ANYWAY.fullmatch(part) for part in _AND.split(sentence)) else None


def _keeping(sentence: str, what: str, so_far: Wishes) -> Wishes | None:
    """What is named by its path, or by words that stand in one. "Keep it short" keeps nothing."""
    if paths := _paths(what):
        return replace(so_far, kept=(*so_far.kept, *paths))
    meant = re.match(rf"\W*(?:preserve|protect|retain|freeze|{_NOT} {_TOUCH})", sentence, re.IGNORECASE)
    if not (_UNCHANGED.search(sentence) or meant):
        return None
    name = _FILLER.sub("", _UNCHANGED.sub("", _QUOTED.sub("", what))).strip(" .!,")
    name = re.sub(r"\s*\b(?:files?|memor(?:y|ies)|folder|director(?:y|ies)|documents?|notes?|pages?)\b.*$", "", name)
    if name and len(name.split()) <= 4:
        return replace(so_far, named=(*so_far.named, name))
    everything = re.search(r"\b(?:everything|all|anything)\b", what, re.IGNORECASE)
    return replace(so_far, kept=(*so_far.kept, "/")) if everything else None


def _paths(text: str) -> tuple[str, ...]:
    found = (one.rstrip(".,") for one in _PATH.findall(_QUOTED.sub(" ", text.replace("**", "*"))))
    return tuple(one if one.startswith("/") else f"/{one}" for one in found if one.strip("/"))


def _subjects(text: str) -> tuple[str, ...]:
    bare = _FILLER.sub("", _QUOTED.sub("", text)).strip(" .!,:")
    subjects = tuple(one.strip() for one in re.split(r",| and | or |/", bare) if one.strip())
    return subjects if all(about(one) for one in subjects) else ()


def _is_under(path: str, kept: str) -> bool:
    """A page itself, all below a folder, what a pattern fits; a bare name of a file wherever it stands."""
    folder = kept.rstrip("/*")
    if "*" in folder:
        return fnmatchcase(path, kept)
    bare_name = kept.count("/") == 1 and "." in kept
    return path in (kept, folder) or path.startswith(f"{folder}/") or (bare_name and path.endswith(kept))


def _is_called(path: str, name: str) -> bool:
    words, wanted = (frozenset(about(one.replace("/", " ").replace("-", " "))) for one in (path, name))
    return bool(wanted) and wanted <= words


def _speaks_of(text: str, subject: str) -> bool:
    return shared(about(subject), about(text)) >= _SPEAKS_OF or nearness(subject, text) >= _SPEAKS_OF
