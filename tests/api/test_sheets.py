"""Texts in sheets: none is taken for a formula, in whatever form and wherever a spreadsheet parts cells."""

from __future__ import annotations

import unicodedata
from decimal import Decimal

import pytest

from api.documents.tournament_sheets import Cell, _quote_cell
from tests.api.conftest import ROOT

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


def test_every_sheet_of_the_service_is_written_here() -> None:
    """No other module writes CSV."""
    folders = ("api", "domain", "projections", "workers", "deploy")
    writers = [
        path for folder in folders for path in (ROOT / folder).rglob("*.py") if "csv.writer" in path.read_text("utf-8")
    ]
    assert writers == [ROOT / "api/documents/tournament_sheets.py"]
