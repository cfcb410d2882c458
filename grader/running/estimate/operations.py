"""Operation of each instruction for the simulation: its unit, how long it is busy, what it waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model import PIPES
from grader.running.estimate.multiprocessor import ALONE, PipeOperation
from grader.simulation.sass.listing import NO_SCOREBOARD

if TYPE_CHECKING:
    from grader.running.estimate.devices import GpuModel, Pipes
    from grader.simulation.sass.listing import SassInstruction

FMA, HEAVY, ALU, HALF, DOUBLE, SPECIAL, UNIFORM = range(len(PIPES))
"""The pipes of a partition, in the order of `grader.model.PIPES`."""

_FMA = frozenset(("FFMA", "FADD", "FMUL"))
_HALF = frozenset(("HADD2", "HMUL2", "HFMA2", "HSETP2", "HMNMX2"))
_DOUBLE = frozenset(("DADD", "DMUL", "DFMA", "DSETP"))
_SPECIAL = frozenset(
    ("MUFU", "POPC", "FLO", "BREV", "F2I", "F2F", "I2F", "FRND", "S2R", "S2UR", "R2UR", "FCHK")
)
_MOVES_BY_PRODUCT = frozenset(("MOV", "IADD"))
_NEITHER = frozenset(
    ("NOP", "BRA", "EXIT", "BSSY", "BSYNC", "WARPSYNC", "YIELD", "DEPBAR", "CALL", "RET", "BREAK")
)
_KINDS = {
    "LDG": "load",
    "LD": "load",
    "LDGSTS": "load",
    "STG": "store",
    "ST": "store",
    "RED": "atomic",
    "REDG": "atomic",
    "ATOM": "atomic",
    "ATOMG": "atomic",
    "LDS": "shared",
    "STS": "shared",
    "ATOMS": "shared",
    "LDL": "local",
    "STL": "local",
    "SHFL": "shuffle",
    "BAR": "barrier",
    "BRA": "branch",
}


def operation_of(instruction: SassInstruction, device: GpuModel) -> PipeOperation:
    """The operation of an instruction on a device."""
    pipe, busy = _pipe(instruction, device)
    control = instruction.control
    kind, latency = _KINDS.get(instruction.opcode, ""), 0.0
    if kind == "shared":
        latency = device.shared_latency
    elif kind == "shuffle":
        latency = device.shuffle_latency
    elif not kind and control.sets != NO_SCOREBOARD:
        kind, latency = "variable", device.special_latency
    stall = max(1.0, float(control.stall))
    return PipeOperation(
        pipe, busy, stall, control.waits, control.sets, control.reads, kind, latency, instruction.line
    )


def _pipe(instruction: SassInstruction, device: GpuModel) -> tuple[int, float]:
    """The pipe of an instruction, and the cycles that it is busy."""
    opcode, pipes = instruction.opcode, device.pipes
    if opcode in _KINDS or opcode in _NEITHER:
        return ALONE, 0.0
    if opcode == "IMAD":
        return _product_pipe(instruction, pipes)
    usual = {
        **dict.fromkeys(_FMA, (FMA, pipes.fma)),
        "VIADD": (HEAVY, pipes.fma_heavy),
        **dict.fromkeys(_HALF, (HALF, pipes.half)),
        **dict.fromkeys(_DOUBLE, (DOUBLE, pipes.double)),
        **dict.fromkeys(_SPECIAL, (SPECIAL, pipes.special)),
    }
    is_uniform = opcode.startswith("U") and opcode[1:2].isupper()
    return usual.get(opcode, (UNIFORM, pipes.uniform) if is_uniform else (ALU, pipes.alu))


def _product_pipe(instruction: SassInstruction, pipes: Pipes) -> tuple[int, float]:
    """IMAD moves and adds as well, which the pipe of float32 does as fast as its own."""
    modifiers = frozenset(instruction.modifiers)
    if modifiers & _MOVES_BY_PRODUCT:
        return FMA, pipes.fma
    return HEAVY, pipes.wide if modifiers & {"WIDE", "HI"} else pipes.fma_heavy
