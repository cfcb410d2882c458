"""The rubric of an assignment file: a mapping for each check, made of the keys that its class declares.

`VALUES` says what may stand at the keys of items, by the names that checks use for it: a check declares its
keys by these names (`grader.grading.checks.check.key`), and loads nothing of what reads YAML.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from fractions import Fraction  # noqa: TC003 - pydantic reads annotations
from functools import reduce
from inspect import get_annotations
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from grader.grading.assignment.fields import (
    Credit,
    Exact,
    Extent,
    Flag,
    FormulaText,
    Identifier,
    Identifiers,
    KernelName,
    Metric,
    Name,
    Sentence,
    Speedup,
    Whole,
)
from grader.grading.assignment.program_fields import (
    EXACTLY,
    MOST_NUMBERS,
    After,
    ArrayFile,
    Dtype,
    Lines,
    Nth,
    Number,
    Pattern,
    Status,
    Stream,
    Verbatim,
    Within,
)
from grader.grading.checks import CHECKS
from grader.grading.checks.check import REQUIRED, Check
from grader.grading.checks.host import MISTAKES
from grader.model import ExpectedNumber, RubricItem, Threshold, Visibility

if TYPE_CHECKING:
    from dataclasses import Field as CheckKey

KEYS_WE_KNOW = ConfigDict(extra="forbid", frozen=True, defer_build=True)
"""Validators are built when the first file is read, once for all mappings instead of once for each."""

MOST_STEPS = 20
"""Steps of credit."""

MOST_ARGUMENTS = 32
"""Arguments of a kernel that an item names."""


class ShareStepPart(BaseModel):
    """A share of what the baseline needs, and the share of the points that staying within it is worth."""

    model_config = KEYS_WE_KNOW
    at_most: Exact
    credit: Credit

    def record(self) -> tuple[Fraction, Fraction]:
        """The two shares."""
        return self.at_most, self.credit


class StepPart(BaseModel):
    """A speedup, and the share of the points that it is worth."""

    model_config = KEYS_WE_KNOW
    at: Speedup
    credit: Credit

    def record(self) -> tuple[Threshold, Fraction]:
        """The speedup and the share."""
        return self.at, self.credit


class RequirePart(BaseModel):
    """Parts that a kernel must have; ``false`` asks for the opposite."""

    model_config = KEYS_WE_KNOW
    uses_shared_memory: Flag | None = None
    uses_barriers: Flag | None = None
    uses_atomics: Flag | None = None
    uses_shuffles: Flag | None = None
    uses_constant_memory: Flag | None = None
    no_library_calls: Flag | None = None
    max_registers: Whole | None = None
    max_shared_bytes: Whole | None = None

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not self.record():
            listed = ", ".join(type(self).model_fields)
            raise PydanticCustomError(
                "of_one_key", "{text}", {"text": f"expected one of {listed}", "key": ""}
            )
        return self

    def record(self) -> tuple[tuple[str, int], ...]:
        """Requirements, by name."""
        return tuple((key, value) for key, value in self if value is not None)


class NumberPart(BaseModel):
    """A number that must be printed: the ``nth`` after a text."""

    model_config = KEYS_WE_KNOW
    name: Sentence
    after: After
    value: Number = Field(alias="is")
    within: Within = EXACTLY
    nth: Nth = 1

    def record(self) -> ExpectedNumber:
        """The number as checks look for it."""
        return ExpectedNumber(
            self.name, self.after, self.value, self.within.within, self.within.relative, self.nth
        )


_MISTAKE_OF_HOST: Any = Literal[MISTAKES]

VALUES: dict[str, Any] = {
    "ArrayFile": ArrayFile,
    "Dtype": Dtype,
    "Exact": Exact,
    "ExpectedNumbers": Annotated[list[NumberPart], Field(min_length=1, max_length=MOST_NUMBERS)],
    "Flag": Flag,
    "FormulaText": FormulaText,
    "HostMistakes": Annotated[list[_MISTAKE_OF_HOST], Field(min_length=1)],
    "Identifier": Identifier,
    "KernelName": KernelName,
    "Lines": Lines,
    "Metric": Metric,
    "Name": Name,
    "Names": Annotated[list[Name], Field(min_length=1, max_length=MOST_ARGUMENTS)],
    "Pattern": Pattern,
    "Requirements": RequirePart,
    "Sentence": Sentence,
    "Shape": dict[Name, Extent],
    "ShareSteps": Annotated[list[ShareStepPart], Field(min_length=1, max_length=MOST_STEPS)],
    "Speedup": Speedup,
    "SpeedupSteps": Annotated[list[StepPart], Field(min_length=1, max_length=MOST_STEPS)],
    "Status": Status,
    "Stream": Stream,
    "Verbatim": Verbatim,
    "Whole": Whole,
}
"""Name → pydantic's type. The types of numbers with a range are in `fields` and `program_fields`."""

NESTED: dict[str, type[BaseModel]] = {
    "speedup.steps": StepPart,
    "traffic.steps": ShareStepPart,
    "require": RequirePart,
    "numbers": NumberPart,
}
"""The mappings inside of items, by what stands before their keys in the path of an error."""


