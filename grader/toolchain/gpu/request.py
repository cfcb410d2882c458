"""The job for the harness: its request, its files, its limits.

The harness gets inputs that were drawn here, not a seed: it knows neither the oracle nor how to ask it.
Under a tool each case launches a copy of the kernel with a name of its own, so that the tool's records
identify their launch.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.data_files import data_root
from grader.base.errors import OurError
from grader.base.records import frozen
from grader.simulation.ptx import parse
from grader.simulation.ptx.parser import module_variables, symbol_called
from grader.toolchain.gpu import speedup_statistics
from grader.toolchain.sandbox import Job, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grader.model import Argument, Launch, Named

PREFIX = "grader_case_"


def name_for(index: int) -> str:
    """The name of the kernel that is launched for case number ``index``."""
    return f"{PREFIX}{index}"


def index_of(name: str) -> int | None:
    """The number of the case that a kernel's name stands for; None for any other name."""
    match = re.fullmatch(rf"{PREFIX}(\d{{1,9}})(?:\(.*)?", name, re.DOTALL)
    return int(match[1]) if match else None


def with_copies(ptx: str, entry: str, names: Iterable[str]) -> str:
    """The text with a copy of the kernel ``entry`` under each name; all share the module's variables.

    Labels and parameters inside are the kernel's own (PTX ISA, section "Identifiers"). Raises OurError where
    there is no such kernel.
    """
    kernels = (
        function
        for function in parse(ptx).functions
        if function.is_entry and function.defined and function.name == entry
    )
    kernel = next(kernels, None)
    if kernel is None:
        raise OurError(f"the kernel {entry} was not found in the PTX")
    (begin, end), (name_begins, name_ends) = kernel.text, kernel.named
    head, body = ptx[begin:name_begins], ptx[name_ends:end]
    copies = "".join(f"\n{head}{name}{body}\n" for name in names)
    return f"{ptx[:end]}\n{copies}{ptx[end:]}"


HARNESS = "harness.py"
REQUEST = "request.json"
ANSWER = "result.json"
HELPERS = "helpers.cubin"

SECONDS = {"case": 5.0, "after_timeout": 1.0, "probe": 30.0, "total": 240.0, "await": 15.0}
"""Time limits of the harness: for a case, for one after the first that hung, for a probe, for everything, and
for launches where it was started before there were any (a build and the emulator come before them)."""

SLOT_SECONDS = 900.0
"""Seconds that the harness may wait for a slot besides: its holder is done in two seconds, or hangs."""

TOOL_SECONDS = 60.0
"""Wall time for a tool, which takes two when all is well."""

LIMITS = Limits(
    wall_seconds=SECONDS["total"] + 60,
    cpu_seconds=300,
    memory_bytes=0,
    file_bytes=2**30,
    output_bytes=16 * 2**20,
    processes=512,  # threads: a driver has some for each of the five processes that use the GPU at once
    open_files=1024,
    total_bytes=16 * 2**30,
    disk_bytes=4 * 2**30,
)
"""Limits of a job on a GPU, and of the container for all that look at one submission there."""

