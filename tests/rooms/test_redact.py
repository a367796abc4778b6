"""Secrets leave the text and say what they were; everything that only looks like one stays as it was.

No secret stands in this file. Each is drawn when the tests run, from the shape its vendor publishes.
"""

import json
import random
import string
import subprocess
import sys

import pytest

from reverie.safety import Redacted, redact

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
URL64 = ALNUM + "-_"
BASE64 = ALNUM + "+/"
_random = random.Random(20260301)


def drawn(alphabet: str, length: int) -> str:
    return "".join(_random.choices(alphabet, k=length))


def drawn_uuid() -> str:
    return "-".join(drawn(HEX, n) for n in (8, 4, 4, 4, 12))


def drawn_password() -> str:
    return "Heron" + drawn(string.digits, 3) + "!" + drawn(string.ascii_lowercase, 2)


def drawn_key(label: str, newline: str = "\n", end: bool = True) -> str:
    lines = [f"-----BEGIN {label}-----", *(drawn(BASE64, 64) for _ in range(6)), drawn(BASE64, 20) + "=="]
    return newline.join([*lines, f"-----END {label}-----"] if end else lines)


VENDORS = [
    ("aws-access-key", "AKIA" + drawn(string.ascii_uppercase, 16)),
    ("google-api-key", "AIza" + drawn(URL64, 34) + "x"),
    ("github-token", "ghp_" + drawn(ALNUM, 36)),
    ("github-token", "ghs_" + drawn(ALNUM, 36)),
    ("github-token", "github_pat_" + drawn(ALNUM, 22) + "_" + drawn(ALNUM, 59)),
    ("gitlab-token", "glpat-" + drawn(URL64, 20)),
    ("slack-token", "-".join(["xoxb", drawn(string.digits, 12), drawn(string.digits, 12), drawn(ALNUM, 24)])),
    ("telegram-token", drawn("123456789", 10) + ":AA" + drawn(URL64, 33)),
    ("stripe-key", "sk_" + "live_" + drawn(ALNUM, 24)),
    ("webhook-secret", "whsec_" + drawn(ALNUM, 32)),
    ("twilio-key", "SK" + drawn(HEX, 32)),
    ("sendgrid-key", "SG." + drawn(URL64, 22) + "." + drawn(URL64, 43)),
    ("mailgun-key", "key-" + drawn(HEX, 32)),
    ("mailchimp-key", drawn(HEX, 32) + "-us19"),
    ("npm-token", "npm_" + drawn(ALNUM, 36)),
    ("pypi-token", "pypi-AgE" + drawn(URL64, 160)),
    ("docker-token", "dckr_pat_" + drawn(URL64, 27)),
    ("huggingface-token", "hf_" + drawn(string.ascii_letters, 34)),
    ("openai-key", "sk-proj-" + drawn(URL64, 120)),
    ("openai-key", "sk-" + drawn(ALNUM, 48)),
    ("anthropic-key", "sk-ant-api03-" + drawn(URL64, 93) + "AA"),
    ("openrouter-key", "sk-or-v1-" + drawn(HEX, 64)),
    ("groq-key", "gsk_" + drawn(ALNUM, 52)),
    ("perplexity-key", "pplx-" + drawn(ALNUM, 48)),
    ("replicate-token", "r8_" + drawn(ALNUM, 37)),
    ("xai-key", "xai-" + drawn(ALNUM, 80)),
    ("digitalocean-token", "dop_v1_" + drawn(HEX, 64)),
    ("linear-key", "lin_api_" + drawn(ALNUM, 40)),
    ("notion-token", "ntn_" + drawn(ALNUM, 46)),
    ("shopify-token", "shpat_" + drawn(HEX, 32)),
    ("square-token", "sq0atp-" + drawn(URL64, 22)),
    ("databricks-token", "dapi" + drawn(HEX, 32)),
    ("vault-token", "hvs." + drawn(URL64, 95)),
    ("doppler-token", "dp.pt." + drawn(ALNUM, 43)),
    ("sentry-token", "sntryu_" + drawn(HEX, 64)),
    ("age-secret-key", "AGE-SECRET-KEY-1" + drawn("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    ("jwt", ".".join("eyJ" + drawn(URL64, 30) for _ in range(2)) + "." + drawn(URL64, 43)),
    ("reverie-key", "rvk_" + drawn(HEX, 64)),
    ("discord-token", "MT" + drawn(ALNUM, 22) + "." + drawn(URL64, 6) + "." + drawn(URL64, 38)),
]


@pytest.mark.parametrize(("kind", "secret"), VENDORS, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(VENDORS)])
def test_a_vendors_token_is_replaced_by_its_kind_wherever_it_stands(kind: str, secret: str) -> None:
    assert redact(secret) == Redacted(f"[redacted:{kind}]", {kind: 1})
    assert redact(f"I pasted {secret}, sorry.").text == f"I pasted [redacted:{kind}], sorry."
    assert redact(f'run("{secret}")').text == f'run("[redacted:{kind}]")'
    assert redact(json.dumps(f"a\n{secret}\nb")).text == f'"a\\n[redacted:{kind}]\\nb"'
    assert secret not in redact(f"export SERVICE_TOKEN={secret}").text


PASSWORD_PLACES = [
    'password = "{}"',
    "db_password: str = '{}'",
    '"password": "{}"',
    '{{\\"password\\": \\"{}\\"}}',
    "  password: {}",
    "<password>{}</password>",
    "Server=db;Uid=app;Pwd={};",
    "DB_PASSWORD={}",
    "export PGPASSWORD={}",
    "tool --password {} --yes",
    "mysql -u root -p{} shop",
    "curl -u bob:{} https://api.corp.test/x",
    "sshpass -p {} ssh bob@host",
    "machine api.corp.test login bob password {}",
    "db.corp.test:5432:shop:app:{}",
    "CREATE USER bob IDENTIFIED BY '{}';",
    "The password is {}, keep it to yourself.",
    "my wifi password: {}",
    "the password for the staging box is {}",
    "use {} as the password",
    "Das Passwort ist {}.",
    "la contraseña es {}",
    "le mot de passe est {}",
    "密码是{}",
    "账号 luyao,密码 {}",
    "пароль {} подходит",
]


@pytest.mark.parametrize("place", PASSWORD_PLACES)
def test_a_password_is_taken_out_and_what_stands_around_it_stays(place: str) -> None:
    assert redact(place.format(drawn_password())).text == place.format("[redacted:password]")


@pytest.mark.parametrize(
    ("place", "kind", "secret"),
    [
        ("aws_secret_access_key = {}", "aws-secret-key", drawn(BASE64, 40)),
        ('"api_key": "{}"', "api-key", drawn(ALNUM, 32)),
        ("https://x.test/v1?api_key={}&page=2", "api-key", drawn(HEX, 40)),
        ("export FOO_TOKEN={}", "token", drawn(ALNUM, 30)),
        ("client_secret={}", "secret", drawn(URL64, 38) + "a1"),
        ("I gave the bot the secret {} last week", "secret", drawn(ALNUM, 38) + "a1"),
        ("HEROKU_API_KEY={}", "heroku-key", drawn_uuid()),
        ("TWILIO_AUTH_TOKEN={}", "twilio-token", drawn(HEX, 32)),
        ("Authorization: Bearer {}", "bearer-token", drawn(ALNUM, 48)),
        ("Authorization: Basic {}", "basic-auth", drawn(ALNUM, 24)),
        ("Cookie: theme=dark; sessionid={}; lang=en", "cookie", drawn(ALNUM, 32)),
        ("AccountName=a;AccountKey={};EndpointSuffix=x", "azure-storage-key", drawn(BASE64, 86) + "=="),
        (
            "https://hooks.slack.com/services/{}",
            "slack-webhook",
            f"T{drawn(ALNUM, 9)}/B{drawn(ALNUM, 9)}/{drawn(ALNUM, 24)}",
        ),
        ("https://{}@o45.ingest.sentry.io/45", "sentry-dsn", drawn(HEX, 32)),
        ("postgres://app:{}@db:5432/shop", "url-password", drawn_password()),
        ("redis://:{}@cache:6379/0", "url-password", drawn_password()),
        ("https://bob:{}@git.corp.test/a.git", "url-password", drawn_password()),
    ],
)
def test_a_secret_known_by_its_place_is_taken_out(place: str, kind: str, secret: str) -> None:
    assert redact(place.format(secret)) == Redacted(place.format(f"[redacted:{kind}]"), {kind: 1})


@pytest.mark.parametrize("label", ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
def test_a_private_key_goes_as_a_whole(label: str) -> None:
    assert redact(f"here:\n{drawn_key(label)}\nbye").text == "here:\n[redacted:private-key]\nbye"


def test_a_private_key_that_was_cut_off_goes_up_to_where_the_prose_begins() -> None:
    text = f"{drawn_key('RSA PRIVATE KEY', end=False)}\nand there the output stopped"
    assert redact(text).text == "[redacted:private-key]\nand there the output stopped"


def test_a_private_key_inside_a_json_string_leaves_the_json_readable() -> None:
    text = json.dumps({"type": "service_account", "private_key": drawn_key("PRIVATE KEY") + "\n"})
    assert json.loads(redact(text).text) == {"type": "service_account", "private_key": "[redacted:private-key]\n"}


INNOCENT = [
    "password: <your-password>",
    "API_KEY=$API_KEY",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    'key = os.environ["API_KEY"]',
    "api_key = xxxxxxxxxxxxxxxxxxxx",
    "ghp_" + "x" * 36,
    "password: ********",
    "password: changeme",
    "password = get_password()",
    "self.password = password",
    "def login(user: str, password: str) -> bool:",
    "Reset your password by clicking the link below.",
    "The token is expired, log in again.",
    "What should the password policy be for 2026?",
    "Password must be at least 12 characters and contain a digit.",
    "the password is stored as a bcrypt hash, SHA256 before that",
    '<input type="password" name="pw">',
    "'password' => 'required|min:8|confirmed',",
    "max_tokens: 4096, token_count=15342",
    "curl http://localhost:8080/health",
    "postgres://user:${DB_PASSWORD}@host/db",
    "Authorization: Bearer <token>",
    "The API key goes into the Authorization header as a Bearer token.",
    "the secret IntegrationTestSuiteRunner2 and the token classification-benchmark-2026",
    "risk-assessment-framework-2026-final-version-3",
    "ssh -p 2222 root@host; mkdir -p a1/b2; docker run -p 8080:80 nginx",
    "tests: 12 passed, pass rate: 98.5%",
    "Passwort vergessen? Hier klicken.",
    "密码是必填项",
    'if "-----BEGIN PRIVATE KEY-----" in text:',
    f"commit {drawn(HEX, 40)}",
    f"session_id: {drawn_uuid()}",
    f'"integrity": "sha512-{drawn(BASE64, 86)}=="',
    f"![x](data:image/png;base64,{drawn(BASE64, 300)})",
    f'"key": "{drawn(HEX, 40)}", "etag": "{drawn(HEX, 32)}"',
    f"toolu_{drawn(ALNUM, 24)} msg_{drawn(ALNUM, 24)}",
    f"ssh-rsa AAAAB3NzaC1yc2E{drawn(BASE64, 300)} bob@laptop",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert redact(text) == Redacted(text, {})


def test_the_same_secret_twice_is_counted_twice_under_one_kind() -> None:
    token = "ghp_" + drawn(ALNUM, 36)
    assert redact(f"{token} {token}") == Redacted(
        "[redacted:github-token] [redacted:github-token]", {"github-token": 2}
    )


def test_a_vendors_shape_names_the_kind_even_where_the_place_would() -> None:
    key = "sk-ant-api03-" + drawn(URL64, 93) + "AA"
    assert redact(f'ANTHROPIC_API_KEY="{key}"').found == {"anthropic-key": 1}
    assert redact(f"Authorization: Bearer {key}").found == {"anthropic-key": 1}


def test_what_was_redacted_before_is_neither_changed_nor_counted() -> None:
    text = "password = [redacted:password], url postgres://a:[redacted:url-password]@h, [redacted:password]: x9y8z7"
    assert redact(text) == Redacted(text, {})


@pytest.mark.parametrize(
    "text", ["", "\x00", "\ud800 password=\udfff", "password=", "://:@", "-----BEGIN", "\u0130 token:"]
)
def test_no_text_is_too_strange(text: str) -> None:
    assert redact(text).text == text


def test_a_token_after_letters_that_change_length_in_lower_case_is_still_cut_at_the_right_place() -> None:
    password = drawn_password()
    assert (
        redact(f"\u0130\u0130\u0130 password={password} end").text
        == "\u0130\u0130\u0130 password=[redacted:password] end"
    )


def test_opening_the_room_compiles_no_pattern_yet() -> None:
    program = (
        "from reverie.safety import redact; from reverie.safety.secrets import named, tokens, values\n"
        "lazy = [f for m in (named, tokens, values) for f in vars(m).values() if hasattr(f, 'cache_info')]\n"
        "print(len(lazy) > 10, sum(f.cache_info().currsize for f in lazy))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "0"]
