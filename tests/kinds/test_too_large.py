"""A launch that is too large: how far it came, what all of it would take, and what can be done."""

from __future__ import annotations

import pytest

from grader.kinds.host_runs.too_large import STEPS_A_SECOND, too_large
from grader.model import Clause, Launch, Run, work_limit_reason
from grader.model.messages import clause
from grader.running.device.observation import KernelRun

SECOND = STEPS_A_SECOND
LOOP = Clause("in-loops", (("count", 32), ("lines", (25,))))


def _given_up(blocks: int, ended: int, ended_work: int, work: int) -> KernelRun:
    run = Run(
        work=work,
        ended_blocks=ended,
        ended_work=ended_work,
        too_much_work=work_limit_reason(
            Clause("after-steps", (("steps", 9), ("places", (LOOP,)), ("hint", ())))
        ),
        completed=False,
    )
    return KernelRun("_Z3mulPf", 1, Launch((blocks, 1, 1), (256, 1, 1)), run)


@pytest.mark.parametrize(
    ("ended", "everything"),
    [(2_000, "about 6 seconds"), (64, "about 3 minutes"), (1, "about 3 hours")],
)
def test_what_all_blocks_would_take_is_estimated_from_those_that_ended(ended: int, everything: str) -> None:
    """In the unit that people would use, with the line of the launch and the limit."""
    text = clause(too_large(_given_up(4_096, ended, 3 * SECOND, 4 * SECOND), 0, 4 * SECOND, 12))
    assert text == (
        "too much work for the emulator: `mul<<<(4096, 1, 1), (256, 1, 1)>>>` in line 12: "
        f"{ended:,} of 4,096 blocks took about 3 seconds, all would take {everything}; "
        "launches may take about 4 seconds in all; "
        "a smaller size (`sizes` of the assignment, or arguments) can be judged"
    )


def test_launches_before_it_are_part_of_what_it_costs() -> None:
    """Then the launch alone need not be large."""
    text = clause(too_large(_given_up(10, 5, SECOND, 2 * SECOND), 9 * SECOND, 10 * SECOND, None))
    assert "launches may take about 10 seconds in all, about 9 seconds of it for launches before" in text
    assert "5 of 10 blocks took about 1 second, all would take about 2 seconds" in text
    assert "line" not in text


@pytest.mark.parametrize(("ended", "allowed"), [(0, 3 * SECOND), (5, 90 * SECOND)])
def test_a_launch_that_is_not_too_large_by_its_blocks_shows_where_its_threads_are(
    ended: int, allowed: int
) -> None:
    """None had ended, or it was given up for another reason than the time of its blocks."""
    text = clause(too_large(_given_up(10, ended, SECOND, 4 * SECOND), 0, allowed, 12))
    assert (
        "32 threads are in the loop on line 25; this is `mul<<<(10, 1, 1), (256, 1, 1)>>>` in line 12" in text
    )
    assert "blocks" not in text
