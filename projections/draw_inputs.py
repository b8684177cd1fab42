"""Input of a draw besides the tournament: relations declared by both people, and ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from domain.ratings import Ratings
from domain.tournaments.aggregate.pairing import DrawInput
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.terms import BY_DRAW, IGNORED

RelationsReader = Callable[[Sequence[str]], Iterable[tuple[str, str]]]
"""Return the pairs of these player ids with a relation declared by both."""


def read_draw_input(
    t: Tournament, stage: int, round_: int, list_relations: RelationsReader, read_ratings: Callable[[], Ratings]
) -> DrawInput:
    """Return declared relations and ratings of the entrants, as far as the draw asks for them."""
    if stage > len(t.terms.stages):
        return DrawInput()
    terms = t.terms.stages[stage - 1]
    numbers = {person.player: entrant for entrant, person in enumerate(t.entrants)}
    related = list_relations(sorted(numbers)) if terms.relations != IGNORED else ()
    is_rated = round_ == 1 and terms.seeds != BY_DRAW
    rated = read_ratings().list_hundredths(t.terms.ruleset, numbers) if is_rated else {}
    return DrawInput(
        tuple(sorted((numbers[one], numbers[other]) for one, other in related if {one, other} <= numbers.keys())),
        tuple(sorted((numbers[player], rating) for player, rating in rated.items())),
    )
