#!/usr/bin/env bash
# msgspec writes integers as keys, but not if it sorts them, and not those of a declared mapping either.
#
# Version: msgspec 0.22.0.
# Behaviour:
# msgspec.json.encode({1: 2}) gives {"1":2}. With order="sorted" or order="deterministic" the same value is a TypeError,
# also inside a Struct whose field is declared as dict[int, int], which msgspec.json.decode reads without complaint.
# Output seen: {"1":2} | Only dicts with str keys are supported when `order` is not `None`
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check msgspec==0.22.0
"$folder/venv/bin/python" - <<'PYTHON'
import msgspec


class Table(msgspec.Struct):
    seats: dict[int, int]


table = msgspec.json.decode(b'{"seats":{"1":2}}', type=Table)
assert table.seats == {1: 2}
assert msgspec.json.encode(table) == b'{"seats":{"1":2}}'
for value in ({1: 2}, table):
    for order in ("sorted", "deterministic"):
        try:
            msgspec.json.encode(value, order=order)
        except TypeError as error:
            found = str(error)
        else:
            raise AssertionError("it was written")
        assert found == "Only dicts with str keys are supported when `order` is not `None`", found
print(msgspec.json.encode({1: 2}).decode(), "|", found)
PYTHON
