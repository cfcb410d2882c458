"""Options and owners of containers; the device files and driver libraries of one GPU that they get."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docker.errors import APIError
from docker.types import DeviceRequest, LogConfig, Ulimit

from grader.base.errors import OurError
from grader.base.records import frozen
from grader.toolchain.sandbox.engine import using

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import APIClient

    from grader.toolchain.sandbox.image import SandboxImage
    from grader.toolchain.sandbox.job import Limits, Stage

LABEL = "cuda-grader"
OWNER = "cuda-grader.owner"
SMALL = 16 * 2**20
"""Bytes of the other folders that a job may write to: /tmp, and shared memory."""

SMALL_FILES = 512


def configuration(api: APIClient, image: SandboxImage, seccomp: str, stage: Stage) -> dict[str, Any]:
    """The host's side of a container: no network, nothing to write to but small folders, no privilege."""
    limits = stage.limits
    devices = pass_through(stage.gpu)
    return api.create_host_config(
        network_mode="none",
        read_only=True,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges:true", f"seccomp={seccomp}"],
        ipc_mode="private",
        init=True,
        auto_remove=True,
        privileged=False,
        pids_limit=limits.processes + 8,  # the init, the sleeper, and supervisors of jobs side by side
        mem_limit=limits.total_bytes,
        memswap_limit=limits.total_bytes,
        mem_swappiness=None,
        nano_cpus=min(stage.processors, os.cpu_count() or 1) * 10**9,
        oom_kill_disable=False,
        ulimits=_ulimits(limits),
        tmpfs=_writable(limits),
        binds=[*_readable(image, stage), *devices.binds],
        devices=list(devices.devices),
        device_requests=list(devices.requests),
        log_config=LogConfig(type="none"),
        restart_policy={"Name": "no"},
    )


def _ulimits(limits: Limits) -> list[Ulimit]:
    """Limits of each process; each job has lower ones of its own."""
    hard = {"core": 0, "fsize": limits.file_bytes, "nofile": 4096, "msgqueue": 0, "rtprio": 0}
    return [Ulimit(name=name, soft=value, hard=value) for name, value in hard.items()]


def _writable(limits: Limits) -> dict[str, str]:
    small = f"rw,nosuid,nodev,mode=1777,size={SMALL},nr_inodes={SMALL_FILES}"
    job = f"rw,exec,nosuid,nodev,mode=1777,size={limits.disk_bytes},nr_inodes={limits.disk_files}"
    return {"/job": job, "/tmp": f"{small},exec", "/dev/shm": f"{small},noexec"}  # noqa: S108 - the job's own


def _readable(image: SandboxImage, stage: Stage) -> list[str]:
    """Folders that a thin image lives on, the files that jobs lock, the folder of a channel."""
    paths = (*image.mounts, *stage.locks, *filter(None, (stage.channel,)))
    return [f"{path}:{path}:ro" for path in paths]


# --- whose containers --------------------------------------------------------------------------------------


def owner_label() -> dict[str, str]:
    """Labels by which a container is known as ours, and as this process's."""
    return {LABEL: "1", OWNER: _owner(os.getpid())}


def _owner(process: int) -> str:
    """Process with its start time, unlike a later one with the same number; empty where it has ended."""
    with suppress(OSError, IndexError):
        about = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
        return f"{process}:{about[19].decode()}:{_boot()}" if about[0] != b"Z" else ""
    return ""


def _boot() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""


def strays(api: APIClient) -> tuple[str, ...]:
    """Containers of ours whose process is no more: a crash left them."""
    labelled = api.containers(all=True, filters={"label": f"{LABEL}=1"})
    return tuple(
        container["Id"] for container in labelled if not _is_owned(str(container["Labels"].get(OWNER, "")))
    )


def _is_owned(label: str) -> bool:
    process = label.partition(":")[0]
    return process.isdigit() and _owner(int(process)) == label


def remove_strays() -> int:
    """Remove what earlier graders left behind; returns the number. Raises what `connect` raises."""
    with using(None) as engine:
        identifiers = strays(engine.api)
        for container in identifiers:
            with suppress(APIError):  # another process removes it, too
                engine.api.remove_container(container, force=True, v=True)
        return len(identifiers)


DRIVER = "/opt/driver"
"""Folder of the driver's libraries in a container that gets them one by one."""

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


@frozen
class GpuPassthrough:
    """Parts of a container's configuration."""

    requests: tuple[DeviceRequest, ...] = ()
    devices: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()


def pass_through(gpu: str) -> GpuPassthrough:
    """Devices and files by which a container uses the GPU with this UUID; nothing where it is empty.

    Raises OurError where the GPU's device, or its driver, cannot be found.
    """
    if not gpu:
        return GpuPassthrough()
    if shutil.which("nvidia-container-runtime-hook") or shutil.which("nvidia-container-runtime"):
        request = DeviceRequest(device_ids=[gpu], capabilities=[["gpu", "compute", "utility"]])
        return GpuPassthrough(requests=(request,))
    devices = (f"/dev/nvidia{_minor(gpu)}", *_COMMON_DEVICES)
    passed = tuple(f"{device}:{device}:rw" for device in devices if Path(device).exists())
    return GpuPassthrough(devices=passed, binds=tuple(_driver()))


def _minor(gpu: str) -> int:
    """Number of a GPU's device file, as its driver reports it."""
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
    libcuda = _library_file(_LIBRARIES[0])
    if libcuda is None:
        raise OurError("the NVIDIA driver's libcuda.so.1 was not found; set LD_LIBRARY_PATH to its folder")
    for name in _LIBRARIES:
        library = _library_file(name)
        if library:
            yield f"{library}:{DRIVER}/{name}:ro"


def _library_file(name: str) -> Path | None:
    """A library, behind its links, in the folders that programs look into."""
    folders = (*filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")), *_FOLDERS)
    return next((Path(f, name).resolve() for f in folders if Path(f, name).is_file()), None)
