"""A skipped test fails the run unless tests/skips.txt lists it."""

from pathlib import Path

import pytest

from tests.conftest import read_patterns

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).with_name("conftest.py").read_text(encoding="utf-8")
SKIPPING = {
    "test_mark": "@pytest.mark.skip\ndef test_it(): pass",
    "test_call": "def test_it(): pytest.skip('no')",
    "test_fixture": "@pytest.fixture\ndef it(): pytest.skip('no')\ndef test_it(it): pass",
    "test_module": "pytest.skip('no', allow_module_level=True)",
    "test_import": "pytest.importorskip('no_such_module')",
    "test_unittest": "from unittest import TestCase as C\nclass Test(C):\n def test_it(s): s.skipTest('no')",
    "test_xfail": "@pytest.mark.xfail\ndef test_it(): assert False",
}


def run(pytester: pytest.Pytester, skips: str, *args: str) -> pytest.RunResult:
    pytester.makeconftest(CONFTEST)
    pytester.makefile(".txt", skips=skips, long="")
    pytester.makepyfile(**{name: f"import pytest\n{body}" for name, body in SKIPPING.items()})
    return pytester.runpytest_subprocess("-p", "no:valkey", "-p", "no:schemathesis", *args)


@pytest.mark.parametrize("args", [(), ("-n", "1")], ids=["alone", "parallel"])
def test_every_unlisted_skip_fails(pytester: pytest.Pytester, args: tuple[str, ...]) -> None:
    result = run(pytester, "# nothing may be skipped\n", "--continue-on-collection-errors", *args)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=3, errors=4)
    for name in SKIPPING:
        result.stdout.fnmatch_lines_random([f"*not listed in tests/skips.txt: {name}.py*"])


@pytest.mark.parametrize("name", ["test_xfail", "test_module"])
def test_one_of_them_is_enough(pytester: pytest.Pytester, name: str) -> None:
    listed = "".join(f"{other}.py*: the other must be seen alone\n" for other in SKIPPING if other != name)
    assert run(pytester, listed).ret not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def test_a_listed_skip_is_allowed(pytester: pytest.Pytester) -> None:
    result = run(pytester, "test_*: this file shows that a listed skip is allowed\n")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(skipped=6, xfailed=1)


def test_only_the_star_is_special() -> None:
    (pattern,) = read_patterns("tests/test_a.py::test_b[*]: some reason\n")
    assert pattern.fullmatch("tests/test_a.py::test_b[x-1]")
    assert not pattern.fullmatch("tests/test_a.py::test_bx")


def test_an_entry_without_a_reason_is_refused() -> None:
    with pytest.raises(pytest.UsageError, match="no reason"):
        read_patterns("tests/test_a.py::test_b\n")
