"""Standing orders of every game: their texts, the moves that they make, and a game played by them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.proof.verify import verify
from domain.kernel.records.export import Export
from domain.kernel.rules.order_kinds import OrderKind
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.declarations import doc
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.ruleset_registry import SHIPPED, load_shipped
from domain.standing_orders.order_rules import REASONS, Act, StandingOrder, choose_delay, find_answer, find_end
from domain.types import DIRECTOR, Seat
from tests.games.seven_empires.board import army, moving
from tests.spec import Given

REGISTRY = load_shipped()
SEATS = {"egc": 10, "struggle_of_empires": 3}
MOST = 60
"""Decisions played with defaults."""

SELDOM = {
    "struggle_of_empires": {"answer_support": "three_seats", "keep_dice": "two_seats"},
    "age_of_reason": {"stay_out": "three_seats", "keep_dice": "two_seats"},
    "seven_empires": {"end_movement": "two_seats", "answer_passage": "two_seats", "name_defender": ""},
    "imperunde": {"vote_goals": "four_turns_of_cards", "pass_windows": "four_turns_of_cards"},
}
"""Kinds whose decisions do not come from defaults alone: the golden games that have them."""


def rules_of(game: str) -> AnyRuleset:
    return REGISTRY.latest(game)


def order_of(kind: OrderKind, seat: Seat, seats: int, **more: object) -> StandingOrder:
    """An order with the first value of each field."""
    values = {name: field.options(seats, seat)[0] for name, field in kind.fields.items()}
    if {"a", "b"} <= values.keys():
        values["b"] = kind.fields["b"].options(seats, seat)[1]
    made = StandingOrder("o", "match", seat, f"p{seat}", 0, kind.name, values, 99, 99, True, (), 1)
    return replace(made, **more)  # type: ignore[arg-type] # members of an order


def default_of(game: InMemoryGame[Any]) -> None:
    """One record with the default of the first seat that owes."""
    (decision,) = game.decisions()
    if decision.engine:
        game.resolve()
    else:
        seat = game.game.frames[-1].owing[0]  # in a secret decision everybody seems to owe
        game.play(seat, doc(game.rules.default(game.state, decision, seat)))


@pytest.mark.parametrize("game", SHIPPED)
def test_every_kind_has_its_texts_and_its_decisions(game: str) -> None:
    rules = rules_of(game)
    assert rules.standing_orders
    for kind in rules.standing_orders:
        assert set(kind.decisions) <= set(rules.frames)
        values = order_of(kind, 0, 3).values
        for lang in LANGUAGES:
            texts = load_texts(rules.package, lang)
            assert texts.label(f"standing_order.{kind.name}.name")
            sentence = texts.render(f"standing_order.{kind.name}", dict(values)) or ""
            assert sentence.endswith("."), kind.name
            assert "{" not in sentence
            assert all(texts.label(f"ask.standing_order.{name}") for name in kind.fields)
            assert all(texts.label(f"ended_order.{reason}") for reason in REASONS)


@pytest.mark.parametrize("game", SHIPPED)
def test_their_moves_are_legal_where_their_decisions_come(game: str) -> None:
    rules = rules_of(game)
    seats = SEATS.get(game, min(rules.meta.seats))
    match, missing = InMemoryGame(rules, seats, bytes(32)), {kind.name: kind for kind in rules.standing_orders}
    for _ in range(MOST):
        if not (missing := {name: kind for name, kind in missing.items() if name not in SELDOM.get(game, {})}):
            break
        (decision,) = match.decisions()
        for name, kind in list(missing.items()):
            if decision.kind in kind.decisions:
                order = order_of(kind, match.game.frames[-1].owing[0], seats)
                answer = find_answer(order, rules, match.game, match.records)
                assert answer.move or answer.reason == "condition", (name, answer)
                if answer.move:
                    match.fork().play(order.seat, answer.move)
                    del missing[name]
        default_of(match)
    assert not missing


def golden_games(game: str, name: str) -> Iterator[InMemoryGame[Any]]:
    """A golden game, before each of its moves."""
    rules, path = rules_of(game), Path(__file__).parent / game / "golden" / f"{name}.json"
    doc = json.loads(path.read_text(encoding="utf-8"))
    options = doc.get("options")
    if "moves" in doc:
        match = InMemoryGame(rules, doc["seats"], bytes.fromhex(doc["seed"]), options=options)
        for seat, move in doc["moves"]:
            yield match
            match.play(seat, move)
    else:
        played = Given(rules, doc["seats"], options=options, draws=doc["setup"])
        for step in doc["steps"]:
            yield played.match
            played.when(step["seat"], step["move"], draws=step.get("draws", ()))


def wishes(kind: OrderKind, seat: Seat, seats: int) -> Iterator[StandingOrder]:
    """Orders of a kind with all values."""
    for values in product(*(field.options(seats, seat) for field in kind.fields.values())):
        yield order_of(kind, seat, seats, values=dict(zip(kind.fields, values, strict=True)))


def fight() -> InMemoryGame[Any]:
    """SE7-8.11: no golden game has a counter-fight with a choice of units."""
    game = moving("spain", {"barcelona": "spain artillery", "marseille": "france infantry infantry two_master"})
    game.when(0, army("barcelona", "artillery", "marseille", target="infantry"))
    return game.match


def check_moves(kind: OrderKind, match: InMemoryGame[Any]) -> int:
    """The orders of a kind for the open decision are played; return how many of them move."""
    seat, seats = match.game.frames[-1].owing[0], match.game.table.seats
    answers = [(each, find_answer(each, match.rules, match.game, match.records)) for each in wishes(kind, seat, seats)]
    for order, answer in answers:
        assert answer.reason in ("", "condition"), (order, answer)
        if answer.move:
            trial = match.fork()
            trial.source = None
            trial.play(seat, answer.move)
    return sum(answer.move is not None for _, answer in answers)


@pytest.mark.parametrize(("game", "name"), [(game, name) for game, names in SELDOM.items() for name in names])
def test_the_moves_of_seldom_kinds_are_legal(game: str, name: str) -> None:
    """Each value of a field that is about the open decision has its move: both answers, the unit that is there."""
    kind = next(kind for kind in rules_of(game).standing_orders if kind.name == name)
    source = SELDOM[game][name]
    found = golden_games(game, source) if source else iter([fight()])
    moves = (check_moves(kind, match) for match in found if match.decisions()[0].kind in kind.decisions)
    assert next(filter(None, moves)) == (2 if "answer" in kind.fields or name == "name_defender" else 1)


def test_a_game_is_played_to_its_end_half_by_orders() -> None:
    rules = rules_of("struggle_of_empires")
    match = InMemoryGame(rules, 3, bytes(32))
    kinds = {kind.name: kind for kind in rules.standing_orders}
    given_orders = [order_of(kinds[name], seat, 3) for name in ("pass_turns", "pass_bids") for seat in (0, 1)]
    acted = by_hand = 0
    while match.game.status == "running":
        (decision,) = match.decisions()
        mine = [order for order in given_orders if order.seat == decision.must[0]]
        answers = [(find_answer(order, rules, match.game, match.records), order) for order in mine]
        move = next((answer.move for answer, _ in answers if answer.move), None)
        if move:
            match.play(decision.must[0], move)
            acted += 1
        else:
            default_of(match)
            by_hand += 1
    match.close()
    assert acted > by_hand / 2 > 0
    verify(rules, Export("match", rules.meta.ruleset, DIRECTOR, tuple(match.records)))


@given(st.lists(st.sampled_from(["default", "act", "back", "attack_free", "revoke"]), min_size=4, max_size=14))
@settings(max_examples=15, deadline=None)
def test_order_acts_once_in_a_decision_and_never_after_its_end(steps: list[str]) -> None:
    rules = rules_of("struggle_of_empires")
    match = PLAYED.fork()
    kind = next(kind for kind in rules.standing_orders if kind.name == "pass_turns")
    order = order_of(kind, 0, 3, version=match.game.version, times=3)
    for step in steps:
        ended = find_end(order, rules, match.game, match.records) if not order.reason else order.reason
        order = replace(order, reason=ended)
        if step == "revoke":
            order = replace(order, reason=order.reason or "revoked")
        elif step == "back" and len(match.active_versions()) > PLAYED.game.version:
            match.rewind(match.active_versions()[-2])
        elif step == "act" and not order.reason:
            answer = find_answer(order, rules, match.game, match.records)
            if answer.move and not answer.reason:
                assert answer.decision not in order.decisions_answered
                match.play(0, answer.move)
                order = replace(order, acts=(*order.acts, Act(match.game.version, answer.decision, 0)))
        elif match.game.status == "running":
            default_of(match)
    assert len(order.decisions_answered) == len(order.acts) <= order.times


def _play_to_turn() -> InMemoryGame[Any]:
    match = InMemoryGame(rules_of("struggle_of_empires"), 3, bytes(32), terms={"undo": "free"})
    while match.decisions()[0].kind != "turn":
        default_of(match)
    return match


PLAYED = _play_to_turn()


@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
def test_the_delay_follows_the_pace_and_the_time_left(share: float) -> None:
    game = PLAYED.game
    (seat,) = game.frames[-1].owing
    now = game.time
    day = 86_400_000
    assert day / 401 <= choose_delay(game, seat, "move", now, share) <= day / 19
    due = game.due_times([seat])[seat]
    assert choose_delay(game, seat, "move", due - 1_000, share) <= 500
    assert choose_delay(game, seat, "move", now, share, goes_on=True) <= 15_000


def test_the_texts_of_values_are_words() -> None:
    texts = load_texts(rules_of("seven_empires").package, "en")
    told = texts.render("standing_order.answer_passage", {"empire": "france", "answer": "decline"})
    assert told == "If an army of France asks to pass: decline."
