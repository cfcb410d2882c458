"""What is asked of a trace, whatever is handed in: which case, which launch, which block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.errors import OurError, UsageError
from grader.nvcc.source import readable

if TYPE_CHECKING:
    from grader.model import Build, Case, Dim3, Launch, Submission


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """One block of one launch.

    ``block`` is its ``blockIdx``, x, y and z as far as they were given. Of a program ``launch`` counts the
    launches of a run from 1, those of ``kernel`` alone if one is named; 0 is the first with a finding, or
    else the first.
    """

    case: Case
    seed: int
    block: tuple[int, ...]
    kernel: str = ""
    launch: int = 0

    def block_in(self, launch: Launch) -> Dim3:
        """The block in a launch; raises UsageError where its grid has no such block."""
        x, y, z = (*self.block, 0, 0, 0)[:3]
        if not all(index < extent for index, extent in zip((x, y, z), launch.grid, strict=True)):
            grid = " × ".join(map(str, launch.grid))
            typed = ",".join(map(str, self.block))
            raise UsageError(f"--block {typed}: the grid is {grid}, and blocks count from 0")
        return x, y, z


def require_built(built: Build, submission: Submission) -> None:
    """Raise UsageError where a submission does not compile, OurError where that is ours."""
    if built.error:
        raise OurError(built.error)
    if not built.ok:
        first = built.findings[0]
        line = f":{first.line}" if first.line else ""
        raise UsageError(
            f"{submission.file}{line}: does not compile: {first.message}; `grader check` says more"
        )


def source_lines(submission: Submission) -> tuple[str, ...]:
    """The lines of the submission, as the compiler counts them."""
    return tuple(readable(submission.source).decode().replace("\r\n", "\n").split("\n"))
