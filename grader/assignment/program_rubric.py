"""The rubric of an assignment of kind ``program``: what it prints, what it writes and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from grader.assignment.fields import Extent, Identifier, Name, Sentence
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
from grader.assignment.rubric import KEYS_WE_KNOW, CasesItemPart, CasesPart, CompileItem
from grader.model import ExpectedNumber

if TYPE_CHECKING:
    from grader.model import Named

WAYS = ("exact", "lines", "matches", "numbers")
"""How a `text` item looks at what was printed: in one of these ways."""


class ExitItem(CasesItemPart):
    """It ends by itself, with this status."""

    OPTIONS = ("status",)
    check: Literal["exit"]
    status: Status = 0


class NumberPart(BaseModel):
    """A number that must be printed: the ``nth`` after a text."""

    model_config = KEYS_WE_KNOW
    name: Sentence
    after: After
    value: Number = Field(alias="is")
    within: Within = EXACTLY
    nth: Nth = 1

    def expected(self) -> ExpectedNumber:
        """The record of it."""
        return ExpectedNumber(
            self.name, self.after, self.value, self.within.within, self.within.relative, self.nth
        )


class TextItem(CasesPart):
    """It prints, or writes to a file, what it should; in exactly one of the `WAYS`."""

    check: Literal["text"]
    of: Stream = "stdout"
    partial: Literal["per-case", "per-number"] | None = None
    exact: Verbatim | None = None
    lines: Lines | None = None
    matches: Pattern | None = None
    numbers: Annotated[list[NumberPart], Field(min_length=1, max_length=MOST_NUMBERS)] | None = None

    @model_validator(mode="after")
    def _in_one_way(self) -> Self:
        given = [way for way in WAYS if getattr(self, way) is not None]
        if len(given) != 1:
            key = given[1] if given else WAYS[0]
            found = " and ".join(f"`{way}`" for way in given) or "none"
            message = f"expected one of {', '.join(WAYS)}, found {found}"
        elif self.partial == "per-number" and self.numbers is None:
            key, message = "partial", "expected `per-case`: only `numbers` can earn points one by one"
        else:
            return self
        raise PydanticCustomError("of_one_key", "{text}", {"text": message, "key": key})

    def options(self) -> Named[Any]:
        """Which text, and what is expected of it."""
        numbers = tuple(number.expected() for number in self.numbers or ())
        ways = ((way, getattr(self, way)) for way in WAYS[:-1])
        told = tuple((way, expected) for way, expected in ways if expected is not None)
        return (("of", self.of), *told, *((("numbers", numbers),) if numbers else ()))


class ArrayItem(CasesItemPart):
    """An ``.npy`` file that it writes holds what the oracle computes for ``shape`` and ``inputs``."""

    check: Literal["array"]
    of: ArrayFile
    output: Name
    dtype: Dtype
    shape: dict[Name, Extent]
    inputs: Identifier

    def options(self) -> Named[Any]:
        """Which file, and what the oracle is asked."""
        return (
            ("of", self.of),
            ("output", self.output),
            ("dtype", self.dtype),
            ("shape", tuple(self.shape.items())),
            ("inputs", self.inputs),
        )


AnyProgramItem = Annotated[CompileItem | ExitItem | TextItem | ArrayItem, Field(discriminator="check")]
