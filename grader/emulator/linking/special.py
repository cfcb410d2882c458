"""Special registers (PTX ISA chapter 10): what lanes hold, what is the same in every launch, clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.emulator.machine.geometry import SMS

if TYPE_CHECKING:
    import numpy as np

    from grader.emulator.linking.link import Fetch
    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.values import Lanes, Value

_OF_LANES = frozenset(
    {f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"}
    | {f"%lanemask_{relation}" for relation in ("eq", "le", "lt", "ge", "gt")}
    | {"%laneid", "%warpid", "%nwarpid", "%smid", "%gridid"}
)
"""What the machine holds for its lanes."""

_CLOCKS = {
    "%clock": 0,
    "%clock64": 0,
    "%clock_hi": 32,
    "%globaltimer": 0,
    "%globaltimer_lo": 0,
    "%globaltimer_hi": 32,
}
"""How far the ticks are shifted to the right."""

_EPOCH = 1_700_000_000 * 10**9
"""What is added to the ticks of the global timer, which counts nanoseconds since 1970."""

_FIXED = {
    "%nsmid": SMS,
    "%envreg1": 0,
    "%envreg2": 0,
    **{f"%reserved_smem_offset_{which}": 0 for which in ("begin", "end", "cap", "0", "1")},
    "%is_explicit_cluster": 0,
    "%cluster_ctarank": 0,
    "%cluster_nctarank": 1,
    **{f"%cluster_ctaid.{axis}": 0 for axis in "xyz"},
    **{f"%cluster_nctaid.{axis}": 1 for axis in "xyz"},
}
"""No launch here is cooperative (``%envreg1`` and 2 point to what such a one shares), none has clusters of
more than one block, and the system takes no shared memory for itself."""

_SAME = {
    **{f"%clusterid.{axis}": f"%ctaid.{axis}" for axis in "xyz"},
    **{f"%nclusterid.{axis}": f"%nctaid.{axis}" for axis in "xyz"},
}
"""Every block is a cluster of its own."""


def special(name: str, dtype: np.dtype[Any]) -> Fetch | None:
    """Reads a special register; None for one that is not interpreted. It may give folded values."""
    if name in _CLOCKS:
        ones = 2 ** (8 * dtype.itemsize) - 1
        start = _EPOCH if name.startswith("%globaltimer") else 0
        return lambda machine, _lanes: dtype.type(start + machine.ticks() >> _CLOCKS[name] & ones)
    if name in _FIXED:
        fixed = dtype.type(_FIXED[name])
        return lambda _machine, _lanes: fixed
    if name == "%dynamic_smem_size":
        return lambda machine, _lanes: dtype.type(machine.geometry.launch.shared_bytes)
    if name in ("%total_smem_size", "%aggr_smem_size"):
        return lambda machine, _lanes: dtype.type(machine.shared_bytes)
    return _of_lanes(_SAME.get(name, name), dtype)


def _of_lanes(name: str, dtype: np.dtype[Any]) -> Fetch | None:
    if name not in _OF_LANES:
        return None

    def read(machine: Machine, lanes: Lanes) -> Value:
        value = machine.special[name]
        if value.dtype.itemsize != dtype.itemsize:
            value = value.astype(dtype)
        return machine.pick(value.view(dtype), lanes)

    return read
