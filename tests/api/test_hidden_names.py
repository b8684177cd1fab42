"""Tables with hidden names: no address, for whichever role, tells who sits where until the game is closed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import pytest

from api.event_stakes import list_related
from domain.kernel.proof.verify import verify
from domain.kernel.records import export
from domain.notifications.unread_messages import UnreadMessageFinder
from projections.reader import Reader
from tests.api.conftest import CATALOGUE, Site, make_site, refused
from tests.api.members import Member, promoted, register
from tests.api.oauth.browser import Browser
from tests.api.test_ratings import play_table
from workers.maintenance.hidden_names import HiddenNames

HOLDERS = ("Aurelio", "Bettina")
"""Accounts at the table; no other text of the service has these words."""

GUEST = "Dagobert"

LATE = 4_000_000_000_000


@dataclass
class HiddenTable:
    """A running table with hidden names: two accounts, and a guest whose name is hidden as well."""

    site: Site
    game: str
    owner: Member
    holders: list[Member]
    guest: str
    """The token of the guest."""
    guest_before: str
    """The guest's player id at another table."""
    aliases: list[str]

    @property
    def path(self) -> str:
        return f"/games/{self.game}"

    @property
    def people(self) -> set[str]:
        """Whatever would tell who plays."""
        ids = {str(value) for holder in self.holders for value in (holder.id, holder.doc["player"])}
        return {*HOLDERS, GUEST, self.guest_before, *ids}

    def tell(self) -> list[str]:
        """Let the service tell what it may tell by now; return the games."""
        told: list[str] = []
        HiddenNames(self.site.context, Reader(self.site.context.views), told.append).step()
        return told


def open_table(site: Site, **terms: Any) -> HiddenTable:
    """A running table; each says a word, and somebody outside has reported a player."""
    owner, holders = register(site, "Ottilie"), [register(site, name) for name in HOLDERS]
    before = site.table("orders@1", 2, listing="unlisted")
    body = {"ruleset": "orders@1", "seats": 3, "names": "hidden", "talk": "free", **terms}
    made = owner.post("/games", body)
    assert made.status_code == 201, made.text
    path = f"/games/{made.json['game']}"
    for seat, holder in enumerate(holders):
        assert holder.post(f"{path}/seats", {"seat": seat}).status_code == 201
    taken = site.post(f"{path}/seats", {"seat": 2, "name": GUEST}, before.tokens[1])
    assert taken.status_code == 201, taken.text
    assert owner.post(f"{path}/start", Annals_Role="director").status_code == 201
    for holder in holders:
        assert holder.post(f"{path}/talk/messages", {"to": [], "text": "Hello."}).status_code == 201
    aliases = [each["player"] for each in site.get(path).json["seats"]]
    known = before.get().json["seats"][1]["player"]
    return HiddenTable(site, made.json["game"], owner, holders, taken.json["token"], known, aliases)


@pytest.fixture
def table(site: Site) -> HiddenTable:
    return open_table(site)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiddenTable]:
    """A table for tests that do not end its game."""
    with closing(make_site(tmp_path_factory.mktemp("hidden"))) as site:
        yield open_table(site)


def addresses(site: Site, values: Mapping[str, str]) -> Iterator[str]:
    """Every address that is read with these values, of the interface and of the pages."""
    for rule in site.app.url_map.iter_rules():
        is_left_out = "stream" in rule.rule or rule.rule == "/v1/openapi.json"  # it knows no table
        if "GET" in (rule.methods or ()) and rule.arguments <= values.keys() and not is_left_out:
            yield re.sub(r"<(?:\w+:)?(\w+)>", lambda name: values[name[1]], rule.rule)


