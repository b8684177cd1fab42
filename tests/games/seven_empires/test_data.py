"""The figures of data.json: complete, consistent, and those that the rulebook prints."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any

from domain.games.seven_empires.data import DOC as D

Graph = Mapping[str, set[str]]

PROV = {"rulebook", "public", "general_knowledge", "designed"}
SCALARS = {"game", "rules_prefix", "data_version"}
R: dict[str, dict[str, Any]] = {r["id"]: r for r in D["regions"]["list"]}
E: dict[str, dict[str, Any]] = {e["id"]: e for e in D["empires"]["list"]}
kinds = Counter(r["kind"] for r in R.values())
A: dict[str, Any] = D["adjacency"]
cards: list[dict[str, Any]] = D["influence_cards"]["cards"]
SL: dict[str, list[str]] = D["starting_letters"]["by_players"]
dc: list[dict[str, Any]] = D["distribution_cards"]["list"]
inv: dict[str, int] = {t["id"]: t["count"] for t in D["hourglass"]["inventory"]}
CITY_KEYS = {
    "empire",
    "capital",
    "port",
    "anchor_sea",
    "city_type",
    "level1_unit",
    "level2_unit",
    "starts_with_city",
    "dotted",
    "quick_start_unit",
}


def graph(pairs: Iterable[Mapping[str, str]], one: str, other: str) -> dict[str, set[str]]:
    """What touches what."""
    found: dict[str, set[str]] = {r: set() for r in R}
    for p in pairs:
        found[p[one]].add(p[other])
        found[p[other]].add(p[one])
    return found


land, sea, coast = graph(A["land"], "a", "b"), graph(A["sea"], "a", "b"), graph(A["coast"], "land", "sea")


def component(start: str, graphs: Iterable[Graph]) -> set[str]:
    """Regions that can be reached."""
    seen, q = {start}, deque([start])
    while q:
        a = q.popleft()
        for g in graphs:
            for b in g[a] - seen:
                seen.add(b)
                q.append(b)
    return seen


def dist(a: str, b: str, g: Graph) -> int | None:
    """Borders between two regions."""
    d, q = {a: 0}, deque([a])
    while q:
        x = q.popleft()
        for y in g[x]:
            if y not in d:
                d[y] = d[x] + 1
                q.append(y)
    return d.get(b)


def test_every_section_says_where_its_figures_come_from() -> None:
    for k, v in D.items():
        if k in SCALARS:
            continue
        assert isinstance(v, dict), f"section {k}: provenance/note missing"
        assert v.get("provenance") in PROV, f"section {k}: provenance/note missing"
        assert v.get("note"), f"section {k}: provenance/note missing"


def test_regions_and_empires() -> None:
    """SE7-1.2."""
    assert len(R) == len(D["regions"]["list"]), "duplicate region id"
    assert len(E) == 7, "seven empires"
    assert dict(kinds) == D["regions"]["counts"] == {"city": 26, "land": 32, "sea": 16}, f"region counts {kinds}"
    for r in R.values():
        assert 0 <= r["x"] <= 1000, f"{r['id']} coordinates"
        assert 0 <= r["y"] <= 700, f"{r['id']} coordinates"
        assert r.get("provenance") in PROV, f"{r['id']} provenance"
    xy = Counter((r["x"], r["y"]) for r in R.values())
    assert max(xy.values()) == 1, "two regions share coordinates"
    _rl = list(R.values())
    for _i, _a in enumerate(_rl):
        for _b in _rl[_i + 1 :]:
            assert (_a["x"] - _b["x"]) ** 2 + (_a["y"] - _b["y"]) ** 2 >= 30**2, (
                f"{_a['id']} and {_b['id']} are drawn too close"
            )


def test_pieces() -> None:
    """SE7-1.1, SE7-1.3, SE7-1.4."""
    printed = {
        "great_britain": (6, 6, 8, 8, 4, 4),
        "habsburg": (8, 8, 6, 6, 4, 4),
        "russia": (7, 7, 7, 7, 4, 4),
        "spain": (6, 6, 7, 7, 3, 3),
        "prussia": (7, 7, 6, 6, 3, 3),
        "ottomans": (7, 7, 6, 6, 3, 3),
        "france": (8, 8, 7, 7, 5, 5),
    }
    for e, t in printed.items():
        s = E[e]["supply"]
        assert (
            s["infantry"],
            s["artillery"],
            s["two_master"],
            s["three_master"],
            E[e]["city_tiles"],
            E[e]["palace_tiles"],
        ) == t, f"{e} piece counts"
        assert E[e]["flags"] == 20, f"{e} flags/power marker"
        assert E[e]["power_markers"] == 1, f"{e} flags/power marker"
        cities = [r for r in R.values() if r["kind"] == "city" and r["empire"] == e]
        assert len(cities) == t[4] == t[5], f"{e}: city regions = city tiles = palace tiles"
        assert sum(c["capital"] for c in cities) == 1, f"{e}: one capital"
        assert R[E[e]["capital"]]["capital"], f"{e}: one capital"
        assert R[E[e]["capital"]]["empire"] == e, f"{e}: one capital"
        assert R[E[e]["capital"]]["starts_with_city"], f"{e}: the capital is never dotted"
        ports = sum(c["port"] for c in cities)
        assert 5 + ports == t[2] == t[3], f"{e}: ports/land cities match the ship/army counts pattern"
        assert 5 + len(cities) - ports == t[0] == t[1], f"{e}: ports/land cities match the ship/army counts pattern"
        assert sum(c["dotted"] for c in cities) == 1, f"{e}: exactly one dotted city"
        for c in cities:
            assert c["port"] == (c["anchor_sea"] is not None) == (c["city_type"] == "naval"), (
                f"{c['id']}: port, anchor and city type agree"
            )
            assert (c["level1_unit"], c["level2_unit"]) == (
                ("two_master", "three_master") if c["port"] else ("infantry", "artillery")
            ), f"{c['id']}: units"
            assert c["quick_start_unit"] == (None if c["dotted"] else c["level1_unit"]), f"{c['id']}: quick start unit"
    assert sorted(e["flag_order"] for e in E.values()) == list(range(1, 8)), "flag order 1..7"
    assert E["prussia"]["flag_order"] == 1, "Prussia on top, Great Britain at the bottom"
    assert E["great_britain"]["flag_order"] == 7, "Prussia on top, Great Britain at the bottom"


def test_borders() -> None:
    """SE7-1.2."""
    for p in A["land"]:
        assert {p["a"], p["b"]} <= R.keys(), f"unknown id in {p}"
        assert p["a"] != p["b"], f"loop {p}"
        assert R[p["a"]]["kind"] != "sea", f"land pair {p} touches a sea"
        assert R[p["b"]]["kind"] != "sea", f"land pair {p} touches a sea"
    for p in A["sea"]:
        assert {p["a"], p["b"]} <= R.keys(), f"unknown id in {p}"
        assert p["a"] != p["b"], f"loop {p}"
        assert R[p["a"]]["kind"] == "sea", f"sea pair {p} touches land"
        assert R[p["b"]]["kind"] == "sea", f"sea pair {p} touches land"
    for p in A["coast"]:
        assert {p["land"], p["sea"]} <= R.keys(), f"unknown id in {p}"
        assert p["land"] != p["sea"], f"loop {p}"
        assert R[p["land"]]["kind"] != "sea", f"coast pair {p}"
        assert R[p["sea"]]["kind"] == "sea", f"coast pair {p}"
    for r in R.values():
        if r["kind"] == "city" and r["port"]:
            assert r["anchor_sea"] in coast[r["id"]], f"{r['id']}: anchor sea is a coast"
        assert land[r["id"]] or sea[r["id"]] or coast[r["id"]], f"{r['id']} isolated"
    assert component("london", (land, sea, coast)) == set(R), "whole graph connected"
    assert component("north_sea", (sea,)) == {r for r in R if R[r]["kind"] == "sea"}, "sea graph connected"
    main = component("paris", (land,))
    assert {r for r in R if R[r]["kind"] != "sea"} - main == {
        "london",
        "liverpool",
        "york",
        "edinburgh",
        "ireland",
        "sicily",
        "barbary_coast",
        "norway",
        "sweden",
    }, "land regions off the continent"
    assert [r for r in R if R[r]["kind"] == "land" and (not land[r])] == ["ireland", "barbary_coast", "sicily"], (
        "only Ireland, Barbary Coast, Sicily are neutral island regions (FAQ)"
    )
    for name, graph_ in (("land", land), ("sea", sea), ("coast", coast)):
        assert 2 * len(A[name]) == sum(map(len, graph_.values())), f"{name}: a pair stands twice"


def test_what_the_rulebook_and_its_questions_say() -> None:
    """SE7-18.1 to SE7-18.5."""
    for a, b in A["forbidden_land"]:
        assert b not in land[a], f"FAQ: {a}-{b} must not be a land border"
        assert bool(coast[a] & coast[b]), f"FAQ: {a}-{b} must be joinable by one sea transport"
    for a, s in A["forbidden_coast"]:
        assert s not in coast[a], f"FAQ: {a}-{s} is only a corner"
    assert "switzerland" in land["bavaria"], "FAQ: easily missed land borders"
    assert "papal_states" in land["venice"], "FAQ: easily missed land borders"
    assert land["constantinople"] == {"salonica", "wallachia", "konya"}, "FAQ: neighbours of Constantinople"
    assert coast["constantinople"] == {"aegean_sea"}, "FAQ: Constantinople lies on the Aegean only"
    assert dist("salonica", "konya", land) == 2, "FAQ: Salonica-Konya two borders"
    assert dist("black_sea", "ionian_sea", sea) == 2, "FAQ: Black Sea to Ionian / Levantine two borders"
    assert dist("black_sea", "levantine_sea", sea) == 2, "FAQ: Black Sea to Ionian / Levantine two borders"
    assert R["salonica"]["anchor_sea"] == "aegean_sea", "ship example: Salonica"
    assert dist("aegean_sea", "tyrrhenian_sea", sea) == 2, "ship example: Salonica"
    assert dist("aegean_sea", "ligurian_sea", sea) == 3, "ship example: Salonica"
    assert dist("adriatic_sea", "tyrrhenian_sea", sea) == 2, "ship example: Adriatic two-master"
    assert dist("adriatic_sea", "ligurian_sea", sea) == 3, "ship example: Adriatic two-master"
    assert R["london"]["anchor_sea"] == "north_sea", "ship combat example"
    assert {"north_atlantic", "baltic_sea"} <= sea["north_sea"], "ship combat example"
    assert dist("north_sea", "gulf_of_bothnia", sea) == 2, "ship combat example"
    assert R["liverpool"]["anchor_sea"] == "irish_sea", "transport example: Liverpool"
    assert "north_atlantic" in sea["irish_sea"], "transport example: Liverpool"
    assert "edinburgh" in land["york"], "transport example: Ireland"
    assert "north_atlantic" in coast["edinburgh"] & coast["ireland"], "transport example: Ireland"
    assert "north_sea" in coast["york"] & coast["norway"], "transport example: Sweden"
    assert "sweden" in land["norway"], "transport example: Sweden"
    assert "baltic_sea" in sea["north_sea"], "transport example: Western Poland"
    assert "baltic_sea" in coast["livonia"], "transport example: Western Poland"
    assert "western_poland" in land["livonia"], "transport example: Western Poland"
    assert dist("madrid", "marseille", land) == 2, "land combat example: Madrid reaches Marseille in two steps"
    assert "adriatic_sea" in coast["trieste"], "attack example: Trieste to Sicily"
    assert "ionian_sea" in sea["adriatic_sea"], "attack example: Trieste to Sicily"
    assert "ionian_sea" in coast["sicily"], "attack example: Trieste to Sicily"
    assert R["madrid"]["quick_start_unit"] == "infantry", "quick start: Spain"
    assert R["barcelona"]["quick_start_unit"] == "two_master", "quick start: Spain"
    assert sum(1 for r in R.values() if r.get("empire") == "france" and r["quick_start_unit"]) == 4, (
        "quick start: France has four units"
    )
    assert R["edinburgh"]["dotted"], "Edinburgh is dotted"
    assert not R["edinburgh"]["starts_with_city"], "Edinburgh starts empty"


def test_cards() -> None:
    """SE7-1.6, SE7-2.8, SE7-2.9, SE7-2.12."""
    assert len({c["id"] for c in cards}) == len(cards) == 56, "49 + 7 influence cards"
    for e in E:
        pile = sorted((c for c in cards if c["empire"] == e and c["pile_order"]), key=lambda c: c["pile_order"])
        assert [c["value"] for c in pile] == [7, 6, 5, 4, 3, 3, 3], f"{e} pile"
        assert [c["letter"] for c in pile] == ["A", "B", "C", None, None, None, None], f"{e} pile"
        assert sum(c["value"] for c in pile) == D["influence_cards"]["pile_total"], f"{e} pile total"
        assert [c["value"] for c in cards if c["empire"] == e and c["rank"] == "worker"] == [1], f"{e} worker"
    assert {k: "".join(v) for k, v in SL.items()} == {"2": "AAABC", "3": "AABC", "4": "ABC", "5": "ABC", "6": "AB"}, (
        "letters per player count"
    )
    assert Counter(c["players"] for c in dc) == {2: 4, 3: 3, 4: 3, 5: 3, 6: 2}, "15 distribution card faces"
    assert len(dc) == 15, "15 distribution card faces"
    assert len({c["id"] for c in dc}) == 15, "distribution ids"
    for c in dc:
        n = c["players"]
        assert sorted(c["cards"]) == [str(i) for i in range(1, n + 1)], f"{c['id']} positions"
        used: set[tuple[str, str]] = set()
        per: Counter[str] = Counter()
        for p, lst in c["cards"].items():
            assert sorted(x["letter"] for x in lst) == sorted(SL[str(n)]), f"{c['id']} letters of {p}"
            assert len({x["empire"] for x in lst}) == len(lst), f"{c['id']} position {p}: two cards of one empire"
            for x in lst:
                assert x["empire"] in E, f"{c['id']} duplicate {x}"
                assert (x["empire"], x["letter"]) not in used, f"{c['id']} duplicate {x}"
                used.add((x["empire"], x["letter"]))
                per[x["empire"]] += 1
        for e in E:
            assert 1 <= per[e] <= 3, f"{c['id']}: {e} has {per[e]} cards"
            best = min(((x["letter"], int(p)) for p, lst in c["cards"].items() for x in lst if x["empire"] == e))
            assert c["monarchs"][e] == best[1], f"{c['id']}: monarch of {e}"
        mc = Counter(c["monarchs"].values())
        assert max(mc.values()) - min(mc[p] for p in range(1, n + 1)) <= 1, f"{c['id']}: monarchs balanced"


def test_hourglass_tiles() -> None:
    """SE7-1.9, SE7-2.7."""
    assert sum(inv.values()) == 17, "17 hourglass tiles"
    for n in range(2, 7):
        s = D["hourglass"]["sets"][str(n)]
        assert len(s["base"]) == 7, f"{n}p: 7 tiles + laurel, 2 more"
        assert len(s["extension"]) == 2, f"{n}p: 7 tiles + laurel, 2 more"
        allt = Counter(s["base"] + s["extension"])
        allt["laurel"] += 1
        for t, k in allt.items():
            assert t in inv, f"{n}p: {k} x {t} exceeds the inventory"
            assert k <= inv[t], f"{n}p: {k} x {t} exceeds the inventory"
            if t.startswith("position_"):
                assert int(t.split("_")[1]) <= n, f"{n}p: {t} names a missing player"
        dealt = n * len(SL[str(n)])
        picks = sum((k for t, k in allt.items() if t == "pawn" or t.startswith("position_"))) * n
        assert dealt + picks <= 49, f"{n}p: influence cards suffice ({dealt}+{picks})"
        assert allt["worker"] * n <= 7, f"{n}p: worker cards suffice"
    most: Counter[str] = Counter()
    for n in range(2, 7):
        s = D["hourglass"]["sets"][str(n)]
        c = Counter(s["base"] + s["extension"])
        for t in c:
            most[t] = max(most[t], c[t])
    most["laurel"] = 1
    assert most == Counter(inv), f"every tile is used by some player count {most} {inv}"


def test_the_rest() -> None:
    """SE7-1.5, SE7-2.3, SE7-8.14, SE7-12.3."""
    assert D["final_multipliers"]["by_rank"] == {str(r): 8 - r for r in range(1, 8)}, "multipliers"
    assert D["starting_infantry"]["by_cards_dealt"] == {"0": 3, "1": 2, "2": 1, "3": 0}, "starting infantry"
    acts = {a["id"]: a for a in D["actions"]["list"]}
    assert sorted(a["start_slot"] for a in acts.values()) == ["II", "III", "tray", "tray", "tray"], (
        "marker slots at the start"
    )
    assert {a for a in acts if acts[a]["start_slot"] == "tray"} == {"palace", "attack", "build_deploy"}, (
        "actions free at the start (example)"
    )
    u = {x["id"]: x for x in D["units"]["list"]}
    assert (u["infantry"]["steps"], u["artillery"]["steps"], u["two_master"]["steps"], u["three_master"]["steps"]) == (
        2,
        2,
        2,
        3,
    ), "unit steps"
    assert u["infantry"]["substitute_for"] == "artillery", "substitutes"
    assert u["two_master"]["substitute_for"] == "three_master", "substitutes"
    assert not u["artillery"]["substitute_for"], "substitutes"
    assert not u["three_master"]["substitute_for"], "substitutes"
    assert (u["two_master"]["transport_capacity"], u["three_master"]["transport_capacity"]) == (1, None), (
        "two_master carries one, three_master any number"
    )
    assert D["units"]["canonical_order"] == ["infantry", "artillery", "two_master", "three_master"] == list(u), (
        "canonical unit order"
    )
    limits = D["limits"]
    assert [
        limits[k]
        for k in (
            "own_city_units",
            "foreign_city_units",
            "neutral_land_units",
            "sea_units",
            "palace_deploy_units",
            "attack_deploy_units",
            "min_influence_to_act_without_monarch",
            "actions_per_empire_per_decade",
        )
    ] == [3, 1, 1, 1, 3, 2, 3, 1], "limits"
    crowns = D["crowns"]
    assert (
        crowns["city_level_1"],
        crowns["city_level_2"],
        crowns["palace_standard"],
        crowns["palace_capital"],
        crowns["start_palace_crowns_capital"],
    ) == (0, 1, [1, 2], [2, 3], 2), "crowns"
    assert D["actions"]["shift"] == {"III": "tray", "II": "III", "I": "II"}, "marker shift"
    assert D["actions"]["slots"] == ["tray", "I", "II", "III"], "marker shift"
    assert set(acts) == {"build_deploy", "move_fight", "attack", "palace", "empire"}, "action ids"
    assert acts["build_deploy"]["colour"] == "yellow", "action ids"
    track = D["hourglass"]["time_track"]
    assert {k: (len(v), v[0], v[-1]) for k, v in track.items()} == {
        "8": (8, 1700, 1770),
        "9": (9, 1700, 1780),
        "10": (10, 1700, 1790),
    }, "time track years"
    assert all((b - a == 10 for v in track.values() for a, b in itertools.pairwise(v))), "time track steps of ten years"
    assert D["empires"]["list"] == sorted(D["empires"]["list"], key=lambda e: e["flag_order"]), (
        "empires are listed in flag order"
    )
    order = [r["kind"] for r in D["regions"]["list"]]
    assert order == sorted(order, key=["city", "land", "sea"].index), "data order: cities, land, seas"
    assert {tuple(sorted(p)) for p in A["forbidden_land"]} == {
        ("denmark", "sweden"),
        ("finland", "sweden"),
        ("edinburgh", "ireland"),
        ("barbary_coast", "madrid"),
        ("naples", "sicily"),
    }, "FAQ: the five pairs without a land border"
    assert {tuple(p) for p in A["forbidden_coast"]} == {
        ("norway", "baltic_sea"),
        ("sweden", "north_sea"),
        ("paris", "north_sea"),
        ("southern_netherlands", "english_channel"),
        ("madrid", "atlantic"),
        ("portugal", "western_mediterranean"),
        ("papal_states", "ligurian_sea"),
        ("tuscany", "tyrrhenian_sea"),
        ("wallachia", "aegean_sea"),
        ("constantinople", "black_sea"),
    }, "FAQ: the ten corners"
    for k in ("land", "sea", "coast"):
        for p in A[k]:
            assert p.get("provenance") in PROV, f"pair {p}: provenance"
    for r in R.values():
        if r["kind"] == "city":
            assert set(r) >= CITY_KEYS, f"{r['id']}: city fields"
            assert r["empire"] in E, f"{r['id']}: city fields"
            assert r["starts_with_city"] == (not r["dotted"]), f"{r['id']}: city fields"
        else:
            assert not CITY_KEYS & set(r), f"{r['id']}: city fields on a neutral region"
        if r["kind"] == "sea":
            assert any(r["id"] in coast[x] for x in R), f"{r['id']}: touches no land"
    for c in cards:
        assert c["empire"] in E, f"card id {c['id']}"
        assert c["id"] == f"{c['empire']}.{c['rank']}", f"card id {c['id']}"
    options = D["options"]
    assert options["distribution_card"]["values"] == ["random"] + [c["id"] for c in dc], "options: card ids"
    assert all(c["id"].startswith(str(c["players"])) for c in dc), "card ids begin with the player count"
    assert (options["players"]["min"], options["players"]["max"]) == (2, 6), "options: values"
    assert options["decades"]["values"] == [8, 9, 10], "options: values"
    assert options["setup"]["values"] == ["distribution", "draft", "draft_simple"], "options: values"
    assert all(
        options[k]["default"] in options[k]["values"] for k in ("setup", "distribution_card", "decades", "quick_start")
    ), "options: defaults"
    for seats, letters in SL.items():
        n = int(seats)
        for i, letter in enumerate(letters):
            taken = n * letters[:i].count(letter) + n - 1
            other = sum(1 for x in letters[:i] if x != letter)
            assert 7 - taken - other >= 1, f"{n}p draft round {i + 1}: the last seat may be left without a legal card"
    for e in E:
        q = Counter(r["quick_start_unit"] for r in R.values() if r.get("empire") == e and r["quick_start_unit"])
        assert q["infantry"] + 3 <= E[e]["supply"]["infantry"], f"{e}: starting units within the supply"
        assert q["two_master"] <= E[e]["supply"]["two_master"], f"{e}: starting units within the supply"
