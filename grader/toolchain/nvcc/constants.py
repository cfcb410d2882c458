"""The student's own constants, read without running anything: by probes, and from the text.

The compile unit is a wrapper that includes the submission and then asks for each name the assignment
knows:

    extern "C" __device__ const long long __grader_TILE_SIZE = {TILE_SIZE};

The compiler evaluates it, and the PTX holds the value. A macro is detected by ``#ifdef``. Any other name is
looked up as ``::TILE_SIZE``; a using-directive offers an enumerator of that name which counts only where
the file declares none itself (C++17 [namespace.qual]: members come before using-directives). So one
compile serves for all names and the submission itself, wherever and however they are defined.

Constants inside functions and namespaces are read from the preprocessor's output, and count only where a
probe defines none of the name. What cannot be parsed is simply not known.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from grader.base.arithmetic import evaluate, parse
from grader.base.arithmetic import names as arithmetic_names
from grader.base.cpp import CppText, declared_name
from grader.base.errors import UsageError
from grader.simulation.ptx import Immediate
from grader.toolchain.nvcc.source import SOURCE_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from tree_sitter import Node

    from grader.model import KernelInterface, Named
    from grader.simulation.ptx import Module, Variable

PREFIX = "__grader_"
UNDEFINED = -(2**63) + 1
"""Value to which an absent name evaluates."""

FIRST_LINE = 2
LINES_PER_PROBE = 8
"""Probe ``i`` takes lines ``FIRST_LINE + i * LINES_PER_PROBE`` and on of the wrapper."""

_PROBE = """\
namespace {prefix}absent {{ enum {prefix}enum_{name} : long long {{ {name} = {undefined} }}; }}
using namespace {prefix}absent;
extern "C" __device__ const long long {prefix}{name} = {{::{name}}};
"""
_MACRO_PROBE = """\
#ifdef {name}
extern "C" __device__ const long long {prefix}{name} = {{{name}}};
#else
{probe}#endif
"""


def probed_names(interface: KernelInterface) -> tuple[str, ...]:
    """Every name that a constant of the assignment may go by, in the assignment's order."""
    names = (name for constant in interface.constants for name in (constant.name, *constant.aliases))
    return tuple(dict.fromkeys(names))


def probing_unit(names: Iterable[str], uses: Iterable[str] = ()) -> bytes:
    """The compile unit: the submission, a probe for each of ``names``, and a use of each of ``uses``.

    A use is a kernel such as ``ns::matmul<16>``: taking its address makes the compiler emit it.
    """
    text = f'#include "{SOURCE_NAME}"\n'
    for name in names:
        probe = _PROBE.format(prefix=PREFIX, name=name, undefined=UNDEFINED)
        text += _MACRO_PROBE.format(prefix=PREFIX, name=name, probe=probe) + "\n"
    for number, kernel in enumerate(uses):
        text += f"inline void {PREFIX}use{number}() {{ (void)&{kernel}; }}\n"
    return text.encode()


