"""What a person has erased is gone from the files, not only from what is shown."""

from __future__ import annotations

import math
import time
from pathlib import Path

from tests.deploy.harness import Table, serving, until
from tests.deploy.test_archived_service import shipped

NAME, REASON = "Quillon Abernethy Vraskovich", "A card of Xanthippe was misread"


def holding(data: Path, said: str) -> set[str]:
    """The files in which it can be read."""
    return {path.name for path in data.rglob("*") if path.is_file() and said.encode() in path.read_bytes()}


def test_after_a_stop_nothing_is_left_to_be_overwritten(tmp_path: Path) -> None:
    """The running backup reads the log of last writes, which ends when the service does, and not when it is killed."""
    (tmp_path / "copies").mkdir()
    unwiped = tmp_path / "data" / "ledger.sqlite-unwiped"
    for kill in (True, False):
        began = math.ceil(time.time() * 1000)
        with serving(tmp_path / "data", "--backup-to", str(tmp_path / "copies")) as service:
            made = service.http.post("/games", json={"ruleset": "orders@1", "seats": 3, "name": NAME}).json()
            shipped(tmp_path / "copies", began)
            headers = {"Authorization": f"Bearer {made['token']}"}
            assert service.http.delete(f"/players/{made['player']}/name", headers=headers).status_code == 204
            assert unwiped.exists()
            if kill:
                service.kill_group()
                assert unwiped.exists()
                assert holding(tmp_path / "data", NAME)
            else:
                assert service.end() == 0
    assert not unwiped.exists()
    assert holding(tmp_path / "data", NAME) == set()


def test_a_name_and_a_reason_are_gone_from_every_file(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        table = Table(service)
        made = table.post("/games", {"ruleset": "orders@1", "seats": 3, "name": NAME})
        table.game, table.director = made["game"], made["token"]
        for seat in range(3):
            joined = table.post(f"/games/{table.game}/seats", {"seat": seat, "name": f"{NAME} {seat}"})
            table.tokens.append(joined["token"])
        table.post(f"/games/{table.game}/start", {}, table.director)
        table.turn()
        head = table.get()["version"]
        headers = {"Authorization": f"Bearer {table.director}", "If-Match": f'"{head}"'}
        asked = service.http.post(f"/games/{table.game}/rewinds", json={"to": 5, "reason": REASON}, headers=headers)
        assert asked.status_code == 202, asked.text
        until(lambda: table.get()["version"] > head)  # else it closes a decision that is being answered
        assert holding(tmp_path / "data", NAME)
        assert holding(tmp_path / "data", REASON)
        people = [(made["player"], table.director)]
        people += [(seat["player"], token) for seat, token in zip(table.get()["seats"], table.tokens, strict=True)]
        for player, token in people:
            gone = service.http.delete(f"/players/{player}/name", headers={"Authorization": f"Bearer {token}"})
            assert gone.status_code == 204
        assert holding(tmp_path / "data", NAME) == set()
        assert holding(tmp_path / "data", REASON) == set()
        table.turn()
    assert holding(tmp_path, NAME) == set(), "nor in the log"
