"""An assignment file, read as far as it can be read.

One wrong key must not hide what else is wrong: each part that is sound by itself is kept, so that it can
be checked against the others, and pydantic's errors about the others become flaws in words of the format.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import TypeAdapter, ValidationError

from grader.base.records import frozen
from grader.base.text import suggestion
from grader.grading.assignment.document import Flaw
from grader.grading.assignment.fields import Identifier, TextsName
from grader.grading.assignment.questions import AnswersFile, AnswersPart, QuestionPart, SettingPart
from grader.grading.assignment.schema import FileKind, file_kind_of, other_kinds
from grader.grading.assignment.structure import (
    ConstantPart,
    FixedCase,
    FunctionFile,
    FunctionPart,
    KernelFile,
    KernelPart,
    ProgramCase,
    ProgramFile,
    ProgramPart,
    RandomCases,
    TimingPart,
)

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

    from grader.grading.assignment.document import Plain
    from grader.grading.assignment.rubric import ItemPart
    from grader.grading.assignment.schema import FileKind

AnyCasePart: TypeAlias = FixedCase | RandomCases | ProgramCase


@frozen
class Draft:
    """The sound parts of an assignment file; ``None`` stands where one is not.

    ``item_ids`` are the ids of all rubric items, sound or not, and ``None`` where one has none. ``whole`` is
    the file itself if nothing is wrong with any part.
    """

    whole: KernelFile | ProgramFile | FunctionFile | AnswersFile | None
    id: str | None
    reference: str | None
    submission: KernelPart | ProgramPart | FunctionPart | AnswersPart | None
    cases: tuple[AnyCasePart | None, ...]
    timing: TimingPart | None
    has_timing: bool
    rubric: tuple[ItemPart | None, ...]
    item_ids: frozenset[str] | None
    settings: dict[str, SettingPart | None] = field(default_factory=dict)
    questions: tuple[QuestionPart | None, ...] = ()
    feedback: str | None = None


def read_draft(data: Plain) -> tuple[Draft, list[Flaw]]:
    """The draft, and all that is wrong with its single parts."""
    file_kind = file_kind_of(data)
    try:
        whole = file_kind.file.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    else:
        return _complete(whole), []
    for detail in errors:
        if detail["type"] == "extra_forbidden":
            _prune(data, detail["loc"])
        elif detail["loc"][:1] == ("rubric",) and detail["type"] != "missing":
            _prune(data, detail["loc"][:4])  # the list, the place in it, the check and the key
    draft = _partial(data if isinstance(data, dict) else {}, file_kind)
    return draft, [explained(detail, file_kind) for detail in errors]


def _complete(whole: KernelFile | ProgramFile | FunctionFile | AnswersFile) -> Draft:
    timing = whole.timing if isinstance(whole, KernelFile | FunctionFile) else None
    return Draft(
        whole=whole,
        id=whole.id,
        reference=None if isinstance(whole, AnswersFile) else whole.reference,
        submission=whole.submission,
        cases=() if isinstance(whole, AnswersFile) else tuple(whole.cases),
        timing=timing,
        has_timing=timing is not None,
        rubric=tuple(whole.rubric),
        item_ids=frozenset(item.id for item in whole.rubric),
        settings=dict(whole.settings) if isinstance(whole, AnswersFile) else {},
        questions=tuple(whole.questions) if isinstance(whole, AnswersFile) else (),
        feedback=whole.feedback,
    )


def _partial(data: dict[str, Any], file_kind: FileKind) -> Draft:
    items = _list(data.get("rubric"))
    return Draft(
        whole=None,
        id=_sound(Identifier, data.get("id")),
        reference=_sound(Identifier, data.get("reference")),
        submission=_sound(file_kind.parts["submission"], data.get("submission")),
        cases=tuple(_sound(file_kind.case, case) for case in _list(data.get("cases")) if file_kind.case),
        timing=_sound(TimingPart, data.get("timing")),
        has_timing="timing" in data,
        rubric=tuple(_sound(file_kind.item, item) for item in items),
        item_ids=_all_ids(items),
        settings=_settings(data.get("settings")),
        questions=tuple(_sound(QuestionPart, question) for question in _list(data.get("questions"))),
        feedback=_sound(TextsName, data.get("feedback")),
    )


def _settings(data: object) -> dict[str, SettingPart | None]:
    settings = data if isinstance(data, dict) else {}
    return {name: _sound(SettingPart, setting) for name, setting in settings.items()}


def _sound(kind: Any, data: object) -> Any:  # noqa: ANN401 - pydantic's annotations are no types to mypy
    try:
        return _validator(kind).validate_python(data)
    except ValidationError:
        return None


@cache
def _validator(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - see above
    """Validator of such a part: to make it takes longer than to read with it."""
    return TypeAdapter(kind)


def _all_ids(items: list[Any]) -> frozenset[str] | None:
    ids = [item.get("id") if isinstance(item, dict) else None for item in items]
    return frozenset(map(str, ids)) if None not in ids else None


def _list(data: object) -> list[Any]:
    return data if isinstance(data, list) else []


def _prune(data: Any, path: tuple[Any, ...]) -> None:  # noqa: ANN401 - whatever was in the file
    """Take the key at the end of ``path`` out; steps that the data does not have are union tags."""
    for step in path[:-1]:
        if isinstance(data, list) or step in data:
            data = data[step]
    if isinstance(data, dict):
        data.pop(path[-1], None)


# --- what is wrong, in words of the format -----------------------------------------------------------

_EXPECTED_KINDS = {
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "list_type": "a list",
}


def explained(error: ErrorDetails, file_kind: FileKind) -> Flaw:
    """One of pydantic's errors about a file of this form, explained."""
    path = tuple(step for step in error["loc"] if step != "[key]")
    context: dict[str, Any] = error.get("ctx") or {}
    match error["type"]:
        case "extra_forbidden":
            flaw = Flaw(path, _unknown_key(path, file_kind), at_key=True)
        case "missing":
            flaw = Flaw(path[:-1], f"expected a key `{path[-1]}`, which is missing")
        case "of_one_key":
            flaw = Flaw((*path, context["key"]), context["text"])
        case "value_error":
            flaw = Flaw(path, str(context["error"]), at_key=error["loc"][-1] == "[key]")
        case "union_tag_not_found":
            flaw = Flaw(path, f"expected a key `check`, which is missing; {suggestion('', file_kind.checks)}")
        case "union_tag_invalid":
            flaw = Flaw((*path, "check"), _unknown_check(str(context["tag"]), file_kind))
        case kind:
            flaw = Flaw(path, _expectation(kind, error["input"], context))
    return flaw


