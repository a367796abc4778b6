"""Scan a whole skill: every file of it, whatever it is called, and whatever the skill says about which files count."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from posixpath import splitext

from reverie.safety.judge import Signal, judged
from reverie.safety.report import Report, join_reports
from reverie.safety.scan import LARGEST, scan

MOST_FILES = 2_000

_PROSE = frozenset({".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ".html", ".htm"})
_CODE = frozenset(
    {
        *(".py", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx"),
        *(
            ".rb",
            ".pl",
            ".php",
            ".lua",
            ".go",
            ".rs",
            ".c",
            ".h",
            ".cpp",
            ".java",
            ".kt",
            ".swift",
            ".r",
            ".sql",
            ".awk",
        ),
        *(".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".xml", ".csv", ".tsv", ".css", ".svg"),
    }
)
# Pictures and fonts are the only bytes that may be no text. Everything else that is no text is held back.
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"wOFF", b"wOF2", b"\x00\x01\x00\x00\x00")


def _surfaces(name: str) -> tuple[str, ...]:
    """A name proves nothing: only endings known for one use get one reading, everything else gets both."""
    ending = splitext(name)[1].lower()
    if ending in _PROSE:
        return ("skill",)
    return ("script",) if ending in _CODE else ("script", "skill")


def _is_picture(content: bytes) -> bool:
    return content.startswith(_PICTURES) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP")


def _too_much(files: Mapping[str, bytes]) -> str | None:
    if len(files) > MOST_FILES:
        return "too-many-files"
    return "too-large" if sum(map(len, files.values())) > LARGEST else None


def _reports(files: Mapping[str, bytes]) -> Iterable[Report]:
    yield scan("\n".join(sorted(files)).encode("utf-8", "surrogatepass"), "skill")
    for name in sorted(files):
        content = files[name]
        # A picture is read as ASCII: text appended to it is found, its own bytes mean nothing.
        text: str | bytes = content.decode("ascii", "replace").replace("\0", "?") if _is_picture(content) else content
        for surface in _surfaces(name):
            report = scan(text, surface)
            yield replace(report, findings=tuple(replace(finding, file=name) for finding in report.findings))


def scan_skill(files: Mapping[str, bytes]) -> Report:
    """One report over all files of a skill by relative path; `Finding.file` says which. Symlinks are the caller's."""
    reason = _too_much(files)
    if reason:
        return judged("", [Signal(f"quarantine.{reason}", "quarantine", 1.0, 0, 0, None)], "skill")
    return join_reports(_reports(files))
