"""The people of an event: a hall behind one address, imported entrants and their claims, invitations and offices."""

from __future__ import annotations

import io
import re
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from domain.service.event_people import make_event_code
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from tests.api.conftest import Doc, Site, refused
from tests.api.game_pages import Page, Person
from tests.api.members import PASSWORD, Member, register
from tests.api.oauth.browser import Browser
from tests.api.test_tournament_pages import act, person
from tests.api.test_tournaments import BODY, appoint, done, opened

CSV = "name,account\r\nAnne of Brest,\r\n,Bertrand\r\nDésirée,\r\n"


def offers(member: Member) -> list[str]:
    return [each["part"] for each in done(member.get("/me/event-offers"))["items"]]


def answer(path: str, part: str) -> str:
    return f"/me/event-offers/{path.rpartition('/')[2]}/{part}"


class TestAHall:
    def test_fifty_people_of_one_address_join_in_five_minutes(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The limits are those of a service as it comes; the code lifts them for its people and nobody else."""
        now = [1000.0]
        monkeypatch.setattr("api.http.rate_limits.time", SimpleNamespace(monotonic=lambda: now[0]))
        organiser = register(site, "Organiser")
        path = opened(site, organiser)
        code = done(organiser.put(f"{path}/code", {"people": 50}))["code"]
        site.remake(rate=50.0, streams_address=40)
        with ExitStack() as streams:
            for number in range(50):
                now[0] += 5.5
                person = register(site, f"Person {number}", event_code=code)
                done(person.post(f"{path}/entrants"))
                assert streams.enter_context(site.follow(f"{path}/stream", person.token)).status_code == 200
            assert now[0] - 1000 < 300
            asked = {"name": "Latecomer", "password": PASSWORD}
            refused(site.post("/accounts", {**asked, "event_code": code}), 409, "event_code_refused")
            for number in range(29):  # the refusal counted for the address
                register(site, f"Stranger {number}")
            refused(site.post("/accounts", asked), 429, "too_many_requests")
            stranger = Member(site, done(site.post("/sessions", {"name": "Stranger 0", "password": PASSWORD})))
            refused(site.get(f"{path}/stream", stranger.token), 503, "too_many_streams")
        assert len(done(site.get(path))["people"]) == 50

    def test_code_ends_by_time_or_officer_and_counts_no_failure(self, site: Site) -> None:
        organiser, other = register(site, "Organiser"), register(site, "Bertrand")
        path = opened(site, organiser)
        refused(other.put(f"{path}/code", {}), 403, "directors_only")
        code = done(organiser.put(f"{path}/code", {"people": 1}))["code"]
        taken = {"name": "Bertrand", "password": PASSWORD, "event_code": code.upper().replace("-", " ")}
        refused(site.post("/accounts", taken), 409, "name_taken")
        assert done(organiser.get(f"{path}/desk"))["code"]["people"] == 1
        assert code not in organiser.get(f"{path}/desk").text
        assert done(other.site.post("/me/entries", {"code": code}, other.token))["entrant"] is None
        assert done(organiser.get(f"{path}/desk"))["code"]["people"] == 0
        people = site.services.seat_tokens.event_people
        assert people.is_guest(other.id, site.services.clock())
        assert not people.is_guest(other.id, site.services.clock() + 13 * 3_600_000)
        assert organiser.delete(f"{path}/code").status_code == 204
        assert not people.is_guest(other.id, site.services.clock())
        refused(organiser.delete(f"{path}/code"), 404, "not_found")
        refused(site.post("/accounts", {**taken, "name": "Claire"}), 409, "event_code_refused")


class TestAList:
    def test_lines_are_accepted_or_refused_and_none_is_half_done(self, site: Site) -> None:
        organiser, _ = register(site, "Organiser"), register(site, "Bertrand")
        path = opened(site, organiser)
        wrong = CSV + "Anne of Brest,\n,Nobody\n\n" + "x" * 41 + ",\nA,B,C\n"
        told = done(organiser.post(f"{path}/entrants/imports?dry_run=1", {"csv": wrong}))["lines"]
        assert [(each["line"], each["state"]) for each in told] == [
            *((2, "entered"), (3, "invited"), (4, "entered")),
            *((5, "refused"), (6, "refused"), (8, "refused"), (9, "refused")),
        ]
        problem = refused(organiser.post(f"{path}/entrants/imports", {"csv": wrong}), 422, "invalid_body")
        assert [each["at"] for each in problem["errors"]] == ["/csv/5", "/csv/6", "/csv/8", "/csv/9"]
        assert done(site.get(path))["people"] == []
        for csv in ("nom\nAnne\n", "name\n", "name,name\nA,B\n", "name\n" + "A\n" * 3000, '"'):
            assert organiser.post(f"{path}/entrants/imports", {"csv": csv}).status_code == 422

    def test_a_code_makes_its_entrant_ones_own_once(self, site: Site) -> None:
        organiser, bertrand, anne = register(site, "Organiser"), register(site, "Bertrand"), register(site, "Anne")
        path = opened(site, organiser)
        for text in (CSV, CSV.replace(",", ";"), "\ufeff" + CSV):
            told = done(organiser.post(f"{path}/entrants/imports?dry_run=1", {"csv": text}))["lines"]
            assert [each["state"] for each in told] == ["entered", "invited", "entered"]
        made = organiser.post(f"{path}/entrants/imports", {"csv": CSV}, Idempotency_Key="list-of-entrants")
        lines = done(made)["lines"]
        again = done(organiser.post(f"{path}/entrants/imports", {"csv": CSV}, Idempotency_Key="list-of-entrants"))[
            "lines"
        ]
        assert [each["code"] for each in again] == [None, None, None]
        assert [each["entrant"] for each in again] == [each["entrant"] for each in lines] == [0, None, 1]
        names = done(site.get(path))["names"]
        assert {"Anne of Brest", "Désirée"} <= {*names.values()}
        assert offers(bertrand) == ["entrant"]
        first, second = lines[0]["code"], lines[2]["code"]
        renewed = done(organiser.post(f"{path}/entrants/1/claims"))["code"]
        refused(anne.post("/me/entries", {"code": second}), 409, "event_code_refused")
        assert done(anne.post("/me/entries", {"code": first})) == {"tournament": path.rpartition("/")[2], "entrant": 0}
        refused(bertrand.post("/me/entries", {"code": first}), 409, "event_code_refused")
        refused(anne.post("/me/entries", {"code": renewed}), 409, "already_entered")
        assert done(organiser.get(f"{path}/desk"))["unclaimed"] == [1]
        assert done(site.get(path))["names"][done(site.get(path))["people"][0]["player"]] == "Anne"
        done(organiser.post(f"{path}/phases", {"phase": "checking"}))
        done(anne.post(f"{path}/checkin"))
        new = register(site, "Désirée B", event_code=renewed)
        assert done(new.post("/me/entries", {"code": renewed}))["entrant"] == 1
        text = site.get(f"{path}/export").text
        assert not [each for each in (first, second, renewed, "Brest") if each in text]
        assert verify_tournament(parse_export(text.encode())).entrants[0].player in text

    def test_who_has_no_account_plays_all_the_same(self, site: Site) -> None:
        organiser = register(site, "Organiser")
        path = opened(site, organiser, reveal=0)
        done(organiser.post(f"{path}/entrants/imports", {"csv": "name\nA\nB\nC\n"}))
        done(organiser.post(f"{path}/phases", {"phase": "checking"}))
        for entrant in range(3):
            done(organiser.post(f"{path}/entrants/{entrant}/checkin"))
        done(organiser.post(f"{path}/phases", {"phase": "drawing"}))
        done(organiser.post(f"{path}/stages/1/rounds/1/draw"))
        assert done(organiser.post(f"{path}/stages/1/rounds/1/tables"))["left"] == 0
        assert [each["withdrawn"] for each in done(site.get(path))["people"]] == [False] * 3
        refused(organiser.post(f"{path}/entrants/imports", {"csv": "name\nD\n"}), 409, "wrong_status")
        assert verify_tournament(parse_export(site.get(f"{path}/export").data)).entrants


class TestOffers:
    def test_an_officer_acts_once_the_office_is_accepted(self, site: Site) -> None:
        organiser, judge = register(site, "Organiser"), register(site, "Judge")
        path = opened(site, organiser)
        body: Doc = {"player": judge.doc["player"], "office": "deputy"}
        version = done(organiser.post(f"{path}/officers", body))["version"]
        assert version == done(site.get(path))["version"]
        refused(judge.post(f"{path}/phases", {"phase": "checking"}), 403, "directors_only")
        assert done(organiser.get(f"{path}/desk"))["offers"][0]["name"] == "Judge"
        assert offers(judge) == ["deputy"]
        refused(site.put(answer(path, "deputy"), {}, judge.personal("play")), 403, "scope_missing")
        assert judge.delete(answer(path, "deputy")).status_code == 204
        refused(judge.put(answer(path, "deputy")), 404, "not_found")
        appoint(organiser, path, judge, "deputy")
        done(judge.post(f"{path}/phases", {"phase": "checking"}))
        done(organiser.post(f"{path}/officers", {**body, "office": "arbiter"}))  # an officer gets another role at once
        assert done(site.get(path))["officers"] == [{"player": judge.doc["player"], "office": "arbiter"}]
        other = register(site, "Other")
        done(organiser.post(f"{path}/officers", {"player": other.doc["player"], "office": "arbiter"}))
        assert organiser.delete(f"{path}/offers/{other.doc['player']}").status_code == 204
        assert offers(other) == []

    def test_an_invitation_is_accepted_by_entering(self, site: Site) -> None:
        organiser, anne, claire = register(site, "Organiser"), register(site, "Anne"), register(site, "Claire")
        path = opened(site, organiser)
        for who in (anne, claire):
            done(organiser.post(f"{path}/invitations", {"player": who.doc["player"]}))
        done(anne.put(answer(path, "entrant")))
        assert (offers(anne), len(done(site.get(path))["people"])) == ([], 1)
        refused(organiser.post(f"{path}/invitations", {"player": anne.doc["player"]}), 409, "already_entered")
        done(organiser.post(f"{path}/close", {"outcome": "cancelled"}))
        refused(organiser.post(f"{path}/invitations", {"player": claire.doc["player"]}), 409, "wrong_status")
        assert len(make_event_code()) == 17


def upload(who: Person, page: Page, csv: str, file: bytes = b"") -> Page:
    """The page after a list was sent by the form of a page."""
    (form,) = [form for form in page.forms if form.action.endswith("/import")]
    data = {name: value for name, value in form.fields if name != "file"} | {"csv": csv}
    more = {"file": (io.BytesIO(file), "list.csv")} if file else {}
    sent = who.browser.client.post(form.action, data=data | more, content_type="multipart/form-data")
    assert sent.status_code == 200, sent.text
    return Page(sent.text)


class TestPages:
    def test_a_list_is_shown_line_by_line_and_its_codes_once(self, site: Site) -> None:
        host, _ = person(site, "Organiser"), register(site, "Bertrand")
        path = f"/tournaments/{host.api.post('/tournaments', BODY).json['tournament']}"
        assert f'href="{path}/import"' in host.read(f"{path}/around").text
        empty = Page(host.read(f"{path}/import").text)
        wrong = upload(host, empty, "", b"name;account\nAnne of Brest;\n;Nobody\n")
        assert "There is no account with this name." in " ".join(wrong.texts)
        assert "1 line is refused." in " ".join(wrong.texts)
        right = upload(host, wrong, CSV)
        assert {"will enter", "will be invited"} <= {*right.texts}
        back = host.send(right.form("/import"), ("back", "yes"))
        assert (back.status_code, f">{CSV}</textarea>" in back.text) == (200, True)
        assert done(site.get(path))["people"] == []
        stored = upload(host, right, CSV)
        codes = [text for text in stored.texts if re.fullmatch("[a-z0-9]{5}(-[a-z0-9]{5}){2}", text)]
        assert len(codes) == 2
        shown = host.read(f"{path}/around").text
        assert not [code for code in codes if code in shown]
        assert {"invited", "entered by an officer, without an account so far"} <= {*Page(shown).texts}
        assert "Without an account so far:" in " ".join(Page(host.read(f"{path}/desk").text).texts)
        new = host.send(Page(shown).form(f"{path}/around/claim"))
        assert re.search("[a-z0-9]{5}(-[a-z0-9]{5}){2}", new.text)
        anne = person(site, "Anne")
        (form,) = [each for each in Page(anne.read("/tournaments/code").text).forms if each.action.endswith("/code")]
        assert "The code is unknown" in anne.send(form, ("code", codes[0])).text  # replaced by the new one
        assert anne.send(form, ("code", codes[1])).headers["Location"] == path
        assert done(site.get(path))["people"][1]["player"] in site.services.account_store.accounts.list_players(
            anne.api.id
        )
        assert anne.browser.get(f"{path}/import").status_code == 403

    def test_the_code_of_a_hall_is_made_and_used_by_forms(self, site: Site) -> None:
        host = person(site, "Organiser")
        path = f"/tournaments/{host.api.post('/tournaments', BODY).json['tournament']}"
        made = host.send(
            Page(host.read(f"{path}/around").text).form(f"{path}/around/code"), ("people", "2"), ("hours", "3")
        )
        code = re.findall("<code>([^<]*)</code>", made.text)[0]
        assert "2 more people" in " ".join(Page(host.read(f"{path}/around").text).texts)
        browser = Browser(site)
        form = Page(browser.get("/register").text).form("/register")
        data = dict(form.fields) | {"name": "Claire", "password": PASSWORD}
        wrong = browser.client.post("/register", data=data | {"event_code": "nothing"})
        assert (wrong.status_code, "The code is unknown, used or over." in wrong.text) == (409, True)
        assert browser.client.post("/register", data=data | {"event_code": code}).status_code == 200
        assert done(host.api.get(f"{path}/desk"))["code"]["people"] in (0, 1)

    def test_offers_are_answered_on_the_page_of_the_event(self, site: Site) -> None:
        host, anne, judge = person(site, "Organiser"), person(site, "Anne"), person(site, "Judge")
        path = f"/tournaments/{host.api.post('/tournaments', BODY).json['tournament']}"
        around = Page(host.read(f"{path}/around").text)
        assert host.send(around.form(f"{path}/around/invite"), ("name", "Anne")).status_code == 303
        done(host.api.post(f"{path}/officers", {"player": judge.api.doc["player"], "office": "deputy"}))
        assert "Organiser invites you to a tournament." in " ".join(Page(anne.read("/desk").text).texts)
        act(anne, path, "accept_offer")
        assert done(site.get(path))["people"][0]["player"] == anne.api.doc["player"]
        assert "asks you to be an officer of this tournament: deputy." in " ".join(Page(judge.read(path).text).texts)
        act(judge, path, "decline_offer")
        assert offers(judge.api) == []
