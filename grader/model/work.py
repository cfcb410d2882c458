"""Records of a submission, of its builds, and of the results of a launch."""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.base.records import frozen

if TYPE_CHECKING:
    import numpy as np

    from grader.model.course import HandIn
    from grader.model.findings import Clause, Finding
    from grader.model.terms import Dim3, Named


@frozen
class Submission:
    """Submission of one student.

    ``source`` is the ``.cu`` file's bytes as they were read (once; never again from disk), ``file`` its
    name for messages. Where nothing gradable was handed in ``problem`` says why and ``source`` is empty.
    """

    id: str
    file: str
    source: bytes
    digest: str
    problem: Finding | None = None
    headers: Named[bytes] = ()
    """Files handed in beside it that its ``#include "…"`` lines may name."""
    hand_in: HandIn | None = None
    """Whose it is and how it came in, where it is one of a class."""


@frozen
class Resources:
    """Resources of the kernel by ptxas, per thread (registers, stack, spills) or block (shared), in bytes."""

    registers: int = 0
    shared_bytes: int = 0
    stack_bytes: int = 0
    spill_bytes: int = 0
    constant_bytes: int = 0


@frozen
class Build:
    """The outcome of compiling: PTX for the emulator, or findings that say why there is none.

    ``ptx`` comes from the default build (outputs, counters), ``hazard_ptx`` from ``-Xcicc -O0 -lineinfo``
    (hazards, lines). ``entry`` is the kernel's name in the PTX. ``constants`` are the student's own values.
    ``warnings`` are compiler warnings worth telling (they cost nothing).
    ``error`` is set, and nothing else means anything, where *we* failed.
    """

    ok: bool
    findings: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    ptx: str = ""
    hazard_ptx: str = ""
    entry: str = ""
    constants: Named[int] = ()
    assumed: tuple[str, ...] = ()
    """The constants that the file does not define: it is launched with their defaults."""
    instance: str = ""
    """Name of the graded instance, where the kernel is a template: ``matmul<16>``."""
    implied: tuple[str, ...] = ()
    """Names from ``assumed`` whose values its shared arrays imply: it is launched with these."""
    resources: Resources | None = None
    log: str = ""
    toolkit: str = ""
    seconds: Named[float] = ()
    error: str = ""
    is_question: bool = False
    """True if the error is due to what the submission itself asks for: its points stay in the maximum."""
    parameter_bytes: tuple[int, ...] = ()
    """Size of each kernel parameter in the PTX: 8 where a student's `size_t` stands for an int32."""
    source_name: str = ""
    """Name of the student's file in the PTX."""
    shared_shapes: Named[tuple[int, ...]] = ()
    """Extents of the kernel's shared arrays by their names in the source, where they are known."""
    parameters: tuple[str, ...] = ()
    """Names of the kernel's parameters in the file, empty where that is not known."""
    student_names: Named[str] = ()
    """The assignment's arrays that the file calls otherwise, each with the file's name for it."""
    program: bytes = b""
    """The executable, for a submission of kind ``program``; PTX and entry are empty then."""
    calls_device: bool = False
    """True if that program calls the CUDA runtime or driver, and so needs a GPU or the emulator."""
    call_lines: tuple[tuple[int, int], ...] = ()
    """Return address of each call of the runtime, and its line, for a program on the emulator."""
    others: Named[Build] = ()
    """Builds of the file's further kernels, where an assignment asks for them; see `KernelInterface`.

    Of a program for the emulator its further sources by name: those with PTX are modules, in this order.
    """
    digest: str = ""
    """Digest of ``ptx`` but for its names (`grader.simulation.ptx.facts`), where the build is kept without
    it."""
    suspicions: tuple[Finding, ...] = ()
    """Probable causes that the text shows but may intend: reported only where something fails."""

    def label(self, array: str) -> str:
        """Name of an array of the assignment in the student's kernel."""
        return dict(self.student_names).get(array, array)


@frozen
class InstructionUse:
    """Instructions of one sort in a kernel: their number, and the student's lines they stem from.

    ``executed`` is the number of them that a thread reached in any case; None where no case was run.
    ``lines`` are the lines of all of them, because the executed ones may reveal what hidden cases are like.
    """

    count: int = 0
    lines: tuple[int, ...] = ()
    executed: int | None = None

    @property
    def counts(self) -> bool:
        """True if there is anything of the sort that is executed, as far as that is known."""
        return bool(self.count if self.executed is None else self.executed)


@frozen
class Structure:
    """Structure of a kernel and the functions that it calls, by instructions of the default build.

    ``shared_loads`` and ``shared_stores`` count instructions that read and write shared memory,
    ``atomics`` those on global and shared memory, ``barriers`` those that wait for the block, ``shuffles``
    exchanges within a warp, ``constant_loads`` reads of constant memory. ``library`` holds functions that are
    called and that the file does not define, and libraries whose headers gave some of the code, each with its
    use. Printing, assertions and the device's heap count as no library.
    """

    shared_loads: InstructionUse = InstructionUse()
    shared_stores: InstructionUse = InstructionUse()
    barriers: InstructionUse = InstructionUse()
    atomics: InstructionUse = InstructionUse()
    shuffles: InstructionUse = InstructionUse()
    constant_loads: InstructionUse = InstructionUse()
    library: Named[InstructionUse] = ()
    file: str = ""
    """The student's file, which the lines are in."""


