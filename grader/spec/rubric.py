"""The rubric of an assignment file: an item for each check, with the keys that the check knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from grader.model import Severity, Visibility
from grader.spec.fields import Exact, Identifier, Identifiers, Metric, Sentence
from grader.spec.thresholds import Credit, Speedup, Steps, band

if TYPE_CHECKING:
    from grader.model import Named

KEYS_WE_KNOW = ConfigDict(extra="forbid", frozen=True, defer_build=True)
"""Validators are built when the first file is read, once for all mappings instead of once for each."""


class ItemPart(BaseModel):
    """What every rubric item may say."""

    model_config = KEYS_WE_KNOW
    OPTIONS: ClassVar[tuple[str, ...]] = ()
    """The keys that only this check knows."""

    id: Identifier
    points: Exact
    title: Sentence = ""
    hint: Sentence = ""
    needs: Identifiers = []
    visibility: Visibility = Visibility.VISIBLE

    def options(self) -> Named[Any]:
        """What the check is told, of the keys that are there."""
        values = ((name, getattr(self, name)) for name in self.OPTIONS)
        return tuple((name, value) for name, value in values if value is not None)


class CasesPart(ItemPart):
    """An item that looks at cases: all of them, or those with the tags or ids it names."""

    cases: Identifiers = []


class CasesItemPart(CasesPart):
    """An item that may give credit case by case."""

    partial: Literal["per-case"] | None = None


class CompileItem(ItemPart):
    """It compiles, and has the kernel with the right parameters."""

    check: Literal["compile"]


class OutputItem(CasesItemPart):
    """The answers are right."""

    check: Literal["output"]


class RacesItem(CasesItemPart):
    """No hazards, and no divergent barriers; those below ``severity`` cost nothing."""

    OPTIONS = ("severity",)
    check: Literal["races"]
    severity: Literal["error", "warning"] = Severity.ERROR.value


class MemoryItem(CasesItemPart):
    """No access out of bounds, misaligned or to what nobody wrote."""

    check: Literal["memory"]


class TrafficItem(CasesItemPart):
    """A counter, as a share of what the baseline kernel needs."""

    OPTIONS = ("metric", "baseline", "at_most", "at_least")
    check: Literal["traffic"]
    metric: Metric
    baseline: Identifier
    at_most: Exact
    at_least: Exact | None = None


class StepPart(BaseModel):
    """A speedup, and the share of the points that it is worth."""

    model_config = KEYS_WE_KNOW
    at: Speedup
    credit: Credit


class SpeedupItem(ItemPart):
    """How many times as fast as the baseline.

    Credit grows from nothing at ``none_below`` to all of it at ``full_at``, a tenth at a time, or in
    ``steps``. What the measurement cannot decide counts for the student.
    """

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["none_below", "full_at"]}, {"required": ["steps"]}]}
    )
    OPTIONS = ("baseline", "steps")
    check: Literal["speedup"]
    baseline: Identifier
    none_below: Speedup | None = None
    full_at: Speedup | None = None
    steps: Annotated[list[StepPart], Field(min_length=1, max_length=20)] | None = None

    @model_validator(mode="after")
    def _says_it_in_one_way(self) -> Self:
        ends = {"none_below": self.none_below, "full_at": self.full_at}
        given = [key for key, end in ends.items() if end is not None]
        if self.steps is not None and given:
            key, message = given[0], "expected either `none_below` and `full_at`, or `steps`, not both"
        elif self.steps is None and given and len(given) < len(ends):
            key = next(key for key in ends if key not in given)
            message = f"expected a key `{key}`, which is missing"
        elif self.steps is None and not given:
            key, message = "steps", "expected `none_below` and `full_at`, or `steps`, and none is there"
        else:
            return self
        raise PydanticCustomError("of_one_key", "{text}", {"text": message, "key": key})

    def options(self) -> Named[Any]:
        """The baseline, and the steps of credit that the item asks for in either way."""
        return ("baseline", self.baseline), ("steps", self.credit())

    def credit(self) -> Steps:
        """All steps of credit, from the lowest."""
        if self.none_below is not None and self.full_at is not None:
            return band(self.none_below, self.full_at)
        return tuple((step.at, step.credit) for step in self.steps or ())


AnyItem = Annotated[
    CompileItem | OutputItem | RacesItem | MemoryItem | TrafficItem | SpeedupItem,
    Field(discriminator="check"),
]
