"""Routes that change a running tournament: its timetable, a pause, and terms between rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from api import authorization
from api.command_execution import execute_command
from api.event_stakes import list_related
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.officer_rights import acting_officer
from api.openapi.smorest import Blueprint
from api.paces import parse_pace
from api.response_builders import json_response
from api.routes.tournaments import fill_stage
from api.schemas.query_args import MoveHeaders
from api.schemas.tournament_responses import TournamentPausedDoc, TournamentWrittenDoc
from api.schemas.tournament_schemas import AmendmentSchema, EnterSchema, TimetableSchema
from api.services import services
from api.tournament_calls import execute_for_caller, own_players, written_response
from api.tournament_rights import require_right
from domain.command_handler import GameConditions
from domain.errors import RuleError
from domain.kernel.game.command import Command
from domain.kernel.game.officers import Officer
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.service.recurrence import read_times
from domain.tournaments.aggregate.basic_commands import require_no_stake
from domain.tournaments.aggregate.change_commands import LONGEST_PAUSE, AmendTerms, PauseEvent, ResumeEvent, has_begun
from domain.tournaments.aggregate.clock_commands import SetTimetable
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.terms import DECLARED, terms_to_json
from domain.types import Doc

bp = Blueprint(
    "tournament_changes",
    __name__,
    url_prefix="/v1/tournaments/<tournament:tournament>",
    description="Timetable, pause and terms of a running tournament.",
)


@bp.operation(
    "PUT",
    "/timetable",
    "set_timetable",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=TimetableSchema,
    headers=MoveHeaders,
)
def set_timetable(body: Doc, headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Let the rounds of a stage start at fixed times: check-in, draw, tables and standings then come by themselves.

    A round with tables keeps its start, and a drawn stage its `extension`. Once a stage has a timetable or a draw, an
    officer with a place there changes nothing.
    """
    t, officer = require_right(tournament, "set_timetable")
    starts = read_times(body["starts"], body["zone"])
    times = (body[name] for name in ("opens", "closes", "each", "warning", "extension"))
    command = SetTimetable(officer, body["stage"] or len(t.stages), starts, *times)
    return written_response(execute_for_caller(tournament, command, headers), status=200)


@bp.operation(
    "PUT",
    "/pause",
    "pause_tournament",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
    body=EnterSchema,
    body_required=False,
)
def pause_tournament(_: Doc, tournament: str) -> JsonResponse[TournamentPausedDoc]:
    """Pause the event and its tables: nothing is drawn, no table is made, and no deadline passes.

    It ends by itself after 30 days. You may repeat it. `refused` lists the tables of your own seats.
    """
    t, officer = require_right(tournament, "pause_tournament")
    if t.paused_at:
        _require_no_stake(t)
    else:
        execute_for_caller(tournament, PauseEvent(officer), {"key": ""})
    until = services().tournaments.load(tournament).paused_at + LONGEST_PAUSE
    return _rule_everywhere(t, officer, PauseGame(until), lambda since: since is None)


@bp.operation(
    "DELETE",
    "/pause",
    "resume_tournament",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
)
def resume_tournament(tournament: str) -> JsonResponse[TournamentPausedDoc]:
    """Let the event go on, and its tables: all deadlines have moved. A table paused before the event stays so."""
    t, officer = require_right(tournament, "resume_tournament")
    _require_no_stake(t)
    paused_at = t.paused_at
    response = _rule_everywhere(t, officer, ResumeGame(), lambda since: since is not None and since >= paused_at > 0)
    execute_for_caller(tournament, ResumeEvent(officer), {"key": ""})
    return response


def _require_no_stake(t: Tournament) -> None:
    require_no_stake(t, len(t.stages), (*own_players(), *list_related(authorization.credential_owner().account)))


def _rule_everywhere(
    t: Tournament, officer: str, command: Command, wants: Callable[[int | None], bool]
) -> JsonResponse[TournamentPausedDoc]:
    """Give a command at all tables in play. `wants`: whether a table needs it, by the beginning of its pause."""
    done, refused, s = list[str](), list[str](), services()
    with rate_limits.long_work_slot():
        for name, game in _list_games(t):
            played = s.commands.game(game)
            pause = played.current_pause
            if played.status == "running" and wants(pause.since if pause else None):
                (done if _rule(game, officer, command) else refused).append(name)
    version = s.ledger.version(t.id)
    if position := s.ledger.position(t.id, version):
        s.notify_appended(position)
    doc: TournamentPausedDoc = {"tournament": t.id, "version": version, "pods": done, "refused": refused}
    return json_response(doc, Annals_Version=str(version))


def _list_games(t: Tournament) -> Iterator[tuple[str, str]]:
    for stage, play in enumerate(t.stages, 1):
        for (round_, pod), table in sorted(play.tables.items()):
            if table.game and not table.annulled and table.result is None:
                yield f"{stage}/{round_}.{pod}", table.game


def _rule(game: str, player: str, command: Command) -> bool:
    """Rule at a table, as its officer or for the organiser; return whether the caller may."""
    author = acting_officer(game) or Officer(player, "owner")
    try:
        stored = execute_command(game, command, GameConditions(author=author), author_ids=authorization.player_ids())
    except RuleError:
        return False
    services().notify_appended(stored.position)
    return True


@bp.operation(
    "POST",
    "/amendments",
    "amend_tournament",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=AmendmentSchema,
    headers=MoveHeaders,
    status=201,
)
def amend_tournament(body: Doc, headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Change terms of your tournament between rounds: sizes, times, stages that have not begun. Everybody is told.

    A stage that has begun keeps its scoring, total, ties, byes, advancement, seeds and number of rounds (409
    `terms_fixed`). The terms before stay in the record.
    """
    t, officer = require_right(tournament, "amend_tournament")
    command = AmendTerms(officer, _merge_terms(t, body))
    return written_response(execute_for_caller(tournament, command, headers, body["reason"]))


def _merge_terms(t: Tournament, body: Doc) -> Doc:
    """Return the terms with the changes of a request. Raise InvalidTable for sizes or a pace that the game has not."""
    s, terms = services(), terms_to_json(t.terms)
    rules, stages, table = s.registry.get(t.terms.ruleset), terms["stages"], dict(terms["table"])
    sizes = body.get("seats", {})
    for seats in range(sizes["least"], sizes["most"] + 1) if sizes else ():
        rules.make_table(seats, t.terms.options)
    if "pace" in body:
        table["pace"] = parse_pace(rules.meta, body["pace"], s.clock()).to_json()
    if "time_limit" in body:
        table.pop("time_limit", None)
        table |= {"time_limit": body["time_limit"]} if body["time_limit"] else {}
    if "bidding" in body:
        stages[len(t.stages) - 1] = {**stages[len(t.stages) - 1], "bidding": body["bidding"]}
    if "stages" in body:
        begun = sum(has_begun(t, index) for index in range(len(stages)))
        stages = [*stages[:begun], *map(fill_stage, body["stages"])]
    changed: Doc = {name: body[name] for name in ("capacity", "reveal", "elsewhere") if name in body}
    if body.get("bots", told := t.terms.bots or DECLARED) != told:
        changed["bots"] = body["bots"]
    return {**terms, **sizes, **changed, "table": table, "stages": stages}
