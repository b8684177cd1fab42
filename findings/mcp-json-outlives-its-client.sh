#!/usr/bin/env bash
# A tool of an mcp server is cancelled when its client leaves, but not if the server answers in JSON.
#
# Version: mcp 2.3.0.
# Behaviour:
# The same call of the same tool over streamable HTTP, by the protocol of 2026-07-28. The client disconnects while the tool
# works. With a stream as the answer the tool is cancelled at once. With `json_response=True` it works to its end and its
# result is sent to nobody, so that a server of long calls keeps them all.
# Output seen: cancelled finished
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check mcp==2.3.0
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio
import json

import mcp_types as types
from mcp.server.lowlevel.server import Server

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "example", "version": "1"},
}
BODY = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait", "arguments": {}, "_meta": META}}
HEADERS = {
    "host": "example.org",
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "wait",
}
SCOPE = {
    "type": "http",
    "http_version": "1.1",
    "method": "POST",
    "scheme": "http",
    "path": "/mcp",
    "raw_path": b"/mcp",
    "root_path": "",
    "query_string": b"",
    "headers": [(name.encode(), value.encode()) for name, value in HEADERS.items()],
    "client": ("192.0.2.1", 1),
    "server": ("example.org", 80),
}


async def leave(json_response):
    ended = []

    async def call_tool(context, params):
        try:
            await asyncio.sleep(1)
            ended.append("finished")
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return types.CallToolResult(content=[])

    async def list_tools(context, params):
        return types.ListToolsResult(tools=[types.Tool(name="wait", input_schema={"type": "object"})])

    server = Server("example", on_list_tools=list_tools, on_call_tool=call_tool)
    app = server.streamable_http_app(stateless_http=True, json_response=json_response, host="0.0.0.0")
    messages = [{"type": "http.request", "body": json.dumps(BODY).encode(), "more_body": False}]

    async def receive():
        if messages:
            return messages.pop()
        await asyncio.sleep(0.2)
        return {"type": "http.disconnect"}

    async def send(message):
        pass

    async with server.session_manager.run():
        await app(SCOPE, receive, send)
    return ended


found = [asyncio.run(leave(json_response)) for json_response in (False, True)]
print(*(each for ended in found for each in ended))
assert found == [["cancelled"], ["finished"]]
PYTHON
