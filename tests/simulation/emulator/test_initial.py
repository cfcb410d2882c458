"""The contents of variables before a launch: long tables, single numbers and addresses side by side."""

from __future__ import annotations

import numpy as np

from grader.simulation.emulator.linking.program import initial_bytes
from grader.simulation.ptx import parse

HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"


def test_a_long_table_holds_its_numbers_and_zeros_after_them() -> None:
    """Runs of numbers, what stands between them, and elements that the initialiser leaves out."""
    numbers = [*range(300, 330), 0xFFFFFFFF, *range(8, 58), 7]
    listed = ", ".join(["0x10" if each == 7 else str(each) for each in numbers])
    module = parse(f"{HEADER}.global .u32 table[100] = {{{listed}}};")
    content = initial_bytes(module.variables[0], {}, module).view(np.uint32)
    assert content.tolist() == [16 if each == 7 else each for each in [*numbers, *[0] * (100 - len(numbers))]]


def test_bytes_are_cut_to_their_width_between_addresses() -> None:
    """A table of bytes with the bytes of an address in its middle, as nvcc writes structures."""
    run = ", ".join(str(each) for each in range(20))
    module = parse(f"{HEADER}.global .b8 table[48] = {{{run}, 0xFF(other), 0xFF00(other), {run}}};")
    content = initial_bytes(module.variables[0], {"other": 0x1234}, module)
    assert content.tolist() == [*range(20), 0x34, 0x12, *range(20), *[0] * 6]
