"""The first advice to a student about a kernel: its code, and a comparison with the label's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

SEED = 1
OUTPUT = "output"

SAME = (
    {"a-leading-dimension", "row-length-of-load"},
    {"b-leading-dimension", "row-length-of-load"},
    {"output-leading-dimension", "row-length-of-store"},
    {"guard-bounds-swapped", "guard-exchanged"},
    {"block-indices-swapped", "rows-and-columns-swapped"},
    {"guard-bounds-swapped", "rows-and-columns-swapped"},
    {"load-beyond-own-array", "store-beyond-own-array"},
    {"load-out-of-bounds", "store-out-of-bounds"},
    {"load-beyond-vector", "store-beyond-vector"},
    {"store-unguarded", "store-into-next-row"},
)
"""Codes that send a student to the same place: an output shows one of them, a line the other."""

GENERIC = frozenset({OUTPUT, "partly-unwritten", "some-blocks", "edge-wrong", "values-not-counted"})
"""Codes that are true of many mistakes, and so neither the right one nor a false one."""


class FirstAdvice:
    """Grades of the kernels of assignments, as `check` gives them: on the visible cases."""

    def __init__(self, seed: int = SEED) -> None:
        self.tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
        self.seed = seed
        self.plans: dict[str, pipeline.Plan] = {}

    def grade(self, assignment: str, file: Path) -> Grade:
        """The grade of one file; the assignment is prepared once."""
        if assignment not in self.plans:
            wanted = bundled(assignment)
            self.plans[assignment] = pipeline.make_plan(wanted, self.seed, self.tools, visible_only=True)
        submission = Submission(file.name, file.name, file.read_bytes(), "")
        return pipeline.grade(self.plans[assignment], submission, self.tools)


def code(grade: Grade) -> str:
    """The code of the first advice: the cause, or else the check of the first item that fails."""
    if grade.cause is not None:
        return grade.cause.code
    failing = (item.result.item.check for item in grade.items if item.result.verdict is Verdict.FAIL)
    return next(failing, "")


def is_right(found: str, label: str) -> bool:
    """Return whether the code means what the label asks for."""
    return found == label or any({found, label} <= group for group in SAME)
