"""The emulator and a device give the same bits (`pytest -m gpu`)."""

from __future__ import annotations

import pytest

from tests.emulator.instructions.on_device import cases, differences


@pytest.mark.gpu
def test_the_emulator_gives_the_bits_of_the_device() -> None:
    """For every case of every chapter that is one instruction and its operands."""
    found = [line for case in cases() for line in differences(case)]
    assert not found, "\n".join(found[:20])
