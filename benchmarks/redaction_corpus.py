"""Labelled texts for the redaction benchmark: secrets of every kind where they turn up, and innocent look-alikes.

The shapes are written from the vendors' public descriptions, not from the patterns under test.
"""

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
URL64 = ALNUM + "-_"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"


@dataclass(frozen=True)
class Case:
    kind: str
    text: str
    secret: str  # "" when the text is innocent


class Draw:
    """Random values of a stated shape."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def of(self, alphabet: str, least: int, most: int = 0) -> str:
        return "".join(self.random.choices(alphabet, k=self.random.randint(least, most or least)))

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def uuid(self) -> str:
        return "-".join(self.of(HEX, n) for n in (8, 4, 4, 4, 12))

    def password(self) -> str:
        word = self.one("hunter", "Dragon", "sommer", "Blue", "kestrel", "tr0ub", "Zebra", "mango")
        return (
            word + self.one("", "-", "!", "_", "#") + self.of(string.digits, 1, 4) + self.one("", "!", "x", "Qz", "$k")
        )

    def pem(self, label: str, lines: int, newline: str = "\n", end: bool = True) -> str:
        body = newline.join([self.of(BASE64, 64) for _ in range(lines)] + [self.of(BASE64, 30) + "=="])
        begin, stop = f"-----BEGIN {label}-----", f"-----END {label}-----"
        return newline.join([begin, body, stop] if end else [begin, body])

    def jwt(self) -> str:
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": self.of(string.digits, 10), "name": self.of(ALNUM, 12)})
        coded = [base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in parts]
        return ".".join([*coded, self.of(URL64, 43)])

    def discord(self) -> str:
        user = (
            base64.b64encode(self.of("123456789", 1).encode() + self.of(string.digits, 17).encode())
            .decode()
            .rstrip("=")
        )
        return f"{user}.{self.of(URL64, 6)}.{self.of(URL64, 38)}"


def vendor_shapes(d: Draw) -> dict[str, Callable[[], str]]:
    return {
        "aws-access-key": lambda: d.one("AKIA", "ASIA") + d.of(string.ascii_uppercase + "234567", 16),
        "aws-session-token": lambda: "IQoJb3JpZ2luX2Vj" + d.of(BASE64, 300, 600),
        "google-api-key": lambda: "AIza" + d.of(URL64, 35),
        "google-oauth-token": lambda: "ya29." + d.of(URL64, 120, 180),
        "google-client-secret": lambda: "GOCSPX-" + d.of(URL64, 28),
        "azure-client-secret": lambda: d.of(ALNUM, 3) + "8Q~" + d.of(ALNUM + "_.-~", 34),
        "github-token": lambda: d.one("ghp_", "gho_", "ghu_", "ghs_", "ghr_") + d.of(ALNUM, 36),
        "github-fine-grained": lambda: "github_pat_" + d.of(ALNUM, 22) + "_" + d.of(ALNUM, 59),
        "gitlab-token": lambda: d.one("glpat-", "gldt-", "glrt-", "glft-", "glsoat-") + d.of(URL64, 20),
        "gitlab-routable": lambda: "glpat-" + d.of(URL64, 27) + ".01." + d.of(LOWER, 9),
        "slack-token": lambda: (
            f"xox{d.one('b', 'p')}-{d.of(string.digits, 12)}-{d.of(string.digits, 12)}-{d.of(ALNUM, 24)}"
        ),
        "slack-app-token": lambda: f"xapp-1-A{d.of(UPPER, 10)}-{d.of(string.digits, 13)}-{d.of(HEX, 64)}",
        "discord-token": d.discord,
        "telegram-token": lambda: d.of("123456789", 1) + d.of(string.digits, 8, 9) + ":AA" + d.of(URL64, 33),
        "stripe-key": lambda: d.one("sk_live_", "rk_live_", "sk_test_") + d.of(ALNUM, 24, 99),
        "stripe-webhook": lambda: "whsec_" + d.of(ALNUM, 32),
        "twilio-key": lambda: "SK" + d.of(HEX, 32),
        "sendgrid-key": lambda: f"SG.{d.of(URL64, 22)}.{d.of(URL64, 43)}",
        "mailgun-key": lambda: "key-" + d.of(HEX, 32),
        "mailchimp-key": lambda: d.of(HEX, 32) + "-us" + str(d.random.randint(1, 21)),
        "npm-token": lambda: "npm_" + d.of(ALNUM, 36),
        "pypi-token": lambda: "pypi-AgEIcHlwaS5vcmc" + d.of(URL64, 150, 190),
        "docker-token": lambda: "dckr_pat_" + d.of(URL64, 27),
        "huggingface-token": lambda: "hf_" + d.of(string.ascii_letters, 34),
        "openai-key": lambda: "sk-" + d.of(ALNUM, 20) + "T3BlbkFJ" + d.of(ALNUM, 20),
        "openai-project-key": lambda: f"sk-{d.one('proj', 'svcacct')}-{d.of(URL64, 74)}T3BlbkFJ{d.of(URL64, 74)}",
        "anthropic-key": lambda: f"sk-ant-{d.one('api03', 'admin01', 'oat01')}-{d.of(URL64, 93)}AA",
        "openrouter-key": lambda: "sk-or-v1-" + d.of(HEX, 64),
        "groq-key": lambda: "gsk_" + d.of(ALNUM, 52),
        "perplexity-key": lambda: "pplx-" + d.of(ALNUM, 48),
        "replicate-token": lambda: "r8_" + d.of(ALNUM, 37),
        "xai-key": lambda: "xai-" + d.of(ALNUM, 80),
        "digitalocean-token": lambda: d.one("dop_v1_", "doo_v1_", "dor_v1_") + d.of(HEX, 64),
        "heroku-key": lambda: "HRKU-AA" + d.of(URL64, 58),
        "linear-key": lambda: "lin_api_" + d.of(ALNUM, 40),
        "notion-token": lambda: "ntn_" + d.of(string.digits, 11) + d.of(ALNUM, 35),
        "shopify-token": lambda: d.one("shpat_", "shpca_", "shppa_", "shpss_") + d.of(HEX, 32),
        "square-token": lambda: d.one("sq0atp-", "sq0csp-") + d.of(URL64, 22, 43),
        "databricks-token": lambda: "dapi" + d.of(HEX, 32),
        "vault-token": lambda: "hvs." + d.of(URL64, 95),
        "doppler-token": lambda: "dp.pt." + d.of(ALNUM, 43),
        "sentry-token": lambda: "sntryu_" + d.of(HEX, 64),
        "age-secret-key": lambda: "AGE-SECRET-KEY-1" + d.of(BECH32, 58),
        "jwt": d.jwt,
    }


def carriers(secret: str, d: Draw) -> Iterator[str]:
    """Where a vendor's token turns up in a transcript."""
    name = d.one("SERVICE_KEY", "MY_CREDENTIAL", "BOT", "CLIENT")
    yield f"I pasted {secret} into the chat by mistake, sorry."
    yield f'client = Client("{secret}")  # TODO move out of the code'
    yield f"2026-03-01T10:12:44Z WARN upstream refused credential={secret} retrying in 5s"
    yield json.dumps({"step": 3, "output": f"loaded\n{secret}\ndone"})
    yield f"export {name}={secret}\necho ok"
    yield f"| staging | `{secret}` | ops |"
    yield f"\x1b[32m{secret}\x1b[0m"


