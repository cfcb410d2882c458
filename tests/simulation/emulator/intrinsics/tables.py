"""Tables of device intrinsics: what each computes in CUDA C++, and in Python, of the same operands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.simulation.emulator.instructions.numbers import WIDTHS, combinations

if TYPE_CHECKING:
    from collections.abc import Callable

CTYPES = {
    "u8": "unsigned char",
    "s16": "short",
    "u16": "unsigned short",
    "s32": "int",
    "u32": "unsigned",
    "s64": "long long",
    "u64": "unsigned long long",
    "f32": "float",
    "f64": "double",
    "f16": "__half",
    "f16x2": "__half2",
    "bf16": "__nv_bfloat16",
    "bf16x2": "__nv_bfloat162",
}
"""Spelling of the types in CUDA C++."""


@dataclass(frozen=True)
class Table:
    """Expressions of ``a``, ``b`` and ``c``, and what each should give.

    ``operands`` and ``result`` are PTX types. A function of Python gets the operands of a thread as numbers.
    ``within`` is the relative error that an approximation may have. ``values`` replaces the usual edges.
    """

    name: str
    operands: tuple[str, ...]
    result: str
    entries: dict[str, Callable[..., Any]]
    within: float = 0.0
    values: tuple[np.ndarray[Any, Any], ...] = ()
    columns: list[np.ndarray[Any, Any]] = field(init=False)

    def __post_init__(self) -> None:
        """Draw the operands."""
        found = [*(self.values or combinations(self.operands, 256))]
        object.__setattr__(self, "columns", found)

    @property
    def count(self) -> int:
        """The number of threads."""
        return len(self.columns[0])

    def source(self) -> str:
        """The kernel that computes every entry in every thread."""
        letters = "abc"[: len(self.operands)]
        parameters = [f"const {CTYPES[k]} *{x}s" for x, k in zip(letters, self.operands, strict=True)]
        declared = ", ".join(["int n", *parameters, f"{CTYPES[self.result]} *out"])
        lines = [f'extern "C" __global__ void {self.name}({declared}) {{']
        lines += ["  int i = blockIdx.x * blockDim.x + threadIdx.x;", "  if (i >= n) return;"]
        lines += [f"  {CTYPES[k]} {x} = {x}s[i];" for x, k in zip(letters, self.operands, strict=True)]
        lines += [f"  out[{place} * n + i] = {entry};" for place, entry in enumerate(self.entries)]
        return "\n".join([*lines, "}", ""])

    def empty(self) -> np.ndarray[Any, Any]:
        """The results, not computed yet."""
        return np.zeros(self.count * len(self.entries), f"u{WIDTHS[self.result] // 8}")
