"""Lists that are read page by page while their tables change."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.conftest import Site
from tests.api.members import Member, register

TABLE = {"ruleset": "orders@1", "seats": 3}
LISTS = ("/me/games", "/games", "/players/{player}/games", "/me/watching")


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site)


def opened(site: Site, anne: Member, count: int) -> list[str]:
    games = [anne.post("/games", TABLE).json["game"] for _ in range(count)]
    for game in games:
        assert anne.post(f"/games/{game}/seats", {"seat": 0}).status_code == 201
        assert anne.put(f"/me/watching/{game}").status_code == 204
    return games


def pages(anne: Member, path: str, limit: int) -> Iterator[list[str]]:
    address: str | None = f"{path}?limit={limit}"
    while address:
        page = anne.get(address.removeprefix("/v1")).json
        yield [doc["game"] for doc in page["items"]]
        address = page["next"]


@pytest.mark.parametrize("path", LISTS)
def test_table_that_changes_between_two_pages_is_on_one_of_them(site: Site, anne: Member, path: str) -> None:
    games = opened(site, anne, 12)
    seen: list[str] = []
    for number, page in enumerate(pages(anne, path.format(player=anne.doc["player"]), 5)):
        seen += page
        if number < 3:  # the oldest, on the last page: something happens there
            assert site.post(f"/games/{games[number]}/seats", {"name": "Bea"}).status_code == 201
    assert set(seen) == set(games)


@pytest.mark.parametrize("path", LISTS)
def test_without_changes_each_table_comes_once(site: Site, anne: Member, path: str) -> None:
    games = opened(site, anne, 7)
    for limit in (1, 3, 7, 50):
        found = [game for page in pages(anne, path.format(player=anne.doc["player"]), limit) for game in page]
        assert found == games[::-1]