# Places nothing but their sense gives away. Most of them are missed, and they stay here so that the totals say so.
HARD = (
    "echo '{}' | sudo -S ls",
    "openssl enc -aes-256-cbc -k {}",
    "my gmail password, {}, stopped working",
    "login: bob / {}",
    "credentials bob:{}",
    "bob:{}@db.internal",
    "mdp: {}",
    "htpasswd -b users bob {}",
    "net use x: //srv/share /user:bob {}",
    "value: {}  # password",
    "the root password's {}",
    "mongo -u a -p {} --authenticationDatabase admin",
)


def password_cases(d: Draw) -> Iterator[Case]:
    p = d.password
    forms: tuple[tuple[str, str], ...] = (
        ("assignment", 'password = "{}"'),
        ("assignment", "db_password: str = '{}'"),
        ("assignment", 'PASSWORD := "{}"'),
        ("assignment", "$config['password'] = '{}';"),
        ("assignment", "connect(user='app', password='{}')"),
        ("assignment", '"password": "{}",'),
        ("assignment", '{{\\"password\\": \\"{}\\"}}'),
        ("assignment", "<password>{}</password>"),
        ("assignment", "  password: {}"),
        ("assignment", "spring.datasource.password={}"),
        ("assignment", "Server=db;Uid=a;Pwd={};"),
        ("environment", "DB_PASSWORD={}"),
        ("environment", "export PGPASSWORD={}"),
        ("environment", "SMTP_PASS='{}'"),
        ("environment", "-e MYSQL_ROOT_PASSWORD={} \\"),
        ("environment", "ENV ADMIN_PWD {}"),
        ("url-password", "postgres://app:{}@db.internal:5432/shop"),
        ("url-password", "amqp://guest:{}@mq/vhost"),
        ("url-password", "redis://:{}@cache:6379/0"),
        ("url-password", "git clone https://bob:{}@git.corp.io/a/b.git"),
        ("url-password", "DATABASE_URL=mysql+pymysql://root:{}@127.0.0.1/x"),
        ("url-password", "mongodb+srv://u:{}@c0.mongodb.net"),
        ("command", "mysql -u root -p{} shop"),
        ("command", "curl -u bob:{} https://api.corp.io/x"),
        ("command", "tool login --password {} --yes"),
        ("command", "tool --password={}"),
        ("command", "sshpass -p {} ssh a@b"),
        ("command", "docker login -u bob -p {} registry.io"),
        ("command", "curl -s --user 'bob:{}' https://x.io"),
        ("file", "machine api.corp.io login bob password {}"),
        ("file", "db.corp.io:5432:shop:app:{}"),
        ("file", "machine h\nlogin bob\npassword {}\n"),
        ("prose-en", "The password is {}, please do not share it."),
        ("prose-en", "my wifi password: {}"),
        ("prose-en", "the password for the staging box is {}"),
        ("prose-en", "Password was `{}` last week"),
        ("prose-en", "log in as user admin with password {} and look"),
        ("prose-en", "use {} as the password"),
        ("prose-de", "Das Passwort ist {}."),
        ("prose-de", "Passwort: {}"),
        ("prose-de", "das Kennwort für den Server lautet {}"),
        ("prose-es", "la contraseña es {}"),
        ("prose-es", "Contraseña: {}"),
        ("prose-es", "la clave del wifi es {}"),
        ("prose-fr", "le mot de passe est {}"),
        ("prose-fr", "Mot de passe : {}"),
        ("prose-fr", "le mot de passe du wifi est {}"),
        ("prose-zh", "密码是{}"),
        ("prose-zh", "密码：{}"),
        ("prose-zh", "数据库的密码为 {}，别外传"),
    )
    for group, form in (*forms, *(("hard", form) for form in HARD)):
        secret = p()
        yield Case(group, form.format(secret), secret)


