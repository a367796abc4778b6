"""Settings: flags over `REVERIE_*` over `reverie.toml` over defaults. The only module that reads the environment.

A Config freezes once read, and knows where each value came from.
"""

from __future__ import annotations

import difflib
import getpass
import os
import re
import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain, count
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from reverie.core.clock import Schedule, schedule
from reverie.core.errors import BadInput, BadSetting, NotPermitted
from reverie.llm import settings as models
from reverie.llm.settings import BUILT_IN, NO_CAP, ModelSettings, model_settings, number
from reverie.transcripts.files import MEGABYTES, SECONDS, FileLimits

FILE = "reverie.toml"
SOURCES = ("auto", "added")
_PASSWORD = re.compile(r"(://[^:/@\s]*:)[^@\s]*@")
_SECRET = re.compile(r"://[^/@\s]*:[^/@\s]+@|[?&]\w*(?:password|secret|token|key)\w*=", re.IGNORECASE)
_RELATIVE = re.compile(r"(sqlite:///)(?!/|:memory:)(.+)")
_PLACES = (
    "HOME",
    "HERMES_HOME",
    "HERMES_SKILLS_DIR",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "OPENCLAW_HOME",
    "OPENCLAW_STATE_DIR",
    "OPENCLAW_WORKSPACE_DIR",
    "OPENCLAW_CONFIG_PATH",
    "CLAWDBOT_STATE_DIR",
    "MSWEA_GLOBAL_CONFIG_DIR",
    "GEMINI_CLI_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)
_VARIABLE = re.compile(r"\$\{(\w+):-([^${}]*)\}")


def _variable(name: str) -> str:
    return f"REVERIE_{name.upper().replace('.', '_')}"


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    about: str
    default: Callable[[Path], str]
    default_text: str
    number: bool = False

    @property
    def variable(self) -> str:
        return _variable(self.name)


@dataclass(frozen=True, slots=True)
class SettingValue:
    text: str
    came_from: str


def _login(_: Path) -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "owner"


def _plain(name: str, about: str, default: str = "", default_text: str = "") -> Setting:
    shown = default_text or (f"`{default}`" if default else "none")
    return Setting(name, about, lambda _: default, shown)


def _number(name: str, about: str, default: str, shown: str = "") -> Setting:
    return Setting(name, about, lambda _: default, shown or f"`{default}`", number=True)


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
        "commit_in",
        "Skills folders that lie in a repository of yours and in which Reverie also commits what it changes there, with"
        " `:` between them. In all others it commits nothing, and keeps the git history beside, in `history/`.",
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
    _plain(
        "providers",
        "Broader memories beside the files agents read, with spaces between them: `local`, `mem0=/path/to/mem0.json`. "
        "A night does not repeat what they have.",
    ),
    _plain(
        "sources",
        "Which transcripts a dream brings in: `auto`, those in the usual folders of Hermes, Claude Code, "
        "Codex, OpenClaw, Gemini CLI and opencode, and those that were added; `added`, only the latter.",
        SOURCES[0],
    ),
    _number("transcript_megabytes", "A transcript file larger than this is not read.", str(MEGABYTES)),
    _number("transcript_seconds", "Reading one transcript file may take so long.", str(SECONDS)),
    _plain(
        "retention",
        "How long transcripts are kept: `400d` for all workspaces, or `acme=90d other=30d`; older ones "
        "are erased at night, and once a day by `reverie serve`. What was learned from them stays.",
        "",
        "for ever",
    ),
    _plain(
        "model",
        f"Who curates a night with the built-in reader: `openai:NAME`, `anthropic:NAME`, `ollama:NAME` or "
        f"`{BUILT_IN}`, which asks nobody.",
        BUILT_IN,
    ),
    _plain(
        "model_url",
        "The address of an endpoint that speaks the provider's protocol, such as `http://127.0.0.1:8080/v1`.",
        "",
        "the provider's own",
    ),
    _plain("model_key_name", "The environment variable that holds the key.", "", "the provider's usual one"),
    _plain("model_key_file", "A file that holds the key, instead of a variable."),
    _number("model_timeout", "How many seconds one answer may take.", f"{models.TIMEOUT:.0f}"),
    _number(
        "model_answer_tokens",
        "How long an answer may be in tokens, thinking included. One that does not fit is "
        "asked for again with twice the room.",
        str(models.ANSWER_TOKENS),
    ),
    _number("model_context", "How many tokens the model can read, its answer included.", str(models.CONTEXT)),
    _number(
        "model_brief_tokens",
        "How many tokens of a night are shown in one request, if the context holds them.",
        str(models.BRIEF_TOKENS),
    ),
    _number(
        "model_tokens_per_night", f"At most so many tokens in one night, or `{NO_CAP}`.", str(models.TOKENS_PER_NIGHT)
    ),
    _number(
        "model_tokens_per_month",
        f"At most so many tokens in one calendar month, or `{NO_CAP}`.",
        str(models.TOKENS_PER_MONTH),
    ),
    _number("model_dollars_per_night", f"At most so many dollars in one night, or `{NO_CAP}`.", NO_CAP),
    _number("model_dollars_per_month", f"At most so many dollars in one calendar month, or `{NO_CAP}`.", NO_CAP),
    _plain(
        "model_price",
        "What a million tokens cost in dollars, read/written or read/written/cached, where no list "
        "says so: `0.15/0.60`.",
        "",
        "from a list of prices",
    ),
    _number(
        "model_at_once",
        "How many requests may be under way at once, where a night needs several.",
        "",
        f"{models.AT_ONCE}; 1 for a model on this machine",
    ),
    _plain("model_prompts", "A folder of Markdown files that take the place of prompts of the same name."),
    _plain(
        "dreaming.enabled", "Whether there are nights at all, over files or memory stores: `true` or `false`.", "true"
    ),
    _plain(
        "dreaming.schedule",
        "When a night is due, as cron writes it, in `timezone`.",
        "0 3 * * *",
    ),
    _number("dreaming.recent_sessions_limit", "One dream reads at most so many sessions of a night.", "14"),
    _number("dreaming.max_changes_per_run", "A night changes at most so many entries of a target.", "3"),
    _number("dreaming.max_adds_per_run", "At most so many of them are additions.", "1"),
    _number("dreaming.max_new_chars_per_run", "A night adds at most so many characters.", "250"),
    _number("dreaming.add", "The score an addition needs.", "0.88"),
    _number("dreaming.replace", "The score a replacement needs.", "0.80"),
    _number("dreaming.supersession", "How surely what was said once has to contradict the entry it replaces.", "0.5"),
    _number("dreaming.remove", "The score a removal needs.", "0.85"),
    _number("dreaming.merge", "The score a merge needs.", "0.80"),
)
_RENAMED = {f"model_{unit}_per_dream": f"model_{unit}_per_night" for unit in ("tokens", "dollars")}
_PARTS = ("", "_url", "_key_name", "_key_file", "_price")
_IGNORED = {
    **{f"model_{role}{part}": f"model{part}" for role in ("light", "deep", "rem", "skills") for part in _PARTS},
    **{f"model_{unit}_per_day": f"model_{unit}_per_month" for unit in ("tokens", "dollars")},
    "model_share": "model_brief_tokens",
}  # settings of earlier versions, and what to set instead
_LARGEST = 1_000_000
_LONGEST_DAYS = 100_000
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}  # as YAML has it
_LIMITS = ("recent_sessions_limit", "max_changes_per_run", "max_adds_per_run", "max_new_chars_per_run")
_GATES = ("add", "replace", "supersession", "remove", "merge")


