#!/usr/bin/env bash
# Plackett-Luce lowers two players who are tied in the middle.
#
# Version: openskill 6.2.0.
# Behaviour:
# Four equal players, one first, two tied for second, one last. The result is symmetric, and Bradley-Terry leaves the two in
# the middle at 25. Plackett-Luce takes 0.311 from each and gives it to the outer two, first more than last.
# Output seen: PlackettLuce 27.795 24.689 24.689 22.826; BradleyTerryFull 32.906 25.000 25.000 17.094
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check openskill==6.2.0
"$folder/venv/bin/python" - <<'PYTHON'
from openskill.models import BradleyTerryFull, PlackettLuce

def rate(kind):
    model = kind()
    rated = model.rate([[model.rating()] for _ in range(4)], ranks=[1, 2, 2, 4])
    return " ".join(f"{player.mu:.3f}" for (player,) in rated)

found = rate(PlackettLuce), rate(BradleyTerryFull)
print(f"PlackettLuce {found[0]}; BradleyTerryFull {found[1]}")
assert found == ("27.795 24.689 24.689 22.826", "32.906 25.000 25.000 17.094")
PYTHON
