"""Sections 7 and 9 and reading 8 of section 15: tie-breaks, explanations and rulings."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import TournamentError
from domain.kernel.text.message_catalog import LANGUAGES, PLACE, load_texts
from domain.tournaments import result_rulings
from domain.tournaments.draw import draw_order
from domain.tournaments.explain import explain, explanation_sentences, explanation_to_json
from domain.tournaments.results import Stage, TableResult
from domain.tournaments.scoring import POINT
from domain.tournaments.ties import FEWER_FIRST, RULES, TieBreaks, check_ties
from tests.tournaments.events import stages, worked_event

EVERYBODY = tuple(range(9))


def values(ties: TieBreaks, rule: str) -> list[float]:
    step = ties.apply(rule, EVERYBODY)
    return [float(ties.express(rule, value)) for value in step.values.values() if isinstance(value, int)]


def order(stage: Stage) -> list[int]:
    return [entrant for group in TieBreaks(stage).ranking for entrant in group]


def sentences(stage: Stage, one: int, other: int, lang: str = "en", names: tuple[str, ...] = ()) -> str:
    ties = TieBreaks(stage)
    return " ".join(explanation_sentences(ties, explain(ties, one, other), lang, names))


class TestWorkedEvent:
    def test_7_values(self) -> None:
        ties = TieBreaks(worked_event())
        assert values(ties, "points") == [2, 2, 3, 1.5, 2, 2, 0, 2.5, 3]
        assert values(ties, "wins") == [2, 1, 3, 0, 1, 1, 0, 2, 2]
        assert values(ties, "beaten") == [1.625, 1.875, 2.75, 1, 1.625, 1.375, 0, 2.125, 2.375]

    def test_7_order(self) -> None:
        assert TieBreaks(worked_event()).ranking == [(entrant,) for entrant in (2, 8, 7, 5, 4, 0, 1, 3, 6)]

    def test_7_sentence_of_a_pair(self) -> None:
        assert sentences(worked_event(), 8, 2) == (
            "Entrant 2 is before entrant 8: both have 3.000 points; they met once (table 1.3), "
            "2 was first and 8 second."
        )

    def test_7_sentences_of_a_group(self) -> None:
        assert sentences(worked_event(), 4, 5) == (
            "5, 4, 0 and 1 have 2.000 points and have all met: among them 5 and 4 are +1, 0 and 1 are -1. "
            "5 is before 4: first and third at table 4.2."
        )

    def test_7_sentences_in_french(self) -> None:
        assert sentences(worked_event(), 8, 2, "fr") == (
            "Le participant 2 est devant le participant 8\u00a0: ils ont chacun 3,000 points\u202f; "
            "ils se sont rencontrés une fois (table 1.3), 2 à la première place et 8 à la deuxième place."
        )

    def test_names_stand_as_they_are_given(self) -> None:
        names = ("al-x", "day", "bo", "C", "D", "E", "F", "G", "seat")
        assert sentences(worked_event(), 2, 8, names=names).startswith("bo is before seat: both have 3.000 points;")

    def test_7_data(self) -> None:
        ties = TieBreaks(worked_event())
        assert explanation_to_json(ties, explain(ties, 4, 5)) == {
            "first": 5,
            "second": 4,
            "verdict": "before",
            "rule": "direct",
            "steps": [
                {"rule": "points", "group": [*EVERYBODY], "skipped": "", "values": ["2", "2"], "tables": []},
                {
                    "rule": "direct",
                    "group": [0, 1, 4, 5],
                    "skipped": "",
                    "values": ["1", "1"],
                    "tables": ["1.2", "2.1", "2.2", "3.1", "4.1", "4.2"],
                },
                {"rule": "direct", "group": [4, 5], "skipped": "", "values": ["1", "-1"], "tables": ["4.2"]},
            ],
            "running": [],
        }


class TestRulings:
    def test_9_annulled_with_an_average(self) -> None:
        stage = result_rulings.annul(worked_event(), "1.3", "average")
        totals = TieBreaks(stage).tally.totals
        assert order(stage) == [8, 2, 5, 7, 4, 0, 1, 3, 6]
        assert [totals[entrant] for entrant in (8, 2, 5, 7)] == [16800, 13440, 13440, 12600]
        assert sentences(stage, 2, 5) == (
            "Entrant 2 is before entrant 5: both have 2.667 points; they have not met at a table that counts; "
            "2 has 2 wins, 5 has 1."
        )

    def test_9_annulled_as_void(self) -> None:
        assert order(result_rulings.annul(worked_event(), "1.3", "void")) == [7, 8, 0, 2, 1, 4, 5, 3, 6]

    def test_9_an_average_without_another_table_is_half_a_point(self) -> None:
        stage = Stage(2, (TableResult(1, 1, (0, 1), (1, 2), annulled="average"),), 1)
        assert TieBreaks(stage).tally.totals == [2520, 2520]

    def test_9_restored_gives_the_first_standings(self) -> None:
        stage = worked_event()
        assert result_rulings.restore(result_rulings.annul(stage, "1.3", "void"), "1.3") == stage

    def test_9_excluded(self) -> None:
        """`void` leaves the tables out, `last` places the entrant last and the others up."""
        stage = worked_event()
        assert result_rulings.exclude(stage, 2, "keep") == stage
        assert TieBreaks(result_rulings.exclude(stage, 2, "void")).tally.totals[2] == 0
        last = TieBreaks(result_rulings.exclude(stage, 2, "last"))
        assert last.tally.totals[2] == 0
        assert last.tally.totals[8] == 3.5 * POINT
        assert result_rulings.place_last((1, 1, 3, 4), 0) == (4, 1, 2, 3)

    def test_9_penalties_come_last_and_may_go_below_zero(self) -> None:
        stage = replace(worked_event(), penalties={6: 100, 2: 5040}, total="mean")
        totals = TieBreaks(stage).tally.totals
        assert (totals[6], totals[2]) == (-100, 15120 // 4 - 5040)

    def test_an_unknown_table_or_way_is_refused(self) -> None:
        with pytest.raises(TournamentError, match="unknown_table"):
            result_rulings.annul(worked_event(), "9.9", "void")
        with pytest.raises(TournamentError, match="annul_invalid"):
            result_rulings.annul(worked_event(), "1.1", "away")


class TestReadings:
    def test_15_8_a_zero_for_absence_keeps_its_place(self) -> None:
        """The first of 1.1 gets 0, but keeps the win; its mean falls by 1/4, also for 8, first where 0 was third."""
        stage = worked_event()
        absent = replace(stage.tables[0], absent=frozenset({0}))
        before, after = TieBreaks(stage), TieBreaks(replace(stage, tables=(absent, *stage.tables[1:])))
        assert after.tally.totals[0] == before.tally.totals[0] - POINT
        assert after.wins == before.wins
        assert values(after, "beaten")[8] == values(before, "beaten")[8] - 0.25
        assert values(after, "beaten")[1] == values(before, "beaten")[1]

    def test_15_8_penalties_byes_and_averages_are_not_in_the_means(self) -> None:
        stage = worked_event()
        changed = replace(stage, byes=frozenset({(5, 2)}), penalties={2: 5040}, rounds=5)
        assert values(TieBreaks(changed), "beaten") == values(TieBreaks(stage), "beaten")
        assert values(TieBreaks(changed), "opponents") == values(TieBreaks(stage), "opponents")

    def test_7_a_shared_first_place_counts_a_part(self) -> None:
        stage = Stage(3, (TableResult(1, 1, (0, 1, 2), (1, 1, 1)),), 1)
        ties = TieBreaks(stage)
        step = ties.apply("wins", (0, 1, 2))
        assert [ties.express("wins", v) for v in step.values.values() if isinstance(v, int)] == [Fraction(1, 3)] * 3

    def test_15_1_the_rule_draw_is_the_order_of_the_key(self) -> None:
        key = b"k" * 32
        stage = Stage(8, ties=("points", "draw"), key=key)
        assert order(stage) == draw_order(key, range(8))
        assert "the draw, which is chance, has" in sentences(stage, 0, 1)

    def test_without_a_last_rule_equal_entrants_share_a_place(self) -> None:
        stage = Stage(4, ties=("points", "shared"))
        assert TieBreaks(stage).places == [1, 1, 1, 1]
        assert sentences(stage, 0, 1) == (
            "Entrant 0 and entrant 1 share a place: both have 0.000 points; the list of ties ends there."
        )

    def test_7_a_running_table_makes_it_provisional(self) -> None:
        stage = worked_event()
        tables = (*stage.tables[:7], replace(stage.tables[7], places=()), *stage.tables[8:])
        assert sentences(replace(stage, tables=tables), 2, 6).endswith("Still provisional: table 3.2 is running.")

    @pytest.mark.parametrize("ties", [("points", "sonneborn"), ("wins", "wins"), ("shared", "draw")])
    def test_a_list_of_ties_that_says_nothing_is_refused(self, ties: tuple[str, ...]) -> None:
        with pytest.raises(TournamentError, match="tie_"):
            check_ties(ties)

    def test_two_other_entrants_are_expected(self) -> None:
        for pair in ((0, 0), (0, 9), (-1, 2)):
            with pytest.raises(TournamentError, match="entrant"):
                explain(TieBreaks(worked_event()), *pair)


def slow_values(stage: Stage, rule: str) -> list[Fraction]:
    """Values of a rule by the words of section 7, in fractions of ticks."""
    tally = TieBreaks(stage).tally
    means = [Fraction(sum(own), len(own)) if own else Fraction(0) for own in tally.values]
    found = []
    for me in range(stage.entrants):
        value, tables = Fraction(0), 0
        for table, _ in tally.tables:
            if me not in table.entrants:
                continue
            tables += 1
            own, n = table.places[table.entrants.index(me)], len(table.places)
            others = [(e, p) for e, p in zip(table.entrants, table.places, strict=True) if e not in (me, None)]
            if rule == "beaten":
                value += sum((means[e or 0] * (1 + (p > own) - (p < own)) / (n - 1) for e, p in others), Fraction(0))
            else:
                value += sum((means[e or 0] for e, _ in others), Fraction(0)) / len(others)
        found.append(value / tables if rule == "opponents" and tables else value)
    return found


def test_both_languages_have_the_same_texts() -> None:
    """Each with the same members."""
    english, french = (load_texts("domain.tournaments", lang).own for lang in LANGUAGES)
    assert english.keys() == french.keys()
    for key, text in english.items():
        assert {m["member"] for m in PLACE.finditer(text)} == {m["member"] for m in PLACE.finditer(french[key])}, key


class TestProperties:
    @given(stages(), st.sampled_from(["beaten", "opponents"]))
    def test_scaled_values_are_the_exact_fractions(self, stage: Stage, rule: str) -> None:
        ties = TieBreaks(stage)
        step = ties.apply(rule, tuple(range(stage.entrants)))
        exact = [ties.express(rule, v) * POINT for v in step.values.values() if isinstance(v, int)]
        assert exact == slow_values(stage, rule)
        assert [ties.write(rule, v) for v in step.values.values() if isinstance(v, int)] == [
            str(value / POINT) for value in exact
        ]

    @given(stages(), st.data())
    def test_14_explanation_agrees_with_order_and_is_antisymmetric(self, stage: Stage, data: st.DataObject) -> None:
        ties = TieBreaks(stage)
        one, other = data.draw(st.permutations(range(stage.entrants)))[:2]
        found = explain(ties, one, other)
        assert found == explain(ties, other, one)
        assert found.is_shared == (ties.places[one] == ties.places[other])
        assert ties.places[found.first] <= ties.places[found.second]
        last = found.steps[-1]
        if not found.is_shared:
            first, second = last.values[found.first], last.values[found.second]
            assert (first < second) == (last.rule in ("lapses", "draw"))  # type: ignore[operator]
            assert first != second
        for step in found.steps[:-1]:
            assert step.skipped or step.values[one] == step.values[other]
        for lang in LANGUAGES:
            told = explanation_sentences(ties, found, lang)
            assert all(line.endswith(".") and "{" not in line for line in told)

    @given(stages(), st.data())
    def test_14_permuting_entrants_permutes_the_places(self, stage: Stage, data: st.DataObject) -> None:
        """But for the draw, whose order is one of numbers."""
        stage = replace(stage, key=b"")
        names = data.draw(st.permutations(range(stage.entrants)))
        tables = tuple(
            replace(table, entrants=tuple(None if e is None else names[e] for e in table.entrants))
            for table in data.draw(st.permutations(stage.tables))
        )
        renamed = replace(stage, tables=tables, byes=frozenset((r, names[e]) for r, e in stage.byes))
        places = TieBreaks(renamed).places
        assert [places[names[e]] for e in range(stage.entrants)] == TieBreaks(stage).places

    @given(stages())
    def test_14_a_key_makes_the_order_total(self, stage: Stage) -> None:
        assert sorted(TieBreaks(replace(stage, key=b"k" * 32)).places) == list(range(1, stage.entrants + 1))

    @given(stages())
    def test_7_an_order_is_the_one_of_every_rule_in_turn(self, stage: Stage) -> None:
        """A list of one rule orders by its values."""
        for rule in RULES[2:]:
            ties = TieBreaks(replace(stage, ties=(rule,), key=b"k" * 32))
            step = ties.apply(rule, tuple(range(stage.entrants)))
            ranked = [step.values[e] for group in ties.ranking for e in group] if not step.skipped else []
            assert ranked == sorted(ranked, reverse=rule not in FEWER_FIRST)
