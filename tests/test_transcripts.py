"""What the documentation shows of the program is what the program prints."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from deploy.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = {"docs/command-line.md": 7, "docs/chronicle.md": 15, "README.md": 4, "docs/tournaments.md": 15}
"""Page -> commands in it, at least."""
LEFT_OUT = "[...]"
COMMAND = re.compile(r"(?: {4})?\$ (?:\./run )?(annals|sed) ")
GIVEN = ("scenario", "import")
"""Commands whose files or service the reader brings."""
SHOWN_FILE = re.compile(r"`([\w-]+\.json)`[^`\n]*:\n\n```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A file that a page shows in a fence."""


def transcripts(page: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words of each command of a page, with the lines that it is shown to print, indented or in a fence."""
    command, shown, margin = "", list[str](), ""
    for line in [*(ROOT / page).read_text("utf-8").splitlines(), ""]:
        ends = not line.startswith(margin) or line.startswith("```") or not line
        if command and (ends or COMMAND.match(line)):
            yield shlex.split(command), shown
            command = ""
        if COMMAND.match(line):
            margin, shown = line[: line.index("$")], []
            command = line.removeprefix(f"{margin}$ ").removeprefix("./run ")
        elif command:
            shown.append(line.removeprefix(margin))


def run(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What a command prints, errors behind; `sed s/one/other/ FILE > FILE` is done here."""
    if words[0] == "sed":
        _, old, new, _ = words[1].split("/")
        lines = Path(words[2]).read_text("utf-8").splitlines(keepends=True)
        Path(words[4]).write_text("".join(line.replace(old, new, 1) for line in lines), "utf-8")
        return []
    main(words[1:])
    printed = capsys.readouterr()
    return [*printed.out.splitlines(), *printed.err.splitlines()]


@pytest.mark.parametrize("page", PAGES)
def test_they_are_true(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the page's order, in one folder; what is left out may be anything."""
    monkeypatch.chdir(tmp_path)
    for name, text in SHOWN_FILE.findall((ROOT / page).read_text("utf-8")):
        Path(name).write_text(text, "utf-8")
    ran = 0
    for words, shown in transcripts(page):
        if words[1] in GIVEN:
            continue
        printed = iter(run(words, capsys))
        followed = False
        for line in shown:
            if line == LEFT_OUT:
                followed = False
            else:
                found = next((p for p in printed if p == line or followed), None)
                assert found == line, shlex.join(words)
                followed = True
        ran += 1
    assert ran >= PAGES[page]
