"""Positions for tests: every neutral army has morale 5 and training 4, nothing is built, seat i has rank i+1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.games.egc.data import EMPIRES, HOMES, SEATS, TECHNOLOGIES, TERRITORIES
from domain.games.egc.rules.seas import controlled
from domain.games.egc.state import PAIR_KEYS, Egc
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.draws import Extreme, Scripted
from domain.types import DIRECTOR, Doc, Json, Seat
from tests.games.egc.registered import RULESET
from tests.spec import SEED, Given

AUSTRIA, AZTEC, BRITAIN, FRANCE, JAPAN, OTTOMAN, PORTUGAL, RUSSIA, SPAIN, ZULU = SEATS
COUNTS = (14, 21, 28, 35)

Forces = Mapping[str, tuple[str, int, int, int]]
"""Army -> territory, divisions, morale, training."""


class Board(Given):
    """A running game whose turns can be resolved with scripted draws."""

    def __init__(self, patch: Json, options: Mapping[str, Json] | None = None) -> None:
        self.match = InMemoryGame(RULESET, len(EMPIRES), SEED, options=options, source=Extreme(last=True), patch=patch)
        assert not (broken := RULESET.check(self.match.state)), broken

    def file(self, seat: Seat, *moves: Doc) -> None:
        """Orders of a sheet, one record each."""
        for move in moves:
            self.match.play(seat, move)

    def resolve(self, sheets: Mapping[Seat, Sequence[Doc]] | None = None, draws: Sequence[Json] = ()) -> list[Doc]:
        """The sheets are filed and submitted, the turn is resolved; returns all facts of the record."""
        for seat, moves in (sheets or {}).items():
            self.file(seat, *moves)
        for seat in list(self.state.top.owing):
            self.match.play(seat, {"type": "submit_orders"})
        return self.engine(draws)

    def record(self) -> Record:
        """The last record."""
        return self.match.records[-1]

    def facts(self, viewer: Any = DIRECTOR) -> list[Doc]:
        """Facts of the last record that a viewer may read."""
        return facts_for(self.record(), viewer)

    def army(self, army: str) -> tuple[str, int, int, int] | None:
        """Territory, divisions, morale and training of an army; None when it is no more."""
        for armies in self.state.armies:
            if army in armies:
                a = armies[army]
                return a.territory, a.divisions, a.morale, a.training
        return None

    def where(self, army: str) -> str | None:
        """The territory of an army; None when it is no more."""
        found = self.army(army)
        return found and found[0]

    def owner(self, territory: str) -> Seat | None:
        """Whose a territory is."""
        seat: Seat | None = self.state.lands[territory].owner
        return seat


def set_up(draws: Sequence[Json], options: Mapping[str, Json] | None = None) -> Board:
    """A game in turn zero whose set-up draws exactly these values."""
    board = Board.__new__(Board)
    Given.__init__(board, RULESET, len(EMPIRES), options=options, draws=draws)
    return board


def plain_draws(counts: Sequence[int] = COUNTS, tie_order: Sequence[Seat] = SEATS) -> list[Json]:
    """Draws of a set-up in which all neutral armies have morale 5, training 4 and rank 10, and nothing is built."""
    draws: list[Json] = [*counts, list(tie_order)]
    for t in TERRITORIES.values():
        if t.home_of is None:
            draws += [5, 4, *[10] * bool(t.seas), *[100] * (6 if t.seas else 5)]
    return draws


def of(facts: Sequence[Doc], kind: str, seat: Seat | None = None) -> list[Doc]:
    """Facts of a kind, of one seat if it is named."""
    return [f for f in facts if f["t"] == kind and (seat is None or f["seat"] == seat)]


def ranks(seat: Seat, **changed: int) -> dict[str, int]:
    """The seat's number in every technology, but for those named."""
    return {technology: changed.get(technology, seat + 1) for technology in TECHNOLOGIES}


