"""Access to a cluster's processes: no uninvited machine and no student's code has it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import psutil
import pytest

from grader.classroom.cluster import schedulers
from grader.toolchain.sandbox import Job, bubblewrap
from grader.toolchain.sandbox.bubblewrap import BubblewrapSandbox

if TYPE_CHECKING:
    from pathlib import Path

    from tests.classroom.cluster.conftest import Scheduler

CONNECT = "exec 3<>/dev/tcp/127.0.0.1/$0 && echo connected"


def _listened_to() -> set[str]:
    """The addresses at which this process listens."""
    connections = psutil.Process().net_connections()
    return {one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN}


@pytest.mark.slow
def test_a_cluster_of_one_machine_listens_to_no_other_machine(tmp_path: Path) -> None:
    """Neither its scheduler nor its worker; it has no dashboard, so that nothing loads what draws one."""
    before = _listened_to()
    with schedulers.scheduler("local", nodes=1, jobs=1, folder=tmp_path) as cluster:
        assert _listened_to() <= {"127.0.0.1", *before}
        assert cluster.dashboard == ""


@pytest.mark.docker
def test_a_job_in_a_bubblewrap_does_not_reach_the_scheduler(scheduler: Scheduler) -> None:
    """A task is code that runs outside of any sandbox: whoever reaches the port has the node."""
    assert bubblewrap.trouble() == ""
    scheduler.worker()
    scheduler.expect(1)
    command = ("bash", "-c", CONNECT, scheduler.address.rpartition(":")[2])
    assert subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout == b"connected\n"
    outcome = BubblewrapSandbox().run(Job(command)).outcome
    assert outcome.stdout == b""
    assert b"Connection refused" in outcome.stderr
