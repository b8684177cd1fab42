"""What can be done to a game: each act is a pure function from a position to the next record and position.

`commands` (over the ledger) and `match` (in memory) both go through here. Acts of the table raise RuleError with the
codes of TABLE_CODES, moves with those of the kernel and the ruleset; nothing is changed by a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal

from domain.errors import DecisionClosed, RuleError
from domain.ids import Json, Seat, Viewer
from domain.kernel.audience import ALL_KEY, TABLE_KEY, key_of, seats_of
from domain.kernel.digest import digest
from domain.kernel.draws import Draws, Seeded, Source, commitment, draw_key
from domain.kernel.flow import Fact, S
from domain.kernel.game import Game, Player, advance, nonces, opened, public_digest, rewound, state_digest
from domain.kernel.record import Doc, Record, seal_pack
from domain.kernel.ruleset import Draft, Ruleset, Table, carry_on, decide, decide_all, decisions

TABLE_CODES: Mapping[str, str] = {
    "not_open": "the game has started: seats are taken or given back by other acts",
    "not_running": "the game has not started, or is closed",
    "seat_taken": "the seat has a player",
    "no_free_seat": "every seat has a player",
    "seat_empty": "the seat has no player",
    "unknown_seat": "the table has no such seat",
    "nonce_mismatch": "the nonce is not the one that was committed to",
    "seats_missing": "not every seat has a player",
    "undo_forbidden": "the rules, or the table, do not let a seat undo this",
    "consent_missing": "seats that have learnt or done something since must agree",
    "still_running": "the game is not over",
    "no_vacation_left": "the seat has not that many days of vacation",
    "not_due": "the seat has a player, and time left",
    "deadline_too_soon": "a deadline is brought forward to a minute from now at the soonest",
}
"""Refusals of acts of the table, the same in every game."""

SOONEST = 60_000
"""ms that are left at least until a deadline that is brought forward."""

_HEX = re.compile(r"(?:[0-9a-f]{2}){16,64}")
"""A nonce: 16 to 64 bytes in hex."""

By = Literal["seat", "clock", "engine", "director"]


@dataclass(frozen=True)
class Hand:
    """What an act needs besides the position: the game's secret seed, the time, the command's id.

    `source` replaces the seeded draws (scripted, all minimum, all maximum); such a log does not verify.
    """

    seed: bytes = field(repr=False)
    now: int = 0
    """ms since 1970 UTC."""
    command: str = ""
    source: Source | None = None


@dataclass(frozen=True)
class Step(Generic[S]):
    """A record in the making and the position that it leads to."""

    record: Record
    position: Game[S]


# --- making a record -------------------------------------------------------------------------------------------


def _draft(rules: Ruleset[S], p: Game[S], hand: Hand) -> Draft[S]:
    source = hand.source or Seeded(draw_key(hand.seed, nonces(p)), p.game, p.epoch)
    return Draft(rules, p.state, Draws(source, p.counts))


class _Parts:
    """Sorts what a draft holds into the public part and the packs."""

    def __init__(self) -> None:
        self.public: Doc = {}
        self.packs: dict[str, Doc] = {}

    def put(self, key: str, part: str, item: Json) -> None:
        if key == ALL_KEY:
            self.public.setdefault(part, []).append(item)
        else:
            self.packs.setdefault(key, {}).setdefault(part, []).append(item)

    def acts(self, rules: Ruleset[Any], acts: Sequence[tuple[Seat, Doc]]) -> bool:
        """Returns whether the record is anonymous: then it names no act at all."""
        kinds = [rules.moves[move["type"]] for _, move in acts]
        anonymous = any(k.anonymous for k in kinds)
        for i, ((seat, move), kind) in enumerate(zip(acts, kinds, strict=True)):
            if anonymous or kind.hidden:
                self.put(key_of((seat,)), "acts", [i, seat, move])
            if not anonymous:
                shown = {} if "*" in kind.hidden else {k: v for k, v in move.items() if k not in kind.hidden}
                self.put(ALL_KEY, "acts", [seat, shown])
        return anonymous

    def facts(self, facts: Sequence[tuple[str, Fact]]) -> None:
        shown = 0
        for key, fact in facts:
            self.put(key, "facts", fact if key == ALL_KEY else [shown, fact])
            shown += key == ALL_KEY
        if any(key != ALL_KEY for key, _ in facts):
            self.packs.setdefault(TABLE_KEY, {})["order"] = [key for key, _ in facts]

    def cover(self, seats: Sequence[Seat]) -> None:
        """A pack for each of them, so that the number of seals does not tell who had something to hide."""
        for seat in seats:
            self.packs.setdefault(key_of((seat,)), {})


def _asked_in_secret(facts: Sequence[tuple[str, Fact]]) -> list[Seat]:
    return [s for _, f in facts if f["t"] == "asked" and f.get("secret") for s in f.get("seats", ())]


def _shut(p: Game[Any], hand: Hand, packs: Mapping[str, Doc]) -> dict[str, Doc]:
    return {k: seal_pack(q, hand.seed, p.game, p.version + 1, k) for k, q in packs.items()}


def _openings(p: Game[Any], facts: Sequence[tuple[str, Fact]], packs: Mapping[str, Doc]) -> list[Doc]:
    sealed = {**p.sealed, **{k: (p.version + 1, q) for k, q in packs.items() if ":" in k}}
    keys = [k for _, f in facts if f["t"] == "unsealed" for k in f["keys"]]
    return [{"v": sealed[k][0], "key": k, "pack": sealed[k][1]} for k in keys if k in sealed]


def _empty(value: Json) -> bool:
    return value is None or value is False or value in ("", [], {})


def _record(p: Game[Any], hand: Hand, kind: str, parts: _Parts, packs: Mapping[str, Doc], **more: Json) -> Record:
    public = {**parts.public, **{k: v for k, v in more.items() if not _empty(v)}}
    public |= {"v": p.version + 1, "kind": kind, "at": max(hand.now, p.at), "prev": p.head}
    if packs:
        public["seals"] = sorted(digest(q) for q in packs.values())
    return Record(public, dict(packs))


def _append(
    rules: Ruleset[S],
    p: Game[S],
    hand: Hand,
    draft: Draft[S],
    kind: str,
    *,
    by: By | None = None,
    seat: Seat | None = None,
    acts: Sequence[tuple[Seat, Doc]] = (),
    cover: Sequence[Seat] = (),
    body: Doc | None = None,
    ruling: Doc | None = None,
) -> Step[S]:
    parts = _Parts()
    anonymous = parts.acts(rules, acts)
    for channel, draw in draft.draws.taken:
        parts.put(channel, "draws", draw)
    parts.facts(draft.facts)
    parts.cover([*cover, *_asked_in_secret(draft.facts)])
    hidden, digests = state_digest(draft.state, p.digests)
    table = parts.packs.setdefault(TABLE_KEY, {})
    table["digest"] = hidden
    if hand.command:
        table["command"] = hand.command
    if ruling:
        table["ruling"] = ruling
    packs = _shut(p, hand, parts.packs)
    told = any(s != seat for key in packs for s in seats_of(key))
    quiet = not parts.public.get("facts") and p.board
    record = _record(
        p,
        hand,
        kind,
        parts,
        packs,
        seat=None if anonymous else seat,
        by=by,
        openings=_openings(p, draft.facts, packs),
        barrier=anonymous or draft.revealing or told,
        board=p.board if quiet else public_digest(rules, draft.state),
        body=body,
    )
    return Step(record, replace(advance(rules, p, record, draft.state), digests=digests))


def _refuse_unless(ok: bool, code: str, **detail: Json) -> None:
    if not ok:
        raise RuleError(code, "", detail)


# --- the table -------------------------------------------------------------------------------------------------


def open_game(rules: Ruleset[S], game: str, table: Table, hand: Hand, body: Doc | None = None) -> Step[S]:
    """The first record: ruleset, seats, options, and the hash of the secret seed. `body` adds pace and policies."""
    terms: Doc = {
        **(body or {}),
        "game": game,
        "ruleset": rules.meta.ruleset,
        "seats": table.seats,
        "options": dict(table.options),
        "seed_hash": commitment(hand.seed),
    }
    public: Doc = {"v": 1, "kind": "opened", "at": hand.now, "prev": "", "body": terms}
    record = Record(public, {})
    return Step(record, opened(rules, record))


def join(rules: Ruleset[S], p: Game[S], hand: Hand, seat: Seat | None, player: str, nonce_hash: str = "") -> Step[S]:
    """A player takes a free seat (None: the first), before the start or in place of one who left."""
    _refuse_unless(p.status in ("open", "running"), "not_open", status=p.status)
    if seat is None:
        free = [s for s in range(p.table.seats) if not p.players.get(s, Player("")).id]
        _refuse_unless(bool(free), "no_free_seat")
        seat = free[0]
    _refuse_unless(0 <= seat < p.table.seats, "unknown_seat", seats=p.table.seats)
    _refuse_unless(not p.players.get(seat, Player("")).id, "seat_taken", seat=seat)
    draft = _draft(rules, p, hand)
    if p.status == "running":
        draft.add({"t": "seated", "seat": seat})
        nonce_hash = p.players[seat].nonce_hash
    body = {"player": player} | ({"nonce_hash": nonce_hash} if nonce_hash else {})
    return _append(rules, p, hand, draft, "joined", seat=seat, body=body)


def reveal(rules: Ruleset[S], p: Game[S], hand: Hand, seat: Seat, nonce: str) -> Step[S]:
    """A seat shows its nonce (hex), once all seats are taken and so all nonces are committed to."""
    _refuse_unless(p.status == "open", "not_open", status=p.status)
    _refuse_unless(len(p.players) == p.table.seats, "seats_missing")
    _refuse_unless(seat in p.players, "seat_empty", seat=seat)
    _refuse_unless(_HEX.fullmatch(nonce) is not None, "nonce_mismatch")
    _refuse_unless(commitment(bytes.fromhex(nonce)) == p.players[seat].nonce_hash, "nonce_mismatch")
    return _append(rules, p, hand, _draft(rules, p, hand), "revealed", seat=seat, body={"nonce": nonce})


def leave(rules: Ruleset[S], p: Game[S], hand: Hand, seat: Seat) -> Step[S]:
    """A player leaves; in a running game the seat is vacant, and the rules say what that means."""
    _refuse_unless(bool(p.players.get(seat, Player("")).id), "seat_empty", seat=seat)
    _refuse_unless(p.status in ("open", "running"), "not_open", status=p.status)
    draft = _draft(rules, p, hand)
    if p.status == "running":
        draft.add({"t": "vacated", "seat": seat})
        rules.vacated(draft, seat)
        carry_on(draft)
    return _append(rules, p, hand, draft, "left", seat=seat)


def start(rules: Ruleset[S], p: Game[S], hand: Hand, patch: Json = None) -> Step[S]:
    """Set-up. A scenario's patch is a fact of this record, so that its log replays like any other."""
    _refuse_unless(p.status == "open", "not_open", status=p.status)
    _refuse_unless(len(p.players) == p.table.seats, "seats_missing", taken=sorted(p.players))
    draft = _draft(rules, p, hand)
    rules.setup(draft)
    if patch is not None:
        draft.add({"t": "patched", "patch": patch})
    carry_on(draft)
    return _append(rules, p, hand, draft, "started")


