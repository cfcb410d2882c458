"""Kernels whose first advice was wrong: what explains the rest now comes first, in every report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.base.arithmetic import parse
from grader.kinds.pipeline import make_plan
from grader.model import Verdict
from grader.model.messages import text_of
from grader.reports import grade_json, html, record_json, selection, text
from tests.bundled import bundled
from tests.first_advice import SEED, FirstAdvice, code
from tests.mistakes import mistake_file

if TYPE_CHECKING:
    from grader.model import Grade

pytestmark = pytest.mark.timeout(600)

FIRST = text_of("first")

ROOT = Path(__file__).parents[2]
MISTAKES = ROOT / "reference/matmul/mistakes"
TILED = (ROOT / "reference/matmul/solution.cu").read_text("utf-8")
REDUCTION = (ROOT / "reference/reduction/solution.cu").read_text("utf-8")
GUSTAV = next((ROOT / "tests/sample_class/gustav").glob("*.cu"))


@pytest.fixture(scope="module")
def advice() -> FirstAdvice:
    """Grades on the visible cases."""
    return FirstAdvice()


def graded(advice: FirstAdvice, folder: Path, assignment: str, source: str) -> Grade:
    """The grade of a text."""
    file = folder / "kernel.cu"
    file.write_text(source, encoding="utf-8")
    return advice.grade(assignment, file)


def test_an_unknown_name_of_the_tile_is_read_from_the_shared_arrays(
    advice: FirstAdvice, tmp_path: Path
) -> None:
    """A right kernel with `#define MY_TILE 32` has full marks, and its report shows how it was launched."""
    source = TILED.replace("TILE_SIZE 16", "MY_TILE 32").replace("TILE_SIZE", "MY_TILE")
    assert "#define MY_TILE 32" in source
    grade = graded(advice, tmp_path, "tiled-matmul", source)
    assert grade.verdict is Verdict.PASS
    assert grade.score == 90
    aligned = next(item.result for item in grade.items if item.result.item.id == "aligned")
    assert (
        "defines no `TILE_SIZE`, so it was launched with 32, the side of its shared arrays" in aligned.message
    )


def test_a_tile_that_is_written_out_is_read_from_the_shared_arrays(
    advice: FirstAdvice, tmp_path: Path
) -> None:
    """A number in place of a name."""
    source = TILED.replace("#define TILE_SIZE 16", "").replace("TILE_SIZE", "8")
    assert graded(advice, tmp_path, "tiled-matmul", source).score == 90


def test_a_block_size_that_the_assignment_does_not_allow_is_reported_first(
    advice: FirstAdvice, tmp_path: Path
) -> None:
    """With its value and what is needed, before what it did."""
    source = REDUCTION.replace("BLOCK_SIZE 256", "BLOCK_SIZE 100")
    grade = graded(advice, tmp_path, "reduction", source)
    assert grade.cause is not None
    assert grade.cause.code == "constant-not-allowed"
    assert grade.cause.message == "`BLOCK_SIZE` is 100; this assignment needs a multiple of 32"


def test_shared_memory_that_the_launch_does_not_give_is_reported_first(
    advice: FirstAdvice, tmp_path: Path
) -> None:
    """Not the guards, which are all there."""
    source = TILED.replace("__shared__ float", "extern __shared__ float", 1).replace("[TILE_SIZE][", "[][", 1)
    assert "extern __shared__" in source
    grade = graded(advice, tmp_path, "tiled-matmul", source)
    assert code(grade) in {"load-beyond-own-array", "store-beyond-own-array"}


def test_a_variable_that_some_threads_set_is_reported_with_the_line_that_does(
    advice: FirstAdvice, tmp_path: Path
) -> None:
    """Lengths that leave threads idle lose points, and the cause is the conditional assignment's line."""
    source = REDUCTION.replace(
        "    float sum = 0.0f;\n    for (int i = blockIdx.x * BLOCK_SIZE + threadIdx.x; i < N;",
        "    const int first = blockIdx.x * BLOCK_SIZE + threadIdx.x;\n    float sum;\n"
        "    if (first < N) sum = values[first];\n    for (int i = first + gridDim.x * BLOCK_SIZE; i < N;",
    )
    grade = graded(advice, tmp_path, "reduction", source)
    lost = {item.result.item.id for item in grade.items if item.result.verdict is Verdict.FAIL}
    assert lost == {"any-length", "memory"}
    assert grade.cause is not None
    assert grade.cause.line is not None
    line = source.split("\n")[grade.cause.line - 1].strip()
    assert (grade.cause.code, line) == ("local-set-by-some", "if (first < N) sum = values[first];")


