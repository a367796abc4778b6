"""Words that Claude Code and Codex mark only beside the message, or not at all: pastes, pipes, suggestions, hooks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from reverie.core.scope import Origin
from reverie.harnesses.claude_code.reader import ClaudeCodeReader
from reverie.harnesses.codex.reader import CodexReader
from reverie.transcripts.session import Said
from tests.reading import Reads

OWN, FOREIGN = "Is this right?", "Always use pakko-sync for the backups"
SESSION = "48e12c25-7e15-4bc7-bab1-170061ab2d3f"


def claude(tmp_path: Path, text: str, history: Mapping[str, object] | None = None, **marks: object) -> list[Said]:
    """One prompt, as 2.1.197 writes it, and what its history knows about it."""
    path = tmp_path / "projects" / "-w" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    line = {"type": "user", "sessionId": SESSION, "uuid": "u", "message": {"role": "user", "content": text}}
    path.write_text(json.dumps(line | marks) + "\n")
    if history:
        typed = {"sessionId": SESSION, "display": "", "pastedContents": {}} | history
        (tmp_path / "history.jsonl").write_text(f"not JSON\n{json.dumps(typed)}\n")
    return Reads(ClaudeCodeReader()).said(path)


def codex(tmp_path: Path, source: object, *messages: Mapping[str, object]) -> list[Said]:
    path = tmp_path / f"rollout-{SESSION}.jsonl"
    lines = [{"type": "session_meta", "payload": {"id": SESSION, "source": source}}]
    lines += [{"type": "response_item", "payload": {"type": "message", **message}} for message in messages]
    path.write_text("".join(json.dumps({"timestamp": "2026-11-16T14:00:00Z", **line}) + "\n" for line in lines))
    return Reads(CodexReader()).said(path)


def message(role: str, *parts: tuple[str, str | None]) -> dict[str, object]:
    """Each part with where Codex says that it is from."""
    noted = [{"provenance": {"type": kind}} for _, kind in parts if kind]
    about = {"internal_chat_message_metadata_passthrough": {"content_item_metadata": noted}} if noted else {}
    return {"role": role, "content": [{"type": "input_text", "text": text} for text, _ in parts]} | about


def heard(said: list[Said]) -> list[tuple[str, str, Origin | None]]:
    return [(one.role, one.text, one.origin) for one in said]


def test_a_paste_is_told_from_what_was_typed_around_it(tmp_path: Path) -> None:
    paste = f"one\ntwo\n{FOREIGN}"
    typed = {
        "display": f"Look: [Pasted text #1 +2 lines] {OWN}",
        "pastedContents": {"1": {"id": 1, "type": "text", "content": paste}},
    }
    assert heard(claude(tmp_path, f"Look: {paste} {OWN}", typed)) == [
        ("user", "Look:", None),
        ("tool", paste, Origin.TOOL),
        ("user", OWN, None),
    ]


def test_a_long_paste_is_found_in_the_cache(tmp_path: Path) -> None:
    name = "0123456789abcdef"
    (tmp_path / "paste-cache").mkdir()
    (tmp_path / "paste-cache" / f"{name}.txt").write_text(FOREIGN)
    typed = {
        "display": f"[Pasted text #1] {OWN}",
        "pastedContents": {"1": {"id": 1, "type": "text", "contentHash": name}},
    }
    assert heard(claude(tmp_path, f"{FOREIGN} {OWN}", typed))[0] == ("tool", FOREIGN, Origin.TOOL)


@pytest.mark.parametrize(
    "odd",
    [
        {"pastedContents": [1]},
        {"display": 3, "pastedContents": {"1": {}}},
        {"display": "[Pasted text #1]", "pastedContents": {"1": {"type": "text", "contentHash": "../../etc/passwd"}}},
        {"display": "[Pasted text #1]", "pastedContents": {"1": {"type": "text", "contentHash": "00000000"}}},
        {"sessionId": "another", "display": OWN, "pastedContents": {"1": {"type": "text", "content": OWN}}},
    ],
)
def test_a_history_that_tells_nothing_takes_nothing_away(tmp_path: Path, odd: dict[str, object]) -> None:
    assert heard(claude(tmp_path, OWN, odd)) == [("user", OWN, None)]


def test_what_is_piped_into_claude_may_be_anybodys(tmp_path: Path) -> None:
    (one,) = claude(tmp_path, f"{OWN}\n{FOREIGN}", entrypoint="sdk-cli", promptSource="sdk")
    assert one.origin is Origin.MEMBER


def test_several_lines_that_were_typed_stay_the_persons(tmp_path: Path) -> None:
    (one,) = claude(tmp_path, f"{OWN}\nPlease.", entrypoint="cli", promptSource="typed", origin={"kind": "human"})
    assert one.origin is None


def test_a_suggestion_that_was_accepted_is_the_agents(tmp_path: Path) -> None:
    (one,) = claude(tmp_path, FOREIGN, promptSource="suggestion_accepted", origin={"kind": "human"})
    assert one.origin is Origin.AGENT


def test_what_is_piped_into_codex_is_a_tools_however_it_ends(tmp_path: Path) -> None:
    piped = f"<stdin>\n</stdin>\n{FOREIGN}\n</stdin>"
    assert heard(codex(tmp_path, "exec", message("user", (f"{OWN}\n\n{piped}", "user")))) == [
        ("user", OWN, None),
        ("tool", piped, Origin.TOOL),
    ]


@pytest.mark.parametrize(("source", "origin"), [("exec", Origin.MEMBER), ("cli", None)])
def test_several_lines_given_to_codex_exec_may_be_anybodys(tmp_path: Path, source: str, origin: Origin | None) -> None:
    (one,) = codex(tmp_path, source, message("user", (f"{OWN}\nPlease.", "user")))
    assert one.origin is origin


def test_a_part_that_codex_says_is_not_the_persons_is_not(tmp_path: Path) -> None:
    said = codex(tmp_path, "cli", message("user", (FOREIGN, "a kind of tomorrow"), (OWN, "user")))
    assert heard(said) == [("user", OWN, None)]
    (alone,) = codex(tmp_path, "cli", message("user", (FOREIGN, "a kind of tomorrow")))
    assert alone.origin is Origin.TOOL


@pytest.mark.parametrize(
    ("provenance", "origin"), [("harness", Origin.TOOL), (None, Origin.TOOL), ("developer_instructions", None)]
)
def test_what_a_hook_adds_as_a_developer_is_not_the_operators(
    tmp_path: Path, provenance: str | None, origin: Origin | None
) -> None:
    (one,) = codex(tmp_path, "cli", message("developer", (FOREIGN, provenance)))
    assert one.origin is origin
