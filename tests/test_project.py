"""What holds for the tree as a whole."""

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# What git ignores; git itself may be absent.
MADE = re.compile(r"\.git|\.venv|\.tools|var|htmlcov|dist|__pycache__|\.\w+_cache|\.hypothesis|\.coverage.*")
DECISIONS = ROOT / "docs" / "decisions"
RECORD_PARTS = ["Context", "Decision", "Consequence"]
PAGE_PARTS = ["What stands", "Refused", "Records"]
WORDS_OF_AN_HOUR = 14_000
"""Most words of the pages about decisions, their index included: at some 230 words a minute."""
# Written so that this file does not match itself.
FORBIDDEN = {
    "a registry's host": re.compile(r"(?:pypi|pythonhosted|npmjs)[.](?:org|com|io)", re.IGNORECASE),
    "a machine's path": re.compile(r"(?<![\w.}>])/(?:home|root|Users|tmp|work|var/folders)/\w"),
}


def files() -> Iterator[Path]:
    """Yield the text files of the project, without what is made while running."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if not MADE.fullmatch(name))
        paths = (Path(folder, name) for name in sorted(names) if not MADE.fullmatch(name))
        yield from (path for path in paths if path.is_file())


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="ignore")


@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_tree_names_no(what: str) -> None:
    found = [str(path.relative_to(ROOT)) for path in files() if FORBIDDEN[what].search(text_of(path))]
    assert not found, f"{what} stands in {found}"


def decision_records() -> list[Path]:
    return sorted(path for path in (DECISIONS / "archive").glob("*.md") if path.name != "README.md")


def decision_pages() -> list[Path]:
    return sorted(path for path in DECISIONS.glob("*.md") if path.name != "README.md")


def sections(path: Path) -> list[str]:
    return re.findall(r"^## (.+)$", text_of(path), re.MULTILINE)


def linked_pages(path: Path) -> list[str]:
    """Return the Markdown files that a text links, as it writes them."""
    return re.findall(r"\]\(([^)#:]+\.md)\)", text_of(path))


def test_every_decision_record_is_listed() -> None:
    listed = [name for name in linked_pages(DECISIONS / "archive" / "README.md") if not name.startswith("..")]
    assert listed == [path.name for path in decision_records()]


def test_decision_records_have_numbers_status_date_and_parts() -> None:
    records = decision_records()
    assert [int(path.name[:4]) for path in records] == list(range(1, len(records) + 1))
    for path in records:
        assert re.search(r"^Status: .+\. Date: \d{4}-\d\d-\d\d\.", text_of(path), re.MULTILINE), path
        assert [part for part in sections(path) if part != "Considered"] == RECORD_PARTS, path


def test_every_decision_record_is_linked_by_the_page_of_subject() -> None:
    linked = {name for path in decision_pages() for name in linked_pages(path)}
    assert [path.name for path in decision_records() if f"archive/{path.name}" not in linked] == []


def test_every_page_about_decisions_is_listed_once() -> None:
    listed = [name for name in linked_pages(DECISIONS / "README.md") if "/" not in name]
    assert sorted(listed) == [path.name for path in decision_pages()]


def test_decision_pages_have_their_parts_and_own_names() -> None:
    others = {path.name for path in (ROOT / "docs").rglob("*.md") if DECISIONS not in path.parents}
    for path in decision_pages():
        assert sections(path) == PAGE_PARTS, path
        assert not re.match(r"\d", path.name), f"{path.name}: dated records belong to the archive"
        assert path.name not in others, f"another page is called {path.name}, too"


def test_pages_about_decisions_are_read_within_an_hour() -> None:
    pages = [*decision_pages(), DECISIONS / "README.md"]
    words = sum(bool(re.search(r"\w", word)) for path in pages for word in text_of(path).split())
    assert words <= WORDS_OF_AN_HOUR, f"{words} words: shorten what stands, and leave the rest to the archive"


def test_the_version_is_the_top_of_the_changelog() -> None:
    version = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["version"]
    top = re.search(r"^## \[(\d+\.\d+\.\d+)\]", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert top is not None
    assert top[1] == version


def test_links_between_the_documents_lead_somewhere() -> None:
    for path in (p for p in files() if p.suffix == ".md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text_of(path)):
            assert (path.parent / target).exists(), f"{path.relative_to(ROOT)} points to {target}"
