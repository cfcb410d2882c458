"""The table of kinds: what is known of one before it is loaded, and what loading it brings along."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.grading.assignment.structure import KINDS as NAMES
from grader.kinds import KINDS

ROOT = Path(__file__).parents[2]


def test_each_kind_of_the_format_has_its_package_with_all_stages() -> None:
    """The kinds are the values that `submission.kind` may have, and no others."""
    assert sorted(kind.name for kind in KINDS.values()) == sorted(NAMES)
    for kind in KINDS.values():
        assert all(callable(getattr(kind.stages(), stage)) for stage in ("plan", "gather", "nothing"))


@pytest.mark.parametrize("module", ["grader.kinds.pipeline", "grader.kinds.kernel.stages"])
def test_a_kernel_is_judged_without_what_reads_yaml_and_without_other_kinds(module: str) -> None:
    """A self-check of a kernel starts without them where its assignment comes from the cache."""
    of_kinds = ("program.stages", "answers.stages", "host_runs.running")
    others = ["pydantic", "yaml", *(f"grader.kinds.{name}" for name in of_kinds)]
    code = f"import sys, {module}; print([name for name in {others} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT, text=True)
    assert done.stdout == "[]\n"
