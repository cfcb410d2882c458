"""No form that course kernels need is refused, and a form that is refused is reported."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from grader.model import Argument, Launch
from grader.simulation.emulator.linking.linker import link_function
from grader.simulation.emulator.linking.program import Program
from grader.simulation.emulator.memory.layout import lay_out
from grader.simulation.ptx import Module, parse
from tests.simulation.emulator import forms
from tests.simulation.emulator.nvcc import HAZARDS, compile_one

HERE = Path(__file__).parent
FORMS = (HERE / "forms.txt").read_text().split()
"""Instructions that nvcc emits for many course and benchmark kernels, with its default optimisation."""

REFUSED: dict[str, str] = {}
"""Forms of that list that the emulator does not interpret, each with the reason."""


def refusals(module: Module) -> list[str]:
    """Every instruction of a module that would be refused if a lane came to it."""
    found: list[str] = []
    for function in module.functions:
        if function.defined:
            passed = tuple(Argument(p.name, "value", np.void(bytes(p.size))) for p in function.parameters)
            layout = lay_out(module, function, Launch((1, 1, 1), (32, 1, 1)), passed, track=False)
            program = Program(module, layout.addresses, link_function)
            program.link(function.name)
            found += map(str, program.refused)
    return found


def test_the_list_is_whole() -> None:
    """Each form once."""
    assert len(FORMS) == len(set(FORMS)) == 296


@pytest.mark.parametrize("form", FORMS)
def test_every_form_that_course_kernels_need_is_interpreted(form: str) -> None:
    """It links, except where there is a reason."""
    found = refusals(parse(forms.kernel(form)))
    assert bool(found) == (form in REFUSED), found


def test_a_form_that_does_not_exist_is_refused() -> None:
    """So that the tests above can fail."""
    assert refusals(parse(forms.kernel("add.f32").replace("add.f32", "add.odd.f32")))


@cache
def _feature(file: str, *options: str) -> Module:
    return compile_one((HERE / "features" / file).read_text(), options, file)


@pytest.mark.slow
@pytest.mark.parametrize("device", [75, 80, 90])
@pytest.mark.parametrize("options", [(), HAZARDS], ids=["default", "hazards"])
@pytest.mark.parametrize("file", sorted(path.name for path in (HERE / "features").glob("*.cu")))
def test_no_instruction_of_a_feature_is_refused(file: str, options: tuple[str, ...], device: int) -> None:
    """Not even in functions of headers that no kernel calls."""
    assert refusals(_feature(file, f"-arch=compute_{device}", *options)) == []


def test_what_is_refused_names_instruction_and_lines() -> None:
    """The PTX line and, with line information, that of the source."""
    source = 'extern "C" __global__ void kernel(int n, int *out) {\n'
    source += "  int *p = (int *)alloca(n);\n  *out = p[0];\n}\n"
    (refusal,) = refusals(compile_one(source))
    assert "`alloca.u64`" in refusal
    assert "from kernel.cu:2)" in refusal
