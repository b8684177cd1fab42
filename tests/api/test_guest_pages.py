"""A visitor plays at once, without an account, and keeps the game by opening one."""

from __future__ import annotations

from tests.api.conftest import Site
from tests.api.game_pages import Page, Person, move_bots
from tests.api.members import PASSWORD, register
from tests.api.oauth.browser import Browser, forms

GAME = "struggle_of_empires@1"


def guest(site: Site) -> Person:
    return Person(site, Browser(site))


def test_one_gesture_leads_from_address_to_the_first_decision(site: Site) -> None:
    visitor = guest(site)
    form = Page(visitor.read("/", Accept="text/html").text).form("/play", "ruleset")
    answer = visitor.send(form, ("ruleset", GAME))
    assert answer.status_code == 303, answer.text
    path = str(answer.headers["Location"]).partition("?")[0]
    move_bots(site, path.rpartition("/")[2])
    assert Page(visitor.read(path).text).question() is not None


def test_a_guest_decides_and_takes_back(site: Site) -> None:
    visitor = guest(site)
    path = visitor.play_now(GAME)
    assert visitor.decide(path).status_code == 200
    undone = visitor.send(Page(visitor.read(path).text).act("undo"))
    assert undone.status_code == 303, undone.text


def test_nobody_else_sees_or_plays_the_seat_of_a_guest(site: Site) -> None:
    path = guest(site).play_now(GAME)
    stranger = guest(site)
    page = Page(stranger.read(path).text)
    assert page.question() is None
    forged = stranger.browser.client
    forged.set_cookie("annals_guest", f"{path.rpartition('/')[2]}~0~anl_{'x' * 22}_{'y' * 40}")
    assert Page(stranger.read(path).text).question() is None


def test_running_game_of_guest_is_first_where_games_are_listed(site: Site) -> None:
    visitor, stranger = guest(site), guest(site)
    path = visitor.play_now(GAME)
    other = visitor.play_now(GAME)
    for page in ("/", "/games", "/play"):
        text = visitor.read(page, Accept="text/html").text
        assert all(f'href="{each}' in text for each in (path, other)), page
        assert path not in stranger.read(page, Accept="text/html").text, page
    first = visitor.read("/", Accept="text/html").text
    assert first.index(f'href="{path}') < first.index('value="struggle_of_empires@1"')


def test_a_guest_has_a_mark_in_lists_and_documents(site: Site) -> None:
    made = site.post("/games", {"ruleset": "struggle_of_empires@1", "seats": 2}).json
    taken = site.post(f"/games/{made['game']}/seats", {"name": "Bea"}).json
    anne = register(site, "Anne")
    anne.post(f"/games/{made['game']}/seats", {})
    for path in ("/games", f"/games/{made['game']}"):
        doc = site.get(path).json
        assert (doc["items"][0] if "items" in doc else doc)["guests"] == [taken["player"]], path
    assert site.get(f"/players/{taken['player']}/results").json["guest"] is True
    assert site.get(f"/players/{anne.get('/me').json['player']}/results").json["guest"] is False
    visitor = Person(site, Browser(site))
    for page in ("/games", f"/games/{made['game']}", f"/players/{taken['player']}"):
        text = visitor.read(page, Accept="text/html").text
        assert "Bea (guest)" in text, page
        assert "Anne (guest)" not in text, page
    assert "Bea (invit" in visitor.read("/games", Accept_Language="fr").text
    chronicle = visitor.read(f"/games/{made['game']}/chronicle", Accept="text/html").text
    assert "Bea (guest) joins the game." in chronicle
    assert "Anne joins the game." in chronicle


def test_a_second_game_is_the_same_guest_s(site: Site) -> None:
    visitor = guest(site)
    games = [visitor.play_now(GAME).rpartition("/")[2] for _ in range(2)]
    first, second = (site.get(f"/games/{game}").json["seats"][0]["player"] for game in games)
    assert first == second


def test_the_games_of_a_guest_go_over_to_the_account(site: Site) -> None:
    visitor = guest(site)
    paths = [visitor.play_now(GAME) for _ in range(2)]
    form = forms(visitor.read(paths[0]))["/register"]
    assert form.fields["next"] == paths[0]
    wrong = visitor.browser.send(form, name="Zoe", password="short")
    assert (wrong.status_code, 'id="fault-password"' in wrong.text) == (422, True)
    answer = visitor.browser.send(forms(wrong)["/register"], name="Zoe", password=PASSWORD)
    assert answer.headers["Location"] == paths[0]
    assert visitor.browser.cookie("annals_guest") == ""
    assert Page(visitor.read(paths[1]).text).question() is not None
    assert "Zoe" in visitor.read(paths[0]).text


def test_so_they_do_at_a_login(site: Site) -> None:
    register(site, "Anne")
    visitor = guest(site)
    path = visitor.play_now(GAME)
    assert visitor.browser.log_in("Anne", target=path).headers["Location"] == path
    assert Page(visitor.read(path).text).question() is not None


def test_the_name_of_a_guest_has_a_mark(site: Site) -> None:
    host = register(site, "Anne")
    game = host.post("/games", {"ruleset": GAME, "seats": 3}).json["game"]
    assert site.post(f"/games/{game}/seats", {"seat": 0, "name": "Bruno"}).status_code == 201
    assert host.post(f"/games/{game}/seats", {"seat": 1}).status_code == 201
    text = guest(site).read(f"/games/{game}").text
    assert "Bruno (guest)" in text
    assert "Anne (guest)" not in text
