"""The parts of an entrant's points: tables, credits, byes, absences, penalties, and the changes by rulings.

They follow the sums of `Tally`, so that they add up to the points of the standings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, NotRequired, TypedDict

from domain.compat import cached_property
from domain.kernel.text.message_catalog import Texts
from domain.tournaments.aggregate.stage import EXCLUDED, LATE, WITHDREW, StagePlay, TablePlace
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.explain import DECIMALS
from domain.tournaments.result_rulings import KEEP
from domain.tournaments.results import AVERAGE, ZERO, TableResult, Tally
from domain.tournaments.scoring import POINT

PARTS = TABLE, RUNNING, VOID, CREDIT, BYE, MISSED, PENALTY = (
    "table",
    "running",
    "void",
    "credit",
    "bye",
    "missed",
    "penalty",
)
"""Kinds: a table, one in play, one out of the count, one with a credit in its place, a bye, a round without a table, a
penalty."""

DRAWN, ABSENT, LEFT, RULED, NO_RESULT, TOO_FEW, ASIDE = (
    "drawn",
    "absent",
    "left",
    "ruled",
    "no_result",
    "too_few",
    "aside",
)
"""Causes beside those of absences and wanted byes: the draw; less than half of the decisions; a seat given back; a
ruling; a game without places; too few people; outside of the window of a ladder."""


class PointPartDoc(TypedDict):
    kind: Annotated[str, PARTS]
    round: Annotated[int, "0 for a penalty."]
    table: Annotated[str, "`round.pod`, or empty."]
    ticks: Annotated[int, "Before the total chooses or weighs."]
    counts: Annotated[bool, "False if the total leaves it out."]
    cause: str
    rulings: Annotated[list[int], "Numbers of the rulings behind it."]
    percent: NotRequired[Annotated[int, "Weight in the total."]]
    place: NotRequired[int]
    played: NotRequired[Annotated[int, "Place in the game, before a ruling."]]
    seats: NotRequired[Annotated[int, "Number of seats at the table."]]
    points: NotRequired[Annotated[int, "Game points."]]
    elsewhere: NotRequired[Annotated[bool, "True if the table is played outside of the service: no game proves it."]]
    handicap: NotRequired[Annotated[int, "Ticks from bids for seats, within `ticks`."]]
    mean_of: NotRequired[Annotated[list[int], "Of a credit: sum of ticks, tables, and rounds missed."]]


@dataclass(frozen=True)
class PartsReader:
    """Reads the parts of the entrants of a stage; the tally is that of the same tournament and stage."""

    t: Tournament
    number: int
    """Of the stage."""
    tally: Tally

    @property
    def _play(self) -> StagePlay:
        return self.t.stages[self.number - 1]

    def list_parts(self, entrant: int) -> list[PointPartDoc]:
        """Return the parts of an entrant's points in order of rounds, penalties last."""
        tables = [self._read_table(table, entrant) for table in self.list_tables(entrant)]
        valued = [
            *(part for part in tables if part["kind"] == TABLE),
            *self._list_byes(entrant),
            *self._give_credits(entrant, [part for part in tables if part["kind"] == CREDIT]),
        ]
        _weigh(valued, self.tally.stage.total)
        others = [part for part in tables if part["kind"] not in (TABLE, CREDIT)]
        parts = [*valued, *others, *self._list_missed(entrant)]
        return [*sorted(parts, key=lambda part: part["round"]), *self._list_penalties(entrant)]

    def list_tables(self, entrant: int) -> Sequence[TableResult]:
        """Return all tables of an entrant in the stage, annulled ones too."""
        return self._tables.get(entrant, ())

    @cached_property
    def _tables(self) -> dict[int, list[TableResult]]:
        found: dict[int, list[TableResult]] = {}
        for table in self.tally.stage.tables:
            for entrant in table.entrants:
                if entrant is not None:
                    found.setdefault(entrant, []).append(table)
        return found

    @cached_property
    def _ticks(self) -> dict[str, list[int]]:
        return {table.name: ticks for table, ticks in self.tally.tables}

    def _read_table(self, table: TableResult, entrant: int) -> PointPartDoc:
        part: PointPartDoc = {
            "kind": TABLE,
            "round": table.round,
            "table": table.name,
            "ticks": 0,
            "counts": True,
            "cause": "",
            "rulings": [],
            "seats": len(table.entrants),
        }
        if self._play.tables[table.round, table.pod].elsewhere:
            part["elsewhere"] = True
        if table.annulled:
            self._fill_annulled(part, table)
        elif not table.places:
            part["kind"], part["counts"] = RUNNING, False
        else:
            self._fill_played(part, table, table.entrants.index(entrant))
        if self.tally.stage.window and part["kind"] == TABLE and table not in self.tally.seats[entrant]:
            part["counts"], part["cause"] = False, ASIDE
        return part

    def _fill_annulled(self, part: PointPartDoc, table: TableResult) -> None:
        place = (table.round, table.pod)
        rulings, has_result = self._find_rulings(place, table), bool(self._play.tables[place].result)
        part["kind"] = CREDIT if table.annulled == AVERAGE else VOID
        part["cause"] = RULED if rulings else NO_RESULT if has_result else TOO_FEW
        part["counts"], part["rulings"] = part["kind"] == CREDIT, rulings

    def _fill_played(self, part: PointPartDoc, table: TableResult, seat: int) -> None:
        place = (table.round, table.pod)
        result = self._play.tables[place].result or {}
        part["ticks"], part["place"] = self._ticks[table.name][seat], table.places[seat]
        if table.points:
            part["points"] = table.points[seat]
        if seat in table.absent:
            part["cause"] = LEFT if seat in result.get("left", ()) else ABSENT
        elif table.handicaps:
            part["handicap"] = table.handicaps[seat]
        if result["places"][seat] != table.places[seat]:
            part["played"], part["rulings"] = result["places"][seat], self._find_rulings(place, table)

    def _find_rulings(self, place: TablePlace, table: TableResult) -> list[int]:
        """Return the numbers of the rulings in force behind places of a table, or behind its annulment."""
        found: list[int] = []
        for ruling in self.t.rulings:
            body = ruling.body
            if ruling.restored or body["stage"] != self.number or ruling.kind == "penalised":
                continue
            if ruling.kind == "excluded":
                found += [ruling.version] if body["entrant"] in table.entrants and body["results"] != KEEP else []
            elif (body["round"], body["pod"], body["attempt"]) == (*place, self._play.attempt_at(place)):
                found = [ruling.version]
        return found

    def _list_byes(self, entrant: int) -> list[PointPartDoc]:
        stage = self.tally.stage
        byes = sorted(round_ for round_, other in stage.byes if other == entrant)
        return [
            {
                "kind": BYE,
                "round": round_,
                "table": "",
                "ticks": ticks,
                "counts": True,
                "cause": stage.wanted.get((round_, entrant), DRAWN),
                "rulings": [],
                "mean_of": self._find_mean(entrant),
            }
            for round_, ticks in zip(byes, self.tally.credits[entrant], strict=False)
        ]

    def _give_credits(self, entrant: int, parts: list[PointPartDoc]) -> list[PointPartDoc]:
        """Return the tables with a credit in their place; in a ladder, those outside of the window have none."""
        byes = sum(other == entrant for _, other in self.tally.stage.byes)
        found = self.tally.credits[entrant][byes:]
        for part, ticks in zip(reversed(parts), reversed(found), strict=False):
            part["ticks"], part["mean_of"] = ticks, self._find_mean(entrant)
        for part in parts[: len(parts) - len(found)]:
            part["counts"], part["cause"] = False, ASIDE
        return parts

    def _find_mean(self, entrant: int) -> list[int]:
        values = self.tally.values[entrant]
        return [sum(values), len(values), self.tally.count_missed(entrant)]

    def _list_missed(self, entrant: int) -> list[PointPartDoc]:
        """Return the rounds without a table or a bye, with the cause."""
        stage = self.tally.stage
        if stage.window or entrant in stage.outsiders:
            return []
        present = {table.round for table in self.list_tables(entrant)}
        present |= {round_ for round_, other in stage.byes if other == entrant}
        return [
            {
                "kind": MISSED,
                "round": round_,
                "table": "",
                "ticks": 0,
                "counts": True,
                "cause": self._find_absence(round_, entrant),
                "rulings": [],
            }
            for round_ in range(1, stage.rounds + 1)
            if round_ not in present
        ]

    def _find_absence(self, round_: int, entrant: int) -> str:
        """Return why an entrant has no table: known from the draw, or from what has happened since."""
        known = self._play.absences.get(round_, {}).get(entrant)
        if known is None and any(entrant in pod for pod in self._play.rounds[round_ - 1].pods):
            return EXCLUDED if self.t.entrants[entrant].excluded else WITHDREW
        return known or LATE

    def _list_penalties(self, entrant: int) -> list[PointPartDoc]:
        return [
            {
                "kind": PENALTY,
                "round": 0,
                "table": "",
                "ticks": -ruling.body["ticks"],
                "counts": True,
                "cause": RULED,
                "rulings": [ruling.version],
            }
            for ruling in self.t.rulings
            if ruling.kind == "penalised" and not ruling.restored
            if (ruling.body["stage"], ruling.body["entrant"]) == (self.number, entrant)
        ]


