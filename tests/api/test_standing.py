"""Accounts that are suspended or banned: each route of the account that writes refuses them, with few exceptions."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.api.conftest import Site, refused
from tests.api.members import PASSWORD, Member, register

WRITES = ("post", "put", "patch", "delete")
UNUSED: dict[str, str] = {
    "game": "00000000-0000-4000-8000-000000000000",
    "delivery": f"msg_{'0' * 32}",
    "player": "nobody",
    "tournament": "00000000-0000-8000-8000-000000000000",
    "passkey": "0" * 16,
    "part": "entrant",
}

RETURNS = "takes back only what the account gave, stored or was given"
PROTECTS = "protects an account that may have been stolen, and gives nothing to others"
IN_ANY_STANDING = {
    ("delete", "/v1/me"): "erases the person's data",
    ("delete", "/v1/me/sessions"): "logs out",
    ("delete", "/v1/me/sessions/{session}"): "logs out",
    ("post", "/v1/me/proofs"): "comes before erasing oneself",
    ("post", "/v1/me/password"): PROTECTS,
    ("post", "/v1/me/recovery-codes"): PROTECTS,
    ("post", "/v1/me/factors/totp"): PROTECTS,
    ("post", "/v1/me/factors/totp/confirmations"): PROTECTS,
    ("post", "/v1/me/factors/passkeys"): PROTECTS,
    ("post", "/v1/me/factors/passkeys/challenges"): PROTECTS,
    ("delete", "/v1/me/factors/totp"): RETURNS,
    ("delete", "/v1/me/factors/passkeys/{passkey}"): RETURNS,
    ("delete", "/v1/me/tokens/{token}"): RETURNS,
    ("delete", "/v1/me/grants/{grant}"): RETURNS,
    ("delete", "/v1/me/clients/{client}"): RETURNS,
    ("delete", "/v1/me/webhooks/{webhook}"): RETURNS,
    ("delete", "/v1/me/push/{device}"): RETURNS,
    ("delete", "/v1/me/mail"): RETURNS,
    ("delete", "/v1/me/calendar-key"): RETURNS,
    ("delete", "/v1/me/watching/{game}"): RETURNS,
    ("delete", "/v1/me/blocks/{player}"): RETURNS,
}
"""Method and path -> reason. A ban is tested with all other routes."""

PLAYS_ON = "a suspended person plays on"
PLAYING = {
    ("delete", "/v1/me/challenges/{game}"): PLAYS_ON,
    ("delete", "/v1/me/event-offers/{tournament}/{part}"): PLAYS_ON,
    ("delete", "/v1/me/substitutions/{tournament}/{player}"): PLAYS_ON,
    ("post", "/v1/me/vacations"): PLAYS_ON,
}
BODIES: dict[str, Any] = {
    "/v1/me/push": {"endpoint": "https://x.example/", "keys": {"p256dh": "x" * 87, "auth": "x" * 22}},
    "/v1/me/entries": {"code": "x"},
    "/v1/me/webhooks/{webhook}": {"url": "https://x.example/", "events": [], "on": True},
}


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site)


def writes(site: Site) -> list[tuple[str, str]]:
    """Method and path of each route by which accounts write, from the API's document, but not at tables."""
    paths: dict[str, Any] = site.get("/openapi.json").json["paths"]
    own = [path for path in paths if path.startswith("/v1/me") or path == "/v1/reports"]
    return [(method, path) for path in own for method in WRITES if method in paths[path]]


def ask(member: Member, method: str, path: str, ids: dict[str, str]) -> Any:
    address = re.sub(r"\{(\w+)\}", lambda found: ids.get(found[1]) or UNUSED.get(found[1], "0" * 16), path)
    body = BODIES.get(path, {}) if method in ("post", "put", "patch") else None
    return member.site.client.open(
        address, method=method.upper(), json=body, headers={"Authorization": f"Bearer {member.token}"}
    )


@pytest.mark.parametrize("state", ["banned", "suspended"])
def test_who_is_not_in_good_standing_writes_nothing(site: Site, anne: Member, state: str) -> None:
    """Also things that were there before, so that no refusal is only that of a missing one."""
    hook = anne.post("/me/webhooks", {"url": "https://x.example/", "about": "mine"})
    token = anne.post("/me/tokens", {"label": "a bot", "scopes": ["play"]})
    client = anne.post("/me/clients", {"name": "x", "redirects": ["https://x.example/"], "confidential": True})
    ids = {"webhook": hook.json["id"], "token": token.json["id"], "client": client.json["id"]}
    kept = anne.get("/me/data").json
    site.services.account_store.accounts.set_state(anne.id, state, 1 << 50, [])
    exceptions = IN_ANY_STANDING | (PLAYING if state == "suspended" else {})
    asked = [each for each in writes(site) if each not in exceptions]
    for method, path in asked:
        answer = ask(anne, method, path, ids)
        assert (answer.status_code, answer.json["code"]) == (403, f"account_{state}"), (method, path, answer.text)
    assert {("post", "/v1/reports"), ("post", "/v1/me/tokens"), ("put", "/v1/me/blocks/{player}")} <= set(asked)
    after = anne.get("/me/data").json
    changed = {name for name in kept if kept[name] != after[name]}
    assert changed == {"state", "until"}, changed


def test_exceptions_are_routes(site: Site) -> None:
    assert set(writes(site)) >= {*IN_ANY_STANDING, *PLAYING}


@pytest.mark.parametrize("state", ["banned", "suspended"])
def test_exceptions_work_in_any_standing(site: Site, anne: Member, state: str) -> None:
    """As far as they depend on no other thing: for all of them, no answer names the standing."""
    site.services.account_store.accounts.set_state(anne.id, state, 1 << 50, [])
    for method, path in IN_ANY_STANDING:
        if path not in ("/v1/me", "/v1/me/sessions"):
            assert "account_" not in ask(anne, method, path, {}).text, (method, path)
    anne.prove()
    assert anne.get("/me/data").status_code == 200
    answer = anne.post("/me/password", {"current": PASSWORD, "password": "another long passphrase"})
    assert answer.status_code == 201, answer.text
    again = Member(site, anne.doc | {"token": answer.json["token"]})
    assert again.delete("/me").status_code == 204
    refused(again.get("/me"), 401, "unauthenticated")


def test_a_personal_token_of_a_banned_account_reports_nobody(site: Site, anne: Member) -> None:
    bob = register(site, "Bob")
    token = anne.personal("play")
    site.services.account_store.accounts.set_state(anne.id, "banned", 0, [])
    report = {"player": bob.doc["player"], "said": "rude"}
    refused(site.post("/reports", report, token), 403, "account_banned")


def test_a_webhook_is_switched_off_in_any_standing(site: Site, anne: Member) -> None:
    hook = anne.post("/me/webhooks", {"url": "https://x.example/", "about": "mine"}).json
    site.services.account_store.accounts.set_state(anne.id, "banned", 0, [])
    changed = {"url": hook["url"], "events": hook["events"]}
    refused(anne.put(f"/me/webhooks/{hook['id']}", changed | {"on": True}), 403, "account_banned")
    assert anne.put(f"/me/webhooks/{hook['id']}", changed | {"on": False}).json["state"] == "off"


def test_a_suspension_that_has_ended_counts_for_nothing(site: Site, anne: Member) -> None:
    site.services.account_store.accounts.set_state(anne.id, "suspended", 1, [])
    assert anne.post("/me/tokens", {"label": "a bot", "scopes": ["play"]}).status_code == 201
