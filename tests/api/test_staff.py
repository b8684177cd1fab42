"""Officers of a table: how a role is given, what it allows, and what the history says about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from api import officer_rights
from domain.command_handler import GameConditions
from domain.errors import RuleError, VerificationError
from domain.kernel.game.command import Command
from domain.kernel.game.director_commands import Depute, Extend, Hold
from domain.kernel.game.game_fold import fold
from domain.kernel.game.officers import OFFICES, Officer
from domain.kernel.game.record_builder import CommandContext
from domain.kernel.proof.verify import audit
from domain.service.seed_store import SeedStore
from tests.api.conftest import Doc, Reply, Site, Table, refused
from tests.api.members import Member, log_in, register, timed
from tests.api.test_chronicle_names import texts

PACE = {"seconds": {"turn": 3600}}


@pytest.fixture
def owner(site: Site) -> Member:
    timed(site)
    return register(site, "Olga")


def opened(owner: Member, **terms: Any) -> Table:
    """A running table of three guests; the owner is an account without a seat."""
    made = owner.post("/games", {"ruleset": "orders@1", "seats": 3, "pace": PACE, **terms}).json
    table = Table(owner.site, made["game"], owner.token, [])
    table.tokens += [table.post("/seats", {"seat": seat, "name": f"Guest {seat}"}).json["token"] for seat in range(3)]
    assert table.post("/start", {}, owner.token).status_code == 201
    return table


@pytest.fixture
def table(owner: Member) -> Table:
    return opened(owner)


def appoint(owner: Member, table: Table, name: str, role: str, **more: Any) -> Member:
    """An account that has accepted a role."""
    person = register(owner.site, name)
    offered = owner.post(f"{table.path}/officers", {"name": name, "role": role, **more})
    assert offered.status_code == 202, offered.text
    accepted = person.site.put(f"/me/offices/{table.game}", {}, person.token)
    assert accepted.status_code == 200, accepted.text
    return person


def play_first(table: Table) -> None:
    """Let a seat that owes an answer make the first move that it is offered."""
    seat = table.get("/decisions").json["decisions"][0]["must"][0]
    picks: list[Any] = []
    while (asked := table.post("/choices", {"picks": picks}, table.tokens[seat]).json)["move"] is None:
        choice = asked["choice"]
        picks.append(choice["options"][0]["value"] if choice.get("options") else choice.get("min", 0))
    assert table.move(seat, asked["move"]).status_code == 201


def entry(table: Table, lang: str = "en") -> Doc:
    """The newest entry of the timeline."""
    items: list[Doc] = table.get(f"/timeline?limit=200&lang={lang}").json["items"]
    return items[-1]


# --- giving a role ---------------------------------------------------------------------------------------------


def test_a_role_counts_once_the_person_accepts(owner: Member, table: Table) -> None:
    dora = register(owner.site, "Dora")
    assert owner.post(f"{table.path}/officers", {"name": "Dora", "role": "deputy", "reason": "July"}).status_code == 202
    hold = f"{table.path}/seats/1/hold"
    refused(owner.site.put(hold, {"seconds": 60}, dora.token), 403, "not_at_table")
    (offer,) = dora.get("/me/offices").json["offers"]
    assert (offer["role"], offer["name"], offer["reason"]) == ("deputy", "Olga", "July")
    assert owner.site.put(f"/me/offices/{table.game}", None, dora.token).status_code == 200
    assert dora.get("/me/data").json["offices"] == {table.game: "deputy"}
    assert dora.get("/me/offices").json == {"items": [{"game": table.game, "office": "deputy"}], "offers": []}
    assert owner.site.put(hold, {"seconds": 60}, dora.token).status_code == 200
    refused(owner.site.put(f"/me/offices/{table.game}", None, dora.token), 409, "has_office")
    assert table.get().json["offices"] == [{"player": dora.doc["player"], "office": "deputy"}]


def test_one_call_names_an_officer_for_several_tables(owner: Member, table: Table) -> None:
    tables, ed = [table, opened(owner)], register(owner.site, "Ed")
    games = [one.game for one in tables]
    body = {"name": "Ed", "role": "director", "games": games}
    stranger = opened(register(owner.site, "Eve"))
    refused(owner.post("/me/officers", {**body, "games": [*games, stranger.game]}), 403, "not_at_table")
    assert ed.get("/me/offices").json["offers"] == []
    assert owner.post("/me/officers", body).status_code == 202
    assert sorted(offer["game"] for offer in ed.get("/me/offices").json["offers"]) == sorted(games)
    for game in games:
        assert owner.site.put(f"/me/offices/{game}", None, ed.token).status_code == 200
    for one in tables:
        reply = one.post("/extensions", {"decision": one.decision, "seconds": 60}, ed.token)
        assert reply.status_code == 201


RIGHTS: dict[str, tuple[str, Callable[[Table, str], Reply]]] = {
    "extend": (
        "arbiter",
        lambda t, token: t.post("/extensions", {"decision": t.decision, "seconds": 60}, token),
    ),
    "pause": ("arbiter", lambda t, token: t.post("/pauses", {"moves": True}, token)),
    "resume": ("arbiter", lambda t, token: t.post("/resumptions", {}, token)),
    "rule": ("arbiter", lambda t, token: t.post("/close", {"reason": "annulled"}, token)),
    "withdraw": ("arbiter", lambda t, token: t.post(f"/rulings/{t.version}/withdrawal", {}, token)),
    "hold": ("arbiter", lambda t, token: t.site.put(f"{t.path}/seats/1/hold", {"seconds": 60}, token)),
    "look": ("arbiter", lambda t, token: t.post("/looks", {}, token)),
    "move": (
        "arbiter",
        lambda t, token: t.post("/moves", {"decision": t.decision, "seat": 0, "move": {"type": "submit"}}, token),
    ),
    "rewind": (
        "arbiter",
        lambda t, token: t.post("/rewinds", {"to": t.version - 1}, token, If_Match=f'"{t.version}"'),
    ),
    "replace": ("deputy", lambda t, token: t.post("/seats/1/tokens", {}, token)),
    "remove": ("deputy", lambda t, token: t.post("/seats/2/removals", {"reason": "rude"}, token)),
    "bot": ("deputy", lambda t, token: t.post("/seats", {"seat": 2, "bot": "builder"}, token)),
    "label": ("deputy", lambda t, token: t.site.put(f"{t.path}/card", {"title": "A"}, token)),
    "challenge": ("deputy", lambda t, token: t.post("/challenges", {"player": "x1"}, token)),
    "appoint": ("director", lambda t, token: t.post("/officers", {"name": "Olga2", "role": "arbiter"}, token)),
    "close": ("director", lambda t, token: t.post("/close", {"reason": "void"}, token)),
}
"""Command -> the lowest role that may give it, and its request."""


def test_new_command_is_for_directors_unless_it_says_so() -> None:
    least = {kind.verb: kind.least_office for kind in Command.__subclasses__() if kind.least_office != "director"}
    rulings = dict.fromkeys(
        ("Depute", "Extend", "Hold", "Look", "PauseGame", "Play", "ResumeGame", "Rewind"), "arbiter"
    )
    rulings |= dict.fromkeys(("AnswerAppeals", "RuleEnding", "WithdrawRuling"), "arbiter")
    assert least == rulings | dict.fromkeys(("Join", "Leave", "Reissue", "Start"), "deputy")


@pytest.mark.parametrize("role", OFFICES[:-1])
def test_a_role_includes_those_below_it(owner: Member, table: Table, role: str) -> None:
    officer = appoint(owner, table, "Rosa", role)
    register(owner.site, "Olga2")
    for name, (least, request) in RIGHTS.items():
        reply = request(table, officer.token)
        if OFFICES.index(role) >= OFFICES.index(least):
            assert reply.status_code < 300, (name, reply.text)
        else:
            refused(reply, 409, "office_insufficient")


def test_nobody_gives_or_ends_role_that_is_not_below_own_one(owner: Member, table: Table) -> None:
    first, second = appoint(owner, table, "Dirk", "director"), appoint(owner, table, "Dana", "director")
    register(owner.site, "Nora")
    for role in ("director", "owner"):
        refused(table.post("/officers", {"name": "Nora", "role": role}, first.token), 409, "office_insufficient")
    refused(table.post(f"/officers/{second.doc['player']}/removals", {}, first.token), 409, "no_office")
    refused(table.post(f"/officers/{owner.doc['player']}/removals", {}, first.token), 409, "no_office")
    refused(table.post("/officers", {"name": "Dana", "role": "arbiter"}, first.token), 409, "has_office")
    refused(table.post("/officers", {"name": "Nobody", "role": "arbiter"}, first.token), 404, "unknown_account")


def test_an_offer_ends_with_the_role_of_its_author(owner: Member, table: Table) -> None:
    director, carl = appoint(owner, table, "Dirk", "director"), register(owner.site, "Carl")
    assert table.post("/officers", {"name": "Carl", "role": "deputy"}, director.token).status_code == 202
    assert table.post(f"/officers/{director.doc['player']}/removals", {}, owner.token).status_code == 201
    refused(owner.site.put(f"/me/offices/{table.game}", None, carl.token), 409, "office_ended")
    refused(table.post("/extensions", {"decision": table.decision, "seconds": 60}, director.token), 403, "not_at_table")


def test_declining_twice_with_the_role_gives_up_nothing_else(owner: Member, table: Table) -> None:
    """As it was found: the repetition of a decline without answer ended the role that the person had."""
    dora = appoint(owner, table, "Dora", "deputy")
    owner.post(f"{table.path}/officers", {"name": "Dora", "role": "director"})
    answers = [dora.delete(f"/me/offices/{table.game}?role=director").status_code for _ in range(2)]
    assert answers == [204, 404]
    assert dora.get("/me/offices").json["items"] == [{"game": table.game, "office": "deputy"}]
    answers = [dora.delete(f"/me/offices/{table.game}?role=deputy").status_code for _ in range(2)]
    assert answers == [204, 404]


def test_an_offer_is_declined_or_withdrawn_and_a_role_given_up(owner: Member, table: Table) -> None:
    carl = register(owner.site, "Carl")
    offer, mine = f"{table.path}/officers/{carl.doc['player']}/offer", f"/me/offices/{table.game}"
    ends: list[Callable[[], Reply]] = [lambda: carl.delete(mine), lambda: owner.delete(offer)]
    for end in ends:
        owner.post(f"{table.path}/officers", {"name": "Carl", "role": "deputy"})
        assert end().status_code == 204
        refused(owner.site.put(mine, None, carl.token), 404, "not_found")
    owner.post(f"{table.path}/officers", {"name": "Carl", "role": "deputy"})
    assert owner.site.put(mine, None, carl.token).status_code == 200
    assert carl.delete(mine).status_code == 204
    assert table.get().json["offices"] == []
    refused(carl.delete(mine), 404, "not_found")
    refused(owner.delete(mine), 409, "no_office")


# --- players who are officers too ------------------------------------------------------------------------------


def test_a_playing_owner_appoints_nobody_alone(owner: Member) -> None:
    """Or a friend would decide for the player."""
    made = owner.post("/games", {"ruleset": "orders@1", "seats": 2, "pace": PACE}).json
    table = Table(owner.site, made["game"], owner.token, [])
    for player in (owner.token, ""):
        table.tokens.append(table.post("/seats", {}, player).json.get("token", owner.token))
    carl = register(owner.site, "Carl")
    offer = {"name": "Carl", "role": "deputy"}
    assert owner.post(f"{table.path}/officers", offer, Annals_Role="director").status_code == 202
    assert owner.post(f"{table.path}/start", {}, Annals_Role="director").status_code == 201
    refused(owner.site.put(f"/me/offices/{table.game}", None, carl.token), 409, "director_has_stake")
    refused(owner.post(f"{table.path}/officers", offer, Annals_Role="director"), 409, "director_has_stake")


def test_a_player_who_becomes_an_officer_decides_nothing(owner: Member) -> None:
    timed(owner.site)
    made = owner.post("/games", {"ruleset": "orders@1", "seats": 2, "pace": PACE}).json
    table, carl = Table(owner.site, made["game"], owner.token, []), register(owner.site, "Carl")
    table.post("/seats", {"seat": 0}, carl.token)
    table.tokens += [carl.token, table.post("/seats", {"seat": 1}).json["token"]]
    owner.post(f"{table.path}/start", {})
    owner.post(f"{table.path}/officers", {"name": "Carl", "role": "director"})
    assert owner.site.put(f"/me/offices/{table.game}", None, carl.token).status_code == 200
    as_director = {"Annals_Role": "director"}
    extension = {"decision": table.decision, "seconds": 60}
    refused(carl.post(f"{table.path}/extensions", extension, **as_director), 409, "director_has_stake")
    refused(carl.post(f"{table.path}/looks", {}, **as_director), 403, "director_plays")
    assert carl.site.delete(f"{table.path}/seats/0?hold=0", carl.token, Annals_Role="0").status_code == 200
    refused(carl.post(f"{table.path}/extensions", extension), 409, "director_has_stake")


def test_an_officer_sees_nothing_hidden_where_a_relation_plays(owner: Member) -> None:
    timed(owner.site)
    made = owner.post("/games", {"ruleset": "orders@1", "seats": 2, "pace": PACE}).json
    table, sister = Table(owner.site, made["game"], owner.token, []), register(owner.site, "Sister")
    table.post("/seats", {"seat": 0}, sister.token)
    table.post("/seats", {"seat": 1})
    owner.post(f"{table.path}/start", {})
    assert owner.put("/me/relations", {"players": [sister.doc["player"]]}).json == {"players": [sister.doc["player"]]}
    refused(owner.post(f"{table.path}/looks", {}), 403, "director_related")
    refused(owner.post(f"{table.path}/seats/1/tokens", {}), 403, "director_related")
    move = {"decision": table.decision, "seat": 1, "move": {"type": "submit"}}
    refused(owner.post(f"{table.path}/moves", move), 403, "director_related")
    assert owner.post(f"{table.path}/extensions", {"decision": table.decision, "seconds": 60}).status_code == 201
    owner.put("/me/relations", {"players": []})
    assert owner.post(f"{table.path}/looks", {}).status_code == 201


@pytest.mark.parametrize("terms", [{}, {"officers": "any"}])
def test_who_has_looked_never_sits_there_but_others_do(owner: Member, terms: Doc) -> None:
    table = opened(owner, **terms)
    looker, other = appoint(owner, table, "Lena", "arbiter"), appoint(owner, table, "Otto", "arbiter")
    assert table.post("/looks", {"reason": "a doubt"}, looker.token).status_code == 201
    assert looker.delete(f"/me/offices/{table.game}").status_code == 204
    owner.site.delete(f"{table.path}/seats/1?hold=0", table.tokens[1])
    refused(table.post("/seats", {"seat": 1}, looker.token), 403, "director_looked")
    assert table.post("/seats", {"seat": 1}, other.token).status_code == 201


def test_players_name_an_officer_by_agreement(owner: Member, table: Table) -> None:
    judge = register(owner.site, "Judge")
    act = {"act": "appoint", "player": judge.doc["player"], "role": "arbiter"}
    proposal = table.post("/proposals", act, table.tokens[0]).json
    for seat in (1, 2):
        table.post(f"/proposals/{proposal['id']}/consents", {"agrees": True}, table.tokens[seat])
    owner.site.work()
    assert table.get().json["offices"] == [{"player": judge.doc["player"], "office": "arbiter"}]
    assert table.post("/looks", {}, judge.token).status_code == 201
    refused(
        table.post("/proposals", {**act, "player": "nobody"}, table.tokens[0]),
        404,
        "unknown_account",
    )


# --- handing over ----------------------------------------------------------------------------------------------


def test_a_table_is_handed_over(owner: Member, table: Table) -> None:
    heir = appoint(owner, table, "Heir", "owner", reason="moving harness")
    assert table.get().json["offices"] == [{"player": heir.doc["player"], "office": "owner"}]
    told = entry(table)
    assert told["text"][0] == "The table is handed over to Heir."
    assert told["officer"] == {
        "player": owner.doc["player"],
        "name": "Olga",
        "office": "owner",
        "reason": "moving harness",
    }
    extension = {"decision": table.decision, "seconds": 60}
    refused(owner.post(f"{table.path}/extensions", extension), 403, "not_at_table")
    assert heir.post(f"{table.path}/extensions", extension).status_code == 201


def test_a_token_of_a_program_hands_over_no_table(owner: Member, table: Table) -> None:
    register(owner.site, "Heir")
    owner.prove()
    token, offer = owner.personal("direct"), {"name": "Heir", "role": "owner"}
    refused(table.post("/officers", offer, token), 403, "session_required")
    assert table.post("/officers", {**offer, "role": "director"}, token).status_code == 202
    assert table.post("/officers", offer, owner.token).status_code == 202


def test_a_guest_who_hands_over_loses_the_token(site: Site) -> None:
    timed(site)
    table, heir = site.table("orders@1", 3, pace=PACE), register(site, "Heir")
    assert table.post("/officers", {"name": "Heir", "role": "owner"}, table.director).status_code == 202
    assert site.put(f"/me/offices/{table.game}", None, heir.token).status_code == 200
    assert table.get("", "director").status_code == 401


# --- the history -----------------------------------------------------------------------------------------------


def test_history_names_author_reason_and_whose_deadline_moved(owner: Member, table: Table) -> None:
    deputy = appoint(owner, table, "Dora", "deputy")
    extension = {"decision": table.decision, "seconds": 7200, "reason": "Ferry: late.  Très late"}
    assert table.post("/extensions", extension, deputy.token).status_code == 201
    english, french = entry(table), entry(table, "fr")
    assert english["text"] == [
        "The deadline of Guest 0, Guest 1 and Guest 2 is moved: 2 hours later.",
        "Decided by Dora, deputy director: “Ferry: late.  Très late”.",
    ]
    moved = "L'échéance de Guest 0, de Guest 1 et de Guest 2 est déplacée : 2 heures plus tard."
    assert french["text"][0].replace("\xa0", " ") == moved
    assert "Ferry: late.  Très late" in french["text"][1]
    assert english["body"]["seats"] == [0, 1, 2]
    assert english["officer"] == {
        "player": deputy.doc["player"],
        "name": "Dora",
        "office": "deputy",
        "reason": "Ferry: late.  Très late",
    }
    assert owner.site.get(f"{table.path}/records?limit=200").text.count("Ferry") == 0


def test_the_text_of_a_version_stays_after_any_later_record(owner: Member, table: Table) -> None:
    deputy = appoint(owner, table, "Dora", "deputy")
    table.post("/extensions", {"decision": table.decision, "seconds": 60, "reason": "x"}, deputy.token)
    before = texts(table)
    table.post(f"/officers/{deputy.doc['player']}/removals", {}, owner.token)
    appoint(owner, table, "Heir", "owner")
    owner.site.delete(f"{table.path}/seats/1?hold=0", table.tokens[1])
    table.post("/seats", {"seat": 1, "name": "Other"})
    after = texts(table)
    assert {version: after[version] for version in before} == before


def test_the_text_stays_when_powers_are_chosen(site: Site) -> None:
    """A power that a seat gets later is no name for what it did before."""
    table = site.table("struggle_of_empires@1", 3)
    before = texts(table)
    for _ in range(12):
        play_first(table)
        after = texts(table)
        assert {version: after[version] for version in before} == before
        before = after


def test_an_erased_reason_leaves_the_record(owner: Member, table: Table) -> None:
    deputy = appoint(owner, table, "Dora", "deputy")
    table.post("/extensions", {"decision": table.decision, "seconds": 60, "reason": "private"}, deputy.token)
    deputy.prove()
    assert deputy.delete("/me").status_code == 204
    told = entry(table)
    assert (told["officer"]["name"], told["officer"]["reason"]) == (None, None)
    assert told["text"][1] == "Decided by somebody, deputy director."
    assert "private" not in table.get("/timeline?limit=200").text


def test_a_repeated_request_has_the_same_reason_or_is_refused(owner: Member, table: Table) -> None:
    body = {"decision": table.decision, "seconds": 60, "reason": "one"}
    first, again = (table.post("/extensions", body, owner.token, Idempotency_Key="extension-1") for _ in range(2))
    assert first.json == again.json
    other = table.post("/extensions", {**body, "reason": "two"}, owner.token, Idempotency_Key="extension-1")
    refused(other, 422, "idempotency_key_reused")


def test_only_officers_give_reasons(owner: Member, table: Table) -> None:
    move = {"decision": table.decision, "move": {"type": "submit"}, "reason": "x"}
    refused(table.post("/moves", move, table.tokens[0]), 403, "directors_only")
    refused(table.post("/seats", {"seat": 1, "reason": "x"}), 403, "directors_only")


def test_officers_acts_prove(owner: Member, table: Table) -> None:
    """A closed game with officers verifies, and says who closed it."""
    deputy = appoint(owner, table, "Dora", "director", reason="help")
    for _, request in list(RIGHTS.values())[:7]:
        assert request(table, deputy.token).status_code < 300
    owner.site.work()
    closed = table.post("/close", {"reason": "void", "explanation": "the end"}, deputy.token)
    assert closed.status_code == 201
    audit = owner.site.get(f"{table.path}/audit").json
    assert audit["proved"], audit
    told = entry(table)
    assert told["officer"]["reason"] == "the end"
    assert told["text"][-1] == "Decided by Dora, director: “the end”."


def test_officers_act_that_follows_end_of_the_role_is_refused(owner: Member, table: Table) -> None:
    """The role ends between the check of the request and its record."""
    deputy = appoint(owner, table, "Dora", "deputy")
    acting = Officer(deputy.doc["player"], "deputy")
    table.post(f"/officers/{acting.player}/removals", {"reason": "x"}, owner.token)
    for late in (acting, Officer(acting.player, "director")):
        with pytest.raises(RuleError, match="office_ended"):
            owner.site.services.commands.handle(table.game, Extend(table.decision, 60_000), GameConditions(author=late))
    appoint(owner, table, "Heir", "owner")
    with pytest.raises(RuleError, match="office_ended"):
        owner.site.services.commands.handle(
            table.game, Extend(table.decision, 60_000), GameConditions(author=Officer(owner.doc["player"], "owner"))
        )


def test_digest_tells_officers_acts_with_names_of_its_versions(owner: Member) -> None:
    table = opened(owner, ruleset="struggle_of_empires@1", pace="none", undo="director")
    owner.put(f"{table.path}/seats/1/hold", {"seconds": 60, "reason": "ferry"})
    for _ in range(40):
        play_first(table)
        if table.get("/digest").json["turns"]:
            break
    owner.put(f"{table.path}/seats/1/hold", {"seconds": 60, "reason": "again"})
    before = table.get("/digest").json["turns"]
    assert before[0]["rulings"][-1] == "Decided by Olga, owner of the table: “again”."
    owner.site.delete(f"{table.path}/seats/1?hold=60", table.tokens[1])
    assert table.post("/seats", {"seat": 1, "name": "Other"}).status_code == 201
    (after, *_) = table.get("/digest").json["turns"]
    assert after | {"last": 0} == before[0] | {"last": 0}


# --- tables whose owner is gone, players who give up -----------------------------------------------------------


def test_highest_officer_inherits_from_an_owner_who_is_erased(owner: Member, table: Table) -> None:
    deputy, director = appoint(owner, table, "Dora", "deputy"), appoint(owner, table, "Dirk", "director")
    inherit = f"{table.path}/inheritance"
    refused(director.post(inherit), 409, "owner_present")
    owner.prove()
    assert owner.delete("/me").status_code == 204
    refused(deputy.post(inherit), 409, "office_insufficient")
    assert director.post(inherit, {"reason": "Olga has left"}).status_code == 201
    assert entry(table)["text"][0] == "The table is handed over to Dirk."
    assert entry(table)["body"]["cause"] == "inherited"
    refused(director.post(inherit), 409, "has_office")
    assert director.post(f"{table.path}/close", {"reason": "void"}).status_code == 201
    assert table.site.get(f"{table.path}/audit").json["proved"]


def test_an_erased_officer_blocks_no_successor(owner: Member, table: Table) -> None:
    deputy, director = appoint(owner, table, "Dora", "deputy"), appoint(owner, table, "Dirk", "director")
    for gone in (director, owner):
        gone.prove()
        assert gone.delete("/me").status_code == 204
    assert deputy.post(f"{table.path}/inheritance").status_code == 201


def test_a_table_is_inherited_after_a_term_of_silence(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an owner with an account, and of a guest. Any sign counts."""
    watch = timed(site)
    owner = register(site, "Olga")
    tables = [opened(owner), site.table("orders@1", 3, pace=PACE)]
    deputy = register(site, "Dora")
    for table in tables:
        assert table.post("/officers", {"name": "Dora", "role": "deputy"}, table.director).status_code == 202
        assert site.put(f"/me/offices/{table.game}", None, deputy.token).status_code == 200
        refused(deputy.post(f"{table.path}/inheritance"), 409, "owner_present")
    later = site.services.clock() + officer_rights.ORPHAN_MS
    site.services = replace(site.services, clock=lambda: later)
    site.remake()
    refused(deputy.post(f"{tables[0].path}/inheritance"), 409, "owner_present")
    assert deputy.post(f"{tables[1].path}/inheritance").status_code == 201
    watch.now += officer_rights.ORPHAN_MS
    fresh = log_in(site, "Dora").json["token"]
    assert site.post(f"{tables[0].path}/inheritance", None, fresh).status_code == 201


