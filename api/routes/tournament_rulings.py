"""Routes of the officers of a tournament: name them, preview a ruling, rule, list the rulings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from api import authorization
from api.caller_keys import creation_response, person_key
from api.event_stakes import list_related
from api.http import rate_limits
from api.http.i18n import request_language, translate
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.name_lookups import find_person
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import json_response, retry_after_inspection, tagged_response, wait_for_views
from api.routes.entry_offers import store_offer
from api.schemas.query_args import MoveArgs, MoveHeaders, WaitArgs
from api.schemas.tournament_responses import (
    MovedPlaceDoc,
    RulingPreviewDoc,
    TournamentRuledDoc,
    TournamentRulingsDoc,
    TournamentWrittenDoc,
)
from api.schemas.tournament_schemas import (
    TournamentAnswerSchema,
    TournamentAppealRequestSchema,
    TournamentOfficerSchema,
    TournamentRulingHeaders,
    TournamentRulingSchema,
)
from api.services import services
from api.tournament_calls import (
    check_for_caller,
    confirm_tournament_write,
    describe_version,
    entrant_names,
    execute_for_caller,
    load_tournament,
    own_players,
    written_response,
)
from api.tournament_rights import require_right
from domain.kernel.text.message_catalog import Message
from domain.service.event_people import EventOffer
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_appeal_commands import AnswerAppeal, ContestRuling
from domain.tournaments.aggregate.tournament_ruling_commands import (
    AnnulTable,
    DeputeOfficer,
    Exclude,
    Penalise,
    PlaceTable,
    RecuseOfficer,
    Restore,
    RulingCommand,
    RulingEffect,
)
from domain.tournaments.explain import explain, explanation_sentences
from domain.tournaments.standings import list_standings
from domain.tournaments.ties import TieBreaks
from domain.types import Doc
from projections.tournament_views import build_rulings

bp = Blueprint(
    "tournament_rulings",
    __name__,
    url_prefix="/v1/tournaments/<tournament:tournament>",
    description="Officers of a tournament, and their rulings.",
)

_NEEDED: Mapping[str, str] = {
    "placed": "table",
    "annulled": "table",
    "penalised": "entrant",
    "excluded": "entrant",
    "restored": "ruling",
}
"""Act -> necessary member of the body."""


@bp.operation(
    "GET",
    "/rulings",
    "tournament_rulings",
    access=authorization.public,
    errors=(304, 404, 503),
    query=WaitArgs,
)
@retry_after_inspection
def list_tournament_rulings(args: Doc, tournament: str) -> JsonResponse[TournamentRulingsDoc]:
    """Return the rulings with their authors and reasons, the first one first."""
    wait_for_views(args["wait"])
    t, texts = load_tournament(tournament), services().seat_tokens.texts
    appeals = [appeal for each in t.rulings for appeal in each.appeals]
    hashes = [each.reason for each in t.rulings]
    hashes += [hashed for appeal in appeals for hashed in (appeal.reason, appeal.answer)]
    items = build_rulings(t, texts.find_texts([each for each in hashes if each]))
    officers = {each.body["officer"] for each in t.rulings} | {each.officer for each in appeals if each.officer}
    names = texts.list_names(officers)
    doc: TournamentRulingsDoc = {"tournament": t.id, "version": t.version, "names": names, "items": items}
    return tagged_response(doc, t.version)


@bp.operation(
    "POST",
    "/rulings",
    "rule_on_tournament",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412, 428),
    body=TournamentRulingSchema,
    headers=TournamentRulingHeaders,
    query=MoveArgs,
    status=201,
    description="Stored",
)
@bp.alt_response(
    200,
    headers=string_headers("ETag"),
    description="Effect of the ruling, of a dry run",
    success=True,
)
def rule_on_tournament(
    body: Doc, headers: Doc, args: Doc, tournament: str
) -> JsonResponse[TournamentRuledDoc] | JsonResponse[RulingPreviewDoc]:
    """Rule on a table or an entrant, or take a ruling back, as an officer. Everybody may read your reason.

    First send it with `dry_run=1`: the response explains each place that would move. Then send it with its ETag in
    If-Match: 412 `preview_stale` says that it would move something else by now. You cannot rule in a
    stage in which you have a place, or a person to whom you have declared a relation. Draws stand. Official standings
    that change are replaced.
    """
    t, officer = require_right(tournament, "rule_on_tournament")
    command = _read_ruling(t, body, officer, headers["match"].strip('"'))
    if args["dry_run"] == "1":
        command.check_person(t, (officer, *command.players, *command.related), t.time)
        with rate_limits.whole_game_slot():
            return _preview_response(t, RulingEffect(replace(t, time=services().tournaments.now()), command))
    if not command.preview:
        raise Problem("precondition_required", "Send If-Match with the ETag of the dry run.")
    if not body["reason"]:
        raise Problem("invalid_body", errors=[{"at": "/reason", "message": Message("A reason is expected.")}])
    slot = rate_limits.gate_context()
    stored = execute_for_caller(tournament, command, {"key": headers["key"]}, body["reason"], slot=slot)
    ruling = stored.records[0].body.get("ruling", stored.versions[0])
    return written_response(stored, {**confirm_tournament_write(stored), "ruling": ruling})


@bp.operation(
    "POST",
    "/appeals",
    "appeal_in_tournament",
    access=authorization.require_playing_account,
    errors=(403, 404, 409, 412),
    body=TournamentAppealRequestSchema,
    headers=MoveHeaders,
    status=201,
)
def appeal_in_tournament(body: Doc, headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Contest a ruling, as an entrant of its stage. Each entrant may do so once, whoever else has.

    The ruling stands meanwhile. Everybody may read your reason.
    """
    command = ContestRuling(own_players(), body["ruling"])
    return written_response(execute_for_caller(tournament, command, headers, body["reason"]))


