"""The rubric of an assignment file: an item for each check, with the keys that the check knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from grader.assignment.fields import Exact, Flag, Identifier, Identifiers, KernelName, Metric, Sentence, Whole
from grader.assignment.thresholds import Credit, Shares, Speedup, Steps, band, falling
from grader.model import Severity, Visibility

if TYPE_CHECKING:
    from grader.model import Named

KEYS_WE_KNOW = ConfigDict(extra="forbid", frozen=True, defer_build=True)
"""Validators are built when the first file is read, once for all mappings instead of once for each."""

BAND = ("none_above", "full_at")
"""The two ends of a linear band of traffic."""


class MessagePart(BaseModel):
    """What the staff say in their own words, before ours, to those who pass an item and those who do not."""

    model_config = KEYS_WE_KNOW
    passed: Sentence = Field("", alias="pass")
    failed: Sentence = Field("", alias="fail")


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
    extra: Flag = False
    penalty: Flag = False
    message: MessagePart = MessagePart()

    @model_validator(mode="after")
    def _adds_or_takes(self) -> Self:
        if self.extra and self.penalty:
            message = "expected either `extra` or `penalty`: points cannot be both added and taken off"
            raise PydanticCustomError("of_one_key", "{text}", {"text": message, "key": "penalty"})
        return self

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


class TellingItem(CasesItemPart):
    """An item that tells what went wrong, and where.

    Of hidden cases it tells kinds and arrays only. With ``hidden_lines`` it tells the lines and the named
    mistakes, too: whoever hands in again may find out the shapes and inputs of hidden cases by them.
    """

    OPTIONS: ClassVar[tuple[str, ...]] = ("hidden_lines",)
    hidden_lines: Flag | None = None


class OutputItem(TellingItem):
    """The answers are right."""

    check: Literal["output"]


class RacesItem(TellingItem):
    """No hazards, and no divergent barriers.

    Hazards inside one warp are warnings, and cost the item like errors unless it says ``severity: error``.
    """

    OPTIONS = ("severity", "hidden_lines")
    check: Literal["races"]
    severity: Literal["error", "warning"] = Severity.WARNING.value


class MemoryItem(TellingItem):
    """No access out of bounds, misaligned or to what nobody wrote."""

    check: Literal["memory"]


class ShareStepPart(BaseModel):
    """A share of what the baseline needs, and the share of the points that staying within it is worth."""

    model_config = KEYS_WE_KNOW
    at_most: Exact
    credit: Credit


class TrafficItem(CasesItemPart):
    """A counter, as a share of what the baseline kernel needs.

    All points at ``at_most`` and none above it; or credit that grows from nothing at ``none_above`` to all of
    it at ``full_at``, a tenth at a time; or credit in ``steps``. Less than ``at_least`` earns nothing.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["at_most"]},
                {"required": ["none_above", "full_at"]},
                {"required": ["steps"]},
            ]
        }
    )
    OPTIONS = ("metric", "baseline", "at_most", "at_least")
    check: Literal["traffic"]
    metric: Metric
    baseline: Identifier
    at_most: Exact | None = None
    none_above: Exact | None = None
    full_at: Exact | None = None
    steps: Annotated[list[ShareStepPart], Field(min_length=1, max_length=20)] | None = None
    at_least: Exact | None = None

    @model_validator(mode="after")
    def _says_it_in_one_way(self) -> Self:
        given = [key for key in ("at_most", "steps", *BAND) if getattr(self, key) is not None]
        if len(given) == 1 and given[0] in BAND:
            missing = next(key for key in BAND if key not in given)
            key, message = missing, f"expected a key `{missing}`, which is missing"
        elif not given:
            key, message = "at_most", "expected a key `at_most`, which is missing"
        elif len(given) > 1 and tuple(given) != BAND:
            key = given[1]
            message = "expected only one of `at_most`, `none_above` with `full_at`, and `steps`"
        else:
            return self
        raise PydanticCustomError("of_one_key", "{text}", {"text": message, "key": key})

    def options(self) -> Named[Any]:
        """The counter, the baseline, and the limit or the steps of credit."""
        steps = self.credit()
        return (*super().options(), *((("steps", steps),) if steps else ()))

    def credit(self) -> Shares:
        """All steps of credit, from the least; none where it is all or nothing."""
        if self.none_above is not None and self.full_at is not None:
            return falling(self.none_above, self.full_at)
        return tuple((step.at_most, step.credit) for step in self.steps or ())


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
        if all(value is None for _, value in self):
            known = ", ".join(type(self).model_fields)
            raise PydanticCustomError("of_one_key", "{text}", {"text": f"expected one of {known}", "key": ""})
        return self


class StructureItem(ItemPart):
    """How the kernel is built, by its instructions and by what it takes; decided without running it."""

    OPTIONS = ("kernel",)
    check: Literal["structure"]
    require: RequirePart
    kernel: KernelName | None = None

    def options(self) -> Named[Any]:
        """What is required, in the order of `RequirePart`, and of which kernel where there are several."""
        required = tuple((key, value) for key, value in self.require if value is not None)
        return (*super().options(), ("require", required))


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
    CompileItem | OutputItem | RacesItem | MemoryItem | TrafficItem | StructureItem | SpeedupItem,
    Field(discriminator="check"),
]
