"""What pydantic found → flaws in words of the assignment format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from grader.spec import rubric, structure
from grader.spec.document import Flaw
from grader.spec.fields import suggestion

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

_CHECKS: dict[str, type[BaseModel]] = {
    "compile": rubric.CompileItem,
    "output": rubric.OutputItem,
    "races": rubric.RacesItem,
    "memory": rubric.MemoryItem,
    "traffic": rubric.TrafficItem,
    "speedup": rubric.SpeedupItem,
}
# By what stands before an unknown key: the key of the mapping, or the tag of the union it was read as.
_PARTS: dict[str, type[BaseModel]] = {
    "submission": structure.SubmissionPart,
    "launch": structure.LaunchPart,
    structure.FIXED: structure.FixedCase,
    structure.RANDOM: structure.RandomCases,
    "timing": structure.TimingPart,
    **_CHECKS,
}
_EXPECTED = {
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "list_type": "a list",
}


def flaw(error: ErrorDetails) -> Flaw:
    """One of pydantic's errors, explained."""
    path = tuple(step for step in error["loc"] if step != "[key]")
    context: dict[str, Any] = error.get("ctx") or {}
    match error["type"]:
        case "extra_forbidden":
            found = Flaw(path, _unknown_key(path), at_key=True)
        case "missing":
            found = Flaw(path[:-1], f"expected a key `{path[-1]}`, which is missing")
        case "of_one_key":
            found = Flaw((*path, context["key"]), context["text"])
        case "value_error":
            found = Flaw(path, str(context["error"]), at_key=error["loc"][-1] == "[key]")
        case "union_tag_not_found":
            found = Flaw(path, f"expected a key `check`, which is missing; {suggestion('', _CHECKS)}")
        case "union_tag_invalid":
            tag = str(context["tag"])
            found = Flaw((*path, "check"), f"unknown check `{tag}`; {suggestion(tag, _CHECKS)}")
        case kind:
            found = Flaw(path, _expectation(kind, error["input"], context))
    return found


def _unknown_key(path: tuple[str | int, ...]) -> str:
    part: type[BaseModel] = structure.AssignmentFile
    if isinstance(path[-2:][0], int):  # the only lists of plain mappings
        part = rubric.StepPart
    elif len(path) > 1:
        part = _PARTS.get(str(path[-2]), structure.ConstantPart)
    return f"unknown key `{path[-1]}`; {suggestion(str(path[-1]), part.model_fields)}"


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
