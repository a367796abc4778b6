"""A nightly run by the system's own means: a line of the user's crontab, or a systemd timer."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from reverie.adapters.files import make_folder, remove_file, replace_file
from reverie.kernel.errors import BadInput, NotFound, NotPermitted

MARK = "# reverie: nightly dream of"
UNIT = "reverie-dream"


@dataclass(frozen=True, slots=True)
class Scheduled:
    """How and when: `by` is cron or systemd; `lines` are what was written there."""

    by: str
    when: str
    lines: tuple[str, ...]


def nightly_command(home: Path, *options: str) -> str:
    """The whole command a scheduler runs, with nothing left to its environment."""
    program = shutil.which("reverie")
    words = [program] if program else [sys.executable, "-m", "reverie"]
    return shlex.join([*words, "dream", "--home", str(home), *options])


def checked(when: str) -> str:
    """Five fields of numbers, `*`, lists, ranges and steps."""
    fields = when.split()
    if len(fields) != 5 or not all(set(field) <= set("0123456789*,-/") for field in fields):
        raise BadInput(f"{when!r} is no time for cron.", expected='five fields such as "0 3 * * *", which is 03:00')
    return " ".join(fields)


class Crontab:
    """The user's crontab. Every line that is not ours stays as it is."""

    def __init__(self, home: Path) -> None:
        self._mark = f"{MARK} {home}"

    def install(self, when: str, command: str) -> Scheduled:
        # What was missed while the machine slept is made up for once, when it starts.
        lines = (f"{checked(when)} {command}  {self._mark}", f"@reboot {command} --if-missed  {self._mark}")
        self._write([*self._others(), *lines])
        return Scheduled("cron", when, lines)

    def remove(self) -> bool:
        others = self._others()
        ours = len(others) != len(self._read())
        if ours:
            self._write(others)
        return ours

    def _others(self) -> list[str]:
        return [line for line in self._read() if not line.endswith(self._mark)]

    def _read(self) -> list[str]:
        done = _run(["crontab", "-l"])
        return done.stdout.splitlines() if done.returncode == 0 else []  # it fails where there is none yet

    def _write(self, lines: list[str]) -> None:
        done = _run(["crontab", "-"], "".join(f"{line}\n" for line in lines))
        if done.returncode != 0:
            raise NotPermitted(f"crontab said: {done.stderr.strip()}.", next_step="Nothing was changed.")


class Timer:
    """A systemd timer of the user, which makes up for a missed night by itself."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "systemd" / "user"

    def install(self, when: str, command: str) -> Scheduled:
        minute, hour, *rest = checked(when).split()
        if rest != ["*", "*", "*"] or not (minute.isdigit() and hour.isdigit()):
            raise BadInput(f"{when!r} is not once a day.", expected='such as "0 3 * * *"', next_step="Or use cron.")
        calendar = f"*-*-* {int(hour):02}:{int(minute):02}:00"
        service = f"[Unit]\nDescription=Reverie: the nightly dream\n\n[Service]\nType=oneshot\nExecStart={command}\n"
        timer = (
            "[Unit]\nDescription=Reverie: when to dream\n\n"
            f"[Timer]\nOnCalendar={calendar}\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n"
        )
        make_folder(self._folder)
        for ending, text in (("service", service), ("timer", timer)):
            replace_file(self._folder / f"{UNIT}.{ending}", text.encode())
        _run(["systemctl", "--user", "enable", "--now", f"{UNIT}.timer"])
        return Scheduled("systemd", when, (f"OnCalendar={calendar}", f"ExecStart={command}"))

    def remove(self) -> bool:
        paths = [self._folder / f"{UNIT}.{ending}" for ending in ("service", "timer")]
        there = any(path.exists() for path in paths)
        if there:
            _run(["systemctl", "--user", "disable", "--now", f"{UNIT}.timer"])
            for path in paths:
                remove_file(path)
        return there


def _run(command: list[str], given: str | None = None) -> subprocess.CompletedProcess[str]:
    if shutil.which(command[0]) is None:
        if command[0] == "systemctl":
            return subprocess.CompletedProcess(command, 1, "", "there is no systemd here")
        raise NotFound(f"There is no {command[0]} here.", next_step="Install cron, or use --systemd.")
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)
