"""Count unclear names and sentences of code and pages: `python -m tests.wording` prints each figure and its limit.

Limits only get stricter. `tests/test_wording.py` fails beyond a limit, and also where a figure is so much better than
its limit that the limit must follow.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (*FUNCTIONS, ast.ClassDef, ast.Module)
ROOT = Path(__file__).parents[1]
LAYERS = ("api", "deploy", "projections", "workers", "domain")
GAMES = ROOT / "domain" / "games"
ADDRESSED = "README.md docs/http.md docs/api/*.md docs/command-line.md docs/operations.md clients/README.md"
"""Pages that address their reader."""
PAGES = "*.md clients/*.md docs/**/*.md"
RULEBOOKS = {ROOT / "docs" / "rules", ROOT / "docs" / "rulings"}
"""Not counted: these pages follow their rulebooks, sentence by sentence."""

PARTICIPLES = """
    found known told asked kept held said made shown named taken given heard seen gone lost left sent done listed
    answered opened written drawn stored sealed filed read wanted owed stood put begun ended broken brought cut fixed
    left looked noted rested served settled tried used
"""
PRONOUNS = """
    who what where how when whatever whoever here there own mine others theirs of by at to upto until since about
"""
BARE_NAMES = frozenset(f"{PARTICIPLES} {PRONOUNS}".split())
"""Names that leave out their noun or their verb."""
OPENING = re.compile(
    r"^(what|who|whoever|whatever|where|how|whether|when|why|which|of|by|to|up to|in|for|from|so|as|the same|that)\b",
    re.IGNORECASE,
)
RELATIVE = re.compile(r"\b(who|whom|whose|what|whatever|whoever|which|that)\b", re.IGNORECASE)
YOU = re.compile(r"\byou(?:r|rs|rself|rselves)?\b", re.IGNORECASE)
ANY = re.compile(r"\bAny\b")
WORD = re.compile(r"\w+")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n")
FENCED = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n) {4}.*(?:\n(?: {4}.*)?)*")
BLOCK_START = re.compile(r"^ *(?:[-*#>]+|\d+\.) |\|", re.MULTILINE)
MARKUP = re.compile(r"\]\([^)]*\)|\*\*")
CODE = re.compile(r"`[^`]+`")
LONGEST_SENTENCE = 30
LONGEST_TEST_NAME = 59
TESTS = ROOT / "tests"
MOST_DECISIONS = 15
BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.IfExp, ast.ExceptHandler, ast.match_case)

CEILINGS = {
    "service: functions named by a participle or pronoun": 5,
    "service: docstrings that open with a wh-word or preposition": 0,
    "service: relative pronouns per 100 words of docstrings": 1.05,
    "service: `Any` per 1,000 lines": 1.96,
    "service: functions with more than 15 decisions": 37,
    "service: packed assignments with a call and an attribute": 0,
    "games: functions with more than 15 decisions": 9,
    "games: packed assignments with a call and an attribute": 0,
    "games: functions named by a participle or pronoun": 1,
    "games: docstrings that open with a wh-word or preposition": 0,
    "games: relative pronouns per 100 words of docstrings": 0.1,
    "games: `Any` per 1,000 lines": 0.77,
    "tests: functions named by a participle or pronoun": 296,
    "tests: docstrings that open with a wh-word or preposition": 666,
    "tests: relative pronouns per 100 words of docstrings": 3.75,
    "tests: `Any` per 1,000 lines": 11.7,
    "tests: functions with more than 15 decisions": 44,
    "tests: packed assignments with a call and an attribute": 19,
    "tests: names of tests over 59 characters": 0,
    "docs: sentences over 30 words": 35,
}
FLOORS = {'docs: "you" per 100 words': 2.7}
HOMONYMS = """
    accounts.py:3 challenges.py:2 deadlines.py:2 mail.py:3 oauth_clients.py:2 proposals.py:4 rewinds.py:2
    second_factors.py:3 sessions.py:2 social.py:2 webhooks.py:3
