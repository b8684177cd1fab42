#!/usr/bin/env bash
# A tuple in an event of eventsourcing is a list after loading.
#
# Version: eventsourcing 9.5.6.
# Behaviour:
# An aggregate keeps the tuple that its command was given. Loaded from the same events it has a list, also inside other
# tuples, and integer keys of a mapping are strings. So two copies of one version are unequal, and only one can be hashed.
# Output seen: live: ('a', ('b',)) {1: 2}; loaded: ['a', ['b']] {'1': 2}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check eventsourcing==9.5.6
"$folder/venv/bin/python" - <<'PYTHON'
from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

class Table(Aggregate):
    @event("Opened")
    def __init__(self, names, counts):
        self.names, self.counts = names, counts

application = Application()
live = Table(names=("a", ("b",)), counts={1: 2})
application.save(live)
loaded = application.repository.get(live.id)
print(f"live: {live.names} {live.counts}; loaded: {loaded.names} {loaded.counts}")
assert (live.names, live.counts) == (("a", ("b",)), {1: 2})
assert (loaded.names, loaded.counts) == (["a", ["b"]], {"1": 2})
PYTHON
