#!/usr/bin/env bash
# openskill doubles the change of a player who did a hundredth more than the partner, and a weight of 0 changes nothing.
#
# Version: openskill 6.2.0.
# Behaviour:
# `weights` says what each player of a team contributed. They are stretched over 1 to 2 within each team, whatever they
# are. So 1 and 0.99 count as 1 and 0, and as 10 and 1: the first player gains twice as much as without weights. A winner
# with weight 0 gains all that one gains without weights, as does a team of zeros. `weight_bounds` sets the two ends.
# Output seen: none 26.964 26.964; 1 and 0.99 28.929 26.964; 1 and 0 28.929 26.964; 0 and 0 26.964 26.964
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check openskill==6.2.0
"$folder/venv/bin/python" - <<'PYTHON'
from openskill.models import PlackettLuce

model = PlackettLuce()

def winners(weights):
    teams = [[model.rating(), model.rating()] for _ in range(2)]
    first, _ = model.rate(teams, weights=weights and [weights, [1, 1]])
    return " ".join(f"{player.mu:.3f}" for player in first)

seen = {"none": None, "1 and 0.99": [1, 0.99], "1 and 0": [1, 0], "0 and 0": [0, 0]}
found = {name: winners(weights) for name, weights in seen.items()}
print("; ".join(f"{name} {rated}" for name, rated in found.items()))
assert list(found.values()) == ["26.964 26.964", "28.929 26.964", "28.929 26.964", "26.964 26.964"]
PYTHON
