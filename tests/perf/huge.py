"""Costs of one very long game, each beside the same at a tenth of its length: `python -m tests.perf.huge [RECORDS]`.

Outside CI: 100,000 records take the better part of an hour. Seconds are those of the processor, with children.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from deploy.backup.game_repair import repair_game
from deploy.backup.snapshot import restore_snapshot, take_snapshot
from deploy.config.settings import Settings, load_settings
from deploy.runtime.wiring import ServiceContainer, create_services, migrate
from domain.command_handler import new_game_id
from domain.kernel.game.game_fold import fold
from domain.kernel.game.table_commands import Close
from domain.kernel.records import export
from domain.kernel.records.record import Record
from domain.ruleset_registry import load_shipped
from domain.types import PUBLIC
from projections.projector import Projector
from projections.viewer_history import ViewerHistory
from tests.damage import overwrite
from tests.long_games import play_long_game
from workers.maintenance.archiving import GameArchiver

ROOT = Path(__file__).parents[2]
RULESET, SEATS, SEED, REWINDS = "egc", 10, 7, 0.0005
PAGE, BOARDS = 500, 100
FEW = (10, 1)
"""A tenth, and the whole."""


class Costs:
    """Seconds of the processor of each piece of work, and other figures by their names."""

    def __init__(self) -> None:
        self.found: dict[str, float] = {}

    def take(self, what: str, work: Callable[[], object], count: int = 1) -> None:
        """Note what the work took, for each of `count`."""
        begun = _processor()
        work()
        self.note(what, (_processor() - begun) / count)

    def note(self, what: str, value: float) -> None:
        """Note a figure, and print it."""
        self.found[what] = value
        print(f"{what}: {value:.4g}", file=sys.stderr, flush=True)


def _processor() -> float:
    return sum(os.times()[:4])


def measure(records: int, folder: Path) -> dict[str, float]:
    """Play a game of so many records and do with it all that is ever done with a game."""
    costs, rules, game = Costs(), load_shipped().latest(RULESET), new_game_id()
    settings = load_settings({"data": str(folder / "data")}, {"ANNALS_REDIS_URL": "redis://127.0.0.1:1"})
    migrate(settings)
    services = create_services(settings, load_shipped())
    secret = services.seed_store.create(game)
    log: list[Record] = []

    def play() -> None:
        match = play_long_game(rules, SEATS, records - 1, name=game, seed=SEED, rewinds=REWINDS, secret=secret)
        match.execute(Close("abandoned", "director"))
        log.extend(match.records)

    def append() -> None:
        for begin in range(0, len(log), PAGE):
            services.ledger.append(game, log[begin : begin + PAGE], begin)

    costs.take("play, in memory (s)", play)
    costs.note("rewinds", sum(record.kind == "rewound" for record in log))
    costs.take("append, 500 at once (s)", append)
    costs.note("log (MB)", settings.ledger_file.stat().st_size / 1e6)
    costs.take("fold (s)", lambda: fold(rules, log))
    log.clear()
    costs.take("read (s)", lambda: sum(1 for _ in services.ledger.read(game)))
    costs.take("views and tree (s)", lambda: _project(services))
    _measure_past(costs, services, game, records)
    file = folder / "game.annals"
    _measure_export(costs, services, game, file)
    _measure_archive(costs, settings, services, game, folder, file)
    services.close()
    return costs.found


def _project(services: ServiceContainer) -> None:
    pump = Projector(ViewerHistory(services.ledger, services.registry, services.views), "perf")
    while pump.run(0):
        pass


def _measure_past(costs: Costs, services: ServiceContainer, game: str, records: int) -> None:
    rng = random.Random(SEED)
    versions = [rng.randrange(SEATS + 2, records) for _ in range(BOARDS)]

    def load(among: Sequence[int]) -> None:
        past = ViewerHistory(services.ledger, services.registry, services.views)
        for version in among:
            past.load_for(game, version, PUBLIC)

    costs.take("first past board, next to last (s)", lambda: load([records - 1]))
    costs.take("a past board (s)", lambda: load(versions), BOARDS)


def _measure_export(costs: Costs, services: ServiceContainer, game: str, file: Path) -> None:
    costs.take("export (s)", lambda: export_game(services, game, file))
    costs.note("export (MB)", file.stat().st_size / 1e6)
    for what, command in (
        ("annals verify", ["-m", "deploy", "verify", str(file), "--json"]),
        ("one-file verifier", ["clients/verifier/annals_verify.py", str(file)]),
    ):
        costs.note(f"{what}, peak (MB)", run_program(costs, f"{what} (s)", command))


def export_game(services: ServiceContainer, game: str, file: Path) -> None:
    """Write the export as the API streams it."""
    ledger = services.ledger
    head = services.ledger.version(game)
    (first,), (last,) = ledger.read_original(game, 0, 1), ledger.read_original(game, head - 1, head)
    pages = (
        record
        for begin in range(0, head, PAGE)
        for record in ledger.read_original(game, begin, min(begin + PAGE, head))
    )
    with file.open("wb") as out:
        out.writelines(export.lines(first, last, pages))


_ALONE = """
import json, resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""
"""Runs a program for a small process: a child's peak begins with that of its parent."""


