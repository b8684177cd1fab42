#!/usr/bin/env bash
# msgspec leaves out members with their defaults, if it has read the dataclass from a document without them.
#
# Version: msgspec 0.22.0 under Python 3.11.
# Behaviour:
# A document need not have the members of a dataclass that have defaults. The object that msgspec reads is equal to one
# that a program makes, and its members can be read. But msgspec writes another document for it, without those members
# whose default is a plain value: it has left them to the class. Members with a default factory are written. With slots
# all are written.
# Output seen: equal: True, made: {"kind":"army","moves":0,"tags":[]}, read: {"kind":"army","tags":[]}
# Output seen: with slots, read: {"kind":"army","moves":0,"tags":[]}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/show.py" <<'PYTHON'
from dataclasses import dataclass, field

import msgspec


@dataclass
class Unit:
    kind: str
    moves: int = 0
    tags: list = field(default_factory=list)


@dataclass(slots=True)
class SlottedUnit:
    kind: str
    moves: int = 0
    tags: list = field(default_factory=list)


made, read = Unit("army"), msgspec.json.decode(b'{"kind":"army"}', type=Unit)
slotted = msgspec.json.decode(b'{"kind":"army"}', type=SlottedUnit)
whole, short = '{"kind":"army","moves":0,"tags":[]}', '{"kind":"army","tags":[]}'
said = [msgspec.json.encode(each).decode() for each in (made, read, slotted)]
print(f"equal: {made == read}, made: {said[0]}, read: {said[1]}")
print(f"with slots, read: {said[2]}")
assert made == read and read.moves == 0
assert said == [whole, short, whole]
PYTHON
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check msgspec==0.22.0
"$folder/env/bin/python" "$folder/show.py"