def test_a_variable_that_some_threads_set_is_nothing_where_the_others_do_not_use_it(
    advice: FirstAdvice, tmp_path: Path
) -> None:
    """A kernel whose other threads store it where it is never read has all points."""
    source = REDUCTION.replace(
        "sum = lane < BLOCK_SIZE / WARP_SIZE ? warpSums[lane] : 0.0f;\n        sum = warpSum(sum);",
        "float part;\n        if (lane < BLOCK_SIZE / WARP_SIZE) part = warpSums[lane];\n"
        "        for (int offset = BLOCK_SIZE / WARP_SIZE / 2; offset > 0; offset /= 2)\n"
        "            part += __shfl_down_sync(EVERYBODY, part, offset);\n        sum = part;",
    )
    assert "float part" in source
    assert graded(advice, tmp_path, "reduction", source).verdict is Verdict.PASS


def test_a_barrier_of_a_cooperative_group_is_reported_with_its_line(
    advice: FirstAdvice, tmp_path: Path
) -> None:
    """`block.sync()` stands three headers deep, and is called on a line of the student's."""
    file = ROOT / "tests/kernels/wrong/tiled-matmul/groups_leave_early.cu"
    leaves = "if (r0 + threadIdx.y >= M || c0 + threadIdx.x >= N) return;"
    source = file.read_text("utf-8").replace(leaves, "if (r0 + threadIdx.y < M && c0 + threadIdx.x < N) {")
    source = source.rstrip() + "}\n"
    cause = graded(advice, tmp_path, "tiled-matmul", source).cause
    assert cause is not None
    assert cause.line is not None
    line = source.split("\n")[cause.line - 1].strip()
    assert (cause.code, line) == ("barrier-divergence", "block.sync();")


@pytest.mark.parametrize("seed", [1, 2, 794422515])
def test_advice_does_not_depend_on_the_seed(seed: int) -> None:
    """Two matrices with rows of the wrong length are reported together."""
    assert code(FirstAdvice(seed).grade("tiled-matmul", GUSTAV)) == "both-leading-dimensions"


def test_the_cause_stands_on_top_of_every_report(advice: FirstAdvice) -> None:
    """Before the items in text and page, and in grade.json under a key of its own."""
    grade = advice.grade("tiled-matmul", mistake_file(MISTAKES / "load_guard_on_b_only.cu"))
    assert grade.cause is not None
    written = text.render(grade).plain
    assert written.index(FIRST) < written.index("try:") < written.index("cases")
    page = html.render(grade)
    assert (
        0
        < page.index('id="start"')
        < page.index(selection.caused(grade.cause).split("`")[0])
        < page.index('class="items"')
    )
    assert grade_json.as_json(grade)["cause"]["code"] == grade.cause.code
    assert record_json.load(record_json.dump(grade)).cause == grade.cause


@pytest.mark.parametrize(
    ("assignment", "file", "usual", "other"),
    [
        ("transpose", "transpose/solution.cu", "int M, int N", "int N, int M"),
        ("histogram", "histogram/solution.cu", "int N, int B", "int B, int N"),
        ("convolution-2d", "convolution/solution.cu", "int H, int W", "int W, int H"),
        ("tiled-matmul", "matmul/solution.cu", "int M, int K, int N", "int M, int N, int K"),
        ("naive-matmul", "matmul/naive-matmul/solution.cu", "int M, int K, int N", "int K, int N, int M"),
    ],
)
def test_sizes_in_another_order_are_recognised_by_their_names(
    advice: FirstAdvice, tmp_path: Path, assignment: str, file: str, usual: str, other: str
) -> None:
    """Tried: with the arguments in that order every case is right."""
    source = (ROOT / "reference" / file).read_text("utf-8")
    assert usual in source
    assert code(graded(advice, tmp_path, assignment, source.replace(usual, other))) == "parameter-order"


def test_the_line_of_the_first_cause_is_one_that_its_sentence_names(advice: FirstAdvice) -> None:
    """The line of a store that leaves its array is shown, although a load was found before it."""
    file = mistake_file(MISTAKES / "shared_tile_too_small.cu")
    cause = advice.grade("tiled-matmul", file).cause
    assert cause is not None
    assert cause.code == "store-beyond-own-array"
    assert cause.message.endswith("on lines 14 and 15")
    assert cause.line == 14


SHARED_TILES = (
    ("    __shared__ float tileA[TILE_SIZE][TILE_SIZE];", "    extern __shared__ float tileA[];"),
    ("    __shared__ float tileB[TILE_SIZE][TILE_SIZE];", "    extern __shared__ float tileB[];"),
    ("[threadIdx.y][threadIdx.x]", "[threadIdx.y * TILE_SIZE + threadIdx.x]"),
    ("tileA[threadIdx.y][k]", "tileA[threadIdx.y * TILE_SIZE + k]"),
    ("tileB[k][threadIdx.x]", "tileB[k * TILE_SIZE + threadIdx.x]"),
)
BEHIND = (
    ("tileB[threadIdx.y * TILE_SIZE", "tileB[TILE_SIZE * TILE_SIZE + threadIdx.y * TILE_SIZE"),
    ("tileB[k * TILE_SIZE", "tileB[TILE_SIZE * TILE_SIZE + k * TILE_SIZE"),
)


