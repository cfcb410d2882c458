"""The cost of the report's trace for each submission of a class of 20, in processor time and bytes.

Each is graded as `grader grade` does it, its build, which is not cached, included; then the same
grade gets its trace. Both are timed apart, the compiler's processes with them, so that the pair shares a
machine's moods.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grader.grading.assignment import find_assignment, load_assignment
from grader.grading.submission import lines, read_submission
from grader.kinds import kind_of, pipeline
from grader.reports import files, trace_files
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox

if TYPE_CHECKING:
    from grader.model import Grade

CLASS = Path(__file__).resolve().parents[1] / "sample_class"


def seconds() -> float:
    """Processor time of this process and of those that it waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def size(grade: Grade, source: bytes, trace: bytes) -> int:
    """Bytes of a submission's files, with the trace that is kept beside them."""
    written = files.of_submission(grade, source=lines(source), trace=trace)
    return len(trace) + sum(len(text.encode("utf-8", "backslashreplace")) for text in written.values())


def main() -> None:
    """Print a line for each submission with a trace, and the whole class."""
    assignment = load_assignment(find_assignment("tiled-matmul"))
    kind, sums = kind_of(assignment), [0.0, 0.0, 0, 0]
    tools = Tools(find_toolchain(), LocalSandbox())
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=False)
    for folder in sorted(CLASS.iterdir()):
        submission = read_submission(folder)
        began = seconds()
        built = kind.build(tools, submission, assignment, plan.backend.architecture)
        grade = pipeline.grade_built(plan, submission, built, tools)
        graded = seconds()
        traced = pipeline.with_trace(plan, submission, built, grade)
        packed = trace_files.packed(traced.trace)
        costs = (graded - began, seconds() - graded)
        bytes_of = (size(grade, submission.source, b""), size(grade, submission.source, packed))
        sums = [total + value for total, value in zip(sums, (*costs, *bytes_of), strict=True)]
        if traced.trace is not None:
            show(folder.name, *costs, *bytes_of)
    show("the class", *sums)


def show(name: str, graded: float, traced: float, without: float, with_it: float) -> None:
    """Print a row: seconds and the share that the trace adds, bytes and how many it adds."""
    sys.stdout.write(
        f"{name:<12}{graded:8.2f} s + {traced:5.2f} s ({100 * traced / graded:5.1f} %)"
        f"{without:12,.0f} + {with_it - without:9,.0f} bytes\n"
    )


if __name__ == "__main__":
    main()
