"""Standing orders: plans their moves, makes the due ones, and ends orders with a reason.

The rows are the work, and a job judges a whole game. A move and the note of it are one transaction, and its idempotency
key names the order and the number of the move: a job run twice, or killed, moves once.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from domain.command_handler import GameConditions
from domain.errors import DecisionClosed, NotSeated, RuleError, StaleVersion
from domain.kernel.game.game import AnyGame
from domain.kernel.game.play_commands import Play
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.standing_orders.order_rules import (
    Act,
    OrderAnswer,
    StandingOrder,
    choose_delay,
    find_answer,
    find_end,
    waits_for_nobody,
)
from domain.types import Seat
from workers.context import WorkerContext, current_context
from workers.jobs.turns import DONE, EARLY, GONE, report_stored

_CHANCE = random.SystemRandom()

MOST_STEPS = 200
"""Steps of a job; the next one goes on."""


def act_on_orders(game: str, _: str) -> str:
    """Judge the standing orders of a game until nothing is left to do now."""
    context, result = current_context(), GONE
    for _step in range(MOST_STEPS):
        orders = context.orders.list_standing(game)
        if not orders:
            return result
        now = context.commands.game(game)
        records = [record for record in context.ledger.read(game) if record.version <= now.version]
        if not _judge(context, now, records, orders):
            return EARLY if result == GONE else result
        result = DONE
    return result


def _judge(context: WorkerContext, now: AnyGame, records: Sequence[Record], orders: Sequence[StandingOrder]) -> bool:
    """End, plan or play; return whether a move was stored: all is then judged anew.

    The oldest order for the decision answers it; the others of its seat wait.
    """
    rules, changed = context.registry.get(now.ruleset), False
    busy: set[Seat] = set()
    for order in orders:
        if reason := find_end(order, rules, now, records):
            context.orders.end(order, reason)
            continue
        answer = (
            OrderAnswer() if order.seat in busy or _rests(context, now) else find_answer(order, rules, now, records)
        )
        if answer.reason:
            context.orders.end(order, answer.reason)
            continue
        busy |= {order.seat} if answer.move else set()
        changed |= _follow(context, rules, now, order, answer)
    return changed


def _rests(context: WorkerContext, now: AnyGame) -> bool:
    """Return whether a pause forbids moves."""
    pause = now.pause_at(max(context.clock(), now.time))
    return pause is not None and not pause.moves


def _follow(context: WorkerContext, rules: AnyRuleset, now: AnyGame, order: StandingOrder, answer: OrderAnswer) -> bool:
    """Plan the answer of an order, or give it if it is time; return whether a move was stored."""
    at = context.clock()
    if not answer.move:
        _plan(context, order, "", _rest_until(now, at), now.version)
        return False
    wake = order.wake
    if order.decision != answer.decision or wake == 0:
        goes_on = answer.decision in order.decisions_answered
        wait = choose_delay(now, order.seat, answer.clock, at, _CHANCE.random(), goes_on=goes_on)
        wake = at if waits_for_nobody(now, order.seat) else at + wait
    if wake > at:
        _plan(context, order, answer.decision, wake, now.version)
        return False
    return _play(context, now, order, answer)


def _rest_until(now: AnyGame, at: int) -> int:
    """Return the end of a pause with an end, a time to judge the orders again; 0: none."""
    pause = now.pause_at(max(at, now.time))
    return pause.until if pause is not None and pause.until is not None and not pause.moves else 0


def _plan(context: WorkerContext, order: StandingOrder, decision: str, wake: int, seen: int) -> None:
    if (order.decision, order.wake, order.seen) != (decision, wake, seen):
        context.orders.plan(order, decision, wake, seen)


def _play(context: WorkerContext, now: AnyGame, order: StandingOrder, answer: OrderAnswer) -> bool:
    """Make the move; return False if another command was faster, had made it before, or if the order was revoked."""
    if not context.orders.stands(order):
        return False

    def note(record: Record) -> list[tuple[str, Sequence[object]]]:
        act = Act(record.version, answer.decision, int(record.public["at"]))
        return [context.orders.record_act(order, act)]

    conditions = GameConditions(
        expected=now.version,
        seat_guard=(order.seat, order.player),
        idempotency_key=f"order-{order.id}-{len(order.acts)}",
        extra_statements=note,
    )
    try:
        stored = context.commands.handle(now.id, Play(order.seat, [answer.move], answer.decision, "seat"), conditions)
    except (DecisionClosed, NotSeated, StaleVersion):
        return False
    except RuleError as error:
        if error.code != "game_paused":
            context.orders.end(order, "not_legal")
        return False
    report_stored(context, stored)
    return not stored.replayed
