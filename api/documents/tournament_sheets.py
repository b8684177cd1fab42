"""Sheets of a tournament as CSV (RFC 4180, UTF-8): entrants, tables, seats, standings."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal

from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.scoring import POINT
from domain.tournaments.standings import list_standings
from domain.tournaments.ties import TieBreaks
from projections.tournament_documents import PodDoc
from projections.tournament_views import build_round, build_tournament

Cell = str | int | bool | Decimal | None
Names = Mapping[str, str]
"""Player -> name."""

FORMULAS = frozenset("=+-@\N{MINUS SIGN}")
"""First characters of formulas; their wide, small and raised forms too."""

_PARTS = re.compile("([;\t\r\n])")
"""Separators of cells where a spreadsheet does not part at commas, as in French."""

_UNSEEN = ("Zs", "Zl", "Zp", "Cc", "Cf")
"""Categories of characters that spreadsheets drop before a formula."""
POINT_DECIMALS = Decimal("0.0001")
SIGNS = {"en": (",", "."), "fr": (";", ",")}
"""Language of a spreadsheet -> the separator of its cells and its decimal sign."""


def build_sheet(t: Tournament, name: str, names: Names, spreadsheet: str = "") -> bytes:
    """Return a sheet as CSV, its first row with the names of the columns.

    With the language of a `spreadsheet` it has a byte order mark, and the signs of this language.
    """
    text = io.StringIO()
    rows = _SHEETS[name](t, names)
    separator, point = SIGNS[spreadsheet or "en"]
    writer = csv.writer(text, delimiter=separator, lineterminator="\r\n")
    writer.writerows([_write_cell(cell, point) for cell in row] for row in rows)
    return text.getvalue().encode("utf-8-sig" if spreadsheet else "utf-8")


def _write_cell(cell: Cell, point: str) -> str:
    text = _quote_cell(cell)
    return text.replace(".", point) if isinstance(cell, Decimal) else text


def _quote_cell(cell: Cell) -> str:
    """Return a cell as text. A part like a formula gets an apostrophe, a number does not."""
    if isinstance(cell, bool):
        return str(int(cell))
    if not isinstance(cell, str):
        return "" if cell is None else str(cell)
    return "".join(f"'{part}" if _begins_formula(part) else part for part in _PARTS.split(cell))


def _begins_formula(part: str) -> bool:
    """Return True for a text that a spreadsheet may take for a formula."""
    first = next((sign for sign in part if unicodedata.category(sign) not in _UNSEEN), "")
    return unicodedata.normalize("NFKC", first)[:1] in FORMULAS


def _label(t: Tournament, names: Names, entrant: int) -> str:
    return names.get(t.entrants[entrant].player, "")


def _list_entrants(t: Tournament, names: Names) -> Iterator[Iterable[Cell]]:
    yield "entrant", "player", "withdrawn", "excluded", "waiting", "checked_in", "takes_part", "name"
    for each in build_tournament(t, names)["people"]:
        marks = each["withdrawn"], each["excluded"], each["waiting"], each["checked_in"], each["takes_part"]
        yield each["entrant"], each["player"], *marks, names.get(each["player"], "")


def _list_pods(t: Tournament) -> Iterator[tuple[int, int, PodDoc]]:
    """Yield stage, round and pod of all pods drawn."""
    for stage, play in enumerate(t.stages, 1):
        for round_ in range(1, len(play.rounds) + 1):
            for pod in build_round(t, stage, round_)["pods"]:
                yield stage, round_, pod


def _list_tables(t: Tournament, _: Names) -> Iterator[Iterable[Cell]]:
    yield "stage", "round", "table", "game", "attempt", "seats", "annulled", "reported"
    for stage, round_, pod in _list_pods(t):
        seats = len(pod["entrants"])
        yield stage, round_, pod["table"], pod["game"], pod["attempt"], seats, pod["annulled"], pod["reported"]


def _list_seats(t: Tournament, names: Names) -> Iterator[Iterable[Cell]]:
    """Yield a row for each seat of a pod; byes have no table and no seat."""
    yield "stage", "round", "table", "seat", "entrant", "name", "place", "game_points", "lapses", "absent", "handicap"
    for stage, round_, pod in _list_pods(t):
        columns = [dict(enumerate(column)) for column in (pod["places"], pod["points"], pod["lapses"])]
        handicaps = dict(enumerate(pod["handicaps"]))
        for seat, entrant in enumerate(pod["entrants"]):
            figures = (column.get(seat) for column in columns)
            label = _label(t, names, entrant)
            yield (
                stage,
                round_,
                pod["table"],
                seat,
                entrant,
                label,
                *figures,
                seat in pod["absent"],
                handicaps.get(seat),
            )
    for stage, play in enumerate(t.stages, 1):
        for round_, drawn in enumerate(play.rounds, 1):
            for entrant in drawn.byes:
                yield stage, round_, None, None, entrant, _label(t, names, entrant), None, None, None, False, None


def _list_standings(t: Tournament, names: Names) -> Iterator[Iterable[Cell]]:
    """Yield the places of every stage as of now; a rule for ties has a column of its own."""
    ties = (rule for stage in t.terms.stages for rule in stage.ties)
    rules = list(dict.fromkeys(rule for rule in ties if rule not in ("direct", "shared")))
    yield "stage", "place", "entrant", "name", "points", "ticks", "tables", "missed", *(f"tie_{rule}" for rule in rules)
    for stage in range(1, len(t.stages) + 1):
        for row in list_standings(TieBreaks(t.stage(stage))):
            points = (Decimal(row["ticks"]) / POINT).quantize(POINT_DECIMALS)
            label = _label(t, names, row["entrant"])
            figures = (points, row["ticks"], row["tables"], row["missed"])
            yield stage, row["place"], row["entrant"], label, *figures, *(row["ties"].get(rule) for rule in rules)


_SHEETS: Mapping[str, Callable[[Tournament, Names], Iterator[Iterable[Cell]]]] = {
    "entrants": _list_entrants,
    "tables": _list_tables,
    "seats": _list_seats,
    "standings": _list_standings,
}
