"""What a container may do, and whose it is."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docker.errors import APIError
from docker.types import LogConfig, Ulimit

from grader.sandbox.engine import using
from grader.sandbox.gpu_passthrough import pass_through

if TYPE_CHECKING:
    from docker import APIClient

    from grader.sandbox.image import SandboxImage
    from grader.sandbox.job import Limits, Stage

LABEL = "cuda-grader"
OWNER = "cuda-grader.owner"
SMALL = 16 * 2**20
"""Bytes of the other folders that a job may write to: /tmp, and shared memory."""

SMALL_FILES = 512


def configuration(api: APIClient, image: SandboxImage, seccomp: str, stage: Stage) -> dict[str, Any]:
    """The host's side of a container: no network, nothing to write to but small folders, no privilege."""
    limits = stage.limits
    given = pass_through(stage.gpu)
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
        binds=[*_readable(image, stage), *given.binds],
        devices=list(given.devices),
        device_requests=list(given.requests),
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
    """Folders of the host that a thin image lives on, the file that is locked for timing, a channel's folder."""
    paths = (*image.mounts, *filter(None, (stage.lock, stage.channel)))
    return [f"{path}:{path}:ro" for path in paths]


# --- whose containers --------------------------------------------------------------------------------------


def owner_label() -> dict[str, str]:
    """Labels by which a container is known as ours, and as this process's."""
    return {LABEL: "1", OWNER: _owner(os.getpid())}


def _owner(process: int) -> str:
    """A process, told from a later one with the same number by when it started; empty where it has ended."""
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
    found = api.containers(all=True, filters={"label": f"{LABEL}=1"})
    return tuple(each["Id"] for each in found if not _is_owned(str(each["Labels"].get(OWNER, ""))))


def _is_owned(label: str) -> bool:
    process = label.partition(":")[0]
    return process.isdigit() and _owner(int(process)) == label


def remove_strays() -> int:
    """Remove what earlier graders left behind; gives how many. Raises what `connect` raises."""
    with using(None) as engine:
        found = strays(engine.api)
        for container in found:
            with suppress(APIError):  # somebody else removes it, too
                engine.api.remove_container(container, force=True, v=True)
        return len(found)
