"""Ratings over HTTP: from closed public tables of people with accounts, explained table by table."""

from __future__ import annotations

import random
from itertools import pairwise

from domain.ratings import NEWCOMER, RatedSeat, RatedTable, RatingList
from projections.rating_board import RatingBoard
from tests.api.conftest import Doc, Site, Table
from tests.api.members import Member
from tests.api.player import play
from tests.api.test_tournaments import done, drawn, finish, people, play_without

PACE = {"seconds": {"turn": 60}}
TURN = {"turns": 1}


def play_table(site: Site, members: list[Member], seed: int, guests: int = 0, **terms: object) -> Doc:
    """A table of these people and some guests, played to its end; its scores by seat."""
    seats = len(members) + guests
    made = done(site.post("/games", {"ruleset": "orders@1", "seats": seats, "options": TURN, **terms}))
    game, tokens = f"/games/{made['game']}", []
    for seat in range(seats):
        token = members[seat].token if seat < len(members) else ""
        joined = done(site.post(f"{game}/seats", {"seat": seat, **({} if token else {"name": "Guest"})}, token))
        tokens.append(token or joined["token"])
    done(site.post(f"{game}/start", {}, made["token"]))
    play(Table(site, made["game"], made["token"], tokens), random.Random(seed), 100)
    return {
        "game": made["game"],
        "places": [place for place, _ in site.services.reader.list_places(made["game"]) or ()],
    }


def listed(site: Site, family: str = "orders") -> dict[str, Doc]:
    return {row["name"]: row for row in done(site.get(f"/ratings/{family}"))["items"]}


def test_public_tables_are_rated_in_order_and_told_singly(site: Site) -> None:
    members, expected, rows = people(site, 3), RatingList(), dict[str, Doc]()
    assert done(site.get("/ratings/orders"))["items"] == []
    assert site.get("/ratings/chess").status_code == 404
    for seed in range(3):
        played = play_table(site, members, seed)
        ids = [member.doc["player"] for member in members]
        seats = tuple(RatedSeat(*each) for each in zip(ids, played["places"], strict=True))
        expected.add(RatedTable(played["game"], 0, "orders", seats))
        rows = listed(site)  # each table goes on from the list before
        assert {row["player"]: (row["mu"], row["sigma"]) for row in rows.values()} == {**expected.skills}
    order = done(site.get("/ratings/all"))["items"]
    assert [row["player"] for row in order] == [row["player"] for row in rows.values()]
    assert all(one["rating"] >= other["rating"] for one, other in pairwise(order))
    first = order[0]
    told = done(site.get(f"/ratings/orders/players/{first['player']}?limit=2"))
    assert (told["rating"], told["tables"], told["provisional"]) == (first["rating"], 3, True)
    rest = done(site.get(told["next"].removeprefix("/v1")))
    steps = [*told["items"], *rest["items"]]
    assert rest["next"] is None
    assert (steps[0]["mu"], steps[-1]["mu_before"]) == (first["mu"], NEWCOMER.mu)
    assert all(new["mu_before"] == old["mu"] for new, old in pairwise(steps))
    page = done(site.get("/ratings/orders?limit=2"))
    assert [len(page["items"]), len(done(site.get(page["next"].removeprefix("/v1")))["items"])] == [2, 1]


def test_lists_leave_out_guests_erased_and_tables_not_public(site: Site) -> None:
    members = people(site, 2)
    play_table(site, members, 1, listing="unlisted")
    play_table(site, members[:1], 2, guests=1)
    assert listed(site) == {}
    play_table(site, members, 3, guests=1)
    before = listed(site)
    assert set(before) == {"Anne 0", "Anne 1"}
    members[0].prove()
    assert members[0].delete("/me").status_code == 204
    assert listed(site) == {"Anne 1": before["Anne 1"] | {"place": 1}}
    assert site.get(f"/ratings/orders/players/{members[0].doc['player']}").status_code == 404


def test_ruling_of_a_tournament_counts_from_the_first_table_on(site: Site) -> None:
    director, members, path = drawn(site, 6, options=TURN)
    round_ = f"{path}/stages/1/rounds/1"
    done(director.post(f"{round_}/tables"))
    pods = done(site.get(round_))["pods"]
    for pod in pods:
        finish(site, director, members, pod)
    done(director.post(f"{round_}/reports"))
    before = listed(site)
    assert len(before) == 6
    first = pods[0]["entrants"]

    def rule(**ruling: object) -> None:
        body = {**ruling, "table": "1.1", "reason": "Rule 4.2."}
        tag = director.post(f"{path}/rulings?dry_run=1", body).headers["ETag"]
        done(director.post(f"{path}/rulings", body, If_Match=tag))

    places = done(site.get(round_))["pods"][0]["places"]
    turned = [1 + sum(other > place for other in places) for place in places] if len({*places}) > 1 else [1, 2, 3]
    rule(act="placed", places=turned)
    after = {row["player"]: row["mu"] for row in listed(site).values()}
    best = members[first[turned.index(1)]].doc["player"]
    assert after[best] > NEWCOMER.mu
    rule(act="annulled", how="void")
    rows = listed(site)
    assert {row["player"] for row in rows.values()} == {members[e].doc["player"] for e in pods[1]["entrants"]}
    board = RatingBoard(site.services.reader._views)
    again = board.refresh(site.services.account_store.accounts.list_people).lists["orders"]
    assert {player: skill.mu for player, skill in again.skills.items()} == {r["player"]: r["mu"] for r in rows.values()}