def run_program(costs: Costs, what: str, command: Sequence[str]) -> float:
    """Run a program that must succeed; return the most memory of it or of a child, MB."""
    program = [sys.executable, "-c", _ALONE, sys.executable, "-P", *command]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(program, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True)
    seconds, peak = json.loads(done.stdout)
    costs.note(what, seconds)
    return float(peak) / 1e3


def _measure_archive(
    costs: Costs, settings: Settings, services: ServiceContainer, game: str, folder: Path, file: Path
) -> None:
    copy, new = (
        folder / "copy",
        load_settings({"data": str(folder / "new")}, {"ANNALS_REDIS_URL": "redis://127.0.0.1:1"}),
    )
    costs.take("backup (s)", lambda: take_snapshot(settings, copy))
    costs.take("archive (s)", lambda: _archive(services))
    archived = folder / "archived.annals"
    costs.take("export from the archive (s)", lambda: export_game(services, game, archived))
    if archived.read_bytes() != file.read_bytes():
        raise SystemExit("the archive has another game")
    past = ViewerHistory(services.ledger, services.registry, services.views)
    middle = services.ledger.version(game) // 2
    costs.take("first past board from the archive, at half (s)", lambda: past.load_for(game, middle, PUBLIC))
    overwrite(services.ledger, "UPDATE archive SET piece = ? WHERE first_version = 65", (b"rotten",))
    costs.take("repair of a rotten piece from the backup (s)", lambda: _repair(services, copy, game))
    overwrite(services.ledger, "UPDATE archive SET piece = ? WHERE first_version = 129", (b"rotten",))
    costs.take("repair of it from the export (s)", lambda: _repair(services, file, game))
    costs.take("restore of the backup (s)", lambda: restore_snapshot(new, copy))


def _archive(services: ServiceContainer) -> None:
    archiver = GameArchiver(services.build_worker_context(), 0)
    found = archiver.find_next()
    if found is None or not archiver.archive(found):
        raise SystemExit("the game is not archived")


def _repair(services: ServiceContainer, source: Path, game: str) -> None:
    report = repair_game(services, source, game)
    if len(report.repaired) != 64 or report.lost or report.first_damaged:
        raise SystemExit("; ".join(report.describe()))


def _row(what: str, tenth: float, whole: float) -> str:
    ratio = f"{whole / tenth:.1f}" if tenth else ""
    return f"| {what} | {tenth:.3g} | {whole:.3g} | {ratio} |"


def main(argv: Sequence[str]) -> Iterator[str]:
    """Yield the table's rows; each length has a process of its own."""
    records = int(argv[0]) if argv else 100_000
    if len(argv) > 1:
        with tempfile.TemporaryDirectory(prefix="annals-perf-") as folder:
            yield json.dumps(measure(records, Path(folder)))
        return
    tenth, whole = (_in_process(records // share) for share in FEW)
    yield from print_table(records, tenth, whole)


def print_table(records: int, tenth: Mapping[str, float], whole: Mapping[str, float]) -> Iterator[str]:
    """Yield the rows of a table: each cost beside the same at a tenth."""
    yield f"| quantity | {records // 10} records | {records} records | ratio |\n| --- | --- | --- | --- |"
    yield from (_row(what, tenth[what], whole[what]) for what in tenth)


def _in_process(records: int) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.perf.huge", str(records), "alone"]
    found: dict[str, float] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return found


if __name__ == "__main__":
    for row in main(sys.argv[1:]):
        print(row)
