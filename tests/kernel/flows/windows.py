"""Cards at any safe point, windows open to all seats at once, counters stacked on counters, private auto-pass.

Who has answered a window is not shown until it closes. The cards: an `ambush` in the window of an attack, a
`filibuster` in anybody's turn, and `counter` against any card, also a counter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from domain.errors import RuleError
from domain.ids import DIRECTOR, PUBLIC, Json, Seat, Viewer
from domain.kernel.audience import TABLE
from domain.kernel.choices import Builder, Move, Option, one
from domain.kernel.flow import Decision, Fact, Frame, State
from domain.kernel.jsonform import BY_SEAT
from domain.kernel.ruleset import Draft, Meta, MoveType, OptionType, Ruleset, Score, Table
from domain.kernel.shapes import Bool, Int, Obj, Word

CARDS = ("ambush", "counter", "filibuster")
DECK = ("ambush",) * 6 + ("counter",) * 8 + ("filibuster",) * 6
FITS = {"turn": "filibuster", "window": "ambush", "counter": "counter"}


@dataclass(frozen=True)
class Windows(State):
    """Public: sizes of hands, effects. Hidden: hands, auto-pass, the deck (nobody's)."""

    turns: int = 0
    sizes: Annotated[tuple[int, ...], BY_SEAT] = ()
    points: Annotated[tuple[int, ...], BY_SEAT] = ()
    discards: tuple[str, ...] = ()
    hands: Annotated[tuple[tuple[str, ...], ...], BY_SEAT] = ()
    auto: Annotated[tuple[bool, ...], BY_SEAT] = ()
    deck: tuple[str, ...] = ()


D = Draft[Windows]
T = TypeVar("T")


def put(values: tuple[T, ...], seat: int, value: T) -> tuple[T, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


def hand_set(s: Windows, f: Fact) -> Windows:
    return replace(s, hands=put(s.hands, f["seat"], tuple(f["cards"])))


def deck_set(s: Windows, f: Fact) -> Windows:
    return replace(s, deck=tuple(f["cards"]))


def size_set(s: Windows, f: Fact) -> Windows:
    discards = (*s.discards, f["played"]) if "played" in f else s.discards
    return replace(s, sizes=put(s.sizes, f["seat"], f["size"]), discards=discards)


def auto_set(s: Windows, f: Fact) -> Windows:
    return replace(s, auto=put(s.auto, f["seat"], f["on"]))


def point_won(s: Windows, f: Fact) -> Windows:
    return replace(s, points=put(s.points, f["seat"], f["points"]))


def turn_begun(s: Windows, f: Fact) -> Windows:
    return replace(s, turns=f["left"])


def setup(d: D) -> None:
    deck = d.draws.shuffle("deck", DECK, TABLE)
    for seat in range(d.state.seats):
        d.add({"t": "hand_set", "seat": seat, "cards": deck[3 * seat : 3 * seat + 3]}, (seat,))
        d.add({"t": "size_set", "seat": seat, "size": 3})
    d.add({"t": "deck_set", "cards": deck[3 * d.state.seats :]}, TABLE)
    d.ask("turn", 0)


def window(d: D, kind: str, seats: list[Seat], **data: Json) -> None:
    """WI-2: asked by public facts alone; a seat on auto-pass is asked like the others and passes in the same record."""
    asked = [s for s in seats if d.state.sizes[s]]
    d.ask(kind, *asked, secret=True, **data)
    for seat in asked:
        if d.state.auto[seat]:
            d.answered(seat)


def next_turn(d: D, seat: Seat) -> None:
    d.end()
    d.add({"t": "turn_begun", "left": d.state.turns - 1})
    if d.state.turns == 0:
        d.finish()
    else:
        d.ask("turn", (seat + 1) % d.state.seats)


def do_end(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    next_turn(d, seat)


def do_pass(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    d.answered(seat)


def do_auto(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    d.add({"t": "auto_set", "seat": seat, "on": move["on"]}, (seat,))
    if move["on"] and frame.secret and seat in frame.owing:
        d.answered(seat)


def do_attack(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    if move["target"] == seat or move["target"] >= d.state.seats:
        raise RuleError("invalid_target", "WI-1")
    d.ask("combat", att=seat, deff=move["target"], bonus=0, todo=["window", "roll"])


def go_combat(d: D, frame: Frame) -> None:
    if frame.data["todo"][0] == "window":
        d.note(todo=["roll"])
        window(d, "window", list(range(d.state.seats)))
        return
    dice = [d.draws.roll("die.white", 1, 6) for _ in range(2)]
    winner = frame.data["att"] if dice[0] > dice[1] + frame.data["bonus"] else frame.data["deff"]
    d.add({"t": "point_won", "seat": winner, "points": d.state.points[winner] + 1})
    d.end()
    next_turn(d, frame.data["att"])


def go_window(d: D, frame: Frame) -> None:
    d.end()


def do_play(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    """WI-3: in the log's order the first card counts; it interrupts what is going on."""
    hand = list(d.state.hands[seat])
    if move["card"] not in hand:
        raise RuleError("card_not_in_hand", "WI-3")
    if FITS.get(frame.kind) != move["card"] or (frame.secret and seat not in frame.owing):
        raise RuleError("card_not_playable_now", "WI-3")
    hand.remove(move["card"])
    d.add({"t": "hand_set", "seat": seat, "cards": hand}, (seat,))
    d.add({"t": "size_set", "seat": seat, "size": len(hand), "played": move["card"]})
    chain = [*frame.data.get("chain", []), [seat, move["card"]]]
    if frame.kind == "counter":
        d.end()
    d.barrier()
    window(d, "counter", [s for s in range(d.state.seats) if s != seat], chain=chain)


def go_counter(d: D, frame: Frame) -> None:
    d.end()
    (seat, card), stands = frame.data["chain"][0], len(frame.data["chain"]) % 2
    if card == "ambush":
        d.end()
        d.note(bonus=d.state.top.data["bonus"] + stands, todo=["window", "roll"])
    elif stands:
        d.add({"t": "point_won", "seat": seat, "points": d.state.points[seat] + 1})


def may(s: Windows) -> tuple[Seat, ...]:
    return tuple(x for x in range(s.seats) if s.sizes[x] and x not in s.top.owing) if s.top.kind == "turn" else ()


def build(s: Windows, seat: Seat) -> Builder:
    frame = s.top
    owes, card = seat in frame.owing, FITS[frame.kind]
    play = card in s.hands[seat] and (owes or frame.kind == "turn")
    if frame.kind == "turn":
        types = [Option("end", ends=True), "attack"] if owes else []
    else:
        types = [Option("pass", ends=True)]
    kind = yield one("type", [*types, *["play_card"] * play, "set_auto"])
    if kind == "play_card":
        return {"type": kind, "card": (yield one("card", [card]))}
    if kind == "attack":
        return {"type": kind, "target": (yield one("target", [x for x in range(s.seats) if x != seat]))}
    return {"type": kind, "on": (yield one("on", [True, False]))} if kind == "set_auto" else {"type": kind}


def default(s: Windows, decision: Decision, seat: Seat) -> Move:
    return {"type": "end" if decision.kind == "turn" else "pass"}


def sight(s: Windows, viewer: Viewer) -> Json:
    if viewer == PUBLIC:
        public = {"turns": s.turns, "sizes": list(s.sizes), "points": list(s.points)}
        return {**public, "discards": list(s.discards), "deck": len(DECK) - 3 * s.seats}
    if viewer == DIRECTOR:
        return {"hands": [list(h) for h in s.hands], "auto": list(s.auto), "deck": list(s.deck)}
    owes = bool(s.frames) and s.top.secret and viewer in s.top.owing
    return {"hand": list(s.hands[int(viewer)]), "auto": s.auto[int(viewer)], "owes": owes}


def scores(s: Windows) -> list[Score]:
    return [Score(i, 1 + sum(q > p for q in s.points), p) for i, p in enumerate(s.points)]


def redeal(d: D, keep: tuple[Viewer, ...]) -> None:
    """The cards that no kept viewer holds are dealt anew into deck and hands."""
    if DIRECTOR in keep:
        return
    others = [seat for seat in range(d.state.seats) if seat not in keep]
    pool = d.draws.shuffle("redeal", [*d.state.deck, *(c for s in others for c in d.state.hands[s])], TABLE)
    for seat in others:
        size = d.state.sizes[seat]
        hand, pool = pool[:size], pool[size:]
        d.add({"t": "hand_set", "seat": seat, "cards": hand}, (seat,))
    d.add({"t": "deck_set", "cards": pool}, TABLE)


def blank(table: Table) -> Windows:
    n = table.seats
    turns: int = table.options["turns"]
    return Windows(n, turns=turns, sizes=(0,) * n, points=(0,) * n, hands=((),) * n, auto=(False,) * n)


CARD = Word(CARDS)

RULESET: Ruleset[Windows] = Ruleset(
    meta=Meta(
        "windows@1",
        "Windows",
        "WI",
        (2, 3, 5),
        {"turns": OptionType(Int(1, 99), 10)},
        {"invalid_target": "WI-1", "card_not_in_hand": "WI-3", "card_not_playable_now": "WI-3"},
        clocks={"window": "window", "counter": "window"},
    ),
    state=Windows,
    moves={
        "end": MoveType(Obj(), ("turn",)),
        "attack": MoveType(Obj({"target": Int()}), ("turn",), rule="WI-1"),
        "pass": MoveType(Obj(), ("window", "counter"), hidden=("*",), anonymous=True, rule="WI-2"),
        "set_auto": MoveType(Obj({"on": Bool()}), by="any", hidden=("*",), anonymous=True, rule="WI-2"),
        "play_card": MoveType(Obj({"card": CARD}), by="any", rule="WI-3"),
    },
    do={"end": do_end, "attack": do_attack, "pass": do_pass, "set_auto": do_auto, "play_card": do_play},
    go={"combat": go_combat, "window": go_window, "counter": go_counter},
    evolve={
        "hand_set": hand_set,
        "deck_set": deck_set,
        "size_set": size_set,
        "auto_set": auto_set,
        "point_won": point_won,
        "turn_begun": turn_begun,
    },
    setup=setup,
    build=build,
    default=default,
    sight=sight,
    scores=scores,
    check=lambda s: [f"hand of {i}" for i in range(s.seats) if len(s.hands[i]) != s.sizes[i]],
    redeal=redeal,
    blank=blank,
    may=may,
)


def candidates(s: Windows, seat: Seat) -> Iterator[Move]:
    """Every move that a small world can hold, well-formed or nearly."""
    yield from ({"type": t} for t in ("end", "pass"))
    yield from ({"type": "attack", "target": t} for t in range(s.seats + 1))
    yield from ({"type": "play_card", "card": c} for c in CARDS)
    yield from ({"type": "set_auto", "on": on} for on in (True, False))


def conserved(doc: Json) -> Json:
    """Every card is in one place."""
    held = [c for h in doc["hands"].values() for c in h]
    return sorted([*held, *doc["deck"], *doc["discards"]])
