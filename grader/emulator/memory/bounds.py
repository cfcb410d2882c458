"""Bounds of the variable that an access was written for: the bytes beyond belong to another.

`grader.emulator.linking.provenance` says which variable an address stems from; here that becomes bytes, once
the launch is laid out and for the sites that are come to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from grader.emulator.memory.memory import Allocation
from grader.emulator.naming import SharedArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.emulator.linking.program import Program
    from grader.emulator.linking.provenance import Origin
    from grader.emulator.memory.layout import Layout


class LocalArray(NamedTuple):
    """An object in the frame of a function; the PTX does not say what it is called."""

    start: int
    size: int


Holder: TypeAlias = Allocation | SharedArray | LocalArray


class Bound(NamedTuple):
    """Bytes ``low`` to ``high`` in a state space: of a block, of a frame, or generic addresses.

    ``holders`` are the variables that they belong to; where an address may stem from several shared arrays
    those lie between ``low`` and ``high``, and others may too. Nothing is left of what must not be written.
    """

    space: str
    low: int
    high: int
    holders: tuple[Holder, ...]


class Bounds(dict[int, "Bound | None"]):
    """The bounds of each site of a launch, found out when it is first asked for; None: not known."""

    def __init__(self, program: Program, layout: Layout) -> None:
        super().__init__()
        self._program = program
        self._frames = {f.name: f for f in program.module.functions}
        self._places: dict[str, Holder | None] = {array.name: array for array in layout.shared}
        self._base = layout.memory.base
        starts = {self._base + allocation.start: allocation for allocation in layout.memory.allocations}
        for name, address in layout.addresses.items():
            self._places.setdefault(name, starts.get(address))
        self._places |= layout.pointed

    def __missing__(self, site: int) -> Bound | None:
        """Work it out, and remember."""
        self[site] = bound = self._bound(site)
        return bound

    def stores_to(self, array: Holder) -> list[int] | None:
        """The sites that write an array; None where what some store was written for is not known."""
        sites = []
        for site, instruction in enumerate(self._program.sites):
            if instruction.opcode in _STORES and "param" not in instruction.modifiers:
                bound = self[site]
                if bound is None:
                    return None
                if any(
                    type(holder) is type(array) and holder.start == array.start for holder in bound.holders
                ):
                    sites.append(site)
        return sites

    def _bound(self, site: int) -> Bound | None:
        origins, frame = self._program.origins[site]
        holders: list[Holder | None] = []
        for origin in origins or ():
            if origin.function:
                holders.append(self._in_frame(origin, frame))
            elif origin.name in self._places:  # else a variable of another kernel, which nobody launched
                holders.append(self._places[origin.name])
        variables = tuple(variable for variable in holders if variable is not None)
        if (
            not variables
            or len(variables) < len(holders)
            or len({type(variable) for variable in variables}) > 1
        ):
            return None
        if isinstance(variables[0], Allocation):
            low, high = self._base + variables[0].start, self._base + variables[0].end
            if variables[0].constant and self._program.sites[site].opcode in _STORES:
                high = low
            return Bound("global", low, high, variables) if len(variables) == 1 else None
        ends = [
            variable.start + variable.size for variable in variables if not isinstance(variable, Allocation)
        ]
        space = "local" if isinstance(variables[0], LocalArray) else "shared"
        return Bound(space, min(variable.start for variable in variables), max(ends), variables)

    def _in_frame(self, origin: Origin, frame: Mapping[str, int]) -> LocalArray | None:
        """From where an object begins to where the next one does."""
        function = self._frames[origin.function]
        whole = next((v.size for v in function.variables if v.name == origin.name), 0)
        if origin.start < 0:
            return LocalArray(frame[origin.name], whole)
        later = [
            start for start in self._program.provenance().starts[origin.function] if start > origin.start
        ]
        return LocalArray(frame[origin.name] + origin.start, min([*later, whole]) - origin.start)


_STORES = ("st", "atom", "red", "mbarrier")
