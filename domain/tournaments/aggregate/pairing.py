"""Bodies of `paired`, `ranked` and `advanced` records, computed from the tournament before them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from domain.errors import RuleError, TournamentError
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.draw import draw_order, draw_value, tournament_draw_key
from domain.tournaments.formats import (
    LeaguePlan,
    default_rounds,
    draw_swiss_round,
    has_design,
    plan_design,
    plan_league,
    seed_round,
)
from domain.tournaments.next_round import Relations, collect_state, find_next_seeds
from domain.tournaments.pods import Pair
from domain.tournaments.sizes import find_exact_sizes
from domain.tournaments.standings import build_ranking
from domain.tournaments.terms import BY_DRAW, IGNORED, KEPT_APART
from domain.tournaments.ties import TieBreaks
from domain.types import Doc


def draw_key_of(t: Tournament, secret: bytes, round_: int, draw: int) -> bytes:
    """Return the key of a draw: of its secret, and of the nonces of all participants."""
    return tournament_draw_key(secret, t.id, round_, draw, {e: t.nonces.get(e, "") for e in t.participants})


class DrawInput(NamedTuple):
    """Input of a draw besides the tournament."""

    related: tuple[Pair, ...] = ()
    """Pairs of entrants with a relation declared by both."""
    ratings: tuple[tuple[int, int], ...] = ()
    """Entrants with their ratings in hundredths, of a first round with seeds by ratings."""


def read_input(paired: Doc) -> DrawInput:
    """Return the input that a `paired` record has noted."""
    related = tuple((one, other) for one, other, _ in paired.get("relations", ()))
    return DrawInput(related, tuple((entrant, rating) for entrant, rating in paired.get("ratings", ())))


def pair_rounds(t: Tournament, stage: int, round_: int, key: bytes, more: DrawInput | None = None) -> Doc:
    """Return the body of a `paired` record, seats in order; raise RuleError if there are no pods.

    A league or design pairs all rounds, the other formats this one.
    """
    order = draw_order(key, [entrant for entrant in t.participants if t.entrants[entrant].is_active])
    try:
        match t.terms.stages[stage - 1].format:
            case "swiss":
                return _pair_swiss(t, stage, round_, key, order, more or DrawInput())
            case "knockout":
                return _pair_knockout(t, stage, round_, order, more or DrawInput())
            case _:
                return _pair_all(t, stage, key, order)
    except TournamentError as error:
        raise RuleError(error.code, "", {"entrants": len(order)}) from error


FARTHEST = 100
"""Most entrants more, to look for a number with a design."""


def may_pair(t: Tournament) -> bool:
    """Return whether the next draw can make pods: that depends on the number of entrants, not on the key."""
    if t.next_draw is None:
        return False
    try:
        pair_rounds(t, *t.next_draw, bytes(32))
    except RuleError:
        return False
    return True


def find_nearest_numbers(t: Tournament, entrants: int) -> list[int]:
    """Return the nearest numbers of entrants below and above, with which the first draw of a stage makes pods.

    There are up to two, ascending; a number itself stands alone.
    """
    terms = t.terms.stages[len(t.stages) - 1]
    seats, most = t.terms.seats, t.terms.capacity

    def fits(number: int) -> bool:
        if terms.format == "design":
            return has_design(number, seats.preferred)
        return number >= seats.lo and any(find_exact_sizes(n, seats) for n in range(number, seats.lo - 1, -1))

    if fits(entrants):
        return [entrants]
    below = next((n for n in range(min(entrants, most) - 1, 1, -1) if fits(n)), None)
    above = next((n for n in range(entrants + 1, min(most, entrants + FARTHEST) + 1) if fits(n)), None)
    return [n for n in (below, above) if n is not None]


def _pair_all(t: Tournament, stage: int, key: bytes, order: Sequence[int]) -> Doc:
    plan = _plan(t, stage, key, order)
    rounds = [{"pods": each.pods, "byes": each.byes} for each in plan.rounds]
    return {"stage": stage, "plan": plan.name, "repeats": plan.count_repeats(), "rounds": rounds}


def _plan(t: Tournament, stage: int, key: bytes, order: Sequence[int]) -> LeaguePlan:
    terms = t.terms.stages[stage - 1]
    if terms.format == "design":
        return plan_design(order, t.terms.preferred)
    return plan_league(key, order, t.terms.seats, terms.rounds)


def _pair_swiss(t: Tournament, stage: int, round_: int, key: bytes, order: Sequence[int], more: DrawInput) -> Doc:
    planned = t.stages[stage - 1].planned
    if round_ == 1:
        planned = t.terms.stages[stage - 1].rounds or default_rounds(len(order), t.terms.preferred)
    relations, noted = _weigh_relations(t.terms.stages[stage - 1].relations, more.related, set(order))
    ratings = _list_ratings(t, stage, round_, order, more)
    state = collect_state(TieBreaks(t.stage(stage, round_ - 1)), relations)
    volunteers = [entrant for entrant in order if (stage, round_, entrant) in t.volunteers]
    drawn = draw_swiss_round(key, order, t.terms.seats, state, volunteers, ratings)
    body: Doc = {"stage": stage, "round": round_, "of": planned, "plan": "pods@1", "costs": drawn.costs, **noted}
    body |= _note_ratings(ratings)
    return {**body, "rounds": [{"pods": drawn.pods, "byes": drawn.byes}]}


def _weigh_relations(how: str, related: Collection[Pair], drawn: Collection[int]) -> tuple[Relations, Doc]:
    """Return the related pairs among those drawn by the stage's class of weight, and the member of the record."""
    pairs = frozenset((min(pair), max(pair)) for pair in related if {*pair} <= set(drawn))
    if how == IGNORED or not pairs:
        return Relations(), {}
    found = Relations(apart=pairs) if how == KEPT_APART else Relations(near=pairs)
    return found, {"relations": [[*pair, how] for pair in sorted(pairs)]}


