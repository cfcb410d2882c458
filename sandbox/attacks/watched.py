"""A sandbox that is watched: it does what another one does, and everything that comes back is kept."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.toolchain.sandbox import Equipment, Job, Limits, Result, Sandbox, Stage


@dataclass(frozen=True, slots=True)
class Watched:
    """Runs jobs in ``sandbox`` and keeps their results in ``seen``.

    With ``seconds`` no job gets more wall time than that, nor more CPU time: a compiler that is bombed need
    not burn for as long as an honest one may take.
    """

    sandbox: Sandbox
    seen: list[Result] = field(default_factory=list)
    seconds: int = 0

    @property
    def name(self) -> str:
        """The other sandbox's."""
        return self.sandbox.name

    @property
    def shuts_in(self) -> bool:
        """The other sandbox's."""
        return self.sandbox.shuts_in

    @property
    def equipment(self) -> Equipment:
        """The other sandbox's."""
        return self.sandbox.equipment

    def run(self, job: Job) -> Result:
        """Run ``job`` in the other sandbox; raises as that does."""
        result = self.sandbox.run(replace(job, limits=self._limits(job)) if self.seconds else job)
        self.seen.append(result)
        return result

    def _limits(self, job: Job) -> Limits:
        limits = job.limits
        return replace(
            limits,
            wall_seconds=min(limits.wall_seconds, self.seconds),
            cpu_seconds=min(limits.cpu_seconds, self.seconds),
        )

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[Watched]:
        """The other sandbox's stage, watched, too."""
        with self.sandbox.stage(stage) as inner:
            yield replace(self, sandbox=inner)  # the list is the same
