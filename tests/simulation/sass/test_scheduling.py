"""The lanes that execute each instruction: branches, loops, barriers, ends, and loops that never end."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from grader.simulation.sass.interpreter import run
from grader.simulation.sass.linking import link
from grader.simulation.sass.listing import UnknownCodeError, read_listing
from grader.simulation.sass.machine import SassMachine, StepLimitError, StrayError
from tests.simulation.sass.rows import BASE, execute, lanes, machine, text

TID = "S2R R0, SR_TID.X"


def executed(m: SassMachine, instruction: int) -> list[int]:
    """The number of lanes in each run that has an instruction."""
    return [
        m.lanes if mask is None else int(mask.sum())
        for first, last, mask in m.trace.runs
        if first <= instruction < last
    ]


def test_ways_that_part_meet_again() -> None:
    """Each lane takes its own way once, and what follows is executed by all together."""
    m = execute(
        TID,
        "ISETP.LT.AND P0, PT, R0, 0x5, PT",
        "BSSY B0, `(.L_2)",
        "@P0 BRA `(.L_1)",
        "MOV R1, 0x1",
        "BRA `(.L_2)",
        ".L_1:",
        "MOV R1, 0x2",
        ".L_2:",
        "BSYNC B0",
        "IADD3 R2, R1, 0x10, RZ",
    )
    assert lanes(m, 2).tolist() == [18] * 5 + [17] * 27
    assert [executed(m, at) for at in (4, 6, 8)] == [[27], [5], [32]]


def test_a_slow_way_behind_the_end_is_waited_for() -> None:
    """Code that ptxas put last rejoins where the others wait, though that comes earlier in the code."""
    m = execute(
        TID,
        "ISETP.EQ.AND P0, PT, R0, 0x3, PT",
        "BSSY B0, `(.L_2)",
        "@P0 BRA `(.L_3)",
        ".L_1:",
        "BSYNC B0",
        ".L_2:",
        "IADD3 R2, R0, 0x1, RZ",
        "EXIT",
        ".L_3:",
        "MOV R0, 0x64",
        "BRA `(.L_1)",
    )
    assert lanes(m, 2).tolist() == [101 if lane == 3 else lane + 1 for lane in range(32)]
    assert executed(m, 5) == [32]


def test_loops_go_on_for_those_whose_turns_are_not_over() -> None:
    """Each lane takes one turn more than its number, and all end together."""
    m = execute(
        TID,
        "MOV R1, RZ",
        "BSSY B0, `(.L_2)",
        ".L_1:",
        "IADD3 R1, R1, 0x2, RZ",
        "IADD3 R0, R0, -0x1, RZ",
        "ISETP.GE.AND P0, PT, R0, RZ, PT",
        "@P0 BRA `(.L_1)",
        "BSYNC B0",
        ".L_2:",
        "IADD3 R2, R1, 0x1, RZ",
    )
    assert lanes(m, 2).tolist() == [2 * lane + 3 for lane in range(32)]
    assert executed(m, 3) == list(range(32, 0, -1))
    assert executed(m, 8) == [32]


def test_lanes_that_leave_a_convergence_barrier_are_not_waited_for() -> None:
    """BREAK, and EXIT, inside."""
    m = execute(
        TID,
        "ISETP.EQ.AND P0, PT, R0, 0x3, PT",
        "ISETP.EQ.AND P1, PT, R0, 0x4, PT",
        "BSSY B0, `(.L_1)",
        "@P0 BREAK B0",
        "@P0 BRA `(.L_2)",
        "@P1 EXIT",
        "BSYNC B0",
        ".L_1:",
        "MOV R1, 0x7",
        "EXIT",
        ".L_2:",
        "MOV R1, 0x9",
    )
    assert executed(m, 8) == [30]
    assert lanes(m, 1)[[0, 3]].tolist() == [7, 9]


def test_a_barrier_orders_the_warps_of_a_block() -> None:
    """A value that is stored before the barrier is read behind it by another warp."""
    m = execute(
        TID, "SHF.L.U32 R1, R0, 0x2, RZ", "STS [R1], R0", "BAR.SYNC.DEFER_BLOCKING 0x0",
        "LOP3.LUT R2, R1, 0xfc, RZ, 0x3c, !PT", "LDS R3, [R2]", on=machine(threads=64, blocks=2, shared=256),
    )  # fmt: skip
    assert lanes(m, 3).tolist() == [63 - lane % 64 for lane in range(128)]


def test_a_barrier_in_both_ways_is_one_barrier() -> None:
    """Threads that come to it from different places meet."""
    m = execute(
        TID, "ISETP.LT.AND P0, PT, R0, 0x20, PT", "@P0 BRA `(.L_1)",
        "STS [RZ], R0", "BAR.SYNC.DEFER_BLOCKING 0x0", "EXIT",
        ".L_1:", "BAR.SYNC.DEFER_BLOCKING 0x0", "LDS R1, [RZ]", on=machine(threads=64),
    )  # fmt: skip
    assert 32 <= int(lanes(m, 1)[0]) < 64


def test_warps_that_have_ended_are_not_waited_for_at_a_barrier() -> None:
    """The others go on."""
    m = execute(
        TID, "ISETP.GE.AND P0, PT, R0, 0x20, PT", "@P0 EXIT", "BAR.SYNC.DEFER_BLOCKING 0x0", "MOV R1, 0x5",
        on=machine(threads=96),
    )  # fmt: skip
    assert lanes(m, 1)[:32].tolist() == [5] * 32


def test_named_barriers_count_those_who_only_arrive() -> None:
    """A producer arrives and goes on, a consumer waits for it."""
    m = execute(
        TID, "ISETP.LT.AND P0, PT, R0, 0x20, PT", "@P0 BRA `(.L_1)",
        "MOV R2, 0x2a", "STS [RZ], R2", "BAR.ARV 0x1, 0x40", "BAR.SYNC.DEFER_BLOCKING 0x2, 0x20", "EXIT",
        ".L_1:", "BAR.SYNC.DEFER_BLOCKING 0x1, 0x40", "LDS R1, [RZ]", on=machine(threads=64),
    )  # fmt: skip
    assert lanes(m, 1)[:32].tolist() == [42] * 32


@pytest.mark.parametrize(
    ("reduction", "wanted"), [("POPC", [5, 3]), ("AND", [0, 0]), ("OR", [1, 1])], ids=["count", "and", "or"]
)
def test_a_barrier_reduces_over_its_block(reduction: str, wanted: list[int]) -> None:
    """Votes of all threads of a block, but of no other block."""
    m = execute(
        TID,
        "S2R R1, SR_CTAID.X",
        "IMAD R1, R1, 0x2, R0",
        "ISETP.LT.AND P0, PT, R1, 0x5, PT",
        f"BAR.RED.{reduction}.DEFER_BLOCKING 0x0, P0",
        "B2R.RESULT R4, P1",
        on=machine(threads=48, blocks=2),
    )
    assert lanes(m, 4)[[0, 64]].tolist() == wanted


def test_threads_that_a_block_lacks_do_nothing() -> None:
    """The last warp of 40 threads stores for eight of them."""
    m = execute(
        TID, "SHF.L.U32 R1, R0, 0x2, RZ", "MOV R2, 0x1", "STS [R1], R2",
        "VOTE.ANY R3, PT, PT", on=machine(threads=40),
    )  # fmt: skip
    assert m.shared.view("u4").tolist() == [1] * 40 + [0] * 24
    assert lanes(m, 3)[[0, 32]].tolist() == [0xFFFFFFFF, 0xFF]


def test_calls_return_to_where_each_lane_came_from() -> None:
    """Two callers of one function."""
    m = execute(
        TID, "ISETP.LT.AND P0, PT, R0, 0x8, PT", "@P0 BRA `(.L_1)",
        "MOV R4, 0x50", "CALL.REL.NOINC `(.L_3)", "BRA `(.L_2)",
        ".L_1:", "MOV R4, 0x80", "CALL.REL.NOINC `(.L_3)",
        ".L_2:", "IADD3 R5, R5, 0x1, RZ", "EXIT",
        ".L_3:", "IADD3 R5, R0, 0x64, RZ", "RET.REL.NODEC R4 `(.text.k)",
    )  # fmt: skip
    assert lanes(m, 5).tolist() == [lane + 101 for lane in range(32)]


def test_a_loop_without_end_is_given_up() -> None:
    """After the limit of steps."""
    with pytest.raises(StepLimitError):
        execute(".L_1:", "BRA `(.L_1)", steps=1000)


def test_threads_that_wait_for_absent_ones_are_given_up() -> None:
    """The barrier expects other threads of the block, which do not come to it."""
    with pytest.raises(StepLimitError, match="never come"):
        execute("BAR.SYNC.DEFER_BLOCKING 0x1, 0x80")


def test_those_who_wait_in_a_loop_let_others_go_on() -> None:
    """A lane spins on a word of shared memory that another stores, further on in the code."""
    m = execute(
        TID, "ISETP.NE.AND P0, PT, R0, RZ, PT", "@P0 BRA `(.L_2)",
        ".L_1:", "LDS R1, [RZ]", "ISETP.EQ.AND P1, PT, R1, RZ, PT", "@P1 BRA `(.L_1)", "EXIT",
        ".L_2:", "MOV R2, 0x3", "STS [RZ], R2",
    )  # fmt: skip
    assert int(lanes(m, 1)[0]) == 3


RETRIES = (
    TID, "MOV R2, 0x1",
    ".L_1:", "LDS R3, [RZ]", "IADD3 R4, R3, R2, RZ", "ATOMS.CAST.SPIN R4, [RZ], R3, R4",
    "ISETP.EQ.U32.AND P0, PT, R4, 0x1, PT", "@!P0 BRA `(.L_1)",
    "BAR.SYNC.DEFER_BLOCKING 0x0", "LDS R5, [RZ]",
)  # fmt: skip


def test_warps_go_through_a_retry_loop_one_after_the_other() -> None:
    """Each warp of each block has as many turns as it has lanes, whatever others do; nothing gets lost."""
    m = execute(*RETRIES, on=machine(threads=96, blocks=2), steps=1000)
    assert lanes(m, 5).tolist() == [96] * 192
    turns = executed(m, 4)
    assert turns == [2 * left for left in range(32, 0, -1)] * 3
    assert executed(m, 8) == [192]


def test_who_waits_in_a_retry_loop_for_a_warp_behind_it_lets_that_go_on() -> None:
    """The first warp goes round until the word is 1, which the second makes it in the same loop."""
    m = execute(
        TID, "SHF.R.U32.HI R1, RZ, 0x5, R0", "IADD3 R2, -R1, 0x1, RZ", "IADD3 R3, R2, 0x1, RZ",
        ".L_1:", "ATOMS.CAS R4, [RZ], R2, R3", "ISETP.LT.AND P0, PT, R4, R2, PT", "@P0 BRA `(.L_1)",
        "LDS R5, [RZ]",
        on=machine(threads=64),
    )  # fmt: skip
    assert lanes(m, 5).tolist() == [2] * 64


@pytest.mark.parametrize(
    ("row", "address"),
    [
        ("LDG.E R1, [R2.64]", BASE + 1024), ("STG.E [R2.64], R1", BASE - 4), ("LDS R1, [R2]", 256),
        ("LDS R1, [R2]", 2), ("LDL.64 R4, [R2]", 256), ("LD.E R1, [R2.64]", 4),
        ("ATOMG.E.ADD.STRONG.GPU PT, R1, [R2.64], R4", 12),
    ],
)  # fmt: skip
def test_an_access_outside_its_arrays_is_refused(row: str, address: int) -> None:
    """Behind the end, before the beginning, or between two words."""
    low, high = struct.unpack("<2I", struct.pack("<Q", address))
    with pytest.raises(StrayError):
        execute(row, registers={2: np.full(32, low, "u4"), 3: np.full(32, high, "u4")})


def test_a_generic_access_goes_to_the_space_of_its_window() -> None:
    """The constants of bank 0 define the windows; an access is noted in each space that lanes go to."""
    memory = np.zeros(1024, np.uint8)
    memory.view("u4")[3] = 5
    m = machine(memory=memory)
    m.shared.view("u4")[1] = 7
    execute(
        TID, "ISETP.LT.AND P0, PT, R0, 0x8, PT",
        "@P0 MOV R2, 0x4", "@P0 IMAD.MOV.U32 R3, RZ, RZ, c[0x0][0x1c]", "LD.E R1, [R2.64]",
        registers={2: np.full(32, (BASE + 12) & 0xFFFFFFFF, "u4"), 3: np.full(32, BASE >> 32, "u4")}, on=m,
    )  # fmt: skip
    assert lanes(m, 1).tolist() == [7] * 8 + [5] * 24
    shared, others = m.trace.accesses
    assert (shared.space, others.space) == ("shared", "global")
    assert shared.mask is not None
    assert others.mask is not None
    assert shared.mask.tolist() == (~others.mask).tolist() == [True] * 8 + [False] * 24
    assert m.trace.ends == [2]


@pytest.mark.parametrize("opcode", ["HMMA.16816.F32", "BRX", "LDSM.16.M88.4", "TEX.B.LL", "SYNCS.ARRIVE"])
def test_what_is_not_interpreted_is_named_where_it_is_reached(opcode: str) -> None:
    """And does no harm where it is not."""
    row = f"{opcode} R4, R8, R12, R4"
    execute("@!PT BRA `(.L_1)", "BRA `(.L_2)", ".L_1:", row, ".L_2:", "MOV R1, RZ")
    with pytest.raises(UnknownCodeError) as caught:
        execute(row)
    assert caught.value.opcode == opcode


def test_an_indirect_call_is_named() -> None:
    """Its target is in a register."""
    with pytest.raises(UnknownCodeError, match=r"CALL\.REL\.NOINC"):
        execute("CALL.REL.NOINC R4 `(.text.k)")


def test_code_without_an_end_is_refused() -> None:
    """A listing that was cut off."""
    with pytest.raises(UnknownCodeError):
        run(link(read_listing(text("MOV R1, RZ"), "k"), {}), machine(), 100)
