"""Cases of the chapters on a real device: the same PTX, the same operands, compared bit for bit.

`pytest -m gpu` runs them; ``python -m tests.emulator.instructions.on_device`` prints what differs.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.emulator.instructions.harness import THREADS, Case, assemble, evaluate
from tests.emulator.instructions.numbers import FORMATS, WIDTHS, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator

CHAPTERS = ("integer", "logic", "compare", "convert", "floating", "half", "memory")


def cases() -> list[Case]:
    """All cases of one instruction and its operands."""
    found: list[Case] = []
    for chapter in CHAPTERS:
        found += importlib.import_module(f"tests.emulator.instructions.test_{chapter}").CASES
    return found


def on_device(case: Case) -> list[np.ndarray[Any, Any]]:
    """The results' patterns, computed by the device."""
    import cupy  # noqa: PLC0415 - only where there is a device

    columns = [cupy.asarray(column) for column in case.columns()]
    results = [cupy.zeros(len(columns[0]), f"u{WIDTHS[kind] // 8}") for kind in case.results]
    module = cupy.cuda.function.Module()
    module.load(assemble(case).encode())
    module.get_function("kernel")((len(columns[0]) // THREADS,), (THREADS,), (*columns, *results))
    return [cupy.asnumpy(result) for result in results]


def differences(case: Case) -> Iterator[str]:
    """Where the device gives something else than the emulator.

    The bits of a NaN are open in PTX, and so are the last ones of an approximation.
    """
    columns, here, there = case.columns(), evaluate(case), on_device(case)
    for kind, ours, theirs in zip(case.results, here, there, strict=True):
        for lane in np.flatnonzero(ours != theirs):
            got, wanted = int(ours[lane]), int(theirs[lane])
            if kind in FORMATS and _open(value_of(got, kind), value_of(wanted, kind), 2 * case.within):
                continue
            operands = [value_of(int(c[lane]), k) for c, k in zip(columns, case.operands, strict=True)]
            yield f"{case.name} {kind} of {operands}: {got:#x}, device {wanted:#x}"


def _open(ours: float, theirs: float, within: float) -> bool:
    if ours != ours or theirs != theirs:  # noqa: PLR0124 - NaN
        return ours != ours and theirs != theirs  # noqa: PLR0124
    return abs(ours - theirs) <= within * max(abs(theirs), 1.0)


def main() -> int:
    """Compare everything; print what differs."""
    everything = cases()
    found = [line for case in everything for line in differences(case)]
    sys.stdout.write("\n".join([*found, f"{len(everything)} cases, {len(found)} operands differ", ""]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
