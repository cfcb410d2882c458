"""The harness for GPUs imports its neighbours by plain name: its folder is on the path here too."""

from __future__ import annotations

import sys
from pathlib import Path

from grader.toolchain.gpu import speedup_statistics

SANDBOX = Path(__file__).parents[3] / "sandbox" / "gpu_harness"

sys.path.insert(0, str(SANDBOX))
sys.modules.setdefault("speedup_statistics", speedup_statistics)  # a job's folder holds it beside them
