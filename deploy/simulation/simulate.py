"""Simulation of whole games in one or several processes: figures about a ruleset, and checks of its rules."""

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

from deploy.simulation.bot_files import load_bot
from deploy.simulation.refusal_probes import Candidates, RefusalProbe
from domain.bots import deciding_seats
from domain.errors import VerificationError
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.joint_game import JointChanceGame
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.joint_chance import JointTranscript, check_rounds, transcript_to_json
from domain.kernel.rules.ruleset import COMMON_CODES, AnyRuleset
from domain.kernel.schema.canonical_json import canonical
from domain.types import DIRECTOR, Json, Seat

PASSES = frozenset({"pass", "auto_pass"})
"""Types of moves that only pass."""

CANDIDATE_SHARE, CANDIDATES_PER_ROUND, MAX_CANDIDATE_ROUNDS = 0.05, 60, 8
"""Share of steps with candidate moves, moves per round, and rounds per game."""

HOLD_SECONDS = 600
"""Seconds of hold for half of the vacated seats."""

MAX_TEXTS = 5
"""Failures reported as texts."""

_NEVER = frozenset({"patched", "restored"})
_ONLY_WILD = frozenset({"vacated", "seated"})


@dataclass(frozen=True)
class SimulationPlan:
    """Parameters of a simulation. Game `i` depends on the plan and `i` alone."""

    rules: AnyRuleset
    seats: int
    games: int
    seed: int
    options: Mapping[str, Json] = field(default_factory=dict)
    bots: tuple[str, ...] = ()
    """Bots by seat: names in BOTS, or files."""
    export_dir: Path | None = None
    wild: bool = False
    """Play with missed deadlines, changes of players and rewinds."""
    probes: float = 1.0
    """Average number of illegal moves tried per step."""
    verify_every: int = 10
    """Each export whose index is divisible by this number is verified."""
    candidates: Candidates | None = None
    """Source of more illegal moves, used in some steps."""
    patch: Json = None
    """Merged into the state after the set-up, for rare situations."""
    things: frozenset[str] = frozenset()
    """Ids, such as cards or tiles, to count in facts."""
    joint: bool = False
    """Draw with joint chance; each export has its transcript beside it."""


@dataclass
class GameTally:
    """Figures of one game."""

    index: int
    moves: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    things: Counter[str] = field(default_factory=Counter)
    records: int = 0
    plays: int = 0
    """Records with moves."""
    passes: int = 0
    """Records with passes only."""
    size: int = 0
    """Canonical size of all records, bytes."""
    finished: bool = False
    places: dict[Seat, int] = field(default_factory=dict)
    points: dict[Seat, int] = field(default_factory=dict)
    failures: int = 0
    texts: list[str] = field(default_factory=list)
    """The first failures as texts."""
    seconds: float = 0.0
    """Time for choosing and playing moves, without probes and checks."""


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
    joint: bool = False,
) -> dict[str, Json]:
    """Play the games and return their figures. Apart from times, they do not depend on `jobs`.

    `bot` is one of BOTS or a file, for all seats or one per seat. `things` are ids to count in facts. `seconds` is the
    total time; `moves_per_second` counts only choosing and playing, per process.
    Raises InvalidTable for seats or options outside the ruleset.
    """
    table = rules.make_table(seats, options)
    bots = (bot,) * seats if isinstance(bot, str) else tuple(bot)
    plan = SimulationPlan(
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
        joint,
    )
    if export_dir:
        export_dir.mkdir(parents=True, exist_ok=True)
    begun = time.perf_counter()
    tallies = (
        list(_play_in_processes(plan, min(jobs, games))) if jobs > 1 else [play_game(plan, i) for i in range(games)]
    )
    seconds = time.perf_counter() - begun
    tallies.sort(key=lambda t: t.index)
    return _build_figures(plan, bot, tallies, seconds)


# --- one game --------------------------------------------------------------------------------------------------


def play_game(plan: SimulationPlan, index: int) -> GameTally:
    """Play game `index` of the plan; failures are in the tally."""
    game = _SimulatedGame(plan, index)
    try:
        game.run()
    except Exception as error:  # noqa: BLE001  any exception is a fault of the rules to report
        game.note_failure(f"{type(error).__name__}: {error}")
    return game.tally


