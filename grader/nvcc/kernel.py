"""Finding the assignment's kernel among those that a file has."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from grader.nvcc import templates
from grader.nvcc.mangled import read_name
from grader.nvcc.shown import harmless
from grader.nvcc.signature import mismatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.model import KernelInterface
    from grader.nvcc.declarations import DeclaredKernel
    from grader.nvcc.mangled import Signature
    from grader.nvcc.signature import Entry

MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kernel of the PTX that goes by the right name; ``problem`` says why its parameters do not fit.

    ``declared`` is where the file declares it, as far as that is known, and ``numbers`` are the whole numbers
    among its template arguments by their parameters' names.
    """

    entry: Entry
    signature: Signature
    problem: str
    declared: DeclaredKernel | None
    numbers: Mapping[str, int]


def candidates(
    entries: Iterable[Entry],
    interface: KernelInterface,
    values: Mapping[str, int],
    declared: Iterable[DeclaredKernel] = (),
    launches: Iterable[tuple[str, ...]] = (),
) -> tuple[Candidate, ...]:
    """The kernels with the assignment's name, best first; ties stay in the order of the PTX.

    A kernel whose parameters fit comes before one whose do not. Among those a template's instance that agrees
    with the constants' ``values`` comes first, and then one with the template arguments of the first of the
    ``launches`` that the file's text shows.
    """
    by_name = {kernel.name: kernel for kernel in reversed(tuple(declared))}
    order = {arguments: number for number, arguments in enumerate(launches)}
    ranked: list[tuple[tuple[bool, bool, int], Candidate]] = []
    for entry in entries:
        signature = read_name(entry.name)
        if not _has_name(signature, entry.name, interface.kernel):
            continue
        kernel = by_name.get(signature.name)
        numbers = templates.numbers_of(signature, kernel)
        problem = mismatch(interface.kernel, entry, signature, interface.parameters)
        differs = not templates.agrees(interface, values, numbers)
        place = order.get(tuple(map(str, signature.template)), len(order))
        candidate = Candidate(entry, signature, problem, kernel, numbers)
        ranked.append(((bool(problem), differs, place), candidate))
    return tuple(candidate for _, candidate in sorted(ranked, key=lambda each: each[0]))


def _has_name(signature: Signature, symbol: str, kernel: str) -> bool:
    qualified = "::".join((*signature.scopes, signature.name))
    return kernel in (symbol, signature.name, qualified)


def instances(
    declared: Iterable[DeclaredKernel],
    interface: KernelInterface,
    values: Mapping[str, int],
    launches: Iterable[tuple[str, ...]] = (),
) -> tuple[str, ...]:
    """What to write in C++ to have the kernel emitted: ``ns::matmul<16>`` for a template, ``matmul`` else.

    A template gets the arguments of the file's ``launches``, or else those that can be known
    (`templates.asked_for`); where neither is there, it is left out.
    """
    named: list[str] = []
    for kernel in declared:
        if kernel.name != interface.kernel.rsplit("::", 1)[-1]:
            continue
        name = "::".join(("", *kernel.scopes, kernel.name))
        if not kernel.template:
            named.append(name)
            continue
        known = tuple(launches) or (templates.asked_for(kernel, interface, values),)
        named += [f"{name}<{', '.join(arguments)}>" for arguments in known if arguments is not None]
    return tuple(named)


def not_found(
    interface: KernelInterface, declared: Iterable[DeclaredKernel], entries: Iterable[Entry]
) -> str:
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
