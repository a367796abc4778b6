"""How changes, erasure and the bridge are wired: what an agent reads on every surface, what can be changed, what
happened to it, every place of a home that could still hold what is to go, where managed memories come from, and the
way out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.core.clock import TimeSpan
from reverie.core.errors import BadSetting, NotFound, NotPermitted, ReverieError
from reverie.core.scope import LOCAL, Scope, checked_workspace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.app.home import Home
    from reverie.bridge.library import Bridge
    from reverie.bridge.places import Places
    from reverie.bridge.source import Snapshot, StoreSource
    from reverie.changes.drafts import Artifact, Holder
    from reverie.changes.history import History, Instruction
    from reverie.changes.land import Outcome
    from reverie.changes.ledger import Change
    from reverie.changes.policy import Statement
    from reverie.changes.projection import Checked
    from reverie.changes.proposal import Proposal
    from reverie.changes.queue import Review
    from reverie.dreams.curators import Curator
    from reverie.erasure.library import Erasing
    from reverie.harnesses.anthropic_server import AnthropicServer
    from reverie.memory.store import Store, StoredMemory
    from reverie.memory.target import Target
    from reverie.system.file_records import Exported
    from reverie.transcripts.session import Evidence


MOST_MEMORIES_RELATED = 2_000  # of memory stores, which a proposal is held against


def without_secrets(text: str) -> tuple[str, Mapping[str, int]]:
    from reverie.safety.redact import redact

    redacted = redact(text)
    return redacted.text, redacted.found


def entries_by_document(target: Target) -> Iterator[tuple[str, str]]:
    """Each entry with the document it stands in, as people name it."""
    from reverie.memory.formats import FORMATS

    for place in target.places():
        for text in FORMATS[place.form].read(target.read(place.document) or b"").entries:
            yield f"{target.name}/{place.document}", text


def surface_statements(home: Home) -> Iterator[Statement]:
    """Every rule on every surface an agent reads."""
    from reverie.changes.history import rules_in
    from reverie.changes.policy import Statement
    from reverie.memory.formats import FORMATS

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
    for scope in (home.owned, home.owned.of("")):  # the owner's memory stores, and those that are nobody's
        for store, memory in home.tenants.stores(scope).every_memory(MOST_MEMORIES_RELATED):
            texts = FORMATS["page"].read(memory.content or b"").entries
            yield from (Statement(f"{store.id}{memory.path}", text, "store") for text in texts)


def stores(home: Home, most: int, most_memories: int) -> list[tuple[Store, list[StoredMemory]]]:
    """The newest memory stores in use that are this home's, each with its first memories, without their content."""
    from reverie.memory.store import StoredMemory

    found = list[tuple["Store", list["StoredMemory"]]]()
    for scope in (home.owned, home.owned.of("")) if home.is_whole else (home.scope,):
        library = home.tenants.stores(scope)
        for store in library.find(TimeSpan(), limit=most):
            there = library.memories(store.id, limit=most_memories)
            found.append((store, [one for one in there if isinstance(one, StoredMemory)]))
    return found


def instructions(home: Home) -> list[Instruction]:
    """Statements of files that Reverie never changes: AGENTS.md, CLAUDE.md, SOUL.md and their like."""
    from reverie.changes.history import Instruction
    from reverie.harnesses.any_path import context_files_beside as files_beside
    from reverie.harnesses.any_path import instructions_in

    own = (path for target in home.targets.available() for path in files_beside(target))
    paths = dict.fromkeys((*own, *home.config.instructions))
    return [Instruction(text, where) for where, text in instructions_in(paths) if not text.startswith("#")]


def statements_beside(home: Home, name: str) -> Iterator[tuple[str, str]]:
    """Statements an agent reads beside this target: what stands above it, and the instructions it is given."""
    from reverie.harnesses.any_path import context_files_beside as files_beside
    from reverie.harnesses.any_path import instructions_in

    for target in home.targets.available():
        if name.startswith(f"{target.name}/"):
            yield from entries_by_document(target)
    yield from instructions_in((*files_beside(home.targets.named(name)), *home.config.instructions))


