"""Each form that the emulator leaves out is refused, and is listed in the README."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.simulation.emulator.instructions import OPCODES as INTERPRETED
from grader.simulation.ptx import parse
from tests.simulation.emulator import forms
from tests.simulation.emulator.test_forms import refusals
from tests.simulation.emulator.uninterpreted import FORMS, OPCODES, in_readme, section

ISA = (Path(__file__).parent / "opcodes.txt").read_text().split()
"""All opcodes of PTX 9.0."""


def test_every_opcode_is_interpreted_or_left_out() -> None:
    """One or the other, and none is forgotten."""
    left_out = [opcode for names in OPCODES.values() for opcode in names.split()]
    assert sorted([*INTERPRETED, *left_out]) == sorted(ISA)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_that_is_left_out_is_refused(form: str) -> None:
    """By its name: as soon as one is interpreted, it has to leave the list."""
    text = forms.kernel("ret").replace("    ret;\n$END", f"    .reg .b128 %b128a;\n    {form};\n$END")
    messages = refusals(parse(text))
    assert messages, (
        f"`{form}` is interpreted: take it off FORMS in tests/simulation/emulator/uninterpreted.py"
    )
    assert form.split(" ", maxsplit=1)[0] in messages[0]


def test_the_readme_lists_what_is_left_out() -> None:
    """Word for word; `python -m tests.simulation.emulator.uninterpreted` prints what belongs there."""
    assert in_readme().strip() == section().strip()
