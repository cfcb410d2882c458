"""Trace of one block of a launch, barrier interval by barrier interval.

    Trace ─▶ TracedInterval ─▶ TracedStep ─▶ TracedEvent

An interval ends where the whole block passes a barrier, and at the end of the kernel. In it a step is what
the threads do on one line the n-th time that they come there, so the turns of a loop are steps of their own.
Threads are numbered as CUDA numbers them: x runs fastest (CUDA C++ Programming Guide, "Thread Hierarchy").
Elements of an array are numbered in C order. A value is None where nothing was stored yet, or where it is not
known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from grader.base.records import frozen

if TYPE_CHECKING:
    from grader.model.findings import Clause, Finding
    from grader.model.terms import Named
    from grader.model.work import Launch

Number: TypeAlias = "float | int | None"
Numbers: TypeAlias = tuple[Number, ...]


@frozen
class Window:
    """The part of an array that is shown: rows and columns from the first up to, without, the last.

    An array of one dimension is one row; of more than two dimensions all but the last make up the rows.
    """

    first_row: int = 0
    end_row: int = 1
    first_column: int = 0
    end_column: int = 0
    cropped: bool = False
    """True if the block touched more than is shown."""


@frozen
class TracedArray:
    """An array that the block touched; ``space`` is ``global`` or ``shared``.

    ``values`` are the values of the window before the launch, row by row. Where the extents of a shared array
    are not known, its ``shape`` is the number of its elements.
    """

    name: str
    space: str
    dtype: str
    shape: tuple[int, ...]
    window: Window
    direction: str = ""
    values: Numbers = ()


@frozen
class Accumulator:
    """A local variable of each thread that ``line`` adds to (or takes a maximum of, multiplies …).

    ``name`` is the one in the source; empty where the line does not say it.
    """

    line: int
    name: str = ""
    element: int = -1
    """Element of a local array; -1 for a variable that is none."""
    twice: bool = False
    """True if another one has the same name."""


@frozen
class TracedEvent:
    """Event of several threads side by side.

    ``kind`` is ``load``, ``store``, ``atomic``, ``add`` (to an accumulator) or ``outside`` (out of bounds).
    ``target`` is the number of the array, or of the accumulator; -1 for what is neither. Thread i of
    ``threads`` touched element i of ``elements`` and read or wrote value i. ``zero_fill`` are the threads
    that stored a zero which they had not loaded, because a guard kept them from loading.
    """

    kind: str
    target: int
    threads: tuple[int, ...]
    elements: tuple[int, ...] = ()
    values: Numbers = ()
    zero_fill: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    """Name for what each thread did, for accesses outside every array, and atomic ones."""


@frozen
class TracedStep:
    """Step of the threads on one line, the ``turn``-th time (from 0) that they came there."""

    line: int
    turn: int
    events: tuple[TracedEvent, ...]


@frozen
class TracedHazard:
    """Place in an interval where a finding happened: the elements and threads of this block."""

    finding: int
    array: int = -1
    elements: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()


@frozen
class TracedInterval:
    """Interval between two barriers.

    ``ends`` is ``barrier``, ``exit``, ``stopped`` (a fault, a time-out) or ``limit`` (the trace was long
    enough). ``shared`` holds, by the array's number, the contents at the end; ``sums`` the values of each
    thread's accumulators then.
    """

    ends: str
    barrier_lines: tuple[int, ...] = ()
    steps: tuple[TracedStep, ...] = ()
    shared: tuple[tuple[int, Numbers], ...] = ()
    sums: tuple[tuple[int, Numbers], ...] = ()
    hazards: tuple[TracedHazard, ...] = ()


@frozen
class Trace:
    """Trace of one block of a launch, and the faults of the launch as a whole."""

    launch: Launch
    block: tuple[int, int, int]
    arrays: tuple[TracedArray, ...] = ()
    accumulators: tuple[Accumulator, ...] = ()
    intervals: tuple[TracedInterval, ...] = ()
    findings: tuple[Finding, ...] = ()
    completed: bool = True
    notes: tuple[Clause, ...] = ()
    """Notes on what was left out, and why; ``finding`` in a note is an index into `findings`."""


@frozen
class TracedLaunch:
    """Launch of a program: the ``number``-th (from 1) of ``count``, from ``line`` of the file.

    Only launches of its kernel are counted where one was named.
    """

    number: int
    count: int
    line: int | None = None


@frozen
class TraceScene:
    """A trace with what it is a trace of: the assignment, the file, the case, the source."""

    trace: Trace
    assignment: str
    title: str
    file: str
    kernel: str
    case: str
    shape: Named[int]
    inputs: str
    seed: int | None
    """Seed of the inputs; None where the inputs of cases that students may not know come from it, too."""
    constants: Named[int] = ()
    source: tuple[str, ...] = ()
    launched: TracedLaunch | None = None
    """Launch of a program or a function; so for the next."""
    arguments: tuple[str, ...] = ()
    mark: tuple[str, tuple[int, ...]] | None = None
    """The array and the index of the element that came out wrong, where that is what the trace is to show."""
