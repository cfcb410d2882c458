"""The functions of the simulation in the native library, and its structs as `native/` has them."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_double, c_int64, c_uint, c_uint32, c_uint64, c_void_p
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from grader.model import PIPES
from grader.simulation.native.library import NoLibraryError, required_library

if TYPE_CHECKING:
    from grader.running.estimate.devices import GpuModel

KINDS = (
    "",
    "shared",
    "local",
    "load",
    "store",
    "atomic",
    "shuffle",
    "barrier",
    "branch",
    "variable",
)
"""The kinds of operations, in the order of `Kind`."""

CAUSES = (
    "",
    "issue",
    "shared",
    "l1",
    "l2",
    "dram",
    "memory-latency",
    "latency",
    "barrier",
    "arithmetic",
    *PIPES,
)
"""Causes for which warps wait, in the order of `Cause`."""

UNITS = ("shared", "l1", "l2", "dram")
"""The units of the memory system whose busy cycles are counted, in the order of `Unit`."""

OPERATION = np.dtype(
    [
        *((name, "f8") for name in ("busy", "stall", "latency")),
        ("pipe", "i4"),
        *((name, "u4") for name in ("kind", "sets", "reads", "waits", "line")),
    ],
    align=True,
)

REQUEST = np.dtype(
    [
        *(
            (name, "f8")
            for name in (
                *("passes", "dram", "late", "evicts", "leaves", "filled", "slower", "written", "hot"),
            )
        ),
        *((name, "u4") for name in ("line", "lines", "exchanged", "exchanges", "together", "unused")),
    ],
    align=True,
)

LINE = np.dtype([("number", "i8"), ("sectors", "u4"), ("unused", "u4")], align=True)

TRACE = np.dtype(
    [
        *((name, "u8") for name in ("operation", "operations", "request", "requests", "mark", "marks")),
        ("shift", "i8"),
        ("marked", "u8"),
    ],
    align=True,
)

WAITED = np.dtype([("cycles", "f8"), ("cause", "u4"), ("line", "u4")], align=True)

_MOST_PIPES = 16


class DeviceNumbers(Structure):
    """The device as a multiprocessor sees it that shares it with others."""

    _fields_ = (
        *(
            (name, c_double)
            for name in (
                *("l2_sector", "dram_sector", "write_share", "l1_latency", "l2_latency", "dram_latency"),
                *("l2_crowd", "dram_crowd", "dram_write", "fill_sector", "write_backlog", "queue"),
                *("exchange_turn", "barrier_base", "barrier_per_warp", "barrier_arrival", "branch"),
                "block_gap",
            )
        ),
        ("l1_lines", c_uint64),
    )


class AskerNumbers(Structure):
    """Origin of an access."""

    _fields_ = tuple((name, c_int64) for name in ("block", "warp", "request", "shift"))


class AnswerNumbers(Structure):
    """When an access is done, its time in a queue, and the causes of that and of the rest."""

    _fields_ = (("done", c_double), ("queue", c_double), ("queueing", c_uint32), ("waiting", c_uint32))


class SimulationInput(Structure):
    """The blocks of a simulation and what comes of it; the arrays stay in the hands of the caller."""

    _fields_ = (
        ("device", DeviceNumbers),
        *(
            (name, c_void_p)
            for name in (
                *("operations", "executed", "requests", "requested", "lines", "words", "marks"),
                *("traces", "warps"),
            )
        ),
        *(
            (name, c_uint64)
            for name in (
                *("operation_count", "executed_count", "request_count", "requested_count", "line_count"),
                *("word_count", "mark_count", "trace_count", "block_count", "source_line_count"),
                *("pipe_count", "slots"),
            )
        ),
        ("apart", c_double),
        *((name, c_void_p) for name in ("waited", "times", "reached", "ends")),
        ("used", c_double * _MOST_PIPES),
        ("busy", c_double * len(UNITS)),
        ("waits", c_uint64),
        ("issued", c_uint64),
    )


def device_numbers(device: GpuModel, l1_bytes: int, active: int) -> DeviceNumbers:
    """The numbers of a device of which ``active`` multiprocessors share what L2 and DRAM move."""
    share = device.multiprocessors / max(1, active)
    names = [field[0] for field in DeviceNumbers._fields_]
    own = {name: getattr(device, name) for name in names if hasattr(device, name)}
    return DeviceNumbers(
        l2_sector=32 / min(device.l2_alone, device.l2_bandwidth * share),
        dram_sector=32 / min(device.l2_alone, device.dram_bandwidth * share),
        write_share=max(0.5, 1 / share),
        l1_lines=max(1, l1_bytes // 128),
        **own,
    )


@lru_cache(maxsize=1)
def simulation_library() -> ctypes.CDLL:
    """The native library with the functions of the simulation; raises NoLibraryError where there is none."""
    library = required_library()
    library.speed_sizes.restype, library.speed_sizes.argtypes = None, [POINTER(c_uint)]
    library.speed_simulate.argtypes = [POINTER(SimulationInput)]
    library.speed_memory_begin.restype = c_void_p
    library.speed_memory_begin.argtypes = [POINTER(DeviceNumbers)]
    library.speed_memory_access.restype = None
    library.speed_memory_access.argtypes = [
        *(c_void_p, c_double, c_uint, c_double, c_void_p, c_void_p, c_void_p),
        *(POINTER(AskerNumbers), POINTER(AnswerNumbers), POINTER(c_double)),
    ]
    library.speed_memory_end.restype, library.speed_memory_end.argtypes = None, [c_void_p]
    sizes = (c_uint * 8)()
    library.speed_sizes(sizes)
    rows = (dtype.itemsize for dtype in (OPERATION, REQUEST, LINE, TRACE, WAITED))
    ours = [ctypes.sizeof(SimulationInput), *rows]
    ours += [ctypes.sizeof(AnswerNumbers), ctypes.sizeof(AskerNumbers)]
    if list(sizes) != ours:
        raise NoLibraryError("the structs of the native library are others")
    return library
