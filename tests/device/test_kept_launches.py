"""Launches that are kept to be made again: what they take, and what is made of memory that comes and goes."""

from __future__ import annotations

import numpy as np

from grader.device.memory import DeviceAllocation, DeviceMemory
from grader.device.observation import MemoryImage
from grader.device.requests import Sharing
from grader.device.seen import KeptLaunch, KeptLaunches
from grader.emulator.memory.memory import Allocation
from grader.model import Argument, Build, Launch

STORES_SEVEN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 store_param_0)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [store_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 7;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""
SEVEN = np.int32(7).tobytes()


def _launch(memory: DeviceMemory, output: DeviceAllocation, ptx: str = STORES_SEVEN) -> KeptLaunch:
    """A launch that stores a number there."""
    arrays = tuple(Allocation("out", a.start, a.end, 4, (1,), "inout") for a in memory.in_order())
    used = slice(0, memory.end)
    image = MemoryImage(memory.bytes[used], memory.written[used], arrays, (arrays[-1],), {})
    argument = Argument("parameter 1", "value", np.uint64(output.address))
    build = Build(ok=True, ptx=ptx, entry="store")
    return KeptLaunch(build, "store.cu", Launch((1, 1, 1), (1, 1, 1)), (argument,), 10, image)


def test_launches_on_memory_that_is_allocated_each_time_are_made_again() -> None:
    """The first one left nothing in the output of the second, which was not there yet."""
    memory, kept = DeviceMemory(1 << 20), KeptLaunches()
    for _ in range(2):
        output = memory.allocate(4, Sharing.DEVICE, 0)
        kept.keep(_launch(memory, output))
        memory.free(output)
    assert kept.left_for({0: bytes(4)}, 0, count=2) == SEVEN


def test_of_a_launch_that_stops_for_other_inputs_nobody_knows_what_it_leaves() -> None:
    """A student may assert what holds for the program's own inputs."""
    memory, kept = DeviceMemory(1 << 20), KeptLaunches()
    stops = STORES_SEVEN.replace("ret;", "trap;")
    kept.keep(_launch(memory, memory.allocate(4, Sharing.DEVICE, 0), stops))
    assert kept.left_for({0: bytes(4)}, 0, count=1) is None


def test_a_launch_takes_no_memory_for_what_was_freed_before_it() -> None:
    """Device memory is not used again while there is room, so that it grows with each allocation."""
    memory, kept = DeviceMemory(1 << 20), KeptLaunches()
    for _ in range(10):
        memory.free(memory.allocate(1 << 19, Sharing.DEVICE, 0))
    kept.keep(_launch(memory, memory.allocate(4, Sharing.DEVICE, 0)))
    assert kept.launches[0].taken == 2 * 4
