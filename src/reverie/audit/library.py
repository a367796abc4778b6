"""`home.audit`: look at everything an agent reads, say what is wrong with it, and turn that into suggestions.

What is looked at: targets, skill folders, what Hermes counted, what others left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from reverie.audit.inventory import (
    ORDER,
    AuditedDocument,
    Finding,
    FindingKind,
    Inventory,
    KeptSkill,
    Machine,
    Spot,
    Traces,
    Unread,
    Use,
    home_of,
)
from reverie.audit.references import read_project
from reverie.audit.report import AuditReport, reported
from reverie.audit.skills import in_skills
from reverie.audit.statements import compare_statements, damage, in_context, in_document, read_traces
from reverie.changes.proposal import Suggestion
from reverie.core.clock import Clock, moment
from reverie.core.errors import BadInput, ReverieError
from reverie.memory.operation import Add
from reverie.memory.target import CONTEXT_FILES, SHARED, Target, context_of
from reverie.memory.targets import Targets
from reverie.skills.library import Folder, folder_name
from reverie.skills.skill import read_skill
from reverie.transcripts.json_streams import mapping_or_empty, parsed_or_none

CODEX = "${CODEX_HOME:-~/.codex}"
_SKILLS_BELOW = (".claude/skills", ".agents/skills", ".codex/skills", "skills")


@dataclass(frozen=True, slots=True)
class AuditSources:
    """`folder_at` makes a folder of skills out of a path; `folders` are those the Home itself reads and can amend."""

    targets: Targets
    folders: Mapping[str, Folder]
    folder_at: Callable[[Path, str], Folder]
    machine: Machine

    def look(self, paths: Iterable[str], now: datetime, *, only: bool, also: Target | None = None) -> Inventory:
        given = [Path(path).expanduser().absolute() for path in paths]
        gone = next((path for path in given if not self.machine.exists(path)), None)
        if gone is not None:
            raise BadInput(f"There is no {gone}.", expected="a folder, or a Markdown file")
        targets = {also.key: also} if also else {}
        targets |= {target.key: target for path in given for target in self._at(path)}
        if not only:
            targets |= {target.key: target for target in self.targets.available() if target.key not in targets}
        unread: list[Unread] = []
        documents = [one for target in targets.values() for one in self._documents(target, unread)]
        skills = [
            one
            for folder in self._skill_folders(given, targets.values(), only)
            for one in self._skills(*folder, now, unread)
        ]
        traces = list[Traces]()
        for target in (target for target in targets.values() if target.key.startswith("hermes:")):
            dreaming = Path(target.key.removeprefix("hermes:")) / "dreaming"
            if found := read_traces(dreaming, home_of(target.name), target.name, self.machine):
                traces.append(found)
        context = [one for target in targets.values() for one in self._context(target, unread)]
        return Inventory(tuple(documents), tuple(context), tuple(skills), tuple(traces), tuple(unread))

    # ---- targets -----------------------------------------------------------------------------------------------------

    def _at(self, path: Path) -> Iterator[Target]:
        """The targets a path can mean: a file, a Hermes home, a folder with one in it, a project."""
        names = [str(path)] if path.suffix == ".md" else [f"hermes:{path}", f"hermes:{path / '.hermes'}"]
        in_a_project = (*SHARED, *(one.partition("/*")[0] for one in CONTEXT_FILES["project"]))
        if path.suffix != ".md" and any(self.machine.exists(path / name) for name in in_a_project):
            names.append(f"agents:{path}")
        for name in names:
            if (target := self.targets.get(name)) is not None:
                yield target

    def _documents(self, target: Target, unread: list[Unread]) -> Iterator[AuditedDocument]:
        home, circle = home_of(target.name), target.name
        project = target.name.removeprefix("agents:") if target.name.startswith("agents:") else None
        try:
            for place in target.places():
                content = target.read(place.document)
                if content is not None:
                    spot = Spot(home, target.name, place.document)
                    text = content.decode("utf-8", "surrogateescape")
                    yield AuditedDocument(spot, place.form, place.budget, text, circle, project)
        except ReverieError as error:
            unread.append(Unread(Spot(home, target.name, ""), f"It is there and could not be read: {error.found}"))

    def _context(self, target: Target, unread: list[Unread]) -> Iterator[AuditedDocument]:
        """The context files beside a target that it does not list itself."""
        folder, names = context_of(target)
        listed = {place.document for place in target.places()}
        for path in self._named(folder, names):
            name = path.relative_to(folder).as_posix()
            if name in listed or not self.machine.exists(path):
                continue
            spot, text = Spot(home_of(target.name), target.name, name), self.machine.read(path)
            if text is None:
                unread.append(Unread(spot, "It is there and could not be read: it may not be, or is too large."))
            else:
                yield AuditedDocument(spot, "list", None, text, target.name)

    def _named(self, folder: Path, names: Iterable[str]) -> Iterator[Path]:
        for name in names:
            if "*" not in name:
                yield folder / name
                continue
            below = folder / name.rpartition("/")[0]
            if self.machine.exists(below):
                ending = name.rpartition("*")[2]
                yield from (below / one for one in self.machine.below(below) if one.endswith(ending))

    # ---- skills ------------------------------------------------------------------------------------------------------

    def _skill_folders(
        self, given: Iterable[Path], targets: Iterable[Target], only: bool
    ) -> list[tuple[Folder, str, bool]]:
        """Each folder once, with the home it belongs to and whether the Home can amend it."""
        found: dict[str, tuple[Folder, str, bool]] = {}
        homes = {folder_name(target.name): home_of(target.name) for target in self.targets.offered()}
        homes |= {"hermes-dir": "hermes"}
        own = {folder.key: folder for folder in self.folders.values()}
        places = list[tuple[Path, str]]()
        for path in (path for path in given if path.suffix != ".md"):
            hermes = self.targets.get(f"hermes:{path}")
            places += [(path / name, hermes.name if hermes else f"agents:{path}") for name in _SKILLS_BELOW]
        for target in (target for target in targets if target.key.startswith("hermes:")):
            places.append((Path(target.key.removeprefix("hermes:")) / "skills", home_of(target.name)))
        places.append((self.targets.where.place(CODEX) / "skills", "codex"))
        for path, home in ((path, home) for path, home in places if self.machine.exists(path)):
            folder = self.folder_at(path, str(path))
            known = own.get(folder.key)
            named = homes.get(known.name, home) if known else home
            found.setdefault(folder.key, (known or folder, named, known is not None))
        for folder in own.values() if not only else ():
            found.setdefault(folder.key, (folder, homes.get(folder.name, "reverie"), True))
        return list(found.values())

    def _skills(
        self, folder: Folder, home: str, amendable: bool, now: datetime, unread: list[Unread]
    ) -> Iterator[KeptSkill]:
        root = Path(folder.key.removeprefix("skills:"))
        told = parsed_or_none(self.machine.read(root / ".usage.json") or "{}")
        usage = mapping_or_empty(told)
        try:
            for subject in folder.subjects():
                files = folder.files(subject)
                skill = read_skill(subject, files)
                # The counts of Hermes. A skill that was archived, or of which nothing was counted, has no say.
                counted, use = mapping_or_empty(usage.get(skill.name) or usage.get(subject)), None
                if counted.get("state") != "archived" and isinstance(counted.get("use_count"), int):
                    made = moment(counted.get("created_at"))
                    days = (now - made).total_seconds() / 86_400 if made else None
                    use = Use(counted["use_count"], days, bool(counted.get("pinned")))
                spot = Spot(home, folder.name, subject)
                yield KeptSkill(spot, skill, files, amendable, home.startswith("hermes"), use)
        except ReverieError as error:
            unread.append(Unread(Spot(home, folder.name, ""), f"It is there and could not be read: {error.found}"))


FULL = 0.9  # of a budget: from here on a tool begins to refuse what it should remember
_WORST = list(FindingKind)
_DOUBLED = (FindingKind.CONTRADICTORY, FindingKind.SUPERSEDED, FindingKind.DUPLICATED)


@dataclass(frozen=True, slots=True)
class Audit:
    looking: AuditSources
    clock: Clock

    def __call__(self, paths: Iterable[str] = (), *, only: bool = False, also: Target | None = None) -> AuditReport:
        """Everything found on this machine and under the paths; with `only`, nothing but the paths; `also` a target."""
        now = self.clock.now()
        standing = self.looking.look(paths, now, only=only, also=also)
        return reported(standing, examined(standing, self.looking.machine, now), now)

    def compact(self, target: str) -> list[Finding]:
        """Statements of one target that repeat, contradict or were superseded, beside all that is read with it."""
        chosen = self.looking.targets.named(target)
        return [
            one
            for one in self(also=chosen).findings
            if one.kind in _DOUBLED and chosen.name in (one.spot.target, one.spot.home)
        ]


def examined(standing: Inventory, machine: Machine, now: datetime) -> list[Finding]:
    """From what stands to what is wrong with it: every judge in turn, the worst first."""
    shown: dict[str, str] = {}
    folders = {document.project for document in standing.documents if document.project}
    projects = {folder: read_project(Path(folder), machine) for folder in folders}
    found: list[Finding] = []
    for document in standing.documents:
        found += in_document(document, machine, now.date(), projects, shown)
        size, budget, spot = len(document.text), document.budget or 0, document.spot
        if size > budget > 0:
            why = f"It has {size:,} characters and {budget:,} fit: what is beyond is refused or not read."
            advice = "Remove, merge or shorten entries."
            found.append(Finding(FindingKind.OVER_BUDGET, "medium", spot, "", why, advice))
        elif budget and size >= FULL * budget:
            full = f"It is {size / budget:.0%} full ({size:,} of {budget:,} characters)"
            why = f"{full}: soon nothing new can be remembered."
            advice = "Make room: remove, merge or shorten entries."
            found.append(Finding(FindingKind.OVER_BUDGET, "low", spot, "", why, advice))
    for document in standing.context:
        found += in_context(document)
    # What is to go anyway is not compared: an accusation is enough.
    going = {one.spot for one in found if one.kind in (FindingKind.JUNK, FindingKind.UNSAFE)}
    staying = [statement for statement in standing.statements() if statement.spot not in going]
    found += compare_statements(staying, standing.skills, shown)
    found += damage(standing.documents, standing.traces, shown)
    found += in_skills(standing.skills)
    found += [Finding(FindingKind.UNREADABLE, "medium", one.spot, "", one.why) for one in standing.unread]
    return sorted(
        found, key=lambda one: (ORDER[one.severity], _WORST.index(one.kind), one.spot.home != "hermes", str(one.spot))
    )


def suggestions(findings: Iterable[Finding]) -> Iterator[Suggestion]:
    """Possible proposals, the worst first: one change for an entry or a skill, whatever else is wrong with it."""
    touched: set[tuple[str, str, str]] = set()
    for finding in findings:
        wanted = finding.suggestion
        if wanted is None:
            continue
        named = [one.old_sha256 for one in wanted.operations if not isinstance(one, Add)] or [wanted.subject]
        keys = {(wanted.target, wanted.subject, name) for name in named}
        if touched.isdisjoint(keys):
            touched |= keys
            yield wanted
