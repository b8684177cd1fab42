"""How a record is made of what a draft holds: its public part, and a pack for each audience."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal

from domain.errors import RuleError
from domain.kernel.game.game import AnyGame, Game, S_co, advance, nonces, public_digest, state_digest
from domain.kernel.records.audience import ALL_KEY, TABLE_KEY, key_of, seats_of
from domain.kernel.records.record import Record, seal_pack
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import Draws, Seeded, Source, draw_key
from domain.kernel.rules.flow import Asked, S, State, Unsealed, assign
from domain.kernel.rules.ruleset import AnyRuleset, Ruleset
from domain.kernel.schema.canonical_json import digest
from domain.kernel.schema.declarations import AnyFact, docs
from domain.types import Doc, Json, Seat

By = Literal["seat", "clock", "engine", "director"]


def _no_past(to: int) -> Game[Any]:
    raise RuleError("not_on_line", "", {"to": to})


@dataclass(frozen=True)
class Moment:
    """What an act needs besides the game: its secret seed, the time, the command's id, and its past for a rewind.

    `source` replaces the seeded draws (scripted, all minimum, all maximum); such a log does not verify.
    """

    seed: bytes = field(repr=False)
    now: int = 0
    """ms since 1970 UTC."""
    command: str = ""
    source: Source | None = None
    past: Callable[[int], Game[Any]] = field(default=_no_past, repr=False)
    """The game as it was at a version of its line; raises RuleError `not_on_line` for any other."""
    again: bool = False
    """The act is in the log, where older ones were let through that no new one is."""

    def time(self, game: AnyGame) -> int:
        """Of the record that is made now, ms: records rise in time."""
        return max(self.now, game.at)


@dataclass(frozen=True)
class Step(Generic[S_co]):
    """A record in the making, and the game that it leads to."""

    record: Record
    game: Game[S_co]


AnyStep = Step[State]
"""Of whichever rules."""


def draft_of(rules: Ruleset[S], game: Game[S], moment: Moment) -> Draft[S]:
    """An empty draft on the game as it is."""
    source = moment.source or Seeded(draw_key(moment.seed, nonces(game)), game.id, game.epoch)
    return Draft(rules, game.state, Draws(source, game.counts))


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

    def acts(self, rules: AnyRuleset, acts: Sequence[tuple[Seat, Doc]]) -> bool:
        """Returns whether the record is anonymous: then it names no act at all."""
        kinds = [rules.moves[move["type"]].admission for _, move in acts]
        anonymous = any(k.anonymous for k in kinds)
        for i, ((seat, move), kind) in enumerate(zip(acts, kinds, strict=True)):
            if anonymous or kind.hidden:
                self.put(key_of((seat,)), "acts", [i, seat, move])
            if not anonymous:
                shown = {} if "*" in kind.hidden else {k: v for k, v in move.items() if k not in kind.hidden}
                self.put(ALL_KEY, "acts", [seat, shown])
        return anonymous

    def facts(self, facts: Sequence[tuple[str, AnyFact]]) -> None:
        shown = 0
        for (key, _), fact in zip(facts, docs([fact for _, fact in facts]), strict=True):
            self.put(key, "facts", fact if key == ALL_KEY else [shown, fact])
            shown += key == ALL_KEY
        if any(key != ALL_KEY for key, _ in facts):
            self.packs.setdefault(TABLE_KEY, {})["order"] = [key for key, _ in facts]

    def cover(self, seats: Sequence[Seat]) -> None:
        """A pack for each of them, so that the number of seals does not tell who had something to hide."""
        for seat in seats:
            self.packs.setdefault(key_of((seat,)), {})


def _asked_in_secret(facts: Sequence[tuple[str, AnyFact]]) -> list[Seat]:
    return [s for _, f in facts if isinstance(f, Asked) and f.secret is True for s in f.seats or ()]


def _shut(game: AnyGame, moment: Moment, packs: Mapping[str, Doc]) -> dict[str, Doc]:
    return {k: seal_pack(q, moment.seed, game.id, game.version + 1, k) for k, q in packs.items()}


def _openings(game: AnyGame, facts: Sequence[tuple[str, AnyFact]], packs: Mapping[str, Doc]) -> list[Doc]:
    sealed = {**game.sealed, **{k: (game.version + 1, q) for k, q in packs.items() if ":" in k}}
    keys = [k for _, f in facts if isinstance(f, Unsealed) for k in f.keys]
    return [{"v": sealed[k][0], "key": k, "pack": sealed[k][1]} for k in keys if k in sealed]


def _empty(value: Json) -> bool:
    return value is None or value is False or value in ("", [], {})


def _record(game: AnyGame, moment: Moment, kind: str, parts: _Parts, packs: Mapping[str, Doc], **more: Json) -> Record:
    public = {**parts.public, **{k: v for k, v in more.items() if not _empty(v)}}
    public |= {"v": game.version + 1, "kind": kind, "at": moment.time(game), "prev": game.hash}
    if packs:
        public["seals"] = sorted(digest(q) for q in packs.values())
    return Record(public, dict(packs))


def append(
    rules: Ruleset[S],
    game: Game[S],
    moment: Moment,
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
    """The record of that kind with what the draft holds.

    `acts`: moves of seats; `cover`: seats that have a pack whatever is in it; `body`: what the kind adds for all,
    `ruling` what is shown after the end.
    """
    parts = _Parts()
    anonymous = parts.acts(rules, acts)
    for channel, draw in draft.draws.taken:
        parts.put(channel, "draws", draw)
    parts.facts(draft.facts)
    parts.cover([*cover, *_asked_in_secret(draft.facts)])
    hidden, digests = state_digest(draft.state, game.digests)
    table = parts.packs.setdefault(TABLE_KEY, {})
    table["digest"] = hidden
    if moment.command:
        table["command"] = moment.command
    if ruling:
        table["ruling"] = ruling
    packs = _shut(game, moment, parts.packs)
    told = any(s != seat for key in packs for s in seats_of(key))
    quiet = not parts.public.get("facts") and game.board
    record = _record(
        game,
        moment,
        kind,
        parts,
        packs,
        seat=None if anonymous else seat,
        by=by,
        openings=_openings(game, draft.facts, packs),
        barrier=anonymous or draft.revealing or told,
        board=game.board if quiet else public_digest(rules, draft.state),
        body=body,
    )
    return Step(record, assign(advance(rules, game, record, draft.state), digests=digests))
