"""A device behind a sandbox: the first that connects is served, none is waited for, failures are ours."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError
from grader.running.device import protocol, requests
from grader.running.device.device import Device
from grader.running.device.memory import DeviceMemory
from grader.running.device.service import VARIABLE, serve
from grader.toolchain.sandbox import Job, LocalSandbox, Stage
from grader.toolchain.sandbox.channel import channel
from tests.running.device.hosts import NoLaunches, compile_host

if TYPE_CHECKING:
    from pathlib import Path

    from grader.toolchain.nvcc import Tools


def _device() -> Device:
    return Device(DeviceMemory(1 << 20), NoLaunches())


def test_a_program_in_a_sandbox_reaches_its_device(own_tools: Tools, tmp_path: Path) -> None:
    """By the environment of its job, and each run by a socket of its own."""
    body = "int main() { void *d; SAY(cudaMalloc(&d, 64)); SAY(cudaMalloc(&d, size_t{1} << 30)); }"
    program = compile_host(body, tmp_path, own_tools).read_bytes()
    with channel() as folder, LocalSandbox().stage(Stage(channel=str(folder))) as sandbox:
        for _ in range(2):
            device = _device()
            with serve(device, folder, 20) as served:
                job = Job(("./host",), (("host", program),), environment=served.environment)
                result = sandbox.run(job)
            assert result.outcome.stdout == b"cudaSuccess\ncudaErrorMemoryAllocation\n"
            assert (served.cut, len(device.memory.live)) == ("", 1)


def test_a_program_that_never_comes_is_not_waited_for() -> None:
    """It may have ended before its first call."""
    with channel() as folder, serve(_device(), folder, 1000) as served:
        pass
    assert served.cut == ""


def test_a_failure_of_the_device_is_ours() -> None:
    """And no student's."""
    broken = _device()
    broken.launches = None  # type: ignore[assignment]
    with pytest.raises(OurError, match="the device failed"), channel() as folder:
        _reset(broken, folder)


def _reset(device: Device, folder: Path) -> None:
    """A program that greets its device and resets it."""
    with serve(device, folder, 10) as served, socket.socket(socket.AF_UNIX) as program:
        program.connect(dict(served.environment)[VARIABLE])
        program.sendall(
            protocol.write(requests.Hello(protocol.VERSION, 0)) + protocol.write(requests.Reset())
        )
        while program.recv(100):
            pass
