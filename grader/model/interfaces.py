"""Interface of each kind of assignment, with its parts: what students are asked to hand in.

Code that depends on what differs between kinds asks a property of the interface (`Interface`), or is in the
kind's package (`grader.kinds`); no other code looks at its type.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from grader.base.records import frozen
from grader.model.findings import Clause

if TYPE_CHECKING:
    from fractions import Fraction

    from grader.base.arithmetic import Expression
    from grader.model.terms import Named


@frozen
class Parameter:
    """One kernel parameter: ``A: in float32[M, K]`` or ``M: int32``.

    ``direction`` is ``in``, ``out`` or ``inout`` for an array and ``value`` for a scalar.
    ``dtype`` is a NumPy name (``float32``, ``int32``, ``uint64`` …).
    ``value`` is what a scalar is given, an expression over the shape and the constants: its own name
    unless the assignment says ``M: int32 = N``.
    A struct passed by value has the direction ``value``, its C++ name as ``dtype``, and ``fields``, which are
    scalars and, for pointers to arrays, arrays.
    """

    name: str
    direction: str
    dtype: str
    extents: tuple[Expression, ...] = ()
    value: Expression | None = None
    fields: tuple[Parameter, ...] = ()

    @property
    def arrays(self) -> tuple[Parameter, ...]:
        """The arrays behind it: itself, or those that its fields point to.

        The only one of a struct is called what the struct is called, of several ``A.elements``.
        """
        if not self.fields:
            return () if self.direction == "value" else (self,)
        pointed = [field for field in self.fields if field.direction != "value"]
        names = [self.name] if len(pointed) == 1 else [f"{self.name}.{field.name}" for field in pointed]
        return tuple(replace(field, name=name) for field, name in zip(pointed, names, strict=True))

    @property
    def declared(self) -> tuple[object, ...]:
        """Properties that decide a build: not what a scalar is given, nor how large an array is."""
        fields = tuple(field.declared for field in self.fields)
        return (self.name, self.direction, self.dtype, *((fields,) if fields else ()))


@frozen
class Constant:
    """A number that the student's source may define (``TILE_SIZE``).

    ``aliases`` are other names it goes by; ``default`` serves when the source defines none of them.
    """

    name: str
    default: int
    aliases: tuple[str, ...] = ()
    multiple_of: int = 1
    """Divisor that every value of it must have; so for the next two."""
    at_most: int | None = None
    power_of_two: bool = False

    def wanted_instead_of(self, value: int) -> Clause | None:
        """Clause on the value needed in place of ``value``: a multiple of 32, say; None where it will do."""
        if value % self.multiple_of:
            return Clause("multiple-of", (("number", self.multiple_of),))
        if self.power_of_two and (value < 1 or value & (value - 1)):
            return Clause("power-of-two")
        if self.at_most is not None and value > self.at_most:
            return Clause("no-more-than", (("number", self.at_most),))
        return None


class Interface:
    """Common properties of all interfaces, for any kind of submission; kinds answer otherwise."""

    __slots__ = ()

    noun: ClassVar[str]
    """Noun for what students hand in, with its article."""
    asks_questions: ClassVar[bool] = False
    """True if answers are handed in, so that the assignment's file holds what is right."""
    runs_host_code: ClassVar[bool] = False
    """True if host code of the student's runs: it allocates and copies by itself."""
    links_files: ClassVar[bool] = False
    """True if a submission may be several source files, which become one program."""
    takes_arguments: ClassVar[bool] = False
    """True if it is called with arrays, and what it leaves in them is compared."""
    counts_traffic: ClassVar[bool] = False
    """True if the traffic of its launches is counted, regardless of the rubric."""
    runs_on_both: ClassVar[bool] = False
    """True if on a GPU its launches are run on the emulator, too, and the outputs of both are known."""

    @property
    def arrays(self) -> tuple[Parameter, ...]:
        """All arrays that it is given; none where nothing is called with arguments."""
        return ()

    @property
    def built_with(self) -> Named[int]:
        """Macros and constants of the student's file that are set in this build, and what they are."""
        return ()

    @property
    def called_function(self) -> FunctionInterface | None:
        """The function of the host that a program of ours calls; None where none is asked for."""
        return None

    def decides_build(self, architecture: str) -> tuple[tuple[str, object], ...]:
        """Properties that decide a build for an architecture, beside the headers: names with values."""
        del architecture
        return ()