@bp.operation(
    "POST",
    "/appeals/<version:ruling>/answer",
    "answer_in_tournament",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=TournamentAnswerSchema,
    headers=MoveHeaders,
    status=201,
)
def answer_in_tournament(body: Doc, headers: Doc, tournament: str, ruling: int) -> JsonResponse[TournamentWrittenDoc]:
    """Answer an appeal, as another officer than the ruling's author, and no party to the matter.

    If you overturn the ruling, an officer then takes it back (`restored`): its effect is shown and confirmed as ever.
    """
    _, officer = require_right(tournament, "answer_in_tournament")
    command = AnswerAppeal(officer, own_players(), _list_related(), ruling, body["outcome"], body["entrant"])
    return written_response(execute_for_caller(tournament, command, headers, body["reason"]))


def _list_related() -> tuple[str, ...]:
    """Return all player ids of the people to whom the caller has declared a relation."""
    return list_related(authorization.credential_owner().account)


def _read_ruling(t: Tournament, body: Doc, officer: str, preview: str) -> RulingCommand:
    """Return the command of a body. Raise Problem for a missing member."""
    needed = _NEEDED[body["act"]]
    if body[needed] in (None, "") or (body["act"] == "penalised" and body["ticks"] is None):
        at = needed if body[needed] in (None, "") else "ticks"
        raise Problem("invalid_body", errors=[{"at": f"/{at}", "message": Message("This act needs it.")}])
    by = officer, tuple(sorted(authorization.player_ids())), _list_related(), preview
    stage = body["stage"] or len(t.stages)
    round_, pod = map(int, body["table"].split(".")) if body["table"] else (0, 0)
    makers: Mapping[str, Callable[[], RulingCommand]] = {
        "placed": lambda: PlaceTable(*by, stage, round_, pod, tuple(body["places"])),
        "annulled": lambda: AnnulTable(*by, stage, round_, pod, body["how"]),
        "penalised": lambda: Penalise(*by, stage, body["entrant"], body["ticks"]),
        "excluded": lambda: Exclude(*by, stage, body["entrant"], body["results"]),
        "restored": lambda: Restore(*by, body["ruling"]),
    }
    return makers[body["act"]]()


def _preview_response(t: Tournament, effect: RulingEffect) -> JsonResponse[RulingPreviewDoc]:
    """Return the effect of a ruling, with a sentence for each moved place."""
    names, before, after = entrant_names(t), effect.before, effect.after
    labels = [names.get(each.player, f"({number})") for number, each in enumerate(t.entrants)]
    order = [entrant for group in after.ranking for entrant in group]
    neighbours = dict(zip(order, order[1:2] + order, strict=False)) if len(order) > 1 else {}
    moved: list[MovedPlaceDoc] = [
        {
            "entrant": entrant,
            "before": before.places[entrant],
            "after": after.places[entrant],
            "ticks_before": before.tally.totals[entrant],
            "ticks_after": after.tally.totals[entrant],
            "sentences": _explain_place(after, entrant, neighbours.get(entrant), labels),
        }
        for entrant in effect.moved
    ]
    doc: RulingPreviewDoc = {
        "tournament": t.id,
        "version": t.version,
        "stage": effect.stage,
        "digest": effect.digest,
        "moved": moved,
        "standings": list_standings(after),
        "advancing": effect.advancing,
    }
    response = json_response(doc, 200, Annals_Version=str(t.version))
    response.set_etag(effect.digest)
    response.vary.add("Accept-Language")
    return response


def _explain_place(ties: TieBreaks, entrant: int, neighbour: int | None, labels: Sequence[str]) -> list[str]:
    """Return the reason of a place beside its neighbour, or of having none."""
    window, tables = ties.tally.stage.window, ties.tally.unranked.get(entrant)
    if window and tables is not None:
        said = Message(
            "{count} {count#table counts|tables count}; a place takes {least}.", count=tables, least=window.least
        )
        return [translate(said, request_language())]
    if neighbour is None:
        return []
    return explanation_sentences(ties, explain(ties, entrant, neighbour), request_language(), labels)


# --- officers --------------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/officers",
    "name_tournament_officer",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=TournamentOfficerSchema,
    headers=MoveHeaders,
    status=201,
)
def name_tournament_officer(body: Doc, headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Ask a person to be an officer of your tournament, or give an officer another role.

    The person is one once the answer is yes (`PUT /v1/me/event-offers/{tournament}/{part}`), by a record with the
    person's id. The version is the newest before the answer.
    """
    t, by = require_right(tournament, "name_tournament_officer")
    person = find_person(body)
    command = DeputeOfficer(person.player, body["office"])
    if person.player in t.officers:
        return written_response(execute_for_caller(tournament, command, headers))
    check_for_caller(tournament, command, headers)
    key = person_key(headers["key"])
    if key:
        key.at = t.version
    store_offer(EventOffer(t.id, person.player, body["office"], by, services().clock()), key)
    return creation_response(describe_version(tournament, key.first if key and key.first else t.version), key)


@bp.operation(
    "DELETE",
    "/officers/<player:player>",
    "remove_tournament_officer",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    headers=MoveHeaders,
)
def remove_tournament_officer(headers: Doc, tournament: str, player: str) -> JsonResponse[TournamentWrittenDoc]:
    """End the role of an officer of your tournament, or your own role."""
    if player not in authorization.player_ids():
        require_right(tournament, "remove_tournament_officer")
    return written_response(execute_for_caller(tournament, RecuseOfficer(player), headers), status=200)
