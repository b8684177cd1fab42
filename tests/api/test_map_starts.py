"""Moves begun on the map: what begins at an own piece, where it leads, and the next piece of a sheet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from domain.ruleset_registry import load_shipped
from tests.api.conftest import make_site
from tests.api.game_pages import Page, PageForm, Person, has_moved, move_bots
from tests.api.members import register
from tests.api.oauth.browser import Browser

OFFERED = re.compile(r'<a href="#[^"]*" data-key="place-(\w+)"')
CHOSEN = re.compile(r'class="place [^"]*selected" data-region="(\w+)"')


@pytest.fixture(scope="module")
def anne(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    with closing(make_site(tmp_path_factory.mktemp("starts"), load_shipped())) as site:
        member, browser = register(site, "Anne"), Browser(site)
        assert browser.log_in("Anne").status_code == 303
        yield Person(site, browser, member)


@pytest.fixture(scope="module")
def sheet(anne: Person) -> str:
    """The path of a game of sealed orders in its first turn of orders."""
    path = anne.play_now("egc@1")
    form = Page(anne.read(path).text).question()
    assert form is not None
    preset = next(value for name, value, _ in form.buttons if name == "preset")
    anne.send(form, *[("amount", each) for each in re.findall(r"\d+", preset)])
    move_bots(anne.site, path.rpartition("/")[2])
    return path


def question(text: str) -> PageForm:
    found = Page(text).question()
    assert found is not None
    return found


def begin(anne: Person, path: str, region: str) -> Any:
    """The page after a tap on a region."""
    return anne.follow(anne.send(question(anne.read(path).text), ("start", region)))


def own(anne: Person, path: str) -> Any:
    return anne.api.get(f"/games/{path.rpartition('/')[2]}/board", Annals_Role="0").json["own"]


def order_all(anne: Person, path: str) -> None:
    """Take all orders back."""
    while orders := own(anne, path)["sheet"]["orders"]:
        form = next(each for each in Page(anne.read(path).text).forms if ("act", "cancel") in each.fields)
        anne.send(form)
        assert len(own(anne, path)["sheet"]["orders"]) < len(orders)


def test_tap_on_army_offers_targets_and_tap_on_one_marches(anne: Person, sheet: str) -> None:
    army, at = next((name, each["territory"]) for name, each in own(anne, sheet)["armies"].items())
    begun = begin(anne, sheet, at).text
    assert CHOSEN.findall(begun) == [at]
    targets = set(OFFERED.findall(begun))
    assert "germany" in targets
    assert at not in targets
    answer = anne.send(question(begun), ("start", "germany"))
    assert has_moved(answer), "the only answer to both is given at once, with the usual round"
    (order,) = own(anne, sheet)["sheet"]["orders"]
    assert (order["army"], order["order"], order["path"]) == (army, "move", [at, "germany"])
    order_all(anne, sheet)


def test_second_tap_on_region_leads_back_with_end_in_reach(anne: Person, sheet: str) -> None:
    at = next(each["territory"] for each in own(anne, sheet)["armies"].values())
    begun = begin(anne, sheet, at).text
    assert '"submit_orders"' in str(question(begun).buttons)
    assert not CHOSEN.findall(anne.follow(anne.send(question(begun), ("start", at))).text)


def test_nothing_begins_in_foreign_region_and_the_page_says_so(anne: Person, sheet: str) -> None:
    told = begin(anne, sheet, "nowhere").text
    assert "None of your answers begins there." in told
    assert "What do you do?" in Page(told).texts


def test_troops_and_research_are_one_form_beside_the_question(anne: Person, sheet: str) -> None:
    text = anne.read(sheet).text
    assert "Troops and research" in text
    form = next(each for each in Page(text).forms if any(name == "amount" for name, *_ in each.numbers))
    rows = len(form.numbers)
    amounts = ["2", *["0"] * (rows - 2), "3"]
    pressed = [anne.send(form, *[("amount", each) for each in amounts]) for _ in range(2)]
    assert [has_moved(each) for each in pressed] == [True, True], "a second press makes nothing more"
    made = [(each["type"], each.get("divisions", each.get("amount"))) for each in own(anne, sheet)["sheet"]["orders"]]
    assert sorted(made) == [("recruit", 2), ("set_research", 3)]
    anne.send(question(anne.read(sheet).text), ("path", '[["type","submit_orders",false]]'))
    move_bots(anne.site, sheet.rpartition("/")[2])
    late = anne.send(form, *[("amount", each) for each in amounts])
    assert has_moved(late), "also after the turn: it was made"
    orders = own(anne, sheet)["sheet"]["orders"]
    assert orders == []


def test_card_of_region_tells_figures_neighbours_and_keeps_note(anne: Person, sheet: str) -> None:
    at = next(each["territory"] for each in own(anne, sheet)["armies"].values())
    address = f"{sheet}/regions/{at}"
    page = Page(anne.read(address).text)
    assert {"Value in Brz", "Supply"} <= set(page.texts)
    assert anne.read(address).text.count("data-card=") > 2
    kept = anne.send(page.act("note"), ("text", "Mind the gap."))
    assert "Mind the gap." in anne.follow(kept).text
    assert anne.browser.get(f"{sheet}/regions/nowhere").status_code == 404


def test_a_question_that_names_its_army_is_no_longer_said(anne: Person, sheet: str) -> None:
    """Its targets stand below the question itself, without the kind of the order before it."""
    begun = begin(anne, sheet, next(each["territory"] for each in own(anne, sheet)["armies"].values())).text
    assert "Where does" in begun
    assert "\N{MIDDLE DOT} Where does" not in begun


def test_the_first_page_names_the_own_power_and_the_presets(anne: Person) -> None:
    text = anne.read(anne.play_now("egc@1")).text
    assert "You are " in text
    assert "armies and sieges, few ships" in text


def test_a_tapped_army_is_asked_about(anne: Person, sheet: str) -> None:
    anne.send(question(anne.read(sheet).text), ("again", "1"))
    assert "What does " in begin(anne, sheet, next(iter(own(anne, sheet)["armies"]))).text


def test_an_empty_sheet_is_sent_only_after_a_warning(anne: Person, sheet: str) -> None:
    anne.send(question(anne.read(sheet).text), ("again", "1"))
    order_all(anne, sheet)
    answer = anne.send(question(anne.read(sheet).text), ("path", '[["type","submit_orders",false]]'))
    assert not has_moved(answer)
    assert "There is no order on your sheet" in anne.follow(answer).text
