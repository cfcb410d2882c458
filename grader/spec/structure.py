"""What an assignment file consists of: its keys, which of them must be there, and what each may hold."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from grader.model import Severity, Visibility
from grader.spec.fields import (
    Declared,
    Draws,
    Exact,
    Extent,
    Formula,
    Formulas,
    HeaderName,
    Identifier,
    Identifiers,
    KernelName,
    Metric,
    Name,
    Offset,
    Sentence,
    Span,
    Whole,
)

LATER_KINDS = ("function", "program", "answers")
"""Kinds of submission that the format has a name for, and this version cannot grade."""


class Part(BaseModel):
    """A mapping with known keys and no others.

    The validators are built when the first file is read, once for all parts instead of once for each.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


# --- the submission ----------------------------------------------------------------------------------


class ConstantPart(Part):
    """``TILE_SIZE: {default: 16, aliases: [TILE_WIDTH]}``."""

    default: Whole
    aliases: list[Name] = []


class LaunchPart(Part):
    """The launch configuration; ``shared`` is dynamic shared memory in bytes."""

    block: Formulas
    grid: Formulas
    shared: Formula | None = None


def _constant(value: object) -> object:
    return {"default": value} if isinstance(value, str) else value


class SubmissionPart(Part):
    """What students hand in, and how it is launched."""

    kind: Literal["kernel"]
    kernel: KernelName
    parameters: dict[Name, Declared]
    launch: LaunchPart
    constants: dict[
        Name, Annotated[ConstantPart, BeforeValidator(_constant, json_schema_input_type=Whole | ConstantPart)]
    ] = {}
    include: list[HeaderName] = []

    @model_validator(mode="before")
    @classmethod
    def _kind_is_supported(cls, value: Any) -> Any:  # noqa: ANN401 - pydantic hands over what it got
        # Nothing else that could be said about such a submission would help.
        if isinstance(value, dict) and value.get("kind") in LATER_KINDS:
            message = f"submissions of kind `{value['kind']}` are not supported yet; supported: `kernel`"
            raise PydanticCustomError("later_kind", "{text}", {"text": message, "key": "kind"})
        return value


# --- cases and timing --------------------------------------------------------------------------------


class CasePart(Part):
    """What fixed and random cases have in common."""

    tags: Identifiers = []
    visibility: Visibility = Visibility.VISIBLE
    inputs: Identifier = "random"
    offset: Offset = 0


class FixedCase(CasePart):
    """A case with a shape of its own."""

    id: Identifier
    shape: dict[Name, Extent]


class RandomCases(CasePart):
    """So many cases with shapes drawn from ranges."""

    random: Draws
    shape: dict[Name, Span]
    id: Identifier = "random"


# Not words that could be keys: the path of an error holds these beside the keys.
FIXED, RANDOM = "a fixed case", "random cases"


def _case_kind(value: object) -> str:
    return RANDOM if isinstance(value, dict) and "random" in value else FIXED


AnyCase = Annotated[
    Annotated[FixedCase, Tag(FIXED)] | Annotated[RandomCases, Tag(RANDOM)], Discriminator(_case_kind)
]


class TimingPart(Part):
    """What to time on a GPU, next to which of the staff's kernels."""

    shape: dict[Name, Extent]
    baseline: Identifier = "naive"


# --- the rubric --------------------------------------------------------------------------------------


class ItemPart(Part):
    """What every rubric item may say."""

    OPTIONS: ClassVar[tuple[str, ...]] = ()
    """The keys that only this check knows."""

    id: Identifier
    points: Exact
    title: Sentence = ""
    hint: Sentence = ""
    needs: Identifiers = []
    visibility: Visibility = Visibility.VISIBLE


class CasesItemPart(ItemPart):
    """An item that looks at cases: all of them, or those with the tags or ids it names."""

    cases: Identifiers = []
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


class SpeedupItem(ItemPart):
    """How many times as fast as the baseline; credit grows from ``none_below`` to ``full_at``."""

    OPTIONS = ("baseline", "none_below", "full_at")
    check: Literal["speedup"]
    baseline: Identifier
    none_below: Exact
    full_at: Exact


AnyItem = Annotated[
    CompileItem | OutputItem | RacesItem | MemoryItem | TrafficItem | SpeedupItem,
    Field(discriminator="check"),
]


class AssignmentFile(Part):
    """An assignment, as written."""

    id: Identifier
    title: Sentence
    reference: Identifier
    submission: SubmissionPart
    cases: Annotated[list[AnyCase], Field(min_length=1)]
    rubric: Annotated[list[AnyItem], Field(min_length=1)]
    timing: TimingPart | None = None
