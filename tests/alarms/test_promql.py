"""The evaluator means what Prometheus means; the figures are worked out by hand from its definitions."""

from __future__ import annotations

import promql_parser as ql
import pytest

from tests.alarms.promql import Samples, Value, evaluate


def asked(expr: str, samples: Samples, at: float) -> Value:
    return evaluate(ql.parse(expr), samples, at)


def one(expr: str, samples: Samples, at: float) -> float:
    """The value of the only series."""
    found = asked(expr, samples, at)
    assert isinstance(found, dict)
    (value,) = found.values()
    return value


@pytest.fixture
def samples() -> Samples:
    made = Samples()
    made.put('steady{a="1"}', [60.0 * n for n in range(20)])
    made.put('reset{a="1"}', [10, 20, 30, 5, 15])
    made.put('new{a="1"}', [0, 0, 1, 1, 1, 1])
    made.put('gone{a="1"}', [1, 1, None])
    made.put('late{a="1"}', [3])
    for le, count in (("0.1", 40), ("0.5", 90), ("+Inf", 100)):
        made.put(f'h_bucket{{le="{le}",m="x"}}', [0.0, count, 2.0 * count])
    return made


def test_a_rate_is_by_the_second(samples: Samples) -> None:
    assert one("rate(steady[5m])", samples, 600) == pytest.approx(1)
    assert one("increase(steady[5m])", samples, 600) == pytest.approx(300)


def test_a_counter_that_begins_anew_goes_on(samples: Samples) -> None:
    """10, 20, 30, 5, 15 grows by 35 in 240 s; before the first sample at 0 there is room down to zero only."""
    assert one("increase(reset[5m])", samples, 240) == pytest.approx(35 * (240 + min(60, 240 * 10 / 35)) / 240)


def test_one_sample_is_no_rate(samples: Samples) -> None:
    assert asked("rate(late[5m])", samples, 60) == {}
    assert asked("rate(nothing[5m])", samples, 60) == {}


def test_the_first_of_a_counter_that_was_zero_counts_from_there(samples: Samples) -> None:
    assert one("increase(new[5m])", samples, 300) == pytest.approx(1 * 240 / 240)


def test_a_sample_counts_for_five_minutes(samples: Samples) -> None:
    assert one("late", samples, 299) == 3
    assert asked("late", samples, 300) == {}


def test_a_series_that_is_missing_from_a_scrape_has_ended(samples: Samples) -> None:
    assert one("gone", samples, 119) == 1
    assert asked("gone", samples, 120) == {}


def test_what_is_absent(samples: Samples) -> None:
    assert asked("absent(gone == 1)", samples, 60) == {}
    assert one("absent(gone == 2)", samples, 60) == 1
    assert one("absent(nothing)", samples, 60) == 1
    assert asked("max(nothing) > 1", samples, 60) == {}


def test_comparisons_filter_and_keep_the_value(samples: Samples) -> None:
    assert one("late > 2", samples, 60) == 3
    assert asked("late > 3", samples, 60) == {}
    assert asked("max(late) == 0 or max(gone) == 0", samples, 60) == {}
    assert one("max(late) == 0 or max(gone) == 1", samples, 60) == 1
    assert one('late{a!="2"}', samples, 60) == 3
    assert asked('late{a="2"}', samples, 60) == {}


@pytest.mark.parametrize(("quantile", "value"), [(0.4, 0.1), (0.65, 0.3), (0.2, 0.05), (0.99, 0.5)])
def test_a_quantile_is_linear_within_its_bucket(samples: Samples, quantile: float, value: float) -> None:
    found = one(f"histogram_quantile({quantile}, sum by (le) (rate(h_bucket[5m])))", samples, 120)
    assert found == pytest.approx(value)


def test_a_quantile_of_nothing_is_greater_than_nothing() -> None:
    """And so no alarm."""
    empty = Samples()
    for le in ("0.1", "+Inf"):
        empty.put(f'h_bucket{{le="{le}"}}', [0.0, 0.0, 0.0])
    assert asked("histogram_quantile(0.95, sum by (le) (rate(h_bucket[5m]))) > 0.1", empty, 120) == {}


@pytest.mark.parametrize("expr", ["topk(1, late)", "late + 1", "late offset 5m", 'late{a=~"1"}', "delta(late[5m])"])
def test_what_is_not_known_is_said(samples: Samples, expr: str) -> None:
    with pytest.raises((NotImplementedError, AttributeError)):
        asked(expr, samples, 60)


def test_text_is_read_as_it_is_scraped() -> None:
    samples = Samples()
    samples.scraped(15, '# TYPE a counter\na_total{x="1"} 2.0\n')
    samples.scraped(30, None)
    assert one("a_total", samples, 15) == 2
    assert one('up{job="annals"}', samples, 30) == 0
    assert asked("a_total", samples, 30) == {}
