"""The sound assignment file → the frozen records of `grader.model`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.arithmetic import Name
from grader.model import Assignment, CasePlan, Constant, KernelInterface, Parameter, RubricItem, TimingPlan
from grader.spec.rubric import CasesItemPart
from grader.spec.structure import SOLUTION, RandomCases

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from grader.spec.draft import CasePart, ItemPart
    from grader.spec.fields import Declaration
    from grader.spec.structure import AssignmentFile, SubmissionPart, TimingPart

_TITLES = {
    "compile": "compiles",
    "output": "right answers",
    "races": "no races",
    "memory": "memory accesses",
    "traffic": "memory traffic",
    "speedup": "speed",
}


def assignment(
    file: AssignmentFile,
    headers: tuple[tuple[str, bytes], ...],
    kernels: Collection[str],
    folder: Path,
    digest: str,
) -> Assignment:
    """The record of a sound file; ``headers`` are UTF-8, ``kernels`` those of the reference."""
    return Assignment(
        id=file.id,
        title=file.title,
        reference=file.reference,
        interface=_interface(file.submission, headers),
        cases=tuple(map(_plan, file.cases)),
        rubric=tuple(map(_item, file.rubric)),
        timing=_timing(file.timing, kernels) if file.timing else None,
        path=folder,
        digest=digest,
    )


def _interface(part: SubmissionPart, headers: tuple[tuple[str, bytes], ...]) -> KernelInterface:
    return KernelInterface(
        kernel=part.kernel,
        parameters=tuple(_parameter(name, declared) for name, declared in part.parameters.items()),
        constants=tuple(Constant(name, c.default, tuple(c.aliases)) for name, c in part.constants.items()),
        block=tuple(part.launch.block),
        grid=tuple(part.launch.grid),
        shared=part.launch.shared,
        include=tuple((name, content.decode()) for name, content in headers),
    )


def _parameter(name: str, declared: Declaration) -> Parameter:
    value = (declared.value or Name(name)) if declared.direction == "value" else None
    return Parameter(name, declared.direction, declared.dtype, declared.extents, value)


def _plan(part: CasePart) -> CasePlan:
    if isinstance(part, RandomCases):
        shape, draws = tuple(part.shape.items()), part.random
    else:
        shape, draws = tuple((name, (value, value)) for name, value in part.shape.items()), 0
    return CasePlan(part.id, shape, tuple(part.tags), part.visibility, part.inputs, draws, part.offset)


def _timing(part: TimingPart, kernels: Collection[str]) -> TimingPlan:
    solution = part.solution or (SOLUTION if SOLUTION in kernels else "")
    return TimingPlan(tuple(part.shape.items()), part.baseline, solution, part.inputs, part.budget)


def _item(part: ItemPart) -> RubricItem:
    cases, partial = (part.cases, part.partial) if isinstance(part, CasesItemPart) else ([], None)
    return RubricItem(
        id=part.id,
        title=part.title or f"{part.id.replace('-', ' ')}: {_TITLES[part.check]}",
        points=part.points,
        check=part.check,
        cases=tuple(cases),
        needs=tuple(part.needs),
        partial=partial or "",
        visibility=part.visibility,
        hint=part.hint,
        options=part.options(),
    )