def review(home: Home) -> Review:
    from reverie.changes.land import Landing, Proposing
    from reverie.changes.policy import read_policy, related_statements
    from reverie.changes.queue import Review
    from reverie.storage.ledger import SqlProposals

    def undone(scope: Scope, change: Change, because: str) -> Outcome:
        from reverie.memory.store import Author

        writes = home.tenants.writes(scope, Author("user", scope.actor), home.config.owner)
        return writes.undo(change.target.rpartition("/")[2], change.id, because)

    def project_of(evidence: Iterable[Evidence]) -> str:
        """The project in whose sessions all of it was said."""
        wanted: dict[str, list[int]] = {one.session_id: [] for one in evidence}
        read = home.sessions.exchanges(wanted).values() if wanted else ()
        projects = {(stored.head.project if stored else None) or "" for stored, _ in read}
        return projects.pop() if len(projects) == 1 else ""

    def checked_again(proposal: Proposal) -> tuple[tuple[str, str], ...]:
        from reverie.dreams import recheck

        return recheck.checked_again(home.dreams, proposal)

    scope, history, ids, clock = home.owned, home.history_records, home.ids, home.clock
    gated = {one.name: why for one in home.targets.offered() if (why := getattr(one, "approval", ""))}
    policy = replace(read_policy(home.config.home / "policy.toml"), gated=gated)
    proposals = SqlProposals(home.engine, clock)
    related = partial(related_statements, partial(surface_statements, home))
    proposing = Proposing(scope, history, proposals, policy, related, ids, clock, project_of)
    landing = Landing(scope, history, home.outside_edits, ids, clock, home.projecting)
    owner, artifact, edits = home.config.owner, partial(artifact_of, home), home.outside_edits
    return Review(
        scope, owner, history, proposals, policy, artifact, edits, proposing, landing, clock, checked_again, undone
    )


def artifact_of(home: Home, target: str, subject: str, also: str | None = None) -> Artifact:
    from reverie.changes.drafts import artifact, skill_artifact

    def seen(key: str, under: str) -> list[str]:
        return [document for _, document in home.history_records.documents(home.owned, key, under)]

    folders = home.skill_folders
    folder = folders.get(target) or next((one for one in folders.values() if one.key == target), None)
    if folder is None:
        return artifact(home.targets, target, subject, lambda key, document: document in seen(key, document))
    return skill_artifact(folder, subject, partial(seen, folder.key), also)


def checks_of(home: Home, proposal: Proposal) -> tuple[tuple[str, str], ...]:
    """The checks verification made of this proposal, and what they found: in the night, or in what a person made of it
    since. What was undone waits again with the same text under another name."""
    from reverie.dreams.verify.checks import CHECKS
    from reverie.memory.operation import Remove

    name = proposal.suggestion.dream
    dream = home.dream_records.get(home.owned, name) if name else None
    texts = {one.text for one in proposal.suggestion.operations if not isinstance(one, Remove)}
    judged = dream.judged if dream else ()
    then = next((one.checks for one in judged if (one.text in texts if texts else one.ref == proposal.id)), ())
    done = proposal.suggestion.checks or then
    questions = {one.name: one.question for one in CHECKS}
    return tuple((questions.get(check, f"{check}?"), found) for check, found in done)


def history_of(home: Home, scope: Scope) -> History:
    from reverie.changes.history import History

    names = {target.key: target.name for target in home.targets.offered()}
    names |= {folder.key: name for name, folder in home.skill_folders.items()}
    return History(
        scope, home.history_records, lambda key: names.get(key) or key.removeprefix(f"store:{scope.workspace}/")
    )


def histories(home: Home, workspace: str | None = None, user: str | None = None) -> list[History]:
    """Of the owner and of what is shared here; or of one person, or of everybody, in a workspace."""
    within = replace(home.owned, workspace=checked_workspace(workspace or LOCAL))
    if user is not None:
        people = [user]
    else:
        people = [home.config.owner, ""] if workspace is None else home.history_records.people(within)
    return [history_of(home, within.of(one)) for one in people]


def holders(home: Home) -> list[Holder]:
    """Everything Changes were ever made to that is still there, and every skills folder: an erasure may have left no
    document of one whose name could be kept."""
    folders: dict[str, Holder] = {folder.key: folder for folder in home.skill_folders.values()}
    keys = {key: None for key, _ in home.history_records.documents(home.owned)} | dict.fromkeys(folders)
    found = [folders.get(key) or home.targets.get(key) for key in keys]
    return [holder for holder in found if holder is not None]


def verify(home: Home) -> list[Checked]:
    from reverie.changes.projection import Checked, HistoryVerification
    from reverie.memory.store import Author

    home.projecting.finish()
    holders = {one.key: one for one in home.skill_folders.values()}

    def read(target: str, document: str) -> bytes | None:
        if target.startswith("store:"):
            return home.tenants.target(home.owned, target.rpartition("/")[2], Author("user", "verify")).read(document)
        holder = holders.get(target) or home.targets.get(target)
        return holder.read(document) if holder else None

    checks = HistoryVerification(home.owned, home.history_records, read, home.projection).verify()
    return [*checks, *(Checked("git history", True, said) for said in home.projection.elsewhere())]


