"""The cache of builds that all tests of a run share: a file that several of them grade is compiled once.

What is made once for a toolkit (the stand-in for CUDA's runtime, the index of its headers) lies there, too: a
new cache costs seconds. Tests of the cache itself have one of their own.
"""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "TESTS_BUILDS"
"""Names the folder to pytest's other processes, to runs of pytest within a test, and to `.ci/run`'s."""


def shared_builds() -> Path:
    """The folder of this run's builds, which goes with the run."""
    return Path(os.environ[VARIABLE])
