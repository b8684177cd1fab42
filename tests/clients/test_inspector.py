"""The inspector of the protocol's authors, on its command line, reads and calls what agents are offered."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.api.test_clients import imported
from tests.clients.kit import CLIENTS
from tests.deploy.harness import SHIPPED, Service, serving

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"

REFUSED = 5
"""Its exit status after a refusal."""

annals_client: Any = imported(CLIENTS / "python", "annals_client")

pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inspector")
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder), INSPECTOR]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "node_modules" / ".bin" / "mcp-inspector"


def make_asker(program: Path, service: Service) -> Callable[..., Any]:
    """Return a function that runs one method of the protocol and returns its result."""
    account = annals_client.Annals(service.url).register("Marta", "a river of green glass")
    address = ["--cli", f"{service.url}/mcp", "--transport", "http"]
    address += ["--header", f"Authorization: Bearer {account['token']}"]

    def ask(method: str, *args: str, status: int = 0) -> Any:
        done = subprocess.run(
            [str(program), *address, "--method", method, *args], capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stdout + done.stderr
        return json.loads(done.stdout)

    return ask


def test_it_lists_calls_and_reads_everything(program: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "data", program=SHIPPED, ANNALS_RATE="0") as service:
        ask = make_asker(program, service)
        tools = {each["name"]: each for each in ask("tools/list")["tools"]}
        assert {"find_tables", "open_table", "wait_for_turn", "list_options", "make_move"} <= set(tools)
        assert all(each["description"] and each["inputSchema"] for each in tools.values())

        given = ["ruleset=seven_empires@1", "seats=2", "bots=builder"]
        words = [word for each in given for word in ("--tool-arg", each)]
        made = ask("tools/call", "--tool-name", "open_table", *words)
        assert not made.get("isError"), made
        game = made["structuredContent"]["game"]
        read = ask("tools/call", "--tool-name", "read_table", "--tool-arg", f"game={game}")
        assert read["structuredContent"]["game"] == game
        other = ["--tool-name", "read_table", "--tool-arg", f"game={game[:-4]}0000"]
        refused = ask("tools/call", *other, status=REFUSED)
        assert refused["isError"]
        assert refused["structuredContent"]["code"] == "unknown_game"

        assert ask("resources/list")["resources"]
        templates = [each["uriTemplate"] for each in ask("resources/templates/list")["resourceTemplates"]]
        for template in templates:
            uri = template.replace("{game}", game).replace("{ruleset}", "seven_empires@1").replace("{seat}", "0")
            if "{" not in uri:
                assert ask("resources/read", "--uri", uri)["contents"]

        prompts = ask("prompts/list")["prompts"]
        assert prompts
        for prompt in prompts:
            names = [each["name"] for each in prompt.get("arguments", ()) if each.get("required")]
            args = [word for name in names for word in ("--prompt-args", f"{name}={game}")]
            assert ask("prompts/get", "--prompt-name", prompt["name"], *args)["messages"]
