"""The functions of the native library for machine code, and its structs as in `native/operations.hpp`."""

from __future__ import annotations

import ctypes
import struct
from ctypes import POINTER, Structure, c_char_p, c_int64, c_uint, c_uint32, c_uint64, c_ulonglong, c_void_p
from dataclasses import field
from enum import IntEnum, IntFlag
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from grader.base.records import mutable
from grader.simulation.native.library import NoLibraryError, required_library

REGISTERS, MORE_REGISTERS, UNIFORM = 512, 8, 256
"""Rows of registers, those behind the last for what is wider than one, and the first of the uniform ones."""
PREDICATES, UNIFORM_PREDICATES = 16, 8
BARRIERS = 32
MOST_SOURCES, MOST_TRUTHS, MOST_DECIDED, TERMS = 6, 3, 2, 3
"""Operands of an instruction; the first sources of an access are the terms of its address."""


class Sign(IntFlag):
    """Changes to a source before it is used; `Sign` in C++."""

    NEGATED = 1
    INVERTED = 2
    ABSOLUTE = 4
    REAL_ABSOLUTE = 8
    REAL_NEGATED = 16
    WIDE_TERM = 32


class Flag(IntFlag):
    """Variants of an instruction; `Flag` in C++."""

    SIGNED = 1
    HIGH = 2
    CARRIES_IN = 4
    EXTENDED = 8
    LEFT = 16
    WRAPS = 32
    WIDE = 64
    JOINED = 128
    UNORDERED = 256
    SATURATES = 512
    RECTIFIES = 1024
    NAN_WINS = 2048
    BRAIN = 4096
    SINGLE_RESULT = 8192
    ACCUMULATES = 1 << 14
    AS_ONE = 1 << 15
    REAL = 1 << 16
    TELLS = 1 << 17
    SMALLEST = 1 << 19
    NAN_IS_ZERO = 1 << 20
    UPPER_PART = 1 << 21
    ANY = 1 << 22
    SIGNED_SECOND = 1 << 23


SPACES = ("generic", "global", "shared", "local")
COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE", "NUM", "NAN")
BOOLEANS = ("AND", "OR", "XOR")
DIRECTIONS = ("RN", "RM", "RP", "RZ")
"""Names in the order of the enumerations `Space`, `Comparison`, `Join` and `Direction`: of directions to the
nearest, down, up, towards zero."""

UPDATES = ("ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH", "INC", "DEC", "CAS", "halves")
SPECIALS = (
    *("SR_TID.X", "SR_TID.Y", "SR_TID.Z", "SR_CTAID.X", "SR_CTAID.Y", "SR_CTAID.Z", "SR_NTID.X", "SR_NTID.Y"),
    *("SR_NTID.Z", "SR_NCTAID.X", "SR_NCTAID.Y", "SR_NCTAID.Z", "SR_LANEID", "SR_LTMASK", "SR_EQMASK"),
    *("SR_LEMASK", "SR_GTMASK", "SR_GEMASK", "SR_SWINHI", "SRZ"),
)
"""Names in the order of `Update` and `Special`."""


class RunStatus(IntEnum):
    """Ends of the execution of a straight run."""

    DONE = 0
    UNKNOWN = 1
    STRAY = 2
    NO_MEMORY = 3


class SourceOperand(NamedTuple):
    """A register, and with number -1 a fixed value, which has its signs already."""

    number: int
    signs: int
    unused: int
    value: int


class Truth(NamedTuple):
    """A predicate; with number -1 true."""

    number: int = -1
    inverted: bool = False


NOUGHT, ALWAYS = SourceOperand(-1, 0, 0, 0), Truth()