class _SimulatedGame:
    def __init__(self, plan: SimulationPlan, index: int) -> None:
        self.plan = plan
        self.rules = plan.rules
        self.tally = GameTally(index)
        self.rng = random.Random(f"{plan.seed}|{index}")  # noqa: S311  bots need no secret dice
        probing = random.Random(f"{plan.seed}|{index}|probes")  # noqa: S311  likewise
        self.probe = RefusalProbe(plan.rules, probing)
        self.known_codes = {*COMMON_CODES, *plan.rules.meta.codes}
        self.match: InMemoryGame[Any] | None = None
        self.anchor = 0
        self.candidate_rounds = 0
        self.probed_kinds = set[str]()

    def note_failure(self, text: str) -> None:
        """Record a failure with the parameters to reproduce it."""
        plan, version = self.plan, self.match.game.version if self.match else 0
        where = f"seats {plan.seats}, seed {plan.seed}, game {self.tally.index}, version {version}"
        self.tally.failures += 1
        if len(self.tally.texts) < MAX_TEXTS:
            self.tally.texts.append(f"{where}: {text}")

    def run(self) -> None:
        """Play from the set-up to the export."""
        plan, index = self.plan, self.tally.index
        name = f"{plan.rules.meta.ruleset.split('@')[0]}-{plan.seed}-{index}"
        seed = self.rng.randbytes(32)
        if plan.joint:
            secret = self.rng.randbytes(32)
            self.match = JointChanceGame(plan.rules, plan.seats, seed, secret, game=name, options=plan.options)
        else:
            self.match = InMemoryGame(plan.rules, plan.seats, seed, options=plan.options, game=name, patch=plan.patch)
        match = self.match
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
        record = self._play_record(match)
        self.tally.seconds += time.perf_counter() - begun
        self._count(record, kind)

    def _play_record(self, match: InMemoryGame[Any]) -> Record:
        if self.plan.wild and (record := self._play_event(match)):
            return record
        if match.state.top.engine:
            return match.resolve()
        while True:
            seat = self.rng.choice(deciding_seats(match))
            if seat in match.state.vacant:
                if seat in match.state.top.owing:
                    return match.lapse(seats=[seat])
                continue
            move = load_bot(self.plan.bots[seat])(match, seat, self.rng)
            if move is not None:
                self.probe.learn(move)
                return match.play(seat, move, decision=match.decisions()[0].id)

    def _play_event(self, match: InMemoryGame[Any]) -> Record | None:
        """Play a random event: missed deadlines, a rewind, a player who leaves or joins. None if there is no event."""
        chance, empty = self.rng.random(), (*match.state.vacant, *match.game.unvacated_seats)
        if chance < 0.02 and match.state.top.owing:
            return match.lapse()
        if chance < 0.03:
            return self._rewind(match)
        if chance < 0.04 and len(empty) < match.state.seats - 1:
            self.anchor = match.game.version + 1
            seat = self.rng.choice([s for s in range(match.state.seats) if s not in empty])
            return match.leave(seat, self.rng.choice((0, HOLD_SECONDS)))
        if chance > 0.95 and match.game.unvacated_seats:
            self.anchor = match.game.version + 1
            return match.vacate(match.game.unvacated_seats[0])
        if chance > 0.9 and empty:
            self.anchor = match.game.version + 1
            return match.join(empty[0], f"p{match.game.version}")
        return None

    def _rewind(self, match: InMemoryGame[Any]) -> Record | None:
        """Rewind by up to eight records, but not past a change of players."""
        line = [v for v in match.active_versions()[-9:-1] if v >= self.anchor]
        return match.rewind(self.rng.choice(line), fresh=self.rng.random() < 0.5) if line else None

    def _probe(self, match: InMemoryGame[Any]) -> None:
        rate, dice = self.plan.probes, self.probe.rng
        tries = int(rate) + (dice.random() < rate % 1)
        head = match.game
        for _ in range(tries):
            code = self.probe.probe(match)
            if code is not None:
                self._count_refusal(code)
        if self.plan.candidates and self._tries_candidates(dice, match.state.top.kind if match.state.frames else ""):
            for code in self.probe.probe_candidates(match, self.plan.candidates, CANDIDATES_PER_ROUND):
                self._count_refusal(code)
        if match.game is not head:
            self.note_failure("a refused move has changed the game")

    def _tries_candidates(self, dice: random.Random, kind: str) -> bool:
        """Return whether to try candidates: at random, and in a patched game at the first decision of each kind."""
        first = bool(self.plan.patch) and kind not in self.probed_kinds
        often = self.candidate_rounds < MAX_CANDIDATE_ROUNDS and dice.random() < CANDIDATE_SHARE
        self.candidate_rounds += often
        self.probed_kinds.add(kind)
        return often or first

    def _count_refusal(self, code: str) -> None:
        self.tally.codes[code] += 1
        if code not in self.known_codes:
            self.note_failure(f"the refusal {code} stands in no list")

    def _count(self, record: Record, kind: str) -> None:
        tally, match = self.tally, self.match
        tally.records += 1
        tally.size += len(canonical(record.public)) + len(canonical(record.packs))
        facts = facts_for(record, DIRECTOR)
        tally.facts.update(f["t"] for f in facts)
        if self.plan.things:
            tally.things.update(self.plan.things.intersection(_list_strings(facts)))
        types = [kind] if record.kind == "resolved" else [move["type"] for _, move in record.moves()]
        tally.moves.update(types)
        tally.plays += bool(types)
        tally.passes += bool(types) and PASSES.issuperset(types)
        if match is not None and record.kind not in ("opened", "joined"):
            for broken in self.rules.check(match.state):
                self.note_failure(f"broken: {broken}")

    def _end(self, match: InMemoryGame[Any]) -> None:
        self.tally.finished = match.state.over
        if match.state.over:
            self._probe(match)
            for score in self.rules.scores(match.state):
                self.tally.places[score.seat], self.tally.points[score.seat] = score.place, score.points
            self._count(match.close(), "")
        if fold(self.rules, match.records) != match.game:
            self.note_failure("the records fold to another position")
        data = export.dump(match.records, DIRECTOR)
        transcript = match.transcript if isinstance(match, JointChanceGame) else None
        if self.tally.index % self.plan.verify_every == 0:
            self._verify(data, transcript)
        if self.plan.export_dir:
            (self.plan.export_dir / f"{match.game.id}.jsonl").write_bytes(data)
            if transcript:
                (self.plan.export_dir / f"{match.game.id}.joint.json").write_bytes(transcript_to_json(transcript))

    def _verify(self, data: bytes, transcript: JointTranscript | None) -> None:
        def replay(rules: AnyRuleset, parsed: export.Export, seed: bytes) -> verify.ReplayCounts:
            sources = check_rounds(seed, transcript) if transcript else None
            return verify.replay(rules, parsed, seed, sources=sources)

        try:
            verify.verify(self.rules, export.parse(data), replayer=replay)
        except VerificationError as error:
            self.note_failure(f"the export does not verify: {error}")