def named_cases(d: Draw) -> Iterator[Case]:
    """Values only their name gives away."""
    forms: tuple[tuple[str, str, str], ...] = (
        ("aws-secret-key", "aws_secret_access_key = {}", d.of(BASE64, 40)),
        ("aws-secret-key", '"SecretAccessKey": "{}"', d.of(BASE64, 40)),
        ("api-key", 'api_key="{}"', d.of(ALNUM, 32)),
        ("api-key", "X-Api-Key: {}", d.of(HEX, 32)),
        ("api-key", '"apiKey": "{}"', d.of(URL64, 40)),
        ("api-key", "https://x.io/v1?api_key={}&page=2", d.of(HEX, 40)),
        ("api-key", "DD_API_KEY={}", d.of(HEX, 32)),
        ("api-key", "--api-key {}", d.of(ALNUM, 40)),
        ("api-key", "my api key is {}", d.of(ALNUM, 36)),
        ("api-key", "ENCRYPTION_KEY: '{}'", d.of(BASE64, 43) + "="),
        ("heroku-context", "HEROKU_API_KEY={}", d.uuid()),
        ("twilio-context", "TWILIO_AUTH_TOKEN={}", d.of(HEX, 32)),
        ("mailgun-context", "MAILGUN_API_KEY={}", f"{d.of(HEX, 32)}-{d.of(HEX, 8)}-{d.of(HEX, 8)}"),
        ("token", "export FOO_TOKEN={}", d.of(ALNUM, 30)),
        ("token", '"access_token": "{}"', d.of(URL64, 64)),
        ("token", "auth_token: {}", d.of(HEX, 40)),
        ("token", "the token is {}", d.of(ALNUM, 32)),
        ("secret", "client_secret={}", d.of(URL64, 40)),
        ("secret", "JWT_SECRET={}", d.of(ALNUM, 24)),
        ("secret", 'SECRET_KEY = "{}"', d.of(ALNUM + "!@#%^&*(-_=+)", 50)),
        ("secret", '"client_secret": "{}"', d.uuid()),
        ("bearer", "Authorization: Bearer {}", d.of(URL64, 48)),
        ("bearer", 'headers={{"Authorization": "Bearer {}"}}', d.of(ALNUM, 40)),
        ("basic", "Authorization: Basic {}", base64.b64encode(f"bob:{d.password()}".encode()).decode()),
        ("cookie", "Cookie: theme=dark; sessionid={}; lang=en", d.of(LOWER, 32)),
        ("cookie", "Set-Cookie: connect.sid=s%3A{}; Path=/; HttpOnly", d.of(URL64, 32)),
        (
            "azure-storage",
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x",
            d.of(BASE64, 86) + "==",
        ),
        ("azure-sas", "https://a.blob.core.windows.net/c/f?sv=2022-11-02&sr=b&sig={}&se=2027", d.of(ALNUM, 43) + "%3D"),
        (
            "azure-bus",
            "Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=r;SharedAccessKey={}",
            d.of(BASE64, 43) + "=",
        ),
        (
            "slack-webhook",
            "https://hooks.slack.com/services/{}",
            f"T{d.of(UPPER, 10)}/B{d.of(UPPER, 10)}/{d.of(ALNUM, 24)}",
        ),
        ("discord-webhook", f"https://discord.com/api/webhooks/{d.of('123456789', 18)}/{{}}", d.of(URL64, 68)),
        ("sentry-dsn", "https://{}@o4501.ingest.sentry.io/4507", d.of(HEX, 32)),
    )
    for kind, form, secret in forms:
        yield Case(kind, form.format(secret), secret)


