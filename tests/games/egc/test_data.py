"""The figures of data.json: complete, consistent, and those that the rulebook and the rules page print."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from domain.games.egc.data import DOC as D

PAGE = (Path(__file__).parents[3] / "docs/rules/egc.md").read_text(encoding="utf-8")

EMPIRES: dict[str, Any] = {e["id"]: e for e in D["empires"]["items"]}
LANDS: dict[str, Any] = {t["id"]: t for t in D["territories"]["items"]}
SEAS: dict[str, Any] = {s["id"]: s for s in D["seas"]["items"]}
STRAITS: dict[str, Any] = {s["id"]: s for s in D["straits"]["items"]}
LINKS: dict[str, Any] = {k["id"]: k for k in D["links"]["items"]}
OPEN: list[tuple[str, str]] = [(a, b) for a, b in D["sea_links"]["items"]]
TABLES: dict[str, list[int]] = {k: v for k, v in D["rank_tables"].items() if isinstance(v, list)}

NAMED = [
    "italy",
    "ireland",
    "brazil",
    "cape_verde",
    "holland",
    "germany",
    "denmark_norway",
    "finland",
    "malacca",
    "sumatra",
    "borneo",
    "java",
    "new_guinea",
    "western_australia",
    "queensland",
    "new_south_wales",
    "new_zealand",
    "nunavut",
    "northwest_territories",
    "falkland",
    "panama",
    "egypt",
    "morocco",
    "austria_hungary",
    "england",
    "france",
    "spain",
    "portugal",
    "japan",
    "mexico",
    "russia",
    "anatolia",
    "south_africa",
]
"""Territories that the rulebook names."""


def beside(links: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Sea -> seas linked with it."""
    found: dict[str, set[str]] = {sea: set() for sea in SEAS}
    for a, b in links:
        found[a].add(b)
        found[b].add(a)
    return found


BY_WATER = beside(OPEN)
BY_ALL = beside([*OPEN, *((s["seas"][0], s["seas"][1]) for s in STRAITS.values())])


def reach(start: str, near: Callable[[str], Iterable[str]]) -> dict[str, int]:
    """Distance of everything that can be reached."""
    steps, todo = {start: 0}, [start]
    for here in todo:
        for there in near(here):
            if there not in steps:
                steps[there] = steps[here] + 1
                todo.append(there)
    return steps


def figures(section: str) -> dict[str, Any]:
    """The plain figures of a section."""
    return {k: v for k, v in D[section].items() if k not in ("provenance", "note")}


def test_every_section_says_where_its_figures_come_from() -> None:
    """Provenance and a note, without addresses."""
    for name, section in D.items():
        assert section["provenance"] in ("rulebook", "public", "general_knowledge", "designed"), name
        assert section["note"], name
    assert not any(part in str(D) for part in ("http", ".com", ".org", ".net"))


@pytest.mark.parametrize(
    "section", ["empires", "territories", "seas", "straits", "links", "infrastructure", "technologies"]
)
def test_ids(section: str) -> None:
    """EGC-0.3: lower-case snake_case, none twice."""
    ids = [item["id"] for item in D[section]["items"]]
    assert len(ids) == len(set(ids))
    assert all(i == i.lower() and i.replace("_", "").isalnum() and i.isascii() for i in ids)


def test_how_many_there_are() -> None:
    """EGC-1.1, EGC-1.6: ten empires and straits, 147 territories, 40 seas, 216 borders, 57 open links, 35 links."""
    assert (len(EMPIRES), len(STRAITS), len(D["technologies"]["items"])) == (10, 10, 10)
    assert (len(LANDS), len(SEAS), len(OPEN), len(LINKS)) == (147, 40, 57, 35)
    assert sum(len(t["land_neighbours"]) for t in LANDS.values()) == 2 * 216
    assert not set(LANDS) & set(SEAS)
    names = [item["name"]["fr"] for item in (*LANDS.values(), *SEAS.values())]
    assert len(names) == len(set(names))


