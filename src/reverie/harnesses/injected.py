"""Words that a harness put into a person's message: pages, files, quoted messages, descriptions, its own notes.

A Form says how such a block begins and ends. `told_apart` splits a message into what the person wrote and what was put
there; the second becomes a turn of its own with Origin `tool`. The forms of each harness are in `forms.py`.

A block may hold anything, also something that looks like its own end. So a block ends at the *last* place that could
be its end, and one without an end takes all that follows: rather words of the person are not counted as theirs than
words of a stranger are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from reverie.core.origin import Origin
from reverie.transcripts.session import Said

_VISIBLE = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Form:
    """The way a harness writes one kind of foreign block.

    It stands before the person's words, or with `anywhere` at any place. Without `closes` it takes the rest of the
    message. `within`: the harness cuts it to so many characters, so that its end is not looked for beyond. `first`: it
    holds nothing foreign that could look like its end (a file's name, an id), and ends at the first. Not `kept`: it
    only tells what was open or who wrote, and is left out of the transcript. `paired`: what is never closed is no such
    block, but somebody speaking of one.
    """

    name: str
    opens: re.Pattern[str]
    closes: re.Pattern[str] | None = None
    anywhere: bool = False
    within: int | None = None
    first: bool = False
    kept: bool = True
    paired: bool = False

    def end(self, text: str, opened: re.Match[str]) -> int:
        if self.closes is None:
            return len(text)
        limit = len(text) if self.within is None else min(len(text), opened.end() + self.within)
        ends = (found.end() for found in self.closes.finditer(text, opened.end(), limit))
        return next(ends, len(text)) if self.first else max(ends, default=len(text))


def tag_block(name: str, label: str | None = None) -> Form:
    """A block between `<name …>` and `</name>`, wherever it stands."""
    opens = re.compile(rf"<{name}(?:\s[^<>]{{0,400}})?>")
    return Form(label or name, opens, re.compile(rf"</{name}>\s*"), anywhere=True, paired=True)


def tags(names: str) -> tuple[Form, ...]:
    return tuple(map(tag_block, names.split()))


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of a message. `form` is None where the person wrote it."""

    text: str
    form: Form | None = None


def told_apart(text: str, forms: Iterable[Form]) -> list[MessagePart]:
    """The message as the person's parts and the harness's, in order. Whitespace between them is nobody's."""
    leading, anywhere = list[Form](), list[Form]()
    for form in forms:
        (anywhere if form.anywhere else leading).append(form)
    pieces, place = list[MessagePart](), 0
    while place < len(text):
        start = found.start() if (found := _VISIBLE.search(text, place)) else len(text)
        opened = next(((form, found) for form in leading if (found := form.opens.match(text, start))), None)
        if opened is None:
            break
        place = opened[0].end(text, opened[1])
        pieces.append(MessagePart(text[start:place].strip(), opened[0]))
    return [*pieces, *_among(text, place, anywhere)]


def _among(text: str, place: int, forms: list[Form]) -> Iterator[MessagePart]:
    """Each form is looked for once up to where it stands next, so that a message of many blocks is read in one pass."""
    forms = [one for one in forms if not (one.paired and one.closes and not one.closes.search(text, place))]
    ahead = [(form, found) for form in forms if (found := form.opens.search(text, place))]
    while place < len(text):
        ahead = [
            (form, again)
            for form, found in ahead
            if (again := found if found.start() >= place else form.opens.search(text, place))
        ]
        form, found = min(ahead, key=lambda one: one[1].start(), default=(None, None))
        start = found.start() if found else len(text)
        if own := text[place:start].strip():
            yield MessagePart(own)
        if form is None or found is None:
            return
        place = form.end(text, found)
        yield MessagePart(text[start:place].strip(), form)


def said_apart(message: Said, forms: Iterable[Form]) -> list[Said]:
    """The message, or its parts: the person's as they were, the others as a tool's. One that is not the person's at
    all, or holds nothing foreign, stays as it is."""
    if message.role != "user" or message.origin is Origin.TOOL:
        return [message]
    pieces = told_apart(message.text, forms)
    return in_pieces(message, pieces) if any(piece.form for piece in pieces) else [message]


def in_pieces(message: Said, pieces: Iterable[MessagePart]) -> list[Said]:
    return [
        replace(message, text=piece.text)
        if piece.form is None
        else Said("tool", piece.text, name=piece.form.name, at=message.at, noise=message.noise, origin=Origin.TOOL)
        for piece in pieces
        if piece.text and (piece.form is None or piece.form.kept)
    ]
