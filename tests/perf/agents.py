"""Figures of agents: calls of tools at `/mcp` beside the requests that they stand for, and what the first one loads."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from api.agents.api_calls import ApiAnswer, ApiCalls
from api.agents.tool_base import Tool
from api.agents.tools import FindTables, ListOptions, ReadBoard, ReadTable
from deploy.simulation import demo
from domain.types import Doc, Json
from tests.perf.figures import Figure
from tests.perf.line import Line
from tests.perf.service import Played, Table, whole_memory
from tests.perf.talk import alternate

PROTOCOL = {"Accept": "application/json, text/event-stream", "MCP_Protocol_Version": "2025-06-18"}


@dataclass(frozen=True)
class Agent:
    """What is measured."""

    count: int = 200
    """How often each tool is called, in turn with its requests."""


def figures(agent: Agent, played: Played) -> Iterator[Figure]:
    """Each tool in turn with its own requests, on two connections that are kept."""
    with tempfile.TemporaryDirectory(prefix="annals-perf-") as folder, demo.run_service(Path(folder)) as address:
        table = Table.opened(address, played)
        game, token = table.game.game, table.client.token
        before = sum(each.value for each in whole_memory("before an agent", 0))
        with Line(address, token) as ours, Line(address, token) as plain:
            api = ApiCalls(partial(_send, plain))
            for tool in (FindTables(), ReadTable(game=game), ReadBoard(game=game), ListOptions(game=game)):
                tool.run(api)  # tells its requests the role, once
                took = alternate(agent.count, call=partial(_call, ours, tool), requests=partial(tool.run, api))
                yield Figure(
                    "tool call of an agent, p50",
                    tool.name(),
                    statistics.median(took["call"]),
                    "ms",
                    "<= 2 x bare",
                    statistics.median(took["requests"]),
                    "its requests",
                )
        after = sum(each.value for each in whole_memory("after", 0))
        if before:
            yield Figure("memory of agents", "since before the first call", after - before, "MB", "")
        table.close()


def _call(line: Line, tool: Tool) -> None:
    given = {name: value for name in tool.__struct_fields__ if (value := getattr(tool, name)) not in (None, "")}
    sent = {"name": tool.name(), "arguments": given}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": sent})
    found: Doc = json.loads(line.ask("POST", "/mcp", body, **PROTOCOL).body)
    if found["result"].get("isError"):
        raise demo.DemoError(f"{tool.name()}: {found['result']['content']}")


def _send(line: Line, method: str, path: str, body: Json, headers: dict[str, str]) -> ApiAnswer:
    reply = line.ask(method, f"/v1{path}", "" if body is None else json.dumps(body), **headers)
    return ApiAnswer(reply.status, json.loads(reply.body))
