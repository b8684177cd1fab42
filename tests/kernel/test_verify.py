"""Offline proof: what holds is reported in numbers, any change is refused by name."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import RuleError, VerificationError
from domain.kernel.game.command import Command
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.play_commands import Lapse, Play
from domain.kernel.game.record_builder import CommandContext
from domain.kernel.game.table_commands import NONCE_WAIT_MS, Close, Join, Open, Reveal, Start, Vacate
from domain.kernel.proof.verify import VERIFICATION_CODES, verify
from domain.kernel.records.audience import TABLE_KEY
from domain.kernel.records.export import Export, dump, parse
from domain.kernel.records.record import Record
from domain.kernel.rules.draws import Extreme, commitment
from domain.kernel.schema.canonical_json import canonical, digest
from domain.types import DIRECTOR, PUBLIC, Json
from tests.kernel.flows import orders, sealed, skirmish, windows
from tests.kernel.machine import play_on
from tests.rulesets import FLOWS, Registered


def played(entry: Registered, seed: int = 1, *, close: bool = True, source: Any = None) -> InMemoryGame[Any]:
    """A whole game, with a rewind, fresh entropy and a missed deadline in it."""
    rng = random.Random(seed)
    match = InMemoryGame(entry.rules, entry.seats, rng.randbytes(32), options=entry.options, source=source)
    play_on(match, rng, 6)
    if not match.state.over:
        match.rewind(match.game.version - 2)
        play_on(match, rng, 3)
        match.rewind(match.game.version - 1, fresh=True)
        if not match.state.over and not match.state.top.engine:
            match.lapse()
    play_on(match, rng, 500)
    if close:
        match.close("finished" if match.state.over else "abandoned")
    return match


GAMES = {e.name: played(e) for e in FLOWS}


@pytest.mark.parametrize("entry", FLOWS, ids=lambda e: e.name)
class TestAWholeGame:
    def test_a_closed_game_is_proved_record_by_record(self, entry: Registered) -> None:
        """Every record is decided again and comes out the same, bit for bit."""
        match = GAMES[entry.name]
        report = verify(entry.rules, parse(dump(match.records)))
        assert (report.records, report.decided, report.closed) == (len(match.records), len(match.records), True)
        drawn = [d for r in match.records for p in (r.public, *r.packs.values()) for d in p.get("draws", ())]
        assert report.draws == len(drawn)
        assert report.head == match.game.hash

    def test_an_open_game_is_proved_as_far_as_its_public_part_goes(self, entry: Registered) -> None:
        """Chain and boards need no secret."""
        match = GAMES[entry.name]
        report = verify(entry.rules, parse(dump(match.records[:-1])))
        assert (report.packs, report.draws, report.decided, report.closed) == (0, 0, 0, False)
        assert report.boards > 3

    def test_an_open_export_holds_no_pack_and_no_seed(self, entry: Registered) -> None:
        """What a viewer may not read is not in the file."""
        match = GAMES[entry.name]
        text = dump(match.records[:-1]).decode()
        assert match.seed.hex() not in text
        assert all(p["salt"] not in text for r in match.records[:-1] for k, p in r.packs.items() if ":" not in k)

    def test_a_seat_checks_its_own_packs(self, entry: Registered) -> None:
        """The packs of one seat are in its export and fit their seals."""
        match = GAMES[entry.name]
        export = parse(dump(match.records[:-1], 1))
        assert all(TABLE_KEY not in r.packs for r in export.records)
        verify(entry.rules, export)

    @given(st.data())
    def test_any_changed_byte_is_refused_by_name(self, entry: Registered, data: Any) -> None:
        """A flipped bit anywhere in the file never passes."""
        file = dump(GAMES[entry.name].records)
        at = data.draw(st.integers(0, len(file) - 1))
        bit = 1 << data.draw(st.integers(0, 7))
        changed = file[:at] + bytes([file[at] ^ bit]) + file[at + 1 :]
        with pytest.raises(VerificationError) as caught:
            verify(entry.rules, parse(changed))
        assert caught.value.code in VERIFICATION_CODES

    @given(st.data())
    def test_a_file_cut_off_anywhere_is_refused(self, entry: Registered, data: Any) -> None:
        """Half a game is no game."""
        file = dump(GAMES[entry.name].records)
        with pytest.raises(VerificationError):
            parse(file[: data.draw(st.integers(0, len(file) - 1))])


def forged(match: InMemoryGame[Any], at: int, change: Callable[[dict[str, Json], dict[str, Json]], None]) -> Export:
    """A host's forgery: the record is changed, and every seal and hash after it is made to fit again."""
    docs = [json.loads(canonical([r.public, r.packs])) for r in match.records]
    change(*docs[at - 1])
    prev, out = "", []
    for public, packs in docs:
        public["prev"] = prev
        if packs:
            public["seals"] = sorted(digest(p) for p in packs.values())
        out.append(Record(public, packs))
        prev = out[-1].hash
    return parse(dump(out))


