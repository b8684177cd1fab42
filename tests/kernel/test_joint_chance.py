"""Joint chance in simulated games: an audit recomputes each draw, and no party alone determines one."""

from __future__ import annotations

import functools
import hashlib
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from domain.bots import deciding_seats, random_move
from domain.errors import NeedsChance, VerificationError
from domain.games import struggle_of_empires
from domain.kernel.game.command import Command
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.play_commands import Play
from domain.kernel.game.table_commands import Start
from domain.kernel.records.record import Record
from domain.kernel.rules.draws import NoChance
from domain.kernel.rules.joint_chance import ChanceRound, commit_to_nonce, round_source, verify_rounds
from domain.types import Seat

SEED, GAME, SEATS, WITHHOLDER = bytes(range(32)), "match", 3, 2


class Transcript(NamedTuple):
    """What everybody sees of a game with joint chance."""

    first: Mapping[Seat, str]
    rounds: list[ChanceRound]
    records: list[Record]


def nonce_of(seat: Seat, number: int) -> str:
    """A client needs one secret alone: its nonces follow from it."""
    return hashlib.sha256(f"secret of {seat}|{number}".encode()).hexdigest()


class JointTable:
    """A simulated table: a move is fixed before the nonces of its round are shown."""

    def __init__(self, *, withheld_in: int = 0) -> None:
        (rules,) = struggle_of_empires.RULESETS[:1]
        self.match: InMemoryGame[Any] = InMemoryGame(rules, SEATS, SEED, game=GAME, source=NoChance(), start=False)
        self.rounds: list[ChanceRound] = []
        self.contributors = set(range(SEATS))
        self.first = self.commit(1)
        self.withheld_in = withheld_in

    def commit(self, number: int) -> dict[Seat, str]:
        return {s: commit_to_nonce(GAME, s, number, nonce_of(s, number)) for s in sorted(self.contributors)}

    def execute(self, command: Command) -> None:
        try:
            self.match.source = NoChance()
            self.match.execute(command)
        except NeedsChance:  # the move is fixed; now the seats show their nonces
            number = len(self.rounds) + 1
            withheld = (WITHHOLDER,) if number == self.withheld_in else ()
            nonces = {seat: nonce_of(seat, number) for seat in self.contributors - set(withheld)}
            self.contributors -= set(withheld)
            self.match.source = round_source(SEED, GAME, 0, number, nonces)
            record = self.match.execute(command)
            self.rounds.append(ChanceRound(number, record.version, nonces, withheld, self.commit(number + 1)))

    def play(self, moves: int) -> Transcript:
        rng = random.Random(7)
        self.execute(Start(None))
        while len(self.match.records) < moves and self.match.state.frames:
            seat = rng.choice(deciding_seats(self.match))
            move = random_move(self.match.rules, self.match.state, seat, rng)
            self.execute(Play(seat, (move,), None, "seat"))
        return Transcript(self.first, self.rounds, self.match.records)


@functools.cache
def played(*, withheld_in: int = 0) -> Transcript:
    return JointTable(withheld_in=withheld_in).play(120)


def verify(t: Transcript) -> tuple[int, tuple[Seat, ...]]:
    return verify_rounds(SEED, GAME, t.first, t.rounds, t.records)


def test_an_audit_recomputes_every_draw() -> None:
    t = played()
    drawn = sum(len(part.get("draws", ())) for r in t.records for part in (r.public, *r.packs.values()))
    assert drawn > 20
    assert len(t.rounds) > 10
    assert verify(t) == (drawn, ())


def test_a_withheld_nonce_is_named_and_its_seat_takes_part_no_more() -> None:
    t = played(withheld_in=3)
    assert verify(t)[1] == (WITHHOLDER,)
    assert t.rounds[2].withheld == (WITHHOLDER,)
    assert all(WITHHOLDER not in each.nonces for each in t.rounds[2:])


