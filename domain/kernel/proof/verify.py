"""Offline proof: anyone with an export can check the chain, the seals, the boards, every die and every rule.

For any export: the hash chain over public parts, each pack against its seal, each opening against the seal in its
record, the digest of the public view folded from public facts. For a closed game also: the seed against its hash, and
every record decided again from its moves; with the seed the result must be the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

from domain.errors import AnnalsError, InvalidTable, VerificationError
from domain.kernel.game.command import check_office
from domain.kernel.game.command_of_record import command_of
from domain.kernel.game.deadlines import parse_time_control
from domain.kernel.game.game import AnyGame, Game, public_digest
from domain.kernel.game.game_fold import apply_record, apply_rewind, initial_game
from domain.kernel.game.officers import Officer
from domain.kernel.game.play_commands import Lapse, early_seats
from domain.kernel.game.record_builder import Agreement, CommandContext, Transition, has_talk
from domain.kernel.game.seat_players import SEATING_KINDS, Seating
from domain.kernel.game.table_commands import Open
from domain.kernel.proof import record_schema
from domain.kernel.records.audience import ALL_KEY, TABLE_KEY
from domain.kernel.records.export import Export
from domain.kernel.records.record import KINDS, Record, facts_for
from domain.kernel.rules.draws import DrawSource, Seeded, commitment, draw_key, matches_source
from domain.kernel.rules.flow import S
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.canonical_json import digest
from domain.types import PUBLIC, Json, Seat

VERIFICATION_CODES: Mapping[str, str] = {
    "unreadable": "a line is no canonical JSON object",
    "cut_off": "the file does not hold the records it announces",
    "header_mismatch": "the header does not fit the first record",
    "version_gap": "a record has not the version that stands next",
    "no_beginning": "the first record is not the opening of a game",
    "unknown_kind": "a record is of no known kind",
    "malformed": "a record is none that an act can have made",
    "chain_broken": "a public part is not the one that the next record, or the expected head, names",
    "head_unknown": "no record has the expected head, but the game goes on: the file may be older than the head",
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
    "origin_mismatch": "a fork does not begin from the state that it names",
    "lapsed_early": "a default was played for a seat that had a player, and time left by the log's own times",
}
"""Refusals of `verify`."""


class ReportDoc(TypedDict):
    game: str
    ruleset: str
    records: int
    head: Annotated[str, "Hash of the last record, hex."]
    packs: int
    openings: int
    boards: int
    draws: int
    decided: int
    closed: bool
    unrevealed_nonces: NotRequired[Annotated[list[int], "Seats that committed to a nonce and did not reveal it."]]


@dataclass(frozen=True)
class VerificationReport:
    """Numbers of a successful proof; a failure has no report."""

    game: str
    ruleset: str
    records: int
    head: str
    """Hash of the last record: compare it with an independent copy."""
    packs: int
    openings: int
    boards: int
    draws: int
    """Draws recomputed from the seed; 0 while the game is not closed."""
    decided: int
    """Records decided again; 0 while the game is not closed."""
    closed: bool
    unrevealed_nonces: tuple[Seat, ...] = ()
    """Seats that committed to a nonce and did not reveal it before the start: it had no part in the dice."""

    def to_json(self) -> ReportDoc:
        """Return the report as the command line prints it."""
        doc: ReportDoc = {
            "game": self.game,
            "ruleset": self.ruleset,
            "records": self.records,
            "head": self.head,
            "packs": self.packs,
            "openings": self.openings,
            "boards": self.boards,
            "draws": self.draws,
            "decided": self.decided,
            "closed": self.closed,
        }
        if self.unrevealed_nonces:
            doc["unrevealed_nonces"] = list(self.unrevealed_nonces)
        return doc


class ReplayCounts(NamedTuple):
    """Numbers of a successful replay."""

    boards: int
    draws: int
    decided: int


Replayer = Callable[[Any, Export, bytes], ReplayCounts]
"""Replays an export by its rules: the boards, and with a seed every draw and decision."""


Sources = Callable[[int], DrawSource]
"""Source of the draws of the record with this version."""


def replay(
    rules: Ruleset[S],
    export: Export,
    seed: bytes,
    *,
    sources: Sources | None = None,
    progress: Callable[[int], None] | None = None,
) -> ReplayCounts:
    """Replay an export record by record, in this process; `progress` is told the version of each record decided."""
    boards = check_boards(rules, export.records)
    decided = audit(rules, export.records, seed, sources=sources, progress=progress) if seed else (0, 0)
    return ReplayCounts(boards, *decided)


def verify(
    rules: Ruleset[S], export: Export, head: str = "", seed: bytes = b"", replayer: Replayer = replay
) -> VerificationReport:
    """Prove everything provable of the export; raise VerificationError with the first fault.

    `head` is an independently known hash of a record; without it only the records before the last are chained.
    `seed`: the seed of an unclosed game, from a caller with access to it.
    """
    records = export.records
    check_chain(records, head)
    _check_table(rules, records[0])
    packs = sum(_check_packs(r, export.is_complete) for r in records)
    openings = _check_openings(records)
    closed = records[-1].kind == "closed"
    counts = replayer(rules, export, _seed(records) if closed else seed)
    return VerificationReport(
        export.game,
        export.ruleset,
        len(records),
        records[-1].hash,
        packs,
        openings,
        *counts,
        closed,
        _list_unrevealed(records),
    )


def _list_unrevealed(records: Sequence[Record]) -> tuple[Seat, ...]:
    """Return the seats that committed to a nonce and did not reveal it before the start."""
    seating = Seating()
    for record in records:
        if record.kind == "started":
            return tuple(seating.unrevealed_seats)
        if record.kind in SEATING_KINDS:
            seating = seating.after(record, "open")
    return ()


def check_chain(records: Sequence[Record], head: str = "") -> None:
    """Check versions 1.., known kinds, the previous hash named by each record, and the head."""
    prev = ""
    for v, r in enumerate(records, 1):
        if r.public.get("kind") not in KINDS:
            raise VerificationError("unknown_kind", v)
        record_schema.check_record(r, v)
        if (r.kind == "opened") != (v == 1):
            raise VerificationError("no_beginning", v)
        if r.public.get("prev") != prev:
            raise VerificationError("chain_broken", v)
        if ("talk" in r.public) != has_talk(records[0].body):
            raise VerificationError("malformed", v, "talk")
        prev = r.hash
    if head:
        find_head(records, head)


def find_head(records: Sequence[Record], head: str) -> int:
    """Return the version of the record with this head.

    Raise VerificationError `chain_broken` for a closed game, `head_unknown` for a running one.
    """
    for record in reversed(records):
        if record.hash == head:
            return record.version
    if records[-1].kind == "closed":
        raise VerificationError("chain_broken", len(records), "no record has this head: is it of this game?")
    newer = "download a newer export; if it lacks this head too, the head is of another game"
    raise VerificationError("head_unknown", len(records), newer)


def _check_table(rules: Ruleset[S], first: Record) -> None:
    """Check the ruleset's permission for such a table."""
    body = first.body
    try:
        table = rules.make_table(body["seats"], body["options"])
        parse_time_control(rules.meta, body.get("pace"))
    except InvalidTable as error:
        raise VerificationError("malformed", 1, str(error)) from error
    if table.options != body["options"]:
        raise VerificationError("malformed", 1, "options")