def position(
    turn: int = 1,
    *,
    armies: Mapping[Seat, Forces] | None = None,
    owners: Mapping[str, Seat] | None = None,
    lands: Mapping[str, Json] | None = None,
    levels: Mapping[str, Mapping[str, int]] | None = None,
    garrisons: Mapping[str, tuple[int, int, int] | None] | None = None,
    neutral_ranks: Mapping[str, Json] | None = None,
    relations: Mapping[tuple[Seat, Seat], str] | None = None,
    treasury: Mapping[Seat, int] | None = None,
    diplomacy: Mapping[Seat, int] | None = None,
    rank: Mapping[Seat, Mapping[str, int]] | None = None,
    empires: Mapping[Seat, Json] | None = None,
    options: Mapping[str, Json] | None = None,
    **more: Json,
) -> Board:
    """The sheets of a turn are open. Without `armies` nobody has one; treasuries are 500000, points 300."""
    held: dict[str, Any] = {t: {"owner": seat} for t, seat in (owners or {}).items()}
    for t, land in (lands or {}).items():
        held[t] = {**held.get(t, {}), **land}
    owner = {t: held.get(t, {}).get("owner", TERRITORIES[t].home_of) for t in TERRITORIES}
    neutral: dict[str, Any] = {t: _garrison(t, garrisons) if owner[t] is None else None for t in TERRITORIES}
    forces = armies or {}
    manned = {t: "neutral" if neutral[t] else None for t in TERRITORIES}
    manned |= {a[0]: EMPIRES[seat] for seat, mine in forces.items() for a in mine.values()}
    patch: dict[str, Any] = {
        "turn": turn,
        "count_turns": list(COUNTS),
        "tie_order": list(SEATS),
        "frames": [frame(turn, [x for x in SEATS if more.get("status", {}).get(str(x), "active") == "active"])],
        "lands": held,
        "garrisons": neutral,
        "neutral_ranks": {t: {"naval": 10, "siege": None} for t in TERRITORIES} | dict(neutral_ranks or {}),
        "levels": {
            t: {**dict.fromkeys(("fortification", "recruitment_centre")), **x} for t, x in (levels or {}).items()
        },
        "relations": {PAIR_KEYS[pair]: level for pair, level in (relations or {}).items()},
        "manned": manned,
        "empires": {str(x): _empire(x, treasury, diplomacy, rank, empires) for x in SEATS},
        "armies": {str(x): {army: _army(a) for army, a in mine.items()} for x, mine in forces.items()},
        "sheets": {str(x): {"next_army": 50} for x in SEATS},
        **more,
    }
    state = Board(patch, options).state
    for x in SEATS:
        patch["sheets"][str(x)]["controls"] = controlled(state, x)
    return Board(patch, options)


def frame(turn: int, asked: Sequence[Seat]) -> Json:
    """The frame of a turn's sheets."""
    return {"n": 1, "kind": "orders", "asked": list(asked), "owing": list(asked), "data": {"turn": turn}}


def _garrison(t: str, garrisons: Mapping[str, tuple[int, int, int] | None] | None) -> Json:
    given = (garrisons or {}).get(t, (TERRITORIES[t].supply, 5, 4))
    return given and dict(zip(("divisions", "morale", "training"), given, strict=True))


def _army(a: tuple[str, int, int, int]) -> Json:
    return dict(zip(("territory", "divisions", "morale", "training"), a, strict=True))


def _empire(
    seat: Seat,
    treasury: Mapping[Seat, int] | None,
    diplomacy: Mapping[Seat, int] | None,
    rank: Mapping[Seat, Mapping[str, int]] | None,
    more: Mapping[Seat, Json] | None,
) -> Json:
    return {
        "treasury": (treasury or {}).get(seat, 500_000),
        "diplomacy": (diplomacy or {}).get(seat, 300),
        "ranks": ranks(seat, **(rank or {}).get(seat, {})),
        "points": dict.fromkeys(TECHNOLOGIES, 1000 * (10 - seat)),
        **(more or {}).get(seat, {}),
    }


def scripted(board: Board, draws: Sequence[Json]) -> Scripted:
    """The next draws of a board."""
    script = Scripted(draws)
    board.match.source = script
    return script


def move(army: str, *path: str, **more: Json) -> Doc:
    """An army moves."""
    return {"type": "order_army", "army": army, "order": "move", "path": list(path), **more}


def order(army: str, kind: str, **more: Json) -> Doc:
    """An army does something else."""
    return {"type": "order_army", "army": army, "order": kind, **more}


def act(target: str, action: str, **more: int) -> Doc:
    """An action on a relation."""
    return {"type": "relation_action", "target": target, "action": action, **more}


def answer(name: str, accept: bool) -> Doc:
    """An answer to a proposal."""
    return {"type": "answer_proposal", "proposal": name, "accept": accept}


def proposal(sender: Seat, target: Seat, action: str = "propose") -> dict[str, Json]:
    """A proposal that awaits its answer in the first turn."""
    return {f"0:{sender}:{target}": {"sender": sender, "target": target, "action": action}}


def state_of(board: Board) -> Egc:
    """The state, typed."""
    state: Egc = board.state
    return state


def home(seat: Seat) -> str:
    """The home territory of a seat."""
    return HOMES[seat]