def changed(t: Transcript, at: int, **values: Any) -> Transcript:
    return t._replace(rounds=[replace(r, **values) if i == at else r for i, r in enumerate(t.rounds)])


class TestFalseTranscripts:
    def refused(self, t: Transcript, code: str) -> None:
        with pytest.raises(VerificationError) as caught:
            verify(t)
        assert caught.value.code == code

    def test_a_nonce_must_fit_its_commitment(self) -> None:
        """The host cannot put another nonce in its place, nor one of another seat, round or game."""
        t = played()
        nonces = t.rounds[4].nonces
        swapped = {**nonces, 0: nonces[1], 1: nonces[0]}
        for false in ({**nonces, 0: "00"}, swapped, {**nonces, 7: "00"}, t.rounds[3].nonces):
            self.refused(changed(t, 4, nonces=false), "nonce_mismatch")

    def test_nobody_is_left_out_in_silence(self) -> None:
        t = played()
        fewer = {seat: nonce for seat, nonce in t.rounds[4].nonces.items() if seat}
        self.refused(changed(t, 4, nonces=fewer), "nonce_mismatch")
        self.refused(changed(t, 4, withheld=(7,)), "nonce_mismatch")

    def test_a_nonce_named_as_withheld_changes_the_draws(self) -> None:
        """So the host must decide before the record is made, and the record names the seat for ever."""
        t = played()
        fewer = {seat: nonce for seat, nonce in t.rounds[4].nonces.items() if seat}
        commitments = {seat: c for seat, c in (t.rounds[4].commitments or {}).items() if seat}
        rest = [replace(r, nonces={s: n for s, n in r.nonces.items() if s}) for r in t.rounds[5:]]
        cut = [replace(r, commitments={s: c for s, c in (r.commitments or {}).items() if s}) for r in rest]
        named = replace(t.rounds[4], nonces=fewer, withheld=(0,), commitments=commitments)
        self.refused(t._replace(rounds=[*t.rounds[:4], named, *cut]), "draw_mismatch")

    def test_a_seat_that_withheld_commits_no_more(self) -> None:
        t = played(withheld_in=3)
        commitments = {**(t.rounds[5].commitments or {}), WITHHOLDER: "00" * 32}
        self.refused(changed(t, 5, commitments=commitments), "withheld_before")

    def test_each_draw_has_its_round(self) -> None:
        t = played()
        self.refused(t._replace(rounds=t.rounds[:-1]), "round_missing")
        self.refused(t._replace(rounds=[t.rounds[0], *t.rounds]), "round_gap")
        self.refused(t._replace(rounds=t.rounds[1:]), "round_gap")


@pytest.mark.parametrize("honest", ["host", 0, 1, 2])
def test_one_honest_party_leaves_the_draw_open_to_all_others(honest: str | int) -> None:
    """Whatever the others chose, its share alone makes each face about as likely."""
    faces: Counter[int] = Counter()
    for i in range(600):
        seed = i.to_bytes(32, "big") if honest == "host" else SEED
        nonces = {seat: f"{i:032x}" if seat == honest else "00" * 16 for seat in range(SEATS)}
        faces[1 + round_source(seed, GAME, 0, 1, nonces).below(6, "all", 0, "attack")] += 1
    assert set(faces) == set(range(1, 7))
    assert all(60 <= count <= 140 for count in faces.values())


def test_those_who_withhold_choose_among_few_results() -> None:
    """The host with k seats that show last: among 2**k, once in a game for each seat."""
    nonces = {seat: nonce_of(seat, 1) for seat in range(SEATS)}
    for own in ((2,), (1, 2)):
        subsets = [{s: n for s, n in nonces.items() if s not in own or mask >> s & 1} for mask in range(1 << SEATS)]
        keys = {round_source(SEED, GAME, 0, 1, subset).key for subset in subsets}
        assert len(keys) == 2 ** len(own)
