"""Functions whose results their kernels compute, and functions whose results the host does, by operation.

A file holds what all have in common, and after each line `//@ operation: name` one function.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.grading.assignment import load_assignment
from grader.model import Assignment, Submission

FOLDER = Path(__file__).parent / "function"
_MARK = "//@ "
_REFERENCE = Path(__file__).parents[2] / "reference"

_YAML = """
id: {name}
title: {name}
reference: {reference}
submission: {{kind: function, function: {name}, pointers: {pointers}, parameters: {{{parameters}}},
  seconds: 5, memory: 512, device_memory: 64, emulator_seconds: 10}}
cases: [{{id: one, shape: {{{shape}}}}}]
rubric: [{{id: right, points: 100, check: output}}]
"""
_OPERATIONS = {
    "solve": (
        "matmul",
        "A: 'in float32[M, K]', B: 'in float32[K, N]', C: 'out float32[M, N]', M: int32, K: int32, N: int32",
        "M: 13, K: 12, N: 10",
    ),
    "add": (
        "vector-add",
        "A: 'in float32[N]', B: 'in float32[N]', C: 'out float32[N]', N: int32",
        "N: 150",
    ),
    "total": ("reduction", "values: 'in float32[N]', total: 'inout float32[1]', N: int32", "N: 300"),
    "turn": (
        "transpose",
        "input: 'in float32[M, N]', output: 'out float32[N, M]', M: int32, N: int32",
        "M: 11, N: 18",
    ),
    "scan": (
        "scan",
        "input: 'in float32[M, N]', output: 'out float32[M, N]', M: int32, N: int32",
        "M: 3, N: 140",
    ),
    "count": (
        "histogram",
        "values: 'in uint8[N]', counts: 'inout int32[B]', N: int32, B: int32",
        "N: 700, B: 16",
    ),
    "relu": ("relu", "x: 'in float32[N]', y: 'out float32[N]', N: int32", "N: 150"),
    "saxpy": (
        "saxpy",
        "x: 'in float32[N]', y: 'inout float32[N]', a: 'float32 = 3', N: int32",
        "N: 150",
    ),
}
_ORACLES = {
    "relu": """
import numpy as np
KINDS = ("random",)
def inputs(kind, shape, rng):
    return {"x": rng.standard_normal(shape["N"]).astype(np.float32)}
def expected(inputs, shape):
    return {"y": (np.maximum(inputs["x"].astype(np.float64), 0), np.zeros(shape["N"]))}
""",
    "saxpy": """
import numpy as np
KINDS = ("random",)
def inputs(kind, shape, rng):
    return {name: rng.standard_normal(shape["N"]).astype(np.float32) for name in "xy"}
def expected(inputs, shape):
    values = 3 * inputs["x"].astype(np.float64) + inputs["y"]
    return {"y": (values, np.full(shape["N"], 1e-5))}
def work(shape):
    return {"flops": 2 * shape["N"]}
""",
}


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a file: the name of its operation, and of itself."""

    operation: str
    name: str
    source: str

    @property
    def submission(self) -> Submission:
        """The submission that a student would have handed in."""
        return Submission("ada", f"{self.operation}.cu", self.source.encode(), "0" * 8)


def functions_in(folder: str) -> list[Function]:
    """All functions of the files of a folder."""
    functions = []
    for path in sorted((FOLDER / folder).glob("*.cu")):
        common, *rest = path.read_text().split(f"\n{_MARK}")
        for part in rest:
            title, body = part.split("\n", 1)
            operation, _, name = title.rpartition(": ")
            functions.append(Function(operation or "solve", name, f"{common}\n{body}"))
    return functions


def assignment_of(operation: str, folder: Path, pointers: str = "host") -> Assignment:
    """An assignment that asks for an operation in one case, with the oracle of the course or of this file."""
    reference, parameters, shape = _OPERATIONS[operation]
    of_assignment = folder / "assignments" / operation
    of_assignment.mkdir(parents=True, exist_ok=True)
    target = folder / "reference" / reference
    target.mkdir(parents=True, exist_ok=True)
    (target / "oracle.py").write_text(
        _ORACLES.get(reference) or (_REFERENCE / reference / "oracle.py").read_text()
    )
    text = _YAML.format(
        name=operation, reference=reference, pointers=pointers, parameters=parameters, shape=shape
    )
    (of_assignment / "assignment.yaml").write_text(text)
    return load_assignment(of_assignment)
