"""What may stand at the keys of rubric items, by the names that checks use for it.

A check declares its keys by these names (`grader.checks.check.key`), and loads nothing of what reads YAML.
"""

from __future__ import annotations

from fractions import Fraction  # noqa: TC003 - pydantic reads annotations
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from grader.assignment.fields import (
    Exact,
    Extent,
    Flag,
    Identifier,
    KernelName,
    Metric,
    Name,
    Sentence,
    Whole,
)
from grader.assignment.program_fields import (
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
from grader.assignment.thresholds import Credit, Speedup
from grader.model import ExpectedNumber, Threshold

KEYS_WE_KNOW = ConfigDict(extra="forbid", frozen=True, defer_build=True)
"""Validators are built when the first file is read, once for all mappings instead of once for each."""

MOST_STEPS = 20
"""Steps of credit."""


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
    """What a kernel must consist of; ``false`` asks for the opposite."""

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
        """What is required, by name."""
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


VALUES: dict[str, Any] = {
    "ArrayFile": ArrayFile,
    "Dtype": Dtype,
    "Exact": Exact,
    "ExpectedNumbers": Annotated[list[NumberPart], Field(min_length=1, max_length=MOST_NUMBERS)],
    "Flag": Flag,
    "Identifier": Identifier,
    "KernelName": KernelName,
    "Lines": Lines,
    "Metric": Metric,
    "Name": Name,
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
