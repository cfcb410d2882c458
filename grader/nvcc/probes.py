"""The student's own constants, read without running anything.

The compile unit is a wrapper that includes the submission and then asks for each name the assignment
knows:

    extern "C" __device__ const long long __grader_TILE_SIZE = {TILE_SIZE};

The compiler evaluates it, and the PTX holds the value. A macro is found by ``#ifdef``. Any other name is
looked up as ``::TILE_SIZE``; a using-directive offers an enumerator of that name which counts only where
the file declares none itself (C++17 [namespace.qual]: members come before using-directives). So one
compile serves for all names and the submission itself, wherever and however they are defined.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from grader.nvcc.source import SOURCE_NAME
from grader.ptx import Immediate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.model import KernelInterface, Named
    from grader.ptx import Module, Variable

PREFIX = "__grader_"
UNDEFINED = -(2**63) + 1
"""What an absent name evaluates to."""

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


def names_of(interface: KernelInterface) -> tuple[str, ...]:
    """Every name that a constant of the assignment may go by, in the assignment's order."""
    names = (name for constant in interface.constants for name in (constant.name, *constant.aliases))
    return tuple(dict.fromkeys(names))


def wrapper(names: Iterable[str], uses: Iterable[str] = ()) -> bytes:
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


def take_values(ptx: str, module: Module, names: Iterable[str]) -> tuple[str, dict[str, int]]:
    """The PTX without the probes for ``names``, and the value of each name that the source defines.

    ``module`` is what the text says. A variable without an initialiser is 0 (PTX ISA section 5.4.4). Of a
    name that inline assembly defines once more nothing is taken, so that the assembler refuses the file.
    """
    wanted = {PREFIX + name: name for name in names}
    defined = [variable for variable in module.variables if variable.name in wanted]
    times = Counter(variable.name for variable in defined)
    probes = [variable for variable in defined if times[variable.name] == 1]
    values = {wanted[variable.name]: _value(variable) for variable in probes}
    for begin, end in sorted((variable.text for variable in probes), reverse=True):
        ptx = ptx[:begin] + ptx[end:].removeprefix("\n")
    return ptx, {name: value for name, value in values.items() if value != UNDEFINED}


def _value(variable: Variable) -> int:
    first = variable.initial[0] if variable.initial else None
    return first.value if isinstance(first, Immediate) else 0


def assumed(interface: KernelInterface, *sources: Mapping[str, int]) -> tuple[str, ...]:
    """The constants that no source defines under any of their names."""
    known = {name for source in sources for name in source}
    return tuple(c.name for c in interface.constants if known.isdisjoint((c.name, *c.aliases)))


def constants_of(interface: KernelInterface, *sources: Mapping[str, int]) -> Named[int]:
    """Each constant's value: of the first of its names in the first source that has any, else its default."""
    return tuple(
        (
            c.name,
            next((known[n] for known in sources for n in (c.name, *c.aliases) if n in known), c.default),
        )
        for c in interface.constants
    )
