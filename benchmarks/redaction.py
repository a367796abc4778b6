"""How well and how fast secrets are found: precision and recall per kind, MB/s, beside detect-secrets in the same run.

    python benchmarks/redaction.py [--seed N] [--each N] [--misses]

Secrets are drawn from the vendors' public descriptions of their tokens (alphabet and length), never from the patterns
under test, and set into prose, code, logs, JSON, YAML, shell and .env text. A secret counts as found only when no part
of it is left; an innocent line counts as harmed when a single byte of it changes.
"""

import argparse
import importlib
import json
import string
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

from redaction_corpus import ALNUM, Case, Draw, corpus

from reverie.safety import redact


def left_over(text: str) -> str:
    return redact(text).text


def detect_secrets_redactor() -> Callable[[str], str] | None:
    """detect-secrets at its most generous: plugins without entropy, and a line they flag counts as wholly taken out."""
    try:
        from detect_secrets.settings import transient_settings  # noqa: F401
    except ImportError:
        return None
    names = (
        "artifactory.ArtifactoryDetector",
        "aws.AWSKeyDetector",
        "azure_storage_key.AzureStorageKeyDetector",
        "basic_auth.BasicAuthDetector",
        "discord.DiscordBotTokenDetector",
        "github_token.GitHubTokenDetector",
        "gitlab_token.GitLabTokenDetector",
        "jwt.JwtTokenDetector",
        "keyword.KeywordDetector",
        "mailchimp.MailchimpDetector",
        "npm.NpmDetector",
        "openai.OpenAIDetector",
        "private_key.PrivateKeyDetector",
        "pypi_token.PypiTokenDetector",
        "sendgrid.SendGridDetector",
        "slack.SlackDetector",
        "square_oauth.SquareOAuthDetector",
        "stripe.StripeDetector",
        "telegram_token.TelegramBotTokenDetector",
        "twilio.TwilioKeyDetector",
    )
    plugins = [
        getattr(importlib.import_module(f"detect_secrets.plugins.{n.split('.')[0]}"), n.split(".")[1])() for n in names
    ]

    def flagged(line: str) -> bool:
        return any(value for plugin in plugins for value in plugin.analyze_string(line))

    def redacted(text: str) -> str:
        return "\n".join("" if flagged(line) else line for line in text.split("\n"))

    return redacted


@dataclass
class Tally:
    found: Counter[str]
    total: Counter[str]
    harmed: int
    innocent: int
    misses: list[Case]

    def recall(self) -> float:
        return sum(self.found.values()) / max(1, sum(self.total.values()))

    def precision(self) -> float:
        caught = sum(self.found.values())
        return caught / max(1, caught + self.harmed)


def measured(cases: Iterable[Case], redactor: Callable[[str], str]) -> Tally:
    tally = Tally(Counter(), Counter(), 0, 0, [])
    for case in cases:
        text = redactor(case.text)
        wrong = text != case.text if not case.secret else any(part in text for part in pieces(case.secret))
        tally.innocent += not case.secret
        tally.harmed += wrong and not case.secret
        tally.total[case.kind] += bool(case.secret)
        tally.found[case.kind] += bool(case.secret) and not wrong
        if wrong:
            tally.misses.append(case)
    return tally


def pieces(secret: str) -> list[str]:
    """A secret half redacted is a secret leaked: look for its halves as well."""
    middle = len(secret) // 2
    return [secret] if len(secret) < 16 else [secret[:middle], secret[middle:]]


