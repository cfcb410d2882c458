"""`grader doctor`: what this machine can do, tried rather than assumed."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from grader.authoring.doctor import containers, examination
from grader.base.data_files import data_root
from grader.base.errors import UsageError
from grader.cli import arguments, course_file, setup
from grader.toolchain.nvcc.cache import builds_folder

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from rich.console import Console

    from grader.authoring.doctor import ReportLine

_MARK, _SUBJECT = 7, 10
"""Columns for the longest mark and the longest subject of a line."""


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
    """Options that `grade` would get here: from `grader.toml`, the environment, and the options."""
    course_file.require_from_staff(*filter(None, (options.out,)))
    defaults = course_file.defaults()
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
        console.print(_columns(line, console.width), soft_wrap=True)
    return printed


def _columns(line: ReportLine, width: int) -> str:
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