# --- play ------------------------------------------------------------------------------------------------------


def open_decision(rules: Ruleset[S], p: Game[S], decision: str) -> None:
    """Raises DecisionClosed unless that decision is open."""
    if decision not in [d.id for d in decisions(rules, p.state, p.rewinds)]:
        raise DecisionClosed(decision)


def _running(p: Game[Any]) -> None:
    _refuse_unless(p.status not in ("over", "closed"), "game_over")
    _refuse_unless(p.status == "running", "not_running", status=p.status)


def move(
    rules: Ruleset[S],
    p: Game[S],
    hand: Hand,
    seat: Seat,
    moves: Sequence[Json],
    decision: str | None = None,
    by: By = "seat",
    *,
    again: bool = False,
) -> Step[S]:
    """One move or an atomic list: all or nothing. With `decision` the whole list answers that decision.

    `again`: these moves are in the log, where older lists go on after a secret answer.
    """
    _running(p)
    draft = _draft(rules, p, hand)

    def before(state: S) -> None:
        if decision is not None:
            open_decision(rules, replace(p, state=state), decision)

    decide_all(draft, seat, moves, before, again=again)
    kind = "ruled" if by == "director" else "moved"
    return _append(rules, p, hand, draft, kind, by=by, seat=seat, acts=[(seat, m) for m in moves])


