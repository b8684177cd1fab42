"""Chance: seeded, labelled, one ordinal per audience, and fakes for tests."""

from __future__ import annotations

import hmac
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import NeedsChance, ScenarioError
from domain.kernel.records.audience import ALL, TABLE, key_of, may_read, seats_of
from domain.kernel.rules.draws import Draws, Extreme, NoChance, Scripted, Seeded, draw_key, matches_source

KEY = draw_key(b"seed", {})
SOURCE = Seeded(KEY, "game-1")


class TestTheFunction:
    def test_it_is_the_documented_hmac(self) -> None:
        """Anyone can recompute a die with HMAC-SHA256 and eight bytes."""
        text = b"game-1|0|all|0|battle|0"
        value = int.from_bytes(hmac.digest(KEY, text, "sha256")[:8], "big")
        assert value < (1 << 64) // 6 * 6
        assert Draws(SOURCE).roll("battle", 1, 6) == 1 + value % 6

    def test_the_key_joins_seed_and_nonces(self) -> None:
        """HMAC of the seed over the canonical list of seats and shown nonces."""
        assert draw_key(b"seed", {}) == hmac.digest(b"seed", b"[]", "sha256")
        assert draw_key(b"seed", {2: "ff", 0: "aa"}) == hmac.digest(b"seed", b'[[0,"aa"],[2,"ff"]]', "sha256")

    @pytest.mark.parametrize("other", [Seeded(KEY, "game-2"), Seeded(KEY, "game-1", 1), Seeded(b"k", "game-1")])
    def test_game_epoch_and_key_change_the_dice(self, other: Seeded) -> None:
        """No two games share their dice."""
        rolls = [[Draws(s).roll(f"l{i}", 1, 1000) for i in range(9)] for s in (SOURCE, other)]
        assert rolls[0] != rolls[1]

    def test_dice_are_even(self) -> None:
        """Each face of 6,000 dice between 900 and 1,100."""
        draws = Draws(SOURCE)
        faces = Counter(draws.roll("die", 1, 6) for _ in range(6000))
        assert sorted(faces) == [1, 2, 3, 4, 5, 6]
        assert all(900 < n < 1100 for n in faces.values())

    def test_shuffles_are_even(self) -> None:
        """Each of the six orders of three cards between 900 and 1,100 of 6,000 times."""
        draws = Draws(SOURCE)
        orders = Counter(tuple(draws.shuffle("deck", "abc")) for _ in range(6000))
        assert len(orders) == 6
        assert all(900 < n < 1100 for n in orders.values())


class TestOrdinals:
    def test_hidden_draws_leave_no_gap_in_what_others_count(self) -> None:
        """Each audience has its own ordinals."""
        draws = Draws(SOURCE)
        draws.roll("a", 1, 6)
        draws.roll("secret", 1, 6, (2,))
        draws.shuffle("deck", [1, 2, 3])
        draws.roll("b", 1, 6)
        assert [(key, d[0], d[1]) for key, d in draws.taken] == [
            ("all", 0, "a"),
            ("2", 0, "secret"),
            ("table", 0, "deck"),
            ("all", 1, "b"),
        ]
        assert draws.counts == {"all": 2, "2": 1, "table": 1}

    def test_no_draw_is_made_where_there_is_no_choice(self) -> None:
        """Unless the rules draw always."""
        draws = Draws(SOURCE)
        assert (draws.roll("x", 3, 3), draws.pick("y", ["a"]), draws.shuffle("z", ["b"])) == (3, "a", ["b"])
        assert draws.taken == []
        assert draws.pick("marker", ["a"], always=True) == "a"
        assert draws.taken == [("all", [0, "marker", 1, "a", 0])]

    def test_a_dry_run_draws_nothing(self) -> None:
        """It stops, and nothing is counted."""
        draws = Draws(NoChance())
        with pytest.raises(NeedsChance):
            draws.roll("x", 1, 6)
        with pytest.raises(NeedsChance):
            draws.pick("x", [1, 2])
        with pytest.raises(NeedsChance):
            draws.shuffle("x", [1, 2])
        assert (draws.taken, draws.counts) == ([], {})


@given(st.integers(0, 99), st.lists(st.integers(0, 50), min_size=2, max_size=30), st.text(max_size=5))
def test_every_stored_draw_can_be_recomputed(start: int, items: list[int], label: str) -> None:
    """And no other value passes for it."""
    draws = Draws(SOURCE, {"all": start, "table": start})
    draws.roll(label, -3, 40)
    draws.pick(label, items)
    draws.shuffle(label, items)
    for channel, draw in draws.taken:
        assert matches_source(SOURCE, channel, draw)
    roll = draws.taken[0][1]
    assert not matches_source(SOURCE, "all", [*roll[:3], roll[3] + 1])


class TestFakes:
    def test_all_minimum_and_all_maximum(self) -> None:
        """For worst cases."""
        for last, values in ((False, (1, "a", ["a", "b"])), (True, (6, "b", ["b", "a"]))):
            draws = Draws(Extreme(last))
            assert (draws.roll("x", 1, 6), draws.pick("y", ["a", "b"]), draws.shuffle("z", ["a", "b"])) == values

    def test_scripted_values_are_in_the_terms_of_the_rules(self) -> None:
        """A die's face, an id, a list for a shuffle, with or without a label."""
        script = Scripted([5, {"label": "y", "value": "b"}, ["b", "a", "b"]])
        draws = Draws(script)
        assert draws.roll("x", 1, 6) == 5
        assert draws.pick("y", ["a", "b"]) == "b"
        assert draws.shuffle("z", ["a", "b", "b"]) == ["b", "a", "b"]
        assert script.remaining == []

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ([], "no value"),
            ([7], "impossible"),
            ([True], "impossible"),
            (["5"], "impossible"),
            ([{"label": "y", "value": 5}], "the value given is for 'y'"),
        ],
    )
    def test_a_wrong_script_is_an_error(self, values: list[object], message: str) -> None:
        """Missing, impossible, or of another label."""
        with pytest.raises(ScenarioError, match=message):
            Draws(Scripted(values)).roll("x", 1, 6)

    @pytest.mark.parametrize("value", [["a"], ["a", "a"], ["a", "c"], "ab", ["a", "b", "b"], 3])
    def test_an_impossible_shuffle_is_an_error(self, value: object) -> None:
        """Not the same items."""
        with pytest.raises(ScenarioError, match="impossible"):
            Draws(Scripted([value])).shuffle("z", ["a", "b"])


class TestAudiences:
    def test_keys(self) -> None:
        """Seats ascending, nobody is the table, a seal names a pack."""
        assert [key_of(ALL), key_of(TABLE), key_of((3, 0)), key_of((0,), "card")] == ["all", "table", "0,3", "0:card"]
        assert [seats_of(k) for k in ("all", "table", "0,13", "0:card")] == [(), (), (0, 13), (0,)]

    def test_who_may_read(self) -> None:
        """The director all, a seat its own, everybody what is for all."""
        readers = {k: [v for v in ("public", 0, 1, "director") if may_read(k, v)] for k in ("all", "table", "1:card")}
        assert readers == {"all": ["public", 0, 1, "director"], "table": ["director"], "1:card": [1, "director"]}
