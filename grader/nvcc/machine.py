"""Where the compiler is: this machine, or the inside of a sandbox that brings its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from grader.sandbox import Job

if TYPE_CHECKING:
    from grader.sandbox import Sandbox

_SECONDS = 60
_WHICH = "import shutil, sys; print(shutil.which(sys.argv[1], path=sys.argv[2]) or '')"
_REAL = "import os, sys; print(chr(10).join(map(os.path.realpath, sys.argv[1:])))"


class Machine(Protocol):
    """What one asks about a compiler."""

    def told(self, argv: tuple[str, ...]) -> str:
        """What a program prints about itself, errors first; raises OSError or OurError if it cannot run."""

    def which(self, name: str, path: str) -> str:
        """Where a program is; empty where it is not."""

    def real_paths(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Each path without links."""


@dataclass(frozen=True, slots=True)
class ThisMachine:
    """The grader's own machine."""

    def told(self, argv: tuple[str, ...]) -> str:
        """See `Machine`; also raises subprocess.SubprocessError."""
        with tempfile.TemporaryDirectory(prefix="grader-") as folder:
            done = subprocess.run(
                argv,
                cwd=folder,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        return (done.stderr + done.stdout).decode(errors="replace")

    def which(self, name: str, path: str) -> str:
        """See `Machine`."""
        return shutil.which(name, path=path) or ""

    def real_paths(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """See `Machine`."""
        return tuple(map(os.path.realpath, paths))


@dataclass(frozen=True, slots=True)
class Within:
    """The inside of a sandbox; nothing of a student's has run in it."""

    sandbox: Sandbox

    def told(self, argv: tuple[str, ...]) -> str:
        """See `Machine`."""
        outcome = self.sandbox.run(Job(argv)).outcome
        return (outcome.stderr + outcome.stdout).decode(errors="replace")

    def which(self, name: str, path: str) -> str:
        """See `Machine`."""
        return self._asked(_WHICH, name, path)

    def real_paths(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """See `Machine`."""
        return tuple(self._asked(_REAL, *paths).split("\n"))

    def _asked(self, question: str, *arguments: str) -> str:
        python = self.sandbox.equipment.python
        outcome = self.sandbox.run(Job((python, "-I", "-S", "-c", question, *arguments))).outcome
        return outcome.stdout.decode(errors="replace").removesuffix("\n")
