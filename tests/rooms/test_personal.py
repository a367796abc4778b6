"""What names a person leaves as a stand-in and comes back exact; what a debugger needs stays."""

import subprocess
import sys

import pytest

from reverie.safety.redact import Pseudonyms

REPLACED = [
    ("write to ann.lee+news@example.co.uk.", "write to <mail-1>."),
    ("我的邮箱是ann@example.com，谢谢", "我的邮箱是<mail-1>，谢谢"),
    ("mailto:o'brien@example.ie", "mailto:<mail-1>"),
    ("ann (at) example (dot) org", "<mail-1>"),
    ("call +49 151 23456789 now", "call <phone-1> now"),
    ("office: +44 (0)20 7946 0958", "office: <phone-1>"),
    ("ring (415) 555-2671 or 415.555.2672", "ring <phone-1> or <phone-2>"),
    ("0033 6 12 34 56 78", "<phone-1>"),
    ("06 12 34 56 78", "<phone-1>"),
    ("07700 900123", "<phone-1>"),
    ("Telefon: 030 1234567", "Telefon: <phone-1>"),
    ("my phone number is 612 345 678", "my phone number is <phone-1>"),
    ("手机号码是13800138000", "手机号码是<phone-1>"),
    ("090-1234-5678", "<phone-1>"),
    ("card 4111 1111 1111 1111 exp 12/28", "card <card-1> exp 12/28"),
    ("3782-822463-10005", "<card-1>"),
    ("5555555555554444", "<card-1>"),
    ("IBAN DE89 3704 0044 0532 0130 00 BIC COBADEFF", "IBAN <iban-1> BIC COBADEFF"),
    ("gb82west12345698765432", "<iban-1>"),
    ("account number: 0123456789", "account number: <account-1>"),
    ("Kontonummer 532013000", "Kontonummer <account-1>"),
    ("my SSN is 123-45-6789", "my SSN is <id-1>"),
    ("passport no. C01X00T47", "passport no. <id-1>"),
    ("RSSMRA85T10A562S", "<id-1>"),
    ("529.982.247-25", "<id-1>"),
    ("11010519491231002X", "<id-1>"),
    ("I live at 12 Baker Street, London NW1 6XE.", "I live at <address-1>."),
    ("1600 Willow Lane, Springfield, IL 62704", "<address-1>"),
    ("Wir wohnen Lindenstraße 14a, 50674 Köln", "Wir wohnen <address-1>"),
    ("12 bis rue de la Paix, 75002 Paris", "<address-1>"),
    ("Calle de Alcalá 42, 28014 Madrid", "<address-1>"),
    ("Via Garibaldi 7, 10122 Torino", "<address-1>"),
    ("Keizersgracht 174, 1016 DW Amsterdam", "<address-1>"),
]

LEFT_ALONE = [
    "released 2024-01-15 10:00:00+0200, see v1.2.3 and 3.11.4",
    "127.0.0.1:8080, 10.0.0.12, 192.168.178.20/24, ::1",
    "order 234-567-8901 and ticket #415-555-2671",
    "timestamps 1700000000, 1700000000000 and 1700000000000000",
    "snowflake 1234567890123456789, row 4111111111111112",
    "port 5432, pid 31337, 404 Not Found",
    "+20240115 a line of a diff",
    "+1700000000",
    "pi is 3.14159265358979, 0.4111111111111111",
    "git@github.com:owner/name.git and ssh://shop@db2.internal",
    "logo@2x.png, npm i left-pad@1.3.0, @pytest.mark, user@localhost",
    "call me at 2024-01-15",
    "DE89 3704 0044 0532 0130 01 fails its checksum",
    "999-12-3456",
    "String 5, Monitoring 3, Speicherplatz 50, 2 Google Drive folders, Via HTTP 2",
    "AWS account number 123456789012",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "550e8400-e29b-41d4-a716-446655440000",
    "session\n@app.route('/x')",
    "step 3 of 12 took 06:12:34",
]


@pytest.mark.parametrize(("text", "expected"), REPLACED)
def test_an_identifier_becomes_a_stand_in_and_comes_back(text: str, expected: str) -> None:
    names = Pseudonyms()
    assert names.replaced(text) == expected
    assert names.restored(expected) == text


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_names_nobody_stays(text: str) -> None:
    names = Pseudonyms()
    assert names.replaced(text) == text
    assert names.found == {}


def test_the_same_identifier_keeps_its_number_however_it_is_written() -> None:
    names = Pseudonyms()
    assert names.replaced("Ann@Example.com, bob@example.com") == "<mail-1>, <mail-2>"
    assert names.replaced("ann@example.com again") == "<mail-1.2> again"
    assert names.replaced("+1 415-555-2671, (415) 555-2671") == "<phone-1>, <phone-1.2>"
    assert names.replaced("DE89 3704 0044 0532 0130 00, DE89370400440532013000") == "<iban-1>, <iban-1.2>"
    assert names.restored("<mail-1.2> and <phone-1.2>") == "ann@example.com and (415) 555-2671"
    assert names.found == {"mail": 2, "phone": 1, "iban": 1}


def test_words_that_already_look_like_a_stand_in_are_not_taken_for_ours() -> None:
    names = Pseudonyms()
    text = "<mail-1> is literal, ann@example.com is not, <mark-1> is literal too"
    assert names.replaced(text) == "<mark-1> is literal, <mail-1> is not, <mark-2> is literal too"
    assert names.restored(names.replaced(text)) == text


def test_a_stand_in_a_model_made_up_stays_as_it_is() -> None:
    assert Pseudonyms().restored("<mail-7> said so") == "<mail-7> said so"


def test_replacing_is_quick_on_texts_made_to_be_slow() -> None:
    code = (
        "import time; from reverie.safety.redact import Pseudonyms\n"
        "for piece in ('a@', '1 ', '+1', '0', 'Aa ', '1 Aa ', 'DE89 ', '4111 ', 'tel: ', 'rue de la ', 'a.a@a.'):\n"
        "    start = time.perf_counter(); Pseudonyms().replaced(piece * (200_000 // len(piece)))\n"
        "    assert time.perf_counter() - start < 8, piece\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
