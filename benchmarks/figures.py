"""How the code reads, in figures: `make figures`.

    python -m benchmarks.figures [FOLDER]

Counts what makes a codebase hard to enter: many files, functions that only one other calls, names with two meanings.
With FOLDER, the same of another package, for comparison; the last rows are of this project alone.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCE, TESTS = ROOT / "src" / "reverie", ROOT / "tests"
_OPENING = re.compile(r"(?:What|Who|How)\b")
_LONGEST_SUBJECT = 72

# What reads language by rule: noticing, checking and curating without a model, relating, and their word files (not the
# tagger's weights and their licence). What search and safety know of words is not counted.
LANGUAGE_RULES = (
    "dreams/light",
    "dreams/verify",
    "dreams/curators/built_in.py",
    "dreams/curators/skills.py",
    "dreams/curators/confirm.py",
    "dreams/words.py",
    "dreams/words.toml",
    "text/relation.py",
    "text/units.py",
    "text/values.py",
    "text/words.py",
)

Named = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _modules(folder: Path) -> dict[Path, str]:
    return {path: path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))}


def _defined(tree: ast.AST) -> Iterator[Named]:
    yield from (node for node in ast.walk(tree) if isinstance(node, Named))


def _lines(modules: dict[Path, str]) -> int:
    return sum(text.count("\n") for text in modules.values())


def _of_package(folder: Path) -> Iterator[tuple[str, object, str]]:
    modules = _modules(folder)
    trees = {path: ast.parse(text) for path, text in modules.items()}
    lines = _lines(modules)
    yield "files in src", len(modules), "≤ 300"
    yield "lines in src", f"{lines:,}", "≤ 38,000"
    yield "private functions used once, per 1,000 lines", round(_used_once(trees) * 1000 / lines, 1), "≤ 6"
    yield "modules whose name ends in -ing", sum(path.stem.endswith("ing") for path in modules), "≤ 20"
    meanings = _several_meanings(trees)
    yield "public names with several meanings", f"{len(meanings)} ({', '.join(meanings[:4])} …)", "0"
    yield "`# fmt: skip`", sum(text.count("# fmt: skip") for text in modules.values()), "≤ 10"
    crowded = Counter(path.parent for path in modules).most_common(3)
    most = ", ".join(f"{place.relative_to(folder.parent)} {number}" for place, number in crowded)
    yield "most files in one folder", most, "≤ 15"
    told = [text for tree in trees.values() for one in _defined(tree) if (text := ast.get_docstring(one))]
    share = sum(bool(_OPENING.match(text)) for text in told) / max(1, len(told))
    yield "docstrings that begin with What, Who or How", f"{share:.0%} of {len(told):,}", "0 new"
    functions = [one for tree in trees.values() for one in _defined(tree) if not isinstance(one, ast.ClassDef)]
    lengths = sorted((one.end_lineno or 0) - one.lineno + 1 for one in functions)
    yield "lines of a function, 95th percentile", lengths[len(lengths) * 95 // 100], "one screen"


def _used_once(trees: dict[Path, ast.Module]) -> int:
    """Private functions at the top of a module that one place in it calls."""
    found = 0
    for tree in trees.values():
        named = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
        private = [one.name for one in tree.body if isinstance(one, ast.FunctionDef) and one.name.startswith("_")]
        found += sum(named[name] == 1 for name in private)
    return found


def _several_meanings(trees: dict[Path, ast.Module]) -> list[str]:
    """Public classes defined in more than one module, and public functions at the top of more than one; commands,
    routes and migrations have the names their frameworks look for."""
    places = Counter(
        one.name
        for tree in trees.values()
        for one in tree.body
        if isinstance(one, ast.ClassDef | ast.FunctionDef) and not one.name.startswith("_")
        if isinstance(one, ast.ClassDef) or not (one.decorator_list or one.name == "upgrade")
    )
    return [name for name, number in places.most_common() if number > 1]


def _of_project() -> Iterator[tuple[str, object, str]]:
    ratio = _lines(_modules(TESTS)) / _lines(_modules(SOURCE))
    yield "test lines per source line", round(ratio, 2), "grows where it counts"
    rules = language_rule_lines()
    most = max(rules, key=lambda place: rules[place])
    yield (
        "lines of language rules, with their word files",
        f"{sum(rules.values()):,} ({most} {rules[most]:,} …)",
        "≤ 3,500",
    )
    functions, files = _passed_through()
    yield "functions a dream of two sessions passes through", f"{functions:,} in {files} files", "half of 1,085"
    told = subprocess.run(["git", "log", "--format=%s"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    subjects = told.splitlines()
    long = sum(len(one) > _LONGEST_SUBJECT for one in subjects)
    yield f"commit subjects over {_LONGEST_SUBJECT} characters", f"{long} of {len(subjects):,}", "0 new"


def language_rule_lines() -> dict[str, int]:
    """Lines of Python and of word files in each place of `LANGUAGE_RULES`."""
    counted = dict[str, int]()
    for place in LANGUAGE_RULES:
        path = SOURCE / place
        below = [each for each in path.rglob("*") if each.suffix in (".py", ".toml", ".txt")]
        files = [path] if path.is_file() else [each for each in below if each.parent.name != "weights"]
        counted[place] = sum(each.read_text("utf-8").count("\n") for each in files)
    return counted


def _passed_through() -> tuple[int, int]:
    """Functions of ours that run while two short sessions are dreamt about, and the files they stand in."""
    import reverie

    seen: set[tuple[str, str]] = set()

    def watch(frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        ours = code.co_filename.startswith(str(SOURCE)) and code.co_flags & inspect.CO_NEWLOCALS
        if event == "call" and ours and not code.co_name.startswith("<"):
            seen.add((code.co_filename, code.co_qualname))
        return None

    said = "From now on please always answer me in French."
    with tempfile.TemporaryDirectory() as folder, reverie.open(folder) as home:
        for number in (1, 2):
            messages = [{"role": "user", "content": said}, {"role": "assistant", "content": "D'accord."}]
            home.sessions.add({"id": f"s{number}", "messages": messages})
        sys.setprofile(watch)
        try:
            home.dream()
        finally:
            sys.setprofile(None)
    return len(seen), len({file for file, _ in seen})


def main() -> None:
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else SOURCE
    rows = [*_of_package(folder), *(_of_project() if folder == SOURCE else ())]
    print(f"{'':52}{'now':44}wanted")
    for name, value, wanted in rows:
        print(f"{name:52}{value!s:44}{wanted}")


if __name__ == "__main__":
    main()
