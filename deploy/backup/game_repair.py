"""Repair of one game: damaged records are replaced from a backup, or from the export of a closed game.

A replacement must have the record's hash in the Merkle tree, its sealed packs and its position. So all published
heads and proofs stay valid. Records absent from the source stay damaged.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from deploy.backup import point_in_time
from deploy.backup.schema_check import check_ledger_file, check_schema
from deploy.backup.snapshot import KEY, LEDGER
from deploy.backup.source_files import MAX_DOCUMENT, BackupError, copy_source
from deploy.backup.source_files import read_source as read_source_file
from deploy.config.settings import Settings, SettingsError
from deploy.runtime.wiring import ServiceContainer
from domain.errors import AnnalsError, StaleVersion, StoreUnavailable, UnknownGame, VerificationError, WrongKey
from domain.kernel.records.export import parse
from domain.kernel.records.record import Record
from domain.ledger import Ledger
from domain.service.corruption import CorruptRecord
from domain.service.database import Row
from domain.tournaments.aggregate.tournament_proof import parse_export
from domain.types import is_tournament_id
from projections.integrity import missing_position

MAX_EXPORT = 2**29
"""Bytes of an export."""

_FIND_SEED = "SELECT nonce, box FROM seeds WHERE game = ?"
_STORE_SEED = """INSERT INTO seeds VALUES (?, ?, ?)
ON CONFLICT (game) DO UPDATE SET nonce = excluded.nonce, box = excluded.box"""


@dataclass
class RepairSource:
    """Records and seed of one game from a backup or export; untrusted."""

    records: Mapping[int, Record]
    seed: Row | None = None


@dataclass
class RepairReport:
    """Result of a repair."""

    game: str
    repaired: list[int] = field(default_factory=list)
    """Restored versions; 0 is the seed."""
    lost: list[tuple[int, str]] = field(default_factory=list)
    """Versions still damaged, with the reason."""
    first_damaged: int | None = None
    """First version still damaged."""

    def describe(self) -> Iterator[str]:
        """Yield the report as lines of text."""
        yield from (f"{_describe_version(version)} is put back" for version in self.repaired)
        yield from (f"{_describe_version(version)} is lost: {why}" for version, why in self.lost)
        if self.first_damaged is None:
            yield f"{self.game} is sound, and takes moves"
        elif self.first_damaged:
            yield f"{self.game} can be read up to version {self.first_damaged - 1}, and takes no moves"
        else:
            yield f"{self.game} can be read, and takes no moves"


def _describe_version(version: int) -> str:
    return f"version {version}" if version else "the seed"


def repair_game(services: ServiceContainer, source: Path, game: str, until: int | None = None) -> RepairReport:
    """Restore damaged records of a game from the source, also while the service runs.

    `until`: a running backup is read as of this time, ms. Raises SettingsError and UnknownGame.
    """
    inspector = services.build_worker_context().inspector
    corrupt_records = inspector.check_game(game)
    if not corrupt_records and not services.ledger.version(game):
        raise UnknownGame(game)
    report = RepairReport(game)
    with _temporary_folder(services.settings) as folder:
        repair_source = read_source(source, game, services.settings.load_key(), folder, until)
    for damage in corrupt_records:
        if why := _restore_record(services, damage, repair_source):
            report.lost.append((damage.version, why))
        else:
            report.repaired.append(damage.version)
    report.first_damaged = inspector.inspect(game)
    return report


def _restore_record(services: ServiceContainer, corrupt_record: CorruptRecord, repair_source: RepairSource) -> str:
    """Restore one record; return the reason if that fails, else an empty text."""
    if not corrupt_record.version:
        return _restore_seed(services, corrupt_record.game, repair_source)
    record = repair_source.records.get(corrupt_record.version)
    if record is None:
        return "the source does not have it"
    if not corrupt_record.hash:
        return "neither the tree nor the next record says what it was"
    try:
        position = services.ledger.position(corrupt_record.game, corrupt_record.version)
        if position is None:
            position = missing_position(services.ledger, services.views, corrupt_record.game, corrupt_record.version)
        with closing(Ledger.open(services.settings.owner_url, services.settings.load_key())) as owned:
            owned.repair.restore_records(
                corrupt_record.game, [(record, corrupt_record.hash, position)], corrupt_record.said
            )
    except VerificationError as error:
        return f"the source has another: {error.detail}"
    except StaleVersion:
        return "its place in the log is taken"
    return ""


def _restore_seed(services: ServiceContainer, game: str, repair_source: RepairSource) -> str:
    if repair_source.seed is None:
        return "the source does not have it"
    before = services.ledger.execute(_FIND_SEED, (game,))
    services.ledger.execute(_STORE_SEED, (game, *repair_source.seed))
    if any(d.version == 0 for d in services.build_worker_context().inspector.check_game(game)):
        for row in before:
            services.ledger.execute(_STORE_SEED, (game, *row))
        return "that of the source does not open, or is not what the opening has committed to"
    return ""


# --- sources ---------------------------------------------------------------------------------------------------


@contextmanager
def _temporary_folder(settings: Settings) -> Iterator[Path]:
    """Make a temporary folder for a source, under a lock; delete it afterwards, and leftovers before."""
    settings.make_data_folder()
    folder = settings.data / "mending"
    with (settings.data / "mending.lock").open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def read_source(source: Path, game: str, key: bytes, folder: Path, until: int | None = None) -> RepairSource:
    """Read a backup's folder or an export file. Raises SettingsError for anything else.

    `key` is the current master key; a backup contains its own. A backup is read from a copy in the empty `folder`,
    since SQLite may write to an open database.
    """
    if until is not None and not point_in_time.is_running_backup(source):
        raise SettingsError(f"{source} is one moment: --at is for a running backup")
    if source.is_file():
        return _read_export(source, game)
    copy = folder / LEDGER
    if (source / LEDGER).exists():
        copy_source(source / LEDGER, copy)
        check_schema(copy, source / LEDGER)
        return _read_copy(copy, game, _read_source_key(source, key))
    if point_in_time.is_running_backup(source):
        restored = point_in_time.restore_ledger(source, until, copy)
        check_ledger_file(copy, restored.base.folder)
        return _read_copy(copy, game, _read_source_key(restored.base.folder, key))
    raise SettingsError(f"{source} is neither a backup nor an export")


def _read_export(path: Path, game: str) -> RepairSource:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_EXPORT + 1)
        if len(data) > MAX_EXPORT:
            raise BackupError(f"{path} is larger than {MAX_EXPORT} bytes")
        records = parse_export(data) if is_tournament_id(game) else parse(data).records
    except VerificationError as error:
        raise SettingsError(f"{path} is no export: {error}") from None
    if records[0].body.get("tournament" if is_tournament_id(game) else "game") != game:
        raise SettingsError(f"{path} is of another game")
    return RepairSource({r.version: r for r in records})


def _read_source_key(source: Path, key: bytes) -> bytes:
    try:
        return bytes.fromhex(read_source_file(source / KEY, MAX_DOCUMENT).decode())
    except (OSError, ValueError):
        return key


def _read_copy(path: Path, game: str, key: bytes) -> RepairSource:
    """Read records one by one, since the copy can be damaged too. Raises SettingsError if nothing is readable."""
    with closing(Ledger.open(f"sqlite:///{quote(str(path.absolute()))}", key)) as ledger:
        records: dict[int, Record] = {}
        try:
            with suppress(StoreUnavailable):  # a ledger older than the keyring has none
                ledger.keys.check()
        except WrongKey:
            raise SettingsError("the source opens with another key: bring the one with which it was made") from None
        try:
            seeds, head = ledger.execute(_FIND_SEED, (game,)), ledger.version(game)
        except StoreUnavailable as error:
            raise SettingsError(f"the source cannot be read: {error}") from None
        for version in range(1, head + 1):
            try:
                records |= {r.version: r for r in ledger.read(game, version - 1, version)}
            except AnnalsError:
                continue
    return RepairSource(records, seeds[0] if seeds else None)
