"""The layout of memory before a launch: variables, arrays and shared memory, their bytes and bounds.

The bounds of an access are the bounds of the variable that it was written for: the bytes beyond belong to
another. `grader.simulation.emulator.linking.provenance` says which variable an address stems from; here that
becomes bytes, once the launch is laid out and for the sites that are reached.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias
from zlib import crc32

import numpy as np

from grader.base.records import frozen
from grader.simulation.emulator.linking.program import function_addresses, initial_bytes
from grader.simulation.emulator.machine.values import scalar
from grader.simulation.emulator.memory.memory import (
    HEAP,
    HEAP_BYTES,
    AddressSpace,
    Allocation,
    GlobalMemory,
    Heap,
    MemoryPlan,
)
from grader.simulation.emulator.naming import SharedArray
from grader.simulation.ptx import Symbol, Tuple
from grader.simulation.ptx.facts import used_locals
from grader.simulation.ptx.nodes import TYPE_BYTES
from grader.simulation.ptx.parser import symbol_called, symbol_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from grader.model import Argument, Launch
    from grader.simulation.emulator.linking.program import Program
    from grader.simulation.emulator.linking.provenance import Origin
    from grader.simulation.emulator.machine.values import Value
    from grader.simulation.ptx import Function, Module, Variable


def pieces_of(
    formal: Variable, argument: Argument, allocations: dict[str, Allocation], base: int
) -> dict[int, Value]:
    """A parameter by byte offset (PTX ISA section 5.1.6.1); an array is where it was placed.

    ``base`` is where global memory begins.
    """
    if isinstance(argument.value, np.ndarray):
        return {0: scalar(np.uint64(base + allocations[argument.name].start))}
    value: Any = argument.value
    if value.dtype.kind != "V":
        return {0: _widened(value, formal.size)}
    content = np.frombuffer(value.tobytes(), np.uint8).copy()
    for array, at in argument.pointers:
        content[at : at + 8].view(np.uint64)[0] += np.uint64(base + allocations[array].start)
    return dict(enumerate(content))


def bytes_of(pieces: dict[int, Value], size: int) -> NDArray[np.uint8]:
    """The pieces of a parameter as it lies in memory."""
    content = np.zeros(size, np.uint8)
    for offset, value in pieces.items():
        content[offset : offset + value.dtype.itemsize] = np.frombuffer(value.tobytes(), np.uint8)
    return content


def with_address(kernel: Function) -> tuple[Variable, ...]:
    """The parameters whose address a kernel takes, to index them or because of ``__grid_constant__``."""
    address_taken = {
        source.name
        for instruction in kernel.body
        if instruction.opcode == "mov"
        for source in instruction.operands[1:]
        if isinstance(source, Symbol)
    }
    return tuple(formal for formal in kernel.parameters if formal.name in address_taken)


def _widened(value: Value, size: int) -> Value:
    """A scalar at the width of its parameter: an int32 for a ``size_t`` keeps its number."""
    if value.dtype.itemsize == size:
        return value
    if value.dtype.kind == "f":
        return value.astype(f"f{size}")
    return value.astype(f"{value.dtype.kind}{size}")


STACK_BYTES = 8192
"""Local memory of a thread whose functions call themselves: eight times CUDA's default, for the frames of
this build are larger than the frames of a device. Without recursion a thread has what it needs."""

MOST_VARIABLE_BYTES = 256 << 20
"""Device memory that the variables of a file may take."""

_ALLOCATORS = ("malloc", "__nv_aligned_device_malloc")


class VariablesTooLargeError(Exception):
    """The variables of a file take more device memory than is given: ``bytes``."""

    def __init__(self, taken: int) -> None:
        super().__init__(taken)
        self.bytes = taken


class VariableTooSmallError(Exception):
    """A variable that is to hold an array is missing, or cannot hold it: its ``name``."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@frozen
class Layout:
    """The memory of a launch, and the parameters of the kernel.

    ``arrays`` pairs each array argument with its allocation. ``addresses`` gives every variable's generic
    address, or its offset where it is shared. ``parameters`` are the kernel's parameters as pieces by byte
    offset (PTX ISA section 5.1.6.1), and ``pointed`` the array that each is known to point to, if any.
    """

    memory: GlobalMemory
    arrays: tuple[tuple[Argument, NDArray[Any], Allocation], ...]
    shared: tuple[SharedArray, ...]
    shared_bytes: int
    addresses: Mapping[str, int]
    parameters: Mapping[str, Mapping[int, Value]]
    pointed: Mapping[str, Allocation | None]


class LayOut(Protocol):
    """Puts memory and parameters in place for one attempt at a launch, as `lay_out` does."""

    def __call__(
        self,
        module: Module,
        function: Function,
        launch: Launch,
        arguments: tuple[Argument, ...],
        *,
        track: bool,
    ) -> Layout:
        """See `lay_out`."""


