"""Whole games by the protocol's own client, with nothing but the tools: over HTTP, and over a process's pipes."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.api.test_agent_server import pick
from tests.api.test_clients import imported
from tests.clients.kit import CLIENTS
from tests.deploy.harness import SHIPPED, serving

GAMES = {
    "seven_empires@1": 2,
    "struggle_of_empires@1": 2,
    "imperunde@1": 3,
    "age_of_reason@1": 2,
    "egc@1": 10,
}
OVERTAKEN = {"decision_closed", "not_your_decision"}
"""Refusals where others ended a decision of several seats meanwhile: a reader waits again, as `next` says."""

PATIENCE = 900.0
"""Seconds of a game."""

annals_client: Any = imported(CLIENTS / "python", "annals_client")


@asynccontextmanager
async def connected(url: str, token: str, transport: str) -> AsyncIterator[Client]:
    if transport == "http":
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            yield client
        return
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "deploy", "mcp", "--url", url], env={"ANNALS_TOKEN": token}
    )
    async with Client(stdio_client(command)) as client:
        yield client


async def play(url: str, token: str, ruleset: str, transport: str) -> list[str]:
    """Return the refusals of a whole game at random. In the middle the client connects anew."""
    refused: list[str] = []
    rng, game, since, moves = random.Random(5), "", 0, 0

    async def call(client: Client, tool: str, **given: Any) -> Any:
        found = await client.call_tool(tool, given)
        if found.is_error and found.structured_content["code"] not in OVERTAKEN:
            refused.append(f"{tool} {given}: {found.structured_content}")
        return found.structured_content

    async def step(client: Client) -> str:
        nonlocal since, moves
        now = await call(client, "wait_for_turn", game=game, since=since)
        since = now["version"]
        if any(each["must"] for each in now["decisions"]):
            picks: list[Any] = []
            while "move" not in (asked := await call(client, "list_options", game=game, picks=picks)):
                if "pick" not in asked:
                    return str(now["status"])
                picks.append(pick(rng, asked))
            await call(client, "make_move", game=game, decision=asked["decision"], picks=picks)
            moves += 1
        return str(now["status"])

    async with connected(url, token, transport) as client:
        made = await call(client, "open_table", ruleset=ruleset, seats=GAMES[ruleset], bots="builder")
        game = made["game"]
        while moves < 10:
            await step(client)
    async with connected(url, token, transport) as client:
        while await step(client) not in ("over", "closed"):  # the service closes a finished game soon
            pass
    return refused


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("ruleset", GAMES)
@pytest.mark.timeout(PATIENCE + 60)
def test_a_whole_game_is_played_without_a_refusal(tmp_path: Path, ruleset: str, transport: str) -> None:
    with serving(tmp_path / "data", program=SHIPPED, ANNALS_RATE="0") as service:
        account = annals_client.Annals(service.url).register("Marta", "a river of green glass")
        game = play(service.url, account["token"], ruleset, transport)
        assert asyncio.run(asyncio.wait_for(game, PATIENCE)) == []
