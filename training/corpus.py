"""Sentences with their English, out of the translations that Debian's packages bring along, and a vocabulary for them.

usage: corpus.py --list CONTENTS...              which packages to fetch, by Debian's files Contents-*.gz
       corpus.py --packages FOLDER --out FOLDER  writes pairs.xz and tokenizer.json

`--packages` holds the unpacked packages, one folder each (`apt-get download`, `dpkg-deb -x`). Read are messages of
programs and games (.mo), help pages of GNOME and LibreOffice, and the dictionaries of FreeDict. Nothing of them ships:
`base.py` learns from the pairs where a sentence of another language belongs.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import lzma
import random
import re
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from multiprocessing import Pool
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

HERE = Path(__file__).parent
LANGUAGES = "de fr es it pt nl pl sv da nb fi cs hu tr ru uk el ja ko zh ca hr sl sk ro id vi ar eu hi".split()  # noqa: SIM905
WELL_KNOWN = {"de", "fr", "es", "it", "pt", "nl", "pl", "sv", "ja"}  # twice as many of these
OTHERWISE = {"pt_BR": "pt", "pt-BR": "pt", "zh_CN": "zh", "zh-CN": "zh", "pt_PT": "pt"}
ISO = {
    **{"deu": "de", "fra": "fr", "spa": "es", "ita": "it", "por": "pt", "nld": "nl", "pol": "pl", "swe": "sv"},
    **{"dan": "da", "nor": "nb", "fin": "fi", "ces": "cs", "hun": "hu", "tur": "tr", "rus": "ru", "ell": "el"},
    **{"jpn": "ja", "hrv": "hr", "slv": "sl", "slk": "sk", "ind": "id", "ara": "ar", "hin": "hi"},
}
TOLD = re.compile(  # games and programs whose messages are told in whole sentences of everyday life
    r"wesnoth|cataclysm|ufoai|freeciv|warzone|widelands|horizons|gcompris|gnumed|tuxpaint|kmymoney|gramps|homebank"
    r"|recipe|anki|freecol|naev|singularity|colobot|lordsawar|evolution|gnome-user"
)
ONE_IN = 6  # of the other packages' messages
SENTENCES, WORDS = 40_000, 8_000  # of a language
FEWEST_LANGUAGES = 14
PIECES, TRAINED = 54_000, 46_000  # of the vocabulary in all, and of the one that is learnt for the other languages
LONGEST = 380  # characters
_TAG = re.compile(r"<[^>]{0,200}>|\^\w+|\[/?[a-z_]+=?[^\]]*\]")
_KEY = re.compile(r"(?<!\w)[_&~](?=\w)|(?<=\w)[_&](?=\w)|\(&\w\)|\(_\w\)")
_WHOLE = re.compile(r'^[A-Z][^\n]{20,}[.!?…]["”]?$')
Pairs = dict[str, str]


def packages(contents: Iterable[Path]) -> Iterator[str]:
    """Those with messages in many languages, and the help and dictionaries that are packages of their own."""
    found, named = (
        defaultdict[str, set[str]](set),
        re.compile(r"dict-freedict-|libreoffice-(?:help|l10n)-|wesnoth-[\d.]+-"),
    )
    for path in contents:
        with gzip.open(path, "rt", errors="replace") as lines:
            for line in lines:
                where, _, holders = line.rstrip().rpartition(" ")
                told = re.search(r"/([a-z]{2}(?:_[A-Z]{2})?)/(?:LC_MESSAGES/\S+\.mo|\S+\.page)$", where.strip())
                for one in holders.split(","):
                    name = one.rpartition("/")[2]
                    if named.match(name):
                        found[name].update(LANGUAGES)
                    elif told:
                        found[name].add(OTHERWISE.get(told[1], told[1]))
    return (name for name, some in sorted(found.items()) if len(some & set(LANGUAGES)) >= FEWEST_LANGUAGES)


def clean(text: str) -> str:
    """Without markup and without the marks of keys."""
    text = html.unescape(_TAG.sub(" ", text.replace("\\n", " ")))
    if " " in text and text.count("_") + text.count("&") == 1:
        text = re.sub(r"(\w)[_&](\w)", r"\1\2", text)
    return re.sub(r"\s+", " ", _KEY.sub("", text)).strip()


def is_text(english: str, other: str) -> bool:
    letters = [sum(sign.isalpha() for sign in one) / max(1, len(one)) for one in (english, other)]
    sized = 2 < len(english) < 500 and 1 < len(other) < 600 and letters[0] >= 0.6 and letters[1] >= 0.45
    code = "://" in english or "{" in english or "--" in english or english.count("%") > 1 or english.startswith("-")
    return sized and not code and english.lower() != other.lower()


def messages(path: Path) -> Iterator[tuple[str, str]]:
    """Of a compiled catalogue."""
    raw = path.read_bytes()
    order = "<" if raw[:4] == b"\xde\x12\x04\x95" else ">"
    try:
        count, first, second = struct.unpack_from(order + "3I", raw, 8)
        for number in range(count):
            (long, at), (other_long, other_at) = (
                struct.unpack_from(order + "2I", raw, begin + 8 * number) for begin in (first, second)
            )
            english = raw[at : at + long].split(b"\x04")[-1].split(b"\0")[0].decode()
            yield english, raw[other_at : other_at + other_long].split(b"\0")[0].decode()
    except (UnicodeDecodeError, struct.error):
        return  # some are broken


def of_package(folder: Path) -> dict[str, Pairs]:
    found, told = defaultdict[str, Pairs](dict), TOLD.search(folder.name)
    for path in folder.rglob("*.mo"):
        named = re.search(r"/([a-z]{2,3}(?:[_-][A-Za-z]{2,4})?)(?:@\w+)?/(?:LC_MESSAGES/)?[^/]+\.mo$", str(path))
        language = OTHERWISE.get(named[1], named[1]) if named else ""
        if language not in LANGUAGES or path.stat().st_size < 8_000 or "iso_639" in path.name or "3166-2" in path.name:
            continue
        for english, other in messages(path):
            by_chance = zlib.crc32(english.encode())  # the same messages in every language
            if (not told and (by_chance % ONE_IN or english.count(" ") < 3)) or (len(english) < 8 and by_chance % 4):
                continue
            pair = clean(english), clean(other)
            if is_text(*pair):
                found[language].setdefault(*pair)
    return dict(found)


def office_help(folder: Path) -> dict[str, Pairs]:
    """Paragraphs of LibreOffice's help have one name in all languages."""
    paragraph = re.compile(r'<(?:p|h\d)[^>]* id="([^"]+)"[^>]*>(.*?)</(?:p|h\d)>', re.DOTALL)

    def read(name: str) -> dict[tuple[str, str], str]:
        paths = folder.glob(f"libreoffice-help-{name}/**/*.html")
        return {
            (str(path).partition("/text/")[2], each[0]): clean(each[1])
            for path in paths
            for each in paragraph.findall(path.read_text("utf-8", errors="ignore"))
        }

    english, found = read("en-us"), dict[str, Pairs]()
    for language in LANGUAGES:
        names = {"pt": ("pt", "pt-br"), "zh": ("zh-cn",)}.get(language, (language,))
        pairs = ((english.get(key, ""), other) for name in names for key, other in read(name).items())
        found[language] = {one: other for one, other in pairs if len(one) > 25 and is_text(one, other)}
    return found


