"""EGC-6.2, EGC-6.3: what a seat is told of a turn, as data in its sight and as sentences in its timeline."""

from __future__ import annotations

import re
from typing import Any

import pytest

from domain.games.egc import RULESET
from domain.games.egc.data import SEATS
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.narration.sentences import SeatNames, record_sentences
from domain.kernel.narration.template_context import template_context, with_context
from domain.kernel.records.record import facts_for
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.types import PUBLIC, Doc, Seat
from projections.documents import build_entries
from projections.loaded_game import LoadedGame
from tests.games.egc.board import AUSTRIA, BRITAIN, FRANCE, OTTOMAN, SPAIN, Board, act, move, order, position
from tests.games.egc.rare import late

DASH = "\N{EN DASH}"


def own(game: Board, seat: Seat) -> dict[str, Any]:
    """The seat's part of the sight."""
    doc: dict[str, Any] = RULESET.player_view(game.state, seat)
    return doc


def news(game: Board) -> list[dict[str, Any]]:
    """What all are told."""
    told: list[dict[str, Any]] = RULESET.player_view(game.state, PUBLIC)["news"]
    return told


def landing() -> Board:
    """France takes Holland, whose neutral army is weak, with a supporter; Austria-Hungary looks on."""
    return position(
        armies={
            FRANCE: {"france-1": ("france", 200, 7, 6), "france-2": ("france", 40, 7, 6)},
            AUSTRIA: {"austria_hungary-1": ("austria_hungary", 100, 7, 6)},
        },
        garrisons={"holland": (20, 2, 1)},
        owners={},
    )


ATTACK = [move("france-1", "france", "holland"), order("france-2", "support", territory="holland")]


class TestBattles:
    def test_who_fought_has_the_combat_round_by_round(self) -> None:
        """EGC-9.12: 20 divisions of morale 2 break when more than 4 are lost; Holland's defence is in `rounds`."""
        game = landing()
        game.resolve({FRANCE: ATTACK})
        (combat,) = own(game, FRANCE)["report"]["combat_fought"]
        assert (combat["attacker"], combat["defender"], combat["winner"]) == ("france-1", "N-holland", "france-1")
        assert combat["before"] == [200, 20]
        assert combat["losses"][0] == sum(r[4] for r in combat["rounds"])
        assert [helper[0] for helper in combat["supporters"]] == ["france-2"]

    def test_own_armies_are_reported_as_they_are_afterwards(self) -> None:
        game = landing()
        game.resolve({FRANCE: ATTACK})
        (marched,) = own(game, FRANCE)["report"]["armies_marched"]
        place, divisions, morale, training = marched["armies"]["france-1"]
        assert game.army("france-1") == (place, divisions, morale, training)
        assert place == "holland"

    def test_others_learn_the_place_the_empires_and_who_holds_it(self) -> None:
        """EGC-6.2: and nothing of the strengths."""
        game = landing()
        game.resolve({FRANCE: ATTACK})
        assert "combat_fought" not in own(game, AUSTRIA)["report"]
        told = {f["t"]: f for f in news(game)}
        assert told["battle_fought"] == {
            "t": "battle_fought",
            "step": "P4",
            "territory": "holland",
            "empires": ["neutral", "france"],
            "held_by": "france",
        }
        assert told["territory_conquered"]["seat"] == FRANCE

    def test_hunger_is_reported_with_the_capacity(self) -> None:
        """EGC-11.4: 700 divisions where 300 are fed: 400 too many, 133 % over, 10 + 66 %: 304 die."""
        game = position(armies={FRANCE: {"france-1": ("france", 700, 7, 6)}})
        game.resolve()
        (hunger,) = own(game, FRANCE)["report"]["supply_lost"]
        assert (hunger["territory"], hunger["total"], hunger["capacity"], hunger["divisions"]) == (
            "france",
            700,
            300,
            304,
        )
        assert hunger["left"] == {"france-1": 396}


