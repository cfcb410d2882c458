"""The functions of the core in the native library, and its structs as `native/core.hpp` has them."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int64, c_uint, c_uint32, c_uint64, c_void_p
from functools import lru_cache
from typing import Any

import numpy as np

from grader.simulation.native.library import native_library

CONSTANT = 1 << 31
"""Set in an operand's offset that is one into the constants, which all warps share."""

NONE = (1 << 32) - 1
"""An offset that stands for no register."""

OP = np.dtype(
    [
        ("code", "u2"),
        ("guard_kind", "u1"),
        ("space", "u1"),
        ("guard", "u4"),
        ("dst", "u4"),
        ("a", "u4"),
        ("b", "u4"),
        ("c", "u4"),
        ("more", "u4", 3),
        ("target", "u4"),
        ("imm", "i8"),
        ("order", "u4"),
        ("size", "u2"),
        ("count", "u1"),
        ("flags", "u1"),
        ("weight", "u2"),
        ("flops", "u2"),
    ],
    align=True,
)

BOUND = np.dtype([("low", "i8"), ("high", "i8"), ("known", "u4"), ("space", "u4")], align=True)

ARRAY = np.dtype(
    [
        ("start", "i8"),
        ("end", "i8"),
        ("constant", "u1"),
        ("filled", "u1"),
        ("tracked", "u1"),
        ("unused", "u1", 5),
    ],
    align=True,
)


class LaunchInput(Structure):
    """A launch as the core takes it; the arrays stay in the hands of the caller."""

    _fields_ = (
        ("ops", c_void_p),
        ("op_count", c_uint64),
        ("executed", c_void_p),
        ("constants", c_void_p),
        ("bounds", c_void_p),
        ("arrays", c_void_p),
        ("array_count", c_uint64),
        ("global_bytes", c_void_p),
        ("global_set", c_void_p),
        ("global_base", c_int64),
        ("shared_window", c_int64),
        ("local_window", c_int64),
        ("grid", c_uint32 * 3),
        ("block", c_uint32 * 3),
        ("register_bytes", c_uint32),
        ("shared_bytes", c_uint32),
        ("local_bytes", c_uint32),
        ("special", c_uint32 * 32),
        ("detect", c_uint32),
        ("grain_shift", c_uint32),
        ("budget", c_uint64),
        ("patience", c_uint64),
        ("touched", c_void_p),
        ("touched_bytes", c_uint64),
    )


class CoreResult(Structure):
    """The outcome of a launch so far, and its counters."""

    _fields_ = (
        ("status", c_uint32),
        ("reason", c_uint32),
        ("op", c_uint32),
        ("array", c_uint32),
        ("work", c_uint64),
        ("global_load_bytes", c_uint64),
        ("global_store_bytes", c_uint64),
        ("global_load_sectors", c_uint64),
        ("global_store_sectors", c_uint64),
        ("shared_load_bytes", c_uint64),
        ("shared_store_bytes", c_uint64),
        ("shared_bank_conflicts", c_uint64),
        ("flops", c_uint64),
        ("instructions", c_uint64),
        ("barriers", c_uint64),
        ("ended_blocks", c_uint64),
        ("ended_work", c_uint64),
    )


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL | None:
    """The native library with the functions of the core; None where there is none to use."""
    core = native_library()
    if core is None:
        return None
    core.core_name.restype, core.core_name.argtypes = c_char_p, [c_uint]
    core.core_sizes.restype, core.core_sizes.argtypes = None, [POINTER(c_uint)]
    core.core_begin.restype, core.core_begin.argtypes = c_void_p, [POINTER(LaunchInput)]
    core.core_run.restype, core.core_run.argtypes = c_uint, [c_void_p, c_uint64, POINTER(CoreResult)]
    core.core_go_on.restype, core.core_go_on.argtypes = None, [c_void_p]
    core.core_end.restype, core.core_end.argtypes = None, [c_void_p]
    sizes = (c_uint * 5)()
    core.core_sizes(sizes)
    ours: list[Any] = [OP.itemsize, BOUND.itemsize, ARRAY.itemsize]
    ours += [ctypes.sizeof(LaunchInput), ctypes.sizeof(CoreResult)]
    return core if list(sizes) == ours else None


@lru_cache(maxsize=1)
def codes() -> dict[str, int]:
    """The code of each operation by its name; none without a library."""
    core, names = library(), dict[str, int]()
    while core is not None and (name := core.core_name(len(names))):
        names[name.decode()] = len(names)
    return names
