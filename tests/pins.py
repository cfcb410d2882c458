"""The versions that `make setup` installs: what is installed now, written down by `python -m tests.pins`."""

from __future__ import annotations

import re
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

if TYPE_CHECKING:
    from collections.abc import Iterable

FILE = Path(__file__).parents[1] / "constraints.txt"
EXTRAS = frozenset({"nvcc", "dev", "docs"})
"""What `make setup` installs beside the program."""

HEADER = """\
# The versions that `make setup` installs, so that a new release of a tool changes nothing by itself.
# `make constraints` brings all of them up to date.
"""


def normal_name(name: str) -> str:
    """The name of a package as PyPI compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements() -> list[Requirement]:
    """What the grader and its extras require, directly or not, here and with this Python."""
    pending = [("cuda-grader", EXTRAS)]
    visited: set[tuple[str, frozenset[str]]] = set()
    collected: list[Requirement] = []
    while pending:
        name, extras = pending.pop()
        if (name, extras) not in visited:
            visited.add((name, extras))
            direct = list(_direct(name, extras))
            collected += direct
            pending += [(normal_name(item.name), frozenset(item.extras)) for item in direct]
    return collected


def _direct(name: str, extras: frozenset[str]) -> Iterable[Requirement]:
    for text in distribution(name).requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in (*extras, "")):
            yield requirement


def pins() -> dict[str, str]:
    """The version of each package in the file, by its normalised name."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    named = [line.split("==") for line in lines if not line.startswith("#")]
    return {normal_name(name): version for name, version in named}


def installed() -> str:
    """The file's text for what is installed now."""
    names = sorted({normal_name(requirement.name) for requirement in requirements()})
    return HEADER + "".join(f"{name}=={distribution(name).version}\n" for name in names)


if __name__ == "__main__":
    sys.stdout.write(installed())