def test_territories() -> None:
    """EGC-1.3: figures in their ranges, symmetric borders, sorted lists."""
    for i, t in LANDS.items():
        assert 30_000 <= t["value"] <= 100_000, i
        assert 1 <= t["natural_defence"] <= 20, i
        assert 50 <= t["supply"] <= 300, i
        assert t["vp_bonus"] in (0, 5, 10), i
        assert t["coastal"] == bool(t["seas"]), i
        assert t["seas"] == sorted(set(t["seas"])), i
        assert t["land_neighbours"] == sorted(set(t["land_neighbours"])), i
        assert set(t["seas"]) <= set(SEAS), i
        assert i not in t["land_neighbours"], i
        assert all(i in LANDS[n]["land_neighbours"] for n in t["land_neighbours"]), i
        assert t["seas"] or t["land_neighbours"], i
        assert 0 <= t["x"] <= 1000, i
        assert 0 <= t["y"] <= 700, i
    assert {i for i in NAMED if LANDS[i]["named_in_rulebook"]} == set(NAMED)
    assert [LANDS[i]["coastal"] for i in ("switzerland", "afghanistan", "rhodesia")] == [False] * 3


def test_homes() -> None:
    """EGC-1.4, EGC-3.3: equal in value, supply and bonus; each can begin by land or by sea."""
    homes = {e["id"]: e["home"] for e in EMPIRES.values()}
    assert homes == {
        "austria_hungary": "austria_hungary",
        "britain": "england",
        "france": "france",
        "spain": "spain",
        "portugal": "portugal",
        "japan": "japan",
        "aztec": "mexico",
        "russia": "russia",
        "ottoman": "anatolia",
        "zulu": "south_africa",
    }
    assert {t["home_of"] for t in LANDS.values()} - {None} == set(homes)
    assert {e["id"] for e in EMPIRES.values() if not e["starts_with_port"]} == {"russia", "aztec", "zulu"}
    for empire, home in homes.items():
        t = LANDS[home]
        assert t["home_of"] == empire
        assert (t["value"], t["supply"], t["vp_bonus"]) == (100_000, 300, 5)
        neutral = set(t["land_neighbours"]) - set(homes.values())
        assert neutral or (EMPIRES[empire]["starts_with_port"] and t["seas"]), empire


def test_what_the_rulebook_tells_of_the_map() -> None:
    """EGC-1.6: borders and seas of its examples."""
    beside_each_other = ("germany", "france", "spain", "portugal")
    assert all(b in LANDS[a]["land_neighbours"] for a, b in pairwise(beside_each_other))
    north = ("holland", "germany", "denmark_norway", "finland")
    assert all(b in LANDS[a]["land_neighbours"] for a, b in pairwise(north))
    assert LANDS["italy"]["supply"] == 150
    assert "south_atlantic" in {*LANDS["brazil"]["seas"]} & {*LANDS["cape_verde"]["seas"]}
    assert not set(LANDS["portugal"]["seas"]) & set(LANDS["brazil"]["seas"])
    assert LANDS["malacca"]["land_neighbours"]


def test_seas() -> None:
    """EGC-1.6: each has a coast, none stands apart; two are joined once, by water or by a strait."""
    joined = [*OPEN, *((s["seas"][0], s["seas"][1]) for s in STRAITS.values())]
    assert len(joined) == len(set(joined))
    assert all(a < b and {a, b} <= set(SEAS) for a, b in joined)
    assert all(any(sea in t["seas"] for t in LANDS.values()) for sea in SEAS)
    assert set(reach("north_sea", BY_ALL.__getitem__)) == set(SEAS)

    def around(place: str) -> list[str]:
        if place in LANDS:
            return [*LANDS[place]["land_neighbours"], *LANDS[place]["seas"]]
        return [*BY_ALL[place], *(i for i, t in LANDS.items() if place in t["seas"])]

    assert set(reach("france", around)) == {*LANDS, *SEAS}


