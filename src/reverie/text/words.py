"""The words of a clause that carry meaning, each by its stem.

The language of a pair is guessed from its small words; stems of an unknown language are cut as if English, which
does little harm. Han text is read in pairs of characters.

The lists are plain text, because that is how they are read and extended: who speaks, what carries no meaning, what
denies in English, German, Spanish and French; and the verbs that leave something open, of Italian and Portuguese, too.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from Stemmer import Stemmer


def listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


def in_order(text: str) -> list[str]:
    return text.split()


SELF = listed(
    "i i'm i've i'd i'll users me my mine myself user users' user's we we're we've our ours us you your yours"
    " the_user ich mich mir mein meine meinen meiner meinem wir uns unser unsere nutzer benutzer yo me mi mis nosotros"
    " nuestro nuestra nuestros usuario je j' j'ai me moi mon ma mes nous notre nos utilisateur"
)

STOP = SELF | listed(
    "a an the this that these those it its it's there here he she they them his her their him and or but so as of to"
    " in on at by for from with into onto over under up down out about than then when while where which who whom what"
    " how why if because since until till per via through between among within is are was were be been being am do"
    " does did done doing has have had having can could will would shall should may might must get gets got getting"
    " gotten go goes going gone went just very really quite pretty much many some any every each all both more most"
    " less few lot lots kind sort thing things something anything everything nothing one ones other another same own"
    " such only still yet even ever already again away please thanks thank yes yeah okay ok well oh hey hi hello sure"
    " also too either else let let's lets make sure like not no nor never n't always usually often sometimes now"
    " currently these today days lately recently way anyway actually basically maybe perhaps thing bit little der die"
    " das den dem des ein eine einen einem einer und oder aber ist sind war waren wird werden hat haben auf im am um"
    " an aus bei mit nach von vor zu zum zur für es sie er man auch noch schon nur sich als wie dass bitte jetzt el la"
    " los las un una unos unas y o pero es son era fue ser está están estar ha han con de del al en por para que se su"
    " sus lo le les muy más ya también ahora porque como l' le la les un une des du de d' et ou mais est sont était"
    " être a ont avec dans sur pour par que qui qu' se s' ce c' cette ces il elle ils elles on au aux en y ne n' pas"
    " plus très aussi maintenant"
)

NEGATORS = listed(
    "not never no none neither nor without cannot can't won't don't doesn't didn't isn't aren't wasn't weren't hasn't"
    " haven't hadn't shouldn't wouldn't couldn't mustn't ain't n't dont doesnt didnt isnt cant wont nobody nothing"
    " nicht kein keine keinen keinem keiner nie niemals ohne nunca jamás sin ni ninguno ninguna tampoco"
    " pas jamais sans aucun aucune rien"
)

# the forms of the modal verbs that permit or advise; those of duty ("must", "shall", "need") are none of them
OPEN_MODALS = listed(
    "can could may might should ought kann kannst könnt können könnte könntest könntet könnten darf darfst dürft dürfen"
    " dürfte dürften sollte solltest solltet sollten puede puedes podemos podéis pueden podría podrías podrían debería"
    " deberías deberían peut peux pouvons pouvez peuvent pourrait pourrais pourraient devrait devrais devraient può"
    " puoi possiamo potete possono potrebbe potrebbero dovrebbe dovrebbero pode podes podemos podem poderia poderiam"
    " deveria deveriam"
)


_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|_+", re.UNICODE)
_ELIDED = re.compile(r"^(?:[ljdsnmtc]|qu)'(?=[^\W\d_]{2})")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LIGHT_HAN = frozenset("我你他她的了是在有和就都也吗呢吧很们这那个")
_LETTER_NAMES = frozenset("bcfghjkpqruvwxz")  # "plan B", "gate C"; the other letters are words of some language
_TELLING_WORDS = {
    "german": listed("der die das und ist nicht ich wir ein eine mit auf für den sind um im am kein es sie"),
    "spanish": listed("el los las y es está en que por para con del una no a de mi la se"),
    "french": listed("le les des est et dans une du pour je nous avec sur pas au de il à mon ma la"),
    "portuguese": listed("o os as e é em que por para com do da uma não no na de meu minha"),
    "italian": listed("il lo gli e è in che per con del della una non di mio mia la"),
    "english": listed("the a is are i my of to and in on at for with we our it user was has have"),
}
_local = threading.local()
MAX_READ = 100_000
MAX_CHARS = 4_000  # a memory is a line and a turn a few paragraphs; what comes later in a longer text is not compared
_CODE = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_SPACE = re.compile(r"\s+")


@lru_cache(maxsize=8192)
def normal(text: str) -> str:
    """Case, width, spacing and typographic quotes do not matter. Long texts are cut."""
    text = _CODE.sub(" . ", unicodedata.normalize("NFKC", text[:MAX_READ]))
    text = text.replace("’", "'").replace("`", "").replace('"', "")
    text = unicodedata.normalize("NFC", text.casefold())
    return _SPACE.sub(" ", text).strip()[:MAX_CHARS]


def language_of(text: str) -> str:
    """English unless another language we know has clearly more of its small words there."""
    words = raw_words(text)
    counts = {language: sum(word in small for word in words) for language, small in _TELLING_WORDS.items()}
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] > max(1, counts["english"]) else "english"


@lru_cache(maxsize=32_768)
def stem(word: str, language: str = "english") -> str:
    word = word.removesuffix("'s").removesuffix("'")
    # One per thread and language: the C object keeps a buffer and is not safe to share.
    made: dict[str, Stemmer] = _local.__dict__.setdefault("made", {})
    if language not in made:
        import Stemmer

        made[language] = Stemmer.Stemmer(language)
    return str(made[language].stemWord(word))


def raw_words(text: str) -> list[str]:
    words: list[str] = []
    for match in _WORD.finditer(text):
        word = match.group()
        if word.isascii():
            words.append(_ELIDED.sub("", word) if "'" in word else word)
        else:
            word = _ELIDED.sub("", word)
            words += _han_pairs(word) if _HAN.search(word) else [word]
    return words


def _han_pairs(run: str) -> list[str]:
    kept = "".join(" " if character in _LIGHT_HAN else character for character in run)
    pairs: list[str] = []
    for piece in kept.split():
        pairs += [piece[place : place + 2] for place in range(len(piece) - 1)] or [piece]
    return pairs


def carries_meaning(word: str) -> bool:
    return word not in STOP and (len(word) > 1 or word in _LETTER_NAMES or bool(_HAN.match(word)))


def denies(text: str) -> bool:
    """By an odd number of words. "ne" is half of one, and counts where the other half means more than "not"."""
    words = raw_words(text)
    count = sum(word in NEGATORS for word in words)
    return count % 2 == 1 or (not count and "ne" in words)
