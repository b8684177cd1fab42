#!/usr/bin/env bash
# pytest 9.1 loses the fixtures of a folder whose files are named around a file of another folder.
#
# Version: pytest 9.0.2, 9.1.1 and 9.2.0.
# Behaviour:
# A fixture of `a/conftest.py` serves the tests of `a`. With the arguments `a/test_one.py test_three.py a/test_two.py`
# pytest 9.1 does not find it for `a/test_two.py`. The same files in another order pass, and so does the whole folder.
# Output seen: 9.0.2: 3 passed, 9.1.1: 2 passed, 1 error, 9.2.0: 3 passed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/a"
cat > "$folder/a/conftest.py" <<'PYTHON'
import pytest


@pytest.fixture
def number():
    return 1
PYTHON
echo 'def test_it(number): assert number == 1' | tee "$folder/a/test_one.py" > "$folder/a/test_two.py"
echo 'def test_it(): pass' > "$folder/test_three.py"
found=()
for version in 9.0.2 9.1.1 9.2.0; do
    python3 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install --quiet --disable-pip-version-check "pytest==$version" 2> /dev/null
    said=$(cd "$folder" && "$folder/$version/bin/python" -m pytest -q -p no:cacheprovider \
        a/test_one.py test_three.py a/test_two.py 2>&1 | tail -n 1 | sed 's/ in .*//') || true
    found[${#found[@]}]="$version: $said"
done
printf '%s\n' "${found[@]}"
[ "${found[*]}" = "9.0.2: 3 passed 9.1.1: 2 passed, 1 error 9.2.0: 3 passed" ]
