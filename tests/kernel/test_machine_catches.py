"""The machine is worth something: each kind of broken ruleset is caught by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from msgspec import structs

from domain.kernel.rules.choices import Builder, one
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.declarations import Admission, Context
from domain.types import Doc, Seat, Viewer
from tests.kernel.flows import orders, sealed, skirmish, windows
from tests.kernel.machine import machine_of
from tests.rulesets import FLOWS, Registered

SKIRMISH, _, SEALED, ORDERS, WINDOWS, _ = FLOWS


class LeakyBoard(windows.Board, frozen=True):
    """The size of the hand is public, the number of counters in it is not."""

    counters: tuple[int, ...]


def leaky_board(s: windows.Windows) -> LeakyBoard:
    return LeakyBoard(**structs.asdict(windows.board(s)), counters=tuple(h.count("counter") for h in s.hands))


def curious(s: windows.Windows, seat: Seat) -> windows.Own:
    """Shows a seat the hand of its neighbour."""
    return structs.replace(windows.own(s, seat), hand=s.hands[(seat + 1) % s.seats])


def loose_board(s: skirmish.Skirmish) -> skirmish.Board:
    """Shows something else than it declares."""
    turns: Any = str(s.turns)
    return structs.replace(skirmish.board(s), turns=turns)


class Turn(Context, frozen=True):
    """A turn with a member that it is not asked with."""

    left: int


def leaky_may(s: windows.Windows) -> tuple[Seat, ...]:
    """Asking those who can play tells who can play."""
    return tuple(x for x in windows.may(s) if "filibuster" in s.hands[x])


def generous(s: skirmish.Skirmish, seat: Seat) -> Builder:
    """Offers a target that is refused."""
    if s.top.kind != "turn":
        return (yield from skirmish.build(s, seat))
    yield one("type", ["attack"])
    return skirmish.Attack(seat, 0)


def stingy(s: skirmish.Skirmish, seat: Seat) -> Builder:
    """Forgets a move that is legal."""
    if s.top.kind != "turn":
        return (yield from skirmish.build(s, seat))
    yield one("type", ["pass"])
    return skirmish.Pass()


def forgetful(d: Draft[Any], frame: Any, seat: Seat, move: skirmish.Pass) -> None:
    """Changes the state without a fact."""
    skirmish.do_pass(d, frame, seat, move)
    d.state = replace(d.state, gold=tuple(g + 1 for g in d.state.gold))


def open_order(d: Draft[Any], frame: Any, seat: Seat, move: orders.Order) -> None:
    """Files an order by a public fact."""
    d.add(orders.OrderFiled(seat, move.to, move.units))


def dealt_twice(d: Draft[Any], keep: tuple[Viewer, ...]) -> None:
    """Changes what the viewer knows."""
    for seat in range(d.state.seats):
        d.add(sealed.HandDealt(seat, sealed.HAND[:3]), (seat,))


class OpenOrder(orders.Order, frozen=True, tag="order"):
    """An order whose record names its seat."""

    admission: ClassVar = Admission(("orders",))


class PassAnywhere(skirmish.Pass, frozen=True, tag="pass"):
    """Answers whatever is being decided."""

    admission: ClassVar = Admission()


def nothing(_: Any, __: Any) -> Iterator[Doc]:
    """No candidate at all."""
    return iter(())


def broken(entry: Registered, **change: Any) -> Registered:
    rules: Ruleset[Any] = replace(entry.rules, **change)
    return replace(entry, rules=rules)


CASES = {
    "a board that shows a hidden count": broken(WINDOWS, board=leaky_board),
    "a sight that shows another hand": broken(WINDOWS, own=curious),
    "a board that is not as declared": broken(SKIRMISH, board=loose_board),
    "a context that is not as declared": broken(SKIRMISH, frames={**skirmish.RULESET.frames, "turn": Turn}),
    "a question that depends on a hand": broken(WINDOWS, may=leaky_may),
    "an offer that is refused": broken(SKIRMISH, build=generous),
    "a legal move that is not offered": broken(SKIRMISH, build=stingy),
    "a change without a fact": broken(SKIRMISH, handlers={**skirmish.RULESET.handlers, "pass": forgetful}),
    "a secret in a public fact": broken(ORDERS, handlers={**orders.RULESET.handlers, "order": open_order}),
    "an order that names its seat": broken(ORDERS, moves={**orders.RULESET.moves, "order": OpenOrder}),
    "a redeal that changes a sight": broken(SEALED, redeal=dealt_twice),
    "a move that fits any decision": broken(SKIRMISH, moves={**skirmish.RULESET.moves, "pass": PassAnywhere}),
    "candidates that miss a move": replace(SKIRMISH, candidates=nothing),
}


@pytest.mark.parametrize("case", CASES)
def test_the_machine_catches(case: str) -> None:
    """What is wrong is found within a few games."""
    found = settings(max_examples=300, stateful_step_count=25, deadline=None, derandomize=True, phases=[Phase.generate])
    with pytest.raises(BaseException):  # noqa: B017, PT011  the kind of failure is the machine's own business
        run_state_machine_as_test(machine_of(CASES[case]), settings=found)
