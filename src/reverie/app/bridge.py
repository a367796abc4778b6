"""How the bridge is wired: where managed memories come from, what they may change here, and the way out."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.app.home import without_secrets
from reverie.core.errors import BadSetting, NotFound

if TYPE_CHECKING:
    from reverie.app.home import Home
    from reverie.bridge.library import Bridge
    from reverie.bridge.places import Places
    from reverie.bridge.source import Snapshot, StoreSource
    from reverie.changes.proposal import Proposal
    from reverie.dreams.curators import Curator
    from reverie.harnesses.anthropic_server import AnthropicServer
    from reverie.system.export import Exported

SOURCES = "reverie.sources"  # the entry point of managed memories that strangers read


def bridge(home: Home) -> Bridge:
    from reverie.bridge.amendments import Amending
    from reverie.bridge.library import Bridge
    from reverie.harnesses.exported_stores import read_folder
    from reverie.system.file_records import RouteFile, StoreCopies, every_copy

    folder = home.config.home
    return Bridge(
        lambda: [*every_copy(folder)],
        lambda address: StoreCopies.of(folder, address),
        lambda name: read_folder(Path(name).expanduser()),
        partial(_own_store, home),
        lambda text: home.erasures.tombstones(home.owned).scrubber.clean(without_secrets(text)[0]),
        home.clock,
        Amending(home.review, partial(_places, home), partial(_curator, home)),
        partial(_pushed_documents, home),
        RouteFile(folder / "routes" / "learned.json"),
    )


def _curator(home: Home) -> Curator | None:
    """The model of the settings; without one nobody is asked."""
    from reverie.dreams.curators.model import ModelCurator

    info = home.askers.info()
    asker = home.askers.of_errand(home.owned, f"bridge-{home.clock.now():%Y-%m-%d}") if info else None
    return ModelCurator(asker, info) if asker and info else None


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
    """The documents of every skill in use, and those of one target."""
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
    from reverie.system import export as plain

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