def pages(folder: Path) -> dict[str, Pairs]:
    """Help pages with as many paragraphs in another language as in English."""
    found = defaultdict[str, Pairs](dict)

    def read(path: Path) -> list[str]:
        text = path.read_text("utf-8", errors="ignore")
        return [clean(one) for one in re.findall(r"<(?:p|title|desc)\b[^>]*>(.*?)</(?:p|title|desc)>", text, re.DOTALL)]

    for path in folder.glob("*/usr/share/help/C/**/*.page"):
        english = read(path)
        for language in LANGUAGES:
            there = Path(str(path).replace("/help/C/", f"/help/{language}/"))
            other = read(there) if there.exists() else []
            if len(english) == len(other):
                found[language].update(pair for pair in zip(english, other, strict=True) if is_text(*pair))
    return found


def dictionaries(folder: Path, chance: random.Random) -> dict[str, list[tuple[str, str]]]:
    found = defaultdict[str, list[tuple[str, str]]](list)
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

    def number(coded: str) -> int:
        return sum(digits.index(sign) << (6 * place) for place, sign in enumerate(reversed(coded)))

    for path in sorted(folder.glob("dict-freedict-*/usr/share/dictd/*.dict.dz")):
        first, second = path.name.removeprefix("freedict-").partition(".")[0].split("-")
        language = ISO.get(second if first == "eng" else first)
        if language is None:
            continue
        whole = gzip.decompress(path.read_bytes())
        lines = path.with_name(path.name.replace(".dict.dz", ".index")).read_text("utf-8").splitlines()
        for line in chance.sample(lines, min(len(lines), 40_000)):
            word, begin, long = line.split("\t")[:3]
            told = whole[number(begin) : number(begin) + number(long)].decode("utf-8", "ignore").split("\n")[1:]
            said = (re.sub(r"<[^>]*>|\([^)]*\)|\[[^\]]*\]|/[^/]*/", "", one).strip(" \t0123456789.") for one in told)
            meaning = re.split(r"[,;]", next((one for one in said if one), ""))[0].strip()
            if 1 < len(meaning) < 60 and 1 < len(word) < 60 and not word.startswith("00"):
                found[language].append((word, meaning) if first == "eng" else (meaning, word))
    return found


