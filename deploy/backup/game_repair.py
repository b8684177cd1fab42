"""One game put right: what is damaged of it is replaced from a backup, or from the export of a closed game.

Nothing is replaced but by a record whose hash stands in the tree, with the packs that were sealed, at the position that
it had; so every head and every proof that somebody holds stays true. What the source does not have stays damaged.
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
from deploy.backup.snapshot import KEY, LEDGER
from deploy.config.settings import Settings, SettingsError
from deploy.runtime.wiring import Services
from domain.errors import AnnalsError, StaleVersion, StoreUnavailable, UnknownGame, VerificationError, WrongKey
from domain.kernel.records.export import parse
from domain.kernel.records.record import Record
from domain.ledger import Ledger
from domain.service.corruption import CorruptRecord
from domain.service.database import Row
from projections.integrity import missing_position

_SEED = "SELECT nonce, box FROM seeds WHERE game = ?"
_PUT_SEED = """INSERT INTO seeds VALUES (?, ?, ?)
ON CONFLICT (game) DO UPDATE SET nonce = excluded.nonce, box = excluded.box"""


@dataclass
class Source:
    """What a backup or an export has of one game; nothing of it is believed."""

    records: Mapping[int, Record]
    seed: Row | None = None


@dataclass
class Mended:
    """What became of a game."""

    game: str
    mended: list[int] = field(default_factory=list)
    """Versions; 0 is the seed."""
    lost: list[tuple[int, str]] = field(default_factory=list)
    """Versions that are still damaged, and why."""
    first: int | None = None
    """The first that is damaged still."""

    def lines(self) -> Iterator[str]:
        """For people."""
        yield from (f"{_named(version)} is put back" for version in self.mended)
        yield from (f"{_named(version)} is lost: {why}" for version, why in self.lost)
        if self.first is None:
            yield f"{self.game} is sound, and takes moves"
        elif self.first:
            yield f"{self.game} can be read up to version {self.first - 1}, and takes no moves"
        else:
            yield f"{self.game} can be read, and takes no moves"


def _named(version: int) -> str:
    return f"version {version}" if version else "the seed"


def mend(services: Services, source: Path, game: str, until: int | None = None) -> Mended:
    """Put back whatever the source has, also while the service runs; of a running backup as it was at that time, ms.

    Raises SettingsError and UnknownGame.
    """
    inspector = services.crew().inspector
    damages = inspector.check_game(game)
    if not damages and not services.ledger.version(game):
        raise UnknownGame(game)
    made = Mended(game)
    with _room(services.settings) as room:
        given = read(source, game, services.settings.key(), room, until)
    for damage in damages:
        if why := _put_back(services, damage, given):
            made.lost.append((damage.version, why))
        else:
            made.mended.append(damage.version)
    made.first = inspector.inspect(game)
    return made


def _put_back(services: Services, damage: CorruptRecord, given: Source) -> str:
    """Why it cannot be; nothing if it was."""
    if not damage.version:
        return _put_seed(services, damage.game, given)
    record = given.records.get(damage.version)
    if record is None:
        return "the source does not have it"
    if not damage.hash:
        return "neither the tree nor the next record says what it was"
    try:
        position = services.ledger.position(damage.game, damage.version)
        if position is None:
            position = missing_position(services.ledger, services.views, damage.game, damage.version)
        with closing(Ledger.open(services.settings.owner_url, services.settings.key())) as owned:
            owned.repair.restore_records(damage.game, [(record, damage.hash, position)], damage.said)
    except VerificationError as error:
        return f"the source has another: {error.detail}"
    except StaleVersion:
        return "its place in the log is taken"
    return ""


def _put_seed(services: Services, game: str, given: Source) -> str:
    if given.seed is None:
        return "the source does not have it"
    before = services.ledger.execute(_SEED, (game,))
    services.ledger.execute(_PUT_SEED, (game, *given.seed))
    if any(d.version == 0 for d in services.crew().inspector.check_game(game)):
        for row in before:
            services.ledger.execute(_PUT_SEED, (game, *row))
        return "that of the source does not open, or is not what the opening has committed to"
    return ""


# --- sources ---------------------------------------------------------------------------------------------------


@contextmanager
def _room(settings: Settings) -> Iterator[Path]:
    """A folder for the copy of a source, for one after the other: it goes with what one that was killed has left."""
    settings.prepare()
    folder = settings.data / "mending"
    with (settings.data / "mending.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def read(source: Path, game: str, key: bytes, room: Path, until: int | None = None) -> Source:
    """A folder of a backup, or the file of an export; raises SettingsError for anything else.

    `key` is the master key of now; a backup that was made under another has that key beside it. A backup is read from
    a copy in the empty folder `room`: whoever opens a database may write into it.
    """
    if until is not None and not point_in_time.is_running_backup(source):
        raise SettingsError(f"{source} is one moment: --at is for a running backup")
    if source.is_file():
        return _exported(source, game)
    copy = room / LEDGER
    if (source / LEDGER).is_file():
        shutil.copyfile(source / LEDGER, copy)
        return _copied(copy, game, _key_of(source, key))
    if point_in_time.is_running_backup(source):
        made = point_in_time.make(source, until, copy)
        return _copied(copy, game, _key_of(made.generation.folder, key))
    raise SettingsError(f"{source} is neither a backup nor an export")


def _exported(path: Path, game: str) -> Source:
    try:
        found = parse(path.read_bytes())
    except VerificationError as error:
        raise SettingsError(f"{path} is no export: {error}") from None
    if found.game != game:
        raise SettingsError(f"{path} is of another game")
    return Source({r.version: r for r in found.records})


def _key_of(source: Path, key: bytes) -> bytes:
    try:
        return bytes.fromhex((source / KEY).read_text())
    except (OSError, ValueError):
        return key


def _copied(path: Path, game: str, key: bytes) -> Source:
    """Record by record: the copy may be damaged as well. Raises SettingsError where nothing of it can be read."""
    with closing(Ledger.open(f"sqlite:///{quote(str(path.absolute()))}", key)) as ledger:
        found: dict[int, Record] = {}
        try:
            with suppress(StoreUnavailable):  # one that is older than the ring has none
                ledger.keys.check()
        except WrongKey:
            raise SettingsError("the source opens with another key: bring the one with which it was made") from None
        try:
            seeds, head = ledger.execute(_SEED, (game,)), ledger.version(game)
        except StoreUnavailable as error:
            raise SettingsError(f"the source cannot be read: {error}") from None
        for version in range(1, head + 1):
            try:
                found |= {r.version: r for r in ledger.read(game, version - 1, version)}
            except AnnalsError:
                continue
    return Source(found, seeds[0] if seeds else None)
