"""Sandboxes in which jobs run: the files that go in, the limits, the files that come back.

    Job(argv, files, wanted, limits) ─Sandbox.run▶ Result(outcome, files)

A job starts in an empty folder that holds nothing but its ``files``. Of what it leaves there only the
``wanted`` regular files come back, each no larger than the limit on files. The same protocol serves a process
on this machine (`LocalSandbox`), a bubblewrap (`BubblewrapSandbox`) and a container (`DockerSandbox`): none
shares a folder with its caller.
"""

from __future__ import annotations

from grader.toolchain.sandbox.job import (
    COMPILING,
    Equipment,
    Job,
    Limits,
    Outcome,
    Result,
    Sandbox,
    Stage,
    Status,
)
from grader.toolchain.sandbox.local import LocalSandbox

__all__ = [
    "COMPILING",
    "Equipment",
    "Job",
    "Limits",
    "LocalSandbox",
    "Outcome",
    "Result",
    "Sandbox",
    "Stage",
    "Status",
]
