"""The corpus's launches as the model estimates them, two at a time."""

from __future__ import annotations

import hashlib
import re
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from grader.base.errors import OurError
from grader.model import Argument, Build, Launch
from grader.running.estimate import NotEstimatedError, device_of, estimate_kernel
from grader.toolchain.nvcc import Tools, find_toolchain, machine_code
from grader.toolchain.nvcc.toolchain import DEFAULT_BUILD
from grader.toolchain.sandbox import LocalSandbox
from tests.bench.estimate.inputs import arrays_of, number_of
from tests.bench.estimate.records import ROOT, Array

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.bench.estimate.records import Kernel, Shape

FOLDER = ROOT / "build/estimate"
"""The folder that keeps compiled kernels from one run to the next."""

PROCESSES = 2
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")


@dataclass(frozen=True, slots=True)
class Estimated:
    """A launch with its time in milliseconds, or with the ``problem`` why there is none.

    ``seconds`` are those that the estimate took, ``limits`` what the time is spent on, the most first.
    """

    kernel: str
    shape: Shape
    milliseconds: float = 0.0
    seconds: float = 0.0
    limits: tuple[tuple[str, float], ...] = ()
    problem: str = ""


def estimates(kernels: Sequence[tuple[Kernel, Shape]], device: str) -> Iterator[Estimated]:
    """Estimate launches on a device, given by its key, in their order; raises CalledProcessError for nvcc."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        yield from pool.map(_estimated, kernels, [device] * len(kernels))


def _estimated(launch: tuple[Kernel, Shape], device: str) -> Estimated:
    kernel, shape = launch
    build = _build(ROOT / kernel.file, kernel.entry)
    arrays = arrays_of(kernel, shape)
    arguments = tuple(
        Argument(each.name, "inout", arrays[each.name])
        if isinstance(each, Array)
        else Argument(each.name, "value", number_of(each, shape))
        for each in kernel.parameters
    )
    began = time.perf_counter()
    try:
        configuration = Launch(kernel.grid_of(shape), kernel.block, kernel.shared)
        on = device_of(device)
        code = machine_code(_tools(), build.ptx, on.architecture)
        estimate = estimate_kernel(code, build, configuration, arguments, on).estimate
    except NotEstimatedError as problem:
        details = " ".join(str(value) for _, value in problem.details)
        return Estimated(kernel.name, shape, problem=f"{problem.problem} {details}".strip())
    except OurError as problem:
        return Estimated(kernel.name, shape, problem=str(problem))
    limits = tuple((limit.limit, limit.share) for limit in estimate.limits)
    return Estimated(kernel.name, shape, estimate.milliseconds, time.perf_counter() - began, limits)


@cache
def _tools() -> Tools:
    return Tools(find_toolchain(), LocalSandbox(), FOLDER)


@cache
def _build(file: Path, entry: str) -> Build:
    """The build of a kernel, by the options of the grader's default build."""
    tools = find_toolchain()
    command = (str(tools.nvcc), *DEFAULT_BUILD, f"-arch=compute_{tools.architecture}", str(file))
    key = hashlib.sha256(repr((command, tools.version, file.read_bytes())).encode()).hexdigest()
    ptx = FOLDER / f"{key}.ptx"
    if not ptx.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        made = ptx.with_suffix(f".{time.monotonic_ns()}")
        subprocess.run((*command, "-o", str(made)), check=True)
        made.replace(ptx)
    text = ptx.read_text("utf-8")
    (name,) = (n for n in _ENTRY.findall(text) if n == entry or n.startswith(f"_Z{len(entry)}{entry}"))
    return Build(ok=True, ptx=text, entry=name, source_name=file.name)
