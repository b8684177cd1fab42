"""AOR-4.6, AOR-16.2: two games that differ only in what was answered in secret are byte-equal for all others.

Everything that somebody else can get is compared: whole records, exports, boards, summaries, standings, what is due,
the timeline and its sentences, what the move builder says, refusals, dry runs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence

import pytest

from domain.errors import NeedsChance, RuleError
from domain.games.age_of_reason import RULESET
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.game.in_memory_game import AnyInMemoryGame
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.records import export
from domain.kernel.records.audience import may_read
from domain.kernel.records.record import Record, visible_packs
from domain.kernel.rules.decide import dry_run, query_builder
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.declarations import docs
from domain.kernel.text.message_catalog import load_texts
from domain.types import PUBLIC, Doc, Json, Seat, Viewer
from projections import documents
from projections.loaded_game import LoadedGame, affected_viewers
from tests.games.age_of_reason.board import POWERS as ALL
from tests.games.age_of_reason.board import attack, commit, move, position
from tests.games.age_of_reason.registered import candidates
from tests.kernel.machine import complete
from tests.spec import Given

TRIED = 6
"""So many of all conceivable moves are tried by each other seat, for what they are refused with."""


def ashore() -> Given:
    """Five seats in Central Europe; a defender and allies of both sides; all kinds of means; cards already spent."""
    spent = {0: ["prussia_3s0n", "prussia_1s1n"], 1: ["austria_1s1n"], 2: ["france_4s0n"]}
    means = {1: {"gold": 1, "unrest": 20}, 2: {"gold": 0, "unrest": 21}, 4: {"gold": 30}}
    game = position(5, tokens={power: {"central_europe": 1} for power in ALL}, discards=spent, empires=means)
    game.when(0, attack("central_europe", "austria", "prussia_4s0n"))
    return game


def at_sea() -> Given:
    """All seven seats in the Baltic."""
    game = position(7, tokens={power: {"baltic": 2} for power in ALL}, empires={3: {"gold": 0, "unrest": 22}})
    game.when(0, attack("baltic", "austria", "prussia_2s1n"))
    return game


def hiring() -> Given:
    """Three seats; both principals can hire, and one of them has little left."""
    poor = {0: {"gold": 2, "unrest": 21}}
    game = position(3, tokens={power: {"baltic": 1} for power in ALL}, empires=poor)
    game.when(0, attack("baltic", "austria", "prussia_1s1n"))
    game.when(1, commit("austria_2s0n_a"))
    game.when(2, commit("france_bluff"))
    return game


POSITIONS: tuple[Callable[[], Given], ...] = (ashore, at_sea, hiring)

TAKE_BACK = move("take_back")
WAYS: dict[str, Callable[[AnyInMemoryGame, Seat, Doc, Doc], None]] = {
    "answered": lambda m, seat, answer, other: _play(m, (seat, [answer])),
    "taken back": lambda m, seat, answer, other: _play(m, (seat, [answer]), (seat, [TAKE_BACK])),
    "answered anew": lambda m, seat, answer, other: _play(m, (seat, [other]), (seat, [TAKE_BACK, answer])),
    "undone": lambda m, seat, answer, other: _undone(m, seat, answer),
}
"""How a seat comes to its answer; `other` is one that it does not stay with."""


def _play(match: AnyInMemoryGame, *acts: tuple[Seat, Sequence[Doc]]) -> None:
    for seat, moves in acts:
        match.play(seat, *moves)


def _undone(match: AnyInMemoryGame, seat: Seat, answer: Doc) -> None:
    match.play(seat, answer)
    match.rewind(match.game.version - 1, seat=seat)


# --- what somebody can get ------------------------------------------------------------------------------------------


def _standings(match: AnyInMemoryGame) -> list[Json]:
    return [score.to_json() for score in match.rules.scores(match.state)]


def gets(match: AnyInMemoryGame, since: int, viewer: Viewer) -> list[Json]:
    """All of it, of the records after `since` and of the game as it is."""
    known = LoadedGame(RULESET, match.game)
    seats = range(match.state.seats)
    found: list[Json] = [_of(record, known, viewer) for record in match.records[since:]]
    found += [len(line) for line in export.dump(match.records, viewer).splitlines()]
    board = re.sub(r'"head":"[0-9a-f]{64}",', "", documents.build_board(known, viewer).decode())
    found += [board, documents.build_summary(known), _standings(match)]
    found += [known.decisions_to_json(viewer), sorted(match.game.due_times(seats).items())]
    if isinstance(viewer, int):
        found += [list(_questions(match, viewer)), list(_answers(match, viewer))]
    return found


def _of(record: Record, known: LoadedGame, viewer: Viewer) -> list[Json]:
    """A record; of hashes, its own and those of what is sealed, only how many there are, and how long they are."""
    public = {k: v for k, v in record.public.items() if k not in ("seals", "prev")}
    hashes = [len(hash_) for hash_ in [*record.public.get("seals", ()), record.public["prev"]]]
    parts = documents.build_entries(record, None, known)
    entry = {
        **parts["all"],
        "head": len(record.hash),
        "own": [part for key, part in parts.items() if key != "all" and may_read(key, viewer)],
    }
    told = []
    for lang in ("en", "fr"):
        words = load_texts(RULESET.package, lang)
        told.append(
            documents.add_text(known.rules, entry, words, SeatNames(words, known.rules.powers(known.game.state), {}))
        )
    return [
        public,
        hashes,
        visible_packs(record, viewer),
        told,
        [v for v in affected_viewers(record, known) if v == viewer],
    ]


def _questions(match: AnyInMemoryGame, seat: Seat) -> Iterator[Json]:
    """Every question of the move builder on the way to every move."""
    paths: list[list[Json]] = [[]]
    while paths:
        picks = paths.pop()
        try:
            question = query_builder(RULESET, match.state, seat, picks)
        except RuleError as error:
            yield [error.code, error.detail]
            return
        yield question if isinstance(question, dict) else question.to_json()
        if not isinstance(question, dict) and question.kind == "one":
            paths += [[*picks, pick] for pick in question.values]


def _answers(match: AnyInMemoryGame, seat: Seat) -> Iterator[Json]:
    """What comes of conceivable moves: refusals, and of what is legal all that a dry run may say (of what it knows)."""
    world = list(candidates(match.state, seat))
    picked = random.Random(7).sample(world, min(len(world), TRIED))
    mine = state_known_to(RULESET, match.records, seat)
    for one in [*picked, TAKE_BACK]:
        for state in (match.state, mine):
            try:
                draft = dry_run(RULESET, state, seat, [one])
            except RuleError as error:
                yield [error.code, error.rule, error.detail]
            except NeedsChance:
                yield "chance"
            except KeyError:
                yield "depends"  # on cards that the seat does not know
            else:
                shown = [fact for key, fact in draft.facts if may_read(key, seat)]
                yield ["legal", docs(shown) if state is mine else None]


# --- the worlds -----------------------------------------------------------------------------------------------------


def world(
    game: Given, seat: Seat, answer: Doc, other: Doc, way: str, others: Sequence[tuple[Seat, Doc]]
) -> list[bytes]:
    """What everybody else gets after the answer, and after each of the others' until the decision closes."""
    match, since = game.match.fork(), len(game.match.records)
    match.source = None
    frame = match.state.top.n
    viewers: list[Viewer] = [PUBLIC, *(s for s in range(match.state.seats) if s != seat)]
    WAYS[way](match, seat, answer, other)
    seen = [canonical([gets(match, since, viewer) for viewer in viewers])]
    for who, move_ in others:
        match.play(who, move_)
        if match.state.top.n != frame:
            break
        seen.append(canonical([gets(match, since, viewer) for viewer in viewers]))
    return seen


def answers_of(game: Given, seat: Seat) -> list[Doc]:
    """The first two moves and the last that a seat could answer with."""
    found = complete(RULESET, game.state, seat, 200) or []
    assert len(found) > 1
    return [*found[:2], *found[2:][-1:]]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", POSITIONS, ids=lambda place: place.__name__)
def test_nobody_else_can_tell_two_answers_apart(place: Callable[[], Given], way: str) -> None:
    """AOR-4.6.2, AOR-4.6.5: whatever was answered, taken back or undone, by whichever seat."""
    game = place()
    owing = game.state.top.owing
    for seat in owing:
        others = [(s, answers_of(game, s)[0]) for s in owing if s != seat]
        answers = answers_of(game, seat)
        worlds = [world(game, seat, answer, answers[-1 - i], way, others) for i, answer in enumerate(answers)]
        assert all(w == worlds[0] for w in worlds[1:]), seat
