"""The names of a program's device memory, from the lines of the calls that allocate it."""

from __future__ import annotations

from grader.running.device.host_source import HostSource
from grader.running.device.memory import DeviceAllocation
from grader.running.device.requests import Sharing

TEXT = """int main() {
    cudaMalloc((void **)&d_A, n); cudaMalloc(&d_B, n);
    for (auto &row : rows) cudaMalloc(&row, n);
}
"""
LINES = {0x10: 2, 0x20: 2, 0x30: 3, 0x40: 9}


def _names(*callers: int) -> list[str]:
    source = HostSource(TEXT, LINES)
    allocations = (
        DeviceAllocation(512 * n, 512 * n + 4, Sharing.DEVICE, caller, n)
        for n, caller in enumerate(callers, 1)
    )
    return [source.name_of(allocation) for allocation in allocations]


def test_calls_on_one_line_are_named_by_their_turn() -> None:
    """The first call that allocates there is the first that is written there."""
    assert _names(0x10, 0x20) == ["d_A", "d_B"]


def test_what_a_loop_allocates_is_numbered() -> None:
    """Arrays are distinguished by their names."""
    assert _names(0x30, 0x30, 0x30) == ["row", "row#2", "row#3"]


def test_a_call_that_is_written_nowhere_has_a_name_all_the_same() -> None:
    """That of its line, or its number."""
    assert _names(0x40, 0x50) == ["the array of line 9", "array 2"]


def test_the_call_on_a_line_has_a_name() -> None:
    """Only where there is one: a check around it asks for words of the error, too."""
    lines = (
        "CHECK(cudaMalloc(&a, 4));",
        "if (cudaMalloc<float>(&a, 4)) puts(cudaGetErrorString(cudaGetLastError()));",
        "cudaFree(a); cudaMalloc(&a, 4);",
        "kernel<<<1, 1>>>(a);",
    )
    source = HostSource("\n".join(lines), {16 * line: line for line in range(1, 6)})
    assert [source.call_of(16 * line) for line in range(1, 6)] == ["cudaMalloc", "cudaMalloc", "", "", ""]
    assert source.call_of(1) == ""
