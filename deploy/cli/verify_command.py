"""The command `annals verify`: prove an export, alone or against a head or a signed checkpoint."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deploy.cli.arguments import DONE, FAILED
from deploy.cli.output import print_error, print_figures, print_json
from domain.errors import NoteError, VerificationError
from domain.kernel.game.forks import check_origin
from domain.kernel.proof import verify
from domain.kernel.proof.verify import ReplayCounts, Replayer
from domain.kernel.records import export
from domain.kernel.records.export import Export
from domain.kernel.records.record import Record
from domain.kernel.rules.joint_chance import JointTranscript, check_rounds, list_withholders, parse_transcript
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ruleset_registry import RulesetRegistry
from domain.transparency.checkpoint import find_valid_signatures, open_checkpoint
from domain.transparency.merkle_tree import leaf_hash, verify_inclusion
from domain.transparency.signed_note import SignedNote, VerifierKey
from domain.transparency.tlog_proof import TlogProof
from domain.types import Json
from workers.jobs import parallel_audit


def add_command(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command and its arguments."""
    parser = add(
        "verify", help="verify an export file: chain, seals, boards, and for a closed game all draws and rules"
    )
    parser.set_defaults(command=verify_export)
    parser.add_argument("file", metavar="FILE", type=Path, help="- for standard input")
    parser.add_argument("--head", default="", metavar="HASH", help="expected hash of the last record")
    parser.add_argument(
        "--proof", type=Path, metavar="FILE", help="tlog-proof of one of its records, with a checkpoint"
    )
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="checkpoint that the proof must lead to")
    parser.add_argument(
        "--key", action="append", default=[], metavar="VKEY", help="verifier key of the log or a witness"
    )
    parser.add_argument(
        "--witness",
        action="append",
        default=[],
        metavar="VKEY",
        help="verifier key of a witness that must have cosigned the proof's checkpoint",
    )
    parser.add_argument(
        "--origin", type=Path, metavar="FILE", help="of a fork: the whole export of the game from which it began"
    )
    parser.add_argument(
        "--joint", type=Path, metavar="FILE", help="transcript of joint chance, beside the export of a simulated game"
    )
    parser.add_argument(
        "--no-rules", action="store_true", help="chain, seals and openings only: nothing is decided again"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def verify_export(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Verify an export and print the report, or the first fault."""
    try:
        game_export = export.parse(sys.stdin.buffer.read() if str(args.file) == "-" else args.file.read_bytes())
        rules, parallel = registry.get(game_export.ruleset), parallel_audit.replay
        transcript = parse_transcript(args.joint.read_bytes()) if args.joint else None
        replayer = _skip_rules if args.no_rules else _make_replayer(game_export, transcript)
        report = verify.verify(rules, game_export, args.head, replayer=replayer).to_json()
        report |= _check_origin(args.origin, rules, game_export, _skip_rules if args.no_rules else parallel)
        if transcript:
            report |= {"rounds": len(transcript.rounds), "withheld_by": list(list_withholders(transcript))}
        if args.proof or args.witness:
            report |= _check_proof(args, game_export.records)
    except (VerificationError, NoteError) as error:
        if args.json:
            version = getattr(error, "version", 0)
            print_json({"verified": False, "code": error.code, "version": version, "detail": str(error)})
        return print_error(error, FAILED)
    (print_json if args.json else print_figures)({"verified": True, **report})
    return DONE


def _check_origin(path: Path | None, rules: AnyRuleset, fork: Export, replayer: Replayer) -> dict[str, Json]:
    """Return the origin of a fork, and whether it began from there: for that the origin is proved too."""
    named = fork.records[0].body.get("origin")
    if path is None:
        return {} if named is None else _describe_origin(named, proved=False)
    origin = export.parse(path.read_bytes())
    verify.verify(rules, origin, replayer=replayer)
    check_origin(rules, fork.records, origin.records)
    return _describe_origin(fork.records[0].body["origin"], proved=True)


def _describe_origin(named: dict[str, Json], *, proved: bool) -> dict[str, Json]:
    return {"origin": named["game"], "origin_version": named["version"], "origin_proved": proved}


def _make_replayer(game_export: Export, transcript: JointTranscript | None) -> verify.Replayer:
    """Return what decides a game again, with its progress on a terminal. Raise VerificationError."""
    progress = _Progress(len(game_export.records)) if sys.stderr.isatty() else None
    if transcript is None:
        return lambda rules, export_, seed: parallel_audit.replay(rules, export_, seed, progress)
    if transcript.game != game_export.game:
        raise VerificationError("header_mismatch", 0, "the transcript is of another game")

    def replay(rules: Any, export_: Export, seed: bytes) -> ReplayCounts:
        return verify.replay(rules, export_, seed, sources=check_rounds(seed, transcript), progress=progress)

    return replay


class _Progress:
    """Tells on a terminal how far a long proof is, each second."""

    def __init__(self, records: int) -> None:
        self._records, self._told, self._has_line = records, time.monotonic(), False

    def __call__(self, decided: int) -> None:
        is_last, now = decided == self._records, time.monotonic()
        if now - self._told >= 1 or (is_last and self._has_line):
            self._told, self._has_line = now, True
            line = f"annals: {decided} of {self._records} records decided again"
            print(line, file=sys.stderr, end="\n" if is_last else "\r", flush=True)


def _skip_rules(_: Any, __: Export, ___: bytes) -> ReplayCounts:
    return ReplayCounts(0, 0, 0)


def _check_proof(args: argparse.Namespace, records: tuple[Record, ...]) -> dict[str, Json]:
    """Return what a proof shows of these records. Raise NoteError."""
    if not args.proof:
        raise NoteError("proof_needed", "witnesses sign checkpoints: give --proof")
    keys = [VerifierKey.parse(text) for text in args.key]
    proof = TlogProof.parse(args.proof.read_text(encoding="utf-8"))
    found = open_checkpoint(proof.note, keys)
    witnesses = [VerifierKey.parse(text) for text in args.witness]
    for key in witnesses:
        if not find_valid_signatures(proof.note, [key]):
            raise NoteError("not_signed", f"no cosignature by {key.name}")
    if (
        args.checkpoint
        and open_checkpoint(SignedNote.parse(args.checkpoint.read_text(encoding="utf-8")), keys) != found
    ):
        raise NoteError("forked", "the proof leads to another checkpoint")
    for record in reversed(records):
        if verify_inclusion(found.root, leaf_hash(record.hash), proof.index, found.size, proof.path):
            signed = find_valid_signatures(proof.note, [*keys, *witnesses])
            signers: list[Json] = [f"{key.name} ({key.id.hex()})" for key, _ in signed]
            return {"log": found.origin, "log_size": found.size, "proved_version": record.version, "signed_by": signers}
    raise NoteError("proof_false", "no record of this export is at that place of the log")
