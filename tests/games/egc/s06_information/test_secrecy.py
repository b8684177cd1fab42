"""Nothing of a secret shows: games that differ in one alone give everybody else the same bytes, hashes apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from domain.games.egc.data import SEATS, TECHNOLOGIES
from domain.games.egc.state import Egc
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import decisions, query_builder
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.declarations import doc
from domain.types import PUBLIC, Doc, Json, Seat, Viewer
from tests.games.egc.board import FRANCE, JAPAN, SPAIN, ZULU, Board, act, move, order, position
from tests.games.egc.registered import RULESET, candidates
from tests.kernel.machine import open_part, refusal
from tests.spec import SEED

SUBMIT: Doc = {"type": "submit_orders"}
CURIOUS: tuple[Viewer, ...] = (PUBLIC, SPAIN, ZULU)
"""Viewers who try whatever they can."""

FORCES = {FRANCE: {"france-1": ("france", 100, 7, 6)}, SPAIN: {"spain-1": ("spain", 80, 6, 6)}}


def others(seat: Seat | None = FRANCE) -> list[Viewer]:
    """The public and every other seat."""
    return [PUBLIC, *(x for x in SEATS if x != seat)]


def shown(game: Board, viewer: Viewer) -> bytes:
    """What the viewer sees, and what is open to it."""
    opened = [d.to_json() for d in decisions(RULESET, game.state, 0, viewer)]
    return canonical([RULESET.player_view(game.state, viewer), opened])


def outlets(game: Board, viewer: Viewer) -> bytes:
    """All else that it can get out of the state: offers, refusals, and what a deadline would do."""
    s = game.state
    opened = decisions(RULESET, s, 0, viewer)
    answers = [doc(RULESET.default(s, opened[0], x)) for x in SEATS] if opened else []
    if not isinstance(viewer, int):
        return canonical(answers)
    refusals = [refusal(RULESET, s, viewer, m) for m in list(candidates(s, viewer))[::397]]
    return canonical([answers, refusals, list(offers(s, viewer)) if viewer in s.top.owing else []])


def offers(s: Egc, seat: Seat) -> Iterator[Json]:
    """All questions of the move builder for each type of move, along the first pick of each and along the last."""
    menu = query_builder(RULESET, s, seat, ())
    assert isinstance(menu, Choice)
    for kind, last in product(menu.values, (False, True)):
        picks = [kind]
        while isinstance(question := query_builder(RULESET, s, seat, picks), Choice):
            yield question.to_json()
            picks.append(_pick(question, last))
        yield question


def _pick(question: Choice, last: bool) -> Json:
    if question.kind == "range":
        return question.hi if last else question.lo
    return question.values[-1 if last else 0]


def told(game: Board, viewer: Viewer, since: int) -> list[bytes]:
    """What the viewer can read of the records after a version."""
    return [open_part(record, viewer) for record in game.match.records[since:]]


def assert_alike(twins: Sequence[Board], viewers: Sequence[Viewer], since: int) -> None:
    """The games look the same to these viewers, and so does what is stored for all."""
    one, other = twins
    for viewer in viewers:
        assert told(one, viewer, since) == told(other, viewer, since)
        assert shown(one, viewer) == shown(other, viewer)
    for viewer in (v for v in CURIOUS if v in viewers):
        assert outlets(one, viewer) == outlets(other, viewer)
    sizes = [[len(canonical(r.public)) for r in game.match.records[since:]] for game in twins]
    assert sizes[0] == sizes[1]


def assert_differ(twins: Sequence[Board], viewer: Viewer) -> None:
    """The test can fail: to this viewer the games are not the same."""
    assert RULESET.player_view(twins[0].state, viewer) != RULESET.player_view(twins[1].state, viewer)


# --- a seat's sheet ----------------------------------------------------------------------------------------------

SHEETS: list[tuple[Doc, Doc]] = [
    (
        {"type": "set_research", "technology": "naval", "amount": 1},
        {"type": "set_research", "technology": "research", "amount": 500_000},
    ),
    (order("france-1", "prepare_defence"), {"type": "fund_expeditions", "count": 3}),
    (
        {"type": "build", "territory": "france", "infrastructure": "farm"},
        {"type": "choose_links", "links": ["france_greece"]},
    ),
    (act("zulu", "degrade", stake=5), {"type": "recruit", "territory": "france", "divisions": 100}),
    (move("france-1", "france", "holland"), {"type": "split_army", "army": "france-1", "divisions": 7}),
    ({"type": "protect", "territory": "serbia"}, {"type": "give_money", "to": "japan", "amount": 10}),
    ({"type": "spy_empire", "empire": "japan"}, {"type": "spy_territory", "territory": "italy"}),
]


@pytest.mark.parametrize(("one", "other"), SHEETS)
def test_a_filed_order_shows_nothing_to_anybody_else(one: Doc, other: Doc) -> None:
    """EGC-6.3, EGC-6.6, EGC-6.7, EGC-6.8: neither what it is nor whose."""
    twins = [position(4, armies=FORCES) for _ in range(2)]
    since = len(twins[0].match.records)
    for game, filed in zip(twins, (one, other), strict=True):
        game.file(FRANCE, filed)
    assert_differ(twins, FRANCE)
    assert_alike(twins, others(), since)


def test_it_does_not_show_who_filed_an_order() -> None:
    """EGC-6.7: the same order of another seat, seen by a third."""
    twins = [position(4), position(4)]
    since = len(twins[0].match.records)
    for game, seat in zip(twins, (FRANCE, JAPAN), strict=True):
        game.file(seat, {"type": "protect", "territory": "serbia"})
    assert_alike(twins, [v for v in others() if v != JAPAN], since)


QUIET: list[tuple[list[Doc], list[Doc]]] = [
    (
        [{"type": "set_research", "technology": "naval", "amount": 5_000}],
        [{"type": "set_research", "technology": "research", "amount": 400_000}],
    ),
    ([order("france-1", "train")], [{"type": "choose_links", "links": ["france_greece"]}]),
    (
        [{"type": "build", "territory": "france", "infrastructure": "farm"}],
        [{"type": "disband", "army": "france-1", "divisions": 40}],
    ),
    (
        [{"type": "fund_expeditions", "count": 2}],
        [{"type": "recruit", "territory": "france", "divisions": 150}],
    ),
]


@pytest.mark.parametrize(("one", "other"), QUIET)
def test_resolution_hides_what_changed_for_one_seat_alone(one: list[Doc], other: list[Doc]) -> None:
    """EGC-6.2, EGC-6.7: every seat has one pack of it, whatever was in the sheets."""
    twins = [position(4, armies=FORCES) for _ in range(2)]
    since = len(twins[0].match.records)
    for game, moves in zip(twins, (one, other), strict=True):
        game.resolve({FRANCE: moves})
    assert_differ(twins, FRANCE)
    assert_alike(twins, others(), since)


# --- what a seat keeps to itself -----------------------------------------------------------------------------------

OWN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "treasury": ({"treasury": {FRANCE: 7}}, {"treasury": {FRANCE: 812_345}}),
    "diplomacy points": ({"diplomacy": {FRANCE: 0}}, {"diplomacy": {FRANCE: 777}}),
    "strength": (
        {"armies": {**FORCES, FRANCE: {"france-1": ("france", 3, 1, 1)}}},
        {"armies": {**FORCES, FRANCE: {"france-1": ("france", 250, 9, 9), "france-2": ("france", 9, 9, 9)}}},
    ),
    "infrastructure": ({"levels": {"france": {"farm": 3}}}, {"levels": {"france": {"fortification": 2}}}),
    "links": ({"empires": {FRANCE: {"links": ["france_greece"]}}}, {"empires": {FRANCE: {"links": ["spain_poland"]}}}),
    "research under way": (
        {"empires": {FRANCE: {"investments": [{"technology": "naval", "points": 9_000, "due": 9}]}}},
        {"empires": {FRANCE: {"investments": []}}},
    ),
    "investment points": (
        {"empires": {FRANCE: {"points": dict.fromkeys(TECHNOLOGIES, 7_000)}}},
        {"empires": {FRANCE: {"points": dict.fromkeys(TECHNOLOGIES, 7_900)}}},
    ),
}


@pytest.mark.parametrize("what", list(OWN))
def test_what_a_seat_keeps_to_itself(what: str) -> None:
    """EGC-6.3, EGC-6.4: while sheets are open and over a resolution; refusals and offers of others do not tell it."""
    twins = [position(5, **{"armies": FORCES, **more}) for more in OWN[what]]
    since = len(twins[0].match.records)
    assert_differ(twins, FRANCE)
    assert_alike(twins, others(), since)
    for game in twins:
        game.resolve({SPAIN: [order("spain-1", "rest")]})
    assert_alike(twins, others(), since)


# --- what nobody knows ---------------------------------------------------------------------------------------------

NOBODYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "count turns": ({"count_turns": [8, 15, 22, 29]}, {"count_turns": [14, 21, 28, 35]}),
    "tie order": ({"tie_order": list(SEATS)}, {"tie_order": list(reversed(SEATS))}),
    "neutral armies": ({"garrisons": {"italy": (150, 2, 1)}}, {"garrisons": {"italy": (150, 8, 7)}}),
    "neutral ranks": (
        {"neutral_ranks": {"italy": {"naval": 4, "siege": None}}},
        {"neutral_ranks": {"italy": {"naval": 10, "siege": 4}}},
    ),
    "neutral infrastructure": ({"levels": {"italy": {"fortification": 3}}}, {"levels": {"italy": {"factory": 1}}}),
}


@pytest.mark.parametrize("what", list(NOBODYS))
def test_what_nobody_knows_shows_to_nobody(what: str) -> None:
    """EGC-3.1, EGC-6.5: to no seat and not to the public, over two turns without a count."""
    twins: list[Board] = [position(5, **{"armies": FORCES, **more}) for more in NOBODYS[what]]
    since = len(twins[0].match.records)
    assert_alike(twins, others(None), since)
    for game in twins:
        game.resolve()
        game.resolve({FRANCE: [order("france-1", "rest")]})
    assert_alike(twins, others(None), since)


def test_a_count_is_known_when_it_comes_and_the_others_are_not() -> None:
    """EGC-6.5, EGC-15.1: after the first count nothing tells when the next will be."""
    twins = [position(8, count_turns=list(turns)) for turns in ((8, 15, 22, 29), (8, 21, 28, 35))]
    since = len(twins[0].match.records)
    for game in twins:
        game.resolve()
        assert [c["turn"] for c in game.sight(PUBLIC)["counts"]] == [8]
    assert_alike(twins, others(None), since)


# --- refusals, deadlines, leaving ----------------------------------------------------------------------------------

ASKED: list[Doc] = [
    {"type": "spy_empire", "empire": "france"},
    {"type": "give_money", "to": "france", "amount": 180_000},
    act("france", "declare_war_cb"),
    act("france", "propose"),
    order("france-1", "rest"),
    order("france-9", "rest"),
    {"type": "merge_armies", "armies": ["spain-1", "france-1"]},
    move("spain-1", "spain", "france"),
    move("spain-1", "spain", "western_mediterranean", "algeria"),
    order("spain-1", "support", territory="france"),
    {"type": "answer_proposal", "proposal": "4:3:9", "accept": True},
    {"type": "cancel_order", "order": 1},
]


def test_a_refusal_does_not_depend_on_anothers_secret() -> None:
    """EGC-6.6, EGC-7.0.9: Spain asks the same of games in which all that France hides is different."""
    bare = position(5, armies={SPAIN: FORCES[SPAIN], FRANCE: {"france-9": ("france", 1, 1, 1)}}, treasury={FRANCE: 0})
    proposals = {"4:3:9": {"sender": 3, "target": 9, "action": "propose"}}
    rich = position(5, armies=FORCES, diplomacy={FRANCE: 900}, levels={"france": {"farm": 2}}, proposals=proposals)
    rich.file(FRANCE, {"type": "build", "territory": "france", "infrastructure": "railway"}, act("spain", "degrade"))
    answers = [[refusal(RULESET, game.state, SPAIN, asked) for asked in ASKED] for game in (bare, rich)]
    assert answers[0] == answers[1]
    assert {a[0] for a in answers[0] if a} >= {"not_your_army", "not_at_war", "no_casus_belli", "unknown_proposal"}


ALLOCATIONS: tuple[Mapping[str, Json], ...] = ({"naval": 18_000}, {"research": 9_000, "diplomacy": 9_000})


def lapse(match: InMemoryGame[Egc]) -> None:
    """The deadline passes."""
    match.lapse()


def leave(match: InMemoryGame[Egc]) -> None:
    """France's player leaves."""
    match.leave(FRANCE)


