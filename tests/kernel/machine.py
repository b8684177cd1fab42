"""A Hypothesis machine that plays any registered ruleset and checks the kernel's contract on the way."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec import Struct, convert

from deploy.simulation.refusal_probes import list_malformed
from domain.bots import deciding_seats
from domain.errors import DecisionClosed, NeedsChance, RuleError
from domain.kernel.game.director_commands import Extend, Hold, Look, Reissue, Shift
from domain.kernel.game.game_fold import fold, state_known_to
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.play_commands import Play, Rest
from domain.kernel.game.table_commands import Join, Leave
from domain.kernel.narration.template_context import public_dice, record_template_context, template_context
from domain.kernel.records.audience import TABLE_KEY
from domain.kernel.records.record import Record, facts_for, visible_packs
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import decisions, dry_run, query_builder
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import Draws, Seeded
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema import declarations
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.json_codec import from_json, to_json
from domain.rollouts import random_move, random_pick
from domain.types import DIRECTOR, PUBLIC, Doc, Json, Seat, Viewer
from tests.rulesets import Registered

seeds = st.integers(0, 2**32 - 1)


# --- players -----------------------------------------------------------------------------------------------------


def play_on(match: InMemoryGame[Any], rng: random.Random, moves: int) -> None:
    """So many random moves of the builder, fewer at the end of the game."""
    for _ in range(moves):
        if match.state.over:
            return
        if match.state.top.engine:
            match.resolve()
        else:
            seat = rng.choice(deciding_seats(match))
            match.play(seat, random_move(match.rules, match.state, seat, rng), decision=match.decisions()[0].id)


def complete(rules: Ruleset[Any], state: Any, seat: Seat, limit: int) -> list[Doc] | None:
    """Every move that the builder can complete; None when there are more than `limit`."""
    found: list[Doc] = []

    def visit(picks: list[Json]) -> bool:
        question = query_builder(rules, state, seat, picks)
        if not isinstance(question, Choice):
            found.append(question)
            return len(found) <= limit
        return all(visit([*picks, pick]) for pick in offers(question))

    return found if visit([]) else None


def offers(question: Choice) -> Iterator[Json]:
    """Every pick that a question admits."""
    if question.kind == "one":
        yield from question.values
    elif question.kind == "range":
        yield from range(question.lo, question.hi + 1)
    else:
        yield from (s for s in subsets(question.values) if question.lo <= len(s) <= question.hi)


def subsets(values: Sequence[Json]) -> Iterator[list[Json]]:
    """All subsets, in the order of the values."""
    if not values:
        yield []
        return
    for rest in subsets(values[1:]):
        yield rest
        yield [values[0], *rest]


# --- what somebody can get ---------------------------------------------------------------------------------------


def accepted(rules: Ruleset[Any], state: Any, seat: Seat, move: Doc) -> bool:
    """Whether decide takes the move, as far as its first draw."""
    return refusal(rules, state, seat, move) is None


def refusal(rules: Ruleset[Any], state: Any, seat: Seat, move: Doc) -> tuple[str, str, str] | None:
    """Code, rule and detail of a refusal, None when the move is accepted."""
    try:
        dry_run(rules, state, seat, [move])
    except RuleError as error:
        return error.code, error.rule, canonical(error.detail).decode()
    except NeedsChance:
        return None
    return None


def gets(entry: Registered, state: Any, viewer: Viewer, moves: Sequence[Doc]) -> bytes:
    """All that a viewer can get out of a state, as one document."""
    rules = entry.rules
    doc: dict[str, Json] = {
        "public": rules.player_view(state, PUBLIC),
        "own": rules.player_view(state, viewer) if viewer != PUBLIC else None,
        "decisions": [d.to_json() for d in decisions(rules, state, 0, viewer)],
    }
    if isinstance(viewer, int):
        doc["refusals"] = [refusal(rules, state, viewer, m) for m in moves]
        try:
            found = complete(rules, state, viewer, 300)
            doc["choices"] = found and sorted(map(canonical_text, found))
        except RuleError as error:
            doc["choices"] = error.code
    return canonical(doc)


def canonical_text(doc: Json) -> str:
    return canonical(doc).decode()


def is_as_declared(doc: Doc, kind: type[Struct]) -> bool:
    """Whether a document is read by its class, and is then the same."""
    return declarations.doc(convert(doc, kind)) == doc


def open_part(record: Record, viewer: Viewer) -> bytes:
    """What a viewer can get of a record, hashes and salts apart."""
    public = {k: v for k, v in record.public.items() if k not in ("seals", "prev", "openings")}
    public["seals"] = len(record.public.get("seals", ()))
    packs = visible_packs(record, viewer)
    own = {k: {n: v for n, v in p.items() if n not in ("salt", "pad")} for k, p in packs.items()}
    return canonical([public, own])


def spoken(record: Record) -> tuple[list[Json], list[Json]]:
    """The public facts and draws of a record, and those of single seats."""
    public = [*record.public.get("facts", ()), *record.public.get("draws", ())]
    packs = {k: p for k, p in record.packs.items() if k != TABLE_KEY}
    return public, [[k, p.get("facts"), p.get("draws")] for k, p in packs.items()]


# --- the machine -------------------------------------------------------------------------------------------------


class Machine(RuleBasedStateMachine):
    """Subclassed per ruleset by `machine_of`."""

    entry: Registered

    @initialize(seed=seeds)
    def begin(self, seed: int) -> None:
        entry = self.entry
        self.match = InMemoryGame(entry.rules, entry.seats, random.Random(seed).randbytes(32), options=entry.options)
        self.conserved = entry.conserved(to_json(self.match.state))

    @property
    def ruleset(self) -> Ruleset[Any]:
        return self.entry.rules

    @property
    def viewers(self) -> list[Viewer]:
        return [PUBLIC, *range(self.match.game.table.seats)]

    def running(self) -> bool:
        return not self.match.state.over

    def deciding(self) -> bool:
        return self.running() and not self.match.state.top.engine

    def a_seat(self, rng: random.Random) -> Seat:
        return rng.choice(deciding_seats(self.match))

    @precondition(running)
    @rule(seed=seeds, moves=st.integers(1, 40))
    def forward(self, seed: int, moves: int) -> None:
        """Every built move is accepted; the game terminates."""
        play_on(self.match, random.Random(seed), moves)
        assert len(self.match.records) < self.ruleset.meta.max_moves

    @precondition(deciding)
    @rule(seed=seeds)
    def mutate(self, seed: int) -> None:
        """A mutated move is refused with nothing changed and nothing drawn, or is as good as any other."""
        rng = random.Random(seed)
        seat = self.a_seat(rng)
        move = random_move(self.ruleset, self.match.state, seat, rng)
        head, records = self.match.game, len(self.match.records)
        for bad in list_malformed(move, rng):
            try:
                dry_run(self.ruleset, head.state, seat, [bad])
            except RuleError:
                assert self.match.game is head
            except NeedsChance:
                continue
        other = next((s for s in range(head.table.seats) if s not in deciding_seats(self.match)), None)
        if other is not None and self.ruleset.moves[move["type"]].admission.by != "any":
            assert refusal(self.ruleset, head.state, other, move) is not None
        assert len(self.match.records) == records

    @precondition(deciding)
    @rule(seed=seeds)
    def asked_anew(self, seed: int) -> None:
        """Asked from the first question on for every pick, the builder comes to the move of the same picks in a row."""
        seat, state, picks = self.a_seat(random.Random(seed)), self.match.state, list[Json]()
        dice = random.Random(seed)
        while isinstance(question := query_builder(self.ruleset, state, seat, picks), Choice):
            picks.append(random_pick(dice, question))
        assert question == random_move(self.ruleset, state, seat, random.Random(seed))

    @precondition(deciding)
    @rule(seed=seeds)
    def closed(self, seed: int) -> None:
        """A move that names another decision is refused."""
        rng = random.Random(seed)
        seat = self.a_seat(rng)
        head = self.match.game
        try:
            self.match.play(seat, random_move(self.ruleset, head.state, seat, rng), decision="0-0")
        except DecisionClosed:
            assert self.match.game is head
        else:
            raise AssertionError("accepted")

    @precondition(deciding)
    @rule()
    def lapse(self) -> None:
        """A missed deadline plays the defaults of all who owe."""
        asked = self.match.state.top
        self.match.lapse()
        assert asked.n not in [f.n for f in self.match.state.frames if f.owing]

    @precondition(running)
    @rule(seed=seeds)
    def rewind_and_replay(self, seed: int) -> None:
        """After a rewind the same moves bring the same draws and the same digests."""
        line = [v for v in self.match.active_versions() if self.match.game_at(v).status == "running"]
        undone = [self.match.records[v - 1] for v in line[-random.Random(seed).randint(1, 8) :]]
        undone = [r for r in undone if r.version != line[0]]
        if not undone or any(r.kind == "rewound" for r in undone):
            return
        to = max(v for v in line if v < undone[0].version)
        target = self.match.game_at(to)
        self.match.rewind(to)
        assert self.match.state == target.state
        for old in undone:
            new = self.replay(old)
            assert new.public.get("board") == old.public.get("board")
            assert new.packs[TABLE_KEY]["digest"] == old.packs[TABLE_KEY]["digest"]
            assert new.public.get("draws") == old.public.get("draws")

    @precondition(deciding)
    @rule(seed=seeds, seconds=st.integers(0, 5000))
    def every_command_before_a_rewind(self, seed: int, seconds: int) -> None:
        """Seating, banks, vacations, holds and grants stay; each decision has its time of then and what was granted."""
        head, rng = self.match.game, random.Random(seed)
        seat, decision = rng.randrange(head.state.seats), self.match.decisions()[0].id
        before = head.deadline
        for commands in (
            [Extend(decision, 60_000)],
            [Extend(decision, -60_000)],
            [Hold(seat, 60), Look()],
            [Hold(seat, 60), Hold(seat, 0)],
            [Leave(seat, 60), Join(seat, "substitute")],
            [Leave(seat)],
            [Rest(seat, 1)],
            [Reissue(seat)],
            [Shift(3_600_000)],
        ):
            fork = self.match.fork()
            for command in commands:
                fork.now += seconds * 1000 + (3_600_000 if isinstance(command, Shift) else 0)
                with suppress(RuleError, DecisionClosed):
                    fork.execute(command)
            last = fork.game
            if last.version == head.version:
                continue
            fork.rewind(head.version)
            now = fork.game
            assert (now.players, now.timing.granted, now.lasting.rewinds.epoch) == (
                last.players,
                last.timing.granted,
                last.lasting.rewinds.epoch,
            )
            assert [b.days for b in now.timing.banks] == [b.days for b in last.timing.banks]
            assert all(b.bank <= a.bank for a, b in zip(head.timing.banks, now.timing.banks, strict=True))
            assert fold(self.ruleset, fork.records) == now
            if before is not None and now.frames and now.deadline is not None:
                granted = max((now.timing.granted[s] - head.timing.granted[s] for s in head.state.top.asked), default=0)
                left = max(before - head.time, 0) + max(granted, 0)
                assert now.deadline - now.time == left or now.state != head.state or len(head.state.top.asked) > 1

    def replay(self, old: Record) -> Record:
        if old.kind == "resolved":
            return self.match.resolve()
        if old.kind == "lapsed":
            return self.match.lapse()
        return self.match.play(old.moves()[0][0], *(move for _, move in old.moves()))

    @precondition(deciding)
    @rule(seed=seeds)
    def leaving(self, seed: int) -> None:
        """Whoever leaves owes no secret answer any more: a default in a record of its own tells that."""
        before, seat = self.match.game, random.Random(seed).randrange(self.match.state.seats)
        after = Leave(seat).execute(self.ruleset, before, self.match.context).game.state
        assert not self.ruleset.check(after)
        if after.frames and after.top.secret:
            assert seat not in after.top.owing

    @precondition(deciding)
    @rule(seed=seeds)
    def brute_force(self, seed: int) -> None:
        """The builder completes exactly the moves that decide accepts."""
        state, seat = self.match.state, self.a_seat(random.Random(seed))
        found = complete(self.ruleset, state, seat, self.entry.brute)
        if found is None:
            return
        want = {canonical(m) for m in self.entry.candidates(state, seat) if accepted(self.ruleset, state, seat, m)}
        assert {canonical(m) for m in found} == want

    @precondition(deciding)
    @rule(seed=seeds)
    def twin(self, seed: int) -> None:
        """Dealing anew what a viewer cannot know changes nothing that it can get."""
        state = self.match.state
        for viewer in self.viewers:
            source = Seeded(random.Random(seed).randbytes(32), "twin")
            draft = Draft(self.ruleset, state, Draws(source))
            self.ruleset.redeal(draft, (viewer,))
            assert not self.ruleset.check(draft.state)
            moves = list(self.entry.candidates(state, viewer)) if isinstance(viewer, int) else []
            moves = random.Random(seed).sample(moves, min(len(moves), 60))
            assert gets(self.entry, draft.state, viewer, moves) == gets(self.entry, state, viewer, moves)

    @precondition(deciding)
    @rule(seed=seeds)
    def secret_answer(self, seed: int) -> None:
        """Two games that differ only in what a seat answered in secret give all others the same bytes."""
        rng = random.Random(seed)
        seat, head = self.a_seat(rng), self.match.game
        pair = [random_move(self.ruleset, head.state, seat, rng) for _ in range(2)]
        steps = [Play(seat, [m]).execute(self.ruleset, head, self.match.context) for m in pair]
        told, kept = zip(*(spoken(s.record) for s in steps), strict=True)
        hidden = [self.ruleset.moves[m["type"]].admission.hidden for m in pair]
        declared = all(hidden) and (pair[0]["type"] == pair[1]["type"] or "*" in hidden[0] + hidden[1])
        closed = any(s.game.state.over or s.game.state.top.n != head.state.top.n for s in steps)
        if closed or not (declared or (told[0] == told[1] and kept[0] != kept[1])):
            return
        others = [v for v in self.viewers if v != seat]
        for viewer in others:
            assert open_part(steps[0].record, viewer) == open_part(steps[1].record, viewer)
            seen = [gets(self.entry, s.game.state, viewer, ()) for s in steps]
            assert seen[0] == seen[1]

    @precondition(running)
    @rule()
    def folds(self) -> None:
        """Loading folds facts to the same position; the JSON form round-trips; records are JSON."""
        match = self.match
        stored = [Record(json.loads(canonical(r.public)), json.loads(canonical(r.packs))) for r in match.records]
        assert fold(self.ruleset, stored) == match.game
        doc = json.loads(canonical(to_json(match.state)))
        assert from_json(type(match.state), doc) == match.state

    @precondition(lambda self: hasattr(self, "match"))
    @rule()
    def leaks(self) -> None:
        """A sight is a function of the facts that its viewer may read."""
        for viewer in self.viewers:
            seen = state_known_to(self.ruleset, self.match.records, viewer)
            for part in {PUBLIC, viewer}:
                assert self.ruleset.player_view(seen, part) == self.ruleset.player_view(self.match.state, part)
            mine, real = (decisions(self.ruleset, s, 0, viewer) for s in (seen, self.match.state))
            assert mine == real
            assert self.ruleset.chapter(seen) == self.ruleset.chapter(self.match.state)

    @precondition(lambda self: hasattr(self, "match"))
    @rule()
    def tells(self) -> None:
        """What the sentence of a fact takes besides is the same for all of its readers."""
        rules, records = self.ruleset, self.match.records
        if records[-1].kind == "rewound" or len(records) < 2:
            return
        dice = public_dice(rules, records[-1])
        whole = record_template_context(rules, state_known_to(rules, records[:-1], DIRECTOR), records[-1])
        for viewer in (PUBLIC, *range(self.match.state.seats)):
            facts = facts_for(records[-1], viewer)
            seen = state_known_to(rules, records[:-1], viewer)
            assert template_context(rules, seen, facts, dice) == whole(facts)

    @precondition(lambda self: hasattr(self, "match"))
    @rule()
    def declared(self) -> None:
        """Sights and the details of scores are as they are declared."""
        rules, state = self.ruleset, self.match.state
        seats = [str(seat) for seat in range(state.seats)]
        full = rules.player_view(state, DIRECTOR)
        assert full["seats"] == {seat: rules.player_view(state, int(seat)) for seat in seats}
        shown = [("board", rules.player_view(state, PUBLIC)), ("hidden", full["hidden"])]
        shown += [("own", full["seats"][seat]) for seat in seats]
        shown += [("detail", score.to_json()["detail"]) for score in rules.scores(state)]
        for name, doc in shown:
            assert is_as_declared(doc, rules.view_types[name])

    @invariant()
    def sound(self) -> None:
        """Invariants hold, what is conserved is conserved, contexts of frames are as they are declared."""
        if hasattr(self, "match"):
            state = self.match.state
            assert not self.ruleset.check(state)
            assert self.entry.conserved(to_json(state)) == self.conserved
            assert all(is_as_declared(frame.data, self.ruleset.frames[frame.kind]) for frame in state.frames)


def machine_of(entry: Registered) -> type[Machine]:
    """The machine of one ruleset, for `hypothesis.stateful.run_state_machine_as_test`."""
    return type(f"Machine_{entry.name.replace('@', '_')}", (Machine,), {"entry": entry})