def lapse(
    rules: Ruleset[S], p: Game[S], hand: Hand, decision: str, seats: Sequence[Seat] = (), *, again: bool = False
) -> Step[S]:
    """A missed deadline: one record with the defaults of all (or these) who still owe, in seat order.

    Each must be vacant, or past its due time (`not_due`): grace, bank and vacation counted in. Raises DecisionClosed
    when that decision is gone, or none of them owes it an answer. `again`: the record is in the log, where older ones
    judge each seat by its own time in secret decisions too.
    """
    _running(p)
    open_decision(rules, p, decision)
    asked = p.state.top
    early = early_seats(p, [s for s in asked.owing if not seats or s in seats], max(hand.now, p.at), alone=again)
    _refuse_unless(not early, "not_due", seats=early)
    draft = _draft(rules, p, hand)
    acts: list[tuple[Seat, Doc]] = []
    for seat in asked.owing:
        while (not seats or seat in seats) and _owes(draft.state, asked.n, seat):
            acts.append((seat, rules.default(draft.state, decisions(rules, draft.state, p.rewinds)[0], seat)))
            decide(draft, *acts[-1])
    if not acts:
        raise DecisionClosed(decision)
    cover = asked.asked if asked.secret else ()
    return _append(rules, p, hand, draft, "lapsed", by="clock", acts=acts, cover=cover)


def early_seats(p: Game[Any], seats: Sequence[Seat], at: int, *, alone: bool = False) -> list[Seat]:
    """Those of the seats whose default must not be played at that time yet; `alone` as for `Game.dues`."""
    due = p.dues(seats, alone=alone)
    return [s for s in seats if s not in p.state.vacant and not (s in due and due[s] <= at)]


