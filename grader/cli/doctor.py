"""`grader doctor`: what this machine can do, tried rather than assumed."""

from __future__ import annotations

import platform
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from grader.build import build, find_toolchain
from grader.cli import arguments, doctor_docker, setup
from grader.cli.doctor_finding import Finding
from grader.errors import GraderError, OurError
from grader.model import Argument, FindingKind, KernelInterface, Launch, Parameter, Submission
from grader.sandbox import LocalSandbox

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from grader.build import Toolchain

_OURS = 3

_PLANTED = b"""
extern "C" __global__ void planted(int *out) {
    __shared__ int cell[64];
    cell[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = cell[63 - threadIdx.x];
}
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after the command."""
    parser.set_defaults(sandbox="local")
    parser.add_argument(
        "--build-image",
        nargs="?",
        const="build",
        choices=("build", "gpu", "thin"),
        help="make the image that containers are made of (default: build; gpu: with what a GPU needs; "
        "thin: of this machine's own programs)",
    )
    _configure_attacks(parser)
    arguments.add_toolchain(parser)


def _configure_attacks(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(backend="auto", races="both")
    group = parser.add_argument_group("does the sandbox hold?")
    group.add_argument(
        "--attack",
        nargs="*",
        metavar="NAME",
        default=None,
        help="grade the attacks that come with the grader (all, or those named) and see what comes of it",
    )
    group.add_argument(
        "--sandbox",
        dest="attacked",
        choices=arguments.SANDBOXES[1:3],
        default=arguments.SANDBOXES[0],
        help="which sandbox they attack (default: the best there is)",
    )
    group.add_argument(
        "--device-code", action="store_true", help="try those of device code, too (they always are on a GPU)"
    )
    group.add_argument(
        "-j", "--jobs", type=arguments.positive, default=2, help="attacks at a time, at most 2"
    )
    group.add_argument(
        "--json", metavar="FILE", type=arguments.writable, help="also write what came of it as JSON"
    )


def run(options: argparse.Namespace) -> int:
    """Print what works; 0 if submissions can be graded here, else 3."""
    if options.build_image:
        return doctor_docker.build(options.build_image)
    if options.attack is not None:
        from grader.cli import attack  # noqa: PLC0415 - loads the whole pipeline

        return attack.run(options)
    console = setup.console()
    findings = list(_examine(options))
    for each in findings:
        console.print(f"{'ok     ' if each.fine else 'missing'}  {each.what:<10} {each.found}")
        if each.fix:
            console.print(f"         {'':<10} {each.fix}")
    ready = all(each.fine for each in findings if each.needed)
    on_gpu = (
        ready
        and all(each.fine for each in findings if each.what not in doctor_docker.SUBJECTS)
        and any(each.what == "gpu trial" for each in findings)
    )
    where = "on its GPU and on the emulator" if on_gpu else "on the emulator"
    console.print(
        f"\nthis machine can grade {where}" if ready else "\nthis machine cannot grade yet: see above"
    )
    return 0 if ready else _OURS


def _examine(options: argparse.Namespace) -> Iterator[Finding]:
    yield Finding(True, "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    try:
        toolchain = find_toolchain(options.nvcc)
    except OurError as problem:
        yield Finding(False, "compiler", "no working nvcc", str(problem))
        return
    yield Finding(True, "compiler", f"nvcc {toolchain.version} at {toolchain.nvcc}")
    yield _tried("emulator", lambda: _planted_race(toolchain))
    yield _tried("cache", _cache)
    yield from doctor_docker.examine()
    yield doctor_docker.about_bubblewrap()
    yield from _gpus(options)


def _gpus(options: argparse.Namespace) -> Iterator[Finding]:
    """What there is to say about GPUs; a driver that does not answer is no reason to stop."""
    from grader.cli import doctor_gpu  # noqa: PLC0415 - needs the compiler, which may not be there
    from grader.gpu import devices  # noqa: PLC0415

    try:
        found = () if devices.missing_libraries() else devices.visible(devices.find_gpus())
        yield from doctor_gpu.examine(setup.tools(options, found))
    except GraderError as problem:
        yield Finding(False, "gpu", "does not work", str(problem), needed=False)


def _tried(what: str, attempt: Callable[[], str]) -> Finding:
    try:
        return Finding(True, what, attempt())
    except (GraderError, OSError) as problem:
        return Finding(False, what, "does not work", str(problem))


def _planted_race(toolchain: Toolchain) -> str:
    """Build a kernel with a known race and demand that it is found: trust is tried, not assumed."""
    import numpy as np  # noqa: PLC0415

    from grader.emulator.backend import Emulated  # noqa: PLC0415

    interface = KernelInterface("planted", (Parameter("out", "out", "int32"),), (), (), ())
    submission = Submission("planted", "planted.cu", _PLANTED, "")
    built = build(submission, interface, sandbox=LocalSandbox(), toolchain=toolchain, cache=None)
    if not built.ok:
        reasons = "; ".join(finding.message for finding in built.findings) or built.error
        raise OurError(f"a known-good kernel does not compile: {reasons}")
    kernel = Emulated(built, built.source_name, "planted.cu")
    argument = Argument("out", "out", np.zeros(64, np.int32))
    result = kernel.launch(Launch((1, 1, 1), (64, 1, 1)), (argument,))
    races = [finding for finding in result.findings if finding.kind is FindingKind.RACE]
    if len(races) != 1 or (races[0].line, races[0].other_line) != (5, 4):
        raise OurError("a planted race was not found where it is; do not grade with this installation")
    return "compiled a kernel, ran it and found its planted race"


def _cache() -> str:
    folder = user_cache_path("cuda-grader") / "builds"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder):
        return f"builds are kept in {Path(folder)}"
