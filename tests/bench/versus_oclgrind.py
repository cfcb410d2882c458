"""The emulator against Oclgrind, which interprets OpenCL C and finds data races (`--data-races`), too.

The kernel is the tiled matrix product, the same text in both languages. Both are charged the processor
time of their process, Oclgrind from start to end, the emulator without compiling. Exit code 3 where
`oclgrind-kernel` is missing: `apt-get install oclgrind`.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.measuring import ROOT, TILE, matmul_launch, tiled_matmul

SHAPES = ((142, 110, 146), (256, 256, 256))
REPEATS = 9
MISSING = 3
TO_OPENCL = {
    "__global__ void": "__kernel void",
    "const float* A": "__global const float* A",
    "const float* B": "__global const float* B",
    "float* C": "__global float* C",
    "__shared__": "__local",
    "__syncthreads()": "barrier(CLK_LOCAL_MEM_FENCE)",
    **{f"threadIdx.{axis}": f"get_local_id({number})" for number, axis in enumerate("xy")},
    **{f"blockIdx.{axis}": f"get_group_id({number})" for number, axis in enumerate("xy")},
}


def in_opencl() -> str:
    """The model solution, word by word in OpenCL C."""
    text = (ROOT / "reference" / "matmul" / "solution.cu").read_text()
    for cuda, opencl in TO_OPENCL.items():
        if cuda not in text:
            raise SystemExit(f"the model solution no longer says {cuda!r}: mend TO_OPENCL")
        text = text.replace(cuda, opencl)
    return text


def simulation(rows: int, inner: int, columns: int) -> str:
    """The input of `oclgrind-kernel`: program, kernel, global and local size, arguments."""
    threads = [-(-extent // TILE) * TILE for extent in (columns, rows)]
    buffers = [4 * rows * inner, 4 * inner * columns, 4 * rows * columns]
    lines = ["product.cl", "tiledMatMul", f"{threads[0]} {threads[1]} 1", f"{TILE} {TILE} 1"]
    lines += [f"<size={size} float fill=0.5>" for size in buffers]
    for value in (rows, inner, columns):
        lines += ["<size=4 int>", str(value)]
    return "\n".join(lines) + "\n"


def oclgrind(program: str, shape: tuple[int, int, int]) -> float:
    """Seconds of processor time."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "product.cl").write_text(in_opencl())
        (Path(folder) / "product.sim").write_text(simulation(*shape))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [program, "--data-races", "--num-threads", "1", "product.sim"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or done.stdout or done.stderr:
        raise SystemExit(f"oclgrind failed: {done.stdout}{done.stderr}")
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def main() -> int:
    """Print a row per shape."""
    program = shutil.which("oclgrind-kernel")
    if program is None:
        sys.stderr.write("oclgrind-kernel is missing: apt-get install oclgrind\n")
        return MISSING
    row = "{:>13}{:>14}{:>12}{:>10}{:>12}{:>10}\n"
    sys.stdout.write(row.format("shape", "oclgrind s", "detect s", "faster", "plain s", "faster"))
    kernel = tiled_matmul()
    for shape in SHAPES:
        theirs = oclgrind(program, shape)
        launch, arguments = matmul_launch(*shape)
        ours = [
            kernel.measure(launch, arguments, detect=way, repeats=REPEATS).seconds for way in (True, False)
        ]
        figures = [text for seconds in ours for text in (f"{seconds:.3f}", f"{theirs / seconds:.0f} ×")]
        sys.stdout.write(row.format("·".join(map(str, shape)), f"{theirs:.1f}", *figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
