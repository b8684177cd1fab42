"""Attendance at a table: the people behind the decisions of each seat, read from the records of its game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from domain.kernel.game.officers import Officer
from domain.kernel.records.record import Record


class SeatDecision(NamedTuple):
    """A decision of a seat. `player` is empty if the clock or a director decided."""

    version: int
    seat: int
    player: str
    lapsed: bool


class GameAttendance(NamedTuple):
    """Seats without a person behind two thirds of their decisions, and seats with another person at the start."""

    unheld: frozenset[int] = frozenset()
    adopted: frozenset[int] = frozenset()
    leavers: tuple[tuple[int, str], ...] = ()
    """Seat and player id of people who left a seat of the running game, and did not come back to it."""


PRESENT = GameAttendance()
"""Everybody has played."""


def list_decisions(records: Iterable[Record]) -> list[SeatDecision]:
    """Return the decisions of a game without the undone ones; of a decision with several moves of a seat, the last."""
    holders: dict[int, str] = {}
    frames: tuple[int, ...] = ()
    frames_after: dict[int, tuple[int, ...]] = {}
    found: list[tuple[int, SeatDecision]] = []
    for record in records:
        seat = record.head.seat
        if record.kind == "joined" and seat is not None:
            holders[seat] = record.body["player"]
        elif record.kind == "left" and seat is not None:
            holders.pop(seat, None)
        elif record.kind == "rewound":
            found = [(frame, decision) for frame, decision in found if decision.version <= record.body["to"]]
            frames = frames_after[record.body["to"]]
        elif record.kind in ("moved", "lapsed"):
            is_own = record.kind == "moved" and record.public.get("by", "seat") == "seat"
            for mover in sorted({mover for mover, _ in record.moves()}):
                player = holders.get(mover, "") if is_own else ""
                decision = SeatDecision(record.version, mover, player, record.kind == "lapsed")
                found.append((frames[-1] if frames else 0, decision))
        for fact in record.public.get("facts", ()):
            if fact["t"] == "asked":
                frames = (*frames, fact["n"])
            elif fact["t"] == "ended":
                frames = frames[:-1]
        frames_after[record.version] = frames
    return sorted({(decision.seat, frame): decision for frame, decision in found}.values())


def count_shares(decisions: Sequence[SeatDecision], people: Sequence[Sequence[str]]) -> tuple[tuple[int, int], ...]:
    """Return for each seat the decisions of its people, and all; `people` has their player ids by seat."""
    shares = []
    for seat, players in enumerate(people):
        made = [decision.player in players for decision in decisions if decision.seat == seat]
        shares.append((sum(made), len(made)))
    return tuple(shares)


def find_absent_seats(shares: Sequence[Sequence[int]]) -> frozenset[int]:
    """Return the seats whose people made less than half of their decisions; a seat without one is not absent."""
    return frozenset(seat for seat, (made, everything) in enumerate(shares) if 2 * made < everything)


def find_adopted_seats(records: Iterable[Record]) -> frozenset[int]:
    """Return the seats with another person after the start of the game than at it."""
    first: dict[int, str] = {}
    has_started, adopted = False, set[int]()
    for record in records:
        seat = record.head.seat
        has_started = has_started or record.kind == "started"
        if record.kind == "joined" and seat is not None:
            if has_started and first.get(seat) != record.body["player"]:
                adopted.add(seat)
            elif not has_started:
                first[seat] = record.body["player"]
    return frozenset(adopted)


def find_leavers(records: Iterable[Record]) -> tuple[tuple[int, str], ...]:
    """Return seat and player of all who gave a seat of the running game back, and did not return to it.

    A removal by another officer counts only after a missed deadline of the player. A concession is none of these.
    """
    holders, missed, left = dict[int, str](), set[int](), dict[int, list[str]]()
    has_started = False
    for record in records:
        seat = record.head.seat
        has_started = has_started or record.kind == "started"
        if record.kind == "lapsed":
            missed |= {mover for mover, _ in record.moves()}
        if seat is None:
            continue
        if record.kind == "joined":
            holders[seat] = record.body["player"]
            missed.discard(seat)
            left[seat] = [player for player in left.get(seat, ()) if player != holders[seat]]
        elif record.kind == "left" and (player := holders.pop(seat, "")):
            officer = Officer.from_record(record)
            is_own = record.public.get("by", "seat") != "director" or (officer is not None and officer.player == player)
            if has_started and "conceded" not in record.body and (is_own or seat in missed):
                left.setdefault(seat, []).append(player)
    return tuple((seat, player) for seat, players in sorted(left.items()) for player in players)


def find_left_seats(records: Sequence[Record], people: Sequence[Collection[str]]) -> tuple[int, ...]:
    """Return the seats given back by one of their people and held by none of them at the end, ascending."""
    holders: dict[int, str] = {}
    for record in records:
        if record.kind == "joined" and record.head.seat is not None:
            holders[record.head.seat] = record.body["player"]
        elif record.kind == "left" and record.head.seat is not None:
            holders.pop(record.head.seat, None)
    left = {seat for seat, player in find_leavers(records) if player in people[seat]}
    return tuple(sorted(seat for seat in left if holders.get(seat) not in people[seat]))


def find_unheld_seats(decisions: Sequence[SeatDecision]) -> frozenset[int]:
    """Return the seats without a person behind two thirds of their decisions; a seat without a decision is held."""
    made: dict[int, Counter[str]] = {}
    for decision in decisions:
        made.setdefault(decision.seat, Counter())[decision.player] += 1
    return frozenset(
        seat
        for seat, counts in made.items()
        if 3 * max((n for player, n in counts.items() if player), default=0) < 2 * counts.total()
    )


def count_lapses(decisions: Sequence[SeatDecision], seats: int) -> tuple[int, ...]:
    """Return the number of missed deadlines of each seat, or nothing if there are none."""
    lapses = tuple(sum(each.lapsed and each.seat == seat for each in decisions) for seat in range(seats))
    return lapses if any(lapses) else ()
