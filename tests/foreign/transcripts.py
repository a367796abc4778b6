"""Transcripts in which a harness put somebody else's words into a user turn, as each agent's own source writes them.

Every one is a file that its reader reads. `{r}` is the planted sentence, which is always one line: what is worst.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from reverie.harnesses.chat_exports import OpenAIChatReader
from reverie.harnesses.claude_code.reader import ClaudeCodeReader
from reverie.harnesses.codex.reader import CodexReader
from reverie.harnesses.gemini_cli import GeminiCliReader
from reverie.harnesses.hermes.reader import HermesReader
from reverie.harnesses.openclaw.reader import OpenClawReader
from reverie.harnesses.opencode import OpencodeReader
from reverie.transcripts.messages import PlainReader
from reverie.transcripts.readers import Reader

Shape = Mapping[str, Any]
AT = "2026-06-08T10:00:00Z"
READERS: Mapping[str, Reader] = {
    "claude-code": ClaudeCodeReader(),
    "codex": CodexReader(),
    "openai": OpenAIChatReader(),
    "gemini-cli": GeminiCliReader(),
    "hermes": HermesReader(),
    "openclaw": OpenClawReader(),
    "opencode": OpencodeReader(),
    "plain": PlainReader(),
}


def _lines(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), "utf-8")
    return path


def _claude_code(folder: Path, number: int, shape: Shape) -> Path:
    session = f"0f0f0f0f-0000-4000-8000-{number:012d}"
    about = {"sessionId": session, "uuid": f"u{number}", "timestamp": AT, "cwd": "/w", **shape.get("line", {})}
    if "queued" in shape:
        queued = {"type": "queued_command", "commandMode": "prompt", **shape["queued"]}
        line = {"type": "attachment", **about, "attachment": queued}
    else:
        line = {"type": "user", **about, "message": {"role": "user", "content": shape["content"]}}
    return _lines(folder / "projects" / "-w" / f"{session}.jsonl", line)


def _codex(folder: Path, number: int, shape: Shape) -> Path:
    name = f"0f0f0f0f-0000-4000-8000-{number:012d}"
    meta = {"id": name, "timestamp": AT, "cwd": "/w", "source": "cli", **shape.get("meta", {})}
    parts = [{"type": "input_text", "text": text} for text in shape["parts"]]
    said = {"type": "message", "role": "user", "content": parts, **shape.get("item", {})}
    path = folder / f"rollout-2026-06-08T10-00-00-{name}.jsonl"
    return _lines(
        path,
        {"timestamp": AT, "type": "session_meta", "payload": meta},
        {"timestamp": AT, "type": "response_item", "payload": said},
    )


def _openai(folder: Path, number: int, shape: Shape) -> Path:
    message = {"id": "m", "author": {"role": "user"}, "content": {"content_type": "text"}, "create_time": 1.0, **shape}
    mapping = {
        "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
        "a": {"id": "a", "message": message, "parent": "root", "children": []},
    }
    return _lines(
        folder / f"conversations-{number}.json", [{"id": f"c{number}", "mapping": mapping, "current_node": "a"}]
    )


def _gemini_cli(folder: Path, number: int, shape: Shape) -> Path:
    head = {"sessionId": f"s{number}", "projectHash": "x", "startTime": AT, "kind": "main"}
    said = {"id": "m1", "timestamp": AT, "type": "user", **shape}
    return _lines(folder / "chats" / f"session-{number}.jsonl", head, said)


def _hermes(folder: Path, number: int, shape: Shape) -> Path:
    path = folder / f"h{number}" / "state.db"
    path.parent.mkdir(parents=True)
    about = {"source": "cli", "chat_type": "dm", **shape.get("session", {})}
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE sessions (id TEXT, source TEXT, chat_type TEXT, started_at REAL)")
        database.execute("CREATE TABLE messages (session_id TEXT, role TEXT, content TEXT, timestamp REAL)")
        row = (f"s{number}", about["source"], about["chat_type"], 1.0)
        database.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", row)
        database.execute("INSERT INTO messages VALUES (?, 'user', ?, 1.0)", (f"s{number}", shape["content"]))
    return path


def _openclaw(folder: Path, number: int, shape: Shape) -> Path:
    home = folder / "agents" / "main" / "sessions"
    header = {"type": "session", "version": 3, "id": f"s{number}", "timestamp": AT, "cwd": "/w"}
    message = {"role": "user", "content": shape["content"], **shape.get("message", {})}
    path = _lines(home / f"s{number}.jsonl", header, {"type": "message", "timestamp": AT, "message": message})
    if key := shape.get("key"):
        (home / "sessions.json").write_text(json.dumps({key: {"sessionId": f"s{number}"}}))
    return path


def _opencode(folder: Path, number: int, shape: Shape) -> Path:
    path = folder / f"opencode-{number}.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT)")
        database.execute("CREATE TABLE message (id TEXT, session_id TEXT, data TEXT)")
        database.execute("CREATE TABLE part (id TEXT, message_id TEXT, data TEXT)")
        row = (f"s{number}", shape.get("parent"), "/nowhere", shape.get("title"))
        database.execute("INSERT INTO session VALUES (?, ?, ?, ?)", row)
        data = {"role": "user", **shape.get("message", {})}
        database.execute("INSERT INTO message VALUES ('m', ?, ?)", (f"s{number}", json.dumps(data)))
        for place, part in enumerate(shape["parts"]):
            database.execute("INSERT INTO part VALUES (?, 'm', ?)", (f"p{place}", json.dumps(part)))
    return path


def _plain(folder: Path, number: int, shape: Shape) -> Path:
    return _lines(folder / f"{number}.json", {"id": f"p{number}", "messages": [{"role": "user", **shape}]})


WRITERS: Mapping[str, Callable[[Path, int, Shape], Path]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "openai": _openai,
    "gemini-cli": _gemini_cli,
    "hermes": _hermes,
    "openclaw": _openclaw,
    "opencode": _opencode,
    "plain": _plain,
}


def _text(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": one} for one in texts]


R = "{r}"
CLAUDE_CODE: Mapping[str, Shape] = {
    "a prompt that a timer woke": {
        "content": R,
        "line": {"wakeupSource": "scheduled_task_fire", "promptSource": "typed"},
    },
    "a prompt of a scheduled task": {"content": R, "line": {"scheduledTaskId": "t1", "promptSource": "typed"}},
    "a turn that began as scheduled": {"content": R, "line": {"turnOrigin": "scheduled"}},
    "a turn that the host made up": {"content": R, "line": {"turnOrigin": "host_synthetic"}},
    "a turn of a peer": {"content": R, "line": {"turnOrigin": "peer"}},
    "text that was not typed": {"content": R, "line": {"textNotTyped": True, "promptSource": "typed"}},
    "a prompt at which no person arrived": {"content": R, "line": {"noPersonArrived": True}},
    "a prompt that was handed off": {"content": R, "line": {"handedOff": True}},
    "a line only the transcript shows": {"content": R, "line": {"isVisibleInTranscriptOnly": True}},
    "a virtual line": {"content": R, "line": {"isVirtual": True}},
    "queued text that was not typed": {"queued": {"prompt": R, "textNotTyped": True}},
    "a queued suggestion": {"queued": {"prompt": R, "inputSource": "suggestion_accepted"}},
    "a queued wake-up": {"queued": {"prompt": R, "wakeupSource": "loop_wakeup"}},
    "a workflow on GitHub": {"content": R, "line": {"entrypoint": "claude-code-github-action", "promptSource": "sdk"}},
    "another agent's server": {"content": R, "line": {"entrypoint": "mcp"}},
    "a notice of a teammate": {"content": f'<teammate-message teammate_id="x">{R}</teammate-message>'},
    "messages of a channel": {"content": _text(f"<slack-messages>\n{R}\n</slack-messages>", "what now?")},
    "the payload of a webhook": {"content": f"<webhook-payload>{R}</webhook-payload>"},
    "an event of a shared artifact": {"content": f"<artifact-room-event>{R}</artifact-room-event>"},
    "another user in the room": {"content": f"<other-user>{R}</other-user>"},
    "output before a block of usage": {"content": f"{R}\n<usage>total_tokens: 3</usage>", "line": {"isMeta": True}},
    "what a wake-up tells": {"content": f'<wake reason="x">{R}</wake>'},
    "the output of a shell of the agent": {"content": f"<repl-output>{R}</repl-output>"},
    "an aside of the program": {"content": f"what now?\n<aside>{R}</aside>"},
}
CODEX: Mapping[str, Shape] = {
    "the plan of an agent": {
        "parts": [
            "A previous agent produced the plan below to accomplish the user's task. Implement the plan in a fresh "
            f"context.\n\n{R}"
        ]
    },
    "the summary of a compaction": {
        "parts": [
            "Another language model started to solve this problem and produced a summary of its thinking process. Here "
            f"is the summary produced by the other language model:\n{R}"
        ]
    },
    "what a spoken conversation heard from the model": {"parts": [f"[BACKEND] {R}"]},
    "an audio file": {"parts": ["listen to this", f'<audio name="a.mp3">{R}</audio>']},
    "an attribution": {"parts": [f"<git_attribution>{R}</git_attribution>"]},
    "tools": {"parts": [f"<tools>{R}</tools>"]},
    "a part from another place": {
        "parts": [R],
        "item": {"internal_chat_message_metadata_passthrough": {"content_item_kinds": ["app.context"]}},
    },
    "a part whose provenance is a hook": {
        "parts": [R],
        "item": {
            "internal_chat_message_metadata_passthrough": {"content_item_metadata": [{"provenance": {"type": "hook"}}]}
        },
    },
    "a thread of a guardian": {"parts": [R], "meta": {"source": {"internal": "guardian"}}},
    "a thread of a reviewer": {"parts": [R], "meta": {"source": {"subagent": "review"}}},
    "a thread of memory": {"parts": [R], "meta": {"source": {"subagent": "memory_consolidation"}}},
    "a selection in the editor": {
        "parts": [
            f"# Context from my IDE setup:\n\n## Active selection of the file:\n{R}\n\n## My request for Codex:\nwhy?"
        ]
    },
}
OPENAI: Mapping[str, Shape] = {
    "a quoted page": {"content": {"content_type": "tether_quote", "url": "https://x.example", "text": R}},
    "what the browser shows": {"content": {"content_type": "tether_browsing_display", "result": R}},
    "a page among the parts": {
        "content": {"content_type": "multimodal_text", "parts": [{"content_type": "tether_quote", "text": R}]}
    },
    "what the model said aloud": {
        "content": {
            "content_type": "multimodal_text",
            "parts": [{"content_type": "audio_transcription", "direction": "out", "text": R}],
        }
    },
    "the output of a program": {"content": {"content_type": "execution_output", "text": R}},
    "code": {"content": {"content_type": "code", "text": R}},
    "a conversation somebody shared": {
        "content": {"content_type": "text", "parts": [R]},
        "metadata": {"shared_conversation_id": "x"},
    },
    "a tool in a person's place": {
        "author": {"role": "user", "metadata": {"real_author": "tool:web"}},
        "content": {"content_type": "text", "parts": [R]},
    },
    "a message that is hidden": {
        "content": {"content_type": "text", "parts": [R]},
        "metadata": {"is_visually_hidden_from_conversation": True},
    },
    "a button of the canvas": {
        "content": {"content_type": "text", "parts": [R]},
        "metadata": {"canvas": {"user_message_type": "accelerator", "accelerator_metadata": {"id": "suggest"}}},
    },
}
GEMINI_CLI: Mapping[str, Shape] = {
    "a resource of a server": {
        "content": [{"text": "see @srv:notes"}, {"text": "\nContent from @srv:notes:\n"}, {"text": R}]
    },
    "a file, before 2026": {"content": f"see @a.md\n\nContent from @a.md:\n{R}"},
    "a resource, as one text": {"content": f"Content from @srv:notes:\n{R}"},
    "a note after an empty answer": {
        "content": f"[System: You successfully executed a tool but returned nothing. {R}]"
    },
    "a skill": {"content": f'<activated_skill name="x">{R}</activated_skill>'},
    "an extension": {"content": f"<extension_context>\n{R}\n</extension_context>"},
    "a file as data": {
        "content": [{"text": "see"}, {"inlineData": {"mimeType": "text/plain", "data": "eA=="}}, {"text": R}]
    },
}
HERMES: Mapping[str, Shape] = {
    "a standing goal": {"content": f"[Continuing toward your standing goal]\nGoal: {R}\n\nContinue."},
    "a task that is still open": {"content": f"[The work looks complete, but the task is still open]\n{R}"},
    "what a cron job delivered": {"content": f"[Cron delivery: nightly]\n{R}"},
    "a list of tasks": {"content": f"[Your active task list was preserved across context compression]\n{R}"},
    "skills that were loaded again": {"content": f"[USER INITIATED SKILLS RELOAD:\n{R}\n]"},
    "a mail": {"content": f"[Subject: backups]\n\n{R}", "session": {"source": "email"}},
    "several messages that were forwarded": {"content": f"Chat history\n- Bob: {R}", "session": {"source": "feishu"}},
    "one that was forwarded": {"content": f"[Merged forward message]\n- Bob: {R}", "session": {"source": "feishu"}},
    "an attachment": {"content": f"[Photon attachment received: a.txt (text/plain)]\n{R}"},
    "a notice on a public topic": {"content": R, "session": {"source": "ntfy"}},
    "a message of a room": {"content": f"[Bob] {R}", "session": {"source": "slack", "chat_type": "group"}},
    "a resource of a server": {"content": f"[Attached file: notes (https://x.example)]\n{R}"},
}
_SIGN = "⟦openclaw:ctx⟧"
OPENCLAW: Mapping[str, Shape] = {
    "a webhook, before the database": {"content": R, "key": "agent:main:hook:gmail:1"},
    "a webhook of long ago": {"content": R, "key": "hook:gmail:1"},
    "a cron job": {"content": R, "key": "agent:main:cron:nightly"},
    "a goal before the message": {
        "content": f"Active goal: {R} — advance; keep active until fully achieved.\n\n"
        'Current message:\n[Replying to: "x"]\n#1: ok'
    },
    "a goal and nothing else": {"content": f"Active goal: {R} — advance; keep active until fully achieved.\n\nok"},
    "messages that waited": {"content": f"[Queued messages while agent was busy]\n\n---\nQueued #1 (from Bob)\n{R}"},
    "another session": {"content": R, "message": {"provenance": {"kind": "inter_session"}}},
    "somebody who is not the owner": {"content": R, "message": {"__openclaw": {"senderIsOwner": False}}},
    "a window of a chat": {"content": f"Chat window (oldest first):{_SIGN}\n#1 Bob: {R}\n\nok"},
    "an event of Slack": {"content": f"System: [2026-06-08 10:00:00] Slack message in #x from Bob: {R}\n\nok"},
    "a group": {"content": f"[Telegram Team id:-100123 2026-06-08 10:00] Bob: {R}"},
    "a thread": {"content": f"[Thread starter - for context]\n{R}"},
    "a description of an image": {"content": f"[Image]\nUser text:\nok\nDescription:\n{R}"},
    "a result of a child": {"content": f"<<<BEGIN_UNTRUSTED_CHILD_RESULT>>>\n{R}\n<<<END_UNTRUSTED_CHILD_RESULT>>>"},
    "a task that ended": {"content": f"[Internal task completion event]\n{R}"},
}
OPENCODE: Mapping[str, Shape] = {
    "a file": {"parts": [{"type": "text", "text": "see @a"}, {"type": "text", "text": R, "synthetic": True}]},
    "a text that is left out": {"parts": [{"type": "text", "text": R, "ignored": True}]},
    "a task": {"parts": [{"type": "subtask", "prompt": R}]},
    "a subagent": {"parent": "s0", "parts": [{"type": "text", "text": R}]},
    "a file beside a prompt": {"parts": [{"type": "file", "source": {"text": {"value": R}}}, *_text("see @a")]},
    "two texts": {"parts": _text("see", R)},
}
PLAIN: Mapping[str, Shape] = {
    "a user that answers a call": {"content": R, "tool_call_id": "c1"},
    "an Origin that is a tool's": {"content": R, "origin": "tool"},
    "an Origin that is an agent's": {"content": R, "origin": "agent"},
    "a message marked synthetic": {"content": R, "synthetic": True},
    "a message marked as the harness's": {"content": R, "isMeta": True},
    "a part marked synthetic": {"content": [{"type": "text", "text": R, "synthetic": True}]},
    "a part marked as a tool's": {"content": [{"type": "text", "text": R, "origin": "tool"}]},
    "a page among the parts": {"content": [{"type": "search_result", "content": _text(R)}, *_text("why?")]},
    "a document": {"content": [{"type": "document", "source": {"type": "text", "data": R}}, *_text("why?")]},
    "two parts": {"content": _text("why?", R)},
    "a memory": {"content": f"<memory-context>{R}</memory-context>"},
    "a quoted message of Hermes": {"content": f'[Replying to: "{R}"]\n\nok'},
    "an attached context": {"content": f"ok\n\n--- Attached Context ---\n\n{R}"},
    "another name": {"content": R, "name": "fetcher"},
    "a function": {"content": R, "role": "function"},
}
# What the person typed or said themselves, in the same formats: nothing of it may be taken from them.
OWN: Mapping[str, Mapping[str, Shape]] = {
    "claude-code": {
        "typed": {"content": R, "line": {"turnOrigin": "human", "promptSource": "typed", "entrypoint": "cli"}},
        "typed while the agent worked": {"queued": {"prompt": R, "promptSource": "typed", "textNotTyped": False}},
        "given to a program": {"content": R, "line": {"turnOrigin": "sdk", "entrypoint": "sdk-cli"}},
    },
    "codex": {"typed": {"parts": [R]}},
    "openai": {
        "typed": {"content": {"content_type": "text", "parts": [R]}, "metadata": {"canvas": {}}},
        "said aloud": {
            "content": {
                "content_type": "multimodal_text",
                "parts": [{"content_type": "audio_transcription", "direction": "in", "text": R}],
            }
        },
    },
    "gemini-cli": {
        "typed": {"content": R},
        "typed beside a picture": {"content": [{"text": R}, {"inlineData": {"mimeType": "image/png", "data": "eA=="}}]},
        "typed, and files with it": {"content": [{"text": R}, {"text": "x"}], "displayContent": [{"text": R}]},
    },
    "hermes": {"typed": {"content": R}, "sent": {"content": R, "session": {"source": "telegram"}}},
    "openclaw": {"typed": {"content": R}, "sent": {"content": f"[Telegram Ann id:12 2026-06-08 10:00] {R}"}},
    "opencode": {"typed": {"parts": _text(R)}},
    "plain": {"typed": {"content": R}, "named": {"content": R, "origin": "operator"}, "parts": {"content": _text(R)}},
}
SHAPES: Mapping[str, Mapping[str, Shape]] = {
    "claude-code": CLAUDE_CODE,
    "codex": CODEX,
    "openai": OPENAI,
    "gemini-cli": GEMINI_CLI,
    "hermes": HERMES,
    "openclaw": OPENCLAW,
    "opencode": OPENCODE,
    "plain": PLAIN,
}


def planted(value: Any, rule: str) -> Any:
    """The shape with the rule in it."""
    if isinstance(value, str):
        return value.replace(R, rule)
    if isinstance(value, Mapping):
        return {key: planted(one, rule) for key, one in value.items()}
    return [planted(one, rule) for one in value] if isinstance(value, list) else value


def written(harness: str, shape: Shape, rule: str, folder: Path, number: int) -> Path:
    return WRITERS[harness](folder, number, planted(shape, rule))