def _list_ratings(t: Tournament, stage: int, round_: int, order: Sequence[int], more: DrawInput) -> dict[int, int]:
    """Return the ratings of those drawn, in hundredths, for a first round with seeds by ratings; else none."""
    if round_ > 1 or t.terms.stages[stage - 1].seeds == BY_DRAW:
        return {}
    known = dict(more.ratings)
    return {entrant: known.get(entrant, 0) for entrant in order}


def _note_ratings(ratings: Mapping[int, int]) -> Doc:
    return {"ratings": [[entrant, ratings[entrant]] for entrant in sorted(ratings)]} if ratings else {}


def _pair_knockout(t: Tournament, stage: int, round_: int, order: Sequence[int], more: DrawInput) -> Doc:
    """Pair by seeds: ratings, the order of the stage before, or the draw; from the second round on the standings."""
    steps, play = t.terms.stages[stage - 1].advance, t.stages[stage - 1]
    ties, ratings = TieBreaks(t.stage(stage, round_ - 1)), _list_ratings(t, stage, round_, order, more)
    if round_ > 1:
        step = steps[round_ - 2]
        resting = play.rounds[round_ - 2].byes
        seeds = find_next_seeds(ties, set(order), resting, step.first, step.wild_cards)
    else:
        seeds = list(order) if stage == 1 else [entrant for entrant in play.members if entrant in set(order)]
        seeds.sort(key=lambda entrant: -ratings.get(entrant, 0))
    try:
        tables, byes = seed_round(seeds, t.terms.seats)
    except TournamentError as error:
        raise RuleError(error.code, "", {"entrants": len(seeds)}) from error
    pods = collect_state(ties, Relations()).history.seat_pods(tables, order)
    body: Doc = {"stage": stage, "round": round_, "of": len(steps) + 1, "plan": "snake@1", "seeds": seeds}
    body |= _note_ratings(ratings)
    return {**body, "rounds": [{"pods": pods, "byes": sorted(byes)}]}


def list_advancing(t: Tournament, stage: int) -> list[int]:
    """Return the entrants of the next stage, in order of their seeds: the first of this one, without withdrawn ones.

    The last draw parts a place shared at the line.
    """
    ties, key = TieBreaks(t.stage(stage)), bytes.fromhex(t.stages[stage - 1].key)
    ranked = sorted(ties.tally.members, key=lambda e: (ties.places[e], draw_value(key, e)))
    return [entrant for entrant in ranked if t.entrants[entrant].is_active][: t.terms.stages[stage].entrants]


def build_advance(t: Tournament, stage: int) -> Doc | None:
    """Return the body of the `advanced` record due after a stage, or None.

    None is due if others follow in the same order already, if the next stage has tables, or without a next stage.
    """
    if stage == len(t.terms.stages) or not t.stages[stage - 1].has_ended:
        return None
    advancing = list_advancing(t, stage)
    if stage < len(t.stages):
        following = t.stages[stage]
        if stage + 1 < len(t.stages) or following.has_tables() or list(following.members) == advancing:
            return None
    return {"stage": stage + 1, "entrants": advancing}


def build_official(t: Tournament, stage: int, round_: int) -> Doc:
    """Return the body of a `ranked` record; `replaces` has the digest of the list before, if that was another one."""
    body, play = build_ranking(TieBreaks(t.stage(stage, round_)), stage, round_), t.stages[stage - 1]
    former = play.rankings[round_ - 1]["digest"] if round_ <= len(play.rankings) else body["digest"]
    return body if former == body["digest"] else {**body, "replaces": former}