def test_who_hardly_played_is_rated_last_alone(site: Site) -> None:
    members = people(site, 3)
    made = done(
        site.post("/games", {"ruleset": "orders@1", "seats": 3, "options": TURN, "pace": {"seconds": {"turn": 60}}})
    )
    game = f"/games/{made['game']}"
    for seat, member in enumerate(members):
        done(member.post(f"{game}/seats", {"seat": seat}))
    done(site.post(f"{game}/start", {}, made["token"]))
    table = Table(site, made["game"], made["token"], [member.token for member in members])
    play_without(table, 2)
    rows = listed(site)
    places = [place for place, _ in site.services.reader.list_places(made["game"]) or ()]
    expected, ids = RatingList(), [member.doc["player"] for member in members]
    seats = tuple(RatedSeat(ids[seat], places[seat] or 0) for seat in (0, 1))
    expected.add(RatedTable(made["game"], 0, "orders", seats, (ids[2],)))
    assert {row["player"]: (row["mu"], row["sigma"]) for row in rows.values()} == {**expected.skills}
    assert rows["Anne 2"]["mu"] < NEWCOMER.mu


def leave(site: Site, members: list[Member], seed: int, moves: int, *, removed: bool = False, **terms: object) -> Doc:
    """A table of these people; seat 0 is given back, or emptied by the director, after some moves."""
    made = done(site.post("/games", {"ruleset": "orders@1", "seats": len(members), "options": TURN, **terms}))
    table = Table(site, made["game"], made["token"], [member.token for member in members])
    for seat, member in enumerate(members):
        done(site.post(f"{table.path}/seats", {"seat": seat}, member.token))
    done(site.post(f"{table.path}/start", {}, table.director))
    play(table, random.Random(seed), moves)
    token = table.director if removed else members[0].token
    assert site.delete(f"{table.path}/seats/0?hold=0", token).status_code == 200
    table.tokens[0] = table.director
    play(table, random.Random(seed), 100)
    assert table.get().json["status"] == "closed"
    return made


def test_giving_a_seat_back_is_rated_as_last_like_a_concession(site: Site) -> None:
    members = people(site, 3)
    made = leave(site, members, 1, 2)
    assert listed(site)["Anne 0"]["mu"] < NEWCOMER.mu
    told = done(site.get(f"/players/{members[0].doc['player']}/results"))["items"]
    assert [(each["game"], each["conceded"]) for each in told] == [(made["game"], True)]


def test_a_removal_counts_only_after_a_missed_deadline(site: Site) -> None:
    members = people(site, 3)
    leave(site, members, 1, 2, removed=True)
    assert "Anne 0" not in listed(site)


def seated(site: Site, members: list[Member], **terms: object) -> Table:
    """A running table of these people."""
    made = done(site.post("/games", {"ruleset": "orders@1", "seats": len(members), "options": TURN, **terms}))
    table = Table(site, made["game"], made["token"], [member.token for member in members])
    for seat, member in enumerate(members):
        done(site.post(f"{table.path}/seats", {"seat": seat}, member.token))
    done(site.post(f"{table.path}/start", {}, table.director))
    return table


def test_who_changes_seats_is_rated_as_last_anyway(site: Site) -> None:
    members = people(site, 3)
    table = seated(site, members)
    for seat in (0, 1):
        done(site.delete(f"{table.path}/seats/{seat}?hold=0", members[seat].token))
    for seat, taken in ((0, 1), (1, 0)):
        done(site.post(f"{table.path}/seats", {"seat": taken}, members[seat].token))
    table.tokens = [members[1].token, members[0].token, members[2].token]
    play(table, random.Random(1), 100)
    rows = listed(site)
    assert [rows[f"Anne {number}"]["tables"] for number in range(3)] == [1, 1, 1]
    assert rows["Anne 0"]["mu"] < NEWCOMER.mu
    assert rows["Anne 1"]["mu"] < NEWCOMER.mu


def test_who_returns_to_the_own_seat_is_rated_by_its_place(site: Site) -> None:
    members = people(site, 3)
    table = seated(site, members)
    done(site.delete(f"{table.path}/seats/0?hold=0", members[0].token))
    done(site.post(f"{table.path}/seats", {"seat": 0}, members[0].token))
    play(table, random.Random(1), 100)
    told = done(site.get(f"/players/{members[0].doc['player']}/results"))["items"]
    assert [each["conceded"] for each in told] == [False]


def test_an_officer_who_removes_the_own_seat_gives_it_back(site: Site) -> None:
    members = people(site, 3)
    table = {"ruleset": "orders@1", "seats": 3, "options": TURN, "officers": "any"}
    game = done(members[0].post("/games", table))["game"]
    for seat, member in enumerate(members):
        done(member.post(f"/games/{game}/seats", {"seat": seat}))
    done(members[0].post(f"/games/{game}/start", {}, Annals_Role="director"))
    done(members[0].delete(f"/games/{game}/seats/0?hold=0", Annals_Role="director"))
    tokens = [done(site.post(f"/games/{game}/seats", {"seat": 0, "name": "Guest"}))["token"]]
    tokens += [member.token for member in members[1:]]
    play(Table(site, game, tokens[1], tokens), random.Random(1), 100)
    assert listed(site)["Anne 0"]["mu"] < NEWCOMER.mu
