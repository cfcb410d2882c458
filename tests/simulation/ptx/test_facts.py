"""The structure of a kernel, by its PTX.

The digest of PTX: the same code under other names is the same, other code is not.
"""

from __future__ import annotations

import pytest

from grader.model import InstructionUse, Structure
from grader.simulation.ptx import parse
from grader.simulation.ptx.facts import digest, structure

EXECUTED = frozenset({("k", 1), ("helper", 0)})

HEAD = """.version 9.0
.target sm_80
.address_size 64
.file 1 "/build/student.cu"
.file 2 "cub/block/block_reduce.cuh"
.file 3 "/usr/include/sm_30_intrinsics.hpp"
.extern .func somebodys(.param .b64 x);
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
"""
KERNEL = """.visible .entry k(.param .u64 p) {
    .reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .pred %%p<3>;
%s
    ret;
}
"""


def structure_of(body: str, functions: str = "") -> Structure:
    """The structure of a kernel with these instructions."""
    return structure(parse(HEAD + functions + KERNEL % body), "k", "student.cu", "mine.cu")


@pytest.mark.parametrize(
    ("instruction", "sorts"),
    [
        ("ld.shared.u32 %r1, [%rd1];", {"shared_loads"}),
        ("ld.volatile.shared.u32 %r1, [%rd1];", {"shared_loads"}),
        ("st.shared.u32 [%rd1], %r1;", {"shared_stores"}),
        ("cp.async.ca.shared.global [%r1], [%rd2], 4;", {"shared_stores"}),
        ("atom.shared.add.u32 %r1, [%rd1], 1;", {"shared_loads", "shared_stores", "atomics"}),
        ("red.global.add.u32 [%rd1], 1;", {"atomics"}),
        ("atom.global.cas.b32 %r1, [%rd1], 1, 2;", {"atomics"}),
        ("bar.sync 0;", {"barriers"}),
        ("barrier.sync.aligned 1, 64;", {"barriers"}),
        ("bar.warp.sync -1;", set()),
        ("shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;", {"shuffles"}),
        ("redux.sync.add.s32 %r1, %r2, -1;", {"shuffles"}),
        ("ld.const.u32 %r1, [%rd1];", {"constant_loads"}),
        ("ld.global.u32 %r1, [%rd1];", set()),
        ("ld.u32 %r1, [%rd1];", set()),
        ("ld.param.u64 %rd1, [p];", set()),
    ],
)
def test_instructions_are_sorted_by_what_they_do(instruction: str, sorts: set[str]) -> None:
    """Into as many sorts as they are of."""
    facts = structure_of(f".loc 1 7 3\n{instruction}")
    names = ("shared_loads", "shared_stores", "barriers", "atomics", "shuffles", "constant_loads")
    assert {name for name in names if getattr(facts, name).count} == sorts
    assert all(getattr(facts, name) == InstructionUse(1, (7,)) for name in sorts)


def test_a_generic_access_counts_as_shared_where_a_shared_address_is_made_generic() -> None:
    """The compiler then no longer knew the space, and PTX does not state it either."""
    facts = structure_of(
        "cvta.shared.u64 %rd1, %rd2; st.u32 [%rd1], %r1; ld.u32 %r1, [%rd1]; ld.global.u32 %r1, [%rd1];"
    )
    assert (facts.shared_loads.count, facts.shared_stores.count) == (1, 1)
    assert structure_of("cvta.to.shared.u64 %rd1, %rd2; ld.u32 %r1, [%rd1];").shared_loads.count == 0


def test_functions_that_are_called_count_and_others_do_not() -> None:
    """However many calls away."""
    inner = ".func inner() { bar.sync 0; ret; }\n"
    outer = ".func outer() { .reg .b64 %rd<2>; call inner; red.global.add.u32 [%rd1], 1; ret; }\n"
    facts = structure_of("call outer;", inner + outer)
    assert (facts.barriers.count, facts.atomics.count, facts.library) == (1, 1, ())
    assert structure_of("call inner;", inner + outer).atomics.count == 0
    assert structure_of("", inner + outer).barriers.count == 0


