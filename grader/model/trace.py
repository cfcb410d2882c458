"""What one block of a launch did, barrier interval by barrier interval.

    Trace ─▶ TracedInterval ─▶ TracedStep ─▶ TracedEvent

An interval ends where the whole block passes a barrier, and at the end of the kernel. In it a step is what
the threads do on one line the n-th time that they come there, so the turns of a loop are steps of their own.
Threads are numbered as CUDA numbers them: x runs fastest (CUDA C++ Programming Guide, "Thread Hierarchy").
Elements of an array are numbered in C order. A value is None where nothing was stored yet, or where it is not
known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from grader.model.findings import Clause, Finding
    from grader.model.terms import Named
    from grader.model.work import Launch

Number: TypeAlias = "float | int | None"
Numbers: TypeAlias = tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """The part of an array that is shown: rows and columns from the first up to, without, the last.

    An array of one dimension is one row; of more than two dimensions all but the last make up the rows.
    """

    first_row: int = 0
    end_row: int = 1
    first_column: int = 0
    end_column: int = 0
    cropped: bool = False
    """Whether the block touched more than is shown."""


@dataclass(frozen=True, slots=True)
class TracedArray:
    """An array that the block touched; ``space`` is ``global`` or ``shared``.

    ``values`` are those of the window before the launch, row by row. Where the extents of a shared array are
    not known, its ``shape`` is the number of its elements.
    """

    name: str
    space: str
    dtype: str
    shape: tuple[int, ...]
    window: Window
    direction: str = ""
    values: Numbers = ()


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A local variable of each thread that ``line`` adds to (or takes a maximum of, multiplies …).

    ``name`` is the one in the source; empty where the line does not say it.
    """

    line: int
    name: str = ""
    element: int = -1
    """Of a local array the element; -1 for a variable that is none."""
    twice: bool = False
    """Whether another one has the same name."""


@dataclass(frozen=True, slots=True)
class TracedEvent:
    """What several threads did side by side.

    ``kind`` is ``load``, ``store``, ``atomic``, ``add`` (to an accumulator) or ``outside`` (out of bounds).
    ``target`` is the number of the array, or of the accumulator; -1 for what is neither. Thread i of
    ``threads`` touched element i of ``elements`` and read or wrote value i. ``zero_fill`` are the threads
    that stored a zero which they had not loaded: those that a guard kept from loading.
    """

    kind: str
    target: int
    threads: tuple[int, ...]
    elements: tuple[int, ...] = ()
    values: Numbers = ()
    zero_fill: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    """Of what lies outside every array, or is atomic, a name for what each thread did."""


@dataclass(frozen=True, slots=True)
class TracedStep:
    """What the threads did on one line, the ``turn``-th time (from 0) that they came there."""

    line: int
    turn: int
    events: tuple[TracedEvent, ...]


@dataclass(frozen=True, slots=True)
class TracedHazard:
    """Where in an interval a finding happened: the elements and threads of this block."""

    finding: int
    array: int = -1
    elements: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TracedInterval:
    """What happened between two barriers.

    ``ends`` is ``barrier``, ``exit``, ``stopped`` (a fault, a time-out) or ``limit`` (the trace was long
    enough). ``shared`` holds, by the array's number, the contents at the end; ``sums`` what each thread's
    accumulators hold then.
    """

    ends: str
    barrier_lines: tuple[int, ...] = ()
    steps: tuple[TracedStep, ...] = ()
    shared: tuple[tuple[int, Numbers], ...] = ()
    sums: tuple[tuple[int, Numbers], ...] = ()
    hazards: tuple[TracedHazard, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """What one block of a launch did, and what is wrong with the launch as a whole."""

    launch: Launch
    block: tuple[int, int, int]
    arrays: tuple[TracedArray, ...] = ()
    accumulators: tuple[Accumulator, ...] = ()
    intervals: tuple[TracedInterval, ...] = ()
    findings: tuple[Finding, ...] = ()
    completed: bool = True
    notes: tuple[Clause, ...] = ()
    """What was left out, and why; ``finding`` in a note is an index into `findings`."""


@dataclass(frozen=True, slots=True)
class TracedLaunch:
    """Which launch of a program: the ``number``-th (from 1) of ``count``, from ``line`` of the file.

    They are counted among those of its kernel where one was named.
    """

    number: int
    count: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
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
    """None where the inputs of cases that students may not know come from it, too."""
    constants: Named[int] = ()
    source: tuple[str, ...] = ()
    launched: TracedLaunch | None = None
    """Of a program or a function; so for the next."""
    arguments: tuple[str, ...] = ()
    mark: tuple[str, tuple[int, ...]] | None = None
    """The array and the index of the element that came out wrong, where that is what the trace is to show."""
