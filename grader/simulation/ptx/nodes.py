"""The syntax of a PTX module as frozen nodes (PTX ISA 9.0, chapters 4, 5 and 10).

`edited` and `exchanged` put instructions in or take them out.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, TypeAlias

from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

TYPE_BYTES = {
    **{f"{kind}{bits}": bits // 8 for kind in "bus" for bits in (8, 16, 32, 64)},
    "f16": 2,
    "f32": 4,
    "f64": 8,
    "f16x2": 4,
    "bf16": 2,
    "bf16x2": 4,
    "b128": 16,
    "pred": 1,
}
"""Size in bytes of each fundamental type (section 5.2)."""

Extent: TypeAlias = tuple[int, int]
"""A part of the PTX text: the index of its first character, and the one after its last."""


@frozen
class Location:
    """A place in the source (``.loc``, section 11.4): an index into ``Module.files``, a line, a column.

    ``inlined_at`` is where the function it belongs to was inlined.
    """

    file: int
    line: int
    column: int = 0
    inlined_at: Location | None = None


@frozen
class Register:
    """A register, or a special register such as ``%tid.x``; ``negated`` for ``!%p1``."""

    name: str
    negated: bool = False


@frozen
class Immediate:
    """A literal. ``kind`` is ``int``, ``f32`` or ``f64``; floats are held as their bits (section 4.5)."""

    value: int
    kind: str = "int"


@frozen
class Symbol:
    """The name of a variable, function or label, with a byte offset.

    In an initialiser a ``mask`` such as 0xff00 picks one byte of the address (section 5.4.4); 0: all of it.
    """

    name: str
    offset: int = 0
    mask: int = 0


@frozen
class Numbers:
    """Whole numbers that follow each other in an initialiser, of 64 bits each in this machine's byte order.

    A table of a million elements is millions of numbers: one object for each would take seconds per launch.
    """

    packed: bytes


@frozen
class Address:
    """``[base + offset]``; the base is a register, a symbol or an absolute number (section 6.4.1)."""

    base: Register | Symbol | Immediate
    offset: int = 0


@frozen
class Vector:
    """``{a, b, c, d}`` (section 6.4.3)."""

    elements: tuple[Operand, ...]


@frozen
class Tuple:
    """A parenthesised list: the arguments and results of a call (section 9.7.12.5)."""

    elements: tuple[Operand, ...]


@frozen
class Pair:
    """``d|p``: two destinations (``setp``, ``shfl.sync``, ``match.sync``)."""

    first: Operand
    second: Operand


Operand: TypeAlias = Register | Immediate | Symbol | Address | Vector | Tuple | Pair


@frozen
class Instruction:
    """One instruction: ``@guard opcode.modifiers operands;``."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None = None
    ptx_line: int = 0
    location: Location | None = None
    used_bytes: int = -1
    """The bytes of a load that are used, as bits: ``.pragma "used_bytes_mask"`` (chapter 12)."""

    @property
    def name(self) -> str:
        """The full name, ``ld.global.v4.f32``."""
        return ".".join((self.opcode, *self.modifiers))


@frozen
class Variable:
    """A variable in a state space (section 5.1): ``count`` elements of ``type``; 0 elements: ``[]``.

    ``initial`` holds numbers as bits, or symbols whose generic address is meant; ``text`` is the range of the
    declaration in the PTX.
    """

    space: str
    name: str
    type: str
    count: int = 1
    align: int = 1
    initial: tuple[Immediate | Symbol | Numbers, ...] = ()
    linkage: str = ""
    ptx_line: int = 0
    text: Extent = field(default=(0, 0), compare=False)
    managed: bool = False
    """True if the host reaches it by the same address (section 5.4.8)."""

    @property
    def size(self) -> int:
        """Bytes it takes."""
        return TYPE_BYTES[self.type] * self.count


@frozen
class Function:
    """An ``.entry`` or ``.func``; a prototype has no ``body`` and ``defined`` is false.

    ``registers`` pairs each declared register with its type; ranges such as ``%r<44>`` are spelt out.
    ``labels`` gives for each label the index of the instruction it stands before, ``targets`` for each
    ``.branchtargets`` list its labels; ``text`` is where in the PTX it begins and ends, ``named`` where its
    name does.
    """

    name: str
    is_entry: bool
    parameters: tuple[Variable, ...] = ()
    results: tuple[Variable, ...] = ()
    registers: tuple[tuple[str, str], ...] = ()
    variables: tuple[Variable, ...] = ()
    body: tuple[Instruction, ...] = ()
    labels: tuple[tuple[str, int], ...] = ()
    defined: bool = True
    targets: tuple[tuple[str, tuple[str, ...]], ...] = ()
    text: Extent = field(default=(0, 0), compare=False)
    named: Extent = field(default=(0, 0), compare=False)
    most_threads: int = 0
    """Maximum number of threads of a block that ``__launch_bounds__`` allows; 0 where it says nothing."""


@frozen
class Module:
    """A PTX module; ``files`` pairs the indices that locations use with the paths in ``.file``."""

    target: str
    functions: tuple[Function, ...]
    variables: tuple[Variable, ...] = ()
    files: tuple[tuple[int, str], ...] = ()

    def function(self, name: str) -> Function:
        """The definition of ``name``; KeyError if there is none."""
        for function in self.functions:
            if function.name == name and function.defined:
                return function
        raise KeyError(name)


def leaves(operand: Operand) -> Iterator[Register | Symbol | Immediate]:
    """The registers, symbols and numbers that an operand is made of, from left to right."""
    if isinstance(operand, Address):
        yield from leaves(operand.base)
    elif isinstance(operand, Vector | Tuple):
        for element in operand.elements:
            yield from leaves(element)
    elif isinstance(operand, Pair):
        yield from leaves(operand.first)
        yield from leaves(operand.second)
    else:
        yield operand


def registers_in(operand: Operand) -> tuple[str, ...]:
    """The names of the registers in an operand."""
    if isinstance(operand, Register):  # nearly all are
        return (operand.name,)
    return tuple(leaf.name for leaf in leaves(operand) if isinstance(leaf, Register))


def edited(function: Function, insert: Mapping[int, Instruction], remove: Collection[int] = ()) -> Function:
    """A function with each of ``insert`` before the instruction of its index, and without ``remove``.

    A jump to a label before that instruction executes the inserted one, too.
    """
    body: list[Instruction] = []
    positions: list[int] = []
    for at, instruction in enumerate(function.body):
        positions.append(len(body))
        if at in insert:
            body.append(insert[at])
        if at not in remove:
            body.append(instruction)
    positions.append(len(body))
    labels = tuple((label, positions[index]) for label, index in function.labels)
    return replace(function, body=tuple(body), labels=labels)


def exchanged(module: Module, function: Function) -> Module:
    """A module whose function of this name is replaced by this one."""
    functions = tuple(
        function if other.defined and other.name == function.name else other for other in module.functions
    )
    return replace(module, functions=functions)
