"""Settings: flags over `REVERIE_*` over `reverie.toml` over defaults. The only module that reads the environment.

A Config freezes once read, and knows where each value came from.
"""

from __future__ import annotations

import difflib
import getpass
import os
import re
import tomllib
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from reverie.kernel.errors import BadSetting, NotPermitted

FILE = "reverie.toml"
_PASSWORD = re.compile(r"(://[^:/@\s]*:)[^@\s]*@")
_VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    about: str
    default: Callable[[Path], str]
    default_text: str

    @property
    def variable(self) -> str:
        return f"REVERIE_{self.name.upper()}"


@dataclass(frozen=True, slots=True)
class Value:
    text: str
    came_from: str


def _login(_: Path) -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "owner"


SETTINGS = (
    Setting(
        "database",
        "Where transcripts are kept: `sqlite:///path` or `postgresql://user@host/name`.",
        lambda home: f"sqlite:///{home / 'reverie.db'}",
        "`reverie.db` in the home",
    ),
    Setting(
        "owner",
        "The person this home belongs to. Their words have the Origin `owner`; anyone else is a `member`.",
        _login,
        "your login name",
    ),
    Setting("timezone", "What counts as a day, and when 03:00 is. An IANA name.", lambda _: "UTC", "`UTC`"),
    Setting(
        "skills",
        "More folders to read skills from, with `:` between them (`;` on Windows).",
        lambda _: "",
        "none",
    ),
    Setting(
        "instructions",
        "What agents read besides memory and skills: files, or projects with an AGENTS.md or CLAUDE.md in them."
        " A dream changes none of it and repeats none of it.",
        lambda _: "",
        "none",
    ),
)


@dataclass(frozen=True, slots=True)
class Config:
    home: Path
    home_came_from: str
    values: Mapping[str, Value]
    environment: Mapping[str, str]

    @property
    def database(self) -> str:
        return self.values["database"].text

    @property
    def owner(self) -> str:
        return self.values["owner"].text

    @property
    def timezone(self) -> ZoneInfo:
        return ZoneInfo(self.values["timezone"].text)

    @property
    def instructions(self) -> tuple[Path, ...]:
        return self._paths("instructions")

    def shown(self) -> dict[str, Value]:
        """Every value with where it came from, fit for a screen: a password in the URL is hidden."""
        hidden = {
            name: Value(_PASSWORD.sub(r"\1***@", value.text), value.came_from) for name, value in self.values.items()
        }
        return {"home": Value(str(self.home), self.home_came_from)} | hidden

    def place(self, pattern: str) -> Path:
        """A harness's folder: `${CODEX_HOME:-~/.codex}/sessions`, with the variable if it is set."""
        filled = _VARIABLE.sub(lambda found: self.environment.get(found[1]) or found[2], pattern)
        home = self.environment.get("HOME")
        return Path(home, filled[2:]) if home and filled.startswith("~/") else Path(filled).expanduser()

    def _paths(self, name: str) -> tuple[Path, ...]:
        return tuple(self.place(text.strip()) for text in self.values[name].text.split(os.pathsep) if text.strip())

    def skill_folders(self) -> dict[str, Path]:
        """Where skills are read from: the home's own, Hermes', Claude's, and more by setting. Only those there are."""
        places = {
            "skills": self.home / "skills",
            "hermes-skills": self.place("${HERMES_HOME:-~/.hermes}") / "skills",
            "claude-skills": self.place("${CLAUDE_CONFIG_DIR:-~/.claude}") / "skills",
        }
        if own := self.environment.get("HERMES_SKILLS_DIR"):
            places["hermes-dir"] = Path(own).expanduser()
        for path in self._paths("skills"):
            places[_unlike(path.name, places)] = path
        return {name: path for name, path in places.items() if name == "skills" or path.is_dir()}


def _unlike(name: str, taken: Container[str]) -> str:
    """The name, or one like it that is free."""
    return next(one for one in chain([name], (f"{name}-{number}" for number in count(2))) if one not in taken)


def load(home: str | os.PathLike[str] | None = None, flags: Mapping[str, str | None] | None = None) -> Config:
    """Read everything once. `flags` holds what the command line said."""
    environment = dict(os.environ)
    folder, came_from = _home(home, environment)
    given = {name: text for name, text in (flags or {}).items() if text is not None}
    stored = _stored(folder / FILE)
    values = {setting.name: _value(setting, given, environment, stored, folder) for setting in SETTINGS}
    _check(values)
    return Config(folder, came_from, values, environment)


def _home(home: str | os.PathLike[str] | None, environment: Mapping[str, str]) -> tuple[Path, str]:
    if home is not None:
        return Path(home).expanduser().absolute(), "--home"
    if environment.get("REVERIE_HOME"):
        return Path(environment["REVERIE_HOME"]).expanduser().absolute(), "REVERIE_HOME"
    return Path("~/.reverie").expanduser(), "default"


def _stored(path: Path) -> dict[str, str]:
    try:
        stored = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except NotADirectoryError as error:
        raise BadSetting(f"{path.parent} is a file.", expected="a folder for the home") from error
    except PermissionError as error:
        raise NotPermitted(f"{path} may not be read.", next_step="Check its owner and mode.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{path} is not TOML: {error}.", next_step="Mend it or move it away.") from error
    return {name: _known_text(path, name, value) for name, value in stored.items()}


def _known_text(path: Path, name: str, value: object) -> str:
    known = [setting.name for setting in SETTINGS]
    if name not in known:
        close = difflib.get_close_matches(name, known, 1)
        meant = f"Did you mean {close[0]!r}?" if close else ""
        raise BadSetting(f"{path} sets {name!r}.", expected=f"only {', '.join(known)}", next_step=meant)
    if not isinstance(value, str):
        raise BadSetting(f"{name} in {path} is {value!r}.", expected="a text in quotes")
    return value


def _value(
    setting: Setting,
    given: Mapping[str, str],
    environment: Mapping[str, str],
    stored: Mapping[str, str],
    home: Path,
) -> Value:
    if setting.name in given:
        return Value(given[setting.name], f"--{setting.name}")
    if environment.get(setting.variable):
        return Value(environment[setting.variable], setting.variable)
    if setting.name in stored:
        return Value(stored[setting.name], FILE)
    return Value(setting.default(home), "default")


def _check(values: Mapping[str, Value]) -> None:
    zone = values["timezone"]
    try:
        ZoneInfo(zone.text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadSetting(
            f"The timezone {zone.text!r} (from {zone.came_from}) is not known.",
            expected="a name such as Europe/Berlin",
        ) from error
    if not values["owner"].text.strip():
        raise BadSetting(f"The owner (from {values['owner'].came_from}) is empty.", expected="a name")


def write_template(config: Config) -> bool:
    """Put a reverie.toml into the home that sets nothing and shows everything. False if there is one."""
    lines = ["# Settings of this Reverie home. A flag or REVERIE_* variable wins over a line here.\n"]
    for setting in SETTINGS:
        lines.append(f'# {setting.about}\n# Default: {setting.default_text}.\n# {setting.name} = ""\n')
    try:
        with (config.home / FILE).open("x", encoding="utf-8") as file:
            file.write("\n".join(lines))
    except FileExistsError:
        return False
    return True
