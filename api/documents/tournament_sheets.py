"""Sheets of a tournament as CSV (RFC 4180, UTF-8): entrants, tables, seats, standings."""

from __future__ import annotations

import csv
import functools
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction

from domain.tournaments.aggregate.point_parts import PartsReader
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.results import Tally
from domain.tournaments.scoring import POINT
from domain.tournaments.standings import list_standings
from domain.tournaments.ties import TieBreaks
from projections.tournament_documents import PodDoc
from projections.tournament_views import build_round, build_tournament

Cell = str | int | bool | Decimal | Fraction | None
Names = Mapping[str, str]
"""Player -> name."""

FORMULAS = frozenset("=+-@\N{MINUS SIGN}")
"""First characters of formulas; their wide, small and raised forms too."""

_PARTS = re.compile("([;\t\r\n])")
"""Separators of cells where a spreadsheet does not part at commas, as in French."""

_UNSEEN = ("Zs", "Zl", "Zp", "Cc", "Cf")
"""Categories of characters that spreadsheets drop before a formula."""
POINT_DECIMALS, TIE_DECIMALS = Decimal("0.0001"), Decimal("0.000001")
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
    write = functools.partial(_write_cell, point=point, is_exact=not spreadsheet)
    writer.writerows(map(write, row) for row in rows)
    return text.getvalue().encode("utf-8-sig" if spreadsheet else "utf-8")


def _write_cell(cell: Cell, *, point: str, is_exact: bool) -> str:
    """Return a cell as text. A fraction is exact behind an apostrophe, since 3/2 would be a date, or a decimal."""
    if isinstance(cell, Fraction) and is_exact:
        return f"'{cell}"
    if isinstance(cell, Fraction):
        cell = (Decimal(cell.numerator) / cell.denominator).quantize(TIE_DECIMALS)
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
    yield "stage", "round", "table", "game", "attempt", "seats", "annulled", "reported", "elsewhere"
    for stage, round_, pod in _list_pods(t):
        seats = len(pod["entrants"])
        state = pod["annulled"], pod["reported"], pod["elsewhere"]
        yield stage, round_, pod["table"], pod["game"], pod["attempt"], seats, *state


def _list_seats(t: Tournament, names: Names) -> Iterator[Iterable[Cell]]:
    """Yield a row for each seat of a pod; byes have no table and no seat. Tables that do not count have no ticks."""
    yield (
        "stage",
        "round",
        "table",
        "seat",
        "entrant",
        "name",
        "place",
        "game_points",
        "lapses",
        "absent",
        "handicap",
        "ticks",
        "points",
        "elsewhere",
    )
    tallies = {stage: Tally(t.stage(stage)) for stage in range(1, len(t.stages) + 1)}
    counted = {(stage, table.name): ticks for stage, tally in tallies.items() for table, ticks in tally.tables}
    for stage, round_, pod in _list_pods(t):
        columns = [dict(enumerate(pod[name])) for name in ("places", "points", "lapses")]
        handicaps, ticks = dict(enumerate(pod["handicaps"])), dict(enumerate(counted.get((stage, pod["table"]), ())))
        for seat, entrant in enumerate(pod["entrants"]):
            place = (stage, round_, pod["table"], seat, entrant, _label(t, names, entrant))
            figures = (column.get(seat) for column in columns)
            yield (
                *place,
                *figures,
                seat in pod["absent"],
                handicaps.get(seat),
                *_count(ticks.get(seat)),
                pod["elsewhere"],
            )
    for stage, play in enumerate(t.stages, 1):
        byes = [(round_, entrant) for round_, drawn in enumerate(play.rounds, 1) for entrant in drawn.byes]
        credited = {e: iter(tallies[stage].credits[e]) for e in range(len(t.entrants))}
        for round_, entrant in byes:
            label, credit = _label(t, names, entrant), _count(next(credited[entrant], None))
            yield stage, round_, None, None, entrant, label, None, None, None, False, None, *credit, False


def _count(ticks: int | None) -> tuple[Cell, Cell]:
    """Return ticks, and the points of them."""
    return ticks, None if ticks is None else (Decimal(ticks) / POINT).quantize(POINT_DECIMALS)


