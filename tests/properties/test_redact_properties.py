"""For every text: redacting never fails, redacting twice is redacting once, and untouched text keeps its bytes."""

import re
import string

from hypothesis import example, given, settings
from hypothesis import strategies as st

from reverie.safety import redact

ALNUM = string.ascii_letters + string.digits
PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9-]+\]")

# Pieces of everything the patterns know, so that chance puts them side by side in ways nobody thought of.
PIECES = st.sampled_from(
    [
        *(
            "password",
            "PASSWORD",
            "passwd",
            "pwd",
            "pass",
            "secret",
            "token",
            "api_key",
            "KEY",
            "Bearer ",
            "Authorization: ",
        ),
        *(
            "Cookie: ",
            "sessionid=",
            "Basic ",
            " is ",
            ": ",
            "=",
            '="',
            "'",
            '"',
            "\\n",
            "\\",
            "\n",
            " ",
            ", ",
            "&",
            "?",
            "@",
        ),
        *(
            "://",
            "user:",
            "--",
            " -p",
            " -u a:",
            "mysql",
            "curl",
            "login bob ",
            "use ",
            " as the ",
            "密码是",
            "contraseña ",
        ),
        *(
            "ghp_",
            "sk-",
            "sk-ant-api03-",
            "AKIA",
            "AIza",
            "eyJ",
            ".",
            "-",
            "_",
            "xoxb-",
            "SG.",
            "hf_",
            "SK",
            "-us1",
            ":AA",
            "8Q~",
        ),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "[redacted:password]",
            "[redacted:jwt]",
            "[redacted:",
        ),
        *(
            "hooks.slack.com/services/",
            "sig=",
            "AccountKey=",
            "<password>",
            "$",
            "${",
            "{{",
            "xxxx",
            "]",
            "[",
            "(",
            ")",
        ),
    ]
)
RUNS = st.one_of(
    st.text(ALNUM, min_size=1, max_size=50),
    st.text(string.hexdigits, min_size=20, max_size=70),
    st.text(ALNUM + "-_", max_size=120),
)
WORDS = st.sampled_from(
    ["hunter2", "Heron!42x", "swordfish", "the", "expired", "12345678", "db.internal", "get_password()"]
)
MIXTURES = st.lists(st.one_of(PIECES, RUNS, WORDS), max_size=24).map("".join)
ANY_TEXT = st.text(st.characters(), max_size=400)


@settings(max_examples=1500, deadline=None)
@given(st.one_of(MIXTURES, ANY_TEXT))
@example("AKIA" * 40)
@example("\ud800password=\udc00hunter2")
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    twice = redact(once.text)
    assert twice.text == once.text
    assert twice.found == {}


@settings(max_examples=600, deadline=None)
@given(st.one_of(MIXTURES, ANY_TEXT))
def test_only_placeholders_are_new_and_the_rest_keeps_its_bytes_and_order(text: str) -> None:
    result = redact(text)
    position = 0
    for kept in PLACEHOLDER.split(result.text):
        position = text.find(kept, position)
        assert position >= 0
        position += len(kept)
    assert (result.found == {}) == (result.text == text)


@settings(max_examples=300, deadline=None)
@given(st.text(string.ascii_letters + " .,!?\n\t", max_size=600))
def test_letters_and_punctuation_alone_are_never_changed(text: str) -> None:
    assert redact(text).text == text


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), st.text(ALNUM, min_size=36, max_size=36))
def test_a_token_is_found_whatever_stands_before_it(before: str, body: str) -> None:
    token = "ghp_" + body
    assert token not in redact(f"{before} {token} end").text or len(set(body)) < 7