def _weigh(parts: Sequence[PointPartDoc], total: str) -> None:
    """Mark the parts as the total takes them: the best ones alone, or each with its weight."""
    method, _, argument = total.partition(":")
    if method not in ("best", "weights"):
        return
    order = sorted((n for n, part in enumerate(parts) if part["counts"]), key=lambda n: -parts[n]["ticks"])
    weights = [100] * int(argument) if method == "best" else [int(each) for each in argument.split(",")]
    taken = dict(zip(order, weights, strict=False))
    for n, part in enumerate(parts):
        part["counts"] = n in taken
        if method == "weights" and n in taken:
            part["percent"] = taken[n]


def describe_part(part: PointPartDoc, texts: Texts) -> str:
    """Return a part as a sentence."""
    said = {**part, "ticks": write_points(part["ticks"], texts)}
    if "handicap" in part:
        said["handicap"] = write_points(part["handicap"], texts) if part["handicap"] else None
    if "mean_of" in part:
        ticks, said["tables"], missed = part["mean_of"]
        said |= {"sum": write_points(ticks, texts), "missed": missed or None}
    said["rulings"] = part["rulings"] or None
    told = texts.render(f"points.{_find_key(part)}", said) or ""
    if "elsewhere" in part:
        told += " " + (texts.render("points.elsewhere", said) or "")
    if part["kind"] in (TABLE, BYE, CREDIT) and not part["counts"]:
        told += " " + (texts.render("points.left_out", said) or "")
    if "percent" in part:
        told += " " + (texts.render("points.percent", said) or "")
    return told


def _find_key(part: PointPartDoc) -> str:
    """Return the key of a part's sentence below `points`."""
    kind, cause = part["kind"], part["cause"]
    if kind in (BYE, CREDIT) and cause != ZERO and "mean_of" in part and not part["mean_of"][1]:
        return f"{kind}.none"
    if kind == TABLE:
        return f"table.{cause}" if cause in (ABSENT, LEFT) else "table"
    return kind if kind in (RUNNING, PENALTY) else f"{kind}.{cause}"


def describe_total(tally: Tally, entrant: int, texts: Texts) -> str:
    """Return the sentence of the points in all: how they follow from the parts."""
    method, _, argument = tally.stage.total.partition(":")
    count = len(tally.values[entrant]) + len(tally.credits[entrant]) + tally.missed[entrant]
    said = {"ticks": write_points(tally.totals[entrant], texts), "count": count, "best": argument}
    return texts.render(f"points.total.{method}", said) or ""


def write_points(ticks: int, texts: Texts) -> str:
    """Return ticks as points: `2.250`, `2,250`."""
    return texts.grammar.decimal(Fraction(ticks, POINT), DECIMALS)
