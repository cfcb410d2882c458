"""Plain reads that a compare-and-swap makes good.

    old = *p;  do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old != seen);

is how the CUDA C++ Programming Guide builds atomic operations that the hardware lacks. The first read is
plain and may see anything: the swap only happens if what it saw is still there. So a plain read counts as
strong where its own thread compares that very cell afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.hazards.rows import ATOMIC, READ, STRONG_READ

if TYPE_CHECKING:
    from grader.emulator.hazards.rows import Rows
    from grader.emulator.hazards.strength import Strengths


def validated(rows: Rows, strengths: Strengths) -> Rows:
    """The rows with each plain read that a later compare-and-swap of its lane validates as a strong one."""
    atomic = rows.kind == ATOMIC
    comparing = [site for site in np.unique(rows.site[atomic]).tolist() if strengths[site].compares]
    if not comparing:
        return rows
    swaps = atomic & np.isin(rows.site, comparing)
    _, place = np.unique(np.stack((rows.cell, rows.lane)), axis=1, return_inverse=True)
    place = place.reshape(-1)
    latest = np.full(int(place.max()) + 1, -1, np.int64)
    np.maximum.at(latest, place[swaps], rows.when[swaps])
    good = (rows.kind == READ) & (latest[place] > rows.when)
    return rows._replace(kind=np.where(good, STRONG_READ, rows.kind))
