"""Who sees what."""

from __future__ import annotations

from typing import Any

from domain.kernel.game.game import private_view
from domain.kernel.records.audience import TABLE_KEY
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.declarations import doc
from domain.types import DIRECTOR, PUBLIC
from tests.games.egc.board import Board, move, of, order, position
from tests.games.egc.registered import RULESET

WAR = {(3, 8): "total_war"}


def battle() -> Board:
    """France attacks Spain; Portugal, its ally, supports."""
    return position(
        armies={
            3: {"france-1": ("france", 300, 7, 6)},
            6: {"portugal-1": ("portugal", 50, 7, 6)},
            8: {"spain-1": ("spain", 100, 5, 5)},
        },
        relations={**WAR, (3, 6): "alliance", (6, 8): "total_war"},
        owners={"morocco": 8},
    )


ATTACK = {3: [move("france-1", "france", "spain")], 6: [order("portugal-1", "support", territory="spain")]}


def test_the_common_board() -> None:
    """EGC-6.1."""
    game = position(
        armies={3: {"france-1": ("france", 77, 7, 6)}},
        lands={
            "italy": {"protectorate": {"seat": 3, "since": 0}},
            "serbia": {"protections": {"0": 0}},
            "egypt": {"port": True},
        },
        closed={"bosphorus:3": 5},
        open_ports={"1:2": True},
    )
    board = game.sight(PUBLIC)
    assert board["turn"] == 1
    assert board["phase"] == "orders"
    assert board["lands"]["italy"] == {"protectorate": {"seat": 3, "since": 0}}
    assert board["lands"]["serbia"] == {"protections": {"0": 0}}
    assert board["lands"]["egypt"] == {"port": True}
    assert (board["armies"]["france"], board["armies"]["serbia"]) == ("france", "neutral")
    assert (board["closed"], board["open_ports"]) == ({"bosphorus:3": 5}, ["1:2"])
    assert b"77" not in canonical(board)
    assert {e["status"] for e in board["empires"]} == {"active"}


def test_the_public_report_of_a_turn() -> None:
    """EGC-6.2: conquests, battles and who holds the place, relations; nothing of strengths."""
    game = battle()
    game.resolve(ATTACK)
    public = game.facts(PUBLIC)
    (fought,) = of(public, "battle_fought")
    assert (fought["territory"], fought["empires"], fought["held_by"]) == ("spain", ["france", "spain"], "france")
    assert of(public, "territory_conquered")[0]["loser"] == 8
    assert not {"combat_fought", "finance_settled", "armies_marched"} & {f["t"] for f in public}


def test_what_is_a_seats_own() -> None:
    """EGC-6.3: with the sheet applied."""
    game = position(owners={"morocco": 3})
    game.file(3, {"type": "build", "territory": "morocco", "infrastructure": "port"})
    own = game.sight(3)
    assert "east_atlantic" in own["projection"]["accessible"]
    assert "east_atlantic" in own["projection"]["controlled"]
    assert own["projection"]["treasury"] == 250_000
    assert own["levels"]["france"] == {"fortification": 1, "recruitment_centre": 1}
    assert [o["type"] for o in own["sheet"]["orders"]] == ["build"]
    game.file(3, {"type": "cancel_order", "order": 1})
    assert "east_atlantic" not in game.sight(3)["projection"]["controlled"]


def test_a_report_of_the_turn() -> None:
    """EGC-6.3: own battles and losses, income line by line, diplomacy, spies."""
    game = battle()
    game.file(3, {"type": "spy_empire", "empire": "japan"})
    game.resolve(ATTACK)
    report = game.sight(3)["report"]
    assert report["combat_fought"][0]["territory"] == "spain"
    assert {"national", "colonial", "usury", "upkeep", "plunder"} <= set(report["finance_settled"][0])
    assert {"income", "upkeep", "taken"} <= set(report["diplomacy_settled"][0])
    assert report["sheet_carried_out"][0]["spies"] == 20_000
    assert "japan" in game.sight(3)["spied"]["empires"]


