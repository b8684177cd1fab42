#!/usr/bin/env bash
# A block of nothing but `retry` becomes a message in httpx-sse.
#
# Version: httpx-sse 0.4.3.
# Behaviour:
# The HTML standard dispatches no event for a block without data. httpx-sse gives one with empty data for a block that
# only sets `retry` or `id`, so a client that parses every message as JSON fails on the first block of many servers.
# Output seen: retry alone: [('message', '', 2000)]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check httpx-sse==0.4.3 httpx==0.28.1
"$folder/venv/bin/python" - <<'PYTHON'
from httpx_sse._decoders import SSEDecoder
decoder, found = SSEDecoder(), []
for line in ["retry: 2000", ""]:
    if (event := decoder.decode(line)) is not None:
        found.append((event.event, event.data, event.retry))
print("retry alone:", found)
assert found == [("message", "", 2000)]
PYTHON
