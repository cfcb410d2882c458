"""What pydantic found → flaws in words of the assignment format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from grader.assignment import file_kinds, structure
from grader.assignment.document import Flaw
from grader.assignment.fields import suggestion

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

    from grader.assignment.file_kinds import FileKind

_EXPECTED = {
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "list_type": "a list",
}


def flaw(error: ErrorDetails, form: FileKind) -> Flaw:
    """One of pydantic's errors about a file of this form, explained."""
    path = tuple(step for step in error["loc"] if step != "[key]")
    context: dict[str, Any] = error.get("ctx") or {}
    match error["type"]:
        case "extra_forbidden":
            found = Flaw(path, _unknown_key(path, form), at_key=True)
        case "missing":
            found = Flaw(path[:-1], f"expected a key `{path[-1]}`, which is missing")
        case "of_one_key":
            found = Flaw((*path, context["key"]), context["text"])
        case "value_error":
            found = Flaw(path, str(context["error"]), at_key=error["loc"][-1] == "[key]")
        case "union_tag_not_found":
            found = Flaw(path, f"expected a key `check`, which is missing; {suggestion('', form.checks)}")
        case "union_tag_invalid":
            found = Flaw((*path, "check"), _unknown_check(str(context["tag"]), form))
        case kind:
            found = Flaw(path, _expectation(kind, error["input"], context))
    return found


def _unknown_check(check: str, form: FileKind) -> str:
    for other in file_kinds.others(form):
        if check in other.checks:
            known = ", ".join(form.checks)
            looks = other.kind if other.kind.endswith("s") else f"a {other.kind}"
            return f"`{check}` looks at {looks}; for a {form.kind} expected one of {known}"
    return f"unknown check `{check}`; {suggestion(check, form.checks)}"


def _unknown_key(path: tuple[str | int, ...], form: FileKind) -> str:
    """A key that the mapping does not have; one that it has in files of the other form is named as such."""
    key, known = str(path[-1]), _keys(_part(path, form))
    for other in file_kinds.others(form):
        part = _part(path, other)
        if part is not None and key in _keys(part):
            return f"`{key}` is for submissions of kind `{other.kind}`; expected one of {', '.join(known)}"
    return f"unknown key `{key}`; {suggestion(key, known)}"


def _part(path: tuple[str | int, ...], form: FileKind) -> type[BaseModel] | None:
    """The mapping that the last step of a path is a key of; in a list it goes by the list's name."""
    names = [str(step) for step in path[:-1] if not isinstance(step, int)] or [""]
    if names[0] == "cases" and names[-1] != "cases" and form.part(names[-1]) is None:
        return form.part("cases")  # a tag that only the other form has
    return (
        form.part(".".join(names[-2:]))
        or form.part(names[-1])
        or (structure.ConstantPart if "constants" in names else None)
        or (form.part("settings") if "settings" in names else None)
    )


def _keys(part: type[BaseModel] | None) -> list[str]:
    fields = part.model_fields if part else {}
    return [field.alias or name for name, field in fields.items()]


def _expectation(kind: str, found: object, context: dict[str, Any]) -> str:
    if kind in ("enum", "literal_error"):
        words = re.findall(r"'([^']*)'", str(context["expected"]))
        if not isinstance(found, str):
            return f"expected one of {', '.join(words)}"
        return f"`{found}` means nothing here; {suggestion(found, words)}"
    if kind == "too_short":
        return "expected at least one entry"
    if kind == "too_long":
        return f"expected at most {context['max_length']} entries"
    return f"expected {_EXPECTED[kind]}"
