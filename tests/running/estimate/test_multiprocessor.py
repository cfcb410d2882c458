"""The simulated multiprocessor on traces made by hand: each thing that can hold a warp up, alone."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import TYPE_CHECKING

import pytest

from grader.running.estimate.devices import H100
from grader.running.estimate.memory_system import WarpRequest
from grader.running.estimate.multiprocessor import (
    ALONE,
    JoinedBlocks,
    Multiprocessor,
    PipeOperation,
    WarpTrace,
)
from grader.simulation.sass.listing import NO_SCOREBOARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.running.estimate.devices import GpuModel
    from grader.running.estimate.multiprocessor import SimulatedTime

FMA, ALU = 0, 2
PASS = WarpRequest(1.0)
FIRST_LINE = WarpRequest(1.0, ((0, 0b1111),))
L1_BYTES = 1 << 17
QUIET = replace(H100, fill_sector=0.0)
"""A device whose L1 is filled at no cost."""


PLAIN = PipeOperation(ALONE, 0.0, 1.0, (), NO_SCOREBOARD, NO_SCOREBOARD, "", 0.0, 1)
"""It takes a slot for one cycle, and waits for nothing."""
FREE = replace(PLAIN, pipe=FMA, busy=1.0)
FMA_CHAIN = replace(FREE, stall=4.0)
LDS = replace(PLAIN, kind="shared", latency=H100.shared_latency, sets=0, line=2)
LDG = replace(PLAIN, kind="load", sets=0, line=3)
STG = replace(PLAIN, kind="store", line=4)
BARRIER = replace(PLAIN, kind="barrier", line=5)
USE = replace(PLAIN, waits=(0,), line=6)
BRANCH = replace(PLAIN, kind="branch", line=7)


def warp(*parts: tuple[PipeOperation, int] | PipeOperation) -> list[PipeOperation]:
    """The operations that a warp issues, some of them several times."""
    trace: list[PipeOperation] = []
    for part in parts:
        one, count = part if isinstance(part, tuple) else (part, 1)
        trace += [one] * count
    return trace


def simulate(
    *blocks: Sequence[Sequence[PipeOperation]],
    request: WarpRequest = PASS,
    slots: int = 99,
    device: GpuModel = QUIET,
    active: int = 1,
) -> SimulatedTime:
    """Run blocks of warps; every access asks for the same."""
    operations = list(dict.fromkeys(one for block in blocks for trace in block for one in trace))
    numbers = {one: number for number, one in enumerate(operations)}
    asking = ("shared", "local", "load", "store", "atomic")
    traces = [
        [
            WarpTrace(
                [numbers[one] for one in trace],
                [request for one in trace if one.kind in asking],
                (0, len(trace) - 1),
            )
            for trace in block
        ]
        for block in blocks
    ]
    return Multiprocessor(device, operations, L1_BYTES, active).run(JoinedBlocks(traces), slots)


def waited(outcome: SimulatedTime, cause: str) -> float:
    """Cycles that warps waited for something, at any line."""
    return sum(cycles for (kind, _), cycles in outcome.waits.cycles.items() if kind == cause)


def test_a_chain_of_one_warp_takes_its_stalls() -> None:
    """Measured: a chain of FFMA takes 4 cycles each."""
    outcome = simulate([warp((FMA_CHAIN, 100))])
    assert (outcome.cycles, outcome.issued) == (400, 100)


@pytest.mark.parametrize(("warps", "cycles"), [(1, 100), (4, 100), (5, 200), (8, 200), (9, 300)])
def test_a_partition_issues_one_instruction_a_cycle(warps: int, cycles: int) -> None:
    """Warps are dealt to four partitions, and those of one share its slot."""
    outcome = simulate([warp((FREE, 100))] * warps)
    assert outcome.cycles == pytest.approx(cycles, abs=2)
    assert outcome.busy["issue"] == pytest.approx(warps * 100 / 4)
    assert (waited(outcome, "issue") > 0) == (warps > 4)


def test_a_pipe_that_is_busy_takes_no_other_instruction() -> None:
    """An instruction of another pipe goes between."""
    slow = replace(PLAIN, pipe=ALU, busy=2.0)
    alone = simulate([warp((slow, 100))])
    mixed = simulate([[slow, FREE] * 100])
    assert alone.cycles == pytest.approx(mixed.cycles, abs=2) == pytest.approx(200, abs=2)
    assert waited(alone, "integer") == pytest.approx(100, abs=2)
    assert waited(mixed, "integer") == 0


@pytest.mark.parametrize("passes", [1.0, 2.0, 32.0])
def test_loads_from_shared_memory_take_their_passes_one_after_the_other(passes: float) -> None:
    """Of all warps together: there is one unit."""
    outcome = simulate([warp((LDS, 50))] * 32, request=WarpRequest(passes))
    assert outcome.cycles == pytest.approx(32 * 50 * passes, rel=0.05)
    assert outcome.busy["shared"] == 32 * 50 * passes
    assert waited(outcome, "shared") > waited(outcome, "issue")


def test_who_uses_a_result_waits_for_its_scoreboard() -> None:
    """Measured: a load from shared memory that hits no conflict takes 23 cycles."""
    outcome = simulate([warp(LDS, USE)])
    assert outcome.cycles == pytest.approx(H100.shared_latency + 1)
    assert waited(outcome, "latency") == pytest.approx(H100.shared_latency - 1)
    assert simulate([warp(LDS, replace(USE, waits=(1,)))]).cycles == 2


def test_a_scoreboard_waits_for_all_that_it_counts() -> None:
    """A load that L1 answers does not free those who wait for an earlier one that comes from L2."""
    far, near = WarpRequest(1.0, ((9, 0b1111),)), FIRST_LINE
    operations = [LDG, USE, replace(LDG, sets=1), replace(USE, waits=(1,))]
    trace = WarpTrace([2, 3, 0, 0, 1], [near, far, near], (0,))
    outcome = Multiprocessor(QUIET, operations, L1_BYTES, 1).run(JoinedBlocks([[trace]]), 1)
    assert outcome.cycles > 2 * H100.l2_latency


def test_exchanges_of_one_word_succeed_one_after_the_other() -> None:
    """Measured: a turn of the loop apart; other words, and those of other blocks, are changed at once."""
    one = replace(PASS, exchanged=(3,))
    exchange = [warp(LDS, USE)] * 8
    apart = simulate(exchange, request=one).cycles
    assert apart == pytest.approx(7 * H100.exchange_turn, rel=0.1)
    assert simulate(*[[warp(LDS, USE)]] * 8, request=one).cycles < 40
    assert waited(simulate(exchange, request=one), "shared") > 3 * apart


def test_a_load_waits_for_dram_longer_than_for_l2_and_for_that_longer_than_for_l1() -> None:
    """The second load of a line finds it in L1."""
    late = replace(FIRST_LINE, dram=1.0, late=1.0)
    dram, l2 = (simulate([warp(LDG, USE)], request=one).cycles for one in (late, FIRST_LINE))
    twice = simulate([warp(LDG, USE, LDG, USE)], request=FIRST_LINE).cycles
    assert dram > H100.dram_latency
    assert H100.l2_latency < l2 < H100.dram_latency
    assert H100.l1_latency <= twice - l2 < H100.l1_latency + 5


def test_bandwidth_is_a_share_of_the_devices() -> None:
    """One multiprocessor alone gets more of L2 than one of many."""
    lines = WarpRequest(1.0, tuple((number, 0b1111) for number in range(64)))
    alone, one_of_all = (
        simulate([warp((LDG, 1), USE)] * 8, request=lines, active=active)
        for active in (1, H100.multiprocessors)
    )
    assert alone.busy["l2"] == pytest.approx(64 * 128 / H100.l2_alone)
    assert one_of_all.busy["l2"] == pytest.approx(64 * 128 / H100.l2_bandwidth)
    assert one_of_all.cycles > alone.cycles


def test_stores_do_not_keep_their_warp_until_writes_lag_far_behind() -> None:
    """Then all that go through the unit wait."""
    few, many = (
        simulate([warp((STG, count))] * 4, request=replace(FIRST_LINE, written=8.0), active=132)
        for count in (10, 1000)
    )
    assert few.cycles < 4 * 10 * 4
    assert many.cycles == pytest.approx(4 * 1000 * 8, rel=0.1)


def test_a_barrier_waits_for_the_slowest_warp() -> None:
    """And takes some cycles itself, more with more warps, as measured."""
    slow, fast = warp((FMA_CHAIN, 100), BARRIER, FREE), warp(BARRIER, FREE)
    outcome = simulate([slow, fast, fast, fast])
    assert 400 < outcome.cycles < 440
    assert waited(outcome, "barrier") > 3 * 400
    apart = simulate([slow], [fast], [fast])
    assert waited(apart, "barrier") < 100


def test_a_warp_that_has_ended_is_not_waited_for() -> None:
    """As on devices, and in the emulator."""
    outcome = simulate([warp(BARRIER, FREE), warp((FMA_CHAIN, 10))])
    assert 40 <= outcome.cycles < 80


def test_a_branch_that_is_taken_costs_some_cycles() -> None:
    """One that falls through costs none."""
    code = [FREE, BRANCH, USE]
    traces = [WarpTrace([0, 1, 2], ()), WarpTrace([0, 1, 0, 1, 2], ())]
    through, taken = (
        Multiprocessor(QUIET, code, L1_BYTES, 1).run(JoinedBlocks([[one]]), 1).cycles for one in traces
    )
    assert taken - through == pytest.approx(2 + H100.branch)


def test_blocks_follow_each_other_where_there_is_no_room_for_all() -> None:
    """With a gap between."""
    block = [warp((FMA_CHAIN, 100))] * 2
    together, following = simulate(block, block), simulate(block, block, slots=1)
    assert together.cycles == 400
    assert following.cycles == pytest.approx(800 + H100.block_gap, abs=4)
    assert following.ends == [pytest.approx(400, abs=4), following.cycles]


def test_marks_show_when_a_warp_comes_to_a_place() -> None:
    """In cycles from the beginning."""
    ((first, last),) = simulate([warp((FMA_CHAIN, 100))]).marks
    assert (first, last) == (0, 396)


def test_what_warps_wait_adds_up_to_their_time() -> None:
    """In each of its cycles a warp issues an instruction, or waits for something that is noted."""
    mine = warp((FMA_CHAIN, 5), LDG, USE, (LDS, 9), USE, BARRIER, (FREE, 7), LDS, USE)
    outcome = simulate([mine] * 6, [mine] * 3, request=replace(FIRST_LINE, dram=0.5, late=0.5))
    ends = [marks[-1] for marks in outcome.marks]
    issued = len(mine) - 2  # the end of the last one is not asked for, and a barrier takes no cycle itself
    assert sum(outcome.waits.cycles.values()) + len(ends) * issued == pytest.approx(sum(ends), rel=0.01)


def test_a_chain_waits_for_its_own_results() -> None:
    """Three of four cycles of a chain of FFMA, whatever else there is of it."""
    outcome = simulate([warp((FMA_CHAIN, 100), LDG, USE)])
    assert outcome.waits.cycles["latency", FMA_CHAIN.line] == 300


def test_the_same_traces_take_the_same_time() -> None:
    """Cycle by cycle, and wait by wait."""
    mine = warp((FMA_CHAIN, 20), LDG, (LDS, 9), USE, BARRIER, (FREE, 7))
    outcomes = [astuple(simulate([mine] * 7, [mine] * 3)) for _ in range(2)]
    assert outcomes[0] == outcomes[1]