@dataclass(frozen=True, slots=True)
class DreamingLimits:
    """`[dreaming]`: whether and when, what one night may read and change, and how sure it has to be."""

    enabled: bool
    schedule: Schedule
    recent_sessions_limit: int
    max_changes_per_run: int
    max_adds_per_run: int
    max_new_chars_per_run: int
    add: float
    replace: float
    supersession: float
    remove: float
    merge: float


@dataclass(frozen=True, slots=True)
class Config:
    home: Path
    home_came_from: str
    values: Mapping[str, SettingValue]
    environment: Mapping[str, str]
    notices: tuple[str, ...] = ()  # what a person should know about the settings and need not act on at once

    @property
    def database(self) -> str:
        return self.values["database"].text

    @property
    def owner(self) -> str:
        return self.values["owner"].text

    def of(self, user: str) -> Config:
        """The same settings, as if someone else owned the home."""
        return replace(self, values={**self.values, "owner": replace(self.values["owner"], text=user)})

    @property
    def timezone(self) -> ZoneInfo:
        return ZoneInfo(self.values["timezone"].text)

    @property
    def commit_in(self) -> tuple[Path, ...]:
        return self._paths("commit_in")

    @property
    def instructions(self) -> tuple[Path, ...]:
        return self._paths("instructions")

    @property
    def providers(self) -> dict[str, str]:
        """The addresses of broader memories, by the names of their providers."""
        said = (one.partition("=") for one in self.values["providers"].text.split())
        return {name: address for name, _, address in said}

    @property
    def models(self) -> ModelSettings:
        return model_settings({name: value.text for name, value in self.values.items()})

    def retention(self, workspace: str) -> timedelta | None:
        """The time transcripts of a workspace are kept; None is for ever."""
        ages = _retention(self.values["retention"].text)
        return ages.get(workspace, ages.get(""))

    @property
    def reads_standard_places(self) -> bool:
        """Whether transcripts are read where harnesses leave them, without being added."""
        return self.values["sources"].text == SOURCES[0]

    @property
    def file_limits(self) -> FileLimits:
        said = {name: value.text for name, value in self.values.items()}
        megabytes, seconds = (number(said, f"transcript_{unit}", int, 1, _LARGEST) for unit in ("megabytes", "seconds"))
        return FileLimits(megabytes, seconds)

    @property
    def dreaming(self) -> DreamingLimits:
        return self._dreaming({name: value.text for name, value in self.values.items()})

    def dreaming_with(self, block: Mapping[str, object], where: str) -> DreamingLimits:
        """With what a target's own settings say, which win over reverie.toml and not over a flag or variable. Keys that
        are not ours are another tool's."""
        said = {name: value.text for name, value in self.values.items()}
        for key, value in block.items():
            name = f"dreaming.{key}"
            if name in said and self.values[name].came_from in (FILE, "default"):
                said[name] = str(value)
        try:
            return self._dreaming(said)
        except BadSetting as error:
            raise BadSetting(f"{where}: {error}") from error

    def _dreaming(self, said: Mapping[str, str]) -> DreamingLimits:
        limits = (number(said, f"dreaming.{name}", int, int(name.startswith("recent")), _LARGEST) for name in _LIMITS)
        gates = (number(said, f"dreaming.{name}", float, 0, 1) for name in _GATES)
        enabled = said["dreaming.enabled"].strip().lower()
        if enabled not in _TRUTH:
            raise BadSetting(f"dreaming.enabled is {said['dreaming.enabled']!r}.", expected="true or false")
        return DreamingLimits(_TRUTH[enabled], self._schedule(said["dreaming.schedule"]), *limits, *gates)

    def _schedule(self, said: str) -> Schedule:
        try:
            return schedule(said)
        except BadInput as error:
            value = self.values["dreaming.schedule"]
            source = f" (from {value.came_from})" if value.text == said else ""
            raise BadSetting(f"dreaming.schedule{source}: {error}") from error

    def shown(self) -> dict[str, SettingValue]:
        """Every value with where it came from, fit for a screen: a password in the URL is hidden."""
        hidden = {
            name: SettingValue(_PASSWORD.sub(r"\1***@", value.text), value.came_from)
            for name, value in self.values.items()
        }
        return {"home": SettingValue(str(self.home), self.home_came_from)} | hidden

    def place(self, pattern: str) -> Path:
        """A harness's folder: `${CODEX_HOME:-~/.codex}/sessions`, with the variable if it is set. One may stand in what
        holds where another is not set."""
        filled = pattern
        while found := _VARIABLE.search(filled):
            filled = filled.replace(found[0], self.environment.get(found[1]) or found[2])
        home = self.environment.get("HOME")
        return Path(home, filled[2:]) if home and filled.startswith("~/") else Path(filled).expanduser()

    def handed_on(self) -> dict[str, str]:
        """The variables with which another process, whoever starts it and wherever, finds what this one does: settings
        that are in no file, where tools keep their things, and git. A secret is refused: others could read it."""
        places = {name: self.environment[name] for name in _PLACES if self.environment.get(name)}
        said = {name: str(Path(text).expanduser().absolute()) for name, text in places.items()}
        for setting in SETTINGS:
            value = self.values[setting.name]
            if value.came_from not in (FILE, "default") or (setting.name == "owner" and value.came_from != FILE):
                said[setting.variable] = _lasting(setting.name, value)
        git = shutil.which("git", path=self.environment.get("PATH"))
        if git and not shutil.which("git", path=os.defpath):
            said["PATH"] = f"{Path(git).parent}{os.pathsep}{os.defpath}"
        if self.database.startswith("postgres"):
            said |= {name: text for name, text in self.environment.items() if name.startswith("PG") and text}
        if "PGPASSWORD" in said:
            raise _secret("PGPASSWORD holds a password", "Put it into ~/.pgpass")
        chosen = self.models.choice
        if chosen and chosen.key_name and not chosen.key_file:
            name = chosen.key_name
            if self.environment.get(name) or not chosen.given:
                raise _secret(
                    f"The key of {chosen.text} is in {name}", "Put it into a file and name that: `model_key_file`"
                )
        return said

    def handed_to_agents(self) -> dict[str, str]:
        """The variables with which what an agent starts finds this home's things, beside those every agent has. Models
        are asked at night only."""
        places = {name: self.environment[name] for name in _PLACES if name != "HOME" and self.environment.get(name)}
        said = {name: str(Path(text).expanduser().absolute()) for name, text in places.items()}
        for setting in SETTINGS:
            value = self.values[setting.name]
            if value.came_from not in (FILE, "default") and not setting.name.startswith("model"):
                said[setting.variable] = _lasting(setting.name, value)
        return said

    def _paths(self, name: str) -> tuple[Path, ...]:
        return tuple(self.place(text.strip()) for text in self.values[name].text.split(os.pathsep) if text.strip())

    def skill_folders(self) -> dict[str, Path]:
        """Where skills are read from beside the folders of agents: the home's own, and more by setting, if they are
        there."""
        places = {"skills": self.home / "skills"}
        if own := self.environment.get("HERMES_SKILLS_DIR"):
            places["hermes-dir"] = Path(own).expanduser()
        for path in self._paths("skills"):
            free = chain([path.name], (f"{path.name}-{number}" for number in count(2)))
            places[next(one for one in free if one not in places)] = path
        return {name: path for name, path in places.items() if name == "skills" or path.is_dir()}


