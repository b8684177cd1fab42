"""Tools, resources and prompts for agents that speak the Model Context Protocol, on top of the HTTP API.

`tools.py` declares the tools, `tool_results.py` their results, `agent_server.py` serves them, `mount.py` at `/mcp`.
Only the last two import the protocol's library, an extra of the wheel.
"""
