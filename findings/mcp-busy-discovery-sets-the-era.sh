#!/usr/bin/env bash
# One 503 at the first request makes the client of mcp speak the protocol of 2025 from then on.
#
# Version: mcp 2.3.0 (client and server of the same release).
# Behaviour:
# The client opens with a discovery of the protocol of 2026. If a server that speaks it answers this one request with 503
# and Retry-After, the client neither waits nor asks again: it goes on with a handshake of 2025-11-25, and stays there for
# the whole connection, without a warning.
# Output seen: 2026-07-28 2025-11-25
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check mcp==2.3.0
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel.server import Server


async def list_tools(context, params):
    return types.ListToolsResult(tools=[])


async def protocol(refusals):
    server = Server("example", on_list_tools=list_tools)
    app = server.streamable_http_app(stateless_http=True, json_response=True, host="0.0.0.0")
    left = [refusals]

    async def front(scope, receive, send):
        if left[0] == 0:
            return await app(scope, receive, send)
        left[0] -= 1
        await send({"type": "http.response.start", "status": 503, "headers": [(b"retry-after", b"1")]})
        await send({"type": "http.response.body", "body": b""})

    async with (
        server.session_manager.run(),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(front)) as http,
        Client(streamable_http_client("http://example.org/mcp", http_client=http)) as client,
    ):
        await client.list_tools()
        return client.session.protocol_version


found = [asyncio.run(protocol(refusals)) for refusals in (0, 1)]
print(*found)
assert found == ["2026-07-28", "2025-11-25"]
PYTHON
