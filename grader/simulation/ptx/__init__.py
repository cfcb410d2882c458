"""PTX text → frozen nodes. Knows nothing of execution.

``parse(text) -> Module`` is the whole interface; the nodes are in `grader.simulation.ptx.nodes`.
"""

from grader.simulation.ptx.nodes import (
    Address,
    Function,
    Immediate,
    Instruction,
    Location,
    Module,
    Numbers,
    Operand,
    Pair,
    Register,
    Symbol,
    Tuple,
    Variable,
    Vector,
)
from grader.simulation.ptx.parser import parse

__all__ = [
    "Address",
    "Function",
    "Immediate",
    "Instruction",
    "Location",
    "Module",
    "Numbers",
    "Operand",
    "Pair",
    "Register",
    "Symbol",
    "Tuple",
    "Variable",
    "Vector",
    "parse",
]