def _unknown_check(check: str, file_kind: FileKind) -> str:
    for other in other_kinds(file_kind):
        if check in other.checks:
            names = ", ".join(file_kind.checks)
            looks = other.kind if other.kind.endswith("s") else f"a {other.kind}"
            return f"`{check}` looks at {looks}; for a {file_kind.kind} expected one of {names}"
    return f"unknown check `{check}`; {suggestion(check, file_kind.checks)}"


def _unknown_key(path: tuple[str | int, ...], file_kind: FileKind) -> str:
    """A key that the mapping does not have; one that it has in files of the other form is named as such."""
    key, names = str(path[-1]), _keys_of(_mapping_at(path, file_kind))
    for other in other_kinds(file_kind):
        part = _mapping_at(path, other)
        if part is not None and key in _keys_of(part):
            return f"`{key}` is for submissions of kind `{other.kind}`; expected one of {', '.join(names)}"
    return f"unknown key `{key}`; {suggestion(key, names)}"


def _mapping_at(path: tuple[str | int, ...], file_kind: FileKind) -> type[BaseModel] | None:
    """The mapping that the last step of a path is a key of; in a list it goes by the list's name."""
    names = [str(step) for step in path[:-1] if not isinstance(step, int)] or [""]
    if names[0] == "cases" and names[-1] != "cases" and file_kind.part(names[-1]) is None:
        return file_kind.part("cases")  # a tag that only the other form has
    return (
        file_kind.part(".".join(names[-2:]))
        or file_kind.part(names[-1])
        or (ConstantPart if "constants" in names else None)
        or (file_kind.part("settings") if "settings" in names else None)
    )


def _keys_of(part: type[BaseModel] | None) -> list[str]:
    fields = part.model_fields if part else {}
    return [field.alias or name for name, field in fields.items()]


def _expectation(kind: str, value: object, context: dict[str, Any]) -> str:
    if kind in ("enum", "literal_error"):
        words = re.findall(r"'([^']*)'", str(context["expected"]))
        if not isinstance(value, str):
            return f"expected one of {', '.join(words)}"
        return f"`{value}` means nothing here; {suggestion(value, words)}"
    if kind == "too_short":
        return "expected at least one entry"
    if kind == "too_long":
        return f"expected at most {context['max_length']} entries"
    return f"expected {_EXPECTED_KINDS[kind]}"
