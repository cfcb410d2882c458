"""Jobs that may be ended before their time: once a file is there, all of a sandbox's end."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from grader.base.records import frozen
from grader.toolchain.sandbox.channel import channel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.toolchain.sandbox.job import Equipment, Job, Result, Sandbox, Stage


@contextmanager
def file_to_stop_by() -> Iterator[Path]:
    """A file that is not there yet, alone in a folder that a sandbox can show to its jobs."""
    with channel() as folder:
        yield folder / "stop"


@frozen
class StoppableSandbox:
    """A sandbox whose jobs end once ``stop_file`` is there."""

    sandbox: Sandbox
    stop_file: Path

    @property
    def name(self) -> str:
        """Name of the sandbox."""
        return self.sandbox.name

    @property
    def shuts_in(self) -> bool:
        """True if the sandbox shuts jobs in."""
        return self.sandbox.shuts_in

    @property
    def equipment(self) -> Equipment:
        """Equipment of the sandbox."""
        return self.sandbox.equipment

    def run(self, job: Job) -> Result:
        """Run ``job`` to its end, to its limits or until the file is there."""
        return self.sandbox.run(replace(job, stop_file=str(self.stop_file)))

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[Self]:
        """The sandbox for the jobs of one stage, which see the file."""
        with self.sandbox.stage(replace(stage, channel=str(self.stop_file.parent))) as inside:
            yield replace(self, sandbox=inside)
