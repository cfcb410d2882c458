"""The corpus's kernels as machine code, by the commands of the grader's default build."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from grader.toolchain.nvcc.toolchain import DEFAULT_BUILD, find_toolchain
from tests.bench.estimate.corpus import ROOT
from tests.bench.estimate.cubins import cubin_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.bench.estimate.records import Kernel


def build(kernels: Iterable[Kernel], folder: Path, architecture: str) -> None:
    """Compile each file for an architecture such as ``sm_90``: PTX as for grading, then ptxas.

    Raises CalledProcessError where nvcc or ptxas refuses a file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {kernel.file: cubin_of(kernel, folder) for kernel in kernels}
    with ThreadPoolExecutor(2) as pool:
        builds = [pool.submit(_build_one, file, cubin, architecture) for file, cubin in files.items()]
    for each in builds:
        each.result()


def _build_one(file: str, cubin: Path, architecture: str) -> None:
    tools, ptx = find_toolchain(), cubin.with_suffix(".ptx")
    target = f"-arch=compute_{tools.architecture}"
    command = (str(tools.nvcc), *DEFAULT_BUILD, target, str(ROOT / file), "-o", str(ptx))
    subprocess.run(command, check=True)
    assemble = (tools.ptxas, f"-arch={architecture}", "-lineinfo", str(ptx), "-o", str(cubin))
    subprocess.run(assemble, check=True)
    ptx.unlink()
