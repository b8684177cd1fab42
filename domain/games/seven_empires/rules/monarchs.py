"""SE7-2.12: the monarchs of the empires."""

from __future__ import annotations

from domain.games.seven_empires.data import EMPIRES, LETTERED, LETTERS
from domain.games.seven_empires.facts.sequence import MonarchsAssigned, Reign
from domain.games.seven_empires.state import Seven
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat


def monarchs(s: Seven) -> dict[str, Seat | None]:
    """SE7-2.12, SE7-11.6: of every empire."""
    return {empire: monarch_of(s, empire) for empire in EMPIRES}


def assigned(s: Seven) -> MonarchsAssigned:
    """SE7-2.12, SE7-11.6: as a fact."""
    found = monarchs(s)
    neutral = [empire for empire, seat in found.items() if seat is None]
    return MonarchsAssigned([Reign(e, seat) for e, seat in found.items() if seat is not None], neutral or UNSET)


def monarch_of(s: Seven, empire: str) -> Seat | None:
    """SE7-2.12: most influence; then the highest letter, then the incumbent, then the lower position."""
    sums = [held.get(empire, 0) for held in s.influences]
    most = max(sums)
    if not most:
        return None
    tied = [seat for seat in s.by_position if sums[seat] == most]
    for letter in LETTERS:
        for seat in tied:
            if LETTERED[empire, letter] in s.hands[seat]:
                return seat
    incumbent = s.monarch(empire)
    return incumbent if incumbent in tied else tied[0]
