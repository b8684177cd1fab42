"""Figures of the past: boards of any version, replays and digests of a long game, beside the board of now."""

from __future__ import annotations

import http.client
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import func, select

from deploy.config.settings import Settings, load_settings
from deploy.runtime import wiring
from deploy.simulation import demo
from domain.command_handler import new_game_id
from domain.ledger import Ledger
from domain.ruleset_registry import load_shipped
from domain.service.seat_tokens import SeatTokens
from domain.service.seed_store import SeedStore
from projections import schema
from projections.view_store import ViewStore
from tests.long_games import play_long_game
from tests.perf.figures import Figure, quantile, seconds
from tests.perf.line import Line

SEED = 7
PAGE = 500
REWINDS = 0.005
"""Share of rewinds: the projector folds a game anew at each."""

PART = 100
"""Requests of a kind over one connection."""

PATIENCE = 600.0
"""Seconds in which the views come to the end of the game."""


@dataclass(frozen=True)
class Long:
    """The game, and how much of its past is asked for."""

    name: str = "egc"
    seats: int = 10
    records: int = 10_000
    asked: int = 300
    """Boards of each kind."""

    @property
    def where(self) -> str:
        """As a position."""
        return f"{self.name}, {self.seats} seats: {self.records} records"


def figures(long: Long) -> Iterator[Figure]:
    """One game, one service."""
    with tempfile.TemporaryDirectory(prefix="annals-perf-") as folder:
        settings = load_settings({"data": folder}, {})
        wiring.migrate(settings)
        game, (token,) = store_game(settings, long, (0,))
        with demo.run_service(Path(folder)) as address:
            path = f"/v1/games/{game}"
            wait_for_views(address, path, long.records)
            for who, bearer in (("the public", ""), ("a seat", token)):
                yield from _boards(long, partial(Line, address, bearer), f"{path}/board", who)
            yield from _whole(long, address, path)
        yield _size(settings, long, game)


def store_game(settings: Settings, long: Long, seats: Iterable[int]) -> tuple[str, list[str]]:
    """Write the game into the ledger; return its id and the tokens of these seats."""
    game, rules = new_game_id(), load_shipped().latest(long.name)
    with closing(Ledger.open(settings.ledger_url, settings.load_key())) as ledger:
        secret, tokens = SeedStore(ledger, ledger.keys).create(game), SeatTokens(ledger, ledger.keys)
        match = play_long_game(rules, long.seats, long.records, name=game, seed=SEED, rewinds=REWINDS, secret=secret)
        made = {seat: tokens.make_token("perf", game, str(seat)).token for seat in seats}
        beside = [each for seat, token in made.items() for each in tokens.issue(game, seat, f"p{seat}", token)]
        for begin in range(0, len(match.records), PAGE):
            ledger.append(game, match.records[begin : begin + PAGE], begin, extra_statements=beside)
            beside = []
    return game, list(made.values())