def failed_names(names: tuple[str, ...], lines: Iterable[int]) -> tuple[str, ...] | None:
    """The names whose probes hold the ``lines`` of the wrapper; None if a line belongs to no probe."""
    numbers = {(line - FIRST_LINE) // LINES_PER_PROBE for line in lines}
    if any(not 0 <= number < len(names) for number in numbers):
        return None
    return tuple(names[number] for number in sorted(numbers))


def take_probed_values(ptx: str, module: Module, names: Iterable[str]) -> tuple[str, dict[str, int]]:
    """The PTX without the probes for ``names``, and the value of each name that the source defines.

    ``module`` is the parsed text. A variable without an initialiser is 0 (PTX ISA section 5.4.4). Of a
    name that inline assembly defines once more nothing is taken, so that the assembler refuses the file.
    """
    names_of_probes = {PREFIX + name: name for name in names}
    defined = [variable for variable in module.variables if variable.name in names_of_probes]
    times = Counter(variable.name for variable in defined)
    probes = [variable for variable in defined if times[variable.name] == 1]
    values = {names_of_probes[variable.name]: _value(variable) for variable in probes}
    for begin, end in sorted((variable.text for variable in probes), reverse=True):
        ptx = ptx[:begin] + ptx[end:].removeprefix("\n")
    return ptx, {name: value for name, value in values.items() if value != UNDEFINED}


def _value(variable: Variable) -> int:
    first = variable.initial[0] if variable.initial else None
    return first.value if isinstance(first, Immediate) else 0


def assumed_constants(interface: KernelInterface, *sources: Mapping[str, int]) -> tuple[str, ...]:
    """The constants that no source defines under any of their names."""
    defined = {name for source in sources for name in source}
    return tuple(c.name for c in interface.constants if defined.isdisjoint((c.name, *c.aliases)))


def constants_of(interface: KernelInterface, *sources: Mapping[str, int]) -> Named[int]:
    """Each constant's value: of the first of its names in the first source that has any, else its default."""
    return tuple(
        (
            c.name,
            next((values[n] for values in sources for n in (c.name, *c.aliases) if n in values), c.default),
        )
        for c in interface.constants
    )


_NUMBER = re.compile(r"\b(?P<digits>0[xX][0-9a-fA-F]{1,16}|[1-9]\d{0,18}|0)[uUlL]{0,3}\b")
_SEPARATOR = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")
_SHIFT = re.compile(r"\b(\d{1,18})\s*<<\s*(\d{1,3})\b")
MATRIX = 2
USUAL_SIDES = (2, 4, 8, 16, 32)
"""Sides of a tile that has as many elements as a block has threads."""


def literal_constants(cpp: CppText, kernel: str = "") -> dict[str, int]:
    """Constants with a value that can be computed here; a name with several values is left out.

    Those inside a function count only if it is the ``kernel``: another function's own do not concern it.
    """

    def is_entered(node: Node) -> bool:
        if node.type != "function_definition":
            return True
        return cpp.of(declared_name(node.child_by_field_name("declarator"))) == kernel

    return _computed(cpp, is_entered)


def constants_everywhere(cpp: CppText) -> dict[str, int]:
    """The same for those inside any function."""
    return _computed(cpp, lambda _: True)


def _computed(cpp: CppText, is_entered: Callable[[Node], bool]) -> dict[str, int]:
    values: dict[str, int] = {}
    ambiguous: set[str] = set()
    for name, definition in _definitions(cpp, is_entered):
        value = number(definition, values)
        if value is None or values.setdefault(name, value) != value:
            ambiguous.add(name)
    return {name: value for name, value in values.items() if name not in ambiguous}


def _definitions(cpp: CppText, is_entered: Callable[[Node], bool]) -> Iterator[tuple[str, str]]:
    """Names that are declared as constants, or as enumerators, each with the text of its value."""
    for node in cpp.nodes("declaration", "field_declaration", "enumerator", enters=is_entered):
        if node.type == "enumerator":
            pairs = [(node.child_by_field_name("name"), node.child_by_field_name("value"))]
        elif any(cpp.of(child) in ("const", "constexpr") for child in node.children):
            pairs = list(_initialised(node))
        else:
            continue
        for name, value in pairs:
            if name and value and name.type.endswith("identifier"):
                yield cpp.of(name), cpp.of(value).removeprefix("{").removesuffix("}")


def _initialised(declaration: Node) -> Iterator[tuple[Node | None, Node | None]]:
    """The names that a declaration of variables or of a member gives values to, and the values."""
    for node in declaration.children_by_field_name("declarator"):
        if node.type == "init_declarator":
            yield node.child_by_field_name("declarator"), node.child_by_field_name("value")
        else:
            yield node, declaration.child_by_field_name("default_value")


def macros_taken_back(source: bytes, names: Collection[str]) -> dict[str, int]:
    """The last values of macros that the source defines as numbers and undefines before its end."""
    cpp = CppText(source.decode(errors="replace"))
    values: dict[str, int] = {}
    undefined: set[str] = set()
    for node in cpp.nodes("preproc_def", "preproc_call") if b"undef" in source else ():
        is_definition = node.type == "preproc_def"
        words = cpp.of(node.child_by_field_name("name" if is_definition else "argument")).split()
        name = words[0] if words else ""
        if name not in names:
            continue
        if not is_definition:
            if cpp.of(node.child_by_field_name("directive")).endswith("undef"):
                undefined.add(name)
            continue
        undefined.discard(name)
        text = cpp.of(node.child_by_field_name("value")).split("//")[0].replace("\\\n", " ")
        value = number(text, values)
        if value is not None:
            values[name] = value
    return {name: values[name] for name in undefined if name in values}


def number(text: str, names: Mapping[str, int]) -> int | None:
    """The value of an integer expression of C; None if it cannot be computed from ``names``."""
    if "." in text:
        return None
    text = _SEPARATOR.sub("", text)
    text = _NUMBER.sub(lambda digits: str(int(digits["digits"], 0)), text)
    text = _SHIFT.sub(lambda shift: str(int(shift[1]) << min(int(shift[2]), 64)), text)
    try:
        return evaluate(parse(text.strip()), names)
    except UsageError:
        return None


def implied_constants(
    interface: KernelInterface, assumed: Collection[str], shapes: Named[tuple[int, ...]]
) -> dict[str, int]:
    """Constants of a tile under an unknown name, or written out as a number, from the shared arrays.

    A constant of ``assumed`` that is the length of a block of rows and columns has the side of the square
    shared arrays, if all of them agree on it; a column or row more is padding.
    """
    block = [arithmetic_names(item) for item in interface.block]
    if len(block) < MATRIX or len(block[0]) != 1:
        return {}
    (name,) = block[0]
    constant = next((item for item in interface.constants if item.name == name), None)
    sides = {_side(shape) for _, shape in shapes if len(shape) >= MATRIX}
    if constant is None or name not in assumed or len(sides) != 1:
        return {}
    (side,) = sides
    fits = side in USUAL_SIDES and side != constant.default and not constant.wanted_instead_of(side)
    return {name: side} if fits else {}


def _side(shape: tuple[int, ...]) -> int:
    """The side of a square, or of one with a column or row of padding; 0 for anything else."""
    rows, columns = shape[-MATRIX:]
    return min(rows, columns) if abs(rows - columns) <= 1 else 0
