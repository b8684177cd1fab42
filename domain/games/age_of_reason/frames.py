"""Frames of the flow: the context of each kind of decision, and the remaining steps of frames without one."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.age_of_reason.state import Side
from domain.kernel.schema.declarations import Context, declared_classes
from domain.types import Json

# --- set-up and sequence ---------------------------------------------------------------------------------------


class ChoosePower(Context, frozen=True):
    """AOR-3.3: a seat chooses its power."""


class GameTurn(Context, frozen=True):
    """AOR-4: a game turn, below all its other frames; it asks nobody."""

    to_play: Sequence[int]
    """Seats with a turn left this round, in turn order."""


class AuctionBid(Context, frozen=True):
    """AOR-6: a seat bids or passes."""


class Turn(Context, frozen=True):
    """AOR-7.2: a seat takes its turn; the question is repeated after each action."""


# --- battles ---------------------------------------------------------------------------------------------------


class Battle(Context, frozen=True):
    """AOR-9: a battle, below its questions; it asks nobody."""

    todo: Sequence[Sequence[Json]]
    """The steps still to do: name and arguments of each."""


class Commit(Context, frozen=True):
    """AOR-9.2: the defender and the allies lay cards face down, each in secret."""

    defender: int | None
    """The seat obliged to lay a card; all others are allies."""


class Hire(Context, frozen=True):
    """AOR-9.4: the principals hire non-player powers, each in secret."""


class Reserves(Context, frozen=True):
    """AOR-9.7.1: a principal may roll the own dice again."""

    side: Side


FRAMES: dict[str, type[Context]] = declared_classes(__name__, Context)
