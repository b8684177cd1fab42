"""Texts in sheets: none is taken for a formula, in whatever form and wherever a spreadsheet parts cells."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from decimal import Decimal

import pytest

from api.documents.tournament_sheets import SIGNS as LANGUAGE_SIGNS
from api.documents.tournament_sheets import Cell, _quote_cell, build_sheet
from domain.tournaments.scoring import POINT
from domain.tournaments.standings import list_standings
from domain.tournaments.ties import TieBreaks
from tests.api.conftest import ROOT
from tests.tournaments.aggregates import EventInMemory
from tests.tournaments.test_timed_event import PEOPLE, play_event

SIGNS = [sign for sign in map(chr, range(0x10000)) if unicodedata.normalize("NFKC", sign)[:1] in ("=", "+", "-", "@")]


def test_the_wide_small_and_raised_forms_are_signs_of_formulas() -> None:
    assert {"=", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe66", "\u207a"} <= set(SIGNS)


@pytest.mark.parametrize("sign", [*SIGNS, "\u2212"])
@pytest.mark.parametrize("before", ["", "\t", "\r", " ", "\u3000", "\ufeff", "x;", "x;\t ", "x\n"])
def test_no_part_of_a_cell_begins_a_formula(before: str, sign: str) -> None:
    cell = _quote_cell(f"{before}{sign}SUM(A1)")
    for separator in ";\t\r\n":
        parts = [part.strip("\ufeff\u3000 \t\r\n") for part in cell.split(separator)]
        assert not [part for part in parts if part.startswith(sign)]


def test_numbers_and_names_stay_as_they_are() -> None:
    cells: list[tuple[Cell, str]] = [(-3, "-3"), (Decimal("-0.5"), "-0.5"), (None, ""), (True, "1")]
    cells += [(name, name) for name in ("Anne-Marie", "1+1", "a@b", "Zo\u00eb; Bea", "")]
    assert [_quote_cell(cell) for cell, _ in cells] == [shown for _, shown in cells]


def test_sheets_of_world_diplomacy_database_have_its_columns() -> None:
    """As DipVis (UEWBot/dipvis, commit 026d80f1) writes them in `wdd_views.py`: the first ones are mandatory."""
    event = EventInMemory(stages=[{"format": "swiss", "rounds": 2}])
    event.draw_first(3)
    event.make_tables(1, 1)
    event.report(1, (1, 1), [9, 4, 4])
    names = {"p0": "Anne de Genoa", "p1": "Bertrand"}
    classification, boards = (
        [row.split(",") for row in build_sheet(event.t, f"wdd_{name}", names).decode().splitlines()]
        for name in ("classification", "boards")
    )
    assert classification[0] == ["FIRST NAME", "NAME", "HOMONYME", "RANK", "EXAEQUO", "SCORE", "R1"]
    assert [row[2:5] for row in classification[1:]] == [["1", "1", "1"], ["1", "2", "1"], ["1", "3", "1"]]
    assert classification[1][5:] == ["1.0000", "1.0000"]
    assert sorted(row[:2] for row in classification[1:]) == [["", "2"], ["", "Bertrand"], ["Anne", "de Genoa"]]
    assert boards[0][:9] == [*classification[0][:3], "ROUND", "BOARD", "COUNTRY", "RANK", "EXAEQUO", "SCORE"]
    assert [row[3:10] for row in boards[1:]] == [
        ["1", "1", "1", "1", "1", "1.0000", "9"],
        ["1", "1", "2", "2", "2", "0.2500", "4"],
        ["1", "1", "3", "2", "2", "0.2500", "4"],
    ]


def test_every_sheet_of_the_service_is_written_here() -> None:
    """No other module writes CSV."""
    folders = ("api", "domain", "projections", "workers", "deploy")
    writers = [
        path for folder in folders for path in (ROOT / folder).rglob("*.py") if "csv.writer" in path.read_text("utf-8")
    ]
    assert writers == [ROOT / "api/documents/tournament_sheets.py"]


@pytest.mark.parametrize("lang", ["", "en", "fr"])
def test_a_total_is_the_sum_of_its_seats_credits_and_penalties(lang: str) -> None:
    """In an event with wanted and drawn byes, absences, a ruling and a penalty."""
    event, _ = play_event()
    separator, sign = LANGUAGE_SIGNS[lang or "en"]
    seats, standings = (
        list(csv.DictReader(io.StringIO(build_sheet(event.t, name, {}, lang).decode("utf-8-sig")), delimiter=separator))
        for name in ("seats", "standings")
    )
    ticks = Counter[str]()
    for row in seats:
        ticks[row["entrant"]] += int(row["ticks"] or 0)
    for row in standings:
        assert int(row["ticks"]) == ticks[row["entrant"]] - int(row["penalties"]), row
        assert row["points"] == f"{int(row['ticks']) / POINT:.4f}".replace(".", sign)
    rested = {row["entrant"] for row in seats if not row["table"] and int(row["ticks"] or 0)}
    assert {row["entrant"] for row in standings if int(row["credits"])} == rested != set()
    assert {row["entrant"]: row["penalties"] for row in standings if row["penalties"] != "0"} == {"4": "777"}
    exact = [row["tie_beaten"] for row in standings if "/" in row["tie_beaten"]]
    decimals = [row["tie_beaten"] for row in standings if sign in row["tie_beaten"]]
    assert (len(exact) > PEOPLE / 2, bool(decimals)) == ((True, False) if not lang else (False, True))
    assert all(re.fullmatch("'[0-9]+/[0-9]+", cell) for cell in exact)
    values = {row["entrant"]: row["ties"]["beaten"] for row in list_standings(TieBreaks(event.t.stage(1)))}
    for row in standings if not lang else ():
        assert row["tie_beaten"].removeprefix("'") == values[int(row["entrant"])]
