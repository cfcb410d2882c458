"""Fixtures and options of all tests: golden files, the choice of quick tests, a note on those left out."""

from __future__ import annotations

import difflib
import gc
import json
import os
import shutil
import tempfile
import time
import zlib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest
from _pytest.runner import runtestprotocol

from tests.builds import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Generator

    from _pytest.terminal import TerminalReporter

if os.environ.get("GRADER_CORE"):  # `make test-sanitized`: of all processes only this one has the sanitizers
    os.environ.pop("LD_PRELOAD", None)

GOLDEN = Path(__file__).parent / "golden"

DURATIONS = Path(__file__).parent / "durations.json"
"""The seconds of each test that takes half a second or more, as `pytest --record-seconds` writes them.

What is slow, what is quick and which files begin first follows from them.
"""

SLOW = 0.5
"""Tests that take this long, in seconds, are recorded and count as marked `slow`.

`make quick` leaves out all tests of a function of which one does.
"""

MUCH_MORE = 3.0
"""Seconds after which `--quick` complains of a test: on a busy machine some take longer than one.

A fixture of a file that takes as long makes all tests slow that need it: whichever runs first waits for it.
"""

# The same on every machine, whatever is installed there; tests of the choice itself say what they need.
os.environ |= {"GRADER_SANDBOX": "local", "GRADER_TRUST": "1"}

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as for the command line: products are small


class Golden(Protocol):
    """Compare ``text`` with the file ``tests/golden/<name>``."""

    def __call__(self, name: str, text: str) -> None:
        """Fail with a diff where they differ; write the file instead under ``--update-golden``."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer ``--update-golden``, ``--part``, ``--quick`` and ``--record-seconds``."""
    parser.addoption("--update-golden", action="store_true", help="rewrite the files in tests/golden")
    parser.addoption("--part", metavar="K/N", help="of the slow tests run the K-th of N parts")
    parser.addoption("--quick", action="store_true", help="leave out tests that take half a second or more")
    parser.addoption("--record-seconds", action="store_true", help="bring tests/durations.json up to date")


_OWN_BUILDS = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Make a folder for the builds of this run, if none was named by the process that started this one."""
    if VARIABLE not in os.environ:
        config.stash[_OWN_BUILDS] = os.environ[VARIABLE] = tempfile.mkdtemp(prefix="builds-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove it in the process that made it."""
    if _OWN_BUILDS in config.stash:
        del os.environ[VARIABLE]
        shutil.rmtree(config.stash[_OWN_BUILDS], ignore_errors=True)


_freeze = gc.freeze


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage in what is collected, meanwhile and later: it stays, and to look takes a second.

    Whoever asks for garbage to be collected, as a timed run does before its rounds, would wait for that, and
    so would all after the first that was graded, for the grader ends with `gc.unfreeze`: not in tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        _freeze()
        gc.freeze = gc.unfreeze = lambda: None
        gc.set_threshold(50_000, 20, 100)  # looking for garbage took a twentieth of the tests' time
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before pytest itself selects by marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark slow tests, give them ten minutes; leave only quick ones, or a part of the slow ones, if asked.

    The order in which files are named on the command line is not kept by pytest where one holds the other.
    """
    durations = _durations()
    files: defaultdict[str, float] = defaultdict(float)
    for name, seconds in durations.items():
        files[_file(name)] += seconds
    items.sort(key=lambda item: -files[_file(item.nodeid)])  # so that processes end at the same time
    for item in items:
        if durations.get(item.nodeid, 0.0) >= SLOW:
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(600))
    left_out: set[pytest.Item] = set()
    if config.option.part:  # the same on every machine
        number, parts = map(int, config.option.part.split("/"))
        slow = (item for item in items if item.get_closest_marker("slow"))
        left_out |= {item for item in slow if zlib.crc32(item.nodeid.encode()) % parts != number % parts}
    if config.option.quick:
        longer = {name for name, seconds in _of_functions(durations).items() if seconds >= SLOW}
        left_out |= {item for item in items if _function(item.nodeid) in longer}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Send one report of a passed test, with all its seconds, where several processes run tests.

    By itself pytest-xdist sends five messages: for most tests, that takes longer than the test.
    """
    if not hasattr(item.config, "workerinput"):
        return None
    setup, *others = reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if all(report.passed for report in reports):
        (call, teardown) = others
        call.duration += setup.duration + teardown.duration
        call.keywords = {}
        reports = [call]
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    return True


