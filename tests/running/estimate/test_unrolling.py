"""A loop that is not unrolled: found in the machine code, unrolled in the source, reported if that helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.base.cpp import with_unrolled_loop
from grader.base.errors import OurError
from grader.kinds.estimating import estimate_submission
from grader.kinds.kernel import estimating as kernel_estimating
from grader.model import Submission
from grader.running.estimate import ERROR_BOUND, rolled_loop
from tests.running.estimate.launches import SOURCE, floats, tools
from tests.running.estimate.test_estimate import estimated
from tests.running.estimate.test_estimating import ASSIGNMENT, REFERENCE, SHAPE, plan_of, small
from tests.simulation.emulator.nvcc import line_of

if TYPE_CHECKING:
    from grader.model import Assignment, Build
    from grader.toolchain.nvcc import Tools

TILED = (REFERENCE / "solution.cu").read_text()
NAIVE = (REFERENCE / "naive.cu").read_text()
LOOP = next(line for line in NAIVE.splitlines() if "for (" in line)
ROLLED = NAIVE.replace(LOOP, f"#pragma unroll 1\n{LOOP}")
FAILS = b"// what we fail to build"


def test_a_short_loop_that_takes_the_time_is_found_with_its_lines() -> None:
    """It is what the warps are in, and a turn has few instructions."""
    many = estimated("rolled", 64, 128, floats(64 * 128), 500)
    assert rolled_loop(many) == (line_of(SOURCE, "x = x * 0.5f"), line_of(SOURCE, "x = x * 0.5f"))


def test_a_loop_that_the_compiler_unrolled_is_none() -> None:
    """Nor is a kernel that has no loop."""
    assert rolled_loop(estimated("product", 4, 64, *[floats(64 * 64)] * 3, 64)) is None
    assert rolled_loop(estimated("copy", 4, 64, *[floats(256)] * 2)) is None


@pytest.mark.parametrize(
    ("source", "line", "expected"),
    [
        ("a;\nfor (;;) b;\n", 2, 'a;\n_Pragma("unroll 8") for (;;) b;\n'),
        ("a;\n#pragma unroll 1\nfor (;;)\n  b;\n", 4, 'a;\n\n_Pragma("unroll 8") for (;;)\n  b;\n'),
        ("for (;;) {\n while (x)\n  b;\n}\n", 3, 'for (;;) {\n _Pragma("unroll 8") while (x)\n  b;\n}\n'),
        ("for (;;) {\n b;\n}\n", 2, '_Pragma("unroll 8") for (;;) {\n b;\n}\n'),
        ("// ü\nfor (;;) b;\n", 2, '// ü\n_Pragma("unroll 8") for (;;) b;\n'),
        ("a;\nb;\n", 2, None),
        ("for (;;) b;\n", 9, None),
    ],
    ids=["for", "pragma", "while", "braces", "wide characters", "no loop", "elsewhere"],
)
def test_the_innermost_loop_around_a_line_is_unrolled_and_no_line_moves(
    source: str, line: int, expected: str | None
) -> None:
    """A pragma before it gives way, and everything stays on its line."""
    text = f"void f() {{\n{source}}}\n"
    unrolled = with_unrolled_loop(text.encode(), (line + 1, line + 1))
    assert unrolled == (None if expected is None else f"void f() {{\n{expected}}}\n".encode())


def changes(source: str) -> dict[str, tuple[float, int | None]]:
    """The changes that would help a kernel, each with its ratio and its line."""
    submission = Submission("ada", "ada.cu", source.encode(), "")
    estimate = estimate_submission(plan_of(small(ASSIGNMENT)), submission, tools(), "h100", SHAPE)
    assert estimate.ratio is not None, estimate.problem
    gains = {
        change.change: (change.ratio / estimate.ratio.median, change.line) for change in estimate.changes
    }
    return {change: gain for change, gain in gains.items() if change == "unrolled"}


def test_what_a_missing_unroll_costs_is_reported_with_its_line() -> None:
    """On an H100 a naive product takes 2.8 times as long with `#pragma unroll 1` (`tests/bench/estimate`)."""
    ((change, (gain, line)),) = changes(ROLLED).items()
    assert change == "unrolled"
    assert gain > 1 + ERROR_BOUND
    assert line == line_of(ROLLED, LOOP.strip())


@pytest.mark.parametrize("source", [b"}", b"", FAILS], ids=["no C++", "nothing", "our failure"])
def test_a_loop_that_cannot_be_unrolled_costs_no_student_the_estimate(
    monkeypatch: pytest.MonkeyPatch, source: bytes
) -> None:
    """Whatever the compiler makes of it, or fails to."""
    plain = kernel_estimating.build_of

    def build_of(assignment: Assignment, submission: Submission, own: Tools) -> Build:
        if submission.source == FAILS:
            raise OurError("no machine code could be made")
        return plain(assignment, submission, own)

    monkeypatch.setattr("grader.base.cpp.with_unrolled_loop", lambda *_: source)
    monkeypatch.setattr(kernel_estimating, "build_of", build_of)
    assert changes(ROLLED) == {}


def test_nothing_is_reported_of_loops_that_are_unrolled() -> None:
    """The compiler unrolls those of the model solution by itself."""
    assert changes(TILED) == {}
