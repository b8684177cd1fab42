"""Routes for moves, dry runs, and the move builder."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from api import authorization, officer_rights
from api.agent_requests import mark_seat, refuse_agent
from api.caller_keys import role_key
from api.command_execution import execute_command
from api.documents.game_help import give_reason
from api.documents.move_answers import MoveTeller, preview_to_json
from api.documents.table_teller import name_seats
from api.http import rate_limits
from api.http.i18n import request_language
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import (
    confirm_write,
    if_match_version,
    json_response,
    load_table,
    opening_terms,
    write_response,
)
from api.schemas.play_responses import DryRunDoc, MovedDoc, NextDoc, OutcomeDoc, SuggestionDoc
from api.schemas.query_args import AgentMoveHeaders, ChoicesArgs, LangArgs, MoveArgs
from api.schemas.request_bodies import MovesSchema, PicksSchema
from api.services import services
from domain.bots import may_suggest, suggest_move
from domain.command_handler import GameConditions
from domain.errors import DecisionClosed, RuleError
from domain.kernel.game.director_commands import Look
from domain.kernel.game.game import AnyGame
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.game.play_commands import Play, require_open_decision
from domain.kernel.game.undo import foresee_undo
from domain.kernel.narration.move_sentences import MoveSentences, number_alike
from domain.kernel.narration.sentences import fact_sentences
from domain.kernel.records.record import Record, facts_for, visible_packs
from domain.kernel.rules.decide import check_shape, decisions, query_answers
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Message, load_texts
from domain.queries import (
    builder_reveals,
    check_moves,
    list_further_answers,
    list_moves,
    preview_moves,
    require_running,
)
from domain.types import Doc, Json, Seat, Viewer

bp = Blueprint("moves", __name__, url_prefix="/v1/games", description="Moves, dry runs, and the move builder.")

_PUBLIC_REFUSALS = ("game_over", "game_paused", "not_running")
"""Refusals because of the game's status, visible to everybody."""


# --- moves -----------------------------------------------------------------------------------------------------


def _seat_to_move(body: Doc) -> tuple[Seat, bool]:
    """Return the seat to move for, and True for a director's move. Raise Problem."""
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
    headers=AgentMoveHeaders,
    query=MoveArgs,
    status=201,
    description="Stored",
)
@bp.alt_response(200, description="Result of a dry run", success=True)
def move(body: Doc, headers: Doc, args: Doc, game: str) -> JsonResponse[MovedDoc] | JsonResponse[DryRunDoc]:
    """Make a move, or several as one.

    Name the decision you answer, or the version you have seen (If-Match). With a decision, the move counts while that
    decision is open, whatever else changes; with a version, only on that version. A director without a seat names the
    seat to move for, makes one move at a time, and gets no reason for a refusal.
    """
    seat, directed = _seat_to_move(body)
    refuse_agent(headers, game)
    moves = body["moves"] if "moves" in body else [body["move"]]
    decision, expected = body["decision"], if_match_version(headers["match"])
    if args["dry_run"] == "1":
        if directed:
            raise Problem("seats_only", "Only the seat itself may test its moves.")
        return json_response(_dry_run(game, seat, moves, decision, expected))
    if decision is None and expected is None:
        raise Problem("precondition_required")
    guard = authorization.seat_guard()
    marks = mark_seat(headers, game, *guard) if guard else []
    command, key_id = Play(seat, moves, decision, "director" if directed else "seat"), role_key(headers["key"])
    with _hide_refusal_reasons(game, seat, moves) if directed else nullcontext():
        stored = execute_command(
            game,
            command,
            GameConditions(
                expected=expected,
                seat_guard=guard,
                idempotency_key=key_id,
                extra_statements=lambda _: marks,
            ),
            reason=body["reason"],
        )
    return write_response(
        stored,
        {
            **confirm_write(stored),
            "records": [record_to_json(r, authorization.viewer()) for r in stored.records],
        },
    )


@contextmanager
def _hide_refusal_reasons(game: str, seat: Seat, moves: list[Json]) -> Iterator[None]:
    """Check a director's move, and hide reasons of refusals: they may be the seat's secret."""
    rules, p = load_table(game)
    _check_seat_exists(p, seat)
    officer_rights.require_no_stake(p)
    for one in moves:
        check_shape(rules, seat, one)
    try:
        yield
    except RuleError as error:
        if error.code in _PUBLIC_REFUSALS:
            raise
        raise Problem("ruling_refused", "Only the seat itself may see the reason.") from None


