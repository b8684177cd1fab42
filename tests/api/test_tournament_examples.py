"""The events of docs/tournaments.md: each body opens a tournament, tables are made, and the export proves itself."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from domain.accounts.accounts import AccountRegistration
from domain.tournaments.aggregate.basic_commands import CheckIn, CloseCheckIn, Enter, OpenCheckIn
from domain.tournaments.aggregate.result_commands import AddTable, Report
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from domain.tournaments.scoring import rank_points
from tests.api.conftest import Doc, Site, make_site
from tests.api.members import register
from tests.api.played import CATALOGUE

PAGE = (Path(__file__).parents[2] / "docs" / "tournaments.md").read_text("utf-8").partition("## Five events")[2]
EVENTS = re.findall(r", (\d+) entrants, .*?```json\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service with the rulesets that ship."""
    with closing(make_site(tmp_path_factory.mktemp("events"), CATALOGUE)) as site:
        yield site


def report_all(site: Site, path: str, stage: int, number: int, chance: random.Random) -> None:
    """Tables with names in place of games, and results by chance; the first round of all has its real games."""
    tournament, handler = path.rpartition("/")[2], site.services.tournaments
    for pod, drawn in enumerate(handler.load(tournament).stages[stage - 1].rounds[number - 1].pods, 1):
        table = handler.load(tournament).stages[stage - 1].tables.get((number, pod))
        game, entrants = (table.game, table.entrants) if table else (f"{stage}.{number}.{pod}", drawn)
        if table is None:
            handler.handle(tournament, AddTable(stage, number, pod, game, entrants))
        points = tuple(chance.randrange(30) for _ in entrants)
        handler.handle(tournament, Report(stage, number, pod, game, 9, "0" * 64, rank_points(points), points))


@pytest.mark.parametrize(("entrants", "body"), EVENTS, ids=["soe", "se7", "aor", "egc", "imp"])
def test_an_example_runs_from_its_body_to_its_proof(harness: Site, entrants: str, body: str) -> None:
    site, chance = harness, random.Random(body)
    director = register(site, f"Organiser {chance.randrange(10**6)}")
    terms: Doc = json.loads(body)
    made = director.post("/tournaments", terms)
    assert made.status_code == 201, made.text
    path, handler = f"/tournaments/{made.json['tournament']}", site.services.tournaments
    accounts = site.services.account_store.accounts
    wanted = [AccountRegistration(f"{director.doc['player']} {n}", "hash", []) for n in range(int(entrants))]
    people = [accounts.open(accounts.make_id(), each)[0].player for each in wanted]
    present = (*(Enter(p) for p in people), OpenCheckIn(), *(CheckIn((p,)) for p in people), CloseCheckIn())
    for command in present:
        handler.handle(made.json["tournament"], command)
    while (t := handler.load(made.json["tournament"])).status != "finished":
        stage, play = len(t.stages), t.play
        if t.next_draw and len(play.rankings) == len(play.rounds):
            answer = director.post(f"{path}/stages/{stage}/rounds/{t.next_draw[1]}/draw")
            assert answer.status_code == 201, answer.text
            if (stage, t.next_draw[1]) == (1, 1):
                tables = director.post(f"{path}/stages/1/rounds/1/tables")
                assert (tables.status_code, tables.json["left"]) == (201, 0), tables.text
        elif len(play.rankings) < len(play.rounds):
            number = len(play.rankings) + 1
            report_all(site, path, stage, number, chance)
            assert director.post(f"{path}/stages/{stage}/rounds/{number}/rank").status_code == 201
        else:
            assert director.post(f"{path}/close").status_code == 201
    proven = verify_tournament(parse_export(site.get(f"{path}/export").data))
    assert (proven.status, len(proven.stages)) == ("finished", len(terms["stages"]))