def _owes(state: Any, n: int, seat: Seat) -> bool:
    return bool(state.frames) and state.top.n == n and seat in state.top.owing


def resolve(rules: Ruleset[S], p: Game[S], hand: Hand, decision: str) -> Step[S]:
    """Batch work that no seat owes; its move is named after the frame."""
    _running(p)
    open_decision(rules, p, decision)
    draft = _draft(rules, p, hand)
    decide_all(draft, None, [{"type": p.state.top.kind}])
    return _append(rules, p, hand, draft, "resolved", by="engine")


def rewind(
    rules: Ruleset[S],
    p: Game[S],
    hand: Hand,
    target: Game[S],
    *,
    by: By = "director",
    seat: Seat | None = None,
    consent: Sequence[Seat] = (),
    reason: str = "",
    fresh: bool = False,
) -> Step[S]:
    """Back to `target`, a position of this game's line; nothing is deleted. `reason` is a salted hash of the text.

    With `fresh` the epoch rises and what nobody has seen is dealt anew.
    """
    _running(p)
    _refuse_unless(rules.meta.undo or by == "director", "undo_forbidden")
    _refuse_unless(target.status == "running" and target.version < p.version, "not_on_line", to=target.version)
    body: Doc = {"to": target.version, "entropy": "fresh" if fresh else "keep"}
    body |= ({"consent": list(consent)} if consent else {}) | ({"reason": reason} if reason else {})
    back = replace(target, epoch=p.epoch + fresh, version=p.version, last=p.last, at=p.at, players=p.players)
    draft = _draft(rules, back, hand)
    if fresh:
        everybody: tuple[Viewer, ...] = tuple(range(p.table.seats))
        rules.redeal(draft, everybody)
    _seat_again(rules, draft, p)
    step = _append(rules, replace(back, board=""), hand, draft, "rewound", by=by, seat=seat, body=body)
    return Step(step.record, replace(rewound(rules, p, target, step.record), digests=step.position.digests))


def look(rules: Ruleset[S], p: Game[S], hand: Hand) -> Step[S]:
    """The director looks at what is hidden. That somebody ruled is public, what it was is shown after the end."""
    _running(p)
    return _append(rules, p, hand, _draft(rules, p, hand), "ruled", by="director", ruling={"act": "look"})


def extend(
    rules: Ruleset[S],
    p: Game[S],
    hand: Hand,
    decision: str,
    ms: int,
    by: By = "director",
    *,
    again: bool = False,
) -> Step[S]:
    """The deadline of the open decision moves by so much: after an outage, for a holiday, by the director's leave.

    It is not brought so near that a default would take somebody's turn; older logs hold some that were (`again`).
    """
    _running(p)
    open_decision(rules, p, decision)
    if not again and ms < 0 and p.deadline is not None:
        soonest = max(hand.now, p.at) + SOONEST
        _refuse_unless(p.deadline + ms >= soonest, "deadline_too_soon", deadline=p.deadline, soonest=soonest)
    body = {"act": "extend", "decision": decision, "ms": ms}
    return _append(rules, p, hand, _draft(rules, p, hand), "ruled", by=by, body=body)


def rest(rules: Ruleset[S], p: Game[S], hand: Hand, seat: Seat, days: int) -> Step[S]:
    """A seat takes whole days of its vacation: none of its time runs meanwhile. It may play all the same."""
    _running(p)
    _refuse_unless(bool(p.players.get(seat, Player("")).id), "seat_empty", seat=seat)
    left = p.accounts[seat].days
    _refuse_unless(1 <= days <= left, "no_vacation_left", days=left)
    return _append(rules, p, hand, _draft(rules, p, hand), "rested", by="seat", seat=seat, body={"days": days})


def _seat_again(rules: Ruleset[S], draft: Draft[S], p: Game[S]) -> None:
    """Who sits at the table belongs to the game, not to the line: the state is told what has changed since."""
    for seat, player in sorted(p.players.items()):
        if not player.id and seat not in draft.state.vacant:
            draft.add({"t": "vacated", "seat": seat})
            rules.vacated(draft, seat)
        elif player.id and seat in draft.state.vacant:
            draft.add({"t": "seated", "seat": seat})
    carry_on(draft)


def close(rules: Ruleset[S], p: Game[S], hand: Hand, reason: str = "finished") -> Step[S]:
    """The last record: shows the seed, so that anyone can recompute every draw; all packs may be read from now on."""
    _refuse_unless(p.status != "closed", "game_over")
    _refuse_unless(p.status == "over" or reason != "finished", "still_running")
    body = {"reason": reason, "seed": hand.seed.hex()}
    return _append(rules, p, hand, _draft(rules, p, hand), "closed", body=body)
