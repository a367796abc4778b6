"""Experiments below the home: implements `reverie.experiments.library.ExperimentRecords`.

<home>/ab/<name>/experiment.json
                 outcomes.jsonl     one line a session, only ever appended to; a unit by its hash
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from reverie.core.clock import rfc3339
from reverie.experiments.experiment import Experiment, Metric, Outcome
from reverie.system.files import PATIENCE_SECONDS, explained, flocked, make_folder, read_file, replace_file

TAIL = 65_536  # bytes in which the last line begins


@dataclass(frozen=True, slots=True)
class ExperimentFiles:
    folder: Path

    def names(self) -> list[str]:
        return sorted(path.parent.name for path in self.folder.glob("*/experiment.json"))

    def get(self, name: str) -> Experiment | None:
        content = read_file(self.folder / name / "experiment.json")
        if content is None:
            return None
        row = json.loads(content)
        metrics = {"metric": Metric(**row["metric"]), "guardrails": tuple(Metric(**one) for one in row["guardrails"])}
        return Experiment(**row | metrics | {"made_at": datetime.fromisoformat(row["made_at"])})

    def put(self, experiment: Experiment) -> None:
        make_folder(self.folder / experiment.name)
        row = asdict(experiment) | {"made_at": rfc3339(experiment.made_at)}
        replace_file(self.folder / experiment.name / "experiment.json", json.dumps(row, indent=1).encode() + b"\n")

    def outcomes(self, name: str) -> list[Outcome]:
        content = read_file(self.folder / name / "outcomes.jsonl") or b""
        whole = content[: content.rfind(b"\n") + 1]
        rows = map(json.loads, whole.splitlines())
        return [Outcome(**row | {"at": datetime.fromisoformat(row["at"])}) for row in rows]

    def add(self, name: str, outcome: Outcome) -> None:
        line = json.dumps(asdict(outcome) | {"at": rfc3339(outcome.at)}).encode() + b"\n"
        path = self.folder / name / "outcomes.jsonl"
        with flocked(self.folder / name / "outcomes.lock", PATIENCE_SECONDS), explained(path, "written"):
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "r+b") as file:
                size = file.seek(0, os.SEEK_END)
                start = max(0, size - TAIL)
                file.seek(start)
                end = start + file.read().rfind(b"\n") + 1  # half a line of a process that was killed is written over
                file.seek(end)
                file.truncate()
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
