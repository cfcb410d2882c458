"""Listings of nvdisasm are read: real ones of each architecture, and every form of operand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.simulation.sass.listing import (
    NO_SCOREBOARD,
    Integer,
    Label,
    Operand,
    Real,
    SassAddress,
    SassConstant,
    SassName,
    SassRegister,
    UnknownCodeError,
    read_listing,
)
from tests.simulation.sass.rows import read, text

FOLDER = Path(__file__).parent / "listings"
ARCHITECTURES = (75, 80, 89, 90)


def golden(architecture: int) -> str:
    """The output of nvdisasm for `forms.cu`."""
    return (FOLDER / f"forms.sm_{architecture}.txt").read_text("utf-8")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_real_listing_is_read_whole(architecture: int) -> None:
    """Every instruction with its line, and jumps that lead to instructions."""
    content = golden(architecture)
    code = read_listing(content, "forms").instructions
    assert len(code) == len(re.findall(r"(?m)^\s+/\*[0-9a-f]{4,}\*/", content))
    labels = [operand for each in code for operand in each.operands if isinstance(operand, Label)]
    assert labels
    assert all(0 <= label.target <= len(code) for label in labels)
    lines = {each.line for each in code}
    assert {6, 7, 8, 9, 12, 13} <= lines
    assert max(lines) <= 14
    opcodes = {each.opcode for each in code}
    assert {"BAR", "BSSY", "BSYNC", "CALL", "RET", "FCHK", "MUFU", "DFMA", "STG", "LDS"} <= opcodes


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_load_sets_the_scoreboard_that_its_first_reader_waits_for(architecture: int) -> None:
    """The control codes of the real listings, from their upper words."""
    code = read_listing(golden(architecture), "forms").instructions
    at = next(number for number, each in enumerate(code) if each.opcode == "LDG")
    target = code[at].operands[0]
    assert isinstance(target, SassRegister)
    assert code[at].control.sets != NO_SCOREBOARD
    reader = next(each for each in code[at + 1 :] if target in each.operands)
    between = code[at + 1 : code.index(reader) + 1]
    assert any(code[at].control.sets in each.control.waits for each in between)
    assert all(0 <= each.control.stall < 16 for each in code)


FORMS: dict[str, Operand] = {
    "R12": SassRegister("R", 12),
    "RZ": SassRegister("R", -1),
    "UR4": SassRegister("UR", 4),
    "URZ": SassRegister("UR", -1),
    "P3": SassRegister("P", 3),
    "!PT": SassRegister("P", -1, inverted=True),
    "!UP2": SassRegister("UP", 2, inverted=True),
    "UPT": SassRegister("UP", -1),
    "B0": SassRegister("B", 0),
    "-R7": SassRegister("R", 7, negated=True),
    "~R7": SassRegister("R", 7, inverted=True),
    "|R7|": SassRegister("R", 7, absolute=True),
    "-|R7|": SassRegister("R", 7, negated=True, absolute=True),
    "|R7|.reuse": SassRegister("R", 7, absolute=True),
    "R3.reuse.H1_H1": SassRegister("R", 3, suffixes=("H1_H1",)),
    "R5.B1": SassRegister("R", 5, suffixes=("B1",)),
    "0x1f": Integer(31),
    "-0x40800000": Integer(-0x40800000),
    "-3": Real(-3.0),
    "1.5": Real(1.5),
    "1": Real(1.0),
    "+INF": Real(float("inf")),
    "c[0x0][0x160]": SassConstant(0, 0x160),
    "-c[0x0][0x160]": SassConstant(0, 0x160, negated=True),
    "|c[0x3][0x8]|": SassConstant(3, 8, absolute=True),
    "c[0x3][R7+0x4]": SassConstant(3, 4, SassRegister("R", 7)),
    "c[0x3][UR6]": SassConstant(3, 0, SassRegister("UR", 6)),
    "[R6]": SassAddress((SassRegister("R", 6),), 0),
    "[R6.64+0x14]": SassAddress((SassRegister("R", 6, suffixes=("64",)),), 0x14),
    "[R6+-0x8]": SassAddress((SassRegister("R", 6),), -8),
    "[R6.X4+UR4+0x10]": SassAddress((SassRegister("R", 6, suffixes=("X4",)), SassRegister("UR", 4)), 0x10),
    "desc[UR8][R8.64]": SassAddress((SassRegister("R", 8, suffixes=("64",)),), 0),
    "[0x20]": SassAddress((), 0x20),
    "SR_TID.X": SassName("SR_TID.X"),
    "`(.L_1)": Label(1),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_operand_is_read(form: str) -> None:
    """Of each form, between others."""
    code = read(f"ANY.MODIFIER R0, {form}, R1", ".L_1:")
    assert code[0].operands == (SassRegister("R", 0), FORMS[form], SassRegister("R", 1))
    assert (code[0].opcode, code[0].modifiers) == ("ANY", ("MODIFIER",))


@pytest.mark.parametrize(
    ("row", "guard"),
    [
        ("@P0 EXIT", SassRegister("P", 0)),
        ("@!P6 EXIT", SassRegister("P", 6, inverted=True)),
        ("@!UP1 EXIT", SassRegister("UP", 1, inverted=True)),
        ("EXIT", None),
    ],
)
def test_a_guard_is_read(row: str, guard: SassRegister | None) -> None:
    """The predicate in front of an instruction."""
    assert read(row)[0].guard == guard


def test_what_a_return_is_relative_to_is_an_operand_of_its_own() -> None:
    """Only a space stands between the two."""
    code = read("RET.REL.NODEC R4 `(.text.k)")
    assert code[0].operands == (SassRegister("R", 4), Label(0))


@pytest.mark.parametrize("row", ["ADD R0, [R1*R2]", "ADD R0, c[x][0x4]", "? R1"])
def test_what_cannot_be_read_is_named(row: str) -> None:
    """An operand, or a whole row."""
    with pytest.raises(UnknownCodeError) as caught:
        read(row)
    assert caught.value.opcode in row


def test_a_kernel_that_is_not_there_is_named() -> None:
    """By its own name."""
    with pytest.raises(UnknownCodeError, match="other"):
        read_listing(text("EXIT"), "other")
