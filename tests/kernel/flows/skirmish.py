"""A long chain of interrupting decisions: attack, allies for binding gold, naval choice, dice, re-rolls, losses.

Unrest is withheld: its causes are public, its total is in the owner's sight alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

from domain.errors import RuleError
from domain.ids import DIRECTOR, PUBLIC, Json, Seat, Viewer
from domain.kernel.choices import Builder, Move, Option, one, span
from domain.kernel.flow import Decision, Fact, Frame, State
from domain.kernel.jsonform import BY_SEAT
from domain.kernel.ruleset import Draft, Meta, MoveType, OptionType, Ruleset, Score, Table
from domain.kernel.shapes import Bool, Int, Obj, Word

UNITS = ("army", "navy", "fort")


@dataclass(frozen=True)
class Skirmish(State):
    """`turns` still to play; per seat gold, units and reserve tiles, unrest (withheld)."""

    turns: int = 0
    gold: Annotated[tuple[int, ...], BY_SEAT] = ()
    units: Annotated[tuple[dict[str, int], ...], BY_SEAT] = ()
    reserve: Annotated[tuple[int, ...], BY_SEAT] = ()
    unrest: Annotated[tuple[int, ...], BY_SEAT] = ()


D = Draft[Skirmish]


def put(values: tuple[Any, ...], seat: int, value: Any) -> tuple[Any, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


def gold_set(s: Skirmish, f: Fact) -> Skirmish:
    return replace(s, gold=put(s.gold, f["seat"], f["gold"]))


def unit_lost(s: Skirmish, f: Fact) -> Skirmish:
    units = {**s.units[f["seat"]], f["unit"]: f["left"]}
    return replace(s, units=put(s.units, f["seat"], units), unrest=put(s.unrest, f["seat"], f["unrest"]))


def reserve_used(s: Skirmish, f: Fact) -> Skirmish:
    return replace(s, reserve=put(s.reserve, f["seat"], f["left"]))


def turn_begun(s: Skirmish, f: Fact) -> Skirmish:
    return replace(s, turns=f["left"])


def pay(d: D, seat: Seat, gold: int) -> None:
    d.add({"t": "gold_set", "seat": seat, "gold": d.state.gold[seat] - gold})


def setup(d: D) -> None:
    d.ask("turn", 0)


def next_turn(d: D, seat: Seat) -> None:
    d.end()
    d.add({"t": "turn_begun", "left": d.state.turns - 1})
    if d.state.turns == 0:
        d.finish()
    else:
        d.ask("turn", (seat + 1) % d.state.seats)


def do_pass(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    next_turn(d, seat)


def do_attack(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    target, left = move["target"], d.state.gold[seat] - 2
    if target == seat or target >= d.state.seats:
        raise RuleError("invalid_target", "SK-1")
    if left < 0 or move["offer"] > left:
        raise RuleError("offer_exceeds_gold", "SK-2", {"gold": max(left, 0)})
    pay(d, seat, 2)
    steps: list[Json] = [
        ["help", seat, move["offer"]],
        ["help", target, 0],
        ["naval", seat],
        ["naval", target],
    ]
    d.note(turn_of=seat)
    d.ask("combat", att=seat, deff=target, help={}, todo=[*steps, ["roll", "navy"], ["roll", "army"]])


STEPS: dict[str, Callable[..., None]] = {}


def go_combat(d: D, frame: Frame) -> None:
    if not frame.data["todo"]:
        d.end()
        next_turn(d, d.state.top.data["turn_of"])
        return
    (name, *args), *rest = frame.data["todo"]
    d.note(todo=rest)
    STEPS[name](d, frame.data, *args)


def step_help(d: D, combat: Json, principal: Seat, offer: int) -> None:
    ally = (principal + 2) % d.state.seats
    if ally not in (combat["att"], combat["deff"]):
        d.ask("support", ally, principal=principal, offer=offer)


def do_support(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    principal, have = frame.data["principal"], d.state.units[seat]["army"]
    if move["army"] > have:
        raise RuleError("exceeds_available", "SK-3", {"army": have})
    d.answered(seat, end=True)
    if move["army"]:
        pay(d, principal, frame.data["offer"])
        pay(d, seat, -frame.data["offer"])
    d.note(help={**d.state.top.data["help"], str(principal): move["army"]})


def step_naval(d: D, combat: Json, seat: Seat) -> None:
    d.ask("naval_choice", seat)


def step_roll(d: D, combat: Json, unit: str) -> None:
    dice = [d.draws.roll(f"battle.{unit}", 1, 6) for _ in range(4)]
    ask: list[Json] = [["reserve", combat["att"], unit], ["reserve", combat["deff"], unit], ["result", unit]]
    d.note(dice=dice, todo=[*ask, *d.state.top.data["todo"]])


def step_reserve(d: D, combat: Json, seat: Seat, unit: str) -> None:
    if d.state.reserve[seat]:
        d.ask("reserve", seat, unit=unit, dice=combat["dice"])


def do_answer(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    d.answered(seat, end=True)
    todo = d.state.top.data["todo"]
    if frame.kind == "naval_choice" and not move["yes"]:
        d.note(todo=[["roll", "army"]])
    if frame.kind == "reserve" and move["yes"]:
        d.add({"t": "reserve_used", "seat": seat, "left": d.state.reserve[seat] - 1})
        d.note(todo=[["roll", frame.data["unit"]], *(t for t in todo if t[0] == "roll")])


def step_result(d: D, combat: Json, unit: str) -> None:
    total = {
        seat: d.state.units[seat][unit] + combat["help"].get(str(seat), 0) + combat["dice"][at]
        for seat, at in ((combat["att"], 0), (combat["deff"], 2))
    }
    for seat in (combat["deff"], combat["att"]):
        kinds = [k for k in (unit, "fort") if d.state.units[seat][k]]
        if total[seat] <= min(total.values()) and kinds:
            d.ask("choose_loss", seat, kinds=kinds)


def do_choose_loss(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    if move["kind"] not in frame.data["kinds"]:
        raise RuleError("invalid_choice", "SK-4")
    d.answered(seat, end=True)
    left, unrest = d.state.units[seat][move["kind"]] - 1, d.state.unrest[seat] + 1
    d.add({"t": "unit_lost", "seat": seat, "unit": move["kind"], "left": left, "unrest": unrest})


STEPS = {
    "help": step_help,
    "naval": step_naval,
    "roll": step_roll,
    "reserve": step_reserve,
    "result": step_result,
}


def build(s: Skirmish, seat: Seat) -> Builder:
    kind = s.top.kind
    if kind == "support":
        return {"type": kind, "army": (yield span("army", 0, s.units[seat]["army"]))}
    if kind == "choose_loss":
        return {"type": kind, "kind": (yield one("kind", s.top.data["kinds"]))}
    if kind != "turn":
        return {"type": "answer", "yes": (yield one("yes", [False, True]))}
    types = [Option("pass", ends=True)] + [Option("attack", {"gold": 2})] * (s.gold[seat] >= 2)
    if (yield one("type", types)) == "pass":
        return {"type": "pass"}
    target = yield one("target", [x for x in range(s.seats) if x != seat])
    return {"type": "attack", "target": target, "offer": (yield span("offer", 0, s.gold[seat] - 2))}


def default(s: Skirmish, decision: Decision, seat: Seat) -> Move:
    answers: dict[str, Move] = {
        "turn": {"type": "pass"},
        "support": {"type": "support", "army": 0},
        "choose_loss": {"type": "choose_loss", "kind": decision.context.get("kinds", [""])[0]},
    }
    return answers.get(decision.kind, {"type": "answer", "yes": False})


def sight(s: Skirmish, viewer: Viewer) -> Json:
    if viewer == PUBLIC:
        return {"turns": s.turns, "gold": list(s.gold), "units": list(s.units), "reserve": list(s.reserve)}
    return {"unrest": list(s.unrest) if viewer == DIRECTOR else s.unrest[int(viewer)]}


def scores(s: Skirmish) -> list[Score]:
    points = [sum(u.values()) for u in s.units]
    return [Score(i, 1 + sum(q > p for q in points), p) for i, p in enumerate(points)]


def blank(table: Table) -> Skirmish:
    n = table.seats
    start = {"army": 2, "navy": 1, "fort": 1}
    turns: int = table.options["turns"]
    return Skirmish(n, turns=turns, gold=(8,) * n, units=(start,) * n, reserve=(1,) * n, unrest=(0,) * n)


RULESET: Ruleset[Skirmish] = Ruleset(
    meta=Meta(
        "skirmish@1",
        "Skirmish",
        "SK",
        (3, 4),
        {"turns": OptionType(Int(1, 99), 12)},
        {
            "invalid_target": "SK-1",
            "offer_exceeds_gold": "SK-2",
            "exceeds_available": "SK-3",
            "invalid_choice": "SK-4",
        },
    ),
    state=Skirmish,
    moves={
        "pass": MoveType(Obj(), ("turn",)),
        "attack": MoveType(Obj({"target": Int(), "offer": Int()}), ("turn",), rule="SK-1"),
        "support": MoveType(Obj({"army": Int()}), ("support",), rule="SK-3"),
        "answer": MoveType(Obj({"yes": Bool()}), ("naval_choice", "reserve")),
        "choose_loss": MoveType(Obj({"kind": Word(UNITS)}), ("choose_loss",), rule="SK-4"),
    },
    do={
        "pass": do_pass,
        "attack": do_attack,
        "support": do_support,
        "answer": do_answer,
        "choose_loss": do_choose_loss,
    },
    go={"combat": go_combat},
    evolve={
        "gold_set": gold_set,
        "unit_lost": unit_lost,
        "reserve_used": reserve_used,
        "turn_begun": turn_begun,
    },
    setup=setup,
    build=build,
    default=default,
    sight=sight,
    scores=scores,
    check=lambda s: [f"gold of {i}" for i, g in enumerate(s.gold) if g < 0],
    redeal=lambda d, keep: None,
    blank=blank,
)


def candidates(s: Skirmish, seat: Seat) -> Iterator[Move]:
    """Every move that a small world can hold, well-formed or nearly."""
    yield {"type": "pass"}
    yield from ({"type": "answer", "yes": yes} for yes in (False, True))
    yield from ({"type": "support", "army": n} for n in range(5))
    yield from ({"type": "choose_loss", "kind": k} for k in UNITS)
    yield from ({"type": "attack", "target": t, "offer": n} for t in range(s.seats + 1) for n in range(12))


def conserved(doc: Json) -> Json:
    """Gold and units are only paid and lost: what they are at most."""
    return sum(doc["gold"].values()) <= 8 * doc["seats"] and all(u["army"] <= 2 for u in doc["units"].values())
