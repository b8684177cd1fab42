"""What the officers of an event say to its entrants: who reads it, and where."""

from __future__ import annotations

from tests.api.conftest import Doc, Site, refused
from tests.api.game_pages import Page, Person
from tests.api.members import promoted
from tests.api.test_event_desk import opened, press
from tests.api.test_tournament_pages import person
from tests.api.test_tournaments import done

WORDS = "Round 2 begins at 14:00."


def playing(site: Site) -> tuple[Person, list[Person], str, list[Doc]]:
    """An event with the two tables of its first round in play."""
    host, people, path = opened(site, 6)
    press(host, path, "checking")
    for number in range(6):
        press(host, path, "check_in_other", ("entrant", str(number)))
    for name in ("drawing", "draw", "tables"):
        press(host, path, name)
    return host, people, path, done(site.get(f"{path}/stages/1/rounds/1"))["pods"]


def said(who: Person, path: str, game: str = "") -> list[str]:
    return [each["text"] for each in done(who.api.get(f"{path}/announcements?game={game}"))["items"]]


def test_all_read_announcement_and_one_table_what_is_said_to_it(site: Site) -> None:
    host, people, path, pods = playing(site)
    form = Page(host.read(path).text).act("announce")
    assert host.send(form, ("text", WORDS)).status_code == 303
    game, other = pods[0]["game"], pods[1]["game"]
    form = Page(host.read(path).text).act("announce")
    assert host.send(form, ("text", "Hurry, please."), ("game", game)).status_code == 303
    here, there = people[pods[0]["entrants"][0]], people[pods[1]["entrants"][0]]
    assert said(here, path, game) == said(host, path, game) == ["Hurry, please.", WORDS]
    news = site.services.notifications.outbox.personal_news.list_waiting()
    told = [{each.player for each in news if each.data["game"] == at} for at in (None, game)]
    assert (len(told[0]), told[1]) == (len(people), {people[each].api.doc["player"] for each in pods[0]["entrants"]})
    assert said(there, path, game) == said(there, path, other) == said(here, path) == [WORDS]
    assert WORDS in there.read(path).text
    assert WORDS in there.read(f"/games/{other}").text
    assert "Hurry, please." in here.read(f"/games/{game}").text
    for reader in (there, person(site, "Zoe")):
        assert "Hurry, please." not in reader.read(f"/games/{game}").text
        assert "Hurry, please." not in reader.read(path).text


def test_an_announcement_is_taken_back_and_goes_with_its_author(site: Site) -> None:
    host, people, path = opened(site, 3)
    made = done(host.api.post(f"{path}/announcements", {"text": WORDS}, Idempotency_Key="say-it-once-1"))
    again = done(host.api.post(f"{path}/announcements", {"text": WORDS}, Idempotency_Key="say-it-once-1"))
    assert (made, said(people[0], path)) == (again, [WORDS])
    taken = Page(host.read(path).text).act("remove_announcement")
    assert host.send(taken).status_code == 303
    assert said(people[0], path) == []
    done(host.api.post(f"{path}/announcements", {"text": WORDS}))
    assert host.api.delete("/me").status_code == 204
    assert said(people[0], path) == []


def test_officers_alone_announce_and_to_a_table_of_theirs(site: Site) -> None:
    host, people, path = opened(site, 3)
    refused(people[0].api.post(f"{path}/announcements", {"text": WORDS}), 403, "directors_only")
    game = site.table("orders@1", 3).game
    refused(host.api.post(f"{path}/announcements", {"text": WORDS, "game": game}), 404, "unknown_game")
    refused(host.api.post(f"{path}/announcements", {"text": ""}), 422, "invalid_body")
    refused(host.api.delete(f"{path}/announcements/{'0' * 24}"), 404, "not_found")


def test_silenced_officer_announces_nothing(site: Site) -> None:
    host, people, path = opened(site, 3)
    judge = promoted(site, "Judge", "moderator")
    assert judge.put(f"/accounts/{host.api.id}/silence", {"hours": 1, "reason": "Threats."}).status_code == 204
    refused(host.api.post(f"{path}/announcements", {"text": WORDS}), 409, "silenced")
    assert said(people[0], path) == []
