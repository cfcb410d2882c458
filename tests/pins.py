"""The versions that `make setup` installs: what is installed now, written down by `python -m tests.pins`."""

from __future__ import annotations

import sys
from pathlib import Path

from grader.classroom.gradescope.archive import normal_name, pinned

FILE = Path(__file__).parents[1] / "constraints.txt"
EXTRAS = frozenset({"nvcc", "dev", "docs"})
"""The extras that `make setup` installs beside the program."""

HEADER = """\
# The versions that `make setup` installs, so that a new release of a tool changes nothing by itself.
# `make constraints` brings all of them up to date.
"""


def pins() -> dict[str, str]:
    """The version of each package in the file, by its normalised name."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    named = [line.split("==") for line in lines if not line.startswith("#")]
    return {normal_name(name): version for name, version in named}


def installed() -> str:
    """The file's text for what is installed now."""
    return HEADER + pinned(EXTRAS)


if __name__ == "__main__":
    sys.stdout.write(installed())
