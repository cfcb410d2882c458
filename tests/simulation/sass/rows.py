"""Machine code that is written down in a test: rows as nvdisasm prints them, and lanes to run them on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.sass.interpreter import run
from grader.simulation.sass.linking import link
from grader.simulation.sass.listing import read_listing
from grader.simulation.sass.machine import SassMachine, Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grader.simulation.sass.listing import SassInstruction

BASE = 0x7E00_0000_0000
"""The address of the first byte of global memory."""


def text(*rows: str) -> str:
    """The listing that nvdisasm would print of a kernel ``k``; a row that ends in a colon is a label."""
    lines = ["//--------------------- .text.k ----------", ".text.k:"]
    at = 0
    for row in rows:
        if row.endswith(":"):
            lines.append(row)
            continue
        lines.append(f"        /*{at:04x}*/ {row} ; /* 0x0000000000000000 */")
        lines.append("            /* 0x000fc00000000000 */")
        at += 16
    return "\n".join(lines)


def read(*rows: str) -> tuple[SassInstruction, ...]:
    """The instructions of some rows."""
    return read_listing(text(*rows), "k").instructions


def machine(
    threads: int = 32, blocks: int = 1, memory: NDArray[np.uint8] | None = None, shared: int = 256
) -> SassMachine:
    """Blocks of threads with 1 KiB of global memory, if no other is given."""
    content = np.zeros(1024, np.uint8) if memory is None else memory
    return SassMachine(
        Shape((threads, 1, 1), (blocks, 1, 1), tuple(range(blocks))), content, BASE, shared, 256
    )


def execute(
    *rows: str,
    registers: Mapping[int, NDArray[np.uint32]] | None = None,
    predicates: Mapping[int, NDArray[np.bool_]] | None = None,
    on: SassMachine | None = None,
    bank: bytes = b"",
    steps: int = 10_000,
) -> SassMachine:
    """Run rows, and an EXIT behind them; registers hold what is given."""
    m = on or machine()
    for number, words in (registers or {}).items():
        m.registers[number] = words
    for number, truths in (predicates or {}).items():
        m.predicates[number] = truths
    run(link(read_listing(text(*rows, "EXIT"), "k"), {0: bank.ljust(1024, b"\0")}), m, steps)
    return m


def sources(row: str) -> int:
    """Count the registers among R1, R2 and R3 that a row names."""
    return len(set(re.findall(r"\bR[123]\b", row)))


def lanes(m: SassMachine, register: int) -> NDArray[np.uint32]:
    """A register of all lanes."""
    return np.broadcast_to(m.registers[register], (m.lanes,))