class TestIncome:
    def test_the_statement_is_there_line_by_line(self) -> None:
        """EGC-12: France with 500000, 100 divisions and its home in turn 5 (no bonus any more)."""
        game = position(5, armies={FRANCE: {"france-1": ("france", 100, 7, 6)}})
        game.resolve()
        (statement,) = own(game, FRANCE)["report"]["finance_settled"]
        assert {k: v for k, v in statement.items() if k != "step"} == {
            "kept": 500_000,
            "national": 300_000,
            "colonial": 0,
            "corruption": 0,
            "protectorates": 0,
            "revenue": 300_000,
            "usury": 100_000,
            "bonus": 0,
            "plunder": 0,
            "gifts": 0,
            "upkeep": 15_000,
            "deserted": 0,
            "treasury": 685_000,
        }
        assert own(game, FRANCE)["treasury"] == 685_000

    def test_nobody_else_has_it(self) -> None:
        game = position(5)
        facts = game.resolve()
        mine = [f for f in facts if f["t"] == "finance_settled" and f["seat"] == FRANCE]
        assert mine
        assert not any(f in facts_for(game.record(), viewer) for f in mine for viewer in (PUBLIC, AUSTRIA))


class TestDiplomacy:
    def test_points_are_accounted_for(self) -> None:
        """EGC-14.10: rank 4 in diplomacy; the sheet has paid 100 for a proposal."""
        game = position(5)
        income = own(game, FRANCE)["diplomacy"]
        game.resolve({FRANCE: [{"type": "relation_action", "target": "zulu", "action": "propose"}]})
        (line,) = own(game, FRANCE)["report"]["diplomacy_settled"]
        assert line["before"] == income - 100
        assert line["diplomacy"] == line["before"] + line["income"] == own(game, FRANCE)["diplomacy"]

    def test_a_proposal_is_told_to_the_two_and_its_answer_too(self) -> None:
        game = position(5)
        game.resolve({FRANCE: [{"type": "relation_action", "target": "spain", "action": "propose"}]})
        for seat in (FRANCE, SPAIN):
            (made,) = own(game, seat)["report"]["proposal_made"]
            assert (made["sender"], made["target"], made["action"]) == (FRANCE, SPAIN, "propose")
        assert "proposal_made" not in own(game, AUSTRIA)["report"]
        game.resolve({SPAIN: [{"type": "answer_proposal", "proposal": "5:3:8", "accept": True}]})
        (answer,) = own(game, FRANCE)["report"]["proposal_answered"]
        assert (answer["sender"], answer["target"], answer["accepted"]) == (FRANCE, SPAIN, True)
        assert [(f["level"], f["why"]) for f in news(game) if f["t"] == "relation_changed"] == [("nap", "improved")]

    def test_wars_are_news_for_all(self) -> None:
        game = position(5, relations={(BRITAIN, SPAIN): "rupture"})
        game.resolve({BRITAIN: [{"type": "relation_action", "target": "spain", "action": "degrade"}]})
        assert [f for f in news(game) if f["t"] == "war_declared"] == [
            {"t": "war_declared", "step": "P12", "seat": BRITAIN, "target": SPAIN}
        ]

    def test_the_news_are_those_of_the_last_turn_alone(self) -> None:
        game = position(5, relations={(BRITAIN, SPAIN): "rupture"})
        game.resolve({BRITAIN: [{"type": "relation_action", "target": "spain", "action": "degrade"}]})
        game.resolve()
        assert [f["t"] for f in news(game)] == ["relation_changed"]
        game.resolve()
        assert news(game) == []


class TestSpies:
    def test_report_stays_in_the_sight_and_its_price_in_the_report(self) -> None:
        """EGC-7.11: an agent of rank 4 in exploration in a territory: 2000 x rank."""
        game = position(5)
        game.file(FRANCE, {"type": "spy_territory", "territory": "holland"})
        found = own(game, FRANCE)["spied"]["territories"]["holland"]
        assert found["armies"][0][0] == "N-holland"
        assert (found["turn"], found["armies"][0][2:]) == (5, [5, 4])
        spent = own(game, FRANCE)["sheet"]["spent"]
        game.resolve()
        (carried,) = own(game, FRANCE)["report"]["sheet_carried_out"]
        assert carried["spies"] == spent > 0
        assert own(game, FRANCE)["spied"]["territories"]["holland"] == found
        assert own(game, AUSTRIA)["spied"] == {"territories": {}, "empires": {}}

    def test_what_they_found_is_told_in_words(self) -> None:
        game = position(5)
        game.file(FRANCE, {"type": "spy_territory", "territory": "holland"})
        part = build_entries(game.record(), None, LoadedGame(RULESET, game.match.game))[str(FRANCE)]
        lines = {lang: _told(lang, part) for lang in LANGUAGES}
        assert "report on Holland" in lines["en"][0]
        assert "neutral army of Holland" in lines["en"][0]
        assert "armée neutre de Hollande" in lines["fr"][0]


