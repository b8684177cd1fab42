"""Rules of standing orders: their form, their ends, and the next move of one. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from domain.errors import FormError, NeedsChance, RuleError
from domain.kernel.game.game import AnyGame
from domain.kernel.game.game_fold import active_versions, state_known_to
from domain.kernel.game.seat_players import Player, is_bot
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions, dry_run
from domain.kernel.rules.flow import Decision
from domain.kernel.rules.order_kinds import ATTACKED, OrderField, OrderKind
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.rules.treaties import date_deeds
from domain.kernel.schema.declarations import doc
from domain.kernel.text.message_catalog import Message
from domain.types import DIRECTOR, Doc, Json, Seat

Allowance = Literal["allowed", "refused", "shown"]
"""Term of a table: `shown` tells everybody which moves an order made."""

MOST_STANDING = 10
"""Orders of a seat that stand at once."""

MOST_TIMES = 99
"""Decisions that one order answers at most."""

TURNS_AHEAD = 20
"""Turns that an order may stand beyond the present one."""

SECOND = 1_000

LEAST_DELAY, MOST_DELAY = 5 * SECOND, 7_200 * SECOND
"""Bounds of the time that an order waits, ms."""

UNTIMED = 86_400
"""Seconds taken for the pace of a table without one."""


@dataclass(frozen=True)
class StandingOrder:
    """An order of a seat, as its row has it."""

    id: str
    game: str
    seat: Seat
    player: str
    """The person who gave it."""
    at: int
    """ms."""
    kind: str
    values: Mapping[str, Json]
    times: int
    """Decisions that it answers at most."""
    turn: int
    """Last turn in which it answers."""
    chance: bool
    """Consent to moves that draw."""
    stops: tuple[str, ...]
    version: int
    """Version that its author saw: later records can end it."""
    acts: tuple[Act, ...] = ()
    state: Literal["stands", "ended"] = "stands"
    reason: str = ""
    """Why it has ended, of REASONS."""
    ended: int = 0
    decision: str = ""
    """Decision that it is going to answer."""
    wake: int = 0
    """Time of that answer, ms; 0: none."""
    seen: int = 0
    """Version on which it was judged last."""

    @property
    def decisions_answered(self) -> list[str]:
        """Its decisions so far, each once."""
        return list(dict.fromkeys(act.decision for act in self.acts))


class Act(NamedTuple):
    """A move made by an order."""

    version: int
    decision: str
    at: int


def describe_order(order: StandingOrder) -> Doc:
    """Return all stored data of an order, for its owner."""
    names = ("game", "seat", "at", "kind", "values", "times", "turn", "chance", "state", "reason", "ended")
    return {name: getattr(order, name) for name in names} | {"acts": [act._asdict() for act in order.acts]}


REASONS = (
    *("used_up", "turn_over", "revoked", "condition", "not_legal", "chance"),
    *("attacked", "rewound", "seat_changed", "game_over"),
)
"""Why an order has ended. After `condition`, `not_legal` and `chance` the decision is left to the player."""


class OrderAnswer(NamedTuple):
    """The act of an order now: a move, an end with its reason, or nothing."""

    decision: str = ""
    move: Doc | None = None
    reason: str = ""
    """Not empty: it ends."""
    clock: str = ""
    """Deadline class of the decision."""


def allowance_of(game: AnyGame, *, in_event: bool = False) -> Allowance:
    """Return the table's term of standing orders: without one they are allowed, but not in a tournament."""
    allowance: Allowance = game.terms.get("standing_orders", "refused" if in_event else "allowed")
    return allowance


def find_kind(rules: AnyRuleset, name: str) -> OrderKind | None:
    """Return a kind of the ruleset by its name, or None."""
    return next((kind for kind in rules.standing_orders if kind.name == name), None)


def list_options(found: OrderField, game: AnyGame, seat: Seat) -> Sequence[Json]:
    """Return the possible values of a field."""
    return found.options(game.table.seats, seat)


def last_turn(rules: AnyRuleset, game: AnyGame) -> int:
    """Return the last turn possible in an order now."""
    now = max(1, rules.chapter(game.state).turn)
    return max(now, rules.treaties.turns or now + TURNS_AHEAD)


def check_order(rules: AnyRuleset, game: AnyGame, seat: Seat, wish: Doc) -> Doc:
    """Return the content of a new order: kind, values, times, turn, chance, stops.

    Raise RuleError `unknown_standing_order` and `not_now`, and FormError for impossible fields.
    """
    kind = _require_kind(rules, game, str(wish["kind"]))
    _check_values(kind, game, seat, wish["values"])
    turn, first, last = wish["turn"], max(1, rules.chapter(game.state).turn), last_turn(rules, game)
    if turn is not None and not first <= turn <= last:
        raise FormError(Message("Send a turn from {first} to {last}.", first=first, last=last), "/turn")
    stops = kind.stops if wish["stops"] is None else tuple(wish["stops"])
    return {
        "kind": kind.name,
        "values": {**wish["values"]},
        "times": wish["times"],
        "turn": first if turn is None else turn,
        "chance": wish["chance"],
        "stops": list(stops),
    }


def _require_kind(rules: AnyRuleset, game: AnyGame, name: str) -> OrderKind:
    if game.status != "running":
        raise RuleError("not_now", "", {"when": "started" if game.status == "open" else "never"})
    kind = find_kind(rules, name)
    if kind is None:
        raise RuleError("unknown_standing_order", "", {"kinds": [each.name for each in rules.standing_orders]})
    return kind


