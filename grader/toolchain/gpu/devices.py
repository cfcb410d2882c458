"""GPUs of this machine, their locks, and the marks of those that are sick.

One file per GPU, named after its UUID, is locked (`flock`) while something is timed on it; the lock is the
system's and ends with the process that held it. A second one marks a GPU that did not recover from a hung
kernel. Both lie in a folder that all users of the machine share and that a restart empties, as it may heal
the GPU.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from grader.base import processors
from grader.base.errors import OurError, StorageError
from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

HOW_TO_GET_CUPY = "install what a GPU needs with `pip install 'cupy-cuda13x>=13.6' 'nvidia-ml-py>=12.560'`"

HARNESS, TOOLS, SHARED = "harness", "tools", "shared"
HARNESSES = 6
"""Harnesses on a machine at once that have a context: others prepare while one of them times on a GPU."""

LEAST_TOOLS, MOST_TOOLS = 2, 8
"""Tools on a machine at once that look at one submission, and as many that look at several: half of its
processors, or of a GPU's GiB."""

_POLL = 0.02
"""Seconds after which it is looked again whether one of several slots is free: no lock is one of many."""

_FOLDERS = ("/run/lock", "/var/lock")
_LIBRARIES = {"cupy": "cupy-cuda13x", "pynvml": "nvidia-ml-py"}
"""Modules, and the packages that they come in."""


@frozen
class Gpu:
    """One GPU; ``capability`` is its compute capability, ``driver_cuda`` the newest CUDA its driver knows."""

    uuid: str
    name: str
    capability: tuple[int, int]
    driver: str
    driver_cuda: tuple[int, int]
    memory_bytes: int

    @property
    def architecture(self) -> str:
        """Name of its architecture in ptxas, such as ``sm_90``."""
        major, minor = self.capability
        return f"sm_{major}{minor}"


OLDEST_CAPABILITY, OLDEST_CUDA = (7, 5), (13, 0)
"""Capability that CUDA 13 compiles for, and the driver's CUDA that loads its code (CUDA Compatibility)."""


def unfit(gpu: Gpu) -> str:
    """Reason why a GPU cannot be used with CUDA 13, with what to do about it; empty where it can."""
    if gpu.driver_cuda < OLDEST_CUDA:
        cuda = ".".join(map(str, gpu.driver_cuda))
        return f"its driver {gpu.driver} is for CUDA {cuda}; CUDA 13 needs driver 580 or newer"
    if gpu.capability < OLDEST_CAPABILITY:
        return "CUDA 13 does not compile for compute capabilities below 7.5; use another GPU"
    return ""


def missing_libraries() -> tuple[str, ...]:
    """Python packages that a GPU needs and that are not installed."""
    return tuple(package for name, package in _LIBRARIES.items() if importlib.util.find_spec(name) is None)


def find_gpus() -> tuple[Gpu, ...]:
    """The NVIDIA GPUs that the driver lists; none without a driver, or `nvidia-ml-py` to ask it."""
    if importlib.util.find_spec("pynvml") is None:
        return ()
    import pynvml  # noqa: PLC0415 - only where it is installed

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()
    try:
        return tuple(_described(pynvml, index) for index in range(pynvml.nvmlDeviceGetCount()))
    except pynvml.NVMLError as problem:
        raise OurError(f"the NVIDIA driver does not answer: {problem}") from None
    finally:
        with suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def _described(pynvml: Any, index: int) -> Gpu:  # noqa: ANN401 - a module without types
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    cuda = pynvml.nvmlSystemGetCudaDriverVersion_v2()
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
    return Gpu(
        uuid=_text(pynvml.nvmlDeviceGetUUID(handle)),
        name=_text(pynvml.nvmlDeviceGetName(handle)),
        capability=(int(major), int(minor)),
        driver=_text(pynvml.nvmlSystemGetDriverVersion()),
        driver_cuda=(cuda // 1000, cuda % 1000 // 10),
        memory_bytes=int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
    )


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def visible(gpus: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """GPUs that CUDA_VISIBLE_DEVICES leaves us, in the driver's order; all where it is not set."""
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return gpus
    names = [name.strip() for name in listed.split(",")]
    return tuple(
        gpu
        for index, gpu in enumerate(gpus)
        if any(n and (n == str(index) or gpu.uuid.startswith(n)) for n in names)
    )


def lock_file(gpu: Gpu) -> Path:
    """File to lock while something is timed on a GPU; it exists and every user may open it to read.

    Raises StorageError where it can neither be found nor made.
    """
    return _opened(f"cuda-grader-{gpu.uuid}.lock")


def _opened(name: str) -> Path:
    """A file of this name in the folder that all users share; made if it is not there."""
    path = locks_folder() / name
    try:
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDONLY, 0o444))
        path.open("rb").close()
    except OSError as problem:
        raise StorageError(f"{path}: the GPU's lock cannot be opened: {problem.strerror}") from None
    return path


