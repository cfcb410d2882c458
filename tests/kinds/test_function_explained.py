"""The explanation of a wrong function: as of a kernel, its mistake, the smallest shape, the first cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import staff_folder
from grader.kinds import pipeline
from grader.kinds.function.smaller_calls import SmallerCalls
from grader.model import Submission
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.model import Grade

    Graded = Callable[..., Grade]

ASSIGNMENT = bundled("matmul-function")


@pytest.fixture(scope="module")
def graded() -> Graded:
    """Grade a mistake of the bundled assignment, on its visible cases."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(ASSIGNMENT, 3, tools, visible_only=True)

    def grade(name: str, source: bytes = b"") -> Grade:
        source = source or mistake(staff_folder(ASSIGNMENT) / f"mistakes/{name}.cu")
        return pipeline.grade(plan, Submission("ada", f"{name}.cu", source, ""), tools)

    return grade


def _message(grade: Grade, item: str) -> str:
    return next(graded.result.message for graded in grade.items if graded.result.item.id == item)


def test_a_wrong_result_is_explained_with_the_tiles_that_its_launch_has(graded: Graded) -> None:
    """No tile size is declared; the block of the launch shows it. A shape of one element fails, too."""
    grade = graded("whole_tiles_only")
    assert "`C` lacks the last tile of the sum. The smallest shape found to fail: M=1, K=1, N=1" in _message(
        grade, "any-shape"
    )
    assert grade.cause is not None
    assert (grade.cause.code, grade.cause.item) == ("last-tile-dropped", "any-shape")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("if (row < M && col < N)", "if (row < M && col < N && row * N + col < M * K)"),
        ("cudaMemcpy(C, dC, bytesC,", "cudaMemcpy(C, dC, N > K ? bytesA : bytesC,"),
    ],
    ids=("a bound on elements", "bytes that do not come back"),
)
def test_where_the_end_of_a_result_was_never_stored_no_message_speaks_of_tiles(
    graded: Graded, right: str, wrong: str
) -> None:
    """Device memory that was never written is no result: it is not reported to be NaN."""
    source = (staff_folder(ASSIGNMENT) / "solution.cu").read_text("utf-8")
    assert right in source
    grade = graded("short", source.replace(right, wrong).encode())
    assert grade.cause is not None
    assert grade.cause.code == "end-not-stored"
    assert "NaN" not in _message(grade, "any-shape")


def test_the_smallest_shape_is_one_step_beyond_those_that_work(graded: Graded) -> None:
    """The exchanged grid covers one tile more than it needs in the other direction."""
    grade = graded("grid_exchanged")
    assert "The smallest shape found to fail: M=1, K=1, N=17" in _message(grade, "any-shape")
    assert grade.evidence is not None
    wrong = [case for case in grade.evidence.cases if case.smallest]
    shapes = {array.name: array.shape for array in wrong[0].example}
    assert shapes == {"A": (1, 1), "B": (1, 17), "C": (1, 17)}
    assert all(comparison.heat for case in wrong for comparison in case.comparisons if comparison.wrong)


def test_calls_at_smaller_shapes_are_few(graded: Graded, monkeypatch: pytest.MonkeyPatch) -> None:
    """Smaller shapes are not mentioned if none fails."""
    monkeypatch.setattr(SmallerCalls, "_first_failing", lambda *_: None)
    assert "smallest" not in _message(graded("grid_exchanged"), "any-shape")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("store_unguarded", "store-out-of-bounds"),
        ("first_barrier_missing", "barrier-before-reading"),
        ("device_pointer_on_host", "host-device-pointer"),
        ("never_copied_back", "host-never-copied-back"),
    ],
)
def test_what_comes_first_is_a_kernels_mistake_unless_the_host_made_one(
    graded: Graded, name: str, code: str
) -> None:
    """A mistake or an omission of the host spoils the results."""
    cause = graded(name).cause
    assert cause is not None
    assert cause.code == code


def _with_parameters(parameters: str) -> bytes:
    """The model solution with other parameters."""
    source = (staff_folder(ASSIGNMENT) / "solution.cu").read_text("utf-8")
    as_passed = "void solve(const float* A, const float* B, float* C, int M, int K, int N)"
    assert as_passed in source
    return source.replace(as_passed, f"void solve({parameters})").encode()


def test_parameters_in_another_order_are_reported_before_what_that_does(graded: Graded) -> None:
    """The function was called in the order of its own names, and then it is right."""
    source = _with_parameters("const float* A, const float* B, float* C, int M, int N, int K")
    cause = graded("order", source).cause
    assert cause is not None
    assert (cause.code, cause.line) == ("parameter-order", 33)
    assert "is right when it is called with (A, B, C, M, N, K)" in cause.message


def test_an_order_that_does_not_make_it_right_is_not_reported(graded: Graded) -> None:
    """A student may call the inner size N; what is wrong then is something else."""
    source = _with_parameters("const float* A, const float* B, float* C, int M, int N, int K")
    source = source.replace(b"int N, int K) {", b"int N, int K) {\n    int swap = N; N = K; K = swap;", 1)
    exact = b"if (row < M && col < N) C"
    assert exact in source
    assert graded("names", source).score == 100
    cause = graded("guard", source.replace(exact, b"if (row < M) C")).cause
    assert cause is not None
    assert cause.code != "parameter-order"


def test_types_in_another_order_are_reported_as_such(graded: Graded) -> None:
    """With the order that the assignment passes."""
    source = _with_parameters("int M, int K, int N, const float* A, const float* B, float* C")
    message = _message(graded("types", source), "compiles")
    assert "parameter 1 of the function `solve` should be `const float* A`, but it is `int`" in message
    assert message.endswith("int N): the same types in another order")
