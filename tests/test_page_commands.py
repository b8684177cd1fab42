"""Every command that a page shows is run by a test, or fits the program that it calls."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.cli.main import build_parser
from tests.deploy import test_start_here
from tests.test_transcripts import PAGES

ROOT = Path(__file__).parents[1]
UNCHECKED = ("docs/rules/", "docs/rulings/", "docs/games/")
"""Pages about games."""
KINDS = ("", "sh", "shell", "bash", "console")
"""Kinds of fences that hold commands."""
PARSER = build_parser()
ANNALS = next(action.choices for action in PARSER._actions if isinstance(action, argparse._SubParsersAction))
RUN = set(re.findall(r"^\./run (\w+)", (ROOT / "run").read_text("utf-8"), re.MULTILINE))
VALUES = dict.fromkeys(("N", "K", "S", "DAYS"), "1") | {
    "KEY=VALUE": "a=1",
    "LO..HI": "3..5",
    "HEX": "0" * 64,
    "LIST": "1+3,2",
}
"""Placeholder -> a value of its type; the others may be any word."""
NPM = json.loads((ROOT / "tests" / "npm" / "package.json").read_text("utf-8"))["devDependencies"]

OTHER_PROGRAMS = {
    "datamodel-codegen": "run with these options by tests/clients/kit.py and tests/api/test_clients.py",
    "openapi-python-client": "run with these options by tests/api/test_clients.py",
    "python3": "the verifier in one file, run with these options by tests/api/test_checkpoints.py; or the module venv",
    "env/bin/pip": "tests/test_packaging.py installs the same in the same order",
    "env/bin/annals": "tests/test_packaging.py runs it",
    "bash": "the name of the project's own check",
    "sha256sum": "prints sums",
    "pip": "the locks name these releases: tests/test_locks.py",
    "curl": "tests/test_questions.py reads such a file; the route has tests of its own",
    "patroni": "tests/chaos/cluster.py starts it with the file of deploy/cluster",
    "pg_basebackup": "tests/chaos/recovery.py runs it with these options",
    "patronictl": "part of Patroni, reads the same file",
    "valkey-server": "tests/chaos/sentinel.py starts it with the file of deploy/cluster",
    "valkey-cli": "tests/chaos/sentinel.py asks a Sentinel for the same",
    "docker": "hadolint checks the recipe; tests/deploy/test_image.py runs the files that it copies",
}
"""Program -> reason why its commands are right."""

NO_COMMANDS = {
    ("docs/api/notices.md", "POST /annals HTTP/1.1"): "a request of the service",
    ("docs/operations.md", "user annals on >PASSWORD"): "a line of Redis' list of users",
    ("docs/operations.md", "witness club "): "a line of the file of ANNALS_WITNESSES",
    ("docs/operations.md", "log  example.org"): "a line of the file of ANNALS_WITNESSED_LOGS",
    ("docs/operations.md", "archive_mode = "): "PostgreSQL's settings: tests/chaos/recovery.py reads them",
    ("docs/operations.md", "restore_command = "): "PostgreSQL's settings: tests/chaos/recovery.py reads them",
    ("docs/http.md", "POST /v1/games "): "requests: method, path and body",
    ("docs/environments.md", "from deploy.environments import env"): "Python: tests/environments/test_table_env.py",
}
"""(page, beginning of a block) -> what the block is instead."""


def pages() -> Iterator[str]:
    """Yield the pages, relative to the root."""
    patterns = ("*.md", "docs/**/*.md", "clients/**/*.md")
    names = [str(path.relative_to(ROOT)) for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    return (name for name in names if name != "CHANGELOG.md" and not name.startswith(UNCHECKED))


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Yield kind and text of each block in a fence or indented after an empty line."""
    text = (ROOT / page).read_text("utf-8")
    fence = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for kind, block in fence.findall(text):
        if kind in KINDS:
            yield kind, block
    for block in re.findall(r"\n\n((?: {4}.*\n|\n(?= {4}))+)", fence.sub("", text)):
        yield "", re.sub(r"^ {4}", "", block, flags=re.MULTILINE)


