"""The container engine: whether it answers, what it is, what it lacks, and which ways out of it are known."""

from __future__ import annotations

import importlib.util
import os
import re
import socket
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.base.errors import OurError, ToolMissing
from grader.base.records import frozen
from grader.base.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient

    from grader.model import Named

HOW_TO_GET_SDK = "get it with `pip install 'docker>=7.0'`"
HOW_TO_GET_ENGINE = "install one with `apt-get install docker.io`, or name its socket in DOCKER_HOST"
SECONDS = 60
"""Seconds that an answer of the engine may take; a build prints something more often than that."""

_GONE = "the container engine does not answer"
_USUAL = "unix:///var/run/docker.sock"
_LOCAL = "http+docker://localhost"
"""Address in the SDK of an engine that it reaches through a socket of this machine."""


class EngineGone(OurError):  # noqa: N818 - what is the matter
    """No engine that works: none there, none that answers, or none that lets us; never a student's fault."""


def connect(seconds: float = SECONDS) -> DockerClient:
    """A client of this machine's engine. Raises ToolMissing without the SDK, EngineGone without an engine."""
    if importlib.util.find_spec("docker") is None:
        raise ToolMissing(f"the Python package `docker` is not installed; {HOW_TO_GET_SDK}")
    import docker  # noqa: PLC0415 - optional, and it takes 0.2 s to load

    with speaking():
        _knock()
        client = docker.from_env(timeout=seconds)  # type: ignore[arg-type]  # any number serves
        client.ping()
        return client


def _knock() -> None:
    """Connect to the engine's socket and leave: the SDK would not report plainly why it cannot."""
    scheme, _, path = os.environ.get("DOCKER_HOST", _USUAL).partition("://")
    if scheme == "unix":
        with socket.socket(socket.AF_UNIX) as door:
            door.connect(path)


@contextmanager
def using(client: DockerClient | None = None) -> Iterator[DockerClient]:
    """A client to speak with: the one given, or one of our own that is closed afterwards."""
    engine_client = client or connect()
    try:
        with speaking():
            yield engine_client
    finally:
        if client is None:
            engine_client.close()


@contextmanager
def speaking() -> Iterator[None]:
    """Turn errors of the SDK into EngineGone with what to do, or OurError with the engine's message."""
    import docker.errors  # noqa: PLC0415 - as above
    import requests  # noqa: PLC0415 - as above

    try:
        yield
    except docker.errors.APIError as problem:
        raise OurError(
            f"the container engine refuses: {one_line(str(problem.explanation or problem), 300)}"
        ) from None
    except (docker.errors.DockerException, requests.RequestException, OSError) as problem:
        raise EngineGone(_why_gone(problem)) from None


def _why_gone(problem: Exception) -> str:
    """Reason why the engine does not answer, and one hint."""
    match problem:
        case PermissionError():
            return f"{_GONE}: you may not use its socket; join the group `docker` and log in again"
        case FileNotFoundError():
            return f"{_GONE}: it has no socket here; {HOW_TO_GET_ENGINE}"
        case ConnectionRefusedError():
            return f"{_GONE}: it is not running; start it with `systemctl start docker`"
    return f"{_GONE}: {one_line(str(problem), 300)}"


@frozen
class EngineFacts:
    """Facts that an engine reports of itself.

    ``runc`` is ``(version, commit)``, where a distribution's patches show; ``security`` are its security
    options (``seccomp``, ``rootless``, ``apparmor`` …); ``limits`` is what it can limit.
    """

    version: str
    runc: tuple[str, str]
    security: tuple[str, ...]
    cgroups: str
    limits: Named[bool]
    runtimes: tuple[str, ...]
    nvidia_devices: bool
    """True if it passes GPUs in by CDI (Container Device Interface)."""
    local: bool
    system: str

    @property
    def rootless(self) -> bool:
        """True if it runs without being root."""
        return "rootless" in self.security

    @property
    def nvidia_runtime(self) -> bool:
        """True if NVIDIA's runtime is registered."""
        return "nvidia" in self.runtimes


_LIMITS = {
    "memory": "MemoryLimit",
    "swap": "SwapLimit",
    "processes": "PidsLimit",
    "CPU time": "CpuCfsQuota",
}
"""Resources that can be limited, and their names in the engine's API (Docker Engine API, `GET /info`)."""


def engine_facts() -> EngineFacts:
    """Facts that the engine reports of itself; raises as `connect` does."""
    with using() as open_client:
        return read_facts(open_client.version(), open_client.info(), str(open_client.api.base_url))


