"""What the documentation shows of the program is what the program prints."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.cli import main

PAGE = Path(__file__).parents[1] / "docs" / "command-line.md"
LEFT_OUT = "[...]"
GIVEN = ("scenario",)
"""Commands whose files the reader brings."""


def transcripts() -> Iterator[tuple[str, list[str]]]:
    """Each command of the page with the lines that it is shown to print."""
    command, shown = "", list[str]()
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("    $ annals "):
            if command:
                yield command, shown
            command, shown = line.removeprefix("    $ annals "), []
        elif command and line.startswith("    "):
            shown.append(line[4:])
        elif command:
            yield command, shown
            command = ""


def test_they_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """In the page's order, in one folder; what is left out may be anything."""
    monkeypatch.chdir(tmp_path)
    ran = 0
    for command, shown in transcripts():
        if command.split()[0] in GIVEN:
            continue
        main(shlex.split(command))
        printed = iter(capsys.readouterr().out.splitlines())
        followed = False
        for line in shown:
            if line == LEFT_OUT:
                followed = False
            else:
                found = next((p for p in printed if p == line or followed), None)
                assert found == line, command
                followed = True
        ran += 1
    assert ran >= 4
