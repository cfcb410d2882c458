"""The cases of the chapters on a real device: the same PTX, the same operands, compared bit for bit.

Run by hand or by `pytest -m gpu`: ``python -m tests.emulator.instructions.on_device``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.emulator.instructions import (
    test_compare,
    test_convert,
    test_floating,
    test_half,
    test_integer,
    test_logic,
    test_memory,
)
from tests.emulator.instructions.harness import THREADS, Case, assemble, evaluate
from tests.emulator.instructions.numbers import FORMATS, WIDTHS, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator

CHAPTERS = (test_integer, test_logic, test_compare, test_convert, test_floating, test_half, test_memory)


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
    """Where the device gives something else than the emulator."""
    columns, here, there = case.columns(), evaluate(case), on_device(case)
    for kind, ours, theirs in zip(case.results, here, there, strict=True):
        for lane in np.flatnonzero(ours != theirs):
            operands = [value_of(int(c[lane]), k) for c, k in zip(columns, case.operands, strict=True)]
            yield f"{case.name} {kind} of {operands}: {int(ours[lane]):#x}, device {int(theirs[lane]):#x}"


def main() -> int:
    """Compare everything; print what differs."""
    total = refused = differ = 0
    for chapter in CHAPTERS:
        for case in chapter.CASES:
            total += 1
            try:
                found = list(differences(case))
            except Exception as error:  # noqa: BLE001
                refused += 1
                print("REFUSED", case.text.replace("\n", " "), type(error).__name__, str(error)[:200])
                continue
            if found:
                differ += 1
                print(len(found), *found[:4], sep="\n   ")
    print(total, "cases", refused, "refused", differ, "differ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