def _retention(said: str) -> dict[str, timedelta]:
    """By workspace; under '' what holds for all others."""
    ages: dict[str, timedelta] = {}
    for part in said.replace(",", " ").split():
        workspace, _, age = part.rpartition("=")
        if not (age[:-1].isdigit() and age.endswith("d") and 0 < int(age[:-1]) <= _LONGEST_DAYS):
            raise BadSetting(f"retention is {said!r}.", expected="days, such as 400d, or acme=90d other=30d")
        ages[workspace] = timedelta(days=int(age[:-1]))
    return ages


def _lasting(name: str, value: SettingValue) -> str:
    """The value of a setting, with every path in it from the root. It may not hold a secret."""
    if _SECRET.search(value.text):
        raise _secret(f"{value.came_from} holds a password or a key", f"Put `{name}` there, and leave it out here")
    if name == "database":
        return _RELATIVE.sub(lambda found: f"{found[1]}{Path(found[2]).absolute()}", value.text)
    if name in ("skills", "commit_in", "instructions", "model_key_file", "model_prompts"):
        paths = (text.strip() for text in value.text.split(os.pathsep))
        return os.pathsep.join(str(Path(text).expanduser().absolute()) for text in paths if text)
    return value.text


def _secret(found: str, next_step: str) -> BadSetting:
    return BadSetting(
        f"{found}, which would be written where others can read it.",
        expected=f"a secret to be in {FILE} or a file of its own",
        next_step=f"{next_step}.",
    )