def file_of(home: Home, target: str, document: str) -> Path | None:
    """Where a document lies, for people; None where it is no file, or its target is gone."""
    folders: dict[str, Holder] = {folder.key: folder for folder in home.skill_folders.values()}
    folder: Path | None = getattr(folders.get(target) or home.targets.get(target), "folder", None)
    return folder / document if folder else None


def document_at(home: Home, path: str) -> str:
    """The name history has for the file, or the folder of a skill, at a real path; any other words as they are."""
    real = Path(path).expanduser()
    if not (path.startswith(("/", "~", "./", "../")) or ("/" in path and real.exists())):
        return path
    real = real.resolve()
    for target, document in home.history_records.documents(home.owned):
        file = file_of(home, target, document)
        if file is not None and (file == real or real in file.parents):
            under = file.relative_to(real).parts  # of a skill's folder: what lies below it
            named = Path(document).parts[: len(Path(document).parts) - len(under)]
            if named:
                return "/".join((target, *named))
    return path


def erasing(home: Home) -> Erasing:
    """`home.erase(home.erase.plan("session", "claude-code:…"))`, or at once: `home.erase.text("…")`."""
    from reverie.erasure.library import Erasing, LiveDocuments
    from reverie.storage.erasure.files import HomeFiles
    from reverie.storage.upkeep import forget_nights
    from reverie.system.files import remove_file

    def live_targets() -> list[Target]:
        """Those that stand on this machine, and every other that was ever changed and is still there."""
        changed = dict.fromkeys(key for key, _ in home.history_records.documents(home.owned))
        known = (*map(home.targets.get, changed), *home.targets.available())
        return list({one.key: one for one in known if one is not None}.values())

    def dream_folders() -> list[Path]:
        beside = (getattr(target, "dreaming", None) for target in home.targets.offered())
        own = home.config.home / "dreaming"
        return [*filter(None, beside), *(sorted(own.iterdir()) if own.is_dir() else ())]

    def show_dreams() -> None:
        for target in home.dream_records.targets(home.owned):
            with suppress(ReverieError):  # one whose target cannot be written now is shown after its next night
                home.dream.show(target)

    documents = LiveDocuments(live_targets, home.skill_folders.values, home.review)
    files = HomeFiles(
        home.config.home,
        lambda: home.projection,
        dream_folders,
        show_dreams,
        lambda: home.index.renew(),  # noqa: PLW0108  (it is opened only where something is erased)
        lambda: forget_nights(home.config.home, home.config.database),
    )
    retention, ids, clock = home.config.retention, home.ids, home.clock
    return Erasing(
        home.scope, home.erasures, documents, files, lambda path: remove_file(Path(path)), retention, ids, clock
    )


SOURCES = "reverie.sources"  # the entry point of managed memories that strangers read


def bridge(home: Home) -> Bridge:
    from reverie.bridge.amendments import Amending
    from reverie.bridge.library import Bridge
    from reverie.harnesses.exported_stores import read_folder
    from reverie.system.file_records import RouteFile, StoreCopies, every_copy

    def curator() -> Curator | None:
        """The model of the settings; without one nobody is asked."""
        from reverie.dreams.curators.model import ModelCurator

        info = home.askers.info()
        asker = home.askers.of_errand(home.owned, f"bridge-{home.clock.now():%Y-%m-%d}") if info else None
        return ModelCurator(asker, info) if asker and info else None

    folder = home.config.home
    return Bridge(
        lambda: [*every_copy(folder)],
        lambda address: StoreCopies.of(folder, address),
        lambda name: read_folder(Path(name).expanduser()),
        partial(_own_store, home),
        lambda text: home.erasures.tombstones(home.owned).scrubber.clean(without_secrets(text)[0]),
        home.clock,
        Amending(home.review, partial(_places, home), curator),
        partial(_pushed_documents, home),
        RouteFile(folder / "routes" / "learned.json"),
    )


def learn_move(home: Home, moved: Proposal) -> None:
    """Where a reviewer put what the bridge had put elsewhere."""
    from reverie.bridge.draft import PROPOSER
    from reverie.bridge.places import MEMORY, SKILL, USER
    from reverie.bridge.route import USER as USER_DOCUMENT

    if moved.suggestion.proposer == PROPOSER:
        subject = moved.suggestion.subject
        memory = USER if subject == USER_DOCUMENT else MEMORY
        to = f"{SKILL}{subject}" if moved.suggestion.amendment else memory
        home.bridge.routes.put(home.bridge.learned(moved, to, home.config.owner))


