#!/usr/bin/env bash
# A map whose colours are CSS variables or of CSS Color 4 is drawn black by resvg, without a word.
#
# Version: resvg_py 0.5.0.
# Behaviour:
# Browsers draw `var(--ink, red)`, `oklch(...)` and `color-mix(...)` in their colours. resvg takes none of them, does not refuse
# them, and draws what a shape without a colour has: black. A fallback inside of `var` does not help.
# Output seen: var black / oklch black / color-mix black / currentColor red / hsl red
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check resvg_py==0.5.0
cd "$folder"
seen=$("$folder/venv/bin/python" - <<'PYTHON'
import resvg_py


def draw(fill):
    rect = f'<rect width="20" height="20" fill="{fill}" color="red"/>'
    return bytes(resvg_py.svg_to_bytes(svg_string=f'<svg xmlns="http://www.w3.org/2000/svg" width="30" height="30">{rect}</svg>'))


known = {draw("#000"): "black", draw("#f00"): "red"}
colours = {
    "var": "var(--ink, red)",
    "oklch": "oklch(62.8% 0.258 29.2)",
    "color-mix": "color-mix(in srgb, red, red)",
    "currentColor": "currentColor",
    "hsl": "hsl(0, 100%, 50%)",
}
print(" / ".join(f"{name} {known.get(draw(fill), 'another')}" for name, fill in colours.items()))
PYTHON
)
echo "$seen"
[ "$seen" = "var black / oklch black / color-mix black / currentColor red / hsl red" ]
