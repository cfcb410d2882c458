"""Constant expressions: the values that ptxas computes, and where they may stand."""

from __future__ import annotations

import struct
import subprocess
from array import array
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import PtxSyntaxError
from grader.simulation.ptx import Address, Immediate, Numbers, Register, Symbol, Vector, parse
from grader.toolchain.nvcc import find_toolchain

if TYPE_CHECKING:
    from pathlib import Path

    from grader.simulation.ptx import Operand

HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"
KERNEL = ".visible .entry k() { ret; }\n"

WHOLE = {
    "(1 << 4) - 1": 15,
    "~0": 2**64 - 1,
    "(2>1)": 1,
    "3*4-1": 11,
    "1?5:6": 5,
    "!1": 0,
    "!5 + 1": 1,
    "7 % 4": 3,
    "-7 % 4": 1,
    "-7 / 2": 2**64 - 3,
    "-1 / 2": 0,
    "~0 / 2": 2**63 - 1,
    "(.s64)~0 / 2": 0,
    "(.u64)-1 / 2": 2**63 - 1,
    "-1 >> 1": 2**64 - 1,
    "-8U >> 1": 2**63 - 4,
    "-8 >> 1U": 2**64 - 4,
    "1 << 64": 1,
    "1 << 65": 2,
    "1<<-1": 2**63,
    "-1 < 0": 1,
    "-1 < 0U": 0,
    "~0 > 1": 1,
    "2U - 3U > 0": 1,
    "1 || 0 && 0": 1,
    "2 & 1 == 1": 0,
    "1|2^3": 1,
    "1 ? 2 : 0 ? 3 : 4": 2,
    "0?1:-1 >> 1": 2**64 - 1,
    "(0 ? 1U : -1) / 2": 0,
    "-(8 & 12) / 3": 2**64 - 2,
    "-0x8000000000000000 / -1": 0,
    "010+1": 9,
    "0b11<<1": 6,
    "1.5 > 1.0": 1,
    "WARP_SZ * 2": 64,
    "(8 & 12) - 9 < 0": 1,
    "(8U & 12) - 9 < 0": 0,
    "(7 % 4) - 5 < 0": 0,
    "-7 % -4": 2**64 - 7,
    "(1 == 1U) - 2 < 0": 1,
    "(-1 & ~0) >> 1": 2**63 - 1,
    "--1": 1,
    "1 -1": 0,
}
REFUSED = ("1/0", "0 ? 1/0 : 3", "1.5+1", "1.0/0.0", "7%4", "(1", "!1.5", "1.0 ? 2.0 : 3.0")


def value_of(text: str, kind: str = "u64") -> int:
    """The low 64 bits that a variable begins with."""
    (variable,) = parse(f"{HEADER}.global .{kind} x = {text};").variables
    (initial,) = variable.initial
    assert isinstance(initial, Immediate)
    return initial.value % 2**64


def assembled(text: str, folder: Path) -> bytes | None:
    """The object that ptxas makes of a module; None where it refuses."""
    (folder / "x.ptx").write_text(text)
    argv = [find_toolchain().ptxas, "-arch=sm_80", "x.ptx", "-o", "x.cubin"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, check=False, timeout=60)
    return (folder / "x.cubin").read_bytes() if done.returncode == 0 else None


@pytest.mark.parametrize("text", WHOLE)
def test_an_expression_has_the_value_that_c_gives_it(text: str) -> None:
    """Signs, precedence and width are those of the ISA's table."""
    assert value_of(text) == WHOLE[text]


def test_ptxas_computes_the_same_values(tmp_path: Path) -> None:
    """All expressions as one table, which is found in the object that ptxas writes."""
    listed = ", ".join(WHOLE)
    made = assembled(f"{HEADER}.visible .global .u64 x[{len(WHOLE)}] = {{{listed}}};\n{KERNEL}", tmp_path)
    assert made is not None
    assert struct.pack(f"<{len(WHOLE)}Q", *WHOLE.values()) in made


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_value_is_refused_as_ptxas_does(text: str, tmp_path: Path) -> None:
    """Division by zero, mixed kinds, a name where an operator was meant."""
    module = f"{HEADER}.global .u64 x = {text};\n"
    assert assembled(module + KERNEL, tmp_path) is None
    with pytest.raises(PtxSyntaxError):
        parse(module)


