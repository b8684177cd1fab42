"""The command `annals log-keys`: keys of the log and of the witness, and signing again after a restore."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.cli.arguments import DONE, load_settings_of, with_redis_url
from deploy.runtime.given_files import read_note
from deploy.runtime.wiring import ServiceContainer, create_services
from domain.errors import NoteError
from domain.ruleset_registry import RulesetRegistry
from domain.transparency.checkpoint import Checkpoint
from domain.transparency.checkpoint_store import HALTED, CheckpointStore
from domain.transparency.signed_note import SignedNote
from domain.transparency.witness_store import WitnessStore


def add_command(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command and its arguments."""
    parser = add(
        "log-keys",
        help="keys that sign checkpoints: list, add, end one; halt or resume signing; make the witness's",
    )
    parser.set_defaults(command=run)
    parser.add_argument(
        "action", choices=("list", "add", "end", "halt", "resume", "witness"), nargs="?", default="list"
    )
    parser.add_argument("number", type=int, nargs="?", help="the key to end")
    parser.add_argument("--reason", help="why it ends, or signing halts, for readers")
    parser.add_argument("--origin", default="", metavar="NAME", help="a new name of the log: a new log to everybody")
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="the largest checkpoint that anybody holds")
    parser.add_argument(
        "--nothing-newer", action="store_true", help="you have made sure that nobody holds a larger one"
    )
    parser.add_argument("--renew", action="store_true", help="with `witness`: end its key, and make another one")
    parser.add_argument("--data", metavar="DIR", help="data folder (default: var)")


def run(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Do the action, then list the keys. Raises NoteError."""
    if args.action == "end" and args.number is None:
        raise NoteError("key_unknown", "name the number of the key to end")
    if args.action == "resume" and bool(args.checkpoint) == args.nothing_newer:
        raise NoteError("checkpoint_needed", "give --checkpoint FILE, or --nothing-newer")
    with _open_services(args, registry) as services:
        store, now = services.build_worker_context().checkpoints, services.clock()
        _act(args, services, store, now)
        for key in store.keys:
            print(f"{key.number} {key.origin} {f'ended: {key.reason}' if key.until else 'signs'}")
            print("".join(f"  {vkey}\n" for vkey in key.keys), end="")
        for reason in store.halts:
            print(f"nothing is signed: {reason}")
        if witness := WitnessStore(services.ledger, services.ledger.keys).key:
            print(f"{witness.name} cosigns the logs of others")
            print("".join(f"  {vkey}\n" for vkey in witness.keys), end="")
    return DONE


def _act(args: argparse.Namespace, services: ServiceContainer, store: CheckpointStore, now: int) -> None:
    if args.action == "add":
        store.add_key(now, args.origin)
    elif args.action == "end":
        store.end_key(args.number, now, args.reason or "rotated")
    elif args.action == "halt":
        store.halt(args.reason or HALTED, now)
    elif args.action == "resume":
        note = SignedNote.parse(read_note(args.checkpoint)) if args.checkpoint else None
        root = services.reader.proofs.root_at(Checkpoint.parse(note.text).size) if note else None
        store.resume(note, root, now)
    elif args.action == "witness":
        _make_witness_key(services, now, args.origin, renew=args.renew)


def _make_witness_key(services: ServiceContainer, now: int, name: str, *, renew: bool) -> None:
    store = WitnessStore(services.ledger, services.ledger.keys, name or services.settings.name_of_witness)
    if renew:
        store.renew_key(now, name)
    else:
        store.ensure_key(now)


@contextmanager
def _open_services(args: argparse.Namespace, registry: RulesetRegistry) -> Iterator[ServiceContainer]:
    settings = with_redis_url(load_settings_of(args))
    settings.require_service()
    services = create_services(settings, registry)
    try:
        services.build_worker_context().checkpoints.migrate()
        WitnessStore(services.ledger, services.ledger.keys).migrate()
        yield services
    finally:
        services.close()
