"""The house itself: layers, exports, where the environment is read, what importing costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import reverie

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "reverie"
MODULES = sorted(SOURCE.rglob("*.py"))


def test_the_public_surface_is_a_sorted_list_of_names_that_exist() -> None:
    assert reverie.__all__ == sorted(reverie.__all__)
    assert all(hasattr(reverie, name) for name in reverie.__all__)


def test_only_config_reads_the_environment() -> None:
    def reads(path: Path) -> bool:
        names = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute))
        return any(node.attr in ("environ", "environb", "getenv") for node in names)

    assert [path for path in MODULES if reads(path)] == [
        SOURCE / "config.py",
        SOURCE / "integrations/hermes/host.py",  # runs inside Hermes, and hands its environment on
    ]


def test_every_room_says_what_comes_in_what_goes_out_and_what_it_never_does() -> None:
    for room in (path.parent for path in SOURCE.glob("*/__init__.py")):
        said = ast.get_docstring(ast.parse((room / "__init__.py").read_text())) or ""
        assert "never" in said.lower() or room.name == "cli", f"{room.name}/__init__.py"


def test_importing_reverie_loads_nothing_heavy() -> None:
    heavy = "{'sqlalchemy', 'alembic', 'numpy', 'tantivy', 'wordllama', 'rich', 'psycopg', 'click'}"
    code = f"import sys, reverie; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_home_with_a_model_in_its_settings_loads_no_provider_before_it_is_asked(tmp_path: Path) -> None:
    heavy = "{'pydantic_ai', 'openai', 'anthropic', 'httpx2', 'genai_prices', 'sqlalchemy', 'numpy'}"
    opened = f"reverie.open({str(tmp_path)!r}, settings={{'model': 'openai:x'}}).close()"
    code = f"import sys, reverie; {opened}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_line_starts_without_the_database_or_the_index() -> None:
    heavy = "{'sqlalchemy', 'alembic', 'numpy', 'tantivy', 'wordllama', 'rich'}"
    code = f"import sys, reverie.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_except_is_silent_and_nothing_is_mocked() -> None:
    silent = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ExceptHandler) and all(isinstance(b, ast.Pass) for b in node.body):
                silent.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert silent == []
    assert not [path for path in (ROOT / "tests").rglob("*.py") if "unittest" + ".mock" in path.read_text()]


def test_no_code_compares_or_searches_sentences_to_decide() -> None:
    """A reason is an enum, rendered in one place: what is written for people is not read by code."""
    told = {"reason", "why", "note", "message", "found", "sentence"}
    compared = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
                sides = [node.func.value, *node.args]
            if any(isinstance(one, ast.Attribute) and one.attr in told for one in sides) and any(
                isinstance(one, ast.Constant) and isinstance(one.value, str) and " " in one.value for one in sides
            ):
                compared.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert compared == []


def test_transactions_begin_where_they_say_in_which_workspace() -> None:
    """On Postgres a transaction that does not say it sees no rows. What touches none of ours may begin by itself."""
    may = {
        "app/home.py",
        "cli/begin.py",
        "storage/upkeep.py",
        "storage/database.py",
        "storage/dreams/leases.py",
        "storage/store_target.py",
    }
    begins = []
    for path in MODULES:
        if str(path.relative_to(SOURCE)) in may:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                on = ast.unparse(node.func.value)
                if node.func.attr in ("begin", "connect") and ("engine" in on or "reading" in on):
                    begins.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert begins == [], "use reading(engine, scope) or writing(engine, scope) of storage/database.py"
