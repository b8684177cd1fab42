"""Every text that the code opens has its encoding named: some machines read texts in a code page of their own."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("api", "clients", "deploy", "domain", "maps", "projections", "workers")
FILES = [ROOT / "run", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))]
PLACES = {"read_text": 0, "write_text": 1, "TextIOWrapper": 1}
"""Function -> the place of its encoding among the arguments."""


WORDS = re.compile("open|_text|text=|universal_newlines|TextIOWrapper")
"""What a source holds that has such a call: to parse all of them would take a hundred times as long."""


def list_unnamed(source: str) -> list[int]:
    """The lines of calls that read or write a text, and name no encoding."""
    if not WORDS.search(source):
        return []
    tree = list(ast.walk(ast.parse(source)))
    opened = [item.context_expr for node in tree if isinstance(node, ast.With) for item in node.items]
    calls = [node for node in tree if isinstance(node, ast.Call)]
    return [call.lineno for call in calls if _opens_text(call, call in opened) and not _has_encoding(call)]


def _name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _opens_text(call: ast.Call, is_opened: bool) -> bool:
    name = _name_of(call)
    if name in ("run", "Popen", "check_output"):
        return any(word.arg in ("text", "universal_newlines") for word in call.keywords)
    if name in ("open", "fdopen"):
        given = [*call.args, *(word.value for word in call.keywords)]
        words = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        modes = [word for word in words if 0 < len(word) < 4 and set(word) <= set("rwaxtb+")]
        is_path = is_opened and not call.args and not call.keywords
        return is_path or any("b" not in mode for mode in modes) or (isinstance(call.func, ast.Name) and not modes)
    return name in PLACES and not (name == "read_text" and isinstance(call.func, ast.Name))


def _has_encoding(call: ast.Call) -> bool:
    place = PLACES.get(_name_of(call))
    return any(word.arg == "encoding" for word in call.keywords) or (place is not None and len(call.args) > place)


def test_every_text_has_its_encoding() -> None:
    found = {path: list_unnamed(path.read_text("utf-8")) for path in FILES}
    assert not {str(path.relative_to(ROOT)): lines for path, lines in found.items() if lines}


UNNAMED = """
path.read_text()
path.write_text(x)
with path.open(): pass
path.open('a')
open(x)
os.fdopen(x, 'w')
subprocess.run(x, text=True)
subprocess.Popen(x, universal_newlines=True)
io.TextIOWrapper(x)
"""


@pytest.mark.parametrize("source", UNNAMED.strip().splitlines())
def test_the_walk_finds_it(source: str) -> None:
    assert list_unnamed(source) == [1]
