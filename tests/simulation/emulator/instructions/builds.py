"""The builds of a CUDA file that a chapter has to run: three devices, both optimisation levels."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tests.simulation.emulator.launching import Compiled
from tests.simulation.emulator.nvcc import HAZARDS, compile_one

HERE = Path(__file__).parent
BUILDS = [(device, detect) for device in (75, 80, 90) for detect in (False, True)]


@lru_cache(maxsize=32)
def built(name: str, device: int, *, detect: bool) -> Compiled:
    """A file beside this one, for ``sm_<device>``, in the build for hazards or the one for counters."""
    source = (HERE / name).read_text()
    options = (f"-arch=compute_{device}", *(HAZARDS if detect else ()))
    return Compiled(source, compile_one(source, options, name), detect, file=name)
