"""The labelled kernels: each racy one is found on exactly the marked lines, each clean one not at all."""

from __future__ import annotations

import difflib
import gc
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import FindingKind
from grader.simulation.emulator.machine.machine import Machine
from grader.simulation.emulator.machine.state import Allowance, TooMuchHeldError
from grader.simulation.emulator.races import AccessLog, conflicts
from grader.simulation.emulator.races.conflicts import MOST_PAIRS, Conflict, DescribedPairs, find_conflicts
from grader.simulation.emulator.races.rows import ATOMIC, READ, WRITE, Rows, conflicting
from tests.simulation.emulator import nvcc
from tests.simulation.emulator.labelled import Kernel, finding_key, findings, kernels, sources
from tests.simulation.emulator.launching import hazard_build

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.simulation.ptx import Module

SOURCES = sources()
KERNELS = {
    f"{name}:{kernel.name}": (name, kernel) for name, source in SOURCES.items() for kernel in kernels(source)
}
MINIMUM_PAIRS = 120


@cache
def module(name: str) -> Module:
    """A file, as the build for hazards compiles it."""
    return nvcc.compile_one(SOURCES[name], nvcc.HAZARDS, name)


@pytest.mark.parametrize("label", [label for label in KERNELS if ":racy_" in label])
def test_each_racy_kernel_is_found_on_exactly_the_marked_lines(label: str) -> None:
    """Kind of hazard, both lines, the array and the severity are as marked, and nothing else is found."""
    name, kernel = KERNELS[label]
    assert kernel.expected
    got = findings(module(name), name, kernel)
    assert {finding_key(finding) for finding in got} == kernel.expected, "\n".join(f.message for f in got)


@pytest.mark.parametrize("label", [label for label in KERNELS if ":clean_" in label])
def test_no_clean_kernel_has_a_finding(label: str) -> None:
    """No finding of any kind, not even information."""
    name, kernel = KERNELS[label]
    assert not kernel.expected
    got = findings(module(name), name, kernel)
    assert not got, "\n".join(f"line {f.line}: {f.message}" for f in got)


def test_each_racy_kernel_has_a_clean_twin_a_small_edit_away() -> None:
    """Twins differ in at most two lines of code, so that nothing but the hazard distinguishes them."""
    racy = {label.replace(":racy_", ":") for label in KERNELS if ":racy_" in label}
    clean = {label.replace(":clean_", ":") for label in KERNELS if ":clean_" in label}
    assert racy == clean
    assert len(racy) >= MINIMUM_PAIRS
    for label in racy:
        one, other = (_code(KERNELS[label.replace(":", f":{kind}_")][1]) for kind in ("racy", "clean"))
        marks = [line[0] for line in difflib.ndiff(one, other)]
        assert 1 <= max(marks.count("+"), marks.count("-")) <= 2, label


def _code(kernel: Kernel) -> list[str]:
    return [line for line in kernel.code[1:] if line]


def test_the_race_of_a_missing_barrier_names_both_threads_and_the_element() -> None:
    """Thread, other thread, block and element are those of one real pair of accesses."""
    name, kernel = KERNELS["exchange.cu:racy_reverse"]
    (race,) = findings(module(name), name, kernel)
    assert race.block == (0, 0, 0)
    assert race.other_block is None
    assert race.thread
    assert race.other_thread
    assert race.other_thread[0] == 63 - race.thread[0]
    assert race.address == f"row[{race.other_thread[0]}]"
    assert race.count == 2 * 64
    assert f"on line {race.line}" in race.message
    assert f"on line {race.other_line}" in race.message


def test_a_race_between_blocks_names_both_blocks() -> None:
    """The stencil in place races at the edges of blocks only."""
    name, kernel = KERNELS["stencil.cu:racy_in_place"]
    (race,) = findings(module(name), name, kernel)
    assert race.block
    assert race.other_block
    assert race.block[0] == race.other_block[0] + 1
    assert (race.thread, race.other_thread) == ((0, 0, 0), (63, 0, 0))
    assert race.address == "data[64]"
    assert race.count == 2


