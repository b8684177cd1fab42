#!/usr/bin/env bash
# msgspec refuses a subclass of str, which json and orjson write as text.
#
# Version: msgspec 0.22.0, orjson 3.13.0.
# Behaviour:
# A string with extra attributes, such as a translatable message or jinja2's Markup, is a str for every other writer.
# msgspec.json.encode raises TypeError for it, as a value. It takes the same object as a key.
# Output seen: Encoding objects of type Message is unsupported ; key: {"a":1}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check msgspec==0.22.0 orjson==3.13.0
"$folder/venv/bin/python" - <<'PYTHON'
import json

import msgspec
import orjson


class Message(str):
    pass


text = Message("a")
assert json.dumps(text) == orjson.dumps(text).decode() == '"a"'
try:
    msgspec.json.encode(text)
except TypeError as error:
    found = str(error)
print("msgspec:", found, "; key:", msgspec.json.encode({text: 1}).decode())
assert found == "Encoding objects of type Message is unsupported"
assert msgspec.json.encode({text: 1}) == b'{"a":1}'
PYTHON