def refusal(entry: Registered, export: Export) -> str:
    with pytest.raises(VerificationError) as caught:
        verify(entry.rules, export)
    return caught.value.code


def first(match: InMemoryGame[Any], want: Callable[[Record], bool]) -> int:
    return next(r.version for r in match.records if want(r))


class TestAForgingHost:
    """Whoever can rewrite the whole log still cannot make it prove something else."""

    def test_a_changed_die(self) -> None:
        """A die that the seed does not give."""
        match = GAMES["skirmish@1"]
        at = first(match, lambda r: bool(r.public.get("draws")))

        def change(public: dict[str, Json], packs: Json) -> None:
            public["draws"][0][3] = public["draws"][0][3] % 6 + 1

        assert refusal(FLOWS[0], forged(match, at, change)) == "draw_mismatch"

    def test_a_changed_fact(self) -> None:
        """Gold that no rule gives, with a board to fit it, is not what the move leads to."""
        match = GAMES["skirmish@1"]
        at = first(match, lambda r: any(f["t"] == "gold_set" for f in r.public.get("facts", ())))

        def change(public: dict[str, Json], packs: Json) -> None:
            next(f for f in public["facts"] if f["t"] == "gold_set")["gold"] += 1

        assert refusal(FLOWS[0], forged(match, at, change)) == "board_mismatch"

    @pytest.mark.parametrize("change", [{"gold": "4"}, {"gold": None}, {"silver": 1}, {"t": "gold_st"}], ids=str)
    def test_a_fact_that_is_none(self, change: dict[str, Json]) -> None:
        """One whose members are other than declared, or of a kind that the game has not."""
        match = GAMES["skirmish@1"]
        at = first(match, lambda r: any(f["t"] == "gold_set" for f in r.public.get("facts", ())))

        def forge(public: dict[str, Json], packs: Json) -> None:
            next(f for f in public["facts"] if f["t"] == "gold_set").update(change)

        assert refusal(FLOWS[0], forged(match, at, forge)) == "unfoldable"

    def test_a_changed_secret(self) -> None:
        """An order changed late, in a pack that is sealed anew."""
        match = GAMES["orders@1"]
        at = first(match, lambda r: any(p.get("acts") for p in r.packs.values()))

        def change(public: dict[str, Json], packs: Json) -> None:
            pack = next(p for p in packs.values() if p.get("acts"))
            pack["acts"][0][2]["to"] = "t00" if pack["acts"][0][2]["to"] != "t00" else "t01"

        assert refusal(FLOWS[3], forged(match, at, change)) == "record_mismatch"

    def test_another_seed(self) -> None:
        """A seed that was not committed to."""
        match = GAMES["sealed@1"]

        def change(public: dict[str, Json], packs: Json) -> None:
            public["body"]["seed"] = bytes(32).hex()

        assert refusal(FLOWS[2], forged(match, len(match.records), change)) == "seed_mismatch"

    def test_a_false_opening(self) -> None:
        """A published pack must be the one that was sealed, also while the game is open."""
        match = GAMES["sealed@1"]
        at = first(match, lambda r: bool(r.public.get("openings")))

        def change(public: dict[str, Json], packs: Json) -> None:
            public["openings"][0]["pack"]["facts"][0][1]["card"] = "f3"
            public["openings"][0]["pack"]["salt"] = "0"

        docs = forged(match, at, change)
        assert refusal(FLOWS[2], docs) == "opening_false"

    def test_packs_of_others(self) -> None:
        """The seals of a record do not tell whose pack is whose: the rules do."""
        match = GAMES["orders@1"]
        at = first(match, lambda r: len({*r.packs} & {"0", "1", "2"}) > 1)

        def change(public: Json, packs: dict[str, Json]) -> None:
            one, other = sorted({*packs} & {"0", "1", "2"})[:2]
            packs[one], packs[other] = packs[other], packs[one]

        assert refusal(FLOWS[3], forged(match, at, change)) in ("record_mismatch", "unfoldable", "refused_again")

    @pytest.mark.parametrize(
        "change",
        [
            {"at": 1.5},
            {"at": True},
            {"at": -1},
            {"at": None},
            {"by": "director"},
            {"by": 7},
            {"seat": -1},
            {"acts": []},
            {"acts": [7]},
            {"draws": None},
            {"facts": {}},
            {"body": {"to": 1}},
            {"more": 1},
        ],
        ids=str,
    )
    def test_a_record_that_no_act_makes(self, change: dict[str, Json]) -> None:
        """Whatever stands in it, a refusal with a code."""
        match = GAMES["skirmish@1"]
        at = first(match, lambda r: r.kind == "moved" and "acts" in r.public)
        assert refusal(FLOWS[0], forged(match, at, lambda public, _: public.update(change))) == "malformed"

    @pytest.mark.parametrize("change", [{"ms": 0}, {"ms": -1}, {"ms": 2**63}, {"reason": "so"}, {"decision": "0-1"}])
    def test_time_that_was_set_otherwise_than_forward(self, change: dict[str, Json]) -> None:
        match = GAMES["skirmish@1"]
        at = first(match, lambda r: r.kind == "moved")
        body = {"act": "shift", "ms": 5, "reason": "clock_set_forward", **change}
        forge = forged(match, at, lambda public, _: public.update(kind="ruled", by="clock", body=body))
        assert refusal(FLOWS[0], forge) == "malformed"

    @pytest.mark.parametrize(
        "change", [{"seats": 10_000_000}, {"seats": 2**62}, {"options": {"no_such": 1}}, {"undo": "x"}, {"pace": 7}]
    )
    def test_a_table_that_cannot_be_opened(self, change: dict[str, Json]) -> None:
        match = GAMES["skirmish@1"]
        assert refusal(FLOWS[0], forged(match, 1, lambda public, _: public["body"].update(change))) == "malformed"

    def test_a_shuffle_of_more_than_there_is(self) -> None:
        """So many are not drawn to find out."""
        match = GAMES["windows@1"]
        at, key = next(
            (r.version, k)
            for r in match.records
            for k, p in r.packs.items()
            if any(isinstance(d[-1], list) for d in p.get("draws", ()))
        )

        def change(_: Json, packs: dict[str, Json]) -> None:
            next(d for d in packs[key]["draws"] if isinstance(d[-1], list))[2] = 10**12

        assert refusal(FLOWS[4], forged(match, at, change)) == "draw_mismatch"

    @pytest.mark.parametrize("change", [{"annals": True}, {"records": 2.0}, {"viewer": 1}])
    def test_a_header_that_only_looks_the_same(self, change: dict[str, Json]) -> None:
        head, *rest = dump(GAMES["skirmish@1"].records).split(b"\n")
        with pytest.raises(VerificationError):
            parse(b"\n".join([canonical({**json.loads(head), **change}), *rest]))

    def test_dice_from_another_source(self) -> None:
        """A log played with other dice than the seed's does not verify."""
        match = played(FLOWS[0], source=Extreme())
        assert refusal(FLOWS[0], parse(dump(match.records))) == "draw_mismatch"

    def test_a_move_that_the_rules_refuse(self) -> None:
        """A move out of turn stands in no log that verifies."""
        match = GAMES["skirmish@1"]
        at = first(match, lambda r: r.kind == "moved")

        def change(public: dict[str, Json], packs: Json) -> None:
            public["acts"][0][0] = public["seat"] = (public["seat"] + 1) % 4

        assert refusal(FLOWS[0], forged(match, at, change)) == "refused_again"


