"""Divisions of a tournament: each is an event of its own, drawn apart and ranked apart, by the same terms."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from api import authorization
from api.http.json_responses import JsonResponse
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.routes.games import charge_quota
from api.schemas.query_args import MoveHeaders
from api.schemas.tournament_responses import DivisionAddedDoc
from api.schemas.tournament_schemas import NewDivisionSchema
from api.services import services
from api.tournament_calls import confirm_tournament_write, describe_version, execute_for_caller, written_response
from api.tournament_rights import require_right
from domain.errors import StaleVersion
from domain.tournament_tables import new_tournament_id
from domain.tournaments.aggregate.division_commands import AddDivision
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.terms import RatingBand, Terms, check_terms, terms_to_json
from domain.types import Doc

bp = Blueprint(
    "tournament_divisions",
    __name__,
    url_prefix="/v1/tournaments/<tournament:tournament>",
    description="Divisions of a tournament.",
)


@bp.operation(
    "POST",
    "/divisions",
    "add_division",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=NewDivisionSchema,
    headers=MoveHeaders,
    status=201,
)
def add_division(body: Doc, headers: Doc, tournament: str) -> JsonResponse[DivisionAddedDoc]:
    """Open a division of your tournament: an event with the same terms, and its own entrants, draws and standings.

    It may have another rating band. Nobody enters two divisions. A repetition finds the division it has made.
    """
    t = require_right(tournament, "add_division")[0]
    s, name = services(), body["name"]
    made = new_tournament_id(s.seat_tokens, "division", t.id, name)
    band = RatingBand(**body["band"]) if body["band"] else None
    terms = check_terms(replace(t.terms, division=name, division_of=t.id, band=band))
    if made not in t.divisions:
        charge_quota("tables")
    elif not s.ledger.version(made):  # an earlier call was cut off after its first write
        _open_division(made, t, terms)
        doc: DivisionAddedDoc = {**describe_version(t.id, t.version), "division": made}
        return json_response(doc, 201, Annals_Version=str(t.version))
    stored = execute_for_caller(tournament, AddDivision(made, name), headers)
    _open_division(made, t, terms)
    return written_response(stored, {**confirm_tournament_write(stored), "division": made})


def _open_division(division: str, t: Tournament, terms: Terms) -> None:
    """Open the event of a division with the title and note of the first one."""
    s = services()
    with suppress(StaleVersion):  # a repetition
        s.notify_appended(s.tournaments.open(division, t.director, terms_to_json(terms)).position)
    title, note = s.seat_tokens.texts.list_cards([t.id]).get(t.id, ("", ""))
    if title or note:
        s.seat_tokens.texts.set_card(division, t.director, title, note)
