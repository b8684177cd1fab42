"""Offline proof: anyone who has an export checks the chain, the seals, the boards, every die and every rule.

Of any export: the hash chain over public parts, each pack against its seal, each opening against the seal in its
record, the digest of the public sight folded from public facts. Of a closed game besides: the seed against its
hash, and every record decided again from its moves; with the seed it must come out the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from domain.errors import AnnalsError, InvalidTable, VerificationError
from domain.kernel.game.command_of_record import act_of
from domain.kernel.game.deadlines import pace_of
from domain.kernel.game.game import AnyGame, Game, advance, nonces, opened, public_digest, rewound
from domain.kernel.game.play_commands import Lapse, early_seats
from domain.kernel.game.record_builder import Moment, Step
from domain.kernel.game.table_commands import Open
from domain.kernel.proof import record_schema
from domain.kernel.records.audience import ALL_KEY, TABLE_KEY
from domain.kernel.records.export import Export
from domain.kernel.records.record import KINDS, Record, facts_for
from domain.kernel.rules.draws import Seeded, commitment, draw_key, recompute
from domain.kernel.rules.flow import S
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.canonical_json import digest
from domain.types import PUBLIC, Json

VERIFICATION_CODES: Mapping[str, str] = {
    "unreadable": "a line is no canonical JSON object",
    "cut_off": "the file does not hold the records it announces",
    "header_mismatch": "the header does not fit the first record",
    "version_gap": "a record has not the version that stands next",
    "no_beginning": "the first record is not the opening of a game",
    "unknown_kind": "a record is of no known kind",
    "malformed": "a record is none that an act can have made",
    "chain_broken": "a public part is not the one that the next record, or the expected head, names",
    "pack_changed": "a pack does not fit any seal of its record",
    "pack_missing": "a seal of a closed game has no pack",
    "opening_false": "a published pack is not the one that was sealed",
    "board_mismatch": "the public facts do not lead to the board that the record names",
    "unfoldable": "the facts of a record cannot be applied",
    "seed_mismatch": "the seed is not the one that the first record committed to",
    "draw_mismatch": "a draw is not what the seed gives",
    "record_mismatch": "the moves, decided again, give another record",
    "refused_again": "a move of the record is refused by the rules",
    "not_on_line": "a rewind goes to a version that does not count",
    "lapsed_early": "a default was played for a seat that had a player, and time left by the log's own times",
}
"""What `verify` can refuse."""


@dataclass(frozen=True)
class Report:
    """What was proved, in numbers; there is no report of anything that failed."""

    game: str
    ruleset: str
    records: int
    head: str
    """Hash of the last record: compare it with a copy from somewhere else."""
    packs: int
    openings: int
    boards: int
    draws: int
    """Draws recomputed from the seed; 0 while the game is not closed."""
    decided: int
    """Records decided again; 0 while the game is not closed."""
    closed: bool

    def to_json(self) -> dict[str, Json]:
        """As the command line prints it."""
        return dict(self.__dict__)


class Played(NamedTuple):
    """What was proved by playing the game again, in numbers."""

    boards: int
    draws: int
    decided: int


Again = Callable[[Any, Export, bytes], Played]
"""Plays an export again by its rules: the boards, and with a seed every draw and decision."""


def play_again(rules: Ruleset[S], export: Export, seed: bytes) -> Played:
    """Record by record, here."""
    boards = check_boards(rules, export.records)
    return Played(boards, *(audit(rules, export.records, seed) if seed else (0, 0)))


def verify(rules: Ruleset[S], export: Export, head: str = "", seed: bytes = b"", again: Again = play_again) -> Report:
    """Everything that can be proved of the export; raises VerificationError with the first fault.

    `head` is the hash of the last record as known from elsewhere; without it only the records before are chained.
    `seed`: that of a game which is not closed, where who asks has it.
    """
    records = export.records
    check_chain(records, head)
    _check_table(rules, records[0])
    packs = sum(_check_packs(r, export.complete) for r in records)
    openings = _check_openings(records)
    closed = records[-1].kind == "closed"
    played = again(rules, export, _seed(records) if closed else seed)
    return Report(export.game, export.ruleset, len(records), records[-1].hash, packs, openings, *played, closed)


def check_chain(records: Sequence[Record], head: str = "") -> None:
    """Versions 1.., known kinds, each record naming the hash of the one before."""
    prev = ""
    for v, r in enumerate(records, 1):
        if r.public.get("kind") not in KINDS:
            raise VerificationError("unknown_kind", v)
        record_schema.check(r, v)
        if (r.kind == "opened") != (v == 1):
            raise VerificationError("no_beginning", v)
        if r.public.get("prev") != prev:
            raise VerificationError("chain_broken", v)
        prev = r.hash
    if head and head != prev:
        raise VerificationError("chain_broken", len(records), "the head is another")


def _check_table(rules: Ruleset[S], first: Record) -> None:
    """That the ruleset lets such a table be opened."""
    body = first.body
    try:
        given = rules.table(body["seats"], body["options"])
        pace_of(rules.meta, body.get("pace"))
    except InvalidTable as error:
        raise VerificationError("malformed", 1, str(error)) from error
    if given.options != body["options"]:
        raise VerificationError("malformed", 1, "options")


@contextmanager
def _sound(version: int) -> Iterator[None]:
    """What a forged record breaks is its fault and not ours: facts and moves can be wrong in any way."""
    try:
        yield
    except AnnalsError:
        raise
    except Exception as error:
        raise VerificationError("malformed", version, type(error).__name__) from error


def _check_packs(record: Record, complete: bool) -> int:
    seals = list(record.public.get("seals", ()))
    for key, pack in record.packs.items():
        found = digest(pack)
        if found not in seals:
            raise VerificationError("pack_changed", record.version, key)
        seals.remove(found)
    if complete and seals:
        raise VerificationError("pack_missing", record.version)
    return len(record.packs)


def _check_openings(records: Sequence[Record]) -> int:
    shown = [(r.version, o) for r in records for o in r.public.get("openings", ())]
    for version, opening in shown:
        at = opening["v"]
        if not 1 <= at <= version or digest(opening["pack"]) not in records[at - 1].public.get("seals", ()):
            raise VerificationError("opening_false", version, opening["key"])
    return len(shown)


def check_boards(rules: Ruleset[S], records: Sequence[Record]) -> int:
    """The public sight after each record, folded from public facts alone; returns how many boards were compared."""
    state = opened(rules, records[0]).state
    states = {1: state}
    board, compared = "", 0
    for r in records[1:]:
        if r.kind == "rewound":
            if r.body.get("to") not in states:
                raise VerificationError("not_on_line", r.version)
            state, board = states[r.body["to"]], ""
            states = {v: s for v, s in states.items() if v <= r.body["to"]}
        try:
            state = rules.fold(state, facts_for(r, PUBLIC))
            if told := bool(r.public.get("facts") or not board):
                board = public_digest(rules, state)
        except Exception as error:  # a forged fact can break evolve in any way, and what is shown of a state
            raise VerificationError("unfoldable", r.version, type(error).__name__) from error
        states[r.version] = state
        compared += told
        if r.public.get("board") != board:
            raise VerificationError("board_mismatch", r.version)
    return compared


def _seed(records: Sequence[Record]) -> bytes:
    try:
        seed = bytes.fromhex(records[-1].body["seed"])
    except (KeyError, ValueError, TypeError):
        raise VerificationError("seed_mismatch", len(records)) from None
    if commitment(seed) != records[0].body.get("seed_hash"):
        raise VerificationError("seed_mismatch", len(records))
    return seed


# --- deciding again --------------------------------------------------------------------------------------------


def audit(rules: Ruleset[S], records: Sequence[Record], seed: bytes, after: int = 0) -> tuple[int, int]:
    """Every draw recomputed, every record decided again; returns both numbers, raises VerificationError.

    Those up to version `after` are only folded: they are to be proved elsewhere.
    """
    drawn = 0
    game, marks = _folded(rules, records[:after])
    for r in records[after:]:
        drawn += sum(map(len, _draws(r).values()))
        try:
            with _sound(r.version):
                step = _again(rules, game, r, seed, marks)
        except AnnalsError as error:
            _check_draws(game, r, seed)  # another draw would explain it
            if isinstance(error, VerificationError):
                raise
            raise VerificationError("refused_again", r.version, str(error)) from error
        # Whoever decides draws: the same record holds the same draws. Seals do not tell whose pack is whose.
        if step.record.hash != r.hash or step.record.packs != r.packs:
            _check_draws(game, r, seed)
            raise VerificationError("record_mismatch", r.version, _difference(step.record, r))
        game = step.game
        if r.kind == "rewound":
            marks = {v: p for v, p in marks.items() if v <= r.body["to"]}
        marks[r.version] = game
    return drawn, len(records) - after


def _folded(rules: Ruleset[S], records: Sequence[Record]) -> tuple[Game[S] | None, dict[int, Game[S]]]:
    """The game after these records, and after each that counts."""
    game: Game[S] | None = None
    marks: dict[int, Game[S]] = {}
    for r in records:
        with _sound(r.version):
            if game is None:
                game = opened(rules, r)
            elif r.kind == "rewound":
                game = rewound(rules, game, marks[r.body["to"]], r)
                marks = {v: g for v, g in marks.items() if v <= r.body["to"]}
            else:
                game = advance(rules, game, r)
        marks[r.version] = game
    return game, marks


def _draws(record: Record) -> dict[str, Json]:
    """Channel -> draws."""
    return {ALL_KEY: record.public.get("draws", ())} | {k: q.get("draws", ()) for k, q in record.packs.items()}


def _check_draws(p: AnyGame | None, record: Record, seed: bytes) -> None:
    if p is None:
        return
    epoch = p.epoch + (record.body.get("entropy") == "fresh")
    source = Seeded(draw_key(seed, nonces(p)), p.id, epoch)
    for channel, draws in _draws(record).items():
        for draw in draws:
            with _sound(record.version):
                right = recompute(source, channel, draw)
            if not right:
                raise VerificationError("draw_mismatch", record.version, str(draw[1]))


def _again(rules: Ruleset[S], game: Game[S] | None, r: Record, seed: bytes, marks: Mapping[int, Game[S]]) -> Step[S]:
    def past(to: int) -> Game[S]:
        if to not in marks:
            raise VerificationError("not_on_line", r.version)
        return marks[to]

    at = r.public["at"]
    moment = Moment(seed, at, r.packs.get(TABLE_KEY, {}).get("command", ""), past=past, again=True)
    if game is None:
        return Open.of(r).step(rules, moment)
    act = act_of(r, game)
    if isinstance(act, Lapse) and early_seats(game, act.seats, at, alone=True):
        raise VerificationError("lapsed_early", r.version)
    return act.step(rules, game, moment)


def _difference(made: Record, stored: Record) -> str:
    """Where the two differ, by name, without what stands there."""
    for name in sorted({*made.public, *stored.public}):
        if made.public.get(name) != stored.public.get(name):
            return name
    return next((k for k in sorted({*made.packs, *stored.packs}) if made.packs.get(k) != stored.packs.get(k)), "")