def _list_strings(value: Json) -> Iterator[str]:
    """Yield every string of a document, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _list_strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _list_strings(item)


# --- several processes -----------------------------------------------------------------------------------------


def _play_in_processes(plan: SimulationPlan, jobs: int) -> Iterator[GameTally]:
    """Play the games in `jobs` processes; yield tallies in any order."""
    fork = multiprocessing.get_context("fork")  # a ruleset consists of functions, which cannot be pickled
    workers, pipes = [], []
    for first in range(jobs):
        mine, theirs = fork.Pipe(duplex=False)
        worker = fork.Process(target=_play_games, args=(plan, range(first, plan.games, jobs), theirs))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # about threads; a worker uses none
            worker.start()
        theirs.close()
        workers.append(worker)
        pipes.append(mine)
    yield from _receive_tallies(pipes)
    for worker in workers:
        worker.join()
        if worker.exitcode:
            raise RuntimeError(f"a process that played has ended with {worker.exitcode}")


def _play_games(plan: SimulationPlan, indices: Sequence[int], out: Connection) -> None:
    for index in indices:
        out.send(play_game(plan, index))
    out.close()


def _receive_tallies(pipes: list[Connection]) -> Iterator[GameTally]:
    while pipes:
        ready = wait(pipes)
        for pipe in [p for p in pipes if p in ready]:
            try:
                yield pipe.recv()
            except EOFError:
                pipes.remove(pipe)


# --- figures ---------------------------------------------------------------------------------------------------


def list_fact_kinds(rules: AnyRuleset, wild: bool = False) -> list[str]:
    """Return all kinds of facts of a game: the ruleset's and the flow's."""
    return sorted({*rules.fact_kinds} - _NEVER - (frozenset() if wild else _ONLY_WILD))


def list_refusal_codes(rules: AnyRuleset) -> list[str]:
    """Return all codes of refused moves."""
    return sorted({*rules.meta.codes, *COMMON_CODES})


def _sum_counts(universe: Sequence[str], counters: Iterator[Counter[str]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return {name: total[name] for name in sorted({*universe, *total})}


def _mean_by_seat(plan: SimulationPlan, values: Sequence[Mapping[Seat, int]]) -> list[Json]:
    """Return the mean by seat over finished games, in seat order; None if there are none."""
    ended = [v for v in values if v]
    return [round(sum(v[s] for v in ended) / len(ended), 2) if ended else None for s in range(plan.seats)]


def _build_figures(
    plan: SimulationPlan, bot: str | Sequence[str], tallies: Sequence[GameTally], seconds: float
) -> dict[str, Json]:
    rules, games = plan.rules, max(plan.games, 1)
    by_move = _sum_counts(sorted(rules.moves), (t.moves for t in tallies))
    by_fact = _sum_counts(list_fact_kinds(rules, plan.wild), (t.facts for t in tallies))
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
        "mean_points": _mean_by_seat(plan, [t.points for t in tallies]),
        "mean_place": _mean_by_seat(plan, [t.places for t in tallies]),
        "invariant_failures": sum(t.failures for t in tallies),
        "first_failures": [text for t in tallies for text in t.texts][:MAX_TEXTS],
        "moves_by_type": by_move,
        "facts_by_kind": by_fact,
        "refusals_by_code": _sum_counts(list_refusal_codes(rules), (t.codes for t in tallies)),
        **({"things_by_id": _sum_counts(sorted(plan.things), (t.things for t in tallies))} if plan.things else {}),
    }
