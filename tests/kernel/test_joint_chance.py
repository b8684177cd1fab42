"""Joint chance in simulated games: an audit recomputes each draw, and no party alone determines one."""

from __future__ import annotations

import functools
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from deploy.cli.main import main
from domain.bots import deciding_seats
from domain.errors import VerificationError
from domain.games import struggle_of_empires
from domain.kernel.game.joint_game import JointChanceGame, derive_nonce
from domain.kernel.proof.verify import audit
from domain.kernel.records.export import dump
from domain.kernel.records.record import Record
from domain.kernel.rules.joint_chance import (
    ChanceRound,
    JointTranscript,
    check_rounds,
    list_withholders,
    parse_transcript,
    round_source,
    transcript_to_json,
)
from domain.rollouts import random_move
from domain.types import DIRECTOR, Seat
from tests.kernel.test_one_file_verifier import load

RULES, FILE = struggle_of_empires.RULESETS[0], load()
SEED, GAME, SEATS, WITHHOLDER = bytes(range(32)), "match", 3, 2


class Played(NamedTuple):
    """What everybody sees of a game with joint chance."""

    transcript: JointTranscript
    records: list[Record]


@functools.cache
def played(*, withheld_in: int = 0) -> Played:
    def withholds(seat: Seat, number: int) -> bool:
        return (seat, number) == (WITHHOLDER, withheld_in)

    match = JointChanceGame(RULES, SEATS, SEED, b"secret", withholds=withholds, game=GAME)
    rng = random.Random(7)
    while len(match.records) < 120 and match.state.frames:
        seat = rng.choice(deciding_seats(match))
        match.play(seat, random_move(match.rules, match.state, seat, rng))
    match.close("abandoned")
    return Played(match.transcript, match.records)


def verify(t: Played) -> int:
    """The number of draws, each recomputed and decided again."""
    return audit(RULES, t.records, SEED, sources=check_rounds(SEED, t.transcript))[0]


def one_file(t: Played) -> tuple[list[str], list[str]]:
    """What the one-file verifier has checked, and what not."""
    lines = list(dump(t.records, DIRECTOR).splitlines(keepends=True))
    game = FILE.verify_export(lines, "", json.loads(transcript_to_json(t.transcript)))
    return game.checked, game.unchecked


def test_both_verifiers_recompute_every_draw() -> None:
    t = played()
    drawn = sum(len(part.get("draws", ())) for r in t.records for part in (r.public, *r.packs.values()))
    assert drawn > 20
    assert len(t.transcript.rounds) > 10
    assert verify(t) == drawn
    assert f"{drawn} draws" in one_file(t)[0]
    assert parse_transcript(transcript_to_json(t.transcript)) == t.transcript


def test_withheld_nonce_is_named_and_its_seat_left_out() -> None:
    t = played(withheld_in=3)
    assert verify(t)
    assert one_file(t)
    assert list_withholders(t.transcript) == [WITHHOLDER]
    assert t.transcript.rounds[2].withheld == (WITHHOLDER,)
    assert all(WITHHOLDER not in each.nonces for each in t.transcript.rounds[2:])


def rounds_of(t: Played, rounds: Sequence[ChanceRound]) -> Played:
    return t._replace(transcript=t.transcript._replace(rounds=tuple(rounds)))


def changed(t: Played, at: int, **values: Any) -> Played:
    return rounds_of(t, [replace(r, **values) if i == at else r for i, r in enumerate(t.transcript.rounds)])


