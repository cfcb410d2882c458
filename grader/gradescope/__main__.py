"""`python -m grader.gradescope`: what the two scripts of the archive start."""

from __future__ import annotations

import sys
from pathlib import Path

from grader.gradescope import run

if __name__ == "__main__":
    *prove, folder = sys.argv[1:]
    sys.exit((run.prove if prove else run.main)(Path(folder)))