# --- items -------------------------------------------------------------------------------------------


class MessagePart(BaseModel):
    """The staff's own words, before ours, to those who pass an item and to those who do not."""

    model_config = KEYS_WE_KNOW
    passed: Sentence = Field("", alias="pass")
    failed: Sentence = Field("", alias="fail")


class ItemPart(BaseModel):
    """Keys that every rubric item may have."""

    model_config = KEYS_WE_KNOW
    CHECK: ClassVar[type[Check]]

    id: Identifier
    points: Exact
    title: Sentence = ""
    hint: Sentence = ""
    needs: Identifiers = []
    visibility: Visibility = Visibility.VISIBLE
    extra: Flag = False
    penalty: Flag = False
    message: MessagePart = MessagePart()

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        contradiction = self.as_check().contradiction()
        if self.extra and self.penalty:
            message = "expected either `extra` or `penalty`: points cannot be both added and taken off"
            contradiction = "penalty", message
        if contradiction:
            key, message = contradiction
            raise PydanticCustomError("of_one_key", "{text}", {"text": message, "key": key})
        return self

    @property
    def named_cases(self) -> list[str]:
        """The cases, or the questions, that it names."""
        named: list[str] = getattr(self, self.CHECK.cases_key) if self.CHECK.cases_key else []
        return named

    def as_check(self) -> Check:
        """The check with the keys as they were written."""
        values = ((key.name, _plain(getattr(self, key.name))) for key in self.CHECK.own_keys())
        title = self.title or f"{self.id.replace('-', ' ')}: {self.CHECK.title}"
        item = RubricItem(
            id=self.id,
            title=title,
            points=self.points,
            check=self.CHECK.name,
            cases=tuple(self.named_cases),
            needs=tuple(self.needs),
            partial=getattr(self, "partial", None) or "",
            visibility=self.visibility,
            hint=self.hint,
            options=tuple(values),
            extra=self.extra,
            penalty=self.penalty,
            message_pass=self.message.passed,
            message_fail=self.message.failed,
        )
        return self.CHECK.from_item(item)

    def record(self) -> RubricItem:
        """The record of the item."""
        check = self.as_check()
        return replace(check.item, options=check.options())


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a key holds
    """A value as records hold it: no mapping of the file, no list."""
    if isinstance(value, BaseModel):
        return value.record()  # type: ignore[attr-defined]
    if isinstance(value, list):
        return tuple(map(_plain, value))
    return tuple(value.items()) if isinstance(value, dict) else value


Questions = Annotated[Identifiers, Field(min_length=1)]


def _item_model(check: type[Check]) -> type[ItemPart]:
    """The mapping of a check's items: keys of all items, keys that checks share, ``check``, its own keys."""
    keys = {key.name: _key(key) for key in check.own_keys()}
    declared = [name for name in keys if name in get_annotations(check)]
    inherited = {name: keys[name] for name in keys if name not in declared}
    cases: dict[str, Any] = {"cases": (Identifiers, []), "questions": (Questions, ...)}
    cases = {name: value for name, value in cases.items() if name == check.cases_key}
    partial: dict[str, Any] = {"partial": (Literal[check.partial] | None, None)} if check.partial else {}
    tag: dict[str, Any] = {"check": (Literal[check.name], ...)}
    required = [{"required": list(names)} for names in check.one_of]
    model: type[ItemPart] = create_model(  # type: ignore[call-overload] # the keys are data
        "".join(word.capitalize() for word in check.name.split("-")) + "Item",
        __base__=ItemPart,
        __doc__=check.__doc__,
        __module__=__name__,
        __cls_kwargs__={"json_schema_extra": {"oneOf": required}} if required else {},
        **cases,
        **partial,
        **inherited,
        **tag,
        **{name: keys[name] for name in declared},
    )
    model.CHECK = check
    return model


def _key(key: CheckKey[Any]) -> tuple[Any, Any]:
    """A key's type and default, as pydantic wants them."""
    values = key.metadata["values"]
    kind = VALUES[values] if isinstance(values, str) else Literal[values]
    if key.default is REQUIRED:
        return kind, ...
    return (kind | None if key.default is None else kind), key.default


ITEMS = {check.name: _item_model(check) for check in CHECKS}
"""The mapping of each check's items."""


def items_of(kind: str) -> dict[str, type[ItemPart]]:
    """The mappings that the rubric of a kind of assignment may hold, by check."""
    return {name: item for name, item in ITEMS.items() if kind in item.CHECK.kinds}


def _any_of(kind: str) -> Any:  # noqa: ANN401 - pydantic's annotations are no types to mypy
    items = tuple(items_of(kind).values())
    if len(items) == 1:
        return items[0]
    return Annotated[reduce(operator.or_, items), Field(discriminator="check")]


if TYPE_CHECKING:
    KernelItem: TypeAlias = ItemPart
    ProgramItem: TypeAlias = ItemPart
    FunctionItem: TypeAlias = ItemPart
    AnswersItem: TypeAlias = ItemPart
else:
    KernelItem, ProgramItem, FunctionItem, AnswersItem = map(
        _any_of, ("kernel", "program", "function", "answers")
    )