def test_players_without_officers_agree_on_one_who_inherits(owner: Member, table: Table) -> None:
    judge = register(owner.site, "Judge")
    owner.prove()
    assert owner.delete("/me").status_code == 204
    act = {"act": "appoint", "player": judge.doc["player"], "role": "director"}
    proposal = table.post("/proposals", act, table.tokens[0]).json
    for seat in (1, 2):
        table.post(f"/proposals/{proposal['id']}/consents", {"agrees": True}, table.tokens[seat])
    owner.site.work()
    assert judge.post(f"{table.path}/inheritance").status_code == 201


def test_a_player_concedes_for_good_and_results_tell_it_apart(owner: Member) -> None:
    made = owner.post("/games", {"ruleset": "orders@1", "seats": 2, "hold": 3600}).json
    table, anne = Table(owner.site, made["game"], owner.token, []), register(owner.site, "Anne")
    table.post("/seats", {"seat": 0}, anne.token)
    table.tokens += [anne.token, table.post("/seats", {"seat": 1}).json["token"]]
    concession = f"{table.path}/seats/0/concession"
    refused(anne.post(concession), 409, "not_running")
    owner.post(f"{table.path}/start", {})
    refused(table.site.post(concession, None, table.tokens[1]), 403, "not_your_seat")
    refused(owner.post(concession), 403, "seats_only")
    assert anne.post(concession).status_code == 201
    assert entry(table)["text"][0] == "Anne concedes and leaves the game for good."
    assert table.get().json["seats"][0]["vacant"] is True
    refused(anne.post(f"{table.path}/seats", {"seat": 0}), 409, "conceded")
    substitute = table.post("/seats", {"seat": 0}).json["player"]
    owner.post(f"{table.path}/close", {"reason": "void"})
    mine = anne.get(f"/players/{anne.doc['player']}/results").json
    assert (mine["finished"], mine["unfinished"], mine["conceded"]) == (0, 0, 1)
    assert [(row["seat"], row["conceded"], row["place"]) for row in mine["items"]] == [(0, True, None)]
    other = table.site.get(f"/players/{substitute}/results").json
    assert (other["unfinished"], other["conceded"]) == (1, 0)
    assert table.site.get(f"{table.path}/audit").json["proved"]


