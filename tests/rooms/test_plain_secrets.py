"""A password in plain words, which an audit shows to a person though redaction would not be sure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.audit.hazards import hazards

ASIDE = Path(__file__).parents[2] / "training" / "data" / "password-t.jsonl"

PLAIN = [
    "The staging password is hunter2secret",
    "Login with admin / Sommer2024!",
    "The root pw on db1 is t0psecret99",
    'Use the passphrase "purple-monkey-dishwasher" for the vault',
    "The password for the router has been changed to Zebra99",
    "Zugangsdaten vom Server: ops, Regen42!",
    "The vault's passphrase has recently been set to 'orange-tiger'",
    "credentials are ops:Blue42Whale",
    "Die PIN vom Tresor ist 77421",
    "the wifi password: correcthorse",
    "the admin password is correcthorse",
    "password for the guest wifi is bluemonkey",
    "Das Passwort für den Router lautet Sonnenblume",
    "mot de passe : tournesol",
]
NONE = [
    "The password was rotated last week",
    "Never store a password in memory",
    "The password must have 12 characters",
    "the password is stored in 1Password",
    "Passwords are hashed with argon2id",
    "Login is by SSO since version 2.14.3",
    "The login page is at https://shop.example/login2",
    "pin the dependency to numpy==1.26.4",
    "The JWT token expires after 24h",
    "Is the password t0psecret99?",
    "The password is required",
    "login: see the wiki page",
    "The boarding pass is mobile",
]


@pytest.mark.parametrize("text", PLAIN)
def test_a_password_in_a_sentence_is_found_and_not_shown(text: str) -> None:
    found = hazards(text, "context")
    assert found.redacted.found and "[redacted:password]" in found.shown
    assert text.rsplit(maxsplit=1)[-1].strip("'!") not in found.shown or text == PLAIN[3]


@pytest.mark.parametrize("text", NONE)
def test_a_sentence_about_passwords_is_none(text: str) -> None:
    assert not hazards(text, "context").redacted.found


def test_of_sentences_set_aside_most_passwords_are_found_and_few_descriptions() -> None:
    rows = [json.loads(line) for line in ASIDE.read_text("utf-8").splitlines()]
    for part, least, most in (("1", 0.65, 0.15), ("2", 0.80, 0.35)):
        seen = [
            (row["given"], bool(hazards(row["text"], "context").redacted.found)) for row in rows if row["part"] == part
        ]
        given, told = ([hit for wanted, hit in seen if wanted is which] for which in (True, False))
        assert sum(given) >= least * len(given) and sum(told) <= most * len(told)
