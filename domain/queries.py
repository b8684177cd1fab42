"""Queries on a game without writes: dry runs, and moves of the builder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from domain.errors import NeedsChance, RuleError, StaleVersion
from domain.kernel.game.command import require_play
from domain.kernel.game.game import AnyGame
from domain.kernel.game.game_fold import active_versions, state_known_to
from domain.kernel.game.play_commands import require_open_decision
from domain.kernel.narration.template_context import template_context, with_context
from domain.kernel.records.audience import ALL_KEY, may_read
from domain.kernel.records.record import Record
from domain.kernel.rules.choices import Answers, Choice, all_moves, look_ahead
from domain.kernel.rules.decide import dry_run, query_builder
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.declarations import doc
from domain.types import PUBLIC, Doc, Json, Seat

MAX_QUESTIONS = 2000
"""Most answers of the move builder read by one query for all moves."""


def check_moves(
    rules: AnyRuleset,
    game: AnyGame,
    seat: Seat,
    moves: list[Json],
    decision: str | None,
    expected: int | None,
    now: int = 0,
) -> None:
    """Raise the refusal of the moves at time `now` (ms): RuleError, DecisionClosed or StaleVersion."""
    if expected not in (None, game.version):
        raise StaleVersion(expected or 0, game.version)
    require_running(game)
    require_play(game, max(now, game.time))
    if decision is not None:
        require_open_decision(rules, game, decision)
    with suppress(NeedsChance):
        dry_run(rules, game.state, seat, moves)


def require_running(game: AnyGame) -> None:
    """Raise RuleError unless the game is running."""
    if game.status != "running":
        code = "game_over" if game.status in ("over", "closed") else "not_running"
        raise RuleError(code, "", {"status": game.status})


@dataclass(frozen=True)
class MovePreview:
    """Consequences of legal moves, as far as their seat may know them. None: not known."""

    chance: bool | None = None
    """The moves draw something."""
    barrier: bool | None = None
    """Undo needs the consent of other people."""
    facts: list[Doc] | None = None
    told: list[str] | None = None
    """These facts in sentences."""
    depends: bool = False
    """The consequences rest on things hidden from the seat."""
    draw: str = ""
    """Label of the first draw."""


def preview_moves(
    rules: AnyRuleset,
    records: Sequence[Record],
    seat: Seat,
    moves: list[Json],
    tell: Callable[[Sequence[Doc]], list[str]] | None = None,
) -> MovePreview:
    """Return the consequences of legal moves, decided on the part of the game readable by the seat.

    The dry run so reveals nothing beyond the seat's knowledge: neither secret answers of the others nor the findings of
    a spy. `tell` makes the sentences of facts.
    """
    try:
        before = state_known_to(rules, records, seat)
        draft = dry_run(rules, before, seat, moves)
    except NeedsChance as drawn:
        return MovePreview(chance=True, barrier=True, draw=drawn.label)
    except Exception:  # noqa: BLE001 - rules may fail in any way over things unknown to the seat
        return MovePreview(depends=True)
    anonymous = any(rules.moves[m["type"]].admission.anonymous for m in moves)
    if draft.has_revealed:  # a revealing move shows its result only after it was paid for
        return MovePreview(chance=False, barrier=True)
    facts = [doc(f) for key, f in draft.facts if key == ALL_KEY or may_read(key, seat)]
    told = None if tell is None else tell(with_context(rules, facts, template_context(rules, before, facts)))
    return MovePreview(chance=False, barrier=anonymous, facts=facts, told=told)


def list_moves(
    rules: AnyRuleset, state: State, seat: Seat, picks: list[Json], limit: int
) -> tuple[list[Json], int | None]:
    """Return the first `limit` moves beginning with the picks, each once, and the count of all.

    The count is None if there are more than MAX_QUESTIONS questions to ask.
    """
    moves: dict[bytes, Json] = {}
    for move in all_moves(partial(query_builder, rules, state, seat), picks, MAX_QUESTIONS):
        if move is None:
            return list(moves.values())[:limit], None
        moves.setdefault(canonical(move), move)
    return list(moves.values())[:limit], len(moves)


def list_further_answers(rules: AnyRuleset, state: State, seat: Seat, picks: list[Json], most: int) -> Answers:
    """Return the builder's answers to further picks while at most `most` moves begin with them, as `look_ahead`."""
    ask = partial(query_builder, rules, state, seat)
    return look_ahead(ask, picks, ask(picks), most)


def builder_reveals(rules: AnyRuleset, game: AnyGame, records: Sequence[Record], seat: Seat, picks: list[Json]) -> bool:
    """Return whether the builder's answer to these picks could reveal more than public knowledge."""
    return _has_secrets(records) or not _is_public_answer(rules, game, records, seat, picks)


def _has_secrets(records: Sequence[Record]) -> bool:
    """Return whether any seat has a private pack on the active versions, as anyone can count by the seals.

    The content of packs must not decide it: an answer "no look needed" would reveal a seat without secrets.
    """
    active = set(active_versions(records))
    return any(len(r.public.get("seals", ())) > 1 for r in records if r.version in active)


def _is_public_answer(
    rules: AnyRuleset, game: AnyGame, records: Sequence[Record], seat: Seat, picks: list[Json]
) -> bool:
    try:
        public = _comparable_answer(rules, state_known_to(rules, records, PUBLIC), seat, picks)
    except Exception:  # noqa: BLE001 - rules may fail in any way over things unknown to the public
        return False
    return bool(public == _comparable_answer(rules, game.state, seat, picks))


def _comparable_answer(rules: AnyRuleset, state: State, seat: Seat, picks: list[Json]) -> Json:
    try:
        answer = query_builder(rules, state, seat, picks)
    except RuleError as error:
        return ["refused", error.code, error.rule, error.detail]
    return answer.to_json() if isinstance(answer, Choice) else ["move", answer]
