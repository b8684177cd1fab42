"""Docstrings name what is there: a word of code in one exists, and a parameter that one explains is the function's."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CODE = ("domain", "projections", "api", "workers", "deploy", "clients")
WORD = re.compile(r"\w+")
QUOTED = re.compile(r"`([a-z_]+)`")
EXPLAINED = re.compile(r"(?:^|[.:;] +|\n *)`([a-z_]+)`(?: is | holds | gives | has )")
"""A name at the beginning of a sentence that says what it is."""

OTHERS = (
    "api/oauth/authorization_server.py delete_authorization_code: save_token",
    "api/oauth/authorization_server.py revoke_old_credential: save_token",
    "domain/tournaments/aggregate/tournament_replay.py draft_again: check_again",
)
"""Sentences about another function."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (*FUNCTIONS, ast.ClassDef, ast.Module)


@functools.cache
def list_files() -> tuple[Path, ...]:
    return tuple(path for folder in CODE for path in sorted((ROOT / folder).rglob("*")) if path.is_file())


def read_docstrings() -> Iterator[tuple[Path, ast.AST, str]]:
    for path in list_files():
        if path.suffix == ".py":
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
                    yield path, node, text


def list_words() -> set[str]:
    """Return every word of code, data and pages, without docstrings and comments."""
    words: set[str] = set()
    for path in list_files():
        if path.suffix == ".py":
            tree = ast.parse(path.read_text("utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and "`" not in node.value:
                    words.update(WORD.findall(node.value))
                names = (getattr(node, name, None) for name in ("id", "attr", "arg", "name", "asname", "module"))
                words.update(word for name in names if isinstance(name, str) for word in name.split("."))
        elif path.suffix in (".json", ".html", ".js", ".css", ".yaml", ".toml", ".ts", ".conf", ".txt"):
            words.update(WORD.findall(path.read_text("utf-8")))
    return words


def test_words_of_code_in_docstrings_exist() -> None:
    words = list_words()
    missing = {
        f"{path.relative_to(ROOT)}: {word}"
        for path, _, text in read_docstrings()
        for word in QUOTED.findall(text)
        if word not in words
    }
    assert not missing


def test_explained_parameters_are_those_of_the_function() -> None:
    """Routes explain members of their documents, and are left out."""
    wrong = []
    for path, node, text in read_docstrings():
        if isinstance(node, FUNCTIONS) and "routes" not in path.parts and "clients" not in path.parts:
            known = {child.arg for child in ast.walk(node) if isinstance(child, ast.arg)}
            known |= {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
            known |= {child.attr for child in ast.walk(node) if isinstance(child, ast.Attribute)}
            known |= {c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
            wrong += [f"{path.relative_to(ROOT)} {node.name}: {w}" for w in EXPLAINED.findall(text) if w not in known]
    assert sorted(wrong) == sorted(OTHERS)
