"""Look at everything an agent reads: shelves, skill folders, what Hermes counted, what others left."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.audit.filesystem import Machine
from reverie.audit.finding import Spot
from reverie.audit.hermes_dreaming_leftovers import read_traces
from reverie.audit.inventory import Document, Kept, Standing, Traces, Unread, Use
from reverie.audit.prompt_groups import home_of
from reverie.core.clock import moment
from reverie.core.errors import BadInput, ReverieError
from reverie.memory.context_files import CONTEXT_FILES, SHARED, context_of
from reverie.memory.shelf import Shelf
from reverie.memory.shelves import Shelves
from reverie.skills.library import Folder
from reverie.skills.skill import read_skill

CODEX = "${CODEX_HOME:-~/.codex}"
_SKILLS_BELOW = (".claude/skills", ".agents/skills", ".codex/skills", "skills")


@dataclass(frozen=True, slots=True)
class Looking:
    """`folder_at` makes a folder of skills out of a path; `folders` are those the Home itself reads and can amend."""

    shelves: Shelves
    folders: Mapping[str, Folder]
    folder_at: Callable[[Path, str], Folder]
    machine: Machine

    def look(self, paths: Iterable[str], now: datetime, *, only: bool, also: Shelf | None = None) -> Standing:
        given = [Path(path).expanduser().absolute() for path in paths]
        self._check(given)
        shelves = {also.key: also} if also else {}
        shelves |= {shelf.key: shelf for path in given for shelf in self._at(path)}
        if not only:
            shelves |= {shelf.key: shelf for shelf in self.shelves.available() if shelf.key not in shelves}
        unread: list[Unread] = []
        documents = [one for shelf in shelves.values() for one in self._documents(shelf, unread)]
        skills = [
            one
            for folder in self._skill_folders(given, shelves.values(), only)
            for one in self._skills(*folder, now, unread)
        ]
        hermes = [shelf for shelf in shelves.values() if shelf.key.startswith("hermes:")]
        traces = [found for shelf in hermes if (found := self._traces(shelf))]
        context = [one for shelf in shelves.values() for one in self._context(shelf)]
        return Standing(tuple(documents), tuple(context), tuple(skills), tuple(traces), tuple(unread))

    def _check(self, given: Iterable[Path]) -> None:
        gone = next((path for path in given if not self.machine.exists(path)), None)
        if gone is not None:
            raise BadInput(f"There is no {gone}.", expected="a folder, or a Markdown file")

    # ---- shelves -----------------------------------------------------------------------------------------------------

    def _at(self, path: Path) -> Iterator[Shelf]:
        """What a path can mean: a file, a Hermes home, a folder with one in it, a project."""
        names = [str(path)] if path.suffix == ".md" else [f"hermes:{path}", f"hermes:{path / '.hermes'}"]
        in_a_project = (*SHARED, *(one.partition("/*")[0] for one in CONTEXT_FILES["project"]))
        if path.suffix != ".md" and any(self.machine.exists(path / name) for name in in_a_project):
            names.append(f"agents:{path}")
        for name in names:
            if (shelf := self.shelves.get(name)) is not None:
                yield shelf

    def _documents(self, shelf: Shelf, unread: list[Unread]) -> Iterator[Document]:
        home, circle = home_of(shelf.name), shelf.name
        project = shelf.name.removeprefix("agents:") if shelf.name.startswith("agents:") else None
        try:
            for place in shelf.places():
                content = shelf.read(place.document)
                if content is not None:
                    spot = Spot(home, shelf.name, place.document)
                    yield Document(
                        spot, place.form, place.budget, content.decode("utf-8", "surrogateescape"), circle, project
                    )
        except ReverieError as error:
            unread.append(Unread(Spot(home, shelf.name, ""), f"It is there and could not be read: {error.found}"))

    def _context(self, shelf: Shelf) -> Iterator[Document]:
        """The context files beside a shelf that it does not list itself."""
        folder, names = context_of(shelf)
        listed = {place.document for place in shelf.places()}
        for path in self._named(folder, names):
            name = path.relative_to(folder).as_posix()
            if name not in listed and (text := self.machine.read(path)) is not None:
                spot = Spot(home_of(shelf.name), shelf.name, name)
                yield Document(spot, "list", None, text, shelf.name)

    def _named(self, folder: Path, names: Iterable[str]) -> Iterator[Path]:
        for name in names:
            if "*" not in name:
                yield folder / name
                continue
            below = folder / name.rpartition("/")[0]
            if self.machine.exists(below):
                ending = name.rpartition("*")[2]
                yield from (below / one for one in self.machine.below(below) if one.endswith(ending))

    def _traces(self, shelf: Shelf) -> Traces | None:
        folder = Path(shelf.key.removeprefix("hermes:"))
        return read_traces(folder / "dreaming", home_of(shelf.name), shelf.name, self.machine)

    # ---- skills ------------------------------------------------------------------------------------------------------

    def _skill_folders(
        self, given: Iterable[Path], shelves: Iterable[Shelf], only: bool
    ) -> list[tuple[Folder, str, bool]]:
        """Each folder once, with the home it belongs to and whether the Home can amend it."""
        found: dict[str, tuple[Folder, str, bool]] = {}
        own = {folder.key: folder for folder in self.folders.values()}
        for path, home in [*self._below(given), *self._of_shelves(shelves)]:
            folder = self.folder_at(path, str(path))
            known = own.get(folder.key)
            found.setdefault(
                folder.key, (known or folder, _HOMES.get(known.name, home) if known else home, known is not None)
            )
        for folder in own.values() if not only else ():
            found.setdefault(folder.key, (folder, _HOMES.get(folder.name, "reverie"), True))
        return list(found.values())

    def _below(self, given: Iterable[Path]) -> Iterator[tuple[Path, str]]:
        for path in given:
            for name in _SKILLS_BELOW:
                if path.suffix != ".md" and self.machine.exists(path / name):
                    hermes = self.shelves.get(f"hermes:{path}")
                    yield path / name, hermes.name if hermes else f"agents:{path}"

    def _of_shelves(self, shelves: Iterable[Shelf]) -> Iterator[tuple[Path, str]]:
        for shelf in shelves:
            folder = Path(shelf.key.removeprefix("hermes:")) / "skills"
            if shelf.key.startswith("hermes:") and self.machine.exists(folder):
                yield folder, home_of(shelf.name)
        codex = self.shelves.where.place(CODEX) / "skills"
        if self.machine.exists(codex):
            yield codex, "codex"

    def _skills(
        self, folder: Folder, home: str, amendable: bool, now: datetime, unread: list[Unread]
    ) -> Iterator[Kept]:
        root = Path(folder.key.removeprefix("skills:"))
        usage = _usage(self.machine.read(root / ".usage.json"))
        try:
            for subject in folder.subjects():
                files = folder.files(subject)
                skill = read_skill(subject, files)
                use = _use(usage.get(skill.name) or usage.get(subject), now)
                yield Kept(Spot(home, folder.name, subject), skill, files, amendable, home.startswith("hermes"), use)
        except ReverieError as error:
            unread.append(Unread(Spot(home, folder.name, ""), f"It is there and could not be read: {error.found}"))


_HOMES = {"skills": "reverie", "hermes-skills": "hermes", "hermes-dir": "hermes", "claude-skills": "claude"}


def _usage(text: str | None) -> dict[str, Any]:
    try:
        told = json.loads(text or "{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _use(told: object, now: datetime) -> Use | None:
    """What Hermes counted. A skill that was archived, or of which nothing was counted, has no say."""
    if not isinstance(told, dict) or told.get("state") == "archived" or not isinstance(told.get("use_count"), int):
        return None
    made = moment(told.get("created_at"))
    days = (now - made).total_seconds() / 86_400 if made else None
    return Use(told["use_count"], days, bool(told.get("pinned")))
