"""Builder of a record from a draft: its public part, and a pack for each audience."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal

from domain.errors import RuleError
from domain.kernel.game.game import AnyGame, Game, S_co, public_digest, state_digest
from domain.kernel.game.game_fold import apply_record
from domain.kernel.game.officers import Officer
from domain.kernel.game.seat_players import bot_of
from domain.kernel.records.audience import ALL_KEY, TABLE_KEY, key_of, seats_of
from domain.kernel.records.record import Record, seal_pack
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import Draws, DrawSource, Seeded, draw_key
from domain.kernel.rules.flow import Asked, S, State, Unsealed
from domain.kernel.rules.ruleset import AnyRuleset, Ruleset
from domain.kernel.schema.canonical_json import digest
from domain.kernel.schema.declarations import AnyFact, docs
from domain.types import Doc, Json, Seat

By = Literal["seat", "clock", "engine", "director"]


@dataclass(frozen=True)
class Agreement:
    """Consent of the players to a command that an officer without a seat may execute alone."""

    seat: Seat
    """The seat that asked for it."""
    consent: Sequence[Seat] = ()
    """Seats that agreed."""
    silent: Sequence[Seat] = ()
    """Seats that did not answer in time."""

    def to_json(self) -> Doc:
        """Return the member `agreed` of a record."""
        silent = {"silent": list(self.silent)} if self.silent else {}
        return {"seat": self.seat, "consent": list(self.consent), **silent}

    @classmethod
    def from_record(cls, record: Record) -> Agreement | None:
        """Return the agreement behind a record, if there was one."""
        doc = record.body.get("agreed")
        return None if doc is None else cls(doc["seat"], doc["consent"], doc.get("silent", ()))


def voting_seats(game: AnyGame, seat: Seat) -> list[Seat]:
    """Return the seats that must agree to a command asked for by `seat`: those of other people who are present."""
    return [
        s
        for s, player in sorted(game.players.items())
        if s != seat and player.id and not bot_of(player) and s not in game.state.vacant
    ]


def no_talk(_: int) -> str:
    """Return no root: nothing is said."""
    return ""


def has_talk(terms: Mapping[str, Json]) -> bool:
    """Return whether the players of a table with these terms may write at all."""
    return bool(terms.get("talk", "none") != "none")


def _no_earlier_game(to: int) -> Game[Any]:
    raise RuleError("not_on_line", "", {"to": to})


@dataclass(frozen=True)
class CommandContext:
    """Input of a command besides the game.

    Its secret seed, the time, the command's id, and earlier versions for a rewind. `source` replaces the seeded draws
    (scripted, all minimum, all maximum); such a log does not verify.
    """

    seed: bytes = field(repr=False)
    now: int = 0
    """ms since 1970 UTC."""
    command_id: str = ""
    source: DrawSource | None = None
    game_at: Callable[[int], Game[Any]] = field(default=_no_earlier_game, repr=False)
    """Return the game at an active version; raises RuleError `not_on_line` for any other."""
    agreement: Agreement | None = None
    """The players' consent, in place of an officer."""
    officer: Officer | None = None
    """The officer behind the command; older records name none."""
    replaying: bool = False
    """The command comes from the log: older ones passed without some of today's checks."""
    talk_root: Callable[[int], str] = field(default=no_talk, repr=False)
    """Return the root over all mailboxes for the record of a version; asked only at tables with talk."""

    def record_time(self, game: AnyGame) -> int:
        """Return the time of a record made now, ms: records never go back in time."""
        return max(self.now, game.time)

    def playing_time(self, game: AnyGame) -> int:
        """Return the time of the game's clocks and spans for a record made now, ms."""
        return game.playing_time(self.record_time(game))


@dataclass(frozen=True)
class Transition(Generic[S_co]):
    """A new record, and the game after it."""

    record: Record
    game: Game[S_co]


AnyTransition = Transition[State]
"""A transition under any rules."""


def new_draft(rules: Ruleset[S], game: Game[S], context: CommandContext) -> Draft[S]:
    """Return an empty draft on the game."""
    source = context.source or Seeded(draw_key(context.seed, game.seating.nonces), game.id, game.lasting.rewinds.epoch)
    return Draft(rules, game.state, Draws(source, game.reversible.counts))


