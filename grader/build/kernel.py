"""Finding the assignment's kernel among those that a file has."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from grader.build.mangled import Signature, read_name
from grader.build.shown import harmless
from grader.build.signature import c_type, mismatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.build.declarations import Kernel
    from grader.build.entries import Entry
    from grader.model import KernelInterface

MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kernel of the PTX that goes by the right name; ``problem`` says why its parameters do not fit."""

    entry: Entry
    signature: Signature
    problem: str
    fits_template: bool
    """Whether its template arguments are the constants' values; true for what is no template."""


def candidates(
    entries: Iterable[Entry], interface: KernelInterface, values: Iterable[int]
) -> tuple[Candidate, ...]:
    """The kernels with the assignment's name, best first; ties stay in the order of the PTX.

    A kernel whose parameters fit comes before one whose do not, and among those a template instance
    with the constants' ``values`` as its arguments before one with others.
    """
    wanted = tuple(values)
    found = []
    for entry in entries:
        signature = read_name(entry.name)
        if not _has_name(signature, entry.name, interface.kernel):
            continue
        numbers = [argument for argument in signature.template if isinstance(argument, int)]
        fits = not numbers or not wanted or any(number in wanted for number in numbers)
        problem = mismatch(interface.kernel, entry, signature, interface.parameters)
        found.append(Candidate(entry, signature, problem, fits))
    return tuple(sorted(found, key=lambda c: (bool(c.problem), not c.fits_template)))


def _has_name(signature: Signature, symbol: str, kernel: str) -> bool:
    qualified = "::".join((*signature.scopes, signature.name))
    return kernel in (symbol, signature.name, qualified)


def instances(
    declared: Iterable[Kernel], interface: KernelInterface, values: Mapping[str, int]
) -> tuple[str, ...]:
    """What to write in C++ to have the kernel emitted: ``ns::matmul<16>`` for a template, ``matmul`` else.

    A template parameter that is a constant of the assignment gets its value, any other number that of
    the first constant, a type the element type of the first array.
    """
    return tuple(
        "::".join(("", *kernel.scopes, kernel.name)) + _arguments(kernel.template, interface, values)
        for kernel in declared
        if kernel.name == interface.kernel.rsplit("::", 1)[-1]
    )


def _arguments(template: tuple[str, ...], interface: KernelInterface, values: Mapping[str, int]) -> str:
    if not template:
        return ""
    first = interface.constants[0].name if interface.constants else ""
    aliases = {alias: c.name for c in interface.constants for alias in (c.name, *c.aliases)}
    array = next((each.dtype for each in interface.arrays), "float32")
    given: list[str] = []
    for parameter in template:
        declaration, _, default = parameter.partition("=")
        words = declaration.replace("...", " ").split()
        constant = aliases.get(words[-1] if words else "")
        if words[:1] in (["typename"], ["class"]):
            given.append(c_type(array))
        elif constant or (first and not default):
            given.append(str(values[constant or first]))
        else:
            break
    return f"<{', '.join(given)}>"


def not_found(interface: KernelInterface, declared: Iterable[Kernel], entries: Iterable[Entry]) -> str:
    """That there is no such kernel, and which there are; one that is asked for, too, keeps its name."""
    names = [kernel.name for kernel in declared] + [read_name(entry.name).name for entry in entries]
    distinct = [harmless(name) for name in dict.fromkeys(names)]
    message = f"no kernel named `{interface.kernel}`"
    if not distinct:
        return f"{message}: this file has no `__global__` function"
    listed = ", ".join(f"`{name}`" for name in distinct[:MOST_LISTED])
    more = f" and {len(distinct) - MOST_LISTED} more" if len(distinct) > MOST_LISTED else ""
    asked = [harmless(name.rsplit("::", 1)[-1]) for name in interface.others]
    by_lower_case = {name.lower(): name for name in distinct if name not in asked}
    alike = get_close_matches(interface.kernel.lower(), by_lower_case, 1, 0.7)
    hint = f"; if `{by_lower_case[alike[0]]}` is the one, rename it" if alike else ""
    also = [f"`{name}`" for name in asked if name in distinct]
    beside = f"; {' and '.join(also)} {'is' if len(also) == 1 else 'are'} asked for, too" if also else ""
    return f"{message}; this file has: {listed}{more}{beside}{hint}"
