"""Three whole games, replayed move by move, with figures worked out by hand from the rules at ten versions each.

The files hold the seats, the seed, the options and all moves; `null` as a seat is a missed deadline, `leave` a player
who leaves. A version is a record: 1 opens the game, then one for each player, then the set-up.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from domain.games.imperunde import RULESET
from domain.games.imperunde.state import ImpeRunde
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.proof.verify import verify
from domain.kernel.records.export import dump, parse
from domain.types import DIRECTOR
from tests.games.imperunde.board import named

GOLDEN = Path(__file__).parent / "golden"


def replay(name: str) -> InMemoryGame[ImpeRunde]:
    doc = json.loads((GOLDEN / f"{name}.json").read_text())
    match = InMemoryGame(RULESET, doc["seats"], bytes.fromhex(doc["seed"]), options=doc["options"])
    for seat, move in doc["moves"]:
        if move == "leave":
            match.leave(seat)
        elif seat is None:
            match.lapse()
        else:
            match.play(seat, move)
    assert match.state.over
    return match


@functools.cache
def replayed(name: str) -> InMemoryGame[ImpeRunde]:
    return replay(name)


def state(name: str, version: int) -> ImpeRunde:
    return replayed(name).game_at(version).state


def facts(name: str, version: int, kind: str) -> list[Any]:
    return named(replayed(name).records[version - 1].public.get("facts", ()), kind)


def ledger(name: str, version: int, seat: int) -> list[int]:
    """The six lines of IMP-6.3.2."""
    lines = ("surplus", "home_tax", "peace_dividend", "colonial_tax", "maritime_tax", "interest")
    found = state(name, version).nations[seat].ledger
    return [found[line] for line in lines]


def money(name: str, version: int) -> list[tuple[int, int, int]]:
    """Debt, available funds and surplus of every seat."""
    return [(n.debt, n.available, n.surplus) for n in state(name, version).nations]


def test_first_to_fourteen() -> None:
    """IMP-5.1, IMP-5.4, IMP-6.3.2, IMP-8.2.4, IMP-8.3.1, IMP-12.1: three heuristic players, a goal of 14."""
    game = "first_to_fourteen"

    # 5: dice 5, 6, 4: seat 1 is Great Britain. Clockwise, seat 2 rolls 3 (Japan), seat 0 rolls 1, 1, 1, 6 (Brazil).
    assert state(game, 5).homes() == {"great_britain": 1, "japan": 2, "brazil": 0}
    assert list(state(game, 5).order) == [1, 2, 0]

    # 14: seat 1 has USA (3) and Sahara (1), so only a country of value 1 fits. La Plata and Venezuela border Brazil,
    # Benin is owned; Kamchatka it is, with 1 post, 1 fort and 1 infantry.
    kamchatka = state(game, 14).country("kamchatka")
    assert (kamchatka.owner, kamchatka.posts, kamchatka.forts, kamchatka.units[0].count) == (1, 1, 1, 1)

    # 24: the window closes and incomes are computed: home 5, two friends 4, five posts 5; seat 1 controls the North
    # Atlantic (3), seat 2 the China Sea (3), seat 0 the Central Atlantic (2), each next to the home; no debt yet.
    assert ledger(game, 24, 1) == [0, 5, 4, 5, 3, 0]
    assert ledger(game, 24, 2) == [0, 5, 4, 5, 3, 0]
    assert ledger(game, 24, 0) == [0, 5, 4, 5, 2, 0]

    # 27: all three borrow 5: 16 + 5 = 21, 17 + 5 = 22, 17 + 5 = 22.
    assert money(game, 27) == [(5, 21, 0), (5, 22, 0), (5, 22, 0)]

    # 42: seat 0 has bought three artillery (9) and a card (5): 21 - 14 = 7 are left over. Posts settle, phase 5 begins
    # and, with nobody asked but seat 1, its window waits.
    assert money(game, 42)[0] == (5, 0, 7)

    # 45: artillery 3, cavalry 2, infantry 1 against 5 and 4: the artillery and the cavalry lose, the infantry has no
    # partner and stays; both natives stand. Reinforcements from the Sahara are possible.
    assert [x.unit for x in state(game, 45).fight.units] == ["infantry"]
    assert (state(game, 45).fight.horde, state(game, 45).top.kind) == (2, "reinforce")

    # 46: one more infantry comes: 4 and 1 against 6 and 4. Both are lost (4 < 6, 1 < 4), and the Sahara can send no
    # more: Algeria stays free, seat 1 has nobody left in the Sahara but its fort and post.
    assert state(game, 46).country("algeria").owner is None
    sahara = state(game, 46).country("sahara")
    assert (sahara.units, sahara.forts, sahara.posts) == ((), 1, 1)

    # 48: cavalry 6 against a native's 6: the defender wins a tie on land.
    assert facts(game, 48, "combat_ended")[0]["outcome"] == "held"

    # 54: `coup_de_main` makes 7 of the cavalry's 6: sorted 8, 7, 5 against 6, 5, 2, three wins, China is taken without
    # a post. Two artillery have 0 moves left, the cavalry from Annam 1.
    assert facts(game, 54, "round_fought")[0]["attacker"] == [["artillery", 8], ["cavalry", 7], ["artillery", 5]]
    china = state(game, 54).country("china")
    assert (china.owner, china.posts) == (2, 0)
    assert {(x.unit, x.count, x.moves_left) for x in china.units} == {("artillery", 2, 0), ("cavalry", 1, 1)}

    # 208: seat 1 is at war with seat 2. Seat 2 has 5 + 2 + 15 posts + 3 - 2 interest = 23, repays 10 of 10: 13 are
    # left, the debt is 0 and 15 posts are more than 14: it wins before the other budgets are applied.
    assert ledger(game, 208, 2) == [0, 5, 2, 15, 3, -2]
    assert money(game, 208)[2] == (0, 13, 0)
    assert (state(game, 208).winner, state(game, 208).posts(2), money(game, 208)[0][0]) == (2, 15, 10)


def test_four_turns_of_cards() -> None:
    """IMP-6.2.1, IMP-9.4.9, IMP-9.4.16, IMP-11.4, IMP-8.6.3: one heuristic and three random players, four turns."""
    game = "four_turns_of_cards"

    # 6: dice 1, 1, 2, 1: seat 2 is alone highest. Seat 3 rolls 2 (South Africa), seat 0 rolls 5 (USA), seat 1 rolls 3.
    assert state(game, 6).homes() == {"great_britain": 2, "south_africa": 3, "usa": 0, "japan": 1}

    # 68: nobody counters the declaration of war: the pair is at war by a card, its base stays peace.
    pair = state(game, 68).pair(0, 3)
    assert (pair.base, pair.override and pair.override.relation, state(game, 68).at_war(0, 3)) == ("peace", "war", True)

    # 69: three cards at 5 have left seat 0 with 2, which become its surplus.
    assert money(game, 69)[0][1:] == (0, 2)

    # 79: forged orders move both ships of seat 3 from the Gulf of Guinea, without moves, into the Indian Ocean.
    ships = {(x.unit, x.count, x.moves_left) for x in state(game, 79).lots_in(3, "indian_ocean")}
    assert ships == {("ship_of_the_line", 1, 0), ("frigate", 1, 0)}
    assert state(game, 79).lots_in(3, "gulf_of_guinea") == ()

    # 102: one counter on the pirates, and everybody passes then: an odd number, the pirates do not come.
    assert state(game, 102).discard[-2:] == ("pirates", "counter_espionage")
    assert facts(game, 102, "card_countered")
    assert "northwest_passage" not in state(game, 102).zones

    # 151: the spy leaves the choice to chance; the only card of the hand is an ambush. It goes into the pile: 36 + 1.
    assert (state(game, 150).pile, state(game, 151).pile) == (36, 37)
    assert (state(game, 151).nations[2].cards, "ambush" in state(game, 151).deck) == (0, True)

    # 173: five insurgents against one fort. 6 ties with 6 and loses; 4 loses to 9; 3 loses to 4; then 6 beats 4: after
    # three losses two are left, the fort falls, the post is removed and West Siberia is free.
    assert [f.get("horde") for f in facts(game, 173, "round_fought")] == [4, 3, 2, 2]
    assert state(game, 173).country("west_siberia").owner is None

    # 182: a frigate passes the Java Sea: it controls it for a moment, which sinks an enemy's transport there, and is
    # back in the China Sea without moves.
    assert facts(game, 182, "transports_sunk")[0]["region"] == "java_sea"
    assert [x.moves_left for x in state(game, 182).lots_in(0, "china_sea")] == [0]

    # 374: in turn order 1, 0, 3, 2: 24 + 5 + 2 + 7 + 2 - 1 = 39, less 5 repaid; 38 + 5 + 0 + 3 + 7 - 1 = 52;
    # 47 + 5 + 2 + 4 + 3 = 61; 0 + 5 + 4 + 23 + 3 = 35.
    assert money(game, 374) == [(5, 52, 0), (0, 34, 0), (0, 35, 0), (0, 61, 0)]

    # 390: two posts for Siam lift seat 2 to the goal, without debt: it wins in its investments.
    s = state(game, 390)
    assert (s.winner, s.posts(2) >= s.goal, money(game, 390)[2]) == (2, True, (0, 23, 0))


def test_five_seats_and_one_leaves() -> None:
    """IMP-9.4.4, IMP-10.4, IMP-10.5, IMP-11.9, IMP-11.10, IMP-12.1: five players, one leaves in turn 2."""
    game = "five_seats_and_one_leaves"

    # 7: dice 3, 4, 4, 3, 1; seats 1 and 2 roll again, 2 and 5: seat 2. Then 4, 5, 3, and 3 (taken), 6.
    homes = {"great_britain": 2, "victoria": 3, "usa": 4, "japan": 0, "brazil": 1}
    assert state(game, 7).homes() == homes
    assert list(state(game, 7).order) == [2, 3, 4, 0, 1]

    # 47: two black frigates roll 2 and 4 against the ship of the line's 7: the 4 is sunk, the 2 has no partner; then 6
    # loses to 7. Turn order is 3, 4, 0, 1, 2: incomes with four friends (8) and five posts.
    assert [f["units"] for f in facts(game, 47, "pirates_lost")] == [{"frigate": 1}, {"frigate": 1}]
    assert state(game, 47).zone("norwegian_sea").pirates == {}
    assert [ledger(game, 47, seat) for seat in (3, 4)] == [[0, 5, 8, 5, 2, 0]] * 2

    # Seat 2 controls the North Sea (3), the Norwegian Sea (1) and, next to one of its colonies, zones worth 5 more.
    assert ledger(game, 47, 2)[4] == 9

    # 158: the ambush is countered once and stays without effect; 160: so the fort's 8 counts 8 against the 5.
    assert facts(game, 158, "card_countered")
    assert not facts(game, 158, "bonus_won")
    assert facts(game, 160, "round_fought")[0]["defender"] == [["fort", 8]]

    # Later in 160 and after it a storm breaks out in the Gulf of Mexico: who rolls odd is lost.
    stormy = [v for v in range(160, 166) if facts(game, v, "weather_marked")]
    assert stormy
    assert "gulf_of_mexico" in [f["zone"] for v in stormy for f in facts(game, v, "weather_marked")]

    # 201: seat 2 leaves while seat 3 invests; 202: seat 3 ends, seat 2 comes next and is answered with the default, so
    # its 27 + 24 + 5 borrowed = 56 become its surplus, and seat 1 is asked.
    assert state(game, 201).vacant == (2,)
    assert money(game, 202)[2] == (5, 0, 56)
    assert list(state(game, 202).top.owing) == [1]

    # 206: Chile 4, La Plata 4, one post 2, an artillery 3: 33 - 13 = 20.
    assert money(game, 206)[1] == (10, 20, 0)

    # 243: four rounds of insurgents in Angola: 5 loses to 6 while 5 beats 2; 3 loses to 5; 4 ties with 4 and loses; 6
    # beats 2. Of five two are left, both defenders are dead, the colony is free.
    assert [f["horde"] for f in facts(game, 243, "round_fought")] == [4, 3, 2, 2]
    assert state(game, 243).country("angola").owner is None

    # 270: the deadline passes: a draw among one card. The victim's hand is empty.
    assert replayed(game).records[269].kind == "lapsed"
    assert state(game, 270).nations[3].cards == 0

    # 353: two posts for Egypt make 13, the goal, without debt.
    s = state(game, 353)
    assert (s.winner, s.posts(3), s.nations[3].debt) == (3, 13, 0)


@pytest.mark.parametrize("name", ["first_to_fourteen", "four_turns_of_cards", "five_seats_and_one_leaves"])
def test_a_closed_game_proves_itself(name: str) -> None:
    """IMP-0.4: every draw and shuffle is recomputed, every record decided again comes out the same."""
    match = replay(name)
    match.close()
    report = verify(RULESET, parse(dump(match.records, DIRECTOR)), match.game.hash)
    assert report.records == len(match.records)
