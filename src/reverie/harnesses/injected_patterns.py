"""The forms in which each harness puts foreign text into a person's message, from the harness's own source.

`docs/foreign-text.md` lists them for people. Where the version that writes a form is known, it stands here.
"""

from __future__ import annotations

import re

from reverie.harnesses.injected import Form, tag_block, tags

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
