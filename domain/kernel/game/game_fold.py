"""Games from their records: `fold` applies facts, and never runs `decide`.

A rewind takes the state back; data of the game as a whole go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from domain.errors import VerificationError
from domain.kernel.game.appeals import APPEAL_ACTS, Appeals
from domain.kernel.game.clock_fold import (
    charge_banks,
    clock_shift,
    is_about_appeal,
    is_free_undo,
    rewound_clocks,
    shared_clock,
    update_clocks,
    update_granted,
    update_pauses,
    update_thinking,
    with_pace,
)
from domain.kernel.game.deadlines import initial_time_banks, parse_time_control
from domain.kernel.game.game import AnyGame, Game, Player
from domain.kernel.game.playing_time import shift_pauses
from domain.kernel.game.rulings import Ruling
from domain.kernel.records.audience import ALL_KEY
from domain.kernel.records.record import PackHead, Record, facts_for
from domain.kernel.rules.flow import Frame, S, State, assign, evolve_all
from domain.kernel.rules.meta import Table
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Doc, Seat, Viewer

SEATING = ("joined", "left", "revealed")
"""Kinds of records affecting the seating."""


TERMS = (
    "undo",
    "listing",
    "hold",
    "several",
    "delay",
    "misses",
    "officers",
    "appeals",
    "leavers",
    "origin",
    "imported",
)
"""Terms of a table: seats required to agree to an undo; visibility of the table in listings; seconds of holding a seat
after its player leaves; permission for one person to have several seats (granted in older records, without the
term); seconds of delay for viewers; missed deadlines on end (`row`) or altogether (`all`) after which a seat counts as
vacant (never in older records, without the term); whether officers must be `neutral` (not in older records);
seconds to appeal against an act of an officer (`appeal`) and to answer (`answer`; no appeals without the term);
`leavers: last` if giving a seat back counts as a concession for ratings (not in older records); of a
fork its origin: `game`, `version`, and the hash of that version's record (`head`); of an imported game its id and its
last record's hash in the file.
"""


def active_versions(records: Iterable[Record]) -> list[int]:
    """Return the versions active after the rewinds, ascending; a rewind itself is active."""
    out: list[int] = []
    for r in records:
        if r.kind == "rewound":
            to = r.body["to"]
            while out and out[-1] > to:
                out.pop()
        out.append(r.version)
    return out


def initial_game(rules: Ruleset[S], record: Record) -> Game[S]:
    """Return the game after the first record."""
    body = record.body
    table = Table(body["seats"], body["options"])
    time_control, at = parse_time_control(rules.meta, body.get("pace")), record.time
    return Game(
        body["game"],
        body["ruleset"],
        table,
        body["seed_hash"],
        rules.blank(table),
        version=record.version,
        last=record,
        terms={k: body[k] for k in TERMS if k in body},
        time_control=time_control,
        time_banks=initial_time_banks(time_control, table.seats),
        thinking=(0,) * table.seats if time_control.seconds else (),
        granted=(0,) * table.seats if time_control.seconds else (),
        misses=((0, 0),) * table.seats if body.get("misses") else (),
        opened_at=at,
        waiting_since=at,
        time=at,
    )


def _updated_players(game: Game[S], record: Record) -> Mapping[int, Player]:
    seat, body, players = record.head.seat, record.body, game.players
    if record.kind == "joined" and seat is not None:
        nonce = players[seat].nonce if seat in players else ""
        return {**players, seat: Player(body["player"], body.get("nonce_hash", ""), nonce)}
    if record.kind == "revealed" and seat is not None:
        return {**players, seat: replace(players[seat], nonce=body["nonce"])}
    if record.kind == "left" and game.status == "open":
        return {s: player for s, player in players.items() if s != seat}
    if record.kind == "left" and seat is not None:
        return {**players, seat: replace(players[seat], id="")}
    return players


def _update_stakeholders(game: AnyGame, record: Record) -> frozenset[str]:
    if record.kind == "started":
        return frozenset(player.id for player in game.players.values())
    return game.stakeholders | {record.body["player"]} if game.status == "running" else game.stakeholders


def _add_concession(game: AnyGame, record: Record) -> tuple[tuple[Seat, str], ...]:
    seat = record.head.seat
    if seat is None or not record.body.get("conceded"):
        return game.conceded
    return (*game.conceded, (seat, game.players[seat].id))


def _add_seating(game: AnyGame, record: Record) -> tuple[tuple[int, Seat, str], ...]:
    seat = record.head.seat
    player = record.body["player"] if record.kind == "joined" else ""
    return game.seatings if seat is None else (*game.seatings, (record.version, seat, player))


def _next_status(before: str, kind: str, state: State, ruling: Ruling | None) -> str:
    if kind == "closed":
        return "closed"
    if ruling is not None:
        return "over"
    if kind == "started" or before != "open":
        return "over" if state.over else "running"
    return before


def apply_record(
    rules: Ruleset[S],
    game: Game[S],
    record: Record,
    state: S | None = None,
    packs: Mapping[str, PackHead] | None = None,
) -> Game[S]:
    """Return the game after one more record, no rewind. A caller with the decided state passes it in `state`.

    Counts of draws and sealed packs come from `packs`, by default from those of the record.
    """
    if "pace" in record.head.body and record.head.kind == "ruled":
        game = with_pace(rules, game, record)
    if state is None:
        facts, packs = rules.decode_record(record)
        state = evolve_all(game.state, facts)
    elif packs is None:
        packs = record.pack_heads
    head = record.head
    kind, at, before = head.kind, head.at, game.state.frames
    ruling = _update_ruling(game, record) if kind == "ruled" else game.ruling
    status = _next_status(game.status, kind, state, ruling)
    frames: tuple[Frame, ...] = state.frames if status == "running" else ()
    same = bool(frames and before) and frames[-1].n == before[-1].n and kind != "rewound"
    same = same or is_about_appeal(record)
    pauses = update_pauses(game, record) if kind == "ruled" else game.pauses
    clocks, time_banks = update_clocks(rules, game, record, frames, same, pauses)
    return assign(
        game,
        state=state,
        status=status,
        clocks=clocks,
        time_banks=time_banks,
        thinking=update_thinking(game, record) if game.clocks else game.thinking,
        undone_from=game.undone_from if same else (),
        granted=update_granted(game, record) if game.clocks and kind == "ruled" else game.granted,
        waiting_since=game.waiting_since + clock_shift(record) if same else at,
        counts=_update_counts(game, record, packs),
        sealed=_update_sealed(game, record, packs),
        players=_updated_players(game, record) if kind in SEATING else game.players,
        conceded=_add_concession(game, record) if kind == "left" else game.conceded,
        staff=game.staff.after(record.body) if kind == "deputed" else game.staff,
        stakeholders=_update_stakeholders(game, record) if kind in ("started", "joined") else game.stakeholders,
        seatings=_add_seating(game, record) if kind in ("joined", "left") else game.seatings,
        former_players=_update_former_players(game, record) if kind == "left" else game.former_players,
        misses=_update_misses(game, record) if game.misses else game.misses,
        fresh_timers=_update_fresh_timers(game, record) if "clock" in head.body else game.fresh_timers,
        pauses=pauses,
        ruling=ruling,
        appeals=_update_appeals(game, record) if kind in ("ruled", "rewound") else game.appeals,
        version=head.v,
        last=record,
        board=game.board if head.board is None else head.board,
        time=at,
    )


def _update_ruling(game: AnyGame, record: Record) -> Ruling | None:
    act, ms = record.body.get("act"), clock_shift(record)
    if act == "end":
        return Ruling.from_record(record, game.pause_at(record.head.at))
    if game.ruling is not None and ms:
        pause = shift_pauses((game.ruling.pause,), record.head.at - ms, ms)[0] if game.ruling.pause else None
        contested = game.ruling.contested_until
        moved = contested + ms if contested else 0
        return replace(game.ruling, at=game.ruling.at + ms, contested_until=moved, pause=pause)
    if game.ruling is not None and act in APPEAL_ACTS and record.body["version"] == game.ruling.version:
        return game.ruling.after_appeal(record, game.terms["appeals"])
    return None if act == "withdraw" else game.ruling


def _update_appeals(game: AnyGame, record: Record) -> Appeals:
    terms = game.terms.get("appeals")
    return game.appeals.after(record, terms) if isinstance(terms, dict) else game.appeals


def _update_former_players(game: AnyGame, record: Record) -> Mapping[Seat, str]:
    seat = record.head.seat
    return game.former_players if seat is None else {**game.former_players, seat: game.players[seat].id}


def _update_misses(game: AnyGame, record: Record) -> tuple[tuple[int, int], ...]:
    """Return the misses: a default adds one, a move by the player ends a row, another player has none."""
    kind, head = record.head.kind, record.head
    if kind == "lapsed":
        missed = {seat for seat, _ in record.moves()} - set(game.state.vacant)
        return tuple((row + 1, sum_ + 1) if s in missed else (row, sum_) for s, (row, sum_) in enumerate(game.misses))
    if kind == "moved":
        moved = {seat for seat, _ in record.moves()}
        return tuple((0, sum_) if s in moved else (row, sum_) for s, (row, sum_) in enumerate(game.misses))
    if kind == "joined" and record.body.get("misses") != "kept":
        return tuple((0, 0) if s == head.seat else counts for s, counts in enumerate(game.misses))
    return game.misses


def _update_fresh_timers(game: AnyGame, record: Record) -> Mapping[Seat, int]:
    seat = record.head.seat
    if record.head.kind != "joined" or seat is None or not game.frames:
        return game.fresh_timers
    return {**game.fresh_timers, seat: game.frames[-1].timer}


def _update_counts(game: AnyGame, record: Record, packs: Mapping[str, PackHead]) -> Mapping[str, int]:
    counts = game.counts
    if draws := record.head.draws:
        counts = {**counts, ALL_KEY: draws[-1][0] + 1}
    for key, pack in packs.items():
        if draws := pack.draws:
            counts = {**counts, key: draws[-1][0] + 1}
    return counts


def _update_sealed(game: AnyGame, record: Record, packs: Mapping[str, PackHead]) -> Mapping[str, tuple[int, Doc]]:
    sealed = game.sealed
    for key in packs:
        if ":" in key:
            sealed = {**sealed, key: (record.version, record.packs[key])}
    if openings := record.head.openings:
        opened_keys = {opening["key"] for opening in openings}
        sealed = {key: pack for key, pack in sealed.items() if key not in opened_keys}
    return sealed


def apply_rewind(
    rules: Ruleset[S],
    game: Game[S],
    target: Game[S],
    record: Record,
    state: S | None = None,
    packs: Mapping[str, PackHead] | None = None,
) -> Game[S]:
    """Return the game after a rewind: the state goes back to `target`, the game's own counters go on.

    `state` and `packs` as for `apply_record`.
    """
    fresh = record.body.get("entropy") == "fresh"
    thinking = update_thinking(game, record) if game.clocks else game.thinking
    time_banks = charge_banks(game, game.state.frames, record.time)
    shared = shared_clock(game, target, record)
    clocks, overdrawn = rewound_clocks(game, target, record, thinking, time_banks)
    overdrawn = 0 if shared else overdrawn
    if overdrawn and (seat := record.head.seat) is not None:
        paying = replace(time_banks[seat], bank=max(time_banks[seat].bank - overdrawn, 0))
        time_banks = (*time_banks[:seat], paying, *time_banks[seat + 1 :])
    back = replace(
        target,
        rewinds=game.rewinds + 1,
        time_control=game.time_control,
        epoch=game.epoch + fresh,
        players=game.players,
        conceded=game.conceded,
        staff=game.staff,
        stakeholders=game.stakeholders,
        seatings=game.seatings,
        undone_spans=(*game.undone_spans, (record.body["to"], record.version)),
        time_banks=time_banks,
        clocks=clocks,
        thinking=thinking,
        granted=game.granted,
        misses=game.misses,
        former_players=game.former_players,
        fresh_timers=game.fresh_timers,
        pauses=game.pauses,
        appeals=game.appeals,
        digests=game.digests,
    )
    rewound = apply_record(rules, back, record, state, packs)
    if is_free_undo(record):
        rewound = replace(rewound, undone_from=target.undone_from or target.thinking)
    if shared is None:
        return rewound
    return replace(rewound, clocks=tuple(shared if c.n == shared.n else c for c in rewound.clocks))


def fold(rules: Ruleset[S], records: Sequence[Record], last: int | None = None) -> Game[S]:
    """Return the game after the records up to version `last` (all by default), rewinds followed."""
    selected = records if last is None else [r for r in records if r.version <= last]
    if not selected or selected[0].kind != "opened":
        raise VerificationError("no_beginning", 1)
    game = initial_game(rules, selected[0])
    for after in iterate_games(rules, game, selected[1:]):
        game = after
    return game


def iterate_games(rules: Ruleset[S], game: Game[S], records: Sequence[Record]) -> Iterator[Game[S]]:
    """Yield the game after each of the records that follow it. No rewind among them goes back to before the game."""
    targets = {r.body["to"] for r in records if r.head.kind == "rewound"}
    games = {game.version: game}
    for r in records:
        back = games[r.body["to"]] if r.head.kind == "rewound" else None
        game = apply_rewind(rules, game, back, r) if back else apply_record(rules, game, r)
        if targets and r.version in targets:
            games[r.version] = game
        yield game


def state_known_to(rules: Ruleset[S], records: Sequence[Record], viewer: Viewer) -> S:
    """Return the state folded only from facts readable by a viewer.

    Its view must equal the full state's, or something leaks.
    """
    state = initial_game(rules, records[0]).state
    active = set(active_versions(records))
    for r in records:
        if r.version in active:
            state = rules.fold(state, facts_for(r, viewer))
    return state