def test_straits() -> None:
    """EGC-1.6: the controllers of the rulebook touch one of the seas; without straits the inner seas are cut off."""
    assert {s["id"]: s["controller"] for s in STRAITS.values()} == {
        "gibraltar": "morocco",
        "suez": "egypt",
        "bosphorus": "anatolia",
        "panama_canal": "panama",
        "kiel": "denmark_norway",
        "malacca_strait": "malacca",
        "magellan": "falkland",
        "cook": "new_zealand",
        "northwest_passage_1": "nunavut",
        "northwest_passage_2": "northwest_territories",
    }
    assert all(set(LANDS[s["controller"]]["seas"]) & set(s["seas"]) for s in STRAITS.values())
    assert STRAITS["gibraltar"]["seas"] == ["east_atlantic", "western_mediterranean"]
    assert set(reach("baltic_sea", BY_WATER.__getitem__)) == {"baltic_sea"}
    assert set(reach("black_sea", BY_WATER.__getitem__)) == {"black_sea"}
    mediterranean = {"western_mediterranean", "eastern_mediterranean"}
    assert set(reach("western_mediterranean", BY_WATER.__getitem__)) == mediterranean
    for name, s in STRAITS.items():
        a, b = s["seas"]
        assert name == "cook" or reach(a, BY_WATER.__getitem__).get(b, 99) > 2, name


