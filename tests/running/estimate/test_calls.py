"""The time of a function: launches, copies and fills, added up."""

from __future__ import annotations

import pytest

from grader.model import KernelEstimate, LimitShare
from grader.running.estimate.calls import combined, device_pass, host_copy
from grader.running.estimate.devices import DEVICES, H100

SHORT = KernelEstimate(1.0, (LimitShare("shared", 0.75, ((4, 0.5), (5, 0.25))), LimitShare("l1", 0.25)), 1.0)
LONG = KernelEstimate(
    3.0, (LimitShare("dram", 0.5, ((9, 0.5),)), LimitShare("shared", 0.5, ((5, 0.5),))), 0.5
)


def test_parts_are_weighted_by_their_time() -> None:
    """Two short launches and a long one: limits of one name are one, the largest first, and so are lines."""
    whole = combined([(2, SHORT), (1, LONG)])
    assert whole.milliseconds == 5
    assert [limit.limit for limit in whole.limits] == ["shared", "dram", "l1"]
    assert [limit.share for limit in whole.limits] == pytest.approx([0.6, 0.3, 0.1])
    assert [line for line, _ in whole.limits[0].lines] == [5, 4]
    assert [share for _, share in whole.limits[0].lines] == pytest.approx([0.4, 0.2])
    assert whole.occupancy == pytest.approx(0.7)
    assert whole.launches == 3


def test_a_part_alone_is_as_it_was() -> None:
    """But for the last digit."""
    whole = combined([(1, SHORT)])
    assert whole.milliseconds == SHORT.milliseconds
    assert [limit.limit for limit in whole.limits] == ["shared", "l1"]


def test_copies_have_no_occupancy() -> None:
    """That of the launches counts, and of nothing it is none."""
    copy = host_copy(1 << 20, H100)
    assert combined([(1, copy), (1, LONG)]).occupancy == LONG.occupancy
    assert combined([(1, copy)]).occupancy == 0
    assert combined([(1, copy), (1, LONG)]).launches == 1


def test_a_copy_from_the_host_takes_as_long_as_one_that_was_measured() -> None:
    """Three arrays of 4 MiB took 1.22 ms of a function on an H100 (docs/measurements.md: 1.64 less 0.42)."""
    assert 3 * host_copy(4 << 20, H100).milliseconds == pytest.approx(1.22, rel=0.02)


@pytest.mark.parametrize("device", DEVICES.values(), ids=list(DEVICES))
def test_a_fill_is_faster_than_a_copy_from_the_host(device: object) -> None:
    """Both take as long as a launch where there is next to nothing to do."""
    assert device_pass(1 << 24, device).milliseconds < host_copy(1 << 24, device).milliseconds  # type: ignore[arg-type]
    assert device_pass(4, H100).milliseconds == pytest.approx(H100.launch_us / 1000, rel=1e-3)
