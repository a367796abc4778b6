"""What an agent may read of a home by its address: memory, skills, the diaries of nights; and the one prompt.

The list is always the same, so that it costs nothing: an agent asks for it when it starts, and waits for the answer.
"""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from reverie.core.errors import NotFound

if TYPE_CHECKING:
    from reverie.integrations.agent_tools import AgentTools

SCHEME = "reverie://"
PAGES = {
    f"{SCHEME}memory": ("memory", "What is remembered for this person's agents, by where it stands."),
    f"{SCHEME}skills": ("skills", "The skills there are, with their addresses."),
    f"{SCHEME}diary": ("diary", "The last nights, with the addresses of their diaries."),
}
TEMPLATES = {
    f"{SCHEME}memory/{{target}}": ("memory of one target", "What one agent, project or home remembers."),
    f"{SCHEME}skills/{{skill}}": ("a skill", "The text of one skill."),
    f"{SCHEME}diary/{{dream}}": ("a diary", "What one night read, changed, proposed and held, with reasons."),
}
NIGHTS = 7  # diaries that are listed
PROMPT = "review-last-night"
PROMPT_ABOUT = "What the last night changed and what waits for a decision, to go through together."
_PROMPT_FILE = Path(__file__).with_name("review_last_night.md")


def read_page(tools: AgentTools, uri: str) -> str:
    if uri.startswith(SCHEME):
        kind, _, name = unquote(uri.removeprefix(SCHEME)).partition("/")
        match kind, name:
            case "memory", "":
                return "\n".join(f"## {one}\n\n{_memory(tools, one)}" for one in tools.home.memory.present())
            case "memory", target:
                return _memory(tools, target)
            case "skills", "":
                every = tools.safe_skills()
                return "".join(f"- {SCHEME}skills/{quote(one.path)} {one.skill.description or ''}\n" for one in every)
            case "skills", skill:
                return tools.read_skill(skill)
            case "diary", "":
                nights = tools.home.dreams.records.find(tools.home.owned, limit=NIGHTS)
                return "".join(f"- {SCHEME}diary/{one.id} {one.started_at:%Y-%m-%d} {one.target}\n" for one in nights)
            case "diary", dream:
                return _safe_lines(tools.home.dreams.get(dream).diary)
    raise NotFound(f"There is no page {uri}.", expected=f"one of {', '.join(PAGES)}, or a page below")


def _memory(tools: AgentTools, target: str) -> str:
    return "".join(f"- {entry.text}\n" for entry in tools.safe_entries(target))


def _safe_lines(text: str) -> str:
    """A diary quotes what it did not keep, and why."""
    from reverie.integrations.agent_tools import withhold_unsafe

    return "\n".join(map(withhold_unsafe, text.split("\n")))


def review_last_night(tools: AgentTools) -> str:
    from reverie.integrations.agent_tools import describe_proposal

    diaries = [dream.diary for dream in tools.home.dreams.records.find(tools.home.owned, limit=NIGHTS) if dream.diary]
    waiting = [describe_proposal(one) for one in tools.home.review.waiting()]
    return Template(_PROMPT_FILE.read_text("utf-8")).substitute(
        diary=_safe_lines(diaries[0].strip()) if diaries else "There was no night yet.",
        proposals="\n\n".join(waiting) or "Nothing waits.",
    )