def _list_standings(t: Tournament, names: Names) -> Iterator[Iterable[Cell]]:
    """Yield the places of every stage as of now; a rule for ties has a column of its own."""
    ties = (rule for stage in t.terms.stages for rule in stage.ties)
    rules = list(dict.fromkeys(rule for rule in ties if rule not in ("direct", "shared")))
    columns = (*(f"tie_{rule}" for rule in rules), "credits", "penalties", "left_out")
    yield "stage", "place", "entrant", "name", "points", "ticks", "tables", "missed", *columns
    for stage in range(1, len(t.stages) + 1):
        counted = TieBreaks(t.stage(stage))
        reader = PartsReader(t, stage, counted.tally)
        for row in list_standings(counted):
            entrant = row["entrant"]
            ticks, points = _count(row["ticks"])
            label, values = _label(t, names, entrant), (_read_value(row["ties"].get(rule)) for rule in rules)
            figures = (points, ticks, row["tables"], row["missed"])
            left_out = sum(part["ticks"] for part in reader.list_parts(entrant) if not part["counts"])
            more = sum(row["credits"]), counted.tally.stage.penalties.get(entrant, 0), left_out
            yield stage, row["place"], entrant, label, *figures, *values, *more


def _read_value(value: str | None) -> Cell:
    """Return the value of a rule for ties: a fraction, a whole number, or the digits of a draw."""
    return Fraction(value) if value and "/" in value else value


# --- as the World Diplomacy Database loads them (docs/api/tournaments.md names the source)


def _split_name(t: Tournament, names: Names, entrant: int) -> tuple[str, str, int]:
    """Return first name, name, and a number to tell people with one name apart."""
    first, _, last = _label(t, names, entrant).partition(" ")
    return (first, last, 1) if last else ("", first or str(entrant), 1)


def _list_classification(t: Tournament, names: Names) -> Iterator[Iterable[Cell]]:
    """Yield the places of the current stage, with the points of each round."""
    stage = len(t.stages)
    rounds = range(1, len(t.play.rounds) + 1)
    yield "FIRST NAME", "NAME", "HOMONYME", "RANK", "EXAEQUO", "SCORE", *(f"R{number}" for number in rounds)
    ties = TieBreaks(t.stage(stage))
    reader, rows = PartsReader(t, stage, ties.tally), list_standings(ties)
    level = Counter(row["place"] for row in rows)
    for row in rows:
        scored = Counter[int]()
        for part in reader.list_parts(row["entrant"]):
            scored[part["round"]] += part["ticks"] if part["counts"] else 0
        person = _split_name(t, names, row["entrant"])
        points = (_count(scored[number])[1] for number in rounds)
        yield *person, row["place"], level[row["place"]], _count(row["ticks"])[1], *points


def _list_boards(t: Tournament, names: Names) -> Iterator[Iterable[Cell]]:
    """Yield a row for each seat of a table with places. Rounds of a later stage follow those before."""
    yield (
        *("FIRST NAME", "NAME", "HOMONYME", "ROUND", "BOARD", "COUNTRY"),
        *("RANK", "EXAEQUO", "SCORE", "NB_CENTRE", "YEAR_ELIMINATION", "DRAW"),
    )
    before = 0
    for stage, play in enumerate(t.stages, 1):
        for table, ticks in Tally(t.stage(stage)).tables:
            for seat, entrant in enumerate(table.entrants):
                if entrant is not None:
                    rank = table.places[seat]
                    board = before + table.round, table.pod, seat + 1
                    score = rank, table.places.count(rank), _count(ticks[seat])[1]
                    own = table.points[seat] if table.points else None
                    yield *_split_name(t, names, entrant), *board, *score, own, None, None
        before += len(play.rounds)


_SHEETS: Mapping[str, Callable[[Tournament, Names], Iterator[Iterable[Cell]]]] = {
    "entrants": _list_entrants,
    "tables": _list_tables,
    "seats": _list_seats,
    "standings": _list_standings,
    "wdd_classification": _list_classification,
    "wdd_boards": _list_boards,
}
