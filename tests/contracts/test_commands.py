"""Commands: decided on what is known, appended on what is expected, answered once and for ever."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from domain.command_handler import Answer, Beside, Commands, new_game
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
from domain.kernel.game.game import Game, line
from domain.kernel.game.play_commands import Lapse, Play, Resolve, Rest
from domain.kernel.game.table_commands import Close, Join, Leave, Reveal, Start
from domain.kernel.records.record import Record
from domain.kernel.rules.draws import commitment
from domain.kernel.schema.canonical_json import canonical
from domain.ledger import Ledger
from domain.service.keyring import Keyring
from domain.service.seed_store import Vault
from tests.contracts import crew
from tests.contracts.crew import KEY, decision, refolded, running

SUBMIT = {"type": "submit"}
PASS = {"type": "pass"}
NONCE = "0f" * 32


@pytest.fixture
def commands(ledger: Ledger) -> Commands:
    return crew.commands(ledger)


@pytest.fixture
def others(ledger: Ledger) -> Commands:
    """The commands of another process: they know only what they read."""
    return crew.commands(ledger)


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
    def test_a_game_is_opened_joined_and_started(self, commands: Commands, ledger: Ledger) -> None:
        game = running(commands)
        assert kinds(ledger.read(game)) == ["opened", "joined", "joined", "joined", "started"]
        assert commands.game(game).status == "running"

    def test_an_answer_names_versions_records_and_the_last_position(self, commands: Commands, ledger: Ledger) -> None:
        game = new_game()
        answer = commands.open(game, "orders@1", 2, body={"undo": "none"})
        assert answer == Answer(game, (1,), ledger.log(0, 9)[-1].position, tuple(ledger.read(game)))
        assert answer.records[0].body["undo"] == "none"

    def test_a_seat_may_leave_commit_and_reveal(self, commands: Commands, ledger: Ledger) -> None:
        game = new_game()
        commands.open(game, "orders@1", 2)
        commands.do(game, Join(0, "ann"))
        commands.do(game, Leave(0))
        commands.do(game, Join(0, "bob", commitment(bytes.fromhex(NONCE))))
        commands.do(game, Join(1, "cid"))
        commands.do(game, Reveal(0, NONCE))
        assert kinds(ledger.read(game)) == ["opened", "joined", "left", "joined", "joined", "revealed"]

    def test_what_cannot_be_opened_leaves_nothing(self, commands: Commands, ledger: Ledger) -> None:
        game = new_game()
        with pytest.raises(UnknownRuleset):
            commands.open(game, "chess@1", 2)
        with pytest.raises(InvalidTable):
            commands.open(game, "orders@1", 7)
        assert ledger.version(game) == 0
        with pytest.raises(UnknownGame):
            Vault(ledger, Keyring(ledger, KEY)).seed(game)

    def test_a_game_is_opened_once(self, commands: Commands, others: Commands) -> None:
        game = new_game()
        commands.open(game, "orders@1", 2)
        with pytest.raises(StaleVersion):
            others.open(game, "orders@1", 2)
        assert refusal(lambda: commands.do(game, Join(9, "ann"))) == "unknown_seat"

    @pytest.mark.parametrize("name", ["", "nothing", crew.game(7)])
    def test_an_unknown_game_is_told(self, commands: Commands, name: str) -> None:
        with pytest.raises(UnknownGame):
            commands.do(name, Join(0, "ann"))
        with pytest.raises(UnknownGame):
            commands.do(name, Play(0, [PASS]), command="c")

    def test_the_id_of_a_new_game_is_random(self) -> None:
        assert new_game() != new_game()


class TestSecrets:
    def test_the_seed_is_in_no_record_before_the_end(self, commands: Commands, ledger: Ledger) -> None:
        game = running(commands, turns=1)
        seed = Vault(ledger, Keyring(ledger, KEY)).seed(game)
        assert seed.hex().encode() not in b"".join(canonical([r.public, r.packs]) for r in ledger.read(game))
        answer = commands.do(game, Close("abandoned"))
        assert answer.records[0].body == {"reason": "abandoned", "seed": seed.hex()}

    def test_what_a_process_remembers_does_not_show_it(self, commands: Commands, ledger: Ledger) -> None:
        game = running(commands)
        seed = Vault(ledger, Keyring(ledger, KEY)).seed(game)
        shown = repr(commands._recent.get(game)) + repr(commands) + repr(vars(commands))
        assert repr(seed) not in shown
        assert seed.hex() not in shown


class TestEnd:
    def test_the_record_that_ends_a_game_and_the_one_that_closes_it_are_one_append(
        self, commands: Commands, ledger: Ledger
    ) -> None:
        game = running(commands, turns=1)
        for seat in range(3):
            commands.do(game, Play(seat, [SUBMIT], decision=decision(commands, game)))
        head = ledger.version(game)
        answer = commands.do(game, Resolve(decision(commands, game)), command="turn-1")
        assert (answer.versions, kinds(answer.records)) == ((head + 1, head + 2), ["resolved", "closed"])
        assert answer.position == ledger.log(0, 99)[-1].position
        assert commands.game(game).status == "closed"
        row = ledger.command(game, "turn-1")
        assert row is not None
        assert (row.first, row.last) == (head + 1, head + 2)

    @pytest.mark.parametrize("verb", ["move", "lapse", "rule", "leave"])
    def test_whatever_ends_a_game_closes_it(self, commands: Commands, ledger: Ledger, verb: str) -> None:
        ruleset, options = ("orders@1", {}) if verb == "leave" else ("skirmish@1", {"turns": 1})
        game = running(commands, ruleset, **options)
        if verb == "leave":  # the orders end when the last player has left
            commands.do(game, Leave(0))
            commands.do(game, Leave(1))
            commands.do(game, Leave(2))
            commands.do(game, Resolve(decision(commands, game)))
        elif verb == "lapse":
            commands.do(game, Lapse(decision(commands, game)))
        else:
            commands.do(game, Play(0, [PASS], by="seat" if verb == "move" else "director"))
        assert ledger.read(game)[-1].kind == "closed"

    def test_after_the_end_nothing_is_played(self, commands: Commands) -> None:
        game = running(commands, "skirmish@1", turns=1)
        commands.do(game, Play(0, [PASS]))
        assert refusal(lambda: commands.do(game, Play(1, [PASS]))) == "game_over"
        assert refusal(lambda: commands.do(game, Close())) == "game_over"

    def test_a_running_game_is_not_closed_as_finished(self, commands: Commands) -> None:
        game = running(commands)
        assert refusal(lambda: commands.do(game, Close())) == "still_running"


class TestDecision:
    def test_seats_that_answer_at_the_same_time_do_not_disturb_each_other(
        self, commands: Commands, ledger: Ledger
    ) -> None:
        game = running(commands, seats=10)
        open_now = decision(commands, game)
        with ThreadPoolExecutor(10) as pool:
            list(pool.map(lambda seat: commands.do(game, Play(seat, [SUBMIT], decision=open_now)), range(10)))
        assert kinds(ledger.read(game)[-10:]) == ["moved"] * 10
        assert commands.game(game).state.top.kind == "resolve"
        assert commands.game(game) == refolded(ledger, game)

    def test_nor_do_they_from_different_processes(self, commands: Commands, ledger: Ledger, url: str) -> None:
        game = running(commands)
        versions = crew.together(3, crew.submit, url, game, decision(commands, game))
        assert sorted(v for mine in versions for v in mine) == [6, 7, 8]
        assert commands.game(game).state.top.kind == "resolve"

    def test_a_turn_is_resolved_by_one_worker(self, commands: Commands, ledger: Ledger, url: str) -> None:
        game = running(commands)
        commands.do(game, Lapse(decision(commands, game)))
        done = crew.together(3, crew.resolve, url, game, decision(commands, game))
        assert sorted(done) == [False, False, True]
        assert kinds(ledger.read(game)).count("resolved") == 1

    def test_an_answer_to_a_decision_that_is_gone_is_refused(self, commands: Commands, others: Commands) -> None:
        game = running(commands, "skirmish@1")
        before = decision(commands, game)
        others.do(game, Play(0, [PASS], decision=before))
        uses: list[Callable[[], Answer]] = [
            lambda: commands.do(game, Play(0, [PASS], decision=before)),
            lambda: commands.do(game, Play(0, [PASS], decision=before, by="director")),
            lambda: commands.do(game, Lapse(before)),
            lambda: commands.do(game, Resolve(before)),
        ]
        for use in uses:
            with pytest.raises(DecisionClosed):
                use()

    def test_a_move_whose_decision_comes_later_than_what_is_known_is_accepted(
        self, commands: Commands, others: Commands
    ) -> None:
        game = running(commands, "skirmish@1")
        others.do(game, Play(0, [PASS]))
        assert commands.do(game, Play(1, [PASS], decision=decision(others, game))).versions == (7,)

    def test_a_lost_race_is_decided_anew_each_time(self, watched: Watched, others: Commands) -> None:
        commands = crew.commands(watched)
        game = running(others)
        open_now = decision(commands, game)
        others.do(game, Play(0, [SUBMIT], decision=open_now))
        others.do(game, Play(1, [SUBMIT], decision=open_now))
        assert commands.do(game, Play(2, [SUBMIT], decision=open_now)).versions == (8,)
        assert watched.reads[-1] == 2


class TestExpected:
    def test_the_head_is_accepted_also_where_it_is_news(self, commands: Commands, others: Commands) -> None:
        game = running(commands, "skirmish@1")
        others.do(game, Play(0, [PASS]), expected=5)
        assert commands.do(game, Play(1, [PASS]), expected=6).versions == (7,)

    @pytest.mark.parametrize("expected", [0, 4, 6, 99])
    def test_any_other_version_is_stale_at_once(self, commands: Commands, ledger: Ledger, expected: int) -> None:
        game = running(commands, "skirmish@1")
        with pytest.raises(StaleVersion) as caught:
            commands.do(game, Play(0, [PASS]), expected=expected)
        assert (caught.value.expected, caught.value.version, ledger.version(game)) == (expected, 5, 5)

    def test_a_version_that_was_the_head_when_last_seen_is_stale(self, commands: Commands, others: Commands) -> None:
        game = running(commands)
        open_now = decision(commands, game)
        others.do(game, Play(0, [SUBMIT], decision=open_now))
        with pytest.raises(StaleVersion) as caught:
            commands.do(game, Play(1, [SUBMIT], decision=open_now), expected=5)
        assert (caught.value.expected, caught.value.version) == (5, 6)

    def test_what_is_stale_is_not_called_a_breach_of_the_rules(self, commands: Commands, others: Commands) -> None:
        game = running(commands, "skirmish@1")
        others.do(game, Play(0, [PASS]))
        with pytest.raises(StaleVersion):
            commands.do(game, Play(1, [PASS]), expected=5)

    def test_without_version_and_decision_a_move_is_for_what_is_newest(
        self, commands: Commands, others: Commands
    ) -> None:
        game = running(commands, "skirmish@1")
        others.do(game, Play(0, [PASS]))
        assert refusal(lambda: commands.do(game, Play(0, [PASS]))) == "not_your_decision"
        assert commands.do(game, Play(1, [PASS])).versions == (7,)


class TestRepetition:
    def test_a_repeated_command_gets_the_same_answer_for_ever(
        self, commands: Commands, others: Commands, ledger: Ledger
    ) -> None:
        game = running(commands, "skirmish@1")
        open_now = decision(commands, game)
        first = commands.do(game, Play(0, [PASS], decision=open_now), command="c")
        commands.do(game, Play(1, [PASS]))
        for again in (commands, others, crew.commands(ledger)):
            answer = again.do(game, Play(0, [PASS], decision=open_now), command="c")
            assert answer.replayed
            assert (answer.game, answer.versions, answer.position) == (game, first.versions, first.position)
            assert answer.records == first.records
        assert ledger.version(game) == 7

    def test_a_command_that_would_be_accepted_again_is_not(self, commands: Commands, others: Commands) -> None:
        game = running(commands)
        order = [{"type": "order", "to": "t01", "units": 1}]
        first = commands.do(game, Play(0, order, decision=decision(commands, game)), command="c")
        for again in (commands, others):
            assert (
                again.do(game, Play(0, order, decision=decision(commands, game)), command="c").versions
                == first.versions
            )
        state: Any = commands.game(game).state
        assert len(state.sheets[0]) == 1

    def test_the_same_id_with_another_body_is_refused(self, commands: Commands, ledger: Ledger) -> None:
        game = running(commands)
        open_now = decision(commands, game)
        commands.do(game, Play(0, [SUBMIT], decision=open_now), command="c")
        uses: list[Callable[[], Answer]] = [
            lambda: commands.do(game, Play(1, [SUBMIT], decision=open_now), command="c"),
            lambda: commands.do(game, Play(0, [SUBMIT]), expected=5, command="c"),
            lambda: commands.do(game, Play(0, [SUBMIT], decision=open_now, by="director"), command="c"),
            lambda: commands.do(game, Lapse(open_now), command="c"),
            lambda: commands.do(game, Close("abandoned"), command="c"),
        ]
        for use in uses:
            with pytest.raises(CommandReused):
                use()
        assert ledger.version(game) == 6

    def test_a_refusal_is_not_remembered(self, commands: Commands) -> None:
        game = running(commands, "skirmish@1")
        assert refusal(lambda: commands.do(game, Play(1, [PASS]), command="c")) == "not_your_decision"
        commands.do(game, Play(0, [PASS]))
        assert not commands.do(game, Play(1, [PASS]), command="c").replayed

    def test_every_verb_can_be_repeated(self, commands: Commands, others: Commands, ledger: Ledger) -> None:
        game = new_game()
        story: list[Callable[[Commands], Answer]] = [
            lambda c: c.open(
                game, "orders@1", 2, {"turns": 1}, body={"pace": {"seconds": {"turn": 1}}}, command="open"
            ),
            lambda c: c.do(game, Join(0, "ann", commitment(bytes.fromhex(NONCE))), command="j0"),
            lambda c: c.do(game, Join(1, "bob"), command="j1"),
            lambda c: c.do(game, Leave(1), command="l1"),
            lambda c: c.do(game, Join(1, "cid"), command="j2"),
            lambda c: c.do(game, Reveal(0, NONCE), command="reveal"),
            lambda c: c.do(game, Start(), command="start"),
            lambda c: c.do(game, Play(0, [SUBMIT], by="director"), command="rule"),
            lambda c: c.do(game, Rewind(7), expected=8, command="rewind"),
            lambda c: c.do(game, Play(0, [SUBMIT], decision="1-1"), command="move"),
            lambda c: c.do(game, Lapse("1-1"), command="lapse"),
            lambda c: c.do(game, Resolve("1-2"), command="resolve"),
        ]
        told = [verb(commands) for verb in story]
        for verb, first in zip(story, told, strict=True):
            answer = verb(others)
            assert answer.replayed
            assert (answer.versions, answer.position, answer.records) == (first.versions, first.position, first.records)
        assert kinds(ledger.read(game))[-2:] == ["resolved", "closed"]
        assert ledger.version(game) == 13

    def test_a_repetition_that_overtakes_the_first_is_stored_once(self, ledger: Ledger) -> None:
        game = running(crew.commands(ledger))
        open_now = decision(crew.commands(ledger), game)
        with ThreadPoolExecutor(6) as pool:
            asked = [
                pool.submit(crew.commands(ledger).do, game, Play(0, [SUBMIT], open_now), command="c") for _ in range(6)
            ]
            answers = [a.result() for a in asked]
        assert {a.versions for a in answers} == {(6,)}
        assert [a.replayed for a in answers].count(False) == 1
        assert ledger.version(game) == 6

    @pytest.mark.parametrize("odd", [2**100, 1.5, "\ud800", {"type": None}, []])
    def test_any_json_at_all_is_refused_and_not_a_fault(self, commands: Commands, odd: Any) -> None:
        game = running(commands)
        code = refusal(lambda: commands.do(game, Play(0, [{"type": "order", "to": odd, "units": odd}]), command="c"))
        assert code == "malformed_move"


class TestRewind:
    def test_the_line_goes_back_and_play_goes_on(self, commands: Commands, ledger: Ledger) -> None:
        game = running(commands, "skirmish@1")
        commands.do(game, Play(0, [PASS]))
        commands.do(game, Play(1, [PASS]))
        commands.do(game, Rewind(6), expected=7)
        assert commands.game(game) == refolded(ledger, game)
        commands.do(game, Play(1, [{"type": "attack", "target": 0, "offer": 1}], decision=decision(commands, game)))
        assert commands.game(game) == refolded(ledger, game)
        assert line(ledger.read(game)) == [1, 2, 3, 4, 5, 6, 8, 9]

    def test_a_version_that_was_undone_is_not_on_the_line(self, commands: Commands) -> None:
        game = running(commands, "skirmish@1")
        commands.do(game, Play(0, [PASS]))
        commands.do(game, Rewind(5), expected=6)
        for to in (0, 6, 99):
            assert refusal(partial(commands.do, game, Rewind(to), expected=7)) == "not_on_line"

    def test_a_move_that_came_in_between_wins(self, commands: Commands, others: Commands, ledger: Ledger) -> None:
        game = running(commands, "skirmish@1")
        commands.do(game, Play(0, [PASS]))
        others.do(game, Play(1, [PASS]))
        with pytest.raises(StaleVersion):
            commands.do(game, Rewind(5), expected=6)
        assert ledger.version(game) == 7

    def test_a_decision_of_the_line_that_was_undone_is_gone(self, commands: Commands, others: Commands) -> None:
        game = running(commands, "skirmish@1")
        before = decision(commands, game)
        others.do(game, Play(0, [PASS]))
        others.do(game, Rewind(5), expected=6)
        with pytest.raises(DecisionClosed):
            commands.do(game, Play(0, [PASS], decision=before))


class TestCache:
    def test_a_move_on_a_known_position_reads_nothing(self, watched: Watched) -> None:
        commands = crew.commands(watched)
        game = running(commands, "skirmish@1")
        open_now = decision(commands, game)
        watched.reads.clear()
        commands.do(game, Play(0, [PASS], decision=open_now), command="c")
        commands.do(game, Play(1, [PASS]), expected=6)
        assert watched.reads == []

    def test_what_others_wrote_is_read_and_nothing_else(self, watched: Watched, others: Commands) -> None:
        commands = crew.commands(watched)
        game = running(commands, "skirmish@1")
        others.do(game, Play(0, [PASS]))
        others.do(game, Play(1, [PASS]))
        watched.reads.clear()
        assert commands.game(game).version == 7
        assert watched.reads == [2]

    def test_after_a_rewind_by_others_the_position_is_right(
        self, commands: Commands, others: Commands, ledger: Ledger
    ) -> None:
        game = running(commands, "skirmish@1")
        commands.do(game, Play(0, [PASS]))
        others.do(game, Rewind(5), expected=6)
        others.do(game, Play(0, [{"type": "attack", "target": 1, "offer": 1}]))
        assert commands.game(game) == refolded(ledger, game)

    def test_a_move_that_could_not_be_stored_is_not_remembered(self, watched: Watched) -> None:
        commands = crew.commands(watched)
        game = running(commands, "skirmish@1")
        before = commands.game(game)
        watched.full = True
        with pytest.raises(StoreUnavailable):
            commands.do(game, Play(0, [PASS]))
        watched.full = False
        assert commands.game(game) == before
        assert commands.do(game, Play(0, [PASS])).versions == (6,)

    def test_no_more_games_are_kept_than_asked_and_the_others_are_read_again(self, ledger: Ledger) -> None:
        commands = crew.commands(ledger, keep=2)
        games = [running(commands, "skirmish@1") for _ in range(4)]
        for game in games:
            commands.do(game, Play(0, [PASS]))
        assert len(commands._recent._recent) == 2
        assert [commands.game(game).version for game in games] == [6] * 4

    def test_an_older_position_does_not_replace_a_newer_one(self, commands: Commands) -> None:
        game = running(commands, "skirmish@1")
        older = commands._recent.get(game)
        commands.do(game, Play(0, [PASS]))
        assert older is not None
        commands._recent.put(game, older)
        assert commands.do(game, Play(1, [PASS]), expected=6).versions == (7,)

    def test_whoever_writes_and_rewinds_all_know_the_same(
        self, commands: Commands, others: Commands, ledger: Ledger
    ) -> None:
        game, dice = running(commands, seats=2, turns=9), random.Random(7)
        for _ in range(60):
            step(dice.choice([commands, others]), game, dice)
            if dice.random() < 0.3:
                assert commands.game(game) == others.game(game) == refolded(ledger, game)
        assert {"moved", "lapsed", "resolved", "rewound"} <= set(kinds(ledger.read(game)))
        assert commands.game(game) == others.game(game) == refolded(ledger, game)


def step(commands: Commands, game: str, dice: random.Random) -> None:
    """Anything that fits."""
    p: Game[Any] = commands.game(game)
    now = decision(commands, game)
    if dice.random() < 0.15:
        back = [v for v in line(commands._ledger.read(game)) if 5 <= v < p.version]
        if back:
            commands.do(game, Rewind(dice.choice(back[-6:]), fresh=dice.random() < 0.3), expected=p.version)
    elif p.state.top.engine:
        commands.do(game, Resolve(now))
    elif dice.random() < 0.2:
        commands.do(game, Lapse(now))
    else:
        seat = dice.choice(p.state.top.owing)
        spy = {"type": "spy", "to": f"t{dice.randrange(12):02}"}
        commands.do(
            game, Play(seat, [spy if p.state.money[seat] > 1 and dice.random() < 0.5 else SUBMIT], decision=now)
        )


def refusal(use: Callable[[], object]) -> str:
    with pytest.raises(RuleError) as caught:
        use()
    return caught.value.code


class TestBeside:
    """Rows that belong to a record are stored with it or not at all."""

    @pytest.fixture
    def notes(self, ledger: Ledger) -> Callable[[str], Beside]:
        """A table, and a statement that writes into it."""
        ledger.execute("CREATE TABLE notes (said TEXT)")
        return lambda said: lambda record: [("INSERT INTO notes VALUES (?)", (f"{said} {record.version}",))]

    def said(self, ledger: Ledger) -> list[str]:
        return [row[0] for row in ledger.execute("SELECT said FROM notes ORDER BY said")]

    def test_they_are_written_with_the_record_and_once(
        self, commands: Commands, others: Commands, ledger: Ledger, notes: Callable[[str], Beside]
    ) -> None:
        game = new_game()
        for each in (commands, others):
            each.open(game, "orders@1", 2, command="o", beside=notes("opened"))
            each.do(game, Join(None, "ann"), command="j", beside=notes("joined"))
            each.do(game, Leave(0), command="l", beside=notes("left"))
        assert self.said(ledger) == ["joined 2", "left 3", "opened 1"]

    def test_what_is_refused_writes_none(
        self, commands: Commands, ledger: Ledger, notes: Callable[[str], Beside]
    ) -> None:
        game = new_game()
        commands.open(game, "orders@1", 2)
        assert refusal(lambda: commands.do(game, Leave(0), beside=notes("left"))) == "seat_empty"
        with pytest.raises(StaleVersion):
            commands.do(game, Leave(0), expected=7, beside=notes("left"))
        assert self.said(ledger) == []

    def test_a_record_whose_rows_cannot_be_written_is_not_stored(self, commands: Commands, ledger: Ledger) -> None:
        game = new_game()
        commands.open(game, "orders@1", 2)
        with pytest.raises(StoreUnavailable):
            commands.do(game, Join(0, "ann"), command="j", beside=lambda _: [("INSERT INTO nowhere VALUES (?)", (1,))])
        assert ledger.version(game) == 1
        assert ledger.command(game, "j") is None
        assert commands.do(game, Join(0, "bob"), command="j").versions == (2,)


class TestWhoSits:
    def test_a_command_counts_only_while_that_person_sits_there(self, commands: Commands, others: Commands) -> None:
        game = running(commands)
        player = commands.game(game).players[0].id
        others.do(game, Leave(0))
        others.do(game, Join(0, "eve"))
        late: list[Callable[[], Answer]] = [
            lambda: commands.do(game, Play(0, [SUBMIT]), sitting=(0, player)),
            lambda: commands.do(game, Leave(0), sitting=(0, player)),
            lambda: commands.do(game, Rest(0, 1), sitting=(0, player)),
            lambda: commands.do(game, Reveal(0, NONCE), sitting=(0, player)),
        ]
        for act in late:
            with pytest.raises(NotSeated):
                act()
        assert commands.do(game, Play(0, [{"type": "reopen"}], by="director")).versions  # the director needs no seat
