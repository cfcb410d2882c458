"""What every test may use: golden files, and a word about the tests that were left out."""

from __future__ import annotations

import difflib
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

GOLDEN = Path(__file__).parent / "golden"

# The same on every machine, whatever is installed there; tests of the choice itself say what they need.
os.environ |= {"GRADER_SANDBOX": "local", "GRADER_TRUST": "1"}


class Golden(Protocol):
    """Compare ``text`` with the file ``tests/golden/<name>``."""

    def __call__(self, name: str, text: str) -> None:
        """Fail with a diff where they differ; write the file instead under ``--update-golden``."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer ``--update-golden`` and ``--part``."""
    parser.addoption("--update-golden", action="store_true", help="rewrite the files in tests/golden")
    parser.addoption("--part", metavar="K/N", help="of the slow tests run the K-th of N parts")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give slow tests ten minutes; leave only one part of them if asked, the same on every machine."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(600))
    part = config.option.part
    if part:
        number, parts = map(int, part.split("/"))
        slow = (item for item in items if item.get_closest_marker("slow"))
        others = {item for item in slow if zlib.crc32(item.nodeid.encode()) % parts != number % parts}
        config.hook.pytest_deselected(items=sorted(others, key=lambda item: item.nodeid))
        items[:] = [item for item in items if item not in others]


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Say which tests are left out: nobody should take them for passed."""
    if config.option.part:
        terminalreporter.write_line(f"left out: of the slow tests all but part {config.option.part}")
    if config.option.markexpr == "not gpu and not docker and not slow and not browser":
        terminalreporter.write_line(
            "left out: tests that need a GPU (pytest -m gpu), a container (-m docker), a browser (-m browser)"
            " or minutes (-m slow)"
        )


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
