"""The TypeScript client: typed by the document, without dependencies, and through a game with a dead service in it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from deploy.cli.main import main
from tests.api.played import published
from tests.api.test_npm_clients import run, tools
from tests.clients.forked import FIRST, GAME, SECOND, forging
from tests.clients.kit import TYPESCRIPT, Phoenix

__all__ = ["tools"]

pytestmark = [
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there"),
    pytest.mark.xdist_group("typescript"),  # compiled once
]


@pytest.fixture(scope="module")
def compiled(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a user: client and types as README.md says, compiled strictly."""
    folder = tmp_path_factory.mktemp("typescript") / "user"
    shutil.copytree(TYPESCRIPT, folder)
    document = published(tmp_path_factory)
    run(str(tools / "openapi-typescript"), str(document), "--output", "annals.d.ts", cwd=folder)
    run(str(tools / "tsc"), "--project", ".", cwd=folder)
    shutil.copy(Path(__file__).parent / "play.mjs", folder)
    return folder


def test_it_is_small_and_needs_nothing_at_run_time() -> None:
    text = (TYPESCRIPT / "client.ts").read_text("utf-8")
    assert len(text.splitlines()) <= 520
    assert re.findall(r"^import .*", text, re.MULTILINE) == ['import type { components } from "./annals.js";']
    assert "dependencies" not in json.loads((TYPESCRIPT / "package.json").read_text("utf-8"))


@pytest.mark.parametrize("head", ["", SECOND, FIRST])
def test_a_forked_game_is_told(compiled: Path, head: str) -> None:
    """A record that is gone, another one, and another one only in the stream."""
    program = f"""import {{ Annals, Forked }} from "./client.js";
    const table = new Annals(process.argv[2]).table("{GAME}", "0");
    await table.move({{ type: "order" }}, {{ decision: "0-1" }});
    try {{ await table.follow().next(); }} catch (error) {{ console.log(error instanceof Forked, error.message); }}
    process.exit();"""
    (compiled / "forked.mjs").write_text(program)
    with forging(head) as url:
        done = subprocess.run(
            [str(shutil.which("node")), "forked.mjs", url],
            cwd=compiled,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.stdout.startswith(f"true version 7: first {FIRST}, now"), done


def test_a_whole_game_with_the_service_killed_in_it(
    compiled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    phoenix = Phoenix(tmp_path / "data")
    errors = tmp_path / "errors"
    lines: list[str] = []
    try:
        with errors.open("w") as said:
            command = ["node", "play.mjs", phoenix.url, "25"]
            player = subprocess.Popen(command, cwd=compiled, stdout=subprocess.PIPE, stderr=said, text=True)
        assert player.stdout is not None
        with player, player.stdout:
            for line in player.stdout:
                lines.append(line.rstrip("\n"))
                if lines[-1] == "kill":
                    phoenix.die()
                    phoenix.rise()
        assert player.returncode == 0, errors.read_text()
    finally:
        phoenix.end()
    assert lines.count("kill") == 1
    assert "status closed" in lines
    assert "final unauthenticated" in lines
    file = tmp_path / "game.jsonl"
    file.write_text("\n".join(line for line in lines if line.startswith("{")) + "\n")
    assert main(["verify", str(file)]) == 0
    assert "closed: true" in capsys.readouterr().out


def test_a_seat_gives_standing_orders_and_revokes_them(compiled: Path, tmp_path: Path) -> None:
    program = """import { Annals } from "./client.js";
    const annals = new Annals(process.argv[2]);
    await annals.register("Orla", "a river of green glass");
    const table = await annals.open("struggle_of_empires@1", 2);
    await table.seatBot(1);
    const seat = await table.join(0);
    await seat.start();
    const { kinds } = await seat.standingOrders();
    const given = await seat.order("keep_dice", {}, { times: 3 });
    const refused = await seat.order("march").catch((error) => error.code);
    await seat.revoke(given.order);
    const { items } = await seat.standingOrders();
    console.log(JSON.stringify([kinds.map((each) => each.kind), given, refused, items]));"""
    (compiled / "orders.mjs").write_text(program)
    phoenix = Phoenix(tmp_path / "data")
    try:
        command = [str(shutil.which("node")), "orders.mjs", phoenix.url]
        done = subprocess.run(command, cwd=compiled, capture_output=True, text=True, timeout=60, check=False)
    finally:
        phoenix.end()
    assert done.returncode == 0, done.stderr
    kinds, given, refused, items = json.loads(done.stdout)
    assert "keep_dice" in kinds
    assert (given["state"], given["times"], refused) == ("stands", 3, "unknown_standing_order")
    assert [(each["order"], each["reason"]) for each in items] == [(given["order"], "revoked")]


def test_it_waits_as_long_as_a_refusal_asks(compiled: Path) -> None:
    """Seconds or a date; a time that no timer has is cut, and what is neither counts as none."""
    program = """import { pause } from "./client.js";
    const past = new Date(Date.now() - 3.6e6).toUTCString(), coming = new Date(Date.now() + 3.6e6).toUTCString();
    const given = ["7", past, coming, "9".repeat(5000), "", "-5", "1.5", "soon", "\\u0666"];
    console.log(JSON.stringify(given.map((value) => pause(2, value))));"""
    (compiled / "waiting.mjs").write_text(program)
    done = subprocess.run(
        [str(shutil.which("node")), "waiting.mjs"], cwd=compiled, capture_output=True, text=True, timeout=60, check=True
    )
    seconds, past, coming, longest, *others = json.loads(done.stdout)
    assert 7000 <= seconds < 7100
    assert 0 <= past < 100
    assert 3_500_000 < coming <= 3_600_100
    assert 2**30 < longest < 2**31
    assert all(400 <= each < 500 for each in others)
