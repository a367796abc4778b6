"""Words as the index knows them: `tokens` for what was said, `terms` for what is asked.

Latin words are stemmed in the language their text is in, Cyrillic ones as Russian; identifiers, paths and dates stand
whole and in parts; scripts that write no spaces become pairs of characters. Marks on letters are dropped last, so
that a question typed without accents still finds its answer.

The small words of a language tell which language a text is in and say little about its subject. Light verbs and vague
nouns stand with them, because a question leans on them ("where do I take ...") and any answer may use others. They are
written as they are read here: lower case, contractions without their apostrophe.

Neither stems nor vectors know that "musical instruments" is answered by "my drum set". `kinds.txt` is a small list of
everyday English kinds, written by hand; a question that names a kind is also asked about its members, as one more term
of which the best member counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from threading import Lock

_SMALL_WORDS = {
    "en": """
        a an the and or but if then than so of to in on at by for from with about into over after before between
        during through up down out off again i me my mine we our us you your he him his she her it its they them
        their this that these those who whom whose which what when where why how is am are was were be been being
        have has had do does did done doing will would can could should shall may might must not no nor as there
        here just also very too any some all each other more most such only own same both few many much yes ok
        im ive id ill youre youve hes shes weve were theyre theyve dont doesnt didnt cant couldnt wont wouldnt
        isnt arent wasnt werent havent hasnt shouldnt thats whats theres lets
        get gets got getting go goes went gone going make makes made making take takes took taken taking use uses
        used using want wants need needs like know think thought say says said tell told let put give gave given
        come came see saw seen look find found try tried keep kept way thing things lot really please
    """,
    "de": """
        der die das den dem des ein eine einen einem einer eines und oder aber wenn dass als wie auch nicht kein
        keine ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen mein meine meinen dein deine sein
        seine unser unsere ist bin bist sind seid war waren wird werden wurde wurden hat habe haben hatte hatten
        kann können konnte soll sollte muss müssen will wollen mit von vom zu zum zur in im auf an am aus bei nach
        für über unter um durch gegen ohne vor seit was wer wo wann warum welche welcher welches hier da dort noch
        schon nur sehr so dann denn doch mal bitte machen macht gemacht geht gibt
    """,
    "es": """
        el la los las un una unos unas y e o u pero si que como no ni yo tú tu él ella usted nosotros ellos ellas
        me te se nos lo le les mi mis tus su sus nuestro nuestra de del a al en con por para sin sobre entre desde
        hasta es soy eres somos son era eran fue fueron ser estar está estoy están estaba ha he has han había hay
        qué quién cuál cuáles cuándo cuando dónde donde cómo cuánto cuántos cuántas porque muy más ya también este
        esta estos estas ese esa eso esto aquí hacer hace hizo puede puedo tiene tengo
    """,
    "fr": """
        le la les un une des et ou mais si que qui ne pas ni je tu il elle on nous vous ils elles me te se lui leur
        leurs mon ma mes ton ta tes son sa ses notre nos votre vos ce cet cette ces cest de du au aux à en dans avec
        par pour sans sur sous entre chez depuis est suis es sommes êtes sont était étaient être ai as a avons avez
        ont avait avoir fait faire quoi quel quelle quels quelles quand où comment pourquoi combien quest très plus
        aussi déjà y jai nest peut peux
    """,
    "it": """
        il lo la i gli le un uno una e ed o ma se che chi non né io tu lui lei noi voi loro mi ti si ci vi ne mio
        mia miei mie tuo tua suo sua nostro nostra di del della dello dei delle degli a al alla ai alle da dal dalla
        in nel nella nei nelle con su sul sulla per tra fra è sono sei siamo siete era erano essere ho hai ha abbiamo
        avete hanno aveva avere cosa quale quali quando dove come perché quanto quanti quante molto più anche già
        questo questa questi queste quello quella fare fatto può
    """,
    "nl": """
        de het een en of maar als dat die dit deze niet geen ik jij je u hij zij ze wij we jullie hem haar hen ons
        mij me jou mijn jouw uw zijn onze hun is ben bent was waren wordt worden werd heeft heb hebt hebben had
        hadden kan kunnen kon zal zullen moet moeten wil willen met van te naar in op aan uit bij voor over onder
        om door tegen zonder sinds wat wie waar wanneer waarom welke hoe hier daar nog al ook wel maar heel dan doen
    """,
    "pt": """
        o a os as um uma uns umas e ou mas se que como não nem eu tu ele ela você nós eles elas vocês me te lhe nos
        meu minha meus minhas teu tua seu sua seus suas nosso nossa de do da dos das em no na nos nas ao aos à às
        com por pelo pela para sem sobre entre desde até é sou és somos são era eram foi foram ser estar está estou
        estão estava tem tenho têm tinha há quem qual quais quando onde porque quanto quantos quantas muito mais já
        também este esta estes estas esse essa isso isto aqui fazer faz fez pode posso
    """,
    "ru": """
        и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от
        меня еще нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь вам ведь там потом
        себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе
        под будет тогда кто этот того потому этого какой ним здесь этом почти мой тем чтобы нее были куда зачем всех
        можно при об хоть над наш для это эта эти мы наши
    """,
}

FUNCTION_WORDS: dict[str, frozenset[str]] = {code: frozenset(words.split()) for code, words in _SMALL_WORDS.items()}

SPOKEN_IN: dict[str, tuple[str, ...]] = {
    word: tuple(code for code, words in FUNCTION_WORDS.items() if word in words)
    for word in frozenset().union(*FUNCTION_WORDS.values())
}


ENGLISH = "en"
LATIN = tuple(code for code in FUNCTION_WORDS if code != "ru")
FUNCTION_WEIGHT = 0.2  # a small word may break a tie; between 0 and 0.3 makes no difference to what is found
END = "~"  # after the last character of a run without spaces, so that every character begins some pair
MOST_TERMS = 64  # of a page pasted as a question
_SAMPLE = 80
_LONGEST = 64
_MOST_PIECES = 4
_REMEMBERED = 60_000

_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_JOINED = r"(?:[.'/\\:@-]|,(?=\d{3}(?!\d)))"
_CHUNK = re.compile(rf"[\w{_MARKS}{_SPACELESS}]+(?:{_JOINED}[\w{_MARKS}{_SPACELESS}]+)*")
_ASCII_CHUNK = re.compile(rf"\w+(?:{_JOINED}\w+)*", re.ASCII)
_PIECE = re.compile(rf"[{_SPACELESS}]+|\d+|[A-Z]+(?![a-z])|[A-Z]?(?:(?![\d_A-Z{_SPACELESS}])[\w{_MARKS}])+|[A-Z]")
_APART = re.compile(r"[_.'/\\:@,-]+")
_SPACELESS_RUN = re.compile(rf"[{_SPACELESS}]")
_NUMERIC = re.compile(r"[\d.:/-]+")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_FOLDS = re.compile("[^\x00-\x7f\u0590-\u0fff]")

Stem = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Term:
    """One thing asked for. Any of its `forms` answers it; `word` is how it was written."""

    word: str
    forms: tuple[str, ...]
    weight: float


def tokens(text: str) -> list[str]:
    chunks = _chunks(text)
    known = _memory(_language(chunks))
    found: list[str] = []
    for chunk in chunks:
        found += known[chunk]
    return found


def tokens_of(words: Sequence[str], language: str) -> list[str]:
    """Single words as the index knows them, in a language that is known."""
    return [_token(word, language) for word in words]


def terms(question: str) -> list[Term]:
    """The terms to look for, subjects before small words.

    English is tried beside the language of the question, because code and tools speak it; a question that shows no
    language is looked for as every language would write it.
    """
    chunks = _chunks(question)
    language = _language(chunks)
    languages = tuple(dict.fromkeys((language, ENGLISH))) if _spoken(chunks) else LATIN
    small = FUNCTION_WORDS[language] | FUNCTION_WORDS["ru"]
    found: dict[tuple[str, ...], Term] = {}
    for piece in (piece for chunk in chunks for piece in _pieces(chunk)):
        weight = FUNCTION_WEIGHT if piece.casefold() in small else 1.0
        for forms in _forms(piece, languages):
            found.setdefault(forms, Term(piece, forms, weight))
    asked = sorted(found.values(), key=lambda term: -term.weight)[:MOST_TERMS]
    if all(term.weight < 1 for term in asked):
        return [Term(term.word, term.forms, 1.0) for term in asked]
    return asked


def begins_pairs(form: str) -> bool:
    """One character of a script without spaces, looked for alone: any pair that begins with it answers."""
    return len(form) == 1 and _SPACELESS_RUN.match(form) is not None


def _forms(piece: str, languages: Sequence[str]) -> Iterator[tuple[str, ...]]:
    if _SPACELESS_RUN.match(piece):
        pairs = _pairs(piece)
        yield from ((pair,) for pair in (pairs[:-1] or (piece,)))
    else:
        forms = tuple(dict.fromkeys(_token(piece, language) for language in languages))
        if all(forms):
            yield forms


def _chunks(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_CHUNK.findall(text)
    return _CHUNK.findall(unicodedata.normalize("NFKC", text).replace("’", "'"))


def _spoken(chunks: Sequence[str]) -> Counter[str]:
    return Counter(code for chunk in chunks[:_SAMPLE] for code in SPOKEN_IN.get(chunk.casefold(), ()))


def _language(chunks: Sequence[str]) -> str:
    spoken = _spoken(chunks)
    best = max(LATIN, key=lambda code: spoken[code])
    return best if spoken[best] > spoken[ENGLISH] else ENGLISH


class _Memory(dict[str, tuple[str, ...]]):
    """The tokens of each chunk in one language. Text repeats itself, so almost every lookup is a hit."""

    def __init__(self, language: str) -> None:
        self._language = language

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        made = tuple(token for piece in _pieces(chunk) for token in _tokens(piece, self._language))
        self[chunk] = made
        return made


@cache
def _memory(language: str) -> _Memory:
    return _Memory(language)


def _pieces(chunk: str) -> list[str]:
    """The words of a chunk; an identifier, a path or a date also as it stands."""
    usual = chunk.islower() or chunk.istitle() or chunk.isupper()
    if usual and chunk.isalpha() and not _SPACELESS_RUN.search(chunk):
        return [chunk] if len(chunk) <= _LONGEST else []
    chunk = _unquoted(chunk).replace(",", "")
    if ordinal := _ORDINAL.fullmatch(chunk):
        return [ordinal[1]]
    parts = [piece for part in _APART.split(chunk) for piece in _parts(part)]
    if len(parts) == 1:
        return parts
    shortest = 3 if _NUMERIC.fullmatch(chunk) else 2  # the year of a date, not its day: "10 days" is no date
    told = [part for part in parts if len(part) >= shortest or _SPACELESS_RUN.match(part)]
    hyphenated = "-" in chunk and chunk.replace("-", "").isalpha()
    if hyphenated or len(chunk) > _LONGEST or _SPACELESS_RUN.search(chunk):
        return told or parts
    return [chunk, *told]


def _unquoted(chunk: str) -> str:
    """Possessives and contractions: owner's -> owner, don't -> dont, l'index -> index."""
    if "'" not in chunk:
        return chunk
    first, *rest = chunk.split("'")
    if rest[-1].lower() == "s":
        rest = rest[:-1]
    if rest and len(first) <= 2 and len(rest[-1]) > 2:
        return "".join(rest)
    return "".join((first, *rest))