def operands(line: str) -> tuple[Operand, ...]:
    """The operands of the instruction ``line``."""
    return parse(f"{HEADER}.entry k() {{ {line} }}").function("k").body[0].operands


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mov.u32 %r1, (1 << 4) - 1;", Immediate(15)),
        ("mov.u32 %r1, WARP_SZ;", Immediate(32)),
        ("mov.u16 %h1, !1;", Immediate(0)),
        ("selp.b32 %r1, 1+1, 2*2, !%p1;", Register("%p1", negated=True)),
        ("bar.sync 1+1, 32*2;", Immediate(64)),
        ("ld.global.u32 %r1, [%rd2+8*4];", Address(Register("%rd2"), 32)),
        ("ld.global.u32 %r1, [%rd2+(1<<4)];", Address(Register("%rd2"), 16)),
        ("ld.global.u32 %r1, [%rd2 + ~0];", Address(Register("%rd2"), -1)),
        ("ld.global.u32 %r1, [table+4*2-4];", Address(Symbol("table", 4))),
        ("mov.u64 %rd3, table+4*2;", Symbol("table", 8)),
        ("st.global.v2.u32 [%rd2], {1+1, (2*3)};", Vector((Immediate(2), Immediate(6)))),
        ("mov.f64 %d1, 1.5+1.0;", Immediate(0x4004000000000000, "f64")),
        ("mov.f32 %f1, -0f3F800000;", Immediate(0xBF800000, "f32")),
    ],
)
def test_operands_may_be_expressions(line: str, expected: Operand) -> None:
    """Numbers, offsets of addresses, elements of vectors, floating-point literals."""
    assert operands(line)[-1] == expected


def test_initialisers_hold_expressions_and_long_runs_of_numbers() -> None:
    """A long run is kept together; what follows it is read as ever."""
    run = tuple(range(40))
    listed = ", ".join(map(str, run))
    (table,) = parse(f"{HEADER}.global .u32 table[64] = {{{listed}, 1+1, 0x10, generic(table)}};").variables
    numbers, *rest = table.initial
    assert isinstance(numbers, Numbers)
    assert tuple(array("Q", numbers.packed)) == run
    assert rest == [Immediate(2), Immediate(16), Symbol("table")]


def test_a_long_run_may_end_in_any_number() -> None:
    """Hexadecimal, octal, negative numbers and expressions are no part of a run."""
    listed = ", ".join(map(str, range(1, 21)))
    for last, value in (("0x10", 16), ("010", 8), ("-3", -3), ("2 + 3", 5), ("6U", 6)):
        (table,) = parse(f"{HEADER}.global .u32 table[21] = {{{listed}, {last}}};").variables
        assert table.initial == (Numbers(array("Q", range(1, 21)).tobytes()), Immediate(value))


def test_qualifiers_may_come_after_the_type() -> None:
    """They may stand in any order for ptxas; the node has the order of the ISA."""
    for written, name in (
        ("ld.global.u32.ca %r1, [%rd2];", "ld.global.ca.u32"),
        ("ld.u32.global %r1, [%rd2];", "ld.global.u32"),
        ("atom.global.u32.add %r1, [%rd2], 1;", "atom.global.add.u32"),
        ("setp.u32.lt %p1, %r1, %r2;", "setp.lt.u32"),
        ("cvt.rn.f16x2.e4m3x2 %r1, %h1;", "cvt.rn.f16x2.e4m3x2"),
    ):
        assert parse(f"{HEADER}.entry k() {{ {written} }}").function("k").body[0].name == name


def test_addresses_of_32_bits_are_refused() -> None:
    """No device of today has them; the message names the line."""
    with pytest.raises(PtxSyntaxError, match="PTX line 3: only addresses of 64 bits are read"):
        parse(".version 9.0\n.target sm_80\n.address_size 32\n")
