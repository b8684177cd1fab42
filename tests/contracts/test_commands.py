"""Commands: decided on what is known, appended on what is expected, answered once and for ever."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from domain.command_handler import CommandHandler, CommandResult, ExtraStatements, GameConditions, new_game_id
from domain.errors import (
    CommandReused,
    DecisionClosed,
    InvalidTable,
    NotSeated,
    RuleError,
    StaleVersion,
    StoreUnavailable,
    UnknownGame,
    UnknownRuleset,
)
from domain.kernel.game.director_commands import Rewind
from domain.kernel.game.game import Game
from domain.kernel.game.game_fold import active_versions
from domain.kernel.game.play_commands import Lapse, Play, Resolve, Rest
from domain.kernel.game.table_commands import Close, Join, Leave, Reveal, Start
from domain.kernel.records.record import Record
from domain.kernel.rules.draws import commitment
from domain.kernel.schema.canonical_json import canonical
from domain.ledger import Ledger
from domain.service.corruption import CorruptRecord, CorruptRecords
from domain.service.keyring import Keyring
from domain.service.seed_store import SeedStore
from tests.contracts import context
from tests.contracts.context import KEY, decision, refolded, running

SUBMIT = {"type": "submit"}
PASS = {"type": "pass"}
NONCE = "0f" * 32


@pytest.fixture
def commands(ledger: Ledger) -> CommandHandler:
    return context.commands(ledger)


@pytest.fixture
def others(ledger: Ledger) -> CommandHandler:
    """The commands of another process: they know only what they read."""
    return context.commands(ledger)


def kinds(records: Any) -> list[str]:
    return [r.kind for r in records]


class Watched(Ledger):
    """Counts what is read, and fails appends when told to."""

    reads: list[int]
    full = False

    def read(self, game: str, after: int = 0, upto: int | None = None) -> list[Record]:
        found = super().read(game, after, upto)
        self.reads.append(len(found))
        return found

    def append(self, *args: Any) -> Any:
        if self.full:
            raise StoreUnavailable("disk full")
        return super().append(*args)


@pytest.fixture
def watched(ledger: Ledger, url: str) -> Watched:
    watched = Watched.open(url)
    assert isinstance(watched, Watched)
    watched.reads = []
    return watched


class TestTable:
    def test_a_game_is_opened_joined_and_started(self, commands: CommandHandler, ledger: Ledger) -> None:
        game = running(commands)
        assert kinds(ledger.read(game)) == ["opened", "joined", "joined", "joined", "started"]
        assert commands.game(game).status == "running"

    def test_an_answer_names_versions_records_and_the_last_position(
        self, commands: CommandHandler, ledger: Ledger
    ) -> None:
        game = new_game_id()
        answer = commands.open(game, "orders@1", 2, body={"undo": "none"})
        assert answer == CommandResult(game, (1,), ledger.log(0, 9)[-1].position, tuple(ledger.read(game)))
        assert answer.records[0].body["undo"] == "none"

    def test_a_seat_may_leave_commit_and_reveal(self, commands: CommandHandler, ledger: Ledger) -> None:
        game = new_game_id()
        commands.open(game, "orders@1", 2)
        commands.handle(game, Join(0, "ann"))
        commands.handle(game, Leave(0))
        commands.handle(game, Join(0, "bob", commitment(bytes.fromhex(NONCE))))
        commands.handle(game, Join(1, "cid"))
        commands.handle(game, Reveal(0, NONCE))
        assert kinds(ledger.read(game)) == ["opened", "joined", "left", "joined", "joined", "revealed"]

    def test_what_cannot_be_opened_leaves_nothing(self, commands: CommandHandler, ledger: Ledger) -> None:
        game = new_game_id()
        with pytest.raises(UnknownRuleset):
            commands.open(game, "chess@1", 2)
        with pytest.raises(InvalidTable):
            commands.open(game, "orders@1", 7)
        assert ledger.version(game) == 0
        with pytest.raises(UnknownGame):
            SeedStore(ledger, Keyring(ledger, KEY)).seed(game)

    def test_the_head_comes_with_the_first_corrupt_version(self, commands: CommandHandler, ledger: Ledger) -> None:
        game = new_game_id()
        assert ledger.head(game) == ledger.head("no id") == (0, None)
        commands.open(game, "orders@1", 2)
        commands.handle(game, Join(0, "ann"))
        assert ledger.head(game) == (2, None)
        CorruptRecords(ledger).replace(game, [CorruptRecord(game, 2, "altered")], 0)
        assert ledger.head(game) == (2, 2)
        CorruptRecords(ledger).replace(game, [CorruptRecord(game, 0, "no seed"), CorruptRecord(game, 1, "altered")], 0)
        assert ledger.head(game) == (2, 0)

    def test_a_game_is_opened_once(self, commands: CommandHandler, others: CommandHandler) -> None:
        game = new_game_id()
        commands.open(game, "orders@1", 2)
        with pytest.raises(StaleVersion):
            others.open(game, "orders@1", 2)
        assert refusal(lambda: commands.handle(game, Join(9, "ann"))) == "unknown_seat"

    @pytest.mark.parametrize("name", ["", "nothing", context.game(7)])
    def test_an_unknown_game_is_told(self, commands: CommandHandler, name: str) -> None:
        with pytest.raises(UnknownGame):
            commands.handle(name, Join(0, "ann"))
        with pytest.raises(UnknownGame):
            commands.handle(name, Play(0, [PASS]), GameConditions(idempotency_key="c"))

    def test_the_id_of_a_new_game_is_random(self) -> None:
        assert new_game_id() != new_game_id()


class TestSecrets:
    def test_the_seed_is_in_no_record_before_the_end(self, commands: CommandHandler, ledger: Ledger) -> None:
        game = running(commands, turns=1)
        seed = SeedStore(ledger, Keyring(ledger, KEY)).seed(game)
        assert seed.hex().encode() not in b"".join(canonical([r.public, r.packs]) for r in ledger.read(game))
        answer = commands.handle(game, Close("abandoned"))
        assert answer.records[0].body == {"reason": "abandoned", "seed": seed.hex()}

    def test_what_a_process_remembers_does_not_show_it(self, commands: CommandHandler, ledger: Ledger) -> None:
        game = running(commands)
        seed = SeedStore(ledger, Keyring(ledger, KEY)).seed(game)
        shown = repr(commands._recent.get(game)) + repr(commands) + repr(vars(commands))
        assert repr(seed) not in shown
        assert seed.hex() not in shown


class TestEnd:
    def test_record_that_ends_and_one_that_closes_are_one_append(
        self, commands: CommandHandler, ledger: Ledger
    ) -> None:
        game = running(commands, turns=1)
        for seat in range(3):
            commands.handle(game, Play(seat, [SUBMIT], decision=decision(commands, game)))
        head = ledger.version(game)
        answer = commands.handle(game, Resolve(decision(commands, game)), GameConditions(idempotency_key="turn-1"))
        assert (answer.versions, kinds(answer.records)) == ((head + 1, head + 2), ["resolved", "closed"])
        assert answer.position == ledger.log(0, 99)[-1].position
        assert commands.game(game).status == "closed"
        row = ledger.find_command(game, "turn-1")
        assert row is not None
        assert (row.first, row.last) == (head + 1, head + 2)

    @pytest.mark.parametrize("verb", ["move", "lapse", "rule", "leave"])
    def test_whatever_ends_a_game_closes_it(self, commands: CommandHandler, ledger: Ledger, verb: str) -> None:
        ruleset, options = ("orders@1", {}) if verb == "leave" else ("skirmish@1", {"turns": 1})
        game = running(commands, ruleset, **options)
        if verb == "leave":  # the orders end when the last player has left
            commands.handle(game, Leave(0))
            commands.handle(game, Leave(1))
            commands.handle(game, Leave(2))
            commands.handle(game, Resolve(decision(commands, game)))
        elif verb == "lapse":
            commands.handle(game, Lapse(decision(commands, game)))
        else:
            commands.handle(game, Play(0, [PASS], by="seat" if verb == "move" else "director"))
        assert ledger.read(game)[-1].kind == "closed"

    def test_after_the_end_nothing_is_played(self, commands: CommandHandler) -> None:
        game = running(commands, "skirmish@1", turns=1)
        commands.handle(game, Play(0, [PASS]))
        assert refusal(lambda: commands.handle(game, Play(1, [PASS]))) == "game_over"
        assert refusal(lambda: commands.handle(game, Close())) == "game_over"

    def test_a_running_game_is_not_closed_as_finished(self, commands: CommandHandler) -> None:
        game = running(commands)
        assert refusal(lambda: commands.handle(game, Close())) == "still_running"


class TestDecision:
    def test_seats_that_answer_at_once_do_not_disturb_each_other(
        self, commands: CommandHandler, ledger: Ledger
    ) -> None:
        game = running(commands, seats=10)
        open_now = decision(commands, game)
        with ThreadPoolExecutor(10) as pool:
            list(pool.map(lambda seat: commands.handle(game, Play(seat, [SUBMIT], decision=open_now)), range(10)))
        assert kinds(ledger.read(game)[-10:]) == ["moved"] * 10
        assert commands.game(game).state.top.kind == "resolve"
        assert commands.game(game) == refolded(ledger, game)

    def test_nor_do_they_from_different_processes(self, commands: CommandHandler, ledger: Ledger, url: str) -> None:
        game = running(commands)
        versions = context.together(3, context.submit, url, game, decision(commands, game))
        assert sorted(v for mine in versions for v in mine) == [6, 7, 8]
        assert commands.game(game).state.top.kind == "resolve"

    def test_a_turn_is_resolved_by_one_worker(self, commands: CommandHandler, ledger: Ledger, url: str) -> None:
        game = running(commands)
        commands.handle(game, Lapse(decision(commands, game)))
        done = context.together(3, context.resolve, url, game, decision(commands, game))
        assert sorted(done) == [False, False, True]
        assert kinds(ledger.read(game)).count("resolved") == 1

    def test_an_answer_to_a_decision_that_is_gone_is_refused(
        self, commands: CommandHandler, others: CommandHandler
    ) -> None:
        game = running(commands, "skirmish@1")
        before = decision(commands, game)
        others.handle(game, Play(0, [PASS], decision=before))
        uses: list[Callable[[], CommandResult]] = [
            lambda: commands.handle(game, Play(0, [PASS], decision=before)),
            lambda: commands.handle(game, Play(0, [PASS], decision=before, by="director")),
            lambda: commands.handle(game, Lapse(before)),
            lambda: commands.handle(game, Resolve(before)),
        ]
        for use in uses:
            with pytest.raises(DecisionClosed):
                use()

    def test_move_of_a_decision_later_than_known_is_accepted(
        self, commands: CommandHandler, others: CommandHandler
    ) -> None:
        game = running(commands, "skirmish@1")
        others.handle(game, Play(0, [PASS]))
        assert commands.handle(game, Play(1, [PASS], decision=decision(others, game))).versions == (7,)

    def test_a_lost_race_is_decided_anew_each_time(self, watched: Watched, others: CommandHandler) -> None:
        commands = context.commands(watched)
        game = running(others)
        open_now = decision(commands, game)
        others.handle(game, Play(0, [SUBMIT], decision=open_now))
        others.handle(game, Play(1, [SUBMIT], decision=open_now))
        assert commands.handle(game, Play(2, [SUBMIT], decision=open_now)).versions == (8,)
        assert watched.reads[-1] == 2


class TestExpected:
    def test_the_head_is_accepted_also_where_it_is_news(self, commands: CommandHandler, others: CommandHandler) -> None:
        game = running(commands, "skirmish@1")
        others.handle(game, Play(0, [PASS]), GameConditions(expected=5))
        assert commands.handle(game, Play(1, [PASS]), GameConditions(expected=6)).versions == (7,)

    @pytest.mark.parametrize("expected", [0, 4, 6, 99])
    def test_any_other_version_is_stale_at_once(self, commands: CommandHandler, ledger: Ledger, expected: int) -> None:
        game = running(commands, "skirmish@1")
        with pytest.raises(StaleVersion) as caught:
            commands.handle(game, Play(0, [PASS]), GameConditions(expected=expected))
        assert (caught.value.expected, caught.value.version, ledger.version(game)) == (expected, 5, 5)

    def test_a_version_that_was_the_head_when_last_seen_is_stale(
        self, commands: CommandHandler, others: CommandHandler
    ) -> None:
        game = running(commands)
        open_now = decision(commands, game)
        others.handle(game, Play(0, [SUBMIT], decision=open_now))
        with pytest.raises(StaleVersion) as caught:
            commands.handle(game, Play(1, [SUBMIT], decision=open_now), GameConditions(expected=5))
        assert (caught.value.expected, caught.value.version) == (5, 6)

    def test_what_is_stale_is_not_called_a_breach_of_the_rules(
        self, commands: CommandHandler, others: CommandHandler
    ) -> None:
        game = running(commands, "skirmish@1")
        others.handle(game, Play(0, [PASS]))
        with pytest.raises(StaleVersion):
            commands.handle(game, Play(1, [PASS]), GameConditions(expected=5))

    def test_move_without_version_and_decision_is_for_the_newest(
        self, commands: CommandHandler, others: CommandHandler
    ) -> None:
        game = running(commands, "skirmish@1")
        others.handle(game, Play(0, [PASS]))
        assert refusal(lambda: commands.handle(game, Play(0, [PASS]))) == "not_your_decision"
        assert commands.handle(game, Play(1, [PASS])).versions == (7,)


class TestRepetition:
    def test_a_repeated_command_gets_the_same_answer_for_ever(
        self, commands: CommandHandler, others: CommandHandler, ledger: Ledger
    ) -> None:
        game = running(commands, "skirmish@1")
        open_now = decision(commands, game)
        first = commands.handle(game, Play(0, [PASS], decision=open_now), GameConditions(idempotency_key="c"))
        commands.handle(game, Play(1, [PASS]))
        for again in (commands, others, context.commands(ledger)):
            answer = again.handle(game, Play(0, [PASS], decision=open_now), GameConditions(idempotency_key="c"))
            assert answer.replayed
            assert (answer.aggregate, answer.versions, answer.position) == (game, first.versions, first.position)
            assert answer.records == first.records
        assert ledger.version(game) == 7

    def test_a_command_that_would_be_accepted_again_is_not(
        self, commands: CommandHandler, others: CommandHandler
    ) -> None:
        game = running(commands)
        order = [{"type": "order", "to": "t01", "units": 1}]
        first = commands.handle(
            game, Play(0, order, decision=decision(commands, game)), GameConditions(idempotency_key="c")
        )
        for again in (commands, others):
            assert (
                again.handle(
                    game, Play(0, order, decision=decision(commands, game)), GameConditions(idempotency_key="c")
                ).versions
                == first.versions
            )
        state: Any = commands.game(game).state
        assert len(state.sheets[0]) == 1

    def test_the_same_id_with_another_body_is_refused(self, commands: CommandHandler, ledger: Ledger) -> None:
        game = running(commands)
        open_now = decision(commands, game)
        commands.handle(game, Play(0, [SUBMIT], decision=open_now), GameConditions(idempotency_key="c"))
        uses: list[Callable[[], CommandResult]] = [
            lambda: commands.handle(game, Play(1, [SUBMIT], decision=open_now), GameConditions(idempotency_key="c")),
            lambda: commands.handle(game, Play(0, [SUBMIT]), GameConditions(expected=5, idempotency_key="c")),
            lambda: commands.handle(
                game, Play(0, [SUBMIT], decision=open_now, by="director"), GameConditions(idempotency_key="c")
            ),
            lambda: commands.handle(game, Lapse(open_now), GameConditions(idempotency_key="c")),
            lambda: commands.handle(game, Close("abandoned"), GameConditions(idempotency_key="c")),
        ]
        for use in uses:
            with pytest.raises(CommandReused):
                use()
        assert ledger.version(game) == 6

    def test_a_refusal_is_not_remembered(self, commands: CommandHandler) -> None:
        game = running(commands, "skirmish@1")
        assert (
            refusal(lambda: commands.handle(game, Play(1, [PASS]), GameConditions(idempotency_key="c")))
            == "not_your_decision"
        )
        commands.handle(game, Play(0, [PASS]))
        assert not commands.handle(game, Play(1, [PASS]), GameConditions(idempotency_key="c")).replayed

    def test_every_verb_can_be_repeated(self, commands: CommandHandler, others: CommandHandler, ledger: Ledger) -> None:
        game = new_game_id()
        story: list[Callable[[CommandHandler], CommandResult]] = [
            lambda c: c.open(
                game, "orders@1", 2, {"turns": 1}, body={"pace": {"seconds": {"turn": 1}}}, idempotency_key="open"
            ),
            lambda c: c.handle(
                game, Join(0, "ann", commitment(bytes.fromhex(NONCE))), GameConditions(idempotency_key="j0")
            ),
            lambda c: c.handle(game, Join(1, "bob"), GameConditions(idempotency_key="j1")),
            lambda c: c.handle(game, Leave(1), GameConditions(idempotency_key="l1")),
            lambda c: c.handle(game, Join(1, "cid"), GameConditions(idempotency_key="j2")),
            lambda c: c.handle(game, Reveal(0, NONCE), GameConditions(idempotency_key="reveal")),
            lambda c: c.handle(game, Start(), GameConditions(idempotency_key="start")),
            lambda c: c.handle(game, Play(0, [SUBMIT], by="director"), GameConditions(idempotency_key="rule")),
            lambda c: c.handle(game, Rewind(7), GameConditions(expected=8, idempotency_key="rewind")),
            lambda c: c.handle(game, Play(0, [SUBMIT], decision="1-1"), GameConditions(idempotency_key="move")),
            lambda c: c.handle(game, Lapse("1-1"), GameConditions(idempotency_key="lapse")),
            lambda c: c.handle(game, Resolve("1-2"), GameConditions(idempotency_key="resolve")),
        ]
        told = [verb(commands) for verb in story]
        for verb, first in zip(story, told, strict=True):
            answer = verb(others)
            assert answer.replayed
            assert (answer.versions, answer.position, answer.records) == (first.versions, first.position, first.records)
        assert kinds(ledger.read(game))[-2:] == ["resolved", "closed"]
        assert ledger.version(game) == 13

    def test_a_repetition_that_overtakes_the_first_is_stored_once(self, ledger: Ledger) -> None:
        game = running(context.commands(ledger))
        open_now = decision(context.commands(ledger), game)
        with ThreadPoolExecutor(6) as pool:
            asked = [
                pool.submit(
                    context.commands(ledger).handle,
                    game,
                    Play(0, [SUBMIT], open_now),
                    GameConditions(idempotency_key="c"),
                )
                for _ in range(6)
            ]
            answers = [a.result() for a in asked]
        assert {a.versions for a in answers} == {(6,)}
        assert [a.replayed for a in answers].count(False) == 1
        assert ledger.version(game) == 6

    @pytest.mark.parametrize("odd", [2**100, 1.5, "\ud800", {"type": None}, []])
    def test_any_json_at_all_is_refused_and_not_a_fault(self, commands: CommandHandler, odd: Any) -> None:
        game = running(commands)
        code = refusal(
            lambda: commands.handle(
                game, Play(0, [{"type": "order", "to": odd, "units": odd}]), GameConditions(idempotency_key="c")
            )
        )
        assert code == "malformed_move"


class TestRewind:
    def test_the_line_goes_back_and_play_goes_on(self, commands: CommandHandler, ledger: Ledger) -> None:
        game = running(commands, "skirmish@1")
        commands.handle(game, Play(0, [PASS]))
        commands.handle(game, Play(1, [PASS]))
        commands.handle(game, Rewind(6), GameConditions(expected=7))
        assert commands.game(game) == refolded(ledger, game)
        commands.handle(game, Play(1, [{"type": "attack", "target": 0, "offer": 1}], decision=decision(commands, game)))
        assert commands.game(game) == refolded(ledger, game)
        assert active_versions(ledger.read(game)) == [1, 2, 3, 4, 5, 6, 8, 9]

    def test_a_version_that_was_undone_is_not_on_the_line(self, commands: CommandHandler) -> None:
        game = running(commands, "skirmish@1")
        commands.handle(game, Play(0, [PASS]))
        commands.handle(game, Rewind(5), GameConditions(expected=6))
        for to in (0, 6, 99):
            assert refusal(partial(commands.handle, game, Rewind(to), GameConditions(expected=7))) == "not_on_line"

    def test_a_move_that_came_in_between_wins(
        self, commands: CommandHandler, others: CommandHandler, ledger: Ledger
    ) -> None:
        game = running(commands, "skirmish@1")
        commands.handle(game, Play(0, [PASS]))
        others.handle(game, Play(1, [PASS]))
        with pytest.raises(StaleVersion):
            commands.handle(game, Rewind(5), GameConditions(expected=6))
        assert ledger.version(game) == 7

    def test_a_decision_of_the_line_that_was_undone_is_gone(
        self, commands: CommandHandler, others: CommandHandler
    ) -> None:
        game = running(commands, "skirmish@1")
        before = decision(commands, game)
        others.handle(game, Play(0, [PASS]))
        others.handle(game, Rewind(5), GameConditions(expected=6))
        with pytest.raises(DecisionClosed):
            commands.handle(game, Play(0, [PASS], decision=before))


class TestCache:
    def test_a_move_on_a_known_position_reads_nothing(self, watched: Watched) -> None:
        commands = context.commands(watched)
        game = running(commands, "skirmish@1")
        open_now = decision(commands, game)
        watched.reads.clear()
        commands.handle(game, Play(0, [PASS], decision=open_now), GameConditions(idempotency_key="c"))
        commands.handle(game, Play(1, [PASS]), GameConditions(expected=6))
        assert watched.reads == []

    def test_what_others_wrote_is_read_and_nothing_else(self, watched: Watched, others: CommandHandler) -> None:
        commands = context.commands(watched)
        game = running(commands, "skirmish@1")
        others.handle(game, Play(0, [PASS]))
        others.handle(game, Play(1, [PASS]))
        watched.reads.clear()
        assert commands.game(game).version == 7
        assert watched.reads == [2]

    def test_after_a_rewind_by_others_the_position_is_right(
        self, commands: CommandHandler, others: CommandHandler, ledger: Ledger
    ) -> None:
        game = running(commands, "skirmish@1")
        commands.handle(game, Play(0, [PASS]))
        others.handle(game, Rewind(5), GameConditions(expected=6))
        others.handle(game, Play(0, [{"type": "attack", "target": 1, "offer": 1}]))
        assert commands.game(game) == refolded(ledger, game)

    def test_a_move_that_could_not_be_stored_is_not_remembered(self, watched: Watched) -> None:
        commands = context.commands(watched)
        game = running(commands, "skirmish@1")
        before = commands.game(game)
        watched.full = True
        with pytest.raises(StoreUnavailable):
            commands.handle(game, Play(0, [PASS]))
        watched.full = False
        assert commands.game(game) == before
        assert commands.handle(game, Play(0, [PASS])).versions == (6,)

    def test_no_more_games_are_kept_than_asked_others_are_reread(self, ledger: Ledger) -> None:
        commands = context.commands(ledger, keep=2)
        games = [running(commands, "skirmish@1") for _ in range(4)]
        for game in games:
            commands.handle(game, Play(0, [PASS]))
        assert len(commands._recent._recent) == 2
        assert [commands.game(game).version for game in games] == [6] * 4

    def test_an_older_position_does_not_replace_a_newer_one(self, commands: CommandHandler) -> None:
        game = running(commands, "skirmish@1")
        older = commands._recent.get(game)
        commands.handle(game, Play(0, [PASS]))
        assert older is not None
        commands._recent.remember(game, older)
        assert commands.handle(game, Play(1, [PASS]), GameConditions(expected=6)).versions == (7,)

    def test_whoever_writes_and_rewinds_all_know_the_same(
        self, commands: CommandHandler, others: CommandHandler, ledger: Ledger
    ) -> None:
        game, dice = running(commands, seats=2, turns=9), random.Random(7)
        for _ in range(60):
            step(dice.choice([commands, others]), game, dice)
            if dice.random() < 0.3:
                assert commands.game(game) == others.game(game) == refolded(ledger, game)
        assert {"moved", "lapsed", "resolved", "rewound"} <= set(kinds(ledger.read(game)))
        assert commands.game(game) == others.game(game) == refolded(ledger, game)


def step(commands: CommandHandler, game: str, dice: random.Random) -> None:
    """Anything that fits."""
    p: Game[Any] = commands.game(game)
    now = decision(commands, game)
    if dice.random() < 0.15:
        back = [v for v in active_versions(commands._ledger.read(game)) if 5 <= v < p.version]
        if back:
            commands.handle(
                game, Rewind(dice.choice(back[-6:]), fresh=dice.random() < 0.3), GameConditions(expected=p.version)
            )
    elif p.state.top.engine:
        commands.handle(game, Resolve(now))
    elif dice.random() < 0.2:
        commands.handle(game, Lapse(now))
    else:
        seat = dice.choice(p.state.top.owing)
        spy = {"type": "spy", "to": f"t{dice.randrange(12):02}"}
        commands.handle(
            game, Play(seat, [spy if p.state.money[seat] > 1 and dice.random() < 0.5 else SUBMIT], decision=now)
        )


def refusal(use: Callable[[], object]) -> str:
    with pytest.raises(RuleError) as caught:
        use()
    return caught.value.code


class TestBeside:
    """Rows that belong to a record are stored with it or not at all."""

    @pytest.fixture
    def notes(self, ledger: Ledger) -> Callable[[str], ExtraStatements]:
        """A table, and a statement that writes into it."""
        ledger.execute("CREATE TABLE notes (said TEXT)")
        return lambda said: lambda record: [("INSERT INTO notes VALUES (?)", (f"{said} {record.version}",))]

    def said(self, ledger: Ledger) -> list[str]:
        return [row[0] for row in ledger.execute("SELECT said FROM notes ORDER BY said")]

    def test_they_are_written_with_the_record_and_once(
        self, commands: CommandHandler, others: CommandHandler, ledger: Ledger, notes: Callable[[str], ExtraStatements]
    ) -> None:
        game = new_game_id()
        for each in (commands, others):
            each.open(game, "orders@1", 2, idempotency_key="o", extra_statements=notes("opened"))
            each.handle(game, Join(None, "ann"), GameConditions(idempotency_key="j", extra_statements=notes("joined")))
            each.handle(game, Leave(0), GameConditions(idempotency_key="l", extra_statements=notes("left")))
        assert self.said(ledger) == ["joined 2", "left 3", "opened 1"]

    def test_what_is_refused_writes_none(
        self, commands: CommandHandler, ledger: Ledger, notes: Callable[[str], ExtraStatements]
    ) -> None:
        game = new_game_id()
        commands.open(game, "orders@1", 2)
        assert (
            refusal(lambda: commands.handle(game, Leave(0), GameConditions(extra_statements=notes("left"))))
            == "seat_empty"
        )
        with pytest.raises(StaleVersion):
            commands.handle(game, Leave(0), GameConditions(expected=7, extra_statements=notes("left")))
        assert self.said(ledger) == []

    def test_a_record_whose_rows_cannot_be_written_is_not_stored(
        self, commands: CommandHandler, ledger: Ledger
    ) -> None:
        game = new_game_id()
        commands.open(game, "orders@1", 2)
        with pytest.raises(StoreUnavailable):
            commands.handle(
                game,
                Join(0, "ann"),
                GameConditions(
                    idempotency_key="j", extra_statements=lambda _: [("INSERT INTO nowhere VALUES (?)", (1,))]
                ),
            )
        assert ledger.version(game) == 1
        assert ledger.find_command(game, "j") is None
        assert commands.handle(game, Join(0, "bob"), GameConditions(idempotency_key="j")).versions == (2,)


class TestWhoSits:
    def test_a_command_counts_only_while_that_person_sits_there(
        self, commands: CommandHandler, others: CommandHandler
    ) -> None:
        game = running(commands)
        player = commands.game(game).players[0].id
        others.handle(game, Leave(0))
        others.handle(game, Join(0, "eve"))
        late: list[Callable[[], CommandResult]] = [
            lambda: commands.handle(game, Play(0, [SUBMIT]), GameConditions(seat_guard=(0, player))),
            lambda: commands.handle(game, Leave(0), GameConditions(seat_guard=(0, player))),
            lambda: commands.handle(game, Rest(0, 1), GameConditions(seat_guard=(0, player))),
            lambda: commands.handle(game, Reveal(0, NONCE), GameConditions(seat_guard=(0, player))),
        ]
        for act in late:
            with pytest.raises(NotSeated):
                act()
        assert commands.handle(
            game, Play(0, [{"type": "reopen"}], by="director")
        ).versions  # the director needs no seat
