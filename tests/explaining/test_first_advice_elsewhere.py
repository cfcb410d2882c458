"""Wrong kernels in other people's styles: the first advice is what their labels say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.bundled import read_table
from tests.first_advice import FirstAdvice, code, is_right
from tests.references import MISTAKES

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.timeout(600)

FOLDER = Path(__file__).parents[1] / "kernels" / "wrong"
LABELS: dict[str, dict[str, str]] = read_table(FOLDER / "labels.yaml")

QUICK = {
    *("textbook_m_times_m.cu", "textbook_block_squared.cu", "flat_wrong_length.cu", "tree_of_hundred.cu"),
    *("tree_no_loop.cu", "ping_pong_first_tile.cu", "private_exchanged_sizes.cu", "enum_tiles_stay.cu"),
    *("lambda_last_column.cu", "one_thread_a_row_keeps_its_sum.cu", "stride_y_twice.cu"),
}
"""One of each sort; all the others take minutes."""

NOT_YET = {"textbook_phases_of_n.cu"}
"""The only visible case that shows it looks just like another mistake."""


@pytest.fixture(scope="module")
def advice() -> FirstAdvice:
    """Grades on the visible cases."""
    return FirstAdvice()


def _labelled() -> Iterator[Any]:
    for assignment, labels in LABELS.items():
        for name, first in labels.items():
            marks = [] if name in QUICK else [pytest.mark.slow]
            yield pytest.param(assignment, name, first, id=f"{assignment}-{name}", marks=marks)


def test_every_wrong_kernel_has_a_label_that_there_is() -> None:
    """The table names the files that lie there, and codes that are known."""
    files = {(path.parent.name, path.name) for path in FOLDER.glob("*/*.cu")}
    assert files == {(assignment, name) for assignment, labels in LABELS.items() for name in labels}
    assert len(files) >= 60
    assert {first for labels in LABELS.values() for first in labels.values()} <= MISTAKES.keys()


@pytest.mark.parametrize(("assignment", "name", "first"), list(_labelled()))
def test_the_first_advice_is_the_right_one(
    advice: FirstAdvice, assignment: str, name: str, first: str
) -> None:
    """It is as labelled by hand, except for the kernels in the list of what is missing."""
    found = code(advice.grade(assignment, FOLDER / assignment / name))
    assert is_right(found, first) is (name not in NOT_YET), found