@pytest.mark.parametrize(("seat", "moves"), [(-1, [{"type": "pass"}]), (99, [{"type": "pass"}]), (0, [])])
def test_what_nobody_can_play_is_refused(seat: int, moves: list[Json]) -> None:
    match = InMemoryGame(skirmish.RULESET, 4, bytes(32))
    with pytest.raises(RuleError) as caught:
        match.execute(Play(seat, moves))
    assert caught.value.code == ("unknown_seat" if moves else "malformed_move")


def test_a_patched_game_is_proved_too() -> None:
    """The patch is a public fact: the log of a scenario replays like any other."""
    match = InMemoryGame(skirmish.RULESET, 3, bytes(32), patch={"gold": {"1": 3}})
    play_on(match, random.Random(1), 9)
    match.close("abandoned")
    assert verify(match.rules, parse(dump(match.records))).closed


def test_look_at_hidden_things_is_record_and_told_after_the_end() -> None:
    """That the director did something is public at once, what it was is in the pack of nobody."""
    match = InMemoryGame(sealed.RULESET, 3, bytes(32))
    record = match.look()
    assert {k: v for k, v in record.public.items() if k in ("kind", "by", "acts", "facts", "body")} == {
        "kind": "ruled",
        "by": "director",
    }
    match.extend(60_000)
    match.close("abandoned")
    export = parse(dump(match.records))
    assert verify(match.rules, export).closed
    assert export.records[record.version - 1].packs[TABLE_KEY]["ruling"] == {"act": "look"}


