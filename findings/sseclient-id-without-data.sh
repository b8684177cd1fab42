#!/usr/bin/env bash
# sseclient-py forgets the id of a block without data.
#
# Version: sseclient-py 1.9.0.
# Behaviour:
# By the HTML standard the last event id is kept from any block, also one without data, and later events carry it.
# sseclient-py drops it with the block: the next event has the id None, and a client that reconnects asks from the start.
# Output seen: [('y', None)]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check sseclient-py==1.9.0
"$folder/venv/bin/python" - <<'PYTHON'
import sseclient

class Source:
    def __iter__(self):
        yield b"id: 7\n\ndata: y\n\n"

    def close(self):
        pass

found = [(event.data, event.id) for event in sseclient.SSEClient(Source()).events()]
print(found)
assert found == [("y", None)]
PYTHON
