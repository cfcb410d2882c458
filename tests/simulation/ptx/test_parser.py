"""PTX text → nodes: what nvcc writes, what inline assembly adds, and text that is no PTX at all."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from grader.simulation.ptx import (
    Address,
    Function,
    Immediate,
    Instruction,
    Location,
    Pair,
    Register,
    Symbol,
    Tuple,
    Vector,
    parse,
)
from grader.simulation.ptx.nodes import leaves, registers_in
from grader.simulation.ptx.tokens import tokens

if TYPE_CHECKING:
    from grader.simulation.ptx import Operand

HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"


def function(body: str) -> Function:
    """An entry ``k`` with these lines in it, the first on PTX line 6."""
    return parse(f"{HEADER}.visible .entry k()\n{{\n{body}\n}}").function("k")


def instruction(line: str) -> Instruction:
    """The only instruction of a line."""
    (only,) = function(line).body
    return only


def operand(text: str) -> Operand:
    """The last operand of an instruction, as it is parsed."""
    return instruction(f"op.x %d, {text};").operands[-1]


# --- tokens ------------------------------------------------------------------------------------------


def test_comments_are_skipped_and_lines_counted() -> None:
    """Line and block comments hold no tokens; a block comment's line ends count."""
    found = tokens("// one ; two\nmov /* three\nfour */ x")
    assert [(token.text, token.line) for token in found] == [("mov", 2), ("x", 3)]


def test_opcodes_names_and_scopes_are_single_tokens() -> None:
    """Dots, dollars and double colons belong to words."""
    words = ["ld.global.L1::evict_last.v2.f32", "$L__BB0_2", "%tid.x", "_ZZ1kE4tile", "%r1"]
    assert [token.text for token in tokens(" ".join(words))] == words


# --- modules -----------------------------------------------------------------------------------------


def test_a_module_has_target_files_and_functions() -> None:
    """Directives before, between and after functions are read or passed over."""
    module = parse(
        HEADER + '.pragma "nounroll";\n.visible .entry a() { ret; }\n.func b;\n'
        '.file 1 "/some where/a.cu"\n.file 2 "b.h", 1, 2\n.section .debug_str { .b8 1, {2} }\n'
    )
    assert module.target == "sm_80"
    assert module.files == ((1, "/some where/a.cu"), (2, "b.h"))
    assert [(f.name, f.is_entry, f.defined) for f in module.functions] == [
        ("a", True, True),
        ("b", False, False),
    ]


def test_a_prototype_does_not_hide_its_definition() -> None:
    """``Module.function`` gives the one that has a body."""
    module = parse(f"{HEADER}.func f(.param .b32 x);\n.func f(.param .b32 x) {{ ret; }}")
    assert module.function("f").body[0].opcode == "ret"
    with pytest.raises(KeyError):
        module.function("g")


def test_parameters_have_types_alignment_and_extents() -> None:
    """Scalars, pointers with hints, and structs by value, which are byte arrays."""
    module = parse(
        f"{HEADER}.visible .entry k(.param .u64 .ptr .global .align 16 p,"
        " .param .align 8 .b8 s[24], .param .f32 x)"
        "\n.maxntid 256, 1, 1\n.minnctapersm 2\n{ ret; }"
    )
    p, s, x = module.function("k").parameters
    assert (p.name, p.type, p.align) == ("p", "u64", 16)
    assert (s.name, s.count, s.size, s.align) == ("s", 24, 24, 8)
    assert (x.type, x.align) == ("f32", 4)


def test_dynamic_shared_memory_has_no_extent() -> None:
    """``extern __shared__`` is an array of zero elements."""
    (pool,) = parse(f"{HEADER}.extern .shared .align 16 .b8 pool[];").variables
    assert (pool.space, pool.count, pool.size, pool.linkage) == ("shared", 0, 0, "extern")


def test_initialisers_hold_numbers_bits_and_addresses() -> None:
    """Lists, nested lists, floats as bits, symbols with offsets and generic addresses."""
    module = parse(
        HEADER + ".global .align 4 .u32 a[4] = {1, -2, 0x10};\n"
        ".const .f32 b[2] = {0f3F800000, -0f40000000};\n"
        ".global .u64 c[2] = {generic(a), a+8};\n"
        ".global .s32 d[2][2] = {{1, 2}, {3, 4}};\n.global .u32 e = 7;"
    )
    a, b, c, d, e = module.variables
    assert a.initial == (Immediate(1), Immediate(-2), Immediate(16))
    assert b.initial == (Immediate(0x3F800000, "f32"), Immediate(0xC0000000, "f32"))
    assert c.initial == (Symbol("a"), Symbol("a", 8))
    assert (d.count, len(d.initial)) == (4, 4)
    assert e.initial == (Immediate(7),)