def resign(match: InMemoryGame[Egc]) -> None:
    """France resigns."""
    match.play(FRANCE, {"type": "resign"})


@pytest.mark.parametrize("ending", [lapse, leave, resign])
@pytest.mark.parametrize("filed", [(FRANCE, JAPAN), (FRANCE, FRANCE)])
def test_turn_zero_shows_neither_who_has_filed_nor_what(
    filed: tuple[Seat, Seat], ending: Callable[[InMemoryGame[Egc]], None]
) -> None:
    """EGC-4.3, EGC-6.3: the record of the filing and what comes then; ranks follow from it after the deadline."""
    matches = [InMemoryGame(RULESET, len(SEATS), SEED, options={"turn_zero_timeout": True}) for _ in filed]
    since = len(matches[0].records)
    for match, seat, points in zip(matches, filed, ALLOCATIONS, strict=True):
        match.play(seat, {"type": "allocate_turn_zero", "points": points})
        ending(match)
    viewers = [PUBLIC] if ending is lapse else [v for v in others() if v != JAPAN]
    read = [[open_part(r, v) for r in match.records[since:] for v in viewers] for match in matches]
    assert read[0] == read[1]
    assert RULESET.player_view(matches[0].state, PUBLIC) == RULESET.player_view(matches[1].state, PUBLIC)


def test_a_deadline_does_not_show_whose_sheet_is_empty() -> None:
    """EGC-4.2, EGC-4.5: the record of the deadline is the same, whoever has filed something."""
    twins = [position(5, armies=FORCES) for _ in range(2)]
    since = len(twins[0].match.records)
    for game, seat in zip(twins, (FRANCE, SPAIN), strict=True):
        game.file(seat, {"type": "set_ports", "target": "zulu", "open": True})
        game.deadline()
    assert_alike(twins, [v for v in others() if v != SPAIN], since)
