"""Words that are easy to find again, put into everything Reverie keeps, and looked for in every form and file."""

from __future__ import annotations

import base64
import gzip
import html
import json
import quopri
import subprocess
import unicodedata
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, Text, insert, select, update

from reverie.erasure.words import encoded_forms, fold_case
from reverie.storage import schema
from reverie.storage.database import reading_across, writing_across
from reverie.storage.erasure.rows import KINDS, STAY

CANARY = "Zebraquartz-7f3a crêpes"
FORMS = {
    "plain": CANARY,
    "shouted": CANARY.upper(),
    "wrapped": CANARY.replace(" ", "\n   "),
    "quoted": f"“{CANARY}”, she said",
    "in a word": f"x{CANARY}s",
    "json": json.dumps({"a": [CANARY]}),
    "json in json": json.dumps({"a": json.dumps({"b": CANARY})}),
    "base64": base64.b64encode(f"before {CANARY} behind!".encode()).decode(),
    "base64 in text": f"see {base64.b64encode(f'1{CANARY} behind'.encode()).decode()} there",
    "hex": CANARY.encode().hex(),
    "url": f"https://example.com/?q={quote(CANARY)}",
    "html": f"<p title=x>{html.escape(CANARY)}</p>",
}
# As other programs may write it down; each is looked for as it is.
WRITTEN = {
    "url in small letters": quote(CANARY.lower()).replace("%C3%AA", "%c3%aa"),
    "url twice": quote(quote(CANARY)),
    "url, every letter": "".join(f"%{byte:02X}" for byte in CANARY.encode()),
    "json in capitals": json.dumps(CANARY).replace("00ea", "00EA"),
    "json, every letter": "".join(f"\\u{ord(char):04x}" for char in CANARY),
    "html, a name": CANARY.replace("ê", "&ecirc;"),
    "html, numbers": "".join(f"&#{ord(char)};" for char in CANARY),
    "html, hexadecimal": CANARY.replace("ê", "&#xEA;"),
    "mail": quopri.encodestring(CANARY.encode()).decode(),
    "base64 of other letters": base64.b64encode(f"a{CANARY.lower()}!".encode()).decode(),
    "base64 of json": base64.b64encode(json.dumps({"a": CANARY}).encode()).decode(),
    "base64 of UTF-16": base64.b64encode(CANARY.encode("utf-16")).decode(),
    "base64 twice": base64.b64encode(base64.b64encode(f"ab{CANARY}cd".encode())).decode(),
    "base64 in lines": base64.encodebytes(f"words enough for a line to be full, and then {CANARY}".encode()).decode(),
    "base64 behind a path": f"/a/b/{base64.b64encode(CANARY.encode()).decode()}",
    "gzip in base64": base64.b64encode(gzip.compress(CANARY.encode(), mtime=0)).decode(),
    "zlib in hex": zlib.compress(CANARY.encode()).hex(),
    "hex with gaps": CANARY.encode().hex(" "),
    "unseen signs": f"{CANARY[:5]}\u200b{CANARY[5:]}",
    "soft hyphen": f"{CANARY[:5]}\u00ad{CANARY[5:]}",
    "letters with marks beside them": unicodedata.normalize("NFD", CANARY),
    "wide letters": "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in CANARY),
    "one word": CANARY.replace(" ", "").replace("-", ""),
    "underscored": CANARY.replace(" ", "_").replace("-", "_"),
    "spaced out": " ".join(CANARY),
    "quoted lines": CANARY.replace(" ", "\n> "),
    "octal, as git": "".join(char if char.isascii() else "\\303\\252" for char in CANARY),
    "escaped with eight digits": "".join(f"\\U{ord(char):08x}" for char in CANARY),
    "tags between": "<b>Zebraquartz</b>-7f3a <i class='x'>crêpes</i>",
    "UTF-8 misread": CANARY.encode().decode("latin-1"),
    "UTF-8 misread on Windows": CANARY.encode().decode("cp1252"),
    "base32": base64.b32encode(f"a {CANARY} b".encode()).decode(),
}
FORMS |= WRITTEN


def planted(engine: Engine, workspace: str = "local", user: str = "ann") -> int:
    """Into every column of every table that holds words, in every form; rows are made where there are none."""
    count = 0
    forms = list(FORMS.values())
    with writing_across(engine, "upkeep") as connection:
        for table in schema.metadata.sorted_tables:
            if table.name in STAY:
                continue
            key = [column.name for column in table.primary_key.columns]
            if connection.execute(select(table).filter_by(workspace=workspace).limit(1)).first() is None:
                connection.execute(insert(table), _made_up(table, workspace, user))
            row = connection.execute(select(table).filter_by(workspace=workspace).limit(1)).one()._mapping
            names = [c.name for c in table.c if isinstance(c.type, Text) and c.name not in {*key, *KINDS}]
            indexed = {
                column.name for index in table.indexes for column in index.columns
            }  # Postgres takes no long ones
            few = forms[: -len(WRITTEN)]
            values = {name: _with(row[name], few if name in indexed else forms) for name in names}
            if values:
                connection.execute(update(table).filter_by(**{name: row[name] for name in key}).values(**values))
                count += len(values)
    return count


def _made_up(table: Any, workspace: str, user: str) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column in table.c:
        kind = column.type.python_type if not isinstance(column.type, schema.Moment) else None
        row[column.name] = {str: "{}", int: 1, float: 0.5, bool: True, bytes: b"x"}.get(kind) if kind else None
        if kind is None and not column.nullable:
            row[column.name] = schema._EPOCH
    return row | {"workspace": workspace} | ({"user": user} if "user" in table.c else {})


def _with(value: str | None, forms: list[str]) -> str:
    if value and value[:1] == "{":
        return json.dumps(json.loads(value) | {"planted": [*forms, {CANARY: 1}]})
    return f"{value or ''} {' | '.join(forms)}"


def left_in_rows(engine: Engine) -> list[str]:
    """Tables and columns it still stands in, looked for by the crudest means there are."""
    found = []
    with reading_across(engine, "upkeep") as connection:
        for table in schema.metadata.sorted_tables:
            for row in connection.execute(select(table)):
                found += [f"{table.name}.{name}" for name, value in row._mapping.items() if stands_in(value)]
    return found


def stands_in(value: object) -> bool:
    if isinstance(value, bytes | memoryview):
        raw = bytes(value)
        wide = any(CANARY.encode(name) in raw for name in ("utf-16-le", "utf-16-be"))
        return wide or stands_in(raw.decode("utf-8", "replace"))
    if not isinstance(value, str):
        return False
    flat = " ".join(fold_case(value).split())
    parts = ("zebraquartz-7f3a", "zebraquartz")
    forms = (*encoded_forms(CANARY), *WRITTEN.values())
    return any(part in flat for part in parts) or any(form in value for form in forms)


def left_in_files(*folders: Path) -> list[str]:
    """Files whose bytes have it, free pages and logs included; and objects of git, unpacked."""
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink() and stands_in(path.read_bytes()):
                found.append(str(path.relative_to(folder)))
        found += [f"{repository}: {name}" for repository in folder.rglob(".git") for name in _objects(repository)]
    return found


def _objects(repository: Path) -> Iterator[str]:
    git = ["git", "--git-dir", str(repository), "cat-file", "--batch-all-objects", "--unordered", "--batch"]
    said = subprocess.run(git, capture_output=True, check=False).stdout
    if stands_in(said):
        yield "an object"