def test_spying_shows_the_start_of_the_turn() -> None:
    """EGC-6.4: and others stay hidden without it."""
    game = position(armies={8: {"spain-1": ("spain", 123, 5, 5)}})
    assert b"123" not in canonical([game.sight(PUBLIC), game.sight(3)])
    game.file(8, {"type": "disband", "army": "spain-1", "divisions": 100})
    game.file(3, {"type": "spy_territory", "territory": "spain"})
    assert game.sight(3)["spied"]["territories"]["spain"]["armies"] == [["spain-1", 123, 5, 5]]


def test_what_nobody_knows() -> None:
    """EGC-6.5: until the game is finished, when treasuries and lot are shown."""
    game = position(35)
    hidden = {"garrisons", "neutral_ranks", "levels", "count_turns", "tie_order"}
    secret = hidden - {"levels"}  # a seat knows those of its own
    assert not secret & (set(game.sight(PUBLIC)) | set(game.sight(3)))
    assert set(game.sight(DIRECTOR)) == {"seats", "hidden"}
    assert set(game.sight(DIRECTOR)["hidden"]) == hidden
    assert game.sight(DIRECTOR)["seats"]["3"] == game.sight(3)
    game.resolve()
    assert game.state.over
    assert game.sight(PUBLIC)["final"]["tie_order"] == list(range(10))
    closed = game.match
    closed.close()
    assert doc(private_view(RULESET, closed.game, PUBLIC))["hidden"]["count_turns"] == [14, 21, 28, 35]


def test_a_refused_order_leaves_nothing() -> None:
    """EGC-6.6: and an accepted one shows neither seat nor type."""
    game = position()
    records = len(game.match.records)
    game.refused(3, {"type": "set_research", "technology": "naval", "amount": 10**9}, "insufficient_funds")
    assert len(game.match.records) == records
    game.file(3, {"type": "set_research", "technology": "naval", "amount": 1})
    public = game.record().public
    assert not {"seat", "acts", "facts", "draws"} & set(public)


def test_facts_are_for_those_whom_they_concern() -> None:
    """EGC-6.7: a battle report for attacker, defender and supporter; each has one pack, whatever it holds."""
    game = battle()
    game.resolve(ATTACK)
    readers = [v for v in range(10) if of(game.facts(v), "combat_fought")]
    assert readers == [3, 6, 8]
    assert all(not of(game.facts(v), "finance_settled", 8) for v in range(10) if v != 8)
    assert set(game.record().packs) == {*map(str, range(10)), TABLE_KEY}


def test_board_shows_start_of_the_turn_while_sheets_are_open() -> None:
    """EGC-6.8."""
    game = position(owners={"morocco": 3}, armies={3: {"france-1": ("france", 100, 7, 6)}})
    before: Any = canonical(game.sight(PUBLIC))
    game.file(3, {"type": "build", "territory": "morocco", "infrastructure": "port"})
    game.file(3, {"type": "disband", "army": "france-1", "divisions": 100})
    assert canonical(game.sight(PUBLIC)) == before
    game.resolve()
    assert game.sight(PUBLIC)["lands"]["morocco"]["port"]
    assert "france" not in game.sight(PUBLIC)["armies"]


def test_the_seas_that_a_seat_controls_are_found_anew_each_turn() -> None:
    """EGC-6.3, EGC-8.2: a war that begins takes Spain the Bay of Biscay, where France has the better rank."""
    game = position(relations={(3, 8): "imminent_war"})
    assert "bay_of_biscay" in game.sight(8)["projection"]["controlled"]
    game.resolve()
    assert "bay_of_biscay" not in game.sight(8)["projection"]["controlled"]
    assert "east_atlantic" in game.sight(8)["projection"]["controlled"]


def test_who_holds_the_place_of_a_battle() -> None:
    """EGC-6.2: the neutral army, an empire, or nobody when both are gone."""
    for strength, garrison, held in ((20, (140, 5, 4), "neutral"), (200, (20, 5, 4), "france"), (1, (1, 9, 9), None)):
        game = position(armies={3: {"france-1": ("france", strength, 7, 6)}}, garrisons={"holland": garrison})
        game.resolve({3: [move("france-1", "france", "holland")]})
        (fought,) = of(game.facts(PUBLIC), "battle_fought")
        assert (fought["empires"], fought["held_by"]) == (["neutral", "france"], held)