def _pushed_documents(home: Home, target: str | None) -> dict[str, str]:
    found = {f"skills/{one.path}": one.skill for one in home.skills.every()}
    skills = {path: one.content for path, one in found.items() if one.enabled and not one.archived}
    memory = home.targets.named(target) if target else None
    places = memory.places() if memory else []
    entries = {f"memory/{one.document}": memory.read(one.document) for one in places if memory}
    documents = {path if path.endswith(".md") else f"{path}.md": content for path, content in skills.items()}
    documents |= {path: content for path, content in entries.items() if content}
    return {path: content.decode("utf-8", "surrogateescape") for path, content in sorted(documents.items())}


def _places(home: Home, target: str) -> Places:
    """Every skill with its rules, and every entry of one target, each with what history knows of it."""
    from reverie.bridge.places import LocalRule, Places
    from reverie.skills.edits import rules_of
    from reverie.skills.page import lines_of

    skills = [one for one in home.skills.every() if one.skill.enabled and not one.skill.archived]
    entries = list(home.memory.entries(target))
    known = {rule.text: rule for rule in home.history.rules()}
    standing = [LocalRule(one.text, f"{one.target}/{one.document}", one.target, one.document) for one in entries]
    for found in skills:
        for section in found.skill.sections:
            for rule in rules_of(lines_of(found.skill.body[section.inside : section.own_end])):
                place = (found.folder.key, found.skill.subject, section.heading, found)
                standing.append(LocalRule(rule.text, found.path, *place))
    return Places(
        [one.known_as(known.get(one.text)) for one in standing],
        skills,
        home.clock.now().date(),
        home.bridge.routes.all(),
        next((folder.key for folder in home.skill_folders.values()), ""),
    )


def _own_store(home: Home, store: str) -> Snapshot | None:
    """A memory store of this home's own database, the owner's or nobody's."""
    from reverie.bridge.source import Snapshot

    for scope in (home.owned, home.owned.of("")):
        stores = home.tenants.stores(scope)
        with suppress(NotFound):
            found = stores.get(store)
            memories = ((one.path, one.content or b"") for one in stores.all_of(found.id))
            return Snapshot(store, {path: content.decode("utf-8", "replace") for path, content in memories})
    return None


def managed(home: Home, where: str, key_name: str = "ANTHROPIC_API_KEY") -> StoreSource:
    """A managed memory to pull from: an address, with the key in that variable, an exported folder, or `name:…` of a
    source that a package brings."""
    from importlib.metadata import entry_points

    from reverie.harnesses.exported_stores import FolderSource

    name, _, rest = where.partition(":")
    others = {point.name: point for point in entry_points(group=SOURCES)}
    if name in others:
        return others[name].load()(rest, home.config.environment, home.clock)  # type: ignore[no-any-return]
    if "://" not in where:
        return FolderSource(Path(where).expanduser(), home.clock)
    return managed_server(home, where, key_name)


def managed_server(home: Home, where: str, key_name: str = "ANTHROPIC_API_KEY") -> AnthropicServer:
    from reverie.harnesses.anthropic_server import AnthropicServer

    key = home.config.environment.get(key_name)
    if not key:
        raise BadSetting(f"The variable {key_name} is not set.", expected=f"the key for {where} in it")
    server = AnthropicServer(where.rstrip("/"), key)
    home.closed_with_it.callback(server.close)
    return server


def export(home: Home, folder: Path) -> Exported:
    """Everything as plain files, git history and JSON Lines, in a new folder that needs no Reverie to be read."""
    from reverie.system import file_records as plain

    home.memory.touch_all()
    list(home.skills.every())
    made = plain.new_folder(folder)
    anchored = [(one, list(home.history_records.anchored(home.owned, one.key))) for one in home.holders()]
    repositories = [plain.export_history(made, one, changes) for one, changes in anchored if changes]
    ids = [store.id for scope in (home.owned, home.owned.of("")) for store in home.tenants.stores(scope).every()]
    pulled = [store.id for copies in home.bridge.copies() for store in copies.stores()]
    snapshots = {name: home.bridge.snapshot(name) for name in dict.fromkeys([*ids, *pulled])}
    memories = sum(plain.export_store(made, name, one.texts) for name, one in snapshots.items())
    rows = {
        "rules": plain.export_rows(made, "rules", home.history.rules()),
        "changes": plain.export_rows(made, "changes", home.history.changes(limit=None)),
        "proposals": plain.export_rows(made, "proposals", home.review.past()),
    }
    return plain.Exported(made, tuple(repositories), memories, rows)
