"""Substitutes are asked: a person who has not agreed is bound to nothing."""

from __future__ import annotations

import re

from domain.service.substitute_offers import MOST_SUBSTITUTES
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from tests.api.conftest import Doc, Site, refused
from tests.api.members import Member, register
from tests.api.test_tournament_pages import act, person
from tests.api.test_tournaments import appoint, done, opened, people


def entered(site: Site) -> tuple[Member, Member, Member, str]:
    """Organiser, entrant and another person, with the path of the event."""
    organiser, entrant, friend = register(site, "Organiser"), register(site, "Anne"), register(site, "Claire")
    path = opened(site, organiser)
    done(entrant.post(f"{path}/entrants"))
    return organiser, entrant, friend, path


def ask(entrant: Member, path: str, who: Member) -> None:
    done(entrant.post(f"{path}/entrants/me/substitutes", {"player": who.doc["player"]}))


def answer(who: Member, path: str, entrant: Member) -> str:
    return f"/me/substitutions/{path.rpartition('/')[2]}/{entrant.doc['player']}"


def test_a_question_binds_nobody(site: Site) -> None:
    organiser, entrant, friend, path = entered(site)
    version = site.get(path).json["version"]
    ask(entrant, path, friend)
    assert site.get(path).json["version"] == version
    (offer,) = done(friend.get("/me/substitutions"))["offers"]
    assert (offer["by"], offer["name"]) == (entrant.doc["player"], "Anne")
    assert [each["player"] for each in done(entrant.get("/me/substitutions"))["asked"]] == [friend.doc["player"]]
    appoint(organiser, path, friend, "arbiter")
    done(friend.post(f"{path}/entrants"))
    assert friend.get("/me/data").json["substitutions"][0]["by"] == entrant.doc["player"]


def test_who_accepts_is_a_substitute_and_may_resign(site: Site) -> None:
    _, entrant, friend, path = entered(site)
    other = register(site, "Denise")
    ask(entrant, path, friend)
    refused(other.site.put(answer(other, path, entrant), None, other.token), 409, "no_substitute")
    done(friend.site.put(answer(friend, path, entrant), None, friend.token))
    assert site.get(path).json["people"][0]["substitutes"] == [friend.doc["player"]]
    told = refused(friend.post(f"{path}/entrants"), 409, "substitute_invalid")
    assert "give that up" in told["detail"]
    assert other.delete(answer(other, path, entrant)).status_code == 409
    assert friend.delete(answer(friend, path, entrant)).status_code == 204
    assert site.get(path).json["people"][0]["substitutes"] == []
    done(friend.post(f"{path}/entrants"))
    t = verify_tournament(parse_export(site.get(f"{path}/export").data))
    assert t.entrants[0].deciders == (entrant.doc["player"], friend.doc["player"])  # decisions so far still count


def test_the_entrant_ends_it_too(site: Site) -> None:
    _, entrant, friend, path = entered(site)
    own = f"{path}/entrants/me/substitutes/{friend.doc['player']}"
    refused(entrant.delete(own), 409, "no_substitute")
    ask(entrant, path, friend)
    assert entrant.delete(own).status_code == 204
    refused(friend.site.put(answer(friend, path, entrant), None, friend.token), 409, "no_substitute")
    ask(entrant, path, friend)
    done(friend.site.put(answer(friend, path, entrant), None, friend.token))
    assert entrant.delete(own).status_code == 204
    assert site.get(path).json["people"][0]["substitutes"] == []


def test_a_question_ends_when_the_entrant_leaves(site: Site) -> None:
    _, entrant, friend, path = entered(site)
    ask(entrant, path, friend)
    done(entrant.delete(f"{path}/entrants/me"))
    done(entrant.post(f"{path}/entrants"))
    assert done(friend.get("/me/substitutions"))["offers"] == []
    refused(friend.site.put(answer(friend, path, entrant), None, friend.token), 409, "no_substitute")