def _check_values(kind: OrderKind, game: AnyGame, seat: Seat, given: Mapping[str, Json]) -> None:
    for name in [*given, *kind.fields]:
        at = f"/values/{name}"
        if name not in kind.fields:
            raise FormError(Message("This order has no such field."), at)
        if name not in given:
            raise FormError(Message("This field is missing."), at)
        value = given[name]
        if isinstance(value, bool | float) or value not in list_options(kind.fields[name], game, seat):
            raise FormError(Message("This value is not offered."), at)


def find_end(order: StandingOrder, rules: AnyRuleset, game: AnyGame, records: Sequence[Record]) -> str:
    """Return why the order has ended, before any decision is looked at; empty: it stands."""
    if game.status != "running":
        return "game_over"
    if game.players.get(order.seat, Player("")).id != order.player or order.seat in game.state.vacant:
        return "seat_changed"
    if any(seat == order.seat and version > order.version for version, seat, _ in game.seating.changes):
        return "seat_changed"  # the same person has come back since
    if _is_rewound(order, records):
        return "rewound"
    if ATTACKED in order.stops and _is_attacked(order, rules, records):
        return "attacked"
    if rules.chapter(game.state).turn > order.turn:
        return "turn_over"
    open_now = {decision.id for decision in decisions(rules, game.state, game.lasting.rewinds.count)}
    answered = order.decisions_answered
    return "used_up" if len(answered) >= order.times and answered[-1] not in open_now else ""


def _is_rewound(order: StandingOrder, records: Sequence[Record]) -> bool:
    """Return whether a rewind went back behind the order, or behind a move of it.

    One that takes back later moves of others, or later ones of the player, leaves it alone.
    """
    last = max([order.version, *(act.version for act in order.acts)])
    later = [record for record in records if record.version > last and record.kind == "rewound"]
    return any(record.body["to"] < last for record in later)


def _is_attacked(order: StandingOrder, rules: AnyRuleset, records: Sequence[Record]) -> bool:
    active = {*active_versions(records)}
    facts = (
        (record.version, fact)
        for record in records
        if record.version in active
        for fact in record.public.get("facts", ())
    )
    deeds = date_deeds(rules.treaties, facts, {})
    return any(
        done.version > order.version and done.deed.kind == ATTACKED and done.deed.whom == order.seat for done in deeds
    )


def find_answer(order: StandingOrder, rules: AnyRuleset, game: AnyGame, records: Sequence[Record]) -> OrderAnswer:
    """Return the act of the order on the open decision, from the knowledge of its seat and nothing else."""
    kind = find_kind(rules, order.kind)
    asked = _find_decision(order, rules, game)
    if kind is None or asked is None or asked.kind not in kind.decisions:
        return OrderAnswer()
    if len(order.decisions_answered) >= order.times and asked.id not in order.decisions_answered:
        return OrderAnswer()
    try:
        known = state_known_to(rules, records, order.seat)
        if not kind.applies(known, order.seat, order.values):
            return OrderAnswer()
        move = kind.play(known, order.seat, order.values)
    except Exception:  # noqa: BLE001 - rules may fail in any way over things unknown to the seat
        return OrderAnswer(asked.id, reason="condition")
    if move is None:
        return OrderAnswer(asked.id, reason="condition")
    moved = doc(move)
    fault = _find_fault(order, kind, rules, game, known, moved)
    return OrderAnswer(asked.id, reason=fault) if fault else OrderAnswer(asked.id, moved, clock=asked.clock)


def _find_decision(order: StandingOrder, rules: AnyRuleset, game: AnyGame) -> Decision | None:
    """Return the open decision if the seat owes it. Where a seat may merely interrupt, no order acts."""
    open_now = decisions(rules, game.state, game.lasting.rewinds.count, DIRECTOR)
    return next((each for each in open_now if order.seat in each.must), None)


def _find_fault(order: StandingOrder, kind: OrderKind, rules: AnyRuleset, game: AnyGame, known: Any, move: Doc) -> str:
    """Return why the move must not be made; empty: it may.

    In a secret decision the last answer often draws. An end for this reason would tell the owner of the answers of
    others. So consent is needed there in any case, unless the ruleset says otherwise.
    """
    consents = order.chance
    if game.state.top.secret and kind.draws and not consents:
        return "chance"
    for state in (known, game.state):
        try:
            with suppress(*((NeedsChance,) if consents else ())):
                dry_run(rules, state, order.seat, [move])
        except NeedsChance:
            return "chance"
        except RuleError:
            if state is game.state:
                return "not_legal"
        except Exception:
            if state is game.state:
                raise
    return ""


def waits_for_nobody(game: AnyGame, seat: Seat) -> bool:
    """Return whether an order acts at once: all read of it, or nobody else is there to learn from its time."""
    others = {player.id for each, player in game.players.items() if each != seat and player.id}
    return allowance_of(game) == "shown" or all(map(is_bot, others))


def choose_delay(game: AnyGame, seat: Seat, clock: str, now: int, share: float, *, goes_on: bool = False) -> int:
    """Return the pause of an order before its move, ms.

    It lies between 1/400 and 1/20 of the time for such a decision, evenly by its logarithm for a `share` from 0 to 1,
    and never beyond half of the time left. A further move in the same decision waits some seconds.
    """
    if goes_on:
        return round(LEAST_DELAY * (1 + 2 * share))
    seconds = game.timing.control.seconds.get(clock) or UNTIMED
    delay = min(max(seconds * SECOND / 400 * 20**share, LEAST_DELAY * (1 + share)), MOST_DELAY * (1 + share) / 2)
    due = game.due_times([seat]).get(seat)
    return round(delay if due is None else max(0, min(delay, (due - now) / 2)))
