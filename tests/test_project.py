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
PARTS = ["Context", "Decision", "Consequence"]
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


def test_every_decision_record_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    records = sorted(path.name for path in folder.glob("[0-9]*.md"))
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", text_of(folder / "README.md"))
    assert listed == records


def test_decision_records_are_numbered_without_gaps_and_have_status_date_and_parts() -> None:
    records = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert [int(path.name[:4]) for path in records] == list(range(1, len(records) + 1))
    for path in records:
        text = text_of(path)
        assert re.search(r"^Status: .+\. Date: \d{4}-\d\d-\d\d\.", text, re.MULTILINE), path
        assert [part for part in re.findall(r"^## (.+)$", text, re.MULTILINE) if part != "Considered"] == PARTS, path


def test_the_version_is_the_top_of_the_changelog() -> None:
    version = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["version"]
    top = re.search(r"^## \[(\d+\.\d+\.\d+)\]", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert top is not None
    assert top[1] == version


def test_links_between_the_documents_lead_somewhere() -> None:
    for path in (p for p in files() if p.suffix == ".md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text_of(path)):
            assert (path.parent / target).exists(), f"{path.relative_to(ROOT)} points to {target}"
