"""The first advice about each wrong kernel of the staff's is the one that its label `first:` asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from grader.grading.assignment import staff_folder
from grader.model import KernelInterface
from tests.bundled import bundled, read_table
from tests.first_advice import FirstAdvice, code, is_right
from tests.mistakes import mistake_file
from tests.references import MISTAKES

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(600)

ASSIGNMENTS = (
    *("vector-add", "reduction", "inclusive-scan", "histogram", "convolution-2d", "transpose"),
    *("naive-matmul", "tiled-matmul", "tiled-matmul-square", "matmul-speedup"),
)

QUICK = {
    "vector-add": ("block_size_forgotten.cu", "one_operand_twice.cu"),
    "reduction": ("rounds_rounded_down.cu", "integer_sum.cu"),
    "inclusive-scan": ("one_tile_only.cu", "carry_is_last_input.cu"),
    "histogram": ("parameters_b_before_n.cu", "last_bin_forgotten.cu", "bins_not_emptied.cu"),
    "convolution-2d": ("halo_not_loaded.cu",),
    "transpose": ("parameters_n_before_m.cu", "block_indices_swapped.cu", "in_place.cu"),
    "tiled-matmul": ("load_guard_on_b_only.cu", "barrier_inside_bounds_if.cu", "no_first_barrier.cu"),
}
"""One of each sort; all the others take minutes."""

NOT_YET = {("inclusive-scan", "row_starts_at_block_size.cu")}
"""Kernels whose first advice is true, and not what would help most."""

OTHER_CODES = {"compile", "structure", "traffic"}
"""Checks whose failing item is advice enough."""


class Wrong(NamedTuple):
    """A wrong kernel, and the code of the advice that its student must read first."""

    assignment: str
    file: Path
    first: str


def _table(assignment: str) -> list[Wrong]:
    folder = staff_folder(bundled(assignment)) / "mistakes"
    table: dict[str, dict[str, Any]] = read_table(folder / "mistakes.yaml")
    return [Wrong(assignment, folder / name, str(entry.get("first", ""))) for name, entry in table.items()]


WRONG = [wrong for assignment in ASSIGNMENTS for wrong in _table(assignment)]


@pytest.fixture(scope="module")
def advice() -> FirstAdvice:
    """Grades on the visible cases."""
    return FirstAdvice()


def _marked(wrong: Wrong) -> Any:  # noqa: ANN401 - pytest's parameter sets
    quick = wrong.file.name in QUICK.get(wrong.assignment, ())
    return pytest.param(
        wrong, id=f"{wrong.assignment}-{wrong.file.stem}", marks=[] if quick else [pytest.mark.slow]
    )


def test_every_wrong_kernel_has_a_label_for_its_first_advice() -> None:
    """A code that there is, in every table of kernels."""
    assert all(isinstance(bundled(a).interface, KernelInterface) for a in ASSIGNMENTS)
    assert len(WRONG) == 284
    unknown = [wrong for wrong in WRONG if wrong.first not in MISTAKES.keys() | OTHER_CODES]
    assert unknown == []


@pytest.mark.parametrize("wrong", [_marked(wrong) for wrong in WRONG])
def test_the_first_advice_is_the_right_one(advice: FirstAdvice, wrong: Wrong) -> None:
    """It is as labelled by hand, except for the kernels in the list of what is missing."""
    found = code(advice.grade(wrong.assignment, mistake_file(wrong.file)))
    listed = (wrong.assignment, wrong.file.name) in NOT_YET
    assert is_right(found, wrong.first) is not listed, found
