"""What holds for every test: hypothesis' examples; nothing is skipped without a reason, no setting left behind."""

import gc
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from deploy.runtime import gc_tuning as collector
from domain.ledger import Ledger
from projections.view_store import ViewStore

# same: the same examples in every run and for everybody, so that a red run is the change's doing.
settings.register_profile("same", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("random", deadline=None, max_examples=50)
settings.register_profile("soak", deadline=None, max_examples=5000, suppress_health_check=[HealthCheck.too_slow])
# `--hypothesis-profile NAME` on the command line wins over this.
settings.load_profile("same")

ROOT = Path(__file__).parent
SKIPS, LONG, COSTS = (Path(__file__).with_name(name) for name in ("skips.txt", "long.txt", "costs.txt"))
ALLOWED = pytest.StashKey[list[re.Pattern[str]]]()


def read_patterns(text: str, name: str = SKIPS.name) -> list[re.Pattern[str]]:
    """Return the node id patterns of `tests/skips.txt` or `tests/long.txt`."""
    patterns = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        node_id, _, reason = line.partition(": ")
        if not reason.strip():
            raise pytest.UsageError(f"tests/{name} gives no reason for {line!r}")
        patterns.append(re.compile(re.escape(node_id.strip()).replace(r"\*", ".*")))
    return patterns


def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are cores: tests of processes wait a good deal for each other."""
    return (os.cpu_count() or 1) + 2


QUICK = ("tests/api/", "tests/kernel/", "tests/published/", "tests/tournaments/", "tests/test_wording.py")
"""Folders and files of `--quick`."""
QUICK_SECONDS = 250.0
"""Processor time of all tests of `--quick`: with starting and collecting, less than three minutes on two cores."""
BEGAN = pytest.StashKey[float]()


def read_costs(text: str) -> dict[str, float]:
    """Return the seconds of processor time of each file of `tests/costs.txt`."""
    lines = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {name: float(seconds) for seconds, name in lines}


def write_costs(costs: dict[str, float]) -> str:
    """Return the text of `tests/costs.txt`."""
    head = "# Processor time of test files, seconds. `./run test FOLDER --costs` measures those of a folder anew.\n"
    return head + "".join(f"{costs[name]:7.1f} {name}\n" for name in sorted(costs))


def choose_quick(names: Iterable[str], costs: dict[str, float]) -> set[str]:
    """Return the cheapest of these files that fit together into `QUICK_SECONDS`; one without a cost counts as free."""
    chosen, total = set(), 0.0
    for name in sorted(names, key=lambda name: (costs.get(name, 0.0), name)):
        total += costs.get(name, 0.0)
        if total <= QUICK_SECONDS:
            chosen.add(name)
    return chosen


def _read_processor_time() -> float:
    """Return the seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the long proofs")
    parser.addoption("--quick", action="store_true", help="run what a change breaks most often, in under three minutes")
    parser.addoption("--costs", action="store_true", help="write the measured costs of the files into tests/costs.txt")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that `--quick` would only deselect: each process would import them all."""
    if not config.getoption("--quick") or not collection_path.is_relative_to(ROOT):
        return None
    name = collection_path.relative_to(ROOT.parent).as_posix()
    is_quick = any(f"{name}/".startswith(each) or each.startswith(f"{name}/") for each in QUICK) or name in QUICK
    return None if is_quick else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import a share of the test modules before those of the other processes.

    All processes collect the same files in one order. On a fresh checkout, each would rewrite the assertions of each
    module, since none is ahead of the others; now each finds the rewritten modules of all others.
    """
    if not (own := getattr(session.config, "workerinput", None)) or session.config.getoption("--quick"):
        return
    roots = [Path(arg.partition("::")[0]).absolute() for arg in session.config.args]
    files = sorted(file for root in roots if root.is_dir() for file in root.rglob("test_*.py"))
    for file in files[int(own["workerid"].removeprefix("gw")) :: own["workercount"]]:
        with suppress(Exception):  # collecting tells it
            import_module(".".join(file.relative_to(ROOT.parent).with_suffix("").parts))


@pytest.hookimpl(tryfirst=True)  # before groups are written behind the ids
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the long proofs without `--long`, and with `--quick` all but the cheapest files of a few folders."""
    long = [] if config.getoption("--long") else read_patterns(LONG.read_text("utf-8"), LONG.name)
    is_long = re.compile("|".join(pattern.pattern for pattern in long) or "(?!)").fullmatch
    kept, left = list[pytest.Item](), list[pytest.Item]()
    quick = None
    if config.getoption("--quick"):
        names = {item.nodeid.partition("::")[0] for item in items if item.nodeid.startswith(QUICK)}
        quick = choose_quick(names, read_costs(COSTS.read_text("utf-8")))
    for item in items:
        is_chosen = quick is None or item.nodeid.partition("::")[0] in quick
        (kept if is_chosen and not is_long(item.nodeid) else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


def pytest_configure(config: pytest.Config) -> None:
    # Of whoever runs the tests: what they name must not be touched, and what they say of it is not true of ours.
    for name in [name for name in os.environ if re.match("ANNALS_(?!TEST_)|PG", name)]:
        del os.environ[name]
    # A proxy is for what goes out, as the packages of some tests do; a test and its service speak to each other.
    before = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = ",".join(filter(None, [before, "127.0.0.1,::1,localhost"]))
    config.stash[ALLOWED] = read_patterns(SKIPS.read_text("utf-8"))
    if config.getoption("--costs") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(CostMeter())


def pytest_collection_finish() -> None:
    """What was imported and collected stays: to look through it again and again took a sixth of the time."""
    gc.collect()
    gc.freeze()
    collector.reduce_gc_frequency()


def fail_unlisted_skip(config: pytest.Config, report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip that `tests/skips.txt` does not list into a failure."""
    node_id = re.sub(r"@[^\]]*$", "", report.nodeid)  # without its group
    if report.skipped and not any(pattern.fullmatch(node_id) for pattern in config.stash[ALLOWED]):
        report.outcome = "failed"
        vars(report).pop("wasxfail", None)  # pytest does not count a failure that is marked so
        report.longrepr = f"skipped or xfailed, but not listed in tests/skips.txt: {report.nodeid}"


class CostMeter:
    """Adds up the processor time of each file, and writes it at the end."""

    def __init__(self) -> None:
        self.costs: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.partition("::")[0]
        self.costs[name] = self.costs.get(name, 0.0) + sum(
            float(str(v)) for k, v in report.user_properties if k == "cpu"
        )

    def pytest_sessionfinish(self) -> None:
        COSTS.write_text(write_costs({**read_costs(COSTS.read_text("utf-8")), **self.costs}), "utf-8")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[BEGAN] = _read_processor_time()


# Both hooks come first and wrap the others: they see what pytest has made of skip, importorskip and xfail.


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    fail_unlisted_skip(item.config, report)
    if report.when == "teardown" and item.config.getoption("--costs"):
        report.user_properties.append(("cpu", _read_processor_time() - item.stash[BEGAN]))
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    fail_unlisted_skip(collector.config, report)
    return report


def given() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("ANNALS_")}


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder in which a socket can be, wherever temporary files are and however long the user's name is."""
    with TemporaryDirectory(prefix="annals-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture(autouse=True)
def no_setting_is_left_behind() -> Iterator[None]:
    """Whatever runs next in this process, or is started by it, would take it for its own."""
    before = given()
    yield
    assert given() == before


@pytest.fixture(autouse=True)
def _nothing_is_left_open() -> Iterator[None]:
    """Stores that a test opens are closed at its end, once for all tests: from 3.13 on Python tells which are not."""
    made: list[Ledger | ViewStore] = []

    def told(make: Callable[..., None]) -> Callable[..., None]:
        def making(store: Ledger | ViewStore, *given: Any, **named: Any) -> None:
            make(store, *given, **named)
            made.append(store)

        return making

    with pytest.MonkeyPatch.context() as patch:  # the fixture of that name would be put back after all that is here
        for kind in (Ledger, ViewStore):
            patch.setattr(kind, "__init__", told(kind.__init__))
        yield
    for store in made:
        store.close()