class _RecordParts:
    """Sorts the content of a draft into the public part and the packs."""

    def __init__(self) -> None:
        self.public: Doc = {}
        self.packs: dict[str, Doc] = {}

    def add(self, key: str, part: str, item: Json) -> None:
        if key == ALL_KEY:
            self.public.setdefault(part, []).append(item)
        else:
            self.packs.setdefault(key, {}).setdefault(part, []).append(item)

    def add_moves(self, rules: AnyRuleset, moves: Sequence[tuple[Seat, Doc]]) -> bool:
        """Add the moves; return whether the record is anonymous: it then names no move at all."""
        kinds = [rules.moves[move["type"]].admission for _, move in moves]
        anonymous = any(k.anonymous for k in kinds)
        for i, ((seat, move), kind) in enumerate(zip(moves, kinds, strict=True)):
            if anonymous or kind.hidden:
                self.add(key_of((seat,)), "acts", [i, seat, move])
            if not anonymous:
                visible = {} if "*" in kind.hidden else {k: v for k, v in move.items() if k not in kind.hidden}
                self.add(ALL_KEY, "acts", [seat, visible])
        return anonymous

    def add_facts(self, facts: Sequence[tuple[str, AnyFact]]) -> None:
        public_count = 0
        for (key, _), fact in zip(facts, docs([fact for _, fact in facts]), strict=True):
            self.add(key, "facts", fact if key == ALL_KEY else [public_count, fact])
            public_count += key == ALL_KEY
        if any(key != ALL_KEY for key, _ in facts):
            self.packs.setdefault(TABLE_KEY, {})["order"] = [key for key, _ in facts]

    def add_cover_packs(self, seats: Sequence[Seat]) -> None:
        """Add a pack for each seat, so the number of seals does not reveal the seats with something to hide."""
        for seat in seats:
            self.packs.setdefault(key_of((seat,)), {})


def _missing_votes(game: AnyGame, agreement: Agreement) -> list[Seat]:
    voted = {*agreement.consent, *agreement.silent}
    return [s for s in voting_seats(game, agreement.seat) if s not in voted]


def _asked_in_secret(facts: Sequence[tuple[str, AnyFact]]) -> list[Seat]:
    return [s for _, f in facts if isinstance(f, Asked) and f.secret is True for s in f.seats or ()]


def _seal_packs(game: AnyGame, context: CommandContext, packs: Mapping[str, Doc]) -> dict[str, Doc]:
    return {k: seal_pack(q, context.seed, game.id, game.version + 1, k) for k, q in packs.items()}


def _build_openings(game: AnyGame, facts: Sequence[tuple[str, AnyFact]], packs: Mapping[str, Doc]) -> list[Doc]:
    sealed = {**game.reversible.sealed, **{k: (game.version + 1, q) for k, q in packs.items() if ":" in k}}
    keys = [k for _, f in facts if isinstance(f, Unsealed) for k in f.keys]
    return [{"v": sealed[k][0], "key": k, "pack": sealed[k][1]} for k in keys if k in sealed]


def _is_empty(value: Json) -> bool:
    return value is None or value is False or value in ("", [], {})


def _build_public_part(
    game: AnyGame, context: CommandContext, kind: str, parts: _RecordParts, packs: Mapping[str, Doc], **more: Json
) -> Record:
    public = {**parts.public, **{k: v for k, v in more.items() if not _is_empty(v)}}
    public |= {"v": game.version + 1, "kind": kind, "at": context.record_time(game), "prev": game.hash}
    if has_talk(game.terms):
        public["talk"] = context.talk_root(game.version + 1)
    if packs:
        public["seals"] = sorted(digest(q) for q in packs.values())
    return Record(public, dict(packs))


def build_record(
    rules: Ruleset[S],
    game: Game[S],
    context: CommandContext,
    draft: Draft[S],
    kind: str,
    *,
    by: By | None = None,
    seat: Seat | None = None,
    moves: Sequence[tuple[Seat, Doc]] = (),
    cover_seats: Sequence[Seat] = (),
    body: Doc | None = None,
    ruling: Doc | None = None,
) -> Transition[S]:
    """Build the record of a kind from the draft.

    `moves`: moves of seats; `cover_seats`: seats with a pack in any case; `body`: public members of the kind, `ruling`:
    secret until the end.
    """
    if (agreement := context.agreement) is not None:
        by, body = "seat", {**(body or {}), "agreed": agreement.to_json()}
        if missing := _missing_votes(game, agreement):
            raise RuleError("consent_missing", "", {"missing": missing})
    parts = _RecordParts()
    anonymous = parts.add_moves(rules, moves)
    for channel, draw in draft.draws.taken:
        parts.add(channel, "draws", draw)
    parts.add_facts(draft.facts)
    parts.add_cover_packs([*cover_seats, *_asked_in_secret(draft.facts)])
    hidden, digests = state_digest(draft.state, game.reversible.digests)
    table = parts.packs.setdefault(TABLE_KEY, {})
    table["digest"] = hidden
    if context.command_id:
        table["command"] = context.command_id
    if ruling:
        table["ruling"] = ruling
    packs = _seal_packs(game, context, parts.packs)
    informs_others = any(s != seat for key in packs for s in seats_of(key))
    is_unchanged = not parts.public.get("facts") and game.reversible.board
    record = _build_public_part(
        game,
        context,
        kind,
        parts,
        packs,
        seat=None if anonymous else seat,
        by=by,
        officer=context.officer.to_json() if context.officer and agreement is None else None,
        openings=_build_openings(game, draft.facts, packs),
        barrier=anonymous or draft.has_revealed or informs_others,
        board=game.reversible.board if is_unchanged else public_digest(rules, draft.state),
        body=body,
    )
    return Transition(record, apply_record(rules, game, record, draft.state).with_digests(digests))