class TestFalseTranscripts:
    """Both verifiers refuse them, and with the same code."""

    def refused(self, t: Played, code: str) -> None:
        with pytest.raises(VerificationError) as caught:
            verify(t)
        assert caught.value.code == code
        with pytest.raises(FILE.Fault) as fault:
            one_file(t)
        assert fault.value.code == code

    def test_a_nonce_must_fit_its_commitment(self) -> None:
        """The host cannot put another nonce in its place, nor one of another seat, round or game."""
        t = played()
        nonces = t.transcript.rounds[4].nonces
        swapped = {**nonces, 0: nonces[1], 1: nonces[0]}
        for false in ({**nonces, 0: "00"}, swapped, {**nonces, 7: "00"}, t.transcript.rounds[3].nonces):
            self.refused(changed(t, 4, nonces=false), "nonce_mismatch")

    def test_nobody_is_left_out_in_silence(self) -> None:
        t = played()
        fewer = {seat: nonce for seat, nonce in t.transcript.rounds[4].nonces.items() if seat}
        self.refused(changed(t, 4, nonces=fewer), "nonce_mismatch")
        self.refused(changed(t, 4, withheld=(7,)), "nonce_mismatch")

    def test_a_nonce_named_as_withheld_changes_the_draws(self) -> None:
        """So the host must decide before the record is made, and the record names the seat for ever."""
        t = played()
        before, (fifth, *rest) = t.transcript.rounds[:4], t.transcript.rounds[4:]

        def without(found: Mapping[Seat, str]) -> dict[Seat, str]:
            return {seat: text for seat, text in found.items() if seat}

        named = replace(fifth, nonces=without(fifth.nonces), withheld=(0,), commitments=without(fifth.commitments))
        cut = [replace(r, nonces=without(r.nonces), commitments=without(r.commitments)) for r in rest]
        self.refused(rounds_of(t, [*before, named, *cut]), "draw_mismatch")

    def test_a_seat_that_withheld_commits_no_more(self) -> None:
        t = played(withheld_in=3)
        commitments = {**t.transcript.rounds[5].commitments, WITHHOLDER: "00" * 32}
        self.refused(changed(t, 5, commitments=commitments), "withheld_before")

    def test_each_draw_has_its_round(self) -> None:
        t = played()
        rounds = t.transcript.rounds
        self.refused(rounds_of(t, rounds[:-1]), "round_missing")
        self.refused(rounds_of(t, [rounds[0], *rounds]), "round_gap")
        self.refused(rounds_of(t, rounds[1:]), "round_gap")

    @pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"game":1}', b"[" * 100_000])
    def test_any_other_bytes_are_refused(self, text: bytes) -> None:
        with pytest.raises(VerificationError, match="unreadable"):
            parse_transcript(text)


def test_the_command_line_plays_and_proves_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The transcript lies beside the export; without it the draws are another host's."""
    assert main(["simulate", "struggle_of_empires", "--games", "1", "--joint", "--export", str(tmp_path)]) == 0
    (exported,), (transcript,) = tmp_path.glob("*.jsonl"), tmp_path.glob("*.joint.json")
    assert main(["verify", str(exported), "--joint", str(transcript), "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (found["verified"], found["withheld_by"]) == (True, [])
    assert found["rounds"] > 10
    assert main(["verify", str(exported)]) == 1
    assert FILE.main([str(exported), "--joint", str(transcript)]) == 0
    assert FILE.main([str(exported)]) == 1


@pytest.mark.parametrize("honest", ["host", 0, 1, 2])
def test_one_honest_party_leaves_the_draw_open_to_all_others(honest: str | int) -> None:
    """Whatever the others chose, its share alone makes each face about as likely."""
    faces: Counter[int] = Counter()
    for i in range(600):
        seed = i.to_bytes(32, "big") if honest == "host" else SEED
        nonces = {seat: f"{i:032x}" if seat == honest else "00" * 16 for seat in range(SEATS)}
        faces[1 + round_source(seed, GAME, 1, nonces).below(6, "all", 0, "attack")] += 1
    assert set(faces) == set(range(1, 7))
    assert all(60 <= count <= 140 for count in faces.values())


def test_those_who_withhold_choose_among_few_results() -> None:
    """The host with k seats that show last: among 2**k, once in a game for each seat."""
    nonces = {seat: derive_nonce(b"secret", seat, 1) for seat in range(SEATS)}
    for own in ((2,), (1, 2)):
        subsets = [{s: n for s, n in nonces.items() if s not in own or mask >> s & 1} for mask in range(1 << SEATS)]
        keys = {round_source(SEED, GAME, 1, subset).key for subset in subsets}
        assert len(keys) == 2 ** len(own)
