"""What runs inside the sandbox imports its neighbours by plain name: its folder is on the path here too."""

from __future__ import annotations

import sys
from pathlib import Path

from grader.gpu import paired

SANDBOX = Path(__file__).parents[2] / "sandbox"

sys.path.insert(0, str(SANDBOX))
sys.modules.setdefault("paired", paired)  # a job's folder holds it beside them
