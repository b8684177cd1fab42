"""Names that come in with requests: look-ups count, and no guest appears under the name of somebody else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.api.conftest import Doc, Reply, Site, refused
from tests.api.members import PASSWORD, Member, register
from tests.api.test_substitutes import list_members
from tests.api.test_tournaments import done, opened

TAKING = {
    # Look-ups of somebody: they count.
    "challenge": "look-up",
    "invite_entrant": "look-up",
    "name_substitute": "look-up",
    "name_tournament_officer": "look-up",
    "offer_office": "look-up",
    "offer_offices": "look-up",
    # The name of a guest: it is compared.
    "open_game": "guest",
    "open_games": "guest",
    "rematch": "guest",
    "take_seat": "guest",
    # The own name of an account: it is reserved, or counts towards the limits of logins.
    "log_in": "login",
    "mail_recovery_code": "account",
    "open_account": "account",
    "recover": "login",
    "rename": "account",
    # Names of other things, or for moderators.
    "add_division": "division",
    "change_client": "client",
    "find_account": "moderators",
    "new_client": "client",
    "new_push_device": "browser",
}
"""Operation that takes a name -> kind of the name."""


def test_every_route_that_takes_a_name_is_known(site: Site) -> None:
    """A new one is looked at here: may it be asked without a limit, and is the name free to be shown?"""
    doc = site.get("/openapi.json").json
    found = set()
    for item in doc["paths"].values():
        for method in {"get", "post", "put", "delete"} & item.keys():
            operation = item[method]
            bodies = operation.get("requestBody", {}).get("content", {}).values()
            members = set().union(*(list_members(doc, body["schema"]) for body in bodies))
            members |= {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
            if "name" in members:
                found.add(operation["operationId"])
    assert found == TAKING.keys()


def lookups(site: Site, spy: Member) -> dict[str, Callable[[str], Reply]]:
    """Each look-up of a name by an account, by its operation."""
    game = done(spy.post("/games", {"ruleset": "orders@1", "seats": 2}))["game"]
    path = opened(site, spy)
    done(spy.post(f"{path}/entrants"))
    return {
        "challenge": lambda name: spy.post(f"/games/{game}/challenges", {"name": name}),
        "invite_entrant": lambda name: spy.post(f"{path}/invitations", {"name": name}),
        "name_substitute": lambda name: spy.post(f"{path}/entrants/me/substitutes", {"name": name}),
        "name_tournament_officer": lambda name: spy.post(f"{path}/officers", {"name": name, "office": "arbiter"}),
        "offer_office": lambda name: spy.post(f"/games/{game}/officers", {"name": name, "role": "arbiter"}),
        "offer_offices": lambda name: spy.post("/me/officers", {"games": [game], "name": name, "role": "arbiter"}),
    }


@pytest.mark.parametrize("operation", [name for name, kind in TAKING.items() if kind == "look-up"])
def test_names_cannot_be_tried_one_after_the_other(site: Site, operation: str) -> None:
    asking = lookups(site, register(site, "Spy"))
    site.remake(rate=50.0, accounts=3)
    assert asking.keys() == {name for name, kind in TAKING.items() if kind == "look-up"}
    for number in range(3):
        assert asking[operation](f"Nobody {'abc'[number]}").status_code != 429
    for each in asking.values():  # they have one limit
        refused(each("Nobody d"), 429, "too_many_requests")


def guests(site: Site) -> dict[str, Callable[[str], Reply]]:
    """Each way in which a guest gets a name, by its operation."""
    table: Doc = {"ruleset": "orders@1", "seats": 3}
    made = done(site.post("/games", table))

    def ask_rematch(name: str) -> Reply:
        closed = site.table("orders@1", 2)
        closed.post("/close", {"reason": "void"}, closed.director)
        return closed.post("/rematches", {"name": name}, closed.director)

    return {
        "open_game": lambda name: site.post("/games", {**table, "name": name}),
        "open_games": lambda name: site.post(
            "/games/batches",
            {"table": {**table, "name": name}, "count": 1},
            Idempotency_Key=f"{name.encode().hex():k<40}",
        ),
        "rematch": ask_rematch,
        "take_seat": lambda name: site.post(f"/games/{made['game']}/seats", {"name": name}),
    }


@pytest.mark.parametrize("name", ["Quirinus", "QUIR1NUS", "Quirinus ", "Bot (heuristic)", "bot-builder", "BOT"])
def test_no_guest_appears_as_an_account_or_a_bot(site: Site, name: str) -> None:
    register(site, "Quirinus")
    ways = guests(site)
    assert ways.keys() == {operation for operation, kind in TAKING.items() if kind == "guest"}
    for operation, way in ways.items():
        assert way("Somebody else").status_code == 201, operation
        refused(way(name), 409, "name_taken")


@pytest.mark.parametrize("name", ["\u13a4uirinus", "\ua4e0uirinus", "Quirin\u2ca9s"])
def test_no_guest_mixes_scripts_whose_letters_look_alike(site: Site, name: str) -> None:
    for operation, way in guests(site).items():
        assert way("Квирин").status_code == 201, operation
        refused(way(name), 422, "unfit_name")


@pytest.mark.parametrize("name", ["Bot (heuristic)", "bot-builder", "B0T"])
def test_no_account_appears_as_a_bot(site: Site, name: str) -> None:
    refused(site.post("/accounts", {"name": name, "password": PASSWORD}), 409, "name_taken")
    member = register(site, "Quirinus")
    member.prove()
    refused(member.put("/me/name", {"name": name}), 409, "name_taken")


def test_two_guests_at_a_table_have_two_names(site: Site) -> None:
    made = done(site.post("/games", {"ruleset": "orders@1", "seats": 3, "name": "Greta"}))
    path, key = f"/games/{made['game']}/seats", {"Idempotency_Key": "k" * 40}
    first = done(site.post(path, {"name": "Hans"}, **key))
    assert done(site.post(path, {"name": "Hans"}, **key)) == first  # a repetition
    for name in ("hans", "Greta"):
        refused(site.post(path, {"name": name}), 409, "name_taken")
    done(site.post(path, {"name": "Greta"}, made["token"]))  # the host's own
