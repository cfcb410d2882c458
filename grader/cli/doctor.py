"""`grader doctor`: what this machine can do, tried rather than assumed."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from grader.cli import arguments, setup
from grader.data_files import data_root
from grader.doctor import containers, examination
from grader.errors import UsageError
from grader.gpu import RaceJudge
from grader.nvcc.cache import builds_folder

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from rich.console import Console

    from grader.doctor import ReportLine

_MARK, _SUBJECT = 7, 10
"""Columns for the longest mark and the longest subject of a line."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after the command."""
    parser.set_defaults(sandbox="local")
    parser.add_argument(
        "-o",
        "--out",
        metavar="OUT",
        type=Path,
        help="the folder that a class would be graded into: exit 3 if a class cannot be graded here",
    )
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
    """Print what works; 0 if one's own file can be checked here and, with -o, a class be graded; else 3."""
    if options.build_image:
        return _build_image(options.build_image)
    if options.attack is not None:
        return _attack(options)
    console = setup.console()
    builds = None if options.no_cache else builds_folder()
    wishes = _wishes(options, builds)
    lines = _printed(console, examination.examine(options.nvcc, builds))
    if not examination.can_grade(lines):
        console.print("\nno file can be checked here yet: see above")
        return setup.OURS
    where = "on its GPU and on the emulator" if examination.uses_gpu(lines) else "on the emulator"
    console.print(f"\nyour own file can be checked here, {where}\n\nfor a class:")
    for_class = _printed(console, examination.examine_class(wishes))
    if not examination.can_grade(for_class):
        console.print("\na class cannot be graded here yet: see above")
        return setup.OURS if wishes.out else 0
    unsaid = "" if wishes.out else "; whether its folder can be written, -o OUT says"
    limit = ", on an assignment of your own" if examination.needs_own_assignment(for_class) else ""
    console.print(f"\na class can be graded here{limit}{unsaid}")
    return 0


def _wishes(options: argparse.Namespace, builds: Path | None) -> examination.ClassWishes:
    """What `grade` would be told here: by `grader.toml`, by the environment, and by the options."""
    defaults = arguments.course_defaults()
    out = options.out or defaults.get("out")
    return examination.ClassWishes(
        sandbox=str(defaults.get("sandbox", arguments.default_sandbox())),
        trusted=os.environ.get("GRADER_TRUST") == "1",
        nvcc=options.nvcc,
        builds=builds,
        out=Path(str(out)) if out else None,
    )


def _printed(console: Console, lines: Iterable[ReportLine]) -> list[ReportLine]:
    """Print each line as soon as it is known, in columns: what was tried, its state, how to mend it."""
    printed = []
    for line in lines:
        printed.append(line)
        console.print(_shown(line, console.width), soft_wrap=True)
    return printed


def _shown(line: ReportLine, width: int) -> str:
    """A line in three columns; the last one has the state and, below it, how to mend it. Paths stay whole."""
    head = f"{line.mark:<{_MARK}}  {line.subject:<{_SUBJECT}} "
    texts = filter(None, (line.state, line.fix))
    rows = [
        row
        for text in texts
        for row in wrap(text, width - len(head), break_long_words=False, break_on_hyphens=False)
    ]
    return head + f"\n{' ' * len(head)}".join(rows)


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