def rows(*accesses: tuple[int, int, int, int, int]) -> Rows:
    """Accesses of one block, as (cell, lane, site, kind, when)."""
    cell, lane, site, kind, when = (np.array(column, np.int64) for column in zip(*accesses, strict=True))
    nothing = np.zeros_like(cell)
    value = np.zeros(len(cell), np.uint64)
    return Rows(cell, lane, nothing, lane // 32, site, kind, when, nothing, nothing, value)


def conflicts_of(rows: Rows) -> list[Conflict]:
    """The pairs of sites that race, in a launch of their own."""
    return find_conflicts(rows, DescribedPairs(), Allowance())


def test_of_very_many_racing_lines_some_pairs_are_described_and_the_rest_costs_little() -> None:
    """A thousand stores by two threads are half a million pairs."""
    stores = [(0, lane, site, WRITE, site) for site in range(1, 1001) for lane in (0, 40)]
    described = DescribedPairs()
    found_conflicts = find_conflicts(rows(*stores), described, Allowance())
    assert len({(c.site, c.other_site) for c in found_conflicts}) == MOST_PAIRS
    later = rows((0, 0, 1, WRITE, 1), (0, 40, 1, WRITE, 2), (1, 0, 5000, WRITE, 3), (1, 40, 5001, WRITE, 4))
    assert [(c.site, c.other_site) for c in find_conflicts(later, described, Allowance())] == [(1, 1)]


def test_looking_for_a_race_among_very_many_accesses_spends_from_the_allowance() -> None:
    """Two threads that store atomically a thousand times do not race; that takes as much looking."""
    stores = rows(*((0, lane, site, ATOMIC, site) for site in range(1, 1001) for lane in (0, 40)))
    assert not conflicts_of(stores)
    with pytest.raises(TooMuchHeldError):
        find_conflicts(stores, DescribedPairs(), Allowance(left=10))


def test_cells_of_one_thread_are_not_looked_at() -> None:
    """One thread that stores a thousand times races with nobody, also beside others that race."""
    stores = [(0, 0, site, WRITE, site) for site in range(1, 1001)]
    nothing_left = Allowance(left=0)
    assert not find_conflicts(rows(*stores), DescribedPairs(), nothing_left)
    race = [(1, 0, 1001, WRITE, 1001), (1, 40, 1002, WRITE, 1002)]
    found_conflicts = find_conflicts(rows(*stores, *race), DescribedPairs(), nothing_left)
    assert [(c.site, c.other_site, c.elements) for c in found_conflicts] == [(1002, 1001, 1)]


def test_hundreds_of_racing_lines_are_compared_with_the_next_ones_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once no more pairs are described; comparing each with 64 others took minutes."""
    compared: list[int] = []

    def counted(
        kind: NDArray[np.int64], other: NDArray[np.int64], same_block: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        compared.append(kind.size)
        return conflicting(kind, other, same_block)

    monkeypatch.setattr(conflicts, "conflicting", counted)
    stores = [(cell, lane, site, WRITE, site) for site in range(400) for cell in (0, 1) for lane in (0, 40)]
    found_conflicts = find_conflicts(rows(*stores), DescribedPairs(), Allowance())
    assert len({(c.site, c.other_site) for c in found_conflicts}) == MOST_PAIRS
    assert len(compared) < 10


def test_two_lines_may_race_in_either_order_on_different_cells() -> None:
    """Written then read here, read then written there: both hazards, each with its own cells."""
    found_conflicts = conflicts_of(
        rows(
            (0, 0, 1, WRITE, 1),
            (0, 40, 2, READ, 2),
            (7, 0, 2, READ, 3),
            (7, 40, 1, WRITE, 4),
            (8, 1, 1, WRITE, 5),
        )
    )
    assert {(c.hazard, c.site, c.other_site, c.cell, c.elements) for c in found_conflicts} == {
        ("RAW", 2, 1, 0, 1),
        ("WAR", 1, 2, 7, 1),
    }


def test_reads_do_not_race_with_each_other_nor_a_thread_with_itself() -> None:
    """One writer that is also the only other reader; and two readers."""
    own = rows((0, 0, 1, WRITE, 1), (0, 0, 2, READ, 2), (0, 0, 1, WRITE, 3))
    assert not conflicts_of(own)
    assert not conflicts_of(rows((0, 0, 1, READ, 1), (0, 40, 1, READ, 1)))
    assert not conflicts_of(rows((0, 0, 1, ATOMIC, 1), (0, 40, 1, ATOMIC, 1)))


def test_races_of_many_chunks_keep_no_machine_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each chunk's registers and shared memory are let go when it ends, whether or not its threads raced."""
    monkeypatch.setattr("grader.simulation.emulator.launch.CHUNK_LANES", 64)
    source = """extern "C" __global__ void mirror(int *out) {
        __shared__ int s[64];
        s[threadIdx.x] = threadIdx.x;
        out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
    }"""
    alive: list[int] = []

    def counted(log: AccessLog, m: Machine) -> None:
        gc.collect()
        alive.append(sum(isinstance(each, Machine) for each in gc.get_objects()))
        finish_chunk(log, m)

    finish_chunk = AccessLog.finish_chunk
    monkeypatch.setattr(AccessLog, "finish_chunk", counted)
    result = hazard_build(source).run("mirror", (8, 1, 1), (64, 1, 1), np.zeros(8 * 64, np.int32))
    assert [finding.kind for finding in result.findings] == [FindingKind.RACE]
    assert len(alive) == 8  # chunks
    assert max(alive) <= alive[0] + 1
