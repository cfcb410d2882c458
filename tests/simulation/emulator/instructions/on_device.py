"""The chapters on a real device: the same PTX, the same operands, compared bit for bit.

`pytest -m gpu` runs them; ``python -m tests.simulation.emulator.instructions.on_device [FOLDER]`` prints what
differs, and writes it to ``instructions.txt`` in the folder. What is not an instruction with operands and
results, but a little program, is in `programs_on_device`.
"""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.simulation.emulator import device
from tests.simulation.emulator.instructions import programs_on_device
from tests.simulation.emulator.instructions.harness import THREADS, Case, assemble, evaluate
from tests.simulation.emulator.instructions.numbers import FORMATS, WIDTHS, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator


@lru_cache(maxsize=1)
def cases() -> list[Case]:
    """All cases of one instruction and its operands, of every chapter that has such cases."""
    found: list[Case] = []
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        if not path.stem.endswith("on_device"):
            chapter = importlib.import_module(f"tests.simulation.emulator.instructions.{path.stem}")
            found += [case for case in getattr(chapter, "CASES", ()) if isinstance(case, Case)]
    return found


def on_device(case: Case) -> list[np.ndarray[Any, Any]]:
    """The results' patterns, computed by the device."""
    columns = case.columns()
    results = [np.zeros(len(columns[0]), f"u{WIDTHS[kind] // 8}") for kind in case.results]
    grid, block = (len(columns[0]) // THREADS, 1, 1), (THREADS, 1, 1)
    arrays = device.launch(assemble(case), "kernel", [*columns, *results], grid, block)
    return arrays[len(columns) :]


def differences(case: Case) -> Iterator[str]:
    """Yield a line for each result of the device that differs from the emulator's.

    The bits of a NaN are open in PTX, and so are the last ones of an approximation. A tf32 result is a
    float32 in a register of type b32.
    """
    columns, here, there = case.columns(), evaluate(case), on_device(case)
    for kind, ours, theirs in zip(case.results, here, there, strict=True):
        for lane in np.flatnonzero(ours != theirs):
            got, wanted = int(ours[lane]), int(theirs[lane])
            read_as = "f32" if ".tf32." in case.name and kind == "b32" else kind
            if read_as in FORMATS and _open(
                value_of(got, read_as), value_of(wanted, read_as), 2 * case.within
            ):
                continue
            operands = [value_of(int(c[lane]), k) for c, k in zip(columns, case.operands, strict=True)]
            yield f"{case.name} {kind} of {operands}: {got:#x}, device {wanted:#x}"


def _open(ours: float, theirs: float, within: float) -> bool:
    if ours != ours or theirs != theirs:  # noqa: PLR0124 - NaN
        return ours != ours and theirs != theirs  # noqa: PLR0124
    return abs(ours - theirs) <= within * max(abs(theirs), 1.0)


def _differences_of(number: int) -> list[str]:
    return list(differences(cases()[number]))


def comparison() -> tuple[list[str], str]:
    """Compare all cases and all programs: a line for each difference, and how much there was."""
    programs = programs_on_device.recorded()
    found: list[str] = []
    unlike = 0
    for number, result in device.one_by_one(_differences_of, range(len(cases()))):
        lines = [f"{cases()[number].name}: {result}"] if isinstance(result, Exception) else result
        unlike += bool(lines)
        found += lines
    of_programs = list(programs_on_device.differences(programs))
    defined = sum(bool(each.defined()) for each in programs)
    return [*found, *of_programs], (
        f"{len(cases())} cases, {unlike} with operands that differ; {len(programs)} launches, "
        f"{defined} of them with outputs that PTX defines, {len(of_programs)} lines about those that differ"
    )


def main(*folders: str) -> int:
    """Compare everything; print what differs, and keep it in a folder."""
    found, summary = comparison()
    text = "\n".join([*found, summary, ""])
    sys.stdout.write(text)
    for folder in folders:
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / "instructions.txt").write_text(text)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