def read_facts(version: dict[str, Any], info: dict[str, Any], address: str) -> EngineFacts:
    """Facts out of the answers to `GET /version` and `GET /info`; what is missing counts as not there."""
    local = address == _LOCAL
    return EngineFacts(
        version=str(version.get("Version", "unknown")),
        runc=_component(version, "runc"),
        security=tuple(_option(str(option)) for option in info.get("SecurityOptions") or ()),
        cgroups=str(info.get("CgroupVersion") or "1"),
        limits=tuple((name, bool(info.get(key))) for name, key in _LIMITS.items()),
        runtimes=tuple(sorted(info.get("Runtimes") or ())),
        nvidia_devices=_passes_gpus(info, local=local),
        local=local,
        system=str(info.get("OSType") or "unknown"),
    )


def _component(version: dict[str, Any], name: str) -> tuple[str, str]:
    for component in version.get("Components") or ():
        if component.get("Name") == name:
            commit = (component.get("Details") or {}).get("GitCommit", "")
            return one_line(str(component.get("Version", "")), 60), one_line(str(commit), 60)
    return "", ""


def _option(text: str) -> str:
    """The name in ``name=seccomp,profile=default``."""
    return re.sub(r"^name=", "", text).partition(",")[0]


def _passes_gpus(info: dict[str, Any], *, local: bool) -> bool:
    """True if the engine names an NVIDIA GPU, or one of its folders describes some."""
    named = [str(entry.get("ID", "")) for entry in info.get("DiscoveredDevices") or ()]
    if any(entry.startswith("nvidia.com/gpu") for entry in named):
        return True
    folders = [Path(str(entry)) for entry in info.get("CDISpecDirs") or ()] if local else []
    return any(path.suffix in (".yaml", ".json") for folder in folders for path in folder.glob("nvidia*"))


def refusals(facts: EngineFacts) -> tuple[str, ...]:
    """Reasons why strangers' code must not run in containers of this engine; nothing where it may.

    An engine on another host is refused, though files would travel there: containers that it shows us may
    belong to a grader elsewhere, and the GPU, its lock and its folders are this machine's.
    """
    reasons = []
    if facts.system != "linux":
        reasons.append(f"it runs {facts.system} containers, and the sandbox is for Linux")
    if not facts.local:
        reasons.append("it is on another machine; unset DOCKER_HOST, or name a socket of this one there")
    if "seccomp" not in facts.security:
        reasons.append(
            "it has no seccomp, so system calls cannot be denied; use a kernel and a runc with seccomp"
        )
    missing = [name for name, can in facts.limits if not can and name != "swap"]
    if missing:
        how = "; rootless engines need cgroup v2 with systemd for it" if facts.rootless else ""
        reasons.append(f"it cannot limit {' and '.join(missing)}{how}")
    return tuple(reasons)


def shortcomings(facts: EngineFacts) -> tuple[str, ...]:
    """Missing features of the engine that the sandbox can live without, with what to do about them."""
    if dict(facts.limits).get("swap", True):
        return ()
    return ("it cannot limit swap, so a job may fill that too; boot with `swapaccount=1`, or without swap",)


@frozen
class Escape:
    """A known way out of a container: which versions of runc have it, as half-open ranges."""

    name: str
    how: str
    ranges: tuple[tuple[str, str], ...]


ESCAPES = (
    Escape(
        "CVE-2024-21626",
        "a descriptor of the host's file system stays open in the container",
        (("1.0.0", "1.1.12"),),
    ),
    Escape(
        "CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881",
        "links put in place while a container starts make runc mount or write elsewhere",
        (("0", "1.2.8"), ("1.3.0", "1.3.3")),
    ),
)
"""Escapes by runc's advisories GHSA-xr7r-f8xq-vfvv, GHSA-9493-h29p-rfm2, -qw9x-cqr3-wc7r, -cgrx-mc8f-2prm."""

_PATCHED = re.compile(r"deb\d|ubuntu|\+ds|\.el\d|\.fc\d|\.amzn|suse|-r\d+$", re.IGNORECASE)
"""Marks of a distribution, which mends an old version without giving it another number."""


def known_escapes(facts: EngineFacts) -> tuple[str, ...]:
    """A sentence for each known way out of a container of this engine."""
    number, commit = facts.runc
    if not number:
        return ()
    installed = " ".join(dict.fromkeys((number, commit)))
    hedge = " unless your distribution has patched it" if _PATCHED.search(installed) else ""
    shown_version = f"{number} ({commit})" if hedge and commit and commit != number else number
    return tuple(
        f"runc {shown_version} lets a container escape{hedge}: {escape.name}, where {escape.how}; "
        f"update it to {' or '.join(dict.fromkeys(last for _, last in escape.ranges))} or newer"
        for escape in ESCAPES
        if any(_number(first) <= _number(number) < _number(last) for first, last in escape.ranges)
    )


def _number(version: str) -> tuple[int, ...]:
    """``1.1.5`` out of ``1.1.5+ds1``, as numbers; what does not begin with a number is newer than all."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    parts = tuple(int(digits) for digits in match[1].split(".")) if match else (2**31,)
    return parts + (0,) * (3 - len(parts))
