"""GPU pass-through: the device files and driver libraries of one GPU, and no other, for a container.

Where NVIDIA's container toolkit is installed the engine does it. Where it is not, the GPU's device files and
the driver's libraries are passed in one by one, read-only.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from docker.types import DeviceRequest

from grader.errors import OurError

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVER = "/opt/driver"
"""Where the driver's libraries are in a container that gets them one by one."""

_KNOWN_GPUS = Path("/proc/driver/nvidia/gpus")
_COMMON_DEVICES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
_LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-ptxjitcompiler.so.1", "libcudadebugger.so.1")
_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib/wsl/lib",
    "/usr/local/nvidia/lib64",
    "/usr/lib",
)


@dataclass(frozen=True, slots=True)
class GpuPassthrough:
    """Parts of a container's configuration."""

    requests: tuple[DeviceRequest, ...] = ()
    devices: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()


def pass_through(gpu: str) -> GpuPassthrough:
    """What a container needs to use the GPU with this UUID; nothing where it is empty.

    Raises OurError where the GPU's device, or its driver, cannot be found.
    """
    if not gpu:
        return GpuPassthrough()
    if shutil.which("nvidia-container-runtime-hook") or shutil.which("nvidia-container-runtime"):
        wanted = DeviceRequest(device_ids=[gpu], capabilities=[["gpu", "compute", "utility"]])
        return GpuPassthrough(requests=(wanted,))
    devices = (f"/dev/nvidia{_minor(gpu)}", *_COMMON_DEVICES)
    there = tuple(f"{device}:{device}:rw" for device in devices if Path(device).exists())
    return GpuPassthrough(devices=there, binds=tuple(_driver()))


def _minor(gpu: str) -> int:
    """The number of a GPU's device file, as its driver tells it."""
    for file in _KNOWN_GPUS.glob("*/information"):
        text = file.read_text(encoding="utf-8", errors="replace")
        number = re.search(r"Device Minor:\s*(\d+)", text)
        if gpu in text and number:
            return int(number[1])
    return _minor_by_library(gpu)


def _minor_by_library(gpu: str) -> int:
    """The same, where the driver's folder in /proc is not to be seen."""
    try:
        import pynvml  # noqa: PLC0415 - only where there is a GPU

        pynvml.nvmlInit()
        try:
            return int(pynvml.nvmlDeviceGetMinorNumber(pynvml.nvmlDeviceGetHandleByUUID(gpu)))
        finally:
            pynvml.nvmlShutdown()
    except Exception as problem:  # noqa: BLE001 - a driver that does not answer
        raise OurError(f"the device file of the GPU {gpu} was not found: {problem}") from None


def _driver() -> Iterator[str]:
    """The driver's libraries, each bound to its plain name."""
    libcuda = _found(_LIBRARIES[0])
    if libcuda is None:
        raise OurError("the NVIDIA driver's libcuda.so.1 was not found; set LD_LIBRARY_PATH to its folder")
    for name in _LIBRARIES:
        library = _found(name)
        if library:
            yield f"{library}:{DRIVER}/{name}:ro"


def _found(name: str) -> Path | None:
    """A library, behind its links, in the folders that programs look into."""
    folders = (*filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")), *_FOLDERS)
    return next((Path(f, name).resolve() for f in folders if Path(f, name).is_file()), None)
