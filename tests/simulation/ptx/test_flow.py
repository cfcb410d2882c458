"""The control-flow graph of a function, and edits of its body."""

from __future__ import annotations

import pytest

from grader.simulation.ptx import Immediate, Instruction, parse
from grader.simulation.ptx.flow import Flow
from grader.simulation.ptx.nodes import edited, exchanged

TEXT = """
.version 9.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u32 n)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
{body}
}}
"""

NESTED = """
    mov.u32 %r1, %tid.x;            // 0
    ld.param.u32 %r2, [n];          // 1
    mov.u32 %r3, 0;                 // 2
OUTER:
    setp.ge.s32 %p1, %r3, %r2;      // 3
    @%p1 bra END;                   // 4
    mov.u32 %r4, 0;                 // 5
INNER:
    add.s32 %r4, %r4, 1;            // 6
    setp.lt.s32 %p2, %r4, 3;        // 7
    @%p2 bra INNER;                 // 8
    setp.gt.u32 %p3, %r1, 7;        // 9
    @%p3 bra SKIP;                  // 10
    add.s32 %r5, %r1, 1;            // 11
SKIP:
    add.s32 %r3, %r3, 1;            // 12
    bra OUTER;                      // 13
END:
    ret;                            // 14
"""

BARRIER = Instruction("bar", ("sync",), (Immediate(0),))


@pytest.fixture
def flow() -> Flow:
    """Two loops and an `if` on the thread's index."""
    return Flow(parse(TEXT.format(body=NESTED)).function("kernel"))


def test_blocks_begin_at_labels_and_after_branches(flow: Flow) -> None:
    """Each block knows its successors."""
    assert flow.starts == (0, 3, 5, 6, 9, 11, 12, 14, 15)
    assert flow.successors == ((1,), (2, 7), (3,), (3, 4), (5, 6), (6,), (1,), ())


def test_natural_loops_are_found_the_innermost_first(flow: Flow) -> None:
    """The inner loop is one block, the outer one all but entry and end."""
    assert [(loop.header, sorted(loop.blocks)) for loop in flow.loops_around(7)] == [
        (3, [3]),
        (1, [1, 2, 3, 4, 5, 6]),
    ]
    assert flow.loops_around(14) == []


def test_the_branches_that_decide_over_an_instruction_are_named(flow: Flow) -> None:
    """In the `if`: its branch and the loop's; behind it: the loop's; after the loop: none."""
    assert flow.deciding(11) == {4, 10}
    assert flow.deciding(12) == {4}
    assert flow.deciding(6) == {4, 8}
    assert flow.deciding(14) == set()


def test_registers_that_differ_between_threads_are_known(flow: Flow) -> None:
    """Registers that come from %tid differ, those that come from a parameter or a counter do not."""
    assert flow.thread_dependent == {"%r1", "%p3", "%r5"}


def test_a_place_on_every_path_bars_the_way(flow: Flow) -> None:
    """From the inner loop to the next turn's: past 12 always, past 11 not always."""
    assert flow.reaches([6], [5])
    assert flow.reaches([6], [5], barring=11)
    assert not flow.reaches([6], [5], barring=12)
    assert not flow.reaches([6], [5], barring=5)
    assert not flow.reaches([14], [0])
    assert not flow.reaches([8], [11], barring=9)


def test_an_instruction_put_in_is_executed_by_those_who_jump_there() -> None:
    """It stands behind the label, and the labels after it move along."""
    module = parse(TEXT.format(body=NESTED))
    function = edited(module.function("kernel"), {12: BARRIER}, {6})
    assert function.body[11] == BARRIER
    labels = dict(function.labels)
    assert (labels["INNER"], labels["SKIP"], labels["END"]) == (6, 11, 14)
    assert function.body[labels["INNER"]].opcode == "setp"
    assert exchanged(module, function).function("kernel") is function


def test_a_branch_through_a_table_has_no_graph() -> None:
    """Nor has a function without a body."""
    module = parse(TEXT.format(body="    brx.idx %r1, TABLE;\n    ret;"))
    with pytest.raises(ValueError, match="kernel"):
        Flow(module.function("kernel"))