def replaced(source: str, *changes: tuple[str, str]) -> str:
    """A text with each of the changes, all of which apply."""
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return source


@pytest.fixture(scope="module")
def dynamic() -> FirstAdvice:
    """The product in tiles, launched with dynamic shared memory for two of them."""
    given = FirstAdvice()
    assignment = bundled("tiled-matmul")
    interface = replace(assignment.kernel, shared=parse("2 * TILE_SIZE * TILE_SIZE * 4"))
    wanted = replace(assignment, interface=interface)
    given.plans["tiled-matmul"] = make_plan(wanted, SEED, given.tools, visible_only=True)
    return given


def test_two_names_of_dynamic_shared_memory_are_reported_first(dynamic: FirstAdvice, tmp_path: Path) -> None:
    """They begin at the same address, whatever came of it."""
    grade = graded(dynamic, tmp_path, "tiled-matmul", replaced(TILED, *SHARED_TILES))
    assert grade.cause is not None
    assert (grade.cause.code, grade.cause.line) == ("shared-arrays-overlap", 7)
    assert grade.cause.message.startswith("`tileA` and `tileB` on lines 6 and 7 begin at the same address")


def test_a_right_kernel_may_have_two_names_of_its_shared_memory(dynamic: FirstAdvice, tmp_path: Path) -> None:
    """The grade has full marks and no cause."""
    grade = graded(dynamic, tmp_path, "tiled-matmul", replaced(TILED, *SHARED_TILES, *BEHIND))
    assert grade.score == 90
    assert grade.cause is None


def test_a_bad_access_to_another_array_is_not_laid_to_names_of_shared_memory(
    dynamic: FirstAdvice, tmp_path: Path
) -> None:
    """A guard is missing there."""
    unguarded = ("(row < M && innerA < K) ? A[row * K + innerA] : 0.0f", "A[row * K + innerA]")
    source = replaced(TILED, *SHARED_TILES, *BEHIND, unguarded)
    assert code(graded(dynamic, tmp_path, "tiled-matmul", source)) == "load-out-of-bounds"


HALVING = "for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {"
SUM_OF_WARP = "        sum += __shfl_down_sync(EVERYBODY, sum, offset);"


@pytest.mark.parametrize(
    ("loop", "step"),
    [
        ("for (int offset = WARP_SIZE / 2; offset > 0; offset--) {", "offset /= 2;"),
        ("for (int offset = 1; offset < WARP_SIZE; offset++) {", "offset *= 2;"),
        ("for (unsigned offset = 1; offset < WARP_SIZE; ++offset) {", "offset = offset * 2;"),
        ("for (int offset = 1; offset < WARP_SIZE; offset += 1) {", "offset <<= 1;"),
    ],
)
def test_a_loop_that_steps_twice_is_reported_first(
    advice: FirstAdvice, tmp_path: Path, loop: str, step: str
) -> None:
    """With the lines of its header and of its body."""
    source = replaced(REDUCTION, (HALVING, loop), (SUM_OF_WARP, f"{SUM_OF_WARP}\n        {step}"))
    grade = graded(advice, tmp_path, "reduction", source)
    assert grade.cause is not None
    assert (grade.cause.code, grade.cause.line) == ("loop-stepped-twice", 11)
    assert "`offset` twice in each round: in its header on line 9 and in its body on line 11" in (
        grade.cause.message
    )


def test_a_loop_that_steps_twice_in_another_kernel_is_not_reported(
    advice: FirstAdvice, tmp_path: Path
) -> None:
    """Nor one whose body declares a variable of that name."""
    other = "\n__global__ void old(int* a) { for (int i = 1; i < 9; i++) { a[i] = 1; i *= 2; } }\n"
    inner = (
        "for (int i = 0; i < 1; i++) { for (int i = 1; i < 2; i *= 2) sum += 0.0f; }\n    sum = warpSum(sum);"
    )
    source = replaced(
        REDUCTION + other, ("    sum = warpSum(sum);\n    if (lane", f"    {inner}\n    if (lane")
    )
    source = replaced(source, ("atomicAdd(total, sum)", "atomicAdd(total, sum + 1.0f)"))
    grade = graded(advice, tmp_path, "reduction", source)
    assert grade.verdict is Verdict.FAIL
    assert code(grade) != "loop-stepped-twice"


def test_right_kernels_may_step_a_loop_twice(advice: FirstAdvice, tmp_path: Path) -> None:
    """An odd way to write it, and right."""
    loop = ("for (int offset = 0; offset < WARP_SIZE - 1; offset++) {", "        offset *= 2;")
    taken = SUM_OF_WARP.replace("offset)", "offset + 1)")
    source = replaced(REDUCTION, (HALVING, loop[0]), (SUM_OF_WARP, f"{taken}\n{loop[1]}"))
    grade = graded(advice, tmp_path, "reduction", source)
    assert grade.verdict is Verdict.PASS
    assert grade.cause is None