def test_infrastructure() -> None:
    """EGC-1.7, EGC-7.3: six, with prices that rise by a tenth of the first a level; those of the homes fit."""
    base = {
        "port": (250_000, 1),
        "recruitment_centre": (200_000, 3),
        "fortification": (100_000, 3),
        "farm": (60_000, 3),
        "factory": (100_000, 3),
        "railway": (60_000, 1),
    }
    items = {i["id"]: i for i in D["infrastructure"]["items"]}
    assert list(items) == list(base)
    for name, (price, top) in base.items():
        assert (items[name]["max_level"], items[name]["coastal_only"]) == (top, name == "port")
        assert items[name]["cost"] == [price, price * 110 // 100, price * 120 // 100][:top]
    assert D["setup"]["metropolis"] == {
        "with_port": {**dict.fromkeys(base, 0), "port": 1, "fortification": 1, "recruitment_centre": 1},
        "without_port": {**dict.fromkeys(base, 0), "fortification": 1, "recruitment_centre": 2},
    }


def test_tables_by_rank() -> None:
    """EGC-0.7: ten integers each; a better rank is never worse; the bounds that the rulebook gives."""
    for name, values in TABLES.items():
        assert len(values) == 10, name
        assert all(type(x) is int for x in values), name
        assert values == sorted(values, reverse=not name.endswith("_cost")), name
        assert name in PAGE, name
    assert (TABLES["factory_value"][0], TABLES["factory_value"][9]) == (22_000, 4_000)
    assert (max(TABLES["naval_moves"]), min(TABLES["naval_moves"])) == (6, 1)
    assert (max(TABLES["training_cap"]), max(TABLES["morale_cap"])) == (10, 9)
    for kind in ("training", "morale"):
        pairs = zip(TABLES[f"{kind}_start"], TABLES[f"{kind}_cap"], strict=True)
        assert all(start <= cap for start, cap in pairs)
    assert all(5 - width >= 1 for width in TABLES["activation_half_width"])


def test_armies_combat_and_supply() -> None:
    """EGC-1.8, EGC-4.4, EGC-9.4, EGC-9.7, EGC-9.8, EGC-9.10, EGC-11.4: the constants that the page prints."""
    assert figures("combat") == {
        "quality_base": 10,
        "attack_divisor": 800,
        "defence_divisor": 400,
        "fort_protection": 30,
        "landing_protection": 30,
        "prepared_protection": 30,
        "natural_protection": 5,
        "encirclement_step": 15,
        "encirclement_max": 45,
        "morale_loss_percent_per_point": 10,
        "significant_min": 10,
        "significant_ratio": 4,
        "training_max": 10,
        "morale_max": 9,
        "morale_min": 1,
    }
    assert figures("supply") == {
        "neutral_conquest_multiplier": 2,
        "attrition_base_percent": 10,
        "attrition_step_divisor": 2,
        "attrition_max_percent": 80,
    }
    assert figures("armies") == {"max_armies_per_empire": 40, "start_divisions": 200, "default_activation_round": 5}


def test_money_and_research() -> None:
    """EGC-12.2 to EGC-12.6, EGC-13.1, EGC-13.2: constants; 100000 of 300000 Brz bring 6200 points at rank 6."""
    e = D["economy"]
    assert (e["upkeep_per_division"], e["national_multiplier"], e["plunder_factor"]) == (150, 3, 2)
    assert e["first_turn_bonus"] == [200_000, 150_000, 100_000, 50_000]
    assert e["recovery_percent"] == [0, 25, 50, 75, 100]
    assert e["designed"] == {
        "division_cost": 500,
        "recruitment_per_level": 150,
        "usury_divisor": 2,
        "corruption_rank_offset": 2,
        "corruption_divisor": 5,
        "corruption_max_percent": 60,
    }
    assert figures("research") == {
        "turn_zero_points": 18_000,
        "delay_turns": 4,
        "decay_keep_numerator": 9,
        "decay_keep_denominator": 10,
        "conversion_constant": 15_500,
        "revenue_floor": 100_000,
    }
    assert 100_000 * 15_500 * (100 + TABLES["research_bonus_percent"][5]) // (100 * 300_000) == 6200


def test_diplomacy() -> None:
    """EGC-7.12 to EGC-7.20, EGC-14.1, EGC-14.7, EGC-14.10: prices, levels, casus belli."""
    assert figures("diplomacy") == {
        "max_points": 1000,
        "start_points": 100,
        "degrade": 50,
        "degrade_at_war": 100,
        "propose": 100,
        "accept": 50,
        "incite": 200,
        "refuse_incite": 300,
        "sabotage": 25,
        "alliance_upkeep": 20,
        "territory_lost": 50,
        "territory_taken": -50,
        "casus_belli_turns": 2,
        "protect": 20,
        "protect_upkeep": 10,
        "protectorate": 80,
        "protectorate_upkeep": 40,
        "annex_cost_by_age": {"1": 600, "2": 400, "3": 250, "4": 150, "5+": 100},
        "territory_gifts_per_turn": 1,
    }
    assert D["relations"]["ladder"] == ["total_war", "war", "rupture", "peace", "nap", "mpa", "alliance"]
    assert (D["relations"]["initial"], D["relations"]["special"]) == ("peace", ["imminent_war"])
    lasting = {c["id"]: c["persistent"] for c in D["casus_belli"]["items"]}
    assert [k for k, v in lasting.items() if v] == ["straits_closed", "ports_opened"]
    assert all(f"`{kind}`" in PAGE for kind in lasting)
    assert len(lasting) == 7


def test_counts_and_links() -> None:
    """EGC-15.1 to EGC-15.5: windows and values; every link takes at least four territories and can be made."""
    assert figures("victory") == {
        "count_windows": [[8, 14], [15, 21], [22, 28], [29, 35]],
        "territory_vp": 1,
        "link_vp": 50,
        "final_territory_multiplier": 2,
        "links_per_choice": 2,
        "first_link_choice_turn": 4,
    }
    ends = [tuple(sorted(k["ends"])) for k in LINKS.values()]
    assert len(ends) == len(set(ends))
    for name, k in LINKS.items():
        assert name == "_".join(k["ends"])
        assert (set(k["ends"]) <= set(LANDS), k["vp"]) == (True, 50), name
        if k["kind"] == "land_path":
            steps = reach(k["ends"][0], lambda i: LANDS[i]["land_neighbours"])
            assert steps[k["ends"][1]] >= 3, name
    groups = {name: k["groups"] for name, k in LINKS.items() if k["kind"] == "groups"}
    assert groups == {
        "malacca_new_south_wales": [["sumatra", "borneo"], ["java", "new_guinea"], ["western_australia", "queensland"]]
    }
    assert "holland_finland" in LINKS


def test_set_up_and_options() -> None:
    """EGC-2.1, EGC-2.2, EGC-3.1: what neutral territories draw; at least 1198 numbers are drawn, 13 for the table."""
    assert D["setup"]["neutral"] == {
        "infrastructure_chance_percent": 10,
        "morale": [2, 8],
        "training": [1, 7],
        "naval_rank": [4, 10],
        "siege_rank": [4, 10],
    }
    options = [(o["id"], o["default"]) for o in D["options"]["items"]]
    assert options == [("turn_period_hours", 48), ("turn_zero_timeout", False), ("allow_vacant_seats", False)]
    assert D["options"]["items"][0]["values"] == [12, 24, 48, 84]
    neutral = [t for t in LANDS.values() if not t["home_of"]]
    assert 4 + 9 + sum(2 + 6 + 1 if t["coastal"] else 2 + 5 for t in neutral) == 1198