def test_another_head_is_refused() -> None:
    """Whoever kept the hash of the last record notices that the whole log was replaced."""
    match = GAMES["orders@1"]
    export = parse(dump(match.records))
    assert verify(orders.RULESET, export, match.game.hash).records == len(match.records)
    with pytest.raises(VerificationError, match="chain_broken"):
        verify(orders.RULESET, export, "0" * 64)


def test_list_still_proves_itself_after_a_secret_answer() -> None:
    """Such lists were accepted once; they stand in logs for ever, and are refused to whoever moves now."""
    match = InMemoryGame(windows.RULESET, 3, bytes(32))
    rules, moves = match.rules, [{"type": "pass"}, {"type": "set_auto", "on": True}]
    match.play(0, {"type": "attack", "target": 1})
    with pytest.raises(RuleError, match="barrier_in_list"):
        match.play(1, *moves)
    old = Play(1, moves).execute(rules, match.game, replace(match.context, replaying=True))
    end = Close("abandoned").execute(rules, old.game, match.context)
    report = verify(rules, parse(dump([*match.records, old.record, end.record], PUBLIC)))
    assert (report.closed, report.decided) == (True, report.records)


def test_nonces_change_the_dice_and_are_checked() -> None:
    """A seat's nonce enters the key of all draws; one that was not committed to is refused."""
    rules, seed, nonce = skirmish.RULESET, bytes(32), b"a nonce of sixteen bytes".hex()
    moment = CommandContext(seed, 5)
    steps = [Open("g", rules.make_table(3)).execute(rules, moment)]

    def do(*acts: Command) -> None:
        for act in acts:
            steps.append(act.execute(rules, steps[-1].game, moment))

    do(*(Join(seat, f"p{seat}", commitment(bytes.fromhex(nonce))) for seat in range(3)))
    for wrong in ("ff" * 16, "not hex"):
        with pytest.raises(RuleError, match="nonce_mismatch"):
            do(Reveal(0, wrong))
    do(Reveal(0, nonce))
    with pytest.raises(RuleError, match="nonces_open") as early:
        do(Start())
    assert early.value.detail == {"seats": [1, 2], "until": 5 + NONCE_WAIT_MS}
    moment = replace(moment, now=5 + NONCE_WAIT_MS)
    do(Start(), Play(0, [{"type": "attack", "target": 1, "offer": 0}]), Close("abandoned"))
    report = verify(rules, parse(dump([s.record for s in steps], PUBLIC)))
    assert report.closed
    assert report.to_json()["unrevealed_nonces"] == [1, 2]
    assert sealed.RULESET.meta.ruleset == "sealed@1"


