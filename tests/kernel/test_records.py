"""Records: what stands in the public part, in packs, and what a reader cannot tell."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import RuleError
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.record_builder import CommandContext
from domain.kernel.records.audience import TABLE_KEY
from domain.kernel.records.record import PAD, Record, facts_for
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.draws import Scripted
from domain.kernel.schema.canonical_json import canonical, digest
from domain.types import PUBLIC, Viewer
from tests.kernel.flows import orders, sealed, skirmish, windows


def ordering() -> InMemoryGame[orders.Orders]:
    return InMemoryGame(orders.RULESET, 3, bytes(32))


def told(record: Record) -> dict[str, Any]:
    """The public part without what every record has."""
    return {k: v for k, v in record.public.items() if k not in ("v", "at", "prev", "board", "seals")}


class TestAnonymousMoves:
    def test_the_public_part_names_neither_seat_nor_type(self) -> None:
        """That something was filed, and when, is public; who and what is not."""
        match = ordering()
        record = match.play(2, {"type": "order", "to": "t01", "units": 1})
        assert told(record) == {"kind": "moved", "by": "seat", "barrier": True}
        assert record.moves() == [(2, {"type": "order", "to": "t01", "units": 1})]

    def test_all_of_them_look_alike(self) -> None:
        """An order and a spy, of any seat: the same members, the same number of seals, the same board."""
        match = ordering()
        head = match.game
        moves: list[tuple[int, dict[str, Any]]] = [
            (0, {"type": "order", "to": "t01", "units": 1}),
            (1, {"type": "order", "to": "t11", "units": 5}),
            (2, {"type": "spy", "to": "t07"}),
        ]
        seen = set()
        for seat, move in moves:
            record = match.play(seat, move)
            seen.add((canonical(told(record)), len(record.public["seals"]), record.public["board"]))
        assert len(seen) == 1
        assert match.game.reversible.board == head.reversible.board

    def test_packs_are_padded(self) -> None:
        """Their size does not tell what they hold."""
        match = ordering()
        sizes = set()
        for to in ("t01", "t11"):
            record = match.play(0, {"type": "order", "to": to, "units": 1})
            sizes |= {len(canonical(p)) for p in record.packs.values()}
        assert {size % PAD for size in sizes} <= {0}

    def test_equal_secrets_have_different_seals(self) -> None:
        """Also after a rewind: the salt depends on the version."""
        match = ordering()
        order = {"type": "order", "to": "t01", "units": 1}
        first = match.play(0, order)
        match.rewind(first.version - 1)
        second = match.play(0, order)
        assert first.packs["0"]["acts"] == second.packs["0"]["acts"]
        assert not set(first.public["seals"]) & set(second.public["seals"])


class TestWindows:
    def test_who_has_passed_is_not_shown_until_the_window_closes(self) -> None:
        """All who were asked stand in `must` for everybody else; a seat knows its own answer."""
        match = InMemoryGame(windows.RULESET, 3, bytes(32))
        match.play(0, {"type": "attack", "target": 1})
        record = match.play(2, {"type": "pass"})
        assert told(record) == {"kind": "moved", "by": "seat", "barrier": True}
        for viewer, must in ((PUBLIC, (0, 1, 2)), (0, (0, 1, 2)), (2, (0, 1))):
            viewers: Viewer = viewer
            seen = state_known_to(match.rules, match.records, viewers)
            assert decisions(match.rules, seen, 0, viewers)[0].must == must
            assert decisions(match.rules, match.state, 0, viewers)[0].must == must
        with pytest.raises(RuleError, match="already_answered"):
            match.play(2, {"type": "pass"})

    def test_auto_pass_cannot_be_told_from_a_hesitation(self) -> None:
        """The record that opens a window has a pack for every seat that was asked."""
        shapes = []
        for auto in (False, True):
            match = InMemoryGame(windows.RULESET, 3, bytes(32))
            match.play(2, {"type": "set_auto", "on": auto})
            record = match.play(0, {"type": "attack", "target": 1})
            shapes.append((canonical(told(record)), len(record.public["seals"]), sorted(record.packs)))
        assert shapes[0] == shapes[1]
        assert shapes[0][2] == ["0", "1", "2", TABLE_KEY]

    def test_a_lapsed_window_does_not_tell_who_had_passed(self) -> None:
        """Defaults are in packs, and every asked seat has one."""
        counts = []
        for passed in ((), (1,), (1, 2)):
            match = InMemoryGame(windows.RULESET, 3, bytes(32))
            match.play(0, {"type": "attack", "target": 1})
            for seat in passed:
                match.play(seat, {"type": "pass"})
            record = match.lapse()
            counts.append(len(record.public["seals"]))
            assert "acts" not in record.public
        assert len(set(counts)) == 1


class TestSealedAnswers:
    def attack(self) -> tuple[InMemoryGame[sealed.Sealed], Record]:
        match = InMemoryGame(sealed.RULESET, 3, bytes(32), source=Scripted(["alliance"] * 3))
        return match, match.play(0, {"type": "attack", "target": 1, "card": "f3"})

    def test_who_answered_is_public_what_is_not(self) -> None:
        """The hidden field is absent, not masked."""
        _, record = self.attack()
        assert record.public["acts"] == [[0, {"type": "attack", "target": 1}]]
        assert record.public["seat"] == 0
        assert facts_for(record, 1) == record.public["facts"]
        assert facts_for(record, 0)[0] == {"t": "card_sealed", "seat": 0, "card": "f3"}

    def test_a_named_pack_is_published_alone_and_fits_its_seal(self) -> None:
        """It holds the one fact, and the salt that its seal needs."""
        match, record = self.attack()
        match.play(1, {"type": "commit", "card": "f2"})
        match.play(2, {"type": "commit", "card": "bluff"})
        match.play(0, {"type": "hire", "powers": ["spain"]})
        match.source = Scripted([1, 6])
        shown = match.play(1, {"type": "hire", "powers": []}).public["openings"]
        assert [o["key"] for o in shown] == ["0:card", "1:card", "2:card", "0:powers", "1:powers"]
        assert shown[0]["v"] == record.version
        assert digest(shown[0]["pack"]) in record.public["seals"]
        assert [f for _, f in shown[0]["pack"]["facts"]] == [{"t": "card_sealed", "seat": 0, "card": "f3"}]
        assert match.game.reversible.sealed == {}

    def test_the_last_sealed_answer_counts(self) -> None:
        """A card that was taken back is not the one that is shown."""
        match, _ = self.attack()
        match.play(1, {"type": "commit", "card": "f2"})
        match.play(1, {"type": "take_back"})
        again = match.play(1, {"type": "commit", "card": "f3"})
        match.play(2, {"type": "commit", "card": None})
        match.source = Scripted([1, 1])
        match.play(0, {"type": "hire", "powers": []})
        shown = match.play(1, {"type": "hire", "powers": []}).public["openings"]
        assert next(o["v"] for o in shown if o["key"] == "1:card") == again.version

    def test_an_opening_is_a_barrier(self) -> None:
        """As is every draw."""
        match, record = self.attack()
        assert record.public["barrier"] is True
        assert "barrier" not in match.play(1, {"type": "commit", "card": "f2"}).public


class TestTheRecord:
    def test_empty_members_are_left_out(self) -> None:
        """A record is what happened, no form to be filled in."""
        match = InMemoryGame(skirmish.RULESET, 3, bytes(32))
        record = match.play(0, {"type": "pass"})
        assert sorted(record.public) == [
            "acts",
            "at",
            "board",
            "by",
            "facts",
            "kind",
            "prev",
            "seals",
            "seat",
            "v",
        ]

    def test_time_never_goes_back(self) -> None:
        """A clock that was set back does not reorder the log."""
        match = InMemoryGame(skirmish.RULESET, 3, bytes(32))
        before = match.game.time
        match.now = 0
        assert match.play(0, {"type": "pass"}).public["at"] == before

    def test_no_secret_is_in_what_is_printed(self) -> None:
        """Salts come from the seed, but the seed itself is in no record before the end."""
        match = InMemoryGame(orders.RULESET, 3, bytes(range(32)))
        match.play(0, {"type": "spy", "to": "t01"})
        stored = b"".join(canonical([r.public, r.packs]) for r in match.records)
        assert bytes(range(32)).hex().encode() not in stored
        assert (
            repr(CommandContext(b"a seed"))
            == "CommandContext(now=0, command_id='', source=None, agreement=None, officer=None, replaying=False)"
        )

    def test_the_director_reads_all_facts_in_their_order(self) -> None:
        """Others read their own between the public ones."""
        match = ordering()
        for seat in range(3):
            match.play(seat, {"type": "order", "to": "t01", "units": seat + 1}, {"type": "submit"})
        record = match.resolve()
        every = facts_for(record, "director")
        assert [f["t"] for f in every if f["t"] == "sheet_done"] == ["sheet_done"] * 3
        assert facts_for(record, 1) == [f for f in every if f in record.public["facts"] or f.get("seat") == 1]
        assert (record.public.get("seat"), record.public["by"]) == (None, "engine")
