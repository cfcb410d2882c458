"""The emulator and a device give the same from the same PTX, kernel by kernel (`pytest -m gpu`)."""

from __future__ import annotations

import pytest

from tests.simulation.emulator.library_on_device import BY_NAME, outcomes


@pytest.mark.gpu
@pytest.mark.timeout(1800)
def test_every_kernel_of_the_library_gives_the_bits_of_the_device() -> None:
    """In both builds; where PTX leaves something open, within what the example allows."""
    bad = [one for one in outcomes(BY_NAME) if one.verdict not in ("same", "near") or one.wrong]
    assert not bad, "\n".join(f"{one.kernel} {one.build}: {one.verdict} {one.detail}" for one in bad)