def gathered(folder: Path) -> list[tuple[str, str, str]]:
    """English, language, sentence: of each language those that are most like what people say."""
    chance, found = random.Random(7), defaultdict[str, dict[str, tuple[str, float]]](dict)

    def add(some: dict[str, Pairs], worth: float) -> None:
        for language, pairs in some.items():
            for english, other in pairs.items():
                found[language].setdefault(english, (other, worth))

    folders = sorted(one for one in folder.iterdir() if one.is_dir())
    with Pool() as pool:
        for path, some in zip(folders, pool.imap(of_package, folders, chunksize=4), strict=True):
            add(some, 0.6 if TOLD.search(path.name) else 0.0)
    add(office_help(folder), 0.1)
    add(pages(folder), 0.1)

    def worth(english: str, of_source: float) -> float:
        words = len(english.split())
        value = chance.random() + of_source + 0.8 * bool(_WHOLE.match(english)) - 1.2 * (words < 2)
        return value - 0.5 * (words > 45) - 0.8 * bool(re.search("[%/_]", english))

    words, chosen = dictionaries(folder, chance), list[tuple[str, str, str]]()
    for language, pairs in sorted(found.items()):
        most = SENTENCES * (2 if language in WELL_KNOWN else 1)
        best = sorted(pairs.items(), key=lambda pair: -worth(pair[0], pair[1][1]))[:most]
        chosen += [(english, language, other[:LONGEST]) for english, (other, _) in best if len(english) < LONGEST]
        some = words.get(language, [])
        chosen += [(english, language, other) for english, other in chance.sample(some, min(len(some), WORDS))]
    return sorted(chosen)


def vocabulary(pairs: list[tuple[str, str, str]], old: dict[str, Any]) -> dict[str, Any]:
    """The teacher's tokenizer, with pieces of other languages' words beside its own, and reading marks on letters."""
    by_language, chance = defaultdict[str, list[str]](list), random.Random(1)
    for _, language, text in pairs:
        by_language[language].append(text)
    lines = [one for texts in by_language.values() for one in chance.sample(texts, min(len(texts), 14_000))]
    for path in sorted((HERE / "data").glob("*.jsonl")):
        rows = map(json.loads, path.read_text("utf-8").splitlines())
        said = (row.get(name, "") for row in rows for name in ("text", "turn", "old", "new"))
        lines += [one for one in said if not one.isascii()] * 3
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(strip_accents=False, lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=TRAINED, min_frequency=4, limit_alphabet=5_500, special_tokens=["[UNK]"], show_progress=False
    )
    made.train_from_iterator(lines, trainer)
    known = old["model"]["vocab"]
    kept = {word: place for word, place in known.items() if not word.startswith("[unused")}
    free = [*sorted(place for word, place in known.items() if word not in kept), *range(len(known), PIECES)]
    fresh = [word for word, _ in sorted(made.get_vocab().items(), key=lambda one: one[1]) if word not in kept]
    kept.update(zip(fresh, free, strict=False))
    kept.update((f"[unused{place}]", place) for place in set(free) - set(kept.values()))
    old["model"]["vocab"] = dict(sorted(kept.items(), key=lambda one: one[1]))
    old["normalizer"]["strip_accents"] = False
    return old | {"truncation": None, "padding": None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, nargs="+")
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--teacher", type=Path, help="the folder of all-MiniLM-L6-v2")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    if asked.list:
        print(*packages(asked.list), sep="\n")
        return
    if not (asked.packages and asked.teacher and asked.out):
        parser.error("say where the packages and the teacher are, and where to write: --packages --teacher --out")
    pairs = gathered(asked.packages)
    print(f"{len(pairs):,} pairs in {len(LANGUAGES)} languages, {len({one for one, *_ in pairs}):,} of them English")
    with lzma.open(asked.out / "pairs.xz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs)
    tokens = vocabulary(pairs, json.loads((asked.teacher / "tokenizer.json").read_text("utf-8")))
    (asked.out / "tokenizer.json").write_text(json.dumps(tokens, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    main()