def fetch(site: Site, address: str, token: str) -> str:
    """An answer with its headers."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with site.app.test_client().get(address, headers=headers) as got:
        return f"{got.headers}\n{got.get_data().decode(errors='replace')}"


class TestNobodyIsTold:
    def test_no_address_tells_any_role_who_sits_where(self, shared: HiddenTable) -> None:
        table, site = shared, shared.site
        zoe, staff = register(site, "Zoe"), promoted(site, "Moritz", "moderator")
        zoe.post("/reports", {"player": table.aliases[0], "said": "Rude."})
        values = {"game": table.game, "version": "3", "seat": "0", "player": table.aliases[0], "ruleset": "orders@1"}
        roles = {"nobody": "", "Zoe": zoe.token, "officer": table.owner.token, "staff": staff.token}
        roles |= {"guest": table.guest}
        found = [
            (role, address, word)
            for address in addresses(site, values)
            for role, token in roles.items()
            if not token or address.startswith("/v1/")  # pages have cookies: below
            for answer in [fetch(site, address, token)]
            for word in sorted(table.people - ({GUEST} if role == "guest" else set()))
            if word in answer
        ]
        assert found == []

    def test_what_tells_of_a_person_tells_nothing_of_the_table(self, shared: HiddenTable) -> None:
        site, bettina = shared.site, shared.holders[1]
        staff = promoted(site, "Nepomuk", "moderator")
        values = {"player": bettina.doc["player"], "account": bettina.id, "name": HOLDERS[1]}
        roles = {"nobody": "", "holder of another seat": shared.holders[0].token, "staff": staff.token}
        own = {*shared.aliases, shared.game}
        found = [
            (role, address)
            for address in [*addresses(site, values), f"/v1/accounts?name={HOLDERS[1]}"]
            if any(value in address for value in values.values())
            for role, token in roles.items()
            if any(word in fetch(site, address, token) for word in own)
        ]
        assert found == []

    def test_pages_of_other_players_and_of_the_officer_name_nobody(self, shared: HiddenTable) -> None:
        for name, own in (("Ottilie", set()), (HOLDERS[0], {HOLDERS[0], shared.holders[0].id})):
            browser = Browser(shared.site)
            assert browser.log_in(name).status_code == 303
            others = shared.people - own - {str(shared.holders[0].doc["player"])}
            for page in ("", "/talk", "/around", "/chronicle", "/desk"):
                text = browser.get(f"{shared.path}{page}").text
                assert [word for word in others if word in text] == [], (name, page)

    def test_streams_mails_and_webhooks_name_nobody(self, shared: HiddenTable) -> None:
        with shared.site.get(f"{shared.path}/stream", shared.guest) as stream:
            told = stream.until("event: board")
        assert [word for word in shared.people if word in told] == []
        names = shared.site.services.seat_tokens.texts.list_names(shared.aliases)
        assert names == {}  # mails, web push, webhooks, chats and calendars take names from here alone

    def test_log_of_records_never_names_anybody_also_after_the_end(self, table: HiddenTable) -> None:
        table.owner.post(f"{table.path}/close", {"reason": "abandoned"}, Annals_Role="director")
        assert table.tell() == [table.game]
        export = table.site.get(f"{table.path}/export").text
        assert [word for word in table.people if word in export] == []

    def test_each_table_has_id_of_its_own_and_each_holder_another(self, shared: HiddenTable) -> None:
        assert len({*shared.aliases, *(str(each.doc["player"]) for each in shared.holders), shared.guest_before}) == 6
        again = shared.holders[0].post("/games", {"ruleset": "orders@1", "seats": 2, "names": "hidden"}).json["game"]
        shared.holders[0].post(f"/games/{again}/seats", {"seat": 0})
        assert shared.site.get(f"/games/{again}").json["seats"][0]["player"] not in shared.aliases


class TestNobodyFindsOut:
    """Acts on a player id whose answers, or later effects, would tell who it is."""

    def test_a_hidden_player_is_blocked_by_nobody(self, shared: HiddenTable) -> None:
        refused(shared.holders[0].put(f"/me/blocks/{shared.aliases[1]}"), 409, "names_hidden")

    def test_a_challenge_to_a_hidden_player_is_one_to_nobody(self, shared: HiddenTable) -> None:
        anne, bettina = shared.holders[:2]
        game = anne.post("/games", {"ruleset": "orders@1", "seats": 2}).json["game"]
        for player in (shared.aliases[1], "ffffffffffffffff"):
            sent = anne.post(f"/games/{game}/challenges", {"player": player, "seat": 1}, Annals_Role="director")
            assert sent.status_code == 201
            assert anne.delete(f"/games/{game}/challenges?to={player}", Annals_Role="director").status_code == 204
        anne.post(f"/games/{game}/challenges", {"player": shared.aliases[1]}, Annals_Role="director")
        assert bettina.get("/me/challenges").json["items"] == []

    def test_no_seat_of_such_a_table_is_kept_for_somebody(self, shared: HiddenTable) -> None:
        owner = shared.owner
        game = owner.post("/games", {"ruleset": "orders@1", "seats": 2, "names": "hidden"}).json["game"]
        sent = owner.post(f"/games/{game}/challenges", {"name": HOLDERS[0], "seat": 0})
        refused(sent, 409, "names_hidden")
        assert owner.post(f"/games/{game}/challenges", {"name": HOLDERS[0]}).status_code == 201
        shared.holders[0].post(f"/games/{game}/seats", {"seat": 1})
        assert owner.get(f"/games/{game}/challenges").json["items"][0]["answer"] == "open"

    def test_a_rematch_waits_for_the_names_and_then_shows_them(self, table: HiddenTable) -> None:
        table.owner.post(f"{table.path}/close", {"reason": "abandoned"}, Annals_Role="director")
        path = f"{table.path}/rematches"
        refused(table.holders[0].post(path, {}), 409, "names_hidden")
        table.tell()
        made = table.holders[0].post(path, {})
        assert made.status_code == 201, made.text
        again = table.site.get(f"/games/{made.json['game']}").json
        assert "names_hidden" not in again
        joined = table.holders[1].post(f"/games/{made.json['game']}/seats", {"seat": 2})
        assert joined.status_code == 201, joined.text

    def test_a_guest_may_have_the_name_of_a_hidden_player(self, shared: HiddenTable) -> None:
        game = shared.owner.post("/games", {"ruleset": "orders@1", "seats": 2, "names": "hidden"}).json["game"]
        for name in (GUEST, GUEST):
            assert shared.site.post(f"/games/{game}/seats", {"name": name}).status_code == 201

    def test_a_blocked_person_is_not_told_by_a_missing_mail_or_text(self, shared: HiddenTable) -> None:
        anne, bettina = shared.holders[:2]
        assert anne.put(f"/me/blocks/{bettina.doc['player']}").status_code == 204
        bettina.post(f"{shared.path}/talk/messages", {"to": [0], "text": "Peace?"})
        (*_, item) = anne.get(f"{shared.path}/talk/messages").json["items"]
        assert (item["text"], item["withheld"]) == ("Peace?", "")
        ledger = shared.site.services.ledger
        assert UnreadMessageFinder(ledger, ledger.keys, lambda: LATE, []).has_waiting(anne.id, shared.game, 0)

    def test_moderators_ask_for_a_player_and_their_log_tells_it(self, shared: HiddenTable) -> None:
        site = shared.site
        staff = promoted(site, "Melchior", "moderator")
        found = staff.get(f"/accounts?player={shared.aliases[1]}")
        assert (found.json["name"], shared.aliases[1] in found.json["players"]) == (HOLDERS[1], False)
        assert staff.get("/me/audit").json["items"][0]["what"] == "uncovered"

    def test_a_moderator_who_plays_there_is_not_told(self, shared: HiddenTable) -> None:
        roles = shared.site.services.account_store.accounts
        roles.set_role(shared.holders[0].id, "moderator")
        refused(shared.holders[0].get(f"/accounts?player={shared.aliases[1]}"), 409, "names_hidden")
        roles.set_role(shared.holders[0].id, "member")

    def test_no_relation_to_a_hidden_player_is_declared(self, shared: HiddenTable) -> None:
        sent = shared.owner.put("/me/relations", {"players": [shared.holders[0].doc["player"], shared.aliases[1]]})
        refused(sent, 409, "names_hidden")
        assert shared.owner.get("/me/relations").json["players"] == []

    def test_relation_to_person_tells_no_officer_that_person_plays(self, shared: HiddenTable) -> None:
        owner = shared.owner
        assert owner.put("/me/relations", {"players": [shared.holders[1].doc["player"]]}).status_code == 200
        answer = owner.get(f"{shared.path}/talk/reports", Annals_Role="director")
        assert owner.put("/me/relations", {"players": []}).status_code == 200
        assert answer.status_code == 200

    def test_a_relation_stored_before_tells_nothing_elsewhere(self, shared: HiddenTable) -> None:
        owner, graph = shared.owner, shared.site.services.account_store.social_graph
        graph.set_relations(owner.id, [shared.aliases[1]])
        game = owner.post("/games", {"ruleset": "orders@1", "seats": 2, "talk": "free"}).json["game"]
        assert shared.holders[1].post(f"/games/{game}/seats", {"seat": 0}).status_code == 201
        answer = owner.get(f"/games/{game}/talk/reports", Annals_Role="director")
        with shared.site.app.app_context():
            related = list_related(owner.id)
        graph.set_relations(owner.id, [])
        assert (answer.status_code, related) == (200, ())

    def test_moderator_with_relation_is_logged_as_any_other(self, shared: HiddenTable) -> None:
        staff = promoted(shared.site, "Ludmilla", "moderator")
        assert staff.put("/me/relations", {"players": [shared.holders[1].doc["player"]]}).status_code == 200
        assert staff.get(f"/accounts?player={shared.aliases[1]}").json["name"] == HOLDERS[1]
        assert staff.get("/me/audit").json["items"][0]["what"] == "uncovered"

    def test_reports_of_messages_go_to_moderators_unsigned(self, table: HiddenTable) -> None:
        anne, staff = table.holders[0], promoted(table.site, "Moritz", "moderator")
        theirs = next(each for each in anne.get(f"{table.path}/talk/messages").json["items"] if not each["own"])
        said = {"entries": [theirs["entry"]], "said": "Rude.", "to": "officers"}
        sent = anne.post(f"{table.path}/talk/reports", said)
        assert (sent.status_code, sent.json["to"]) == (201, "moderators")
        (found,) = staff.get("/reports").json["items"]
        assert (found["account"], found["reported"]["seat"]) == ("", 0)
        table.owner.post(f"{table.path}/close", {"reason": "abandoned"}, Annals_Role="director")
        table.tell()
        assert staff.get("/reports").json["items"][0]["account"] == anne.id

    def test_a_vacation_at_all_tables_leaves_a_hidden_seat_out(self, site: Site) -> None:
        anne, pace = register(site, "Anne"), {"seconds": {"move": 86_400}, "vacation": 20}
        games = {}
        for names in ("hidden", "shown"):
            body = {"ruleset": "orders@1", "seats": 2, "pace": pace, "names": names}
            games[names] = anne.post("/games", body).json["game"]
            assert anne.post(f"/games/{games[names]}/seats", {"seat": 0}).status_code == 201
            assert site.post(f"/games/{games[names]}/seats", {"seat": 1}).status_code == 201
            assert anne.post(f"/games/{games[names]}/start", Annals_Role="director").status_code == 201
        until = site.services.clock() + 3 * 86_400_000
        items = {each["game"]: each for each in anne.post("/me/vacations", {"until": until}).json["items"]}
        assert items[games["shown"]]["outcome"] == "taken"
        assert items[games["hidden"]]["refusal"]["code"] == "names_hidden"
        own = anne.post(f"/games/{games['hidden']}/vacations", {"until": until}, Annals_Role="0")
        assert own.status_code == 201, own.text

    @pytest.mark.parametrize("plays", [True, False])
    def test_appeals_tell_nobody_whether_the_owner_plays(self, site: Site, plays: bool) -> None:
        owner, anne, bert = (register(site, name) for name in ("Ottilie", *HOLDERS))
        made = owner.post("/games", {"ruleset": "orders@1", "seats": 2, "names": "hidden", "officers": "any"})
        path = f"/games/{made.json['game']}"
        for seat, who in enumerate((anne, owner if plays else bert)):
            assert who.post(f"{path}/seats", {"seat": seat}).status_code == 201
        assert owner.post(f"{path}/start", Annals_Role="director").status_code == 201
        version = owner.post(f"{path}/pauses", {"reason": "Tea."}, Annals_Role="director").json["version"]
        assert anne.post(f"{path}/appeals", {"version": version, "reason": "No."}).status_code == 201
        assert site.get(f"{path}/appeals").json["items"][0]["answered_by"] == "nobody"
        said = {"outcome": "upheld", "reason": "Yes."}
        answer = owner.post(f"{path}/appeals/{version}/answer", said, Annals_Role="director")
        refused(answer, 409, "director_has_stake" if plays else "own_act")


class TestTheHolder:
    def test_silence_at_table_is_no_link_to_the_account_in_the_log(self, shared: HiddenTable) -> None:
        said = {"hours": 1, "reason": "Insults."}
        answer = shared.owner.put(f"{shared.path}/seats/0/silence", said, Annals_Role="director")
        assert answer.status_code == 204
        items = promoted(shared.site, "Eva", "admin").get(f"/audit?account={shared.holders[0].id}").json["items"]
        (found,) = [each for each in items if each["what"] == "silenced"]
        assert found["detail"] == ""
        assert shared.owner.delete(f"{shared.path}/seats/0/silence", Annals_Role="director").status_code == 204

    def test_one_keeps_all_rights_of_the_seat(self, shared: HiddenTable) -> None:
        anne = shared.holders[0]
        assert anne.get(f"{shared.path}/talk").json["seat"] == 0
        assert shared.game in {each["game"] for each in anne.get("/me/games").json["items"]}
        assert shared.aliases[0] in anne.get("/me/data").json["players"]
        refused(anne.post(f"{shared.path}/seats", {"seat": 1}), 409, "seat_taken")
        refused(shared.owner.post(f"{shared.path}/seats/0/tokens", {}), 409, "account_has_seat")

    def test_one_takes_no_second_seat(self, site: Site) -> None:
        anne = register(site, "Anne")
        game = anne.post("/games", {"ruleset": "orders@1", "seats": 2, "names": "hidden"}).json["game"]
        first = anne.post(f"/games/{game}/seats", {"seat": 0}, Idempotency_Key="the-same-seat-0123456789abcdef0123")
        again = anne.post(f"/games/{game}/seats", {"seat": 0}, Idempotency_Key="the-same-seat-0123456789abcdef0123")
        assert (first.status_code, again.json["player"]) == (201, first.json["player"])
        refused(anne.post(f"/games/{game}/seats", {"seat": 1}), 409, "already_seated")

    def test_guest_comes_back_and_an_account_claims_the_seat(self, table: HiddenTable) -> None:
        site, zoe = table.site, register(table.site, "Zoe")
        zoe.prove()
        assert zoe.post("/me/claims", {"token": table.guest}).json["games"] == [table.game]
        assert zoe.post("/me/claims", {"token": table.guest}).status_code == 200
        assert "Zoe" not in site.get(table.path).text
        assert table.aliases[2] not in promoted(site, "Adam", "admin").get("/audit").text
        assert site.services.seat_tokens.texts.list_names(table.aliases) == {}

    def test_an_erased_account_leaves_its_seat_and_no_name(self, table: HiddenTable) -> None:
        anne = table.holders[0]
        anne.prove()
        assert anne.delete("/me").status_code == 204
        table.owner.post(f"{table.path}/close", {"reason": "abandoned"}, Annals_Role="director")
        assert table.tell() == [table.game]
        assert HOLDERS[0] not in table.site.get(table.path).text


class TestTheEnd:
    def test_names_are_told_once_the_game_is_closed(self, table: HiddenTable) -> None:
        assert table.tell() == []
        table.owner.post(f"{table.path}/close", {"reason": "abandoned"}, Annals_Role="director")
        before = table.site.get(table.path)
        assert before.json["names"] == {}
        assert table.tell() == [table.game]
        after = table.site.get(table.path)
        assert sorted(after.json["names"].values()) == [*HOLDERS, GUEST]
        assert after.headers["ETag"] != before.headers["ETag"]
        assert table.site.get(f"/players/{table.aliases[1]}/results").json["name"] == HOLDERS[1]

    def test_spectators_with_a_delay_wait_for_the_names(self, site: Site) -> None:
        site.services = replace(site.services, clock=lambda: 50_000)
        site.remake()
        table = open_table(site, delay=3600)
        table.owner.post(f"{table.path}/close", {"reason": "abandoned"}, Annals_Role="director")
        assert table.tell() == []

    def test_it_counts_for_no_rating(self, site: Site) -> None:
        members = [register(site, name) for name in HOLDERS]
        play_table(site, members, 1, names="hidden")
        HiddenNames(site.context, Reader(site.context.views), lambda _: None).step()
        assert site.get("/ratings/orders").json["items"] == []
        play_table(site, members, 1)
        assert len(site.get("/ratings/orders").json["items"]) == 2


class TestTerms:
    def test_the_summary_and_the_form_say_it(self, shared: HiddenTable) -> None:
        assert shared.site.get(shared.path).json["names_hidden"] is True
        refused(shared.owner.post("/games", {"ruleset": "orders@1", "seats": 2, "names": "none"}), 422, "invalid_body")

    def test_a_tournament_refuses_it(self, site: Site) -> None:
        anne = register(site, "Anne")
        body = {"ruleset": "orders@1", "seats": 2, "names": "hidden"}
        refused(anne.post("/tournaments", body), 422, "unknown_field")

    def test_the_export_proves_itself(self, table: HiddenTable) -> None:
        table.owner.post(f"{table.path}/close", {"reason": "abandoned"}, Annals_Role="director")
        records = export.parse(table.site.get(f"{table.path}/export").data)
        assert verify(CATALOGUE.get("orders@1"), records).closed