@mutable
class MachineOperation:
    """An instruction for the library; ``name`` is one of `SASS_CODES`, the fields are those of `Op`."""

    name: str
    to: int = -1
    sources: tuple[SourceOperand, ...] = ()
    truths: tuple[Truth, ...] = ()
    decided: tuple[int, ...] = ()
    size: int = 1
    count: int = 0
    space: int = 0
    mode: int = 0
    joins: int = 0
    flags: int = 0
    immediate: int = 0
    offset: int = 0
    goal: int = 0
    guard: Truth = field(default=ALWAYS)

    def is_within(self) -> bool:
        """True if there are as many registers and predicates as it names."""
        predicates = (*(truth.number for truth in (self.guard, *self.truths)), *self.decided)
        registers = (self.to, *(source.number for source in self.sources))
        counts = (
            len(self.sources) <= MOST_SOURCES
            and len(self.truths) <= MOST_TRUTHS
            and len(self.decided) <= MOST_DECIDED
        )
        return counts and max(registers) < REGISTERS and max(predicates) < PREDICATES

    def packed(self) -> bytes:
        """The struct; raises struct.error for a number that is too large."""
        truths = self.truths + (ALWAYS,) * (MOST_TRUTHS - len(self.truths))
        sources = self.sources + (NOUGHT,) * (MOST_SOURCES - len(self.sources))
        decided = self.decided + (-1,) * (MOST_DECIDED - len(self.decided))
        return _OP.pack(
            *(codes()[self.name], self.to, *self.guard),
            *(part for truth in truths for part in truth),
            *(*decided, self.size, self.count, self.space, self.mode, self.joins, 0),
            *(self.flags, self.immediate, self.offset, self.goal),
            *(part for source in sources for part in source),
        )


_OP = struct.Struct("<Hh" + "bB" * (1 + MOST_TRUTHS) + "bbBBBBBBII4xqq" + "hHIQ" * MOST_SOURCES)
ACCESS = np.dtype(
    [(name, "u4") for name in ("op", "space", "size", "mask")] + [("first", "u8"), ("count", "u8")]
)


class Bank(Structure):
    """A constant bank."""

    _fields_ = (("bytes", c_void_p), ("size", c_uint64))


class MachineInput(Structure):
    """A machine as the library takes it; the arrays stay in the hands of the caller."""

    _fields_ = (
        ("ops", c_void_p),
        ("op_count", c_uint64),
        ("kept", c_void_p),
        ("banks", c_void_p),
        ("bank_count", c_uint64),
        *((name, c_void_p) for name in ("registers", "predicates", "convergence", "votes")),
        *((name, c_void_p) for name in ("global_bytes", "shared_bytes", "local_bytes")),
        ("global_size", c_uint64),
        *((name, c_int64) for name in ("global_base", "shared_window", "local_window", "window_size")),
        ("shared_size", c_uint64),
        ("local_size", c_uint64),
        ("blocks", c_void_p),
        ("block_count", c_uint64),
        ("block", c_uint32 * 3),
        ("grid", c_uint32 * 3),
    )


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """The library with the functions for machine code; raises NoLibraryError where there is none."""
    loaded = required_library()
    loaded.sass_name.restype, loaded.sass_name.argtypes = c_char_p, [c_uint]
    loaded.sass_sizes.restype, loaded.sass_sizes.argtypes = None, [POINTER(c_uint)]
    loaded.sass_begin.restype, loaded.sass_begin.argtypes = c_void_p, [POINTER(MachineInput)]
    loaded.sass_straight.argtypes = [c_void_p, c_ulonglong, c_ulonglong, c_void_p, POINTER(c_ulonglong)]
    loaded.sass_recorded.restype = None
    loaded.sass_recorded.argtypes = [c_void_p, POINTER(c_ulonglong), POINTER(c_void_p)]
    loaded.sass_end.restype, loaded.sass_end.argtypes = None, [c_void_p]
    sizes = (c_uint * 5)()
    loaded.sass_sizes(sizes)
    ours = [16, _OP.size, ctypes.sizeof(Bank), ctypes.sizeof(MachineInput), ACCESS.itemsize]
    if list(sizes) != ours:
        raise NoLibraryError("the structs of the native library are others")
    return loaded


@lru_cache(maxsize=1)
def codes() -> dict[str, int]:
    """The code of each operation by its name."""
    loaded, names = library(), dict[str, int]()
    while name := loaded.sass_name(len(names)):
        names[name.decode()] = len(names)
    return names
