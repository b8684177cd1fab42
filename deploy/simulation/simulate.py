"""Whole games in one process or several: figures about a ruleset, and proofs that it holds together."""

from __future__ import annotations

import multiprocessing
import random
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from deploy.simulation.bot_files import player
from deploy.simulation.refusal_probes import Candidates, Prober
from domain.bots import deciding_seats
from domain.errors import VerificationError
from domain.kernel.game.game import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.ruleset import COMMON_CODES, AnyRuleset
from domain.kernel.schema.canonical_json import canonical
from domain.types import DIRECTOR, Json, Seat

PASSES = frozenset({"pass", "auto_pass"})
"""Types of moves that only let others go on."""

RARELY, MANY, AT_MOST = 0.05, 60, 8
"""How often moves are taken from a small world, how many at a time, and how often in a game."""

HELD = 600
"""Seconds for which half of the seats that are left are held."""

TEXTS = 5
"""So many failures are told in words."""

_NEVER = frozenset({"patched"})
_ONLY_WILD = frozenset({"vacated", "seated"})


@dataclass(frozen=True)
class Plan:
    """What is played. Game `i` depends on the plan and `i` alone."""

    rules: AnyRuleset
    seats: int
    games: int
    seed: int
    options: Mapping[str, Json] = field(default_factory=dict)
    bots: tuple[str, ...] = ()
    """By seat; names in BOTS, or files."""
    export_dir: Path | None = None
    wild: bool = False
    """Deadlines pass, players leave and come, the director rewinds."""
    probes: float = 1.0
    """Illegal moves tried per step, on average."""
    proved: int = 10
    """Every so manieth export is verified from the first record on."""
    candidates: Candidates | None = None
    """Moves of a small world, from which more illegal ones are tried now and then."""
    patch: Json = None
    """Merged into the state after the set-up, for situations that games seldom come to."""
    things: frozenset[str] = frozenset()
    """Ids (cards, tiles) whose mentions in facts are counted."""


@dataclass
class Tally:
    """What one game came to."""

    index: int
    moves: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    things: Counter[str] = field(default_factory=Counter)
    records: int = 0
    plays: int = 0
    """Records that hold moves."""
    passes: int = 0
    """Records that hold passes only."""
    size: int = 0
    """Canonical bytes of all records."""
    finished: bool = False
    places: dict[Seat, int] = field(default_factory=dict)
    points: dict[Seat, int] = field(default_factory=dict)
    failures: int = 0
    texts: list[str] = field(default_factory=list)
    """The first few failures in words."""
    seconds: float = 0.0
    """Time spent on choosing and playing moves, without probes and checks."""


def simulate(
    rules: AnyRuleset,
    seats: int,
    games: int,
    seed: int,
    options: Mapping[str, Json] | None = None,
    bot: str | Sequence[str] = "builder",
    jobs: int = 1,
    export_dir: Path | None = None,
    *,
    wild: bool = False,
    probes: float = 1.0,
    things: Iterable[str] = (),
    candidates: Candidates | None = None,
    patch: Json = None,
) -> dict[str, Json]:
    """Plays the games and returns their figures; apart from the times they do not depend on `jobs`.

    `seconds` is how long it all took; `moves_per_second` counts the time of choosing and playing alone, per process.
    `bot` names one of BOTS, or a file, for all seats or one per seat; `things` are ids whose mentions in facts are
    counted.
    Raises InvalidTable for seats or options that the ruleset does not allow.
    """
    table = rules.make_table(seats, options)
    bots = (bot,) * seats if isinstance(bot, str) else tuple(bot)
    plan = Plan(
        rules,
        seats,
        games,
        seed,
        table.options,
        bots,
        export_dir,
        wild,
        probes,
        10,
        candidates,
        patch,
        frozenset(things),
    )
    if export_dir:
        export_dir.mkdir(parents=True, exist_ok=True)
    begun = time.perf_counter()
    tallies = list(_spread(plan, min(jobs, games))) if jobs > 1 else [play(plan, i) for i in range(games)]
    seconds = time.perf_counter() - begun
    tallies.sort(key=lambda t: t.index)
    return _figures(plan, bot, tallies, seconds)


# --- one game --------------------------------------------------------------------------------------------------


def play(plan: Plan, index: int) -> Tally:
    """Game number `index` of the plan; whatever goes wrong stands in the tally."""
    game = _Game(plan, index)
    try:
        game.run()
    except Exception as error:  # noqa: BLE001  a fault of the rules, in whatever form, is what is looked for
        game.fail(f"{type(error).__name__}: {error}")
    return game.tally