def test_vector_variables_count_their_lanes() -> None:
    """``.v4 .f32 x[2]`` is eight floats, aligned as a whole."""
    (x,) = parse(f"{HEADER}.shared .v4 .f32 x[2];").variables
    assert (x.count, x.align) == (8, 16)


# --- functions ---------------------------------------------------------------------------------------


def test_register_ranges_are_spelt_out() -> None:
    """``%r<3>`` declares %r0 to %r2; single names and lists stand beside it."""
    declared = function(".reg .b32 %r<3>;\n.reg .f32 %x, %y<2>;").registers
    assert declared == tuple((name, "b32") for name in ("%r0", "%r1", "%r2")) + tuple(
        (name, "f32") for name in ("%x", "%y0", "%y1")
    )


def test_a_name_declared_in_two_scopes_is_two_registers() -> None:
    """Two uses of one inline assembly block, each with its own ``%tmp``, do not share it."""
    block = "{ .reg .b64 %tmp; cvta.to.global.u64 %tmp, %a; mov.u64 %b, %tmp; }"
    parsed = function(f".reg .b64 %a, %b;\n{block}\n{block}")
    first, second = (parsed.body[at].operands[0] for at in (0, 2))
    assert first != second
    assert parsed.body[1].operands[1] == first
    assert parsed.body[3].operands[1] == second
    assert len({name for name, _ in parsed.registers}) == len(parsed.registers) == 4


def test_an_inner_scope_hides_the_outer_name_until_it_ends() -> None:
    """After the inner block the outer register is meant again."""
    parsed = function(".reg .b32 t;\nmov.b32 t, 1;\n{ .reg .b32 t; mov.b32 t, 2; }\nmov.b32 t, 3;")
    outer, inner, again = (each.operands[0] for each in parsed.body)
    assert outer == again == Register("t")
    assert isinstance(inner, Register)
    assert inner != outer


def test_inline_assembly_may_name_registers_without_a_percent_sign() -> None:
    """A name declared with ``.reg`` is a register, whatever the name; one that was not is a symbol."""
    parsed = function("{ .reg .pred p; setp.ne.b32 p, %r1, 0; selp.b32 %r2, 1, 0, p; mov.u32 %r3, tile; }")
    assert parsed.body[1].operands[3] == Register("p")
    assert parsed.body[2].operands[1] == Symbol("tile")


def test_a_variable_in_a_function_is_a_symbol() -> None:
    """A local depot is addressed by name, also where parameters of calls repeat theirs in each scope."""
    passed = "{ .param .b64 param0; st.param.b64 [param0+0], %rd1; }\n"
    parsed = function(
        f".local .align 16 .b8 __local_depot0[32];\nmov.u64 %SPL, __local_depot0;\n{passed}{passed}"
    )
    assert parsed.body[0].operands[1] == Symbol("__local_depot0")
    first, second = (each.operands[0] for each in parsed.body[1:])
    assert isinstance(first, Address)
    assert isinstance(first.base, Symbol)
    assert first != second
    assert len({variable.name for variable in parsed.variables}) == 3


def test_labels_point_at_the_instruction_after_them() -> None:
    """Also several labels at one place, and one at the end of the body."""
    parsed = function("$a: $b:\nret;\n$c:\nbra $a;\n$end:")
    assert dict(parsed.labels) == {"$a": 0, "$b": 0, "$c": 1, "$end": 2}


def test_guards_are_predicates_which_may_be_negated() -> None:
    """``@p`` and ``@!p``."""
    assert instruction("@%p1 bra $L;").guard == Register("%p1")
    assert instruction("@!%p1 bra $L;").guard == Register("%p1", negated=True)


def test_instructions_know_their_ptx_line() -> None:
    """Counted from 1 in the whole text."""
    assert [each.ptx_line for each in function("ret;\n\nret;").body] == [6, 8]


def test_empty_statements_are_allowed() -> None:
    """Inline assembly often leaves a semicolon too many."""
    assert len(function(";; ret;;").body) == 1


# --- locations ---------------------------------------------------------------------------------------


def test_a_location_holds_until_the_next() -> None:
    """Every instruction after a ``.loc`` comes from there; before the first, from nowhere."""
    places = [each.location for each in function("ret;\n.loc 1 7 5\nret;\nret;\n.loc 2 9 0\nret;").body]
    assert places == [None, Location(1, 7, 5), Location(1, 7, 5), Location(2, 9, 0)]


def test_an_inlined_location_names_the_call() -> None:
    """``inlined_at`` with and without an offset after the name of the function."""
    body = (
        ".loc 2 30 3, function_name $L__info_string0, inlined_at 1 7 5\nret;\n"
        ".loc 2 31 3, function_name $L__info_string0+17, inlined_at 1 8 9\nret;"
    )
    places = [each.location for each in function(body).body]
    assert places == [
        Location(2, 30, 3, inlined_at=Location(1, 7, 5)),
        Location(2, 31, 3, inlined_at=Location(1, 8, 9)),
    ]


