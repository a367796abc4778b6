"""Tokens that name their vendor: a public prefix, then random characters.

Two facts keep this cheap. Nearly every such token is a separator followed by a long run of token characters, so one
regular expression finds the places for all vendors at once, however long the table grows. The few without a separator
begin with a literal of their own, or hang on one.
"""

import re
from collections.abc import Iterator
from functools import cache, partial

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


# A shape is bounded on both sides or on neither. With one bound alone, a row of such tokens would come to light one by
# one, each only after its neighbour is gone.
SEPARATED: tuple[tuple[str, str], ...] = (
    ("anthropic-key", r"sk-ant-[a-z0-9]{3,12}-[\w-]{32,256}"),
    ("openrouter-key", r"sk-or-(?:v\d-)?[0-9a-f]{48,64}"),
    (
        "openai-key",
        _word("sk-") + r"(?:(?:proj|svcacct|admin|None)-[\w-]{32,256}|[A-Za-z0-9]{32,64}(?![\w-]))",
    ),
    ("langfuse-key", r"sk-lf-[0-9a-f-]{36}"),
    (
        "github-token",
        r"gh[pour]_[A-Za-z0-9]{36,255}|ghs_\w{36,255}(?:\.[\w-]{10,2000}){0,2}|github_pat_\w{50,255}",
    ),
    (
        "gitlab-token",
        r"gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[\w-]{20,300}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?",
    ),
    (
        "slack-token",
        r"xox[a-z]-[A-Za-z0-9%-]{10,250}|xoxe\.xox[bp]-\d-[A-Za-z0-9]{50,250}|xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]{20,128}",
    ),
    ("stripe-key", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,250}"),
    ("webhook-secret", r"whsec_[A-Za-z0-9+/]{24,128}={0,2}"),
    ("sendgrid-key", _word(r"SG\.") + r"[\w-]{16,32}\.[\w-]{32,64}"),
    ("npm-token", r"npm_[A-Za-z0-9]{36,64}"),
    ("pypi-token", r"pypi-AgE[\w-]{50,1000}"),
    ("docker-token", r"dckr_[po]at_[\w-]{20,64}"),
    ("huggingface-token", _word("hf_") + r"[A-Za-z0-9]{30,64}(?!\w)|api_org_[A-Za-z0-9]{30,64}(?!\w)"),
    ("groq-key", r"gsk_[A-Za-z0-9]{40,64}"),
    ("perplexity-key", r"pplx-[A-Za-z0-9]{32,64}"),
    ("replicate-token", _word("r8_") + r"[A-Za-z0-9]{32,48}"),
    ("xai-key", _word("xai-") + r"[\w-]{60,128}"),
    ("nvidia-key", r"nvapi-[\w-]{40,128}"),
    ("together-key", r"tgp_v1_[\w-]{32,64}"),
    ("cerebras-key", _word("csk-") + r"[a-z0-9]{40,64}"),
    ("tavily-key", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{28,48}"),
    ("firecrawl-key", _word("fc-") + r"[0-9a-f]{32}"),
    ("langsmith-key", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("e2b-key", _word("e2b_") + r"[0-9a-f]{40}"),
    ("digitalocean-token", r"do[opr]_v1_[0-9a-f]{64}"),
    ("heroku-key", r"HRKU-[\w-]{36,64}"),
    ("linear-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    ("notion-token", _word("ntn_") + r"[A-Za-z0-9]{40,50}|" + _word("secret_") + r"[A-Za-z0-9]{43}(?!\w)"),
    ("shopify-token", r"shp(?:at|ca|pa|ss|ua|tk)_[0-9a-fA-F]{32}"),
    ("square-token", r"sq0[a-z]{3}-[\w-]{22,64}"),
    ("vault-token", r"hv[sbr]\.[\w-]{24,300}"),
    (
        "doppler-token",
        _word(r"dp\.") + r"(?:pt|st|sa|ct|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    ("sentry-token", r"sntry[us]_[A-Za-z0-9+/=_]{40,500}"),
    ("age-secret-key", r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{40,2000}"),
    ("google-oauth-token", _word(r"ya29\.") + r"[\w-]{30,1024}"),
    ("google-client-secret", r"GOCSPX-[\w-]{24,48}"),
    ("figma-token", r"figd_[\w-]{36,64}"),
    ("supabase-key", r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{24,64}"),
    ("vercel-token", _word("vc[apikr]_") + r"[A-Za-z0-9]{40,64}"),
    ("tailscale-key", r"tskey-[a-z]{3,12}-[\w-]{20,80}"),
    ("postman-key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("pulumi-token", _word("pul-") + r"[0-9a-f]{40}"),
    ("grafana-token", r"glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{40,200}={0,2}"),
    ("planetscale-token", r"pscale_(?:tkn|pw|oauth)_[\w=.-]{32,64}"),
    ("onepassword-token", r"ops_eyJ[A-Za-z0-9+/_-]{100,2000}={0,2}"),
    ("docker-token", r"SWMTKN-1-[a-z0-9]{40,60}-[a-z0-9]{20,30}"),
    ("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,80}"),
    ("resend-key", _word("re_") + r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    ("mailgun-key", _word("key-") + r"[0-9a-f]{32}(?!\w)"),
    ("discord-token", _word("[MNO]") + r"[A-Za-z0-9_-]{22,27}\.[\w-]{6}\.[\w-]{27,40}"),
    ("reverie-key", r"rvk_[0-9a-f]{64}"),
    ("api-key", _word("sk-") + r"(?:[a-z0-9]{2,12}-)?[\w-]{24,200}"),
)

# Where any of SEPARATED may begin: fifty alternatives are tried there only, not at every character of a run.
_PREFIX = (
    r"[sr]k[-_]|gh[pousr]_|github_pat_|gl[a-z]{1,5}[-_]|xox[a-z]|xapp-|whsec_|SG\.|npm_|pypi-|dckr_|hf_|api_org_|gsk_|pplx-|r8_"
    r"|xai-|nvapi-|tgp_|csk-|tvly-|fc-|lsv2_|e2b_|do[opr]_v1_|HRKU-|lin_|ntn_|secret_|shp[a-z]{2}_|sq0|hv[sbr]\.|dp\.|sntry|AGE-S"
    r"|ya29\.|GOCSPX-|figd_|sbp_|sb_|vc[apikr]_|tskey-|PMAK-|pul-|pscale_|ops_|SWMTKN-|[A-Za-z0-9]{14}\.atlasv1|re_|key-"
    r"|[MNO][A-Za-z0-9_-]{22,27}\.|rvk_"
)

UNSEPARATED: tuple[tuple[str, str], ...] = (
    ("aws-access-key", _word("A(?:KIA|SIA|BIA|CCA)") + r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("aws-session-token", r"(?:IQoJb3JpZ2luX2Vj|F[wQ]oGZXIvYXdz)[A-Za-z0-9+/=%]{80,4000}"),
    ("aws-bedrock-key", r"ABSK[A-Za-z0-9+/]{100,300}={0,2}"),
    ("google-api-key", r"AIza[\w-]{35}"),
    ("gemini-key", r"AQ\.Ab8RN6[\w-]{40,60}"),
    ("atlassian-token", r"AT[ACBS]TT3[\w=-]{60,300}"),
    ("square-token", _word("EAAA") + r"[\w-]{58,64}(?![\w-])"),
    ("gitlab-token", r"GR1348941[\w-]{20,50}"),
    ("twilio-key", _word("SK") + r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("databricks-token", _word("dapi") + r"[0-9a-f]{32}(?:-\d)?(?![0-9A-Za-z])"),
    ("artifactory-token", _word("AKCp") + r"[A-Za-z0-9]{60,80}"),
)

# Where any of UNSEPARATED may begin. The engine skips fast to one literal, slowly to a choice: one gate for each.
_BEGINNINGS = (
    lazy_pattern(r"A(?:KIA|SIA|BIA|CCA|Iza|BSK|Q\.Ab8|T[ACBS]TT3|KCp)", re.ASCII),
    lazy_pattern(r"SK[0-9a-f]{32}", re.ASCII),
    lazy_pattern(r"EAAA[\w-]{58}", re.ASCII),
    lazy_pattern(r"IQoJb3JpZ2lu", re.ASCII),
    lazy_pattern(r"F[wQ]oGZXIv", re.ASCII),
    lazy_pattern(r"GR1348941", re.ASCII),
    lazy_pattern(r"dapi[0-9a-f]{32}", re.ASCII),
)

# Anchored by a literal in their middle; the lookbehind proves the left part, and the number says how long it is.
_HANGING = (
    ("mailchimp-key", lazy_pattern(r"-us(?<=[0-9a-f]{32}-us)\d{1,2}", re.ASCII), 32),
    ("telegram-token", lazy_pattern(r":AA(?<=\d{8}:AA)[\w-]{33}", re.ASCII), 8),
    ("azure-client-secret", lazy_pattern(r"Q~(?<=[\w~.]{3}\dQ~)[\w~.-]{31,34}", re.ASCII), 4),
)

_JWT = _word("eyJ") + r"[\w-]{10,4000}\.[\w-]{10,8000}(?:\.[\w-]{8,8000}){0,3}"


def _alternation(table: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<k{n}>{body})" for n, (_, body) in enumerate(table)), re.ASCII)


# Names in code are long runs too, but of one case and without digits; random characters never are. One gate for each
# separator: the engine skips to a literal ten times as fast as to a choice.
_RUN = r"(?=[A-Za-z0-9_-]{16})(?![a-z_-]{16}|[A-Z_-]{16})"
_GATES = tuple(lazy_pattern(separator + _RUN) for separator in ("_", r"\.", "-"))


_separated_tokens, _unseparated_tokens = (cache(partial(_alternation, one)) for one in (SEPARATED, UNSEPARATED))
_rest_of_run = lazy_pattern(r"[A-Za-z0-9_.+/=%-]+")
_prefix = lazy_pattern(_PREFIX)
_jwt = lazy_pattern(_JWT, re.ASCII)


def _named(found: re.Match[str], table: tuple[tuple[str, str], ...]) -> SecretSpan | None:
    kind = table[int((found.lastgroup or "k0")[1:])][0]
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
    prefix, tokens = _prefix(), _separated_tokens()
    for start, end in (run for gate in _GATES for run in _runs(text, gate())):
        taken = start
        for at in prefix.finditer(text, start, end):
            if at.start() >= taken and (found := tokens.match(text, at.start())):
                taken = found.end()
                yield from filter(None, [_named(found, SEPARATED)])
    tokens = _unseparated_tokens()
    for at in (at for gate in _BEGINNINGS for at in gate().finditer(text)):
        if found := tokens.match(text, at.start()):
            yield from filter(None, [_named(found, UNSEPARATED)])
    for kind, pattern, width in _HANGING:
        for found in pattern().finditer(text):
            start = found.start() - width
            while kind == "telegram-token" and start and text[start - 1] in "0123456789":
                start -= 1
            yield SecretSpan(start, found.end(), kind)
    for found in _jwt().finditer(text):
        yield SecretSpan(found.start(), found.end(), "jwt")