def _check_seat_exists(p: AnyGame, seat: Seat) -> None:
    """Raise RuleError if the table has no such seat."""
    if seat >= p.table.seats:
        raise RuleError("unknown_seat", "", {"seats": p.table.seats})


def record_to_json(record: Record, viewer: Viewer) -> OutcomeDoc:
    """Return a viewer's part of a newly stored record."""
    drawn = [*record.public.get("draws", ()), *_visible_draws(record, viewer)]
    return {
        "version": record.version,
        "kind": record.kind,
        "at": record.public["at"],
        "facts": facts_for(record, viewer),
        "draws": [(label, value) for _, label, _, value, *_ in drawn],
    }


def _visible_draws(record: Record, viewer: Viewer) -> list[Json]:
    """Return the draws in the packs visible to a viewer."""
    return [d for pack in visible_packs(record, viewer).values() for d in pack.get("draws", ())]


# --- dry runs --------------------------------------------------------------------------------------------------


def _dry_run(game: str, seat: Seat, moves: list[Json], decision: str | None, expected: int | None) -> DryRunDoc:
    """Return whether the moves are legal now, and their consequences as far as the seat may know them."""
    rules, now = load_table(game)
    check_moves(rules, now, seat, moves, decision, expected, services().clock())
    with rate_limits.whole_game_slot():
        records = services().ledger.read(game, upto=now.version)
        preview = preview_moves(rules, records, seat, moves, _fact_teller(rules, now))
    policy, types = opening_terms(game).get("undo", "consent"), [each["type"] for each in moves]
    # What rests on hidden things may reveal them.
    undo = foresee_undo(rules, now, seat, policy, types, barrier=preview.barrier is not False)
    return preview_to_json(preview, undo, load_texts(rules.package, request_language()))


def _fact_teller(rules: AnyRuleset, now: AnyGame) -> Callable[[Sequence[Doc]], list[str]]:
    """Return the function from facts to sentences in the client's language, with the names of the seats."""
    texts = load_texts(rules.package, request_language())
    namer = name_seats(services(), texts, rules, now)
    return lambda facts: fact_sentences(texts, namer, facts)