class TestHolds:
    """A log with seats that were held verifies, and no default comes before a hold is over."""

    def played(self) -> InMemoryGame[Any]:
        match: InMemoryGame[Any] = InMemoryGame(windows.RULESET, 3, b"s" * 32)
        match.play(0, {"type": "attack", "target": 1})
        match.leave(1, 100)
        return match

    def test_nothing_is_played_for_a_held_seat(self) -> None:
        match = self.played()
        assert match.game.unvacated_seats == (1,)
        assert match.state.vacant == ()
        now = match.now
        with pytest.raises(RuleError, match="not_due"):
            match.execute(Lapse(match.decisions()[0].id, [1]))
        with pytest.raises(RuleError, match="not_due"):
            match.execute(Vacate(1))
        with pytest.raises(RuleError, match="not_due"):
            match.execute(Vacate(0))
        assert match.now == now

    def test_who_takes_it_goes_on_and_who_is_not_replaced_is_vacant(self) -> None:
        taken, lost = self.played(), self.played()
        taken.join(1, "p7")
        assert (taken.game.unvacated_seats, taken.state.vacant, taken.game.timing.banks[1].hold_end) == (
            (),
            (),
            taken.game.time,
        )
        lost.vacate(1)
        assert (lost.game.unvacated_seats, lost.state.vacant) == ((), (1,))
        for match in (taken, lost):
            match.close("void")
            assert fold(match.rules, match.records) == match.game
            assert verify(match.rules, parse(dump(match.records, DIRECTOR))).closed

    def test_vacant_seat_does_not_tell_whether_it_had_answered(self) -> None:
        """WI-2: by the number of seals, which everybody can read."""
        seals = []
        for seat in (1, 2):
            match: InMemoryGame[Any] = InMemoryGame(windows.RULESET, 3, b"s" * 32)
            match.play(0, {"type": "attack", "target": 1})
            match.play(seat, {"type": "pass"})
            match.leave(1, 100)
            match.vacate(1)
            seals.append(len(match.records[-1].public["seals"]))
            match.close("void")
            assert verify(match.rules, parse(dump(match.records, DIRECTOR))).closed
        assert seals == [2, 2]

    def test_a_rewind_keeps_the_hold(self) -> None:
        match = self.played()
        match.rewind(5)
        assert (match.game.unvacated_seats, match.game.timing.banks[1].hold_end > match.now) == ((1,), True)
        match.vacate(1)
        match.rewind(5)
        assert (match.game.unvacated_seats, match.state.vacant) == ((), (1,))
        match.hold(1, 50)
        assert match.state.vacant == (1,), "what the rules know is not taken back"
        match.close("void")
        assert verify(match.rules, parse(dump(match.records, DIRECTOR))).closed

    def test_seat_held_by_director_stays_held_without_its_player(self) -> None:
        match: InMemoryGame[Any] = InMemoryGame(windows.RULESET, 3, b"s" * 32)
        match.hold(1, 100)
        until = match.game.timing.banks[1].hold_end
        match.leave(1)
        assert (match.game.unvacated_seats, match.game.timing.banks[1].hold_end) == ((1,), until)