def wait_for_views(address: str, path: str, version: int) -> None:
    """Wait until the views of a game have reached a version. Raises DemoError."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with Line(address) as line:
            reply = line.ask("GET", path)
        if reply.status == 200 and json.loads(reply.body)["version"] >= version:
            return
        time.sleep(0.2)
    raise demo.DemoError("the views do not come to the end of the game")


def _boards(long: Long, call: Callable[[], Line], path: str, who: str) -> Iterator[Figure]:
    """Boards of the past in turn with the board of now. The first one, which makes the keyframes, is taken alone."""
    rng, last = random.Random(SEED), long.records
    with call() as line:
        first = time_answer(line, f"{path}?version={last - 1}")
    yield Figure("first past board of a viewer", f"{long.where}, {who}", first, "ms", "")
    near = min(32, last // 3)
    for what, versions in (
        ("any version", [rng.randint(5, last) for _ in range(long.asked)]),
        *((f"around {at}", [at + rng.randint(-near, near) for _ in range(long.asked)]) for at in _places(last, near)),
    ):
        ours, now = _in_turn(call, path, _boards_at(path, versions))
        yield from _told("past board", f"{long.where}, {who}, {what}", ours, now)
    up = range(last // 2, last // 2 + min(long.asked, last // 4))
    for what, neighbours in (("up", up), ("down", [v - last // 4 for v in reversed(up)])):
        ours, now = _in_turn(call, path, _boards_at(path, neighbours))
        yield _ratio("neighbouring past board, p50", f"{long.where}, {who}, {what}", ours, now, 0.5, "<= 1.5 x now")


def _places(last: int, near: int) -> tuple[int, int, int]:
    return near + 5, last // 10 + near, last - near


def _boards_at(path: str, versions: Iterable[int]) -> list[str]:
    return [f"{path}?version={version}" for version in versions]


def _in_turn(call: Callable[[], Line], board: str, paths: Sequence[str]) -> tuple[list[float], list[float]]:
    """ms of each path, and of the board of now after each. A connection answers so many requests only."""
    ours, now = [], []
    for begin in range(0, len(paths), PART):
        with call() as line:
            for path in paths[begin : begin + PART]:
                ours.append(time_answer(line, path))
                now.append(time_answer(line, board))
    return ours, now


def time_answer(line: Line, path: str) -> float:
    """Return the ms until an answer is read. Raises DemoError."""
    begun = time.perf_counter()
    reply = line.ask("GET", path)
    taken = 1000 * (time.perf_counter() - begun)
    if reply.status != 200:
        raise demo.DemoError(f"{path}: {reply.status}")
    return taken


def _told(what: str, where: str, ours: Sequence[float], now: Sequence[float]) -> Iterator[Figure]:
    yield _ratio(f"{what}, p50", where, ours, now, 0.5, "<= 3 x now")
    yield _ratio(f"{what}, p95", where, ours, now, 0.95, "<= 6 x now")


def _ratio(what: str, where: str, ours: Sequence[float], now: Sequence[float], share: float, budget: str) -> Figure:
    return Figure(what, where, quantile(ours, share), "ms", budget, quantile(now, share), "board of now")


def _whole(long: Long, address: str, path: str) -> Iterator[Figure]:
    """The whole game as one stream, and as a digest."""
    rng, last, call, board = random.Random(SEED), long.records, partial(Line, address), f"{path}/board"
    with call() as line:
        yield Figure("first digest of a viewer", long.where, time_answer(line, f"{path}/digest"), "ms", "")
    visits = [last - back for back in range(50, 150, 2)]
    pages = [rng.randrange(last - 49) for _ in range(3 * PART)]
    now: Sequence[float] = ()
    visited, paged = f"{long.where}, 50 to 150 versions", f"{long.where}, any version"
    for what, where, paths, budgets in (
        ("digest of the whole game", long.where, [f"{path}/digest"] * 50, ("", "<= 5 x now")),
        ("scores of a running game", long.where, [f"{path}/scores"] * 50, ("", "<= 5 x now")),
        ("digest since a visit", visited, [f"{path}/digest?after={at}" for at in visits], ("", "<= 5 x now")),
        ("timeline, 50 entries", paged, [f"{path}/timeline?after={at}" for at in pages], ("", "<= 5 x now")),
        (
            "changes of the board since a visit",
            visited,
            [f"{path}/board/changes?from={at}" for at in visits],
            ("<= 3 x now", "<= 6 x now"),
        ),
    ):
        ours, now = _in_turn(call, board, paths)
        for share, budget in zip((0.5, 0.95), budgets, strict=True):
            limit = [quantile(now, 0.5)]  # of both: that of now at p95 is chance
            yield _ratio(f"{what}, p{share * 100:.0f}", where, ours, limit, share, budget)
    taken = seconds(lambda: drain(address, f"{path}/replay"))
    yield Figure(
        "replay, for each version", long.where, 1000 * taken / last, "ms", "", quantile(now, 0.5), "board of now, p50"
    )


def drain(address: str, path: str) -> None:
    """Read an answer to its end, as it comes."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
    with closing(connection):
        connection.request("GET", path, headers={"Accept": "application/x-ndjson"})
        answer, last = connection.getresponse(), b""
        while chunk := answer.read(2**16):
            last = (last + chunk)[-100:]
    if b'"event":"end"' not in last:
        raise demo.DemoError(f"{path}: it ends with {last!r}")


def _size(settings: Settings, long: Long, game: str) -> Figure:
    """Bytes of the keyframes of two viewers for each of the log's."""
    with closing(Ledger.open(settings.ledger_url, settings.load_key())) as ledger:
        ((log,),) = ledger.execute("SELECT sum(length(state)) FROM records")
        views = ViewStore(settings.views_url, ledger.keys)
        with closing(views), views.reading() as db:
            doc = schema.keyframes.c.doc
            size = db.execute(select(func.sum(func.length(doc))).where(schema.keyframes.c.game == game)).scalar() or 0
    return Figure("bytes of keyframes", f"{long.where}, two viewers", size, "bytes", "<= 1 x log", float(log), "log")


if __name__ == "__main__":
    for figure in figures(Long()):
        print(figure.line(), flush=True)