def key_cases(d: Draw) -> Iterator[Case]:
    for label in ("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"):
        whole = d.pem(label, 12)
        yield Case("private-key", f"cat key.pem\n{whole}\nthat is it", whole)
    cut = d.pem("RSA PRIVATE KEY", 5, end=False)
    yield Case("private-key-truncated", f"{cut}\n[output truncated]", cut)
    escaped = d.pem("PRIVATE KEY", 20, newline="\\n")
    yield Case("service-account", '{"type": "service_account", "private_key": "' + escaped + '\\n"}', escaped)
    pgp = d.pem("PGP PRIVATE KEY BLOCK", 15).replace("-----\n", "-----\nVersion: GnuPG v2\n\n", 1)
    yield Case("pgp-private-key", pgp, pgp)


INNOCENT = (
    "password: <your-password>",
    "API_KEY=$API_KEY",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    'key = os.environ["API_KEY"]',
    "api_key = xxxxxxxxxxxxxxxxxxxx",
    "password: ********",
    "password = get_password()",
    "def login(user: str, password: str) -> bool:",
    "password: Optional[str] = None",
    "Reset your password by clicking the link below.",
    "The token is expired, log in again.",
    "const token = await auth.getToken();",
    "self.password = password",
    "password=password, token=token)",
    "max_tokens: 4096",
    "Password must be at least 12 characters and contain a digit.",
    '"password": {"type": "string", "minLength": 8}',
    "What should the password policy be for 2026?",
    "curl http://localhost:8080/health",
    "see http://user@host/path",
    "the password is stored as a bcrypt hash",
    "The password is SHA256 hashed before it is stored.",
    "the password is 8-20 characters long",
    "token_count=15342 cache_key=user:1234:profile",
    "primary_key=True, foreign_key='users.id'",
    '<input type="password" name="pw">',
    "password: z.string().min(8),",
    "'password' => 'required|min:8|confirmed',",
    "if (!password) throw new Error('no password');",
    "SECRET_NAME=my-app-secret",
    "secretKeyRef:\n  name: db-credentials\n  key: password",
    "kubectl create secret generic db --from-file=pw.txt",
    "The API key goes into the Authorization header as a Bearer token.",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "postgres://user:${DB_PASSWORD}@host/db",
    "postgres://localhost:5432/app",
    "https://example.com:8443/a@b",
    "mail me at bob@corp.io:8080",
    "task-management-and-scheduling-service-v2",
    "risk-assessment-framework-2026-final-version-3",
    "disk-usage-analyzer-tool-x86-64-linux",
    "claude-sonnet-4-20250514",
    "model: text-embedding-3-small",
    "arn:aws:iam::123456789012:role/deploy-role-prod-eu-west-1",
    "ssh -p 2222 root@host",
    "docker run -p 8080:80 nginx",
    "mysql -h db -P 3306 -u root -p",
    "psql -U app -d shop -p 5432",
    "git checkout -b fix/token-refresh-2",
    "pip install pass-through==1.2.3",
    "keyboard: qwerty-de-102",
    "compass=north bypass=1",
    "tests: 12 passed, pass rate: 98.5%",
    "PASS: test_password_reset (0.12s)",
    "passed=12 failed=0",
    "next_page_token: CAoQAA",
    "session_id: 6f1c8f0e-1b7d-4c41-9a53-0d7a5be2a1c4",
    "author: pass the salt",
    "la clave es la paciencia",
    "die Clave-Figur ist alt",
    "Passwort vergessen? Hier klicken.",
    "mot de passe oublié ?",
    "忘记密码了怎么办",
    "密码是必填项",
    "the secret is consistency",
    "Basic authentication is on",
    "cookie: the browser stores it",
    "Set-Cookie: theme=dark; Path=/",
    "-----BEGIN CERTIFICATE-----",
    'if "-----BEGIN PRIVATE KEY-----" in text:',
    "-----BEGIN PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0 bob@laptop",
    "password_hash = hasher.hash(raw)",
    "reset_password_url = '/reset'",
    'passwordField.setText("")',
    "password=$(pass show db)",
    "PASSWORD=`cat /run/secrets/pw`",
    "password: !vault |",
    'token := r.Header.Get("X-Token")',
    "api_key: str = Field(..., description='the key')",
    "key: value",
    "secret: true",
    "password: null",
    "token: string;",
    "auth: none",
    "clave: valor2",
    "the password is p@ssw0rd-like",
    "secret: projects/1/secrets/x/versions/2",
)


