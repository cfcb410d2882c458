"""Counters per line → advice: only where it matters, with what to change."""

from __future__ import annotations

import pytest

from grader.explaining.advice import line_advice, unneeded_barriers
from grader.model import AdviceKind, LineCounters

ROWS = LineCounters(
    9, "A", global_load_requests=100, global_load_sectors=3200, global_load_bytes=12800, global_stride=256
)
COLUMNS = LineCounters(
    10, "B", global_load_requests=100, global_load_sectors=400, global_load_bytes=12800, global_stride=4
)
TILE = LineCounters(12, "tile", shared_requests=800, shared_bank_conflicts=5600, shared_stride=64)


def test_an_uncoalesced_load_is_reported_with_its_stride_and_sectors() -> None:
    """32 sectors a request where 4 would do; the coalesced line is not mentioned."""
    (advice,) = line_advice((ROWS, COLUMNS), 8, "k.cu")
    assert (advice.kind, advice.file, advice.line, advice.array) == (AdviceKind.COALESCING, "k.cu", 9, "A")
    assert advice.message == (
        "neighbouring threads read `A` 256 bytes apart, so that a warp moves 32 sectors of 32 bytes where 4"
        " would do: let `threadIdx.x` run along the last index of `A`"
    )


@pytest.mark.parametrize(
    ("way", "fields"), [("load", {}), ("store", {}), ("store", {"global_stride": 128, "global_atomics": 320})]
)
def test_where_the_data_choose_the_element_no_order_of_threads_is_advised(
    way: str, fields: dict[str, int]
) -> None:
    """No regular distance between neighbours, or atomic operations, as in a histogram."""
    counted = {f"global_{way}_requests": 10, f"global_{way}_sectors": 200, f"global_{way}_bytes": 1280}
    assert line_advice((LineCounters(9, "counts", **counted, **fields),), 8, "k.cu") == ()


def test_what_is_too_much_must_be_much_of_the_whole() -> None:
    """Ten thousand good requests make a bad one pass."""
    many = LineCounters(
        11, "B", global_load_requests=10_000, global_load_sectors=40_000, global_load_bytes=1_280_000
    )
    assert line_advice((ROWS, many), 8, "k.cu") == ()


def test_one_address_for_all_lanes_is_coalesced() -> None:
    """One sector a request cannot be bettered, however few bytes of it are used."""
    same = LineCounters(9, "A", global_load_requests=100, global_load_sectors=100, global_load_bytes=12800)
    one = LineCounters(10, "B", global_load_requests=100, global_load_sectors=100, global_load_bytes=400)
    assert line_advice((same, one), 8, "k.cu") == ()


@pytest.mark.parametrize(("distinct", "reported"), [(1024, True), (5000, False), (0, False)])
def test_loads_are_redundant_where_a_block_loads_each_word_often(distinct: int, reported: bool) -> None:  # noqa: FBT001
    """Sixteen times is reported, three times is not, nor what was not counted."""
    line = LineCounters(
        9,
        "A",
        global_load_requests=512,
        global_load_sectors=512,
        global_load_bytes=65536,
        global_loads=16384,
        global_loads_distinct=distinct,
    )
    advice = line_advice((line,), 8, "k.cu")
    assert [each.kind for each in advice] == [AdviceKind.REDUNDANT_LOADS] * reported
    if reported:
        assert "each element of `A` that a block uses is loaded 16 times from global" in advice[0].message


def test_bank_conflicts_are_reported_with_passes_and_stride() -> None:
    """Seven passes too many in each request."""
    (advice,) = line_advice((TILE,), 8, "k.cu")
    assert advice.kind is AdviceKind.BANK_CONFLICTS
    assert "use `tile` 64 bytes apart" in advice.message
    assert "takes 8 passes instead of 1: make the rows of `tile` one element longer" in advice.message


def test_a_conflict_now_and_then_is_not_reported() -> None:
    """Half a pass too many on average."""
    line = LineCounters(12, "tile", shared_requests=800, shared_bank_conflicts=400, shared_stride=64)
    assert line_advice((line,), 8, "k.cu") == ()


@pytest.mark.parametrize(
    ("branches", "parted", "reported"), [(80, 59, True), (80, 40, False), (10, 9, False), (0, 0, False)]
)
def test_warps_that_part_again_and_again_are_reported(branches: int, parted: int, reported: bool) -> None:  # noqa: FBT001
    """More than half of the time, and more than at the edge once."""
    line = LineCounters(7, branches=branches, divergent_branches=parted)
    assert [each.kind for each in line_advice((line,), 8, "k.cu")] == [AdviceKind.DIVERGENCE] * reported


def test_the_most_rewarding_advice_comes_first() -> None:
    """By the share of the kernel's requests that it would save."""
    kinds = [each.kind for each in line_advice((ROWS, COLUMNS, TILE), 8, "k.cu")]
    assert kinds == [AdviceKind.BANK_CONFLICTS, AdviceKind.COALESCING]


def test_an_unneeded_barrier_is_named_by_its_line() -> None:
    """The message limits this to the cases that were run."""
    (advice,) = unneeded_barriers([14], "k.cu")
    assert (advice.kind, advice.line) == (AdviceKind.UNNEEDED_BARRIER, 14)
    assert advice.message.startswith("this barrier is not needed: without it nothing changes in the cases")
