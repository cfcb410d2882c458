"""A build of whatever an assignment asks for, which always gives a record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.errors import OurError
from grader.model import AnswersInterface, Build, ProgramInterface
from grader.nvcc.program import build_program
from grader.nvcc.stage import build

if TYPE_CHECKING:
    from grader.model import KernelInterface, Named, Submission
    from grader.nvcc.toolchain import Tools


def build_with(
    tools: Tools | None,
    submission: Submission,
    interface: KernelInterface | ProgramInterface | AnswersInterface,
    architecture: str = "",
) -> Build:
    """Build a submission; a failure of ours is in the record's ``error`` instead of raised.

    All kernels that an assignment asks for have to be there: the first one that is not is told of.
    ``architecture`` is that of the GPU which a program is built for, empty where there is none.
    """
    if isinstance(interface, AnswersInterface):
        return Build(ok=True)  # there is nothing to build
    if tools is None:
        return Build(ok=False, error="there is no compiler to build it with")
    if isinstance(interface, ProgramInterface):
        return build_program(tools, submission, interface, architecture)
    built = _one_kernel(tools, submission, interface)
    others: list[tuple[str, Build]] = []
    asked = (interface.kernel, *interface.others)
    for name in interface.others if built.ok else ():
        beside = tuple(each for each in asked if each != name)
        other = _one_kernel(tools, submission, replace(interface, kernel=name, others=beside))
        if not other.ok:
            return other
        others.append((name, other))
    return replace(built, others=tuple(others)) if others else built


def build_at(
    tools: Tools, submission: Submission, interface: KernelInterface, kernel: str, shape: Named[int]
) -> Build:
    """Build one ``kernel`` with those sizes of a ``shape`` that the file writes down as macros."""
    names = {name for name, _ in interface.sizes}
    given = tuple((name, size) for name, size in shape if name in names)
    return _one_kernel(tools, submission, replace(interface, kernel=kernel, others=(), given=given))


def _one_kernel(tools: Tools, submission: Submission, interface: KernelInterface) -> Build:
    try:
        return build(
            submission,
            interface,
            sandbox=tools.sandbox,
            toolchain=tools.toolchain,
            cache=tools.cache,
        )
    except OurError as problem:
        return Build(ok=False, error=str(problem))