def test_a_replaced_token_concedes_nothing(owner: Member, table: Table) -> None:
    lent = table.post("/seats/1/tokens", {}, owner.token).json["token"]
    refused(table.post("/seats/1/concession", {}, lent), 403, "lent_token")


def test_a_look_of_another_officer_opens_no_builder(owner: Member) -> None:
    """Or one would see hidden options without a look of one's own, and sit down afterwards."""
    table = opened(owner, ruleset="windows@1", pace="none")
    first, second = appoint(owner, table, "Fay", "arbiter"), appoint(owner, table, "Sam", "arbiter")
    table.move(0, {"type": "attack", "target": 1})
    owner.site.delete(f"{table.path}/seats/1?hold=60", owner.token)
    for officer in (first, second):
        before = table.version
        asked = table.post("/choices", {"seat": 1, "picks": []}, officer.token)
        assert (asked.status_code, asked.json["looked"]) == (200, True)
        assert table.version == before + 1
        assert table.post("/choices", {"seat": 1, "picks": []}, officer.token).json["looked"] is True
        assert table.version == before + 1


def test_an_officer_who_replaces_the_own_token_bars_nobody_else(owner: Member) -> None:
    made = owner.post("/games", {"ruleset": "orders@1", "seats": 2, "officers": "any"}).json
    table, carl = Table(owner.site, made["game"], owner.token, []), register(owner.site, "Carl")
    table.post("/seats", {"seat": 0}, carl.token)
    owner.post(f"{table.path}/officers", {"name": "Carl", "role": "deputy"})
    assert owner.site.put(f"/me/offices/{table.game}", None, carl.token).status_code == 200
    assert carl.post(f"{table.path}/seats/0/tokens", {}, Annals_Role="director").status_code == 201
    assert owner.post(f"{table.path}/seats", {"seat": 1}).status_code == 201


