"""Webhooks of a whole service: what is owed comes, whoever is killed, and though Redis is emptied."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path
from typing import Any

from tests.deploy.harness import Service, serving, until
from tests.notifications.conftest import Receiver, receiver

__all__ = ["receiver"]

TABLE = {"ruleset": "orders@1", "seats": 3}


def account(service: Service, name: str) -> dict[str, str]:
    made = service.http.post("/accounts", json={"name": name, "password": "a long way home 77"})
    assert made.status_code == 201, made.text
    return {"Authorization": f"Bearer {made.json()['token']}"}


def table(service: Service, who: dict[str, str]) -> str:
    """A game at which somebody has the first seat."""
    made = service.http.post("/games", json=TABLE).json()
    for seat in range(3):
        body: Any = {"seat": seat} if seat == 0 else {"seat": seat, "name": f"Guest {seat}"}
        joined = service.http.post(f"/games/{made['game']}/seats", json=body, headers=who if seat == 0 else {})
        assert joined.status_code == 201, joined.text
    started = service.http.post(
        f"/games/{made['game']}/start", headers={"Authorization": f"Bearer {made['token']}"}, json={}
    )
    assert started.status_code == 201, started.text
    return str(made["game"])


def told(receiver: Receiver) -> set[str]:
    """The games of whose turns it was told."""
    return {doc["data"]["game"] for doc in receiver.docs if doc["type"] == "turn.due"}


def all_told(receiver: Receiver, games: set[str]) -> bool:
    return told(receiver) == games


def test_whoever_is_killed_what_is_owed_comes(tmp_path: Path, receiver: Receiver) -> None:
    with serving(tmp_path / "data", ANNALS_WEBHOOKS="loopback") as service:
        anne = account(service, "Anne")
        made = service.http.post("/me/webhooks", json={"url": receiver.url, "about": "mine"}, headers=anne)
        assert made.status_code == 201, made.text
        games = {table(service, anne)}
        until(partial(all_told, receiver, games))
        for name in ("annals-pump", "annals-worker-1", "valkey-server"):
            pid = until(partial(service.pid, name))
            games.add(table(service, anne))
            os.kill(pid, signal.SIGKILL)
            games.add(table(service, anne))
            until(partial(all_told, receiver, games))
        ids = {headers["webhook-id"] for headers, _ in receiver.got}
        assert len(ids) == len(games)
        path = f"/me/webhooks/{made.json()['id']}/deliveries"
        until(lambda: {d["state"] for d in service.http.get(path, headers=anne).json()["items"]} == {"delivered"})