def test_a_function_that_calls_itself_is_looked_at_once() -> None:
    """Recursion ends."""
    assert structure_of("call again;", ".func again() { bar.sync 0; call again; ret; }\n").barriers.count == 1


def test_a_call_through_a_pointer_may_be_of_any_function() -> None:
    """The target of the pointer is unknown, so that the barriers of each function count."""
    inner = ".func inner() { bar.sync 0; ret; }\n"
    prototype = "proto: .callprototype _ ();\ncall %rd1, proto;"
    assert structure_of(prototype, inner).barriers.count == 1


def test_what_the_file_does_not_define_is_a_library_and_printing_is_not() -> None:
    """The device's own system prints, asserts and has a heap."""
    called = ".loc 1 9 1\n{ .param .b64 q; call somebodys, (q); }"
    assert structure_of(called).library == (("somebodys", InstructionUse(1, (9,))),)
    printed = "{ .param .b64 q; .param .b32 r; call (r), vprintf, (q, q); }"
    assert structure_of(printed).library == ()


def test_code_inlined_from_a_librarys_header_is_the_librarys() -> None:
    """With the line of the student's file where that happened; CUDA's own intrinsics belong to no library."""
    inlined = (
        ".loc 2 80 1, function_name here, inlined_at 1 21 5\nshfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;"
    )
    assert [(name, use.lines) for name, use in structure_of(inlined).library] == [("CUB", (21,))]
    assert structure_of(inlined.replace(".loc 2", ".loc 3")).library == ()
    assert structure_of(inlined).shuffles == InstructionUse(1, (21,))


def test_the_file_is_named_for_people() -> None:
    """Not by what the compiler called it."""
    assert structure_of("bar.sync 0;").file == "mine.cu"


def test_what_was_executed_is_counted_apart() -> None:
    """By function and place; where no execution is known, the count is unknown, too."""
    body = "shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;\nbar.sync 0;\ncall helper;\nbar.sync 1;"
    helper = ".func helper() { .reg .b32 %r<3>; .reg .pred %p<2>; redux.sync.add.s32 %r1, %r2, -1; ret; }\n"
    module = parse(HEAD + helper + KERNEL % body)
    known = structure(module, "k", executed=EXECUTED)
    assert (known.barriers.count, known.barriers.executed) == (2, 1)
    assert (known.shuffles.count, known.shuffles.executed) == (2, 1)
    assert (known.atomics.count, known.atomics.executed) == (0, 0)
    unknown = structure(module, "k")
    assert unknown.shuffles.executed is None
    assert unknown.shuffles.counts


CODE = """\
//
// Compiler Build ID: CL-1
//
.version 9.0
.visible .entry _Z3mulPf(
\t.param .u64 _Z3mulPf_param_0
)
{
\t.reg .b32 \t%r<4>;
\t.shared .align 4 .b8 _ZZ3mulPfE4tile[64];
\t.loc\t1 8 0
\tld.param.u64 \t%rd1, [_Z3mulPf_param_0];
\tmov.u32 \t%r1, _ZZ3mulPfE4tile;
\tadd.s32 \t%r2, %r1, 4;
\tret;
}
.section\t.debug_str
{
info_string0:
.b8 109
}
"""


def test_names_lines_and_comments_do_not_count() -> None:
    """The digest stays when everything is renamed and moved down the file."""
    renamed = CODE.replace("mul", "product").replace("tile", "buffer").replace("1 8 0", "1 99 3")
    renamed = (
        renamed.replace("_Z3", "_Z7").replace("_ZZ3", "_ZZ7").replace("109", "112").replace("CL-1", "CL-2")
    )
    assert digest(renamed) == digest(CODE)


def test_another_instruction_counts() -> None:
    """So do another number and another name where one stood twice."""
    assert digest(CODE.replace("add.s32", "sub.s32")) != digest(CODE)
    assert digest(CODE.replace("%r1, 4", "%r1, 8")) != digest(CODE)
    assert digest(CODE.replace("[_Z3mulPf_param_0]", "[_ZZ3mulPfE4tile]")) != digest(CODE)
    assert digest("") == ""