def _parts(part: str) -> list[str]:
    """camelCase and v2 in parts; what falls into many small parts is a hash or an id and stays whole."""
    if not part:
        return []
    found = _PIECE.findall(part)
    if len(found) <= _MOST_PIECES or _SPACELESS_RUN.search(part):
        return [piece for piece in found if len(piece) <= _LONGEST or _SPACELESS_RUN.match(piece)]
    return [part] if len(part) <= _LONGEST else []


def _pairs(run: str) -> tuple[str, ...]:
    return (*(run[at : at + 2] for at in range(len(run) - 1)), run[-1] + END)


def _tokens(piece: str, language: str) -> tuple[str, ...]:
    if _SPACELESS_RUN.match(piece):
        return _pairs(piece)
    token = _token(piece, language)
    return (token,) if token else ()


def _token(piece: str, language: str) -> str:
    """Empty for a mark that stands on no letter."""
    word = piece.casefold()
    if word.isalpha():
        word = _stem("ru" if _CYRILLIC.match(word) else language)(word)
    return word if word.isascii() else _folded(word)


def _folded(word: str) -> str:
    if not _FOLDS.search(word):
        return word
    return "".join(mark for mark in unicodedata.normalize("NFD", word) if not unicodedata.combining(mark))


@cache
def _stem(language: str) -> Stem:
    import Stemmer

    names = {"en": "english", "de": "german", "es": "spanish", "fr": "french"}
    names |= {"it": "italian", "nl": "dutch", "pt": "portuguese", "ru": "russian"}
    names |= {"sv": "swedish", "no": "norwegian", "da": "danish", "pl": "polish", "cs": "czech", "tr": "turkish"}
    stemmer = Stemmer.Stemmer(names[language], 0)  # without a memory of its own: `_Memory` asks about a chunk once
    one_at_a_time = Lock()

    def stem(word: str) -> str:
        with one_at_a_time:
            return str(stemmer.stemWord(word))

    return stem


MEMBER_WEIGHT = 0.6  # less than the kind itself; well below a half, long technical texts lose a little


def with_members(asked: Sequence[Term]) -> list[Term]:
    """The terms of a question, and for each kind it names one more for what belongs to it."""
    named = {form for term in asked for form in term.forms}
    found = list(asked)
    for term in asked:
        members = next((kinds()[form] for form in term.forms if form in kinds()), ())
        others = tuple(member for member in members if member not in named)
        if others and term.weight == 1:
            found.append(Term(term.word, others, MEMBER_WEIGHT))
    return found


@cache
def kinds() -> dict[str, tuple[str, ...]]:
    """Each name of a kind, and the members of it, all as the index knows them."""
    known: dict[str, tuple[str, ...]] = {}
    for line in (files("reverie.text") / "kinds.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            names, _, members = line.partition(":")
            forms = tuple(dict.fromkeys(tokens_of(members.split(), ENGLISH)))
            for name in tokens_of(names.split(), ENGLISH):
                known.setdefault(name, forms)
    return known
