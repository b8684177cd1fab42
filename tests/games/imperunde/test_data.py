"""The figures of data.json: complete, consistent, and those that the rulebook prints."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from domain.games.imperunde.data import DOC as D

C: dict[str, Any] = {c["id"]: c for c in D["countries"]["items"]}
S: dict[str, Any] = {s["id"]: s for s in D["sea_zones"]["items"]}
F: dict[str, Any] = D["seed_facts"]
U: dict[str, Any] = D["units"]["items"]
HOMES = [n["id"] for n in D["nations"]["items"]]
PAGE = Path(__file__).parents[3] / "docs/rules/imperunde.md"


def reach(start: str, near: Callable[[str], Iterable[str]]) -> dict[str, int]:
    """Distance of everything that can be reached."""
    steps, todo = {start: 0}, deque([start])
    while todo:
        here = todo.popleft()
        for there in near(here):
            if there not in steps:
                steps[there] = steps[here] + 1
                todo.append(there)
    return steps


def near(region: str) -> list[str]:
    """All neighbours of a country or zone."""
    place = C[region] if region in C else S[region]
    return [*place["land_neighbours"], *place["sea_neighbours"]]


def sailing(a: str, b: str, barred: tuple[str, ...] = ()) -> int | None:
    """How many moves a ship needs."""
    return reach(a, lambda u: [v for v in S[u]["sea_neighbours"] if v not in barred]).get(b)


def test_every_section_says_where_its_figures_come_from() -> None:
    """Provenance and a note, without addresses."""
    for name, section in D.items():
        assert section["provenance"] in ("rulebook", "public", "general_knowledge", "designed"), name
        assert section["note"], name
    assert not any(part in str(D) for part in ("http", ".com", ".org", ".net"))


def test_regions() -> None:
    """IMP-3.1: 86 countries and 34 zones with values and symmetric borders."""
    assert (len(C), len(S), len(D["countries"]["items"]), len(D["sea_zones"]["items"])) == (86, 34, 86, 34)
    assert not set(C) & set(S)
    for region, place in {**C, **S}.items():
        assert place["value"] in (1, 2, 3), region
        assert region not in near(region)
        assert all(region in near(n) for n in near(region)), region
    for c in C.values():
        assert c["landlocked"] == (not c["sea_neighbours"]), c["id"]
        assert c["island"] == (not c["land_neighbours"]), c["id"]
        assert near(c["id"])
        assert {c["value_provenance"], c["name_provenance"]} <= {"rulebook", "public", "general_knowledge", "designed"}


def test_the_board_is_connected() -> None:
    """IMP-3.1: as a whole, and by sea; Antarctica touches zones and is no country (IMP-3.10)."""
    assert len(reach("great_britain", near)) == len(C) + len(S)
    assert len(reach("north_sea", lambda u: S[u]["sea_neighbours"])) == len(S)
    assert "antarctica" not in {*C, *S}
    assert all(S[z]["touches_antarctica"] for z in D["antarctica"]["sea_neighbours"])


def test_what_the_rulebook_states() -> None:
    """IMP-3.1: values, names and borders of its text and examples."""
    assert all((C.get(i) or S[i])["value"] == v for i, v in F["values"].items())
    assert set(F["named_countries"]) <= set(C)
    assert set(F["named_sea_zones"]) <= set(S)
    assert all(b in C[a]["land_neighbours"] for a, b in F["land_adjacent"])
    assert not any(b in C[a]["land_neighbours"] for a, b in F["land_not_adjacent"])
    assert all(b in C[a]["sea_neighbours"] for a, b in F["land_sea_adjacent"])
    assert not any(b in C[a]["sea_neighbours"] for a, b in F["land_sea_not_adjacent"])
    assert all(b in S[a]["sea_neighbours"] for a, b in F["sea_adjacent"])
    assert not any(b in S[a]["sea_neighbours"] for a, b in F["sea_not_adjacent"])
    assert all(C[i]["island"] for i in F["islands"])


def test_what_its_examples_need() -> None:
    """IMP-8.3.2: distances of the worked examples."""
    assert sailing("tasman_sea", "arabian_sea", ("indian_ocean",)) == 2
    assert sailing("gulf_of_guinea", "arabian_sea") == 2
    assert (sailing("gulf_of_guinea", "arabian_sea", ("indian_ocean",)) or 9) > 2
    assert sailing("bering_sea", "central_pacific") == 2
    assert reach("ottoman_empire", lambda u: C[u]["land_neighbours"])["congo"] == 2
    between = [m for m in C["ottoman_empire"]["land_neighbours"] if "congo" in C[m]["land_neighbours"]]
    assert between == ["egypt"]
    paths = (
        ["bering_sea", "gulf_of_alaska", "central_pacific"],
        ["bay_of_bengal", "arabian_sea", "west_india", "afghanistan"],
        ["indian_ocean", "gulf_of_guinea", "congo"],
        ["south_africa", "congo"],
    )
    assert all(b in near(a) for path in paths for a, b in pairwise(path))


def test_homes() -> None:
    """IMP-5.1: six, far apart, each with two zones and a die; the first is always in play."""
    assert {c["id"] for c in C.values() if c["home_of"]} == set(HOMES)
    assert sorted(n["die"] for n in D["nations"]["items"] if n["die"]) == [2, 3, 4, 5, 6]
    assert all(C[h]["value"] in F["home_values_allowed"] and len(C[h]["sea_neighbours"]) >= 2 for h in HOMES)
    for a, b in combinations(HOMES, 2):
        assert b not in C[a]["land_neighbours"]
        assert not set(C[a]["sea_neighbours"]) & set(C[b]["sea_neighbours"])


def test_pieces_and_units() -> None:
    """IMP-1.1, IMP-1.2, IMP-1.4: sets, costs, dice, moves."""
    pieces = {"ship_of_the_line": 10, "frigate": 15, "infantry": 40, "cavalry": 20, "artillery": 20, "fort": 30}
    assert D["pieces"]["per_set"] == {**pieces, "trading_post": 45}
    assert D["pieces"]["pirates"] == {"ship_of_the_line": 5, "frigate": 20}
    assert {k: (v["cost"], v["die"], v["moves"]) for k, v in U.items()} == {
        "infantry": (1, "white", 1),
        "cavalry": (2, "yellow", 2),
        "artillery": (3, "green", 1),
        "fort": (3, "red", 0),
        "frigate": (3, "white", 2),
        "ship_of_the_line": (5, "green", 2),
        "trading_post": (2, None, 0),
    }
    for colour, lo, rank, box in (("white", 1, 3, 6), ("yellow", 2, 2, 6), ("green", 3, 1, 6), ("red", 4, 0, 3)):
        die = D["dice"][colour]
        assert (die["faces"], die["colour_rank"], die["in_box"]) == (list(range(lo, lo + 6)), rank, box)
    assert D["units"]["transport"] == {"cost": 0, "die": None, "moves": 2}
    assert D["units"]["max_units_per_side_in_combat"] == 3


def test_cards() -> None:
    """IMP-1.3, IMP-9.4.1: 48 cards, when each can be played, their figures."""
    cards = {c["id"]: c for c in D["cards"]["items"]}
    more = {"rebellion": 4, "unmask_spies": 6, "counter_espionage": 8}
    assert {k: c["count"] for k, c in cards.items()} == {k: more.get(k, 2) for k in cards}
    assert (len(cards), sum(c["count"] for c in cards.values())) == (18, 48)
    when = {"safe", "combat", "round", "counter", "diplomacy", "revenue_window", "own_investment"}
    assert all(c["when"] and set(c["when"]) <= when for c in cards.values())
    page = PAGE.read_text()
    assert all(f"`{k}`** ({c['count']};" in page for k, c in cards.items())


def test_economy_and_options() -> None:
    """IMP-2.1, IMP-6.3.2, IMP-6.4.4: constants, goals, canals."""
    e = D["economy"]
    assert (e["home_tax"], e["peace_dividend"], e["colonial_tax_per_post"], e["interest_per_5_debt"]) == (5, 2, 1, 1)
    assert (e["max_debt"], e["repay_choices"], e["borrow_choices"]) == (25, [0, 5, 10], [0, 5])
    assert (e["colony_military_budget_per_post"], e["card_cost"], e["max_cards_bought_per_turn"]) == (3, 5, 3)
    assert e["canal_cost"] == {"suez": 8, "panama": 10} == {k["id"]: k["cost"] for k in D["canals"]["items"]}
    goals = D["options"]["goal_presets"]
    assert [list(goals[n].values()) for n in "3456"] == [[35, 40, 45], [28, 31, 34], [24, 27, 30], [21, 24, 27]]
    assert D["options"]["goal_min"] > D["setup"]["initial_colony_value"]
    for k in D["canals"]["items"]:
        a, b = k["links"]
        assert C[k["country"]]["canal"] == k["id"]
        assert {a, b} <= set(C[k["country"]]["sea_neighbours"])
        assert b not in S[a]["sea_neighbours"]


def test_wheels_and_events() -> None:
    """IMP-3.9, IMP-10.4: every sector once, every event with its figures."""
    land = [e["event"] for e in D["wheels"]["land_event_wheel"]]
    sea = [e["event"] for e in D["wheels"]["sea_event_wheel"]]
    assert land == ["volunteers", "trade", "famine", "epidemic", "unrest", "uprising"]
    assert sea == ["storm", "calm", "fair_wind", "pirates"]
    assert (set(land), set(sea)) == (set(D["events"]["land"]), set(D["events"]["sea"]))
    assert (D["events"]["land_events_per_turn"], D["events"]["sea_events_per_turn"]) == (6, 3)
    assert all(e["weight"] == 1 for w in ("land_event_wheel", "sea_event_wheel") for e in D["wheels"][w])


def test_paces() -> None:
    """IMP-2.3: a time for each kind of decision, named on the page."""
    live, slow = D["timeouts_seconds"]["live"], D["timeouts_seconds"]["correspondence"]
    assert live.keys() == slow.keys()
    assert all(isinstance(v, int) and v > 0 for v in (*live.values(), *slow.values()))
    assert all(f"`{kind}`" in PAGE.read_text() for kind in live)


def test_the_page_misspells_no_region() -> None:
    """IMP-0.3: countries and zones in its examples exist."""
    page = PAGE.read_text()
    named = re.findall(r'"(?:zone|country|target|from|frigate|ship_of_the_line)":"([a-z_]+)"', page)
    named += [i for m in re.findall(r'"path":\[([^\]]*)\]', page) for i in re.findall(r"[a-z_]+", m)]
    assert len(named) >= 10
    assert set(named) <= {*C, *S, "antarctica"}


def test_it_can_be_played() -> None:
    """IMP-2.1, IMP-5.4: goals are within reach, and there are colonies enough to begin with."""
    total = sum(c["value"] for c in C.values())
    values = sorted(C[h]["value"] for h in HOMES)
    for n in (3, 4, 5, 6):
        assert D["options"]["goal_presets"][str(n)]["long"] <= total - sum(values[-n:]) + 4 - 2 * n
    barred = set(HOMES) | {x for h in HOMES for x in C[h]["land_neighbours"]}
    left = Counter(c["value"] for c in C.values() if c["id"] not in barred)
    assert left[1] >= 20
    assert left[2] >= 18
    assert left[3] >= 6


def test_the_drawing() -> None:
    """Coordinates lie on the sheet and apart from each other."""
    points = [(p["x"], p["y"]) for p in (*C.values(), *S.values())]
    assert all(0 <= x <= 1000 and 0 <= y <= 700 for x, y in points)
    assert all((a - c) ** 2 + (b - d) ** 2 >= 16**2 for (a, b), (c, d) in combinations(points, 2))
