"""Costs of a log of many games, each beside the same at a tenth: `python -m tests.perf.many [RECORDS]`.

Outside CI: a million records take the better part of an hour. Seconds are those of the processor. Each piece of work
has a process of its own, so its peak of memory is known. Games are seeded ones, and copies of these under other ids:
chained anew, with seeds of their own. Only `verify` would tell them apart, since their draws follow from other seeds.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

from deploy.config.settings import Settings, load_settings
from deploy.runtime.wiring import ServiceContainer, create_services, migrate
from domain.command_handler import new_game_id
from domain.kernel.game.table_commands import Close
from domain.kernel.records.record import Record
from domain.kernel.rules.draws import commitment
from domain.kernel.schema.canonical_json import digest
from domain.ruleset_registry import load_shipped
from domain.types import Doc
from projections.integrity import find_corruption
from projections.merkle_proofs import MerkleProofs
from tests.long_games import play_long_game
from tests.perf.figures import quantile
from tests.perf.huge import FEW, Costs, export_game, print_table, run_program
from workers.jobs.rebuilds import rebuild_views

GAMES = ("egc", "imperunde", "struggle_of_empires", "seven_empires", "age_of_reason")

SEEDS, LENGTH, REWINDS = 3, 300, 0.005
"""Played games of each ruleset; records of each; share of rewinds."""

PROVED = 300
"""Records proved, taken at random."""


def _settings(folder: Path) -> Settings:
    return load_settings({"data": str(folder / "data")}, {"ANNALS_REDIS_URL": "redis://127.0.0.1:1"})


def _services(folder: Path) -> ServiceContainer:
    return create_services(_settings(folder), load_shipped())


# --- the log ---------------------------------------------------------------------------------------------------


def fill(folder: Path, records: int) -> None:
    """Store games until there are so many records."""
    migrate(_settings(folder))
    services, stored = _services(folder), 0
    played = [_play(services, name, seed) for seed in range(SEEDS) for name in GAMES]
    for number in count():
        if stored >= records:
            break
        original = played[number % len(played)]
        game = original[0].body["game"] if number < len(played) else new_game_id()
        log = original if number < len(played) else _copy(original, game, services.seed_store.create(game))
        services.ledger.append(game, log, 0)
        stored += len(log)
    services.close()


def _play(services: ServiceContainer, name: str, seed: int) -> list[Record]:
    game, rules = new_game_id(), load_shipped().latest(name)
    secret = services.seed_store.create(game)
    match = play_long_game(rules, max(rules.meta.seats), LENGTH, name=game, seed=seed, rewinds=REWINDS, secret=secret)
    match.execute(Close("abandoned", "director"))
    return match.records


def _copy(records: Sequence[Record], game: str, seed: bytes) -> list[Record]:
    """Return the records as those of another game."""
    copies: list[Record] = []
    members: Mapping[str, Doc] = {
        "opened": {"game": game, "seed_hash": commitment(seed)},
        "closed": {"seed": seed.hex()},
    }
    for record in records:
        public = record.public | ({"prev": digest(copies[-1].public)} if copies else {})
        if record.kind in members:
            public["body"] = record.body | members[record.kind]
        copies.append(Record(public, record.packs))
    return copies


# --- pieces of work --------------------------------------------------------------------------------------------


def rebuild(services: ServiceContainer) -> None:
    """Make all views and the tree beside the live ones, and drop those."""
    rebuild_views(services.build_worker_context())


def scrub(services: ServiceContainer) -> None:
    """Compare every record with the tree, its predecessor, its seals and its seed."""
    for found in find_corruption(services.ledger, services.views, services.seed_store):
        if not isinstance(found, int):
            raise SystemExit(f"version {found.version} of {found.game} {found.said}")


PIECES: Mapping[str, Callable[[ServiceContainer], None]] = {"rebuild": rebuild, "scrub": scrub}


def measure(records: int, folder: Path) -> dict[str, float]:
    """Store so many records, and take what depends on all of them."""
    costs, settings = Costs(), _settings(folder)

    def run(name: str, what: str, *more: str) -> None:
        peak = run_program(costs, f"{what} (s)", ["-m", "tests.perf.many", name, str(folder), *more])
        costs.note(f"{what}, peak (MB)", peak)

    run("fill", "play and append", str(records))
    services = _services(folder)
    ((games, stored),) = services.ledger.execute("SELECT count(*), sum(version) FROM (SELECT max(originator_version) AS"
                                                 " version FROM records GROUP BY originator_id)")  # fmt: skip
    costs.note("games", float(games))
    costs.note("records", float(stored))
    costs.note("log (MB)", settings.ledger_file.stat().st_size / 1e6)
    run("rebuild", "views and tree")
    costs.note("views (MB)", settings.views_file.stat().st_size / 1e6)
    run("scrub", "scrub")
    _measure_proofs(costs, services)
    _measure_game(costs, services, folder / "game.annals")
    run("rebuild", "rebuild beside these views")
    costs.note("views after it (MB)", settings.views_file.stat().st_size / 1e6)
    services.close()
    return costs.found


def _measure_proofs(costs: Costs, services: ServiceContainer) -> None:
    proofs, rng = MerkleProofs(services.views), random.Random(7)
    size = proofs.head().size
    asked = [rng.randrange(size) for _ in range(PROVED)]
    entries = [services.ledger.log(leaf, 1)[0] for leaf in asked]
    for what, works in (
        ("proof of a record", [lambda e=e: proofs.prove_inclusion(e.game, e.version) for e in entries]),
        ("proof that the tree has only grown", [lambda at=at: proofs.prove_consistency(at + 1) for at in asked]),
    ):
        taken = []
        for work in works:
            begun = time.perf_counter()
            if work() is None:
                raise SystemExit(f"no {what}")
            taken.append(1000 * (time.perf_counter() - begun))
        for share in (0.5, 0.95):
            costs.note(f"{what}, p{share * 100:.0f} (ms)", quantile(taken, share))


def _measure_game(costs: Costs, services: ServiceContainer, file: Path) -> None:
    """Export and prove the first game, which was played and is no copy."""
    game = services.ledger.log(0, 1)[0].game
    costs.take(f"export of a game of {LENGTH} records (s)", lambda: export_game(services, game, file))
    run_program(costs, "annals verify of it (s)", ["-m", "deploy", "verify", str(file), "--json"])


def main(argv: Sequence[str]) -> Iterator[str]:
    """Yield the table's rows, or do one piece of work in a folder."""
    if len(argv) > 1:
        folder = Path(argv[1])
        if argv[0] == "fill":
            fill(folder, int(argv[2]))
        else:
            PIECES[argv[0]](services := _services(folder))
            services.close()
        return
    records, found = int(argv[0]) if argv else 1_000_000, list[dict[str, float]]()
    for share in FEW:
        with tempfile.TemporaryDirectory(prefix="annals-perf-") as name:
            found.append(measure(records // share, Path(name)))
    yield from print_table(records, *found)


if __name__ == "__main__":
    for row in main(sys.argv[1:]):
        print(row)