@contextmanager
def _blame_record(version: int) -> Iterator[None]:
    """Report errors of a forged record as its fault, not ours: facts and moves can be wrong in any way."""
    try:
        yield
    except AnnalsError:
        raise
    except Exception as error:
        raise VerificationError("malformed", version, type(error).__name__) from error


def _check_packs(record: Record, complete: bool) -> int:
    seals = list(record.public.get("seals", ()))
    for key, pack in record.packs.items():
        seal = digest(pack)
        if seal not in seals:
            raise VerificationError("pack_changed", record.version, key)
        seals.remove(seal)
    if complete and seals:
        raise VerificationError("pack_missing", record.version)
    return len(record.packs)


def _check_openings(records: Sequence[Record]) -> int:
    openings = [(r.version, o) for r in records for o in r.public.get("openings", ())]
    for version, opening in openings:
        at = opening["v"]
        if not 1 <= at <= version or digest(opening["pack"]) not in records[at - 1].public.get("seals", ()):
            raise VerificationError("opening_false", version, opening["key"])
    return len(openings)


def check_boards(rules: Ruleset[S], records: Sequence[Record]) -> int:
    """Check the public view after each record, folded from public facts alone; return the number of boards compared."""
    state = initial_game(rules, records[0]).state
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
            if is_new := bool(r.public.get("facts") or not board):
                board = public_digest(rules, state)
        except Exception as error:  # a forged fact can break evolve and the views in any way
            raise VerificationError("unfoldable", r.version, type(error).__name__) from error
        states[r.version] = state
        compared += is_new
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


