"""Tokens that name their vendor: a public prefix, then random characters.

Two facts keep this cheap. Nearly every such token is a separator followed by a long run of token characters, so one
regular expression finds the places for all vendors at once, however long the table grows. The few without a separator
begin with a literal of their own, or hang on one.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from reverie.core.ids import lazy_pattern
from reverie.safety.secrets.values import SecretSpan, is_masked, is_random

# A short prefix also ends ordinary words ("task-", "risk-"); it counts where a word begins, after an escape such as
# \\n inside a JSON string, after a colour code of a terminal, and after a percent-encoded sign.
_BEFORE = (
    ("(?<!", "[A-Za-z0-9_-]"),
    ("(?<=", r"\\[nrt]"),
    ("(?<=", r"\[0m"),
    ("(?<=", r"[;\[]\d\dm"),
    ("(?<=", "%[23][0-9A-F]"),
)

# How far a token can begin before the separator the gate stopped at: a prefix, or two more parts with dots between.
_PREFIX_REACH, _PARTS_REACH = 12, 48


def _word(prefix: str) -> str:
    """The prefix where a word begins. The prefix is matched first, for the engine skips fast over literals only."""
    return prefix + "(?:" + "|".join(f"{look}{before}{prefix})" for look, before in _BEFORE) + ")"


def _table(name: str) -> list[str]:
    import tomllib

    table = tomllib.loads((files("reverie.safety.secrets") / "tokens.toml").read_text("utf-8"))[name]
    return str(table).strip().splitlines()


@cache
def shapes(name: str) -> tuple[tuple[str, str], ...]:
    """Kind and expression of each token in a table of `tokens.toml`."""
    rows = (line.split(maxsplit=1) for line in _table(name))
    return tuple((kind, re.sub(r"<([^<>]+)>", lambda found: _word(found[1]), shape)) for kind, shape in rows)


# Where any of the separated may begin: fifty alternatives are tried there only, not at every character of a run.
_PREFIX = (
    r"[sr]k[-_]|gh[pousr]_|github_pat_|gl[a-z]{1,5}[-_]|xox[a-z]|xapp-|whsec_|SG\.|npm_|pypi-|dckr_|hf_|api_org_|gsk_|pplx-|r8_"
    r"|xai-|nvapi-|tgp_|csk-|tvly-|fc-|lsv2_|e2b_|do[opr]_v1_|HRKU-|lin_|ntn_|secret_|shp[a-z]{2}_|sq0|hv[sbr]\.|dp\.|sntry|AGE-S"
    r"|ya29\.|GOCSPX-|figd_|sbp_|sb_|vc[apikr]_|tskey-|PMAK-|pul-|pscale_|ops_|SWMTKN-|[A-Za-z0-9]{14}\.atlasv1|re_|key-"
    r"|[MNO][A-Za-z0-9_-]{22,27}\.|rvk_"
)


@cache
def _beginnings() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one, re.ASCII) for one in _table("beginnings"))


# Anchored by a literal in their middle; the lookbehind proves the left part, and the number says how long it is.
_HANGING = (
    ("mailchimp-key", lazy_pattern(r"-us(?<=[0-9a-f]{32}-us)\d{1,2}", re.ASCII), 32),
    ("telegram-token", lazy_pattern(r":AA(?<=\d{8}:AA)[\w-]{33}", re.ASCII), 8),
    ("azure-client-secret", lazy_pattern(r"Q~(?<=[\w~.]{3}\dQ~)[\w~.-]{31,34}", re.ASCII), 4),
)

_JWT = _word("eyJ") + r"[\w-]{10,4000}\.[\w-]{10,8000}(?:\.[\w-]{8,8000}){0,3}"


@cache
def _alternation(name: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<k{n}>{body})" for n, (_, body) in enumerate(shapes(name))), re.ASCII)


# Names in code are long runs too, but of one case and without digits; random characters never are. One gate for each
# separator: the engine skips to a literal ten times as fast as to a choice.
_RUN = r"(?=[A-Za-z0-9_-]{16})(?![a-z_-]{16}|[A-Z_-]{16})"
_GATES = tuple(lazy_pattern(separator + _RUN) for separator in ("_", r"\.", "-"))


_rest_of_run = lazy_pattern(r"[A-Za-z0-9_.+/=%-]+")
_prefix = lazy_pattern(_PREFIX)
_jwt = lazy_pattern(_JWT, re.ASCII)


def _named(found: re.Match[str], table: str) -> SecretSpan | None:
    kind = shapes(table)[int((found.lastgroup or "k0")[1:])][0]
    if is_masked(found[0]) or (kind == "api-key" and not is_random(found[0][3:])):
        return None
    return SecretSpan(found.start(), found.end(), kind)


def _runs(text: str, gate: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Stretches that may hold separated tokens, each looked at once however long it is."""
    rest = _rest_of_run()
    at = gate.search(text)
    while at is not None:
        run = rest.match(text, at.start())
        end = run.end() if run else at.end()
        parted = "." in text[max(0, at.start() - 8) : max(0, at.start() - 6)]
        yield max(0, at.start() - (_PARTS_REACH if parted else _PREFIX_REACH)), end
        at = gate.search(text, end)


def vendor_tokens(text: str) -> Iterator[SecretSpan]:
    """Every token whose own shape says what it is."""
    prefix, tokens = _prefix(), _alternation("separated")
    for start, end in (run for gate in _GATES for run in _runs(text, gate())):
        taken = start
        for at in prefix.finditer(text, start, end):
            if at.start() >= taken and (found := tokens.match(text, at.start())):
                taken = found.end()
                yield from filter(None, [_named(found, "separated")])
    tokens = _alternation("unseparated")
    for at in (at for gate in _beginnings() for at in gate.finditer(text)):
        if found := tokens.match(text, at.start()):
            yield from filter(None, [_named(found, "unseparated")])
    for kind, pattern, width in _HANGING:
        for found in pattern().finditer(text):
            start = found.start() - width
            while kind == "telegram-token" and start and text[start - 1] in "0123456789":
                start -= 1
            yield SecretSpan(start, found.end(), kind)
    for found in _jwt().finditer(text):
        yield SecretSpan(found.start(), found.end(), "jwt")
