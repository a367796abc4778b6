"""Nights by the system's own means: a line of the user's crontab or a systemd timer, one for each home and target or
for all targets of a home; or in the background, begun by an agent's hook.

Cron knows no time zone on Debian and on macOS, and what was slept through is lost there. So its line only looks, once
an hour, and the command itself knows whether a night is due. A timer of systemd has both.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from reverie.core.clock import EVERY_MINUTE, Schedule, moment
from reverie.core.errors import BadInput, NotFound, NotPermitted
from reverie.core.ids import slug
from reverie.system.files import make_folder, read_file, remove_file, replace_file

MARK = "# reverie: nightly dream of "
UNIT = "reverie-dream-"
EVERY = "all-targets"  # in the place of a target's name
NONE_YET = "no crontab for"  # what crontab says where there is none
AGAIN = timedelta(hours=1)
_NICE = 10  # the agent goes on meanwhile


@dataclass(frozen=True, slots=True)
class Nightly:
    """Which nights, when, and the whole command for them, with `environment` as all it needs of an environment.

    Without a `target` they are over all there are. `after`: also as soon as there are so many new sessions.
    """

    home: Path
    target: str | None
    when: Schedule
    zone: ZoneInfo
    now: datetime
    environment: Mapping[str, str]
    propose: bool = False
    after: int | None = None

    @property
    def command(self) -> list[str]:
        words = [sys.executable, "-P", "-m", "reverie", "dream", "--home", str(self.home)]
        words += ["--target", self.target] if self.target else []
        words += ["--if-missed", *(["--propose"] if self.propose else [])]
        return [*words, *(["--after", str(self.after)] if self.after else [])]

    @property
    def variables(self) -> list[str]:
        return [f"{name}={text}" for name, text in sorted(self.environment.items())]

    def minutes(self, now_there: datetime) -> str:
        """The minutes of an hour at which to look, by a clock that shows this: some zones are half an hour apart."""
        here, there = self.now.astimezone(self.zone).utcoffset(), now_there.utcoffset()
        apart = int((there - here).total_seconds()) // 60 if here is not None and there is not None else 0
        minutes = sorted((minute + apart) % 60 for minute in self.when.minutes)
        return "*" if len(minutes) == len(EVERY_MINUTE) else ",".join(map(str, minutes))

    def check(self) -> None:
        """A line is a line."""
        for text in (*self.command, *self.environment.values()):
            if not text.isprintable():
                raise BadInput(f"{text!r} cannot stand in a schedule.", expected="printable characters only")


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A schedule that is set: `by` is cron or systemd; `lines` are what was written there."""

    by: str
    when: str
    zone: str
    lines: tuple[str, ...]


class Crontab:
    """The user's crontab. Every line that is not ours stays as it is."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def install(self, nightly: Nightly) -> Scheduled:
        nightly.check()
        words = shlex.join(["env", *nightly.variables, *nightly.command])
        command = f"{words}  {_mark(self._home, nightly.target)}".replace("%", r"\%")
        line = f"{nightly.minutes(nightly.now.astimezone())} * * * * {command}"
        self._write([*self._others(self._read(), nightly.target or EVERY), line])
        return Scheduled("cron", nightly.when.text, nightly.zone.key, (line,))

    def remove(self, target: str | None = None) -> bool:
        """All of this home, or one target's."""
        lines = self._read()
        others = self._others(lines, target)
        if len(others) < len(lines):
            self._write(others)
        return len(others) < len(lines)

    def _others(self, lines: list[str], target: str | None) -> list[str]:
        return [line for line in lines if not _is_of(line.replace(r"\%", "%"), self._home, target)]

    def _read(self) -> list[str]:
        done = _run(["crontab", "-l"])
        if done.returncode == 0:
            return done.stdout.removesuffix("\n").split("\n") if done.stdout else []
        if NONE_YET in done.stderr:
            return []
        raise NotPermitted(
            f"Your crontab could not be read. crontab said: {done.stderr.strip() or done.returncode}.",
            next_step="Nothing was changed. If you have none yet, make one by `crontab -e`.",
        )

    def _write(self, lines: list[str]) -> None:
        done = _run(["crontab", "-"], "".join(f"{line}\n" for line in lines))
        if done.returncode != 0:
            raise NotPermitted(f"crontab said: {done.stderr.strip()}.", next_step="Nothing was changed.")