def test_a_call_that_is_inlined_itself_has_its_own_call() -> None:
    """As in `block.sync()`, three headers deep; and no text makes a chain without end."""
    body = (
        ".loc 3 41 9\n.loc 4 489 9, function_name $L__a, inlined_at 3 41 9\n"
        ".loc 6 87 13, function_name $L__b, inlined_at 4 489 9\nret;\n"
    )
    (instruction,) = function(body).body
    assert instruction.location == Location(6, 87, 13, Location(4, 489, 9, Location(3, 41, 9)))
    (hostile,) = function(".loc 1 1 1, function_name $L, inlined_at 1 1 1\n" * 5000 + "ret;").body
    assert hash(hostile.location)


# --- operands ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("017", 15),
        ("0x1F", 31),
        ("0b101", 5),
        ("42U", 42),
        ("-1", -1),
        ("0xFFFFFFFFFFFFFFFFU", 2**64 - 1),
    ],
)
def test_integer_literals_come_in_four_bases(text: str, value: int) -> None:
    """Decimal, octal, hexadecimal, binary; a U for unsigned changes nothing."""
    assert operand(text) == Immediate(value)


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("0f3F800000", 1.0, "f32"),
        ("0F3f800000", 1.0, "f32"),
        ("-0f3F800000", -1.0, "f32"),
        ("0d3FF0000000000000", 1.0, "f64"),
        ("-0d3FF0000000000000", -1.0, "f64"),
        ("1.5", 1.5, "f64"),
        ("-2.5e-3", -2.5e-3, "f64"),
        ("1.", 1.0, "f64"),
    ],
)
def test_float_literals_are_held_as_their_bits(text: str, value: float, kind: str) -> None:
    """Hexadecimal ones name the bits, decimal ones are doubles."""
    code = {"f32": "<f", "f64": "<d"}[kind]
    assert operand(text) == Immediate(int.from_bytes(struct.pack(code, value), "little"), kind)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[%rd1]", Address(Register("%rd1"))),
        ("[%rd1+-8]", Address(Register("%rd1"), -8)),
        ("[%rd1-8]", Address(Register("%rd1"), -8)),
        ("[tile+4]", Address(Symbol("tile", 4))),
        ("[0x10]", Address(Immediate(16))),
        ("tile+12", Symbol("tile", 12)),
        ("{%a, %b, _, 1}", Vector((Register("%a"), Register("%b"), Symbol("_"), Immediate(1)))),
        ("%p|%q", Pair(Register("%p"), Register("%q"))),
        ("_|%q", Pair(Symbol("_"), Register("%q"))),
        ("!%p", Register("%p", negated=True)),
        ("%tid.x", Register("%tid.x")),
    ],
)
def test_operands_of_every_shape(text: str, expected: Operand) -> None:
    """Addresses, offsets, vectors, pairs, negated predicates, special registers."""
    got = operand(text)
    if isinstance(got, Address) and isinstance(got.base, Symbol):
        assert (got.base.name, got.base.offset + got.offset) == ("tile", 4)
    else:
        assert got == expected


def test_calls_have_results_a_name_and_arguments() -> None:
    """Over several lines, as nvcc writes them."""
    call = instruction("call.uni (retval0),\n_Z3addff,\n(\nparam0,\nparam1\n);")
    assert call.name == "call.uni"
    assert call.operands == (
        Tuple((Symbol("retval0"),)),
        Symbol("_Z3addff"),
        Tuple((Symbol("param0"), Symbol("param1"))),
    )


def test_a_call_without_arguments_has_an_empty_list() -> None:
    """Parentheses of a call hold a list, never an expression."""
    assert instruction("call.uni f, ();").operands == (Symbol("f"), Tuple(()))


def test_an_indirect_call_names_its_prototype() -> None:
    """The prototype is a label of its own kind, no place to branch to."""
    parsed = function(
        "prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "call (retval0), %rd1, (param0), prototype_0;"
    )
    assert parsed.labels == ()
    assert parsed.body[0].operands[1] == Register("%rd1")
    assert parsed.body[0].operands[3] == Symbol("prototype_0")


def test_the_coordinates_of_a_texture_are_passed_over() -> None:
    """No texture is interpreted, but a text with one is read."""
    found = instruction("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];")
    assert found.opcode == "tex"
    assert found.operands[1] == Address(Register("%rd1"), 0)


def test_the_leaves_of_an_operand_are_its_registers_symbols_and_numbers() -> None:
    """From left to right, however deep; the names of registers alone are asked for most."""
    first, second, third = Register("%r1"), Register("%r2"), Symbol("table", 4)
    operand = Tuple((Vector((first, Address(second, 8))), Pair(third, Immediate(3))))
    assert tuple(leaves(operand)) == (first, second, third, Immediate(3))
    assert tuple(registers_in(operand)) == ("%r1", "%r2")