def _told(lang: str, part: Doc) -> list[str]:
    words = load_texts(RULESET.package, lang)
    return record_sentences(words, words.seat, "", moves=part["acts"], facts=part["facts"])


def _read(game: Board, sheets: Any, seat: Seat, kind: str) -> dict[str, str]:
    """The sentence of a kind of fact of the resolution of these sheets, as the seat reads it."""
    before = game.state
    game.resolve(sheets)
    resolved = game.record()
    facts = facts_for(resolved, seat)
    told = with_context(RULESET, facts, template_context(RULESET, before, facts))
    (fact,) = (fact for fact in told if fact["t"] == kind and fact.get("seat", seat) == seat)
    found = {}
    for lang in LANGUAGES:
        words = load_texts(RULESET.package, lang)
        found[lang] = words.sentence(fact, SeatNames(words, RULESET.powers(game.state), {})) or ""
    return found


class TestSentences:
    @pytest.mark.parametrize("lang", LANGUAGES)
    def test_every_fact_of_a_quarrelsome_turn_reads(self, lang: str) -> None:
        """No id, list or object shows through, in no sentence of the timeline."""
        match: InMemoryGame[Any] = InMemoryGame(RULESET, len(SEATS), bytes(32), patch=late())
        sheets: dict[Seat, list[Doc]] = {
            AUSTRIA: [
                move("austria_hungary-1", "austria_hungary", "switzerland"),
                {"type": "spy_empire", "empire": "ottoman"},
            ],
            FRANCE: [
                move("france-1", "france", "switzerland"),
                {"type": "set_research", "technology": "naval", "amount": 9000},
            ],
            OTTOMAN: [move("ottoman-1", "anatolia", "caucasus"), order("ottoman-2", "rest")],
            SPAIN: [{"type": "build", "territory": "spain", "infrastructure": "farm"}],
        }
        for seat, moves in sheets.items():
            for one in moves:
                match.play(seat, one)
        for seat in list(match.state.top.owing):
            match.play(seat, {"type": "submit_orders"})
        match.resolve()
        known = LoadedGame(RULESET, match.game)
        parts = [part for r in match.records[11:] for part in build_entries(r, None, known).values()]
        said = [line for part in parts for line in _told(lang, part)]
        kinds = {f["t"] for r in match.records[11:] for f in facts_for(r, "director")}
        assert {"combat_fought", "army_turned_back", "technology_settled", "empire_spied", "order_filed"} <= kinds
        for line in said:
            assert not re.search(r"[a-z]_[a-z]|[{}\[\]]|': |None|, [,.]", line), line

    def test_a_combat_is_told_with_the_causes_of_its_losses(self) -> None:
        """EGC-9.3 to EGC-9.5: quality, protection, and the morale by which the loser breaks."""
        game = position(
            armies={FRANCE: {"france-1": ("france", 200, 7, 6)}}, garrisons={"holland": (120, 3, 2)}, owners={}
        )
        lines = _read(game, {FRANCE: ATTACK[:1]}, FRANCE, "combat_fought")
        assert "The losses exceed the morale of the neutral army of Holland. France 1 wins." in lines["en"]
        assert re.search(r"a quality \(training\) of \d+ against \d+ and a protection of \d+%", lines["en"])
        assert "Les pertes dépassent le moral de l'armée neutre de Hollande." in lines["fr"]
        assert "manche par manche" in lines["fr"]

    def test_a_raised_army_is_told_as_new(self) -> None:
        """EGC-7.4: and a changed one as being where it is."""
        armies = {FRANCE: {"france-1": ("france", 100, 7, 6)}}
        game = position(5, armies=armies, levels={"france": {"recruitment_centre": 1}})
        recruit = {"type": "recruit", "territory": "france", "divisions": 50}
        said = _read(game, {FRANCE: [recruit]}, FRANCE, "sheet_carried_out")
        assert re.search(r"^France \d+ \(50 divisions\) is raised in France\.$", said["en"], re.MULTILINE)
        assert re.search(r"^France \d+ \(50 divisions\) est recrutée en France\.$", said["fr"], re.MULTILINE)

    def test_an_order_without_effect_is_told_with_the_reason(self) -> None:
        """EGC-14.9: until now its price was lost without a word."""
        game = position(
            armies={FRANCE: {"france-1": ("france", 200, 7, 6)}},
            garrisons={"holland": (20, 2, 1)},
            lands={"serbia": {"protections": {str(AUSTRIA): 0}}},
        )
        protect = [{"type": "protect", "territory": land} for land in ("holland", "serbia", "italy")]
        install = {"type": "install_protectorate", "territory": "serbia"}
        for seat, orders in {FRANCE: ATTACK[:1], SPAIN: protect, AUSTRIA: [install]}.items():
            game.file(seat, *orders)
        said = _read(game, {}, SPAIN, "diplomacy_settled")
        assert said["en"].splitlines()[1:] == [
            "Order 1 of Spain has no effect (protect Holland): France has conquered Holland this turn.",
            "Order 2 of Spain has no effect (protect Serbia): Serbia is a protectorate of Austria-Hungary.",
        ]
        assert "(protéger la Serbie)" in said["fr"]
        assert said["fr"].endswith("la Serbie est un protectorat de l'Autriche-Hongrie.")

    def test_an_action_on_a_relation_that_war_has_overtaken_is_told(self) -> None:
        """EGC-14.8: an improvement awaits no answer of an empire that has just been drawn into a war."""
        game = position(5, relations={(AUSTRIA, SPAIN): "rupture", (FRANCE, SPAIN): "alliance"})
        game.file(AUSTRIA, act("spain", "degrade"), act("france", "propose"))
        assert _read(game, {}, AUSTRIA, "diplomacy_settled")["en"].splitlines()[1:] == [
            (
                "Order 2 of Austria-Hungary has no effect (propose a better relation to France): "
                "war between the two has come first."
            )
        ]

    def test_the_count_tells_connections_completed_and_missed(self) -> None:
        """EGC-15.4."""
        line = {"seat": FRANCE, "vp": 28, "points": 6, "realised": ["portugal_italy"], "failed": ["spain_poland"]}
        line |= {"bonus": 20, "gains": True}
        fact = {"t": "victory_counted", "turn": 5, "table": [line]}
        assert (load_texts(RULESET.package, "en").sentence(fact) or "").splitlines()[1] == (
            f"Seat 4 gains 6 points from territories and 20 for the connection Portugal {DASH} Italy, and has "
            f"28 points in all; the connection Spain {DASH} Poland is not completed."
        )

    def test_equal_ranks_are_told_at_once(self) -> None:
        """EGC-13.1."""
        fact = {"t": "technology_settled", "seat": FRANCE, "gained": [{"rank": 8, "whole": True}], "lost": []}
        said = load_texts(RULESET.package, "en").sentence(fact)
        assert said == "Seat 4 moves up: rank 8 in every technology."

    def test_the_income_sheet_reads_line_by_line(self) -> None:
        game = position(5)
        game.resolve()
        fact = next(f for f in game.facts() if f["t"] == "finance_settled" and f["seat"] == FRANCE)
        words = load_texts(RULESET.package, "en")
        sentence = words.sentence(fact)
        assert sentence is not None
        for member in ("kept", "colonial", "corruption", "protectorates", "revenue", "usury", "upkeep"):
            assert not fact[member] or words.grammar.number(fact[member]) in sentence, member
        assert f"to {words.grammar.number(fact['treasury'])} Brz" in sentence