def audit(
    rules: Ruleset[S],
    records: Sequence[Record],
    seed: bytes,
    after: int = 0,
    *,
    sources: Sources | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[int, int]:
    """Recompute every draw and decide every record again; return both numbers, raise VerificationError.

    Records up to version `after` are only folded: their proof is left to the caller. `sources` are those of joint
    chance; without them the seed and the nonces of the start give all draws.
    """
    draw_count = 0
    game, games = _fold_with_versions(rules, records[:after])
    for r in records[after:]:
        draw_count += sum(map(len, _draws(r).values()))
        source = sources(r.version) if sources else None
        try:
            with _blame_record(r.version):
                transition = _decide_again(rules, game, r, seed, games, source)
        except AnnalsError as error:
            _check_draws(game, r, seed, source)  # another draw would explain it
            if isinstance(error, VerificationError):
                raise
            raise VerificationError("refused_again", r.version, str(error)) from error
        # Deciding draws again: the same record holds the same draws. Seals do not name the owner of a pack.
        if transition.record.hash != r.hash or transition.record.packs != r.packs:
            _check_draws(game, r, seed, source)
            raise VerificationError("record_mismatch", r.version, _first_difference(transition.record, r))
        game = transition.game
        if r.kind == "rewound":
            games = {v: p for v, p in games.items() if v <= r.body["to"]}
        games[r.version] = game
        if progress:
            progress(r.version)
    return draw_count, len(records) - after


def _fold_with_versions(rules: Ruleset[S], records: Sequence[Record]) -> tuple[Game[S] | None, dict[int, Game[S]]]:
    """Return the game after these records, and after each active one."""
    game: Game[S] | None = None
    games: dict[int, Game[S]] = {}
    for r in records:
        with _blame_record(r.version):
            if game is None:
                game = initial_game(rules, r)
            elif r.kind == "rewound":
                game = apply_rewind(rules, game, games[r.body["to"]], r)
                games = {v: g for v, g in games.items() if v <= r.body["to"]}
            else:
                game = apply_record(rules, game, r)
        games[r.version] = game
    return game, games


def _draws(record: Record) -> dict[str, Json]:
    """Return channel -> draws."""
    return {ALL_KEY: record.public.get("draws", ())} | {k: q.get("draws", ()) for k, q in record.packs.items()}


def _check_draws(game: AnyGame | None, record: Record, seed: bytes, source: DrawSource | None = None) -> None:
    if game is None:
        return
    if source is None:
        epoch = game.lasting.rewinds.epoch + (record.body.get("entropy") == "fresh")
        source = Seeded(draw_key(seed, game.seating.nonces), game.id, epoch)
    for channel, draws in _draws(record).items():
        for draw in draws:
            with _blame_record(record.version):
                right = matches_source(source, channel, draw)
            if not right:
                raise VerificationError("draw_mismatch", record.version, str(draw[1]))


def _decide_again(
    rules: Ruleset[S],
    game: Game[S] | None,
    r: Record,
    seed: bytes,
    games: Mapping[int, Game[S]],
    source: DrawSource | None,
) -> Transition[S]:
    def game_at(version: int) -> Game[S]:
        if version not in games:
            raise VerificationError("not_on_line", r.version)
        return games[version]

    at = r.public["at"]
    command_id, agreement = r.packs.get(TABLE_KEY, {}).get("command", ""), Agreement.from_record(r)
    officer = Officer.from_record(r)
    context = CommandContext(seed, at, command_id, source, game_at, agreement, officer, replaying=True)
    context = replace(context, talk_root=lambda _: r.public.get("talk", ""))  # nobody can compute it from the log
    if game is None:
        return Open.from_record(r).execute(rules, context)
    command = command_of(r, game)
    check_office(game, officer, command)
    if isinstance(command, Lapse) and early_seats(game, command.seats, at, individually=True):
        raise VerificationError("lapsed_early", r.version)
    return command.execute(rules, game, context)


def _first_difference(rebuilt: Record, stored: Record) -> str:
    """Return the name of the first differing member, without its content."""
    for name in sorted({*rebuilt.public, *stored.public}):
        if rebuilt.public.get(name) != stored.public.get(name):
            return name
    return next((k for k in sorted({*rebuilt.packs, *stored.packs}) if rebuilt.packs.get(k) != stored.packs.get(k)), "")
