"""From a submission to the repairs and the advice of its report, by way of the whole pipeline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError
from grader.grading.assignment import reference_folder
from grader.kinds import pipeline
from grader.model import AdviceKind, FindingKind, Grade, Submission
from grader.model.mistakes import bundled_texts
from grader.running.backends import emulated_kernel
from grader.toolchain.nvcc import Tools, build_kernels, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake

if TYPE_CHECKING:
    from collections.abc import Callable

ASSIGNMENT = bundled("tiled-matmul")
FOLDER = reference_folder(ASSIGNMENT)
READ = f"To read: {bundled_texts().concepts['barrier']}."


@pytest.fixture(scope="module")
def check() -> Callable[[bytes], Grade]:
    """Grade a source on the visible cases."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(ASSIGNMENT, 1, tools, visible_only=True)

    def graded(source: bytes) -> Grade:
        submission = Submission("s", "s.cu", source, "")
        built = build_kernels(tools, submission, ASSIGNMENT.kernel)
        return pipeline.grade_built(plan, submission, built, tools)

    return graded


def staff(name: str) -> bytes:
    """A file of the reference."""
    return mistake(FOLDER / f"{name}.cu")


def line(source: bytes, text: str, which: int = 0) -> int:
    """The number of a line with this text."""
    lines = source.decode().split("\n")
    return [number for number, each in enumerate(lines, 1) if text in each][which]


def repairs_and_hint(grade: Grade) -> tuple[set[str], str]:
    """The repairs of all races of a grade, and the hint."""
    (item,) = (item.result for item in grade.items if item.result.item.check == "races")
    return {each.repair for each in item.findings if each.kind is FindingKind.RACE}, item.hint


def test_the_first_missing_barrier_goes_behind_the_loads(check: Callable[[bytes], Grade]) -> None:
    """It goes between the last store to a tile and the loop that reads it; the hint agrees."""
    source = staff("mistakes/no_first_barrier")
    store, loop = line(source, "Bs[ty][tx] ="), line(source, "for (int k")
    repair = f"add `__syncthreads()` between lines {store} and {loop}: tried, and the race is gone"
    assert repairs_and_hint(check(source)) == ({repair}, f"A{repair[1:]}. {READ}")


def test_the_second_missing_barrier_goes_to_the_end_of_the_loop(check: Callable[[bytes], Grade]) -> None:
    """It ends the races of both tiles."""
    source = staff("mistakes/no_second_barrier")
    loop, brace = line(source, "for (int m"), line(source, "  }", -1)
    where = f"the loop that begins on line {loop}, before the `}}` on line {brace}"
    repair = f"add `__syncthreads()` at the end of {where}: tried, and the race is gone"
    assert repairs_and_hint(check(source)) == ({repair}, f"A{repair[1:]}. {READ}")


def test_a_barrier_behind_the_loop_is_moved_into_it(check: Callable[[bytes], Grade]) -> None:
    """The one that stands there is of no use."""
    source = staff("mistakes/second_barrier_after_loop")
    repairs, _ = repairs_and_hint(check(source))
    (repair,) = repairs
    barrier = line(source, "__syncthreads();", 1)
    assert repair.startswith(
        f"move the `__syncthreads()` of line {barrier} to the end of the loop that begins"
    )


def test_two_missing_barriers_are_two_repairs(check: Callable[[bytes], Grade]) -> None:
    """Each ends its own races, and each was tried; the hint names one, the findings both."""
    repairs, hint = repairs_and_hint(check(staff("mistakes/no_barriers")))
    assert len(repairs) == 2
    assert sum(each[1:] in hint for each in repairs) == 1


def test_one_barrier_that_ends_all_races_is_one_repair(check: Callable[[bytes], Grade]) -> None:
    """If two buffers take turns, one at the end of the loop does what two others would."""
    source = (Path(__file__).parents[1] / "kernels/wrong/tiled-matmul/two_buffers_never_wait.cu").read_bytes()
    repairs, hint = repairs_and_hint(check(source))
    (repair,) = repairs
    assert repair.startswith(
        f"add `__syncthreads()` at the end of the loop that begins on line {line(source, 't <= tiles')}"
    )
    assert repair[1:] in hint


def test_a_race_that_no_barrier_ends_has_the_usual_hint(check: Callable[[bytes], Grade]) -> None:
    """Two threads store to one element of C."""
    repairs, hint = repairs_and_hint(check(staff("mistakes/no_store_guard")))
    assert repairs == {""}
    assert "tried" not in hint


