"""A model as curator: one request for a night that fits one Brief. Its answer is only read here, never believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from reverie.dreams.brief.gather import Material
from reverie.dreams.curators import Curated
from reverie.dreams.items import CuratorAnswer, read_answer
from reverie.llm import asker as asking
from reverie.llm.budget import CapReached
from reverie.llm.question import Question, Role, Wrong, estimate_tokens
from reverie.llm.settings import ModelInfo, Prompt

PROMPTS = {Role.CURATE: "curate", Role.NOTES: "notes"}


def prompt_for(role: Role, info: ModelInfo) -> Prompt:
    """Ours, or the one a person put in its place."""
    name = PROMPTS[role]
    ours = (files("reverie.dreams.curators") / f"{name}.md").read_text("utf-8")
    return Prompt(name, info.prompts.get(name, ours))


@dataclass(frozen=True, slots=True)
class ModelCurator:
    asker: asking.Asker
    info: ModelInfo

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def room(self) -> int | None:
        return room_for(self.info)

    def curate(self, material: Material) -> Curated:
        return _curated(self.asker.ask(question(Role.CURATE, material, self.info)))

    def notes(self, materials: Sequence[Material]) -> list[Curated]:
        """Several requests at once, as `model_at_once` allows."""
        asked = [question(Role.NOTES, one, self.info) for one in materials]
        return [_curated(outcome) for outcome in self.asker.ask_all(asked)]


def _curated(outcome: asking.Outcome[CuratorAnswer]) -> Curated:
    match outcome:
        case asking.Answer(value=value):
            return Curated(value)
        case asking.Denied(why=why) | CapReached(why=why):
            return Curated(failed=why, stopped=True)
        case asking.Dropped(why=why):
            return Curated(failed=f"The model did not decide: {why}. The built-in curator did.")


def question(role: Role, material: Material, info: ModelInfo) -> Question[CuratorAnswer]:
    """The prompt first, so that providers can cache it; then the Brief."""
    prompt = prompt_for(role, info)
    brief = material.brief.render()
    whole = sum(session.characters for session in material.sessions.values())
    return Question(
        role, prompt.name, prompt.sha256, prompt.text, brief, _read, sent_characters=len(brief), of_characters=whole
    )


def room_for(info: ModelInfo) -> int:
    """The most tokens a Brief may have."""
    return info.brief_tokens(estimate_tokens(prompt_for(Role.CURATE, info).text))


def _read(value: object) -> CuratorAnswer | Wrong:
    found = read_answer(value)
    return Wrong(found) if isinstance(found, str) else found
