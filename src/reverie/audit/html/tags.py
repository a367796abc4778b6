"""Tags that cannot be broken out of: every text is escaped unless it was made here."""

from __future__ import annotations

from html import escape


class Safe(str):
    """Markup made by `tag`, and nothing else."""

    __slots__ = ()


Child = str | Safe | int | None
_VOID = frozenset({"meta", "br", "hr", "rect", "line", "path", "circle"})


def tag(name: str, /, *children: Child, **attributes: str | float | bool) -> Safe:
    """`class_` is class, `stroke_width` is stroke-width; an attribute that is False is left out."""
    told = "".join(_attribute(key, value) for key, value in attributes.items() if value is not False)
    if name in _VOID:
        return Safe(f"<{name}{told}>") if not children else Safe(f"<{name}{told}>{join_markup(*children)}</{name}>")
    return Safe(f"<{name}{told}>{join_markup(*children)}</{name}>")


def join_markup(*children: Child) -> Safe:
    return Safe(
        "".join(child if isinstance(child, Safe) else escape(str(child)) for child in children if child is not None)
    )


def _attribute(key: str, value: str | float | bool) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value), quote=True)}"'
