"""Choice of the sandbox in which files are compiled and run, and when the user must trust them instead.

Above `sandbox/`, for containers of a thin image need to know the compiler and the tools of a GPU.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from grader.base.errors import OurError, ToolMissing, UsageError
from grader.toolchain.nvcc import Tools, cached_toolchain, find_toolchain, toolchain_in
from grader.toolchain.nvcc.toolchain import ARCHITECTURE
from grader.toolchain.sandbox import Equipment, Job, LocalSandbox
from grader.toolchain.sandbox import bubblewrap as wrapping

if TYPE_CHECKING:
    from grader.toolchain.gpu.devices import Gpu
    from grader.toolchain.sandbox import Sandbox
    from grader.toolchain.sandbox.docker import DockerSandbox
    from grader.toolchain.sandbox.image import SandboxImage

AUTO, DOCKER, BUBBLEWRAP, LOCAL = "auto", "docker", "bubblewrap", "local"

HOW_TO_TRUST = (
    "install bubblewrap (`apt-get install bubblewrap`), or Docker and `grader doctor --build-image`; "
    "or say --i-trust-these-files if you wrote them all yourself"
)


def tools_for(
    gpus: tuple[Gpu, ...], choice: str, nvcc: str | None, cache: Path | None, *, strangers: bool
) -> Tools:
    """`tools` for these GPUs, or for none: they must be in the sandbox, and run what is compiled."""
    return tools(choice, nvcc, _architecture_for(gpus), cache, strangers=strangers, gpu=bool(gpus))


def _architecture_for(gpus: tuple[Gpu, ...]) -> str:
    """Architecture for which PTX is compiled: the oldest of the ``gpus``, where that is older than usual."""
    return min((ARCHITECTURE, *(gpu.architecture.removeprefix("sm_") for gpu in gpus)), key=int)


def tools(
    choice: str, nvcc: str | None, architecture: str, cache: Path | None, *, strangers: bool, gpu: bool
) -> Tools:
    """The compiler, in the sandbox of this name; ``strangers`` is True if it is for others' files.

    Raises ToolMissing with the reason where that cannot be had.
    """
    if choice == AUTO and strangers:
        with suppress(OurError):
            return _in_containers(nvcc, architecture, cache, gpu=gpu)
        choice = LOCAL if gpu or wrapping.trouble() else BUBBLEWRAP
    if choice == DOCKER:
        return _in_containers(nvcc, architecture, cache, gpu=gpu)
    toolchain = cached_toolchain(cache, nvcc, architecture)
    if choice != BUBBLEWRAP:
        return Tools(toolchain, LocalSandbox(), cache)
    if gpu:
        raise UsageError("a bubblewrap has no GPU; use --sandbox docker, or --backend emulator")
    trouble = wrapping.trouble()
    if trouble:
        raise ToolMissing(f"--sandbox bubblewrap: {trouble}")
    return Tools(toolchain, wrapping.BubblewrapSandbox(toolchain.roots), cache)


def _in_containers(nvcc: str | None, architecture: str, cache: Path | None, *, gpu: bool) -> Tools:
    """A compiler in containers: that of the image or, with a thin image, this machine's."""
    sandbox = container(nvcc, gpu=gpu)
    return Tools(toolchain_in(sandbox, architecture), sandbox, cache)


def container(nvcc: str | None = None, *, gpu: bool) -> DockerSandbox:
    """Containers of the image for this; raises ToolMissing or OurError where there are none.

    One is tried: what does not work here is our fault, and must not become a student's later.
    """
    from grader.toolchain.sandbox import engine  # noqa: PLC0415 - bubblewraps and local runs do without

    try:
        from grader.toolchain.sandbox import containers, docker  # noqa: PLC0415 - the SDK may be missing
    except ImportError:
        raise ToolMissing(f"the package `docker` is not installed; {engine.HOW_TO_GET_SDK}") from None
    refused = engine.refusals(engine.engine_facts())
    if refused:
        raise ToolMissing(f"--sandbox docker: {'; '.join(refused)}")
    chosen = _image(os.environ.get("GRADER_IMAGE") or ("gpu" if gpu else "build"), nvcc)
    containers.remove_strays()
    sandbox = docker.DockerSandbox(chosen, docker.profile())
    outcome = sandbox.run(Job((chosen.equipment.python, "-I", "-S", "-c", "print(6 * 7)"))).outcome
    if not outcome.ok or outcome.stdout != b"42\n":
        words = " ".join((outcome.stdout + outcome.stderr).decode(errors="replace").split())[:200]
        raise OurError(f"a container of the sandbox image does not run a program ({outcome.status}): {words}")
    return sandbox


def _image(target: str, nvcc: str | None) -> SandboxImage:
    """The image of a target; raises ToolMissing where it was not made, or not by today's recipe."""
    from grader.toolchain.sandbox import image  # noqa: PLC0415 - as above

    if target == image.THIN:
        return _thin(nvcc)
    chosen = image.find_image(target)
    if chosen is None:
        raise ToolMissing(
            f"there is no sandbox image for this; make it with `grader doctor --build-image {target}`"
        )
    return chosen


def _thin(nvcc: str | None) -> SandboxImage:
    """An image whose containers see this machine's compiler, Python and CUDA libraries, and no more of it."""
    from grader.toolchain.gpu import sanitizer  # noqa: PLC0415 - as above
    from grader.toolchain.sandbox import image  # noqa: PLC0415 - as above

    toolchain, checker = find_toolchain(nvcc), sanitizer.find_sanitizer()
    equipment = Equipment(
        str(toolchain.nvcc), toolchain.host_compiler, sys.executable, str(checker) if checker else ""
    )
    packages = (find_spec(name) for name in ("numpy", "cupy", "pynvml"))
    homes = {str(Path(spec.origin).parent.parent) for spec in packages if spec and spec.origin}
    tools = [str(checker.resolve().parent.parent)] if checker else []
    pythons = [folder for folder in (sys.prefix, sys.base_prefix) if folder not in ("/", "/usr")]
    return image.thin_image(equipment, (*toolchain.roots, *tools, *pythons, *sorted(homes)))


def must_be_trusted(sandbox: Sandbox, number: int, *, trusted: bool) -> None:
    """Refuse strangers' files where nothing shuts them in; raises UsageError with what to do.

    A single one may be a stranger's, too: a user's own file is for `check`.
    """
    if sandbox.shuts_in or trusted:
        return
    if number == 1:
        raise UsageError(
            f"this submission would be compiled and run with nothing around it; {HOW_TO_TRUST}; "
            "`grader check` is for a file of your own"
        )
    raise UsageError(
        f"these {number} submissions would be compiled and run with nothing around them; {HOW_TO_TRUST}"
    )


STRANGERS = "warning: strangers' code"
OWN = "this program"
"""Subject of an `exposure`."""


def exposure(subject: str, user: str = "") -> str:
    """A line about code that runs with nothing around it, as the ``user``, else as that of this process."""
    user = user or ("root" if os.geteuid() == 0 else "you")
    return (
        f"{subject} runs with nothing around it but limits, as {user}: it can read, change and end "
        f"whatever {user} can; --sandbox bubblewrap shuts it in"
    )


def sweep(sandbox: Sandbox) -> None:
    """Remove containers that a crash left behind."""
    if sandbox.name == DOCKER:
        from grader.toolchain.sandbox import containers  # noqa: PLC0415 - as above

        containers.remove_strays()