_ENVIRONMENT = (
    ("OPENBLAS_NUM_THREADS", "1"),
    ("OMP_NUM_THREADS", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PYTHONNOUSERSITE", "1"),
    ("CUPY_CACHE_DIR", "."),
    ("CUDA_CACHE_DISABLE", "1"),
    ("CUDA_DEVICE_MAX_CONNECTIONS", "1"),  # one stream needs no more, and a context is made much sooner
)


STUDENT = "student"
"""The image that holds what the student handed in."""


@frozen
class DeviceCase:
    """One launch for the harness: ``index`` is the case's number, which names its files and its kernel.

    ``image`` is the job's image that the kernel is in. ``followed`` is True if the emulator followed
    the launch to its end.
    """

    index: int
    launch: Launch
    arguments: tuple[Argument, ...]
    image: str = STUDENT
    followed: bool = False


@frozen
class Image:
    """A kernel in a cubin; ``widths`` are the types of scalars that it takes wider than they are."""

    cubin: bytes
    entry: str
    widths: Named[str] = ()
    symbols: Named[str] = ()
    """Variables by their names in the source, and what they are called in the cubin."""
    variables: bool = False
    """True if the module has variables, in which something could be kept from launch to launch."""


@frozen
class Where:
    """Environment of a job: the interpreter, our cubin, the GPU, and what others there wait for.

    The ``lock`` is held by what is timed, and waited for by launches under a tool. ``slots`` are the files of
    `devices.slot_files`, of which one is held as long as the harness has a context. A job alone on the GPU
    needs neither.
    """

    python: str
    helpers: bytes
    gpu: str
    lock: str = ""
    slots: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def harness_files() -> Named[bytes]:
    """The files of the harness: `sandbox/gpu_harness/`, and the statistics that it shares with us."""
    modules = [
        (path.name, path.read_bytes())
        for path in sorted((data_root() / "sandbox" / "gpu_harness").glob("*.py"))
    ]
    return (*modules, ("speedup_statistics.py", Path(speedup_statistics.__file__).read_bytes()))


def helpers_source() -> bytes:
    """Our own device code: digests, poison, bandwidth and peak."""
    return (data_root() / "sandbox" / "gpu_harness" / "helpers.cu").read_bytes()


def widths(arguments: Iterable[Argument], parameter_bytes: tuple[int, ...]) -> Named[str]:
    """The integer scalars that a kernel takes wider or narrower than they are, as ``int64`` and the like."""
    passed = (argument for argument in arguments if argument.is_parameter)
    pairs = zip(passed, parameter_bytes, strict=False)
    return tuple(
        (argument.name, f"{'int' if argument.value.dtype.kind == 'i' else 'uint'}{8 * taken}")
        for argument, taken in pairs
        if argument.direction == "value"
        and argument.value.dtype.kind in "iu"
        and argument.value.itemsize != taken
    )


@frozen
class JobLaunches:
    """Contents of a request: kernels by name, the cases that launch them, and the files that both name."""

    kernels: dict[str, Any]
    cases: list[dict[str, Any]]
    files: Named[bytes]


def launches_of(images: Named[Image], cases: tuple[DeviceCase, ...], entries: Named[str] = ()) -> JobLaunches:
    """The launches of ``cases``; ``entries`` gives kernels by case number another name."""
    files = {f"{name}.cubin": image.cubin for name, image in images}
    listed = [_case(case, images, dict(entries).get(str(case.index)), files) for case in cases]
    return JobLaunches({name: _kernel(name, image) for name, image in images}, listed, tuple(files.items()))


def run_job(
    where: Where,
    images: Named[Image],
    cases: tuple[DeviceCase, ...],
    timing: tuple[dict[str, Any], Named[bytes], tuple[str, ...]] | None = None,
    *,
    mode: str = "run",
    entries: Named[str] = (),
    tool: tuple[str, ...] = (),
    tool_files: tuple[str, ...] = (),
) -> Job:
    """The job that launches ``cases`` and, with ``timing`` (plan, files, files to come back), times kernels.

    ``entries`` gives kernels by case number another name; ``tool`` is a command to put before the harness's.
    Where others may use the GPU (there is a lock) nothing is begun after a case that does not end: it may
    have been kept waiting, and all will be done again, alone.
    """
    launches = launches_of(images, cases, entries)
    plan, timing_files, timing_wanted = timing or (None, (), ())
    wanted = tuple(output_file(case.index, a.name) for case in cases for a in case.arguments if _is_output(a))
    job = _job(where, launches, mode, tool, plan)
    return replace(
        job,
        files=(*job.files, *timing_files),
        wanted=(ANSWER, *wanted, *timing_wanted, *tool_files),
        locks=(*((where.lock,) if where.lock and (timing or tool) else ()), *(() if tool else where.slots)),
    )


def shared_job(
    where: Where, launches: JobLaunches, tool: tuple[str, ...], tool_files: tuple[str, ...], awaits: str = ""
) -> Job:
    """The job that does launches several at a time under a tool, and ends with the first that goes wrong.

    With ``awaits``, the path of an archive, it begins without launches and finds them there.
    """
    job = _job(where, launches, "concurrent", tool, awaits=awaits)
    return replace(job, wanted=(ANSWER, *tool_files), locks=(where.lock,) if where.lock else ())


def _seconds_of_harness(where: Where) -> float:
    """Wall time for a harness: one that waits for no slot has the GPU alone, and keeps all others waiting."""
    return LIMITS.wall_seconds + (SLOT_SECONDS if where.slots else 0)


def _job(
    where: Where,
    launches: JobLaunches,
    mode: str,
    tool: tuple[str, ...],
    timing: dict[str, Any] | None = None,
    awaits: str = "",
) -> Job:
    request = {
        "format": 1,
        "mode": mode,
        "seconds": SECONDS,
        "awaits": awaits,
        "helpers": HELPERS,
        "kernels": launches.kernels,
        "cases": launches.cases,
        "timing": timing,
        "stop_at_hang": bool(where.lock),
        "give_way": where.lock if tool else "",
        "slots": [] if tool else list(where.slots),
    }
    return Job(
        argv=(*tool, where.python, HARNESS, REQUEST),
        files=(
            *harness_files(),
            (HELPERS, where.helpers),
            *launches.files,
            (REQUEST, json.dumps(request, allow_nan=False).encode()),
        ),
        limits=replace(LIMITS, wall_seconds=TOOL_SECONDS if tool else _seconds_of_harness(where)),
        environment=_ENVIRONMENT,
        gpu=where.gpu,
    )


def symbols_of(arguments: Iterable[Argument], ptx: str) -> Named[str]:
    """Name in a PTX text of each variable that holds an argument."""
    symbols = [argument.symbol for argument in arguments if argument.symbol]
    variables = module_variables(ptx) if symbols else {}
    return tuple((symbol, symbol_called(symbol, variables) or symbol) for symbol in symbols)


def has_variables(ptx: str) -> bool:
    """True if a PTX text declares variables in global or constant memory, by any author and anywhere."""
    module = parse(ptx)
    declared = (module.variables, *(function.variables for function in module.functions))
    return any(variable.space in ("global", "const") for part in declared for variable in part)


def output_file(index: int, array: str) -> str:
    """File of an array that the harness leaves after the launch of a case."""
    return f"out/{index}-{array}.npy"


def described(arguments: Iterable[Argument], folder: str, files: dict[str, bytes]) -> list[dict[str, Any]]:
    """Arguments as the request lists them; the arrays' contents go into ``files`` under ``folder``."""
    return [_argument(argument, folder, files) for argument in arguments]


def _kernel(name: str, image: Image) -> dict[str, Any]:
    kernel = {"image": f"{name}.cubin", "entry": image.entry, "variables": image.variables}
    return kernel | {"symbols": dict(image.symbols)}


def _is_output(argument: Argument) -> bool:
    return argument.direction in ("out", "inout")


def _case(
    case: DeviceCase, images: Named[Image], entry: str | None, files: dict[str, bytes]
) -> dict[str, Any]:
    image = dict(images)[case.image]
    return {
        "name": str(case.index),
        "kernel": case.image,
        "entry": entry,
        "widths": dict(image.widths),
        "grid": list(case.launch.grid),
        "block": list(case.launch.block),
        "shared": case.launch.shared_bytes,
        "arguments": described(case.arguments, f"in/{case.index}", files),
    }


def _argument(argument: Argument, folder: str, files: dict[str, bytes]) -> dict[str, Any]:
    value = argument.value
    if isinstance(value, np.ndarray):
        file = f"{folder}-{argument.name}.npy"
        files[file] = npy(value)
        return {
            "name": argument.name,
            "direction": argument.direction,
            "file": file,
            "offset": argument.offset,
            "is_parameter": argument.is_parameter,
            "symbol": argument.symbol,
        }
    scalar = {"name": argument.name, "direction": "value"}
    if value.dtype.kind == "V":
        return scalar | {"bytes": value.tobytes().hex(), "pointers": dict(argument.pointers)}
    return scalar | {"dtype": value.dtype.name, "value": value.item()}


def npy(array: NDArray[Any]) -> bytes:
    """An array as the bytes of an ``.npy`` file."""
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()
