"""Games from their records: `fold` applies facts, and never runs `decide`.

A rewind takes the reversible part of a game back; the lasting part goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from domain.errors import VerificationError
from domain.kernel.game.appeals import APPEAL_ACTS
from domain.kernel.game.clock_fold import (
    clock_shift,
    is_about_appeal,
    is_free_undo,
    rewind_time,
    shared_clock,
    update_clocks,
    update_pauses,
    update_timing,
    with_pace,
)
from domain.kernel.game.deadlines import parse_time_control
from domain.kernel.game.game import AnyGame, Game, Lasting, Opening, Reversible, Tip
from domain.kernel.game.last_turn import find_last_turn
from domain.kernel.game.playing_time import shift_pauses
from domain.kernel.game.rulings import Ruling
from domain.kernel.game.seat_players import SEATING_KINDS
from domain.kernel.game.timing import Timing, initial_timing
from domain.kernel.records.audience import ALL_KEY
from domain.kernel.records.record import PackHead, Record, facts_for
from domain.kernel.rules.flow import Frame, S, State, assign, evolve_all
from domain.kernel.rules.meta import Table
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Doc, Viewer

TERMS = (
    "undo",
    "listing",
    "hold",
    "several",
    "delay",
    "misses",
    "time_limit",
    "last_turn",
    "officers",
    "appeals",
    "leavers",
    "talk",
    "papers",
    "after",
    "names",
    "suggestions",
    "standing_orders",
    "origin",
    "imported",
)
"""Terms of a table: seats required to agree to an undo; visibility of the table in listings; seconds of holding a seat
after its player leaves; permission for one person to have several seats (granted in older records, without the
term); seconds of delay for viewers; missed deadlines on end (`row`) or altogether (`all`) after which a seat counts as
vacant (never in older records, without the term); seconds of play after which the table is adjourned
(`time_limit`), and then those for playing the current turn to its end (`last_turn`); whether officers must be
`neutral` (not in older records);
seconds to appeal against an act of an officer (`appeal`) and to answer (`answer`; no appeals without the term);
`leavers: last` if giving a seat back counts as a concession for ratings (not in older records); what players may write
(`talk`; nothing without the term), whether a new player of a seat reads its letters (`papers: pass_on`), and whether
all do after the close (`after: published`); whether people stay unknown to each other until then (`names: hidden`);
whether seats may ask a bot for a move (`suggestions`; without the term a person among bots may); whether seats may
give standing orders (`standing_orders`: `allowed`, `refused`, or `shown` to everybody; without the term they may, but
not in a tournament); of a fork its origin: `game`, `version`, and the hash of that version's record (`head`); of an
imported game its id and its last record's hash in the file.
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
    body, at = record.body, record.time
    table = Table(body["seats"], body["options"])
    terms = {k: body[k] for k in TERMS if k in body}
    opening = Opening(body["game"], body["ruleset"], table, body["seed_hash"], at, terms)
    timing = initial_timing(parse_time_control(rules.meta, body.get("pace")), table.seats, bool(body.get("misses")))
    reversible = Reversible(rules.blank(table), waiting_since=at)
    return Game(Tip(record.version, at, record), reversible, Lasting(opening, timing=timing))


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
    kind, at, before = record.head.kind, record.head.at, game.reversible
    ruling = _update_ruling(game, record) if kind == "ruled" else before.ruling
    status = _next_status(before.status, kind, state, ruling)
    frames: tuple[Frame, ...] = state.frames if status == "running" else ()
    same = _leaves_decision_open(before.state.frames, record, frames)
    pauses = update_pauses(game, record) if kind == "ruled" else game.timing.pauses
    clocks, banks = update_clocks(rules, game, record, frames, same, pauses)
    reversible = assign(
        before,
        state=state,
        status=status,
        board=before.board if record.head.board is None else record.head.board,
        counts=_update_counts(game, record, packs),
        sealed=_update_sealed(game, record, packs),
        clocks=clocks,
        undone_from=before.undone_from if same else (),
        waiting_since=before.waiting_since + clock_shift(record) if same else at,
        ruling=ruling,
    )
    timing = update_timing(game, record, banks, pauses)
    if (last := find_last_turn(rules, game, at - clock_shift(record))) != timing.last_turn:
        timing = assign(timing, last_turn=last)
    lasting = _update_lasting(game, record, timing)
    return Game(Tip(record.head.v, at, record), reversible, lasting)


def _leaves_decision_open(before: tuple[Frame, ...], record: Record, frames: tuple[Frame, ...]) -> bool:
    """Return whether the decision open before a record is open after it, with these frames."""
    is_same_frame = bool(frames and before) and frames[-1].n == before[-1].n and record.head.kind != "rewound"
    return is_same_frame or is_about_appeal(record)


def _update_lasting(game: AnyGame, record: Record, timing: Timing) -> Lasting:
    lasting, kind = game.lasting, record.head.kind
    if timing is not lasting.timing:
        lasting = assign(lasting, timing=timing)
    if kind in SEATING_KINDS:
        return replace(lasting, seating=lasting.seating.after(record, game.status))
    if kind == "deputed":
        return replace(lasting, staff=lasting.staff.after(record.body))
    if kind in ("ruled", "rewound"):
        terms = game.terms.get("appeals")
        return replace(lasting, appeals=lasting.appeals.after(record, terms)) if isinstance(terms, dict) else lasting
    return lasting


def _update_ruling(game: AnyGame, record: Record) -> Ruling | None:
    act, ms, ruling = record.body.get("act"), clock_shift(record), game.reversible.ruling
    if act == "end":
        return Ruling.from_record(record, game.pause_at(record.head.at))
    if ruling is not None and ms:
        pause = shift_pauses((ruling.pause,), record.head.at - ms, ms)[0] if ruling.pause else None
        contested = ruling.contested_until
        moved = contested + ms if contested else 0
        return replace(ruling, at=ruling.at + ms, contested_until=moved, pause=pause)
    if ruling is not None and act in APPEAL_ACTS and record.body["version"] == ruling.version:
        return ruling.after_appeal(record, game.terms["appeals"])
    return None if act == "withdraw" else ruling


def _update_counts(game: AnyGame, record: Record, packs: Mapping[str, PackHead]) -> Mapping[str, int]:
    counts = game.reversible.counts
    if draws := record.head.draws:
        counts = {**counts, ALL_KEY: draws[-1][0] + 1}
    for key, pack in packs.items():
        if draws := pack.draws:
            counts = {**counts, key: draws[-1][0] + 1}
    return counts


def _update_sealed(game: AnyGame, record: Record, packs: Mapping[str, PackHead]) -> Mapping[str, tuple[int, Doc]]:
    sealed = game.reversible.sealed
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
    shared = shared_clock(game, target, record)
    clocks, timing = rewind_time(game, target, record, is_shared=shared is not None)
    back = game.rewind_to(target, game.lasting.rewinds.after(record))
    back = Game(back.tip, replace(back.reversible, clocks=clocks), replace(back.lasting, timing=timing))
    rewound = apply_record(rules, back, record, state, packs)
    reversible = rewound.reversible
    if is_free_undo(record):
        reversible = replace(reversible, undone_from=target.reversible.undone_from or target.timing.thinking)
    if shared is not None:
        reversible = replace(reversible, clocks=tuple(shared if c.n == shared.n else c for c in reversible.clocks))
    return Game(rewound.tip, reversible, rewound.lasting)


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
