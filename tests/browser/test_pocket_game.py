"""A slow game to its end from an installed page: by messages alone, half of its decisions by standing orders."""

from __future__ import annotations

import shutil
import socket
import sqlite3
import threading
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from domain.notifications.push_devices import encode_point
from tests.browser.conftest import Scenario
from tests.browser.test_pages import PHONE
from tests.clients.kit import python_client
from tests.deploy.harness import SHIPPED, Doc, Service, serving

pytestmark = [
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there"),
    pytest.mark.xdist_group("browser"),  # one service and one browser at a time
]

client: Any = python_client()
PASSWORD = "correct horse battery staple 9"
ORDERS: list[Doc] = [
    {"kind": "ready", "times": 99, "attacked": False},
    {"kind": "same_budget", "times": 99, "attacked": False},
    {"kind": "buy_nothing", "times": 99, "attacked": True},
    {"kind": "pass_windows", "times": 15, "attacked": False},
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that also sends to this machine."""
    folder = tmp_path_factory.mktemp("pocket") / "data"
    with serving(folder, program=SHIPPED, ANNALS_WEBHOOKS="loopback") as found:
        yield found


def encoded(plain: bytes) -> str:
    return urlsafe_b64encode(plain).rstrip(b"=").decode()


def make_device(number: int) -> Doc:
    """The keys of a browser."""
    key = ec.derive_private_key(number, ec.SECP256R1())
    auth, point = encoded(bytes([number] * 16)), encoded(encode_point(key.public_key()))
    return {"key": f"{number:064x}", "auth": auth, "point": point}


def find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_a_slow_game_is_played_to_its_end_by_messages_alone(service: Service, scenario: Scenario) -> None:
    push, devices = find_port(), {"Anne": make_device(17), "Bruno": make_device(18)}
    anne, bruno, host = (client.Annals(service.url) for _ in range(3))
    for person, name in ((anne, "Anne"), (bruno, "Bruno"), (host, "Host")):
        person.register(name, PASSWORD)
    keys = {"p256dh": devices["Bruno"]["point"], "auth": devices["Bruno"]["auth"]}
    bruno.wire.write("/me/push", {"endpoint": f"http://127.0.0.1:{push}/Bruno", "keys": keys})
    shortest = {"goal": 6, "turn_limit": 4}
    table = host.open("imperunde@1", 3, options=shortest, pace="correspondence", standing_orders="shown")
    seat, other = anne.table(table.game).join(0), bruno.table(table.game).join(1)
    table.seat_bot(2)
    playing = threading.Thread(target=other.play, args=(client.at_random,), daemon=True)
    playing.start()
    found = scenario(
        "corresponding", own="Anne", password=PASSWORD, browsing=PHONE, game=table.game, director=table.wire.token,
        push=push, devices=devices, orders=ORDERS,
    )  # fmt: skip
    playing.join(60)
    check_messages(found, table.game)
    orders = seat.wire.get(f"/games/{table.game}/standing-orders")["items"]
    check_share(found, orders)
    check_deliveries(service, found, orders)


def check_messages(found: Doc, game: str) -> None:
    """The page was installed, each message opened its decision, and nobody was told of another's affairs."""
    assert (found["install"]["errors"], found["install"]["display"]) == ([], "kStandalone")
    assert found["trial"].startswith("/account/notices")
    assert "The game is over." in found["page"]
    assert found["isEnded"]
    assert {each["data"].partition("#")[0] for each in found["clicked"][1:]} == {f"/games/{game}"}
    told = found["got"]["Bruno"]
    assert {each["url"] for each in told} == {f"/games/{game}"}
    assert {each["title"].partition(":")[0] for each in told} <= {"Your turn", "Game over"}


def check_share(found: Doc, orders: list[Doc]) -> None:
    """About half of the decisions were made by orders; each has ended with its reason."""
    made = {act["decision"] for order in orders for act in order["acts"]}
    share = len(made) / len(made | {*found["byHand"]})
    assert 0.25 < share < 0.75, (sorted(made), found["byHand"])
    assert len(orders) == len(ORDERS)
    assert all(each["state"] == "ended" and each["reason"] and each["told"] for each in orders), orders


def check_deliveries(service: Service, found: Doc, orders: list[Doc]) -> None:
    """Each delivery went out once; each move and each end of an order was told once, to its owner alone."""
    rows = (
        "SELECT a.name, count(*), sum(d.tries) FROM deliveries d JOIN webhooks h ON h.id = d.webhook "
        "JOIN accounts a ON a.id = h.account WHERE d.state = 'delivered' GROUP BY 1"
    )
    with closing(sqlite3.connect(f"file:{service.data}/ledger.sqlite?mode=ro", uri=True)) as database:
        sent = {name: (count, tries) for name, count, tries in database.execute(rows)}
    assert sent == {name: (len(told), len(told)) for name, told in found["got"].items()}
    titles = [each["title"].partition(":")[0] for each in found["got"]["Anne"]]
    assert titles.count("Game over") == 1
    acts = [len(each["acts"]) for each in orders if each["acts"]]
    assert len(acts) <= titles.count("Standing order") <= sum(acts)
    assert titles.count("Standing order ended") == len(orders)