def lay_out(
    module: Module,
    function: Function,
    launch: Launch,
    arguments: tuple[Argument, ...],
    *,
    track: bool,
) -> Layout:
    """Allocate and fill; ``track``: record the bytes that hold a value.

    Raises VariablesTooLargeError and VariableTooSmallError.
    """
    variables = [v for v in module.variables if v.space in ("global", "const")]
    size = sum(v.size for v in variables)
    if size > MOST_VARIABLE_BYTES:
        raise VariablesTooLargeError(size)
    parameters = with_address(function)
    filled = _array_variables(variables, arguments)
    plan = MemoryPlan()
    named = {v.name: _allocate(plan, v, filled.get(v.name)) for v in variables}
    named |= {v.name: plan.allocate(v.name, v.size, TYPE_BYTES[v.type], (), "const") for v in parameters}
    arrays = [
        (a, a.value, _allocate_array(plan, a, a.value))
        for a in arguments
        if isinstance(a.value, np.ndarray) and not a.symbol
    ]
    heap = plan.allocate(HEAP, HEAP_BYTES, 1) if takes_memory(module) else None
    memory = GlobalMemory.planned(plan, AddressSpace.from_number(launch_number(arguments)), track=track)
    for name, (argument, value) in filled.items():
        arrays.append((argument, value, replace(named[name], end=named[name].start + value.nbytes)))
    if heap is not None:
        memory.remove(heap)
        memory.heap = Heap(memory, heap.start, heap.end)
    shared, shared_bytes = shared_layout(module, function, launch)
    addresses = {array.name: array.start for array in shared}
    addresses |= {name: memory.base + allocation.start for name, allocation in named.items()}
    addresses |= function_addresses(module)
    for variable in variables:
        content = initial_bytes(variable, addresses, module) if variable.initial else None
        memory.fill(named[variable.name], content, initialised=not _is_out(filled.get(variable.name)))
    for argument, value, allocation in arrays:
        memory.fill(allocation, value, initialised=argument.direction != "out")
    where = {argument.name: allocation for argument, _, allocation in arrays}
    passed = tuple(zip(function.parameters, (a for a in arguments if a.is_parameter), strict=True))
    pieces = {formal.name: pieces_of(formal, value, where, memory.base) for formal, value in passed}
    for formal in parameters:
        content = bytes_of(pieces[formal.name], formal.size)
        memory.fill(named[formal.name], content, initialised=True)
    pointed = {formal.name: _pointed(value, where) for formal, value in passed}
    return Layout(memory, tuple(arrays), shared, shared_bytes, addresses, pieces, pointed)


def _pointed(argument: Argument, arrays: Mapping[str, Allocation]) -> Allocation | None:
    """The array that a parameter points to, itself or by the only pointer of a struct; None for others."""
    if len(argument.pointers) > 1:
        return None
    return arrays.get(argument.pointers[0][0] if argument.pointers else argument.name)


_DECIDING = 1 << 20
"""Bytes of an array that decide about the number of a launch."""


