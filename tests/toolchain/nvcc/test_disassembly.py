"""Machine code for a device is made of PTX, kept in the cache, and asked for only where nvdisasm is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError, ToolMissing
from grader.toolchain.nvcc import Tools, find_toolchain, machine_code
from grader.toolchain.sandbox import LocalSandbox
from tests.simulation.emulator.nvcc import ptx

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = 'extern "C" __global__ void k(float* out) { out[threadIdx.x] = 1; }\n'


def tools(cache: Path | None) -> Tools:
    """The compiler's own, with a cache or without."""
    return Tools(find_toolchain(), LocalSandbox(), cache)


def test_machine_code_is_made_for_older_and_newer_devices(tmp_path: Path) -> None:
    """It is made from one PTX text, and the log of ptxas comes along."""
    text = ptx(SOURCE, ())
    codes = {architecture: machine_code(tools(tmp_path), text, architecture) for architecture in (75, 90)}
    for architecture, code in codes.items():
        assert f".target\tsm_{architecture}" in code.listing
        assert "STG" in code.listing
        assert code.cubin.startswith(b"\x7fELF")
        assert "registers" in code.log


def test_machine_code_comes_from_the_cache_where_it_is(tmp_path: Path) -> None:
    """The second time no program is started."""
    text = ptx(SOURCE, ())
    made = machine_code(tools(tmp_path), text, 80)
    without_programs = replace(tools(tmp_path), sandbox=None)  # type: ignore[arg-type]
    assert machine_code(without_programs, text, 80) == made


def test_without_nvdisasm_the_message_explains_how_to_get_it() -> None:
    """Nothing else needs it."""
    found = tools(None)
    without = replace(found, toolchain=replace(found.toolchain, nvdisasm=""))
    with pytest.raises(ToolMissing, match=r"nvdisasm was not found; get it with `pip install"):
        machine_code(without, "", 80)


def test_what_ptxas_makes_nothing_of_is_our_error() -> None:
    """The text was assembled for its own architecture before."""
    with pytest.raises(OurError, match="no machine code could be made for sm_80"):
        machine_code(tools(None), ".version 8.0\n.target sm_80\nnonsense", 80)