class _Game:
    def __init__(self, plan: Plan, index: int) -> None:
        self.plan, self.rules, self.tally = plan, plan.rules, Tally(index)
        self.rng = random.Random(f"{plan.seed}|{index}")  # noqa: S311  bots need no secret dice
        probing = random.Random(f"{plan.seed}|{index}|probes")  # noqa: S311  likewise
        self.prober = Prober(plan.rules, probing)
        self.known = {*COMMON_CODES, *plan.rules.meta.codes}
        self.match: InMemoryGame[Any] | None = None
        self.anchor = 0
        self.worlds, self.looked = 0, set[str]()

    def fail(self, text: str) -> None:
        """Keep a failure with what is needed to see it again."""
        plan, version = self.plan, self.match.game.version if self.match else 0
        where = f"seats {plan.seats}, seed {plan.seed}, game {self.tally.index}, version {version}"
        self.tally.failures += 1
        if len(self.tally.texts) < TEXTS:
            self.tally.texts.append(f"{where}: {text}")

    def run(self) -> None:
        """From the set-up to the export."""
        plan, index = self.plan, self.tally.index
        name = f"{plan.rules.meta.ruleset.split('@')[0]}-{plan.seed}-{index}"
        self.match = match = InMemoryGame(
            plan.rules, plan.seats, self.rng.randbytes(32), options=plan.options, game=name, patch=plan.patch
        )
        self.anchor = match.game.version
        for record in match.records:
            self._count(record, "")
        limit = self.rules.meta.max_moves
        while not match.state.over and self.tally.moves.total() < limit:
            self._step(match)
        self._end(match)

    def _step(self, match: InMemoryGame[Any]) -> None:
        self._probe(match)
        kind, begun = match.state.top.kind, time.perf_counter()
        record = self._act(match)
        self.tally.seconds += time.perf_counter() - begun
        self._count(record, kind)

    def _act(self, match: InMemoryGame[Any]) -> Record:
        if self.plan.wild and (record := self._fate(match)):
            return record
        if match.state.top.engine:
            return match.resolve()
        while True:
            seat = self.rng.choice(deciding_seats(match))
            if seat in match.state.vacant:
                if seat in match.state.top.owing:
                    return match.lapse(seats=[seat])
                continue
            move = player(self.plan.bots[seat])(match, seat, self.rng)
            if move is not None:
                self.prober.learn(move)
                return match.play(seat, move, decision=match.decisions()[0].id)

    def _fate(self, match: InMemoryGame[Any]) -> Record | None:
        """What else happens to a game; the bots play on where nothing does."""
        chance, empty = self.rng.random(), (*match.state.vacant, *match.game.unvacated_seats)
        if chance < 0.02 and match.state.top.owing:
            return match.lapse()
        if chance < 0.03:
            return self._back(match)
        if chance < 0.04 and len(empty) < match.state.seats - 1:
            self.anchor = match.game.version + 1
            seat = self.rng.choice([s for s in range(match.state.seats) if s not in empty])
            return match.leave(seat, self.rng.choice((0, HELD)))
        if chance > 0.95 and match.game.unvacated_seats:
            self.anchor = match.game.version + 1
            return match.vacate(match.game.unvacated_seats[0])
        if chance > 0.9 and empty:
            self.anchor = match.game.version + 1
            return match.join(empty[0], f"p{match.game.version}")
        return None

    def _back(self, match: InMemoryGame[Any]) -> Record | None:
        """A rewind by up to eight records, not past a change of players."""
        line = [v for v in match.active_versions()[-9:-1] if v >= self.anchor]
        return match.rewind(self.rng.choice(line), fresh=self.rng.random() < 0.5) if line else None

    def _probe(self, match: InMemoryGame[Any]) -> None:
        rate, dice = self.plan.probes, self.prober.rng
        tries = int(rate) + (dice.random() < rate % 1)
        head = match.game
        for _ in range(tries):
            code = self.prober.code(match)
            if code is not None:
                self._refused(code)
        if self.plan.candidates and self._looks_around(dice, match.state.top.kind if match.state.frames else ""):
            for code in self.prober.codes_of(match, self.plan.candidates, MANY):
                self._refused(code)
        if match.game is not head:
            self.fail("a refused move has changed the game")

    def _looks_around(self, dice: random.Random, kind: str) -> bool:
        """Now and then; where the state was patched also at the first decision of each kind, for which that is done."""
        first = bool(self.plan.patch) and kind not in self.looked
        often = self.worlds < AT_MOST and dice.random() < RARELY
        self.worlds += often
        self.looked.add(kind)
        return often or first

    def _refused(self, code: str) -> None:
        self.tally.codes[code] += 1
        if code not in self.known:
            self.fail(f"the refusal {code} stands in no list")

    def _count(self, record: Record, kind: str) -> None:
        tally, match = self.tally, self.match
        tally.records += 1
        tally.size += len(canonical(record.public)) + len(canonical(record.packs))
        facts = facts_for(record, DIRECTOR)
        tally.facts.update(f["t"] for f in facts)
        if self.plan.things:
            tally.things.update(self.plan.things.intersection(_strings(facts)))
        types = [kind] if record.kind == "resolved" else [move["type"] for _, move in record.moves()]
        tally.moves.update(types)
        tally.plays += bool(types)
        tally.passes += bool(types) and PASSES.issuperset(types)
        if match is not None and record.kind not in ("opened", "joined"):
            for broken in self.rules.check(match.state):
                self.fail(f"broken: {broken}")

    def _end(self, match: InMemoryGame[Any]) -> None:
        self.tally.finished = match.state.over
        if match.state.over:
            self._probe(match)
            for score in self.rules.scores(match.state):
                self.tally.places[score.seat], self.tally.points[score.seat] = score.place, score.points
            self._count(match.close(), "")
        if fold(self.rules, match.records) != match.game:
            self.fail("the records fold to another position")
        data = export.dump(match.records, DIRECTOR)
        if self.tally.index % self.plan.proved == 0:
            self._prove(data)
        if self.plan.export_dir:
            (self.plan.export_dir / f"{match.game.id}.jsonl").write_bytes(data)

    def _prove(self, data: bytes) -> None:
        try:
            verify.verify(self.rules, export.parse(data))
        except VerificationError as error:
            self.fail(f"the export does not verify: {error}")


