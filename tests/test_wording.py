"""Names, docstrings and pages speak the field's plain words, and more so with each change."""

import ast

import pytest

from tests import wording

SOURCE = '''"""Who asks."""
class A:
    """A row. What it holds, that is."""
    def _told(self) -> Any: ...
    def __of__(self):
        self.b, c = f(), 1
'''
PAGE = "# Title\n\nOne `a. b`. Two\nlines [go](on.md).\n\n    code. block\n\n| a | b. |\n| --- | --- |\n- item\n"


def test_no_figure_gets_worse_and_no_limit_lags_behind() -> None:
    figures = wording.measure(wording.read_sources())
    assert figures.keys() == wording.CEILINGS.keys() | wording.FLOORS.keys()
    assert [problem for name, figure in figures.items() if (problem := wording.check_figure(name, figure.value))] == []


def test_no_name_is_given_to_another_thing() -> None:
    assert wording.check_homonyms(wording.find_homonyms(wording.read_sources()), wording.HOMONYMS) == []


def test_a_limit_may_only_get_stricter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wording, "CEILINGS", {"names": 20, "rate": 6.32})
    monkeypatch.setattr(wording, "FLOORS", {"you": 1.0})
    met = {"names": (20, 15), "rate": (6.32, 6.25), "you": (1.0, 1.05)}
    assert {wording.check_figure(name, value) for name, values in met.items() for value in values} == {""}
    assert wording.check_figure("names", 21) == "names: 21 is worse than the limit, 20"
    assert wording.check_figure("names", 14) == "names: lower the ceiling to 14"
    assert wording.check_figure("you", 0.99) == "you: 0.99 is worse than the limit, 1.0"
    assert wording.check_figure("you", 1.5) == "you: raise the floor to 1.5"


def test_the_list_of_homonyms_may_only_shrink() -> None:
    found = {"Row": ["api/a.py", "domain/b.py"]}
    assert wording.check_homonyms(found, "Row:2") == []
    assert wording.check_homonyms(found, "") == ["Row names several things: api/a.py, domain/b.py"]
    assert len(wording.check_homonyms(found, "Row:3 Gone:2")) == 2


def test_names_and_docstrings_are_counted() -> None:
    source = wording.Source(wording.ROOT / "api" / "a.py", SOURCE, ast.parse(SOURCE))
    assert list(wording.measure_code([source]).values()) == [
        (1, 1, 0),
        (1, 2, 0),
        (3, 9, 100),
        (1, 6, 1000),
        (0, 1, 0),
        (1, 31, 0),
    ]


def test_a_page_is_read_sentence_by_sentence() -> None:
    sentences = [" ".join(sentence.split()) for sentence in wording.split_page(PAGE)]
    assert sentences == ["Title", "One code.", "Two lines [go.", "a", "b.", "item"]