# --- the move builder ------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/<game:game>/choices",
    "choices",
    access=authorization.require_role,
    errors=(403, 404, 409),
    body=PicksSchema,
    query=ChoicesArgs,
)
def choices(body: Doc, args: Doc, game: str) -> JsonResponse[NextDoc]:
    """Return the move builder's next question, or the finished move; with `all=1`, all moves at once.

    With `ahead`, the answers to further picks come with it, as long as few moves are possible. Start without picks, and
    append one pick for each answer. Every option leads to a legal move. A director without a seat may use it for a
    vacant or late seat; hidden options are shown only after a look is recorded.
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
    open_now = decisions(rules, p.state, p.lasting.rewinds.count)
    looked, version = None, p.version
    if authorization.principal().seat is None:
        if args["all"] == "1" or args["ahead"]:  # every response with hidden data would be a look
            raise Problem("seats_only", "Only the seat itself may list all of its moves.")
        looked, version = _record_look(rules, p, seat, body["picks"])
    answers, step = query_answers(rules, p.state, seat, body["picks"])
    if not open_now:
        raise DecisionClosed("")
    teller = _make_teller(rules, p, seat)
    doc: NextDoc = {
        "game": game,
        "version": version,
        "decision": open_now[0].id,
        "choice": None,
        "move": None,
    }
    if looked is not None:
        doc["looked"] = looked
    if args["all"] == "1":
        with rate_limits.whole_game_slot():
            doc["moves"], doc["count"] = list_moves(rules, p.state, seat, body["picks"], args["limit"])
            doc["texts"] = number_alike([teller.sentences.move(move) for move in doc["moves"]])
            return json_response(doc)
    doc = {**doc, **teller.answer_to_json(answers, step)}
    if args["ahead"]:
        further = list_further_answers(rules, p.state, seat, body["picks"], args["ahead"])
        doc["ahead"] = list(teller.further_to_json(body["picks"], answers, step, further))
    return json_response(doc)


@bp.operation(
    "GET",
    "/<game:game>/suggestion",
    "suggestion",
    access=authorization.require_role,
    errors=(403, 404, 409),
    query=LangArgs,
)
def suggestion(_: Doc, game: str) -> JsonResponse[SuggestionDoc]:
    """Return the move of the heuristic bot for your open decision, with its reason. It draws nothing.

    The bot knows what your seat knows. Only a person among bots may ask, or everybody where the terms have
    `suggestions`; never at a public table, in a tournament, or in a fork. The same version gives the same answer.
    """
    rules, now = load_table(game)
    seat = authorization.seat()
    if not may_suggest(now) or services().reader.list_tournament_tables([game]):
        raise Problem("suggestions_off")
    require_running(now)
    open_now = decisions(rules, now.state, now.lasting.rewinds.count, seat)
    if not open_now:
        raise DecisionClosed("")
    if seat not in open_now[0].must:
        raise RuleError("not_your_decision")
    with rate_limits.whole_game_slot():
        dice = random.Random(f"{game}|{now.version}|{seat}")  # noqa: S311 - no secret
        move = suggest_move(_SuggestedGame(rules, now), seat, dice)
    doc: SuggestionDoc = {
        "game": game,
        "version": now.version,
        "decision": open_now[0].id,
        "move": move,
        "text": None if move is None else _make_teller(rules, now, seat).sentences.move(move),
        "reason": give_reason(rules.package, open_now[0].kind, move, request_language()) if move else "",
    }
    return json_response(doc)


@dataclass(frozen=True)
class _SuggestedGame:
    """A game as the heuristic takes it."""

    rules: AnyRuleset
    game: AnyGame

    @property
    def state(self) -> State:
        """The state of the game. The heuristic is given the view of its seat."""
        state: State = self.game.state
        return state

    def known_to(self, seat: Seat) -> State:
        """Return the state folded only from the facts readable by the seat."""
        records = services().ledger.read(self.game.id, upto=self.game.version)
        state: State = state_known_to(self.rules, records, seat)
        return state


def _seat_for_director(rules: AnyRuleset, p: AnyGame, seat: Seat | None) -> Seat:
    """Return the seat a director may build a move for. Raise Problem, or RuleError for an unknown seat."""
    officer_rights.require_no_stake(p)
    if seat is None:
        raise Problem("invalid_body", errors=[{"at": "/seat", "message": Message("A director must name the seat.")}])
    _check_seat_exists(p, seat)
    owing = [s for d in decisions(rules, p.state, p.lasting.rewinds.count) for s in d.must if s == seat]
    due = p.due_times(owing).get(seat)
    if p.status == "running" and p.players[seat].id and (due is None or due > services().clock()):
        raise Problem("seats_only", "The seat has a player with time left.")
    return seat


@rate_limits.whole_game_slot()
def _record_look(rules: AnyRuleset, p: AnyGame, seat: Seat, picks: list[Json]) -> tuple[bool, int]:
    """Record a look before the builder shows hidden data to a director.

    Return whether it shows any, and the version.
    """
    records = services().ledger.read(p.id, upto=p.version)
    if not builder_reveals(rules, p, records, seat, picks):
        return False, p.version
    # A look at the same ms may belong to the decision before: count only later ones. After a clock was set back, none
    # may be later, and a further look is recorded.
    since = [r for r in records if r.kind == "ruled" and r.public["at"] > p.reversible.waiting_since]
    own = officer_rights.list_rulings(services(), p, since, [authorization.principal().player])
    if any(isinstance(command, Look) for _, command in own):
        return True, p.version
    stored = execute_command(p.id, Look(), GameConditions(expected=p.version))
    services().notify_appended(stored.position)
    return True, stored.versions[-1]


def _make_teller(rules: AnyRuleset, p: AnyGame, seat: Seat) -> MoveTeller:
    """Return the teller for a seat. A director gets sentences without figures of its position."""
    texts = load_texts(rules.package, request_language())
    state = None if authorization.principal().seat is None else p.state
    return MoveTeller(
        rules, p.state, MoveSentences(rules, texts, name_seats(services(), texts, rules, p, own=seat), seat, state)
    )
