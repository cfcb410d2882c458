"""The outcome of instructions that cannot be linked: our limit, or our bug."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.base.errors import UnsupportedPtx
from grader.model import Launch
from grader.simulation.emulator.instructions import TABLE
from grader.simulation.emulator.launch import run
from grader.simulation.ptx import parse
from tests.simulation.emulator import forms

if TYPE_CHECKING:
    from grader.model import Run

ONE_WARP = Launch((1, 1, 1), (32, 1, 1))


def _run(form: str) -> Run:
    """A launch of a kernel that is one instruction."""
    text = forms.kernel("ret").replace("(.param .b64 formal)", "()")
    text = text.replace("    ret;\n$END", f"    .reg .b32 %x<3>; .reg .b64 %y<3>;\n    {form};\n$END")
    return run(parse(text), "kernel", ONE_WARP, (), detect=False)


@pytest.mark.parametrize("bug", [AttributeError("no such thing"), TypeError("not that")])
def test_a_bug_in_an_instruction_is_no_missing_instruction(
    bug: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes up as it is, with the place where it happened, and becomes the verdict `error` further up."""

    def broken(*_arguments: object) -> None:
        raise bug

    monkeypatch.setitem(TABLE, ("xor", ""), broken)
    with pytest.raises(type(bug)) as caught:
        _run("xor.b32 %x0, %x1, %x2")
    assert caught.traceback[-1].name == "broken"


@pytest.mark.parametrize(
    ("form", "cause"),
    [("xor.q7 %x0, %x1, %x2", KeyError), ("wibble.b32 %x0", KeyError), ("xor.b32 %x0, %x1", ValueError)],
)
def test_a_form_that_no_chapter_knows_is_refused_with_its_cause(form: str, cause: type[Exception]) -> None:
    """The refusal names the instruction, and its cause is the exception that was raised."""
    with pytest.raises(UnsupportedPtx, match=form.split(" ", maxsplit=1)[0]) as caught:
        _run(form)
    assert isinstance(caught.value.__cause__, cause)


@pytest.mark.parametrize(
    "form",
    [
        "mul.wide.u64 %y0, %y1, %y2",
        "mad.wide.s64 %y0, %y1, %y2, %y0",
        "mov.b128 %x0, %x1",
        "add.b128 %x0, %x1, %x2",
    ],
)
def test_a_width_that_no_register_has_is_refused(form: str) -> None:
    """Products and registers of 128 bits are a limit of ours, and no bug."""
    with pytest.raises(UnsupportedPtx, match=form.split(" ", maxsplit=1)[0]):
        _run(form)