def launch_number(arguments: tuple[Argument, ...]) -> int:
    """A number that differs from launch to launch, and is the same for the same arguments."""
    number = 0
    for argument in arguments:
        value = np.ascontiguousarray(argument.value).reshape(-1)
        number = crc32(value[: _DECIDING // value.itemsize].tobytes(), number)
    return number * 0x9E37_79B9_7F4A_7C15 >> 7 & 2**48 - 1


Held: TypeAlias = "tuple[Argument, NDArray[Any]]"
"""An array that a variable holds, with its contents."""


def _array_variables(variables: list[Variable], arguments: tuple[Argument, ...]) -> dict[str, Held]:
    """The variables that hold arrays, by their names in the PTX; raises VariableTooSmallError."""
    sizes = {variable.name: variable.size for variable in variables}
    filled = {}
    for argument in arguments:
        if argument.symbol and isinstance(argument.value, np.ndarray):
            name = symbol_called(argument.symbol, sizes)
            if name is None or sizes[name] < argument.value.nbytes:
                raise VariableTooSmallError(argument.symbol)
            filled[name] = argument, argument.value
    return filled


def _allocate(plan: MemoryPlan, variable: Variable, held: Held | None) -> Allocation:
    """Room for a variable, with the shape of the array that it holds where that fills it."""
    width, constant = TYPE_BYTES[variable.type], variable.space == "const"
    if held is None:
        name = symbol_name(variable.name)
        return plan.allocate(name, variable.size, width, (), "const" if constant else "")
    argument, value = held
    shape = value.shape if value.nbytes == variable.size else ()
    direction = "const" if constant else argument.direction
    return plan.allocate(argument.label, variable.size, value.itemsize, shape, direction)


def _allocate_array(plan: MemoryPlan, argument: Argument, value: NDArray[Any]) -> Allocation:
    """Room for an array that a kernel is given."""
    return plan.allocate(
        argument.label,
        value.nbytes,
        value.itemsize,
        value.shape,
        argument.direction,
        lead=argument.offset * value.itemsize,
    )


def _is_out(held: Held | None) -> bool:
    return held is not None and held[0].direction == "out"


def takes_memory(module: Module) -> bool:
    """True if a kernel may take memory from the heap."""
    return any(function.name in _ALLOCATORS and not function.defined for function in module.functions)


def _in_scope(module: Module, function: Function) -> Iterator[Variable]:
    """The variables of the module, of the kernel, and of the functions that it may call."""
    yield from module.variables
    for other in module.functions:
        if other is function or not other.is_entry:
            yield from other.variables


def shared_layout(module: Module, function: Function, launch: Launch) -> tuple[tuple[SharedArray, ...], int]:
    """Layout of shared variables: static ones in order, then the dynamic ones, which share one place."""
    variables = [v for v in _in_scope(module, function) if v.space == "shared"]
    arrays, end = [], 0
    for variable in (v for v in variables if v.count):
        end = -(-end // variable.align) * variable.align
        arrays.append(SharedArray(variable.name, end, variable.size))
        end += variable.size
    for variable in (v for v in variables if not v.count):
        start = -(-end // max(16, variable.align)) * max(16, variable.align)
        arrays.append(SharedArray(variable.name, start, launch.shared_bytes))
    if launch.shared_bytes:
        end = -(-end // 16) * 16 + launch.shared_bytes
    return tuple(arrays), end


def grain_of(module: Module) -> int:
    """1 where an instruction accesses less than 4 bytes of memory at once, else 4."""
    for function in module.functions:
        for instruction in function.body:
            narrow = instruction.modifiers and TYPE_BYTES.get(instruction.modifiers[-1], 4) < 4  # noqa: PLR2004
            if (
                narrow
                and instruction.opcode in ("ld", "st", "atom", "red")
                and "param" not in instruction.modifiers
            ):
                return 1
    return 4


def local_bytes_of(module: Module, entry: Function) -> int:
    """Local memory to set aside per thread: the frames of the longest chain of calls, as ptxas has it too.

    Where functions call themselves, or a callee is unknown, there is no longest chain: then the size is that
    of a thread's stack.
    """
    functions = {function.name: function for function in module.functions if function.defined}
    totals: dict[str, int] = {}

    def deepest(function: Function, above: tuple[str, ...]) -> int:
        if function.name in above:
            raise RecursionError
        if function.name not in totals:
            inner = (*above, function.name)
            below = [deepest(functions[name], inner) for name in _called(function) & set(functions)]
            totals[function.name] = _frame_bytes(function) + max(below, default=0)
        return totals[function.name]

    try:
        return max(16, deepest(entry, ()))
    except RecursionError:
        return STACK_BYTES + _frame_bytes(entry)


def _called(function: Function) -> set[str]:
    """The functions that it calls; raises RecursionError where the code does not say."""
    names = set()
    for instruction in function.body:
        if instruction.opcode == "call":
            callee = next(
                (operand for operand in instruction.operands if not isinstance(operand, Tuple)), None
            )
            if not isinstance(callee, Symbol):
                raise RecursionError
            names.add(callee.name)
    return names


def _frame_bytes(function: Function) -> int:
    """Local memory of one activation, with the bytes that aligning it may take."""
    return -(-sum(variable.size + variable.align - 1 for variable in used_locals(function)) // 16) * 16


class LocalArray(NamedTuple):
    """An object in the frame of a function; the PTX does not give its name."""

    start: int
    size: int


Holder: TypeAlias = Allocation | SharedArray | LocalArray


class Bound(NamedTuple):
    """Bytes ``low`` to ``high`` in a state space: of a block, of a frame, or generic addresses.

    ``holders`` are the variables that they belong to; where an address may stem from several shared arrays
    these lie between ``low`` and ``high``, and others may too. The range is empty where the variable must not
    be written.
    """

    space: str
    low: int
    high: int
    holders: tuple[Holder, ...]


class Bounds(dict[int, "Bound | None"]):
    """The bounds of each site of a launch, computed when they are first asked for; None: unknown."""

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
        """Compute the bounds of a site, and cache them."""
        self[site] = bound = self._bound(site)
        return bound

    def stores_to(self, array: Holder) -> list[int] | None:
        """The sites that write an array; None where the target of some store is unknown."""
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
            elif origin.name in self._places:  # else a variable of another kernel, which was not launched
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
        """Object of a frame: from its start to the start of the next one."""
        function = self._frames[origin.function]
        frame_bytes = next((v.size for v in function.variables if v.name == origin.name), 0)
        if origin.start < 0:
            return LocalArray(frame[origin.name], frame_bytes)
        later = [
            start for start in self._program.provenance().starts[origin.function] if start > origin.start
        ]
        return LocalArray(frame[origin.name] + origin.start, min([*later, frame_bytes]) - origin.start)


_STORES = ("st", "atom", "red", "mbarrier")
