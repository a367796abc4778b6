"""What is asked in one form is found in another: inflections, languages, identifiers, dates, scripts without spaces."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.text.tokens import FUNCTION_WORDS, MOST_TERMS, begins_pairs, terms, tokens


def _answers(question: str, text: str) -> list[str]:
    """The words of the question that the text answers."""
    said = set(tokens(text))
    return [term.word for term in terms(question) if said & set(term.forms)]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("deploy container", "She deployed the containers on Friday."),
        ("moving databases", "We moved the database."),
        ("owner", "That is the owner's decision."),
        ("servidores", "El servidor nuevo está en la sala de abajo."),
        ("¿Cuándo desplegamos la aplicación?", "Ayer desplegaron las aplicaciones en la nube."),
        ("Datenbank", "Wir haben die Datenbanken gestern umgezogen."),
        ("Wann wurden die Rechnungen bezahlt?", "Die Rechnung ist bezahlt, und zwar seit dem Montag."),
        ("bouteille", "Les bouteilles sont dans la cave, et nous les avons comptées."),
        ("Когда переносили базу?", "Мы переносим базы в пятницу."),
        ("reunion", "La reunión es mañana en la oficina."),
        ("CAFÉ", "the cafe on the corner"),
        ("Ａｐａｃｈｅ", "We put apache in front."),
    ],
)
def test_a_question_finds_its_subject_in_another_form(question: str, text: str) -> None:
    subject = [term.word for term in terms(question) if term.weight == 1]
    assert set(subject) <= set(_answers(question, text))


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("parse_config", "Look at parse_config in the module."),
        ("config", "Look at parse_config in the module."),
        ("ParseConfig", "class ParseConfig:"),
        ("parse", "class ParseConfig:"),
        ("HTTPServer", "An HTTPServer listens."),
        ("server", "An HTTPServer listens."),
        ("src/shop/cart.py", "Edited src/shop/cart.py twice."),
        ("cart", "Edited src/shop/cart.py twice."),
        ("cart.py", "Edited cart.py twice."),
        ("anna@example.org", "Write to anna@example.org."),
        ("3.11", "Python 3.11 is required."),
        ("2026-05-12", "The freeze is on 2026-05-12."),
        ("2026", "The freeze is on 2026-05-12."),
        ("12400", "They paid 12,400 for it."),
        ("5", "On May 5th we met."),
        ("e3b0c44298fc1c149afbf4c8996fb924", "digest e3b0c44298fc1c149afbf4c8996fb924 ok"),
    ],
)
def test_identifiers_paths_numbers_and_dates_are_found_whole_and_in_parts(asked: str, written: str) -> None:
    assert _answers(asked, written)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("数据库什么时候迁移？", "我们上周迁移了数据库。", "明天开会讨论预算。"),
        ("会議はいつですか", "次の会議は金曜日です。", "猫が好きです。"),
        ("ประชุมเมื่อไหร่", "เราจะประชุมวันศุกร์", "แมวชอบปลา"),
        ("회의는 언제", "회의가 금요일에 있다", "고양이를 좋아한다"),
    ],
)
def test_scripts_without_spaces_are_compared_by_pairs_of_characters(question: str, answer: str, other: str) -> None:
    assert len(_answers(question, answer)) > len(_answers(question, other))


def test_a_single_chinese_character_begins_a_pair_wherever_it_stands() -> None:
    (term,) = terms("库")
    assert begins_pairs(term.forms[0])
    for text in ("库存不足", "数据库", "入库了"):
        assert any(token.startswith("库") for token in tokens(text))
    assert not begins_pairs("я") and not begins_pairs("a")


def test_words_beside_chinese_keep_their_own_form() -> None:
    assert "python" in tokens("用Python写的代码")


def test_the_small_words_of_a_question_weigh_little_unless_there_are_no_others() -> None:
    weights = {term.word: term.weight for term in terms("Where did we put the invoices?")}
    assert weights["invoices"] == 1
    assert max(weight for word, weight in weights.items() if word != "invoices") < 0.5
    assert {term.weight for term in terms("who did what")} == {1.0}


def test_a_page_pasted_as_a_question_keeps_its_subjects() -> None:
    page = " ".join(FUNCTION_WORDS["en"]) + " pottery lighthouse marmalade"
    assert {"pottery", "lighthouse", "marmalade"} <= {term.word for term in terms(page)}
    assert len(terms(" ".join(str(number) for number in range(5000)))) == MOST_TERMS


def test_a_question_in_german_finds_english_words_of_tools() -> None:
    assert "packages" in _answers(
        "Wann haben wir die packages installiert?", "Building wheels for collected package: ok"
    )


def test_a_small_word_of_another_language_is_a_subject_in_english() -> None:
    """`die`, `son` and `war` are articles and verbs elsewhere."""
    weights = {term.word: term.weight for term in terms("Did her son die in the war?")}
    assert weights["son"] == weights["die"] == weights["war"] == 1


def test_a_long_blob_leaves_no_trace_and_takes_no_time() -> None:
    assert tokens("A" * 1_000_000) == []
    assert tokens("see " + "x1" * 50_000 + " here") == ["see", "here"]


def test_text_without_words_has_no_tokens() -> None:
    assert tokens("") == [] == tokens(" \n\t … --- !!! 🙂")
    assert terms("?!") == []


@given(st.text(max_size=300))
def test_any_text_becomes_tokens_an_index_can_hold(text: str) -> None:
    for token in tokens(text):
        assert token and not any(character.isspace() for character in token)
    assert tokens(text) == tokens(text)


def test_importing_the_language_room_loads_nothing_heavy() -> None:
    script = (
        "import sys, reverie.search.search; print([m for m in ('numpy', 'Stemmer', 'tantivy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