def test_a_barrier_that_makes_nothing_right_is_no_repair(check: Callable[[bytes], Grade]) -> None:
    """Between two neighbours' stores to one element it ends the race, and the output stays wrong."""
    source = staff("solution")
    number = line(source, "tileA[threadIdx.y][threadIdx.x] =")
    lines = source.decode().split("\n")
    lines.insert(number, "if (threadIdx.x + 1 < TILE_SIZE) tileA[threadIdx.y][threadIdx.x + 1] = 0.5f;")
    repairs, hint = repairs_and_hint(check("\n".join(lines).encode()))
    assert repairs == {""}
    assert "tried" not in hint


@pytest.mark.parametrize("name", ["solution", "double_buffered"])
def test_the_right_kernels_of_the_staff_need_no_advice(check: Callable[[bytes], Grade], name: str) -> None:
    """No barrier of theirs is called unneeded, and no line wasteful."""
    assert check(staff(name)).advice == ()


def test_a_barrier_too_many_is_named(check: Callable[[bytes], Grade]) -> None:
    """Points are not touched."""
    before = b"    if (row < M && col < N) {"
    source = staff("solution").replace(before, b"    __syncthreads();\n" + before)
    grade = check(source)
    (advice,) = grade.advice
    assert (advice.kind, advice.line) == (
        AdviceKind.UNNEEDED_BARRIER,
        line(source, "__syncthreads();", -1),
    )
    assert grade.score == grade.max_score


def test_a_tile_read_along_its_columns_gets_advice_about_its_banks(check: Callable[[bytes], Grade]) -> None:
    """Right, and slow: B's tile is kept transposed."""
    source = (Path(__file__).parents[1] / "kernels/correct/float4_from_shared.cu").read_bytes()
    kinds = {each.kind for each in check(source).advice}
    assert kinds == {AdviceKind.BANK_CONFLICTS}


def test_the_naive_kernel_is_advised_to_share_what_it_loads(check: Callable[[bytes], Grade]) -> None:
    """One sentence for both arrays, on the line of the inner product."""
    source = staff("naive")
    (advice,) = check(source).advice
    assert (advice.kind, advice.line) == (AdviceKind.REDUNDANT_LOADS, line(source, "sum +="))
    assert advice.message.startswith("each element of `A` and of `B` that a block uses is loaded 16 times")


def test_advice_that_is_switched_off_is_not_given() -> None:
    """As for the naive kernel, where shared memory is the next lesson."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    quiet = replace(ASSIGNMENT, advice=False, cases=ASSIGNMENT.cases[:1])
    for assignment, number in ((quiet, 0), (replace(quiet, advice=True), 1)):
        plan = pipeline.make_plan(assignment, 1, tools, visible_only=True)
        assert len(pipeline.grade(plan, Submission("s", "s.cu", staff("naive"), ""), tools).advice) == number
    assert not bundled("naive-matmul").advice


def test_a_racy_kernel_gets_no_advice(check: Callable[[bytes], Grade]) -> None:
    """First right, then fast."""
    assert check(staff("mistakes/no_first_barrier")).advice == ()


@pytest.mark.parametrize("failure", [OurError("out of order"), ValueError("a bug")])
def test_a_failure_of_ours_to_advise_leaves_the_grade_alone(
    check: Callable[[bytes], Grade], monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    """Repairs and advice are a courtesy."""

    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(emulated_kernel.EmulatedKernel, "repaired", fail)
    grade = check(staff("solution"))
    assert (grade.error, grade.advice) == ("", ())
    assert grade.score == grade.max_score


def test_a_failure_of_ours_to_advise_is_printed_for_developers(
    check: Callable[[bytes], Grade], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With ``GRADER_DEBUG`` the traceback shows where the bug is; without it nothing is printed."""

    def fail(*_: object) -> None:
        raise ValueError("a bug in repairs")

    monkeypatch.setattr(emulated_kernel.EmulatedKernel, "repaired", fail)
    monkeypatch.delenv("GRADER_DEBUG", raising=False)
    check(staff("solution"))
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("GRADER_DEBUG", "1")
    check(staff("solution"))
    error = capsys.readouterr().err
    assert "trying repairs" in error
    assert "in fail" in error
    assert "a bug in repairs" in error
