"""What a harness says to itself, and what is left of a message when it is taken out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.transcripts.session import OURS, Said, ToolCall, heard, noise_in

RULE = "═" * 46
SNAPSHOT = f"{RULE}\nMEMORY (your personal notes) [5% — 126/2,200 chars]\n{RULE}\nStaging is on db1\n§\nUse pytest"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("HEARTBEAT_OK", "heartbeat"),
        ("Read HEARTBEAT.md if it exists and follow it.", "heartbeat"),
        ("[Request interrupted by user for tool use]", "interruption"),
        ("[System note: the session was resumed]", "reminder"),
        ("[IMPORTANT: You are running as a scheduled cron job. Say nothing.]", "scheduled job"),
        ("This session is being continued from a previous conversation that ran out of context.", "continuation"),
        ("╭──────────╮\n│ Welcome! │\n╰──────────╯", "banner"),
        (f"{OURS}diary -->\n# Last night", "our own output"),
        ("<system-reminder>\nbe brief\n</system-reminder>", "injected block"),
        (SNAPSHOT, "injected block"),
        ("   ", "empty"),
    ],
)
def test_the_harness_is_told_from_people(text: str, reason: str) -> None:
    assert noise_in(Said("user", text)) == reason


@pytest.mark.parametrize(
    "text",
    [
        "What does HEARTBEAT_OK mean in the log?",
        "ping the server for me",
        "<b>bold</b> words",
        "<system-reminder> is a tag I saw, what is it?",
        "Welcome to the team, Kim!",
        "I said: [system note: x] in my text",
    ],
)
def test_people_who_talk_about_it_are_heard(text: str) -> None:
    assert noise_in(Said("user", text)) is None
    assert heard(text) == text


def test_a_call_without_words_is_not_noise() -> None:
    assert noise_in(Said("assistant", "", calls=(ToolCall("terminal", "{}"),))) is None


def test_injected_blocks_are_taken_out_and_the_rest_stays() -> None:
    assert heard("Before. <memory-context>old facts</memory-context>After.") == "Before. After."
    assert heard(f"Hello.\n{SNAPSHOT}").strip() == "Hello."


@given(
    st.lists(st.sampled_from(["<system-reminder>", "</system-reminder>", "<command-name>", "words ", RULE, "MEMORY ("]))
)
def test_hearing_only_ever_takes_away(parts: list[str]) -> None:
    text = "".join(parts)
    remaining = iter(text)
    assert all(character in remaining for character in heard(text))