def random_innocent(d: Draw) -> Iterator[str]:
    """Random characters that are public: hashes, ids, images, lock files."""
    yield f"commit {d.of(HEX, 40)}"
    yield f"sha256:{d.of(HEX, 64)}"
    yield f'"integrity": "sha512-{d.of(BASE64, 86)}==",'
    yield f'"id": "{d.uuid()}", "session_id": "{d.uuid()}"'
    yield f"![x](data:image/png;base64,{d.of(BASE64, 400)})"
    yield f'"key": "{d.of(HEX, 40)}", "etag": "{d.of(HEX, 32)}"'
    yield f"toolu_{d.of(ALNUM, 24)} msg_{d.of(ALNUM, 24)} req_{d.of(ALNUM, 24)}"
    yield f"https://cdn.corp.io/assets/app-{d.of(HEX, 20)}.js"
    yield f"gpg: key {d.of(UPPER[10:] + '0123456789', 16)}: public key imported"
    yield f"pk_live_{d.of(ALNUM, 24)}"
    yield f"ssh-rsa AAAAB3NzaC1yc2E{d.of(BASE64, 300)} bob@laptop"
    yield f"-----BEGIN CERTIFICATE-----\n{d.of(BASE64, 64)}\n{d.of(BASE64, 64)}\n-----END CERTIFICATE-----"
    yield f"go.sum: golang.org/x/text v0.3.8 h1:{d.of(BASE64, 43)}="
    yield f"trace_id={d.of(HEX, 32)} span_id={d.of(HEX, 16)}"
    yield f"build-{d.of(LOWER, 10)}-{d.of(LOWER, 5)} Running 0 12d"


def corpus(d: Draw, each: int) -> Iterator[Case]:
    for kind, shape in vendor_shapes(d).items():
        for _ in range(each):
            secret = shape()
            yield from (Case(kind, text, secret) for text in carriers(secret, d))
    for _ in range(each * 4):
        yield from password_cases(d)
        yield from named_cases(d)
        yield from key_cases(d)
        yield from (Case("innocent", text, "") for text in random_innocent(d))
    yield from (Case("innocent", text, "") for text in INNOCENT for _ in range(each))
