"""`annals tournament verify` with games: the results of an event against what was played, from files and a service."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.cli.arguments import DONE, FAILED
from deploy.cli.main import USAGE, main
from domain.tournaments.aggregate.result_commands import Report
from domain.tournaments.aggregate.tournament_proof import parse_export
from tests.api.conftest import CATALOGUE, ROOT, Site
from tests.api.test_checkpoint import served
from tests.api.test_checkpoints import publish, vkeys
from tests.api.test_tournaments import done, drawn, finish
from workers.maintenance import checkpoint_publisher

COMMANDS = re.findall(r"^    annals tournament verify (.*)$", (ROOT / "docs" / "audit.md").read_text(), re.MULTILINE)
"""What the page for those who do not trust a host tells to type."""


@dataclass(frozen=True)
class Held:
    """The files of an event with two tables, each told by its games."""

    honest: Path
    changed: Path
    """The same, but its host has told another order of table 1.2."""
    games: Path
    names: list[str]
    """The files of the games of tables 1.1 and 1.2."""


@pytest.fixture
def held(site: Site, tmp_path: Path) -> Held:
    director, members, path = drawn(site, 6, stages=[{"format": "league", "rounds": 1}])
    round_ = f"{path}/stages/1/rounds/1"
    done(director.post(f"{round_}/tables"))
    pods = done(site.get(round_))["pods"]
    for pod in pods:
        finish(site, director, members, pod)
    assert done(director.post(f"{round_}/reports"))["pods"] == [1, 2]
    (folder := tmp_path / "games").mkdir()
    names = [f"{pod['game']}.annals" for pod in pods]
    for pod, name in zip(pods, names, strict=True):
        (folder / name).write_bytes(site.get(f"/games/{pod['game']}/export").data)
    files = [tmp_path / "honest.annals", tmp_path / "changed.annals"]
    files[0].write_bytes(site.get(f"{path}/export").data)
    told = parse_export(files[0].read_bytes())[-1].body
    assert (told["pod"], told["places"]) != (2, [3, 2, 1])
    figures = (tuple(map(tuple, told["decisions"])), tuple(told.get("lapses", ())), tuple(told.get("left", ())))
    points = tuple(told["points"])
    command = Report(1, 1, 2, told["game"], told["version"], told["head"], (3, 2, 1), points, *figures)
    site.services.tournaments.handle(path.rpartition("/")[2], command)
    site.ring()
    files[1].write_bytes(site.get(f"{path}/export").data)
    return Held(files[0], files[1], folder, names)


def verify(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, list[str], str]:
    """The exit status, the sentences on tables, and all that was printed."""
    status = main(["tournament", "verify", *map(str, args)], CATALOGUE)
    shown = capsys.readouterr()
    return status, [line for line in shown.out.splitlines() if line.startswith("Table ")], shown.out + shown.err


def test_a_good_pair_holds_and_each_difference_is_a_sentence(held: Held, capsys: pytest.CaptureFixture[str]) -> None:
    status, told, shown = verify(capsys, held.honest, "--games", held.games)
    assert (status, told) == (DONE, []), shown
    assert "results_checked: 2\nresults_not_checked: 0" in shown
    status, told, shown = verify(capsys, held.changed, "--games", held.games)
    (sentence,) = told
    assert status == FAILED
    assert sentence.startswith("Table 1.2: the event has places 3, 2, 1, and the game has ")
    (held.games / held.names[0]).unlink()
    status, told, shown = verify(capsys, held.honest, "--games", held.games)
    missing = f"Table 1.1: there is no export of game {held.names[0].removesuffix('.annals')}. It is not checked."
    assert (status, told) == (DONE, [missing])
    assert "results_checked: 1\nresults_not_checked: 1" in shown
    (held.games / held.names[0]).write_bytes((held.games / held.names[1]).read_bytes())
    status, (told_of,), _ = verify(capsys, held.honest, "--games", held.games)
    assert (status, told_of[:35]) == (FAILED, "Table 1.1: the event has game " + held.names[0][:5])


def test_commands_of_the_page_lead_from_a_file_to_certainty(
    site: Site, held: Held, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint_publisher, "INTERVAL", 0)
    monkeypatch.chdir(held.games.parent)
    publish(site)
    records = parse_export(held.changed.read_bytes())
    tournament, last = records[0].body["tournament"], len(records)
    proof = site.get(f"/tournaments/{tournament}/records/{last - 1}/proof", Accept="text/plain")
    Path("record.tlog-proof").write_bytes(proof.data)
    held.honest.rename("event.annals")
    with served(site.app) as url:
        words = {"URL": url, "VKEY": min(vkeys(site), key=len)}
        told = [verify(capsys, *(words.get(word, word) for word in command.split())) for command in COMMANDS]
    assert [status for status, _, _ in told] == [DONE] * 4, told
    shown = [text for _, _, text in told]
    assert ["results_checked: 2" in text for text in shown] == [False, True, True, False]
    assert f"proved_version: {last - 1}" in shown[-1]


def test_games_are_fetched_from_a_service(site: Site, held: Held, capsys: pytest.CaptureFixture[str]) -> None:
    with served(site.app) as url:
        assert verify(capsys, held.honest, "--url", url)[:2] == (DONE, [])
        assert verify(capsys, held.honest, "--url", f"{url}/")[:2] == (DONE, [])
        status, told, _ = verify(capsys, held.changed, "--url", url)
        assert (status, len(told)) == (FAILED, 1)
        status, told, shown = verify(capsys, held.honest, "--url", f"{url}/elsewhere")
        assert (status, [line[-15:] for line in told]) == (DONE, 2 * ["is not checked."]), shown
    assert verify(capsys, held.honest, "--url", "ftp://a.example")[0] == FAILED
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        status, told, shown = verify(capsys, held.honest, "--url", f"http://127.0.0.1:{free.getsockname()[1]}")
    assert (status, told) == (USAGE, []), shown
    assert "Traceback" not in shown
