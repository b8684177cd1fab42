"""Every token, code, seed and salt of a whole game is searched for, in what a service writes and in what goes about."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.kit import python_client
from tests.deploy.harness import SHIPPED, serving

client: Any = python_client()
PASSWORD = "a river of green glass"
LOST = "0" * 8 + "-0000-4000-8000-" + "0" * 12


class Watched(client.Wire):  # type: ignore[misc]  # its module is imported when the tests run
    """A wire that keeps the addresses that it asked for, and what refusals said."""

    urls: list[str] = []  # noqa: RUF012 - all callers of a test share it
    refusals: list[str] = []  # noqa: RUF012 - likewise

    def _open(self, method: str, path: str, body: Any, headers: Any) -> Any:
        self.urls.append(path)
        try:
            return super()._open(method, path, body, headers)
        except client.Refused as refusal:
            self.refusals.append(json.dumps(refusal.problem))
            raise


def refused(table: Any) -> None:
    """Refusals of many kinds, each with secrets in what was asked."""
    wire, path = table.wire, f"/games/{table.game}"
    bodies: tuple[tuple[str, Any], ...] = (
        (f"{path}/moves", {"move": {"type": wire.token}, "decision": "0-999"}),
        (f"{path}/moves", {"move": {"type": "pass"}}),
        (f"{path}/seats", {"seat": 0, "invitation": wire.token, "nonce_hash": "no"}),
        (f"{path}/close", {}),
        ("/me/claims", {"token": wire.token + "x"}),
        ("/sessions", {"name": "Gerda", "password": PASSWORD + "!"}),
        (f"/games/{LOST}/moves", {"move": {"type": "pass"}, "decision": "0-1"}),
    )
    for where, body in bodies:
        with pytest.raises(client.Refused):
            wire.write(where, body)


def strings(folder: Path) -> Iterator[tuple[str, bytes]]:
    """What every file there holds."""
    for file in folder.rglob("*"):
        if file.is_file():
            yield file.name, file.read_bytes()


def table_of(url: str) -> tuple[list[Any], set[str]]:
    """Seats of two guests and of an account at one table, and all secrets of the three."""
    host = client.Annals(url)
    host.wire = Watched(url)
    told = host.register("Gerda", PASSWORD)
    table = host.open("struggle_of_empires@1", 3, listing="invitation", pace=None)
    seats = [table.join(0)]
    table.wire.role = "director"
    for seat in (1, 2):
        guest = client.Table(Watched(url), table.game, invitation=table.invitation)
        seats.append(guest.join(seat, name=f"Guest {seat}"))
    secrets = {PASSWORD, told["token"], told["device"], *told["codes"], table.invitation}
    secrets |= {host.personal_token("a program", ["play"], 1)["token"], *(seat.wire.token for seat in seats)}
    secrets.add(seats[1].wire.write("/stream-tickets", {})["ticket"])
    table.start()
    return seats, secrets


def parts(token: str) -> list[str]:
    """What of a token must stand nowhere: the last part opens, the one before only names."""
    return [token.split("_", 2)[2]] if token.startswith("an") and token.count("_") >= 2 else [token]


def test_nothing_secret_of_whole_game_is_written_or_sent_about(tmp_path: Path) -> None:
    """Logs at the level of most words, addresses, refusals; and what a thief of the files finds while it is played."""
    Watched.urls, Watched.refusals = [], []
    stolen: list[tuple[str, bytes]] = []
    known = 0
    with serving(tmp_path / "data", "--log-level", "debug", program=SHIPPED, ANNALS_RATE="0") as service:
        seats, secrets = table_of(service.url)
        refused(seats[1])
        for turn in range(2000):
            if not any(seat.turn(client.at_random) for seat in seats):
                break
            for seat in seats:  # each reads what the others have written
                seat.position = max(other.position for other in seats)
            if turn == 20:
                stolen = list(strings(tmp_path / "data"))
                known = seats[0].summary()["version"]
        assert [event["event"] for event in seats[0].follow()][-1] == "end"
        records = [json.loads(line) for line in seats[0].export().splitlines()[1:-1]]
        logs = service.errors.read_bytes() + b"".join(
            text for name, text in strings(tmp_path / "data") if name.endswith((".log", ".errors"))
        )
    assert records[-1]["public"]["kind"] == "closed"
    seed = records[-1]["public"]["body"]["seed"]
    early = {p["salt"] for record in records[:known] for p in record["packs"].values() if "salt" in p}
    late = {p["salt"] for record in records[known:] for p in record["packs"].values() if "salt" in p}
    assert len(early) > 20
    assert b'"request"' in logs or b"/moves" in logs
    words = {part for secret in secrets for part in parts(secret)}
    about = logs + "\n".join(Watched.urls + Watched.refusals).encode()
    for secret in words | {seed} | early | late:
        assert secret.encode() not in about, "a secret was written or sent about"
    assert len(Watched.refusals) >= 7
    for name, text in stolen:
        for secret in words | {seed} | early:
            assert secret.encode() not in text, f"a thief finds a secret in {name}"
            if secret in early | {seed}:
                assert bytes.fromhex(secret) not in text, f"a thief finds a secret in {name}"