SHARED = "seconds of shared fixtures"
"""Property of a test's report."""

_shared_fixtures: dict[tuple[str, str], float] = {}
"""The seconds that fixtures of a file took, by the file and their names."""


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    """Time the fixtures that the tests of a file share: whichever of them runs first waits for them."""
    began = time.monotonic()
    value = yield
    if fixturedef.scope == "module":
        _shared_fixtures[fixturedef.baseid, fixturedef.argname] = time.monotonic() - began
    return value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the seconds of the shared fixtures that a test needs."""
    report = yield
    names = getattr(item, "fixturenames", ())
    seconds = sum(_shared_fixtures.get((_file(item.nodeid), name), 0.0) for name in names)
    if report.when == "call" and seconds:
        report.user_properties.append((SHARED, seconds))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """After each file look for garbage, and no more in what is left: that are caches, which stay."""
    yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        _freeze()


def _function(node: str) -> str:
    """The file and the function of a test, without its parameters."""
    return node.partition("[")[0]


def _file(node: str) -> str:
    """The file of a test."""
    return node.partition("::")[0]


def _durations() -> dict[str, float]:
    """The seconds that were recorded, by the ids of tests."""
    durations: dict[str, float] = json.loads(DURATIONS.read_text(encoding="utf-8"))
    return durations


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """List the tests that are left out, so that no one takes them for passed."""
    if config.option.record_seconds:
        _record(_seconds(terminalreporter))
    if config.option.quick:
        for line in _too_slow(_of_functions(_seconds(terminalreporter))):
            terminalreporter.write_line(line)
    if config.option.part:
        terminalreporter.write_line(f"left out: of the slow tests all but part {config.option.part}")
    if (
        config.option.markexpr
        == "not gpu and not docker and not slow and not browser and not slurm and not aarch64"
    ):
        terminalreporter.write_line(
            "left out: tests that need a GPU (pytest -m gpu), a container (-m docker), a browser (-m browser)"
            ", a Slurm (-m slurm), a compiler for aarch64 (-m aarch64) or half a second and more (-m slow)"
        )


def _seconds(terminalreporter: TerminalReporter) -> dict[str, float]:
    """The seconds of each test, set-up included; one that needs a dear shared fixture is slow in any case."""
    runs: defaultdict[str, float] = defaultdict(float)
    shared: dict[str, float] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                runs[report.nodeid] += report.duration
                for name, value in report.user_properties:
                    if name == SHARED and isinstance(value, float):
                        shared[report.nodeid] = value
    return {
        name: max(duration, SLOW) if shared.get(name, 0.0) >= MUCH_MORE else duration
        for name, duration in runs.items()
    }


def _of_functions(seconds: dict[str, float]) -> dict[str, float]:
    """The seconds of the slowest run of each test function."""
    functions: defaultdict[str, float] = defaultdict(float)
    for node, duration in seconds.items():
        functions[_function(node)] = max(functions[_function(node)], duration)
    return functions


def _record(seconds: dict[str, float]) -> None:
    """Write the file anew: what ran now has its time, what did not run keeps it if its file is there."""
    root = DURATIONS.parents[1]
    kept = {name: time for name, time in _durations().items() if name not in seconds}
    durations = {name: time for name, time in kept.items() if (root / _file(name)).exists()}
    durations |= {name: round(time, 1) for name, time in seconds.items() if time >= SLOW}
    text = json.dumps(dict(sorted(durations.items())), indent=0, ensure_ascii=False)
    DURATIONS.write_text(f"{text}\n", encoding="utf-8")


def _too_slow(seconds: dict[str, float]) -> list[str]:
    """A line for each test that `--quick` should leave out."""
    return [
        f"not quick: {name} took {duration:.1f} s; record it (pytest --record-seconds)"
        for name, duration in sorted(seconds.items())
        if duration >= MUCH_MORE
    ]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with its golden file."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        if not path.exists():
            pytest.fail(f"tests/golden/{name} does not exist; write it with pytest --update-golden")
        expected = path.read_bytes().decode()
        if text != expected:
            pytest.fail(f"tests/golden/{name} differs:\n{_difference(expected, text)}")

    return compare


def _difference(expected: str, text: str) -> str:
    lines = difflib.unified_diff(expected.splitlines(), text.splitlines(), "golden", "now", lineterm="")
    return "\n".join(lines) or "only in line ends"
