"""What harnesses write inside the text of a message: words put into a person's message (pages, files, quoted messages,
descriptions, notes of their own), and in an answer thoughts, calls, and how a call ended.

A Form says how such a block begins and ends. `told_apart` splits a message into what the person wrote and what was put
there; the second becomes a turn of its own with Origin `tool`. The forms of each harness, from its own source, stand
after it, with the version that writes them; `docs/foreign-text.md` lists them for people.

A block may hold anything, also something that looks like its own end. So a block ends at the *last* place that could
be its end, and one without an end takes all that follows: rather words of the person are not counted as theirs than
words of a stranger are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reverie.core.scope import Origin
from reverie.transcripts.json_streams import parsed_beginning, string_or_none
from reverie.transcripts.messages import arguments_text
from reverie.transcripts.session import Said, ToolCall

_VISIBLE = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Form:
    """The way a harness writes one kind of foreign block.

    It stands before the person's words, or with `anywhere` at any place. Without `closes` it takes the rest of the
    message. `within`: the harness cuts it to so many characters, so that its end is not looked for beyond. `first`: it
    holds nothing foreign that could look like its end (a file's name, an id), and ends at the first. Not `kept`: it
    only tells what was open or who wrote, and is left out of the transcript. `paired`: what is never closed is no such
    block, but somebody speaking of one.
    """

    name: str
    opens: re.Pattern[str]
    closes: re.Pattern[str] | None = None
    anywhere: bool = False
    within: int | None = None
    first: bool = False
    kept: bool = True
    paired: bool = False

    def end(self, text: str, opened: re.Match[str]) -> int:
        if self.closes is None:
            return len(text)
        limit = len(text) if self.within is None else min(len(text), opened.end() + self.within)
        ends = (found.end() for found in self.closes.finditer(text, opened.end(), limit))
        return next(ends, len(text)) if self.first else max(ends, default=len(text))


def tag_block(name: str, label: str | None = None) -> Form:
    """A block between `<name …>` and `</name>`, wherever it stands."""
    opens = re.compile(rf"<{name}(?:\s[^<>]{{0,400}})?>")
    return Form(label or name, opens, re.compile(rf"</{name}>\s*"), anywhere=True, paired=True)


def tags(names: str) -> tuple[Form, ...]:
    return tuple(map(tag_block, names.split()))


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of a message. `form` is None where the person wrote it."""

    text: str
    form: Form | None = None


def told_apart(text: str, forms: Iterable[Form]) -> list[MessagePart]:
    """The message as the person's parts and the harness's, in order. Whitespace between them is nobody's."""
    leading, anywhere = list[Form](), list[Form]()
    for form in forms:
        (anywhere if form.anywhere else leading).append(form)
    pieces, place = list[MessagePart](), 0
    while place < len(text):
        start = found.start() if (found := _VISIBLE.search(text, place)) else len(text)
        opened = next(((form, found) for form in leading if (found := form.opens.match(text, start))), None)
        if opened is None:
            break
        place = opened[0].end(text, opened[1])
        pieces.append(MessagePart(text[start:place].strip(), opened[0]))
    return [*pieces, *_among(text, place, anywhere)]


def _among(text: str, place: int, forms: list[Form]) -> Iterator[MessagePart]:
    """Each form is looked for once up to where it stands next, so that a message of many blocks is read in one pass."""
    forms = [one for one in forms if not (one.paired and one.closes and not one.closes.search(text, place))]
    ahead = [(form, found) for form in forms if (found := form.opens.search(text, place))]
    while place < len(text):
        ahead = [
            (form, again)
            for form, found in ahead
            if (again := found if found.start() >= place else form.opens.search(text, place))
        ]
        form, found = min(ahead, key=lambda one: one[1].start(), default=(None, None))
        start = found.start() if found else len(text)
        if own := text[place:start].strip():
            yield MessagePart(own)
        if form is None or found is None:
            return
        place = form.end(text, found)
        yield MessagePart(text[start:place].strip(), form)


def said_apart(message: Said, forms: Iterable[Form]) -> list[Said]:
    """The message, or its parts: the person's as they were, the others as a tool's. One that is not the person's at
    all, or holds nothing foreign, stays as it is."""
    if message.role != "user" or message.origin is Origin.TOOL:
        return [message]
    pieces = told_apart(message.text, forms)
    return in_pieces(message, pieces) if any(piece.form for piece in pieces) else [message]


def in_pieces(message: Said, pieces: Iterable[MessagePart]) -> list[Said]:
    return [
        replace(message, text=piece.text)
        if piece.form is None
        else Said("tool", piece.text, name=piece.form.name, at=message.at, noise=message.noise, origin=Origin.TOOL)
        for piece in pieces
        if piece.text and (piece.form is None or piece.form.kept)
    ]


_R = re.compile
_NOTE_ENDS = _R(r"\](?:\n+|\s*\Z)")
_REPLY_CHARS = 520  # Hermes quotes at most 500 characters of the message that is answered

# hermes-agent 0.19: `gateway/run.py` (the inbound message, its enrichment), `agent/context_references.py`,
# `agent/skill_commands.py`, `acp_adapter/server.py`, and the adapters of the platforms.
HERMES = (
    Form(
        "quoted message",
        _R(r'\[Replying to(?: your previous message)?: "'),
        _R(r'"\](?:\n\n|\s*\Z)'),
        within=_REPLY_CHARS,
    ),
    Form("quoted message", _R(r"\[引用(?:媒体)?[:\]]"), _R(r"\]\n|\]\s*\Z")),
    Form(
        "image description",
        _R(r"\[The user (?:sent an image~ Here's what I can see|attached an image\. Here's what it contains):\n"),
        _R(r"\[If you need a closer look, use vision_analyze with image_url: [^\n]*\]\s*"),
    ),
    Form("sticker", _R(r"\[The user sent a sticker\b"), _R(r"\(=\^\.w\.\^=\)\]\s*")),
    Form("location", _R(r"\[The user shared a location pin\.\]")),
    Form("attachment note", _R(r"\[(?:The user|User) (?:sent|attached|attempted to send)\b"), _NOTE_ENDS, first=True),
    Form(
        "attachment note",
        _R(r"\[(?:voice message could not be transcribed|Voice channel now:)"),
        _NOTE_ENDS,
        first=True,
    ),
    Form(
        "gateway note",
        _R(r"\[(?:Triggering message id|Slack app context|Note: model was just switched)\b"),
        _NOTE_ENDS,
        first=True,
    ),
    Form("forwarded message", _R(r"\[Merged forward message\]")),
    Form("attachment note", _R(r"\[Photon \w+ received: ")),
    Form("gateway note", _R(r"\[(?:Session was just handed off from CLI|Home Assistant\]|Delivered from )")),
    Form(
        "skill",
        _R(r"\[IMPORTANT: The user has invoked the .*?The full skill content is loaded below\.\]"),
        _R(r"The user has provided the following instruction alongside the skill invocation: "),
    ),
    Form("thread", _R(r"\[Thread context — prior messages in this thread"), _R(r"\n\[End of thread context\]\s*")),
    Form("channel", _R(r"\[Recent channel messages\]|(?s:.+?\n\n(?=\[New message\]\n))"), _R(r"\[New message\]\n")),
    Form("attached file", _R(r"(?m)^(?:\[[^\[\]\n]{1,80}\] )?\[Content of [^\]\n]{0,1000}\]:\n"), anywhere=True),
    Form("attached file", _R(r"(?m)^\[Attached file: [^\]\n]{0,1000}\]"), anywhere=True),
    Form("attached context", _R(r"(?m)^--- (?:Attached Context|Context Warnings) ---$"), anywhere=True),
    Form("message payload", _R(r"(?m)^\[Slack Block Kit payload for this message\]$"), anywhere=True),
    Form("shared card", _R(r"(?m)^\[(?:share_card|link): "), anywhere=True),
    Form("gateway note", _R(r"(?m)^\[(?:Runtime note: |Replied-to \w+ ')"), anywhere=True),
)

# @anthropic-ai/claude-code 2.1: the tags the program itself lists, those in which it wraps what others sent, and what
# it says around a message of another agent.
CLAUDE_CODE = (
    Form(
        "agent message", _R(r"(?:Another Claude session|The coordinator) sent a message(?: while you were working)?:\n")
    ),
    *tags(
        """
        system-reminder ide_opened_file ide_selection ide_diagnostics new-diagnostics bash-input bash-stdout
        bash-stderr bash-exit-code command-stdout command-stderr local-command-stdout local-command-stderr
        local-command-caveat user-prompt-submit-hook post-tool-use-hook task-notification remote-review
        remote-review-progress teammate-message cross-session-message agent-message channel fork-boilerplate tick
        ultraplan mcp-resource persisted-output tool_use_error webhook-payload slack-messages artifact-room-event
        other-user wake repl-output aside coordinator-task
        """
    ),
)

# codex-rs 0.166: `core/src/context/`, `protocol/src/protocol.rs`, `tui/src/ide_context/prompt.rs`, `exec/src/lib.rs`.
CODEX = (
    Form("editor", _R(r"# Context from my IDE setup:"), _R(r"## My request for Codex:\s*"), kept=False),
    Form("instructions", _R(r"# AGENTS\.md instructions"), _R(r"</INSTRUCTIONS>\s*")),
    Form(
        "agent message",
        _R(r"(?:A previous agent produced the plan below|Another language model started to solve this problem)\b"),
    ),
    Form("agent message", _R(r"\[BACKEND\] ")),
    Form("external context", _R(r"<external_[\w-]+(?:\s[^<>]{0,400})?>"), _R(r"</external_[\w-]+>\s*"), anywhere=True),
    *tags(
        """
        environment_context user_instructions INSTRUCTIONS skill user_shell_command turn_aborted subagent_notification
        codex_internal_context goal_context recommended_plugins hook_prompt environments_instructions
        apps_instructions skills_instructions plugins_instructions collaboration_mode multi_agent_mode
        multi_agent_role realtime_conversation realtime_delegation startup_context context_window
        context_window_guidance rollout_budget current_time_reminder image_resize_notice model_switch
        stdin image personality_spec guardian_sync_review node_repl_review_evidence managed_developer_instructions
        user_action heartbeat persistent_mode context_window_reminder audio git_attribution tools
        """
    ),
)

# @google/gemini-cli 0.61: hooks, the context of a session, what an editor shows, mentioned files, commands run with
# `!`, compression.
GEMINI_CLI = (
    Form(
        "editor",
        _R(r"Here is (?:the user's|a summary of changes in the user's) editor context\b[^\n]*\n```json\n"),
        kept=False,
    ),
    Form("session context", _R(r"This is the Gemini CLI\. We are setting up the context for our chat\.")),
    Form("shell command", _R(r"I ran the following shell command:\n")),
    Form("harness note", _R(r"\[System: You ")),
    Form(
        "attached file",
        _R(r"(?m)^(?:--- Content from referenced files ---|Content from @[^\n]{1,1000}:)$"),
        anywhere=True,
    ),
    *tags("session_context hook_context loaded_context state_snapshot extension_context activated_skill"),
)

# openclaw 2026.9: replies, threads, media understanding. What the gateway signs as its own context, and what tells
# only who wrote where and when, is taken off by the reader itself.
_JSON = r'"(?:[^"\\]|\\.)*"'
OPENCLAW = (
    Form(
        "quoted message",
        _R(rf"(?:Current message:\n)?\[Replying to: {_JSON}\]"),
        _R(r"(?:\n#[^\n]*:)?\s*"),
        first=True,
    ),
    Form("thread", _R(r"\[Thread (?:history|starter) - for context\]")),
    Form(
        "channel",
        _R(r"\[(?:Chat messages since your last reply|Recent chat messages) - for context\]"),
        _R(r"\[Current message - respond to this\]\s*"),
    ),
    Form(
        "media note", _R(r"\[(?:Image|Video|Audio)[^\]\n]{0,1000}\]\nUser text:\n"), _R(r"\s*"), first=True, kept=False
    ),
    Form(
        "quoted message",
        _R(r"(?m)^\[(?:Replying to|Quoting) [^\]\n]{0,1000}\]\n"),
        _R(r"\[/(?:Replying|Quoting)\]\s*"),
        anywhere=True,
        paired=True,
    ),
    Form("forwarded message", _R(r"(?m)^\[Forwarded from [^\]\n]{0,1000}\]"), anywhere=True),
    Form("media note", _R(r"\[media attached[^\]\n]{0,1000}\]"), _R(r"\s*"), anywhere=True, first=True),
    Form("sticker", _R(r"\[Sticker[^\]\n]{0,1000}\] "), anywhere=True),
    Form(
        "voice",
        _R(rf"\[Audio transcript \(machine-generated, untrusted\)\]: {_JSON}"),
        _R(r"\s*"),
        anywhere=True,
        first=True,
    ),
    Form(
        "media description",
        _R(r"(?m)^(?:\[(?:Image|Video|Audio)[^\]\n]{0,1000}\]\n)?(?:Description|Transcript):\n"),
        anywhere=True,
    ),
    Form(
        "external content",
        _R(r"<<<EXTERNAL_UNTRUSTED_CONTENT\b[^>\n]{0,400}>>>"),
        _R(r"<<<END_EXTERNAL_UNTRUSTED_CONTENT\b[^>\n]{0,400}>>>\s*"),
        anywhere=True,
    ),
    Form(
        "child result",
        _R(r"<<<BEGIN_UNTRUSTED_CHILD_RESULT>>>"),
        _R(r"<<<END_UNTRUSTED_CHILD_RESULT>>>\s*"),
        anywhere=True,
    ),
    tag_block("file", "attached file"),
)


_THOUGHT_TAGS = ("think", "thinking", "REASONING_SCRATCHPAD")
_CALL_OPENS, _CALL_CLOSES = "<tool_call>", "</tool_call>"
_PARSED_CHARS = 4_000_000  # a result longer than this is output, not a statement about how the call ended
_BAD_STATUS = {"error", "failed", "failure", "timeout"}


def spoken(text: str) -> str:
    """The text without its thoughts. An opening tag that is never closed is a cut-off thought."""
    for tag in _THOUGHT_TAGS:
        if f"<{tag}>" in text:
            text = _without(text, f"<{tag}>", f"</{tag}>").strip()
    return text


def _without(text: str, opening: str, closing: str) -> str:
    kept, place = [], 0
    while (start := text.find(opening, place)) >= 0:
        kept.append(text[place:start])
        end = text.find(closing, start)
        if end < 0:
            return "".join(kept)
        place = end + len(closing)
    return "".join([*kept, text[place:]])


def calls_out_of(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Take `<tool_call>{…}</tool_call>` out of a text. One that is not JSON stays in the words."""
    if _CALL_OPENS not in text:
        return text, ()
    words, calls = [], []
    for place, piece in enumerate(text.split(_CALL_OPENS)):
        inside, closed, behind = piece.partition(_CALL_CLOSES)
        call = json_object(inside) if place and closed else None
        if call is None or not isinstance(call.get("name"), str):
            words.append(_CALL_OPENS + piece if place else piece)
        else:
            calls.append(ToolCall(call["name"], arguments_text(call.get("arguments")), string_or_none(call.get("id"))))
            words.append(behind)
    return "".join(words).strip(), tuple(calls)


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object a text begins with, if it does; harnesses put remarks behind it."""
    text = text.lstrip() if len(text) <= _PARSED_CHARS else ""
    if not text.startswith("{"):
        return None
    try:
        value = parsed_beginning(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def how_call_failed(result: Mapping[str, Any] | None) -> bool | None:
    """Whether a call failed, where its result says so: `exit_code`, `success`, `error`, `status`; else None."""
    if result is None:
        return None
    code = result.get("exit_code", result.get("returncode"))
    succeeded, error = result.get("success"), result.get("error")
    if succeeded is False or error or (isinstance(code, int) and code != 0):
        return True
    if str(result.get("status")).lower() in _BAD_STATUS:
        return True
    return False if succeeded is True or code == 0 else None
