"""A stored ledger, and requests that it has answered: repeated, they get the same answers.

The ledger holds values that are derived from requests or sealed: ids, tokens, secrets of webhooks and clients, packs,
hashes of commands.
"""

from __future__ import annotations

import lzma
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from domain.types import Doc
from tests.api.conftest import Site, make_site
from tests.api.members import PASSWORD, log_in, timed

LEDGER = Path(__file__).with_name("ledger.xz")

ACCOUNT = {"name": "Anne", "password": PASSWORD}
TOKEN = {"label": "a bot", "scopes": ["play"], "days": 30}
HOOK = {"url": "https://receiver.example/x", "about": "mine"}
CLIENT = {"name": "a client", "redirects": ["https://client.example/answer"], "confidential": True}
TIMES = ("at", "deadline", "due", "made", "proved", "until", "used")
"""Members that depend on the time of the request."""


@dataclass
class _Asked:
    site: Site
    told: Doc = field(default_factory=dict)

    def __call__(self, method: str, path: str, body: Any = None, token: str = "") -> Any:
        """Send a request whose key contains its number; return the answer."""
        name = f"{len(self.told):02} {method} {path}"
        headers = (
            {"Idempotency-Key": f"the-key-of-published-request-no-{len(self.told):02}"} if method == "POST" else {}
        )
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        made = self.site.client.open("/v1" + path, method=method, json=body, headers=headers)
        assert made.status_code < 300, f"{name}: {made.text}"
        self.told[name] = [made.status_code, _lasting(made.json)]
        return made.json


def _lasting(doc: Any) -> Any:
    if isinstance(doc, dict):
        return {key: _lasting(value) for key, value in doc.items() if key not in TIMES}
    return [_lasting(each) for each in doc] if isinstance(doc, list) else doc


def answers(folder: Path, *, anew: bool = False) -> Doc:
    """Return request -> status and answer, from the stored ledger; with `anew` from a new one, which is stored."""
    stores = {} if anew else {"ledger": lzma.decompress(LEDGER.read_bytes())}
    with closing(make_site(folder, stores=stores)) as site:
        site.services.seat_tokens.migrate()  # as a start of the service does
        site.services.account_store.migrate()
        timed(site)
        site.ring()
        ask = _Asked(site)
        _account(ask)
        _game(ask)
        assert log_in(site).status_code == 201
    if anew:
        LEDGER.write_bytes(lzma.compress((folder / "ledger").read_bytes(), preset=9))
    return ask.told


def _account(ask: _Asked) -> None:
    anne, bob = (ask("POST", "/accounts", ACCOUNT | {"name": name}) for name in ("Anne", "Bob"))
    who = anne["token"]
    token = ask("POST", "/me/tokens", TOKEN, who)
    ask("POST", f"/me/tokens/{token['id']}/rotations", None, who)
    hook = ask("POST", "/me/webhooks", HOOK, who)
    ask("POST", f"/me/webhooks/{hook['id']}/rotations", None, who)
    ask("POST", "/me/clients", CLIENT, who)
    ask("POST", "/reports", {"player": bob["player"], "said": "rude"}, who)
    for path in ("", "/tokens", "/webhooks", "/clients"):
        ask("GET", f"/me{path}", token=who)


def _game(ask: _Asked) -> None:
    table = ask("POST", "/games", {"ruleset": "orders@1", "seats": 3})
    path, director = f"/games/{table['game']}", table["token"]
    seats = [ask("POST", f"{path}/seats", {"seat": seat, "name": f"Player {seat}"})["token"] for seat in range(3)]
    ask("POST", f"{path}/start", {}, director)
    ask("POST", f"{path}/moves", {"move": {"type": "submit"}, "decision": "0-1"}, seats[1])
    ask("POST", f"{path}/looks", {}, director)
    ask("POST", f"{path}/close", {"reason": "abandoned"}, director)
    ask("GET", f"{path}/board", token=seats[0])
    ask("GET", f"{path}/records", token=director)