@frozen
class Launch:
    """A launch configuration; ``shared_bytes`` is dynamic shared memory per block."""

    grid: Dim3
    block: Dim3
    shared_bytes: int = 0


MOST_THREADS = 1024
"""Threads of a block (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability")."""
MOST_IN_BLOCK: Dim3 = (1024, 1024, 64)
MOST_IN_GRID: Dim3 = (2**31 - 1, 65535, 65535)


@frozen
class Argument:
    """A kernel argument: an array (C order, its shape as the assignment names it) or a scalar.

    For ``out`` arrays the values are what the buffer holds before the launch (poison); a backend copies,
    and never writes into them.
    """

    name: str
    direction: str
    value: np.ndarray[Any, Any] | np.generic
    offset: int = 0
    """Elements between a multiple of 256 bytes, where ``cudaMalloc`` would put it, and the array's start."""
    pointers: Named[int] = ()
    """Offset of the pointer to each array that a struct points to, in bytes. What the value holds there is
    how many bytes behind the start of the array it points."""
    is_parameter: bool = True
    """False for an array that the kernel is not passed itself."""
    symbol: str = ""
    """The variable of the student's file that holds the array; empty where it has memory of its own."""
    student_name: str = ""
    """Name in the student's kernel, where that is not its ``name``."""

    @property
    def label(self) -> str:
        """Name in findings: the student's own, for students look for it in their own lines."""
        return self.student_name or self.name


@frozen
class Counters:
    """Counters of a launch, summed over all threads.

    Bytes are those that threads asked for; sectors are the distinct 32-byte pieces per warp request;
    ``shared_bank_conflicts`` counts extra passes per warp request (0: conflict-free); ``flops`` counts an
    fma as two; ``instructions`` and ``barriers`` count per thread.
    """

    global_load_bytes: int = 0
    global_store_bytes: int = 0
    global_load_sectors: int = 0
    global_store_sectors: int = 0
    shared_load_bytes: int = 0
    shared_store_bytes: int = 0
    shared_bank_conflicts: int = 0
    flops: int = 0
    instructions: int = 0
    barriers: int = 0


@frozen
class LineCounters:
    """Counters of one line of the source and one array; branches and barriers have no array's name.

    Requests, sectors and conflicts are those of warps, as in `Counters`; ``global_loads`` counts elements
    that threads loaded, ``global_loads_distinct`` the different ones among them in each block (both 0 where
    not counted), ``global_atomics`` those that they updated by atomic operations (stores here, too). Strides
    are bytes between neighbouring lanes in the first request that took more than one sector, or that had a
    bank conflict (0: no regular one). ``branches`` counts warps that came to a branch, ``divergent_branches``
    those that parted there, ``barriers`` the threads that came to one.
    """

    line: int
    array: str = ""
    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_load_bytes: int = 0
    global_store_requests: int = 0
    global_store_sectors: int = 0
    global_store_bytes: int = 0
    global_stride: int = 0
    global_loads: int = 0
    global_loads_distinct: int = 0
    global_atomics: int = 0
    shared_requests: int = 0
    shared_bank_conflicts: int = 0
    shared_stride: int = 0
    branches: int = 0
    divergent_branches: int = 0
    barriers: int = 0


@frozen
class KernelCounters:
    """Counters of all launches of one kernel in a run of a program, together.

    ``kernel`` is its name in the student's file, without arguments of a template. ``lines`` are there in the
    one visible case that was looked at so closely.
    """

    kernel: str
    launches: int
    counters: Counters
    lines: tuple[LineCounters, ...] = ()
    file: str = ""
    """The student's file, which the lines are in."""


class HeapBlock(NamedTuple):
    """A block of ``malloc`` of a kernel: bytes ``start`` up to ``end`` of its memory, and what they hold.

    ``content`` and ``written`` (a 1 for each byte that was written) are as long as the block.
    """

    start: int
    end: int
    content: np.ndarray[Any, Any]
    written: np.ndarray[Any, Any]


