"""The comparison of the emulator with a device goes on after errors, crashes and hangs there."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from grader.simulation.ptx import parse
from tests.simulation.emulator import device, library_on_device, nvcc
from tests.simulation.emulator.collection import comparable, differing, emulate, source
from tests.simulation.emulator.device import LostError, one_by_one
from tests.simulation.emulator.examples import Example


def _half(number: int) -> float:
    """10 / number, or a crash for 1, or a hang for 2."""
    if number == 1:
        os._exit(3)
    if number == 2:
        time.sleep(60)
    return 10 / number


def test_the_work_goes_on_after_an_error_a_crash_and_a_hang() -> None:
    """Each ends its own job only."""
    results = dict(one_by_one(_half, [5, 0, 4, 1, 2, 10], patience=8))
    assert [results[number] for number in (5, 4, 10)] == [2.0, 2.5, 1.0]
    assert "division" in str(results[0])
    assert isinstance(results[1], LostError)
    assert isinstance(results[2], LostError)


@pytest.mark.parametrize(
    ("got", "wanted", "within", "expected"),
    [
        (np.array([1.0, np.nan, -0.0]), np.array([1.0, np.nan, 0.0]), 0.0, 1),
        (np.array([1.0, np.nan, 2.0]), np.array([1.0 + 1e-9, 1.0, 2.1]), 1e-6, 2),
        (np.array([1, 2], np.uint8), np.array([1, 3], np.uint8), 0.5, 1),
    ],
)
def test_elements_differ_by_their_bits_or_by_more_than_is_allowed(
    got: np.ndarray, wanted: np.ndarray, within: float, expected: int
) -> None:
    """A NaN is like any other, a negative zero is not like a positive one, integers have no tolerance."""
    assert differing(got, wanted, within) == expected


def test_an_output_in_any_order_is_compared_sorted() -> None:
    """And the others as they are."""
    array = np.array([3, 1, 2])
    example = Example((array, array), (0, 1), (array, array), (1, 1, 1), (1, 1, 1), unordered=(1,))
    assert [each.tolist() for each in comparable(example, [array, array])] == [[3, 1, 2], [1, 2, 3]]


@pytest.mark.parametrize(("change", "verdict"), [(0.0, "same"), (1e-7, "near"), (0.1, "differs")])
def test_a_kernel_is_the_same_near_or_different(
    monkeypatch: pytest.MonkeyPatch, change: float, verdict: str
) -> None:
    """With a device that multiplies the emulator's own results by a number near 1."""
    text = nvcc.ptx(source("softmax_rows"), (), "softmax_rows.cu")
    example = library_on_device.BY_NAME["softmax_rows"]()
    done = emulate(parse(text), "softmax_rows", example, detect=False)
    after = np.asarray(done.outputs[0][1]) * np.float32(1 + change)
    monkeypatch.setattr(device, "launch", lambda *_: [example.arguments[0], after])
    outcome = library_on_device.compare(("softmax_rows", "default", text))
    assert outcome.verdict == verdict
    assert bool(outcome.wrong) == (verdict == "differs")
    assert "450" in library_on_device.table([outcome])
