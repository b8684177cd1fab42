"""Playing: moves, what a move would do, and the builder that leads a client without rules to one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from flask import Response

from api import authorization
from api.http import rate_limits
from api.http.i18n import request_language
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import idempotency_key, if_match_version, json_response, load_table, write_response
from api.schemas.play_responses import DryRunSchema, MovedSchema, NextSchema
from api.schemas.query_args import ChoicesArgs, MoveArgs, MoveHeaders
from api.schemas.request_bodies import MovesSchema, PicksSchema
from api.services import Doc, services
from domain.errors import DecisionClosed, RuleError
from domain.kernel.game.command_of_record import command_of
from domain.kernel.game.director_commands import Look
from domain.kernel.game.game import AnyGame
from domain.kernel.game.play_commands import Play, require_open_decision
from domain.kernel.records.record import Record, facts_for, visible_packs
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import check_shape, decisions, query_builder
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Message, load_texts
from domain.queries import builder_reveals, check_moves, list_moves, preview_moves, require_running
from domain.types import Json, Seat, Viewer

bp = Blueprint("moves", __name__, url_prefix="/v1/games", description="Playing: moves, and the move builder.")

_PUBLIC_REFUSALS = ("game_over", "not_running")
"""Refusals that rest on the status of the game."""


# --- moves -----------------------------------------------------------------------------------------------------


def _seat_to_move(body: Doc) -> tuple[Seat, bool]:
    """For which seat the moves are, and whether a director makes them."""
    own = authorization.principal().seat
    if own is None:
        if "seat" not in body:
            raise Problem(
                "invalid_body", errors=[{"at": "/seat", "message": Message("A director must name the seat.")}]
            )
        if len(body.get("moves", "1")) > 1:
            raise Problem(
                "invalid_body", errors=[{"at": "/moves", "message": Message("A director makes one move at a time.")}]
            )
        return body["seat"], True
    if body.get("seat", own) != own:
        raise Problem("not_your_seat")
    return own, False


@bp.operation(
    "POST",
    "/<game:game>/moves",
    "move",
    access=authorization.require_role,
    errors=(403, 404, 409, 412, 428),
    body=MovesSchema,
    headers=MoveHeaders,
    query=MoveArgs,
    response=MovedSchema,
    status=201,
    description="Stored",
)
@bp.alt_response(200, schema=DryRunSchema, description="Of a dry run", success=True)
def move(body: Doc, headers: Doc, args: Doc, game: str) -> Response:
    """Make a move, or several as one.

    Name the decision that is answered, or the version that was seen (If-Match). With a decision the move counts while
    that decision is open, whatever else happens meanwhile; with a version on that version only. A director who has no
    seat names the one to move for, makes one move at a time, and is not told why the rules refuse it.
    """
    seat, directed = _seat_to_move(body)
    moves = body["moves"] if "moves" in body else [body["move"]]
    decision, expected = body["decision"], if_match_version(headers["match"])
    if args["dry_run"] == "1":
        if directed:
            raise Problem("seats_only", "Only the seat itself may list its moves.")
        return json_response(_dry_run(game, seat, moves, decision, expected))
    if decision is None and expected is None:
        raise Problem("precondition_required")
    act, named = Play(seat, moves, decision, "director" if directed else "seat"), idempotency_key(headers["key"])
    with _hide_refusal_reasons(game, seat, moves) if directed else nullcontext():
        stored = services().commands.handle(
            game, act, expected=expected, seat_guard=authorization.seat_guard(), idempotency_key=named
        )
    return write_response(stored, {"records": [record_to_json(r, authorization.viewer()) for r in stored.records]})


@contextmanager
def _hide_refusal_reasons(game: str, seat: Seat, moves: list[Json]) -> Iterator[None]:
    """A director's move: refused for what all may know, or without a reason, since that may be the seat's secret."""
    rules, p = load_table(game)
    _check_seat_exists(p, seat)
    authorization.require_no_seat(p)
    for one in moves:
        check_shape(rules, seat, one)
    try:
        yield
    except RuleError as error:
        if error.code in _PUBLIC_REFUSALS:
            raise
        raise Problem("ruling_refused", "Only the seat itself may see the reason.") from None


def _check_seat_exists(p: AnyGame, seat: Seat) -> None:
    if seat >= p.table.seats:
        raise RuleError("unknown_seat", "", {"seats": p.table.seats})


def record_to_json(record: Record, viewer: Viewer) -> Doc:
    """What a viewer may read of a record that was just stored."""
    drawn = [*record.public.get("draws", ()), *_visible_draws(record, viewer)]
    doc: Doc = {"version": record.version, "kind": record.kind, "at": record.public["at"]}
    return doc | {"facts": facts_for(record, viewer), "draws": [[label, value] for _, label, _, value, *_ in drawn]}


def _visible_draws(record: Record, viewer: Viewer) -> list[Json]:
    return [d for pack in visible_packs(record, viewer).values() for d in pack.get("draws", ())]


# --- dry runs --------------------------------------------------------------------------------------------------


def _dry_run(game: str, seat: Seat, moves: list[Json], decision: str | None, expected: int | None) -> Doc:
    """Return whether the moves are legal now, and their consequences as far as the seat may know them."""
    rules, now = load_table(game)
    check_moves(rules, now, seat, moves, decision, expected)
    with rate_limits.whole_game_slot():
        records = services().ledger.read(game, upto=now.version)
        return {"legal": True} | preview_moves(rules, records, seat, moves)


# --- the move builder ------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/<game:game>/choices",
    "choices",
    access=authorization.require_role,
    errors=(403, 404, 409),
    body=PicksSchema,
    query=ChoicesArgs,
    response=NextSchema,
)
def choices(body: Doc, args: Doc, game: str) -> Response:
    """Ask for the next question of the move builder, or the finished move; with `all=1` for all moves at once.

    Start without picks; append one pick for each answer. Whatever is offered can be completed to a legal move. A
    director who has no seat may ask for a seat without a player, or for one that is late; what is hidden is shown only
    once it stands in the log that the director has looked.
    """
    rules, p = load_table(game)
    seat = authorization.principal().seat
    if seat is None:
        seat = _seat_for_director(rules, p, body.get("seat"))
    elif body.get("seat", seat) != seat:
        raise Problem("not_your_seat")
    require_running(p)
    if body["decision"] is not None:
        require_open_decision(rules, p, body["decision"])
    open_now = decisions(rules, p.state, p.rewinds)
    told = _record_look(rules, p, seat, body["picks"]) if authorization.principal().seat is None else {}
    found = query_builder(rules, p.state, seat, body["picks"])
    if not open_now:
        raise DecisionClosed("")
    doc: Doc = {"game": game, "version": p.version, "decision": open_now[0].id, "choice": None, "move": None} | told
    if args["all"] == "1":
        if authorization.principal().seat is None:  # each answer that shows hidden things would be a look
            raise Problem("seats_only", "Only the seat itself may list all of its moves.")
        with rate_limits.whole_game_slot():
            return json_response(doc | list_moves(rules, p.state, seat, body["picks"], args["limit"]))
    if isinstance(found, Choice):
        return json_response(doc | {"choice": _choice_to_json(rules, found)})
    return json_response(doc | {"move": found})


def _seat_for_director(rules: AnyRuleset, p: AnyGame, seat: Seat | None) -> Seat:
    """The seat for which a director asks, who may; raises Problem, and RuleError for a seat that there is not."""
    authorization.require_no_seat(p)
    if seat is None:
        raise Problem("invalid_body", errors=[{"at": "/seat", "message": Message("A director must name the seat.")}])
    _check_seat_exists(p, seat)
    asked = [s for d in decisions(rules, p.state, p.rewinds) for s in d.must if s == seat]
    due = p.due_times(asked).get(seat)
    if p.status == "running" and p.players[seat].id and (due is None or due > services().clock()):
        raise Problem("seats_only", "The seat has a player, who is not late.")
    return seat


@rate_limits.whole_game_slot()
def _record_look(rules: AnyRuleset, p: AnyGame, seat: Seat, picks: list[Json]) -> Doc:
    """Whether the builder could tell a director what is hidden; then the look is recorded before anything is told."""
    records = services().ledger.read(p.id, upto=p.version)
    if not builder_reveals(rules, p, records, seat, picks):
        return {"looked": False}
    # Of the very time at which it was asked it may be one of the decision before: where a clock was set back, all are.
    since = [r for r in records if r.kind == "ruled" and r.public["at"] > p.waiting_since]
    if any(isinstance(command_of(r, p), Look) for r in since):
        return {"looked": True}
    stored = services().commands.handle(p.id, Look(), expected=p.version)
    services().notify_appended(stored.position)
    return {"looked": True, "version": stored.versions[-1]}


def _choice_to_json(rules: AnyRuleset, choice: Choice) -> Doc:
    """The choice with the keys of its options' texts, and these in the language asked for."""
    catalogue, doc = load_texts(rules.package, request_language()), choice.to_json()
    for option in doc.get("options", ()):
        if key := _option_text_key(choice.field, option["value"]):
            option["label"] = key
            if said := catalogue.label(key):
                option["text"] = said
    return doc


def _option_text_key(field: str, value: Json) -> str | None:
    """The key of an option's text; None for numbers, which speak for themselves, and for objects."""
    if value is None or isinstance(value, bool):
        return {None: "word.none", True: "word.yes", False: "word.no"}[value]
    return (f"move.{value}" if field == "type" else f"word.{value}") if isinstance(value, str) else None
