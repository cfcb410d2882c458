"""An assignment file, read as far as it can be read.

One wrong key must not hide what else is wrong: each part that is sound by itself is kept, so that it can
be checked against the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import TypeAdapter, ValidationError

from grader.assignment import explain
from grader.assignment.fields import Identifier, TextsName
from grader.assignment.file_kinds import FileKind, file_kind_of
from grader.assignment.questions import AnswersFile, AnswersPart, QuestionPart, SettingPart
from grader.assignment.structure import (
    FixedCase,
    KernelFile,
    KernelPart,
    ProgramCase,
    ProgramFile,
    ProgramPart,
    RandomCases,
    TimingPart,
)

if TYPE_CHECKING:
    from grader.assignment.document import Flaw, Plain
    from grader.assignment.rubric import ItemPart

CasePart: TypeAlias = FixedCase | RandomCases | ProgramCase


@dataclass(frozen=True, slots=True)
class Draft:
    """The sound parts of an assignment file; ``None`` stands where one is not.

    ``item_ids`` are the ids of all rubric items, sound or not, and ``None`` where one has none. ``whole`` is
    the file itself if nothing is wrong with any part.
    """

    whole: KernelFile | ProgramFile | AnswersFile | None
    id: str | None
    reference: str | None
    submission: KernelPart | ProgramPart | AnswersPart | None
    cases: tuple[CasePart | None, ...]
    timing: TimingPart | None
    has_timing: bool
    rubric: tuple[ItemPart | None, ...]
    item_ids: frozenset[str] | None
    settings: dict[str, SettingPart | None] = field(default_factory=dict)
    questions: tuple[QuestionPart | None, ...] = ()
    feedback: str | None = None


def read(data: Plain) -> tuple[Draft, list[Flaw]]:
    """The draft, and all that is wrong with its single parts."""
    form = file_kind_of(data)
    try:
        whole = form.file.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    else:
        return _complete(whole), []
    for detail in errors:
        if detail["type"] == "extra_forbidden":
            _prune(data, detail["loc"])
        elif detail["loc"][:1] == ("rubric",) and detail["type"] != "missing":
            _prune(data, detail["loc"][:4])  # the list, the place in it, the check and the key
    draft = _partial(data if isinstance(data, dict) else {}, form)
    return draft, [explain.flaw(detail, form) for detail in errors]


def _complete(whole: KernelFile | ProgramFile | AnswersFile) -> Draft:
    timing = whole.timing if isinstance(whole, KernelFile) else None
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


def _partial(data: dict[str, Any], form: FileKind) -> Draft:
    items = _list(data.get("rubric"))
    return Draft(
        whole=None,
        id=_sound(Identifier, data.get("id")),
        reference=_sound(Identifier, data.get("reference")),
        submission=_sound(form.parts["submission"], data.get("submission")),
        cases=tuple(_sound(form.case, case) for case in _list(data.get("cases")) if form.case),
        timing=_sound(TimingPart, data.get("timing")),
        has_timing="timing" in data,
        rubric=tuple(_sound(form.item, item) for item in items),
        item_ids=_all_ids(items),
        settings=_settings(data.get("settings")),
        questions=tuple(_sound(QuestionPart, each) for each in _list(data.get("questions"))),
        feedback=_sound(TextsName, data.get("feedback")),
    )


def _settings(data: object) -> dict[str, SettingPart | None]:
    settings = data if isinstance(data, dict) else {}
    return {name: _sound(SettingPart, setting) for name, setting in settings.items()}


def _sound(kind: Any, data: object) -> Any:  # noqa: ANN401 - pydantic's annotations are no types to mypy
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError:
        return None


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