def _strings(value: Json) -> Iterator[str]:
    """Every string in a document, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


# --- several processes -----------------------------------------------------------------------------------------


def _spread(plan: Plan, jobs: int) -> Iterator[Tally]:
    """The games over so many processes, in any order."""
    fork = multiprocessing.get_context("fork")  # a ruleset is made of functions, which cannot be sent
    workers, pipes = [], []
    for first in range(jobs):
        mine, theirs = fork.Pipe(duplex=False)
        worker = fork.Process(target=_work, args=(plan, range(first, plan.games, jobs), theirs))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # about threads, of which a worker uses none
            worker.start()
        theirs.close()
        workers.append(worker)
        pipes.append(mine)
    yield from _received(pipes)
    for worker in workers:
        worker.join()
        if worker.exitcode:
            raise RuntimeError(f"a process that played has ended with {worker.exitcode}")


def _work(plan: Plan, indices: Sequence[int], out: Connection) -> None:
    for index in indices:
        out.send(play(plan, index))
    out.close()


def _received(pipes: list[Connection]) -> Iterator[Tally]:
    while pipes:
        ready = wait(pipes)
        for pipe in [p for p in pipes if p in ready]:
            try:
                yield pipe.recv()
            except EOFError:
                pipes.remove(pipe)


# --- figures ---------------------------------------------------------------------------------------------------


def fact_kinds(rules: AnyRuleset, wild: bool = False) -> list[str]:
    """Kinds of facts that a game can hold: the ruleset's own, and those of the flow."""
    return sorted({*rules.fact_kinds} - _NEVER - (frozenset() if wild else _ONLY_WILD))


def refusal_codes(rules: AnyRuleset) -> list[str]:
    """Codes that a move can be refused with."""
    return sorted({*rules.meta.codes, *COMMON_CODES})


def _counts(universe: Sequence[str], counters: Iterator[Counter[str]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return {name: total[name] for name in sorted({*universe, *total})}


def _means(plan: Plan, values: Sequence[Mapping[Seat, int]]) -> list[Json]:
    """Mean by seat over the games that ended, in seat order; null where none did."""
    ended = [v for v in values if v]
    return [round(sum(v[s] for v in ended) / len(ended), 2) if ended else None for s in range(plan.seats)]


def _figures(plan: Plan, bot: str | Sequence[str], tallies: Sequence[Tally], seconds: float) -> dict[str, Json]:
    rules, games = plan.rules, max(plan.games, 1)
    by_move = _counts(sorted(rules.moves), (t.moves for t in tallies))
    by_fact = _counts(fact_kinds(rules, plan.wild), (t.facts for t in tallies))
    moves, playing = sum(by_move.values()), sum(t.seconds for t in tallies)
    return {
        "ruleset": rules.meta.ruleset,
        "seats": plan.seats,
        "seed": plan.seed,
        "bot": bot if isinstance(bot, str) else list(bot),
        "options": dict(plan.options),
        "games": plan.games,
        "finished": sum(t.finished for t in tallies),
        "moves": moves,
        "facts": sum(by_fact.values()),
        "seconds": round(seconds, 3),
        "moves_per_second": round(moves / playing) if playing else 0,
        "moves_per_game": round(moves / games, 1),
        "bytes_per_move": round(sum(t.size for t in tallies) / max(sum(t.records for t in tallies), 1)),
        "passes_share": round(sum(t.passes for t in tallies) / max(sum(t.plays for t in tallies), 1), 3),
        "mean_points": _means(plan, [t.points for t in tallies]),
        "mean_place": _means(plan, [t.places for t in tallies]),
        "invariant_failures": sum(t.failures for t in tallies),
        "first_failures": [text for t in tallies for text in t.texts][:TEXTS],
        "moves_by_type": by_move,
        "facts_by_kind": by_fact,
        "refusals_by_code": _counts(refusal_codes(rules), (t.codes for t in tallies)),
        **({"things_by_id": _counts(sorted(plan.things), (t.things for t in tallies))} if plan.things else {}),
    }
