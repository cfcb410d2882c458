"""What runs a built kernel case by case: one file per backend, and one table.

A backend is a class derived from `grader.backends.backend.Backend`, in a file of its own, and a line in
`BACKENDS`. Nobody outside this package compares a backend's name: what it can do is an attribute of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, cast

from grader.errors import ToolMissing, UsageError
from grader.gpu import RaceJudge

if TYPE_CHECKING:
    from grader.backends.backend import Backend
    from grader.gpu.devices import Gpu
    from grader.nvcc import Tools

AUTO = "auto"
"""The choice of the first backend that fits this machine."""


@dataclass(frozen=True, slots=True)
class BackendEntry:
    """A line of the table: where a backend's class is, and what has to be known before it is loaded."""

    cls: str
    """The class as ``module:name``."""
    needs_gpu: bool = False

    def load(self) -> type[Backend]:
        """The class; loading it takes what running a kernel on the backend takes."""
        return cast("type[Backend]", resolve_name(self.cls))


BACKENDS = {
    "emulator": BackendEntry("grader.backends.emulator:EmulatorBackend"),
    "gpu": BackendEntry("grader.backends.gpu:GpuBackend", needs_gpu=True),
}
"""The backends by what `--backend` and a grade call them."""

CHOICES = (AUTO, *BACKENDS)
"""What `--backend` may say."""


def may_use_gpu(choice: str) -> bool:
    """Whether a choice of `--backend` looks for GPUs at all."""
    return choice == AUTO or BACKENDS[choice].needs_gpu


def must_use_gpu(choice: str) -> bool:
    """Whether a choice of `--backend` is an error where no GPU can be used."""
    return choice != AUTO and BACKENDS[choice].needs_gpu


def usable_gpus(choice: str) -> tuple[tuple[Gpu, ...], str]:
    """The GPUs that a choice of `--backend` grades on, and why none of those that there are, if so.

    There are none if the backend needs none, and with `auto` where they cannot be used. For a backend that
    needs GPUs it raises UsageError where there is none, ToolMissing where something else is missing.
    """
    if not may_use_gpu(choice):
        return (), ""
    from grader.gpu import devices  # noqa: PLC0415 - where nobody asks for it, nothing is loaded

    required, asked = must_use_gpu(choice), f"--backend {choice}"
    missing = devices.missing_libraries()
    visible = () if "nvidia-ml-py" in missing else devices.visible(devices.find_gpus())
    if required and missing:
        raise ToolMissing(f"{asked} needs {' and '.join(missing)}; {devices.HOW_TO_GET_CUPY}")
    if required and not visible:
        raise UsageError(f"{asked}: no NVIDIA GPU was found here; `grader doctor` says what is missing")
    fit = tuple(gpu for gpu in visible if not devices.unfit(gpu))
    if not visible or (fit and not missing):
        return fit, ""
    why = f"{missing[0]} is missing; {devices.HOW_TO_GET_CUPY}" if missing else devices.unfit(visible[0])
    if required:
        raise ToolMissing(f"{asked}: {visible[0].name}: {why}")
    return (), f"{visible[0].name}: {why}"


def prepare(choice: str, tools: Tools, gpus: tuple[Gpu, ...], races: str = RaceJudge.BOTH) -> Backend:
    """The backend of that choice, ready to run; ``auto`` is the first that needs GPUs where there are some.

    Raises ToolMissing or OurError where something that it needs is missing or does not build.
    """
    fitting = next(name for name, entry in BACKENDS.items() if entry.needs_gpu == bool(gpus))
    backend = BACKENDS[fitting if choice == AUTO else choice].load()
    return backend.prepare(tools, gpus, RaceJudge(races))
