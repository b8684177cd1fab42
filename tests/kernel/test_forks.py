"""Forks: new games from a version of a closed one, with chance of their own, and proved against their origin."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deploy.cli.main import main
from domain.bots import deciding_seats
from domain.errors import RuleError, VerificationError
from domain.kernel.game.forks import check_origin, fold_origin, open_fork, order_state
from domain.kernel.game.game_fold import fold, state_known_to
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.past import first_past, kernel_state, next_past, whole_past
from domain.kernel.game.record_builder import CommandContext
from domain.kernel.proof.verify import verify
from domain.kernel.records import export
from domain.kernel.records.record import Record, visible_packs
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import query_builder
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.json_codec import from_json
from domain.rollouts import random_pick
from domain.ruleset_registry import RulesetRegistry, load_shipped
from domain.types import DIRECTOR, PUBLIC, Viewer
from tests.kernel.flows import sealed, windows
from tests.test_logs import LOGS

REGISTRY = load_shipped()
GAMES = ("aor7", "egc", "imp3", "se7-6", "soe4")


def fork(rules: AnyRuleset, records: Sequence[Record], version: int, viewer: Viewer | None = None) -> InMemoryGame[Any]:
    """A fork in memory, to play on."""
    origin = fold_origin(rules, records, version, viewer)
    terms = {"several": True}
    match = InMemoryGame(rules, origin.table.seats, bytes([9] * 32), options=origin.table.options, start=False)
    steps = open_fork(rules, origin, "fork", "p0", terms, CommandContext(bytes([9] * 32)))
    match.records, match.games = [step.record for step in steps], [step.game for step in steps]
    return match


def play_on(match: InMemoryGame[Any], moves: int) -> None:
    rng = random.Random(3)
    for _ in range(moves):
        if match.state.over:
            return
        if match.state.top.engine:
            match.resolve()
            continue
        seat, picks = rng.choice(deciding_seats(match)), list[Any]()
        while isinstance(found := query_builder(match.rules, match.state, seat, picks), Choice):
            picks.append(random_pick(rng, found))
        match.play(seat, found)


def closed(match: InMemoryGame[Any]) -> export.Export:
    match.close("void")
    return export.parse(export.dump(match.records, DIRECTOR))


def renamed(records: Sequence[Record], **named: Any) -> list[Record]:
    """Records of a fork with other members of its origin."""
    body = {**records[0].body, "origin": {**records[0].body["origin"], **named}}
    return [Record({**records[0].public, "body": body}, records[0].packs), *records[1:]]


def windowed(moves: int = 4) -> InMemoryGame[Any]:
    match = InMemoryGame(windows.RULESET, 3, bytes(32), game="origin")
    play_on(match, moves)
    return match


@pytest.mark.parametrize("name", GAMES)
def test_every_game_is_forked_anywhere_and_the_fork_is_proved(name: str) -> None:
    (path,) = [path for path in LOGS if path.name == f"{name}.jsonl.xz"]
    found = export.parse(lzma.decompress(Path(path).read_bytes()))
    rules, records = REGISTRY.get(found.ruleset), found.records
    first = next(r.version for r in records if r.kind == "started")
    versions = (first, (first + len(records)) // 3)
    matches = [fork(rules, records, version) for version in versions]
    for match in matches:
        assert match.state.vacant == ()
        assert not rules.check(match.state)
    match = matches[-1]
    past = first_past(rules, match.records[0], [PUBLIC, 0])
    for record in match.records[1:]:
        past = next_past(rules, past, record)
    assert past.known == whole_past(rules, match.records, [PUBLIC, 0]).known
    assert past.game.state == kernel_state(match.state)
    play_on(match, 6)
    assert rules.board(state_known_to(rules, match.records, PUBLIC)) == rules.board(match.state)
    whole = closed(match)
    assert verify(rules, whole).closed
    check_origin(rules, whole.records, records)


def other_world(records: Sequence[Record], viewer: Viewer) -> list[Record]:
    """The same game with other things hidden from a viewer: packs that it may not read hold nothing."""
    return [Record(r.public, visible_packs(r, viewer)) for r in records]


@pytest.mark.parametrize("viewer", [PUBLIC, 0], ids=str)
@pytest.mark.parametrize("name", GAMES)
def test_a_fork_from_what_a_viewer_knows_tells_nothing_else(name: str, viewer: Viewer) -> None:
    """Two worlds: originals that differ in what the viewer may not know give equal forks, byte for byte."""
    (path,) = [path for path in LOGS if path.name == f"{name}.jsonl.xz"]
    found = export.parse(lzma.decompress(Path(path).read_bytes()))
    rules, records = REGISTRY.get(found.ruleset), found.records
    first = next(r.version for r in records if r.kind == "started")
    matches = []
    for version in (first, (first + len(records)) // 3):
        matches.append(match := fork(rules, records, version, viewer))
        again = fork(rules, other_world(records, viewer), version, viewer)
        assert [(r.public, r.packs) for r in again.records] == [(r.public, r.packs) for r in match.records]
        assert not rules.check(match.state)
        true = from_json(rules.state, order_state(fold(rules, records, version).state))
        for part in {PUBLIC, viewer}:
            assert rules.player_view(match.state, part) == rules.player_view(true, part)
    match = matches[-1]
    assert rules.board(state_known_to(rules, match.records, PUBLIC)) == rules.board(match.state)
    play_on(match, 6)
    assert not rules.check(match.state)
    whole = closed(match)
    assert verify(rules, whole).closed
    check_origin(rules, whole.records, records)
    with pytest.raises(VerificationError, match="origin_mismatch"):
        check_origin(rules, renamed(match.records, known_to=0 if viewer == PUBLIC else PUBLIC), records)


def test_known_things_stay_and_unseen_ones_are_dealt_anew() -> None:
    """Hands stay, and the deck has another order: nobody plays a line with the cards that he knows will come."""
    origin = windowed()
    match = fork(windows.RULESET, origin.records, origin.game.version)
    before = origin.state
    assert (match.state.hands, match.state.points) == (before.hands, before.points)
    assert sorted(match.state.deck) == sorted(before.deck)
    assert match.state.deck != before.deck
    assert match.game.lasting.opening.seed_hash != origin.game.lasting.opening.seed_hash


def test_sealed_round_goes_on_and_undone_version_is_forked_too() -> None:
    origin = InMemoryGame(sealed.RULESET, 4, bytes(32), game="origin")
    play_on(origin, 6)
    undone = origin.game.version
    origin.rewind(undone - 2)
    play_on(origin, 2)
    last = origin.game.version
    origin.close("void")
    for version in (undone, undone - 1, last):
        match = fork(sealed.RULESET, origin.records, version)
        play_on(match, 8)
        match.rewind(match.records[-1].version - 2)
        whole = closed(match)
        assert verify(sealed.RULESET, whole).closed
        check_origin(sealed.RULESET, whole.records, origin.records)
        again = fork(sealed.RULESET, whole.records, 7)  # a fork of a fork
        assert again.game.terms["origin"]["game"] == "fork"


def test_a_vacant_seat_of_the_origin_has_a_player() -> None:
    origin = windowed()
    origin.leave(1)
    match = fork(windows.RULESET, origin.records, origin.game.version)
    assert match.state.vacant == ()
    play_on(match, 5)
    assert verify(windows.RULESET, closed(match)).closed


def test_only_where_decisions_are_open() -> None:
    origin = windowed()
    origin.close("void")
    for version in (1, 2, origin.game.version):
        with pytest.raises(RuleError, match="not_running"):
            fold_origin(windows.RULESET, origin.records, version)


def test_a_fork_that_begins_from_another_state_is_found() -> None:
    """Of a fork alone a proof shows that it followed the rules, of both that it began where it says."""
    origin, other = windowed(), windowed(7)
    version = origin.game.version
    origin.close("void")
    match = fork(windows.RULESET, origin.records, version)
    records = list(match.records)
    check_origin(windows.RULESET, records, origin.records)

    def naming(**named: Any) -> list[Record]:
        return renamed(records, **named)

    lies = [
        naming(head="0" * 64),
        naming(version=version - 1),
        naming(version=version - 1, head=origin.records[version - 2].hash),
        naming(version=99),
        naming(game="another"),
        list(origin.records),
    ]
    for lie in lies:
        with pytest.raises(VerificationError, match="origin_mismatch"):
            check_origin(windows.RULESET, lie, origin.records)
    with pytest.raises(VerificationError, match="origin_mismatch"):
        check_origin(windows.RULESET, records, other.records)


def test_the_command_proves_a_fork_with_its_origin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    origin, registry = windowed(), RulesetRegistry([windows.RULESET])
    match = fork(windows.RULESET, origin.records, origin.game.version)
    paths = [tmp_path / name for name in ("fork", "origin")]
    for path, each in zip(paths, (match, origin), strict=True):
        each.close("void")
        path.write_bytes(export.dump(each.records, DIRECTOR))
    told = []
    for more in ([], ["--origin", str(paths[1])], ["--origin", str(paths[0])]):
        status = main(["verify", str(paths[0]), "--json", *more], registry)
        doc = json.loads(capsys.readouterr().out)
        told.append((status, doc.get("origin_proved", doc.get("code"))))
    assert told == [(0, False), (0, True), (1, "origin_mismatch")]


def test_folding_a_fork_gives_the_game_that_was_opened() -> None:
    match = fork(windows.RULESET, windowed().records, 6)
    assert fold(windows.RULESET, match.records) == match.game
