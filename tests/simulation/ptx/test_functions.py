"""PTX of calls and of jumps through tables: aliases, lists of labels, addresses in initialisers."""

from __future__ import annotations

import pytest

from grader.base.errors import PtxSyntaxError
from grader.simulation.ptx import Immediate, Module, Register, Symbol, Tuple, parse

HEAD = ".version 8.1\n.target sm_90\n.address_size 64\n"


def _module(text: str) -> Module:
    return parse(HEAD + text)


def test_an_alias_is_the_function_under_another_name() -> None:
    """Its declaration stays one; what is called has the body."""
    module = _module(".func f() { ret; }\n.func g();\n.alias g, f;")
    assert module.function("g").body == module.function("f").body
    assert module.function("g").name == "g"


def test_an_alias_of_nothing_is_no_ptx() -> None:
    """It is refused, with a line."""
    with pytest.raises(PtxSyntaxError, match="line"):
        _module(".alias g, f;")


def test_a_list_of_branch_targets_is_kept_by_its_name() -> None:
    """And is no label of an instruction."""
    text = ".func f() { .reg .b32 %r; t: .branchtargets A, B; brx.idx %r, t; A: ret; B: ret; }"
    function = _module(text).function("f")
    assert function.targets == (("t", ("A", "B")),)
    assert function.labels == (("A", 1), ("B", 2))
    assert function.body[0].operands == (Register("%r"), Symbol("t"))


def test_a_call_through_a_pointer_has_its_prototype_last() -> None:
    """The prototype itself adds nothing to the body of the function."""
    text = (
        ".func f() { .reg .b64 %p; .param .b32 x, y;"
        "proto: .callprototype (.param .b32 _) _ (.param .b32 _); call (y), %p, (x), proto; ret; }"
    )
    (call, _) = _module(text).function("f").body
    assert call.operands == (Tuple((Symbol("y"),)), Register("%p"), Tuple((Symbol("x"),)), Symbol("proto"))


def test_a_byte_of_an_address_is_a_symbol_with_a_mask() -> None:
    """Beside whole addresses and plain numbers."""
    (variable,) = _module(".global .u8 bytes[3] = {7, 0xFF(f), 0xFF00(generic(f)+4)};").variables
    assert variable.initial == (Immediate(7), Symbol("f", mask=0xFF), Symbol("f", 4, 0xFF00))
    assert variable.ptx_line == 4


def test_a_register_may_be_declared_in_one_word() -> None:
    """As headers write it in inline assembly."""
    function = _module(".func f() { {.reg.b32 %a; .reg .b16 %b;} ret; }").function("f")
    assert function.registers == (("%a", "b32"), ("%b", "b16"))
