"""A past version of a game for some viewers: their states, each folded only from facts readable by them.

Beside these states stands the game without its board: players, clocks, time banks and frames. Its state is the kernel's
part of the full one, which the kernel's own facts alone change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from domain.errors import VerificationError
from domain.kernel.game.game import AnyGame, Game
from domain.kernel.game.game_fold import apply_record, apply_rewind, fold, initial_game, state_known_to
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import FLOW, Patched, Restored, State, evolve_all
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.declarations import AnyFact
from domain.kernel.schema.json_codec import from_json, merge_patch, to_json
from domain.types import DIRECTOR, Viewer

_KERNEL_FACTS = tuple(FLOW.values())
_KERNEL_FIELDS = frozenset(f.name for f in fields(State))


@dataclass(frozen=True)
class Past:
    """A version of a game for some viewers."""

    game: Game[State]
    """The game without its board."""
    known: Mapping[Viewer, State]
    """Viewer -> the state known to it."""
    hash: str
    """Hash of the version's record. It names all earlier records."""

    @property
    def version(self) -> int:
        """Return the version."""
        return self.game.version

    @property
    def stored_game(self) -> Game[State]:
        """Return the game without its board as keyframes have it: without parts that no later board needs."""
        game = self.game
        reversible = replace(game.reversible, sealed={}, counts={}, digests={})
        return Game(replace(game.tip, record=None), reversible, game.lasting)

    def game_of(self, viewer: Viewer) -> AnyGame:
        """Return the game with the state known to a viewer."""
        game = self.game.with_state(self.known[viewer])
        return Game(replace(game.tip, stored_hash=self.hash), game.reversible, game.lasting)


def reader_of(game: AnyGame, viewer: Viewer) -> Viewer:
    """Return whose facts make a viewer's board: once the game is closed, it has all of them."""
    return DIRECTOR if game.status == "closed" else viewer


def kernel_state(state: State) -> State:
    """Return the kernel's part of a state: frames, vacant seats and the end."""
    return State(**{name: getattr(state, name) for name in _KERNEL_FIELDS})


def whole_past(rules: AnyRuleset, records: Sequence[Record], viewers: Iterable[Viewer]) -> Past:
    """Return the past after these records, all from the first, for some viewers."""
    game: AnyGame = fold(rules, records)
    known = {viewer: state_known_to(rules, records, viewer) for viewer in viewers}
    return Past(_without_board(game), known, game.hash)


def _without_board(game: AnyGame) -> Game[State]:
    reversible = replace(game.with_state(kernel_state(game.state)).reversible, sealed={}, digests={})
    return Game(replace(game.tip, record=None), reversible, game.lasting)


def first_past(rules: AnyRuleset, record: Record, viewers: Iterable[Viewer]) -> Past:
    """Return the past after the first record; raise VerificationError for any other."""
    if record.kind != "opened":
        raise VerificationError("no_beginning", 1)
    game = initial_game(rules, record)
    return Past(_without_board(game), dict.fromkeys(viewers, game.state), record.hash)


def next_past(rules: AnyRuleset, past: Past, record: Record, target: Past | None = None) -> Past:
    """Return the past after one more record, for the same viewers; a rewind needs the past of its `target`.

    Raise VerificationError unless the record follows.
    """
    if record.head.prev != past.hash:
        raise VerificationError("chain_broken", record.version)
    origin, decoded = target or past, rules.decode_readable(record)
    kernel = _evolve_kernel(origin.game.state, decoded.facts)
    if target is None:
        game = apply_record(rules, past.game, record, kernel, packs={})
    else:
        game = apply_rewind(rules, past.game, target.game, record, kernel, packs={})
    known = {v: evolve_all(origin.known[v], decoded.readable_by(v)) for v in past.known}
    return Past(game, known, record.hash)


def _evolve_kernel(state: State, facts: Iterable[AnyFact]) -> State:
    for fact in facts:
        if isinstance(fact, Restored):
            state = from_json(State, {name: fact.state[name] for name in _KERNEL_FIELDS if name in fact.state})
        elif isinstance(fact, Patched):
            patch = {name: value for name, value in fact.patch.items() if name in _KERNEL_FIELDS}
            state = from_json(State, merge_patch(to_json(state), patch))
        elif isinstance(fact, _KERNEL_FACTS):
            state = fact.evolve(state)
    return state
