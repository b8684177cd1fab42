"""A service whose closed games are archived while it runs: nobody who asks notices, and no secret lies about."""

from __future__ import annotations

import itertools
import json
import os
import signal
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.backup import point_in_time
from deploy.backup.wal_files import SEGMENT, WalSegment
from deploy.config.settings import load_settings
from deploy.runtime.wiring import create_services, migrate
from domain.kernel.proof.verify import verify
from domain.kernel.records.export import dump, parse
from domain.ledger import Ledger
from projections.archived_views import ArchivedViewLoader
from projections.reader import Reader
from tests.damage import overwrite
from tests.deploy.harness import CATALOGUE, Service, Table, call, serving, until
from tests.deploy.test_game_repair import Place, closed

PATHS = (
    "",
    "/board",
    "/board?version=7",
    "/board/parts?fields=public",
    "/decisions",
    "/timeline",
    "/timeline?after=3&limit=2",
    "/records",
    "/digest",
    "/export",
    "/audit",
    "/scores",
    "/records/3/proof",
)
HEAD = ("ETag", "Annals-Version", "Link", "Cache-Control")


def over(service: Service) -> Table:
    """A game that was played to its end."""
    table = Table(service).open()
    while table.get()["status"] != "closed":
        table.turn()
    return table


def asked(table: Table, path: str, token: str = "") -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return table.service.http.get(f"/games/{table.game}{path}", headers=headers)


def told(table: Table) -> dict[tuple[str, str], Any]:
    """All that is answered of the game, and what is shown of it elsewhere."""
    found: dict[tuple[str, str], Any] = {}
    for who, token in (("", ""), ("seat", table.tokens[1]), ("director", table.director)):
        for path in PATHS:
            answer = asked(table, path, token)
            assert answer.status_code == 200, answer.text
            found[who, path] = answer.content, [answer.headers.get(name) for name in HEAD]
        with table.service.http.stream(
            "GET", f"/games/{table.game}/stream", headers={"Authorization": f"Bearer {token}"} if token else {}
        ) as stream:
            found[who, "/stream"] = stream.read()
    for path in ("/games", f"/players/{table.get()['seats'][0]['player']}/results"):
        found["", path] = table.service.http.get(path).json()
    return found