def load(home: str | os.PathLike[str] | None = None, flags: Mapping[str, str | None] | None = None) -> Config:
    """Read everything once. `flags` holds what the command line said."""
    environment = dict(os.environ)
    folder, came_from = _home(home, environment)
    given = {name: text for name, text in (flags or {}).items() if text is not None}
    stored = _stored(folder / FILE)
    notices = _migrate(given, environment, stored)
    values = {setting.name: _value(setting, given, environment, stored, folder) for setting in SETTINGS}
    _check(values)
    config = Config(folder, came_from, values, environment, notices)
    _retention(values["retention"].text)
    assert config.models and config.dreaming and config.file_limits  # what cannot be used is said now, not at night
    return config


def _migrate(given: dict[str, str], environment: dict[str, str], stored: dict[str, str]) -> tuple[str, ...]:
    """Use the values of settings that have another name now, and say once which are ignored."""
    renamed: list[str] = []
    ignored: list[str] = []
    for old, new in (_RENAMED | _IGNORED).items():
        for names, key in ((given, str), (environment, _variable), (stored, str)):
            text = names.pop(key(old), "")
            if text and old in _RENAMED:
                names.setdefault(key(new), text)
                renamed.append(f"{key(old)} (used as {key(new)})")
            elif text:
                ignored.append(f"{key(old)} (set {key(new)} instead)")
    parts = []
    if ignored:
        parts.append(f"Ignored: {', '.join(ignored)}.")
    if renamed:
        parts.append(f"Renamed: {', '.join(renamed)}.")
    where = f"Some settings are of an earlier version of Reverie ({FILE} or the environment)."
    return (" ".join([where, *parts, "Change or remove those lines."]),) if parts else ()


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
    flat: dict[str, object] = {}  # `[dreaming]` with `add` as `dreaming.add`
    for name, value in stored.items():
        flat |= {f"{name}.{key}": inner for key, inner in value.items()} if isinstance(value, dict) else {name: value}
    return {name: _known_text(path, name, value) for name, value in flat.items()}


