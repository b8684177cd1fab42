"""Right after a rewind everything is as it would be without what was undone: boards, streams, deadlines, due work."""

from __future__ import annotations

import json
import random

import pytest

from domain.kernel.game.game_fold import fold
from domain.types import MAX_INT
from projections.projector import Projector
from projections.reader import DueWork
from projections.rebuild import create_generation, switch_generation
from projections.viewer_history import ViewerHistory
from tests.api.conftest import CATALOGUE, Doc, Site, Table
from tests.api.player import play, step
from tests.api.test_rewinds import back, say

SEATS = {"skirmish@1": 4, "passage@1": 3, "sealed@1": 4, "orders@1": 3, "windows@1": 5, "struggle_of_empires@1": 3}


def agree(table: Table, motion: Doc) -> None:
    for seat in motion["consents"]:
        assert say(table, motion, seat, agrees=True).status_code == 200
    assert table.get(f"/rewinds/{motion['id']}").json["status"] == "done"


def read_all(table: Table) -> tuple[list[bytes], list[DueWork]]:
    """Whatever views tell of a table: to each viewer, and to the workers."""
    viewers = [None, "director", *range(len(table.tokens))]
    paths = ("", "/board", "/decisions", "/timeline?limit=200")
    due = table.site.services.reader.list_due(MAX_INT)
    return [table.get(path, who).data for path in paths for who in viewers], due


def rebuild(site: Site) -> None:
    gen = create_generation(site.context.views, 0)
    site.pump = Projector(ViewerHistory(site.services.ledger, CATALOGUE, site.context.views), "another", gen)
    site.ring()
    assert switch_generation(site.context.views, gen)


def check_now(table: Table, stream_seat: int) -> None:
    """The game, its views and a stream agree with the log read from its first record."""
    services = table.site.services
    now, records = services.commands.game(table.game), services.ledger.read(table.game)
    folded = fold(CATALOGUE.get(now.ruleset), records)
    assert (now.state, now.reversible.clocks, now.reversible.counts, now.lasting.rewinds.epoch) == (
        folded.state,
        folded.reversible.clocks,
        folded.reversible.counts,
        folded.lasting.rewinds.epoch,
    )
    (decision, *_) = table.get("/decisions").json["decisions"]
    assert decision["id"].startswith(f"{folded.lasting.rewinds.count}-")
    assert decision["deadline"] == folded.deadline
    due = [work for work in services.reader.list_due(MAX_INT) if work.game == table.game and work.work == "lapse"]
    assert {work.decision for work in due} <= {decision["id"]}, "nothing is due for what was undone"
    with table.get("/stream", stream_seat) as stream:
        told = stream.until("event: board").rpartition("event: board")[2]
        data = next(line for line in (told + stream.until("\n\n")).splitlines() if line.startswith("data: "))
    assert json.loads(data[6:]) == table.get("/board", stream_seat).json
    before = read_all(table)
    rebuild(table.site)
    assert read_all(table) == before


@pytest.mark.parametrize("ruleset", SEATS)
def test_all_is_right_at_once_and_the_game_goes_on(site: Site, ruleset: str) -> None:
    """Over turns of workers, sealed rounds, draws and earlier rewinds, with consent and by an officer."""
    meta = CATALOGUE.get(ruleset).meta
    pace = {"seconds": dict.fromkeys(sorted({*meta.clocks.values(), "move"}), 3600)}
    table, rng = site.table(ruleset, SEATS[ruleset], pace=pace), random.Random(5)
    start = table.version
    play(table, rng, 6)
    agree(table, back(table, 0, start + 2, fresh=False).json)
    check_now(table, 1)
    play(table, rng, 5)
    motion = back(table, 1, start + 1).json  # over the earlier rewind
    assert motion["consents"] == [seat for seat in range(SEATS[ruleset]) if seat != 1]
    agree(table, motion)
    check_now(table, 0)
    assert step(table, rng) is not None
    assert back(table, "director", start).status_code == 202
    check_now(table, 0)
    play(table, rng, 12)
    assert table.post("/close", {"reason": "void"}, table.director).status_code in (200, 201)
    assert table.get("/audit").json["proved"] is True
    assert table.site.services.reader.list_due(MAX_INT) == []
