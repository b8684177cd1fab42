"""Income, corruption, recovery, usury, upkeep, desertion."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.egc.rules.finance import corruption_rate, deserted, recovery
from tests.games.egc.board import of, position


def statement(turn: int = 10, **more: Any) -> dict[str, Any]:
    """France's finance statement of a turn."""
    facts = position(turn, **more).resolve()
    found: dict[str, Any] = of(facts, "finance_settled", 3)[0]
    return found


def test_a_statement_begins_with_what_was_kept() -> None:
    """EGC-12.1: after all spending of the turn; for every empire in play."""
    game = position()
    facts = game.resolve({3: [{"type": "set_research", "technology": "naval", "amount": 1000}]})
    assert of(facts, "finance_settled", 3)[0]["kept"] == 499_000
    assert len(of(facts, "finance_settled")) == 10


def test_revenue() -> None:
    """EGC-12.2: national threefold, colonies less corruption, protectorates whole."""
    lines = statement(
        owners={"holland": 3, "italy": 3, "germany": 3, "switzerland": 3},
        lands={"egypt": {"protectorate": {"seat": 3, "since": 2}}},
    )
    colonial = 80_000 + 80_000 + 90_000 + 70_000
    assert (lines["national"], lines["colonial"], lines["protectorates"]) == (300_000, colonial, 75_000)
    assert lines["corruption"] == colonial * (4 * (4 + 2) // 5) // 100
    assert lines["revenue"] == 300_000 + colonial - lines["corruption"] + 75_000
    assert [corruption_rate(n, 10) for n in (0, 1, 10, 25, 40)] == [0, 2, 24, 60, 60]


def test_no_national_income_without_the_home() -> None:
    """EGC-12.2."""
    lines = statement(owners={"france": 8, "holland": 3})
    assert (lines["national"], lines["colonial"]) == (0, 80_000)


def test_factories_work_at_the_rank_of_the_empire() -> None:
    """EGC-12.3: 16000 at rank 4; also in a protectorate."""
    lines = statement(
        levels={"france": {"factory": 2}, "egypt": {"factory": 1}},
        lands={"egypt": {"protectorate": {"seat": 3, "since": 2}}},
    )
    assert lines["national"] == 3 * (100_000 + 32_000)
    assert lines["protectorates"] == 75_000 + 16_000


@pytest.mark.parametrize(("taken", "percent"), [(10, 0), (9, 25), (8, 50), (7, 75), (6, 100), (1, 100), (None, 100)])
def test_recovery(taken: int | None, percent: int) -> None:
    """EGC-12.4: none in the turn of the conquest, then a quarter more each turn."""
    game = position(10, owners={"holland": 3}, lands={"holland": {"conquered_turn": taken} if taken else {}})
    assert recovery(game.state, "holland") == percent
    assert of(game.resolve(), "finance_settled", 3)[0]["colonial"] == 80_000 * percent // 100


def test_usury_upkeep_and_bonus() -> None:
    """EGC-12.5: half of what is kept above the revenue; 150 a division; a bonus in the first three turns."""
    lines = statement(treasury={3: 400_001}, armies={3: {"france-1": ("france", 200, 8, 9)}})
    assert (lines["usury"], lines["upkeep"], lines["bonus"]) == (50_000, 30_000, 0)
    assert [statement(turn)["bonus"] for turn in (1, 2, 3, 4)] == [150_000, 100_000, 50_000, 0]


def test_the_treasury_and_desertion() -> None:
    """EGC-12.6: who cannot pay loses a division for each 150 Brz missing, from the strongest army."""
    armies = {3: {"france-1": ("holland", 140, 8, 9), "france-2": ("switzerland", 80, 8, 9)}}
    game = position(
        10,
        armies=armies,
        lands={t: {"conquered_turn": 10} for t in ("holland", "switzerland")},
        owners={"france": 8, "holland": 3, "switzerland": 3},
        treasury={3: 0},
    )
    lines = of(game.resolve(), "finance_settled", 3)[0]
    assert (lines["treasury"], lines["deserted"]) == (0, 220)
    assert game.army("france-1") is None
    assert deserted({"france-2": 5, "france-10": 5}, 1) == {"france-10": 4}
    assert deserted({"france-2": 5, "france-10": 3}, 4) == {"france-2": 2, "france-10": 2}


def test_a_gift_of_money_swells_the_treasury_of_the_next_turn() -> None:
    """EGC-12.6, EGC-7.17: 500000 - 100000 usury + 300000 + 90000 and 10000; the givers have paid before."""
    gift = {"type": "give_money", "to": "spain", "amount": 90_000}
    game = position(10)
    facts = game.resolve({3: [gift], 0: [{**gift, "amount": 10_000}]})
    assert of(facts, "finance_settled", 8)[0]["gifts"] == 100_000
    assert game.state.empires[8].treasury == 800_000
    # France: 410000 - 55000 + 300000.
    assert game.state.empires[3].treasury == 655_000


def test_the_finance_step_pays_for_the_next_turn() -> None:
    """EGC-12.7, EGC-12.8: every term is listed, and the revenue is remembered."""
    game = position(10, treasury={3: 0})
    game.refused(3, {"type": "set_research", "technology": "naval", "amount": 1}, "insufficient_funds")
    lines = of(game.resolve(), "finance_settled", 3)[0]
    plus = ("kept", "revenue", "bonus", "plunder", "gifts")
    assert lines["treasury"] == sum(lines[k] for k in plus) - lines["usury"] - lines["upkeep"]
    assert game.state.empires[3].revenue == lines["revenue"]
    game.file(3, {"type": "set_research", "technology": "naval", "amount": 300_000})
