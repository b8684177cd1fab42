"""The figures of data.json: complete, consistent, and those that the rulebook prints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

from domain.games.age_of_reason.data import DOC as D

K: dict[str, Any] = D["constants"]
F: dict[str, Any] = D["cards"]["cost_formula"]
markers: list[dict[str, Any]] = D["region_markers"]["items"]
cards: list[dict[str, Any]] = D["cards"]["items"]
by = {c["id"]: c for c in cards}
spaces = {s["id"]: s for s in D["action_spaces"]["items"]}
regions = {r["id"]: r for r in D["map"]["regions"]}
powers = {p["id"]: p for p in D["powers"]["items"]}
kinds = {kind: [r["id"] for r in regions.values() if r["kind"] == kind] for kind in ("europe", "colony", "home")}
sea = {r["id"] for r in regions.values() if r["naval"]}
PAGE = (Path(__file__).parents[3] / "docs/rules/age_of_reason.md").read_text(encoding="utf-8")


def connected(nodes: Collection[str], edges: Callable[[str], Iterable[str]]) -> bool:
    """Whether all nodes can be reached from one of them."""
    todo, seen = [next(iter(nodes))], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [m for m in edges(node) if m in nodes]
    return seen == set(nodes)


def test_every_section_says_where_its_figures_come_from() -> None:
    """Provenance and a note, without addresses."""
    for name, section in D.items():
        assert isinstance(section, dict), name
        assert section["provenance"] in ("rulebook", "public", "general_knowledge", "designed"), name
        assert section["note"], name
    assert not any(part in str(section) for section in D.values() for part in ("http", ".com", ".org", ".net"))


def test_the_powers() -> None:
    """AOR-2.1: seven, with the colours of the rulebook."""
    assert {p: powers[p]["colour"] for p in powers} == {
        "britain": "red",
        "united_provinces": "orange",
        "france": "blue",
        "spain": "yellow",
        "prussia": "black",
        "austria": "white",
        "russia": "green",
    }


def test_the_map() -> None:
    """AOR-1.1, AOR-1.2: 18 regions, symmetric borders, values, naval regions."""
    assert len(regions) == len(D["map"]["regions"])
    assert {kind: len(found) for kind, found in kinds.items()} == {"europe": 5, "colony": 6, "home": 7}
    assert len({(r["x"], r["y"]) for r in regions.values()}) == len(regions)
    assert regions["german_states"]["vp"] == [8, 5, 3]


@pytest.mark.parametrize("name", regions)
def test_a_region(name: str) -> None:
    """AOR-1.1, AOR-1.2: neighbours, place on the map, values."""
    r = regions[name]
    for other in r["adjacent"]:
        assert other != name
        assert name in regions[other]["adjacent"]
    assert 0 <= r["x"] <= 1000
    assert 0 <= r["y"] <= 700
    assert len(r["vp"]) == {"europe": 3, "colony": 2, "home": 0}[r["kind"]]
    assert r["vp"] == sorted(set(r["vp"]), reverse=True)
    assert r["naval"] == (r["kind"] == "colony" or name in ("baltic", "mediterranean"))
    if r["kind"] == "colony":
        assert r["adjacent"] == []
    if r["kind"] == "home":
        assert powers[r["power"]]["home"] == name
        assert r["adjacent"]
        assert all(regions[other]["kind"] == "europe" for other in r["adjacent"])


def test_the_map_is_connected() -> None:
    """AOR-1.1: by land, and as a whole by land and sea."""
    assert connected({*kinds["europe"], *kinds["home"]}, lambda n: regions[n]["adjacent"])
    assert connected(set(regions), lambda n: regions[n]["adjacent"] + (list(sea) if n in sea else []))


def test_the_markers() -> None:
    """AOR-1.9: 65, by region; Aktion in colonies alone, where there are some everywhere."""
    assert 65 == len(markers) == len({m["id"] for m in markers}) == D["shared_components"]["region_markers"]
    counts = {
        "german_states": 9,
        "baltic": 5,
        "central_europe": 6,
        "mediterranean": 6,
        "ottoman_empire": 4,
        "africa": 3,
        "india": 7,
        "east_indies": 6,
        "north_america": 6,
        "caribbean": 7,
        "south_america": 6,
    }
    assert Counter(m["region"] for m in markers) == counts == D["region_markers"]["counts_by_region"]
    assert [m["region"] for m in markers if m["vp"]] == ["ottoman_empire"] * 2
    assert all(m["vp"] in (0, 1) for m in markers)
    assert [m["region"] for m in markers if m["gold"]] == ["india"] * 2
    aktion = Counter(m["region"] for m in markers if m["kind"] == "aktion")
    assert set(aktion) == set(kinds["colony"])
    assert min(aktion.values()) >= 2


@pytest.mark.parametrize("m", markers, ids=lambda m: str(m["id"]))
def test_a_marker(m: dict[str, Any]) -> None:
    """AOR-1.9: a number, or nothing but Aktion."""
    assert m["kind"] in ("number", "aktion")
    if m["kind"] == "aktion":
        assert (m["defence"], m["gold"], m["vp"]) == (None, 0, 0)
    else:
        assert 1 <= m["defence"] <= 6


def test_the_cards() -> None:
    """AOR-1.5: 77; decks differ; the four costs of the examples."""
    assert 77 == len(cards) == len(by)
    for card, figures in {
        "prussia_4s0n": (4, 0, 5),
        "austria_4s0n": (4, 0, 7),
        "russia_2s2n": (2, 2, 5),
        "prussia_3s0n": (3, 0, 2),
    }.items():
        assert (by[card]["soldiers"], by[card]["ships"], by[card]["cost"]) == figures
    ships = Counter(c["power"] for c in cards if c["ships"])
    assert ships["britain"] > ships["prussia"]
    decks = {p: sorted((c["soldiers"], c["ships"]) for c in cards if c["power"] == p) for p in powers}
    assert len({tuple(deck) for deck in decks.values()}) == 7
    assert all(any(soldiers and not n for soldiers, n in deck) for deck in decks.values())


@pytest.mark.parametrize("power", powers)
def test_a_deck(power: str) -> None:
    """AOR-1.5: nine force cards, a Bluff, an Alliance, at the price of the formula."""
    own = [c for c in cards if c["power"] == power]
    assert Counter(c["kind"] for c in own) == {"force": 9, "bluff": 1, "alliance": 1}
    for c in own:
        if c["kind"] == "force":
            assert c["cost"] == price(power, c) >= 0
            assert c["soldiers"] + c["ships"] >= 1
        else:
            assert (c["soldiers"], c["ships"], c["cost"]) == (0, 0, int(c["kind"] == "alliance"))


def price(power: str, card: dict[str, Any]) -> int:
    """What the formula asks for soldiers and ships of a power."""
    cost: int = F["soldiers"][card["soldiers"]] + F["ships"][card["ships"]]
    cheap = F["discounts"].get(power)
    return cost - cheap["minus"] if cheap and card[cheap["counts"]] >= cheap["from"] else cost


def test_the_spaces() -> None:
    """AOR-11: kinds, places, costs, regions."""
    assert len(spaces) == len(D["action_spaces"]["items"])
    assert Counter(s["class"] for s in spaces.values()) == {"progress": 8, "support": 11, "trade": 7}
    second = {i for i, s in spaces.items() if s["copies_min_players"] == [2, 5]}
    assert second == {s["id"] for s in spaces.values() if s["class"] == "progress"} - {"reserves"}
    assert {i for i, s in spaces.items() if s["copies_min_players"] == [2, 2]} == {"reserves"}
    others = [s["copies_min_players"] for s in spaces.values() if s["class"] != "progress"]
    assert others == [[2]] * 18
    paid = {i: s["bonus"] for i, s in spaces.items() if s["cost_gold"]}
    assert paid == {"denmark": 2, "ottomans": 2, "portugal": 2, "sweden": 2}
    assert set(spaces["naval_training"]["regions"]) == sea
    assert set(spaces["military_training"]["regions"]) == {*kinds["europe"], *kinds["colony"]}
    assert (spaces["finance"]["gold_gain"], spaces["government_reform"]["unrest_removed"]) == (5, 2)
    assert {i for i, s in spaces.items() if "regions_examples_scope" in s} == {"bavaria", "saxony"}
    named = {r for s in spaces.values() for r in [*s["regions"], *s.get("regions_examples_scope", [])]}
    assert named <= {*kinds["europe"], *kinds["colony"]}


def test_trade_regions() -> None:
    """AOR-11.5."""
    assert {i: s["regions"] for i, s in spaces.items() if s["class"] == "trade"} == {
        "baltic_company": ["baltic"],
        "east_indies_company": ["india", "east_indies"],
        "levant_company": ["ottoman_empire", "mediterranean"],
        "slave_trade": ["africa"],
        "gold_mines": ["south_america"],
        "sugar_plantations": ["caribbean"],
        "tobacco": ["north_america"],
    }


def test_options_and_constants() -> None:
    """AOR-2.3, AOR-6.1: defaults are values; slots; the figures of the rulebook."""
    options = {o["id"]: o for o in D["options"]["items"]}
    assert all(o["default"] in o["values"] for o in options.values() if o["id"] != "powers")
    assert {s["enabled_by_option"] for s in spaces.values() if "enabled_by_option" in s} == {"cossacks_space"}
    assert K["alliance_slots"] == {"upper": [1, 3, 5, 7], "lower": [2, 4, 6, 8]}
    names = ["start_gold", "start_unrest", "unrest_max", "turns", "nonplayer_token_defence", "convert_cost_gold"]
    assert [K[name] for name in names] == [14, 4, 22, 3, 4, 2]
    assert (K["decisive_margin"], 35 + 3 * K["markers_drawn_per_turn"]) == (3, 65)
    pieces = D["pieces_per_player"]
    assert pieces["tokens_total"] - pieces["tokens_on_displays"] == pieces["tokens_available"] == 22


@pytest.mark.parametrize("seats", range(2, 8))
def test_the_set_up(seats: int) -> None:
    """AOR-3.5, AOR-2.2: markers and rounds by the number of seats."""
    s = D["setup"]["by_players"][str(seats)]
    assert s["nonplayer_powers"] == 7 - seats
    assert (s["markers_drawn_for_powers"], s["markers_left_in_bag_after_setup"]) == (35, 30)
    assert s["phases_per_turn"] == K["phases_by_players"][str(seats)] == (6 if seats <= 4 else 5)


def test_an_id_names_one_thing() -> None:
    """Regions, markers and cards."""
    ids = [*regions, *(m["id"] for m in markers), *by]
    assert len(set(ids)) == len(ids)


def test_the_page_names_what_the_data_have() -> None:
    """Spaces, powers, options, regions; cards and markers that it names exist; no rule has two texts or none."""
    words = set(re.findall(r"[a-z][a-z0-9_]*", PAGE))
    options = [o["id"] for o in D["options"]["items"]]
    assert {*spaces, *powers, *options, *kinds["europe"], *kinds["colony"]} <= words
    assert {c for p in powers for c in words if re.fullmatch(rf"{p}_\ds\dn(_[ab])?|{p}_(bluff|alliance)", c)} <= set(by)
    found = set(re.findall(r"\b(?:gs|ce|ba|me|ot|na|ca|sa|af|in|ei)_[a-z_]+\b", PAGE))
    assert found <= {m["id"] for m in markers}
    rules = re.findall(r"^(?:- \*\*|#+ )AOR-([0-9.]*[0-9])", PAGE, re.MULTILINE)
    assert len(rules) == len(set(rules))
    assert set(re.findall(r"AOR-([0-9]+(?:\.[0-9]+)*)", PAGE)) <= set(rules)
