"""Every error the command line and the server can answer with, read from the source.

A message is the text an error is made with: `raise BadInput(found, expected=…, next_step=…)`. What is put into it when
it is raised stands in braces.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "reverie"


@dataclass(frozen=True, slots=True, order=True)
class Message:
    error: str
    text: str


def errors() -> str:
    """One table for each class of error, with its exit code and its status."""
    from reverie.core.errors import ReverieError

    known = {ReverieError.__name__: ReverieError} | {one.__name__: one for one in _below(ReverieError)}
    by_error = dict[str, list[str]]()
    for one in sorted({*_messages(tuple(known))}):
        by_error.setdefault(one.error, []).append(one.text)
    sections = []
    for name, texts in by_error.items():
        kind = known[name]
        about = (kind.__doc__ or "").strip().split("\n")[0]
        sections.append(f"## {name}\n\nExit code {kind.exit_code}, HTTP {kind.http_status}. {about}".rstrip())
        sections.append("\n".join(f"- {text}" for text in texts))
    return "\n\n".join(sections)


def problems() -> str:
    """What only the server answers."""
    found = sorted({(one.text, status) for status, one in _with_status()}, key=lambda each: (each[1], each[0]))
    return "\n".join(["| status | message |", "|---|---|", *(f"| {status} | {text} |" for text, status in found)])


def _below(kind: type[Exception]) -> Iterator[type[Exception]]:
    for one in kind.__subclasses__():
        yield one
        yield from _below(one)


def _calls(names: tuple[str, ...]) -> Iterator[ast.Call]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args:
                yield node


def _messages(names: tuple[str, ...]) -> Iterator[Message]:
    for call in _calls(names):
        assert isinstance(call.func, ast.Name)
        said = {one.arg: _text(one.value) for one in call.keywords}
        expected = f"Expected {said['expected']}." if "expected" in said else ""
        whole = " ".join(filter(None, (_text(call.args[0]), expected, said.get("next_step", ""))))
        yield Message(call.func.id, whole)


def _with_status() -> Iterator[tuple[int, Message]]:
    for call in _calls(("Problem",)):
        status, *said = call.args
        if isinstance(status, ast.Constant) and isinstance(status.value, int) and said:
            yield status.value, Message("Problem", _text(said[0]))


def _text(node: ast.expr) -> str:
    """A text as it is written, with what is filled in in braces."""
    if isinstance(node, ast.Constant):
        text = str(node.value)
    elif isinstance(node, ast.JoinedStr):
        text = "".join(_text(part) if isinstance(part, ast.Constant) else _filled_in(part) for part in node.values)
    elif isinstance(node, ast.BinOp):
        text = _text(node.left) + _text(node.right)
    elif isinstance(node, ast.IfExp):
        text = " or ".join(filter(None, (_text(node.body), _text(node.orelse))))
    else:
        text = _filled_in(node)
    return " ".join(text.split()).replace("|", "\\|") if not isinstance(node, ast.Constant) else text


def _filled_in(node: ast.AST) -> str:
    return f"{{{_name(node)}}}"


def _name(node: ast.AST) -> str:
    """What an expression is about, in one word: `path` of `{self.path!r}`, `known` of `{", ".join(known)}`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_")
        case ast.Call(func=ast.Name(id="len")):
            return "number"
        case ast.Call(func=ast.Attribute(value=ast.Constant()), args=[about, *_]):
            return _name(about)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=on), attr=name), args=[]):
            return name if on == "self" else on
        case ast.Call(func=ast.Attribute(value=about), args=[]):
            return _name(about)
        case ast.Call(args=[about, *_]):
            return _name(about)
        case ast.FormattedValue(value=about) | ast.Subscript(value=about) | ast.Call(func=about):
            return _name(about)
        case ast.GeneratorExp(generators=[ast.comprehension(iter=about), *_]):
            return _name(about)
        case ast.BinOp(left=about) | ast.BoolOp(values=[about, *_]) | ast.IfExp(body=about):
            return _name(about)
    return "…"
