"""A proposal for another document or skill than the night chose."""

from __future__ import annotations

from dataclasses import replace

from reverie.changes.proposal import Proposal, Suggestion
from reverie.core.errors import BadInput, NotFound, ReverieError
from reverie.memory.library import Memory
from reverie.memory.operation import Add, Remove
from reverie.skills.amendments.amendment import Patch
from reverie.skills.amendments.edits import AddRule
from reverie.skills.amendments.refine import refine
from reverie.skills.library import Skills

SECTION = "Gotchas"  # of a skill, for a statement that was meant for memory


def elsewhere(memory: Memory, skills: Skills, proposal: Proposal) -> tuple[str, ...]:
    """The documents and skills a proposal could be for instead: none where it says nothing new."""
    if not _texts(proposal.suggestion):
        return ()
    places = [
        *_documents(memory),
        *(f"{folder.name}/{one}" for folder in skills.folders.values() for one in folder.subjects()),
    ]
    here = f"{proposal.target_name}/{proposal.suggestion.subject}"
    return tuple(one for one in dict.fromkeys(places) if one != here)


def moved(memory: Memory, skills: Skills, proposal: Proposal, where: str) -> Suggestion:
    """The same words for another place. What they would have replaced stays as it is."""
    suggestion = proposal.suggestion
    texts = _texts(suggestion)
    if not texts:
        raise BadInput(f"{proposal.id} says nothing new: it cannot be moved.", expected="a statement or rule to add")
    if where in _documents(memory):
        target, _, document = where.rpartition("/")
        operations = tuple(Add(document, text) for text in texts)
        return replace(suggestion, target=target, subject=document, operations=operations, amendment=None)
    try:
        found = skills.get(where)
    except NotFound as error:
        raise BadInput(f"There is no document or skill {where!r}.", expected="one of those that are offered") from error
    added = _added(suggestion)
    patch = refine(found.skill, section=added[0].section if added else SECTION, add=texts)
    subject = found.skill.subject
    return replace(suggestion, target=found.folder.key, subject=subject, operations=(), amendment=patch)


def _documents(memory: Memory) -> list[str]:
    names = list[str]()
    for name in memory.present():
        try:
            names += [f"{name}/{place.document}" for place in memory.target(name).places()]
        except ReverieError:  # one that cannot be read is no place to move to
            continue
    return names


def _added(suggestion: Suggestion) -> list[AddRule]:
    """The rules an amendment adds, if that is all it does."""
    amendment = suggestion.amendment
    edits = amendment.change if isinstance(amendment, Patch) and isinstance(amendment.change, tuple) else ()
    added = [one for one in edits if isinstance(one, AddRule)]
    return added if len(added) == len(edits) else []


def _texts(suggestion: Suggestion) -> list[str]:
    if suggestion.operations:
        return [one.text for one in suggestion.operations if not isinstance(one, Remove)]
    return [one.text for one in _added(suggestion)]
