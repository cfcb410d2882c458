"""Structure of an assignment file: its keys, which of them are required, and what each may hold."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from grader.base.text import suggestion
from grader.grading.assignment.fields import (
    Budget,
    Declared,
    Draws,
    Extent,
    Flag,
    Formula,
    Formulas,
    HeaderName,
    Identifier,
    Identifiers,
    KernelName,
    Name,
    Offset,
    ParameterDeclaration,
    Sentence,
    Span,
    TextsName,
    Whole,
    as_list,
)
from grader.grading.assignment.program_fields import (
    DrawnFile,
    EmulatorSeconds,
    Mebibytes,
    RunArguments,
    Seconds,
    Stdin,
)
from grader.grading.assignment.rubric import KEYS_WE_KNOW, FunctionItem, KernelItem, ProgramItem
from grader.model import DEVICES, Constant, OutputJudge, Visibility

KINDS = ("kernel", "program", "function", "answers")


_DEVICE: Any = Literal[DEVICES]


class FilePart(BaseModel):
    """A mapping with known keys and no others."""

    model_config = KEYS_WE_KNOW


# --- the submission ----------------------------------------------------------------------------------


class ConstantPart(FilePart):
    """``BLOCK_SIZE: {default: 256, aliases: [THREADS], multiple_of: 32, at_most: 1024}``."""

    default: Whole
    aliases: list[Name] = []
    multiple_of: Whole = 1
    at_most: Whole | None = None
    power_of_two: Flag = False

    def record(self, name: str) -> Constant:
        """The constant of this name."""
        return Constant(
            name, self.default, tuple(self.aliases), self.multiple_of, self.at_most, self.power_of_two
        )


class LaunchPart(FilePart):
    """The launch configuration; ``shared`` is dynamic shared memory in bytes."""

    block: Formulas
    grid: Formulas
    shared: Formula | None = None


def _constant(value: object) -> object:
    return {"default": value} if isinstance(value, str) else value


class KernelPart(FilePart):
    """A kernel that students hand in, and how it is launched."""

    kind: Literal["kernel"]
    kernel: KernelName
    parameters: dict[Name, Declared]
    symbols: dict[Name, Declared] = {}
    launch: LaunchPart
    constants: dict[
        Name, Annotated[ConstantPart, BeforeValidator(_constant, json_schema_input_type=Whole | ConstantPart)]
    ] = {}
    sizes: dict[
        Name, Annotated[list[Name], BeforeValidator(as_list, json_schema_input_type=Name | list[Name])]
    ] = {}
    include: list[HeaderName] = []
    inline_asm: Flag = False

    @model_validator(mode="before")
    @classmethod
    def _kind_is_supported(cls, value: Any) -> Any:  # noqa: ANN401 - pydantic hands over what it got
        # Nothing else that could be said about such a submission would help.
        kind = value.get("kind") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind in KINDS:
            return value
        message = f"`{kind}` means nothing here; {suggestion(kind, KINDS)}"
        raise PydanticCustomError("of_one_key", "{text}", {"text": message, "key": "kind"})


class RunPart(FilePart):
    """Limits of a run of what students hand in, and the headers that it gets."""

    kind: Literal["program", "function"]
    include: list[HeaderName] = []
    seconds: Seconds = 10
    memory: Mebibytes = 1024
    device_memory: Mebibytes = 512
    emulator_seconds: EmulatorSeconds = 20


class ProgramPart(RunPart):
    """A program that students hand in: a file with ``main``, and how far a run of it may go."""

    kind: Literal["program"]
    sizes: dict[Name, Extent] = {}


class FunctionPart(RunPart):
    """A function that students hand in and that a program of ours calls with arrays and numbers."""

    kind: Literal["function"]
    function: KernelName
    parameters: dict[Name, Declared]
    pointers: Literal["device", "host"]
    outputs: Literal["poison", "zeros"] = "poison"
    # What a kernel has beside its parameters, and a function has not.
    symbols: ClassVar[dict[str, ParameterDeclaration]] = {}
    constants: ClassVar[dict[str, ConstantPart]] = {}
    launch: ClassVar[None] = None


# --- cases and timing --------------------------------------------------------------------------------


class LaunchedCasePart(FilePart):
    """Keys that fixed and random cases have in common."""

    tags: Identifiers = []
    visibility: Visibility = Visibility.VISIBLE
    inputs: Identifier = "random"
    offset: Offset = 0
    kernel: KernelName = ""


class FixedCase(LaunchedCasePart):
    """A case with a shape of its own."""

    id: Identifier
    shape: dict[Name, Extent]


class RandomCases(LaunchedCasePart):
    """A number of cases with shapes drawn from ranges."""

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


class ProgramCase(FilePart):
    """A run of a program: its arguments, input and sizes, and files with arrays that are drawn for it."""

    id: Identifier
    tags: Identifiers = []
    visibility: Visibility = Visibility.VISIBLE
    arguments: RunArguments = []
    stdin: Stdin = ""
    shape: dict[Name, Extent] = {}
    inputs: Identifier = "random"
    files: dict[DrawnFile, Name] = {}
    sizes: dict[Name, Extent] = {}


class TimingPart(FilePart):
    """Timing on a GPU next to the staff's kernels: ``baseline``, and ``solution``, the model solution.

    ``estimate_for`` is the device for which the speed is estimated where there is no GPU.
    """

    shape: dict[Name, Extent]
    baseline: Identifier = "naive"
    solution: Identifier | None = None
    inputs: Identifier = "random"
    budget: Budget = 0.6
    estimate_for: _DEVICE = DEVICES[0]


class AssignmentFile(FilePart):
    """Keys that every assignment has."""

    id: Identifier
    title: Sentence
    feedback: TextsName | None = None


class KernelFile(AssignmentFile):
    """An assignment that asks for a kernel, as written; ``advice`` may be what the next lesson is about."""

    advice: Flag = True
    reference: Identifier
    submission: KernelPart
    cases: Annotated[list[AnyCase], Field(min_length=1)]
    rubric: Annotated[list[KernelItem], Field(min_length=1)]
    timing: TimingPart | None = None
    undefined_outputs: OutputJudge = OutputJudge.EMULATOR


class FunctionFile(AssignmentFile):
    """An assignment that asks for a function, as written."""

    advice: Flag = True
    reference: Identifier
    submission: FunctionPart
    cases: Annotated[list[AnyCase], Field(min_length=1)]
    rubric: Annotated[list[FunctionItem], Field(min_length=1)]
    timing: TimingPart | None = None
    undefined_outputs: OutputJudge = OutputJudge.EMULATOR


class ProgramFile(AssignmentFile):
    """An assignment that asks for a program, as written; only an `array` item needs a ``reference``."""

    reference: Identifier | None = None
    submission: ProgramPart
    cases: Annotated[list[ProgramCase], Field(min_length=1)]
    rubric: Annotated[list[ProgramItem], Field(min_length=1)]
    undefined_outputs: OutputJudge = OutputJudge.EMULATOR
