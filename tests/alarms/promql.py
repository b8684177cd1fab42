"""As much of PromQL as the rules of deploy/alarms.yaml use, over samples in memory; anything else is an error.

The language is read by a library; what the expressions mean is as in Prometheus 3: a sample counts for five minutes
unless its series was missing from a later scrape, ranges are open on the left, rates are extrapolated.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import promql_parser as ql
from prometheus_client.parser import text_string_to_metric_families

LOOKBACK = 300.0
"""Seconds for which a sample counts."""

Labels = frozenset[tuple[str, str]]
Vector = dict[Labels, float]
Value = Vector | float
Sample = tuple[float, float]
"""Seconds, value; not a number where the series has ended."""


class Samples:
    """What was scraped."""

    def __init__(self) -> None:
        self._series: dict[Labels, list[Sample]] = {}

    def scraped(self, at: float, text: str | None, job: str = "annals") -> None:
        """The text of one target at that time, seconds; None: it could not be scraped."""
        found: Vector = {_labels({"__name__": "up", "job": job}): float(text is not None)}
        for family in text_string_to_metric_families(text or ""):
            for s in family.samples:
                found[_labels({**s.labels, "__name__": s.name, "job": job})] = float(s.value)
        for labels in self._series.keys() - found.keys():
            if not math.isnan(self._series[labels][-1][1]):
                self._series[labels].append((at, math.nan))
        for labels, value in found.items():
            self._series.setdefault(labels, []).append((at, value))

    def put(self, series: str, values: Sequence[float | None], step: float = 60) -> None:
        """For tests: a series by its selector, one value every so many seconds from 0 on; None ends it."""
        selector = ql.parse(series)
        assert isinstance(selector, ql.VectorSelector)
        assert selector.name is not None
        labels = _labels({m.name: m.value for m in selector.matchers.matchers} | {"__name__": selector.name})
        self._series[labels] = [(i * step, math.nan if v is None else v) for i, v in enumerate(values)]

    def now(self, selector: ql.VectorSelector, at: float) -> Vector:
        """The newest sample of each series that fits."""
        out: Vector = {}
        for labels, samples in self._fitting(selector):
            i = bisect_right(samples, (at, math.inf)) - 1
            if i >= 0 and samples[i][0] > at - LOOKBACK and not math.isnan(samples[i][1]):
                out[labels] = samples[i][1]
        return out

    def over(self, selector: ql.MatrixSelector, at: float) -> dict[Labels, list[Sample]]:
        """The samples in the range of each series that fits."""
        since = at - selector.range.total_seconds()
        return {
            labels: kept
            for labels, samples in self._fitting(selector.vector_selector)
            if (kept := [(t, v) for t, v in samples if since < t <= at and not math.isnan(v)])
        }

    def _fitting(self, selector: ql.VectorSelector) -> Iterable[tuple[Labels, list[Sample]]]:
        _only(selector.offset is None and selector.at is None and not selector.matchers.or_matchers, selector)
        for labels, samples in self._series.items():
            if _fits(dict(labels), selector):
                yield labels, samples


def _labels(found: Mapping[str, str]) -> Labels:
    return frozenset(found.items())


def _fits(labels: Mapping[str, str], selector: ql.VectorSelector) -> bool:
    for m in selector.matchers.matchers:
        _only(m.op in (ql.MatchOp.Equal, ql.MatchOp.NotEqual), selector)
        if (labels.get(m.name, "") == m.value) is not (m.op == ql.MatchOp.Equal):
            return False
    return labels["__name__"] == selector.name


def _only(ok: bool, expr: object) -> None:
    if not ok:
        raise NotImplementedError(str(expr))


# --- expressions -----------------------------------------------------------------------------------------------

_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
}
_AGGREGATED: Mapping[str, Callable[[list[float]], float]] = {"sum": sum, "max": max, "min": min}


def evaluate(expr: ql.Expr, samples: Samples, at: float) -> Value:
    """What the expression is at that time, seconds."""
    if isinstance(expr, ql.NumberLiteral):
        return float(expr.val)
    if isinstance(expr, ql.ParenExpr):
        return evaluate(expr.expr, samples, at)
    if isinstance(expr, ql.VectorSelector):
        return samples.now(expr, at)
    if isinstance(expr, ql.AggregateExpr):
        return _aggregated(expr, _vector(expr.expr, samples, at))
    if isinstance(expr, ql.BinaryExpr):
        return _binary(expr, samples, at)
    if isinstance(expr, ql.Call):
        return _called(expr, samples, at)
    raise NotImplementedError(str(expr))


def _vector(expr: ql.Expr, samples: Samples, at: float) -> Vector:
    found = evaluate(expr, samples, at)
    _only(not isinstance(found, float), expr)
    return found if isinstance(found, dict) else {}


def _aggregated(expr: ql.AggregateExpr, found: Vector) -> Vector:
    _only(str(expr.op) in _AGGREGATED and expr.param is None, expr)
    by = expr.modifier.labels if expr.modifier else []
    _only(expr.modifier is None or expr.modifier.type == ql.AggModifierType.By, expr)
    groups: dict[Labels, list[float]] = {}
    for labels, value in found.items():
        groups.setdefault(frozenset((k, v) for k, v in labels if k in by), []).append(value)
    return {labels: _AGGREGATED[str(expr.op)](values) for labels, values in groups.items()}


def _binary(expr: ql.BinaryExpr, samples: Samples, at: float) -> Vector:
    left = _vector(expr.lhs, samples, at)
    if str(expr.op) == "or":
        right = _vector(expr.rhs, samples, at)
        return left | {labels: v for labels, v in right.items() if _unnamed(labels) not in map(_unnamed, left)}
    _only(str(expr.op) in _COMPARED and expr.modifier is None, expr)
    limit = evaluate(expr.rhs, samples, at)
    _only(isinstance(limit, float), expr)
    assert isinstance(limit, float)
    return {labels: value for labels, value in left.items() if _COMPARED[str(expr.op)](value, limit)}


def _unnamed(labels: Labels) -> Labels:
    return frozenset((k, v) for k, v in labels if k != "__name__")


def _called(expr: ql.Call, samples: Samples, at: float) -> Vector:
    name, args = expr.func.name, expr.args
    if name in ("rate", "increase"):
        seconds = args[0].range.total_seconds()
        grown = {_unnamed(k): _increase(v, seconds, at) for k, v in samples.over(args[0], at).items() if len(v) > 1}
        return grown if name == "increase" else {k: v / seconds for k, v in grown.items()}
    if name == "histogram_quantile":
        quantile = evaluate(args[0], samples, at)
        assert isinstance(quantile, float)
        return _quantiles(quantile, _vector(args[1], samples, at))
    found = _vector(args[0], samples, at)
    if name == "abs":
        return {_unnamed(labels): abs(value) for labels, value in found.items()}
    _only(name == "absent", expr)
    return {} if found else {frozenset(): 1.0}


def _increase(samples: list[Sample], seconds: float, at: float) -> float:
    """Of a counter, extrapolated to the ends of the range unless it seems to begin or end within it."""
    (first, begun), (last, _) = samples[0], samples[-1]
    grown = sum(b if b < a else b - a for (_, a), (_, b) in pairwise(samples))
    covered = last - first
    pause = covered / (len(samples) - 1)
    before, after = first - (at - seconds), at - last
    before = pause / 2 if before >= pause * 1.1 else before
    after = pause / 2 if after >= pause * 1.1 else after
    if grown > 0:  # it cannot have been less than zero
        before = min(before, covered * begun / grown)
    return grown * (covered + before + after) / covered


def _quantiles(quantile: float, found: Vector) -> Vector:
    groups: dict[Labels, list[tuple[float, float]]] = {}
    for labels, value in found.items():
        named = dict(labels)
        rest = _labels({k: v for k, v in named.items() if k not in ("le", "__name__")})
        groups.setdefault(rest, []).append((float(named["le"]), value))
    return {labels: _quantile(quantile, sorted(buckets)) for labels, buckets in groups.items()}


def _quantile(quantile: float, buckets: list[tuple[float, float]]) -> float:
    """Linear within a bucket; beyond the last bound it is that bound."""
    total = buckets[-1][1]
    if len(buckets) < 2 or not math.isinf(buckets[-1][0]) or not total:
        return math.nan
    rank = quantile * total
    i = next(i for i, (_, count) in enumerate(buckets) if count >= rank)
    if i == len(buckets) - 1:
        return buckets[-2][0]
    low, below = buckets[i - 1] if i else (0.0, 0.0)
    high, count = buckets[i]
    return low + (high - low) * (rank - below) / (count - below)
