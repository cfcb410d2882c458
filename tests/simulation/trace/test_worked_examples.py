"""The examples that lessons work out by hand, interval by interval."""

from __future__ import annotations

import numpy as np

from tests.simulation.trace.tracing import TILED, events, product, shared, sums, tiles


def test_eight_by_eight_with_tiles_of_four_goes_as_the_lesson_draws_it() -> None:
    """Tiles, partial sums after the first phase, and the right sums at the end.

    The lesson's table of final sums (1400 1760 2120 2480 / 1760 2220 2680 3140 / 2120 2680 3240 3800 /
    2480 3140 3800 4460) is wrong in every one of its sixteen numbers; what it draws before is right.
    """
    a, b = tiles(8, 4), tiles(8, 4).T.copy()
    trace = product(TILED, a, b, 4)
    loading, computing, loading_more, computing_more, storing = trace.intervals
    assert shared(trace, loading, "tileA") == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]
    assert shared(trace, loading, "tileB") == [[1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [4, 8, 12, 16]]
    assert sums(trace, computing) == [
        [30, 70, 110, 150],
        [70, 174, 278, 382],
        [110, 278, 446, 614],
        [150, 382, 614, 846],
    ]
    assert shared(trace, loading_more, "tileA")[0] == [17, 18, 19, 20]
    assert shared(trace, loading_more, "tileB")[0] == [17, 21, 25, 29]
    right = [
        [1404, 1740, 2076, 2412],
        [1740, 2204, 2668, 3132],
        [2076, 2668, 3260, 3852],
        [2412, 3132, 3852, 4572],
    ]
    assert sums(trace, computing_more) == right == (a.astype(int) @ b.astype(int))[:4, :4].tolist()
    (stored,) = events(trace, "store", "C")
    assert stored.values == tuple(float(value) for row in right for value in row)
    assert [each.ends for each in trace.intervals] == ["barrier"] * 4 + ["exit"]
    assert storing.steps[0].line == TILED.split("\n").index("        C[row * N + col] = sum;") + 1
    assert not trace.findings
    assert not trace.notes


def test_four_by_four_with_tiles_of_two_has_the_phases_of_the_lesson() -> None:
    """The trace has the loads of each phase, the two halves of C[0][0], and every read of global memory."""
    numbers = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
    trace = product(TILED, numbers, numbers, 2)
    first, half, second, whole, _ = trace.intervals
    assert shared(trace, first, "tileA") == shared(trace, first, "tileB") == [[1, 2], [5, 6]]
    assert shared(trace, second, "tileA") == [[3, 4], [7, 8]]
    assert shared(trace, second, "tileB") == [[9, 10], [13, 14]]
    assert sums(trace, half)[0][0] == 11
    assert sums(trace, whole)[0][0] == 90 == 11 + 79
    reads = sum(len(event.threads) for name in "AB" for event in events(trace, "load", name))
    assert reads == 4 * 4  # four threads, four reads each; naive it would be eight


def test_a_loops_turns_are_steps_of_their_own() -> None:
    """Turn k loads column k of one tile and row k of the other, and the sum grows by their product."""
    trace = product(TILED, tiles(8, 4), tiles(8, 4).T.copy(), 4)
    turns = trace.intervals[1].steps
    assert [step.turn for step in turns] == [0, 1, 2, 3]
    kinds = [(event.kind, event.target) for event in turns[2].events]
    assert [kind for kind, _ in kinds] == ["load", "load", "add"]
    left, right, added = turns[2].events
    assert left.elements[:5] == (2, 2, 2, 2, 6)
    assert right.elements[:5] == (8, 9, 10, 11, 8)
    assert added.values[:2] == (14.0, 38.0)  # 1 + 4 + 9, 5 + 12 + 21


def test_threads_whose_guard_fails_fill_with_zero() -> None:
    """In the last tile of a 6 by 6 product the threads beyond the edge store a zero and load nothing."""
    trace = product(TILED, tiles(6, 4), tiles(6, 4).T.copy(), 4, at=(1, 1, 0))
    fills = events(trace, "store", "tileA")
    beyond_rows = {8, 9, 10, 11, 12, 13, 14, 15}
    assert set(fills[0].zero_fill) == beyond_rows
    assert set(fills[1].zero_fill) == beyond_rows | {2, 3, 6, 7}
    (stored,) = events(trace, "store", "C")
    assert stored.threads == (0, 1, 4, 5)
    assert not trace.findings
