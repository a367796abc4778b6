"""Every statement an agent reads, on every surface: memory, skills, instruction files, memory stores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from reverie.core.errors import NotPermitted

if TYPE_CHECKING:
    from reverie.app.home import Home
    from reverie.changes.affected_rules import Statement
    from reverie.changes.history.library import Instruction
    from reverie.memory.stores.store import Store, StoredMemory
    from reverie.memory.target import Target

MOST_MEMORIES_RELATED = 2_000  # of memory stores, which a proposal is held against


def entries_by_document(target: Target) -> Iterator[tuple[str, str]]:
    """Each entry with the document it stands in, as people name it."""
    from reverie.memory.formats import FORMATS

    for place in target.places():
        for text in FORMATS[place.form].read(target.read(place.document) or b"").entries:
            yield f"{target.name}/{place.document}", text


def surface_statements(home: Home) -> Iterator[Statement]:
    """Every rule on every surface an agent reads."""
    from reverie.changes.affected_rules import Statement
    from reverie.changes.history.library import rules_in

    for target in home.targets.available():
        entries = list[tuple[str, str]]()
        with suppress(NotPermitted):  # a night over that target says so; others do not wait for it
            entries += entries_by_document(target)
        yield from (Statement(where, text) for where, text in entries)
    seen = set[tuple[str, bytes]]()
    for folder in home.skill_folders.values():
        for subject in folder.subjects():
            for document, content in folder.files(subject).items():
                if (document, content) in seen:  # a copy of another agent's
                    continue
                seen.add((document, content))
                where = f"{folder.name}/{subject}"
                yield from (Statement(where, text, "skill") for text in rules_in(subject, document, content))
    yield from (Statement(one.file, one.text, "instructions") for one in home.instructions())
    yield from (Statement(where, text, "store") for where, text in _stated_in_stores(home))


def _stated_in_stores(home: Home) -> Iterator[tuple[str, str]]:
    """Statements of the memory stores of this home's owner, and of those that are nobody's."""
    from reverie.memory.formats import FORMATS

    for scope in (home.owned, home.owned.of("")):
        for store, memory in home.tenants.stores(scope).every_memory(MOST_MEMORIES_RELATED):
            texts = FORMATS["page"].read(memory.content or b"").entries
            yield from ((f"{store.id}{memory.path}", text) for text in texts)


def stores(home: Home, most: int, most_memories: int) -> list[tuple[Store, list[StoredMemory]]]:
    """The newest memory stores in use that are this home's, each with its first memories, without their content."""
    from reverie.core.clock import TimeSpan
    from reverie.memory.stores.store import StoredMemory

    found = list[tuple["Store", list["StoredMemory"]]]()
    for scope in (home.owned, home.owned.of("")) if home.is_whole else (home.scope,):
        library = home.tenants.stores(scope)
        for store in library.find(TimeSpan(), limit=most):
            there = library.memories(store.id, limit=most_memories)
            found.append((store, [one for one in there if isinstance(one, StoredMemory)]))
    return found


def instructions(home: Home) -> list[Instruction]:
    """Statements of files that Reverie never changes: AGENTS.md, CLAUDE.md, SOUL.md and their like."""
    from reverie.changes.history.library import Instruction
    from reverie.harnesses.markdown.instructions import context_files_beside as files_beside
    from reverie.harnesses.markdown.instructions import instructions_in

    own = (path for target in home.targets.available() for path in files_beside(target))
    paths = dict.fromkeys((*own, *home.config.instructions))
    return [Instruction(text, where) for where, text in instructions_in(paths) if not text.startswith("#")]


def statements_beside(home: Home, name: str) -> Iterator[tuple[str, str]]:
    """Statements an agent reads beside this target: what stands above it, and the instructions it is given."""
    from reverie.harnesses.markdown.instructions import context_files_beside as files_beside
    from reverie.harnesses.markdown.instructions import instructions_in

    for target in home.targets.available():
        if name.startswith(f"{target.name}/"):
            yield from entries_by_document(target)
    yield from instructions_in((*files_beside(home.targets.named(name)), *home.config.instructions))
