"""Accesses whose kind shows only beside others: reads that a compare-and-swap makes good, and flags.

    old = *p;  do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old != seen);

is how the CUDA C++ Programming Guide builds atomic operations that the hardware lacks. The first read is
plain and may see anything: the swap only happens if what it saw is still there. So a plain read counts as
strong where its own thread compares that very cell afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.races.rows import MAY_BE_FLAG, READ, STRONG, STRONG_READ, UPDATES

if TYPE_CHECKING:
    from grader.emulator.races.rows import Rows
    from grader.emulator.races.strength import Strengths


def validated(rows: Rows, strengths: Strengths) -> Rows:
    """The rows with each plain read that a later compare-and-swap of its lane validates as a strong one."""
    atomic = (rows.kind & UPDATES) != 0
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


def with_flags(rows: Rows, strengths: Strengths) -> Rows:
    """The rows with each write that may set a flag as a strong one where a loop waits for that very cell.

    All others are plain: a `volatile` word for which nobody waits is data.
    """
    open_question = (rows.kind & MAY_BE_FLAG) != 0
    if not open_question.any():
        return rows
    waiting = [site for site in np.unique(rows.site).tolist() if strengths[site].awaits]
    is_flag = np.isin(rows.cell, rows.cell[np.isin(rows.site, waiting)])
    kind = np.where(open_question & ~is_flag, rows.kind & ~STRONG, rows.kind)
    return rows._replace(kind=kind & ~MAY_BE_FLAG)