"""
"""Names of classes and files that several modules of the service use: how many each. It may only shrink."""


class Figure(NamedTuple):
    """A number of hits; its limit is for each `per` of the total, or where that is 0 for the hits themselves."""

    hits: int
    total: int
    per: int = 0

    @property
    def value(self) -> float:
        """The number to compare with the limit."""
        return round(self.per * self.hits / self.total, 2) if self.per else self.hits


class Source(NamedTuple):
    """A Python file of the project."""

    path: Path
    text: str
    module: ast.Module


@cache
def read_sources() -> list[Source]:
    """Parse every Python file of the service, the games and the tests."""
    texts = [(path, path.read_text("utf-8")) for layer in (*LAYERS, "tests") for path in (ROOT / layer).rglob("*.py")]
    return [Source(path, text, ast.parse(text)) for path, text in texts]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, without fragments that hold no word."""
    return [sentence for sentence in SENTENCE_END.split(text) if WORD.search(sentence)]


def count_matches(pattern: re.Pattern[str], texts: Iterable[str]) -> int:
    return sum(len(pattern.findall(text)) for text in texts)


def measure_complexity(function: ast.AST) -> int:
    """Return one more than the decisions of a function: branches, loops, `and`, `or`, conditions in an expression."""
    decisions, rest = 0, list(ast.iter_child_nodes(function))
    while rest:
        node = rest.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        decisions += isinstance(node, BRANCHES)
        decisions += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
        decisions += 1 + len(node.ifs) if isinstance(node, ast.comprehension) else 0
        rest += ast.iter_child_nodes(node)
    return 1 + decisions


def is_packed(node: ast.AST) -> bool:
    """Return whether a statement assigns several values at once, one of them from a call and one to an attribute.

    Such a line is right only by the order of evaluation.
    """
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)):
        return False
    targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else []
    has_attribute = any(isinstance(target, ast.Attribute) for target in targets)
    return has_attribute and any(isinstance(each, ast.Call) for each in ast.walk(node.value))


def measure_code(sources: list[Source]) -> dict[str, Figure]:
    """Return the figures of these files."""
    nodes = [node for source in sources for node in ast.walk(source.module)]
    functions = [node.name for node in nodes if isinstance(node, FUNCTIONS) and not node.name.startswith("__")]
    texts = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, DOCUMENTED)]
    docstrings = [sentences for text in texts if (sentences := split_sentences(text))]
    sentences = [sentence for docstring in docstrings for sentence in docstring]
    bare = sum(name.strip("_") in BARE_NAMES for name in functions)
    openings = sum(bool(OPENING.match(first)) for first, *_ in docstrings)
    words, code = count_matches(WORD, sentences), "".join(source.text for source in sources)
    return {
        "functions named by a participle or pronoun": Figure(bare, len(functions)),
        "docstrings that open with a wh-word or preposition": Figure(openings, len(docstrings)),
        "relative pronouns per 100 words of docstrings": Figure(count_matches(RELATIVE, sentences), words, 100),
        "`Any` per 1,000 lines": Figure(count_matches(ANY, [code]), code.count("\n"), 1000),
        f"functions with more than {MOST_DECISIONS} decisions": Figure(
            sum(measure_complexity(node) > MOST_DECISIONS for node in nodes if isinstance(node, FUNCTIONS)),
            len(functions),
        ),
        "packed assignments with a call and an attribute": Figure(sum(map(is_packed, nodes)), len(nodes)),
    }


def measure_test_names(tests: list[Source]) -> dict[str, Figure]:
    """Return the figure of test names that nobody reads at a glance."""
    nodes = [node for source in tests for node in ast.walk(source.module)]
    names = [node.name for node in nodes if isinstance(node, FUNCTIONS) and node.name.startswith("test_")]
    long = sum(len(name) > LONGEST_TEST_NAME for name in names)
    return {f"names of tests over {LONGEST_TEST_NAME} characters": Figure(long, len(names))}


def split_page(text: str) -> list[str]:
    """Return the sentences of a Markdown text: cells and list items stand alone, blocks of code are left out."""
    text = CODE.sub("code", MARKUP.sub("", INDENTED.sub("", FENCED.sub("", text))))
    return split_sentences(BLOCK_START.sub("\n\n", text))


