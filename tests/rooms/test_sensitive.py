"""A statement about a person is sensitive; a text about the same subject is not."""

import subprocess
import sys

import pytest

from reverie.safety.sensitive import KINDS, Sensitive, asked_to_remember, sensitive

SAID = [
    ("health", "I was diagnosed with Hashimoto's in 2019"),
    ("health", "Mr Halvorsen from room 9 has hepatitis C"),
    ("health", "Halvorsen, room 9, hepatitis C, refused the medication again."),
    ("health", "The boy next door has epilepsy."),
    ("health", "Frau Meier aus Zimmer 3 hat Diabetes."),
    ("health", "La paciente de la habitación 3 tiene diabetes."),
    ("health", "Mevrouw De Vries van kamer 8 heeft kanker."),
    ("health", "my sister is in rehab"),
    ("health", "User is coeliac"),
    ("health", "Has type 2 diabetes."),
    ("health", "I’m on lithium"),
    ("religion", "I'm Catholic"),
    ("religion", "User keeps kosher"),
    ("sexuality", "he's gay"),
    ("politics", "I vote green"),
    ("politics", "My uncle is a card-carrying communist"),
    ("location", "my home address is 4 Mill Lane"),
    ("location", "We live at 12 Baker Street, London"),
    ("credentials", "the code is 7 and my PIN is 4921"),
    ("finances", "I earn 85k a year"),
    ("finances", "my wife is deep in debt"),
    ("relations", "I'm going through a divorce"),
    ("relations", "my husband cheated on me"),
    ("health", "Ich habe Zöliakie"),
    ("politics", "Ich wähle die Linke"),
    ("health", "soy celíaca"),
    ("relations", "me divorcié en mayo"),
    ("health", "je suis enceinte"),
    ("religion", "je suis musulmane"),
    ("health", "tenho depressão"),
    ("sexuality", "sono gay"),
    ("finances", "ik heb schulden"),
    ("health", "我有糖尿病"),
    ("relations", "我离婚了"),
    ("health", "私はうつ病です"),
    ("religion", "ムスリムなので豚肉は食べません"),
]

NOT_SAID = [
    "write a unit test for the diabetes model",
    "the church website project",
    "the health check endpoint returns 503",
    "Debt: tech debt sprint",
    "the depression of the 1930s cut output by a third",
    "I'm religious about commit messages",
    "I'm allergic to meetings",
    "if I had cancer, would the policy pay?",
    "When the user is diabetic, show the banner",
    "Write a story in which my sister is in rehab",
    "What does coeliac mean?",
    "my diabetes dataset has 900 rows",
    "I voted for option B",
    "I'm conservative with timeouts",
    "the password is required",
    "my address is ann@example.com",
    "I live in Berlin",
    "I owe you an answer",
    "divorce the view from the model",
    "the label reads `I have diabetes`",
    "Das Passwort ist falsch",
    "el modelo de diabetes",
    "le mot de passe est incorrect",
    "糖尿病数据集",
    "糖尿病モデル",
]

ASKED = [
    "please remember that I'm coeliac",
    "Remember: my sister is in rehab",
    "Remember that I vote green.",
    "can you remember that I'm diabetic?",
    "don't forget I'm allergic to nuts",
    "keep in mind that I'm Muslim",
    "Add this to your memory: I'm coeliac",
    "merk dir, dass ich Zöliakie habe",
    "Bitte vergiss nicht, dass ich schwanger bin",
    "recuerda que soy celíaca",
    "souviens-toi que je suis enceinte",
    "N'oublie pas que je suis diabétique",
    "lembre-se de que sou diabético",
    "ricordati che sono celiaca",
    "onthoud dat ik diabetes heb",
    "请记住我对花生过敏",
    "私は卵アレルギーです。覚えておいて",
]

NOT_ASKED = [
    "do you remember that I'm coeliac?",
    "I can't remember my password",
    "I remember when I was diagnosed",
    "I'm coeliac",
    "add a remember me checkbox to the login form",
    "how do I remember the order of the planets",
    "On another note, I'm coeliac",
    "And remember, I'm always here for you",
    "Remember when the church burned down?",
    "erinnerst du dich an meine Diagnose?",
    "¿recuerdas que soy celíaca?",
    "tu te souviens de moi ?",
    "你还记得我的名字吗？",
    "覚えていますか",
]


@pytest.mark.parametrize(("kind", "text"), SAID)
def test_what_is_said_about_a_person_is_found(kind: str, text: str) -> None:
    assert kind in {one.kind for one in sensitive(text)}


@pytest.mark.parametrize("text", NOT_SAID)
def test_what_is_about_a_subject_is_not(text: str) -> None:
    assert sensitive(text) == ()


@pytest.mark.parametrize("text", ASKED)
def test_asking_for_it_to_be_remembered_is_heard(text: str) -> None:
    assert asked_to_remember(text)


@pytest.mark.parametrize("text", NOT_ASKED)
def test_speaking_of_remembering_is_not_asking(text: str) -> None:
    assert not asked_to_remember(text)


def test_a_finding_says_what_where_and_in_which_words() -> None:
    assert sensitive("Hi. I'm Catholic and I like tea.") == (Sensitive("religion", 4, 16, "I'm Catholic"),)


def test_one_text_can_say_several_things_in_order() -> None:
    found = sensitive("I'm Jewish. I was diagnosed with lupus. We're getting divorced.")
    assert [one.kind for one in found] == ["religion", "health", "relations"]
    assert set(KINDS) >= {one.kind for one in found}


def test_importing_safety_loads_no_table() -> None:
    modules = ("tomllib", "reverie.safety.sensitive")
    code = f"import sys, reverie.safety; print(*(name in sys.modules for name in {modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


def test_a_text_made_to_be_slow_is_not() -> None:
    code = (
        "import time; from reverie.safety.sensitive import asked_to_remember, sensitive\n"
        "for piece in ('I ', 'my ', 'I am very ', 'a', 'Aaa ', 'I have a ', 'the password ', '我', '私は', '`'):\n"
        "    text, start = piece * (20_000 // len(piece)), time.perf_counter()\n"
        "    sensitive(text); asked_to_remember(text)\n"
        "    assert time.perf_counter() - start < 8, piece\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
