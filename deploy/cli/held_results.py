"""The results of a tournament, held against the exports of its games: one sentence for each difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from domain.errors import AnnalsError
from domain.kernel.game.game import AnyGame
from domain.kernel.game.game_fold import fold
from domain.kernel.game.rulings import final_scores
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ruleset_registry import RulesetRegistry
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_fold import apply_tournament_record, fold_tournament, initial_tournament
from domain.tournaments.attendance import count_lapses, count_shares, find_left_seats, list_decisions
from domain.tournaments.records import FAMILY
from domain.types import Doc, Json

GameReader = Callable[[str], bytes | None]
"""Function from the id of a game to its export, or None without one."""


class ReportedTable(NamedTuple):
    """A result as the event has it, with the people behind each seat at the report."""

    name: str
    body: Doc
    people: Sequence[Sequence[str]]
    """Player ids by seat: the entrant and the substitutes."""
    counts_leavers: bool


@dataclass(frozen=True)
class HeldResults:
    """Result of the comparison."""

    tables: int
    """Results that were compared."""
    differences: Sequence[str]
    missing: Sequence[str]
    """Sentences on tables without an export, or played elsewhere: not checked, or not proved."""


def hold_results(records: Sequence[Record], read_game: GameReader, registry: RulesetRegistry) -> HeldResults:
    """Compare every result of a proved event with its game."""
    compared, differences, missing = 0, list[str](), list[str]()
    for table in list_reported(records):
        data = read_game(table.body["game"])
        if data is None:
            missing.append(f"Table {table.name}: there is no export of game {table.body['game']}. It is not checked.")
            continue
        compared += 1
        try:
            differences += [f"Table {table.name}: {found}" for found in _compare(table, data, registry)]
        except AnnalsError as error:
            differences.append(f"Table {table.name}: the game does not hold: {error}.")
    return HeldResults(compared, differences, [*missing, *list_unproved(records)])


def list_unproved(records: Sequence[Record]) -> list[str]:
    """Return a sentence for each result of a table elsewhere: no game proves it."""
    t = fold_tournament(records)
    return [
        f"Table {_name_table(t, stage, *place)}: played elsewhere. It is not proved."
        for stage, play in enumerate(t.stages, 1)
        for place, table in sorted(play.tables.items())
        if table.elsewhere and table.result
    ]


def list_reported(records: Sequence[Record]) -> list[ReportedTable]:
    """Return the last report of each game, in order of the tables."""
    t, found = initial_tournament(records[0]), dict[tuple[int, int, int, str], ReportedTable]()
    for record in records[1:]:
        if record.kind == f"{FAMILY}reported":
            body = record.body
            place = body["stage"], body["round"], body["pod"], body["game"]
            found[place] = _read_report(t, body)
        t = apply_tournament_record(t, record)
    return [found[place] for place in sorted(found)]


def _read_report(t: Tournament, body: Doc) -> ReportedTable:
    table = t.stages[body["stage"] - 1].tables[body["round"], body["pod"]]
    people = [t.entrants[entrant].deciders for entrant in table.entrants]
    counts_leavers = t.terms.stages[body["stage"] - 1].wanted_bye is not None
    name = _name_table(t, body["stage"], body["round"], body["pod"])
    return ReportedTable(name, body, people, counts_leavers)


def _name_table(t: Tournament, stage: int, round_: int, pod: int) -> str:
    return (f"{stage}/" if len(t.terms.stages) > 1 else "") + f"{round_}.{pod}"


def _compare(table: ReportedTable, data: bytes, registry: RulesetRegistry) -> Iterator[str]:
    """Yield the differences between a report and the export of its game; raise AnnalsError if the export is false."""
    game_export, body = export.parse(data), table.body
    rules = registry.get(game_export.ruleset)
    verify.verify(rules, game_export)
    if game_export.game != body["game"]:
        yield f"the event has game {body['game']}, and the file has {game_export.game}."
        return
    records = game_export.records[: body["version"]]
    if records[-1].version != body["version"] or records[-1].hash != body["head"]:
        yield f"record {body['version']} of the game has another hash than the event says."
        return
    for name, value in _compute_result(table, records, fold(rules, records), rules).items():
        stored = [list(each) if isinstance(each, tuple) else each for each in body.get(name, [])]
        if stored != value and _has_figures(stored, value):
            yield f"the event has {_NAMES[name]} {_write(stored)}, and the game has {_write(value)}."


def _compute_result(
    table: ReportedTable, records: Sequence[Record], game: AnyGame, rules: AnyRuleset
) -> dict[str, list[Json]]:
    """Return the members of a report as they follow from a game; a game without a result has none."""
    scores, decisions = final_scores(rules, game), list_decisions(records)
    if not scores:
        return {"places": [], "points": []}
    return {
        "places": [score.place for score in scores],
        "points": [score.points for score in scores],
        "decisions": [list(share) for share in count_shares(decisions, table.people)],
        "lapses": list(count_lapses(decisions, len(table.people))),
        "left": list(find_left_seats(records, table.people)) if table.counts_leavers else [],
    }


def _has_figures(*lists: Sequence[Json]) -> bool:
    """Return whether one of these has a figure other than 0: such members stand in no report."""
    return any(figure for each in lists for part in each for figure in (part if isinstance(part, list) else [part]))


_NAMES = {
    "places": "places",
    "points": "game points",
    "decisions": "decisions of the entrants and all of them",
    "lapses": "missed deadlines",
    "left": "seats given back",
}


def _write(values: Sequence[Json]) -> str:
    written = ["/".join(map(str, each)) if isinstance(each, list) else str(each) for each in values]
    return ", ".join(written) or "none"