def test_a_substitute_of_somebody_who_has_left_enters(site: Site) -> None:
    _, entrant, friend, path = entered(site)
    ask(entrant, path, friend)
    done(friend.site.put(answer(friend, path, entrant), None, friend.token))
    done(entrant.delete(f"{path}/entrants/me"))
    done(friend.post(f"{path}/entrants"))
    done(entrant.post(f"{path}/entrants"))
    assert not any(each["substitutes"] for each in site.get(path).json["people"])
    verify_tournament(parse_export(site.get(f"{path}/export").data))


def test_questions_have_a_limit_and_a_block_hides_them(site: Site) -> None:
    _, entrant, friend, path = entered(site)
    for other in people(site, MOST_SUBSTITUTES):
        ask(entrant, path, other)
    refused(entrant.post(f"{path}/entrants/me/substitutes", {"player": friend.doc["player"]}), 409, "too_many")
    entrant.delete(f"{path}/entrants/me/substitutes/{other.doc['player']}")
    ask(entrant, path, friend)
    friend.put(f"/me/blocks/{entrant.doc['player']}")
    assert done(friend.get("/me/substitutions"))["offers"] == []


def test_pages_ask_accept_and_end(site: Site) -> None:
    host, anne, claire = (person(site, name) for name in ("Organiser", "Anne", "Claire"))
    path = opened(site, host.api)
    act(anne, path, "enter")
    act(anne, path, "ask_substitute", ("person", "Claire"))
    assert "You have asked Claire" in anne.read(path).text
    assert "Anne asks you to be a substitute" in claire.read(path).text
    assert "Anne asks you to be a substitute" in claire.read("/desk").text
    act(claire, path, "accept", ("player", anne.api.doc["player"]))
    assert "You are a substitute of Anne." in claire.read(path).text
    assert re.search("Claire is your substitute", anne.read(path).text)
    act(claire, path, "decline", ("player", anne.api.doc["player"]))
    assert "You are a substitute" not in claire.read(path).text


# --- the kind --------------------------------------------------------------------------------------------------

HARMLESS = {
    # The person is asked first.
    "accept_substitution": "the own answer",
    "challenge": "the person takes the seat, or declines",
    "name_substitute": "the person accepts, or declines",
    "offer_office": "the person accepts, or declines",
    "offer_offices": "the person accepts, or declines",
    # It forbids the person nothing, and the person may end it.
    "name_tournament_officer": "the person accepts, or declines; an officer may resign",
    "invite_entrant": "the person accepts, or declines",
    "recall_event_offer": "a question ends",
    "propose": "all players agree, and an officer may resign",
    # It ends something.
    "end_substitution": "an offer or a substitution ends",
    "remove_officer": "a role ends",
    "remove_substitute": "an offer or a substitution ends",
    "remove_tournament_officer": "a role ends",
    "withdraw_office": "an offer ends",
    # It is about what the author sees and does.
    "block": "the author is left alone",
    "declare_relations": "the author decides less; the draw parts those who have both declared it",
    "unblock": "the author is left alone no more",
    # Moderators do it, or answer it.
    "forget": "a name and texts against the rules are erased",
    "report": "a moderator decides",
}
"""Operation that names another person -> reason why nobody is bound by it without a word."""


def list_members(doc: Doc, schema: Doc) -> set[str]:
    """All names of members of a body, at any depth."""
    if "$ref" in schema:
        return list_members(doc, doc["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    found = set(schema.get("properties", {}))
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    parts += [schema["items"]] if "items" in schema else []
    return found.union(*(list_members(doc, part) for part in parts))


def test_no_act_binds_a_person_who_has_not_agreed(site: Site) -> None:
    """A new act that names somebody else is looked at here."""
    doc = site.get("/openapi.json").json
    naming = set()
    for path, item in doc["paths"].items():
        for method in {"post", "put", "delete"} & item.keys():
            operation = item[method]
            bodies = operation.get("requestBody", {}).get("content", {}).values()
            members = set().union(*(list_members(doc, body["schema"]) for body in bodies))
            if members & {"player", "players"} or "{player}" in path:
                naming.add(operation["operationId"])
    assert naming == HARMLESS.keys()