def clean_text(d: Draw, size: int) -> dict[str, str]:
    words = [d.of(string.ascii_lowercase, 2, 9) for _ in range(4000)] + [
        "password",
        "token",
        "key",
        "the",
        "and",
        "of",
        "to",
    ] * 20
    prose = " ".join(d.random.choices(words, k=size // 6))
    sources = sorted(Path(json.__file__).parent.parent.glob("*.py"))
    code = "".join(path.read_text("utf-8", "replace") for path in sources)
    return {"clean prose": prose[:size], "clean code (standard library)": code[:size]}


def speed(redactor: Callable[[str], str], text: str, repeat: int = 3) -> float:
    best = float("inf")
    for _ in range(repeat):
        begin = time.perf_counter()
        redactor(text)
        best = min(best, time.perf_counter() - begin)
    return len(text) / 1e6 / best


def hostile(size: int) -> dict[str, str]:
    seeds = (
        "password=",
        "the password is for a ",
        "sk-",
        "eyJ",
        "://a:",
        " -pa",
        "mysql -pa ",
        "cookie: a=b; ",
        "_a1",
        "AKIA",
        "-----BEGIN PRIVATE KEY-----",
        'password="\\',
        "api_key: ",
        "login a password ",
        "bearer a",
        "token is ",
        "-aZ09",
        "Q~",
        ":AA",
    )
    return {seed: (seed * (size // len(seed) + 1))[:size] for seed in seeds}


def print_accuracy(cases: list[Case], rivals: dict[str, Callable[[str], str]], show_misses: bool) -> None:
    tallies = {name: measured(cases, redactor) for name, redactor in rivals.items()}
    ours = tallies["reverie"]
    kinds = sum(n > 0 for n in ours.total.values())
    print(f"{sum(ours.total.values())} secrets in {kinds} kinds, {ours.innocent} innocent texts\n")
    print(f"{'recall':26s} {'n':>6s} " + " ".join(f"{name:>15s}" for name in tallies))
    for kind in sorted(k for k, n in ours.total.items() if n):
        print(
            f"{kind:26s} {ours.total[kind]:6d} "
            + " ".join(f"{t.found[kind] / t.total[kind]:15.3f}" for t in tallies.values())
        )
    for name, value in (("overall recall", Tally.recall), ("overall precision", Tally.precision)):
        print(f"{name:33s} " + " ".join(f"{value(t):15.4f}" for t in tallies.values()))
    print(f"{'innocent texts harmed':33s} " + " ".join(f"{t.harmed:15d}" for t in tallies.values()))
    if show_misses:
        seen: dict[str, str] = defaultdict(str)
        for case in ours.misses:
            seen.setdefault(
                case.kind + case.text[:7], f"  {case.kind}: {case.text[:160]!r} -> {redact(case.text).text[:120]!r}"
            )
        print("\nmissed or harmed:", *seen.values(), sep="\n")


def print_speed(d: Draw, cases: list[Case], rivals: dict[str, Callable[[str], str]]) -> None:
    dirty = "\n".join(case.text for case in d.random.sample(cases, min(3000, len(cases))))
    print(f"\n{'MB/s':33s} " + " ".join(f"{name:>15s}" for name in rivals))
    for name, text in {**clean_text(d, 4_000_000), "every line a secret or a near miss": dirty}.items():
        short = text[:200_000]
        print(
            f"{name[:33]:33s} "
            + " ".join(f"{speed(r, text if n == 'reverie' else short, 2):15.2f}" for n, r in rivals.items())
        )
    slowest = min((speed(left_over, text, 1), seed) for seed, text in hostile(300_000).items())
    print(f"slowest of the texts made to be slow: {slowest[0]:.2f} MB/s ({slowest[1]!r} repeated)")
    big = next(iter(clean_text(d, 50_000_000).values()))
    begin = time.perf_counter()
    redact(big + " ghp_" + d.of(ALNUM, 36))
    print(f"one message of {len(big) / 1e6:.0f} MB with a token at its end: {time.perf_counter() - begin:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=20260301)
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--misses", action="store_true")
    arguments = parser.parse_args()
    draw = Draw(arguments.seed)
    rivals: dict[str, Callable[[str], str]] = {"reverie": left_over}
    if (other := detect_secrets_redactor()) is not None:
        rivals["detect-secrets"] = other
    cases = list(corpus(draw, arguments.each))
    print_accuracy(cases, rivals, arguments.misses)
    print_speed(draw, cases, rivals)


if __name__ == "__main__":
    main()
