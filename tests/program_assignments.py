"""Helpers of the tests of assignments of kind `program`: programs built by the host's compiler alone.

Host code needs no nvcc, which takes seconds; what nvcc makes of it is tested where building is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from grader.grading.assignment import staff_folder
from grader.kinds import pipeline
from grader.model import Build, Finding, FindingKind, Grade, Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import read_table

if TYPE_CHECKING:
    from grader.model import Assignment


def mistakes(assignment: Assignment) -> dict[str, dict[str, list[str]]]:
    """The table of the mistakes, by file."""
    table: dict[str, dict[str, list[str]]] = read_table(staff_folder(assignment) / "mistakes/mistakes.yaml")
    return table


def built_on_host(source: Path, folder: Path) -> Build:
    """The program that the host's compiler makes of a file without CUDA, kept with those of the run."""
    compiler, program = shutil.which("g++"), folder / source.stem
    assert compiler, "nvcc needs a host compiler, and so does this"
    command = [compiler, "-x", "c++", "-O1", "-o", str(program), str(source)]
    changed = Path(compiler).resolve().stat().st_mtime_ns
    kept = shared_builds() / sha256(f"{compiler} {changed}\n".encode() + source.read_bytes()).hexdigest()
    if not kept.exists():
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            return Build(ok=False, findings=(Finding(FindingKind.COMPILE, "does not compile", line=1),))
        shutil.copy(program, part := Path(f"{kept}-{os.getpid()}"))
        part.replace(kept)
    return Build(ok=True, program=kept.read_bytes())


def graded_on_host(
    assignment: Assignment, source: Path, folder: Path, *, visible_only: bool = False
) -> Grade:
    """The grade of a file without CUDA."""
    tools = Tools(find_toolchain(), LocalSandbox(), folder / "cache")
    plan = pipeline.make_plan(assignment, 3, tools, visible_only=visible_only)
    submission = Submission(source.stem, source.name, source.read_bytes(), "")
    return pipeline.grade_built(plan, submission, built_on_host(source, folder), tools)


def failed_items(grade: Grade) -> list[str]:
    """The items that it failed."""
    return [item.result.item.id for item in grade.items if item.result.verdict is Verdict.FAIL]
