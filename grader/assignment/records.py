"""The sound assignment file → the frozen records of `grader.model`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.arithmetic import Name
from grader.assignment import questions
from grader.assignment.questions import AnswersFile
from grader.assignment.structure import SOLUTION, KernelFile, ProgramCase, ProgramPart, RandomCases
from grader.model import (
    AnswersInterface,
    Assignment,
    CasePlan,
    KernelInterface,
    Parameter,
    ProgramInterface,
    TimingPlan,
)

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from grader.assignment.declarations import Declaration
    from grader.assignment.draft import CasePart
    from grader.assignment.structure import KernelPart, ProgramFile, TimingPart
    from grader.model import Named

_MEBIBYTE = 2**20


def assignment(
    file: KernelFile | ProgramFile | AnswersFile,
    headers: tuple[tuple[str, bytes], ...],
    kernels: Collection[str],
    folder: Path,
    digest: str,
    reference_digest: str = "",
    feedback: Named[Named[str]] = (),
) -> Assignment:
    """The record of a sound file; ``headers`` are UTF-8, ``kernels`` those of the reference."""
    timing = file.timing if isinstance(file, KernelFile) else None
    interface, plans = _asked(file, headers)
    return Assignment(
        id=file.id,
        title=file.title,
        reference="" if isinstance(file, AnswersFile) else file.reference or "",
        interface=interface,
        cases=plans,
        rubric=tuple(item.record() for item in file.rubric),
        timing=_timing(timing, kernels) if timing else None,
        path=folder,
        digest=digest,
        reference_digest=reference_digest,
        feedback=feedback,
        advice=not isinstance(file, KernelFile) or file.advice,
    )


def _asked(
    file: KernelFile | ProgramFile | AnswersFile, headers: tuple[tuple[str, bytes], ...]
) -> tuple[KernelInterface | ProgramInterface | AnswersInterface, tuple[CasePlan, ...]]:
    """What is to be handed in, and the cases."""
    if isinstance(file, AnswersFile):
        return questions.interface(file), questions.cases(file)
    return _interface(file.submission, headers, _others(file)), tuple(map(_plan, file.cases))


def _interface(
    part: KernelPart | ProgramPart, headers: tuple[tuple[str, bytes], ...], others: tuple[str, ...]
) -> KernelInterface | ProgramInterface:
    include = tuple((name, content.decode()) for name, content in headers)
    if isinstance(part, ProgramPart):
        return ProgramInterface(include, float(part.seconds), part.memory * _MEBIBYTE)
    return KernelInterface(
        kernel=part.kernel,
        parameters=tuple(_parameter(name, declared) for name, declared in part.parameters.items()),
        constants=tuple(constant.record(name) for name, constant in part.constants.items()),
        block=tuple(part.launch.block),
        grid=tuple(part.launch.grid),
        shared=part.launch.shared,
        include=include,
        symbols=tuple(_parameter(name, declared) for name, declared in part.symbols.items()),
        inline_asm=part.inline_asm,
        others=others,
        sizes=tuple((name, tuple(names)) for name, names in part.sizes.items()),
    )


def _others(file: KernelFile | ProgramFile) -> tuple[str, ...]:
    """The kernels that cases name beside the submission's own."""
    if not isinstance(file, KernelFile):
        return ()
    named = dict.fromkeys(case.kernel for case in file.cases if case.kernel)
    return tuple(name for name in named if name != file.submission.kernel)


def _parameter(name: str, declared: Declaration) -> Parameter:
    fields = tuple(_parameter(field, form) for field, form in declared.fields)
    is_number = declared.direction == "value" and not fields
    value = (declared.value or Name(name)) if is_number else None
    return Parameter(name, declared.direction, declared.dtype, declared.extents, value, fields)


def _plan(part: CasePart) -> CasePlan:
    if isinstance(part, ProgramCase):
        arguments = tuple(part.arguments)
        tags = tuple(part.tags)
        return CasePlan(part.id, (), tags, part.visibility, "", arguments=arguments, stdin=part.stdin)
    if isinstance(part, RandomCases):
        shape, draws = tuple(part.shape.items()), part.random
    else:
        shape, draws = tuple((name, (value, value)) for name, value in part.shape.items()), 0
    tags = tuple(part.tags)
    return CasePlan(
        part.id, shape, tags, part.visibility, part.inputs, draws, part.offset, kernel=part.kernel
    )


def _timing(part: TimingPart, kernels: Collection[str]) -> TimingPlan:
    solution = part.solution or (SOLUTION if SOLUTION in kernels else "")
    return TimingPlan(tuple(part.shape.items()), part.baseline, solution, part.inputs, part.budget)
