"""Forms of events and of desks are shown to those who may send them, and to nobody else.

Each form that anybody is shown is sent by everybody, while the ledger takes nothing: the act is refused, or it gets as
far as the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from api.pages.common import in_process
from api.tournament_rights import LEAST_OFFICE
from domain.errors import StoreUnavailable
from domain.kernel.game.officers import OFFICES
from domain.ledger import Ledger
from domain.service.event_people import EventPeople
from domain.service.substitute_offers import SubstituteOffers
from domain.tournaments.draw import commit_nonce
from tests.api.conftest import Doc, Site
from tests.api.game_pages import Page, Person
from tests.api.members import promoted
from tests.api.oauth.browser import Browser
from tests.api.test_staff import PACE
from tests.api.test_tournament_pages import act, person
from tests.api.test_tournaments import BODY, NONCE, appoint, finish

Form = frozenset[tuple[str, str]]
"""Action and fields of a form, without those of a visit."""

OF_VISIT = {"form", "key", "title", "note", "zone", "reason"}
FILLED = {
    "sure": "yes",
    "reason": "The wrong set-up.",
    "rule": "FREQ=WEEKLY;BYDAY=SU",
    "start": "2031-01-05T18:00",
    "zone": "UTC",
    "opens": "30",
    "closes": "5",
    "warning": "10",
    "extension": "0",
    "least": "2",
    "most": "3",
    "preferred": "3",
    "wish": "50 30 20",
    "places": "1 2 3",
    "table": "1.1",
    "how": "void",
    "entrant": "0",
    "ticks": "1",
    "results": "keep",
    "outcome": "upheld",
    "person": "Stranger",
}


WITHOUT_RIGHT = {
    "conflict_of_interest",
    "director_has_stake",
    "directors_only",
    "has_office",
    "no_office",
    "no_officer",
    "not_eligible",
    "no_substitute",
    "not_entered",
    "office_insufficient",
}
"""Codes of refusals that no other moment would change."""

answers: list[in_process.Answer] = []
"""What the API has said to pages since the last form."""


@contextmanager
def full_ledger(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The ledger takes nothing: an act that nobody refuses ends with 503. The answers to pages are noted."""
    ask = in_process._ask

    def note(*args: Any) -> in_process.Answer:
        answers.append(ask(*args))
        return answers[-1]

    def refuse(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("it takes nothing")

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "append", refuse)
        patched.setattr(SubstituteOffers, "ask", refuse)
        for act in ("offer", "store", "set_code", "end_code", "withdraw_offer"):
            patched.setattr(EventPeople, act, refuse)
        patched.setattr(in_process, "_ask", note)
        yield


def shown_forms(who: Person, path: str) -> dict[Form, str]:
    """The forms of a page below the path, each with its action."""
    forms = [form for form in Page(who.read(path).text).forms if form.action.startswith(path.rpartition("/")[0])]
    kept = [(form, [pair for pair in form.fields if pair[0] not in OF_VISIT]) for form in forms]
    return {frozenset([("action", form.action), *((n, v) for n, v in pairs if v)]): form.action for form, pairs in kept}


def send(who: Person, action: str, fields: Mapping[str, str]) -> str:
    """The code of the refusal of a form of somebody, whoever was shown it; an empty one where nobody refuses it."""
    store = who.site.services.account_store
    owner = store.credentials.find_owner(who.browser.cookie())
    assert owner is not None
    stamp = store.signed_forms.sign(f"session {owner.credential}", action)
    visit = {"form": stamp, "key": "k" * 30 + str(abs(hash(who.api.id)))}
    answers.clear()
    page = who.browser.client.post(action, data={**visit, **fields})
    codes = [answer.code for answer in answers if answer.code not in ("", "store_unavailable")]
    return next(iter(codes), "" if page.status_code in (200, 303, 503) else "form_stale")


def check_form(who: Person, action: str, fields: Mapping[str, str], *, is_shown: bool) -> None:
    """It is never refused for want of a right where it is shown, and always refused where it is not."""
    code = send(who, action, fields)
    assert code not in WITHOUT_RIGHT if is_shown else code, (who.api.doc["name"], fields, code)


