"""For every text: what was replaced comes back to the character, whatever stood in it before."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from reverie.safety.redact import Pseudonyms
from reverie.safety.sensitive import asked_to_remember, sensitive

PIECES = st.sampled_from(
    [
        *("<mail-1>", "<mail-1.2>", "<phone-", "1>", "<mark-1>", "<", ">", "mail-1", ".2>", "<address-1>", "<id-9>"),
        *("ann@example.com", "Ann@Example.com", "@", "ann", ".com", "(at)", "(dot)", " ", "\n", ", ", "-", "(0)"),
        *("+49 151 23456789", "(415) 555-2671", "+1 415 555 2671", "4111 1111 1111 1111", "tel: ", "030 1234567"),
        *("DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "123-45-6789", "ssn ", "account no. ", "12345678"),
        *("12 Baker Street", "Lindenstraße 14", "12 rue de la Paix", ", 75002 Paris", "I live at ", "I'm ", "Catholic"),
        *("1", "0", "٣", "é", "我", "\x00", "\ud800", "ß", "İ", "`", "```", "'", "’"),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join))


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4))
@example(["<mail-1> ann@example.com", "<mark-1>", "Ann@example.com"])
def test_every_text_comes_back_exactly_also_after_others_were_replaced(texts: list[str]) -> None:
    names = Pseudonyms()
    replaced = [names.replaced(text) for text in texts]
    assert [names.restored(text) for text in replaced] == texts


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_the_same_text_is_replaced_the_same_way(text: str) -> None:
    names = Pseudonyms()
    assert names.replaced(text) == names.replaced(text) == Pseudonyms().replaced(text)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_a_sensitive_finding_quotes_the_text_where_it_says(text: str) -> None:
    for one in sensitive(text):
        assert 0 <= one.start < one.end <= len(text)
        assert text[one.start : one.end] == one.words
    assert asked_to_remember(text) in (True, False)
