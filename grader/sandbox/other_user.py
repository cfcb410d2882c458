"""A process of another user on this machine, for a grader that is root in a container of its own.

Where strangers' code runs in the same container as the grader (Gradescope), no namespace can be made: the
container has no right to. What is left are users. Each job is a user whom nobody else is, so that it reads no
file and ends no process of the grader's, nor of another job's, and all that it leaves running is ended with
it. What it does not do: take the network away, hide files that everybody may read, or count processes and
memory of all of them together. The numbers are drawn by one process: two that grade at once on one machine
would share users.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from typing import TYPE_CHECKING

from grader.errors import OurError
from grader.sandbox import supervisor
from grader.sandbox.local import LocalSandbox, folder_of_a_job, result_of, supervised

if TYPE_CHECKING:
    from pathlib import Path

    from grader.sandbox.job import Job, Result

FIRST = 61_184
"""The range of users that exist for the time of a service (systemd, "Users, Groups, UIDs and GIDs")."""
MANY = 4096

_END_ALL = ("/bin/sh", "-c", "kill -KILL -1")
"""Ends every process that the user may end, itself among them (kill(2))."""

_jobs = itertools.count()


class OtherUserSandbox(LocalSandbox):
    """Runs jobs as users who exist for nothing else; the grader must be root."""

    name = "other-user"

    def run(self, job: Job) -> Result:
        """Run ``job`` in a temporary folder that is its user's; raises as `Sandbox.run` says."""
        if os.geteuid() != 0:
            raise OurError("jobs can be other users only where the grader is root")
        user = FIRST + next(_jobs) % MANY
        with folder_of_a_job() as folder:
            supervisor.place(folder, job.files)
            _give(folder, user)
            try:
                ending = supervised(job, folder, _become(user))
            finally:
                _end_all_of(user)
            return result_of(job, folder, ending)


def _become(user: int) -> tuple[str, ...]:
    """A command that becomes the next one as this user, who never gets more rights (setpriv(1))."""
    return ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", "--")


def _give(folder: Path, user: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)


def _end_all_of(user: int) -> None:
    """End what a job has left running in sessions of its own."""
    subprocess.run(
        _END_ALL,
        user=user,
        group=user,
        extra_groups=[],
        env={},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
