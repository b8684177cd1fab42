"""Personal access tokens: each opens what it is for, for so long, and nothing of the account itself."""

from __future__ import annotations

import re
from typing import Any

import pytest

from domain.accounts.account_tables import DAY
from domain.accounts.personal_tokens import MOST_TOKENS
from domain.accounts.sessions import FRESH
from tests.api.conftest import Site, refused
from tests.api.members import Member, Watch, promoted, register, timed

NEW = {"label": "a bot", "scopes": ["play"]}
CLIENT = {"name": "a client", "redirects": ["https://client.example/answer"]}
TABLE = {"ruleset": "orders@1", "seats": 3}


@pytest.fixture
def watch(site: Site) -> Watch:
    return timed(site)


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site)


class TestTokens:
    def test_one_is_shown_once_and_listed_without_its_secret(self, site: Site, anne: Member) -> None:
        made = anne.post("/me/tokens", NEW | {"days": 30}).json
        assert re.fullmatch(r"anp_[0-9a-f]{16}_[A-Za-z0-9_-]{43}[0-9a-f]{8}", made["token"])
        (listed,) = anne.get("/me/tokens").json["items"]
        assert (listed["id"], listed["label"], listed["scopes"], listed["used"]) == (
            made["id"],
            "a bot",
            ["play"],
            None,
        )
        assert made["token"] not in str(listed)
        assert site.get("/me", made["token"]).json["scopes"] == ["play"]
        assert anne.get("/me/tokens").json["items"][0]["used"] > 0

    def test_only_the_whole_token_opens(self, site: Site, anne: Member) -> None:
        token = anne.personal("read")
        wrong = [token[:-1], token + "0", token.upper(), token.replace("anp", "ans"), token[:-8] + "0" * 8, token[:-8]]
        for text in wrong:
            refused(site.get("/me", text), 401, "unauthenticated")

    def test_a_repetition_gets_the_same_and_makes_no_other(self, anne: Member) -> None:
        first = anne.post("/me/tokens", NEW, Idempotency_Key="my-first-bot")
        again = anne.post("/me/tokens", NEW, Idempotency_Key="my-first-bot")
        assert again.data == first.data
        assert len(anne.get("/me/tokens").json["items"]) == 1
        other = anne.post("/me/tokens", NEW | {"scopes": ["admin"]}, Idempotency_Key="my-first-bot")
        refused(other, 422, "idempotency_key_reused")

    def test_nor_after_it_was_revoked_one_that_opens(self, site: Site, anne: Member) -> None:
        first = anne.post("/me/tokens", NEW, Idempotency_Key="my-first-bot").json
        assert anne.delete(f"/me/tokens/{first['id']}").status_code == 204
        refused(anne.delete(f"/me/tokens/{first['id']}"), 404, "not_found")
        assert anne.post("/me/tokens", NEW, Idempotency_Key="my-first-bot").json == first
        refused(site.get("/me", first["token"]), 401, "unauthenticated")

    def test_the_same_key_of_somebody_else_is_another_request(self, site: Site, anne: Member) -> None:
        bob = register(site, "Bob")
        made = [who.post("/me/tokens", NEW, Idempotency_Key="my-first-bot").json["token"] for who in (anne, bob)]
        assert made[0] != made[1]

    def test_it_ends_after_its_days(self, site: Site, watch: Watch) -> None:
        anne = register(site)
        token = anne.personal("read", days=2)
        watch.now += 2 * DAY - 10_000
        assert site.get("/me", token).status_code == 200
        watch.now += 10_000
        refused(site.get("/me", token), 401, "unauthenticated")
        assert anne.get("/me/tokens").json["items"] == []
        refused(anne.post("/me/tokens", NEW | {"days": 366}), 422, "invalid_body")

    def test_rotating_one_ends_it_at_once(self, site: Site, watch: Watch) -> None:
        anne = register(site)
        made = anne.post("/me/tokens", NEW | {"days": 30}).json
        watch.now += FRESH - 60_000
        path = f"/me/tokens/{made['id']}/rotations"
        turned = anne.post(path, None, Idempotency_Key="rotate-it")
        assert turned.status_code == 201, turned.text
        assert anne.post(path, None, Idempotency_Key="rotate-it").data == turned.data
        refused(anne.post(path), 404, "not_found")
        refused(site.get("/me", made["token"]), 401, "unauthenticated")
        new = turned.json
        assert site.get("/me", new["token"]).status_code == 200
        assert (new["label"], new["scopes"]) == ("a bot", ["play"])
        assert abs(new["until"] - made["until"] - FRESH) < 120_000

    def test_nobody_else_touches_it(self, site: Site, anne: Member) -> None:
        made, bob = anne.post("/me/tokens", NEW).json, register(site, "Bob")
        refused(bob.delete(f"/me/tokens/{made['id']}"), 404, "not_found")
        refused(bob.post(f"/me/tokens/{made['id']}/rotations"), 404, "not_found")
        assert site.get("/me", made["token"]).status_code == 200

    def test_an_account_has_so_many(self, anne: Member, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domain.accounts.personal_tokens.MOST_TOKENS", 2)
        made = [anne.post("/me/tokens", NEW) for _ in range(3)]
        refused(made[2], 409, "too_many")
        assert anne.post(f"/me/tokens/{made[0].json['id']}/rotations").status_code in (201, 409)
        assert MOST_TOKENS > 2


NO_GAME = "00000000-0000-4000-8000-000000000000"
OTHERS = {"game": NO_GAME, "delivery": f"msg_{'0' * 32}"}
READS = {
    (f"/v1/me{path}", "get")
    for path in (
        "",
        "/games",
        "/challenges",
        "/watching",
        "/offices",
        "/desk",
        "/calendar",
        "/settings",
        "/series",
        "/substitutions",
        "/event-offers",
    )
}
DIRECTS = {
    ("/v1/me/entries", "post"): (422, "invalid_body"),
    ("/v1/me/officers", "post"): (422, "invalid_body"),
    ("/v1/me/pauses", "post"): (422, "invalid_body"),
    ("/v1/me/resumptions", "post"): (422, "invalid_body"),
    ("/v1/me/vacations", "post"): (422, "invalid_body"),
    ("/v1/me/offices/{game}", "put"): (404, "not_found"),
    ("/v1/me/offices/{game}", "delete"): (404, "not_found"),
    ("/v1/me/substitutions/{tournament}/{player}", "put"): (404, "not_found"),
    ("/v1/me/substitutions/{tournament}/{player}", "delete"): (404, "not_found"),
    ("/v1/me/event-offers/{tournament}/{part}", "put"): (404, "not_found"),
    ("/v1/me/event-offers/{tournament}/{part}", "delete"): (404, "not_found"),
}
"""Routes of directing, and of playing: what they answer to a token for it."""


class TestScopes:
    def test_of_the_account_itself_a_token_changes_nothing(self, site: Site, anne: Member) -> None:
        """Whatever it is for: every route of the account asks for a session, or only reads."""
        token = anne.personal("read", "play", "direct", "admin")
        paths: dict[str, Any] = site.client.get("/v1/openapi.json").json["paths"]
        bodies: dict[str, Any] = {
            "/v1/me/password": {"current": "x" * 10, "password": "y" * 10},
            "/v1/me/proofs": {"password": "x"},
            "/v1/me/name": {"name": "Zoe"},
            "/v1/me/tokens": NEW,
            "/v1/me/claims": {"token": "x"},
            "/v1/me/clients": CLIENT,
            "/v1/me/clients/{client}": CLIENT,
            "/v1/me/entries": {},
            "/v1/me/factors/totp/confirmations": {"code": "000000"},
            "/v1/me/factors/passkeys": {"passkey": {}},
            "/v1/me/officers": {},
            "/v1/me/pauses": {"games": []},
            "/v1/me/resumptions": {"games": []},
            "/v1/me/relations": {"players": []},
            "/v1/me/vacations": {},
        }
        asked = 0
        for path, methods in paths.items():
            if not path.startswith("/v1/me") or path == "/v1/me/stream":  # which is for reading, as /v1/me/games
                continue
            for method in {"get", "post", "put", "delete"} & set(methods):
                address = re.sub(r"\{(\w+)\}", lambda m: OTHERS.get(m[1], "0" * 16), path)
                answer = site.client.open(
                    address,
                    method=method.upper(),
                    json=bodies.get(path) if method in ("post", "put") else None,
                    headers={"Authorization": f"Bearer {token}"},
                )
                if (path, method) in READS:
                    assert answer.status_code in (200, 201), (path, answer.text)
                elif (path, method) in DIRECTS:
                    refused(answer, *DIRECTS[path, method])
                elif (path, method) == ("/v1/me/challenges/{game}", "delete"):  # it is part of playing
                    refused(answer, 404, "not_found")
                else:
                    refused(answer, 403, "session_required")
                asked += 1
        assert asked >= 16

    def test_every_route_asks_who_it_is_or_is_for_everybody(self, site: Site) -> None:
        """A route that forgets its guard would serve any token, or none."""
        unguarded = {
            rule.endpoint
            for rule in site.app.url_map.iter_rules()
            if not getattr(site.app.view_functions[rule.endpoint], "guarded", False)
            and (rule.methods or set()) & {"POST", "PUT", "DELETE"}
        }
        api = {"accounts.open_account", "accounts.log_in", "accounts.recover", "accounts.mail_recovery_code"}
        api |= {"factors.passkey_challenge", "factors.log_in_with_passkey"}
        api |= {"witness.add_checkpoint"}  # the log's signature is the proof
        # Clients prove themselves, or register themselves as strangers, at the quota of an address; pages know people
        # by a cookie, which counts for nothing else.
        clients = {"oauth_token", "oauth_revoke", "oauth_device", "oauth_register"}
        clients |= {"agents"}  # it asks for a token by itself, with a challenge that tells where to get one
        assert {name for name in unguarded if not name.startswith("pages.")} == api | clients

    @pytest.mark.parametrize(
        ("scope", "may"),
        [("read", "board"), ("play", "board move join"), ("direct", "board open extend"), ("admin", "")],
    )
    def test_a_token_does_what_it_is_for(self, site: Site, anne: Member, scope: str, may: str) -> None:
        directed = anne.post("/games", TABLE).json["game"]
        played = site.table("orders@1", 3, start=False)
        site.delete(f"{played.path}/seats/0", played.tokens[0])
        assert anne.post(f"{played.path}/seats", {"seat": 0}).status_code == 201
        assert played.post("/start", token=played.director).status_code == 201
        other = site.table("orders@1", 3, start=False)
        site.delete(f"{other.path}/seats/0", other.tokens[0])
        token = anne.personal(scope)
        order = {"move": {"type": "order", "to": "t00", "units": 1}, "decision": played.decision}
        tried = {
            "board": site.get(f"{played.path}/board", token),
            "move": site.post(f"{played.path}/moves?dry_run=1", order, token),
            "join": site.post(f"{other.path}/seats", {"seat": 0}, token),
            "open": site.post("/games", TABLE, token),
            "extend": site.post(f"/games/{directed}/close", {"reason": "void"}, token),
        }
        for what, answer in tried.items():
            if what in may.split():
                assert answer.status_code < 300, (what, answer.text)
            else:
                assert refused(answer, 403, "scope_missing")["scope"] in ("read", "play", "direct"), what

    def test_what_moderators_do_asks_for_role_and_scope(self, site: Site, anne: Member) -> None:
        judge = promoted(site, "Judge", "moderator")
        refused(anne.get("/reports"), 403, "role_missing")
        refused(site.get("/reports", judge.personal("read", "play", "direct")), 403, "scope_missing")
        refused(site.get("/reports", anne.personal("admin")), 403, "role_missing")
        assert site.get("/reports", judge.personal("admin")).status_code == 200
        refused(judge.get("/audit"), 403, "role_missing")

    def test_no_personal_token_gives_roles(self, site: Site, anne: Member) -> None:
        root = promoted(site, "Root", "admin")
        answer = site.put(f"/accounts/{anne.id}/role", {"role": "admin"}, root.personal("admin"))
        refused(answer, 403, "session_required")

    def test_guests_have_no_account(self, site: Site) -> None:
        table = site.table("orders@1", 3)
        refused(site.get("/me", table.tokens[0]), 403, "accounts_only")
        refused(site.get("/me"), 401, "unauthenticated")
