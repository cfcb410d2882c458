"""Host programs for tests: C++ against the runtime's header, linked with the stand-in, served by a device."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.base.data_files import headers_folder
from grader.running.device.device import Device
from grader.running.device.memory import DeviceMemory
from grader.running.device.service import Session, welcome
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.nvcc.runtime import stand_in
from grader.toolchain.sandbox import LocalSandbox

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from grader.running.device.device import LaunchOutcome, LoadedKernel
    from grader.running.device.memory import DeviceAllocation
    from grader.running.device.requests import LaunchKernel

HEAD = """
#include <cuda_runtime_api.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>
template <class T> cudaError_t cudaMalloc(T **p, size_t n) { return cudaMalloc((void **)p, n); }
template <class T> cudaError_t cudaMallocManaged(T **p, size_t n) {
    return cudaMallocManaged((void **)p, n, 1);
}
#define SAY(call) std::printf("%s\\n", cudaGetErrorName(call))
"""


@dataclass(slots=True)
class NoLaunches:
    """A device without kernels."""

    kernels: tuple[LoadedKernel, ...] = ()
    variables: Mapping[tuple[int, str], DeviceAllocation] = field(default_factory=dict)

    def launch(
        self, request: LaunchKernel, caller: int, shared_limit: int, *, watch: bool = False
    ) -> LaunchOutcome:
        """There is nothing to launch."""
        raise NotImplementedError

    def reset(self) -> None:
        """There is nothing to put back."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The end of a program: exit code, output, why the session cut it off, and the device as it was left."""

    returncode: int
    stdout: str
    stderr: str
    cut: str
    device: Device

    @property
    def mistakes(self) -> list[str]:
        """The codes of the host's mistakes."""
        return [str(mistake.code) for mistake in self.device.mistakes]


def tools(cache: Path | None = None) -> Tools:
    """A compiler of this machine."""
    return Tools(find_toolchain(), LocalSandbox(), cache)


def compile_host(source: str, folder: Path, own: Tools) -> Path:
    """A program of plain C++ that calls the runtime."""
    (folder / "host.cpp").write_text(HEAD + source, encoding="utf-8")
    (folder / "standin.o").write_bytes(stand_in(own))
    include = f"-I{own.toolchain.roots[0]}/include"
    argv = [
        own.toolchain.host_compiler,
        "-g1",
        "-O1",
        "-no-pie",
        include,
        f"-I{headers_folder()}",
        "host.cpp",
        "standin.o",
        "-o",
        "host",
    ]
    subprocess.run(argv, cwd=folder, check=True)
    return folder / "host"


def serve(
    program: Path,
    *arguments: str,
    device: Device | None = None,
    seconds: float = 20.0,
    folder: Path | None = None,
    before: tuple[str, ...] = (),
) -> Ran:
    """Run a program to its end against a device, in ``folder`` if it leaves files.

    ``before`` is the command that runs a program of another processor's.
    """
    device = device or Device(DeviceMemory(64 << 20), NoLaunches())
    deadline = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as channel, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{channel}/s")
        listener.listen(1)
        environment = {**os.environ, "GRADER_DEVICE": f"{channel}/s"}
        with subprocess.Popen(
            [*before, program, *arguments],
            env=environment,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            watch = threading.Timer(seconds + 1, process.kill)
            watch.start()
            connection = welcome(listener, deadline)
            cut = Session(device, connection, deadline).run() if connection else "nobody came"
            if cut:
                process.kill()
            stdout, stderr = process.communicate()
            watch.cancel()
    device.memory.close()
    return Ran(process.returncode, stdout, stderr, cut, device)
