"""Whatever two sides made of one document: nothing that the editor brought is missing from what comes of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.changes.ledger import Edit
from reverie.changes.outside_edits import merge_displaced
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.operation import Add

WORDS = ("staging", "database", "is", "db1", "db2", "money", "decimal", "tuesday", "never", "deploy")
ENTRY = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
ENTRIES = st.lists(ENTRY, max_size=6, unique=True)
FORM: st.SearchStrategy[FormatName] = st.sampled_from(("hermes", "list"))


def made(form: FormatName, entries: list[str]) -> bytes:
    return ("\n§\n".join(entries) if form == "hermes" else "".join(f"- {one}\n" for one in entries)).encode()


@given(form=FORM, base=ENTRIES, ours=ENTRIES, theirs=ENTRIES)
def test_what_an_editor_brought_is_in_the_document_or_offered(
    form: FormatName, base: list[str], ours: list[str], theirs: list[str]
) -> None:
    late = Edit("MEMORY.md", made(form, base), made(form, theirs))
    merged = merge_displaced(form, late, made(form, ours))
    stands = set(FORMATS[form].read(merged.content or b"").entries)
    offered = {one.text for one in merged.open if isinstance(one, Add)}
    assert set(theirs) - set(base) <= stands | offered
    assert set(ours) - set(base) <= stands, "ours stays, whatever the editor did to what was there before"
    assert stands <= {*base, *ours, *theirs}, "nothing is made up"
    again = merge_displaced(form, late, merged.content)
    assert again.content == merged.content, "doing it twice does nothing more"


@given(base=ENTRIES, theirs=ENTRIES)
def test_a_document_that_nobody_else_changed_becomes_what_the_editor_saved(base: list[str], theirs: list[str]) -> None:
    late = Edit("MEMORY.md", made("hermes", base), made("hermes", theirs))
    assert merge_displaced("hermes", late, late.before).content == late.after
