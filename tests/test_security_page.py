"""docs/security.md: every item of the list has one row that says something, and what rows name exists.

`asvs.txt` holds the list: the items of levels 1 and 2 of the Application Security Verification Standard 5.0.0, one a
line, number and level.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from dataclasses import dataclass

import pytest

from tests.test_project import ROOT

PAGE = ROOT / "docs" / "security.md"
ITEM = re.compile(r"\| (\d+\.\d+\.\d+) \|(.*)\|")
FIGURE = re.compile(r"\| ([a-z ]+) \| (\d+) \|")
CHAPTER = re.compile(r"## (\d+)\. ")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
FILE = re.compile(r"`([\w.-]+(?:/[\w.-]*)+|[\w-]+\.(?:toml|md))`")
LINK = re.compile(r"\]\(([^)#]+)#?([^)]*)\)")
OUTCOMES = ("tested", "built", "otherwise", "does not apply")


@dataclass(frozen=True)
class Row:
    """An item of the page."""

    item: str
    chapter: str
    """Of the heading under which it stands."""
    level: str
    asks: str
    outcome: str
    shown: str

    def tests(self) -> list[tuple[str, str]]:
        """File and name of each test that it names."""
        return TEST.findall(self.shown)


def rows() -> list[Row]:
    """All items of the page, in its order."""
    found: list[Row] = []
    chapter = ""
    for line in PAGE.read_text("utf-8").splitlines():
        if heading := CHAPTER.match(line):
            chapter = heading[1]
        elif item := ITEM.fullmatch(line):
            level, asks, outcome, shown = (cell.strip() for cell in item[2].split("|"))
            found.append(Row(item[1], chapter, level, asks, outcome, shown))
    return found


ROWS = rows()


@functools.cache
def functions_in(path: str) -> frozenset[str]:
    """The tests of a file, which is read and not imported."""
    nodes = ast.walk(ast.parse((ROOT / path).read_bytes())) if (ROOT / path).is_file() else ()
    names = (node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return frozenset(name for name in names if name.startswith("test_"))


def anchors(text: str) -> set[str]:
    """What the headings of a page can be linked by."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_every_item_of_the_list_has_one_row_in_its_chapter() -> None:
    listed = [line.split() for line in (ROOT / "tests" / "asvs.txt").read_text("utf-8").splitlines()]
    assert [[row.item, row.level] for row in ROWS] == listed
    assert [row.item for row in ROWS if row.item.split(".")[0] != row.chapter] == []


def test_no_line_of_a_table_is_passed_over() -> None:
    begun = [line for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\|\s*[\d.]+\s*\|", line)]
    assert len(begun) == len(ROWS)


def test_the_list_is_whole() -> None:
    assert Counter(row.level for row in ROWS) == {"1": 70, "2": 183}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.item)
def test_a_row_says_what_its_outcome_asks_for(row: Row) -> None:
    assert row.outcome in OUTCOMES
    assert 3 <= len(row.asks.split()) <= 8
    assert row.shown
    if row.outcome == "tested":
        assert row.tests()
    elif row.outcome == "built":
        assert FILE.search(row.shown) or LINK.search(row.shown)
    else:
        assert re.search(r"\w+ \w+ \w+", row.shown), "a reason"


def test_every_test_that_is_named_exists() -> None:
    named = {test for row in ROWS for test in row.tests()}
    assert sorted(test for test in named if test[1] not in functions_in(test[0])) == []
    assert all("::" not in TEST.sub("", row.shown) for row in ROWS), "a test that is named in another form"


def test_every_file_that_is_named_exists() -> None:
    named = {name for row in ROWS for name in FILE.findall(row.shown)} - {"/"}
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_every_link_leads_to_a_heading_that_there_is() -> None:
    for path, anchor in LINK.findall(PAGE.read_text("utf-8")):
        there = PAGE.parent / path
        assert there.is_file()
        assert not anchor or anchor in anchors(there.read_text("utf-8")), (path, anchor)


def test_the_figures_are_those_of_the_rows() -> None:
    said = {outcome: int(count) for outcome, count in FIGURE.findall(PAGE.read_text("utf-8"))}
    assert said == Counter(row.outcome for row in ROWS)
    assert tuple(said) == OUTCOMES


SERVICE = ("domain", "api", "projections", "workers", "deploy")
SHOWN_BY = {
    "there is no LDAP": r"^\s*(import|from) ldap",
    "no XML is read": r"etree\.(parse|fromstring|XML)\b|minidom|xml\.sax|^\s*(import|from) lxml",
    "there is no LaTeX": r"(pdf)?latex",
    "no pattern is made of input": r"re\.(compile|match|search|sub|fullmatch)\(request\.",
    # What marks text as HTML says why it may, and tests/api/test_widgets.py draws hostile names.
    "no HTML is accepted or shown": r"Markup\((?!\"|'|\)|html\)  # noqa: S704 - .* escaped)|\|\s*safe\b"
    r"|autoescape\s*=\s*False",
    "no pictures are accepted": r"image/(png|jpeg|svg)\b.*request",
    "there is none; Redis holds": r"^\s*(import|from) (pymemcache|memcache)",
    "no input is ever a format": r"request\.[\w.()\[\]\"']+\.format\(",
    "our page sends and accepts none": r"\.postMessage\(|addEventListener\([\"']message[\"']",
    "there is no GraphQL": r"^\s*(import|from) (graphql|graphene|strawberry)",
    "there are no WebSockets": r"new WebSocket\(|^\s*(import|from) (websockets|flask_sock)|\bwebsocket\.accept\b",
    "there is no SAML": r"^\s*(import|from) (saml2|onelogin)",
    "there is no OpenID Connect": r"\bid_token\b|openid-configuration|[\"']openid[\"']",
    "there is no WebRTC": r"RTCPeerConnection|^\s*(import|from) aiortc",
}
"""Beginning of a reason -> a pattern of code that would make it false."""


@pytest.mark.parametrize("reason", SHOWN_BY)
def test_no_code_makes_a_row_false_that_does_not_apply(reason: str) -> None:
    claimed = [row.item for row in ROWS if row.outcome == "does not apply" and row.shown.startswith(reason)]
    paths = [
        path for folder in SERVICE for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".js", ".html")
    ]
    pattern = re.compile(SHOWN_BY[reason], re.MULTILINE | re.IGNORECASE)
    found = [str(path.relative_to(ROOT)) for path in paths if pattern.search(path.read_text("utf-8"))]
    assert not (claimed and found), f"{claimed} do not apply, but {found}"
