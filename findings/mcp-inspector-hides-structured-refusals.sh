#!/usr/bin/env bash
# The inspector of MCP checks a failed call's result by the schema of a successful one, and hides the reason; mcp shows it.
#
# Version: @modelcontextprotocol/inspector 2.12.0 (command line), mcp 2.3.0 (server and client).
# Behaviour:
# A tool declares an output schema, and answers a call that it refuses with `isError`, a text, and structured content
# with its code. mcp's own client hands all of it on. The inspector first compares the structured content with the
# output schema, although the call has failed, and prints that a member is missing instead of the text and the code.
# Output seen: client: True no_port; inspector: data must have required property 'total'
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check mcp==2.3.0
npm install --silent --ignore-scripts --no-audit --no-fund --prefix "$folder" @modelcontextprotocol/inspector@2.12.0
cat > "$folder/server.py" <<'PYTHON'
import asyncio

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

SUM = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}


async def list_tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="ship", input_schema={"type": "object"}, output_schema=SUM)])


async def call_tool(context, params):
    text = types.TextContent(type="text", text="code: no_port")
    return types.CallToolResult(content=[text], structured_content={"code": "no_port"}, is_error=True)


async def main():
    server = Server("example", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
PYTHON
cat > "$folder/client.py" <<'PYTHON'
import asyncio
import sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main():
    command = StdioServerParameters(command=sys.executable, args=[sys.argv[1]])
    async with Client(stdio_client(command)) as client:
        await client.list_tools()
        found = await client.call_tool("ship", {})
        print(found.is_error, found.structured_content["code"])


asyncio.run(main())
PYTHON
by_client=$("$folder/venv/bin/python" "$folder/client.py" "$folder/server.py")
by_inspector=$("$folder/node_modules/.bin/mcp-inspector" --cli "$folder/venv/bin/python" "$folder/server.py" \
  --method tools/call --tool-name ship 2>&1 || true)
echo "client: $by_client; inspector: $by_inspector"
[ "$by_client" = "True no_port" ]
grep -q "must have required property 'total'" <<<"$by_inspector"
! grep -q "no_port" <<<"$by_inspector"
