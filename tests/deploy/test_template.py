"""What a new ruleset begins with is a game: it simulates, and is played over HTTP to its end."""

from __future__ import annotations

import re
from pathlib import Path

from tests import template
from tests.deploy.harness import run as served
from tests.deploy.harness import serving

TEMPLATE = Path(template.__file__).parent


def test_it_is_short() -> None:
    texts = [path.read_text() for path in (TEMPLATE / "__init__.py", *TEMPLATE.glob("texts/*.json"))]
    assert sum(bool(line.strip()) for text in texts for line in text.splitlines()) <= 125  # five for sentences of moves


def test_it_simulates() -> None:
    made = served("simulate", "template@1", "--seats", "3", "--games", "5", "--seed", "1")
    assert made.returncode == 0, made.stderr
    assert "finished" in made.stdout


def test_it_is_played_over_http(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        games = ("--ruleset", "template@1", "--seats", "3", "--export", str(tmp_path / "games"))
        made = served("demo", "--url", service.url, *games)
        assert made.returncode == 0, made.stderr
        (address,) = re.findall(r"^replay: +(http\S+)", made.stdout, re.MULTILINE)
        assert service.http.get(address).json()["ruleset"] == "template@1"
    (export,) = (tmp_path / "games").iterdir()
    proved = served("verify", str(export))
    assert proved.returncode == 0, proved.stderr
    shown = served("show", str(export), "--lang", "fr")
    assert "en laisse 0" in shown.stdout
