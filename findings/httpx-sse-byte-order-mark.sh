#!/usr/bin/env bash
# httpx-sse loses the first event after a byte order mark.
#
# Version: httpx-sse 0.4.3 with httpx 0.28.1.
# Behaviour:
# The HTML standard lets a stream begin with one byte order mark, and ignores it. httpx-sse takes it for part of the name
# of the first field, so the first event is lost without an error, and the second is read.
# Output seen: ['second']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check httpx-sse==0.4.3 httpx==0.28.1
"$folder/venv/bin/python" - <<'PYTHON'
import httpx
from httpx_sse import connect_sse

def answer(request):
    text = "\ufeffdata: first\n\ndata: second\n\n"
    return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=text.encode())

with httpx.Client(transport=httpx.MockTransport(answer)) as client:
    with connect_sse(client, "GET", "http://example.org/") as source:
        found = [event.data for event in source.iter_sse()]
print(found)
assert found == ["second"]
PYTHON
