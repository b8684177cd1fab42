"""SE7-14, SE7-0.11: a viewer's view. Everything is public but the hourglass tiles lying face down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from domain.games.seven_empires.data import ACTIONS, EMPIRES, FLAGS, SLOTS, YEARS
from domain.games.seven_empires.state import Movement, Seven, Turn
from domain.kernel.rules.ruleset import Chapter, memo
from domain.kernel.schema.declarations import Part, among
from domain.types import Seat


class EmpireShown(Part, frozen=True):
    """Data of one empire besides its pieces on the map."""

    power: int
    monarch: int | None
    """Seat of the monarch; null for a neutral empire."""
    acted: bool
    """True if it has acted in this decade (SE7-10.3)."""
    markers: Mapping[str, Annotated[str, among(("tray", *SLOTS))]]
    """Action -> where its marker lies."""
    supply: Mapping[str, int]
    """Unit -> how many can still be placed (SE7-0.10)."""
    flags_left: int
    pile: Sequence[str]
    """Its influence cards in nobody's hand, from the top."""
    crowns: int
    """Crowns in its unoccupied city regions (SE7-6.2)."""


class Board(Part, frozen=True):
    """The common board, in the names of SE7-0.11."""

    game: Literal["seven_empires"]
    players: int
    setup: str
    decades: int
    """Number of decades to play."""
    decade: int
    """0 during the set-up."""
    year: int | None
    turn_in_decade: int
    first_seat: int | None
    """P1."""
    pawn: int | None
    """Holder of the orange pawn."""
    card: str | None
    """The distribution card used."""
    turn: Turn | None
    movement: Movement | None
    empires: Mapping[str, EmpireShown]
    """Empires in flag order."""
    hands: Sequence[Sequence[str]]
    """Influence cards and workers, by seat."""
    influence: Sequence[Mapping[str, int]]
    """By seat: empire -> sum of its cards; 0 is omitted (SE7-1.7)."""
    workers: Sequence[str]
    """Empires with their worker in the stock."""
    units: Mapping[str, Mapping[str, Mapping[str, int]]]
    """Region -> empire -> unit -> number."""
    flags: Mapping[str, str]
    """Region -> empire."""
    levels: Mapping[str, int]
    """City region -> level of its city tile; those without one are not named."""
    palaces: Mapping[str, int]
    """City region -> crowns of its palace; those without one are not named."""
    revealed: Sequence[str]
    """Hourglass tiles of past decades."""


class Own(Part, frozen=True):
    """SE7-14.2: nothing, for the board shows everything a seat may know."""


class Hidden(Part, frozen=True):
    """SE7-14.1: hidden from every seat."""

    hourglass: Sequence[str]
    """Tile of each decade, all of them."""
    left_out: str | None
    """The tile put aside for nine decades."""


TRAY = dict.fromkeys(ACTIONS, "tray")


def own_view(s: Seven, seat: Seat) -> Own:
    """SE7-14.2."""
    return Own()


def hidden_view(s: Seven) -> Hidden:
    """SE7-14.1."""
    return Hidden(s.hourglass, s.left_out)


def board(s: Seven) -> Board:
    """SE7-14.2."""
    return Board(
        game="seven_empires",
        players=s.seats,
        setup=s.terms.setup,
        decades=s.terms.decades,
        decade=s.decade,
        year=YEARS[s.terms.decades][s.decade - 1] if s.decade else None,
        turn_in_decade=s.turn_in_decade,
        first_seat=s.first_seat,
        pawn=s.pawn,
        card=s.card,
        turn=s.turn,
        movement=s.movement,
        empires=_empires(s),
        hands=s.hands,
        influence=s.influences,
        workers=s.workers(),
        units=s.units,
        flags=s.flags,
        levels=s.levels,
        palaces=s.palaces,
        revealed=s.revealed,
    )


def _empires(s: Seven) -> dict[str, EmpireShown]:
    # Each figure is read for all empires at once, as the board is rendered after every record.
    supplies, flags, piles, crowns = s.supplies, s.flag_counts, s.piles, s.crown_counts
    markers = memo(s, "markers", lambda: {e: {**TRAY, **s.empires[e].markers} for e in EMPIRES}, (s.empires,))
    return {
        name: EmpireShown(
            power=s.empires[name].power,
            monarch=s.empires[name].monarch,
            acted=s.acted(name),
            markers=markers[name],
            supply=supplies[name],
            flags_left=FLAGS[name] - flags.get(name, 0),
            pile=piles[name],
            crowns=crowns[name],
        )
        for name in EMPIRES
    }


def chapter(s: Seven) -> Chapter:
    """Return the decade (SE7-3)."""
    return Chapter(s.decade)
