"""The texts that students read when they hand in a known mistake: one for each, kept whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.cli import main
from grader.grading.assignment import staff_folder
from tests.bundled import bundled
from tests.mistakes import mistake_file

if TYPE_CHECKING:
    from tests.conftest import Golden

TEXTS = (
    ("tiled-matmul", "no_second_barrier.cu"),
    ("tiled-matmul", "a_indexed_with_n.cu"),
    ("naive-matmul", "not_coalesced.cu"),
    ("naive-matmul", "guard_swapped.cu"),
    ("tiled-matmul-square", "expects_ones_and_twos.cu"),
    ("tiled-matmul-square", "tile_count_rounded_down.cu"),
    ("matmul-speedup", "naive_missing.cu"),
    ("matmul-speedup", "half_precision_operands.cu"),
    ("vector-add", "guard_on_the_store_only.cu"),
    ("histogram", "global_atomics.cu"),
    ("transpose", "no_padding.cu"),
    ("convolution-2d", "flipped_filter.cu"),
    ("inclusive-scan", "carry_forgotten.cu"),
    ("memory-analysis", "owners_and_all_exchanged.yaml"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("assignment", "mistake"), TEXTS)
def test_the_feedback_on_a_mistake_reads_as_it_should(
    assignment: str, mistake: str, golden: Golden, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1, and the text is the one that was read and found good."""
    file = mistake_file(staff_folder(bundled(assignment)) / "mistakes" / mistake)
    assert main(["check", assignment, str(file), "--width", "100", "--backend", "emulator"]) == 1
    golden(f"feedback/{assignment}-{mistake.partition('.')[0]}.txt", capsys.readouterr().out)
