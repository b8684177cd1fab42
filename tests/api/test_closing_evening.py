"""An evening of ten tables, directed with nothing but the desk: the program of `docs/api/directing.md`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from domain.command_handler import CommandHandler
from domain.kernel.game.table_commands import Close
from domain.kernel.proof.verify import verify
from domain.kernel.records import export
from domain.service.seed_store import SeedStore
from tests.api.conftest import CATALOGUE, Site, Table
from tests.api.members import register
from tests.api.test_staff import opened, play_first

HOUR = 3_600_000
DAY = 24 * HOUR


class Hall:
    """A site with a clock on the wall."""

    def __init__(self, site: Site) -> None:
        s = site.services
        self.site, self.start, self.later = site, s.clock(), 0
        commands = CommandHandler(s.ledger, s.registry, SeedStore(s.ledger, s.ledger.keys), self.clock)
        site.services = replace(s, commands=commands, clock=self.clock)
        site.remake(rate=10_000.0, tables=1000)

    def clock(self) -> int:
        return self.start + self.later

    def close_ruled(self, table: Table) -> None:
        """Close a table a day after its ruling, as a worker does."""
        s = self.site.services
        ruling = s.commands.game(table.game).pending_ruling
        assert ruling is not None
        s.notify_appended(s.commands.handle(table.game, Close(ruling.reason, "clock")).position)


def sent(reply: Any) -> Any:
    """The body of an answer that is no refusal."""
    assert reply.status_code < 300, reply.text
    return reply.json


def due(table: Table) -> int:
    time: int = table.get("/decisions").json["decisions"][0]["due"]["0"]
    return time


def test_a_director_runs_ten_tables_of_one_evening(site: Site) -> None:
    hall, olga = Hall(site), register(site, "Olga")
    ada = register(site, "Ada")
    tables = [opened(olga) for _ in range(10)]
    ids = [table.game for table in tables]

    # Ada helps at all tables.
    sent(olga.post("/me/officers", {"games": ids, "name": "Ada", "role": "arbiter"}))
    for game in ids:
        sent(ada.put(f"/me/offices/{game}"))
    assert len(olga.get("/me/desk").json["items"]) == 10

    # The lights go out: no time runs for an hour.
    before = [due(table) for table in tables]
    paused = sent(olga.post("/me/pauses", {"reason": "The lights are out"}))
    assert [item["refused"] for item in paused["items"]] == [None] * 10
    assert olga.get("/me/desk").json["counts"]["paused"] == 10
    hall.later += HOUR
    sent(olga.post("/me/resumptions", {"reason": "Light again"}))
    assert [due(table) for table in tables] == [time + HOUR for time in before]

    # A player goes home, and another sits down.
    first = tables[0]
    sent(olga.delete(f"{first.path}/seats/2"))
    assert olga.get("/me/desk?needs=empty").json["items"][0]["game"] == first.game
    first.tokens[2] = sent(first.post("/seats", {"seat": 2, "name": "Zoe"}))["token"]
    for _ in range(3):
        play_first(first)

    # Ada rules on a dispute; a player appeals, and Olga answers.
    second = tables[1]
    decision = second.decision
    ruling = sent(ada.post(f"{second.path}/extensions", {"decision": decision, "seconds": 600, "reason": "A dispute"}))
    sent(second.post("/appeals", {"version": ruling["version"], "reason": "We all agreed"}, second.tokens[0]))
    (row,) = olga.get("/me/desk?needs=appealed").json["items"]
    assert row["game"] == second.game
    answer = {"outcome": "overturned", "reason": "They had agreed"}
    sent(olga.post(f"{second.path}/appeals/{ruling['version']}/answer", answer))
    take_back = {"decision": decision, "seconds": -600, "reason": "The appeal"}
    sent(olga.post(f"{second.path}/extensions", take_back))
    assert due(second) == before[1] + HOUR

    # A third table asks how it might go on; Olga looks at a line.
    third = tables[2]
    play_first(third)
    head = third.version
    line = sent(olga.post(f"{third.path}/forks", {"version": head}))
    looked = Table(site, line["game"], olga.token, [])
    seat = looked.get("/decisions").json["decisions"][0]["must"][0]
    move = {"move": {"type": "submit"}, "decision": looked.decision}
    sent(olga.post(f"{looked.path}/moves", move, Annals_Role=str(seat)))
    assert third.version == head
    assert looked.game not in {row["game"] for row in olga.get("/me/desk").json["items"]}

    # The hall closes: one table is ranked as it stands, one does not count, the others are broken off.
    sent(olga.post(f"{tables[3].path}/close", {"reason": "adjourned", "explanation": "The hall closes"}))
    sent(olga.post(f"{tables[4].path}/close", {"reason": "annulled", "explanation": "The board fell down"}))
    assert olga.get("/me/desk").json["counts"]["ruled"] == 2
    for table in [*tables[:3], *tables[5:]]:
        sent(olga.post(f"{table.path}/close", {"reason": "abandoned"}))
    sent(olga.post(f"{looked.path}/close", {"reason": "void"}, Annals_Role="director"))
    hall.later += DAY
    for table in tables[3:5]:
        hall.close_ruled(table)
    assert olga.get("/me/desk").json["items"] == []
    assert [line["place"] for line in tables[3].get("/scores").json["scores"]] == [1, 1, 1]
    assert tables[4].get("/scores").json["ending"]["ranked"] is False

    # Every export verifies.
    for table in [*tables, looked]:
        assert verify(CATALOGUE.get("orders@1"), export.parse(table.get("/export").data)).closed