@frozen
class KernelInterface(Interface):
    """Contents that a submission of kind ``kernel`` must have, and its launch.

    ``block`` and ``grid`` hold one to three expressions (x, y, z); ``shared`` gives the dynamic shared
    memory in bytes. ``include`` holds headers that the course ships: pairs of file name and text.
    """

    noun: ClassVar[str] = "a kernel"
    takes_arguments: ClassVar[bool] = True
    counts_traffic: ClassVar[bool] = True
    runs_on_both: ClassVar[bool] = True
    kernel: str
    parameters: tuple[Parameter, ...]
    constants: tuple[Constant, ...]
    block: tuple[Expression, ...]
    grid: tuple[Expression, ...]
    shared: Expression | None = None
    include: Named[str] = ()
    symbols: tuple[Parameter, ...] = ()
    """Variables of the student's file that are filled before a launch and read after it: arrays, and
    scalars (``value``), which are arrays of one element."""
    inline_asm: bool = False
    """True if an instruction that students write by hand and that is not interpreted is an error of ours."""
    others: tuple[str, ...] = ()
    """Further kernels of the file that cases name: they have the same parameters and the same launch."""
    sizes: Named[tuple[str, ...]] = ()
    """Dimensions that the file writes down as macros, with other names that these may have."""
    given: Named[int] = ()
    """Values of those dimensions in this build; without them they are what the file says."""

    @property
    def arrays(self) -> tuple[Parameter, ...]:
        """All arrays that it is given, in any way."""
        parameters = (*self.parameters, *self.symbols)
        return tuple(array for parameter in parameters for array in parameter.arrays)

    @property
    def built_with(self) -> Named[int]:
        """The sizes that are given, under all of their names."""
        constants = dict(self.given)
        return tuple(
            (spelt, constants[name])
            for name, aliases in self.sizes
            for spelt in (name, *aliases)
            if name in constants
        )

    def decides_build(self, architecture: str) -> tuple[tuple[str, object], ...]:
        """Declaration of the kernel; its PTX is for all architectures."""
        del architecture
        others = (("others", self.others),) if self.others else ()
        sized = (("sizes", (self.sizes, self.given)),) if self.sizes else ()
        return (
            *others,
            *sized,
            ("kernel", self.kernel),
            ("parameters", [parameter.declared for parameter in self.parameters]),
            *((("symbols", [symbol.declared for symbol in self.symbols]),) if self.symbols else ()),
            ("constants", self.constants),
            ("block", self.block),
        )


@frozen
class ProgramInterface(Interface):
    """Form of a submission of kind ``program``: a file with ``main`` that is run as it is.

    ``seconds`` is wall time for one run, ``memory_bytes`` the memory limit of all its processes together.
    ``include`` holds headers that the course ships: pairs of file name and text.
    """

    noun: ClassVar[str] = "a program"
    runs_host_code: ClassVar[bool] = True
    links_files: ClassVar[bool] = True
    include: Named[str] = ()
    seconds: float = 10.0
    memory_bytes: int = 2**30
    device_bytes: int = 2**29
    """Device memory that it has on the emulator."""
    emulator_seconds: float = 20.0
    """Seconds that its launches may take there, beside its own time."""
    sizes: Named[int] = ()
    """Macros and constants of the student's file, and what they are to be in this build."""

    @property
    def built_with(self) -> Named[int]:
        """Sizes of the program."""
        return self.sizes

    def decides_build(self, architecture: str) -> tuple[tuple[str, object], ...]:
        """The architecture, and sizes if there are any."""
        return (("program", architecture), *((("sizes", self.sizes),) if self.sizes else ()))


@frozen
class FunctionInterface(Interface):
    """Contents that a submission of kind ``function`` must have: one host function, which a program calls.

    ``pointers`` is the memory of its arrays when it is called, of the ``device`` or of the ``host``, and
    ``outputs`` the content of `out` arrays then: ``poison`` or ``zeros``. ``program`` holds the limits of a
    run.
    """

    noun: ClassVar[str] = "a function"
    runs_host_code: ClassVar[bool] = True
    takes_arguments: ClassVar[bool] = True
    function: str
    parameters: tuple[Parameter, ...]
    pointers: str
    outputs: str
    program: ProgramInterface
    symbols: tuple[Parameter, ...] = ()
    """Empty: only kernels have variables that are filled."""

    @property
    def include(self) -> Named[str]:
        """Headers that the course ships: pairs of file name and text."""
        return self.program.include

    @property
    def arrays(self) -> tuple[Parameter, ...]:
        """All arrays that it is given."""
        return tuple(parameter for parameter in self.parameters if parameter.direction != "value")

    @property
    def called_function(self) -> FunctionInterface:
        """Itself."""
        return self

    def decides_build(self, architecture: str) -> tuple[tuple[str, object], ...]:
        """The architecture, and what is declared of the function."""
        declared = [parameter.declared for parameter in self.parameters]
        return (("program", architecture), ("function", self.function), ("parameters", declared))


@frozen
class DrawnNumber:
    """A number that questions speak of: one of ``choices``, else from ``low`` to ``high``, both included.

    Where there is more than one possibility it is drawn for each student.
    """

    name: str
    low: int
    high: int
    choices: tuple[int, ...] = ()

    @property
    def fixed(self) -> bool:
        """True if it is the same for all students."""
        return self.low == self.high


@frozen
class Setting:
    """Subject of questions: one of the subjects of `grader.simulation.analysis`, and its numbers."""

    id: str
    subject: str
    numbers: tuple[DrawnNumber, ...]


@frozen
class Question:
    """One question. ``text`` may hold ``{M}`` for a number of its setting.

    ``answer`` is an expression over the quantities and numbers of the setting. An answer may be off by
    ``tolerance``, absolute or, where ``relative``, as a share of what is expected.
    """

    id: str
    text: str
    setting: str
    answer: Expression
    unit: str
    tolerance: Fraction
    relative: bool = False
    note: str = ""
    """Note of the staff on the worked explanation."""


@frozen
class AnswersInterface(Interface):
    """Form of a submission of kind ``answers``: a file with a number for each question.

    ``seed`` decides, together with the student's id, the drawn numbers; the same for the sheet and the grade.
    """

    noun: ClassVar[str] = "answers"
    asks_questions: ClassVar[bool] = True
    questions: tuple[Question, ...]
    settings: tuple[Setting, ...]
    seed: int = 1
