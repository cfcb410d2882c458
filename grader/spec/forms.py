"""The forms that an assignment file can have, one for each kind of submission."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grader.spec import program_rubric, rubric, structure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from grader.spec.document import Plain


@dataclass(frozen=True, slots=True)
class Form:
    """What a file of one kind consists of.

    ``parts`` are its mappings by what stands before their keys in the path of an error: the key of the
    mapping, that of the list they are in, or the tag of the union they were read as. ``case`` and ``item``
    are pydantic's annotations, which are no types to mypy.
    """

    kind: str
    file: type[structure.KernelFile | structure.ProgramFile]
    case: Any
    item: Any
    checks: Mapping[str, type[BaseModel]]
    parts: Mapping[str, type[BaseModel]] = field(default_factory=dict)

    def part(self, name: str) -> type[BaseModel] | None:
        """The mapping of this name, an item's check included."""
        return self.parts.get(name) or self.checks.get(name)


KERNEL = Form(
    kind="kernel",
    file=structure.KernelFile,
    case=structure.AnyCase,
    item=rubric.AnyItem,
    checks={
        "compile": rubric.CompileItem,
        "output": rubric.OutputItem,
        "races": rubric.RacesItem,
        "memory": rubric.MemoryItem,
        "traffic": rubric.TrafficItem,
        "speedup": rubric.SpeedupItem,
    },
    parts={
        "": structure.KernelFile,
        "submission": structure.KernelPart,
        "launch": structure.LaunchPart,
        "constants": structure.ConstantPart,
        "cases": structure.RandomCases,
        structure.FIXED: structure.FixedCase,
        structure.RANDOM: structure.RandomCases,
        "timing": structure.TimingPart,
        "steps": rubric.StepPart,
    },
)
PROGRAM = Form(
    kind="program",
    file=structure.ProgramFile,
    case=structure.ProgramCase,
    item=program_rubric.AnyProgramItem,
    checks={
        "compile": rubric.CompileItem,
        "exit": program_rubric.ExitItem,
        "text": program_rubric.TextItem,
        "array": program_rubric.ArrayItem,
    },
    parts={
        "": structure.ProgramFile,
        "submission": structure.ProgramPart,
        "cases": structure.ProgramCase,
        "numbers": program_rubric.NumberPart,
    },
)


def form_of(data: Plain) -> Form:
    """The form that a file says it has; that of a kernel where it does not say."""
    submission = data.get("submission") if isinstance(data, dict) else None
    kind = submission.get("kind") if isinstance(submission, dict) else None
    return PROGRAM if kind == PROGRAM.kind else KERNEL


def other(form: Form) -> Form:
    """The form that a file does not have."""
    return KERNEL if form is PROGRAM else PROGRAM
