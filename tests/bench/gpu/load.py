"""Something else that keeps the GPU or the processor busy, while an experiment runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.gpu.grading import MATMUL, ROOT
from tests.simulation.emulator.nvcc import ptx

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("quiet", "gpu busy", "cpu busy")

_SPIN = "while True: pass"
_LAUNCH = """
import sys
import cupy
side = 1024
kernel = cupy.RawModule(path=sys.argv[1]).get_function("_Z11tiledMatMulPKfS0_Pfiii")
a, b, c = (cupy.zeros((side, side), cupy.float32) for _ in range(3))
sizes = (cupy.int32(side),) * 3
print("ready", flush=True)
while True:
    for _ in range(20):
        kernel((side // 16, side // 16), (16, 16), (a, b, c, *sizes))
    cupy.cuda.runtime.deviceSynchronize()
"""


@contextmanager
def busy(kind: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keep the device (``gpu busy``) or every core (``cpu busy``) at work; ``quiet`` does nothing.

    Gives the processes; raises RuntimeError where one does not start, or ends before it is asked to.
    """
    with tempfile.TemporaryDirectory() as folder:
        started = _start(kind, Path(folder))
        try:
            yield started
            ended = [process for process in started if process.poll() is not None]
            if ended:
                raise RuntimeError(f"{kind}: {len(ended)} of {len(started)} processes ended too early")
        finally:
            for process in started:
                process.kill()
                process.wait()


def _start(kind: str, folder: Path) -> list[subprocess.Popen[bytes]]:
    if kind == "cpu busy":
        return [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in range(os.cpu_count() or 1)]
    if kind == "gpu busy":
        module = folder / "naive.ptx"
        module.write_text(ptx((MATMUL / "naive.cu").read_text("utf-8"), (), "naive.cu"), "utf-8")
        command = [sys.executable, "-c", _LAUNCH, str(module)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
        if process.stdout is None or process.stdout.readline() != b"ready\n":
            raise RuntimeError("gpu busy: the loading process did not start; is CuPy installed?")
        return [process]
    return []
