"""The command `annals verify`: prove an export, alone or against a head or a signed checkpoint."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deploy.cli.arguments import DONE, FAILED
from deploy.cli.output import print_error, print_figures, print_json
from deploy.runtime.given_files import read_bytes, read_export, read_note
from domain.errors import AnnalsError, NoteError, UnknownRuleset, VerificationError
from domain.kernel.game.forks import check_origin
from domain.kernel.proof import verify
from domain.kernel.proof.verify import ReplayCounts, Replayer, find_head
from domain.kernel.records import export
from domain.kernel.records.export import Export
from domain.kernel.records.record import Record
from domain.kernel.rules.joint_chance import JointTranscript, check_rounds, list_withholders, parse_transcript
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ruleset_registry import RulesetRegistry
from domain.talk.mailboxes import verify_mailbox
from domain.transparency.checkpoint import Checkpoint, find_valid_signatures, open_checkpoint
from domain.transparency.merkle_tree import leaf_hash, verify_consistency, verify_inclusion
from domain.transparency.signed_note import SignedNote, VerifierKey
from domain.transparency.tlog_proof import TlogProof
from domain.types import Doc, Json
from workers.jobs import parallel_audit

_HEAD = re.compile("[0-9a-f]{64}")
_KEYS = "/.well-known/annals-log-keys has the keys of the log"
_HELP = {
    "cut_off": "the file is not whole: download it again",
    "unreadable": "the file is cut off, or another program has changed it: download it again",
    "header_mismatch": "it is another file, or this program may be older than the file",
    "unknown_kind": "this program may be older than the file",
    "key_malformed": _KEYS,
    "not_signed": f"give its --key; {_KEYS}; if a witness was away, download the proof again",
    "note_malformed": "download it with the header Accept: text/plain",
    "proof_malformed": "download it with the header Accept: text/plain",
    "checkpoint_malformed": "download /v1/log/checkpoint",
    "mailbox_cut_off": "the file is not whole: download it again",
    "mailbox_other_game": "it is the mailbox of another game",
    "anchor_missing": "download the export and the mailbox again, one after the other",
    "proof_false": "take the proof of a record of this file",
}
"""Code -> help for a person with true files."""


def add_command(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command and its arguments."""
    parser = add(
        "verify", help="verify an export file: chain, seals, boards, and for a closed game all draws and rules"
    )
    parser.set_defaults(command=verify_export)
    parser.add_argument("file", metavar="FILE", type=Path, help="- for standard input")
    add_proof_arguments(parser)
    parser.add_argument(
        "--origin", type=Path, metavar="FILE", help="of a fork: the whole export of the game from which it began"
    )
    parser.add_argument(
        "--mailbox", type=Path, metavar="FILE", help="file of a seat's mailbox, beside the export of its game"
    )
    parser.add_argument(
        "--joint", type=Path, metavar="FILE", help="transcript of joint chance, beside the export of a simulated game"
    )
    parser.add_argument(
        "--no-rules", action="store_true", help="chain, seals and openings only: nothing is decided again"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_proof_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that hold a file against a head or a signed log."""
    parser.add_argument("--head", default="", metavar="HASH", help="hash of one of its records, from elsewhere")
    parser.add_argument(
        "--proof", type=Path, metavar="FILE", help="tlog-proof of one of its records, with a checkpoint"
    )
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="checkpoint of the proof's log, from elsewhere")
    parser.add_argument(
        "--consistency",
        type=Path,
        metavar="FILE",
        help="path between the two checkpoints: the answer of /v1/log?since=OLD&size=NEW",
    )
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


def verify_export(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Verify an export and print the report, or the first fault."""
    try:
        head = parse_head(args.head)
        game_export = export.parse(read_export(args.file))
        rules, parallel = _find_ruleset(registry, game_export.ruleset), parallel_audit.replay
        transcript = parse_transcript(read_bytes(args.joint)) if args.joint else None
        replayer = _skip_rules if args.no_rules else _make_replayer(game_export, transcript)
        report: Doc = dict(verify.verify(rules, game_export, head, replayer=replayer).to_json())
        if head:
            report["head_names"] = describe_head(game_export.records, head)
        report |= _check_origin(args.origin, rules, game_export, _skip_rules if args.no_rules else parallel)
        if args.mailbox:
            lines = read_bytes(args.mailbox).splitlines(keepends=True)
            report |= {f"mailbox_{n}": value for n, value in verify_mailbox(game_export, lines).to_json().items()}
        if transcript:
            report |= {"rounds": len(transcript.rounds), "withheld_by": list(list_withholders(transcript))}
        if args.proof or args.witness or args.checkpoint:
            report |= check_proof(args, game_export.records)
    except (VerificationError, NoteError) as error:
        text = f"{error}; {_HELP[error.code]}" if error.code in _HELP else str(error)
        if args.json:
            version = getattr(error, "version", 0)
            print_json({"verified": False, "code": error.code, "version": version, "detail": text})
        return print_error(AnnalsError(text), FAILED)
    (print_json if args.json else print_figures)({"verified": True, **report})
    return DONE


def parse_head(text: str) -> str:
    head = text.strip(" \r\n\"'").lower()
    if head and not _HEAD.fullmatch(head):
        raise NoteError("head_malformed", "64 hex digits are expected")
    return head


def _find_ruleset(registry: RulesetRegistry, name: str) -> AnyRuleset:
    try:
        return registry.get(name)
    except UnknownRuleset as error:
        raise UnknownRuleset(f"{error}: this program may be older than the file") from None


def describe_head(records: tuple[Record, ...], head: str) -> str:
    version, last = find_head(records, head), len(records)
    later = f"; {version + 1} to {last} came later" if version < last else ""
    return f"records 1 to {version} are the game that this head names{later}"


def _check_origin(path: Path | None, rules: AnyRuleset, fork: Export, replayer: Replayer) -> dict[str, Json]:
    """Return the origin of a fork, and whether it began from there: for that the origin is proved too."""
    named = fork.records[0].body.get("origin")
    if path is None:
        return {} if named is None else _describe_origin(named, proved=False)
    origin = export.parse(read_export(path))
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
        self._records = records
        self._told = time.monotonic()
        self._has_line = False

    def __call__(self, decided: int) -> None:
        is_last, now = decided == self._records, time.monotonic()
        if now - self._told >= 1 or (is_last and self._has_line):
            self._told, self._has_line = now, True
            line = f"annals: {decided} of {self._records} records decided again"
            print(line, file=sys.stderr, end="\n" if is_last else "\r", flush=True)


def _skip_rules(_: Any, __: Export, ___: bytes) -> ReplayCounts:
    return ReplayCounts(0, 0, 0)


def check_proof(args: argparse.Namespace, records: tuple[Record, ...]) -> dict[str, Json]:
    """Return what a proof shows of these records. Raise NoteError."""
    if not args.proof:
        raise NoteError("proof_needed", "witnesses sign checkpoints, and checkpoints are compared: give --proof")
    keys = [VerifierKey.parse(text.strip()) for text in args.key]
    proof = TlogProof.parse(read_note(args.proof))
    found = open_checkpoint(proof.note, keys)
    witnesses = [VerifierKey.parse(text.strip()) for text in args.witness]
    for key in witnesses:
        if not find_valid_signatures(proof.note, [key]):
            raise NoteError("not_signed", f"no cosignature by {key.name}")
    if args.checkpoint:
        note = SignedNote.parse(read_note(args.checkpoint))
        Checkpoint.parse(note.text)  # no signature of another kind of note is called false
        _compare_logs(found, open_checkpoint(note, keys), args.consistency)
    for record in reversed(records):
        if verify_inclusion(found.root, leaf_hash(record.hash), proof.index, found.size, proof.path):
            signed = find_valid_signatures(proof.note, [*keys, *witnesses])
            signers: list[Json] = [f"{key.name} ({key.id.hex()})" for key, _ in signed]
            doc: dict[str, Json] = {"log": found.origin, "log_size": found.size, "proved_version": record.version}
            last = len(records)
            later = f"records {record.version + 1} to {last}: the proof is of record {record.version}"
            return doc | {"signed_by": signers} | ({"not_checked": later} if record.version < last else {})
    raise NoteError("proof_false", "no record of this export is at that place of the log")


def _compare_logs(proved: Checkpoint, other: Checkpoint, path: Path | None) -> None:
    """Raise NoteError unless one log begins with the other: `other_log`, `no_path` or `forked`."""
    if proved.origin != other.origin:
        raise NoteError("other_log", f"checkpoints of two logs, {proved.origin} and {other.origin}")
    old, new = sorted((proved, other), key=lambda checkpoint: checkpoint.size)
    sizes, way = f"sizes {old.size} and {new.size}", f"--consistency takes /v1/log?since={old.size}&size={new.size}"
    doc: dict[str, Any] = {"path": []} if old.size == new.size else _read_path(path, way)
    if "path" not in doc or doc.get("size", new.size) != new.size:
        raise NoteError("no_path", f"no proof between {sizes}: {way}")
    if not verify_consistency(new.root, new.size, old.root, old.size, doc["path"]):
        raise NoteError("forked", f"no proof that the logs of {sizes} are one: {way}")


def _read_path(path: Path | None, way: str) -> dict[str, Any]:
    """Return the answer with the path between two checkpoints; raise NoteError `no_path` for another file."""
    if path is None:
        return {}
    try:
        doc = json.loads(read_bytes(path))
        return {**doc, "path": [bytes.fromhex(node) for node in doc["path"]]}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NoteError("no_path", f"{path} is no such path: {way}") from None
