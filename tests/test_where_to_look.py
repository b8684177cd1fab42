"""Lines of packages that say where a thing stands, if its name does not: `- storms: events.py _storm`."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINE = re.compile(r"^- (?P<subject>[^:]+): (?P<place>\S+)(?P<names>( \w+)*)$")


def read_lines(package: Path) -> list[str]:
    """Return the lines below "Where to look:" in the docstring of a package."""
    docstring = ast.get_docstring(ast.parse(package.read_text("utf-8"))) or ""
    _, heading, rest = docstring.partition("Where to look:\n")
    return rest.splitlines() if heading else []


PACKAGES = {
    path.relative_to(ROOT).as_posix(): lines
    for folder in ("domain", "projections", "api", "workers", "deploy")
    for path in sorted((ROOT / folder).rglob("__init__.py"))
    if (lines := read_lines(path))
}


@pytest.mark.parametrize("package", PACKAGES)
def test_each_line_names_a_module_that_has_the_names(package: str) -> None:
    for line in PACKAGES[package]:
        found = LINE.match(line)
        assert found, f"{package}: {line!r} has another form than `- subject: module.py name`"
        module = (ROOT / package).parent / found["place"]
        assert module.exists(), f"{package}: {line!r} names no module"
        if names := set(found["names"].split()):
            tree = ast.parse(module.read_text("utf-8"))
            assigned = {
                t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
            }
            assigned |= {
                n.target.id for n in tree.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
            }
            defined = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
            assert names <= defined | assigned, f"{package}: {line!r} names {names - defined - assigned}"


def test_every_game_says_where_effects_stand() -> None:
    """Rules are filed by the chapters of the rulebook, and asked for by their effects."""
    games = {path.parent.name for path in (ROOT / "domain/games").glob("*/rules")}
    assert games == {Path(package).parent.parent.name for package in PACKAGES if "/rules/" in package}
