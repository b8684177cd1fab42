"""A service whose machine's clock is set while it is played: nothing stalls, no time is lost, the log proves itself."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from domain.kernel.proof.verify import verify
from domain.kernel.records import export
from tests.deploy.harness import CATALOGUE, Doc, Service, Table, call, serving, until
from tests.deploy.served import WALL
from tests.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]

HOUR = 3600


@dataclass
class Wall:
    """The clock of the machine, as the service reads it."""

    path: Path
    error: int = 0
    number: itertools.count[int] = field(default_factory=itertools.count)

    def set(self, error: int) -> None:
        """Wrong by so many seconds, at once for all."""
        new = self.path.with_name(f"{self.path.name}{next(self.number)}")
        new.write_text(str(error))
        new.replace(self.path)


@pytest.fixture
def wall(tmp_path: Path) -> Wall:
    made = Wall(tmp_path / "wall")
    made.set(0)
    return made


def timeline(table: Table) -> list[Doc]:
    found: list[Doc] = table.get("/timeline?limit=200")["items"]
    return found


def acts(table: Table) -> list[str]:
    return [entry["body"]["act"] for entry in timeline(table) if "act" in entry.get("body", {})]


def figure(service: Service, name: str) -> float:
    text = service.http.get(f"{service.url}/metrics").text
    found = re.search(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
    assert found, name
    return float(found[1])


def proves(table: Table) -> list[Doc]:
    """The game as anybody may check it."""
    headers = {"Authorization": f"Bearer {table.director}"}
    table.service.http.post(f"/games/{table.game}/close", json={"reason": "void"}, headers=headers)
    assert until(lambda: table.get()["status"] == "closed")
    answer = table.service.http.get(f"/games/{table.game}/export")
    found = export.parse(answer.content)
    assert verify(CATALOGUE.get("orders@1"), found).decided == len(found.records)
    times = [record.public["at"] for record in found.records]
    assert times == sorted(times)
    return [record.public for record in found.records]


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_a_game_goes_on_through_an_hour_forward_and_back(
    tmp_path: Path, wall: Wall, store: str, request: pytest.FixtureRequest
) -> None:
    env = {WALL: str(wall.path)}
    if store == "postgresql":
        env["ANNALS_DATABASE_URL"] = request.getfixturevalue("postgres_url")
    data = tmp_path / "data"
    with serving(data, **env) as service:
        slow = Table(service, {"seconds": {"turn": 2 * HOUR}}).open()
        quick = Table(service, {"seconds": {"turn": 12}}).open()
        due = until(lambda: slow.get()["due"])
        wall.set(HOUR)
        assert until(lambda: acts(slow)) == until(lambda: acts(quick)) == ["shift"]
        assert abs(slow.get()["due"] - due - HOUR * 1000) < 2000, "nobody has lost any time"
        assert [e["kind"] for e in timeline(quick)].count("lapsed") == 0
        slow.turn()
        until(lambda: "lapsed" in [e["kind"] for e in timeline(quick)])
        wall.set(0)
        slow.turn()
        lapsed = [e["at"] for e in timeline(quick) if e["kind"] == "lapsed"]
        until(lambda: [e["at"] for e in timeline(quick) if e["kind"] == "lapsed"] > lapsed)
        assert until(lambda: figure(service, "annals_clock_offset_seconds") > HOUR - 60)
        assert figure(service, "annals_clock_jumps_total") == 1
        assert service.http.get(f"{service.url}/readyz").json()["clock_offset"] > HOUR - 60
        assert call("doctor", "--data", str(data), **env).stdout.count("behind the service's time") == 1
        service.kill_group()
    with serving(data, **env) as service:
        slow.service = quick.service = service
        last = timeline(slow)[-1]["at"]
        slow.turn()
        assert timeline(slow)[-1]["at"] < last + 60_000, "it goes on from where it was"
        for table in (slow, quick):
            proves(table)
        assert acts(slow) == ["shift"]
        assert acts(quick) in (["shift"], ["shift", "extend"]), "a deadline may have passed between the two services"


def test_service_that_starts_on_clock_put_right_goes_on(tmp_path: Path, wall: Wall) -> None:
    """It was wrong from the beginning: nothing leaps, and nothing waits."""
    wall.set(HOUR)
    data = tmp_path / "data"
    with serving(data, **{WALL: str(wall.path)}) as service:
        table = Table(service, {"seconds": {"turn": 5}}).open()
        service.kill_group()
    wall.set(0)
    with serving(data, **{WALL: str(wall.path)}) as service:
        table.service = service
        until(lambda: "lapsed" in [e["kind"] for e in timeline(table)])
        assert acts(table) in ([], ["extend"]), "the time between the two was an outage"
        proves(table)
