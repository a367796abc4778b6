"""The tools of an agent, as they are listed to it: names, what they are for, and the shape of their arguments.

It imports next to nothing: an agent does not wait long for a server that has to start, and asks for this list first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from reverie.core.errors import BadInput

MOST_HITS = 20


@dataclass(frozen=True, slots=True)
class Tool:
    """`schema` is JSON Schema of the arguments; `writes` is true where a proposal can come of it."""

    name: str
    about: str
    schema: Mapping[str, Any]
    writes: bool


def _text(about: str = "") -> dict[str, str]:
    return {"type": "string", **({"description": about} if about else {})}


def _texts(about: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": about}


def _object(required: Iterable[str] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


TOOLS = (
    Tool(
        "search",
        "Search past sessions of this person with any agent. Use when they refer to earlier work or a decision.",
        _object(["query"], query=_text(), limit={"type": "integer", "minimum": 1, "maximum": MOST_HITS}),
        False,
    ),
    Tool(
        "recall",
        "What is remembered for this person's agents, with ids; about a subject, or the first entries.",
        _object(about=_text()),
        False,
    ),
    Tool(
        "match_skills",
        "Which skills a task calls for, and why.",
        _object(["task"], task=_text()),
        False,
    ),
    Tool(
        "read_skill",
        "The text of a skill.",
        _object(["name"], name=_text()),
        False,
    ),
    Tool(
        "remember",
        "Propose one lasting statement for memory, when the person says to remember something or corrects you. "
        "Nothing is written: the person reviews it.",
        _object(
            ["text"],
            text=_text("One statement that stands by itself."),
            replaces=_text("The id of the entry it takes the place of."),
            because=_text("Why, in a sentence."),
            target=_text("Which memory; yours if not given."),
        ),
        True,
    ),
    Tool(
        "refine_skill",
        "Propose a change of a skill that was wrong or incomplete. Nothing is written: the person reviews it.",
        _object(
            ["name", "because"],
            name=_text(),
            section=_text("The heading the rules stand under."),
            add=_texts("Rules to add."),
            replace={"type": "object", "additionalProperties": {"type": "string"}, "description": "Old rule to new."},
            remove=_texts("Rules to take out."),
            because=_text("What went wrong, in a sentence."),
        ),
        True,
    ),
    Tool(
        "proposals",
        "What waits for the person's review; with an id, one proposal in full: change, evidence, why it asks.",
        _object(id=_text()),
        False,
    ),
)


_TYPES: Mapping[str, type] = {"string": str, "integer": int, "array": list, "object": dict}


def check_arguments(schema: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """The small part of JSON Schema that our tools use."""
    properties = cast("Mapping[str, Mapping[str, Any]]", schema["properties"])
    missing = [name for name in schema["required"] if name not in given]
    if missing:
        raise BadInput(f"{', '.join(missing)} is missing.", expected=f"the arguments {', '.join(properties)}")
    for name, value in given.items():
        if name not in properties:
            raise BadInput(f"There is no argument {name!r}.", expected=f"only {', '.join(properties)}")
        kind = properties[name]["type"]
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        wrong = not isinstance(value, _TYPES[kind]) or isinstance(value, bool)
        if wrong or not all(isinstance(one, str) for one in inner):
            raise BadInput(f"The argument {name} is {value!r:.80}.", expected=f"{kind}, of strings if it holds any")
        if isinstance(value, int) and not 1 <= value <= MOST_HITS:
            raise BadInput(f"{name} is {value}.", expected=f"a number from 1 to {MOST_HITS}")
