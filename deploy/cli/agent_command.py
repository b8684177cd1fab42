"""The command `annals mcp`: the Model Context Protocol for one agent, over standard input and output."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from importlib.util import find_spec

import msgspec
import urllib3

from api.agents.api_calls import ApiAnswer, ApiCalls, ToolRefusal
from deploy.cli.arguments import DONE, FAILED
from deploy.cli.output import print_error
from domain.errors import AnnalsError
from domain.ruleset_registry import RulesetRegistry
from domain.types import Json

TOKEN = "ANNALS_TOKEN"  # noqa: S105 - the name of a variable
SECONDS = 60.0
"""Longest wait for an answer."""


def add_command(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command and its arguments."""
    parser = add("mcp", help="let an agent use a service by the Model Context Protocol, over standard input and output")
    parser.set_defaults(command=serve_agent)
    parser.add_argument("--url", required=True, help=f"address of the service; {TOKEN} holds the agent's token")


def serve_agent(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Serve until standard input ends."""
    if find_spec("mcp") is None:
        return print_error(AnnalsError("install the extra `agents` of the package first"), FAILED)
    import anyio  # noqa: PLC0415 - of the extra
    from mcp.server.stdio import stdio_server  # noqa: PLC0415

    from api.agents.agent_server import build_server  # noqa: PLC0415

    url = args.url.rstrip("/")
    calls = ApiCalls(lambda *request: _send(url, *request))
    server = build_server(lambda _: calls, lambda _, game, form: _fetch(f"{url}/games/{game}/board.{form}"))

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(serve)
    return DONE


def _send(url: str, method: str, path: str, body: Json, headers: dict[str, str]) -> ApiAnswer:
    """Return the service's answer. A write has a key, so it may be repeated."""
    headers |= {"Annals-Agent": "declared", **_authorization()}
    headers |= {} if method == "GET" else {"Content-Type": "application/json"}
    data = None if method == "GET" else msgspec.json.encode({} if body is None else body)
    try:
        answer = urllib3.request(
            method, f"{url}/v1{path}", body=data, headers=headers, timeout=SECONDS, retries=_retries(), redirect=False
        )
    except urllib3.exceptions.HTTPError as error:
        raise ConnectionError from error
    is_json = answer.headers.get("Content-Type", "").partition(";")[0].endswith(("/json", "+json"))
    doc = msgspec.json.decode(answer.data) if is_json and answer.data else {"text": answer.data.decode()}
    return ApiAnswer(answer.status, doc, answer.headers.get("Retry-After", ""))


def _fetch(address: str) -> bytes:
    try:
        answer = urllib3.request("GET", address, headers=_authorization(), timeout=SECONDS, redirect=False)
    except urllib3.exceptions.HTTPError as error:
        raise ConnectionError from error
    if answer.status != 200:
        raise ToolRefusal(ApiAnswer(answer.status, {"code": "not_found", "title": "No picture of this table"}))
    return answer.data


def _authorization() -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if (token := os.environ.get(TOKEN, "")) else {}


def _retries() -> urllib3.Retry:
    return urllib3.Retry(3, redirect=0, allowed_methods=None, status_forcelist=[503], raise_on_status=False)
