"""Whose shell the tests are run in makes no difference."""

import os

import pytest

from tests.test_skips import CONFTEST

pytest_plugins = ["pytester"]


@pytest.mark.parametrize("args", [(), ("-n", "1")], ids=["alone", "parallel"])
def test_no_test_sees_the_settings_of_a_service(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]
) -> None:
    monkeypatch.setenv("ANNALS_DATABASE_URL", "postgresql://127.0.0.1:9/of_somebody")
    monkeypatch.setenv("PGPORT", "9")
    monkeypatch.setenv("ANNALS_TEST_REDIS_URL", "redis://127.0.0.1:9")
    pytester.makeconftest(CONFTEST)
    pytester.makefile(".txt", skips="", long="")
    pytester.makepyfile(
        """
        import os

        def test_it():
            assert [name for name in os.environ if name.startswith(("ANNALS_", "PG"))] == ["ANNALS_TEST_REDIS_URL"]
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:valkey", "-p", "no:schemathesis", *args)
    result.assert_outcomes(passed=1)


@pytest.mark.xdist_group("one")
def test_tests_of_a_group_share_a_process(request: pytest.FixtureRequest) -> None:
    """Some versions of pytest and of pytest-xdist forget groups together, without a word."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert request.node.nodeid.endswith("@one")
