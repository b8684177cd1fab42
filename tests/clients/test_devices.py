"""Two devices on one seat at once; requests that come twice, or late; a session that ends in mid-stream."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from tests.clients.kit import python_client
from tests.deploy.harness import SHIPPED, serving

pytestmark = pytest.mark.xdist_group("devices")  # one service

client: Any = python_client()
PASSWORD = "a river of green glass"


class Seats:
    """A table for two, and two devices of whoever must move first."""

    def __init__(self, url: str) -> None:
        people = [client.Annals(url), client.Annals(url)]
        for name, person in zip(("Ute", "Vera"), people, strict=True):
            person.register(name, PASSWORD)
        table = people[0].open("struggle_of_empires@1", 2, listing="unlisted")
        seats = [table.join(0), people[1].table(table.game).join(1)]
        seats[0].start()
        self.first = next(seat for seat in seats if seat.decisions()[0]["must"] == [seat.seat])
        self.second = seats[1 - self.first.seat]
        self.person = people[self.first.seat]
        self.other = client.Annals(url)
        self.other.log_in(("Ute", "Vera")[self.first.seat], PASSWORD)
        self.twin = self.other.table(table.game, role=str(self.first.seat))
        self.twin.seat = self.first.seat

    def version(self) -> int:
        return int(self.first.summary()["version"])


@pytest.fixture
def seats(tmp_path: Path) -> Iterator[Seats]:
    with serving(tmp_path / "data", program=SHIPPED) as service:
        yield Seats(service.url)


def together(*calls: Callable[[], Any]) -> list[Any]:
    """What each call answers, or is refused with; all begin at once."""
    gate = Barrier(len(calls))

    def one(call: Callable[[], Any]) -> Any:
        gate.wait()
        try:
            return call()
        except client.Refused as refusal:
            return refusal

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def test_of_two_devices_that_answer_one_decision_one_is_heard(seats: Seats) -> None:
    """The other is told that it came too late, and both see the same game."""
    decision, before = seats.first.decisions()[0]["id"], seats.version()
    devices = (seats.first, seats.twin)
    moves = [device.build(client.at_random, device.resume()["board"]) for device in devices]
    said = together(
        lambda: seats.first.move(moves[0], decision=decision), lambda: seats.twin.move(moves[1], decision=decision)
    )
    (late,) = [answer for answer in said if isinstance(answer, client.Refused)]
    assert late.code in client.OVERTAKEN
    (stored,) = [answer for answer in said if not isinstance(answer, client.Refused)]
    assert stored["version"] == before + 1
    seats.first.position = seats.twin.position = stored["position"]
    assert seats.first.resume()["board"] == seats.twin.resume()["board"]


def test_a_request_that_comes_eight_times_at_once_is_done_once(seats: Seats) -> None:
    decision, before = seats.first.decisions()[0]["id"], seats.version()
    body = {"move": seats.first.build(client.at_random, seats.first.resume()["board"]), "decision": decision}
    key, path = secrets.token_hex(16), f"/games/{seats.first.game}/moves"
    answers = together(*[lambda: seats.first.wire.write(path, body, key=key)] * 8)
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["version"] == before + 1
    seats.first.position = answers[0]["position"]
    assert seats.version() == before + 1


def test_a_request_that_comes_after_a_later_one_changes_nothing(seats: Seats) -> None:
    """Neither under its old key, nor under another, nor when it named a version."""
    decision, before = seats.first.decisions()[0]["id"], seats.version()
    move = seats.first.build(client.at_random, seats.first.resume()["board"])
    key, path = secrets.token_hex(16), f"/games/{seats.first.game}/moves"
    body = {"move": move, "decision": decision}
    stored = seats.first.wire.write(path, body, key=key)
    seats.second.position = stored["position"]
    assert seats.second.turn(client.at_random)
    version = seats.second.summary()["version"]
    assert seats.first.wire.write(path, body, key=key) == stored
    for late, at in ((body, None), ({"move": move}, before)):
        with pytest.raises(client.Refused) as refused:
            seats.first.wire.write(path, late, version=at)
        assert refused.value.code in {*client.OVERTAKEN, "stale_version"}
    assert seats.second.summary()["version"] == version


def test_a_session_that_ends_in_mid_stream_ends_the_stream(seats: Seats) -> None:
    """The other device goes on; whoever follows with the ended one is refused when it comes again."""
    events = seats.twin.follow()
    assert next(events)["event"] == "board"
    mine = next(s for s in seats.other.wire.get("/me/sessions")["items"] if s["current"])
    seats.person.wire.write(f"/me/sessions/{mine['id']}", None, method="DELETE")
    assert seats.first.turn(client.at_random)
    told: list[str] = []
    with pytest.raises(client.Refused) as refused:
        told.extend(event["event"] for event in events)
    assert refused.value.code == "unauthenticated"
    assert told == []
