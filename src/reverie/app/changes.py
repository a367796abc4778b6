"""How changes are wired: the queue, what can be changed, what happened to it, and where it lies."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.app.surfaces import surface_statements
from reverie.core.scope import LOCAL, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.app.home import Home
    from reverie.changes.artifact import Artifact, Holder
    from reverie.changes.history.change import Change
    from reverie.changes.history.library import History
    from reverie.changes.history.verify import Checked
    from reverie.changes.land import Outcome
    from reverie.changes.proposal import Proposal
    from reverie.changes.queue import Review
    from reverie.changes.record_before_read import RecordBeforeRead
    from reverie.transcripts.session import Evidence


def review(home: Home) -> Review:
    from reverie.changes.affected_rules import Relations
    from reverie.changes.land import Landing
    from reverie.changes.policy import read_policy
    from reverie.changes.propose import Proposing
    from reverie.changes.queue import Review
    from reverie.storage.changes.proposals import SqlProposals

    scope, history, ids, clock = home.owned, home.history_records, home.ids, home.clock
    gated = {one.name: why for one in home.targets.offered() if (why := getattr(one, "approval", ""))}
    policy = replace(read_policy(home.config.home / "policy.toml"), gated=gated)
    proposals = SqlProposals(home.engine, clock)
    related = Relations(partial(surface_statements, home)).to
    proposing = Proposing(scope, history, proposals, policy, related, ids, clock, partial(_project_of, home))
    landing = Landing(scope, history, home.outside_edits, ids, clock, home.projecting)
    return Review(
        scope,
        home.config.owner,
        history,
        proposals,
        policy,
        partial(artifact_of, home),
        home.outside_edits,
        proposing,
        landing,
        clock,
        partial(_checked_again, home),
        partial(_undone_in_store, home),
    )


def _undone_in_store(home: Home, scope: Scope, change: Change, because: str) -> Outcome:
    from reverie.memory.stores.store import Author

    writes = home.tenants.writes(scope, Author("user", scope.actor), home.config.owner)
    return writes.undo(change.target.rpartition("/")[2], change.id, because)


def _project_of(home: Home, evidence: Iterable[Evidence]) -> str:
    """The project in whose sessions all of it was said."""
    wanted: dict[str, list[int]] = {one.session_id: [] for one in evidence}
    read = home.sessions.exchanges(wanted).values() if wanted else ()
    projects = {(stored.head.project if stored else None) or "" for stored, _ in read}
    return projects.pop() if len(projects) == 1 else ""


def _checked_again(home: Home, proposal: Proposal) -> tuple[tuple[str, str], ...]:
    from reverie.dreams.recheck import checked_again

    return checked_again(home.dreams, proposal)


def artifact_of(home: Home, target: str, subject: str, also: str | None = None) -> Artifact:
    from reverie.changes.artifact import artifact, skill_artifact

    folders = home.skill_folders
    folder = folders.get(target) or next((one for one in folders.values() if one.key == target), None)
    if folder is None:
        return artifact(home.targets, target, subject, lambda key, document: document in _seen(home, key, document))
    return skill_artifact(folder, subject, lambda under: _seen(home, folder.key, under), also)


def _seen(home: Home, key: str, under: str) -> list[str]:
    return [document for _, document in home.history_records.documents(home.owned, key, under)]


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
    """The history of one person's memory, or of what is nobody's (`user` is '')."""
    from reverie.changes.history.library import History

    names = {target.key: target.name for target in home.targets.offered()}
    names |= {folder.key: name for name, folder in home.skill_folders.items()}
    return History(
        scope, home.history_records, lambda key: names.get(key) or key.removeprefix(f"store:{scope.workspace}/")
    )


def histories(home: Home, workspace: str | None = None, user: str | None = None) -> list[History]:
    """Of the owner and of what is shared here; or of one person, or of everybody, in a workspace."""
    from reverie.core.keys import checked_workspace

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
    from reverie.changes.history.verify import Checked, Verifying
    from reverie.memory.stores.store import Author

    home.projecting.finish()
    holders = {one.key: one for one in home.skill_folders.values()}

    def read(target: str, document: str) -> bytes | None:
        if target.startswith("store:"):
            return home.tenants.target(home.owned, target.rpartition("/")[2], Author("user", "verify")).read(document)
        holder = holders.get(target) or home.targets.get(target)
        return holder.read(document) if holder else None

    checks = Verifying(home.owned, home.history_records, read, home.projection).verify()
    return [*checks, *(Checked("git history", True, said) for said in home.projection.elsewhere())]


def touching(home: Home) -> RecordBeforeRead:
    from reverie.changes.record_before_read import RecordBeforeRead

    return RecordBeforeRead(home.owned, home.history_records, home.outside_edits, partial(artifact_of, home))


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
