#!/usr/bin/env bash
# pytest-xdist forgets its groups under pytest 9.2, and says nothing.
#
# Version: pytest-xdist 3.8.0 with pytest 9.1.1 and with pytest 9.2.0.
# Behaviour:
# With `--dist loadgroup` tests of one group run in one process, so that they share what is costly to make. Under
# pytest 9.2 they are spread over the processes as if they had no group. Nothing fails and nothing warns.
# Output seen: pytest 9.1.1: 1 process, pytest 9.2.0: 2 processes
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/test_group.py" <<'PYTHON'
import os
import time
from pathlib import Path

import pytest


@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(8))
def test_it(number):
    time.sleep(0.2)
    with Path("processes").open("a") as seen:
        seen.write(f"{os.getpid()}\n")
PYTHON
found=()
for version in 9.1.1 9.2.0; do
    python3 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install --quiet --disable-pip-version-check "pytest==$version" pytest-xdist==3.8.0
    rm -f "$folder/processes"
    (cd "$folder" && "$folder/$version/bin/python" -m pytest -q -n 2 --dist loadgroup -p no:cacheprovider > /dev/null)
    found[${#found[@]}]=$(sort -u "$folder/processes" | wc -l | tr -d ' ')
done
echo "pytest 9.1.1: ${found[0]} process, pytest 9.2.0: ${found[1]} processes"
[ "${found[*]}" = "1 2" ]
