"""The forms that an assignment file can have, one for each kind of submission, and their JSON Schema.

The schema is for editors that complete and check while one types; `assignments/schema.json` holds it. After a
change to the keys of `structure` or of a rubric, write it again:

    python -m grader.grading.assignment.schema > assignments/schema.json
"""

from __future__ import annotations

import sys
from dataclasses import field
from typing import TYPE_CHECKING, Any

from grader.base.json_rows import rows
from grader.base.records import frozen
from grader.grading.assignment import questions, rubric, structure
from grader.grading.assignment.rubric import NESTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from grader.grading.assignment.document import Plain


@frozen
class FileKind:
    """Forms of the parts of a file of one kind.

    ``parts`` are its mappings by what stands before their keys in the path of an error: the key of the
    mapping, that of the list they are in, or the tag of the union they were read as; with the name
    before that where it takes both. ``case`` and ``item`` are pydantic's annotations, no types to mypy.
    """

    kind: str
    file: type[structure.KernelFile | structure.ProgramFile | structure.FunctionFile | questions.AnswersFile]
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
        **NESTED,
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
        **NESTED,
        "message": rubric.MessagePart,
    },
)
FUNCTION = FileKind(
    kind="function",
    file=structure.FunctionFile,
    case=structure.AnyCase,
    item=rubric.FunctionItem,
    checks=rubric.items_of("function"),
    parts={
        "": structure.FunctionFile,
        "submission": structure.FunctionPart,
        "cases": structure.RandomCases,
        structure.FIXED: structure.FixedCase,
        structure.RANDOM: structure.RandomCases,
        "timing": structure.TimingPart,
        **NESTED,
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
FILE_KINDS = (KERNEL, PROGRAM, FUNCTION, ANSWERS)


def file_kind_of(data: Plain) -> FileKind:
    """The form that a file says it has; that of a kernel where it does not say."""
    submission = data.get("submission") if isinstance(data, dict) else None
    kind = submission.get("kind") if isinstance(submission, dict) else None
    return next((file_kind for file_kind in FILE_KINDS if file_kind.kind == kind), KERNEL)


def other_kinds(file_kind: FileKind) -> tuple[FileKind, ...]:
    """The forms that a file does not have."""
    return tuple(kind for kind in FILE_KINDS if kind is not file_kind)


def json_schema() -> dict[str, Any]:
    """The schema of ``assignment.yaml`` (JSON Schema, draft 2020-12).

    It asks for the kind of submission first, so that an editor complains about what the file is meant to be.
    """
    # A reader of assignments needs the forms, and not the code that makes schemas of them.
    from pydantic.json_schema import models_json_schema  # noqa: PLC0415

    schemas, parts = models_json_schema([(file_kind.file, "validation") for file_kind in FILE_KINDS])
    chosen: dict[str, Any] = schemas[KERNEL.file, "validation"]
    for file_kind in (file_kind for file_kind in reversed(FILE_KINDS) if file_kind is not KERNEL):
        chosen = {"if": _is_of(file_kind), "then": schemas[file_kind.file, "validation"], "else": chosen}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "assignment.yaml",
        "type": "object",
        **chosen,
        **parts,
    }


def _is_of(file_kind: FileKind) -> dict[str, Any]:
    """Schema that holds for a file that says it is of this form."""
    kind = {"properties": {"kind": {"const": file_kind.kind}}, "required": ["kind"]}
    return {"properties": {"submission": kind}, "required": ["submission"]}


def main() -> None:
    """Print the schema as it is kept beside the assignments."""
    sys.stdout.write(rows(json_schema()) + "\n")


if __name__ == "__main__":
    main()