def of_the_game(found: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """Without what others change: the lobby, the size of the tree, that there is a rematch."""
    return {key: value for key, value in found.items() if key[1] not in ("", "/games", "/records/3/proof")}


def refusals(table: Table) -> list[tuple[int, str]]:
    """What a closed game takes no more."""
    bodies = {
        "/moves": {"move": {"type": "submit"}, "decision": "0-1"},
        "/rewinds": {"to": 6, "reason": "an error"},
        "/looks": {},
        "/close": {"reason": "void"},
        "/seats": {"seat": 0},
    }
    said = []
    for path, body in bodies.items():
        for token in (table.director, table.tokens[0]):
            headers = {"Authorization": f"Bearer {token}"}
            answer = table.service.http.post(f"/games/{table.game}{path}", json=body, headers=headers)
            assert 400 <= answer.status_code < 500, answer.text
            said.append((answer.status_code, str(answer.json()["code"])))
    return said


def archived(data: Path, many: int) -> None:
    ran = call("archive", "0", "--data", str(data))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["games"] == many


def rot(data: Path, game: str) -> None:
    """A bit of a piece changes on the disk, while all processes run."""
    settings = load_settings({"data": str(data)}, {})
    with closing(Ledger.open(settings.ledger_url, settings.load_key())) as ledger:
        ((piece,),) = ledger.execute("SELECT piece FROM archive WHERE game = ?", (game,))
        changed = bytes(piece)[:90] + bytes([bytes(piece)[90] ^ 1]) + bytes(piece)[91:]
        overwrite(ledger, "UPDATE archive SET piece = ? WHERE game = ?", (changed, game))


def doctor(data: Path) -> dict[str, tuple[bool, str]]:
    found = json.loads(call("doctor", "--json", "--data", str(data)).stdout)
    return {check["name"]: (check["well"], check["said"]) for check in found["checks"]}


def shipped(copies: Path, at: int) -> str:
    """A moment, from that time (ms) on, of which all is in the running backup."""

    def last() -> int:
        return max((WalSegment.time_in_name(path) for path in copies.glob(f"*/*{SEGMENT}")), default=0)

    return point_in_time.format_time(until(lambda: last() if last() >= at else 0))


def test_closed_game_is_the_same_archived_damaged_or_restored(tmp_path: Path) -> None:
    """Read again and again meanwhile; by command, from the running backup, and in the service that is made of it."""
    data, copies, new = tmp_path / "data", tmp_path / "copies", tmp_path / "new"
    with serving(data, "--backup-to", str(copies), ANNALS_SCRUB="5000") as service:
        table, other = over(service), Table(service).open()
        before, refused, faults = told(table), refusals(table), list[Any]()
        stop = threading.Event()

        def read() -> None:
            with httpx.Client(base_url=f"{service.url}/v1", timeout=10) as http:
                while not stop.is_set():
                    for path in ("/board", "/timeline", "/export", "/timeline?after=3&limit=2"):
                        answer = http.get(f"/games/{table.game}{path}")
                        if answer.status_code == 200 and answer.content != before["", path][0]:
                            faults.append((path, answer.text))
                        elif answer.status_code not in (200, 429):  # of work on whole games so much at once
                            faults.append((path, answer.status_code, answer.text))

        reader = threading.Thread(target=read)
        reader.start()
        try:
            archived(data, 1)
            archived(data, 0)
        finally:
            stop.set()
            reader.join()
        assert faults == []
        assert told(table) == before
        assert refusals(table) == refused
        assert json.loads(call("audit", table.game, "--data", str(data)).stdout)["verified"] is True
        assert call("rebuild", "--data", str(data)).returncode == 0
        assert told(table) == before
        assert doctor(data)["ledger"][1].endswith("1 of them archived")

        moment = shipped(copies, int(time.time() * 1000))
        rot(data, table.game)
        until(lambda: not doctor(data)["damaged games"][0])
        assert asked(table, "/export").status_code == 503
        other.turn()
        mended = call("restore", str(copies), "--game", table.game, "--at", moment, "--data", str(data))
        assert mended.returncode == 0, mended.stdout + mended.stderr
        until(lambda: asked(table, "/board").status_code == 200)
        assert of_the_game(told(table)) == of_the_game(before)
        again = table.service.http.post(
            f"/games/{table.game}/rematches", json={}, headers={"Authorization": f"Bearer {table.tokens[0]}"}
        )
        assert again.status_code == 201, again.text
        assert service.end() == 0
    assert call("restore", str(copies), "--data", str(new)).returncode == 0
    with serving(new) as service:
        table.service = other.service = service
        assert of_the_game(told(table)) == of_the_game(before)
        assert table.get()["rematch"] == again.json()["game"]
        other.turn()
        assert verify(CATALOGUE.get("orders@1"), parse(asked(table, "/export").content)).closed


def test_name_is_erased_and_key_changed_in_archived_games(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        table = over(service)
        archived(tmp_path / "data", 1)
        player = table.get()["seats"][0]["player"]
        before = asked(table, "/export").content
        service.http.delete(f"/players/{player}/name", headers={"Authorization": f"Bearer {table.tokens[0]}"})
        assert asked(table, "/export").content == before
        assert call("rotate-key", "--data", str(tmp_path / "data")).returncode == 0
        assert service.end() == 0
    with serving(tmp_path / "data") as service:
        table.service = service
        assert call("rotate-key", "--finish", "--data", str(tmp_path / "data")).returncode == 0
        assert asked(table, "/export").content == before
        newer = over(service)
        exported = asked(newer, "/export").content
        archived(tmp_path / "data", 1)
        assert (asked(table, "/export").content, asked(newer, "/export").content) == (before, exported)
        assert doctor(tmp_path / "data")["records"][0]


def test_a_keeper_that_is_killed_again_and_again_archives_all(tmp_path: Path) -> None:
    """Games that were closed two days ago; between any two effects of it, and whoever does it in its place."""
    data = tmp_path / "data"
    settings = load_settings({"data": str(data)}, {"ANNALS_REDIS_URL": "redis://127.0.0.1:1"})
    migrate(settings)
    services = create_services(settings, CATALOGUE)
    days_ago = itertools.count(int(time.time() * 1000) - 2 * 86_400_000)
    services.commands._clock = lambda: next(days_ago)
    place = Place(settings, services)
    games = [closed(place) for _ in range(8)]
    before = {game: dump(services.ledger.read(game)) for game in games}
    told = {game: services.reader.read_timeline(game, "public") for game in games}
    with serving(data, ANNALS_ARCHIVE_DAYS="1") as service:
        for _ in range(4):
            os.kill(until(lambda: service.find("annals-keeper")), signal.SIGKILL)
            time.sleep(0.4)
        until(lambda: all(map(services.ledger.is_archived, games)))
        assert doctor(data)["records"][0]
        for game in games:
            assert service.http.get(f"/games/{game}/export").content == before[game]
        assert service.end() == 0
    reader = Reader(services.views, ArchivedViewLoader(services.history))
    assert {game: reader.read_timeline(game, "public") for game in games} == told
    repaired = services.ledger.execute("SELECT what FROM repairs ORDER BY what")
    assert repaired == sorted((f"8 records of {game} are archived",) for game in games)
    assert services.ledger.admin.has_append_triggers()
    services.close()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this system shows no environments")
@pytest.mark.parametrize("given", ["a file", "the environment"])
def test_nobody_is_told_a_secret_who_needs_it_not(tmp_path: Path, given: str) -> None:
    """Neither another program, nor whoever lists processes; from a file it stands in no environment at all."""
    secrets = {"ANNALS_KEY": "5ec2e7" * 10 + "0000", "ANNALS_METRICS_TOKEN": "5ec2e7-of-the-scraper"}
    env = secrets
    if given == "a file":
        env = {f"{name}_FILE": str(tmp_path / name) for name in secrets}
        for name, secret in secrets.items():
            (tmp_path / name).write_text(secret)
    with serving(tmp_path / "data", **env) as service:
        programs = 0
        for pid, (_, name) in until(service.group).items():
            shown = Path(f"/proc/{pid}/environ").read_bytes()
            ours = Path(f"/proc/{pid}/exe").readlink().name.startswith("python")
            programs += not ours
            if given == "a file" or not ours:
                assert b"5ec2e7" not in shown, name
            assert b"5ec2e7" not in Path(f"/proc/{pid}/cmdline").read_bytes(), name
        assert programs >= 2, "nginx, and the server that speaks Redis' protocol"
        assert "5ec2e7" not in service.errors.read_text()
        assert service.http.get(f"{service.url}/metrics").status_code in (200, 401, 403)
