"""The reference validator of agentskills.io judges the same SKILL.md folders as we do, and what we write passes it."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.skills.amend import amended, draft, refine
from reverie.skills.skill import Amended, read_skill
from reverie.skills.validation import problems_of
from reverie.skills.yaml_nodes import conforms
from tests.peers import SKILLS_REF, python_with

NOW = datetime(2026, 5, 12, 12, tzinfo=UTC)
JUDGE = """
import json, sys
from pathlib import Path
from skills_ref.validator import validate

verdicts = {}
for folder in sorted(Path(sys.argv[1]).iterdir()):
    skill = next(folder.iterdir())
    try:
        verdicts[folder.name] = validate(skill)
    except Exception as error:
        verdicts[folder.name] = [f"{type(error).__name__}: {error}"]
print(json.dumps(verdicts))
"""
GOOD = "name: deploy\ndescription: Use when deploying.\n"
BODY = "\n# Deploy\n\n## Steps\n\n1. Build\n"


def page(matter: str, body: str = BODY) -> bytes:
    return f"---\n{matter}---\n{body}".encode("utf-8", "surrogateescape")


# Each case is the name of the folder and the bytes of SKILL.md.
FRONTMATTER = {
    "minimal": GOOD,
    "license": f"{GOOD}license: MIT\n",
    "every key": f"{GOOD}license: MIT\ncompatibility: Linux\nallowed-tools: Bash Read\nmetadata:\n  version: '1.0'\n",
    "comments": f"# first\n{GOOD}# last\n",
    "comment behind a value": "name: deploy # its name\ndescription: Use when deploying.\n",
    "quoted": "name: 'deploy'\ndescription: \"Use when: deploying\"\n",
    "folded": "name: deploy\ndescription: >\n  Use when\n  deploying.\n",
    "literal": "name: deploy\ndescription: |\n  Use when\n  deploying.\n",
    "plain over lines": "name: deploy\ndescription: Use when\n  deploying.\n",
    "nested metadata": f"{GOOD}metadata:\n  hermes:\n    tags:\n      - a\n      - b\n",
    "metadata as list": f"{GOOD}metadata:\n  - a\n",
    "metadata as text": f"{GOOD}metadata: text\n",
    "empty metadata": f"{GOOD}metadata:\n",
    "empty license": f"{GOOD}license:\n",
    "license as list": f"{GOOD}license:\n  - MIT\n",
    "allowed-tools as list": f"{GOOD}allowed-tools:\n  - Bash\n",
    "keys indented": "  name: deploy\n  description: Use when deploying.\n",
    "keys in another order": "description: Use when deploying.\nname: deploy\n",
    "description at the limit": f"name: deploy\ndescription: {'x' * 1024}\n",
    "compatibility at the limit": f"{GOOD}compatibility: {'x' * 500}\n",
    "description of a number": "name: deploy\ndescription: 42\n",
    "description of a word YAML knows": "name: deploy\ndescription: true\n",
    "blank lines": "\n\nname: deploy\n\ndescription: Use when deploying.\n\n",
    "hyphens in a description": "name: deploy\ndescription: Use --- carefully\n",
    "emoji": "name: deploy\ndescription: Use when deploying 🚀\n",
    "windows tab behind a value": "name: deploy\t\ndescription: Use when deploying.\n",
    "no name": "description: Use when deploying.\n",
    "no description": "name: deploy\n",
    "empty": "",
    "only a comment": "# nothing\n",
    "empty name": "name:\ndescription: Use when deploying.\n",
    "name of spaces": "name: '   '\ndescription: Use when deploying.\n",
    "name as list": "name:\n  - deploy\ndescription: Use when deploying.\n",
    "name as mapping": "name:\n  a: b\ndescription: Use when deploying.\n",
    "empty description": "name: deploy\ndescription: ''\n",
    "description of spaces": "name: deploy\ndescription: '  '\n",
    "description as list": "name: deploy\ndescription:\n  - a\n",
    "description as mapping": "name: deploy\ndescription:\n  a: b\n",
    "description too long": f"name: deploy\ndescription: {'x' * 1025}\n",
    "compatibility too long": f"{GOOD}compatibility: {'x' * 501}\n",
    "compatibility as list": f"{GOOD}compatibility:\n  - linux\n",
    "empty compatibility": f"{GOOD}compatibility:\n",
    "version on top": f"{GOOD}version: 1.0.0\n",
    "tags on top": f"{GOOD}tags: a\n",
    "unknown key": f"{GOOD}mood: bright\n",
    "bracketed list": f"{GOOD}metadata:\n  tags: [a, b]\n",
    "bracketed mapping": f"{GOOD}metadata: {{a: b}}\n",
    "all in braces": "{name: deploy, description: Use when deploying.}\n",
    "anchor": "name: &n deploy\ndescription: Use when deploying.\n",
    "alias": "name: deploy\ndescription: &d Use when deploying.\nlicense: *d\n",
    "python tag": f"{GOOD}license: !!python/object/apply:os.system ['true']\n",
    "harmless tag": f"{GOOD}license: !!str MIT\n",
    "duplicate key": f"{GOOD}name: deploy\n",
    "duplicate nested key": f"{GOOD}metadata:\n  a: b\n  a: c\n",
    "colon in plain text": "name: deploy\ndescription: Use when: deploying\n",
    "unclosed quotation": 'name: deploy\ndescription: "Use when deploying.\n',
    "tab as indentation": f"{GOOD}metadata:\n\ta: b\n",
    "a list": "- name\n- description\n",
    "a text": "just words\n",
    "uneven indentation": f"{GOOD}metadata:\n  a:\n    b: c\n  d:\n      e: f\n",
    "hyphens in a comment first": "# --- head ---\nname: deploy\ndescription: Use when deploying.\n",
    "hyphens in a comment last": f"{GOOD}# --- tail ---\n",
    "two documents": f"{GOOD}...\nlicense: MIT\n",
    "NUL": "name: deploy\ndescription: Use \0 when\n",
    "complex key": f"{GOOD}? [a]\n: b\n",
    "merge key": f"{GOOD}metadata:\n  <<: a\n",
    "number as key": f"{GOOD}1: b\n",
    "percent": f"{GOOD}license: %MIT\n",
    "at sign": f"{GOOD}license: @MIT\n",
    "backtick": "name: deploy\ndescription: `deploy` it\n",
    "star": "name: deploy\ndescription: *deploy*\n",
    "escape that names nothing": 'name: deploy\ndescription: "\\UFFFFFFFF"\n',
}
NAMES = [
    *("deploy", "deploy-2", "2-deploy", "déploiement", "配置", "развертывание", "a", "x" * 64, "x" * 65, "Deploy"),
    *("DEPLOY", "-deploy", "deploy-", "de--ploy", "de_ploy", "de.ploy", "de ploy", "de+ploy", "de\u0301ploy"),
    *("straße", "ﬁle", "①", "deploy!", "deploy²", "_deploy", ".deploy"),
]
WHOLE = {
    "no frontmatter": b"# Deploy\n",
    "empty file": b"",
    "not closed": b"---\nname: deploy\ndescription: Use when deploying.\n",
    "closed at the end of the file": b"---\nname: deploy\ndescription: Use when deploying.\n---",
    "windows line endings": page(GOOD).replace(b"\n", b"\r\n"),
    "old line endings": page(GOOD).replace(b"\n", b"\r"),
    "byte order mark": b"\xef\xbb\xbf" + page(GOOD),
    "blank line first": b"\n" + page(GOOD),
    "space first": b" " + page(GOOD),
    "four hyphens": b"-" + page(GOOD),
    "spaces behind the hyphens": page(GOOD).replace(b"---\n", b"---  \n"),
    "Latin-1 in the body": page(GOOD) + b"caf\xe9\n",
    "Latin-1 in the frontmatter": page("name: deploy\ndescription: caf\udce9\n"),
    "NUL in the body": page(GOOD) + b"\0\n",
    "hyphens in the body": page(GOOD, "\na\n\n---\n\nb\n"),
    "no body": page(GOOD, ""),
}


def corpus() -> dict[str, tuple[str, bytes]]:
    cases = {f"frontmatter: {name}": ("deploy", page(matter)) for name, matter in FRONTMATTER.items()}
    cases |= {f"file: {name}": ("deploy", content) for name, content in WHOLE.items()}
    cases |= {
        f"name: {name}": (name, page(f"name: {json.dumps(name, ensure_ascii=False)}\ndescription: Use it.\n"))
        for name in NAMES
    }
    return cases | {
        "folder: another": ("release", page(GOOD)),
        "folder: NFD": ("de\u0301ploy", page('name: "déploy"\ndescription: x\n')),
    }


def mutations(number: int) -> dict[str, tuple[str, bytes]]:
    """Good files with a few characters put in, taken out or exchanged."""
    chance = random.Random(20260512)
    seeds = [page(matter) for matter in FRONTMATTER.values() if matter]
    shards = [*"\n :-#'[]{}!|>a\té,%", '"', "  ", "&a", "*a", "name", "---\n", "? "]
    made: dict[str, tuple[str, bytes]] = {}
    for turn in range(number):
        text = chance.choice(seeds).decode("utf-8")
        for _ in range(chance.randint(1, 2)):
            at = chance.randrange(4, min(len(text), 90))
            text = text[:at] + chance.choice([*shards, ""]) + text[at + chance.randint(0, 1) :]
        made[f"mutation {turn:03d}"] = ("deploy", text.encode())
    return made


def verdicts(cases: Mapping[str, tuple[str, bytes]], folder: Path) -> dict[str, list[str]]:
    folder = folder / "skills"
    names = {f"{number:04d}": case for number, case in enumerate(cases)}
    for number, case in names.items():
        name, content = cases[case]
        (folder / number / name).mkdir(parents=True)
        (folder / number / name / "SKILL.md").write_bytes(content)
    command = [str(python_with(SKILLS_REF)), "-c", JUDGE, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return {names[number]: said for number, said in json.loads(done.stdout).items()}


def ours(name: str, content: bytes) -> list[str]:
    problems = problems_of(read_skill(name, {f"{name}/SKILL.md": content}))
    return [] if conforms(problems) else [str(problem) for problem in problems]


@pytest.mark.peer
def test_we_call_valid_what_the_reference_validator_calls_valid(tmp_path: Path) -> None:
    cases = corpus()
    theirs = verdicts(cases, tmp_path)
    differ = {
        case: (theirs[case], ours(*cases[case])) for case in cases if bool(theirs[case]) != bool(ours(*cases[case]))
    }
    assert differ == {}
    assert len(cases) > 100
    assert sum(not said for said in theirs.values()) > 30


@pytest.mark.peer
def test_we_agree_on_files_with_slips_of_the_hand(tmp_path: Path) -> None:
    cases = mutations(600)
    theirs = verdicts(cases, tmp_path)
    lenient = {case: cases[case][1] for case in cases if theirs[case] and not ours(*cases[case])}
    strict = {case: cases[case][1] for case in cases if not theirs[case] and ours(*cases[case])}
    assert lenient == {}
    assert {case: content for case, content in strict.items() if closed_by_a_line(content)} == {}


def closed_by_a_line(content: bytes) -> bool:
    """Where three hyphens stand in the middle of a line we are stricter on purpose."""
    opening, matter, closing = content.decode().split("---", 2)
    return opening == "" and matter.startswith("\n") and matter.endswith("\n") and closing[:1] in ("", "\n")


@pytest.mark.peer
def test_a_skill_we_drafted_and_refined_twice_still_passes(tmp_path: Path) -> None:
    files = dict(draft("deploy", BODY, description="Use when: deploying #1", tags=["ops", "1.0"]).files)
    for rule in ("Never on Friday.", "Tell the team: always."):
        made = amended(files, refine(read_skill("deploy", files), section="Gotchas", add=[rule]), NOW)
        assert isinstance(made, Amended)
        files |= {path: content for path, content in made.files_after.items() if content is not None}
    assert verdicts({"refined": ("deploy", files["deploy/SKILL.md"])}, tmp_path) == {"refined": []}
    skill = read_skill("deploy", files)
    assert (skill.version, skill.refinements, skill.tags) == ("1.2.0", 2, ("ops", "1.0"))


@pytest.mark.peer
def test_refining_a_valid_skill_of_any_form_leaves_it_valid(tmp_path: Path) -> None:
    before = {case: at for case, at in corpus().items() if not ours(*at)}
    after: dict[str, tuple[str, bytes]] = {}
    for case, (name, content) in before.items():
        files = {f"{name}/SKILL.md": content}
        made = amended(files, refine(read_skill(name, files), section="Gotchas", add=["Never."]), NOW)
        if isinstance(made, Amended):
            after[case] = (name, made.files_after[f"{name}/SKILL.md"] or b"")
    assert [case for case, said in verdicts(after, tmp_path).items() if said] == []
    assert sorted(set(before) - set(after)) == ["frontmatter: metadata as list", "frontmatter: metadata as text"]
