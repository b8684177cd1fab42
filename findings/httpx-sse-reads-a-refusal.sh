#!/usr/bin/env bash
# httpx-sse reads the body of a 503 as a stream.
#
# Version: httpx-sse 0.4.3 with httpx 0.28.1.
# Behaviour:
# By the HTML standard any status but 200 fails the connection, and no event comes of it. httpx-sse looks at the content
# type alone: events in the body of a 503 arrive like any others, and no error tells of the status.
# Output seen: 503 ['busy']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check httpx-sse==0.4.3 httpx==0.28.1
"$folder/venv/bin/python" - <<'PYTHON'
import httpx
from httpx_sse import connect_sse

def answer(request):
    return httpx.Response(503, headers={"Content-Type": "text/event-stream"}, content=b"data: busy\n\n")

with httpx.Client(transport=httpx.MockTransport(answer)) as client:
    with connect_sse(client, "GET", "http://example.org/") as source:
        found = [event.data for event in source.iter_sse()]
        status = source.response.status_code
print(status, found)
assert (status, found) == (503, ["busy"])
PYTHON
