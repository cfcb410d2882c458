"""What every test may use: golden files, the choice of quick tests, and a word about those left out."""

from __future__ import annotations

import difflib
import gc
import os
import shutil
import tempfile
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

GOLDEN = Path(__file__).parent / "golden"

UNHURRIED = Path(__file__).parent / "unhurried.txt"
"""Test functions, and whole files, that take a second or more: `make quick` leaves them out."""

SLOW = Path(__file__).parent / "slow.txt"
"""Single tests, with their parameters, that take two seconds or more: they count as marked `slow`."""

LONGEST = Path(__file__).parent / "longest.txt"
"""The files that take longest, longest first: they begin first, so that processes end at the same time."""

A_SECOND = 1.0
TWO_SECONDS = 2.0
MUCH_MORE = 3.0
"""Seconds after which `--quick` complains of a test: on a busy machine some take longer than one."""

# The same on every machine, whatever is installed there; tests of the choice itself say what they need.
os.environ |= {"GRADER_SANDBOX": "local", "GRADER_TRUST": "1"}


class Golden(Protocol):
    """Compare ``text`` with the file ``tests/golden/<name>``."""

    def __call__(self, name: str, text: str) -> None:
        """Fail with a diff where they differ; write the file instead under ``--update-golden``."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer ``--update-golden``, ``--part``, ``--quick`` and ``--record-seconds``."""
    parser.addoption("--update-golden", action="store_true", help="rewrite the files in tests/golden")
    parser.addoption("--part", metavar="K/N", help="of the slow tests run the K-th of N parts")
    parser.addoption("--quick", action="store_true", help="leave out what tests/unhurried.txt lists")
    parser.addoption(
        "--record-seconds", action="store_true", help="bring the lists of slower tests up to date"
    )


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
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before pytest itself selects by marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark slow tests, give them ten minutes; leave only quick ones, or a part of the slow ones, if asked.

    The order in which files are named on the command line is not kept by pytest where one holds the other.
    """
    slow_ones = _lines(SLOW)
    rank = {file: number for number, file in enumerate(LONGEST.read_text(encoding="utf-8").splitlines())}
    items.sort(key=lambda item: rank.get(_file(item.nodeid), len(rank)))
    for item in items:
        if item.nodeid in slow_ones:
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(600))
    left_out: set[pytest.Item] = set()
    if config.option.part:  # the same on every machine
        number, parts = map(int, config.option.part.split("/"))
        slow = (item for item in items if item.get_closest_marker("slow"))
        left_out |= {item for item in slow if zlib.crc32(item.nodeid.encode()) % parts != number % parts}
    if config.option.quick:
        unhurried = _lines(UNHURRIED)
        left_out |= {item for item in items if unhurried & {_function(item.nodeid), _file(item.nodeid)}}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Where several processes run tests, each sends one report of a test that passed, with all its seconds.

    By itself it sends five messages: for most tests, that takes longer than the test.
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


def _lines(file: Path) -> set[str]:
    """The tests that a list names, one a line."""
    return set(file.read_text(encoding="utf-8").splitlines())


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Say which tests are left out: nobody should take them for passed."""
    if config.option.record_seconds:
        seconds = _seconds(terminalreporter)
        _record(SLOW, seconds, TWO_SECONDS)
        _record(UNHURRIED, _of_functions(seconds), A_SECOND)
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
            ", a Slurm (-m slurm), a compiler for aarch64 (-m aarch64) or more than two seconds (-m slow)"
        )


def _seconds(terminalreporter: TerminalReporter) -> dict[str, float]:
    """How long each test took, set-up included."""
    runs: defaultdict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                runs[report.nodeid] += report.duration
    return runs


def _of_functions(seconds: dict[str, float]) -> dict[str, float]:
    """How long the slowest run of each test function took."""
    functions: defaultdict[str, float] = defaultdict(float)
    for node, duration in seconds.items():
        functions[_function(node)] = max(functions[_function(node)], duration)
    return functions


def _record(file: Path, seconds: dict[str, float], least: float) -> None:
    """Write a list anew: what ran now is judged by its time, what did not run stays if its file does."""
    root = Path(__file__).parents[1]
    kept = {name for name in _lines(file) - seconds.keys() if (root / _file(name)).exists()}
    names = kept | {name for name, duration in seconds.items() if duration >= least}
    file.write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")


def _too_slow(seconds: dict[str, float]) -> list[str]:
    """A line for each test that `--quick` should leave out."""
    return [
        f"not quick: {name} took {duration:.1f} s; list it in tests/{UNHURRIED.name}"
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
