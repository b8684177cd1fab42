#!/usr/bin/env bash
# TrueSkill rates two equal players with an equal place by their order in the list.
#
# Version: trueskill 0.4.5.
# Behaviour:
# Four players with the same rating, two of them tied for second. The one who is listed first gets less. Whoever adds up
# results must list tied players in an order that nobody can choose.
# Output seen: 31.564 24.993 25.007 18.436
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check trueskill==0.4.5
"$folder/venv/bin/python" - <<'PYTHON'
import trueskill

environment = trueskill.TrueSkill()
rated = environment.rate([(environment.create_rating(),) for _ in range(4)], ranks=[0, 1, 1, 3])
points = [rating.mu for (rating,) in rated]
print(*(f"{mu:.3f}" for mu in points))
assert f"{points[1]:.3f}" == "24.993"
assert f"{points[2]:.3f}" == "25.007"
PYTHON
