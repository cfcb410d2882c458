"""Estimated speed of a kernel on a GPU that was not at hand: a model's result, never a measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.model.findings import Detail
    from grader.model.terms import Named
    from grader.model.work import Ratio

PIPES = ("float32", "integer-products", "integer", "half", "float64", "special", "uniform")
"""The pipes of a partition of a multiprocessor, as codes: what computes real numbers of 32 bits, products of
integers, other integers, real numbers of 16 and of 64 bits, special functions with conversions, and what all
lanes have in common."""

LIMITS = (
    "issue",
    *PIPES,
    "shared",
    "l1",
    "l2",
    "dram",
    "memory-latency",
    "latency",
    "barrier",
    "tail",
    "launch",
    "host-copies",
)
"""Limits that may keep a kernel from being faster, as codes: slots to issue instructions in, the pipes that
compute, bandwidth of shared memory, of L1, of L2 and of DRAM, waiting for global memory, waiting for results
of other instructions, waiting at barriers, the last blocks while other multiprocessors have none, what every
launch takes, and copies between host and device."""

STUDENT = "student"
"""The name of the submission's kernel among those of an estimate, and of a timing."""

DEVICES = ("h200", "h100", "a100", "rtx4090", "t4")
"""The devices that are modelled, by the keys with which assignments and commands name them."""

PROBLEMS = (
    "machine-code",
    "too-much-work",
    "not-launched",
    "no-disassembler",
    "no-core",
    "no-baseline",
    "wrong",
    "wrong-at-shape",
    "unwritten-at-shape",
    "less-than-share",
    "not-recorded",
    "too-many-launches",
    "stray-launch",
    "failed",
)
"""Reasons why there is no estimate, as codes: an instruction that the model does not know (``opcode``), a
shape that takes the emulator too long, a launch that is refused, no program that reads machine code, no
native library that executes it, a baseline of which nothing was recorded for the device or the shape, results
that are wrong, an ``element`` of them that is wrong at the shape that is estimated (``expected`` and
``got``), or that no block writes there, blocks that left only a ``share``, in percent, of the part of the
results that falls to them; of a function calls that cannot be replayed (``reason``, a clause), more than
``most`` launches that differ, and a launch with accesses outside of arrays, perhaps for want of what earlier
ones would have written; and a fault of ours."""

CHANGES = ("no-bank-conflicts", "coalesced", "fewer-shared-loads", "more-warps", "no-barriers", "unrolled")
"""Single changes of a kernel whose effect the same model is asked for."""


@frozen
class LimitShare:
    """Share of a kernel's time that a limit of `LIMITS` takes, 0 to 1, and its lines, the largest first.

    ``lines`` are lines of the file, each with its share of the kernel's time.
    """

    limit: str
    share: float
    lines: tuple[tuple[int, float], ...] = ()


def ordered_limits(
    shares: Mapping[str, float], lines: Mapping[str, Mapping[int, float]]
) -> tuple[LimitShare, ...]:
    """Limits with their shares of a time and their lines, the largest first; line 0 stands for none."""

    def of_limit(limit: str) -> Iterator[tuple[int, float]]:
        by_share = sorted(lines.get(limit, {}).items(), key=lambda pair: -pair[1])
        return ((line, share) for line, share in by_share if line)

    by_share = sorted(shares.items(), key=lambda pair: -pair[1])
    return tuple(LimitShare(limit, share, tuple(of_limit(limit))) for limit, share in by_share)


@frozen
class KernelEstimate:
    """Model's result for one kernel: its time in milliseconds, and what it is spent on, most first.

    ``occupancy`` is the share of a multiprocessor's warps that are resident, 0 to 1. Of a function it is all
    of that for its ``launches``, copies and fills together; no launch finds what an earlier one has computed.
    """

    milliseconds: float
    limits: tuple[LimitShare, ...] = ()
    occupancy: float = 0.0
    launches: int = 1


@frozen
class EstimatedChange:
    """Estimated speedup over the baseline with one thing of the kernel changed (of `CHANGES`).

    It is there only where the gain is beyond the model's own error. ``line`` is where the change belongs.
    """

    change: str
    ratio: float
    line: int | None = None


@frozen
class Estimate:
    """The estimated speed of a submission on a device, beside the ``baseline`` kernel at a ``shape``.

    ``device`` is its key among the devices that are modelled (``h200``), ``device_name`` what people call it.
    ``ratio`` is how many times as fast as the baseline, with the interval that the model's own error leaves.
    ``error_bound`` is that error: the share by which nine in ten ratios were off at most when the model was
    compared with measurements. ``kernels`` has ``student`` and the baseline by their names. ``compared`` is
    how many elements of the results were compared that some blocks left at this shape: they are right. Where
    it is 0 nothing says that the speed is that of a right result. ``is_own_doubt``: the model solution's are
    compared there, so that it is the submission's own doing that an estimate gives no points.
    Where there is no estimate ``problem`` says why, as a code of `PROBLEMS` with ``details``, and the rest is
    empty.
    """

    device: str
    device_name: str = ""
    baseline: str = ""
    shape: Named[int] = ()
    ratio: Ratio | None = None
    error_bound: float = 0.0
    kernels: Named[KernelEstimate] = ()
    changes: tuple[EstimatedChange, ...] = ()
    compared: int = 0
    is_own_doubt: bool = False
    problem: str = ""
    details: Named[Detail] = ()