def check_forms(
    people: Mapping[str, Person], path: str, fill: Callable[[str, dict[str, str]], dict[str, str]]
) -> dict[str, set[str]]:
    """Each form of the page is accepted from those who see it alone; return the acts that each person sees."""
    shown = {name: shown_forms(who, path) for name, who in people.items()}
    for form, action in {form: action for forms in shown.values() for form, action in forms.items()}.items():
        for name, who in people.items():
            fields = fill(name, {key: value for key, value in form if key != "action"})
            check_form(who, action, fields, is_shown=form in shown[name])
    return {name: {dict(form).get("act", "") for form in forms} for name, forms in shown.items()}


# --- tournaments -----------------------------------------------------------------------------------------------


class Event:
    """A tournament with everybody who may stand before its pages."""

    def __init__(self, site: Site, monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
        self.site, self._monkeypatch = site, monkeypatch
        names = ("Organiser", "Deputy", "Arbiter", "Stranger", "Anne 0", "Anne 1", "Anne 2")
        self.people = {name: person(site, name) for name in names}
        member = promoted(site, "Moderator", "moderator")
        browser = Browser(site)
        assert browser.log_in("Moderator").status_code == 303
        self.people["Moderator"] = Person(site, browser, member)
        self.host, self.entrants = self.people["Organiser"], [self.people[f"Anne {n}"] for n in range(3)]
        made = self.host.api.post("/tournaments", {**BODY, "stages": [{"format": "league", "rounds": 1}], **more})
        self.path = f"/tournaments/{made.json['tournament']}"
        for name in ("deputy", "arbiter"):
            appoint(self.host.api, self.path, self.people[name.title()].api, name)

    def enter(self) -> None:
        for who in self.entrants:
            act(who, self.path, "enter")

    def check_in(self) -> None:
        act(self.host, self.path, "checking")
        for number, who in enumerate(self.entrants):
            act(who, self.path, "check_in", ("nonce_hash", commit_nonce(NONCE.format(number))))

    def show_nonces(self) -> None:
        act(self.host, self.path, "drawing")
        for number, who in enumerate(self.entrants):
            act(who, self.path, "nonce", ("nonce", NONCE.format(number)))

    def pod(self) -> Doc:
        (found,) = self.site.get(f"{self.path}/stages/1/rounds/1").json["pods"]
        return dict(found)

    def check(self, page: str = "") -> dict[str, set[str]]:
        """All forms of a page are checked; return the acts that each person sees."""
        with full_ledger(self._monkeypatch):
            return check_forms(self.people, self.path + page, self._fill)

    @staticmethod
    def _fill(name: str, fields: dict[str, str]) -> dict[str, str]:
        nonce = {"nonce": NONCE.format(name[-1])} if name.startswith("Anne") else {"nonce": NONCE.format(7)}
        filled = FILLED | nonce | fields
        return {key: value for key, value in filled.items() if not (key == "sure" and fields.get("act") == "rule")}


def test_tournament_forms_are_shown_to_who_may_send_them(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    event = Event(site, monkeypatch)
    ends = {"schedule", "close"}
    shown = event.check()
    assert ends <= shown["Organiser"]
    assert not ends & shown["Deputy"]
    assert "checking" in shown["Deputy"]
    assert shown["Arbiter"] == {"announce", "enter"}
    assert shown["Moderator"] == shown["Stranger"] == {"enter"}
    event.enter()
    assert event.check()["Anne 0"] == {"ask_substitute", "withdraw"}
    act(event.host, event.path, "checking")
    assert event.check()["Anne 0"] == {"ask_substitute", "check_in", "withdraw"}
    for number, who in enumerate(event.entrants):
        act(who, event.path, "check_in", ("nonce_hash", commit_nonce(NONCE.format(number))))
    act(event.host, event.path, "drawing")
    assert event.check()["Anne 0"] == {"ask_substitute", "nonce", "withdraw"}
    for number, who in enumerate(event.entrants):
        act(who, event.path, "nonce", ("nonce", NONCE.format(number)))
    act(event.host, event.path, "schedule", *((name, FILLED[name]) for name in ("rule", "start", "zone")))
    assert "unschedule" in event.check()["Organiser"]
    act(event.host, event.path, "draw")
    assert "tables" in event.check()["Deputy"]
    act(event.host, event.path, "tables")
    for name, who in event.people.items():
        shown = who.read(event.path).text.partition('id="round"')[2]
        assert bool(re.search('/games/[^"]*/desk', shown)) == (name == "Organiser")
    event.check()
    finish(site, event.host.api, [who.api for who in event.entrants], event.pod())
    assert "reports" in event.check()["Deputy"]
    act(event.host, event.path, "reports")
    act(event.host, event.path, "rank")
    event.check()
    assert event.host.api.delete("/me").status_code == 204
    del event.people["Organiser"]
    shown = event.check()
    assert "close" in shown["Deputy"]
    assert "close" in shown["Moderator"]
    assert shown["Arbiter"] | shown["Stranger"] <= {"announce", "follow", "unfollow"}


def test_forms_of_rulings_are_shown_to_those_who_may_send_them(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    event = Event(site, monkeypatch)
    event.enter()
    assert event.check("/rulings")["Arbiter"] == {"rule"}
    event.check_in()
    event.show_nonces()
    for name in ("draw", "tables"):
        act(event.host, event.path, name)
    rulings = f"{event.path}/rulings"
    body = {"act": "penalised", "entrant": 0, "ticks": 1, "reason": "Late."}
    arbiter, anne = event.people["Arbiter"].api, event.entrants[0].api
    effect = arbiter.post(f"{rulings}?dry_run=1", body).headers["ETag"]
    ruling = arbiter.post(rulings, body, If_Match=effect).json["ruling"]
    shown = event.check("/rulings")
    assert shown["Anne 0"] == shown["Anne 1"] == {"appeal"}
    assert shown["Moderator"] == shown["Stranger"] == set()
    assert anne.post(f"{event.path}/appeals", {"ruling": ruling, "reason": "No."}).status_code == 201
    shown = event.check("/rulings")
    assert (shown["Arbiter"], shown["Deputy"], shown["Anne 1"]) == ({"rule"}, {"rule", "answer"}, {"appeal"})
    appoint(event.host.api, event.path, anne, "arbiter")
    body = {"act": "restored", "ruling": ruling, "reason": "No."}
    for name, code in (("Anne 0", "conflict_of_interest"), ("Arbiter", "")):  # the first is a party
        who = event.people[name]
        offered = [form for form in shown_forms(who, rulings) if ("ruling_act", "restored") in form]
        assert bool(offered) == (not code)
        shown_effect = who.api.post(f"{rulings}?dry_run=1", body)
        assert shown_effect.json.get("code", "") == code
        if not code:
            assert who.api.post(rulings, body, If_Match=shown_effect.headers["ETag"]).status_code == 201


@pytest.mark.parametrize("stage", [{"rounds": 1, "seating": "bid"}, {"format": "ladder"}])
def test_bid_and_queue_forms_are_shown_to_who_may_send_them(
    site: Site, monkeypatch: pytest.MonkeyPatch, stage: Doc
) -> None:
    event = Event(site, monkeypatch, stages=[stage])
    event.check()
    if "format" in stage:
        event.enter()
        assert event.check()["Anne 0"] == {"ask_substitute", "queue", "withdraw"}
        act(event.entrants[0], event.path, "queue")
        assert event.check()["Anne 0"] == {"ask_substitute", "leave", "withdraw"}
        act(event.host, event.path, "queue_closed")
        event.check()
        return
    event.enter()
    event.check_in()
    event.show_nonces()
    act(event.host, event.path, "draw")
    assert "bidding" in event.check()["Deputy"]
    act(event.host, event.path, "bidding")
    assert event.check()["Anne 0"] == {"ask_substitute", "file", "withdraw"}


def test_each_right_is_an_operation_of_the_api(site: Site) -> None:
    methods = [each for path in site.get("/openapi.json").json["paths"].values() for each in path.values()]
    operations = {each["operationId"] for each in methods if "operationId" in each}
    assert operations >= LEAST_OFFICE.keys()


# --- desks -----------------------------------------------------------------------------------------------------


def desk_forms(who: Person, path: str) -> dict[Form, str]:
    """The forms of a desk: those with a choice of an end or of a role once for each."""
    text = who.read(path).text
    found: dict[Form, str] = {}
    for form in Page(text).forms:
        fields = {name: value for name, value in form.fields if name in ("act", "decision", "player")}
        if form.action != path:
            continue
        select = {"close": "ending", "appoint": "role"}.get(fields["act"], "")
        block = text.partition(f'<select name="{select}">')[2].partition("</select>")[0]
        for value in re.findall(r'<option value="(\w+)"', block) if select else [""]:
            found[frozenset((fields | ({select: value} if select else {})).items())] = path
    return found


def check_desk(people: Mapping[str, Person], path: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """Each form of the desk is accepted from those who see it alone; return the acts that each person sees."""
    shown = {name: desk_forms(who, path) for name, who in people.items()}
    more = {"sure": "yes", "seconds": "3600", "seat": "0", "name": "Stranger", "place.0": "1", "place.1": "2"}
    with full_ledger(monkeypatch):
        for form in sorted({form for forms in shown.values() for form in forms}, key=sorted):
            forfeit = {"forfeit.0": "yes"} if ("ending", "forfeited") in form else {}
            for name, who in people.items():
                if ("act", "recall") in form and form in shown[name]:
                    continue  # it is no record, and would be gone for the others
                fields = {"reason": "A reason.", **more, **forfeit, **dict(form)}
                check_form(who, path, fields, is_shown=form in shown[name])
    return {name: {dict(form)["act"] for form in forms} for name, forms in shown.items()}


def test_forms_of_a_desk_are_shown_to_those_who_may_send_them(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    people = {name: person(site, name.title()) for name in ("owner", "director", "deputy", "arbiter", "other")}
    person(site, "Stranger")
    host = people["owner"]
    game = host.api.post("/games", {"ruleset": "orders@1", "seats": 2, "pace": PACE}).json["game"]
    path, table = f"/games/{game}/desk", f"/games/{game}"
    for role in OFFICES[:-1]:
        offered = host.api.post(f"{table}/officers", {"name": role.title(), "role": role})
        assert offered.status_code == 202, offered.text
        assert people[role].api.put(f"/me/offices/{game}", {}).status_code == 200
    assert host.api.post(f"{table}/officers", {"name": "Other", "role": "arbiter"}).status_code == 202
    del people["other"]
    tokens = [site.post(f"{table}/seats", {"seat": seat, "name": f"P{seat}"}).json["token"] for seat in range(2)]
    shown = check_desk(people, path, monkeypatch)
    assert "start" in shown["deputy"] - shown["arbiter"]
    assert "recall" in shown["director"] - shown["deputy"]
    assert host.api.post(f"{table}/start").status_code == 201
    shown = check_desk(people, path, monkeypatch)
    assert {"extend", "pause", "hold", "close", "dismiss"} <= shown["arbiter"]
    assert "remove" in shown["deputy"] - shown["arbiter"]
    assert site.delete(f"{table}/seats/0", tokens[0]).status_code == 200
    assert "bot" in check_desk(people, path, monkeypatch)["deputy"]
    assert people["deputy"].api.post(f"{table}/close", {"reason": "annulled"}).status_code == 201
    assert "withdraw" in check_desk(people, path, monkeypatch)["deputy"]


def test_a_desk_offers_nothing_to_an_officer_with_a_stake(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    people = {name: person(site, name.title()) for name in ("owner", "deputy", "arbiter")}
    person(site, "Stranger")
    host = people["owner"]
    body = {"ruleset": "orders@1", "seats": 2, "pace": PACE, "officers": "neutral"}
    game = host.api.post("/games", body).json["game"]
    path, table = f"/games/{game}/desk", f"/games/{game}"
    for role in ("deputy", "arbiter"):
        assert host.api.post(f"{table}/officers", {"name": role.title(), "role": role}).status_code == 202
        assert people[role].api.put(f"/me/offices/{game}", {}).status_code == 200
    assert host.api.post(f"{table}/seats", {"seat": 0}).status_code == 201
    assert people["arbiter"].api.post(f"{table}/seats", {"seat": 1}).status_code == 201
    assert host.api.post(f"{table}/start", Annals_Role="director").status_code == 201
    shown = check_desk(people, path, monkeypatch)
    assert shown["owner"] == set()
    assert shown["arbiter"] == {"dismiss"}  # of the own role
    assert "pause" in shown["deputy"]
    assert "the players must agree in your place" in host.read(path).text
