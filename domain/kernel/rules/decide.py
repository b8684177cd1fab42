"""Decisions, refusals, the move builder and dry runs: the checks common to every game, then those of the ruleset."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from domain.errors import NeedsChance, RuleError
from domain.kernel.rules import choices
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import Draws, NoChance
from domain.kernel.rules.flow import (
    Decision,
    S,
)
from domain.kernel.rules.ruleset import Ruleset, no_check
from domain.kernel.schema import declarations, validators
from domain.kernel.schema.declarations import Admission, Move
from domain.kernel.text.message_catalog import Message
from domain.types import DIRECTOR, MAX_WORD, PUBLIC, Doc, Json, Seat, Viewer

_MAX_STEPS = 10_000


def decisions(rules: Ruleset[S], state: S, rewinds: int = 0, viewer: Viewer = PUBLIC) -> list[Decision]:
    """Return the open decisions: the top frame, as known to a viewer.

    In a secret frame all seats asked stand in `must` until it ends; a seat knows whether it has answered itself.
    """
    if not state.frames:
        return []
    f = state.top
    must, done = f.owing, f.done
    if f.secret and viewer != DIRECTOR:
        done = tuple(s for s in f.done if s == viewer)
        must = tuple(s for s in f.asked if s not in done)
    clock = rules.meta.clocks.get(f.kind, "move")
    return [Decision(f"{rewinds}-{f.n}", f.kind, must, rules.may(state), done, f.engine, clock, f.data)]


def check_shape(rules: Ruleset[S], seat: Seat | None, move: Json) -> Move:
    """Run the checks independent of the state; return the declared move or raise RuleError."""
    if not isinstance(move, dict) or not isinstance(move.get("type"), str):
        raise RuleError("malformed_move", "", {"at": "/type", "expected": Message("an object with a `type`")})
    kind = rules.moves.get(move["type"])
    if kind is None or (kind.admission.by == "engine") != (seat is None):
        raise RuleError("unknown_move", "", {"type": move["type"][:MAX_WORD]})
    if fault := validators.validator_of(kind).find_error({k: v for k, v in move.items() if k != "type"}, ""):
        raise RuleError("malformed_move", kind.admission.rule, {"at": fault[0], "expected": fault[1]})
    return msgspec.convert(move, kind)


def check_common(rules: Ruleset[S], state: S, seat: Seat | None, move: Json) -> Move:
    """Run the checks shared by every game, in their documented order; return the declared move or raise RuleError."""
    declared = check_shape(rules, seat, move)
    admission = declared.admission
    if not state.frames:
        raise RuleError("game_over")
    if seat is not None and admission.by != "any":
        _check_turn(rules, state, seat, admission)
    elif seat is None and (not state.top.engine or (admission.at and state.top.kind not in admission.at)):
        raise RuleError("wrong_phase", admission.rule, {"deciding": state.top.kind})
    return declared


def _check_turn(rules: Ruleset[S], state: S, seat: Seat, admission: Admission) -> None:
    frame = state.top
    owes, may = seat in frame.owing, seat in rules.may(state)
    fits = not admission.at or frame.kind in admission.at
    entitled = (owes and admission.by in ("owing", "both")) or (may and admission.by in ("may", "both"))
    if entitled and fits:
        return
    if fits and seat in frame.done:
        raise RuleError("already_answered", admission.rule, {"deciding": frame.kind})
    if fits or not (owes or may or seat in frame.done):
        raise RuleError("not_your_decision", admission.rule, {"deciding": frame.kind})
    raise RuleError("wrong_phase", admission.rule, {"deciding": frame.kind})


def decide(draft: Draft[S], seat: Seat | None, move: Json) -> None:
    """Decide one move of a seat, or of the engine (None): raise RuleError, or add facts until somebody owes again."""
    declared = check_common(draft.rules, draft.state, seat, move)
    draft.rules.handlers[move["type"]](draft, draft.state.top, seat, declared)
    resume_frames(draft)


def resume_frames(draft: Draft[S]) -> None:
    """Resume frames while the top one owes nothing."""
    for _ in range(_MAX_STEPS):
        if not draft.state.frames:
            return
        frame = draft.state.top
        if frame.owing or frame.engine:
            return
        before = len(draft.facts)
        draft.rules.continuations[frame.kind](draft, frame)
        if len(draft.facts) == before:
            raise AssertionError(f"{draft.rules.meta.ruleset}: the frame {frame.kind} does not go on")
    raise AssertionError(f"{draft.rules.meta.ruleset}: the flow does not come to rest")


def query_builder(rules: Ruleset[S], state: S, seat: Seat, picks: Sequence[Json] = ()) -> Choice | Doc:
    """Return the next Choice of the move builder after the picks, or the finished move.

    Raise RuleError `game_over`, `not_your_decision`, `already_answered`, or `not_offered`.
    """
    return query_answers(rules, state, seat, picks)[1]


def query_answers(
    rules: Ruleset[S], state: S, seat: Seat, picks: Sequence[Json] = ()
) -> tuple[dict[str, Json], Choice | Doc]:
    """Return the picks by their fields, with the answer to them; raise as `query_builder`."""
    answers, step = choices.replay_picks(_start_builder(rules, state, seat), picks)
    return answers, step if isinstance(step, Choice) else declarations.doc(step)


def build_move(rules: Ruleset[S], state: S, seat: Seat, pick: Callable[[Choice], Json]) -> Doc:
    """Return a finished move of the move builder, each question answered by `pick`; raise as `query_builder`."""
    return declarations.doc(choices.run_builder(_start_builder(rules, state, seat), pick))


def _start_builder(rules: Ruleset[S], state: S, seat: Seat) -> choices.Builder:
    if not state.frames:
        raise RuleError("game_over")
    frame = state.top
    if seat not in frame.owing and seat not in rules.may(state):
        raise RuleError("already_answered" if seat in frame.done else "not_your_decision", "", {"deciding": frame.kind})
    return rules.build(state, seat)


def dry_run(rules: Ruleset[S], state: S, seat: Seat, moves: Sequence[Json]) -> Draft[S]:
    """Return a draft of the moves up to their first draw (NeedsChance); raise RuleError as `decide`."""
    draft = Draft(rules, state, Draws(NoChance()))
    decide_all(draft, seat, moves)
    return draft


def decide_all(
    draft: Draft[S],
    seat: Seat | None,
    moves: Sequence[Json],
    check_before: Callable[[S], None] = no_check,
    *,
    replaying: bool = False,
) -> None:
    """Decide an atomic list; anything drawn, revealed, or asked or answered in secret ends it.

    The refusal of a later move would reveal it for free, so such a move is refused beforehand. `check_before` each move
    checks the state. `replaying`: a list from the log, where it may go on after a secret.
    """
    for i, move in enumerate(moves):
        if draft.has_revealed or (not replaying and draft.has_secret_step(seat)):
            raise RuleError("barrier_in_list")
        check_before(draft.state)
        try:
            decide(draft, seat, move)
        except NeedsChance:
            if i + 1 < len(moves):
                raise RuleError("barrier_in_list") from None
            raise