def read_pages(patterns: str) -> list[str]:
    """Return the sentences of these pages."""
    paths = {path for pattern in patterns.split() for path in ROOT.glob(pattern) if path.parent not in RULEBOOKS}
    return [sentence for path in sorted(paths) for sentence in split_page(path.read_text("utf-8"))]


def measure_pages() -> dict[str, Figure]:
    """Return the figures of the documentation."""
    addressed, sentences = read_pages(ADDRESSED), read_pages(PAGES)
    long = sum(count_matches(WORD, [sentence]) > LONGEST_SENTENCE for sentence in sentences)
    return {
        '"you" per 100 words': Figure(count_matches(YOU, addressed), count_matches(WORD, addressed), 100),
        f"sentences over {LONGEST_SENTENCE} words": Figure(long, len(sentences)),
    }


def measure(sources: list[Source]) -> dict[str, Figure]:
    """Return every figure by its name."""
    games = [source for source in sources if GAMES in source.path.parents]
    tests = [source for source in sources if TESTS in source.path.parents]
    service = [source for source in sources if not {GAMES, TESTS} & set(source.path.parents)]
    parts = {
        "service": measure_code(service),
        "games": measure_code(games),
        "tests": measure_code(tests) | measure_test_names(tests),
        "docs": measure_pages(),
    }
    return {f"{part}: {name}": figure for part, figures in parts.items() for name, figure in figures.items()}


def check_figure(name: str, value: float) -> str:
    """Return what to do about a figure, or an empty string."""
    sign, limit = (-1, FLOORS[name]) if name in FLOORS else (1, CEILINGS[name])
    if sign * value > sign * limit:
        return f"{name}: {value} is worse than the limit, {limit}"
    margin = max(5, limit // 50) if isinstance(limit, int) else 0.1
    advice = "lower the ceiling" if sign > 0 else "raise the floor"
    return f"{name}: {advice} to {value}" if sign * (limit - value) > margin else ""


def find_homonyms(sources: Iterable[Source]) -> dict[str, list[str]]:
    """Return the names of classes and files that several modules of the service use, each with these modules."""
    sources = [source for source in sources if TESTS not in source.path.parents]
    modules: dict[str, list[str]] = defaultdict(list)
    for path, _, module in (source for source in sources if GAMES not in source.path.parents):
        classes = {node.name.lstrip("_") for node in module.body if isinstance(node, ast.ClassDef)}
        for name in classes | {path.name} - {"__init__.py"}:
            modules[name].append(str(path.relative_to(ROOT)))
    return {name: sorted(modules[name]) for name in sorted(modules) if len(modules[name]) > 1}


def check_homonyms(found: Mapping[str, Sequence[str]], listed: str) -> list[str]:
    """Return the names that more modules use than the list admits, and the entries by which it can shrink."""
    limits = {name: int(count) for name, _, count in (entry.partition(":") for entry in listed.split())}
    excess = [name for name in found if len(found[name]) > limits.get(name, 1)]
    slack = [name for name in limits if limits[name] > len(found.get(name, "1"))]
    problems = [f"{name} names several things: {', '.join(found[name])}" for name in excess]
    return problems + [f"{name} names fewer things than the list of homonyms admits" for name in slack]


def main() -> int:
    """Print the figures with their limits and the homonyms; return 1 if a figure is worse than its limit."""
    sources, is_worse = read_sources(), False
    for name, figure in measure(sources).items():
        limit = FLOORS.get(name, CEILINGS.get(name, 0))
        is_worse |= figure.value < limit if name in FLOORS else figure.value > limit
        print(f"{name:62} {figure.hits:6} of {figure.total:6} {figure.value:7} limit {limit}")
    entries = (f"{name}:{len(modules)}" for name, modules in find_homonyms(sources).items())
    print(textwrap.fill(" ".join(entries), 120, initial_indent="    ", subsequent_indent="    "))
    return int(is_worse)


if __name__ == "__main__":
    sys.exit(main())
