#!/usr/bin/env bash
# A draw makes TrueSkill less certain where draws have the probability 0.
#
# Version: trueskill 0.4.5.
# Behaviour:
# With draw_probability=0, what a game without draws would set, a draw of two new players raises the uncertainty of both,
# from 8.333 to 9.588. With the default probability it falls to 6.458. Nothing is refused or warned of.
# Output seen: 8.333 becomes 9.588; with the default 6.458
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check trueskill==0.4.5
"$folder/venv/bin/python" - <<'PYTHON'
import trueskill

def draw(environment):
    one, _ = environment.rate_1vs1(environment.create_rating(), environment.create_rating(), drawn=True)
    return f"{one.sigma:.3f}"

found = draw(trueskill.TrueSkill(draw_probability=0)), draw(trueskill.TrueSkill())
print(f"{trueskill.SIGMA:.3f} becomes {found[0]}; with the default {found[1]}")
assert found == ("9.588", "6.458")
PYTHON
