"""The export of an event with its games: one file, which goes on after a cut, and is verified as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.cli.main import main
from domain.tournaments.aggregate.tournament_proof import split_export
from tests.api.conftest import CATALOGUE, Site
from tests.api.test_tournament_changes import begun
from tests.api.test_tournaments import done, finish


def test_a_file_with_the_games_proves_their_results(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (host, people), path = begun(site)
    place = f"{path}/stages/1/rounds/1"
    for pod in done(host.api.get(place))["pods"]:
        finish(site, host.api, [who.api for who in people], pod)
    done(host.api.post(f"{place}/reports"))
    plain, whole = site.get(f"{path}/export"), site.get(f"{path}/export?games=1")
    event, games = split_export(whole.data)
    assert (event, len(games)) == (plain.data, 2)
    assert split_export(plain.data) == (plain.data, {})
    assert all(site.get(f"/games/{game}/export").data == data for game, data in games.items())
    half = len(whole.data) // 2
    rest = site.get(f"{path}/export?games=1", Range=f"bytes={half}-")
    assert (rest.status_code, rest.data) == (206, whole.data[half:])
    assert rest.headers["ETag"] == whole.headers["ETag"]
    file = tmp_path / "event.annals"
    file.write_bytes(whole.data)
    assert main(["tournament", "verify", str(file)], CATALOGUE) == 0
    assert "results_checked: 2" in capsys.readouterr().out
    (game, data) = min(games.items())
    file.write_bytes(whole.data.replace(data, b""))
    assert main(["tournament", "verify", str(file)], CATALOGUE) == 0
    assert f"there is no export of game {game}" in capsys.readouterr().out
    file.write_bytes(whole.data[: half + 5])
    assert main(["tournament", "verify", str(file)], CATALOGUE) == 1