def test_two_officers_who_inherit_at_once_leave_first_in_place(owner: Member, table: Table) -> None:
    first, second = appoint(owner, table, "Fay", "director"), appoint(owner, table, "Sam", "director")
    commands, former = owner.site.services.commands, owner.doc["player"]
    for heir in (first, second):
        inherit = Depute(heir.doc["player"], "owner", former, "inherited")
        acting = Officer(heir.doc["player"], "director")
        if heir is first:
            commands.handle(table.game, inherit, GameConditions(author=acting))
            continue
        with pytest.raises(RuleError, match="office_ended"):
            commands.handle(table.game, inherit, GameConditions(author=acting))


def test_a_forged_officer_does_not_verify(owner: Member, table: Table) -> None:
    """A record that names an officer without the role is refused by an audit."""
    s, stranger = owner.site.services, Officer("stranger", "deputy")
    appoint(owner, table, "Heir", "owner")
    records = s.ledger.read(table.game)
    rules, seed = s.registry.get("orders@1"), SeedStore(s.ledger, s.ledger.keys).seed(table.game)
    game = fold(rules, records)
    forged = Hold(1, 60).execute(rules, game, CommandContext(seed, game.time, officer=stranger)).record
    with pytest.raises(VerificationError, match="refused_again"):
        audit(rules, [*records, forged], seed)
