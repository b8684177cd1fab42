"""Every operation states what it costs at most: `costs.txt` has its class.

- `gate`: it takes more than 50 ms of a processor for some valid input, and waits for a slot of the gate.
- `long`: it may take many seconds, and leaves one slot to the others.
- `quick`: it takes less, however long a game or an event is.

A new operation fails the test until it has a line. Measure it with the longest game and with an event of a thousand
entrants. If it is not quick, hold a slot (`api.http.rate_limits`).
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from contextlib import _GeneratorContextManager
from pathlib import Path
from typing import Any

from api.app import BLUEPRINTS
from api.http import rate_limits
from tests.api.conftest import Site

STATED = Path(__file__).with_name("costs.txt")
CLASSES = ("quick", "gate", "long")
SLOTS: dict[object, str] = {
    rate_limits.whole_game_slot: "gate",
    rate_limits.archived_game_slot: "gate",
    rate_limits.gate_context: "gate",
    rate_limits.long_work_slot: "long",
}


def stated() -> dict[str, str]:
    """Operation -> class."""
    lines = [line.split() for line in STATED.read_text("utf-8").splitlines()]
    assert lines == sorted(lines, key=lambda line: line[1])
    return {operation: cost for cost, operation in lines}


def views(site: Site) -> dict[str, Callable[..., Any]]:
    """Operation -> view, of the whole API."""
    names = {bp.name for bp in BLUEPRINTS}
    found = {}
    for endpoint, view in site.app.view_functions.items():
        if endpoint.partition(".")[0] in names:
            documented: Any = getattr(view, "_apidoc", None) or {}
            found[documented.get("manual_doc", {}).get("operationId") or endpoint.partition(".")[2]] = view
    return found


def functions(view: Callable[..., Any], depth: int = 5) -> Iterator[object]:
    """Everything of `api` that a function names, and what that names in turn; also its decorators."""
    seen: set[int] = set()
    left: list[tuple[object, int]] = [(view, 0)]
    while left:
        found, far = left.pop()
        if id(found) in seen or far > depth:
            continue
        seen.add(id(found))
        yield found
        if isinstance(found, _GeneratorContextManager):
            left.append((found.func, far))
        if isinstance(found, types.FunctionType) and found.__module__.startswith(
            ("api.", "contextlib", "flask", "webargs")
        ):
            left += [(cell.cell_contents, far) for cell in found.__closure__ or () if _has_contents(cell)]
            left += [(inner, far) for inner in [getattr(found, "__wrapped__", None)] if inner is not None]
        if isinstance(found, types.FunctionType) and found.__module__.startswith("api.") and found not in SLOTS:
            left += [(named, far + 1) for named in _named(found)]


def _has_contents(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _named(function: types.FunctionType) -> Iterator[object]:
    """Functions that the code names, alone or as members of modules."""
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [each for each in code.co_consts if isinstance(each, types.CodeType)]
        known = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
        modules = [each for each in known if inspect.ismodule(each) and each.__name__.startswith("api.")]
        yield from (each for each in known if isinstance(each, types.FunctionType))
        for module in modules:
            yield from (vars(module)[name] for name in code.co_names if name in vars(module))


def enters(view: Callable[..., Any]) -> bool:
    """Return whether a view, or what it calls, may hold a slot."""
    return any(found in SLOTS for found in functions(view) if isinstance(found, types.FunctionType))


def test_every_operation_states_its_cost(site: Site) -> None:
    found = stated()
    assert set(found) == set(views(site))
    assert {*found.values()} == {*CLASSES}


def test_who_states_a_slot_may_hold_one(site: Site) -> None:
    """Some quick ones may as well: games of the archive are read whole."""
    costs = stated()
    assert not [name for name, view in views(site).items() if costs[name] != "quick" and not enters(view)]


def test_long_work_costs_more_than_a_move(site: Site) -> None:
    rules = {rule.endpoint: rule for rule in site.app.url_map.iter_rules()}
    by_view = {site.app.view_functions[endpoint]: str(rule) for endpoint, rule in rules.items()}
    known = {**rate_limits.READ_COSTS, **rate_limits.WRITE_COSTS}
    for name, view in views(site).items():
        words = [word for word in by_view[view].split("/") if not word.startswith("<")]
        assert stated()[name] != "long" or known["/".join(words[2:])] >= 2, name
