"""The names in findings: source names of mangled variables, elements, lines."""

from __future__ import annotations

import pytest

from grader.simulation.emulator.linking.linker import link_function
from grader.simulation.emulator.linking.program import Program
from grader.simulation.emulator.memory.memory import Allocation
from grader.simulation.emulator.naming import Names, SharedArray, global_element, subscript
from grader.simulation.ptx import Instruction, Location, Module
from grader.simulation.ptx.parser import symbol_name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("pool", "pool"),
        ("_ZZ11tiledMatMulPKfS0_PfiiiE5tileA", "tileA"),
        ("_ZZ11tiledMatMulPKfS0_PfiiiE5tileB_0", "tileB"),
        ("_ZZ1kvE1s", "s"),
        ("_ZZ2k8PfE4tile", "tile"),
        ("_ZZ6gemm16PKfPfE3a1b", "a1b"),
        ("_ZZ1kPfE2t2", "t2"),
        ("_ZZ6kernelILi16EEvPfE4tile", "tile"),
        ("_ZZ6kernelILi8ELi4EEvPfE6tile_a", "tile_a"),
        ("_ZZ6kernelIfLj32EEvPT_S1_E4tile", "tile"),
        ("_ZZN2ns6kernelEPfE4tile", "tile"),
        ("_ZN2ns5tableE", "table"),
        ("_ZN43_INTERNAL_33b7aa8f_12_histogram_cu_9a67759b5tableE", "table"),
        ("_ZZ6kernelRA16_A16_fE4tile", "tile"),
        ("_Z", "_Z"),
        ("_Z9", "_Z9"),
    ],
)
def test_a_mangled_variable_has_its_source_name(symbol: str, name: str) -> None:
    """Local to a kernel, to a template instance, in a namespace; digits in names and in arguments."""
    assert symbol_name(symbol) == name


@pytest.mark.parametrize(
    ("index", "shape", "text"),
    [
        (5, (), "[5]"),
        (5, (9,), "[5]"),
        (53, (10, 16), "[3][5]"),
        (7, (2, 2, 2), "[1][1][1]"),
        (9, (2, 2), "[9]"),
        (-1, (2, 2), "[-1]"),
    ],
)
def test_a_flat_index_is_written_with_the_extents_of_its_array(
    index: int, shape: tuple[int, ...], text: str
) -> None:
    """C order; flat where the extents are unknown or the index is outside them."""
    assert subscript(index, shape) == text


@pytest.mark.parametrize(
    ("index", "shape", "text"),
    [
        (32, (4, 8), "[4][0]"),
        (-1, (4, 8), "[-1][7]"),
        (8, (2, 2, 2), "[2][0][0]"),
        (5, (5,), "[5]"),
        (3, (), "[3]"),
    ],
)
def test_an_index_outside_leaves_by_the_first_extent(index: int, shape: tuple[int, ...], text: str) -> None:
    """An index after the last row is in a row that does not exist."""
    assert subscript(index, shape, outside=True) == text


def test_an_element_of_a_global_array_counts_from_its_start() -> None:
    """Bytes become elements."""
    assert global_element(Allocation("A", 4096, 4096 + 64, 4, (4, 4)), 4096 + 4 * 6) == "A[1][2]"


def test_a_variable_of_the_module_has_elements_as_large_as_its_accesses() -> None:
    """PTX knows it as bytes; an argument has its own type."""
    assert global_element(Allocation("table", 256, 256 + 64, 1), 256 + 12, 4) == "table[3]"
    assert global_element(Allocation("A", 256, 256 + 64, 2, (32,), "in"), 256 + 12, 4) == "A[6]"


def names(source: str = "a.cu") -> Names:
    """Names for a module with two files and two shared arrays."""
    module = Module("sm_80", (), (), ((1, "/build/a.cu"), (2, "/usr/include/b.h")))
    arrays = (SharedArray("tile", 0, 64, (4, 4)), SharedArray("rest", 64, 16))
    return Names(Program(module, {}, link_function), arrays, source)


def at(location: Location | None) -> Instruction:
    """An instruction from somewhere."""
    return Instruction("ret", (), (), None, 1, location)


def test_a_shared_element_is_named_by_the_array_it_lies_in() -> None:
    """By its own extents, and by its byte where no array holds it."""
    assert names().shared_element(4 * 7, 4) == "tile[1][3]"
    assert names().shared_element(64 + 8, 4) == "rest[2]"
    assert "96" in names().shared_element(96, 4)


@pytest.mark.parametrize(
    ("location", "line"),
    [
        (None, None),
        (Location(1, 12, 5), 12),
        (Location(1, 0, 5), None),
        (Location(2, 99, 5), None),
        (Location(2, 99, 5, Location(1, 12, 3)), 12),
        (Location(2, 99, 5, Location(2, 50, 1, Location(1, 12, 3))), 12),
        (Location(1, 30, 5, Location(1, 12, 3)), 30),
    ],
)
def test_a_line_is_one_of_the_students_file(location: Location | None, line: int | None) -> None:
    """Code that a header has inlined counts for the line that called it; line 0 is the compiler's own."""
    assert names().line(at(location)) == line
