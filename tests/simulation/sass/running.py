"""Running a kernel's machine code on all blocks of a launch, and the same launch in the PTX emulator."""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.model import Argument, Launch
from grader.simulation.emulator.launch import run as emulate
from grader.simulation.emulator.memory.layout import bytes_of, lay_out, local_bytes_of
from grader.simulation.sass.cubin import constant_banks
from grader.simulation.sass.interpreter import run
from grader.simulation.sass.linking import link
from grader.simulation.sass.listing import read_listing
from grader.simulation.sass.machine import SassMachine, Shape
from grader.toolchain.nvcc import Tools, find_toolchain, machine_code
from grader.toolchain.nvcc.ptxas import resources_of
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.simulation.sass.joined_sources import parsed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grader.model import Dim3
    from grader.simulation.emulator.memory.layout import Layout
    from grader.simulation.ptx import Function, Module
    from grader.simulation.sass.machine import ExecutionTrace
    from grader.toolchain.nvcc import MachineCode

ARCHITECTURES = (75, 80, 89, 90)
PARAMETERS = {75: 0x160, 80: 0x160, 89: 0x160, 90: 0x210}
"""Offset of the parameters in constant bank 0."""
SYSTEM_BYTES = 1024
"""Shared memory in front of the kernel's own from compute capability 9.0 on."""
STEPS = 60_000


@cache
def tools() -> Tools:
    """The tools that make machine code, with the builds of this run of the tests."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


@dataclass(frozen=True)
class Case:
    """A launch: the kernel ``entry`` of a PTX text with its arguments, arrays and scalars."""

    text: str
    entry: str
    grid: Dim3
    block: Dim3
    arguments: tuple[Any, ...]
    shared: int = 0

    @property
    def launch(self) -> Launch:
        """Its configuration."""
        return Launch(self.grid, self.block, self.shared)

    def named(self) -> tuple[Argument, ...]:
        """The arguments, each array in and out."""
        return tuple(
            value
            if isinstance(value, Argument)
            else Argument(f"a{place}", "inout" if isinstance(value, np.ndarray) else "value", value)
            for place, value in enumerate(self.arguments)
        )


@dataclass(frozen=True)
class Done:
    """The result of the machine code: the arrays afterwards, by name, and the trace."""

    arrays: dict[str, NDArray[Any]]
    trace: ExecutionTrace


def run_code(case: Case, architecture: int, steps: int = STEPS) -> Done:
    """Run the machine code of a launch for a compute capability times ten, all blocks at once."""
    return run_machine_code(_code_of(case.text, architecture), case, architecture, steps)


@lru_cache(maxsize=len(ARCHITECTURES))
def _code_of(text: str, architecture: int) -> MachineCode:
    """The machine code of a text, of which many kernels are run one after the other."""
    return machine_code(tools(), text, architecture)


def run_machine_code(code: MachineCode, case: Case, architecture: int, steps: int = STEPS) -> Done:
    """Run machine code that is there already."""
    module = parsed(case.text)
    function = module.function(case.entry)
    layout = lay_out(module, function, case.launch, case.named(), track=False)
    local = max(local_bytes_of(module, function), resources_of(code.log, case.entry).stack_bytes) + 1024
    blocks = case.grid[0] * case.grid[1] * case.grid[2]
    machine = SassMachine(
        Shape(case.block, case.grid, tuple(range(blocks))),
        layout.memory.bytes,
        layout.memory.base,
        layout.shared_bytes + 2 * SYSTEM_BYTES,
        local,
    )
    banks = _banks(code, case, function, layout, architecture, local)
    trace = run(link(read_listing(code.listing, case.entry), banks), machine, steps)
    arrays = {
        argument.name: machine.memory[allocation.start : allocation.start + value.nbytes]
        .view(value.dtype)
        .reshape(value.shape)
        .copy()
        for argument, value, allocation in layout.arrays
    }
    return Done(arrays, trace)


def run_ptx(case: Case) -> dict[str, NDArray[Any]]:
    """The arrays after the same launch in the PTX emulator; architectures with the same PTX share them."""
    key = (case.text, case.entry, case.launch, pickle.dumps(case.named()))
    if key not in _latest:
        done = emulate(_alone(case), case.entry, case.launch, case.named(), detect=False)
        assert done.completed, done.findings
        _latest.clear()
        _latest[key] = dict(done.outputs)
    return _latest[key]


_latest: dict[tuple[str, str, Launch, bytes], dict[str, NDArray[Any]]] = {}
"""Outputs of the last launch, by its key."""


def _alone(case: Case) -> Module:
    """The module without its other kernels, at which the emulator would look, too."""
    module = parsed(case.text)
    functions = (each for each in module.functions if not each.is_entry or each.name == case.entry)
    return replace(module, functions=tuple(functions))


def _banks(
    code: MachineCode, case: Case, function: Function, layout: Layout, architecture: int, local: int
) -> dict[int, bytes]:
    """The constant banks of a launch, as a driver fills them."""
    bank = bytearray(0x2000)
    struct.pack_into("<6I", bank, 0, *case.block, *case.grid)
    struct.pack_into("<I", bank, 0x28, local)
    at = PARAMETERS[architecture]
    for formal in function.parameters:
        at = -(-at // formal.align) * formal.align
        content = bytes_of(dict(layout.parameters[formal.name]), formal.size).tobytes()
        bank[at : at + len(content)] = content
        at += formal.size
    banks = constant_banks(code.cubin, case.entry)
    contents = {number: bytearray(content) for number, content in banks.contents.items() if number}
    for name, start, size in banks.variables:
        if name in layout.addresses:
            first = layout.addresses[name] - layout.memory.base
            contents[3][start : start + size] = layout.memory.bytes[first : first + size].tobytes()
    for start, name in banks.addresses:
        struct.pack_into("<Q", contents[4], start, layout.addresses.get(name, 0))
    return {0: bytes(bank)} | {number: bytes(content) for number, content in contents.items()}


def unlike(got: NDArray[Any], wanted: NDArray[Any], within: float) -> int:
    """Count the elements that differ: floats by more than ``within``, relative and absolute."""
    if got.dtype.names:
        return sum(unlike(got[name], wanted[name], within) for name in got.dtype.names)
    if got.dtype.kind != "f":
        return int((got != wanted).sum())
    with np.errstate(all="ignore"):
        near = np.isclose(got.astype(np.float64), wanted.astype(np.float64), within, within, equal_nan=True)
    return int((~near).sum())


def differences(
    case: Case, architecture: int, names: Sequence[str] = (), within: float = 1e-5
) -> dict[str, int]:
    """Count the elements of each array that the machine code and the PTX emulator leave differently."""
    got, wanted = run_code(case, architecture).arrays, run_ptx(case)
    compared = {name: unlike(got[name], wanted[name], within) for name in wanted if name in (names or wanted)}
    return {name: count for name, count in compared.items() if count}