class Timer:
    """Timers of the user's systemd, which make up for a missed night by themselves."""

    def __init__(self, home: Path, folder: Path) -> None:
        self._home = home
        self._folder = folder / "systemd" / "user"

    def install(self, nightly: Nightly) -> Scheduled:
        nightly.check()
        # In the zone that is meant; with `after`, every hour, too, and the command knows whether it is time.
        when, zone = nightly.when, nightly.zone
        if not when.daily:
            raise BadInput(
                f"{when.text!r} is not once a day.",
                expected='a daily time such as "0 3 * * *"',
                next_step="Or use cron.",
            )
        hours, minutes = (",".join(f"{one:02}" for one in sorted(numbers)) for numbers in (when.hours, when.minutes))
        looked = [f"OnCalendar=*-*-* *:{minutes}:00 {zone.key}"] if nightly.after else []
        calendar = [f"OnCalendar=*-*-* {hours}:{minutes}:00 {zone.key}", *looked]
        unit = f"{UNIT}{slug(f'{nightly.target or EVERY} {self._home}')}"
        variables = [f"Environment={_quoted(one)}" for one in nightly.variables]
        command = f"ExecStart={' '.join(_quoted(word).replace('$', '$$') for word in nightly.command)}"
        about = [_mark(self._home, nightly.target), "[Unit]", "Description=Reverie: the nightly dream", ""]
        service = [*about, "[Service]", "Type=oneshot", *variables, command]
        due = ["[Unit]", "Description=Reverie: when to dream", "", "[Timer]", *calendar, "Persistent=true", ""]
        timer = [*due, "[Install]", "WantedBy=timers.target"]
        self._put(unit, {"service": service, "timer": timer})
        return Scheduled("systemd", nightly.when.text, nightly.zone.key, (*calendar, command))

    def remove(self, target: str | None = None) -> bool:
        """All of this home, or one target's."""
        units = list(self._of(target))
        for unit in units:
            _systemctl("disable", "--now", f"{unit}.timer", next_step=f"Nothing was removed from {self._folder}.")
            for path in self._files(unit):
                remove_file(path)
        if units:
            _run(["systemctl", "--user", "daemon-reload"])
        return bool(units)

    def _of(self, target: str | None) -> Iterator[str]:
        for path in sorted(self._folder.glob(f"{UNIT}*.service")):
            first = (read_file(path) or b"").decode("utf-8", "replace").partition("\n")[0]
            if _is_of(first, self._home, target):
                yield path.stem

    def _files(self, unit: str) -> list[Path]:
        return [self._folder / f"{unit}.{ending}" for ending in ("service", "timer")]

    def _put(self, unit: str, files: Mapping[str, list[str]]) -> None:
        """Write them and have systemd follow them; if it does not, everything is as it was."""
        _found("systemctl")
        make_folder(self._folder)
        before = {path: read_file(path) for path in self._files(unit)}
        try:
            for ending, lines in files.items():
                replace_file(self._folder / f"{unit}.{ending}", "".join(f"{line}\n" for line in lines).encode())
            for words in (("daemon-reload",), ("enable", f"{unit}.timer"), ("restart", f"{unit}.timer")):
                _systemctl(*words, next_step="What was written was taken back. Or use cron: leave --systemd out.")
        except BaseException:
            if not any(before.values()):
                _run(["systemctl", "--user", "disable", "--now", f"{unit}.timer"])
            for path, content in before.items():
                if content is None:
                    remove_file(path)
                else:
                    replace_file(path, content)
            _run(["systemctl", "--user", "daemon-reload"])
            raise


def _quoted(word: str) -> str:
    """As systemd reads it."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _mark(home: Path, target: str | None) -> str:
    return MARK + shlex.join([str(home), target or EVERY])


def _is_of(line: str, home: Path, target: str | None) -> bool:
    """Whether a line was written for this home; for this target of it, if one is named."""
    _, found, rest = line.rpartition(MARK)
    try:
        words = shlex.split(rest) if found else []
    except ValueError:
        return False
    return words[:1] == [str(home)] and (target is None or words[1:] in ([target], []))


def _systemctl(*words: str, next_step: str) -> None:
    done = _run(["systemctl", "--user", *words])
    if done.returncode != 0:
        said = done.stderr.strip() or f"exit code {done.returncode}"
        raise NotPermitted(f"`systemctl --user {words[0]}` said: {said}.", next_step=next_step)


def _found(program: str) -> None:
    if shutil.which(program) is None:
        other = {"crontab": "Install cron, or use --systemd.", "systemctl": "Leave --systemd out to use cron."}
        raise NotFound(f"There is no {program} here.", next_step=other[program])


def _run(command: list[str], given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command on bytes: lines that are not ours go through whatever their encoding and line ends."""
    _found(command[0])
    done = subprocess.run(command, input=given.encode("utf-8", "surrogateescape"), capture_output=True, check=False)
    said = done.stdout.decode("utf-8", "surrogateescape")
    return subprocess.CompletedProcess(command, done.returncode, said, done.stderr.decode("utf-8", "replace"))


def begin_in_background(folder: Path, command: Sequence[str], now: datetime) -> bool:
    """Begin a night by an agent's hook, which waits for nothing: no cron is needed, and a machine that slept makes up.

    At most once an hour the hook has a process of its own look whether a night is due; the command knows that itself.
    It holds the lock until it ends, so there is one at a time for a home. `folder` has a file that says when to look
    next, and one with what the last night said. False while one runs, and within the hour.
    """
    make_folder(folder)
    with os.fdopen(os.open(folder / "next-look", os.O_RDWR | os.O_CREAT, 0o600), "r+") as look:
        try:
            fcntl.flock(look, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        after = moment(look.read().strip())
        if after and now < after <= now + AGAIN:  # later than that is no time this ever wrote
            return False
        look.seek(0)
        look.truncate()
        look.write(f"{(now + AGAIN).isoformat()}\n")
        look.flush()
        log = os.open(folder / "night.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(log, "wb") as said:
            night = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                cwd=folder,
                start_new_session=True,
                pass_fds=(look.fileno(),),  # it inherits the lock, which is free when both have closed it
            )
        os.setpriority(os.PRIO_PROCESS, night.pid, _NICE)
    return True