@contextmanager
def slot(gpu: Gpu, purpose: str) -> Iterator[None]:
    """Hold one of the slots that a machine has for jobs of a kind; waits for it.

    Contexts are made one after another (0.1 to 0.4 s each on an H100) on all GPUs of a machine, and what is
    timed waits for the driver meanwhile. Far more of them at once would only make each other wait: with 24
    tools on two GPUs, timings came to a quarter of their rounds.
    """
    with ExitStack() as stack:
        queue, *slots = slot_files(gpu, purpose)
        locks = [stack.enter_context(path.open("rb")) for path in slots]
        with queue.open("rb") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)  # the first in the queue looks for a slot, the others wait
            while not any(map(try_lock, locks)):
                time.sleep(_POLL)
        yield


@contextmanager
def slot_if_free(gpu: Gpu, purpose: str) -> Iterator[bool]:
    """Hold such a slot if one is free and no process waits for it; gives True if it is held."""
    with ExitStack() as stack:
        queue, *slots = (stack.enter_context(path.open("rb")) for path in slot_files(gpu, purpose))
        is_held = try_lock(queue) and any(map(try_lock, slots))
        queue.close()
        yield is_held


@contextmanager
def alone(gpu: Gpu) -> Iterator[None]:
    """Hold a GPU's lock and all slots of the tools: nothing is timed on it meanwhile, and no tool runs."""
    with ExitStack() as stack:
        for path in (*slot_files(gpu, TOOLS)[1:], *slot_files(gpu, SHARED)[1:], lock_file(gpu)):
            fcntl.flock(stack.enter_context(path.open("rb")), fcntl.LOCK_EX)
        yield


def slot_files(gpu: Gpu, purpose: str) -> tuple[Path, ...]:
    """The files of a kind's slots, that of their queue first, as `slot` and the harness lock them."""
    count = HARNESSES if purpose == HARNESS else tools_at_once(gpu)
    return tuple(_opened(f"cuda-grader-{purpose}-{name}.lock") for name in ("queue", *range(count)))


def tools_at_once(gpu: Gpu) -> int:
    """Number of tools of each kind that may run at once where this GPU is used.

    Each takes a processor, and most of a GiB.
    """
    most = min(processors.available(), gpu.memory_bytes >> 30)
    return max(LEAST_TOOLS, min(MOST_TOOLS, most // 2))


def try_lock(lock: IO[bytes] | int) -> bool:
    """Try to take the lock of a file, or of a descriptor, without waiting; True if it was free."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_sick(gpu: Gpu) -> str:
    """Reason why a GPU was taken out of use; empty where it was not."""
    try:
        return _sick_file(gpu).read_text(encoding="utf-8", errors="replace")[:300] or "no reason given"
    except OSError:
        return ""


def mark_sick(gpu: Gpu, reason: str) -> None:
    """Take a GPU out of use, for every batch here, until it is marked well or the machine restarts."""
    with suppress(OSError):
        _sick_file(gpu).write_text(reason, encoding="utf-8")


def mark_well(gpu: Gpu) -> None:
    """Take a GPU back into use."""
    with suppress(OSError):
        _sick_file(gpu).unlink(missing_ok=True)


def healthy(gpus: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """GPUs that are not marked sick."""
    return tuple(gpu for gpu in gpus if not is_sick(gpu))


def _sick_file(gpu: Gpu) -> Path:
    return locks_folder() / f"cuda-grader-{gpu.uuid}.sick"


def locks_folder() -> Path:
    """Folder that all users may write and a restart empties; the temporary folder where there is none."""
    return next((Path(f) for f in _FOLDERS if os.access(f, os.W_OK)), Path(tempfile.gettempdir()))