def commands(block: str) -> Iterator[str]:
    r"""Yield the commands of a block, whole where `\` or an indent continues them; of a transcript, those after `$`."""
    text = re.sub(r"\\\n *|\n +(?=\S)", " ", block)
    shown = "$ " if re.search(r"^\$ ", text, re.MULTILINE) else ""
    for line in text.splitlines():
        if line.startswith(shown) and line.strip():
            yield line.removeprefix(shown)


def shown_commands() -> Iterator[tuple[str, str]]:
    """Yield (page, command) for each command that no test runs as a script."""
    for page in pages():
        for kind, block in blocks(page):
            script = ROOT / page == test_start_here.PAGE and kind == "bash"
            if not script and not any(page == at and block.startswith(begin) for at, begin in NO_COMMANDS):
                yield from ((page, line) for line in commands(block))


def fault(page: str, line: str) -> str:
    """Return the fault of a command, or nothing."""
    program, *args = shlex.split(re.sub(r"^(?:[A-Z_]+=\S+ +)+", "", line), comments=True)
    if program == "sed" and page in PAGES:
        return ""  # tests/test_transcripts.py runs it
    if program in ("./run", "annals", "python"):
        named = [name for word in args for name in word.split(",") if re.fullmatch(r"[a-z_/]+\.py", name)]
        if page == "docs/environments.md" and named == ["learn.py"]:
            return ""  # the program of the page: tests/environments/test_learner.py runs it
        if missing := [name for name in named if not (ROOT / name).is_file()]:
            return f"there is no file {missing[0]} beside ./run"
    if program == "./run":
        if args[0] not in RUN:
            return f"./run has no command {args[0]}"
        if args[0] not in ("annals", "serve", "demo"):
            return ""
        return annals_fault(args[1:] if args[0] == "annals" else args)
    if program == "annals":
        return annals_fault(args)
    if program == "npx":
        package = args[1] if args[0] == "--package" else args[0]
        return "" if package in NPM else f"tests/npm does not lock a package {package}"
    return "" if program in (*OTHER_PROGRAMS, "python") else "no test runs this, and nothing checks it"


def known_options(args: list[str]) -> set[str]:
    """Return the options of a command, and of the part of it that the next word names."""
    commands, known = ANNALS, set[str]()
    for word in args:
        if word not in commands:
            break
        parser = commands[word]
        known |= set(parser._option_string_actions)
        parts = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        commands = parts[0] if parts else {}
    return known


def annals_fault(args: list[str]) -> str:
    """Return why the parser refuses the arguments, or nothing. A usage line is parsed with its optional parts."""
    if args[0] == "--help":
        return ""
    known = known_options(args)
    line = " ".join(args)
    if unknown := [name for name in re.findall(r"(?<![\w-])--[\w-]+", line) if name not in known]:
        return f"annals {args[0]} has no {unknown[0]}"
    first = re.sub(r" \| [^\]]*|\[|\]| ?\.\.\.|(?<=\w)\.\.\.", "", line)  # of alternatives, the first
    words = [re.sub(r"\|.*", "", word) for word in first.split()]
    try:
        PARSER.parse_args([VALUES.get(word, word) for word in words])
    except SystemExit:
        return f"annals refuses {words}"
    return ""


@pytest.mark.parametrize(("page", "line"), list(shown_commands()))
def test_a_command_is_right(page: str, line: str) -> None:
    assert fault(page, line) == ""


@pytest.mark.parametrize(
    "line",
    [
        "./run fly",
        "./run annals fly",
        "./run annals verify FILE --heads HASH",
        "./run annals replay",
        "./run annals tournament plan --entrants N",
        "./run annals tournament score FILE --seats LO..HI",
        "./run serve --prot 80",
        "npx tsc --project .",
        "python bot_template.py",
        "make install",
    ],
)
def test_a_wrong_command_is_found(line: str) -> None:
    assert fault("docs/page.md", line)


def test_every_exception_is_needed() -> None:
    shown = list(shown_commands())
    for program in OTHER_PROGRAMS:
        assert any(line.startswith(f"{program} ") for _, line in shown), program
    for page, begin in NO_COMMANDS:
        assert any(block.startswith(begin) for _, block in blocks(page)), (page, begin)
