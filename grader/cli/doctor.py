"""`grader doctor`: what this machine can do, tried rather than assumed."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from grader import doctor
from grader.cli import arguments, setup
from grader.data_files import data_root
from grader.doctor import containers
from grader.errors import UsageError
from grader.gpu import RaceJudge
from grader.nvcc.cache import builds_folder

if TYPE_CHECKING:
    import argparse

_OURS = 3


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
    parser.set_defaults(backend="auto", races=RaceJudge.BOTH)
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
        return _build_image(options.build_image)
    if options.attack is not None:
        return _attack(options)
    console = setup.console()
    lines = []
    for line in doctor.examine(options.nvcc, builds_folder(), keep_builds=not options.no_cache):
        lines.append(line)
        console.print(f"{'ok     ' if line.fine else 'missing'}  {line.subject:<10} {line.state}")
        if line.fix:
            console.print(f"         {'':<10} {line.fix}")
    if not doctor.can_grade(lines):
        console.print("\nthis machine cannot grade yet: see above")
        return _OURS
    where = "on its GPU and on the emulator" if doctor.uses_gpu(lines) else "on the emulator"
    console.print(f"\nthis machine can grade {where}")
    return 0


def _build_image(target: str) -> int:
    console = setup.console()
    description = containers.make_image(target, lambda line: console.print(line, style="dim", soft_wrap=True))
    console.print(f"\n{description}")
    return 0


def _attack(options: argparse.Namespace) -> int:
    """Run the battery, a tool of the repository; raises UsageError where only the package is installed."""
    folder = data_root() / "sandbox"
    if not (folder / "attacks" / "run.py").is_file():
        raise UsageError(
            "--attack: no attacks are installed; they come with a clone of the repository, "
            "with `pip install -e .` in it"
        )
    sys.path.append(str(folder))
    return int(import_module("attacks.run").run(options))