def _known_text(path: Path, name: str, value: object) -> str:
    known = {setting.name: setting for setting in SETTINGS}
    if name in _RENAMED or name in _IGNORED:
        return str(value)
    if name not in known:
        close = difflib.get_close_matches(name, known, 1)
        meant = f"Did you mean {close[0]!r}?" if close else ""
        raise BadSetting(f"{path} sets {name!r}.", expected=f"only {', '.join(known)}", next_step=meant)
    truth = isinstance(value, bool)
    number = known[name].number and isinstance(value, int | float) and not truth
    if not (number or isinstance(value, str) or (truth and name == "dreaming.enabled")):
        raise BadSetting(
            f"{name} in {path} is {value!r}.", expected="a number" if known[name].number else "a text in quotes"
        )
    return str(value)


def _value(
    setting: Setting,
    given: Mapping[str, str],
    environment: Mapping[str, str],
    stored: Mapping[str, str],
    home: Path,
) -> SettingValue:
    if setting.name in given:
        return SettingValue(given[setting.name], f"--{setting.name}")
    if environment.get(setting.variable):
        return SettingValue(environment[setting.variable], setting.variable)
    if setting.name in stored:
        return SettingValue(stored[setting.name], FILE)
    return SettingValue(setting.default(home), "default")


def _check(values: Mapping[str, SettingValue]) -> None:
    zone = values["timezone"]
    try:
        ZoneInfo(zone.text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadSetting(
            f"The timezone {zone.text!r} (from {zone.came_from}) is not known.",
            expected="a name such as Europe/Berlin",
        ) from error
    sources = values["sources"]
    if sources.text not in SOURCES:
        raise BadSetting(f"sources (from {sources.came_from}) is {sources.text!r}.", expected=" or ".join(SOURCES))
    if not values["owner"].text.strip():
        raise BadSetting(f"The owner (from {values['owner'].came_from}) is empty.", expected="a name")


def write_template(config: Config) -> bool:
    """Put a reverie.toml into the home that sets nothing and shows everything. False if there is one."""
    lines = ["# Settings of this Reverie home. A flag or REVERIE_* variable wins over a line here.\n"]
    table = ""
    for setting in SETTINGS:
        group, _, name = setting.name.rpartition(".")
        if group != table:
            lines.append(f"# [{group}]\n")
            table = group
        lines.append(f'# {setting.about}\n# Default: {setting.default_text}.\n# {name} = ""\n')
    try:
        with (config.home / FILE).open("x", encoding="utf-8") as file:
            file.write("\n".join(lines))
    except FileExistsError:
        return False
    return True