@frozen
class Run:
    """Result of one launch.

    ``outputs`` are the ``out`` and ``inout`` arrays after it; ``changed_inputs`` names ``in`` arrays that
    it wrote to. ``completed`` is false where it was stopped (fault, time-out), and then a finding says why.
    """

    outputs: Named[np.ndarray[Any, Any]] = ()
    changed_inputs: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    counters: Counters = field(default_factory=Counters)
    seconds: float = 0.0
    completed: bool = True
    launched: bool = True
    """False where the launch itself was refused: then no thread ran, and a finding says why."""
    error: str = ""
    """Ours: PTX that is not read, a budget of our own…"""
    question: str = ""
    """Instruction of the kernel that the emulator does not interpret: a question to the staff."""
    unoptimised: Named[np.ndarray[Any, Any]] = ()
    """The same outputs as the -O0 build left them, where it ran beside the one that is graded."""
    warp_by_warp: Named[np.ndarray[Any, Any]] = ()
    """The same outputs where warps ran one after another, where the order of threads may matter."""
    steps: int = 0
    """Vector steps that it took, over all chunks of blocks: the same on every machine."""
    work: int = 0
    """The same, where steps over many lanes count more than once."""
    ended_blocks: int = 0
    """Number of ended blocks with those that they ran beside; all of them if ``completed``."""
    ended_work: int = 0
    """Part of ``work`` that they took."""
    too_much_work: Clause | None = None
    """Reason why it was given up: not because it hangs, but because it takes more work than its budget."""
    lines: tuple[LineCounters, ...] = ()
    """Counters per source line, where they were asked for."""
    printed: str = ""
    """The beginning of what the kernel printed with `printf`, safe to be shown."""
    heap: tuple[HeapBlock, ...] = ()
    """Blocks that the kernel, or one before it, took from the heap and did not free."""
    executed: frozenset[tuple[str, int]] = frozenset()
    """The executed ones among the instructions that `Structure` counts, by function and place in it."""


@frozen
class ProgramRun:
    """Result of one run of a program.

    ``ending`` is how it ended: ``exit``, ``signal``, ``time``, ``memory`` or ``output-limit``;
    ``returncode`` is its exit status, or the number of the signal, negative. The streams are cut at their
    limit. ``files`` holds those of the files asked for that it left behind. ``reason`` says why it was
    stopped, where more is known of that than the limit; ``failed_call`` is the first call of the runtime that
    failed: an error where the run came to no good end after it, else a remark. ``work_left`` are remarks
    about launches that explain wrong results, and mean nothing where the results are right.
    """

    ending: str
    returncode: int
    stdout: bytes = b""
    stderr: bytes = b""
    files: Named[bytes] = ()
    seconds: float = 0.0
    reason: Clause | None = None
    failed_call: Finding | None = None
    work_left: tuple[Finding, ...] = ()


@frozen
class Threshold:
    """A speedup to reach: ``fixed`` + ``of_solution`` times the model solution's speedup on the same device.

    ``1.25`` is fixed alone, ``0.9 of solution`` is a share alone; what lies between the two in a linear band
    has both parts.
    """

    fixed: Fraction = Fraction(0)
    of_solution: Fraction = Fraction(0)

    def speedup(self, solution: float) -> float:
        """The speedup that is asked for, where the model solution has the speedup ``solution``."""
        return float(self.fixed) + float(self.of_solution) * solution


@frozen
class Ratio:
    """Speedup: the median of paired ratios, and the ends of its bootstrap interval."""

    median: float
    low: float
    high: float


@frozen
class Timing:
    """Result of the timed rounds of one submission.

    ``speedup``, ``control`` and ``solution`` are times of the ``baseline`` kernel divided by those of the
    submission, of the baseline itself (A/A: 1.00 on a quiet device), and of the model solution.
    ``milliseconds`` are medians by kernel (the baseline's name, ``student``, ``solution``, ``library``).
    ``dropped`` of the ``rounds`` were left out because the device throttled meanwhile. ``settled`` is false
    where the budget ended before the interval was clear of every threshold.
    ``verified`` of ``launches`` timed launches of the submission left an output that was compared in full
    with the oracle. ``findings`` say what was wrong with others, or with a time that no device can reach.
    ``floor_milliseconds`` is the roofline: what the device needs at least, by what was measured of it.
    ``details`` goes into grade.json as it is: clocks, temperatures, overheads, how the rounds went.
    ``shape`` is what they ran on, and ``level`` how sure the intervals are.
    ``error`` is ours, and then nothing else means anything. Where there is neither an error nor a
    ``speedup`` the submission was not timed, although others are: it does not build, or is not right.
    """

    baseline: str = ""
    speedup: Ratio | None = None
    control: Ratio | None = None
    solution: Ratio | None = None
    rounds: int = 0
    dropped: int = 0
    settled: bool = True
    milliseconds: Named[float] = ()
    first_milliseconds: float = 0.0
    launches: int = 0
    verified: int = 0
    findings: tuple[Finding, ...] = ()
    floor_milliseconds: float = 0.0
    gflops: Named[float] = ()
    occupancy: float | None = None
    details: Named[Any] = ()
    error: str = ""
    shape: Named[int] = ()
    level: float = 0.99
    resources: Resources | None = None
    """Resources of the submission by ptxas: only in a grade, beside what was timed of it."""

    @property
    def roofline_share(self) -> float | None:
        """Share of the device's attainable speed that the submission reaches, 0 to 1; None where unknown."""
        milliseconds = dict(self.milliseconds).get("student", 0.0)
        return (
            self.floor_milliseconds / milliseconds
            if milliseconds > 0 and self.floor_milliseconds > 0
            else None
        )
