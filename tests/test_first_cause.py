"""Kernels whose first advice was wrong: what explains the rest now comes first, in every report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.model import Verdict
from grader.reports import grade_json, html, text
from tests.first_advice import FirstAdvice, code

if TYPE_CHECKING:
    from grader.model import Grade

pytestmark = pytest.mark.timeout(600)

ROOT = Path(__file__).parents[1]
TILED = (ROOT / "reference/matmul/solution.cu").read_text("utf-8")
REDUCTION = (ROOT / "reference/reduction/solution.cu").read_text("utf-8")
GUSTAV = next((ROOT / "tests/sample_class/gustav").glob("*.cu"))


@pytest.fixture(scope="module")
def advice(tmp_path_factory: pytest.TempPathFactory) -> FirstAdvice:
    """Grades on the visible cases."""
    return FirstAdvice(tmp_path_factory.mktemp("builds"))


def graded(advice: FirstAdvice, folder: Path, assignment: str, source: str) -> Grade:
    """The grade of a text."""
    file = folder / "kernel.cu"
    file.write_text(source, encoding="utf-8")
    return advice.grade(assignment, file)


def test_an_unknown_name_of_the_tile_is_read_from_the_shared_arrays(
    advice: FirstAdvice, tmp_path: Path
) -> None:
    """A right kernel with `#define MY_TILE 32` has full marks, and is told how it was launched."""
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


def test_a_block_size_that_the_assignment_does_not_allow_is_told_first(
    advice: FirstAdvice, tmp_path: Path
) -> None:
    """With its value and what is needed, before what it did."""
    source = REDUCTION.replace("BLOCK_SIZE 256", "BLOCK_SIZE 100")
    grade = graded(advice, tmp_path, "reduction", source)
    assert grade.cause is not None
    assert grade.cause.code == "constant-not-allowed"
    assert grade.cause.message == "`BLOCK_SIZE` is 100; this assignment needs a multiple of 32"


def test_shared_memory_that_the_launch_does_not_give_is_told_first(
    advice: FirstAdvice, tmp_path: Path
) -> None:
    """Not the guards, which are all there."""
    source = TILED.replace("__shared__ float", "extern __shared__ float", 1).replace("[TILE_SIZE][", "[][", 1)
    assert "extern __shared__" in source
    grade = graded(advice, tmp_path, "tiled-matmul", source)
    assert code(grade) in {"load-beyond-own-array", "store-beyond-own-array"}


@pytest.mark.parametrize("seed", [1, 2, 794422515])
def test_advice_does_not_depend_on_the_seed(tmp_path: Path, seed: int) -> None:
    """Two matrices with rows of the wrong length are told of together."""
    assert code(FirstAdvice(tmp_path, seed).grade("tiled-matmul", GUSTAV)) == "both-leading-dimensions"


def test_the_cause_stands_on_top_of_every_report(advice: FirstAdvice) -> None:
    """Before the items in text and page, and in grade.json under a key of its own."""
    grade = advice.grade("tiled-matmul", ROOT / "reference/matmul/mistakes/load_guard_on_b_only.cu")
    assert grade.cause is not None
    written = text.render(grade).plain
    assert written.index(text.FIRST) < written.index("try:") < written.index("cases")
    page = html.render(grade)
    assert 0 < page.index(text.FIRST) < page.index('class="fail">', page.index(text.FIRST))
    stored = grade_json.load(grade_json.dump(grade))
    assert stored.cause == grade.cause


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
