"""`home.refining`: how skills change. `refine_skill` proposes; the rest is a person's own act."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from reverie.changes.history import History, Rule
from reverie.changes.land import Outcome
from reverie.changes.ledger import Change, ChangeQuery
from reverie.changes.proposal import Suggestion
from reverie.changes.queue import Proposed, Review
from reverie.core.errors import BadInput, NotFound
from reverie.core.scope import Origin
from reverie.skills.amend import merge, refine, retire
from reverie.skills.library import Folder, Skills
from reverie.skills.skill import Bump, Create, Revert, read_skill
from reverie.transcripts.session import Evidence


@dataclass(frozen=True, slots=True)
class SkillChanges:
    """`folder_at` looks at a folder outside the home, to bring a skill in from there."""

    skills: Skills
    review: Review
    history: History
    folder_at: Callable[[Path], Folder]

    def refine_skill(
        self,
        name: str,
        *,
        section: str = "",
        add: Sequence[str] = (),
        replace: Mapping[str, str] | None = None,
        remove: Sequence[str] = (),
        diff: str = "",
        text: str = "",
        bump: Bump | None = None,
        because: str = "",
        evidence: Sequence[Evidence] = (),
        proposer: str | None = None,
        spoken_by: Origin | None = None,
    ) -> Proposed:
        """Propose a change of a skill, by section, by diff or by a new text. It waits for a person; nothing is written.

        `add`, `replace` and `remove` are rules of the section named. The proposal is merged with what others changed
        meanwhile when it lands, its version counted up and `refinements` too.
        """
        found = self.skills.get(name)
        patch = refine(
            found.skill, section=section, add=add, replace=replace, remove=remove, diff=diff, text=text, bump=bump
        )
        suggestion = Suggestion(
            found.folder.key,
            found.skill.subject,
            reason=because,
            evidence=tuple(evidence),
            proposer=proposer or self.review.scope.actor,
            amendment=patch,
            spoken_by=spoken_by,
        )
        return self.review.propose(suggestion)

    def merge_skills(self, into: str, absorbed: str, text: str, because: str = "") -> Proposed:
        """Propose that one skill takes in another, with the text it shall have then. The other is archived."""
        kept, gone = self.skills.get(into), self.skills.get(absorbed)
        if kept.folder.key != gone.folder.key:
            raise BadInput(f"{kept.path} and {gone.path} lie in two folders.", expected="two skills of one folder")
        wanted, by = merge(kept.skill, gone.skill, text), self.review.scope.actor
        key, subject = kept.folder.key, kept.skill.subject
        return self.review.propose(Suggestion(key, subject, reason=because, proposer=by, amendment=wanted))

    def bring_in(
        self, path: Path, folder: str, name: str | None = None, because: str = "", *, despite_findings: bool = False
    ) -> Outcome:
        """A skill from somewhere else, with all its files, all of them scanned."""
        source = path.parent if path.name in ("SKILL.md", "skill.md") else path
        files = self.folder_at(source.parent).files(source.name)
        if not files:
            raise NotFound(f"There is no skill at {path}.", expected="a folder with SKILL.md in it, or a .md file")
        subject = name or source.name
        renamed = {subject + path[len(source.name) :]: content for path, content in files.items()}
        read_skill(subject, renamed)
        why = because or f"brought in from {source.name}"
        artifact = self.skills.folder(folder).key
        return self.review.amend(artifact, Create(subject, renamed), why, despite_findings=despite_findings)

    def mark_rule(self, name: str, rule: str, *, critical: bool = True) -> Rule:
        """Mark a rule of a skill, by its id or its words: what would change or drop a critical one asks a person."""
        found = self.skills.get(name)
        marked = self.history.rule(f"{found.folder.key}/{found.skill.document}", rule)
        self.review.mark(marked, critical=critical)
        return marked

    def revert_skill(
        self, name: str, version: str, because: str = "", *, despite_findings: bool = False, even_critical: bool = False
    ) -> Outcome:
        """The files of a skill as they were at an older version, byte for byte."""
        found = self.skills.get(name)
        there = self.versions(name)
        number = next((change.number or 0 for then, change in there if then == version), None)
        if number is None:
            known = ", ".join(dict.fromkeys(then or "none" for then, _ in there)) or "none"
            raise NotFound(f"{found.path} never had the version {version!r}.", expected=f"one of: {known}")
        base = found.folder.files(found.skill.subject)
        then = self.history.files_at(found.folder.key, found.skill.subject, number)
        revert = Revert(
            found.skill.subject,
            {path: base.get(path) for path in base.keys() | then.keys()},
            {path: then.get(path) for path in base.keys() | then.keys()},
        )
        why = because or f"back to version {version}"
        kinds = {"despite_findings": despite_findings, "even_critical": even_critical}
        return self.review.amend(found.folder.key, revert, why, **kinds)

    def retire_skill(self, name: str, because: str = "", *, even_critical: bool = False) -> Outcome:
        """Moved to the archive; never deleted."""
        found = self.skills.get(name)
        retired = retire(found.skill)
        return self.review.amend(found.folder.key, retired, because or "retired", even_critical=even_critical)

    def refinements(self, since: datetime) -> list[Change]:
        """Changes of skills that someone made, newest first."""
        keys = {folder.key for folder in self.skills.folders.values()}
        found = self.history.records.find(self.history.scope, ChangeQuery(ours=True))
        settled = ((change, change.settled_at) for change in found if change.target in keys)
        return [change for change, at in settled if at is not None and at >= since]

    def versions(self, name: str) -> list[tuple[str, Change]]:
        """Every change of a skill's document, the newest first, with the version it left; "" is none."""
        found, versions = self.skills.get(name), list[tuple[str, Change]]()
        asked = ChangeQuery(target=found.folder.key, document=found.skill.document)
        for change in self.history.records.find(self.history.scope, asked):
            edit = change.edit(found.skill.document)
            if edit is not None and edit.after is not None:
                skill = read_skill(found.skill.subject, {found.skill.document: edit.after})
                versions.append((skill.version or "", change))
        return versions
