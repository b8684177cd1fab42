"""Series that people follow, over HTTP and by forms."""

from __future__ import annotations

import pytest

from domain.notifications import followed_series
from domain.notifications.followed_series import FollowedSeries
from domain.tournament_series import open_next
from tests.api.conftest import Site, refused
from tests.api.game_pages import Page
from tests.api.members import register
from tests.api.test_series import WEEKLY
from tests.api.test_tournament_pages import act, person
from tests.api.test_tournaments import BODY, done, opened


def go_on(site: Site, path: str) -> str:
    """The next event of the series, as if the time of this one had come."""
    handler, tournament = site.services.tournaments, path.rpartition("/")[2]
    clock, at = handler._clock, done(site.get(path))["schedule"]["at"]
    handler._clock = lambda: at
    following = open_next(handler, site.services.seat_tokens, tournament, lambda _: True)
    handler._clock = clock
    site.ring()
    assert following
    return f"/tournaments/{following}"


def test_a_series_is_followed_by_its_newest_event(site: Site) -> None:
    host, anne = register(site, "Organiser"), register(site)
    path = opened(site, host)
    mine = f"{path}/followers/me"
    refused(anne.put(mine), 409, "not_scheduled")
    refused(site.put(mine), 401, "unauthenticated")
    assert site.put(f"{path[:-4]}0000/followers/me", {}, anne.token).status_code == 404
    done(host.put(f"{path}/schedule", WEEKLY))
    assert [anne.put(mine).status_code for _ in range(2)] == [204, 204]
    (item,) = anne.get("/me/series").json["items"]
    assert item == {"tournament": path.rpartition("/")[2], "title": BODY["title"]}
    assert anne.get("/me/data").json["series"] == [item["tournament"]]
    assert host.get("/me/series").json["items"] == []
    following = go_on(site, path)
    bob = register(site, "Bob")
    assert bob.put(mine).status_code == 204
    for who in (anne, bob):
        assert [each["tournament"] for each in who.get("/me/series").json["items"]] == [following.rpartition("/")[2]]
        assert [who.delete(mine).status_code for _ in range(2)] == [204, 204]
        assert who.get("/me/series").json["items"] == []


def test_there_is_end_of_series_and_with_account_of_following(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    host, anne = register(site, "Organiser"), register(site)
    path = opened(site, host)
    done(host.put(f"{path}/schedule", WEEKLY))
    monkeypatch.setattr(followed_series, "MOST", 1)
    assert [anne.put(f"{path}/followers/me").status_code for _ in range(2)] == [204, 204]
    other = f"/tournaments/{host.post('/tournaments', BODY).json['tournament']}"
    done(host.put(f"{other}/schedule", WEEKLY))
    refused(anne.put(f"{other}/followers/me"), 409, "too_many")
    assert anne.delete("/me").status_code == 204
    assert site.services.ledger.execute("SELECT * FROM followed_series") == []


def test_a_series_is_followed_by_a_form(site: Site) -> None:
    host, anne = person(site, "Organiser"), person(site, "Anne")
    path = f"/tournaments/{host.api.post('/tournaments', BODY).json['tournament']}"

    def acts() -> set[str]:
        return {dict(form.fields).get("act", "") for form in Page(anne.read(path).text).forms} & {"follow", "unfollow"}

    assert acts() == set()
    done(host.api.put(f"{path}/schedule", WEEKLY))
    assert acts() == {"follow"}
    page = act(anne, path, "follow")
    assert "You follow this series. If you get mail or a digest, it tells you of the next event." in page.texts
    assert acts() == {"unfollow"}
    act(anne, path, "unfollow")
    assert acts() == {"follow"}
    assert "Follow this series" not in site.client.get(path).text
    act(anne, path, "follow")
    path = go_on(site, path)
    assert acts() == {"unfollow"}


def test_a_page_says_on_which_date_an_event_begins(site: Site) -> None:
    host = person(site, "Organiser")
    path = f"/tournaments/{host.api.post('/tournaments', BODY).json['tournament']}"
    done(host.api.put(f"{path}/schedule", WEEKLY))
    for lang, words in {"en": "It begins on", "fr": "Il commence le"}.items():
        assert words in Page(host.read(path, Accept_Language=lang).text).texts


def test_end_of_event_and_that_of_game_agree_with_their_nouns(site: Site) -> None:
    french = site.client.get("/tournaments", headers={"Accept-Language": "fr", "Accept": "text/html"}).text
    assert ("terminé" in Page(french).texts, "terminée" in Page(french).texts) == (True, False)


def test_a_series_without_another_event_is_not_followed(site: Site) -> None:
    host, anne = person(site, "Organiser"), person(site, "Anne")
    for ends in ("cancelled", "last"):
        path = f"/tournaments/{host.api.post('/tournaments', BODY).json['tournament']}"
        done(host.api.put(f"{path}/schedule", {**WEEKLY, "rule": "FREQ=WEEKLY;COUNT=1"} if ends == "last" else WEEKLY))
        if ends == "cancelled":
            assert anne.api.put(f"{path}/followers/me").status_code == 204
            done(host.api.post(f"{path}/close", {}))
            page = Page(anne.read(path).text)
            assert not [line for line in page.texts if line.startswith("You follow this series.")]
            act(anne, path, "unfollow")
        refused(anne.api.put(f"{path}/followers/me"), 409, "not_scheduled")
        assert "Follow this series" not in anne.read(path).text


@pytest.mark.parametrize("name", ["follow", "unfollow"])
def test_the_next_event_comes_while_somebody_follows_or_ends_it(
    site: Site, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    host, anne = register(site, "Organiser"), register(site)
    path = opened(site, host)
    mine, newest = f"{path}/followers/me", list[str]()
    done(host.put(f"{path}/schedule", WEEKLY))
    if name == "unfollow":
        assert anne.put(mine).status_code == 204
    act_late = getattr(FollowedSeries, name)

    def wait(self: FollowedSeries, account: str, tournament: str) -> None:
        if not newest:
            newest.append(go_on(site, f"/tournaments/{tournament}"))
        act_late(self, account, tournament)

    monkeypatch.setattr(FollowedSeries, name, wait)
    assert (anne.put if name == "follow" else anne.delete)(mine).status_code == 204
    items = [f"/tournaments/{each['tournament']}" for each in anne.get("/me/series").json["items"]]
    assert items == (newest if name == "follow" else [])
