"""Launching PTX on a real device with CuPy, and comparing in a process that may be lost.

A kernel that hangs or faults takes its process's device context with it: the comparison goes on in a new one.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.simulation.emulator.nvcc import compiler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection

    from numpy.typing import NDArray

    from grader.model import Dim3

PATIENCE = 60.0
"""Seconds without an answer after which a job counts as hung."""


class LostError(Exception):
    """The process that worked on a job gave no answer: a crash, or a hang."""


def launch(
    text: str, entry: str, values: Sequence[Any], grid: Dim3, block: Dim3, shared: int = 0
) -> list[NDArray[Any]]:
    """Launch a kernel of some PTX; gives what the arrays among ``values`` hold afterwards, in their order."""
    import cupy  # noqa: PLC0415 - only where there is a device

    arrays = [_bytes(value) if isinstance(value, np.ndarray) else None for value in values]
    given = [
        cupy.asarray(array) if array is not None else _by_value(value)
        for array, value in zip(arrays, values, strict=True)
    ]
    _loaded(text).get_function(entry)(grid, block, tuple(given), shared_mem=shared)
    cupy.cuda.runtime.deviceSynchronize()
    return [
        cupy.asnumpy(place).view(value.dtype).reshape(value.shape)
        for place, value in zip(given, values, strict=True)
        if isinstance(value, np.ndarray)
    ]


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _by_value(value: Any) -> Any:  # noqa: ANN401 - a NumPy scalar
    """A scalar as it is; a structure as an array of one, whose bytes CuPy passes by value."""
    return np.array([value]) if isinstance(value, np.void) else value


def _loaded(text: str) -> Any:  # noqa: ANN401 - a module of CuPy
    """Load a module of the machine code that ptxas makes of the PTX.

    A `mul` and an `add` without a rounding may become one `fma` (PTX ISA section 9.7.3), or not: PTX leaves
    it open. Here they stay what they are, so that the bits can be compared.
    """
    import cupy  # noqa: PLC0415 - only where there is a device

    module = cupy.cuda.function.Module()
    capability = cupy.cuda.Device().compute_capability
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(text)
        ptxas = str(Path(compiler()).with_name("ptxas"))
        command = [ptxas, f"-arch=sm_{capability}", "--fmad=false", "-o", str(target), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[0][:300])
        module.load(target.read_bytes())
    return module


def description() -> dict[str, str]:
    """The device, the driver and the versions of the tools that the comparison ran on."""
    import cupy  # noqa: PLC0415 - only where there is a device

    version = subprocess.run(
        [compiler(), "--version"], capture_output=True, text=True, check=True, timeout=60
    )
    return {
        "device": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "driver": str(cupy.cuda.runtime.driverGetVersion()),
        "cupy": str(cupy.__version__),
        "numpy": np.__version__,
        "nvcc": next(line for line in version.stdout.splitlines() if "release" in line).strip(),
    }


def one_by_one(
    work: Callable[[Any], Any], jobs: Sequence[Any], patience: float = PATIENCE
) -> Iterator[tuple[Any, Any]]:
    """Each job with what ``work`` made of it, or with the exception it ended in.

    All run in one process, one after the other; after an exception, a crash or a hang, in a new one.
    """
    context = multiprocessing.get_context("spawn")
    waiting = list(jobs)
    while waiting:
        ours, theirs = context.Pipe()
        process = context.Process(target=_worker, args=(work, theirs), daemon=True)
        process.start()
        theirs.close()
        sound = True
        while waiting and sound:
            job = waiting.pop(0)
            result = _answer(ours, job, patience)
            sound = not isinstance(result, Exception)
            yield job, result
        process.kill()
        process.join()


def _answer(pipe: Connection, job: Any, patience: float) -> Any:  # noqa: ANN401 - what the work gives
    try:
        pipe.send(job)
        if pipe.poll(patience):
            return pipe.recv()
    except (EOFError, OSError):
        return LostError("its process ended")
    return LostError(f"no answer within {patience:.0f} s")


def _worker(work: Callable[[Any], Any], pipe: Connection) -> None:
    while True:
        job = pipe.recv()
        try:
            result = work(job)
        except Exception as error:  # noqa: BLE001 - whatever it is belongs into the report
            result = RuntimeError(f"{type(error).__name__}: {error}"[:500])
        pipe.send(result)
