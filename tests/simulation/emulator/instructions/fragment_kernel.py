"""A kernel around a few instructions whose registers are loaded, and stored, lane by lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.model import Argument
from tests.simulation.emulator.instructions.harness import HEADER, launch

if TYPE_CHECKING:
    from grader.model import Run

Bits: TypeAlias = np.ndarray[Any, Any]


def _assembled(body: str, registers: dict[str, tuple[int, str]]) -> str:
    """A kernel around ``body`` whose registers ``a0``, ``a1``… are loaded; those of ``d`` are stored."""
    lines = [
        "    .reg .b32 %i; .reg .b64 %p, %o; .reg .pred %q; .reg .b32 %mask;",
        "    mov.u32 %i, %tid.x;",
    ]
    for name, (count, kind) in registers.items():
        lines.append(f"    .reg .{kind} {', '.join(f'{name}{number}' for number in range(count))};")
    for name, (count, kind) in registers.items():
        if name != "d":
            lines += [*_address(name, count, kind)]
            size = int(kind[1:]) // 8
            lines += [f"    ld.global.{kind} {name}{n}, [%p+{n * size}];" for n in range(count)]
    count, kind = registers["d"]
    lines += [body, *_address("d", count, kind)]
    lines += [f"    st.global.{kind} [%p+{n * int(kind[1:]) // 8}], d{n};" for n in range(count)]
    parameters = ", ".join(f".param .u64 p_{name}" for name in registers)
    text = "\n".join(lines)
    return f"{HEADER}.visible .entry kernel({parameters})\n{{\n{text}\n    ret;\n}}\n"


def _address(name: str, count: int, kind: str) -> list[str]:
    step = count * int(kind[1:]) // 8
    return [
        f"    ld.param.u64 %p, [p_{name}]; mul.wide.u32 %o, %i, {step}; add.s64 %p, %p, %o;",
    ]


def run_with(body: str, fragments: dict[str, Bits], results: tuple[int, str], threads: int = 64) -> Run:
    """Run ``body``; ``fragments``: for each name its registers, shape (threads, registers), unsigned.

    ``results``: how many registers ``d0``, ``d1``… of which type are stored.
    """
    registers = {name: (array.shape[1], f"b{8 * array.itemsize}") for name, array in fragments.items()}
    arguments = [Argument(f"p_{name}", "in", array) for name, array in fragments.items()]
    count, kind = results
    arguments.append(Argument("p_d", "out", np.zeros((threads, count), f"u{int(kind[1:]) // 8}")))
    return launch(_assembled(body, registers | {"d": results}), tuple(arguments), threads=threads)


def registers_after(
    body: str, fragments: dict[str, Bits], results: tuple[int, str], threads: int = 64
) -> Bits:
    """The registers ``d`` of each thread after ``body``, which is right."""
    done = run_with(body, fragments, results, threads)
    assert not done.findings, done.findings[0].message
    return done.outputs[0][1]
