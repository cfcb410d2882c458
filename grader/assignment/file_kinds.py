"""The forms that an assignment file can have, one for each kind of submission."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grader.assignment import questions, rubric, structure, vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from grader.assignment.document import Plain


@dataclass(frozen=True, slots=True)
class FileKind:
    """What a file of one kind consists of.

    ``parts`` are its mappings by what stands before their keys in the path of an error: the key of the
    mapping, that of the list they are in, or the tag of the union they were read as; with the name
    before that where it takes both. ``case`` and ``item`` are pydantic's annotations, no types to mypy.
    """

    kind: str
    file: type[structure.KernelFile | structure.ProgramFile | questions.AnswersFile]
    case: Any
    item: Any
    checks: Mapping[str, type[BaseModel]]
    parts: Mapping[str, type[BaseModel]] = field(default_factory=dict)

    def part(self, name: str) -> type[BaseModel] | None:
        """The mapping of this name, an item's check included."""
        return self.parts.get(name) or self.checks.get(name)


KERNEL = FileKind(
    kind="kernel",
    file=structure.KernelFile,
    case=structure.AnyCase,
    item=rubric.KernelItem,
    checks=rubric.items_of("kernel"),
    parts={
        "": structure.KernelFile,
        "submission": structure.KernelPart,
        "launch": structure.LaunchPart,
        "constants": structure.ConstantPart,
        "cases": structure.RandomCases,
        structure.FIXED: structure.FixedCase,
        structure.RANDOM: structure.RandomCases,
        "timing": structure.TimingPart,
        **vocabulary.NESTED,
        "message": rubric.MessagePart,
    },
)
PROGRAM = FileKind(
    kind="program",
    file=structure.ProgramFile,
    case=structure.ProgramCase,
    item=rubric.ProgramItem,
    checks=rubric.items_of("program"),
    parts={
        "": structure.ProgramFile,
        "submission": structure.ProgramPart,
        "cases": structure.ProgramCase,
        **vocabulary.NESTED,
        "message": rubric.MessagePart,
    },
)
ANSWERS = FileKind(
    kind="answers",
    file=questions.AnswersFile,
    case=None,
    item=rubric.AnswersItem,
    checks=rubric.items_of("answers"),
    parts={
        "": questions.AnswersFile,
        "submission": questions.AnswersPart,
        "settings": questions.SettingPart,
        "questions": questions.QuestionPart,
        "rubric": rubric.ITEMS["answers"],
        "message": rubric.MessagePart,
    },
)
FILE_KINDS = (KERNEL, PROGRAM, ANSWERS)


def file_kind_of(data: Plain) -> FileKind:
    """The form that a file says it has; that of a kernel where it does not say."""
    submission = data.get("submission") if isinstance(data, dict) else None
    kind = submission.get("kind") if isinstance(submission, dict) else None
    return next((form for form in FILE_KINDS if form.kind == kind), KERNEL)


def others(form: FileKind) -> tuple[FileKind, ...]:
    """The forms that a file does not have."""
    return tuple(known for known in FILE_KINDS if known is not form)
