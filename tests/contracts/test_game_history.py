"""Earlier versions in memory: each is what a fold from the first record gives, and a rewind reads little."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from domain import game_history
from domain.command_handler import CommandHandler, new_game_id
from domain.errors import RuleError, VerificationError
from domain.game_history import GameHistory
from domain.kernel.game.director_commands import Rewind
from domain.kernel.game.game import AnyGame
from domain.kernel.game.game_fold import active_versions, initial_game, iterate_games
from domain.kernel.records.record import Record
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.service.seed_store import SeedStore
from tests.long_games import play_long_game
from tests.rulesets import FLOWS, REGISTERED, Registered

CATALOGUE = RulesetRegistry(entry.rules for entry in REGISTERED)
ORDERS = next(entry for entry in FLOWS if entry.name == "orders@1")
RECORDS = 120


@pytest.fixture(autouse=True)
def _near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep many versions of short games."""
    monkeypatch.setattr(game_history, "SPACING", 8)
    monkeypatch.setattr(game_history, "LATEST", 3)


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    ledger = Ledger.open("sqlite://", bytes(32))
    ledger.migrate()
    yield ledger
    ledger.close()


def store(ledger: Ledger, entry: Registered, count: int = RECORDS, *, seed: int = 7, name: str = "") -> str:
    """Store a game in which one record in seven goes back, often to before another one that did."""
    name = name or new_game_id()
    secret = SeedStore(ledger, ledger.keys).create(name)
    match = play_long_game(
        entry.rules, entry.seats, count, name=name, rewinds=0.15, options=entry.options, seed=seed, secret=secret
    )
    ledger.append(name, match.records, 0)
    return name


def fold_all(records: Sequence[Record]) -> list[AnyGame]:
    """Return all versions, each with those before it."""
    rules = CATALOGUE.get(records[0].body["ruleset"])
    first: AnyGame = initial_game(rules, records[0])
    return [first, *iterate_games(rules, first, records[1:])]


@pytest.mark.parametrize("entry", REGISTERED, ids=lambda entry: entry.name)
def test_every_version_is_the_fold_from_the_first_record(ledger: Ledger, entry: Registered) -> None:
    """Read record by record, and at random: by one process with kept versions, and by one that begins in the middle."""
    game, rng = store(ledger, entry), random.Random(3)
    records = ledger.read(game)
    games = fold_all(records)
    cache, found = GameHistory(ledger, CATALOGUE), games[0]
    for record, right in zip(records[1:], games[1:], strict=True):
        found = cache.advance(entry.rules, found, record)
        assert found == right, record.version
        cache.note(found)
    assert cache.size
    for versions in (cache, GameHistory(ledger, CATALOGUE), GameHistory(ledger, CATALOGUE, 5_000)):
        for version in rng.sample(range(1, len(games) + 1), 20):
            assert versions.load(game, version) == games[version - 1], version
        assert versions.load(game) == games[-1]
        assert versions.load(game).hash == games[-1].hash


def test_versions_are_active_as_the_records_tell(ledger: Ledger) -> None:
    records = ledger.read(store(ledger, ORDERS, 400))
    for game in fold_all(records)[::7]:
        active = [v for v in range(-1, game.version + 3) if game.is_active(v)]
        assert active == active_versions(records[: game.version])


def test_the_bytes_of_all_kept_versions_are_bounded(ledger: Ledger) -> None:
    games = [store(ledger, ORDERS, 60, seed=seed) for seed in range(6)]
    sizes = []
    for game in games:
        alone = GameHistory(ledger, CATALOGUE)
        alone.load(game)
        sizes.append(alone.size)
    together = GameHistory(ledger, CATALOGUE, sum(sizes) // 2)
    for game in games:
        together.load(game)
    assert 0 < together.size <= sum(sizes) // 2
    none = GameHistory(ledger, CATALOGUE, 10)
    none.load(games[0])
    assert none.size == 0


def test_versions_of_another_log_are_not_used(ledger: Ledger) -> None:
    game = store(ledger, ORDERS)
    cache = GameHistory(ledger, CATALOGUE)
    cache.load(game)
    other = Ledger.open("sqlite://", bytes(32))
    other.migrate()
    store(other, ORDERS, RECORDS - 20, seed=8, name=game)
    games = fold_all(other.read(game))
    cache.ledger = other
    for version in (60, 100, 9, 90):
        assert cache.load(game, version) == games[version - 1]
    with pytest.raises(VerificationError):
        cache.load(game, RECORDS)
    other.close()


def test_a_rewind_reads_few_records(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long game: by who goes back, and by another process that goes on."""
    match = play_long_game(ORDERS.rules, ORDERS.seats, 1_000, name=(game := new_game_id()), rewinds=0)
    seeds = SeedStore(ledger, ledger.keys)
    seeds.create(game)
    ledger.append(game, match.records, 0)
    here, there = (CommandHandler(ledger, CATALOGUE, seeds, lambda: match.now + 1000) for _ in range(2))
    assert here.game(game) == there.game(game)
    read, original = [], ledger.read

    def count(*args: object, **more: object) -> list[Record]:
        records = original(*args, **more)  # type: ignore[arg-type] # whatever the caller passes
        read.append(len(records))
        return records

    monkeypatch.setattr(ledger, "read", count)
    for back in (1, 3, 400, 2, 5, 1):
        game_now = here.game(game)
        to = max(v for v in range(game_now.version) if game_now.is_active(v) and v <= game_now.version - back)
        del read[:]
        here.handle(game, Rewind(to))
        there.game(game)
        assert sum(read) <= 2 * (2 * game_history.SPACING + back), (back, read)
    assert here.game(game) == there.game(game) == fold_all(original(game))[-1]
    with pytest.raises(RuleError, match="not_on_line"):
        here.game_at(here.game(game), 999)
