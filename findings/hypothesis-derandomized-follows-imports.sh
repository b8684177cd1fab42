#!/usr/bin/env bash
# A derandomized test of Hypothesis draws other examples once another module of the project is imported.
#
# Version: hypothesis 6.170.15.
# Behaviour:
# With `derandomize=True` the examples of a test are meant to follow from the test alone. They also follow from the
# constants in all local modules that are imported so far. So a test sees other examples beside other tests than alone,
# and a constant that changes anywhere in the project changes them too, without a change of the test.
# Output seen: alone twice the same: True; with an unused local module the same: False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/unused.py" <<'PYTHON'
PRICES = [1009, 2003, 3001, 4001, 5003, 6007, 7001, 8009, 9001, 10007]
PYTHON
cat > "$folder/draw.py" <<'PYTHON'
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

if "unused" in sys.argv:
    import unused  # noqa: F401

drawn = []


@settings(derandomize=True, max_examples=200, database=None)
@given(st.lists(st.integers(0, 2**32), max_size=5))
def test_it(numbers):
    drawn.append(numbers)


test_it()
print(drawn)
PYTHON
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check hypothesis==6.170.15
draw() { (cd "$folder" && "$folder/env/bin/python" draw.py "$@"); }
alone=$(draw)
again=$(draw)
beside=$(draw unused)
same() { if [ "$1" = "$2" ]; then echo True; else echo False; fi; }
said="alone twice the same: $(same "$alone" "$again"); with an unused local module the same: $(same "$alone" "$beside")"
echo "$said"
[ "$said" = "alone twice the same: True; with an unused local module the same: False" ]
