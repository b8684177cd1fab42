"""The figures of data.json: complete, consistent, and those that the rulebook prints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from domain.games.struggle_of_empires.data import DOC as D

C: dict[str, Any] = D["constants"]
P: dict[str, Any] = D["pieces_per_player"]
S: dict[str, Any] = D["shared_components"]
markers: list[dict[str, Any]] = D["region_markers"]["items"]
tiles: list[dict[str, Any]] = D["tiles"]["items"]
by = {t["id"]: t for t in tiles}
regions = {r["id"]: r for r in D["map"]["regions"]}
powers = {p["id"]: p for p in D["powers"]["items"]}
kinds = {kind: [r["id"] for r in regions.values() if r["kind"] == kind] for kind in ("europe", "colony", "home")}


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
        assert isinstance(section, dict), f"{name}: not an object"
        assert section.get("provenance") in ("rulebook", "public", "general_knowledge", "designed"), (
            f"{name}: provenance"
        )
        assert bool(section.get("note")), f"{name}: note"
    assert not any(part in str(section) for section in D.values() for part in ("http", ".com", ".org", ".net"))


def test_the_map() -> None:
    """SOE-1.7, SOE-1.8: 18 regions, symmetric borders, values, zones."""
    assert len(regions) == len(D["map"]["regions"]), "duplicate region id"
    assert len(powers) == 7, "seven powers (rulebook)"
    assert sorted(p["colour"] for p in powers.values()) == sorted(
        ["red", "blue", "yellow", "green", "white", "black", "orange"]
    ), "colours (rulebook)"

    for r in regions.values():
        for a in r["adjacent"]:
            assert a in regions, f"{r['id']}: unknown neighbour {a}"
            assert a in regions, f"adjacency not symmetric {r['id']}-{a}"
            assert r["id"] in regions[a]["adjacent"], f"adjacency not symmetric {r['id']}-{a}"
            assert a != r["id"], f"{r['id']} adjacent to itself"
        assert 0 <= r["x"] <= 1000, f"{r['id']}: coordinates"
        assert 0 <= r["y"] <= 700, f"{r['id']}: coordinates"
        z = r["naval_combat_zone"]
        assert z is None or (z in regions and regions[z]["accepts_navies"]), f"{r['id']}: naval zone"
    assert len(kinds["europe"]) == 5, "5 European + 6 colonial + 7 home regions"
    assert len(kinds["colony"]) == 6, "5 European + 6 colonial + 7 home regions"
    assert len(kinds["home"]) == 7, "5 European + 6 colonial + 7 home regions"
    assert len({(r["x"], r["y"]) for r in regions.values()}) == len(regions), "two regions on the same spot"
    for r in regions.values():
        if r["kind"] == "home":
            assert r["power"] in powers, f"{r['id']}: power"
            assert powers[r["power"]]["home"] == r["id"], f"{r['id']}: power"
            assert r["vp"] == [], f"{r['id']}: home regions score nothing (rulebook)"
            assert all(regions[a]["kind"] == "europe" for a in r["adjacent"]), (
                f"{r['id']}: home adjacent to a non-European region"
            )
        else:
            assert len(r["vp"]) in (2, 3), f"{r['id']}: two or three values (rulebook)"
            assert r["vp"] == sorted(r["vp"], reverse=True), f"{r['id']}: values strictly falling"
            assert len(set(r["vp"])) == len(r["vp"]), f"{r['id']}: values strictly falling"
            assert len(r["vp"]) == (3 if r["kind"] == "europe" else 2), f"{r['id']}: Europe three, colonies two"
        if r["kind"] == "colony":
            assert r["adjacent"] == [], f"{r['id']}: colonies have no land neighbours"
            assert r["naval_combat_zone"] == r["id"], f"{r['id']}: fights in its own waters"
    assert regions["german_states"]["vp"] == [8, 5, 3], "German States 8/5/3 (rulebook)"
    assert regions["africa"]["vp"] == [3, 2], "Africa 3/2 (public)"
    assert regions["german_states"]["vp"][0] + regions["india"]["vp"][0] == 13, (
        "German States + India first = 13 (public)"
    )
    assert max(r["vp"][0] for r in regions.values() if r["vp"]) == 8, "German States is the richest"
    assert min(r["vp"][0] for r in regions.values() if r["vp"]) == 3, "Africa is the poorest"
    assert "home_britain" in regions["german_states"]["adjacent"], "Britain-German States (rulebook)"
    assert {r["id"] for r in regions.values() if r["accepts_navies"] and r["kind"] != "home"} == set(
        kinds["colony"]
    ) | {"baltic", "mediterranean"}, "navies only in the colonies, Baltic, Mediterranean (rulebook)"
    assert regions["ottoman_empire"]["naval_combat_zone"] == "mediterranean", (
        "Ottoman naval combat in the Mediterranean (rulebook)"
    )
    assert regions["german_states"]["naval_combat_zone"] is None, "no naval support inland (rulebook)"
    assert regions["central_europe"]["naval_combat_zone"] is None, "no naval support inland (rulebook)"
    assert (
        {r["id"] for r in regions.values() if r["american"]}
        == set(D["map"]["american_colonies"])
        == {"north_america", "caribbean", "south_america"}
    ), "American colonies (rulebook)"
    assert set(D["map"]["slave_revolt_regions"]) == {"north_america", "caribbean", "south_america"}, (
        "slave revolt regions (rulebook)"
    )


def test_the_map_is_connected() -> None:
    """SOE-1.7: by land, and as a whole by land and sea."""

    land = set(kinds["europe"]) | set(kinds["home"])
    assert connected(land, lambda n: regions[n]["adjacent"]), "European land graph connected"
    sea = {r["id"] for r in regions.values() if r["accepts_navies"]}
    assert connected(set(regions), lambda n: regions[n]["adjacent"] + (list(sea) if n in sea else [])), (
        "whole map connected by land and sea"
    )


def test_the_markers() -> None:
    """SOE-1.3: 65 markers, five kinds of face."""
    assert len(markers) == 65 == D["shared_components"]["region_markers"], "65 region markers (rulebook)"
    assert len({m["id"] for m in markers}) == 65, "marker ids unique"
    counts: dict[str, int] = {}
    for m in markers:
        assert m["region"] in regions, f"{m['id']}: region"
        assert regions[m["region"]]["kind"] != "home", f"{m['id']}: region"
        counts[m["region"]] = counts.get(m["region"], 0) + 1
        assert m["kind"] in ("state", "pop", "slaves"), f"{m['id']}: kind"
        if m["kind"] == "state":
            assert isinstance(m["defence"], int), f"{m['id']}: defence"
            assert 1 <= m["defence"] <= 6, f"{m['id']}: defence"
        else:
            assert m["defence"] is None, f"{m['id']}: pop/slaves carry nothing"
            assert m["gold"] == 0, f"{m['id']}: pop/slaves carry nothing"
            assert m["vp"] == 0, f"{m['id']}: pop/slaves carry nothing"
            assert regions[m["region"]]["kind"] == "colony", f"{m['id']}: pop/slaves only in colonies (public)"
        if m["kind"] == "slaves":
            assert regions[m["region"]]["american"], f"{m['id']}: slaves markers only in the Americas (designed)"
        if regions[m["region"]]["kind"] == "europe":
            assert m["defence"] in (3, 4, 5), f"{m['id']}: European numbers 3, 4, 5 (public)"
    assert counts == D["region_markers"]["counts_by_region"], "marker counts per region"
    assert counts == {
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
    }, "marker counts per region (sibling game)"
    assert sorted(m["region"] for m in markers if m["vp"]) == ["ottoman_empire"] * 2, "two Ottoman markers give 1 VP"
    assert all(m["vp"] in (0, 1) for m in markers), "two Ottoman markers give 1 VP"
    assert sorted(m["region"] for m in markers if m["gold"]) == ["india"] * 2, "two India markers give gold"
    assert any(m["kind"] == "pop" for m in markers), "pop and slaves exist"
    assert any(m["kind"] == "slaves" for m in markers), "pop and slaves exist"


def test_the_tiles() -> None:
    """SOE-1.5: ids, costs, counts, regions and units."""
    assert len({t["id"] for t in tiles}) == len(tiles), "tile ids unique"
    assert not {t["id"] for t in tiles} & set(regions), "tile id equals a region id"
    tot: dict[str, int] = {}
    for t in tiles:
        tot[t["class"]] = tot.get(t["class"], 0) + t["count"]
        assert set(t["cost"]) == {"gold", "population", "unrest"}, f"{t['id']}: cost"
        assert all(v >= 0 for v in t["cost"].values()), f"{t['id']}: cost"
        assert t["after_use"] in ("keep", "box", "stock", "stock_when_beaten", "stock_at_end_of_war"), (
            f"{t['id']}: after_use"
        )
        for r in t.get("regions", []):
            assert r in regions, f"{t['id']}: region {r}"
            assert regions[r]["kind"] != "home", f"{t['id']}: region {r}"
        for u in t.get("units", []):
            assert u in ("army", "navy"), f"{t['id']}: unit {u}"
    assert tot == {
        "development": S["tile_list_development_tiles"],
        "trade": S["tile_list_trade_tiles"],
        "alliance": S["tile_list_alliance_tiles"],
    }, "tile totals against the rulebook's list"
    assert tot["alliance"] == S["component_list_alliance_tiles"] == 11, "11 alliance tiles (rulebook, both lists)"
    assert len([t for t in tiles if t["class"] == "trade"]) == S["component_list_trade_tiles"] == 7, (
        "7 kinds of trade tile (rulebook)"
    )
    printed_counts = {
        "army_training": 6,
        "naval_training": 3,
        "reserve": 4,
        "war_office": 1,
        "mercenaries": 2,
        "pressgangs": 1,
        "trained_natives": 1,
        "militia": 4,
        "logistics": 4,
        "banking": 2,
        "navigation": 2,
        "diplomatic_service": 1,
        "improved_agriculture": 6,
        "government_reform": 10,
        "industry": 3,
        "pirates": 1,
        "slave_revolt": 1,
        "fighting_withdrawal": 1,
        "surprise_attack": 1,
        "blockade": 1,
        "gold_mines": 1,
        "slave_trade": 1,
        "tobacco": 1,
        "baltic_company": 1,
        "east_indies_company": 2,
        "levant_company": 2,
        "sugar_plantations": 1,
    }
    for k, v in printed_counts.items():
        assert k in by, f"{k}: count {v} (rulebook)"
        assert by[k]["count"] == v, f"{k}: count {v} (rulebook)"
    assert by["industry"]["cost"] == {"gold": 0, "population": 0, "unrest": 2}, "industry costs 2 unrest (rulebook)"
    assert [t["id"] for t in tiles if t["cost"]["unrest"]] == ["industry"], "only industry costs unrest"
    assert any(t["cost"]["population"] for t in tiles), "gold and population costs occur (rulebook legend)"
    assert any(t["cost"]["gold"] for t in tiles), "gold and population costs occur (rulebook legend)"
    for name in ("bavaria", "saxony"):
        assert sum(by[name]["cost"].values()) == 0, f"{name}: free (public)"
    printed_alliance = {
        "native_americans": ["north_america"],
        "indian_nawab": ["india"],
        "bavaria": ["german_states"],
        "saxony": ["german_states"],
        "naples": ["mediterranean"],
        "gauchos": ["south_america"],
        "cossacks": ["central_europe"],
        "portugal": ["east_indies", "india", "south_america"],
        "sweden": ["baltic"],
        "denmark": ["baltic"],
        "ottoman_alliance": ["mediterranean", "ottoman_empire"],
    }
    for name, shown in printed_alliance.items():
        assert sorted(by[name]["regions"]) == shown, f"{name}: regions (rulebook)"
        assert by[name]["units"] == (
            ["army", "navy"] if name in ("portugal", "sweden", "denmark", "ottoman_alliance") else ["army"]
        ), f"{name}: units (rulebook)"


def test_constants_pieces_and_setup() -> None:
    """SOE-1.1, SOE-1.2, SOE-2.2, SOE-3: what the rulebook prints."""
    assert (P["army"], P["navy"], P["fort"], P["control_tokens_total"]) == (14, 7, 2, 23), (
        "pieces per colour (rulebook)"
    )
    assert (
        P["control_tokens_on_map_max"] == P["control_tokens_total"] - P["control_tokens_reserved_for_tracks"] == 20
    ), "20 tokens on the map"
    assert C["rounds_by_players"] == {"2": 6, "3": 6, "4": 6, "5": 5, "6": 5, "7": 5}, "rounds (rulebook)"
    assert (C["start_population"], C["max_population"], C["population_growth_per_war"], C["start_gold"], C["wars"]) == (
        5,
        9,
        5,
        10,
        3,
    ), "constants (rulebook)"
    for n in range(2, 8):
        s = D["setup"]["by_players"][str(n)]
        assert s["rounds_per_war"] == C["rounds_by_players"][str(n)], f"{n}: rounds"
        assert s["markers_left_in_bag_after_setup"] == 65 - 10 - 5 * n, f"{n}: bag is large enough for Wars 2 and 3"
        assert s["markers_left_in_bag_after_setup"] >= 20, f"{n}: bag is large enough for Wars 2 and 3"
        assert s["auctions_per_war"] == (n + 1) // 2, f"{n}: auctions"
    assert D["setup"]["by_players"]["7"]["markers_left_in_bag_after_setup"] == 20, "seven players empty the bag exactly"


def test_what_tiles_do() -> None:
    """SOE-9: classes, timing, what happens after use."""
    once = {
        "reserve",
        "war_office",
        "mercenaries",
        "pressgangs",
        "trained_natives",
        "diplomatic_service",
        "improved_agriculture",
    } | {t["id"] for t in tiles if t["class"] == "trade"}
    assert {t["id"] for t in tiles if t["once_per_war"]} == once, "once-per-War tiles (SOE-9.2.2, 9.5)"
    assert {t["id"] for t in tiles if t["free_action"]} == (once - {"reserve"}) | {"blockade"}, (
        "tiles with a free action (SOE-7.3.2, 9.5)"
    )
    assert {t["id"] for t in tiles if t["timing"] == "immediate"} == {
        "government_reform",
        "industry",
        "pirates",
        "slave_revolt",
    }, "immediate tiles (SOE-9.4)"
    timings = {"permanent", "combat", "own_turn", "immediate", "own_turn_or_combat"}
    for t in tiles:
        assert t["timing"] in timings, f"{t['id']}: timing"
        assert t["class"] in ("development", "trade", "alliance"), f"{t['id']}: class"
        assert (t["timing"] in ("own_turn", "own_turn_or_combat")) == t["free_action"], (
            f"{t['id']}: free action and timing differ"
        )
        if t["class"] == "trade":
            assert t.get("gold_per_token") == 1, f"{t['id']}: trade tile"
            assert 1 <= len(t["regions"]) <= 2, f"{t['id']}: trade tile"
            assert t["after_use"] == "keep", f"{t['id']}: trade tile"
        elif t["class"] == "alliance":
            assert t["count"] == 1, f"{t['id']}: alliance tile"
            assert t["after_use"] == "stock_at_end_of_war", f"{t['id']}: alliance tile"
            assert t["timing"] == "combat", f"{t['id']}: alliance tile"
        else:
            assert "regions" not in t, f"{t['id']}: development tiles show no region"
            assert "units" not in t, f"{t['id']}: development tiles show no region"
    assert {t["id"] for t in tiles if t["after_use"] == "stock"} == {
        "fighting_withdrawal",
        "surprise_attack",
        "blockade",
    }, "tiles that go back to the stock (SOE-9.2.4)"
    assert {t["id"] for t in tiles if t["after_use"] == "box"} == {"government_reform"}, "boxed tiles (SOE-9.4.1)"
    assert {t["id"] for t in tiles if t["after_use"] == "stock_when_beaten"} == {"pirates", "slave_revolt"}, (
        "tiles that lie on the map (SOE-9.6, 9.7)"
    )
    printed_trade = {
        "gold_mines": ["south_america"],
        "slave_trade": ["africa"],
        "tobacco": ["north_america"],
        "baltic_company": ["baltic"],
        "east_indies_company": ["east_indies", "india"],
        "levant_company": ["mediterranean", "ottoman_empire"],
        "sugar_plantations": ["caribbean"],
    }
    for k, v in printed_trade.items():
        assert sorted(by[k]["regions"]) == v, f"{k}: regions (rulebook)"


def test_the_numbers_that_the_rules_quote() -> None:
    """SOE-7, SOE-8, SOE-14, SOE-15: costs, strengths, dice."""
    assert (
        C["attack_cost_gold"],
        C["build_cost_population"],
        C["colonize_cost_population"],
        C["actions_per_turn"],
        C["units_moved_per_move_action"],
    ) == (2, 1, 1, 2, 2), "costs and actions (rulebook)"
    assert C["loan"] == {"gold_per_unrest": 2, "gold_per_unrest_with_banking": 3}, "loans (rulebook)"
    assert C["strength"] == {"army": 1, "navy": 1, "fort_defending": 2, "fort_attacking": 0}, "strengths (rulebook)"
    assert (
        C["training_bonus"],
        C["naval_support_bonus"],
        C["naval_support_bonus_with_blockade"],
        C["alliance_tile_bonus"],
        C["natural_seven"],
    ) == (1, 1, 2, 1, 7), "combat bonuses (rulebook)"
    assert list(C["sea_roll"].values()) == [2, 2, 4, 5, 2], "sea roll (rulebook)"
    assert (C["pirates_strength"], C["slave_revolt_strength"]) == (1, 3), "Pirates and Slave Revolt (rulebook)"
    assert (
        C["revolution_unrest"],
        C["revolution_score"],
        C["unrest_penalty_first"],
        C["unrest_penalty_second"],
        C["government_reform_unrest_removed"],
        C["industry_vp"],
    ) == (20, 0, 7, 4, 2, 3), "unrest and Industry (rulebook)"


def test_markers_and_homes() -> None:
    """SOE-1.3, SOE-1.8: members of a marker; every power has a home that takes its navies."""
    for m in markers:
        assert set(m) == {"id", "name", "region", "kind", "defence", "gold", "vp"}, f"{m['id']}: fields"
    kinds_of = [m["kind"] for m in markers]
    assert (kinds_of.count("state"), kinds_of.count("pop"), kinds_of.count("slaves")) == (49, 9, 7), (
        "49 state, 9 pop, 7 slaves markers (designed)"
    )
    for p in powers.values():
        assert regions.get(p["home"], {}).get("kind") == "home", f"{p['id']}: home"
        assert regions.get(p["home"], {}).get("accepts_navies") is True, (
            f"{p['id']}: own navies may stay at home (SOE-1.8)"
        )
