"""What an assignment file consists of: its keys, which of them must be there, and what each may hold."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from grader.model import Visibility
from grader.spec.fields import (
    Declared,
    Draws,
    Extent,
    Formula,
    Formulas,
    HeaderName,
    Identifier,
    Identifiers,
    KernelName,
    Name,
    Offset,
    Sentence,
    Span,
    Whole,
)
from grader.spec.rubric import KEYS_WE_KNOW, AnyItem
from grader.spec.thresholds import Budget

LATER_KINDS = ("function", "program", "answers")
"""Kinds of submission that the format has a name for, and this version cannot grade."""

SOLUTION = "solution"
"""The model solution's kernel, where `timing` names no other."""


class Part(BaseModel):
    """A mapping with known keys and no others."""

    model_config = KEYS_WE_KNOW


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
            raise PydanticCustomError("of_one_key", "{text}", {"text": message, "key": "kind"})
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
    """What to time on a GPU, next to which of the staff's kernels; ``solution`` is the model solution."""

    shape: dict[Name, Extent]
    baseline: Identifier = "naive"
    solution: Identifier | None = None
    inputs: Identifier = "random"
    budget: Budget = 0.6


class AssignmentFile(Part):
    """An assignment, as written."""

    id: Identifier
    title: Sentence
    reference: Identifier
    submission: SubmissionPart
    cases: Annotated[list[AnyCase], Field(min_length=1)]
    rubric: Annotated[list[AnyItem], Field(min_length=1)]
    timing: TimingPart | None = None
