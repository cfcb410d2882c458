"""A build and a launch with its arguments → what the model runs: machine code, memory, constant banks."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from grader.running.estimate.sampling import MachineCodeLaunch
from grader.simulation.emulator.memory.layout import bytes_of, lay_out, local_bytes_of
from grader.simulation.ptx import parse
from grader.simulation.sass.cubin import constant_banks
from grader.simulation.sass.listing import read_listing
from grader.toolchain.nvcc.ptxas import resources_of

if TYPE_CHECKING:
    from grader.model import Argument, Build, Launch
    from grader.simulation.emulator.memory.layout import Layout
    from grader.simulation.ptx import Function
    from grader.toolchain.nvcc import MachineCode

_NEWEST_LAYOUT, _NEWER_LAYOUT = 100, 90
_PARAMETERS = {_NEWEST_LAYOUT: 0x380, _NEWER_LAYOUT: 0x210, 0: 0x160}
"""Offset of parameters in bank 0, from a compute capability on; seen in the code that ptxas makes."""
_STACK = 0x28
_BANK_BYTES = 0x2000


def machine_code_launch(
    code: MachineCode, build: Build, launch: Launch, arguments: tuple[Argument, ...], architecture: int
) -> MachineCodeLaunch:
    """The launch of a build's kernel as the model runs it; ``code`` is what became of its PTX.

    Raises UnknownCodeError for code that is not read, and what
    `grader.simulation.emulator.memory.layout.lay_out` raises.
    """
    entry = build.entry
    module = parse(build.ptx)
    function = module.function(entry)
    layout = lay_out(module, function, launch, arguments, track=False)
    resources = resources_of(code.log, entry)
    local = max(local_bytes_of(module, function), resources.stack_bytes)
    banks = {0: _bank_of_launch(function, layout, launch, architecture, local)} | _other_banks(
        code, entry, layout
    )
    arrays = tuple((a.start, a.end - a.start) for a in layout.memory.allocations if a.end > a.start)
    return MachineCodeLaunch(
        listing=read_listing(code.listing, entry, build.source_name),
        block=launch.block,
        grid=launch.grid,
        banks=banks,
        memory=layout.memory.bytes,
        base=layout.memory.base,
        arrays=arrays,
        starts={argument.name: allocation.start for argument, _, allocation in layout.arrays},
        registers=max(1, resources.registers),
        shared_bytes=layout.shared_bytes,
        local_bytes=local,
    )


def _bank_of_launch(
    function: Function, layout: Layout, launch: Launch, architecture: int, local: int
) -> bytes:
    """Bank 0: the extents of the launch, and the parameters, each aligned to its size."""
    bank = bytearray(_BANK_BYTES)
    struct.pack_into("<6I", bank, 0, *launch.block, *launch.grid)
    struct.pack_into("<I", bank, _STACK, local)
    at = next(offset for since, offset in _PARAMETERS.items() if architecture >= since)
    for formal in function.parameters:
        at = -(-at // formal.align) * formal.align
        content = bytes_of(dict(layout.parameters[formal.name]), formal.size).tobytes()
        bank[at : at + len(content)] = content
        at += formal.size
    return bytes(bank)


def _other_banks(code: MachineCode, entry: str, layout: Layout) -> dict[int, bytes]:
    """The banks of constants, with the contents that the launch gives them, and of addresses."""
    banks = constant_banks(code.cubin, entry)
    contents = {bank: bytearray(content) for bank, content in banks.contents.items() if bank}
    for name, at, size in banks.variables:
        address = layout.addresses.get(name)
        if address is not None:
            first = address - layout.memory.base
            contents[3][at : at + size] = layout.memory.bytes[first : first + size].tobytes()
    for at, name in banks.addresses:
        struct.pack_into("<Q", contents[4], at, layout.addresses.get(name, 0))
    return {bank: bytes(content) for bank, content in contents.items()}
